"""Fusion: loop nests → fewer loop nests with the same effect.

Nests that share data run together where no iteration then meets another's elements; what was
stored and is loaded again in the same iteration is passed on in a register; buffers that nobody
reads any more disappear, and those that live within one iteration shrink to what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import gcd

from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, SymExpr, symbol, symbols_of, terms_of

from ..nests.accesses import Block, conflict, rename
from ..nests.addressing import step_of
from ..nests.buffers import have_no_byte_in_common
from ..nests.program import Program
from ..nests.statements import (
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
    blocks_of,
    walk,
    with_blocks,
)
from ..operators.scalar_rules import are_told_apart
from .collapse import collapse
from .fetch_ahead import fetched_ahead
from .forward import forward
from .kept_once import kept_once
from .loop_facts import ByStorage, LoopFacts, by_storage, facts_of
from .quotients import split_quotients
from .shrink import drop_dead, shrink
from .strips import strips
from .wraps import split_wraps

# See Note [Rooms with one door].
interchange = import_later("fxc.lowering.scheduling.interchange", "interchange")
taps = import_later("fxc.lowering.scheduling.taps", "taps")
recompute = import_later("fxc.lowering.scheduling.recompute", "recompute")
in_results = import_later("fxc.lowering.scheduling.in_results", "in_results")


def fuse(program: Program) -> Program:
    """Merge loop nests, forward stored values, drop and shrink temporaries, cut nests into pieces,
    parts and strips.

    Requires: statements are in an order that computes the right results.
    Ensures: the same stores to inputs and outputs, with no more memory traffic than before.
    """
    program = replace(program, body=Merging(program).block(program.body))
    program = replace(program, body=forward(program, program.body))
    program = drop_dead(kept_once(program))
    if _has_temporaries(program):
        program = drop_dead(recompute(program))
    program = split_quotients(split_wraps(shrink(program)))
    if any(isinstance(stmt, For) for stmt in walk(program.body, into_loops=False)):
        program = interchange(taps(program))
    program = strips(program)
    if _has_temporaries(program):
        program = in_results(program)
    program = replace(program, body=fetched_ahead(program, program.body))
    return replace(program, body=tuple(collapse(program, stmt) for stmt in program.body))


def _has_temporaries(program: Program) -> bool:
    return any(buffer.role == "temp" for buffer in program.buffers.values())


class Merging:
    """Loops of a program become fewer; ``facts`` by identity, of loops that are kept."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.costs = program.target.costs
        self.facts: dict[int, tuple[Loop, LoopFacts]] = {}

    def facts_of(self, loop: Loop) -> LoopFacts:
        if id(loop) not in self.facts:
            self.facts[id(loop)] = (loop, facts_of(self.program, loop))
        return self.facts[id(loop)][1]

    def block(self, block: Block, before: Block = ()) -> Block:
        """The statements with loops merged, behind others of which that is true."""
        if not any(isinstance(stmt, Loop | For | If | While) for stmt in block):
            return (*before, *block)
        done = [*before]
        for stmt in block:
            if not isinstance(stmt, Loop):
                inner = tuple(self.block(b) for b in blocks_of(stmt))
                stmt = with_blocks(stmt, inner)
            if not (isinstance(stmt, Loop) and self.merge_back(stmt, done)):
                done.append(stmt)
        return tuple(done)

    def merge_back(self, loop: Loop, done: list[Stmt]) -> bool:
        """Merge ``loop`` into the one of the last nests that shares most with it of those that take
        it, if there is one; the last of several.

        What stands between the two and must stay in front of ``loop`` goes in front of both.
        """
        facts = self.facts_of(loop)
        best, shared = None, 0
        ahead: list[int] = []
        for place in range(len(done) - 1, max(-1, len(done) - 1 - self.costs.fused_over), -1):
            earlier = done[place]
            if not isinstance(earlier, Loop):
                if ahead or self.must_precede(earlier, loop):
                    break
                continue
            before = self.facts_of(earlier)
            between = [self.facts_of(done[p]) for p in ahead]  # type: ignore[arg-type]
            stays = any(before.must_precede(each) for each in between)
            common = len(before.accesses.keys() & facts.accesses.keys())
            merged = None if stays or common <= shared else self.merged(earlier, loop)
            if merged is not None:
                best, shared = (place, merged, tuple(ahead)), common
            if stays or before.must_precede(facts):
                ahead.append(place)
        if best is None:
            return False
        self.put(loop, done, *best)
        return True

    def put(
        self, loop: Loop, done: list[Stmt], place: int, merged: Loop, ahead: Sequence[int]
    ) -> None:
        """Put what has been merged of ``loop`` and a nest at its place, or further back."""
        earlier = done[place]
        assert isinstance(earlier, Loop)
        front = [*done[:place], *(done[p] for p in reversed(ahead))]
        rest = [done[p] for p in range(place + 1, len(done)) if p not in ahead]
        new = self.facts_of(loop).accesses.keys() - self.facts_of(earlier).accesses.keys()
        if not (self.is_shared(front, new) and self.merge_back(merged, front)):
            front.append(merged)
        for stmt in rest:  # what shared nothing with the earlier nest may do so with both
            joins = isinstance(stmt, Loop) and not new.isdisjoint(self.facts_of(stmt).accesses)
            if not (joins and isinstance(stmt, Loop) and self.merge_back(stmt, front)):
                front.append(stmt)
        done[:] = front

    def must_precede(self, earlier: Stmt, loop: Loop) -> bool:
        """Whether a loop may not go in front of a statement that is none."""
        facts = self.facts_of(loop)
        if not isinstance(earlier, Load | Compute | Index | Store | Check):
            return True
        if isinstance(earlier, Check) and self.stores_to_inputs(facts):
            return True
        if conflict(self.program, earlier, loop):
            return True
        return isinstance(earlier, Load | Compute | Index) and earlier.name in facts.reads

    def is_shared(self, block: Sequence[Stmt], names: Set[str]) -> bool:
        """Whether a nest near the end of a block reads or writes one of these storages."""
        near = [stmt for stmt in block[-self.costs.fused_over :] if isinstance(stmt, Loop)]
        return any(not self.facts_of(nest).accesses.keys().isdisjoint(names) for nest in near)

    def stores_to_inputs(self, facts: LoopFacts) -> bool:
        return any(self.program.buffers[name].role == "input" for name in facts.written)

    def merged(self, first: Loop, second: Loop) -> Loop | None:
        """One loop that does both, or None if that is not right or not worth it."""
        if first.size != second.size or first.chunk != second.chunk:
            return None
        if first.ordered or second.ordered:
            return None
        one, other = self.facts_of(first), self.facts_of(second)
        if one.accesses.keys().isdisjoint(other.accesses.keys()):
            return None
        if one.statements + other.statements > self.costs.fused_statements:
            return None
        if not one.is_kind_of(other) or one.moves_evenly != other.moves_evenly:
            return None
        if are_told_apart(one.ignored, other.ignored):
            return None
        renamed = rename(second, {second.var: symbol(first.var, hint=0, lower=0)})
        assert isinstance(renamed, Loop)
        moved = replace(other, accesses=by_storage(self.program, renamed))
        if not _legal(first.var, one.accesses, moved.accesses):
            return None
        if not one.totals.isdisjoint(other.reads):
            return None
        if one.trees | other.trees and not all(
            _legal(first.var, each.accesses, each.accesses) for each in (one, moved)
        ):
            return None  # a tree is added up in lanes, and one would meet what another stores
        body = self.together(first, renamed)
        if not _is_worth_it(body, self.costs.fused_apart):
            return None
        made = replace(first, body=body, loc=first.loc or second.loc)
        inner = [stmt for stmt in body if isinstance(stmt, Loop)]
        loops = sum(self.facts_of(stmt).statements for stmt in inner)
        self.facts[id(made)] = (made, one.with_those_of(moved, 1 + len(body) - len(inner) + loops))
        return made

    def together(self, first: Loop, second: Loop) -> Block:
        """The statements of two loops, with the loops inside merged."""
        if self.facts_of(first).is_merged:
            return self.block(second.body, first.body)
        return self.block((*first.body, *second.body))


def _is_worth_it(body: Block, long: int) -> bool:
    """Whether what stays apart inside the merged loop are ``long`` loops: short ones would lose the
    one long loop (or vector) that each of the two nests was on its own.
    """
    inner = [stmt for stmt in body if isinstance(stmt, Loop)]
    if len(inner) <= 1 and len(inner) == len(body):
        return True
    if not inner:
        return True
    return all(hint(stmt.size) >= long for stmt in inner)


def _legal(var: str, first: ByStorage, second: ByStorage) -> bool:
    """Whether each iteration of ``var`` meets in both only elements of its own."""
    for storage in first.keys() & second.keys():
        for b in second[storage]:
            for a in first[storage]:
                if not (a.written or b.written) or have_no_byte_in_common(a.field, b.field):
                    continue
                if a.buffer != b.buffer or a.index is None or b.index is None:
                    return False
                if any(_never_meet(i, j) for i, j in zip(a.index, b.index, strict=True)):
                    continue
                if not any(_moves_with(var, i, j) for i, j in zip(a.index, b.index, strict=True)):
                    return False
    return True


def _never_meet(left: Dim, right: Dim) -> bool:
    """Whether two indices are apart, whatever counts: constants, or ``2*i`` and ``2*i + 1``."""
    constant, divisor = 0, 0
    for sign, index in ((1, left), (-1, right)):
        for monomial, coefficient in terms_of(index):
            if monomial:
                divisor = gcd(divisor, coefficient)
            else:
                constant += sign * coefficient
    return constant % divisor != 0 if divisor else constant != 0


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
