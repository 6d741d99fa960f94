"""Elements that are looked up by integers from memory, in lanes.

The processor takes lanes out of a register one by one, which takes longer than to load them. So
where the integers of all lanes are places as memory holds them, not counted from the end, the
places are loaded from there once more, each by itself:

    places in lanes are inside?  yes: load each place, load each element
                                 no: take each (wrapped) place out of its lane, load each element
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from fxc.ir.records import frozen, replace

from ..nests.addressing import byte_offset
from ..nests.buffers import I64
from ..nests.statements import Compute, Load, Stmt, Store
from .casts import cast
from .elements import Elements
from .llvm_text import Lanes, memory_type
from .registers import InLanes


@frozen
class _Numbers:
    """Where memory holds the integers of the lanes, and whether it has them as they are read."""

    pointer: str
    memory: str
    dtype: np.dtype
    mark: str  # of their loads
    asked: str = ""  # a register: whether it has in all lanes; if there is none it has


class LookedUp:
    """What the lanes of integers are loaded from, in the block that is being written."""

    def __init__(self, emitter: Elements, block: Sequence[Stmt]) -> None:
        self.emitter = emitter
        buffers = emitter.program.buffers
        self.stored = {buffers[s.buffer].storage for s in block if isinstance(s, Store)}
        self.numbers: dict[str, _Numbers] = {}  # by register

    def note(self, stmt: Stmt, code: Lanes) -> None:
        """Integers in lanes that ``stmt`` has made."""
        atoms = self.emitter.regs.atoms
        match stmt:
            case Load(name=name, dtype=dtype) if dtype.kind in "iu":
                self._note_loaded(stmt, atoms[name][0], code)
            case Compute(name=name, op="astype", dtype=dtype, args=(str(x),)) if dtype == I64:
                found = self.numbers.get(atoms[x][0])
                if found is not None:
                    self.numbers[atoms[name][0]] = found
            case Compute(name=name, op="wrap_index" | "count_from_front", args=(str(x), size)):
                found = self.numbers.get(atoms[x][0])
                if found is not None and not found.asked:
                    limit = self.emitter.atom(size, I64, code)
                    asked = self._all_inside(atoms[x][0], limit, code)
                    self.numbers[atoms[name][0]] = replace(found, asked=asked)

    def _note_loaded(self, stmt: Load, register: str, code: Lanes) -> None:
        emitter, buffer = self.emitter, self.emitter.program.buffers[stmt.buffer]
        offset = byte_offset(buffer, stmt.index)
        is_along = emitter.in_lanes(offset).step == stmt.dtype.itemsize
        if is_along and buffer.storage not in self.stored:
            self.numbers[register] = _Numbers(
                emitter.address(stmt.buffer, offset),
                memory_type(stmt.dtype),
                stmt.dtype,
                f", align {buffer.alignment}{emitter.mark(stmt.buffer)}",
            )

    def _all_inside(self, register: str, limit: str, code: Lanes) -> str:
        """Whether none counts from the end, or is out of bounds."""
        inside, every = code.compare("ult", I64, register, limit), f"v{code.count}i1"
        kind, name = code.of("i1"), f"@llvm.vector.reduce.and.{every}"
        self.emitter.module.declare(f"declare i1 {name}({kind})")
        return code.op(f"call i1 {name}({kind} {inside})")

    def load(self, stmt: Load, place: InLanes, code: Lanes) -> str | None:
        """The elements in the lanes; None if memory does not hold their places."""
        emitter, f = self.emitter, code.function
        found = [self.numbers.get(register) for register, _ in place.apart]
        numbers = [each for each in found if each is not None]
        if not numbers or len(numbers) < len(found):
            return None
        asked = [each.asked for each in numbers if each.asked]
        if not asked:
            return self._gathered(stmt, place, numbers, code)
        inside, others, done = (f.new_label(stem) for stem in ("inside", "others", "looked"))
        test = reduce(lambda x, y: f.op(f"and i1 {x}, {y}"), asked)
        f.do(f"br i1 {test}, label %{inside}, label %{others}")
        f.start(inside)
        first = self._gathered(stmt, place, numbers, code)
        f.do(f"br label %{done}")
        f.start(others)
        second = Elements.gathered(emitter, stmt, place, code)
        f.do(f"br label %{done}")
        f.start(done)
        kind = code.of(memory_type(stmt.dtype))
        return f.op(f"phi {kind} [ {first}, %{inside} ], [ {second}, %{others} ]")

    def _gathered(
        self, stmt: Load, place: InLanes, numbers: Sequence[_Numbers], code: Lanes
    ) -> str:
        """The elements at places that memory holds."""
        singles = tuple(_loaded(each, code) for each in numbers)
        return Elements.gathered(self.emitter, stmt, replace(place, singles=singles), code)


def _loaded(numbers: _Numbers, code: Lanes) -> tuple[str, ...]:
    """The integer of each lane in a register of its own. LLVM would take them out of the register
    for all lanes if it knew where they are.
    """
    f, memory = code.function, numbers.memory
    pointer, found = f.opaque(numbers.pointer, "ptr"), []
    for lane in range(code.count):
        at = f.op(f"getelementptr {memory}, ptr {pointer}, i64 {lane}")
        number = f.op(f"load {memory}, ptr {at}{numbers.mark}")
        found.append(cast(Lanes(f, 1), (number,), (numbers.dtype,), I64))
    return tuple(found)
