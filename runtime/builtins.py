"""Builtins of Python that call native code."""

from __future__ import annotations

import ctypes
from typing import Any

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
