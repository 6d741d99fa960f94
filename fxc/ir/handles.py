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


def handle(x: object) -> np.ndarray:
    """The handle of an object, which keeps it."""
    memory = _Kept(8)
    memory.object = x
    made: np.ndarray = np.frombuffer(memory, np.int64)
    made[0] = id(x)
    return made


def handle_of(x: object) -> np.ndarray:
    """The handle of an object that the caller keeps; the same array while it is used often."""
    number = id(x)
    found = _known.get(number)
    if found is None:
        if len(_known) > _MOST:
            _known.clear()
        found = _known[number] = np.array((number,), np.int64)
    return found


_known: dict[int, np.ndarray] = {}
_MOST = 1000


def object_at(handle: np.ndarray) -> Any:
    """The object of a handle."""
    return PyObj_FromPtr(int(handle[0]))


def kept_by(keeper: np.ndarray, handle: np.ndarray) -> Any:
    """The object of a handle, while the list that keeps it, the object of ``keeper``, is there."""
    return object_at(handle)
