"""NumPy's functions that call one of the program's: ``apply_along_axis``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.size_guards import guard

from ..arrays import creation, shaping
from ..numbers.dims import axis_number
from ..session.session import current
from ..statements.comprehensions import Comprehension
from ..statements.folds import fold
from .numpy_source import run_source


def apply_along_axis(
    func1d: object, axis: object, arr: object, *args: object, **kwargs: object
) -> Any:
    """As ``np.apply_along_axis``; of a matrix as a loop over its rows or columns."""
    array, door = creation.asarray(arr), current().door
    if array.ndim != 2 or not guard(array._value.type.size, ">", 0):
        return run_source(np.apply_along_axis, (func1d, axis, arr, *args), kwargs)
    is_last = axis_number(axis) % 2 == 1
    rows = array if is_last else shaping.transpose(array)

    def each(row: object) -> Any:
        return door.call(func1d, row, *args, **kwargs)

    def of_all(items: Any) -> list[Any]:
        return list(map(each, items))

    found = fold(door, np.array, False, Comprehension(rows, of_all, each))
    return found if is_last else np.moveaxis(found, 0, -1)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.apply_along_axis: apply_along_axis,
}
