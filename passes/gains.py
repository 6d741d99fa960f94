"""How much loops of a known number of iterations add to the numbers that they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fxc.ir.graph import Node, Operand, Value
from fxc.ops.python_numbers import stem

from .counters import Range, hull


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
        if end == start:
            return 0, 0
        node = self.makers.get(end) if isinstance(end, Value) else None
        if node is None:
            return None
        assert isinstance(end, Value)
        match stem(node.op):
            case "add":
                x, y = node.args
                return self.added(start, x, y, 1) or self.added(start, y, x, 1)
            case "subtract":
                x, y = node.args
                return self.added(start, x, y, -1)
            case "cond":
                place = node.outputs.index(end)
                arms = [self.between(start, r.results[place]) for r in node.regions]
                known = [each for each in arms if each is not None]
                return hull(*known) if len(known) == len(arms) else None
            case "fori_loop" if end in self.loops:
                given, gain = self.loops[end]
                before = self.between(start, given)
                return None if before is None else (before[0] + gain[0], before[1] + gain[1])
        return None

    def added(self, start: Value, base: Operand, step: Operand, sign: int) -> Range | None:
        before, by = self.between(start, base), self.range_of(step)
        if before is None or by is None:
            return None
        ends = sign * by[0], sign * by[1]
        return before[0] + min(ends), before[1] + max(ends)
