"""``np.searchsorted`` and ``np.interp`` of one number, by the steps of NumPy's own loops.

Loops of programs look numbers up so. The steps are those of ``binsearch.cpp`` and of
``arr_interp`` in ``compiled_base.c``: of arrays that are not in order they find what NumPy finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.size_guards import guard
from fxc.ir.types import ArrayType
from fxc.ops.metas.shapes import same_dim
from fxc.ops.table import TABLE

from ..arrays.traced_array import TracedArray
from ..numbers.python_numbers import scalar_of
from ..session.locations import as_program
from ..session.session import current
from ..values.operands import Traced
from .library import listed

_F64 = np.dtype(np.float64)
_NEAR = 8  # ``LIKELY_IN_CACHE_SIZE``
_searchsorted, _interp = (listed(TABLE[name]) for name in ("searchsorted", "interp"))


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    of_key, kind = _dtype_of_number(v), _row(a)
    if of_key is None or kind is None or sorter is not None or side not in ("left", "right"):
        return _searchsorted(a, v, side=side, sorter=sorter)
    if kind.dtype.kind not in "iuf" or np.result_type(kind.dtype, of_key) != kind.dtype:
        return _searchsorted(a, v, side=side)
    door = current().door
    return door.staged(_place)(a, door.call(kind.dtype.type, v), side == "right")


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """There are so many parameters because NumPy has them."""
    of_number, points, values = _dtype_of_number(x), _row(xp), _row(fp)
    are_plain = all(each is None or type(each) in (int, float) for each in (left, right))
    if of_number is None or points is None or values is None or not are_plain or period is not None:
        return _interp(x, xp, fp, left, right, period)
    is_real = of_number.kind in "biuf" and of_number.itemsize <= 8
    are_alike = points.dtype == values.dtype == _F64 and same_dim(points.shape[0], values.shape[0])
    if not is_real or not are_alike or not guard(points.shape[0], ">", 1):
        return _interp(x, xp, fp, left, right, period)
    door = current().door
    ends = (each if each is None else float(each) for each in (left, right))
    return door.staged(_interpolated)(door.call(np.float64, x), xp, fp, *ends)


def _dtype_of_number(x: object) -> np.dtype | None:
    """The dtype that NumPy gives a number; None for anything else."""
    if isinstance(x, int | float | np.generic) and not isinstance(x, Traced):
        return np.asarray(x).dtype
    number = None if isinstance(x, TracedArray) else scalar_of(x)
    return None if number is None else number._type.dtype


def _row(x: object) -> ArrayType | None:
    """The type of an array of one axis; None for anything else."""
    kind = x._type if isinstance(x, TracedArray) else None
    return kind if kind is not None and kind.rank == 1 else None


@as_program
def _place(a: Any, key: Any, is_right: bool) -> Any:
    low, high = 0, len(a)
    while low < high:
        middle = low + ((high - low) >> 1)
        found = a[middle]
        if is_right:
            is_before = not (key < found or (found != found and key == key))
        else:
            is_before = found < key or (key != key and found == found)
        if is_before:
            low = middle + 1
        else:
            high = middle
    return np.intp(low)


@as_program
def _interpolated(x: Any, xp: Any, fp: Any, left: float | None, right: float | None) -> Any:
    n = len(xp)
    if x != x:
        return x
    if x > xp[n - 1]:
        return fp[n - 1] if right is None else np.float64(right)
    if x < xp[0]:
        return fp[0] if left is None else np.float64(left)
    at = _segment(x, xp, n)
    if at == n - 1 or xp[at] == x:
        return fp[at]
    with np.errstate(all="ignore"):
        slope = (fp[at + 1] - fp[at]) / (xp[at + 1] - xp[at])
        found = slope * (x - xp[at]) + fp[at]
        if found != found:
            found = slope * (x - xp[at + 1]) + fp[at + 1]
            if found != found and fp[at] == fp[at + 1]:
                found = fp[at]
    return found


@as_program
def _segment(x: Any, xp: Any, n: Any) -> Any:
    """The place of the last point that is not above ``x``, which lies between the first and the
    last one.
    """
    if n <= 4:
        at = 1
        while at < n and x >= xp[at]:
            at += 1
        return at - 1
    if x < xp[1]:
        return 0
    if x < xp[2]:
        return 1
    if x < xp[3]:
        return 2
    low, high = 3, n
    if n > _NEAR + 2 and x < xp[1 + _NEAR]:
        high = 1 + _NEAR
    while low < high:
        middle = low + ((high - low) >> 1)
        if x >= xp[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1
