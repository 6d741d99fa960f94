"""Maps a relocatable object file into this process: no compiler, no linker, no other file.

Code is position-independent. It is written to memory, its relocations are applied, and then the
memory is made executable and no longer writeable: at no time it is both. What is short lies in
pages that it shares: Note [Shared pages]. The file is not looked at for being what somebody meant:
who calls this has compared checksums.

Needs only the standard library.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Callable
from functools import cache, lru_cache

from .elf import AARCH64, X86_64, BadObject, ElfSymbol, ObjectFile, Relocation
from .relocations import JUMPS, RULES, STUBS, THROUGH_POINTERS, WIDE
from .shared_pages import ALIGNMENT, READ, RUN, WRITE, c_library, protect, put_in_shared

Resolve = Callable[[str], int | None]  # from a name to an address

_OWN = {"x86_64": X86_64, "AMD64": X86_64, "aarch64": AARCH64, "arm64": AARCH64}
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class MissingFunction(BadObject):
    """Code calls a function that is nowhere in this process, nor in the C library."""


class Mapped:
    """An object file in memory, as long as this object lives."""

    __slots__ = ("_keeps", "_places", "_start")

    def __init__(self, file: ObjectFile, resolve: Resolve) -> None:
        """Raises ``BadObject`` for a file that cannot be mapped (``MissingFunction`` for want of
        what it calls), ``OSError`` where the system does not let code run that was written by the
        process.
        """
        if not sys.platform.startswith("linux"):
            raise OSError(f"object code is mapped on Linux alone, this is {sys.platform}")
        if file.machine != _OWN.get(platform.machine()):
            raise BadObject(f"the code is for another processor than {platform.machine()}")
        self._keeps: object
        layout = MemoryLayout(file, resolve, ALIGNMENT if _may_share(file) else _PAGE)
        shared = None if layout.page == _PAGE else put_in_shared(layout.size, layout.content)
        if shared is not None:
            self._start, self._keeps = shared
        else:
            if layout.page != _PAGE:
                layout = MemoryLayout(file, resolve)
            self._start, self._keeps = _in_own_pages(layout)
        self._places = _by_name(tuple(layout.symbols.items()))

    def has(self, name: str) -> bool:
        """Whether the file has a symbol of this name."""
        return name in self._places

    def address(self, name: str) -> int:
        """Where a symbol of the file is. Raises ``BadObject`` if it has none of this name."""
        if name not in self._places:
            raise BadObject(f"the object file has no {name}")
        return self._start + self._places[name]


@lru_cache(256)
def _by_name(places: tuple[tuple[str, int], ...]) -> dict[str, int]:
    """Where symbols are, from the start. Most files have those of another one, so they share it."""
    return dict(places)


@cache
def library(name: str) -> int | None:
    """The address of a function of this process, or of the C library."""
    for file in (None, "libm.so.6", "libc.so.6"):
        try:
            found = getattr(_library(file), name)
        except (OSError, AttributeError):
            continue
        return ctypes.cast(found, ctypes.c_void_p).value
    return None


@cache
def _library(file: str | None) -> ctypes.CDLL:
    return c_library() if file is None else ctypes.CDLL(file, use_errno=True)


def _may_share(file: ObjectFile) -> bool:
    """Whether the code may lie beside other code: nothing is written in it. On aarch64 the
    instructions in a processor's cache would be what was there before.
    """
    needed = [section for section in file.sections if section.needed]
    is_plain = all(not each.writes and each.alignment <= ALIGNMENT for each in needed)
    return is_plain and file.machine == X86_64


def _in_own_pages(layout: MemoryLayout) -> tuple[int, object]:
    """Where the content is, and what keeps it there."""
    import mmap  # for code that shares no pages

    memory = mmap.mmap(-1, layout.size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    first = ctypes.c_char.from_buffer(memory)
    start = ctypes.addressof(first)
    memory[:] = layout.content(start)
    for group, begin, end in layout.groups:
        protect(start + begin, end - begin, READ | group)
    return start, first


class MemoryLayout:
    """Where everything lies: code with stubs for jumps, what is read alone, what is written. Each
    of them begins at a multiple of ``page``.

    Raises ``BadObject`` for what cannot be mapped, as ``content`` does.
    """

    def __init__(self, file: ObjectFile, resolve: Resolve, page: int = _PAGE) -> None:
        self.file, self.page = file, page
        self.places: dict[int, int] = {}  # by section
        self.groups: list[tuple[int, int, int]] = []  # rights, first byte, end
        self.outside = {name: _resolved(resolve, name) for name in file.missing}
        kinds = [RUN if s.runs else WRITE if s.writes else 0 for s in file.sections]
        stub = len(STUBS[file.machine]) + 8
        at = 0
        for rights in (RUN, 0, WRITE):
            first = at
            for number, section in enumerate(file.sections):
                if section.needed and kinds[number] == rights:
                    at = -(-at // section.alignment) * section.alignment
                    self.places[number] = at
                    at += len(section.content)
            at = -(-at // 8) * 8
            if rights == RUN:
                self.stubs = {name: at + n * stub for n, name in enumerate(self.outside)}
                at += stub * len(self.outside)
            elif rights == 0:
                through = THROUGH_POINTERS[file.machine]
                used = dict.fromkeys(r.symbol for r in file.relocations if r.kind in through)
                self.pointers = {number: at + 8 * n for n, number in enumerate(used)}
                at += 8 * len(used)
            at = -(-at // page) * page
            self.groups.append((rights, first, at))
        self.size = max(at, page)
        self.symbols = {
            each.name: self.places[each.section] + each.value
            for each in file.symbols
            if each.name and each.section in self.places
        }

    def content(self, start: int) -> bytes:
        """All bytes, for this address."""
        memory = bytearray(self.size)
        for number, place in self.places.items():
            content = self.file.sections[number].content
            memory[place : place + len(content)] = content
        jump = STUBS[self.file.machine]
        for name, place in self.stubs.items():
            memory[place : place + len(jump) + 8] = jump + self.outside[name].to_bytes(8, "little")
        for number, place in self.pointers.items():
            target = self.target(start, self.file.symbols[number])
            memory[place : place + 8] = (target % 2**64).to_bytes(8, "little")
        for each in self.file.relocations:
            self.relocate(memory, start, each)
        return bytes(memory)

    def target(self, start: int, symbol: ElfSymbol) -> int:
        if symbol.section is None:
            return self.outside[symbol.name]
        if symbol.section not in self.places:
            raise BadObject(f"{symbol.name} is in a section that is not mapped")
        return start + self.places[symbol.section] + symbol.value

    def relocate(self, memory: bytearray, start: int, relocation: Relocation) -> None:
        section, offset, kind = relocation.section, relocation.offset, relocation.kind
        number, machine = relocation.symbol, self.file.machine
        symbol = self.file.symbols[number]
        at = self.places[section] + offset
        width = 8 if kind in WIDE[machine] else 4
        if offset + width > len(self.file.sections[section].content):
            raise BadObject("a relocation is outside of its section")
        if kind in THROUGH_POINTERS[machine]:
            rule, target = THROUGH_POINTERS[machine][kind], start + self.pointers[number]
        elif kind in JUMPS[machine]:
            rule = JUMPS[machine][kind]
            is_far = symbol.section is None
            target = start + self.stubs[symbol.name] if is_far else self.target(start, symbol)
        elif kind in RULES[machine]:
            rule, target = RULES[machine][kind], self.target(start, symbol)
        else:
            raise BadObject(f"the object file has a relocation of kind {kind}")
        rule(memory, at, start + at, target + relocation.addend)


def _resolved(resolve: Resolve, name: str) -> int:
    found = resolve(name)
    if not found:
        raise MissingFunction(f"there is no function {name} here, which the code calls")
    return found
