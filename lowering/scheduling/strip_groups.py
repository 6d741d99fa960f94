"""Nests that can run together, strip by strip: by how many rows each has to follow the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fxc.ir.later import import_later

from ..nests.accesses import Access, accesses, conflict
from ..nests.buffers import Idx
from ..nests.program import Program
from ..nests.statements import Loop, Stmt

if TYPE_CHECKING:
    from .row_blocks import ByStorage

rows_behind = import_later("fxc.lowering.scheduling.row_blocks", "rows_behind")


class StripGroup:
    """Nests that can run together; ``behind`` tells by how many rows each follows the first."""

    def __init__(self, program: Program, repeated: bool) -> None:
        self.program = program
        self.repeated = repeated
        self.stmts: list[Stmt] = []  # the nests, and what stands between them
        self.loops: list[Loop] = []
        self.behind: list[int] = []
        self.accesses: list[ByStorage] = []

    def takes(self, loop: Loop) -> bool:
        """Take one more nest, if it can follow those that are there."""
        found = by_storage(self.program, loop)
        behind, furthest = 0, self.program.target.costs.strips_behind
        for other, its, shift in zip(self.loops, self.accesses, self.behind, strict=True):
            for storage in its.keys() & found.keys():
                places = its[storage], found[storage]
                distance = _distance(other.var, places[0], loop.var, places[1], -furthest)
                if distance is None:
                    return False
                behind = max(behind, shift + distance)
        if behind > furthest:
            return False
        self.stmts.append(loop)
        self.loops.append(loop)
        self.behind.append(behind)
        self.accesses.append(found)
        return True

    def connected(self) -> list[StripGroup]:
        """The group in parts that share no data, in the order of their first nests."""
        parts: list[tuple[set[int], set[str]]] = []
        for number, each in enumerate(self.accesses):
            numbers, storages = {number}, set(each)
            apart = [part for part in parts if part[1].isdisjoint(storages)]
            for part in parts:
                if part not in apart:
                    numbers |= part[0]
                    storages |= part[1]
            parts = sorted([*apart, (numbers, storages)], key=lambda part: min(part[0]))
        return [self.part(sorted(numbers)) for numbers, _ in parts]

    def part(self, numbers: Sequence[int]) -> StripGroup:
        """Some of the nests as a group, in which the first one is behind nothing."""
        made = StripGroup(self.program, self.repeated)
        made.loops = [self.loops[n] for n in numbers]
        least = min(self.behind[n] for n in numbers)
        made.behind = [self.behind[n] - least for n in numbers]
        made.accesses = [self.accesses[n] for n in numbers]
        return made

    def lets_pass(self, stmt: Stmt) -> bool:
        """Take a statement that may as well be in front of the nests."""
        if any(conflict(self.program, loop, stmt) for loop in self.loops):
            return False
        self.stmts.append(stmt)
        return True

    def first(self, storage: str) -> Loop:
        """The first nest that reads or writes a storage."""
        found = zip(self.loops, self.accesses, strict=True)
        return next(loop for loop, each in found if storage in each)

    def places(self, storage: str) -> list[tuple[Idx, str, int]]:
        """Where a storage is read or written by its own buffer: at which index, in which nest, by
        the loop's counter, and how far that is behind.
        """
        return [
            (a.index, loop.var, late)
            for loop, late, each in zip(self.loops, self.behind, self.accesses, strict=True)
            for a in each.get(storage, ())
            if a.buffer == storage and a.index is not None
        ]

    @property
    def storages(self) -> set[str]:
        """What is read or written."""
        return set().union(*self.accesses)


def by_storage(program: Program, loop: Loop) -> ByStorage:
    """The accesses of a nest, each once."""
    found: dict[str, list[Access]] = {}
    for access in dict.fromkeys(accesses(program, loop)):
        found.setdefault(access.storage, []).append(access)
    return found


def _distance(
    var: str, first: Sequence[Access], other_var: str, second: Sequence[Access], least: int
) -> int | None:
    """By how many iterations the second nest must be behind the first, at least, so that elements
    which one of them stores are met in the same order; None if there is no such number. The
    accesses are those of one storage; ``least`` is the furthest that one may be ahead.
    """
    for a in first:
        for b in second:
            if not (a.written or b.written):
                continue
            if a.buffer != b.buffer or a.index is None or b.index is None:
                return None
            pairs = list(zip(a.index, b.index, strict=True))
            if any(isinstance(i, int) and isinstance(j, int) and i != j for i, j in pairs):
                continue
            rows = [(rows_behind(i, var), rows_behind(j, other_var)) for i, j in pairs]
            found = [j - i for i, j in rows if i is not None and j is not None]
            if not found:
                return None
            least = max(least, min(found))
    return least
