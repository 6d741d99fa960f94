"""``docs/coverage.md`` says what becomes of NumPy's functions, and is up to date."""

import re

import numpy as np
import pytest

from tests.compiling import check
from tests.coverage import PAGE, REFUSED, page, rows


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if f"Made with NumPy {np.__version__.rpartition('.')[0]}." in text:
        assert text == page(), "run `python -m tests.coverage`"
    else:  # other versions have other functions; none may fail in fxc
        for _, row in rows():
            refused = [*row.by_dtype.values(), *row.by_keyword.values()].count(REFUSED)
            assert bool(refused) == bool(row.reasons), row.name


def test_most_functions_have_native_code() -> None:
    found = re.search(r"(\d+) native, (\d+) composite", PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert int(found[1]) + int(found[2]) >= 350


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add.accumulate(x, (1,)),
        lambda x: np.maximum.accumulate(x, (0,)),
        lambda x: np.roll(x, 2.7),
        lambda x: np.roll(x, np.float64(-1.5), 0),
        lambda x: np.roll(x, (1.5, 2), (0, 1)),
        lambda x: np.roll(x, (-4.0, 3.0), (1, 0)),  # which NumPy 2.0 takes, too
    ],
)
def test_arguments_that_only_numpy_takes_so(call) -> None:
    check(call, (np.arange(12.0).reshape(3, 4),))


def test_a_seed_that_is_an_array() -> None:
    def draws(seed):
        np.random.seed(seed)
        return np.random.random(3)

    check(draws, (np.array([1, 2, 3]),))
