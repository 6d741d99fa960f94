"""What the iterations of a loop of the user's program compute each for itself is computed ahead of
them in lanes, for a strip of iterations at a time.

::

    loop j in 0:n                             loop js in 0:(n + 127) // 128
      t1 = subtract(x[j], t0)                   for ja in 0:min(128, n - 128*js) lanes 8
      t2 = divide(m[j], py_root(t1))              t1 = subtract(x[128*js + ja], t0)
      s[] = add(s[], t2)                →         t2.ahead[ja] = divide(m[128*js + ja], …)
                                                loop j in 128*js:min(128*js + 128, n)
                                                  s[] = add(s[], t2.ahead[j - 128*js])

The rest of an iteration, with its branches, and its sums in their order, finds the numbers in a
small buffer. A check that fails loses the call anyway, so those of floats are made ahead, too: see
Note [Raising ops]. Of integers they are not: numbers that follow from such a check passing may be
no numbers at all where it has not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.records import replace
from fxc.ir.size_functions import floordiv, hint, minimum
from fxc.ir.symbols import Dim, computed_in, symbol

from ..nests.accesses import Block, rename, renamed
from ..nests.bounds import bounds, counter_bounds, is_within, ranges_within, trips
from ..nests.buffers import BOOL, I64, Atom, Buffer, Const
from ..nests.program import Program
from ..nests.rewriting import innermost_first
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
    atoms_read,
    walk,
)
from ..operators.python_rules import SCALAR_RULES, asks_library
from .apart import guarded, is_apart
from .survey import Survey

_PLACES = frozenset({"out_of_bounds", "wrap_index"})  # see ``Emitter.check``
_Number = Load | Compute | Index


def steps_ahead(program: Program, *, careful: bool = False) -> Program:
    """The program with such strips.

    Requires: stored values are forwarded, and loops whose iterations are independent are nests.
    Ensures: the same results, bit for bit.
    """
    strips = _Strips(program, careful)
    body = innermost_first(program.body, strips.loop)
    return replace(program, body=body, buffers=strips.buffers)


class _Strips:
    def __init__(self, program: Program, careful: bool) -> None:
        self.program, self.careful = program, careful
        self.costs = program.target.costs
        self.buffers = dict(program.buffers)
        self.counters = counter_bounds(program)
        self.ranges = ranges_within(self.counters)
        self.indices = {stmt.name for stmt in walk(program.body) if isinstance(stmt, Index)}
        self.made = 0

    def loop(self, loop: For) -> list[Stmt] | None:
        """The loop in strips; None if that brings nothing."""
        if loop.leave is not None or loop.var not in self.counters:
            return None
        kinds = Load | Compute | Index | Store | Check | If
        if not all(isinstance(stmt, kinds) for stmt in loop.body):
            return None
        count = trips(self.counters[loop.var], self.ranges)
        if hint(count) < self.costs.apart_steps and not isinstance(count, int):
            return None
        loop = self.opened(loop)
        apart = _Apart(self, loop)
        if not apart.pays:
            return None
        return self.strips(loop, apart)

    def opened(self, loop: For) -> For:
        """The loop with numbers in front of arms that most iterations take: all but one."""
        body: list[Stmt] = []
        made = {stmt.name: stmt for stmt in walk(loop.body) if isinstance(stmt, Compute)}
        for stmt in loop.body:
            test = made.get(str(stmt.condition)) if isinstance(stmt, If) else None
            if test is None or not all(
                isinstance(x, Const) or x in self.indices for x in test.args
            ):
                body.append(stmt)
                continue
            assert isinstance(stmt, If)
            mask: Atom = test.name
            if test.op == "py_not_equal" and not stmt.ends:
                early, then = self.in_front(loop, stmt.then, mask)
                body += [*early, replace(stmt, then=then)]
            elif test.op == "py_equal" and stmt.ends is None:
                mask = f"{test.name}.not"
                body.append(Compute(mask, BOOL, "logical_not", (test.name,), (BOOL,)))
                early, orelse = self.in_front(loop, stmt.orelse, mask)
                body += [*early, replace(stmt, orelse=orelse)]
            else:
                body.append(stmt)
        return replace(loop, body=tuple(body))

    def in_front(self, loop: For, arm: Block, mask: Atom) -> tuple[list[Stmt], Block]:
        """The numbers of an arm that may be made in front of it, and the rest of it."""
        early: list[Stmt] = []
        rest: list[Stmt] = []
        late: set[str] = set()
        written = {self.buffers[name].storage for name in loop.touched[1]}
        for stmt in arm:
            is_early = isinstance(stmt, _Number) and not any(x in late for x in atoms_read(stmt))
            if isinstance(stmt, Load):
                read = self.buffers[stmt.buffer]
                is_plain = read.storage not in written and not any(map(computed_in, stmt.index))
                is_early &= is_plain and is_within(stmt.index, read.shape, self.ranges)
            elif isinstance(stmt, Compute):
                is_early &= is_apart(stmt) and not asks_library(stmt.op, stmt.args)
            if not is_early:
                rest.append(stmt)
                late |= {stmt.name} if isinstance(stmt, _Number) else set()
            elif isinstance(stmt, Compute):
                early += guarded(stmt, mask, self.costs, careful=self.careful)
            else:
                early.append(stmt)
        return early, tuple(rest)

    def strips(self, loop: For, apart: _Apart) -> list[Stmt] | None:
        first, last = self.counters[loop.var]
        length = self.costs.apart_strip
        count = trips((first, last), self.ranges)
        is_one = decide(bounds(count, self.ranges)[1], "<=", length) is True
        strip = symbol(f"{loop.var}s", hint=0, lower=0)
        start = first if is_one else first + length * strip
        self.made += 1
        buffers = {
            name: Buffer(buffer, dtype, (length,), (dtype.itemsize,), "temp", buffer)
            for name, dtype in apart.stored.items()
            for buffer in [f"{name}.ahead{self.made}"]
        }
        nest, checks = self.ahead(loop, apart, buffers, start)
        nest = replace(nest, size=count if is_one else minimum(length, last - start))
        known = replace(self.program, buffers=self.buffers | {b.name: b for b in buffers.values()})
        survey = Survey(known, nest)
        if not survey.possible or apart.gained < self.costs.apart_gathered * survey.across:
            return None
        if isinstance(count, int) and not self.is_filled(count, survey.lanes, apart.gained):
            return None
        self.buffers = known.buffers
        rest = apart.rest(buffers, symbol(loop.var, hint=0) - start)
        if is_one:
            return [nest, *checks, replace(loop, body=rest)]
        lo, hi, number = (f"{strip}.{name}" for name in ("start", "stop", "count"))
        edges = Index(lo, I64, start), Index(hi, I64, minimum(start + length, last))
        inside = replace(loop, lo=lo, hi=hi, body=rest)
        return [
            Index(number, I64, floordiv(last - first + (length - 1), length)),
            For(str(strip), Const(0, I64), number, (*edges, nest, *checks, inside), loop.loc),
        ]

    def is_filled(self, count: int, lanes: int, gained: int) -> bool:
        """Whether a loop is long, or fills whole registers with what takes long."""
        is_dear = gained >= self.costs.apart_short_work
        return count >= self.costs.apart_steps or (is_dear and count % lanes == 0)

    def ahead(
        self, loop: For, apart: _Apart, buffers: Mapping[str, Buffer], start: Dim
    ) -> tuple[Loop, list[Stmt]]:
        """The nest that a strip begins with, for one iteration, and the checks behind it."""
        counter = symbol(f"{loop.var}a", hint=0, lower=0)
        names = {stmt.name: f"{stmt.name}.lane{self.made}" for stmt in apart.ahead}
        moved: dict[str, Dim] = {loop.var: start + counter}
        body: list[Stmt] = [renamed(rename(stmt, moved), names) for stmt in apart.ahead]
        for name, buffer in buffers.items():
            body.append(Store(buffer.name, (counter,), names[name], buffer.dtype))
        checks: list[Stmt] = []
        for check in apart.checks:
            assert isinstance(check.failed, str)
            failed, total = names[check.failed], f"{names[check.failed]}.any"
            body.append(Accumulate(total, BOOL, "logical_or", failed, Const(False, BOOL), "any"))
            checks.append(replace(check, failed=total))
        return Loop(str(counter), 1, tuple(body), loc=loop.loc), checks


class _Apart:
    """What the iterations of a loop compute each for itself.

    ``ahead`` are the statements that are worth it, with ``checks`` of what they compute; the rest
    reads the numbers that are ``stored``, by name with their dtypes, and computes again what is
    cheaper than that.
    """

    def __init__(self, strips: _Strips, loop: For) -> None:
        self.strips, self.loop = strips, loop
        self.inside = {stmt.name for stmt in walk(loop.body) if isinstance(stmt, _Number)}
        self.written = {strips.buffers[name].storage for name in loop.touched[1]}
        self.own: dict[str, _Number] = {}
        self.is_looked_at = False  # whether indices have been, by a check of an iteration
        self.checks: list[Check] = []
        for stmt in loop.body:
            self.visit(stmt)
        read = set(self.needed(stmt for stmt in loop.body if not self.is_own(stmt)))
        self.stored = self.handed_on(read)
        again = self.closure(read - self.stored.keys(), self.stored)
        tested = {each.failed for each in self.checks if isinstance(each.failed, str)}
        ahead = self.closure({*self.stored, *tested}, ())
        self.again = again
        self.ahead = [stmt for name, stmt in self.own.items() if name in ahead]
        self.gained = sum(_cost(self.own[name]) for name in ahead - again)
        left = (stmt for stmt in loop.body if isinstance(stmt, _Number))
        self.left = sum(_cost(stmt) for stmt in left if stmt.name in again or not self.is_own(stmt))

    @property
    def pays(self) -> bool:
        costs = self.strips.costs
        least = costs.apart_work + costs.apart_number * len(self.stored)
        return self.gained >= max(least, self.left)

    def handed_on(self, read: Collection[str]) -> dict[str, np.dtype]:
        """The numbers that are stored: those that are not as well computed again from others."""
        few = self.strips.costs.apart_few
        stored = {name: own.dtype for name, own in self.own.items() if name in read}

        def left(name: str, work: int) -> int:
            """What is left of an amount of work when a number is computed again."""
            work -= _cost(self.own[name])
            for each in atoms_read(self.own[name]):
                if isinstance(each, str) and each in self.own and each not in stored and work >= 0:
                    work = left(each, work)
            return work

        for name in reversed(tuple(stored)):
            if left(name, few) >= 0:
                del stored[name]
        return stored

    def visit(self, stmt: Stmt) -> None:
        """Take in a statement that needs nothing of other iterations."""
        if isinstance(stmt, _Number) and self.is_number(stmt):
            self.own[stmt.name] = stmt
        elif isinstance(stmt, Check) and stmt.failed in self.own:
            self.checks.append(stmt)
        elif any(isinstance(each, Check) for each in walk((stmt,))):
            self.is_looked_at = True

    def is_number(self, stmt: _Number) -> bool:
        if any(atom in self.inside and atom not in self.own for atom in atoms_read(stmt)):
            return False
        match stmt:
            case Load(buffer=buffer, index=index):
                read = self.strips.buffers[buffer]
                if read.storage in self.written or any(map(computed_in, index)):
                    return False
                ranges = self.strips.ranges
                return not self.is_looked_at or is_within(index, read.shape, ranges)
            case Compute(op=op, args=args):
                return is_apart(stmt) and not asks_library(op, args)
            case _:
                return True

    def is_own(self, stmt: Stmt) -> bool:
        if isinstance(stmt, Check):
            return any(stmt is each for each in self.checks)
        return isinstance(stmt, _Number) and self.own.get(stmt.name) is stmt

    def needed(self, stmts: Iterable[Stmt]) -> Iterator[str]:
        for each in walk(tuple(stmts)):
            for atom in atoms_read(each):
                if isinstance(atom, str) and atom in self.own:
                    yield atom

    def closure(self, names: Collection[Atom], known: Collection[str]) -> set[str]:
        """What is needed to compute numbers, given some that are known."""
        found: set[str] = set()
        left = [name for name in names if isinstance(name, str)]
        while left:
            name = left.pop()
            if name in self.own and name not in found and name not in known:
                found.add(name)
                left += [atom for atom in atoms_read(self.own[name]) if isinstance(atom, str)]
        return found

    def rest(self, buffers: Mapping[str, Buffer], place: Dim) -> tuple[Stmt, ...]:
        """An iteration without what is made ahead, which is in these buffers."""
        made: list[Stmt] = []
        for stmt in self.loop.body:
            if not self.is_own(stmt):
                made.append(stmt)
            elif isinstance(stmt, _Number) and stmt.name in buffers:
                made.append(Load(stmt.name, stmt.dtype, buffers[stmt.name].name, (place,)))
            elif isinstance(stmt, _Number) and stmt.name in self.again:
                made.append(stmt)
        return tuple(made)


def _cost(stmt: _Number) -> int:
    return SCALAR_RULES[stmt.op].cost if isinstance(stmt, Compute) else 0
