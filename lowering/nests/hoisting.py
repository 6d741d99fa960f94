"""What does not change in a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fxc.ir.records import replace
from fxc.ir.symbols import symbols_of

from .program import Program
from .statements import (
    Accumulate,
    Compute,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    atoms_read,
    blocks_of,
    walk,
    with_blocks,
)


def hoist(program: Program, loop: Loop) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
    """What does not change in the loop, and the rest of its body."""
    written = {program.buffers[s.buffer].storage for s in walk(loop.body) if isinstance(s, Store)}
    inside = {s.name for s in walk(loop.body) if isinstance(s, Load | Compute | Index)}
    inside |= {s.name for s in walk(loop.body) if isinstance(s, Accumulate)}
    fixed: list[Stmt] = []
    rest: list[Stmt] = []
    for stmt in loop.body:
        constant_here = not any(a in inside for a in atoms_read(stmt))
        match stmt:
            case Load(buffer=buffer, index=index):
                constant_here &= not any(loop.var in symbols_of(dim) for dim in index)
                constant_here &= program.buffers[buffer].storage not in written
            case Index(value=value):
                constant_here &= loop.var not in symbols_of(value)
            case Compute():
                pass
            case _:
                constant_here = False
        (fixed if constant_here else rest).append(stmt)
        if constant_here:
            inside.discard(stmt.name)  # type: ignore[union-attr]
    return tuple(fixed), tuple(rest)


def hoist_outwards(program: Program, loop: Loop) -> tuple[tuple[Stmt, ...], Loop]:
    """What is computed in loops inside and changes in none of them, nor here; the loop without it.

    Elements of arrays stay: there may be none.
    """
    loops = [stmt for stmt in walk(loop.body) if isinstance(stmt, Loop)]
    if not loops:
        return (), loop
    counters = {loop.var, *(inner.var for inner in loops)}
    named = Counter(stmt.name for stmt in walk(loop.body) if isinstance(stmt, _NAMED))
    fixed: list[Stmt] = []

    def is_fixed(stmt: Stmt) -> bool:
        if not isinstance(stmt, Compute | Index) or named[stmt.name] > 1:
            return False
        if isinstance(stmt, Index) and not counters.isdisjoint(symbols_of(stmt.value)):
            return False
        return not any(isinstance(atom, str) and atom in named for atom in atoms_read(stmt))

    def without(block: Sequence[Stmt]) -> tuple[Stmt, ...]:
        rest: list[Stmt] = []
        for stmt in block:
            if is_fixed(stmt):
                fixed.append(stmt)
                del named[stmt.name]  # type: ignore[union-attr]
            else:
                rest.append(
                    with_blocks(stmt, tuple(map(without, blocks_of(stmt))))
                    if isinstance(stmt, Loop) and not stmt.moved  # which is one call
                    else stmt
                )
        return tuple(rest)

    body = without(loop.body)
    return tuple(fixed), replace(loop, body=body) if fixed else loop


_NAMED = (Load, Compute, Index, Accumulate)
