"""Composites: operators in terms of others, bit for bit as NumPy computes them.

A composite is a function of a handle and the operator's canonical arguments. The handle's
attributes are operators (``ops.add(x, y)``), ``ops.type_of(x)`` is an operand's type, and
``ops.meta(name, *args)`` the type an operator would return. A composite that does not serve its
arguments returns ``NotImplemented``; the operator then stays as it is.

The alias key says for whom a composite is (``fxc.dispatch.keys.AliasKey``): an implicit one hides
the operator from everything, an explicit one is for every backend and made of pure operators, a
non-functional one uses views and writes. Backends that take none get the explicit one instead or,
where there is none, a non-functional one that is functionalized as it runs (``passes/decompose``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal, SliceSpec
from fxc.ir.records import frozen
from fxc.ir.size_functions import maximum, minimum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ArrayType, ScalarType, Type, stride_order


class OpsHandle(Protocol):
    """What a composite is given to call operators with."""

    def __getattr__(self, name: str) -> Callable[..., Any]: ...

    def call(self, name: str, /, *args: object, **kwargs: object) -> Any: ...

    def type_of(self, x: object) -> Type: ...

    def meta(self, name: str, /, *args: object, **kwargs: object) -> Any: ...


_FLOAT64 = np.dtype(np.float64)
_FLOAT32 = np.dtype(np.float32)
_FLOAT16 = np.dtype(np.float16)
_INT64 = np.dtype(np.int64)


def _cast(ops: OpsHandle, x: object, dtype: np.dtype) -> Any:
    """``x`` as ``dtype``; itself if it is that already."""
    kind = ops.type_of(x)
    if kind.dtype == dtype and not kind.weak:
        return x
    return ops.astype(x, dtype, "unsafe", "K")


def _size_operand(ops: OpsHandle, size: Dim) -> Any:
    """A number of elements as NumPy's recipes have it: an ``np.intp`` scalar."""
    if isinstance(size, int):
        return np.int64(size)
    return ops.astype(ops.int_value(size), _INT64, "unsafe", "K")


# ---------------------------------------------------------------- averages

# Note [Averages as NumPy computes them]
# numpy/_core/_methods.py: the count is an np.intp, so a float32 sum is divided in float64 and
# rounded once more; means of integers and booleans are summed in float64, those of float16 in
# float32; var keeps float16. Arrays are rounded to the sum's dtype after the division, and only
# then to float16; scalars of float16 are rounded once.


def _reduced_count(kind: Type, axis: tuple[int, ...] | None) -> Dim:
    axes = range(kind.rank) if axis is None else axis
    return product([kind.shape[a] for a in axes])


def _accumulator(kind: Type, dtype: np.dtype | None) -> np.dtype:
    if dtype is not None:
        return dtype
    return _FLOAT64 if kind.dtype.kind in "biu" else kind.dtype


def _sum(ops: OpsHandle, x: object, axis: object, keepdims: bool, dtype: np.dtype) -> Any:
    same = (
        ops.type_of(x).dtype == dtype and dtype.kind in "fc"
    )  # small integers add up in large ones
    return ops.sum(x, axis, keepdims, None if same else dtype)


def _divided(ops: OpsHandle, total: object, count: Dim) -> Any:
    """``total / count`` in the dtype of ``total``."""
    quotient = ops.divide(total, _size_operand(ops, count))
    return _cast(ops, quotient, ops.type_of(total).dtype)


def mean(
    ops: OpsHandle, x: object, axis: tuple[int, ...] | None, keepdims: bool, dtype: np.dtype | None
) -> Any:
    """See Note [Averages as NumPy computes them]."""
    kind = ops.type_of(x)
    count = _reduced_count(kind, axis)
    if decide(count, ">", 0) is False:
        return NotImplemented  # NumPy warns
    halves = dtype is None and kind.dtype == _FLOAT16
    total = _sum(ops, x, axis, keepdims, _FLOAT32 if halves else _accumulator(kind, dtype))
    if halves and isinstance(ops.type_of(total), ScalarType):
        quotient = ops.divide(total, _size_operand(ops, count))
    else:
        quotient = _divided(ops, total, count)
    return _cast(ops, quotient, _FLOAT16) if halves else quotient


def var(
    ops: OpsHandle,
    x: object,
    axis: tuple[int, ...] | None,
    keepdims: bool,
    dtype: np.dtype | None,
    ddof: int,
) -> Any:
    """See Note [Averages as NumPy computes them]."""
    kind = ops.type_of(x)
    count = _reduced_count(kind, axis)
    working = _accumulator(kind, dtype)
    if kind.dtype.kind == "c" or working.kind != "f" or decide(count - ddof, ">", 0) is False:
        return NotImplemented  # sums of re² + im² through a view of the halves; or NumPy warns
    average = _divided(ops, _sum(ops, x, axis, True, working), count)
    deviation = ops.square(ops.subtract(x, average))
    total = _sum(ops, deviation, axis, keepdims, working)
    return _divided(ops, total, maximum(count - ddof, 0))


def std(
    ops: OpsHandle,
    x: object,
    axis: tuple[int, ...] | None,
    keepdims: bool,
    dtype: np.dtype | None,
    ddof: int,
) -> Any:
    """The square root of the variance."""
    if dtype is not None and dtype.kind != "f":
        return NotImplemented
    return ops.sqrt(ops.var(x, axis, keepdims, dtype, ddof))


# ---------------------------------------------------------------- pointwise


def clip(ops: OpsHandle, x: object, low: Any, high: Any) -> Any:
    """``minimum(maximum(x, low), high)``, all in the dtype that NumPy's clip promotes to.

    A Python int as a bound that no integer of that dtype exceeds is left out, as NumPy does. Of
    two zeros NumPy takes the bound, but x if the bounds are one number for all elements (not so
    in NumPy 2.0); ``maximum`` and ``minimum`` take the second of two that are equal.
    """
    dtype = ops.type_of(x).dtype
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low = None if _is_int(low) and low.value <= limits.min else low
        high = None if _is_int(high) and high.value >= limits.max else high
    if low is None and high is None:
        return ops.positive(x)
    if high is None:
        return ops.maximum(x, low)
    if low is None:
        return ops.minimum(x, high)
    kinds = [ops.type_of(operand) for operand in (x, low, high)]
    if any(kind.dtype.kind == "c" for kind in kinds):
        return NotImplemented  # of what is equal, or nan, NumPy takes other than these two would
    dtype = ops.meta("clip", x, low, high).dtype
    if any(kind.dtype != dtype for kind in kinds if not kind.weak):
        x, low, high = (
            operand if kind.weak else _cast(ops, operand, dtype)
            for operand, kind in zip((x, low, high), kinds, strict=True)
        )
    is_float = dtype in (_FLOAT32, _FLOAT64)
    if is_float and all(map(_is_one_number, kinds[1:])) and _clip_keeps_zeros():
        return ops.minimum(high, ops.maximum(low, x))
    return ops.minimum(ops.maximum(x, low), high)


@cache
def _clip_keeps_zeros() -> bool:
    """Whether of two zeros NumPy takes the one that is clipped, not the number that is a bound."""
    return bool(np.signbit(np.clip(np.array([-0.0]), 0.0, 1.0))[0])


def _is_one_number(kind: Type) -> bool:
    return not isinstance(kind, ArrayType) or kind.rank == 0


def _is_int(operand: object) -> bool:
    """Whether the operand is a Python int that is known."""
    return isinstance(operand, Literal) and operand.type.weak and type(operand.value) is int


def divmod_(ops: OpsHandle, x: object, y: object) -> tuple[Any, Any]:
    """Quotient and remainder, each by its own operator."""
    return ops.floor_divide(x, y), ops.remainder(x, y)


def degrees(ops: OpsHandle, x: object) -> Any:
    """Another name of ``rad2deg``."""
    return ops.rad2deg(x)


def radians(ops: OpsHandle, x: object) -> Any:
    """Another name of ``deg2rad``."""
    return ops.deg2rad(x)


def deg2rad(ops: OpsHandle, x: object) -> Any:
    """A product with π/180, which is rounded in the result's own dtype."""
    return _scaled(ops, "deg2rad", x, np.pi, 180)


def rad2deg(ops: OpsHandle, x: object) -> Any:
    """A product with 180/π, which is rounded in the result's own dtype."""
    return _scaled(ops, "rad2deg", x, 180, np.pi)


def _scaled(ops: OpsHandle, name: str, x: object, numerator: float, denominator: float) -> Any:
    dtype = ops.meta(name, x).dtype
    if dtype not in (_FLOAT32, _FLOAT64):
        return NotImplemented  # float16 is computed in float32 inside NumPy's loop
    factor = dtype.type(numerator) / dtype.type(denominator)
    return ops.multiply(_cast(ops, x, dtype), factor)


def outer(ops: OpsHandle, x: object, y: object) -> Any:
    """A column times a row."""
    column = ops.expand_dims_copy(_flat(ops, x), (1,))
    row = ops.expand_dims_copy(_flat(ops, y), (0,))
    return ops.multiply(column, row)


def _flat(ops: OpsHandle, x: object) -> Any:
    kind = ops.type_of(x)
    if kind.rank == 1:
        return x
    size = kind.size if isinstance(kind, ArrayType) else 1
    return ops.reshape_copy(x, (size,))


# ---------------------------------------------------------------- factories


def eye(ops: OpsHandle, rows: Dim, columns: Dim, k: int, dtype: np.dtype) -> Any:
    """One where the column is ``k`` more than the row."""
    row = ops.expand_dims_copy(ops.arange(0, 1, rows, _INT64), (1,))
    column = ops.expand_dims_copy(ops.arange(0, 1, columns, _INT64), (0,))
    return _cast(ops, ops.equal(ops.subtract(column, row), np.int64(k)), dtype)


def eye_written(ops: OpsHandle, rows: Dim, columns: Dim, k: int, dtype: np.dtype) -> Any:
    """Zeros, and ones written through a strided view of the rows that the diagonal meets."""
    result = ops.zeros((rows, columns), dtype, None)
    met = maximum(0, minimum(rows, columns - k))  # past these rows the diagonal has left
    size = met * columns
    first = minimum(size, k if k >= 0 else -k * columns)
    whole = SliceSpec(0, columns, 1)
    flat = ops.reshape(ops.slice(result, (SliceSpec(0, met, 1), whole)), (size,))
    diagonal = ops.slice(flat, (SliceSpec(first, size, columns + 1),))
    ops.copy_(diagonal, dtype.type(1), "unsafe")
    return result


def linspace(
    ops: OpsHandle, start: object, stop: object, num: Dim, endpoint: bool, dtype: np.dtype
) -> Any:
    """NumPy's recipe, in one buffer: places times step, plus start; ``stop`` itself at the end."""
    steps = _Steps.of(ops, start, stop, num, endpoint)
    if steps is None:
        return NotImplemented
    result = ops.empty((num,), _FLOAT64, None)
    ops.copy_(result, _multiplied(ops, steps), "same_kind")
    ops.add_(result, steps.start)
    if endpoint and guard(num, ">", 1):
        ops.copy_(ops.select(result, 0, num - 1), steps.stop, "same_kind")
    if dtype.kind in "iu":
        ops.floor_(result)
    return _cast(ops, result, dtype)


@frozen
class _Steps:
    """What linspace starts from: places 0, 1, … and the ends, in float64."""

    places: Any
    start: Any
    stop: Any
    parts: Dim

    @classmethod
    def of(
        cls, ops: OpsHandle, start: object, stop: object, num: Dim, endpoint: bool
    ) -> _Steps | None:
        kinds = (ops.type_of(start), ops.type_of(stop))
        working = np.result_type(*(kind.dtype for kind in kinds), _FLOAT64)
        if working != _FLOAT64 or any(kind.rank or _narrow(kind) for kind in kinds):
            return None
        places = ops.arange(0, 1, num, _FLOAT64)
        first, last = _cast(ops, start, _FLOAT64), _cast(ops, stop, _FLOAT64)
        return cls(places, first, last, num - 1 if endpoint else num)


def _as_float(ops: OpsHandle, number: Dim) -> Any:
    """A dim as an ``np.float64``."""
    if isinstance(number, int):
        return np.float64(number)
    return ops.astype(ops.int_value(number), _FLOAT64, "unsafe", "K")


def _narrow(kind: Type) -> bool:
    return kind.dtype.kind == "f" and kind.dtype.itemsize < 8


def _multiplied(ops: OpsHandle, steps: _Steps) -> Any:
    """The places times the step. A step that underflows to zero divides first and then scales."""
    delta = ops.subtract(steps.stop, steps.start)
    if guard(steps.parts, "<=", 0):
        return ops.multiply(steps.places, delta)
    parts = _as_float(ops, steps.parts)
    step = ops.divide(delta, parts)
    divided = ops.multiply(ops.divide(steps.places, parts), delta)
    return ops.where(ops.equal(step, 0.0), divided, ops.multiply(steps.places, step))


# ---------------------------------------------------------------- joining


def stack(ops: OpsHandle, xs: tuple[Any, ...], axis: int) -> Any:
    """Each array gets an axis, along which they are joined."""
    axis = axis + ops.type_of(xs[0]).rank + 1 if axis < 0 else axis
    expanded = tuple(ops.expand_dims_copy(x, (axis,)) for x in xs)
    return ops.concatenate(expanded, axis)


def stack_written(ops: OpsHandle, xs: tuple[Any, ...], axis: int) -> Any:
    """Each array is written to its place in an empty result."""
    kind = ops.meta("stack", xs, axis)
    result = _empty_like(ops, kind)
    axis = axis + kind.rank if axis < 0 else axis
    for place, x in enumerate(xs):
        ops.copy_(ops.select(result, axis, place), x, "same_kind")
    return result


def _empty_like(ops: OpsHandle, kind: ArrayType) -> Any:
    """An empty array of this type, with its layout."""
    layout = stride_order(kind)
    in_c_order = layout == tuple(range(kind.rank))
    return ops.empty(kind.shape, kind.dtype, None if in_c_order else layout)
