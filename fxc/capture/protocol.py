"""NumPy's functions on traced values: one table, function to function, same parameters.

``array_function`` serves the protocol of that name and the call door alike. A function that is
not in the table is refused by its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.graph import Literal
from fxc.ir.types import ArrayType
from fxc.ops.metas.shapes import normalize_axis
from fxc.ops.table import TABLE, Tag

from . import creation, shaping
from .indexing import assign
from .operands import array_value, operand, record, wrap
from .session import current, refuse
from .traced_int import TracedInt, wrap_dim
from .ufuncs import axis_number, call_ufunc, find, reducible, scan, writable
from .ufuncs import reduce as reduction


def array_function(function: Any, args: Any, kwargs: Any) -> Any:
    """Call the table's entry for ``function``.

    Raises ``CaptureError`` for a function without one.
    """
    handler = FUNCTIONS.get(function)
    if handler is not None:
        return handler(*args, **kwargs)
    op = TABLE.for_callable(function)
    if op is not None and op.tag is Tag.OPAQUE:
        return _opaque(op.name, *args, **kwargs)
    name = getattr(function, "__name__", repr(function))
    module = getattr(function, "__module__", "numpy") or "numpy"
    raise refuse(f"{module.replace('numpy', 'np', 1)}.{name} cannot be captured")


def _opaque(name: str, *args: Any, **kwargs: Any) -> Any:
    """An operator of the table that NumPy itself will run, with its schema's parameters."""
    schema = TABLE[name].schema
    values = [reducible(x) for x in args[: schema.positional]]
    names = {param.name for param in schema.params if param.keyword}
    keywords = [param.name for param in schema.params if param.keyword]
    options = dict(zip(keywords, args[schema.positional :], strict=False)) | kwargs
    for key, value in options.items():
        if key not in names:
            if value is None or value is np._NoValue:
                continue
            raise refuse(f"np.{name} with {key}= cannot be captured")
    chosen = {key: value for key, value in options.items() if key in names}
    return record(name, *values, **chosen)


# ------------------------------------------------------------------ elements


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


# ------------------------------------------------------------------ products


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """As ``np.dot``."""
    left, right = operand(a), operand(b)
    if out is not None:
        current().record("dot.out", left, right, out=writable(out))
        return out if out.ndim else out[()]  # of rank 0 its element, as NumPy
    return record("dot", left, right)


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """As ``np.outer``."""
    left, right = array_value(a), array_value(b)
    if out is not None:
        current().record("outer.out", left, right, out=writable(out))
        return out
    return record("outer", left, right)


def vdot(a: Any, b: Any) -> Any:
    """As ``np.vdot``, for real arrays."""
    left, right = wrap(array_value(a)), wrap(array_value(b))
    if "c" in (left.dtype.kind, right.dtype.kind):
        raise refuse("np.vdot of complex arrays cannot be captured; use (x.conj() * y).sum()")
    return dot(shaping.ravel(left), shaping.ravel(right))


def trace(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None
) -> Any:
    """As ``np.trace``."""
    view = shaping.diagonal(a, offset, axis1, axis2)
    return reduction("sum", view, -1, dtype, out)


# ------------------------------------------------------------------ joining


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = None
) -> Any:
    """As ``np.concatenate``."""
    if dtype is not None or casting not in (None, "same_kind"):
        raise refuse("np.concatenate with dtype= or casting= cannot be captured; use astype")
    parts = tuple(array_value(x) for x in _sequence(arrays))
    place = None if axis is None else axis_number(axis)
    if out is not None:
        current().record("concatenate.out", parts, axis=place, out=writable(out))
        return out
    return record("concatenate", parts, axis=place)


def _sequence(arrays: Any) -> list[Any]:
    if not isinstance(arrays, tuple | list) and not creation.is_array(arrays):
        raise TypeError(
            'arrays to stack must be passed as a "sequence" type such as list or tuple.'
        )
    return list(arrays)


def stack(
    arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """As ``np.stack``."""
    if dtype is not None or casting != "same_kind":
        raise refuse("np.stack with dtype= or casting= cannot be captured; use astype")
    parts = tuple(array_value(x) for x in _sequence(arrays))
    if out is not None:
        current().record("stack.out", parts, axis=axis_number(axis), out=writable(out))
        return out
    return record("stack", parts, axis=axis_number(axis))


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As ``np.vstack``."""
    return concatenate([shaping.at_least(x, 2) for x in tup], 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """As ``np.hstack``."""
    parts = [shaping.at_least(x, 1) for x in tup]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def column_stack(tup: Any) -> Any:
    """As ``np.column_stack``."""
    parts = [creation.asarray(x) for x in tup]
    return concatenate([x if x.ndim > 1 else shaping.at_least(x, 2).T for x in parts], 1)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """As ``np.roll``."""
    array = wrap(array_value(a))
    if axis is None:
        return roll(shaping.ravel(array), shift, 0).reshape(array.shape)
    shifts = shift if isinstance(shift, tuple) else (shift,)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if len(shifts) != len(axes):
        raise refuse("np.roll with several shifts and one axis cannot be captured")
    for by, along in zip(shifts, axes, strict=True):
        array = _rolled(array, by, normalize_axis(axis_number(along), array.ndim))
    return array


def _rolled(array: Any, by: Any, axis: int) -> Any:
    size = array.shape[axis]
    if size == 0:
        return array.copy()
    split = -by % size
    before = (slice(None),) * axis
    parts = [array[(*before, slice(split, None))], array[(*before, slice(None, split))]]
    return concatenate(parts, axis)


# ------------------------------------------------------------------ shapes


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    raise refuse("np.broadcast_arrays cannot be captured; use np.broadcast_to")


def diag(v: Any, k: Any = 0) -> Any:
    """As ``np.diag`` of a matrix."""
    if array_value(v).type.rank != 2:
        raise refuse("np.diag of a vector cannot be captured; write into np.zeros((n, n))")
    return shaping.diagonal(v, k)


def reshape(a: Any, shape: Any = None, order: str = "C", *, copy: Any = None) -> Any:
    """As ``np.reshape``."""
    return shaping.reshape(a, shape, order, copy)


def shape_of(a: Any) -> tuple[Any, ...]:
    """As ``np.shape``."""
    return shaping.wrap_dims(array_value(a).type.shape)


def size_of(a: Any, axis: Any = None) -> Any:
    """As ``np.size``."""
    kind = array_value(a).type
    if axis is not None:
        return wrap_dim(kind.shape[axis_number(axis)])
    return wrap_dim(kind.size) if isinstance(kind, ArrayType) else 1


def all_at_least(rank: int) -> Callable[..., Any]:
    """``np.atleast_1d`` or ``np.atleast_2d``."""

    def convert(*arys: Any) -> Any:
        results = tuple(shaping.at_least(x, rank) for x in arys)
        return results[0] if len(results) == 1 else results

    return convert


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        if name in ("min", "max", "any", "all"):
            args = (None, *args)  # these take no dtype
        return reduction(name, a, axis, *args, **kwargs)

    return reduce


def _variance(name: str) -> Callable[..., Any]:
    def reduce(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = np._NoValue,
        **more: Any,
    ) -> Any:
        correction = more.pop("correction", np._NoValue)
        if correction is not np._NoValue:
            ddof = correction
        return reduction(name, a, axis, dtype, out, keepdims, ddof=ddof, **more)

    return reduce


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    raise refuse("np.isclose cannot be captured; compare np.abs(a - b) with a tolerance")


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **creation.CREATION,
    **{
        getattr(np, name): _reduction(name)
        for name in ("sum", "prod", "min", "max", "any", "all", "mean")
    },
    np.var: _variance("var"),
    np.std: _variance("std"),
    np.argmin: partial(find, "argmin"),
    np.argmax: partial(find, "argmax"),
    np.cumsum: partial(scan, "cumsum"),
    np.cumprod: partial(scan, "cumprod"),
    np.where: where,
    np.clip: clip,
    np.round: round_array,
    np.around: round_array,
    np.copyto: copyto,
    np.nan_to_num: nan_to_num,
    np.count_nonzero: count_nonzero,
    np.ptp: ptp,
    np.dot: dot,
    np.outer: outer,
    np.vdot: vdot,
    np.trace: trace,
    np.concatenate: concatenate,
    np.stack: stack,
    np.vstack: vstack,
    np.hstack: hstack,
    np.column_stack: column_stack,
    np.roll: roll,
    np.transpose: shaping.transpose,
    np.swapaxes: shaping.swapaxes,
    np.moveaxis: shaping.moveaxis,
    np.rollaxis: shaping.rollaxis,
    np.reshape: reshape,
    np.ravel: shaping.ravel,
    np.squeeze: shaping.squeeze,
    np.expand_dims: shaping.expand_dims,
    np.flip: shaping.flip,
    np.fliplr: lambda m: shaping.flip(m, 1),
    np.flipud: lambda m: shaping.flip(m, 0),
    np.broadcast_to: lambda array, shape, subok=False: shaping.broadcast_to(array, shape),
    np.broadcast_arrays: broadcast_arrays,
    np.diagonal: shaping.diagonal,
    np.diag: diag,
    np.shape: shape_of,
    np.ndim: lambda a: array_value(a).type.rank,
    np.size: size_of,
    np.atleast_1d: all_at_least(1),
    np.atleast_2d: all_at_least(2),
    np.isclose: isclose,
}
