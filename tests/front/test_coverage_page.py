"""``docs/coverage.md`` says what becomes of NumPy's functions, and is up to date."""

import re

import numpy as np
import pytest

from tests.compiling import check
from tests.coverage import (
    METHODS,
    MODULES,
    OTHER_WORK,
    PAGE,
    REFUSED,
    Row,
    is_function,
    page,
    rows,
    untried,
)

# What NumPy's signatures have of all ufuncs, and no argument does.
_OF_NOTHING = {
    "frexp": {"dtype"},
    **{name: {"axis", "keepdims"} for name in ("matmul", "matvec", "vecmat")},
}
# They give no array, but a function or an iterator, and NumPy itself refuses ``resize`` of an array
# for an array that anything else refers to.
_OTHERS = {"frompyfunc", "nested_iters", "resize"}


@pytest.fixture(scope="module")
def found() -> list[tuple[str, Row]]:
    return list(rows())


def test_the_page_is_up_to_date(found: list[tuple[str, Row]]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    if f"Made with NumPy {np.__version__.rpartition('.')[0]}." in text:
        assert text == page(found), "run `python -m tests.coverage`"
    else:  # other versions have other functions; none may fail in fxc
        for _, row in found:
            refused = [*row.by_dtype.values(), *row.by_keyword.values()].count(REFUSED)
            assert bool(refused) == bool(row.reasons), row.name


def test_every_function_has_a_row(found: list[tuple[str, Row]]) -> None:
    """By what NumPy has, and not by what there are arguments for."""
    have = {(module, row.name) for module, row in found}
    for module, members in {**MODULES, METHODS: np.ndarray}.items():
        for name in {each for each in dir(members) if not each.startswith("_")} - OTHER_WORK:
            if name not in _OTHERS and is_function(getattr(members, name)):
                assert (module, name) in have, f"{module}.{name}"


def test_every_keyword_has_been_tried(found: list[tuple[str, Row]]) -> None:
    for module, row in found:
        if row.best != REFUSED:
            missing = untried(module, row) - _OF_NOTHING.get(row.name, set())
            assert not missing, f"{module}.{row.name}: add {missing} to coverage_options.py"


def test_most_functions_have_native_code() -> None:
    found = re.search(r"(\d+) native, (\d+) composite", PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert int(found[1]) + int(found[2]) >= 350


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add.accumulate(x, (1,)),
        lambda x: np.maximum.accumulate(x, (0,)),
        lambda x: np.zeros(3, like=x) + np.asarray(x[0], like=x)[:3] + np.eye(3, like=x),
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
