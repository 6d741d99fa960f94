"""Metas of factories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.graph import ArrayConstant
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import PY_INT, ArrayType, Type, ordered_strides

from ..table import TABLE
from .layout import fresh_strides
from .pointwise import pointwise_type
from .probing import Key, Operand, ask_bound, key_of, quietly, sample, type_of
from .shapes import is_negative, is_too_big
from .views import check_assignable

Layout = tuple[int, ...] | None


def _fresh(shape: Sequence[Dim], dtype: np.dtype[Any], layout: Layout = None) -> ArrayType:
    sizes = tuple(shape)
    if any(map(is_negative, sizes)):
        raise ValueError("negative dimensions are not allowed")
    if is_too_big(sizes, dtype.itemsize):
        raise ValueError(
            "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible "
            "size."
        )
    if layout is None:
        return ArrayType(dtype, sizes, fresh_strides(sizes, dtype.itemsize))
    return ArrayType(dtype, sizes, ordered_strides(sizes, layout, dtype.itemsize))


def filled(shape: tuple[Dim, ...], dtype: np.dtype[Any], layout: Layout) -> Type:
    """``np.zeros``, ``np.ones`` and ``np.empty``, with the axes in memory as ``layout`` says."""
    return _fresh(shape, dtype, layout)


def full(shape: tuple[Dim, ...], value: Operand, dtype: np.dtype[Any], layout: Layout) -> Type:
    """``np.full``: the value is broadcast, and cast as by an assignment."""
    result = _fresh(shape, dtype, layout)
    check_assignable(type_of(value).shape, result.shape)
    _ask_fill(key_of(value), dtype)
    return result


@lru_cache(maxsize=4096)
def _ask_fill(value: Key | None, dtype: np.dtype[Any]) -> None:
    quietly(np.full, (1,), sample(value), dtype)


def arange(start: Operand, step: Operand, length: Dim, dtype: np.dtype[Any]) -> Type:
    """``np.arange`` of a length that is known."""
    return _fresh((length,), dtype)


def linspace(start: Operand, stop: Operand, num: Dim, endpoint: bool, dtype: np.dtype[Any]) -> Type:
    """``np.linspace``: the axes of ``start`` and ``stop`` come after the new one."""
    if guard(num, "<", 0):
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    ends = pointwise_type(np.dtype(float), type_of(stop), type_of(start))
    ask_bound(TABLE["linspace"], (key_of(start), key_of(stop), 2, endpoint, dtype))
    return pointwise_type(dtype, _fresh((num, *(1,) * ends.rank), dtype), ends)


def eye(rows: Dim, columns: Dim, k: int, dtype: np.dtype[Any]) -> Type:
    """``np.eye``."""
    return _fresh((rows, columns), dtype)


def constant(value: ArrayConstant) -> Type:
    """An array that is part of the program."""
    return _fresh(value.shape, value.dtype)


def int_value(value: Dim) -> Type:
    """A dim as a Python int."""
    return PY_INT


METAS: dict[str, Callable[..., Any]] = {
    "zeros": filled,
    "ones": filled,
    "empty": filled,
    "full": full,
    "arange": arange,
    "linspace": linspace,
    "eye": eye,
    "constant": constant,
    "int_value": int_value,
}
