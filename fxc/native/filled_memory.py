"""New arrays of NumPy's, whose memory has a known content. See Note [Filled memory]."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from fxc.package.builtins import numpy_function
from fxc.runtime.engine import Engine
from fxc.runtime.kept_code import NAME

from .numpy_slots import SET_HANDLER, usual_handler

# Note [Filled memory]
# ``np.empty``, ``np.ufunc(where=)`` and others leave in new arrays what was in their memory. All of
# them have it from NumPy's handler (NEP 49). So a copy of the usual one fills each new block with
# one byte, for the thread that sets it. What is zeroed or freed is as usual, and so the arrays may
# live on. A program that has set a handler keeps it.

_FUNCTIONS = NAME + 1  # the name, the version; then the context, and malloc as the next
_SIZE = _FUNCTIONS + 5 * 8
_BYTE, _USUAL = "fxc.filled.byte", "fxc.filled.usual"
_CODE = f"""\
@"{_BYTE}" = external global i8
declare ptr @"{_USUAL}"(ptr, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define ptr @"fxc.filled"(ptr %context, i64 %size) nounwind {{
  %data = call ptr @"{_USUAL}"(ptr %context, i64 %size)
  %none = icmp eq ptr %data, null
  br i1 %none, label %end, label %fill
fill:
  %byte = load i8, ptr @"{_BYTE}", align 1
  call void @llvm.memset.p0.i64(ptr %data, i8 %byte, i64 %size, i1 false)
  br label %end
end:
  ret ptr %data
}}
"""


class _FilledMemory:
    """The handler. It is made once in a process, and stays for ever: arrays outlive all."""

    def __init__(self) -> None:
        self.usual = usual_handler()
        self.byte = ctypes.c_uint8()
        name = b"mem_handler"
        find, make = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_New
        find.restype, find.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        usual = ctypes.string_at(find(self.usual, name), _SIZE)
        self._handler = ctypes.create_string_buffer(usual, _SIZE)
        at = ctypes.addressof(self._handler)
        malloc = ctypes.c_void_p.from_address(at + _FUNCTIONS + 8)
        symbols = {_BYTE: ctypes.addressof(self.byte), _USUAL: malloc.value or 0}
        self._engine = Engine(_CODE, b"", (), quick=True, symbols=symbols)
        malloc.value = self._engine.address("fxc.filled")
        self.capsule = make(at, name, None)
        self.name = name  # to which the capsule points
        self.set = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
            numpy_function(SET_HANDLER)
        )
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


_filled_memory = cache(_FilledMemory)


@contextmanager
def new_memory_of(byte: int) -> Iterator[None]:
    """In the block new arrays of this thread's have this in each byte, where nobody writes it."""
    memory = _filled_memory()
    memory.byte.value = byte
    before = memory.set(memory.capsule)
    try:
        if before is not memory.usual:
            memory.set(before)
        yield
    finally:
        memory.set(before)
