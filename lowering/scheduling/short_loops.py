"""Short loops inside of others are written down, iteration by iteration.

::

    for i0 in 0:n
      for i1 in 0:3                           for i0 in 0:n
        t1 = add square(x[i0, i1])      →       t4 = add(square(x[i0, 0]), square(x[i0, 1]))
      b1[i0] = t1                               b1[i0] = add(0.0, add(t4, square(x[i0, 2])))

The loop around is then one over elements: it can be merged with others, and has lanes. Nests that
share data with such a one are written down likewise, so that they remain alike. So are those that
can then be merged with one that has the columns of their temporaries one by one (``np.cross``).
Others without totals are where the loop around gets lanes by it, if need be together with those
next to it. Sums are those of NumPy, see Note [Pairwise sums]: so few elements are added from the
left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from fxc.ir.bounds import decide
from fxc.ir.records import frozen, replace
from fxc.ir.symbols import symbols_of

from ..nests.accesses import Block, accesses, rename, renamed, storages, stored
from ..nests.buffers import Atom
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    blocks_of,
    walk,
    with_blocks,
)
from ..operators.python_rules import SCALAR_RULES
from ..operators.reduction_order import PAIRWISE_LANES
from .forward import forward
from .fuse import Merging
from .shrink import drop_dead
from .survey import lanes_for

_Straight = Load | Compute | Index | Store | Accumulate


def short_totals(program: Program) -> Program:
    """Totals over few elements without the loops that add them up.

    Requires: nests are as they were built. Ensures: the same results, bit for bit.
    """
    return replace(program, body=_totals(program, program.body))


def short_loops(program: Program) -> Program:
    """Loops with lanes in place of short loops inside of them, where these have none.

    Requires: nests are merged. Ensures: the same results, with no more memory traffic than before.
    """
    body = _Inner(program).block(program.body)
    return drop_dead(replace(program, body=forward(program, body)))


def _totals(program: Program, block: Block) -> Block:
    block = tuple(
        stmt if isinstance(stmt, Loop) else with_blocks(stmt, _all(program, blocks_of(stmt)))
        for stmt in block
    )
    found = {place: each for place, stmt in enumerate(block) if (each := _written(program, stmt))}
    nests = {place: block[place] for place in found}
    chosen = _Sharing(program, nests).reached(p for p, each in found.items() if each.adds_up)
    for place in _beside_columns(program, block, found) - chosen:
        alike = _Sharing(program, nests).reached((place,))
        if all(_work(nests[each]) < program.target.costs.lanes_work for each in alike):
            chosen |= alike
    return tuple(found[place].nest if place in chosen else stmt for place, stmt in enumerate(block))


def _beside_columns(program: Program, block: Block, found: Mapping[int, _Written]) -> set[int]:
    """Those that could then be merged with a nest near them without a short loop, which has the
    columns of a temporary of theirs one by one.
    """
    merging, over = Merging(program), program.target.costs.fused_over
    others = {p: s for p, s in enumerate(block) if isinstance(s, Loop) and p not in found}
    return {
        place
        for place, each in found.items()
        for other, nest in others.items()
        if abs(place - other) <= over
        and _shares_columns(program, block[place], each.nest, nest)
        and _become_one(merging, *((nest, each.nest) if other < place else (each.nest, nest)))
    }


def _work(nest: Stmt) -> int:
    """What is computed of an element."""
    return sum(SCALAR_RULES[s.op].cost for s in walk((nest,)) if isinstance(s, Compute))


def _shares_columns(program: Program, nest: Stmt, written: Loop, other: Loop) -> bool:
    """Whether the short loops of a nest go along a temporary that another one meets, too."""
    around = {loop.var for loop in _loops(written)}
    sizes = {loop.var: loop.size for loop in _loops(nest) if loop.var not in around}
    if not all(decide(size, "<=", program.target.costs.short_columns) for size in sizes.values()):
        return False
    near, stores = storages(program, (other,)), stored(program, (other,))
    return any(
        access.storage in (near if access.written else stores)
        and program.buffers[access.storage].role == "temp"
        and any(sizes.keys() & symbols_of(dim).keys() for dim in access.index or ())
        for access in accesses(program, nest)
    )


def _become_one(merging: Merging, first: Loop, second: Loop) -> bool:
    """Whether two nests can be merged, and all loops inside of them, too, and have lanes then."""
    program, merged = merging.program, merging.merged(first, second)
    if merged is None:
        return False
    nests = [_loops(first), _loops(second), _loops(*forward(program, (merged,)))]
    inner = nests[-1][-1]
    return len({*map(len, nests)}) == 1 and lanes_for(program, inner, inner.size) > 1


def _loops(*block: Stmt) -> list[Loop]:
    return [stmt for stmt in walk(block) if isinstance(stmt, Loop)]


class _Sharing:
    """Which nests share storages that one of them writes; nests are known by place."""

    def __init__(self, program: Program, nests: Mapping[int, Stmt]) -> None:
        self.written = {place: stored(program, (nest,)) for place, nest in nests.items()}
        self.met = {place: storages(program, (nest,)) for place, nest in nests.items()}
        self.writing = _by_name(self.written)
        self.meeting = _by_name(self.met)

    def reached(self, first: Iterable[int]) -> set[int]:
        """The nests that share data with these, or with others that do."""
        left = [*first]
        reached = set(left)
        while left:
            place = left.pop()
            near = {each for name in self.written[place] for each in self.meeting.pop(name, ())}
            near |= {each for name in self.met[place] for each in self.writing.pop(name, ())}
            left += near - reached
            reached |= near
        return reached


def _by_name(names: Mapping[int, set[str]]) -> dict[str, list[int]]:
    """By storage, the places that have it."""
    found: dict[str, list[int]] = {}
    for place, each in names.items():
        for name in each:
            found.setdefault(name, []).append(place)
    return found


def _all(program: Program, blocks: Sequence[Block]) -> tuple[Block, ...]:
    return tuple(_totals(program, each) for each in blocks)


class _Inner:
    """Loops that get lanes if short loops inside are written down."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.merging = Merging(program)

    def block(self, block: Block) -> Block:
        made: list[Stmt] = []
        run: list[Loop] = []
        merged: Loop | None = None  # all loops of the run, if there are any
        for stmt in block:
            if inner := tuple(map(self.block, blocks_of(stmt))):
                stmt = with_blocks(stmt, inner)
            written = self.written(stmt) if isinstance(stmt, Loop) else None
            joined = self.merging.merged(merged, written) if merged and written else None
            if joined is None:
                made += self.best(run, merged)
                run, merged = [], written
            if written is None:
                made.append(stmt)
            else:
                assert isinstance(stmt, Loop)
                run.append(stmt)
                merged = joined or written
        return (*made, *self.best(run, merged))

    def written(self, loop: Loop) -> Loop | None:
        """The loop with short ones inside written down; None if there are others."""
        if any(isinstance(stmt, Accumulate) for stmt in walk(loop.body)):
            return None
        found = _written(self.program, loop)
        nest = loop if found is None else found.nest
        return None if any(isinstance(stmt, Loop) for stmt in nest.body) else nest

    def best(self, run: Sequence[Loop], merged: Loop | None) -> Sequence[Loop]:
        """One loop in lanes for all, or one for each, or what there was."""
        if merged is None or not any(isinstance(s, Loop) for loop in run for s in loop.body):
            return run
        if self.has_lanes(merged):
            return [merged]
        each = [(loop, self.written(loop)) for loop in run] if len(run) > 1 else []
        return [new if new and self.has_lanes(new) else loop for loop, new in each] or run

    def has_lanes(self, loop: Loop) -> bool:
        return lanes_for(self.program, loop, loop.size) > 1


@frozen
class _Written:
    """A nest with its short loops written down; whether any of them adds up."""

    nest: Loop
    adds_up: bool


def _written(program: Program, stmt: Stmt) -> _Written | None:
    """The nest without the short loops in it; None if there are none."""
    if not isinstance(stmt, Loop) or stmt.descending or stmt.behind:
        return None
    body: list[Stmt] = []
    found, adds_up = False, False
    for each in stmt.body:
        inner = _written(program, each) if isinstance(each, Loop) else None
        if isinstance(each, Loop) and _is_short(program, each):
            found, adds_up = (
                True,
                adds_up or any(isinstance(s, Accumulate) for s in walk(each.body)),
            )
            body += _Writing(each).made
        elif inner is not None:
            found, adds_up = True, adds_up or inner.adds_up
            body.append(inner.nest)
        else:
            body.append(each)
    return _Written(replace(stmt, body=tuple(body)), adds_up) if found else None


def _is_short(program: Program, loop: Loop) -> bool:
    """Whether a loop and those inside of it have few iterations, of statements without branches;
    lanes of the loop around can pick what lies so few elements apart.
    """
    costs = program.target.costs
    inside = walk(loop.body)
    loops = [loop, *(stmt for stmt in inside if isinstance(stmt, Loop))]
    if not all(isinstance(each, _Straight | Loop) for each in inside):
        return False
    if not all(_is_plain(each) for each in loops):
        return False
    widest = max((s.dtype.itemsize for s in inside if isinstance(s, _Straight)), default=1)
    sizes = [each.size for each in loops if isinstance(each.size, int)]
    count = prod(sizes)
    if 2 * widest * max(sizes) > program.target.vector or count > costs.short_iterations:
        return False
    return count * len(inside) <= costs.short_statements and _are_inside(loop)


def _is_plain(loop: Loop) -> bool:
    """Whether a loop has known iterations, which may run in their order."""
    size, chunk = loop.size, loop.chunk
    if not isinstance(size, int) or size < 1 or loop.descending or loop.behind:
        return False
    return chunk is None or (isinstance(chunk, int) and size <= chunk)


def _are_inside(loop: Loop) -> bool:
    """Whether the totals of the loop end with it, and are added up from the left."""
    return all(
        stmt.levels <= depth
        and stmt.position is None
        and (not stmt.is_pairwise or size < PAIRWISE_LANES[stmt.order])
        for depth, size, stmt in _totals_in(loop)
    )


class _Writing:
    """The statements of all iterations of a loop, one after the other."""

    def __init__(self, loop: Loop) -> None:
        self.made: list[Stmt] = []
        self.totals: dict[str, Atom] = {}
        names: dict[str, str] = {}
        self.loop(loop, names)
        ends = {total: name for name, total in names.items()}
        self.made = [renamed(stmt, ends) for stmt in self.made]

    def loop(self, loop: Loop, names: dict[str, str]) -> None:
        """All iterations; ``names`` are those of scalars here, and then those of its totals too."""
        assert isinstance(loop.size, int)
        begun = [stmt for depth, _, stmt in _totals_in(loop) if stmt.levels == depth]
        for total in begun:
            self.totals[total.name] = names.get(str(total.init), total.init)
        runs: dict[str, tuple[Accumulate, Atom]] = {}
        for iteration in range(loop.size):
            inner = dict(names)
            for stmt in loop.body:
                here = rename(stmt, {loop.var: iteration})
                match here:
                    case Accumulate():
                        self.add(here, inner, runs)
                    case Loop():
                        self.loop(here, inner)
                    case _:
                        self.made.append(self.named(renamed(here, inner), inner))
        for total, run in runs.values():
            self.totals[total.name] = self.combined(total, run)
        names.update((total.name, str(self.totals[total.name])) for total in begun)

    def add(
        self, stmt: Accumulate, names: dict[str, str], runs: dict[str, tuple[Accumulate, Atom]]
    ) -> None:
        """Add an element to a total, or to the run that will be added to it."""
        value = names.get(str(stmt.value), stmt.value)
        if not stmt.is_pairwise:
            names[stmt.name] = self.combined(stmt, value)
            self.totals[stmt.name] = names[stmt.name]
        elif stmt.name in runs:
            runs[stmt.name] = (stmt, self.combined(stmt, value, runs[stmt.name][1]))
        else:
            runs[stmt.name] = (stmt, value)

    def combined(self, stmt: Accumulate, value: Atom, total: Atom | None = None) -> str:
        """The name of a total, ``stmt``'s as a rule, with one more value."""
        both = (self.totals[stmt.name] if total is None else total, value)
        dtypes = (stmt.dtype, stmt.dtype)
        made = Compute(stmt.name, stmt.dtype, stmt.combine, both, dtypes, stmt.quiet, stmt.node)
        names: dict[str, str] = {}
        self.made.append(self.named(made, names))
        return names[stmt.name]

    def named(self, stmt: Stmt, names: dict[str, str]) -> Stmt:
        """The statement with a name of its own, which is then known."""
        if not isinstance(stmt, Load | Compute | Index):
            return stmt
        names[stmt.name] = f"{stmt.name}_{len(self.made)}"
        return replace(stmt, name=names[stmt.name])


def _totals_in(loop: Loop, depth: int = 1) -> Iterator[tuple[int, int, Accumulate]]:
    """The totals in a loop, how deep inside they are added up, and over how many elements."""
    assert isinstance(loop.size, int)
    for stmt in loop.body:
        if isinstance(stmt, Accumulate):
            yield depth, loop.size, stmt
        elif isinstance(stmt, Loop):
            yield from _totals_in(stmt, depth + 1)
