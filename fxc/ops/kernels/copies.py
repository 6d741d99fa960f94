"""Copies of arrays whose strides are kept."""

from __future__ import annotations

import numpy as np

from fxc.ir.types import strided_empty


def strided_copy(array: object) -> np.ndarray:
    """A copy whose strides are those of the original, gaps and all.

    NumPy adds up a sum in an order that depends on strides; a functional graph evaluated with
    such copies therefore has the bits of the views it stands for.
    """
    array = np.asarray(array)
    if array.flags.c_contiguous:
        return np.array(array)
    copy = strided_empty(array.dtype, array.shape, array.strides)
    np.copyto(copy, array)
    return copy


def unshared(x: np.ndarray) -> np.ndarray:
    """A copy to be written: elements that share memory with others get memory of their own."""
    shared = any(s == 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))
    return np.array(x, order="C") if shared else strided_copy(x)
