"""Boxes in layers: each below those that it reads, in an order with few crossings.

This is Sugiyama's method: layers by the longest way from above, long edges as chains of points,
orders by barycentres, places by least squares.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import networkx

from fxc.ir.records import frozen, mutable

Key = str
Point = tuple[float, float]
Size = tuple[float, float]

_GAP, _LAYER_GAP = 14.0, 30.0
_POINT_GAP = 8.0  # beside an edge that passes
_SWEEPS = 8


@frozen
class Arranged:
    """Where the left upper corner of each box is, the points that an edge passes, and the size."""

    corners: Mapping[Key, Point]
    routes: Mapping[tuple[Key, Key], tuple[Point, ...]]
    size: Size


@mutable
class _Spot:
    """A box or a point that an edge passes, in its layer."""

    key: Key
    width: float
    height: float
    x: float = 0.0  # of its middle


def arranged(sizes: Mapping[Key, Size], edges: Iterable[tuple[Key, Key]]) -> Arranged:
    """Places for boxes of these sizes, each below those that an edge leads from.

    Requires: no way along the edges leads back.
    """
    return _Layers(sizes, list(dict.fromkeys(edges))).arranged()


class _Layers:
    def __init__(self, sizes: Mapping[Key, Size], edges: Sequence[tuple[Key, Key]]) -> None:
        self._sizes, self._edges = sizes, edges
        self._spots = {key: _Spot(key, *size) for key, size in sizes.items()}
        self._above: dict[Key, list[Key]] = {key: [] for key in sizes}
        self._below: dict[Key, list[Key]] = {key: [] for key in sizes}
        self._passed: dict[tuple[Key, Key], tuple[Key, ...]] = {}
        level = self._levels()
        rows: list[list[Key]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
        for key in sizes:
            rows[level[key]].append(key)
        self._rows = rows
        self._connect(level)

    def _levels(self) -> dict[Key, int]:
        """The layer of each box; what nothing leads to stands just above its first reader."""
        graph = networkx.DiGraph(self._edges)
        graph.add_nodes_from(self._sizes)
        level = {
            key: number
            for number, keys in enumerate(networkx.topological_generations(graph))
            for key in keys
        }
        for key in self._sizes:
            readers = list(graph.successors(key))
            if readers and not graph.in_degree(key):
                level[key] = min(level[each] for each in readers) - 1
        return level

    def _connect(self, level: Mapping[Key, int]) -> None:
        """Lead edges from layer to layer. Those from one box share the points that they pass."""
        for source, target in self._edges:
            before, passed = source, list[Key]()
            for number in range(level[source] + 1, level[target]):
                key = f"{source}\0{number}"
                if key not in self._spots:
                    self._spots[key] = _Spot(key, 0.0, 0.0)
                    self._above[key], self._below[key] = [], []
                    self._rows[number].append(key)
                    self._join(before, key)
                passed.append(key)
                before = key
            self._join(before, target)
            self._passed[source, target] = tuple(passed)

    def _join(self, upper: Key, lower: Key) -> None:
        self._below[upper].append(lower)
        self._above[lower].append(upper)

    def arranged(self) -> Arranged:
        for sweep in range(_SWEEPS):
            self._sort(self._above, self._rows)
            self._sort(self._below, self._rows[::-1])
            if sweep == 0:
                self._spread()
        self._spread()
        for _ in range(_SWEEPS):
            self._pull(self._below, self._rows[::-1])
            self._pull(self._above, self._rows)
        return self._result()

    def _sort(self, near: Mapping[Key, list[Key]], rows: Sequence[list[Key]]) -> None:
        """Order each layer by where the neighbours of its boxes stand in theirs."""
        place = {key: number for row in self._rows for number, key in enumerate(row)}
        for row in rows:
            mean = {
                key: sum(place[each] for each in near[key]) / len(near[key])
                if near[key]
                else float(place[key])
                for key in row
            }
            row.sort(key=mean.__getitem__)
            place.update((key, number) for number, key in enumerate(row))

    def _spread(self) -> None:
        for row in self._rows:
            apart = self._apart(row)
            width = sum(apart)
            x = -width / 2
            for key, step in zip(row, [0.0, *apart], strict=True):
                x += step
                self._spots[key].x = x

    def _apart(self, row: Sequence[Key]) -> list[float]:
        """How far the middles of two boxes beside each other are apart at least."""
        spots = [self._spots[key] for key in row]
        return [
            (left.width + right.width) / 2 + (_GAP if left.width and right.width else _POINT_GAP)
            for left, right in itertools.pairwise(spots)
        ]

    def _pull(self, near: Mapping[Key, list[Key]], rows: Sequence[list[Key]]) -> None:
        """Move each box as near to the middle of its neighbours as the others beside it let it."""
        for row in rows:
            wanted = []
            for key in row:
                found = [self._spots[each].x for each in near[key]]
                wanted.append(sum(found) / len(found) if found else self._spots[key].x)
            for key, x in zip(row, _separated(wanted, self._apart(row)), strict=True):
                self._spots[key].x = x

    def _result(self) -> Arranged:
        left = min((s.x - s.width / 2 for s in self._spots.values()), default=0.0)
        right = max((s.x + s.width / 2 for s in self._spots.values()), default=0.0)
        corners: dict[Key, Point] = {}
        tops: dict[Key, tuple[float, float]] = {}
        y = 0.0
        for row in self._rows:
            height = max((self._spots[key].height for key in row), default=0.0)
            for key in row:
                spot = self._spots[key]
                top = y + (height - spot.height) / 2 if spot.width else y
                tops[key] = (y, y + height)
                corners[key] = (spot.x - spot.width / 2 - left, top)
            y += height + _LAYER_GAP
        routes = {
            edge: tuple((self._spots[key].x - left, end) for key in passed for end in tops[key])
            for edge, passed in self._passed.items()
        }
        boxes = {key: corners[key] for key in self._sizes}
        return Arranged(boxes, routes, (right - left, max(y - _LAYER_GAP, 0.0)))


def _separated(wanted: Sequence[float], apart: Sequence[float]) -> list[float]:
    """Places in order, so far apart at least, with the least squares of distances to those wanted.

    Neighbours that would be too near are pooled (pool adjacent violators).
    """
    offsets = [0.0]
    for step in apart:
        offsets.append(offsets[-1] + step)
    pools: list[tuple[float, int]] = []  # sum of what is wanted less the offset, and how many
    for x, offset in zip(wanted, offsets, strict=False):
        total, count = x - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            more, others = pools.pop()
            total, count = total + more, count + others
        pools.append((total, count))
    means = [total / count for total, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]
