"""NumPy's functions on the elements of traced arrays that are no ufuncs: ``clip``, ``copyto``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fxc.ir.graph import Literal
from fxc.ir.types import ArrayType

from .indexing import assign
from .operands import array_value, operand, record, wrap
from .session import current, refuse
from .traced_int import TracedInt
from .ufuncs import call_ufunc, reducible, writable
from .ufuncs import reduce as reduction


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """As ``np.where`` with three arguments."""
    if x is None or y is None:
        raise refuse(
            "np.where with one argument has a size that depends on the data and cannot be "
            "captured; use np.where(mask, x, y)"
        )
    return call_ufunc("where", condition, x, y)


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **options: Any,
) -> Any:
    """As ``np.clip``."""
    for key, value in options.items():
        if value is not None and value is not np._NoValue:
            raise refuse(f"np.clip with {key}= cannot be captured")
    value = reducible(a)
    bounds: tuple[Any, ...] = (a_min if min is None else min, a_max if max is None else max)
    if value.type.dtype.kind in "iu":  # whether a Python int is in the dtype's range matters
        bounds = tuple(int(x) if type(x) is TracedInt else x for x in bounds)
    low, high = (None if x is None or x is np._NoValue else operand(x) for x in bounds)
    if out is not None:
        current().record("clip.out", value, low, high, out=writable(out))
        return out
    return record("clip", value, low, high)


def round_array(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """As ``np.round`` to whole numbers."""
    if not (isinstance(decimals, int) and decimals == 0):
        raise refuse(
            f"np.round with decimals={decimals!r} cannot be captured; use "
            "np.rint(x * scale) / scale"
        )
    value = reducible(a)
    if value.type.dtype.kind in "fc":
        return call_ufunc("rint", a, out=out)
    if value.type.dtype.kind == "b":
        raise refuse("np.round of an array of bools cannot be captured")
    if out is not None:
        raise refuse("np.round of integers with out= cannot be captured")
    return wrap(value).copy() if isinstance(value.type, ArrayType) else a


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """As ``np.copyto``."""
    target = writable(dst)
    if where is True:
        assign(target, src, casting)
        return
    session = current()
    value = operand(src)
    if value.type.dtype != target.type.dtype or isinstance(value, Literal):
        if isinstance(value, Literal) and value.type.weak:
            cell = np.zeros((), target.type.dtype)
            np.copyto(cell, value.value, casting=casting)
            value = Literal(cell.reshape(1)[0])
        else:
            value = session.record("astype", value, target.type.dtype, casting=casting)
    chosen = session.record("where", operand(where), value, target)
    session.record("copy_", target, chosen, casting=casting)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """As ``np.nan_to_num``, for real floats."""
    value = array_value(x)
    dtype = value.type.dtype
    if dtype.kind != "f" or not copy:
        raise refuse("np.nan_to_num of this dtype, or with copy=False, cannot be captured")
    info = np.finfo(dtype)
    kind = dtype.type
    high = kind(info.max if posinf is None else posinf)
    low = kind(info.min if neginf is None else neginf)
    array = wrap(value)
    result = where(np.isnan(array), kind(nan), array)
    result = where(array == kind(math.inf), high, result)
    return where(array == kind(-math.inf), low, result)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """As ``np.count_nonzero`` along axes."""
    if axis is None and not keepdims:
        raise refuse(
            "np.count_nonzero gives a Python int that depends on the data and cannot be captured; "
            "use (x != 0).sum()"
        )
    array = wrap(array_value(a))
    mask = array if array.dtype == np.bool_ else array != 0
    return reduction("sum", mask, axis, np.intp, keepdims=keepdims)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = np._NoValue) -> Any:
    """As ``np.ptp``."""
    high = reduction("max", a, axis, keepdims=keepdims)
    return call_ufunc("subtract", high, reduction("min", a, axis, keepdims=keepdims), out=out)


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    raise refuse("np.isclose cannot be captured; compare np.abs(a - b) with a tolerance")
