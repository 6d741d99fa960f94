"""Where CPython and NumPy keep things: byte offsets into their objects."""

from __future__ import annotations

import ctypes

import numpy as np

_HEADER = object.__basicsize__  # of every object
ARRAY_DATA = _HEADER  # a pointer to the first element; the start of PyArrayObject is NumPy's ABI
ARRAY_DIMS = _HEADER + 16
ARRAY_STRIDES = _HEADER + 24
BYTES_DATA = bytes.__basicsize__ - 1  # the first byte itself

_pointer_at = ctypes.c_void_p.from_address


def address_of(array: np.ndarray) -> int:
    """Where the array's first element is. ``array.ctypes.data`` says the same ten times slower."""
    return _pointer_at(id(array) + ARRAY_DATA).value or 0
