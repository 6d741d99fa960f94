"""A loop in lanes: whole vectors, and the iterations that do not fill one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from fxc.ir.symbols import symbols_of

from ..nests.addressing import byte_offset, step_of
from ..nests.program import Program
from ..nests.statements import (
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
from . import ends, interleaved
from .emitter import Counting, Emitter
from .llvm_text import Lanes
from .survey import is_repeatable


def vector_loop(emitter: Emitter, loop: Loop, lanes: int, carried: Sequence[Accumulate]) -> None:
    """Whole vectors first, then the rest one by one."""
    f = emitter.function
    size = emitter.dim(loop.size)
    hoisted, body = hoist(emitter.program, loop)
    emitter.block(hoisted)
    rest = loop.size % lanes
    if isinstance(loop.size, int) and loop.size < lanes and not loop.behind:
        emitter.plain_loop(replace(loop, body=body), 1, "0", carried, size)
        return
    enough = not isinstance(loop.size, int) or loop.size > lanes
    aligned = _store_to_align(emitter.program, loop, lanes)
    if enough and (rest or aligned is not None) and is_repeatable(emitter.program, loop):
        _overlapping(emitter, loop, lanes, body, aligned)
        return
    short = len(body) <= emitter.costs.ends_statements
    if loop.behind or (enough and short and ends.computes_first(emitter.program, body)):
        ends.ends_first(emitter, loop, lanes, body, aligned)
        return
    whole = f.op(f"and i64 {size}, {-lanes}")
    scalars = {key: emitter.regs.totals[key] for key, _ in emitter.keys(carried)}
    code = Lanes(f, lanes)
    for stmt in carried:
        emitter.start_lanes(stmt, code)
    emitter.regs.vector = loop.var
    counting = Counting(loop.var, "0", whole, lanes, lanes)
    emitter.counted(counting, carried, lambda: emitter.block(body, lanes))
    emitter.regs.vector = None
    vectors = {key: emitter.regs.totals[key] for key, _ in emitter.keys(carried)}
    emitter.regs.totals.update(scalars)
    for stmt in carried:
        emitter.join_lanes(stmt, vectors, code)
    if rest != 0:
        emitter.plain_loop(replace(loop, body=body), 1, whole, carried, size)


def _overlapping(
    emitter: Emitter, loop: Loop, lanes: int, body: tuple[Stmt, ...], aligned: Store | None
) -> None:
    """Vectors only: the last one ends with the loop, and does some iterations once more.

    So does the first, where the others then store to whole cache lines. A loop that may have
    fewer iterations than lanes is run one by one if it has.
    """
    f = emitter.function
    size, last = emitter.dim(loop.size), emitter.dim(loop.size - lanes)
    shift = "0" if aligned is None else ends.past_line(emitter, loop, aligned)
    stop = size if aligned is None else f.op(f"add nsw i64 {size}, {shift}")
    known = isinstance(loop.size, int)
    if not known:
        wide = f.op(f"icmp sge i64 {size}, {lanes}")
        stop = f.op(f"select i1 {wide}, i64 {stop}, i64 0")

    def block() -> None:
        place = emitter.regs.dims[loop.var]
        if aligned is not None:
            place = f.op(f"sub nsw i64 {place}, {shift}")
            place = f.op(f"call i64 @llvm.smax.i64(i64 {place}, i64 0)")
        emitter.regs.dims[loop.var] = f.op(f"call i64 @llvm.smin.i64(i64 {place}, i64 {last})")
        emitter.block(body, lanes)

    emitter.module.declare("declare i64 @llvm.smin.i64(i64, i64)")
    emitter.module.declare("declare i64 @llvm.smax.i64(i64, i64)")
    emitter.regs.vector = loop.var
    emitter.counted(Counting(loop.var, "0", stop, lanes, lanes), (), block)
    emitter.regs.vector = None
    if not known:
        start = f.op(f"select i1 {wide}, i64 {size}, i64 0")
        emitter.plain_loop(replace(loop, body=body), 1, start, (), size)


def _store_to_align(program: Program, loop: Loop, lanes: int) -> Store | None:
    """The first store to consecutive elements, if the loop is long enough to care."""
    if isinstance(loop.size, int) and loop.size < program.target.costs.ends_vectors * lanes:
        return None
    for stmt in loop.body:
        if isinstance(stmt, Store):
            buffer = program.buffers[stmt.buffer]
            step = step_of(byte_offset(buffer, stmt.index), loop.var)
            if not isinstance(step, int) or step <= 0 or lanes * step % program.target.line:
                continue
            if interleaved.is_unit_step(buffer, step):
                return stmt
    return None


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
                    if isinstance(stmt, Loop)
                    else stmt
                )
        return tuple(rest)

    body = without(loop.body)
    return tuple(fixed), replace(loop, body=body) if fixed else loop


_NAMED = (Load, Compute, Index, Accumulate)
