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
