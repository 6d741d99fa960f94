"""NumPy's functions that call one of the program's, or take up an iterator."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ITERATOR, NUMPY_OPTION, OPERAND
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, symbols_of
from fxc.ops.metas.shapes import normalize_axis

from ..arrays import creation, shaping
from ..arrays.traced_array import TracedArray
from ..forms.mixed import scalar_kinds
from ..numbers.dims import axis_number, dim_of
from ..regions.counted import counted
from ..session.refusing import refuse
from ..session.session import current
from ..statements.comprehensions import Comprehension, Filtered, itself, list_of_items
from ..statements.folds import fold
from ..values.operands import settled
from .numpy_source import run_source


def apply_along_axis(
    func1d: object, axis: object, arr: object, *args: object, **kwargs: object
) -> object:
    """As ``np.apply_along_axis``; of a matrix as a loop over its rows or columns.

    The first row's result gives the dtype and the shape: all of them have to be of one.
    """
    array, door = creation.asarray(arr), current().door
    if array.ndim != 2 or not guard(array._value.type.size, ">", 0):
        given = functools.partial(door.call, func1d)  # which need not be written in Python
        return run_source(np.apply_along_axis, (given, axis, arr, *args), kwargs)
    is_last = normalize_axis(axis_number(axis), 2) == 1
    rows = array if is_last else shaping.transpose(array)
    dtypes: set[np.dtype | None] = set()
    shapes: set[tuple[Dim, ...]] = set()

    def each(row: object) -> Any:
        result = door.call(func1d, row, *args, **kwargs)
        dtypes.update(_dtypes_of(result))
        if isinstance(result, TracedArray) and not any(map(symbols_of, result._type.shape)):
            shapes.add(result._type.shape)
        if len(shapes) > 1:
            what = "np.apply_along_axis with results of several shapes"
            raise refuse(NUMPY_OPTION, what, "use np.array of a list")
        return result

    def of_all(items: Any) -> list[Any]:
        return list(map(each, items))

    found = fold(door, np.array, False, Comprehension(rows, of_all, each))
    if len(dtypes) > 1 or None in dtypes:
        raise refuse(
            NUMPY_OPTION,
            "np.apply_along_axis with results of several dtypes, which are cast to that of the "
            "first,",
            "use np.array of a list",
        )
    return found if is_last else np.moveaxis(found, 0, -1)


def _dtypes_of(x: object) -> set[np.dtype | None]:
    """The dtypes that an array of ``x`` may have; None for one that is not known."""
    if isinstance(x, TracedArray | np.ndarray):
        return {x.dtype}
    if type(x) in (list, tuple):
        dtypes = [_dtypes_of(item) for item in x]  # type: ignore[attr-defined]
        if len(set().union(*dtypes)) == 1 or not all(len(each) == 1 for each in dtypes):
            return set().union(*dtypes)
        known = [dtype for (dtype,) in dtypes if dtype is not None]
        return {np.result_type(*known) if len(known) == len(dtypes) > 0 else None}
    kinds = scalar_kinds(x)
    return {None} if kinds is None else {kind.dtype for kind in kinds}


def fromiter(iter: object, dtype: Any, count: object = -1, *, like: object = None) -> object:
    """As ``np.fromiter``, of numbers that are of the dtype or have a place there for sure."""
    door, items, to = current().door, settled(iter), np.dtype(dtype)
    if like is not None or to.kind not in "bifc":
        raise refuse(NUMPY_OPTION, "np.fromiter with such options")
    if type(items) is Filtered:
        made = door.call(np.array, list_of_items(door, items))
    elif creation.is_array(items) or type(items) in (list, tuple):
        made = door.call(np.array, items)
    elif counted(items) is not None:
        made = fold(door, np.array, False, Comprehension(items, list, itself))
    else:
        raise refuse(ITERATOR, "np.fromiter of what Python runs over")
    if made.ndim != 1 or not (np.can_cast(made.dtype, to) or made.dtype.kind == to.kind == "f"):
        raise refuse(OPERAND, f"np.fromiter of {made.dtype} as {to}")
    if count != -1 and not guard(made._type.shape[0] - dim_of(count, "a count"), "==", 0):
        raise refuse(NUMPY_OPTION, "np.fromiter of some of the items")
    return made.astype(to)
