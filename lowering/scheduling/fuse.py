"""Fusion: loop nests → fewer loop nests with the same effect.

Nests that share data run together where no iteration then meets another's elements; what was
stored and is loaded again in the same iteration is passed on in a register; buffers that nobody
reads any more disappear, and those that live within one iteration shrink to what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, SymExpr, symbol, symbols_of

from ..nests.accesses import Access, Block, accesses, conflict, rename, storages, stored
from ..nests.addressing import byte_offset, split, step_of
from ..nests.buffers import Atom
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Check,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    While,
    atoms_read,
    blocks_of,
    walk,
    with_blocks,
)
from .collapse import collapse
from .forward import forward
from .interchange import interchange
from .shrink import drop_dead, shrink
from .strips import strips
from .wraps import split_wraps


def fuse(program: Program) -> Program:
    """Merge loop nests, forward stored values, drop and shrink temporaries, cut nests into pieces,
    parts and strips.

    Requires: statements are in an order that computes the right results.
    Ensures: the same stores to inputs and outputs, with no more memory traffic than before.
    """
    body = _merge_block(program, program.body)
    program = replace(program, body=body)
    program = replace(program, body=forward(program, program.body))
    program = drop_dead(program)
    program = strips(interchange(split_wraps(shrink(program))))
    return replace(program, body=tuple(collapse(program, stmt) for stmt in program.body))


def _merge_block(program: Program, block: Block) -> Block:
    if not any(isinstance(stmt, Loop | For | If | While) for stmt in block):
        return block
    done: list[Stmt] = []
    for stmt in block:
        if not isinstance(stmt, Loop):
            inner = tuple(_merge_block(program, b) for b in blocks_of(stmt))
            stmt = with_blocks(stmt, inner)
        if not (isinstance(stmt, Loop) and _merge_back(program, stmt, done)):
            done.append(stmt)
    return tuple(done)


def _merge_back(program: Program, loop: Loop, done: list[Stmt]) -> bool:
    """Merge ``loop`` into one of the last statements, if there is one that takes it."""
    defined = {name for stmt in walk((loop,)) for name in atoms_read(stmt)}
    for place in range(len(done) - 1, max(-1, len(done) - 1 - program.target.costs.fused_over), -1):
        earlier = done[place]
        if isinstance(earlier, Loop):
            merged = _merged(program, earlier, loop)
            if merged is not None:
                done[place] = merged
                return True
        if not isinstance(earlier, Loop | Load | Compute | Index | Store | Check):
            return False
        if isinstance(earlier, Check) and _stores_to_inputs(program, loop):
            return False
        if conflict(program, earlier, loop) or _defines(earlier) & defined:
            return False
    return False


def _stores_to_inputs(program: Program, loop: Loop) -> bool:
    return any(program.buffers[name].role == "input" for name in stored(program, (loop,)))


def _defines(stmt: Stmt) -> set[Atom]:
    return {s.name for s in walk((stmt,)) if isinstance(s, Load | Compute | Index | Accumulate)}


def _merged(program: Program, first: Loop, second: Loop) -> Loop | None:
    """One loop that does both, or None if that is not right or not worth it."""
    if first.size != second.size or first.chunk != second.chunk:
        return None
    if first.ordered or second.ordered:
        return None
    apart = storages(program, (first,)).isdisjoint(storages(program, (second,)))
    if apart or len(walk((first, second))) > program.target.costs.fused_statements:
        return None
    if not _same_kind(first, second) or _moves_evenly(program, first) != _moves_evenly(
        program, second
    ):
        return None
    renamed = rename(second, {second.var: symbol(first.var, hint=0, lower=0)})
    moved = list(accesses(program, renamed))
    if not _legal(first.var, list(accesses(program, first)), moved):
        return None
    if _totals(first) & {a for s in walk((second,)) for a in atoms_read(s)}:
        return None
    assert isinstance(renamed, Loop)
    body = _merge_block(program, (*first.body, *renamed.body))
    if not _is_worth_it(body, program.target.costs.fused_apart):
        return None
    return replace(first, body=body, loc=first.loc or second.loc)


def _is_worth_it(body: Block, long: int) -> bool:
    """Whether what stays apart inside the merged loop are ``long`` loops: short ones would lose the
    one long loop (or vector) that each of the two nests was on its own.
    """
    inner = [stmt for stmt in body if isinstance(stmt, Loop)]
    if len(inner) <= 1 and all(isinstance(s, Loop) for s in body):
        return True
    if not inner:
        return True
    return all(hint(stmt.size) >= long for stmt in inner)


def _totals(loop: Loop) -> set[Atom]:
    return {s.name for s in walk((loop,)) if isinstance(s, Accumulate)}


def _same_kind(first: Loop, second: Loop) -> bool:
    """Whether both loops can be run in the same way: see how each accumulates."""
    kinds = [{s.order for s in loop.body if isinstance(s, Accumulate)} for loop in (first, second)]
    nested = [any(isinstance(s, Loop) for s in loop.body) for loop in (first, second)]
    if any("sequential" in kind for kind in kinds):
        return kinds[0] == kinds[1]
    totals = [s for s in (*first.body, *second.body) if isinstance(s, Accumulate)]
    trees = {s.order for s in totals if s.is_pairwise}
    if trees:  # a tree carries values, no positions
        return len(trees) == 1 and not any(nested) and all(s.position is None for s in totals)
    if kinds[0] or kinds[1]:
        return nested[0] == nested[1]
    return True


def _moves_evenly(program: Program, loop: Loop) -> bool:
    """Whether each access moves by a fixed step from one iteration to the next, or by integers that
    are computed: lanes need that.
    """
    for stmt in loop.body:
        match stmt:
            case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                known, _ = split(byte_offset(program.buffers[buffer], index))
                if step_of(known, loop.var) is None:
                    return False
            case Index(value=value):
                if step_of(split(value)[0], loop.var) is None:
                    return False
            case _:
                pass
    return True


def _legal(var: str, first: Sequence[Access], second: Sequence[Access]) -> bool:
    """Whether each iteration of ``var`` meets in both only elements of its own."""
    written = {a.storage for a in first if a.written}
    for b in second:
        for a in first:
            if a.storage != b.storage or not (a.written or b.written):
                continue
            if b.storage not in written and not b.written:
                continue
            if a.buffer != b.buffer or a.index is None or b.index is None:
                return False
            if any(_are_constants(i, j) for i, j in zip(a.index, b.index, strict=True)):
                continue
            if not any(_moves_with(var, i, j) for i, j in zip(a.index, b.index, strict=True)):
                return False
    return True


def _are_constants(left: Dim, right: Dim) -> bool:
    """Whether these are two indices that stay what they are, and stay apart."""
    return isinstance(left, int) and isinstance(right, int) and left != right


def _moves_with(var: str, left: Dim, right: Dim) -> bool:
    """Whether both are the same index and a different one in each iteration of ``var``."""
    if left != right or not isinstance(left, SymExpr):
        return False
    step = step_of(left, var)
    return isinstance(step, int) and step != 0 and _only(var, left)


def _only(var: str, dim: Dim) -> bool:
    """Whether no other loop variable is in ``dim``."""
    return all(n == var or not is_loop_var(n) for n in symbols_of(dim))


def is_loop_var(name: str) -> bool:
    """Whether a symbol is a loop variable of a nest; see ``Context.loop_var``."""
    return name[0] == "i" and name[1:].isdigit()
