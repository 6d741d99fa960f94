"""Branches in loops over elements become choices between numbers, if that makes nests of them.

::

    loop i in 0:n                            for i in 0:n lanes 8
      t1 = item(d[i])                          t1 = item(d[i])
      if greater(t1, 0.0)                      t2 = greater(t1, 0.0)
        b3[] = divide(1.0, t1)          →      t3 = divide(1.0, where(t2, t1, 1.0))
      else                                     y[i] = where(t2, t3, 0.0)
        b3[] = 0.0
      y[i] = b3[]

Both arms are computed, each from 1.0 where the other one is taken: that sets no flag and divides by
no zero. Cheap operations are not worth it: if one does set a flag, careful code takes the call,
which keeps its branches. See Note [Floating-point flags].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fxc.ir.records import frozen, replace
from fxc.ir.symbols import Dim, computed_in

from ..nests.accesses import Block, renamed
from ..nests.bounds import counter_bounds, is_within, ranges_within
from ..nests.buffers import BOOL, Atom, Const
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import (
    Accumulate,
    Apply,
    Boxed,
    Check,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    walk,
    whole_buffers,
)
from ..operators.python_rules import SCALAR_RULES, asks_library
from .apart import guarded, is_apart
from .independent_steps import Counters, of_elements
from .wraps import without_wraps


def branchless(program: Program) -> Program:
    """The program with such nests.

    Requires: stored values are forwarded. Ensures: the same results, bit for bit.
    """
    counters = counter_bounds(program)
    known = counters, ranges_within(counters)
    used = uses(program, program.body)

    def change(loop: For) -> Block | None:
        if not any(isinstance(stmt, If | Check) for stmt in walk((loop,))):
            return None
        choices = Choices(program, known, loop, used)
        try:
            nest = of_elements(program, known, choices.loop(loop))
        except Stays:
            return None
        if nest is None:
            return None
        return without_wraps(choices.checked(nest), program.target.costs)

    return replace(program, body=outermost_first(program.body, change))


def uses(program: Program, block: Block) -> Counter[str]:
    """How often statements use each storage."""
    used: list[str] = []
    for stmt in walk(block):
        if isinstance(stmt, Load | Store):
            used.append(stmt.buffer)
        elif isinstance(stmt, Matmul | Apply | Boxed):
            used += [name for name, _ in whole_buffers(stmt)]
    return Counter(program.buffers[name].storage for name in used)


def own_numbers(program: Program, loop: For, used: Counter[str]) -> set[str]:
    """The temporaries of one number each that a loop uses alone."""
    inside = [s for s in walk((loop,)) if isinstance(s, Load | Store)]
    results = {program.buffers[name].storage for name in program.results}
    plain = Counter(stmt.buffer for stmt in inside if not stmt.index)
    return {
        name
        for name, count in plain.items()
        if count == used[name] and program.buffers[name].role == "temp" and name not in results
    }


class Stays(Exception):
    """A branch that cannot become a choice."""


_Values = dict[str, str]  # by buffer: the name of the number that is in it


@frozen
class _Place:
    """An element that an arm stores to."""

    buffer: str
    index: tuple[Dim, ...]


Stores = dict[_Place, str]


class Choices:
    """What a loop computes, with choices in place of branches, while it is taken in."""

    def __init__(
        self,
        program: Program,
        known: Counters,
        loop: For,
        used: Counter[str],
    ) -> None:
        self.program, self.ranges = program, known[1]
        self.made: list[Stmt] = []
        self.var, self.count = loop.var, 0
        self.renamed: dict[str, str] = {}
        self.may_be_checked: set[str] = set()  # among what has failed
        self.failing: dict[str, Check] = {}  # by what says that it has failed
        self.local = own_numbers(program, loop, used)

    def loop(self, loop: For, values: _Values | None = None) -> For:
        """The loop without branches; ``values`` are what there is when an iteration begins, and
        then when it ends.
        """
        outer, self.made = self.made, []
        values = {} if values is None else values
        inside = {s.name for s in walk(loop.body) if isinstance(s, Load | Compute | Index)}
        for stmt in loop.body:
            if isinstance(stmt, If) and stmt.condition not in inside:
                raise Stays  # LLVM asks in front of the loop
            if isinstance(stmt, For):
                self.made.append(self.loop(stmt))
            elif isinstance(stmt, If):
                self.branch(stmt, None, values, {})
            else:
                self.number(stmt, None, values)
        made, self.made = self.made, outer
        if self.failing and not self.may_fail(made):
            raise Stays
        return replace(loop, body=tuple(made))

    def may_fail(self, made: Sequence[Stmt]) -> bool:
        """Whether checks may as well come behind the loop. See Note [Stores that are undone]."""
        buffers = self.program.buffers
        return not any(
            isinstance(stmt, For)
            or (isinstance(stmt, Store) and buffers[buffers[stmt.buffer].storage].role == "input")
            for stmt in made
        )

    def checked(self, nest: Loop) -> Block:
        """The nest, and behind it the checks of all iterations."""
        totals = [
            Accumulate(f"{failed}.any", BOOL, "logical_or", failed, Const(False, BOOL), "any")
            for failed in self.failing
        ]
        checks = (
            replace(check, failed=total.name)
            for check, total in zip(self.failing.values(), totals, strict=True)
        )
        return (replace(nest, body=(*nest.body, *totals)), *checks)

    def check(self, stmt: Check, mask: Atom | None) -> None:
        """Note a check of floats; those of ints may stand in front of what must not be done."""
        failed = self.atom(stmt.failed)
        if failed not in self.may_be_checked:
            raise Stays
        assert isinstance(failed, str)
        if mask is not None:
            failed = self.compute(BOOL, "logical_and", mask, failed, of=(BOOL, BOOL))
        self.failing[failed] = stmt

    def name(self) -> str:
        self.count += 1
        return f"{self.var}.chosen{self.count}"

    def compute(self, dtype: np.dtype, op: str, *args: Atom, of: Sequence[np.dtype]) -> str:
        name = self.name()
        self.made.append(Compute(name, dtype, op, args, tuple(of)))
        return name

    def atom(self, atom: Atom) -> Atom:
        return self.renamed.get(atom, atom) if isinstance(atom, str) else atom

    def branch(self, stmt: If, mask: Atom | None, values: _Values, stores: Stores) -> None:
        """Choose between what the arms leave; ``stores`` are those of the arm around."""
        if stmt.ends is not None:
            raise Stays
        self.look_back((stmt,), frozenset())
        condition = self.atom(stmt.condition)
        found: list[tuple[_Values, Stores]] = []
        for arm, holds in ((stmt.then, True), (stmt.orelse, False)):
            own = condition
            if not holds:
                own = self.compute(BOOL, "logical_not", own, of=(BOOL,))
            if mask is not None:
                own = self.compute(BOOL, "logical_and", mask, own, of=(BOOL, BOOL))
            inner, stored = values.copy(), stores.copy()
            for each in arm:
                if isinstance(each, If):
                    self.branch(each, own, inner, stored)
                elif isinstance(each, Store) and each.index:
                    self.store(each, stored)
                else:
                    self.number(each, own, inner)
            found.append((inner, stored))
        self.join(condition, found, values, stores)
        if mask is None:
            for place, value in stores.items():
                dtype = self.program.buffers[place.buffer].dtype
                self.made.append(Store(place.buffer, place.index, value, dtype))

    def look_back(self, block: Block, stored: frozenset[str]) -> frozenset[str]:
        """The storages of arrays that a block has stored to; nothing is loaded from them there,
        since stores come behind the branch.
        """
        for stmt in block:
            match stmt:
                case Load(buffer=buffer) if self.program.buffers[buffer].storage in stored:
                    raise Stays
                case Store(buffer=buffer) if buffer not in self.local:
                    stored |= {self.program.buffers[buffer].storage}
                case If(then=then, orelse=orelse):
                    stored = self.look_back(then, stored) | self.look_back(orelse, stored)
        return stored

    def join(
        self,
        condition: Atom,
        found: list[tuple[_Values, Stores]],
        values: _Values,
        stores: Stores,
    ) -> None:
        (then, there), (orelse, here) = found
        for name in then.keys() & orelse.keys():
            values[name] = self.choice(condition, name, then[name], orelse[name])
        places = [*(there | here)]
        if not all(self.are_apart(x, y) for n, x in enumerate(places) for y in places[:n]):
            raise Stays
        for place in places:
            left, right = (arm.get(place) or self.old(place) for arm in (there, here))
            stores[place] = self.choice(condition, place.buffer, left, right)

    def are_apart(self, left: _Place, right: _Place) -> bool:
        """Whether two places are never one element: then the order of stores does not show."""
        storages = [self.program.buffers[each.buffer].storage for each in (left, right)]
        if left.buffer != right.buffer:
            return storages[0] != storages[1]
        gaps = [x - y for x, y in zip(left.index, right.index, strict=True)]
        return any(isinstance(gap, int) and gap != 0 for gap in gaps)

    def old(self, place: _Place) -> str:
        """What is in an array of the program's own where one arm stores nothing."""
        buffer = self.program.buffers[place.buffer]
        is_inside = is_within(place.index, buffer.shape, self.ranges)
        if self.program.buffers[buffer.storage].role == "input" or not is_inside:
            raise Stays
        name = self.name()
        self.made.append(Load(name, buffer.dtype, place.buffer, place.index))
        return name

    def choice(self, condition: Atom, buffer: str, then: str, orelse: str) -> str:
        if then == orelse:
            return then
        dtype = self.program.buffers[buffer].dtype
        return self.compute(dtype, "where", condition, then, orelse, of=(BOOL, dtype, dtype))

    def store(self, stmt: Store, stored: Stores) -> None:
        if any(map(computed_in, stmt.index)):
            raise Stays
        stored[_Place(stmt.buffer, stmt.index)] = self.named(stmt.value, stmt.dtype)

    def named(self, value: Atom, dtype: np.dtype) -> str:
        value = self.atom(value)
        return value if isinstance(value, str) else self.compute(dtype, "copy", value, of=(dtype,))

    def number(self, stmt: Stmt, mask: Atom | None, values: _Values) -> None:
        """A statement of the loop, or of an arm, which is taken where the mask holds."""
        match stmt:
            case Store(buffer=buffer, value=value, dtype=dtype) if buffer in self.local:
                values[buffer] = self.named(value, dtype)
            case Load(name=name, buffer=buffer) if buffer in self.local:
                if buffer not in values:
                    raise Stays  # an iteration needs what the one before has left
                self.renamed[name] = values[buffer]
            case Load(buffer=buffer, index=index) if mask is not None:
                known = self.program.buffers[buffer]
                if any(map(computed_in, index)) or not is_within(index, known.shape, self.ranges):
                    raise Stays
                self.made.append(stmt)
            case Compute():
                if not is_apart(stmt):
                    raise Stays
                if stmt.op.endswith(" fails"):
                    self.may_be_checked.add(stmt.name)
                found = renamed(stmt, self.renamed)
                assert isinstance(found, Compute)
                self.made += [found] if mask is None else self.guarded(found, mask)
            case Check():
                self.check(stmt, mask)
            case Load() | Index():
                self.made.append(renamed(stmt, self.renamed))
            case Store() if mask is None:
                self.made.append(renamed(stmt, self.renamed))
            case _:
                raise Stays

    def guarded(self, stmt: Compute, mask: Atom) -> list[Compute]:
        """What an arm computes, without effects where the other one is taken."""
        costs = self.program.target.costs
        if asks_library(stmt.op, stmt.args) or SCALAR_RULES[stmt.op].cost > costs.choice_cost:
            raise Stays
        return guarded(stmt, mask, costs, careful=False)
