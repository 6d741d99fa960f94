"""Builtins of Python that call native code, and NumPy's functions in C that such code calls.

These stand at fixed places of a table, which NumPy's public headers give. Needs only NumPy.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

# Places in NumPy's table of C functions: its ABI.
ABI_VERSION = 0  # PyArray_GetNDArrayCVersion
SCALAR_MAKER = 60  # PyArray_Scalar
RESIZE = 80  # PyArray_Resize
NEW_ARRAY = 94  # PyArray_NewFromDescr
SET_BASE = 282  # PyArray_SetBaseObject
KNOWN_ABI = 2 << 24  # of NumPy 2: no place of the table moves before NumPy 3
ITEM_SIZE = 40  # where a dtype of NumPy 2 has it

METH_FASTCALL = 0x80
METH_KEYWORDS = 0x2


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_void_p),
    )


def new_builtin(
    name: str, address: int, table: bytes, keeps: tuple[object, ...], keywords: bool = False
) -> Any:
    """A builtin that calls the code at this address; its ``self`` begins with ``table``.

    CPython reads the PyMethodDef until the builtin is gone and its ``self`` is released last,
    so the PyMethodDef (and its name) lie behind the table in the very same bytes object. The
    code itself is kept by the builtin's ``__module__``, which may be any object, and so is what
    the table points to (``keeps``).
    """
    label = name.encode() + b"\0"
    room = bytes(ctypes.sizeof(_MethodDef))
    owner = b"".join((table, room, label))
    start = id(owner) + bytes.__basicsize__ - 1 + len(table)
    method = _MethodDef.from_address(start)
    method.name = start + len(room)
    method.function = address
    method.flags = METH_FASTCALL | (METH_KEYWORDS if keywords else 0)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return make(start, owner, keeps)


def pointers(*pointers: int) -> bytes:
    """A table of addresses."""
    return b"".join(pointer.to_bytes(8, "little") for pointer in pointers)


def numpy_function(place: int) -> int:
    """The address of the function at a place of NumPy's table. Raises ``ImportError``."""
    return there(numpy_table()[place], f"function {place} of its table")


def there(address: int | None, what: str) -> int:
    """The address, which is not null."""
    if not address:
        raise ImportError(f"NumPy {np.__version__} is not one that fxc knows: it has no {what}")
    return address


@cache
def numpy_table() -> Any:
    """NumPy's functions in C, and its types."""
    find = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    capsule = import_module("numpy._core._multiarray_umath")._ARRAY_API
    return ctypes.cast(find(capsule, None), ctypes.POINTER(ctypes.c_void_p))
