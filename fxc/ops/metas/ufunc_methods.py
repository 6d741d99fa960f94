"""Metas of the methods of ufuncs, and of the sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, Type, ordered_strides

from .. import ufunc_methods
from ..table import TABLE
from .layout import copied_strides, fresh_strides, iteration_order, pointwise_strides
from .pointwise import pointwise_type
from .probing import (
    Operand,
    ask_bound,
    fail_in_numpy,
    key_of,
    kind_of_result,
    quietly,
    sample,
    type_of,
)
from .reductions import reduced_axes, reduced_type
from .shapes import broadcasts_to, is_zero, normalize_axis


def ufunc_reduce(
    x: Operand,
    initial: Operand | None,
    where: Operand | None,
    ufunc: str,
    axis: tuple[int, ...] | None,
    keepdims: bool,
    dtype: np.dtype | None,
    result: np.dtype | None,
) -> Type:
    """``ufunc.reduce``. There are so many parameters because they are those of the operator."""
    kind = type_of(x)
    axes = () if kind.rank == 0 else reduced_axes(kind.rank, axis)
    options = (ufunc, axis, keepdims, dtype, result)
    mask = None if where is None else type_of(where)
    if mask is not None and not broadcasts_to(mask.shape, kind.shape):
        fail_in_numpy(ufunc_methods.reduce, x, initial, where, *options)
    one, start = sample(key_of(x, ranked=True)), sample(key_of(initial))
    chosen = None if mask is None else sample(key_of(mask))
    given = quietly(ufunc_methods.reduce, one, start, chosen, *options)
    found = kind_of_result(given, f"np.{ufunc}.reduce")
    if any(is_zero(kind.shape[place]) for place in axes):
        nothing = np.ones((0,) * kind.rank, kind.dtype)
        quietly(ufunc_methods.reduce, nothing, start, chosen, *options)
    if not isinstance(kind, ArrayType) or not isinstance(found, ArrayType) or not kind.rank:
        return found
    if result is not None:
        shape = reduced_type(kind, axes, result, keepdims=keepdims).shape
        return ArrayType(result, shape, fresh_strides(shape, result.itemsize))
    if isinstance(mask, ArrayType) and mask.rank:
        order = iteration_order(kind.rank, [kind, mask])
        kind = ArrayType(kind.dtype, kind.shape, ordered_strides(kind.shape, order, 1))
    return reduced_type(kind, axes, found.dtype, keepdims=keepdims)


def ufunc_accumulate(
    x: Operand, ufunc: str, axis: int, dtype: np.dtype | None, result: np.dtype | None
) -> Type:
    """``ufunc.accumulate``: laid out like a pointwise result."""
    kind = type_of(x)
    one = sample(key_of(x, ranked=True))
    given = quietly(ufunc_methods.accumulate, one, ufunc, axis, dtype, result)
    found = kind_of_result(given, f"np.{ufunc}.accumulate")
    return pointwise_type(found.dtype, kind)


def ufunc_reduceat(
    x: Operand, indices: Operand, ufunc: str, axis: int, dtype: np.dtype | None
) -> Type:
    """``ufunc.reduceat``: one element along the axis for each index.

    The axis is that of the indices for NumPy's iterator, not one of the array.
    """
    kind, places = type_of(x), type_of(indices)
    is_array = isinstance(kind, ArrayType) and kind.rank > 0
    if not is_array or places.rank != 1 or not np.can_cast(places.dtype, np.intp):
        fail_in_numpy(ufunc_methods.reduceat, x, indices, ufunc, axis, dtype)
    assert isinstance(kind, ArrayType)
    along = normalize_axis(axis, kind.rank)
    one, first = sample(key_of(x, ranked=True)), np.zeros(1, np.intp)
    given = quietly(ufunc_methods.reduceat, one, first, ufunc, axis, dtype)
    found = kind_of_result(given, f"np.{ufunc}.reduceat")
    shape = (*kind.shape[:along], places.shape[0], *kind.shape[along + 1 :])
    strides = (*kind.strides[:along], 0, *kind.strides[along + 1 :])
    walked = ArrayType(kind.dtype, shape, strides)
    return ArrayType(found.dtype, shape, pointwise_strides(shape, [walked], found.dtype.itemsize))


# ---------------------------------------------------------------- sorts


def _sort_meta(name: str, order: str) -> Callable[..., Type]:
    def meta(x: Operand, axis: int | None, kind_of_sort: str | None) -> Type:
        found = _sorted_kind(name, x, axis, kind_of_sort)
        return _sorted(x, axis, found, order)

    return meta


def _is_inside(place: int, size: Dim) -> bool:
    """Whether ``place`` counts an element, from the front or from the back."""
    return guard(size, ">", place) if place >= 0 else guard(size, ">=", -place)


def _partition_meta(name: str, order: str) -> Callable[..., Type]:
    def meta(x: Operand, kth: tuple[int, ...], axis: int | None) -> Type:
        kind = type_of(x)
        if kind.rank and axis is not None:
            size = kind.shape[normalize_axis(axis, kind.rank)]
        else:
            size = kind.size if isinstance(kind, ArrayType) else 1
        nothing = isinstance(kind, ArrayType) and is_zero(kind.size)  # NumPy does not look at kth
        if not nothing and not all(_is_inside(place, size) for place in kth):
            fail_in_numpy(TABLE[name].numpy, x, kth, axis)  # type: ignore[arg-type]
        asked = axis if kind.rank == 0 or axis is None else 0
        (found,) = ask_bound(TABLE[name], (key_of(x), 0, asked))
        return _sorted(x, axis, found, order)

    return meta


def _sorted_kind(name: str, x: Operand, axis: int | None, kind_of_sort: str | None) -> Type:
    rank = type_of(x).rank
    asked = axis if rank == 0 or axis is None else 0
    (found,) = ask_bound(TABLE[name], (key_of(x), asked, kind_of_sort))
    return found


def _sorted(x: Operand, axis: int | None, found: Type, order: str) -> Type:
    kind = type_of(x)
    if isinstance(kind, ScalarType) or kind.rank == 0:
        return found
    itemsize = found.dtype.itemsize
    if axis is None:
        return ArrayType(found.dtype, (kind.size,), (itemsize,))
    normalize_axis(axis, kind.rank)
    return ArrayType(found.dtype, kind.shape, copied_strides(kind, order, itemsize))


METAS: dict[str, Callable[..., Any]] = {
    "ufunc_reduce": ufunc_reduce,
    "ufunc_accumulate": ufunc_accumulate,
    "ufunc_reduceat": ufunc_reduceat,
    "sort": _sort_meta("sort", "K"),
    "argsort": _sort_meta("argsort", "C"),
    "partition": _partition_meta("partition", "K"),
    "argpartition": _partition_meta("argpartition", "C"),
}
