"""Memory of large arrays that compiled code makes: it is kept when they are gone.

See Note [Kept memory].
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from fxc.ir.records import frozen

from .engine import Engine
from .kept_arrays import NEW, NEW_ARRAY_CODE, OWN, SET, USUAL
from .kept_code import (
    HANDLER,
    HUGE,
    KEPT,
    KEPT_CODE,
    LEAST,
    LIMIT,
    MARKS,
    NAME,
    REUSED,
    SIZE,
)
from .recipe import LARGE

# Note [Kept memory]
# A large block that is freed goes back to the system, and the next one of its size is had anew,
# page by page: that takes longer than most loops that fill it. So the large arrays that compiled
# code makes, results and arenas, get their memory from here, by a handler of NumPy's (NEP 49) that
# is set while such an array is made, and for it alone. NumPy notes the handler in the array, and
# gives the memory back to it when the array is gone.
# - What comes back is kept, up to a limit in bytes: beyond it the oldest goes to the system. A
#   block is used again for what takes four fifths of it or more. Where there is no more memory, all
#   that is kept is given up first.
# - Blocks lie on huge pages, where NumPy's would. Then those that are kept are marked (MADV_FREE),
#   but for the first hundred megabytes of short ones, which it would slow down: the system takes
#   what is marked when it is short of memory. On small pages a mark takes longer than it saves.
# - The interpreter lock is the lock of the state: NumPy allocates and frees under it.
# - Arrays outlive whoever made them, and the interpreter's end: state and code are never freed.
# - A child begins with what its parent had kept, as its own.
# - A program that has set a handler keeps it: then arrays are made by that.


@frozen
class NumpyMemory:
    """What is needed of NumPy: the addresses of ``PyDataMem_SetHandler`` and of what makes arrays,
    and the handler that is usual.
    """

    set_handler: int
    new_array: int
    usual: object
    huge_pages: bool


class KeptMemory:
    """The state, its code, and the handler. It is made once in a process, and stays for ever."""

    def __init__(self, numpy: NumpyMemory, limit: int) -> None:
        self._memory = ctypes.create_string_buffer(SIZE + 64)
        self._state = -(-ctypes.addressof(self._memory) // 64) * 64
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self._name = b"mem_handler"
        self._capsule = make(self._state + HANDLER, self._name, None)
        given = id(self._capsule), id(numpy.usual), numpy.new_array, numpy.set_handler
        symbols = dict(zip((OWN, USUAL, NEW, SET), given, strict=True))
        text = KEPT_CODE + NEW_ARRAY_CODE
        self._engine = Engine(text, b"", (), quick=True, symbols=symbols)
        self.new_array = self._engine.address("fxc.new")
        self._fill_handler()
        advises = numpy.huge_pages and _has_huge_pages()
        for field, value in ((LEAST, LARGE // 4), (HUGE, advises), (MARKS, advises)):
            self._field(field).value = int(value)
        self._usual = numpy.usual
        self._set = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(numpy.set_handler)
        self._trim = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(
            self._engine.address("fxc.trim")
        )
        self.limit = limit
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))  # See Note [Kept memory].

    def _fill_handler(self) -> None:
        """Write the PyDataMem_Handler."""
        at = self._state + HANDLER
        ctypes.memmove(at, b"fxc\0", 4)
        ctypes.c_uint8.from_address(at + NAME).value = 1  # the version
        names = ("fxc.take", "fxc.zeroed", "fxc.resized", "fxc.freed")
        functions = (self._state, *map(self._engine.address, names))
        for place, value in enumerate(functions):
            ctypes.c_void_p.from_address(at + NAME + 1 + 8 * place).value = value

    def _field(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self._state + offset)

    @property
    def kept(self) -> int:
        """How many bytes are kept now."""
        return self._field(KEPT).value

    @property
    def reused(self) -> int:
        """How often a block was used again."""
        return self._field(REUSED).value

    @property
    def limit(self) -> int:
        """How many bytes may be kept."""
        return self._field(LIMIT).value

    @limit.setter
    def limit(self, most: int) -> None:
        self._field(LIMIT).value = most
        self._trim(self._state, most)

    def made(self, make: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """The array that ``make`` makes, in memory from here unless the program has a handler."""
        before = self._set(self._capsule)
        if before is not self._usual:
            self._set(before)
            return make(*given, **named)
        try:
            return make(*given, **named)
        finally:
            self._set(before)


def _has_huge_pages(root: str = "/") -> bool:
    """Whether this system gives huge pages to those who ask."""
    try:
        with open(os.path.join(root, "sys/kernel/mm/transparent_hugepage/enabled")) as file:
            return "[never]" not in file.read()
    except OSError:
        return False


_MOST = 2**30
_PART = 8  # of the machine's memory


def usual_limit() -> int:
    """How many bytes are kept unless the program says: a part of the memory that there is."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
    return min(_MOST, whole // _PART)
