"""Relocatable object files (ELF, 64 bits, little-endian): their sections, symbols, relocations.

Nothing is executed here. Needs only the standard library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

X86_64, AARCH64 = 62, 183  # machines
MACHINES = {X86_64: "x86-64", AARCH64: "aarch64"}

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_MAGIC = b"\x7fELF\x02\x01\x01"
_RELOCATABLE = 1
_SYMBOLS, _RELOCATIONS, _NO_BITS, _WITHOUT_ADDENDS = 2, 4, 8, 9  # types of sections
_WRITE, _ALLOC, _CODE = 1, 2, 4  # flags of sections
_UNDEFINED, _ABSOLUTE = 0, 0xFFF1  # in place of a section's number
_UNWINDING = ".eh_frame"  # for those who debug: nothing here throws


class BadObject(ValueError):
    """What is no object file that can be mapped."""


# These are no named tuples, nor dataclasses: to define those takes longer than to load a package.


class ElfSection:
    """A section; one that is not ``needed`` while code runs has no content."""

    __slots__ = ("alignment", "content", "name", "needed", "runs", "writes")

    def __init__(self, name: str, flags: int, content: bytes, alignment: int) -> None:
        self.name = name
        self.needed = bool(flags & _ALLOC) and name != _UNWINDING
        self.writes, self.runs = bool(flags & _WRITE), bool(flags & _CODE)
        self.content = content if self.needed else b""  # zeros where the file has none
        self.alignment = alignment


class ElfSymbol:
    """A name for a place in a section; without a section it is somebody else's."""

    __slots__ = ("name", "section", "value")

    def __init__(self, name: str, section: int | None, value: int) -> None:
        self.name, self.section, self.value = name, section, value


class Relocation:
    """Place ``offset`` of a section is to be changed, as ``kind`` says, to mean a symbol."""

    __slots__ = ("addend", "kind", "offset", "section", "symbol")

    def __init__(self, section: int, offset: int, info: int, addend: int) -> None:
        self.section, self.offset, self.addend = section, offset, addend
        self.kind, self.symbol = info & 0xFFFFFFFF, info >> 32


class ObjectFile:
    """What a file holds."""

    def __init__(
        self,
        machine: int,
        sections: Sequence[ElfSection],
        symbols: Sequence[ElfSymbol],
        relocations: Sequence[Relocation],
    ) -> None:
        self.machine, self.sections = machine, sections
        self.symbols, self.relocations = symbols, relocations

    @property
    def missing(self) -> tuple[str, ...]:
        """The symbols that others are to define, as far as they are used."""
        used = dict.fromkeys(each.symbol for each in self.relocations)
        found = (self.symbols[number] for number in used)
        return tuple(dict.fromkeys(each.name for each in found if each.section is None))


def read(data: bytes) -> ObjectFile:
    """The content of an object file. Raises ``BadObject`` for anything else."""
    try:
        return _read(data)
    except BadObject:
        raise
    except (struct.error, LookupError, ValueError) as error:
        raise BadObject(f"the object file is damaged ({error})") from None


def _read(data: bytes) -> ObjectFile:
    if not data.startswith(_MAGIC):
        raise BadObject("it is no ELF file of 64 bits, least byte first")
    _, kind, machine, _, _, _, at, _, _, _, _, size, count, names = _HEADER.unpack_from(data)
    if kind != _RELOCATABLE or machine not in MACHINES or size != _SECTION.size:
        raise BadObject("it is no relocatable object for x86-64 or aarch64")
    heads = [_SECTION.unpack_from(data, at + number * size) for number in range(count)]
    texts = _content(data, heads[names])
    sections = tuple(_section(data, head, _text(texts, head[0])) for head in heads)
    tables = [head for head in heads if head[1] == _SYMBOLS]
    if len(tables) != 1:
        raise BadObject("the object file has no table of symbols, or several")
    symbols = tuple(_symbols(data, tables[0], heads))
    relocations: list[Relocation] = []
    for head in heads:
        if head[1] in (_RELOCATIONS, _WITHOUT_ADDENDS) and sections[head[7]].needed:
            if head[1] == _WITHOUT_ADDENDS:
                raise BadObject("the object file has relocations without addends")
            relocations += _relocations(_content(data, head), head[7])
    if any(each.symbol >= len(symbols) for each in relocations):
        raise BadObject("a relocation is of a symbol that there is not")
    return ObjectFile(machine, sections, symbols, tuple(relocations))


def _content(data: bytes, head: tuple[int, ...]) -> bytes:
    offset, size = head[4], head[5]
    if offset + size > len(data):
        raise BadObject("the object file is cut off")
    return data[offset : offset + size]


_MOST = 1 << 28  # bytes of a section without content


def _section(data: bytes, head: tuple[int, ...], name: str) -> ElfSection:
    _, kind, flags, _, _, size, _, _, alignment, _ = head
    if kind == _NO_BITS and size > _MOST:
        raise BadObject(f"section {name} is too large")
    content = b""
    if flags & _ALLOC:
        content = bytes(size) if kind == _NO_BITS else _content(data, head)
    if alignment > 4096 or alignment & (alignment - 1):
        raise BadObject(f"section {name} has no alignment that there is")
    return ElfSection(name, flags, content, max(1, alignment))


def _symbols(
    data: bytes, table: tuple[int, ...], heads: list[tuple[int, ...]]
) -> Iterator[ElfSymbol]:
    texts = _content(data, heads[table[6]])
    for name, _, _, section, value, _ in _SYMBOL.iter_unpack(_content(data, table)):
        if section == _ABSOLUTE:  # the name of the source
            section = _UNDEFINED
        if section >= len(heads):
            raise BadObject("a symbol is in a section that there is not")
        yield ElfSymbol(_text(texts, name), None if section == _UNDEFINED else section, value)


def _relocations(content: bytes, section: int) -> Iterator[Relocation]:
    for offset, info, addend in _RELOCATION.iter_unpack(content):
        yield Relocation(section, offset, info, addend)


def _text(texts: bytes, at: int) -> str:
    return texts[at : texts.index(b"\0", at)].decode() if at < len(texts) else ""
