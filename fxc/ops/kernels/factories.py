"""New arrays by shape and content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.graph import ArrayConstant


def _laid_out(make: Callable[[tuple[int, ...]], np.ndarray]) -> Callable[..., np.ndarray]:
    def kernel(shape: tuple[int, ...], layout: tuple[int, ...] | None) -> np.ndarray:
        if layout is None:
            return make(shape)
        places = [layout.index(axis) for axis in range(len(shape))]
        return make(tuple(shape[axis] for axis in layout)).transpose(places)

    return kernel


def _zeros(shape: tuple[int, ...], dtype: np.dtype, layout: tuple[int, ...] | None) -> Any:
    return _laid_out(lambda sizes: np.zeros(sizes, dtype))(shape, layout)


def _ones(shape: tuple[int, ...], dtype: np.dtype, layout: tuple[int, ...] | None) -> Any:
    return _laid_out(lambda sizes: np.ones(sizes, dtype))(shape, layout)


def empty(shape: tuple[int, ...], dtype: np.dtype, layout: tuple[int, ...] | None) -> Any:
    return _laid_out(lambda sizes: np.empty(sizes, dtype))(shape, layout)


def _full(
    shape: tuple[int, ...], value: object, dtype: np.dtype, layout: tuple[int, ...] | None
) -> Any:
    return _laid_out(lambda sizes: np.full(sizes, value, dtype))(shape, layout)


def _arange(start: object, step: Any, length: int, dtype: np.dtype) -> np.ndarray:
    """NumPy's recipe: the first two elements in Python, the rest as ``first + i * delta``.

    ``np.arange`` itself computes the length from a stop that is not known here.
    """
    result = np.empty(length, dtype)
    if length > 0:
        result[0] = start
    if length > 1:
        result[1] = _second(result[0], step) if dtype.kind in "mM" else start + step
    if length > 2:
        work = np.result_type(dtype, np.float32) if dtype == np.float16 else dtype
        first, second = result[:2].astype(work)
        with np.errstate(all="ignore"):
            result[2:] = _filled(first, second - first, np.arange(2, length), work)
    return result


def _second(first: Any, step: Any) -> Any:
    """The date or duration a step after the first one: an int counts their units."""
    return first + np.asarray(step, (first - first).dtype)


def _filled(first: Any, delta: Any, places: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "mM":
        return first + places * delta  # type: ignore[no-any-return]
    if dtype.kind != "c":
        return first + places.astype(dtype) * delta  # type: ignore[no-any-return]
    result = np.empty(places.shape, dtype)
    steps = places.astype(result.real.dtype)
    result.real = first.real + steps * delta.real
    result.imag = first.imag + steps * delta.imag
    return result


def _constant(value: ArrayConstant) -> np.ndarray:
    return value.array()


KERNELS: dict[str, Callable[..., Any]] = {
    "zeros": _zeros,
    "ones": _ones,
    "empty": empty,
    "full": _full,
    "arange": _arange,
    "constant": _constant,
}
