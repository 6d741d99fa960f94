"""Lists of numbers that are known at run time, written to elements chosen by index arrays and masks.

NumPy makes an array of the target's dtype of them, and Python's ints have to fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check, same


def _put_along_axis(x, values):
    np.put_along_axis(x, np.array([0, 1]), values, 0)


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda x, values: x.__setitem__([0, 1], values),
    "mask": lambda x, values: x.__setitem__(x > 2, values),
    "slice": lambda x, values: x.__setitem__(slice(2), values),
    "put": lambda x, values: np.put(x, [0, 1], values),
    "method": lambda x, values: x.put([0, 1], values),
    "place": lambda x, values: np.place(x, x > 1, values),
    "putmask": lambda x, values: np.putmask(x, x > 1, values),
    "along axis": _put_along_axis,
}


@pytest.mark.parametrize("code", ["u1", "i2", "f4", "c8"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_numbers_of_a_list_have_to_fit(write: Callable[[Any, Any], Any], code: str) -> None:
    def ints(x: Any, a: Any) -> None:
        write(x, [math.floor(a.sum()), 3])

    def mixed(x: Any, a: Any) -> None:
        write(x, (a.sum(), math.floor(a.sum())))

    def of_numpy(x: Any, a: Any) -> None:
        write(x, [a.sum(), a[0]])

    x = np.arange(1, 5).astype(code)
    for program in (ints, mixed, of_numpy):
        compiled = fxc.compile(program)
        for value in (7.0, 200.0, -2.0, 4e4, 5.0):
            same(program, compiled, (x, np.array([value, 0.5])))
    if code != "c8":
        check(ints, (x, np.array([7.0, 0.5])), (x, np.array([-2.0, 0.5])))
