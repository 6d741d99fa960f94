"""Real and imaginary parts in lanes: memory holds them in turn, registers apart.

The complex numbers of all lanes are loaded once for both parts, which are then picked out of them;
the stores of two parts become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fxc.ir.later import import_later
from fxc.ir.symbols import Dim, computed_in

from ..nests.accesses import elements_apart
from ..nests.addressing import byte_offset
from ..nests.buffers import I64
from ..nests.program import Program
from ..nests.statements import Load, Stmt, Store
from .elements import Elements
from .llvm_text import FunctionText, Lanes, ModuleText, memory_type
from .registers import InLanes

if TYPE_CHECKING:
    from .apart import Neighbours
    from .looked_up import LookedUp

# See Note [Rooms with one door].
neighbours = import_later("fxc.lowering.emission.apart", "Neighbours")
looked_up = import_later("fxc.lowering.emission.looked_up", "LookedUp")


def is_part(program: Program, stmt: Load | Store) -> bool:
    """Whether the statement is of the real or the imaginary part of a complex number."""
    return program.buffers[stmt.buffer].parts and isinstance(stmt.index[-1], int)


class Numbers:
    """The complex numbers that are in registers, for an emitter of straight-line code."""

    def __init__(self, emitter: Elements) -> None:
        self.emitter = emitter
        self.loaded: dict[tuple[str, Dim], str] = {}  # by storage and offset

    def clear(self) -> None:
        self.loaded.clear()

    def forget(self, stmt: Store) -> None:
        """What ``stmt`` may overwrite has to be loaded again."""
        storage = self.emitter.program.buffers[stmt.buffer].storage
        for key in [key for key in self.loaded if key[0] == storage]:
            del self.loaded[key]

    def load(self, stmt: Load, code: Lanes) -> str:
        """One part of the numbers in the lanes, which are loaded once for both."""
        buffer, part = self.emitter.program.buffers[stmt.buffer], stmt.index[-1]
        assert isinstance(part, int)
        offset = byte_offset(buffer, stmt.index) - part * stmt.dtype.itemsize
        key = (buffer.storage, offset)
        if key not in self.loaded:
            self.loaded[key] = self._load_both(stmt, offset, code)
        return part_of(code, memory_type(stmt.dtype), self.loaded[key], part)

    def _load_both(self, stmt: Load, offset: Dim, code: Lanes) -> str:
        emitter = self.emitter
        memory, itemsize = memory_type(stmt.dtype), stmt.dtype.itemsize
        alignment = emitter.program.buffers[stmt.buffer].alignment
        kind, place = numbers_type(code, memory), emitter.in_lanes(offset)
        if place.step == 2 * itemsize:
            pointer = emitter.address(stmt.buffer, offset)
            return code.op(f"load {kind}, ptr {pointer}, align {alignment}")
        if place.step == -2 * itemsize:
            offset = offset - (code.count - 1) * 2 * itemsize
            pointer = emitter.address(stmt.buffer, offset)
            return turned(code, memory, code.op(f"load {kind}, ptr {pointer}, align {alignment}"))
        single = [
            code.op(f"load <2 x {memory}>, ptr {pointer}, align {alignment}")
            for _, pointer in emitter.lane_pointers(stmt.buffer, place, code)
        ]
        return code.whole(memory, single, 2)

    def store(self, pair: tuple[Store, Store], code: Lanes) -> bool:
        """Store both parts of the numbers in the lanes at once; False if there is but one lane."""
        emitter, (first, second) = self.emitter, pair
        if code.count == 1:
            return False
        memory, itemsize = memory_type(first.dtype), first.dtype.itemsize
        alignment = emitter.program.buffers[first.buffer].alignment
        re, im = (emitter.atom(each.value, first.dtype, code) for each in (first, second))
        numbers = joined(code, memory, re, im)
        offset = byte_offset(emitter.program.buffers[first.buffer], first.index)
        place = emitter.in_lanes(offset)
        if place.step in (2 * itemsize, -2 * itemsize):
            if place.step == -2 * itemsize:
                numbers = turned(code, memory, numbers)
                offset = offset - (code.count - 1) * 2 * itemsize
            pointer = emitter.address(first.buffer, offset)
            kind = numbers_type(code, memory)
            code.function.do(f"store {kind} {numbers}, ptr {pointer}, align {alignment}")
        else:
            for lane, pointer in emitter.lane_pointers(first.buffer, place, code):
                single = in_lane(code, memory, numbers, lane)
                code.function.do(f"store <2 x {memory}> {single}, ptr {pointer}, align {alignment}")
        self.forget(first)
        return True


class Interleaved(Elements):
    """Straight-line code in which the parts of complex numbers are loaded and stored together."""

    def __init__(
        self, module: ModuleText, function: FunctionText, program: Program, prefix: str
    ) -> None:
        super().__init__(module, function, program, prefix)
        self.numbers = Numbers(self)
        self.statements: Sequence[Stmt] = ()  # of the block that is being written
        self.neighbours: Neighbours | None = None  # what they have met, if any lie a few apart
        self.looked_up: LookedUp | None = None  # of what lanes that are places were loaded

    def straight(self, stmt: Stmt, code: Lanes) -> None:
        super().straight(stmt, code)
        if self.looked_up is None and self._begins_places(stmt, code):
            self.looked_up = looked_up(self, self.statements)
        if self.looked_up is not None:
            self.looked_up.note(stmt, code)

    def _begins_places(self, stmt: Stmt, code: Lanes) -> bool:
        """Whether lanes of integers were loaded, of which there may be places of elements, and a
        register has so many of them that each is rather loaded by itself.
        """
        if code.count == 1 or not isinstance(stmt, Load) or stmt.dtype.kind not in "iu":
            return False
        if self.program.target.vector // I64.itemsize < self.costs.lanes_taken_out:
            return False
        loads = [each for each in self.statements if isinstance(each, Load)]
        return any(computed_in(dim) for each in loads for dim in each.index)

    def gathered(self, stmt: Load, place: InLanes, code: Lanes) -> str:
        if is_part(self.program, stmt):
            return self.numbers.load(stmt, code)
        found = self.few_apart(stmt, code)
        loaded = found.load(stmt, code) if found is not None else None
        if loaded is None and self.looked_up is not None and place.apart:
            loaded = self.looked_up.load(stmt, place, code)
        return loaded or super().gathered(stmt, place, code)

    def clear(self) -> None:
        """Nothing that is in registers can be relied on."""
        self.numbers.clear()
        self.neighbours = self.looked_up = None

    def forget(self, stmt: Store) -> None:
        """What ``stmt`` may overwrite has to be loaded again."""
        self.numbers.forget(stmt)
        if self.neighbours is not None:
            self.neighbours.forget(stmt)

    def few_apart(self, stmt: Load | Store, code: Lanes) -> Neighbours | None:
        """What is known of neighbours in this block, if the lanes of ``stmt`` are a few apart."""
        var = self.regs.vector
        if code.count == 1 or var is None or not elements_apart(self.program, stmt, var):
            return None
        if self.neighbours is None:
            self.neighbours = neighbours(self, self.statements)
        return self.neighbours


def numbers_type(code: Lanes, memory: str) -> str:
    """The LLVM type of the complex numbers of all lanes, as memory holds them."""
    return f"<{2 * code.count} x {memory}>"


def part_of(code: Lanes, memory: str, numbers: str, part: int) -> str:
    """The real (0) or the imaginary (1) part of the numbers."""
    kind = numbers_type(code, memory)
    lanes = ", ".join(f"i32 {2 * lane + part}" for lane in range(code.count))
    return code.op(f"shufflevector {kind} {numbers}, {kind} poison, <{code.count} x i32> <{lanes}>")


def joined(code: Lanes, memory: str, re: str, im: str) -> str:
    """The numbers of these parts."""
    kind = code.of(memory)
    lanes = ", ".join(f"i32 {lane}, i32 {code.count + lane}" for lane in range(code.count))
    mask = f"<{2 * code.count} x i32> <{lanes}>"
    return code.op(f"shufflevector {kind} {re}, {kind} {im}, {mask}")


def turned(code: Lanes, memory: str, numbers: str) -> str:
    """The numbers from the last lane to the first."""
    kind = numbers_type(code, memory)
    backwards = range(code.count - 1, -1, -1)
    lanes = ", ".join(f"i32 {2 * lane}, i32 {2 * lane + 1}" for lane in backwards)
    mask = f"<{2 * code.count} x i32> <{lanes}>"
    return code.op(f"shufflevector {kind} {numbers}, {kind} poison, {mask}")


def in_lane(code: Lanes, memory: str, numbers: str, lane: int) -> str:
    """The number of one lane."""
    kind = numbers_type(code, memory)
    mask = f"<2 x i32> <i32 {2 * lane}, i32 {2 * lane + 1}>"
    return code.op(f"shufflevector {kind} {numbers}, {kind} poison, {mask}")
