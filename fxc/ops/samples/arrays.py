"""Arrays of sample values, in every dtype and layout."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator

import numpy as np

from fxc.ir.types import DTYPES_BY_NAME

DTYPES = tuple(DTYPES_BY_NAME.values())
FLOAT64 = np.dtype("f8")
INT64 = np.dtype("i8")
BOOL = np.dtype("?")
CUBE = (2, 3, 4)  # a shape

_PLAIN = (3, -2, 0, 1, 5, -1, 2, 7, 4, -3, 6, 11)
_SPECIAL = (0.5, -2.5, 0.0, -0.0, np.inf, 1.0, -np.inf, np.nan, 3.25, -1.0, 1e-3, 1e4)


def filled(dtype: np.dtype, shape: tuple[int, ...], shift: int = 0) -> np.ndarray:
    """A C-ordered array of sample values, special ones among them."""
    return _filled(dtype, shape, shift % 12).copy()


@functools.cache
def _filled(dtype: np.dtype, shape: tuple[int, ...], shift: int) -> np.ndarray:
    places = (np.arange(math.prod(shape)) * 5 + shift) % 12
    if dtype.kind in "iub":
        values: np.ndarray = np.array(_PLAIN)
        values = np.abs(values) if dtype.kind == "u" else values
        return values[places].astype(dtype).reshape(shape)
    values = np.array(_SPECIAL)[places]
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            values = values + 1j * values[::-1]
        return values.astype(dtype).reshape(shape)


# Arrays of one dtype, with a shift of their values: C, F, strided, negative, zero-size, rank 0.
_LAYOUTS: tuple[Callable[[np.dtype, int], np.ndarray], ...] = (
    lambda dtype, shift: filled(dtype, (2, 3), shift),
    lambda dtype, shift: np.asfortranarray(filled(dtype, (3, 4), shift)),
    lambda dtype, shift: filled(dtype, (4, 6), shift)[::2, 1::2],
    lambda dtype, shift: filled(dtype, (5,), shift)[::-1],
    lambda dtype, shift: filled(dtype, (2, 3, 4), shift).transpose(2, 0, 1)[::-1],
    lambda dtype, shift: filled(dtype, (0, 3), shift),
    lambda dtype, shift: filled(dtype, (), shift),
)
LAYOUTS = len(_LAYOUTS)


def array(dtype: np.dtype, number: int, shift: int = 0) -> np.ndarray:
    """An array of one dtype, in the layout with this number."""
    return _LAYOUTS[number](dtype, shift)


def layouts(dtype: np.dtype, shift: int = 0) -> Iterator[np.ndarray]:
    """Arrays of one dtype in every layout."""
    return (array(dtype, number, shift) for number in range(LAYOUTS))


def fortran(x: np.ndarray) -> np.ndarray:
    """``x`` in Fortran order; rank 0 stays rank 0."""
    return np.array(x, order="F")


def spread(x: np.ndarray) -> np.ndarray:
    """The elements of ``x`` with gaps between them."""
    wide = np.repeat(x, 2, axis=-1) if x.ndim else x
    return wide[..., ::2] if x.ndim else wide


def turned(x: np.ndarray) -> np.ndarray:
    """``x`` with its first axis reversed in memory."""
    return x[::-1].copy()[::-1] if x.ndim else x


# The same elements in other places of the memory.
VARIANTS = (np.asarray, fortran, spread, turned)
