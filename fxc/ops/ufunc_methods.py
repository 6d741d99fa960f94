"""Eager kernels of the methods of ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .foreign_ufuncs import ufunc_named


def reduce(
    x: Any,
    initial: object,
    where: object,
    ufunc: str,
    axis: tuple[int, ...] | None,
    keepdims: bool,
    dtype: np.dtype | None,
    result: np.dtype | None,
) -> Any:
    """``ufunc.reduce``; if ``result`` is given into an array of that dtype. There are so many
    parameters because they are those of the operator.
    """
    function = ufunc_named(ufunc)
    options: dict[str, Any] = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
    if initial is not None:
        options["initial"] = initial
    if where is not None:
        options["where"] = where
    if result is None:
        return function.reduce(x, **options)
    out = np.empty(reduced_shape(np.shape(x), axis, keepdims), result)
    return function.reduce(x, **options, out=out)


def reduced_shape(
    shape: tuple[int, ...], axis: tuple[int, ...] | None, keepdims: bool
) -> tuple[int, ...]:
    """The shape of a reduction of an array of this shape."""
    rank = len(shape)
    gone = range(rank) if axis is None else {place % max(rank, 1) for place in axis}
    if keepdims:
        return tuple(1 if place in gone else size for place, size in enumerate(shape))
    return tuple(size for place, size in enumerate(shape) if place not in gone)


def accumulate(
    x: Any, ufunc: str, axis: int, dtype: np.dtype | None, result: np.dtype | None
) -> Any:
    """``ufunc.accumulate``; if ``result`` is given into an array of that dtype."""
    out = None if result is None else np.empty_like(x, result)
    return ufunc_named(ufunc).accumulate(x, axis=axis, dtype=dtype, out=out)


def accumulate_into(
    x: Any, ufunc: str, axis: int, dtype: np.dtype | None, result: np.dtype | None, out: np.ndarray
) -> Any:
    """``accumulate`` into an array for the result."""
    return ufunc_named(ufunc).accumulate(x, axis=axis, dtype=dtype, out=out)


def reduceat(x: Any, indices: Any, ufunc: str, axis: int, dtype: np.dtype | None) -> Any:
    """``ufunc.reduceat``."""
    return ufunc_named(ufunc).reduceat(x, indices, axis=axis, dtype=dtype)


KERNELS: dict[str, Callable[..., Any]] = {
    "ufunc_reduce": reduce,
    "ufunc_accumulate": accumulate,
    "ufunc_reduceat": reduceat,
}
