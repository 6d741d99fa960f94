"""Elements that stand a few apart, in lanes: memory is loaded whole, and lanes are picked from it.

A register's lanes that are k apart lie in k registers of memory; the last of those begins earlier
where it would end behind the last lane. Nothing is loaded that no lane's neighbours reach.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.symbols import Dim

from ..nests.accesses import elements_apart
from ..nests.addressing import byte_offset
from ..nests.apart import loaded_together, stored_together
from ..nests.statements import Load, Stmt, Store
from .elements import Elements
from .llvm_text import Lanes, memory_type


class Neighbours:
    """What the loads and stores of one block that lie a few elements apart have in common."""

    def __init__(self, emitter: Elements, block: Sequence[Stmt]) -> None:
        self.emitter = emitter
        self.block = block
        self.loaded: dict[tuple[str, Dim, str], list[list[str]]] = {}  # by storage, first, type
        self.waiting: dict[int, tuple[Store, ...]] = {}  # stores by identity, and those with them

    def forget(self, stmt: Store) -> None:
        """What ``stmt`` may overwrite has to be loaded again."""
        storage = self.emitter.program.buffers[stmt.buffer].storage
        for key in [key for key in self.loaded if key[0] == storage]:
            del self.loaded[key]

    def load(self, stmt: Load, code: Lanes) -> str | None:
        """The elements in the lanes; None if they are rather gathered."""
        emitter, var = self.emitter, self.emitter.regs.vector
        assert var is not None
        apart = elements_apart(emitter.program, stmt, var)
        itemsize = stmt.dtype.itemsize
        width = _width(code.count, emitter.program.target.vector // itemsize)
        if not 0 < 2 * abs(apart) <= width:
            return None
        first, last = loaded_together(emitter.program, self.block, stmt, var)
        buffer = emitter.program.buffers[stmt.buffer]
        start = byte_offset(buffer, stmt.index) + first * itemsize
        backwards = (code.count - 1) * apart if apart < 0 else 0
        span = last - first + (width - 1) * abs(apart) + 1
        starts = _starts(span, width)
        memory = memory_type(stmt.dtype)
        key = (buffer.storage, start, memory)
        if key not in self.loaded:
            self.loaded[key] = [
                [
                    code.op(
                        f"load <{width} x {memory}>, "
                        f"ptr {emitter.address(stmt.buffer, start + at * itemsize)}, "
                        f"align {buffer.alignment}{emitter.mark(stmt.buffer)}"
                    )
                    for at in (group * width * abs(apart) + backwards + each for each in starts)
                ]
                for group in range(code.count // width)
            ]
        lanes = [abs(apart) * lane - first for lane in range(width)]
        if apart < 0:
            lanes.reverse()
        parts = [_picked(code, memory, each, starts, lanes) for each in self.loaded[key]]
        return code.whole(memory, parts[:: 1 if apart > 0 else -1], width)

    def store(self, stmt: Store, number: int, code: Lanes) -> bool:
        """Store what fills the elements between the lanes at once, with the last of these stores;
        False if ``stmt`` stores by itself.
        """
        emitter, var = self.emitter, self.emitter.regs.vector
        assert var is not None
        group = self.waiting.pop(id(stmt), None)
        if group is None:
            group = stored_together(emitter.program, self.block, number, var)
            self.waiting.update((id(each), group) for each in group if each is not stmt)
            return bool(group)
        if not any(id(each) in self.waiting for each in group):
            self._store_all(group, code)
        return True

    def _store_all(self, group: tuple[Store, ...], code: Lanes) -> None:
        emitter, first = self.emitter, group[0]
        assert emitter.regs.vector is not None
        buffer, memory = emitter.program.buffers[first.buffer], memory_type(first.dtype)
        apart = elements_apart(emitter.program, first, emitter.regs.vector)
        start = byte_offset(buffer, first.index)
        if apart < 0:
            start = start + (code.count - 1) * apart * first.dtype.itemsize
        values = [emitter.stored(each, code) for each in group]
        for at in range(len(group)):
            lanes = [divmod(at * code.count + lane, len(group)) for lane in range(code.count)]
            found = [(which, lane if apart > 0 else code.count - 1 - lane) for lane, which in lanes]
            register = _chosen(code, memory, values, found)
            offset = start + at * code.count * first.dtype.itemsize
            pointer = emitter.address(first.buffer, offset)
            mark = emitter.mark(first.buffer)
            code.function.do(
                f"store {code.of(memory)} {register}, ptr {pointer}, align {buffer.alignment}{mark}"
            )


def _width(lanes: int, most: int) -> int:
    """How many of the lanes one register holds: a part of them."""
    return next(width for width in range(min(lanes, most), 0, -1) if lanes % width == 0)


def _starts(span: int, width: int) -> list[int]:
    """Where registers begin that hold so many elements and no others."""
    return [min(start, span - width) for start in range(0, span, width)]


def _picked(
    code: Lanes, memory: str, registers: Sequence[str], starts: Sequence[int], places: Sequence[int]
) -> str:
    """The elements at these places behind the first one."""
    width = len(places)
    found = []
    for place in places:
        which = min(place // width, len(registers) - 1)
        found.append((which, place - starts[which]))
    return _chosen(Lanes(code.function, width), memory, registers, found)


def _chosen(
    code: Lanes, memory: str, registers: Sequence[str], found: Sequence[tuple[int, int]]
) -> str:
    """A register of elements of others: in each lane that of a register and a lane of it. Those
    of two registers are put together, then those of two pairs.
    """
    kind, count = code.of(memory), code.count
    parts = list(registers)
    while len(parts) > 1:
        joined = []
        for left in range(0, len(parts) - 1, 2):
            lanes = [
                f"i32 {lane + (which - left) * count}"
                if which in (left, left + 1)
                else "i32 poison"
                for which, lane in found
            ]
            mask = f"<{count} x i32> <{', '.join(lanes)}>"
            both = f"{kind} {parts[left]}, {kind} {parts[left + 1]}"
            joined.append(code.op(f"shufflevector {both}, {mask}"))
        paired = 2 * len(joined)
        found = [
            (which // 2, at if which < paired else lane) for at, (which, lane) in enumerate(found)
        ]
        parts = [*joined, *parts[paired:]]
    return parts[0]
