"""What fusion asks of a loop again and again: found once, and put together where loops are."""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.records import frozen, replace

from ..nests.accesses import Access, accesses
from ..nests.addressing import byte_offset, split, step_of
from ..nests.buffers import Atom
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    Index,
    Load,
    Loop,
    Order,
    Store,
    atoms_read,
    walk,
)
from ..operators.scalar_rules import ignored

ByStorage = Mapping[str, tuple[Access, ...]]


@frozen
class LoopFacts:
    """Of a loop: how many ``statements`` it has, itself included, the scalars that it ``reads`` and
    ``defines``, the ``totals`` among those; the ``orders`` of what its body accumulates, whether
    that has a ``position``, and whether there are loops in it. ``is_merged``: no two of those are
    left that could be one. For ``ignored`` see ``scalar_rules``.
    """

    statements: int
    accesses: ByStorage
    written: frozenset[str]  # storages
    reads: frozenset[Atom]
    defines: frozenset[Atom]
    totals: frozenset[Atom]
    orders: frozenset[Order]
    has_position: bool
    has_loops: bool
    moves_evenly: bool
    ignored: frozenset[str] | None
    is_merged: bool = False

    def conflicts(self, other: LoopFacts) -> bool:
        """Whether the order of two loops matters."""
        return not (
            self.written.isdisjoint(other.accesses) and other.written.isdisjoint(self.accesses)
        )

    def must_precede(self, later: LoopFacts) -> bool:
        """Whether a later loop may not go in front of this one."""
        return self.conflicts(later) or not self.defines.isdisjoint(later.reads)

    @property
    def trees(self) -> frozenset[Order]:
        """The orders that lanes add up in."""
        return self.orders - {"any", "sequential"}

    def is_kind_of(self, other: LoopFacts) -> bool:
        """Whether both loops can be run in the same way: see how each accumulates."""
        if "sequential" in self.orders or "sequential" in other.orders:
            return self.orders == other.orders
        trees = self.trees | other.trees
        nested = self.has_loops, other.has_loops
        if trees:  # a tree carries values, no positions
            has_position = self.has_position or other.has_position
            return len(trees) == 1 and not any(nested) and not has_position
        return not (self.orders or other.orders) or nested[0] == nested[1]

    def with_those_of(self, other: LoopFacts, statements: int) -> LoopFacts:
        """The facts of a loop that does what both do, in so many statements."""
        both = {
            storage: (*self.accesses.get(storage, ()), *other.accesses.get(storage, ()))
            for storage in other.accesses
        }
        return replace(
            self,
            statements=statements,
            accesses={**self.accesses, **both},
            written=self.written | other.written,
            reads=self.reads | other.reads,
            defines=self.defines | other.defines,
            totals=self.totals | other.totals,
            orders=self.orders | other.orders,
            has_position=self.has_position or other.has_position,
            has_loops=self.has_loops or other.has_loops,
            ignored=self.ignored if other.ignored is None else other.ignored,
            is_merged=True,
        )


def facts_of(program: Program, loop: Loop) -> LoopFacts:
    """The facts of a loop that has not been merged."""
    found, stmts = by_storage(program, loop), walk((loop,))
    totals = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    return LoopFacts(
        len(stmts),
        found,
        frozenset(storage for storage, each in found.items() if any(a.written for a in each)),
        frozenset(name for stmt in stmts for name in atoms_read(stmt)),
        frozenset(s.name for s in stmts if isinstance(s, Load | Compute | Index | Accumulate)),
        frozenset(s.name for s in stmts if isinstance(s, Accumulate)),
        frozenset(stmt.order for stmt in totals),
        any(stmt.position is not None for stmt in totals),
        any(isinstance(stmt, Loop) for stmt in loop.body),
        _moves_evenly(program, loop),
        ignored(loop.body),
    )


def by_storage(program: Program, loop: Loop) -> ByStorage:
    """The accesses of a loop."""
    found: dict[str, list[Access]] = {}
    for access in accesses(program, loop):
        found.setdefault(access.storage, []).append(access)
    return {storage: tuple(each) for storage, each in found.items()}


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
