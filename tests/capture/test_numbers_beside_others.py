"""Operators of numbers with what is no number: text, lists, tuples, None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check, same

MAKES = {
    "numpy": "y[0]",
    "numpy or int": "y[0] if y[1] > 3 else n",
    "numpy or float": "y[0] if y[1] > 3 else 1.5",
    "numpy or bool": "y[0] and n > 5",
}
ASKED = [
    *("z == 'a'", "z != 'a'", "'a' == z", "z == b'a'", "z == None", "z != None", "z == ()"),
    *("z == [1.0]", "[1.0, 2.0] != z", "z in [1, 2]", "z in ('a', 2)", "z == {}", "z < [1.0]"),
    *("z + [1.0]", "[1.0, 2.0] * z", "bool(z == 'a') + 1"),
]


def written(number: str, asked: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"np": np}
    exec(f"def f(y, n):\n    z = {number}\n    return {asked}", names)
    found: Callable[..., Any] = names["f"]
    return found


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("number", MAKES)
@pytest.mark.parametrize("asked", ASKED)
def test_beside_what_is_no_number(number: str, asked: str) -> None:
    fn = written(MAKES[number], asked)
    compiled = fxc.compile(fn)
    for first in (1.0, 0.0, 5.0):
        same(fn, compiled, (np.arange(9.0) + first, 7))


def test_a_test_that_one_case_does_not_have() -> None:
    """Of an empty array there is no truth: native code leaves where NumPy would raise."""

    def count(y: Any, n: int, items: list[Any]) -> int:
        found = 0
        for k in range(len(y)):
            if (y[k] and n % 2 == 0) == items:
                found += 1
        return found

    check(count, (np.arange(9.0) + 1, 7, []), (np.arange(9.0), 7, []))


def scaled_by_data(x: Any, y: Any, c: float) -> None:
    x[0] *= c if y[0] < 10 else 1


def scaled_by_an_element(x: Any, y: Any, c: float) -> None:
    x[1] = x[1] * (c if c > x[-1] else 2)


@pytest.mark.parametrize("dtype", ["i8", "f4"])
@pytest.mark.parametrize("fn", [scaled_by_data, scaled_by_an_element])
def test_a_float_or_an_int_goes_into_integers(fn: Callable[..., Any], dtype: str) -> None:
    """NumPy raises where the float fits in none; the int is stored in any case."""
    x, calls = np.arange(1, 4).astype(dtype), []
    for c in (2.5, 1e300, -1e300, float("nan"), 1e19):
        calls += [(x, np.array([first, 2.0]), c) for first in (1.0, 20.0)]
    compiled = fxc.compile(fn)
    for call in calls:
        same(fn, compiled, call)
    assert compiled.cache_info().native_calls
