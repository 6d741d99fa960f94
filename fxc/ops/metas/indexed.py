"""Metas of operators that read and write by index arrays and masks, see Note [Index arrays]."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.size_functions import counted_size
from fxc.ir.symbols import Dim, product
from fxc.ir.types import PY_INT, ArrayType, ScalarType, Type, array_type, ordered_strides

from ..foreign_ufuncs import ufunc_named
from .layout import copied_strides, fresh_strides
from .probing import Key, Operand, key_of, quietly, sample, type_of
from .shapes import Shape, broadcast_shapes, check_mask
from .views import check_assignable

_INTP = np.dtype(np.intp)


def wrap_index(index: Operand, size: Dim, axis: int | None) -> Type:
    """The index as NumPy's own kind of integer; a scalar stays one."""
    kind = type_of(index)
    _check_integers(kind.dtype)
    if isinstance(kind, ScalarType):
        return ScalarType(_INTP)
    return ArrayType(_INTP, kind.shape, copied_strides(kind, "K", _INTP.itemsize))


def _check_integers(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")


def index_space(
    x: Type, indices: tuple[Operand, ...], axes: tuple[int, ...], place: int
) -> tuple[Shape, Shape]:
    """The shape that is read or written, and the shape B of the index arrays in it."""
    for index in indices:
        _check_integers(type_of(index).dtype)
    shape = broadcast_shapes(*(type_of(index).shape for index in indices))
    rest = [dim for axis, dim in enumerate(x.shape) if axis not in axes]
    return (*rest[:place], *shape, *rest[place:]), shape


def gather(
    x: Operand,
    indices: tuple[Operand, ...],
    axes: tuple[int, ...],
    place: int,
    layout: tuple[int, ...] | None,
) -> Type:
    """The elements that the index arrays point to: an array, also of one element."""
    kind = type_of(x)
    shape, _ = index_space(kind, indices, axes, place)
    itemsize = kind.dtype.itemsize
    if layout is None:
        return ArrayType(kind.dtype, shape, fresh_strides(shape, itemsize))
    return ArrayType(kind.dtype, shape, ordered_strides(shape, layout, itemsize))


def index_put(
    x: Operand,
    source: Operand,
    indices: tuple[Operand, ...],
    axes: tuple[int, ...],
    place: int,
) -> Type:
    """``x`` with other elements where the index arrays point to."""
    kind = type_of(x)
    shape, _ = index_space(kind, indices, axes, place)
    _ask_assignment(kind.dtype, key_of(source))
    check_assignable(type_of(source).shape, shape)
    return kind


@lru_cache(maxsize=4096)
def _ask_assignment(dtype: np.dtype[Any], source: Key | None) -> None:
    quietly(np.zeros((1,), dtype).__setitem__, [0], sample(source))


def index_reduce(
    x: Operand,
    source: Operand | None,
    indices: tuple[Operand, ...],
    axes: tuple[int, ...],
    place: int,
    ufunc: str,
) -> Type:
    """``x`` after ``ufunc.at``."""
    kind = type_of(x)
    shape, _ = index_space(kind, indices, axes, place)
    _ask_at(ufunc, kind.dtype, key_of(source))
    if source is not None:
        check_assignable(type_of(source).shape, shape)
    return kind


@lru_cache(maxsize=4096)
def _ask_at(ufunc: str, dtype: np.dtype[Any], source: Key | None) -> None:
    operands = () if source is None else (sample(source),)
    quietly(ufunc_named(ufunc).at, np.ones((1,), dtype), [0], *operands)


def masked_put(x: Operand, mask: Operand, source: Operand) -> Type:
    """``x`` with the elements of ``source``, one after the other, where ``mask`` is True."""
    kind, chosen, given = type_of(x), type_of(mask), type_of(source)
    if chosen.dtype != np.bool_:
        raise TypeError(f"a mask of {chosen.dtype}")
    if chosen.rank > kind.rank:
        raise IndexError(
            f"too many indices for array: array is {kind.rank}-dimensional, "
            f"but {chosen.rank} were indexed"
        )
    check_mask(chosen.shape, kind.shape)
    _ask_assignment(kind.dtype, key_of(source))
    rest = kind.shape[chosen.rank :]
    if given.rank != len(rest) + 1:
        raise ValueError(f"a source of {given.rank} axes for masked elements of {len(rest)}")
    check_assignable(given.shape[1:], rest)
    return kind


def bind_size(number: Operand, symbol: str, most: Dim) -> Type:
    """The size as a Python int."""
    return PY_INT


def nonzero(mask: Operand, count: Dim) -> Type:
    """The places of the elements that are not zero: a row for each, with an index for each axis."""
    return array_type(_INTP, (count, type_of(mask).rank))


def unique(
    x: Operand,
    index: bool,
    inverse: bool,
    counts: bool,
    equal_nan: bool,
    ordered: bool,
    rows: bool,
    symbol: str,
    most: Dim,
) -> tuple[Type, ...]:
    """The elements, or the parts along the first axis, each once, and what is asked for besides.
    There are so many parameters because they are those of the operator.
    """
    kind, count = type_of(x), counted_size(symbol, most)
    found = [array_type(kind.dtype, (count, *kind.shape[1:]) if rows else (count,))]
    found += [array_type(_INTP, (count,))] * index
    found += [array_type(_INTP, kind.shape[:1] if rows else (product(kind.shape),))] * inverse
    found += [array_type(_INTP, (count,))] * counts
    return tuple(found)


METAS: dict[str, Callable[..., Any]] = {
    "wrap_index": wrap_index,
    "gather": gather,
    "index_put": index_put,
    "index_reduce": index_reduce,
    "masked_put": masked_put,
    "bind_size": bind_size,
    "nonzero": nonzero,
    "unique": unique,
}
