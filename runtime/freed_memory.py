"""Memory of the process that is freed stays with it, for the next call."""

from __future__ import annotations

import ctypes
import os
from functools import cache

# Temporaries and results are made and let go of in each call. glibc gives what is freed back to the
# system, page by page to be had again, if it is larger than a limit: the largest block so far that
# it has mapped for itself and that was freed, up to this size. So one array of 32 MB, made and
# dropped, lets calls of compiled code and of NumPy keep their memory, whoever ran before.
_LARGEST_LIMIT = 2**25
_OWN = 2**13  # bytes that it adds, at most


@cache
def keep_freed_memory() -> None:
    """Let the allocator of the process keep what is freed for the next call."""
    if os.name == "posix":
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
        libc.free.restype, libc.free.argtypes = None, (ctypes.c_void_p,)
        libc.free(libc.malloc(_LARGEST_LIMIT - _OWN))  # nothing is written to it
