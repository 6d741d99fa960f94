"""Python objects that native code hands on: arrays of one number, the address of the object.

See Note [Operators with effects].
"""

from __future__ import annotations

from _ctypes import PyObj_FromPtr
from typing import Any

import numpy as np

from .types import ArrayType, array_type

HANDLE: ArrayType = array_type(np.dtype(np.int64), (1,))


class _Kept(bytearray):
    """The memory of a handle, which keeps the object."""

    object: Any


def handle(x: Any) -> np.ndarray:
    """The handle of an object, which keeps it."""
    memory = _Kept(8)
    memory.object = x
    made: np.ndarray = np.frombuffer(memory, np.int64)
    made[0] = id(x)
    return made


def object_at(handle: np.ndarray) -> Any:
    """The object of a handle."""
    return PyObj_FromPtr(int(handle[0]))
