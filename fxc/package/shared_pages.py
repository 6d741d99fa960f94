"""Pages of memory that the code of many object files shares.

Most code is far shorter than a page, and pages of their own would be most of what a compiled
function takes. Needs only the standard library.
"""

from __future__ import annotations

import ctypes
import os
from _thread import allocate_lock
from collections.abc import Callable
from functools import cache

# Note [Shared pages]
# Such memory is mapped twice. It is run at one address, where it is never writeable, and written at
# another, where it is never executable, and which nobody can reach but while something is put
# there. Places are never used again, and the memory goes back when all code in it is gone. A forked
# child shares it with its parent: it keeps what is there, and puts its own code elsewhere. No file
# descriptor stays open, as a program may close all that it has not opened itself.

NONE, READ, WRITE, RUN = 0, 1, 2, 4  # rights
ALIGNMENT = 64  # of what is put there
_SIZE = 1 << 16
_LONGEST = _SIZE >> 3  # what is longer has pages of its own: little of these is left over
_SHARED = 1
_FAILED = ctypes.c_void_p(-1).value


@cache
def c_library() -> ctypes.CDLL:
    """The C library of this process, as far as it maps memory."""
    found = ctypes.CDLL(None, use_errno=True)
    size, place = ctypes.c_size_t, ctypes.c_void_p
    found.mmap.argtypes = (place, size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    found.mmap.restype = place
    found.munmap.argtypes = (place, size)
    found.mprotect.argtypes = (place, size, ctypes.c_int)
    return found


def protect(start: int, size: int, rights: int) -> None:
    """Give pages these rights. Raises ``OSError``."""
    if size and c_library().mprotect(start, size, rights):
        raise OSError(ctypes.get_errno(), "this system does not let a process run code it has made")


class SharedPages:
    """Memory for the code of several object files. See Note [Shared pages]."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._lock = allocate_lock()
        self._used = 0
        self._mapped: list[int] = []
        self._unmap = c_library().munmap  # is there when the interpreter ends
        file = os.memfd_create("fxc")
        try:
            os.ftruncate(file, _SIZE)
            self._run, self._written = (self._map(file, rights) for rights in (READ | RUN, NONE))
        finally:
            os.close(file)

    def _map(self, file: int, rights: int) -> int:
        start = c_library().mmap(None, _SIZE, rights, _SHARED, file, 0)
        if start == _FAILED:
            raise OSError(ctypes.get_errno(), "memory for code cannot be mapped")
        self._mapped.append(start)
        return int(start)

    def __del__(self) -> None:
        for start in getattr(self, "_mapped", ()):
            self._unmap(start, _SIZE)

    def put(self, size: int, content: Callable[[int], bytes]) -> int | None:
        """Put ``content``, of so many bytes for its address, where it can be run; None if there is
        no room for it. What it raises is raised.
        """
        with self._lock:
            if size > _SIZE - self._used:
                return None
            place, data = self._used, content(self._run + self._used)
            protect(self._written, _SIZE, READ | WRITE)
            try:
                ctypes.memmove(self._written + place, data, len(data))
            finally:
                protect(self._written, _SIZE, NONE)
            self._used += -(-size // ALIGNMENT) * ALIGNMENT
            return self._run + place


_open: list[SharedPages] = []  # the one that has room, if this process has made it
os.register_at_fork(after_in_child=_open.clear)


def put_in_shared(size: int, content: Callable[[int], bytes]) -> tuple[int, SharedPages] | None:
    """Put code in pages that other code shares: its address, and what has to be kept as long as it
    may be run. None where there are no such pages, or where it would take most of them.
    """
    if size > _LONGEST or not hasattr(os, "memfd_create"):
        return None
    for pages in _open[:]:
        start = pages.put(size, content) if pages.process == os.getpid() else None
        if start is not None:
            return start, pages
    try:
        pages = SharedPages()
    except OSError:
        return None
    _open[:] = [pages]
    start = pages.put(size, content)
    return None if start is None else (start, pages)
