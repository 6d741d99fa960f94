"""Statements of loop nests → LLVM text: which of them is written by what.

The innermost loop that moves along contiguous memory is written with explicit vectors, a scalar
loop does the rest; the optimiser's own vectoriser is not relied on. See Note [Lanes].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.symbols import symbol

from ..nests.accesses import carried_through, pair_at, rename
from ..nests.buffers import I64
from ..nests.extremes import extreme_of
from ..nests.hoisting import hoist, hoist_outwards
from ..nests.statements import (
    Accumulate,
    Allocate,
    Apply,
    Bind,
    Boxed,
    Check,
    For,
    If,
    Loop,
    Matmul,
    Stmt,
    Store,
    While,
)
from . import interrupts, sticky
from .emitter import Counting, Emitter
from .llvm_text import Lanes
from .scratch import emit_allocate
from .vectors import vector_loop

if TYPE_CHECKING:
    from .pairwise import PairwiseTree

ELEMENT = 8  # bytes, as a rule

# See Note [Rooms with one door].
check = import_later("fxc.lowering.emission.control", "check")
branch = import_later("fxc.lowering.emission.control", "branch")
user_loop = import_later("fxc.lowering.emission.control", "user_loop")
while_loop = import_later("fxc.lowering.emission.control", "while_loop")
emit_matmul = import_later("fxc.lowering.emission.products", "emit_matmul")
emit_apply = import_later("fxc.lowering.emission.products", "emit_apply")
emit_call = import_later("fxc.lowering.emission.calls", "emit_call")
parallel_loop = import_later("fxc.lowering.emission.parallel", "parallel_loop")
parallel_totals = import_later("fxc.lowering.emission.parallel_totals", "parallel_totals")
pairwise_tree = import_later("fxc.lowering.emission.pairwise", "PairwiseTree")
keep = import_later("fxc.lowering.emission.undo", "keep")
move = import_later("fxc.lowering.emission.blocks", "move")
find_extreme = import_later("fxc.lowering.emission.positions", "find_extreme")
compact = import_later("fxc.lowering.emission.places_code", "compact")
loop_of_postponed = import_later("fxc.lowering.emission.postponed_powers", "loop_of_postponed")
loop_in_turn = import_later("fxc.lowering.emission.in_turn", "loop_in_turn")
one_by_one = import_later("fxc.lowering.emission.ends", "one_by_one")
combined = import_later("fxc.lowering.emission.totals", "combined")
compaction = import_later("fxc.lowering.nests.compaction", "compaction")
in_turn = import_later("fxc.lowering.nests.turns", "in_turn")
postponed_powers = import_later("fxc.lowering.operators.postponed_powers", "postponed_powers")


class StatementEmitter(Emitter):
    """Writes each kind of statement by what knows it."""

    def block(self, block: Sequence[Stmt], lanes: int = 1) -> None:
        """Statements in order."""
        code = Lanes(self.function, lanes)
        self.clear()
        outer, self.statements = self.statements, block
        done = -1
        for number, stmt in enumerate(block):
            if self.module.places is not None:
                self.module.at = self.module.places.mark(stmt, self.module.at)
            if self.undo is not None:
                keep(self, self.undo, stmt)
            pair = pair_at(self.program, block, number)
            if number == done or (pair is not None and self.numbers.store(pair, code)):
                done = number + (number != done)
                continue
            if isinstance(stmt, Store) and self._waits(stmt, number, code):
                continue
            self._statement(stmt, code)
            if isinstance(stmt, Store):
                self.forget(stmt)
            elif isinstance(stmt, Loop | If | For | While | Matmul | Apply | Boxed):
                self.clear()
        self.statements = outer
        self.clear()

    def _waits(self, stmt: Store, number: int, code: Lanes) -> bool:
        """Whether a store is made together with others, or just has been."""
        found = self.few_apart(stmt, code)
        return found is not None and found.store(stmt, number, code)

    def _statement(self, stmt: Stmt, code: Lanes) -> None:
        match stmt:
            case Loop():
                undo, self.undo = self.undo, None  # all is kept
                with sticky.ignoring(self, stmt):
                    self.loop(stmt, code.count)
                self.undo = undo
            case Accumulate():
                self.accumulate(stmt, code)
            case Check():
                check(self, stmt)
            case Allocate():
                need = emit_allocate(self, stmt)
                if self.budget:
                    interrupts.spend(self, self.function.op(f"udiv i64 {need}, {ELEMENT}"))
            case Bind(name, value):
                self.regs.dims[name] = self.atom(value, I64, code)
            case If():
                branch(self, stmt)
            case For():
                user_loop(self, stmt)
            case While():
                while_loop(self, stmt)
            case Matmul():
                emit_matmul(self, stmt)
            case Apply():
                emit_apply(self, stmt)
            case Boxed():
                emit_call(self, stmt)
            case _:
                self.straight(stmt, code)

    def loop(self, loop: Loop, lanes: int) -> None:
        if loop.parallel is not None:
            (parallel_totals if carried_through(loop) else parallel_loop)(self, loop)
            return
        if any(isinstance(s, Accumulate) and s.is_pairwise for s in loop.body):
            self.pairwise(loop)
            return
        if loop.descending:
            loop = _turned(loop)
        if lanes == 1:
            hoisted, loop = hoist_outwards(self.program, loop)
            self.block(hoisted)
        self.hoist_functions(loop)
        if lanes == 1 and loop.moved:
            move(self, loop)
            return
        extreme = extreme_of(loop) if lanes == 1 and loop.searched else None
        if extreme is not None:
            find_extreme(self, loop, extreme)
            return
        self.hoist_rows(loop)
        wide = loop.lanes if lanes == 1 else 1
        carried = carried_through(loop)
        outermost = [s for s in carried if s.name not in self.regs.totals]
        for stmt in outermost:
            self.start_total(stmt, lanes)
        packed = compaction(self.program, loop) if lanes == 1 and loop.packed else None
        turns = in_turn(self.program, loop) if lanes == 1 and loop.in_turn else None
        postponed = postponed_powers(self.program, loop) if lanes == 1 and loop.postponed else None
        if packed is not None:
            compact(self, loop, packed)
        elif turns is not None:
            loop_in_turn(self, loop, turns)
        elif postponed is not None:
            loop_of_postponed(self, loop, postponed)
        elif wide > 1:
            vector_loop(self, loop, wide, carried)
        elif loop.behind:
            one_by_one(self, loop)
        else:
            self.plain_loop(loop, lanes, "0", carried)
        self.regs.rows = {}
        for stmt in outermost:
            self.finish_total(stmt, lanes)

    def pairwise(self, loop: Loop) -> None:
        """NumPy's pairwise tree: a function for a few elements, one that halves, and calls."""
        f = self.function
        hoisted, body = hoist(self.program, loop)
        self.block(hoisted)
        totals = [s for s in body if isinstance(s, Accumulate)]
        for stmt in totals:
            if stmt.name not in self.regs.totals:
                self.start_total(stmt, 1)
        tree = pairwise_tree(self, loop, body, totals)
        size = self.dim(loop.size)
        if loop.chunk is None or _fits(loop):
            self._add_part(tree, totals, "0", size)
        else:
            chunk = self.dim(loop.chunk)

            def part() -> None:
                start = self.regs.dims[loop.var]
                left = f.op(f"sub i64 {size}, {start}")
                short = f.op(f"icmp slt i64 {left}, {chunk}")
                count = f.op(f"select i1 {short}, i64 {left}, i64 {chunk}")
                self._add_part(tree, totals, start, count)

            assert isinstance(loop.chunk, int)
            self.counted(Counting(loop.var, "0", size, loop.chunk), totals, part)
        for stmt in totals:
            if stmt.levels == 1:
                self.finish_total(stmt, 1)

    def _add_part(
        self, tree: PairwiseTree, totals: Sequence[Accumulate], start: str, count: str
    ) -> None:
        code = Lanes(self.function, 1)
        for stmt, value in zip(totals, tree.call(start, count), strict=True):
            total = combined(stmt, self.regs.totals[stmt.name], value, code)
            self.regs.totals[stmt.name] = total


def _fits(loop: Loop) -> bool:
    """Whether one chunk holds the whole run, as far as is known now."""
    return isinstance(loop.size, int) and isinstance(loop.chunk, int) and loop.size <= loop.chunk


def _turned(loop: Loop) -> Loop:
    """A descending loop as an ascending one over ``size - 1 - var``."""
    backwards = loop.size - 1 - symbol(loop.var, hint=0)
    body = tuple(rename(stmt, {loop.var: backwards}) for stmt in loop.body)
    return replace(loop, body=body, descending=False)
