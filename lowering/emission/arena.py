"""Where the temporaries of a program lie in the memory that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim

from ..nests.accesses import accesses, allocated
from ..nests.bounds import Range, counter_ranges, most_elements
from ..nests.program import Program

ALIGNMENT = 64


@frozen
class Arena:
    """Where temporaries lie in the array that they share, and from which statement of the program
    to which one.
    """

    offsets: dict[str, Dim]
    sizes: dict[str, Dim]
    size: Dim
    lives: dict[str, tuple[int, int]]

    def sharing(self) -> dict[str, frozenset[str]]:
        """The storages that take memory which each one takes, too (one after the other)."""
        if isinstance(self.size, int):
            spans = [
                (name, hint(offset), hint(offset) + hint(self.sizes[name]))
                for name, offset in self.offsets.items()
            ]
            return {
                name: frozenset(other for other, at, end in spans if at < stop and start < end)
                for name, start, stop in spans
            }
        places: dict[Dim, list[str]] = {}
        for name, offset in self.offsets.items():
            places.setdefault(offset, []).append(name)
        return {name: frozenset(found) for found in places.values() for name in found}


def room_of_copy(program: Program, name: str, ranges: Mapping[str, Range]) -> Dim:
    """The room that a temporary takes, or each copy of it, in the largest size that it has."""
    buffer = program.buffers[name]
    size = buffer.dtype.itemsize * most_elements(buffer.shape, ranges)
    if isinstance(size, int):
        return -(-size // ALIGNMENT) * ALIGNMENT
    return (size + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT


def plan_arena(program: Program, apart: Sequence[str]) -> Arena:
    """Offsets of the other temporaries; those that do not live at the same time share memory."""
    lives: dict[str, tuple[int, int]] = {}
    apart = [*apart, *allocated(program.body)]
    for place, stmt in enumerate(program.body):
        for access in accesses(program, stmt):
            storage = access.storage
            if storage not in apart and program.buffers[storage].role == "temp":
                first, _ = lives.get(storage, (place, place))
                lives[storage] = (first, place)
    ranges = counter_ranges(program)
    sizes = {
        name: program.buffers[name].copies * room_of_copy(program, name, ranges) for name in lives
    }
    if all(isinstance(size, int) for size in sizes.values()):
        offsets = _packed(lives, sizes)
        end = max((hint(offsets[n]) + hint(sizes[n]) for n in offsets), default=0)
        return Arena(offsets, sizes, end, lives)
    places: dict[str, Dim] = {}
    total: Dim = 0
    for names in _shared(lives, sizes):
        places |= dict.fromkeys(names, total)
        total = total + sizes[names[0]]
    return Arena(places, sizes, total, lives)


def _meet(left: tuple[int, int], right: tuple[int, int]) -> bool:
    return left[0] <= right[1] and right[0] <= left[1]


def _packed(lives: Mapping[str, tuple[int, int]], sizes: Mapping[str, Dim]) -> dict[str, Dim]:
    """Offsets of temporaries of known size: the largest first, each in the first gap that fits."""
    offsets: dict[str, Dim] = {}
    for name in sorted(lives, key=lambda n: -hint(sizes[n])):
        taken = sorted(
            (hint(offsets[other]), hint(offsets[other]) + hint(sizes[other]))
            for other in offsets
            if _meet(lives[other], lives[name])
        )
        at = 0
        for start, stop in taken:
            if at + hint(sizes[name]) <= start:
                break
            at = max(at, stop)
        offsets[name] = at
    return offsets


def _shared(
    lives: Mapping[str, tuple[int, int]], sizes: Mapping[str, Dim]
) -> list[tuple[str, ...]]:
    """The temporaries that have one place, if not all sizes are known: those of no larger size than
    the first of them, as far as that is certain.
    """
    places: list[tuple[str, ...]] = []
    for name in sorted(lives, key=lambda n: -hint(sizes[n])):
        for number, place in enumerate(places):
            less = sizes[place[0]] - sizes[name]
            if (isinstance(less, int) and less >= 0) and not any(
                _meet(lives[other], lives[name]) for other in place
            ):
                places[number] = (*place, name)
                break
        else:
            places.append((name,))
    return places
