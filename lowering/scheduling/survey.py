"""Whether to run the iterations of a loop in lanes, and in how many. See Note [Lanes]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fxc.ir.boxed_dtypes import has_gaps
from fxc.ir.later import import_later
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim

from ..nests.accesses import carried_through, elements_apart, is_running, pair_at
from ..nests.addressing import byte_offset, is_unit_step, split, step_of, varies
from ..nests.buffers import BOOL
from ..nests.program import Program
from ..nests.statements import Accumulate, Compute, Index, Load, Loop, Stmt, Store, blocks_of, walk
from ..operators.python_rules import SCALAR_RULES, mostly_looks_up

# See Note [Rooms with one door].
stored_together = import_later("fxc.lowering.nests.apart", "stored_together")

_IN_VECTORS = frozenset({1, 2, 4, 8, 16})  # the sizes of elements that fill them


def lanes_for(program: Program, loop: Loop, whole: Dim) -> int:
    """How many iterations of ``loop`` to run at once; 1 if it is not to be vectorised.

    It may be a chunk of one that has ``whole`` iterations.
    """
    if _is_short(loop):
        return 1
    survey, costs = Survey(program, loop), program.target.costs
    if survey.against:
        return 1
    lanes, most = survey.lanes, costs.lanes
    if (survey.totals and not survey.scattered) or (survey.inner and not survey.all_short):
        lanes *= costs.lanes_totals
    elif survey.work >= costs.lanes_work:
        much = survey.is_chain and hint(whole) * survey.work >= costs.lanes_much
        lanes, most = (4 * lanes, 2 * most) if much else (2 * lanes, most)
    most = min(most, loop.size if isinstance(loop.size, int) else most)
    return min(lanes, 1 << (most.bit_length() - 1))


def why_no_lanes(program: Program, loop: Loop) -> str:
    """Why the iterations of ``loop`` do not run at once; "" if they do."""
    return "it is short" if _is_short(loop) else Survey(program, loop).against


def _is_short(loop: Loop) -> bool:
    return isinstance(loop.size, int) and loop.size < 4


def _is_scan(loop: Loop) -> bool:
    return any(isinstance(s, Accumulate) for s in loop.body)


def _single_parts(program: Program, block: Sequence[Stmt]) -> Iterator[int]:
    """The stores, by identity, of one part of complex numbers without the other."""
    for number, stmt in enumerate(block):
        if isinstance(stmt, Store) and program.buffers[stmt.buffer].parts:
            pairs = (pair_at(program, block, at) for at in (number, number - 1) if at >= 0)
            if not any(pairs):
                yield id(stmt)
        for inner in blocks_of(stmt):
            yield from _single_parts(program, inner)


class Survey:
    """What running the iterations of a loop in lanes would mean.

    ``along`` counts accesses that move by one element from lane to lane, ``across`` those that
    are gathered or scattered, ``better_inside`` those that move by one element from iteration to
    iteration of a loop inside; ``once`` are those along that stay the same in all loops inside.
    ``work`` are the operations that gain.
    """

    def __init__(self, program: Program, loop: Loop) -> None:
        self.program = program
        self.loop = loop
        self.inner = [s for s in walk(loop.body) if isinstance(s, Loop)]
        self.direct = {id(s) for s in loop.body}
        self.stores = any(isinstance(s, Store) for s in loop.body)
        self.single = set(_single_parts(program, loop.body))
        self.apart: list[int] = []  # elements from lane to lane, of what is met a few apart
        self.filled: set[int] = set()  # stores, by identity, that fill what is between lanes
        self.widest = 1
        self.along = self.across = self.better_inside = self.once = self.work = self.totals = 0
        self.running = False  # some totals are read on the way
        self.scattered: set[str] = set()  # storages met at places that are computed
        self.waits: dict[str, int] = {}  # the work that a scalar waits for, with its own
        self.possible = all(self.visit(stmt) for stmt in walk(loop.body)) and not self.collides

    @property
    def against(self) -> str:
        """What speaks against lanes; "" if nothing does."""
        if not self.possible:
            return "an iteration needs what others do"
        return "" if self.pays else "more would be gathered than computed"

    @property
    def pays(self) -> bool:
        """Whether lanes of this loop are better than those of a loop inside, or none."""
        if self.inner and not self.all_short and self.better_inside >= self.along_inside:
            return False
        costs = self.program.target.costs
        if mostly_looks_up(self.loop.body, costs):
            return False
        if self.running and (self.scattered or self.lanes < costs.lanes_running):
            return False
        across = self.across + sum(2 * apart > self.lanes for apart in self.apart)
        return across <= 2 * self.along or self.work >= 8 * across

    @property
    def lanes(self) -> int:
        """How many of the widest elements a register has."""
        return max(1, self.program.target.vector // self.widest)

    @property
    def along_inside(self) -> int:
        """The accesses along that count beside those that are better inside. Loops inside that add
        up nothing have lanes as good, and what they all load from one place is loaded before them.
        """
        adds_up = any(isinstance(s, Accumulate) for each in self.inner for s in each.body)
        return self.along if adds_up or not self.better_inside else self.along - self.once

    @property
    def is_chain(self) -> bool:
        """Whether most operations wait for each other; others fill the gaps in what waits."""
        return 4 * max(self.waits.values(), default=0) >= 3 * self.work

    @property
    def all_short(self) -> bool:
        """Whether the loops inside are too short for lanes of their own."""
        short = self.program.target.costs.lanes_short
        return all(isinstance(i.size, int) and i.size < short for i in self.inner)

    @property
    def collides(self) -> bool:
        """Whether a lane may load what another one stores, as far as is known."""
        stored = {s.buffer for s in walk(self.loop.body) if isinstance(s, Store)}
        loaded = {s.buffer for s in walk(self.loop.body) if isinstance(s, Load)}
        buffers = self.program.buffers
        both = {buffers[b].storage for b in stored} & {buffers[b].storage for b in loaded}
        return bool(both & self.scattered)

    def visit(self, stmt: Stmt) -> bool:
        """Take a statement into account; False if it rules lanes out."""
        match stmt:
            case Load():
                return self.access(stmt)
            case Store():
                return not has_gaps(stmt.dtype) and self.access(stmt)
            case Compute(name, dtype, op, args, arg_dtypes):
                self.widen(dtype, *arg_dtypes)
                cost = SCALAR_RULES[op].cost
                self.work += cost
                self.waits[name] = cost + max((self.waits.get(str(x), 0) for x in args), default=0)
                return True
            case Index(value=value):
                self.widest = 8
                return step_of(split(value)[0], self.loop.var) is not None
            case Accumulate():
                return self.accumulate(stmt)
            case Loop():
                return not stmt.ordered or _is_scan(stmt)
            case _:
                return False

    def widen(self, *dtypes: np.dtype) -> None:
        self.widest = max(self.widest, *(dtype.itemsize for dtype in dtypes))

    def access(self, stmt: Load | Store) -> bool:
        self.widen(stmt.dtype)
        if stmt.dtype.itemsize not in _IN_VECTORS:
            return False
        buffer = self.program.buffers[stmt.buffer]
        offset = byte_offset(buffer, stmt.index)
        known, multiples = split(offset)
        step = step_of(known, self.loop.var)
        if any(varies(atom, self.loop.var) for atom, _ in multiples):
            self.scattered.add(buffer.storage)
            self.across += 1
            in_order = isinstance(stmt, Load) or id(stmt) in self.direct
            return step is not None and in_order
        is_along = is_unit_step(buffer, step) and id(stmt) not in self.single
        self.along += is_along
        if not is_along and step != 0:
            self.takes_apart(stmt)
        inside = [step_of(offset, each.var) for each in self.inner]
        self.once += is_along and not any(inside)
        self.better_inside += any(is_unit_step(buffer, each) for each in inside)
        return step is not None and not (step == 0 and isinstance(stmt, Store))

    def takes_apart(self, stmt: Load | Store) -> None:
        """Count an access to elements that do not follow each other."""
        apart = abs(elements_apart(self.program, stmt, self.loop.var))
        if isinstance(stmt, Store) and apart and id(stmt) not in self.filled:
            body, var = self.loop.body, self.loop.var
            at = next((n for n, each in enumerate(body) if each is stmt), None)
            found = () if at is None else stored_together(self.program, body, at, var)
            self.filled.update(map(id, found))
            apart = apart if found else 0
        if apart:
            self.apart.append(apart)
        else:
            self.across += 1

    def accumulate(self, stmt: Accumulate) -> bool:
        self.widen(stmt.dtype)
        is_any = stmt.order == "any"
        if id(stmt) in self.direct and is_any:
            self.totals += not (stmt.dtype == BOOL and self.stores)
        if stmt.position is not None:
            self.widest = 8
            if step_of(stmt.position, self.loop.var) is None:
                return False
        if self.inner:  # the total of a loop inside is one for each lane, if it ends there
            return not stmt.is_pairwise and id(stmt) not in self.direct and not self.carries(stmt)
        self.running |= not is_any
        return is_any or is_running(stmt)

    def carries(self, stmt: Accumulate) -> bool:
        return any(each is stmt for each in carried_through(self.loop))
