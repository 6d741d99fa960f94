"""Calls of a program that are native code: checks, memory, the program's code, the result.

It is called as a builtin of Python's. It takes a call only if all is as expected in the plainest
way; what else may be right, and what is wrong, goes to ``LoadedProgram.general``. Needs only NumPy.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .builtins import (
    ABI_VERSION,
    KNOWN_ABI,
    NEW_ARRAY,
    RESIZE,
    SCALAR_MAKER,
    SET_BASE,
    new_builtin,
    numpy_function,
    numpy_table,
    pointers,
)
from .elf import read
from .mapping import Mapped, MissingFunction, library
from .trees import maker
from .values import Shown, named, value_of
from .views import VIEWS

_SIZES = 16, 33, 24  # of the heads of objects, of bytes and of floats
_ENTRY = "fxc.call"


def map_calls(content: bytes, entry: str, code: Mapped) -> Mapped | None:
    """The code for calls, which calls an entry; None where it is for another Python or NumPy.

    Raises ``BadObject`` for a file that cannot be mapped.
    """
    if not _are_as_known():
        return None
    own = code.address(entry)
    try:
        return Mapped(read(content), lambda name: own if name == entry else library(name))
    except MissingFunction:
        return None


def native_call(
    calls: Mapped,
    table: ctypes.Array[ctypes.c_void_p],
    shown: Sequence[Shown],
    own: Mapping[str, object],
    otherwise: Callable[..., Any],
) -> Callable[..., Any]:
    """A builtin for calls of a program, whose code is given this ``table``. ``shown`` are the
    objects that it mentions, those by name are ``own``. Other calls are ``otherwise``.
    """
    objects = [_object(each, own) for each in shown]
    start = pointers(
        ctypes.addressof(table),
        numpy_function(NEW_ARRAY),
        *map(numpy_function, (RESIZE, SCALAR_MAKER, NEW_ARRAY, SET_BASE)),
        0,
        id(otherwise),
        *map(id, objects),
    )
    keeps = calls, table, objects, otherwise
    made: Callable[..., Any] = new_builtin(_ENTRY, calls.address(_ENTRY), start, keeps, True)
    return made


def _object(shown: Shown, own: Mapping[str, object]) -> object:
    match shown:
        case {"own": name}:
            return own[name]
        case {"maker": spec}:
            return maker(spec)
        case {"view": op}:
            return VIEWS[op]
        case {"class": name}:
            return named(name)
        case str():
            return sys.intern(shown)  # keywords are compared by what they are
    return value_of(shown, {})


def _are_as_known() -> bool:
    """Whether objects of this Python and this NumPy lie in memory as the code expects."""
    if sys.implementation.name != "cpython":
        return False
    if tuple([kind.__basicsize__ for kind in (object, bytes, float)]) != _SIZES:
        return False
    try:
        is_numpys = numpy_table()[2] == id(np.ndarray)
        version = ctypes.CFUNCTYPE(ctypes.c_uint)(numpy_function(ABI_VERSION)) if is_numpys else int
        return version() == KNOWN_ABI
    except (ImportError, AttributeError):  # another NumPy
        return False
