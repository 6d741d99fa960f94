"""Metas of reductions and scans."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, Type, ordered_strides

from ..operators import Operator
from .layout import fresh_strides, iteration_order
from .pointwise import pointwise_type
from .probing import Operand, ask_bound, bind, key_of, quietly, type_of
from .shapes import is_zero, normalize_axes_tuple, normalize_axis

Axis = int | tuple[int, ...] | None

# How a reduction lays out its result: NumPy's ufunc reductions keep the order of the axes that
# are left, ``argmin`` and ``argmax`` do not, and ``var`` sums up a temporary.
_PLAIN = frozenset({"argmin", "argmax"})
_DEVIATIONS = frozenset({"var", "std"})


def reduction_meta(op: Operator) -> Callable[..., Type]:
    """The meta of a reduction: of ``x``, ``axis``, ``keepdims`` and what else it takes."""
    of_one_axis = not op.schema.params[op.schema.index_of["axis"]].is_list
    name = op.name

    def meta(x: Operand, axis: Axis, keepdims: bool, *rest: object) -> Type:
        kind = type_of(x)
        if kind.rank == 0:
            (found,) = ask_bound(op, (key_of(x), axis, keepdims, *rest))
            return found
        axes = reduced_axes(kind.rank, axis, one=of_one_axis)
        # NumPy goes different ways for results that are scalars and those that are arrays.
        full = not keepdims and len(axes) == kind.rank
        (found,) = ask_bound(op, (key_of(x), None, not full, *rest))
        _check_not_empty(op, kind, axes, rest)
        if full:
            return found
        assert isinstance(kind, ArrayType)
        if name in _DEVIATIONS:
            mean = reduced_type(kind, axes, kind.dtype, keepdims=True)
            kind = pointwise_type(kind.dtype, kind, mean)
        result = reduced_type(kind, axes, found.dtype, keepdims=keepdims)
        if name in _PLAIN:
            return ArrayType(found.dtype, result.shape, fresh_strides(result.shape, 8))
        return result

    return meta


def reduced_axes(rank: int, axis: Axis, *, one: bool = False) -> tuple[int, ...]:
    """The axes that go away; None are all.

    Raises ``np.exceptions.AxisError`` or ``ValueError`` as NumPy does.
    """
    if axis is None:
        return tuple(range(rank))
    if one and isinstance(axis, int):
        return (normalize_axis(axis, rank),)
    return normalize_axes_tuple(axis, rank)


def reduced_type(
    kind: ArrayType, axes: tuple[int, ...], dtype: np.dtype[Any], *, keepdims: bool
) -> ArrayType:
    """The array that a reduction of ``kind`` over ``axes`` allocates."""
    kept = [axis for axis in range(kind.rank) if axis not in axes]
    if keepdims:
        shape: tuple[Dim, ...] = tuple(
            1 if axis in axes else dim for axis, dim in enumerate(kind.shape)
        )
        places = list(range(kind.rank))
    else:
        shape = tuple(kind.shape[axis] for axis in kept)
        places = kept
    if len(kept) < 2 or kind.strides == fresh_strides(kind.shape, kind.dtype.itemsize):
        return ArrayType(dtype, shape, fresh_strides(shape, dtype.itemsize))
    order = iteration_order(kind.rank, [kind])
    layout = [places.index(axis) for axis in order if axis in places]
    return ArrayType(dtype, shape, ordered_strides(shape, layout, dtype.itemsize))


def _check_not_empty(
    op: Operator, kind: Type, axes: tuple[int, ...], rest: tuple[Any, ...]
) -> None:
    """Raise NumPy's error if an axis without elements is reduced, and there is no identity."""
    failed = _failure_of_nothing(op, kind.dtype, rest)
    if failed is not None and any(is_zero(kind.shape[axis]) for axis in axes):
        raise ValueError(*failed)


@lru_cache(maxsize=4096)
def _failure_of_nothing(
    op: Operator, dtype: np.dtype[Any], rest: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    """What NumPy's error says, without the error: that holds the frames of all who call this."""
    assert op.numpy is not None
    positional, keywords = bind(op, (np.ones((0,), dtype), None, False, *rest))
    try:
        quietly(op.numpy, *positional, **keywords)
    except ValueError as error:
        return error.args
    return None


# ---------------------------------------------------------------- scans


def scan_meta(op: Operator) -> Callable[..., Type]:
    """The meta of ``cumsum`` and its like; without an axis they are of the flattened array."""

    def meta(x: Operand, axis: int | None, dtype: np.dtype[Any] | None) -> Type:
        kind = type_of(x)
        if kind.rank == 0:
            (found,) = ask_bound(op, (key_of(x), axis, dtype))
            return found
        (found,) = ask_bound(op, (key_of(x), 0, dtype))
        assert isinstance(kind, ArrayType)
        if axis is None:
            return ArrayType(found.dtype, (kind.size,), (found.dtype.itemsize,))
        normalize_axis(axis, kind.rank)
        return pointwise_type(found.dtype, kind)

    return meta
