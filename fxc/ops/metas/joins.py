"""Metas of operators that join arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, Type

from ..table import TABLE
from .layout import joined_strides
from .probing import Operand, ask_bound, fail_in_numpy, key_of, type_of
from .shapes import normalize_axis, same_dim, same_shape
from .views import expand_dims


def concatenate(xs: tuple[Operand, ...], axis: int | None) -> Type:
    """``np.concatenate``; without an axis the flattened operands, scalars among them."""
    kinds = [type_of(x) for x in xs]
    if axis is None:
        (found,) = _asked("concatenate", xs, None)
        total: Dim = 0
        for kind in kinds:
            total = total + (kind.size if isinstance(kind, ArrayType) else 1)
        return ArrayType(found.dtype, (total,), (found.dtype.itemsize,))
    arrays = [kind for kind in kinds if isinstance(kind, ArrayType) and kind.rank]
    if len(arrays) != len(xs) or not xs or len({kind.rank for kind in arrays}) > 1:
        fail_in_numpy(_concatenated, xs, axis)
    place = normalize_axis(axis, arrays[0].rank)
    (found,) = _asked("concatenate", xs, 0)
    return _joined(arrays, place, found.dtype, axis)


def _asked(name: str, xs: tuple[Operand, ...], axis: int | None) -> tuple[Type, ...]:
    return ask_bound(TABLE[name], (tuple(key_of(x) for x in xs), axis))


def _concatenated(xs: tuple[Any, ...], axis: int) -> Any:
    return np.concatenate(xs, axis=axis)


def _joined(arrays: list[ArrayType], place: int, dtype: np.dtype[Any], axis: int) -> ArrayType:
    shape = list(arrays[0].shape)
    for kind in arrays[1:]:
        for other, dim in enumerate(kind.shape):
            if other == place:
                shape[other] = shape[other] + dim
            elif not same_dim(shape[other], dim):
                fail_in_numpy(_concatenated, tuple(arrays), axis)
    return ArrayType(dtype, tuple(shape), joined_strides(tuple(shape), arrays, dtype.itemsize))


def stack(xs: tuple[Operand, ...], axis: int) -> Type:
    """``np.stack``: the concatenation of the operands with a new axis."""
    if not xs:
        raise ValueError("need at least one array to stack")
    kinds = [type_of(x) for x in xs]
    if not all(same_shape(kinds[0].shape, kind.shape) for kind in kinds):
        raise ValueError("all input arrays must have the same shape")
    place = normalize_axis(axis, kinds[0].rank + 1)
    (found,) = _asked("stack", xs, 0)
    expanded = [expand_dims(x, (place,)) for x in xs]
    arrays = [kind for kind in expanded if isinstance(kind, ArrayType)]
    return _joined(arrays, place, found.dtype, place)


METAS: dict[str, Callable[..., Any]] = {"concatenate": concatenate, "stack": stack}
