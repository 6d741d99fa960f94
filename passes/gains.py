"""How much loops of a known number of iterations add to the numbers that they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fxc.ir.graph import Node, Operand, Value
from fxc.ops.python_numbers import stem

from .counters import Range, hull

MOST_DEEP = 100  # additions, one to the result of the other, that are followed back


class Gains:
    """What is known while the regions of a graph are gone through.

    ``makers``: the nodes that scalars come from; ``range_of``: what is known of an int.
    """

    def __init__(
        self, makers: Mapping[Value, Node], range_of: Callable[[Operand], Range | None]
    ) -> None:
        self.makers = makers
        self.range_of = range_of
        self.loops: dict[Value, tuple[Operand, Range]] = {}  # of a result: what it was, and gained

    def find(self, loop: Node, trips: int, params: Sequence[Value]) -> dict[int, Range]:
        """By place, what ``fori_loop`` has added before the last iteration, or less; what it adds
        to its results becomes known.
        """
        found: dict[int, Range] = {}
        before = loop.arg("init")
        for place, (param, result) in enumerate(
            zip(params, loop.arg("body").results, strict=False)
        ):
            gain = self.between(param, result) if self.range_of(param) is not None else None
            if gain is not None:
                least, most = min(gain[0], 0), max(gain[1], 0)
                self.loops[loop.outputs[place]] = before[place], (trips * least, trips * most)
                trips_before = max(0, trips - 1)
                found[place] = trips_before * least, trips_before * most
        return found

    def between(self, start: Value, end: Operand) -> Range | None:
        """The least and the most that was added to ``start`` where that has given ``end``."""
        return _Sum(self, start).gain(end)


class _Sum:
    """What was added to one value; each that comes of it is looked at once."""

    def __init__(self, gains: Gains, start: Value) -> None:
        self.gains = gains
        self.found: dict[Operand, Range | None] = {start: (0, 0)}
        self.depth = 0

    def gain(self, end: Operand) -> Range | None:
        if not isinstance(end, Value) or end not in self.gains.makers:
            return self.found.get(end)
        if end not in self.found:
            self.depth += 1
            is_near = self.depth <= MOST_DEEP
            self.found[end] = self.made_by(self.gains.makers[end], end) if is_near else None
            self.depth -= 1
        return self.found[end]

    def made_by(self, node: Node, end: Value) -> Range | None:
        match stem(node.op):
            case "add":
                x, y = node.args
                return self.added(x, y, 1) or self.added(y, x, 1)
            case "subtract":
                x, y = node.args
                return self.added(x, y, -1)
            case "cond":
                place = node.outputs.index(end)
                arms = [self.gain(region.results[place]) for region in node.regions]
                known = [each for each in arms if each is not None]
                return hull(*known) if len(known) == len(arms) else None
            case "fori_loop" if end in self.gains.loops:
                given, gain = self.gains.loops[end]
                before = self.gain(given)
                return None if before is None else (before[0] + gain[0], before[1] + gain[1])
        return None

    def added(self, base: Operand, step: Operand, sign: int) -> Range | None:
        before, by = self.gain(base), self.gains.range_of(step)
        if before is None or by is None:
            return None
        ends = sign * by[0], sign * by[1]
        return before[0] + min(ends), before[1] + max(ends)
