"""What statements are written with: registers, loops, branches, totals.

Which statement is written how is said in ``emit``, which knows the modules for each kind; these
write what is inside of a statement by way of ``Emitter.block``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from fxc.ir.later import import_later
from fxc.ir.location import Site
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint

from ..nests.buffers import BOOL, I64, Atom
from ..nests.program import Program
from ..nests.statements import Accumulate, If, Loop, Stmt
from .frame import advice, finished, goes_backwards
from .interleaved import Interleaved
from .llvm_text import FAILED, LEFT, FunctionText, Lanes, ModuleText
from .registers import Record, Scratch, Undo

# See Note [Rooms with one door].
better_of = import_later("fxc.lowering.emission.totals", "better_of")
combined = import_later("fxc.lowering.emission.totals", "combined")
fold_lanes = import_later("fxc.lowering.emission.totals", "fold_lanes")
is_better = import_later("fxc.lowering.emission.totals", "is_better")
running = import_later("fxc.lowering.emission.totals", "running")
neutral = import_later("fxc.lowering.nests.neutral", "neutral")


@frozen
class Counting:
    """How a loop counts: ``var`` from ``start`` while below ``stop``, in registers of ``lanes``.

    ``rest``: LLVM is to leave it as it is, it runs what is left of a loop in lanes. ``scalar``:
    LLVM is to give it no lanes. ``copies``: LLVM is to write down so many iterations, one after
    the other; it decides if that is 0.
    """

    var: str
    start: str
    stop: str
    step: int = 1
    lanes: int = 1
    rest: bool = False
    scalar: bool = False
    copies: int = 0


class Emitter(Interleaved, ABC):
    """Writes statements into one function."""

    def __init__(
        self, module: ModuleText, function: FunctionText, program: Program, prefix: str
    ) -> None:
        super().__init__(module, function, program, prefix)
        self.in_scalar_nest = False
        self.total_lanes = 0  # lanes of the totals, where they are fewer than those of the values
        self.running: set[str] = set()  # totals that lanes make, see Note [Running totals]
        self.scratches: dict[str, Scratch] = {}  # by storage: what the function allocates
        self.passed: frozenset[Atom] = frozenset()  # tests that are known not to fail
        self.done = ""  # the label at the end of the loop whose body is about to be written
        self.replacing: dict[int, Record] = {}  # see ``bests``
        self.minor: frozenset[int] = frozenset()  # loops that LLVM is to leave as they are
        self.left: str | None = None  # where a loop in strips says that it ends early
        self.lost: str | None = None  # where checks that are made late say that one has failed
        self.undo: Undo | None = None  # see Note [Stores that are undone]
        self.budget = ""  # where the work until the next look for signals stands
        self.lock = ""  # where the state of the interpreter lock is, and what looks do with it
        self.lets = 0
        self.raised = ""  # where what NumPy has raised is, see Note [Calls of NumPy]
        self.sites: set[int] = set()  # of operators that leave the call
        self.chunks: list[tuple[str, list[str]]] = []  # functions, see ``parallel``
        self.flags = ""  # room for flags, see Note [Floating-point flags]
        self.has_quiet = False  # some statements set flags that nobody is to be told of

    @abstractmethod
    def block(self, block: Sequence[Stmt], lanes: int = 1) -> None:
        """Statements in order."""

    @abstractmethod
    def loop(self, loop: Loop, lanes: int) -> None:
        """A loop over elements, in vectors where that may be."""

    def inside(self, function: FunctionText) -> Self:
        """An emitter for another function of the same program."""
        inner = type(self)(self.module, function, self.program, self.prefix)
        inner.is_ignored = self.is_ignored
        return inner

    def inner_loop(self, ufunc: str, kind: str) -> tuple[str, str]:
        """Registers with NumPy's inner loop for a dtype and its data, from the pointer table."""
        slot = self.module.inner_loops.setdefault((ufunc, kind), len(self.module.inner_loops))
        found = []
        for place in (2 * slot, 2 * slot + 1):
            at = self.function.op(f"getelementptr ptr, ptr %table, i64 {place}")
            found.append(self.function.op(f"load ptr, ptr {at}, align 8"))
        return found[0], found[1]

    def leaving(self, site: Site | None) -> str:
        """The label of the block that leaves a call to NumPy for an operator. See Note [Leaves]."""
        if site is None:
            return FAILED
        number = self.module.sites.setdefault(site, len(self.module.sites) + 1)
        self.sites.add(number)
        return f"{LEFT}.{number}"

    def on_stack(self, kind: str, values: Sequence[str]) -> str:
        """An array on the stack that holds ``values``, of 8 bytes each."""
        f = self.function
        array = f.stack(kind, len(values))
        for place, value in enumerate(values):
            slot = f.op(f"getelementptr {kind}, ptr {array}, i64 {place}")
            f.do(f"store {kind} {value}, ptr {slot}, align 8")
        return array

    # -- loops and branches

    def plain_loop(
        self, loop: Loop, lanes: int, start: str, carried: Sequence[Accumulate], size: str = ""
    ) -> None:
        """``for var in start:size``, one iteration at a time; ``lanes`` are an outer variable's."""
        if lanes > 1 and not start.strip("0") and self.is_brief(loop):
            outer = self.regs.copy()
            for iteration in range(hint(loop.size)):
                self.regs.dims[loop.var] = str(iteration)
                self.block(loop.body, lanes)
            outer.totals.update({key: self.regs.totals[key] for key, _ in self.keys(carried)})
            self.regs = outer
            return
        stop = size or self.dim(loop.size)
        rest = bool(size) or (lanes == 1 and goes_backwards(self.program, loop))
        counting = Counting(loop.var, start, stop, lanes=lanes, rest=rest)
        self.counted(counting, carried, lambda: self.block(loop.body, lanes))

    def is_brief(self, loop: Loop) -> bool:
        """Whether the iterations of a loop inside of lanes are so few that each is written down."""
        few = isinstance(loop.size, int) and loop.size <= self.costs.lanes_unrolled
        return (
            few
            and not any(isinstance(stmt, Loop | If) for stmt in loop.body)
            and (hint(loop.size) * len(loop.body) <= self.costs.lanes_statements)
        )

    def counted(
        self,
        counting: Counting,
        carried: Sequence[Accumulate],
        body: Callable[[], str | None],
        others: Sequence[tuple[str, str]] = (),
    ) -> None:
        """The loop itself, totals carried along; so are ``others`` among ``regs.totals``, of these
        LLVM types.

        ``body`` may give a register: that it is true ends the loop, which then carries no totals.
        """
        f, code = self.function, Lanes(self.function, counting.lanes)
        head, inside, done = f.new_label("head"), f.new_label("body"), f.new_label("done")
        before = f.block
        keys = [(key, code.type(dtype)) for key, dtype in self.keys(carried)] + [*others]
        f.do(f"br label %{head}")
        begin = len(f.lines)
        f.start(head)
        counter = f.reserve()
        following = f.reserve()
        place = len(f.lines)
        phis = {key: f.reserve() for key, _ in keys}
        entering = {key: self.regs.totals[key] for key, _ in keys}
        self.regs.totals.update(phis)
        more = f.op(f"icmp slt i64 {counter}, {counting.stop}")
        f.do(f"br i1 {more}, label %{inside}, label %{done}")
        f.start(inside)
        outer = self.regs.copy()
        self.regs.dims[counting.var] = counter
        self.done = done
        leaves = body()
        totals = {key: self.regs.totals[key] for key, _ in keys}
        latch = f.block
        f.lines.append(f"  {following} = add nsw i64 {counter}, {counting.step}")
        back = f"i1 {leaves}, label %{done}, label %{head}" if leaves else f"label %{head}"
        f.do(f"br {back}{self._advice(counting, begin)}")
        first = f"[ {counting.start}, %{before} ]"
        lines = [f"  {counter} = phi i64 {first}, [ {following}, %{latch} ]"]
        for key, kind in keys:
            lines.append(
                f"  {phis[key]} = phi {kind} [ {entering[key]}, %{before} ], "
                f"[ {totals[key]}, %{latch} ]"
            )
        f.lines[place:place] = lines
        f.start(done)
        self.regs = outer
        self.regs.totals.update(phis)

    def _advice(self, counting: Counting, begin: int) -> str:
        if self.regs.marks and (counting.rest or counting.lanes > 1):
            return finished(self.module)
        return advice(self.function, begin, counting.copies, is_scalar=counting.scalar)

    def either(
        self,
        condition: str,
        yes: Callable[[], None],
        no: Callable[[], None],
        *,
        seldom: bool | None = None,
        needs: str | None = None,
    ) -> None:
        """One of two pieces of code, by an ``i1`` register, which is seldom what ``seldom`` is.

        It is false where the register ``needs`` is, which is asked before.
        """
        f = self.function
        guess = "" if seldom is None else self.module.seldom(seldom)
        then, orelse, done = f.new_label("then"), f.new_label("else"), f.new_label("endif")
        if needs is not None:
            also = f.new_label("also")
            f.do(f"br i1 {needs}, label %{also}, label %{orelse}{guess}")
            f.start(also)
        f.do(f"br i1 {condition}, label %{then}, label %{orelse}{guess}")
        for label, write in ((then, yes), (orelse, no)):
            f.start(label)
            if seldom is (label is then):  # without content it would be no block of its own
                self.module.declare("declare void @llvm.sideeffect()")
                f.do("call void @llvm.sideeffect()")
            outer = self.regs.copy()
            write()
            self.regs = outer
            f.do(f"br label %{done}")
        f.start(done)

    # -- totals

    def accumulate(self, stmt: Accumulate, code: Lanes) -> None:
        if stmt.position is not None:
            self._accumulate_position(stmt, code)
            return
        value = self.atom(stmt.value, stmt.dtype, code)
        total = self.regs.totals[stmt.name]
        if stmt.name in self.running:
            self._accumulate_running(stmt, running(stmt, value, code), code)
            return
        groups = max(1, code.count // self.total_lanes) if self.total_lanes else 1
        few = Lanes(self.function, code.count // groups)
        for group in range(groups):  # in order: a lane's total takes every element of its own
            part = value if groups == 1 else code.part(value, stmt.dtype, group, few.count)
            total = combined(stmt, total, part, few)
        self.regs.totals[stmt.name] = total
        self.regs.atoms[stmt.name] = (total, few.count)

    def _accumulate_running(self, stmt: Accumulate, values: str, code: Lanes) -> None:
        """The totals from those of the lanes alone: the next lanes wait for one operation."""
        totals = combined(stmt, self.regs.totals[stmt.name], values, code)
        last = code.part(totals, stmt.dtype, code.count - 1, 1)
        self.regs.totals[stmt.name] = self.spread(last, stmt.dtype, code)
        self.regs.atoms[stmt.name] = (totals, code.count)

    def _accumulate_position(self, stmt: Accumulate, code: Lanes) -> None:
        """argmin, argmax: the first nan wins, else the first extreme."""
        assert stmt.position is not None
        dtype, key = stmt.dtype, f"{stmt.name}@"
        best, where = self.regs.totals[stmt.name], self.regs.totals[key]
        value = self.atom(stmt.value, dtype, code)
        position, lanes = self.index(stmt.position, I64, code)
        if lanes != code.count:
            position = self.spread(position, I64, code)
        better = is_better(code, stmt, value, best)
        none_yet = code.compare("slt", I64, where, code.const(0, I64))
        better = code.binary("or", BOOL, better, none_yet)
        self.regs.totals[stmt.name] = code.select(better, dtype, value, best)
        self.regs.totals[key] = code.select(better, I64, position, where)

    def start_total(self, stmt: Accumulate, lanes: int) -> None:
        code = Lanes(self.function, lanes)
        self.regs.totals[stmt.name] = self.operand(stmt.init, stmt.dtype, code)
        if stmt.position is not None:
            self.regs.totals[f"{stmt.name}@"] = code.const(-1, I64)

    def finish_total(self, stmt: Accumulate, lanes: int) -> None:
        total = self.regs.totals.pop(stmt.name)
        if stmt.position is not None:
            total = self.regs.totals.pop(f"{stmt.name}@")
        self.regs.atoms[stmt.name] = (total, lanes)

    def start_lanes(self, stmt: Accumulate, code: Lanes) -> None:
        """Each lane of an order-free total begins with the neutral element, of others with all that
        there is so far.
        """
        if stmt.order == "sequential":
            self.running.add(stmt.name)
            total = self.regs.totals[stmt.name]
            self.regs.totals[stmt.name] = self.spread(total, stmt.dtype, code)
            return
        start = neutral(stmt.combine, stmt.dtype)
        self.regs.totals[stmt.name] = code.const(start.value, stmt.dtype)
        if stmt.position is not None:
            self.regs.totals[f"{stmt.name}@"] = code.const(-1, I64)

    def join_lanes(self, stmt: Accumulate, vectors: dict[str, str], code: Lanes) -> None:
        """Combine the lanes' totals with the scalar one; a running total is in the last lane."""
        if stmt.order == "sequential":
            self.running.remove(stmt.name)
            total = code.part(vectors[stmt.name], stmt.dtype, code.count - 1, 1)
            self.regs.totals[stmt.name] = total
            return
        keys = dict(self.keys([stmt]))
        total = fold_lanes(stmt, {key: vectors[key] for key in keys}, keys, code)
        scalar = {key: self.regs.totals[key] for key in keys}
        self.regs.totals.update(better_of(stmt, scalar, total, Lanes(self.function, 1)))

    def keys(self, carried: Sequence[Accumulate]) -> list[tuple[str, np.dtype]]:
        keys = []
        for stmt in carried:
            keys.append((stmt.name, stmt.dtype))
            if stmt.position is not None:
                keys.append((f"{stmt.name}@", I64))
        return keys
