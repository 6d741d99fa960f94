"""NumPy's functions on the elements of traced arrays that are no ufuncs: ``clip``, ``allclose``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION, OVERLAPPING_WRITE
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import is_f_ordered
from fxc.ops.metas.shapes import broadcast_shapes, broadcasts_to, same_shape

from ..arrays import creation
from ..arrays.history import may_overlap
from ..arrays.indexing import assign
from ..arrays.reductions import Asked, reduce, reducible
from ..arrays.ufuncs import call_ufunc, writable
from ..numbers.dims import known_int
from ..numbers.python_numbers import cast_to, to_bool
from ..numbers.traced_int import TracedInt, check_fits
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import (
    Traced,
    array_value,
    kind_of,
    numpys_operand,
    operand,
    record,
    variable_of,
    wrap,
)
from .numpy_source import run_source


def clip(
    a: object,
    a_min: object = None,
    a_max: object = None,
    out: object = None,
    *,
    min: object = None,
    max: object = None,
    **options: object,
) -> object:
    for key, value in options.items():
        if value is not None and value is not np._NoValue:
            raise refuse(NUMPY_OPTION, f"np.clip with {key}=")
    value = reducible(a)
    if (
        isinstance(value.type, ScalarType) and value.type.weak
    ):  # the dtype that NumPy gives it stays
        value = cast_to(value, value.type.dtype)
    bounds: tuple[Any, ...] = (a_min if min is None else min, a_max if max is None else max)
    if value.type.dtype.kind in "iu":  # whether a Python int is in the dtype's range matters
        bounds = tuple(int(x) if type(x) is TracedInt else x for x in bounds)
    given = [variable_of(value), *(x for x in bounds if x is not None and x is not np._NoValue)]
    bounds = tuple(x._beside(*given) if isinstance(x, Traced) else x for x in bounds)
    low, high = (None if x is None or x is np._NoValue else numpys_operand(x) for x in bounds)
    if out is not None:
        current().record("clip.out", value, low, high, out=writable(out))
        return out
    return record("clip", value, low, high)


def asarray_chkfinite(a: object, dtype: object = None, order: object = None) -> object:
    """As ``np.asarray_chkfinite``; where that raises, NumPy runs the call."""
    array = creation.asarray(a, dtype, order=order)
    if array.dtype.kind in "fc":
        current().record("try_demand", operand(np.isfinite(array).all()))
    return array


_INTS = np.arange(2)
_LEAVES_INTS = np.round(_INTS) is _INTS  # before NumPy 2.4


def round_array(a: object, decimals: object = 0, out: Any = None) -> object:
    """As ``np.round``: scaled, rounded to whole numbers, and scaled back, in NumPy's steps."""
    places = known_int(decimals, "np.round")
    value = reducible(a)
    kind = value.type.dtype.kind
    if kind == "b" or (kind == "c" and places) or (kind in "iu" and places < 0):
        raise refuse(NUMPY_OPTION, f"np.round of {value.type} with decimals={places}")
    if kind in "iu":
        if out is not None:
            raise refuse(NUMPY_OPTION, "np.round of integers with out=")
        if isinstance(value.type, ArrayType) and value.type.rank:
            return wrap(value) if _LEAVES_INTS else wrap(value).copy("A")
        return call_ufunc("positive", a)
    if places == 0:
        return call_ufunc("rint", a, out=out)
    if out is not None and out.dtype != value.type.dtype:
        raise refuse(NUMPY_OPTION, "np.round with an out= of another dtype")
    first, last = ("multiply", "divide") if places > 0 else ("divide", "multiply")
    scale = _power_of_ten(abs(places))
    result = call_ufunc(first, a, scale, out=out)
    result = call_ufunc(last, call_ufunc("rint", result, out=out), scale, out=out)
    if out is None and isinstance(value.type, ArrayType) and value.type.rank:
        wanted = "F" if is_f_ordered(value.type) else "C"  # and in the byte order of the array
        return creation.asarray(result, value.type.dtype, order=wanted)
    return result


def _power_of_ten(exponent: int) -> float:
    """As NumPy computes it: exact up to 10 ** 22."""
    scale = 10.0 ** min(exponent, 8)
    for _ in range(exponent - 8):
        scale *= 10.0
    return scale


def copyto(dst: object, src: object, casting: Any = "same_kind", where: object = True) -> None:
    target = writable(dst)
    value = operand(src)
    if isinstance(value, Literal) and value.type.weak:
        cell = np.zeros((), target.type.dtype)
        np.copyto(cell, value.value, casting=casting)
        value = Literal(cell.reshape(1)[0])
    session = current()
    if isinstance(src, complex) and not isinstance(value, Literal):
        # A Python complex is cast like an array of them; an assignment would not take it.
        value = session.record("astype", value, np.dtype(np.complex128), casting="unsafe")
        src = wrap(value)
    if where is True:
        assign(target, value.value if isinstance(value, Literal) else src, casting)
        return
    mask = _mask_of_copy(where, target, value)
    if may_overlap(target, mask):
        raise refuse(
            OVERLAPPING_WRITE,
            "np.copyto into an array that shares memory with the mask",
            "use a copy of the mask",
        )
    if value.type.dtype != target.type.dtype:
        check_fits(src, target.type.dtype)
        takes_any = isinstance(src, TracedInt) and target.type.dtype.kind in "iufc"
        rule = "unsafe" if takes_any else casting
        value = session.record("astype", value, target.type.dtype, casting=rule)
    chosen = session.record("where", mask, value, target)
    session.record("copy_", target, chosen, casting=casting)


def _mask_of_copy(where: object, target: Value, value: Operand) -> Operand:
    """The mask of ``np.copyto``: numbers and lists of them count by their truth, arrays may not."""
    mask = operand(where)
    if creation.is_array(where) and mask.type.dtype != bool:
        raise TypeError(f"Cannot cast array data from {mask.type.dtype!r} to dtype('bool')")
    root, shape = current().aliases.root, kind_of(target).shape
    if isinstance(value, Value) and root(value) is root(target):
        if broadcasts_to(mask.type.shape, shape):
            return mask
        raise refuse(NUMPY_OPTION, "np.copyto from the same memory by a mask of another shape")
    return mask


def allclose(
    a: object, b: object, rtol: object = 1e-05, atol: object = 1e-08, equal_nan: bool = False
) -> object:
    return _all(
        run_source(np.isclose, (a, b), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan})
    )


def array_equal(a1: object, a2: object, equal_nan: bool = False) -> object:
    """As ``np.array_equal``; sizes that agree or differ in this call are guarded to do so."""
    left, right = (wrap(array_value(x)) for x in (a1, a2))
    if left.ndim != right.ndim or not same_shape(*(kind_of(x._value).shape for x in (left, right))):
        return False
    equal = call_ufunc("equal", left, right)
    if equal_nan and all(x.dtype.kind in "fc" for x in (left, right)):
        nans = call_ufunc("logical_and", *(call_ufunc("isnan", x) for x in (left, right)))
        equal = call_ufunc("logical_or", equal, nans)
    return _all(equal)


def array_equiv(a1: object, a2: object) -> object:
    """As ``np.array_equiv``; that sizes meet, or do not, in this call is guarded."""
    left, right = (wrap(array_value(x)) for x in (a1, a2))
    try:
        broadcast_shapes(*(kind_of(x._value).shape for x in (left, right)))
    except ValueError:
        return False
    return _all(call_ufunc("equal", left, right))


def _all(x: object) -> object:
    return to_bool(reduce("all", x, Asked()))
