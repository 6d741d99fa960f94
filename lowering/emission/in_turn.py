"""Loops in lanes whose updates are made one after the other, see ``nests/turns``."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import replace

from ..nests.statements import Compute, Index, Load, Loop, atoms_read
from ..nests.turns import InTurn
from .emitter import Counting, Emitter
from .llvm_text import Lanes


def loop_in_turn(emitter: Emitter, loop: Loop, parts: InTurn) -> None:
    """Write the loop: whole vectors, and the rest one by one."""
    f = emitter.function
    emitter.block(parts.hoisted)
    count, size = loop.lanes, emitter.dim(loop.size)
    whole = f.op(f"and i64 {size}, {-count}")
    handed = _handed_on(parts)

    def block() -> None:
        first = emitter.regs.dims[loop.var]
        emitter.block(parts.lanes, count)
        emitter.regs.vector = None
        found = {stmt.name: emitter.regs.atoms[stmt.name] for stmt in handed}
        for lane in range(count):
            emitter.regs.dims[loop.var] = f.op(f"add nsw i64 {first}, {lane}")
            for stmt in handed:
                register, lanes = found[stmt.name]
                if lanes > 1:
                    register = Lanes(f, lanes).part(register, stmt.dtype, lane, 1)
                emitter.regs.atoms[stmt.name] = (register, 1)
            emitter.block(parts.turns)
        emitter.regs.vector = loop.var

    emitter.regs.vector = loop.var
    emitter.counted(Counting(loop.var, "0", whole, count, count), (), block)
    emitter.regs.vector = None
    if loop.size % count != 0:
        rest = replace(loop, body=(*parts.lanes, *parts.turns))
        emitter.plain_loop(rest, 1, whole, (), size)


def _handed_on(parts: InTurn) -> Sequence[Load | Compute | Index]:
    """What the lanes compute that is read in turn."""
    read = {atom for stmt in parts.turns for atom in atoms_read(stmt)}
    made = [stmt for stmt in parts.lanes if isinstance(stmt, Load | Compute | Index)]
    return [stmt for stmt in made if stmt.name in read]
