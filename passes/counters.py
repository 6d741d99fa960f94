"""Ints with which loops count: how far they can get.

See Note [Counters].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from fxc.ir.graph import Node, Operand, Value
from fxc.ir.records import frozen
from fxc.ops.python_numbers import stem

Range = tuple[int, int]  # the least and the largest number

# Note [Counters]
# An int to which a loop adds no more than ``_STEP`` at a time (``count += 1``, under conditions or
# not) takes 2**57 additions to move by ``_FAR``: years. So it is taken to stay within that of where
# it starts, however long the loop is. All loops of a run share these years: what a loop goes on
# counting with (a counter of the loop around, or of one before) gets no more of them.
_STEP = 16
_FAR = 2**61


@frozen
class Moves:
    """Ranges of numbers that a counter starts from, of counters that it goes on with, and of what
    is added.
    """

    fresh: tuple[Range, ...] = ()
    counted: tuple[Range, ...] = ()
    steps: tuple[Range, ...] = ()


def _joined(found: Sequence[Moves | None]) -> Moves | None:
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return Moves(
        _all([each.fresh for each in known]),
        _all([each.counted for each in known]),
        _all([each.steps for each in known]),
    )


def _all(ranges: Sequence[tuple[Range, ...]]) -> tuple[Range, ...]:
    """The hull of all, if there are any."""
    found = [each for some in ranges for each in some]
    return (hull(*found),) if found else ()


def _reach(moves: Moves) -> Range:
    """What counters stay within, see Note [Counters]."""
    low, high = hull((0, 0), *moves.steps)
    fresh = [(x[0] - (_FAR if low else 0), x[1] + (_FAR if high else 0)) for x in moves.fresh]
    return hull(*fresh, *moves.counted)


class Counters:
    """What is known of counters while the regions of a graph are gone through.

    ``makers``: the nodes that scalars come from; ``range_of``: what is known of an int.
    """

    def __init__(
        self, makers: Mapping[Value, Node], range_of: Callable[[Operand], Range | None]
    ) -> None:
        self.makers = makers
        self.range_of = range_of
        self.known: set[Value] = set()  # the counters
        # What comes out of a branch or a finished loop, or is carried by it, may be one of these.
        self.sources: dict[Value, tuple[Operand, ...]] = {}

    def came_from(self, values: Sequence[Value], *each: Sequence[Operand]) -> None:
        self.sources.update(zip(values, zip(*each, strict=True), strict=True))

    def forget(self, loop: Node) -> None:
        """What an earlier pass has found of a loop."""
        for values in (loop.outputs, *(region.params for region in loop.regions)):
            for value in values:
                self.sources.pop(value, None)
                self.known.discard(value)

    def leave(self, loop: Node, params: Sequence[Value]) -> None:
        """A loop is done, ``params`` are what it carries."""
        for output, param in zip(loop.outputs, params, strict=True):
            if param in self.known:
                self.known.add(output)
        sources = list(zip(loop.arg("init"), loop.arg("body").results, strict=False))
        for values in (loop.outputs, *(region.params for region in loop.regions)):
            if sources:
                self.sources.update(zip(values[-len(sources) :], sources, strict=True))

    def find(
        self, loop: Node, params: Sequence[Value], places: Collection[int]
    ) -> dict[int, Range]:
        """What the counters among these ``params`` stay within."""
        body = loop.arg("body")
        theirs = body.params[-len(params) :] if params else ()
        group = set(places)
        while group:
            names = {value for place in group for value in (params[place], theirs[place])}
            moves = {
                place: _joined(
                    [
                        self.moves(loop.arg("init")[place], set(), {}),
                        self.moves(body.results[place], names, {}),
                    ]
                )
                for place in group
            }
            lost = {place for place, found in moves.items() if found is None}
            if not lost:
                break
            group -= lost
        if not group:
            return {}
        self.known |= names
        every = _joined(list(moves.values()))
        assert every is not None
        return dict.fromkeys(group, _reach(every))

    def moves(self, x: Operand, names: set[Value], seen: dict[Value, Moves | None]) -> Moves | None:
        """Where an int comes from, if that is from ``names``, other counters and numbers that are
        not large, by small steps.
        """
        found = self.range_of(x)
        if isinstance(x, Value):
            if x in names:
                return Moves()
            if x in self.known:
                return Moves(counted=(found,)) if found is not None else None
            if x not in seen:
                seen[x] = Moves()  # what comes from itself comes from nowhere else
                seen[x] = self.made_of(x, names, seen)
            if seen[x] is not None:
                return seen[x]
        return Moves((found,)) if found is not None and is_within(found, (-_FAR, _FAR)) else None

    def made_of(self, x: Value, names: set[Value], seen: dict[Value, Moves | None]) -> Moves | None:
        """``moves`` of the result of an operator, a branch or a loop."""
        if x in self.sources:
            return _joined([self.moves(each, names, seen) for each in self.sources[x]])
        node = self.makers.get(x)
        if node is None:
            return None
        match stem(node.op):
            case "maximum" | "minimum":
                return _joined([self.moves(each, names, seen) for each in node.args])
            case "add" | "subtract" as name:
                left, right = node.args
                turned = [(right, left)] if name == "add" else []
                for base, step in ((left, right), *turned):
                    by = self.range_of(step)
                    if by is not None and is_within(by, (-_STEP, _STEP)):
                        by = by if name == "add" else (-by[1], -by[0])
                        return _joined([self.moves(base, names, seen), Moves(steps=(by,))])
        return None


def is_within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def hull(*ranges: Range) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)
