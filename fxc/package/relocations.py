"""What relocations do to code, for x86-64 and aarch64: the ABI's tables, as far as LLVM uses them.

Needs only the standard library.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from .elf import AARCH64, X86_64, BadObject

# A rule is given the memory, the place in it, the address of that place, and the address that is
# meant, with the addend.
Rule = Callable[[bytearray, int, int, int], None]


def _signed(value: int, bits: int) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise BadObject("two places of the code are too far apart")
    return value


def _absolute(memory: bytearray, at: int, place: int, target: int) -> None:
    struct.pack_into("<Q", memory, at, target % (1 << 64))


def _relative_32(memory: bytearray, at: int, place: int, target: int) -> None:
    struct.pack_into("<i", memory, at, _signed(target - place, 32))


def _relative_64(memory: bytearray, at: int, place: int, target: int) -> None:
    struct.pack_into("<q", memory, at, _signed(target - place, 64))


def _patch(memory: bytearray, at: int, mask: int, bits: int) -> None:
    """Set the bits of an instruction that the mask covers."""
    (word,) = struct.unpack_from("<I", memory, at)
    struct.pack_into("<I", memory, at, (word & ~mask) | (bits & mask))


def _branch(memory: bytearray, at: int, place: int, target: int) -> None:
    _patch(memory, at, 0x03FFFFFF, _signed(target - place, 28) >> 2)


def _page(memory: bytearray, at: int, place: int, target: int) -> None:
    pages = _signed((target >> 12) - (place >> 12), 21)
    _patch(memory, at, 0x60FFFFE0, (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)


def _low(shift: int) -> Rule:
    """The offset in its page, in units of an access of so many bits of address."""

    def rule(memory: bytearray, at: int, place: int, target: int) -> None:
        _patch(memory, at, 0x003FFC00, (target & 0xFFF) >> shift << 10)

    return rule


# By machine and kind. Those of the second table mean a pointer to the symbol, which lies beside the
# code; those of the third jump, so where a symbol is far away they may go to a jump.
RULES: dict[int, dict[int, Rule]] = {
    X86_64: {1: _absolute, 2: _relative_32, 24: _relative_64},
    AARCH64: {
        257: _absolute,
        260: _relative_64,
        261: _relative_32,
        275: _page,
        277: _low(0),
        278: _low(0),
        284: _low(1),
        285: _low(2),
        286: _low(3),
        299: _low(4),
    },
}
THROUGH_POINTERS: dict[int, dict[int, Rule]] = {
    X86_64: {9: _relative_32, 41: _relative_32, 42: _relative_32},
    AARCH64: {311: _page, 312: _low(3)},
}
JUMPS: dict[int, dict[int, Rule]] = {
    X86_64: {4: _relative_32},
    AARCH64: {282: _branch, 283: _branch},
}
# Those that change 8 bytes, not 4.
WIDE = {X86_64: frozenset({1, 24}), AARCH64: frozenset({257, 260})}
# A jump to an address that stands behind it.
STUBS = {
    X86_64: b"\xff\x25\x02\x00\x00\x00\x0f\x0b",  # jmp [rip + 2]; ud2
    AARCH64: b"\x50\x00\x00\x58\x00\x02\x1f\xd6",  # ldr x16, #8; br x16
}
