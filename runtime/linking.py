"""Object code in memory, by the loader of packages: LLVM's own takes its import and an engine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from fxc.package import elf, mapping

LIBRARY_PREFIX = "libm."  # of the C library's functions that CPython's ``math`` calls


class Unlinked(Exception):
    """Code cannot be put in memory here, or is not there."""


class InMemory:
    """The code of a module. It is there as long as this object, and so is what it calls."""

    __slots__ = ("_mapped", "_others")

    def __init__(self, mapped: mapping.Mapped, others: Sequence[InMemory]) -> None:
        self._mapped, self._others = mapped, tuple(others)

    def address(self, name: str) -> int:
        """Where the code of a function is."""
        return self._mapped.address(name)

    def has(self, name: str) -> bool:
        """Whether the module defines it."""
        return self._mapped.has(name)


def link(
    code: bytes,
    others: Sequence[InMemory],
    symbols: Mapping[str, int] = MappingProxyType({}),
) -> InMemory:
    """Put object code in memory, which calls the functions of these modules and of the C library,
    and has these ``symbols``.

    Raises ``Unlinked``, or ``MissingFunction`` for code that nothing can put in memory.
    """

    def resolve(name: str) -> int | None:
        for each in others:
            if each.has(name):
                return each.address(name)
        return symbols.get(name) or library(name)

    try:
        return InMemory(mapping.Mapped(elf.read(code), resolve), others)
    except mapping.MissingFunction:  # LLVM would leave its address null: the process died there
        raise
    except (elf.BadObject, OSError) as error:
        raise Unlinked(str(error)) from error


_supports: dict[bytes, InMemory] = {}  # modules that others call, by the keys of their code


def support_in_memory(keys: Iterable[bytes], code_of: Callable[[bytes], bytes]) -> list[InMemory]:
    """Modules that others call, each of which may call those before it. They are put in memory once
    in a process, and stay. Raises ``Unlinked``.
    """
    found: list[InMemory] = []
    for key in keys:
        if key not in _supports:
            made = link(code_of(key), found)
            # A thread may be inside when the interpreter ends, see Note [The interpreter lock].
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
            _supports[key] = made
        found.append(_supports[key])
    return found


def library(name: str) -> int | None:
    """The address of a function of the C library, or of Python."""
    if not name.startswith(LIBRARY_PREFIX):
        return mapping.library(name)
    found = getattr(_math(), name.removeprefix(LIBRARY_PREFIX))
    return ctypes.cast(found, ctypes.c_void_p).value


@cache
def _math() -> ctypes.CDLL:
    process = ctypes.CDLL(None)
    if hasattr(process, "exp"):
        return process
    from ctypes.util import find_library

    return ctypes.CDLL(find_library("m"))
