"""One array that several overlapping arrays are views of, found from where they lie in memory.

The array, called their base, has one axis for each of a few strides (its levels) of which each
divides the one before: with strides 80 and 8 bytes it is a matrix of ten columns. Each of the
arrays is then a slice of it with its axes put in order:

    >>> x = np.arange(8.0)
    >>> base = common_base([x[:6], x[7:1:-1]])
    >>> base.shape, base.strides
    ((8,), (8,))
    >>> for steps in base.views:
    ...     print(*[step.args[0][0] for step in steps])
    0:6:1
    7:1:-1
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise, product
from operator import add, mul
from typing import Any

import numpy as np

from fxc.ir.graph import SliceSpec
from fxc.ir.objects import address_of, is_writeable
from fxc.ir.records import computed_once, frozen
from fxc.ir.signature import ViewStep

_MOST_STRIDES = 8  # of which every subset is tried as levels


@frozen
class CommonBase:
    """The layout of a base, and how it is made from arrays that lie as those it was found for.

    ``offsets`` are the distances in bytes from the first of the arrays to each of them, ``start``
    that to the base. ``views`` are the steps from the base to each of the arrays. A base that
    ``overhangs`` begins before or ends behind the arrays, within the memory of their owner.
    """

    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    offsets: tuple[int, ...]
    views: tuple[tuple[ViewStep, ...], ...]
    overhangs: bool

    def over(self, *arrays: np.ndarray) -> np.ndarray | None:
        """The base of these arrays, without a copy; None if they do not lie so.

        It does not keep their memory alive.
        """
        if offsets_of(arrays) != self.offsets:
            return None
        address = address_of(arrays[0]) + self.start
        if self.overhangs:
            low, high = _owned(arrays[0])
            if not low <= address <= address + self.extent <= high:
                return None
        memory: Any = self._bytes.from_address(address)
        return np.ndarray(self.shape, self.dtype, memory, 0, self.strides)

    @property
    def extent(self) -> int:
        """The number of bytes from the first element to behind the last."""
        steps = zip(self.shape, self.strides, strict=True)
        return self.dtype.itemsize + sum((n - 1) * step for n, step in steps)

    @computed_once
    def _bytes(self) -> type[ctypes.Array[ctypes.c_char]]:
        return ctypes.c_char * self.extent


class Offsets:
    """How arrays lie to each other."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self.offsets = offsets_of(arrays)

    def hold(self, *arrays: np.ndarray) -> bool:
        """Whether these lie so, too."""
        return offsets_of(arrays) == self.offsets


def offsets_of(arrays: Sequence[np.ndarray]) -> tuple[int, ...]:
    """The distances in bytes from the first of the arrays to each."""
    addresses = list(map(address_of, arrays))
    return tuple([address - addresses[0] for address in addresses])


def _owned(array: np.ndarray) -> tuple[int, int]:
    """Begin and end of the memory that is known to be there: that of the last array's base."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)


# ------------------------------------------------------------------ finding it

# From here on places and strides are counted in units: the largest that divides all of them.


@frozen
class _Axis:
    """A walk of ``size`` elements; ``parts`` are the axes of the array that it stands for.

    The outer part of an axis that is walked in two has none.
    """

    size: int
    stride: int
    parts: tuple[int, ...]

    @property
    def span(self) -> int:
        return (self.size - 1) * abs(self.stride)


@frozen
class _Walk:
    """An array as its lowest element and the axes along which it moves, longest stride first."""

    array: np.ndarray
    low: int
    axes: tuple[_Axis, ...]

    @property
    def high(self) -> int:
        return self.low + sum(axis.span for axis in self.axes)


Levels = tuple[int, ...]  # strides of a base: each divides the one before, the last is 1


def common_base(arrays: Sequence[np.ndarray]) -> CommonBase | None:
    """The base of some overlapping arrays of one dtype; None if there is none of this kind."""
    dtype = arrays[0].dtype
    if any(array.dtype != dtype or _repeats_writeably(array) for array in arrays):
        return None
    offsets = offsets_of(arrays)
    strides = {abs(step) for array in arrays for _, _, step in _moving(array)}
    unit = math.gcd(*offsets, *strides) or dtype.itemsize
    if unit < dtype.itemsize:
        return None
    walks = [_walk(array, at // unit, unit) for array, at in zip(arrays, offsets, strict=True)]
    low, high = min(walk.low for walk in walks), max(walk.high for walk in walks)
    tries = list(_levels({step // unit for step in strides}))
    for may_split, levels in product((False, True), tries):
        fitted = _fit(walks, levels, may_split)
        if fitted is None:
            continue
        first, shape, views = fitted
        last = first + sum((n - 1) * step for n, step in zip(shape, levels, strict=True))
        base = CommonBase(
            dtype,
            shape,
            tuple(step * unit for step in levels),
            first * unit,
            offsets,
            views,
            overhangs=first < low or last > high,
        )
        if base.over(*arrays) is not None:
            return base
    return None


def _moving(array: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Number, size and stride of each axis along which the address changes."""
    for axis, (size, step) in enumerate(zip(array.shape, array.strides, strict=True)):
        if size > 1 and step:
            yield axis, size, step


def _repeats_writeably(array: np.ndarray) -> bool:
    """Whether an axis stands still although the array is writeable, which no view step gives."""
    steps = zip(array.shape, array.strides, strict=True)
    return is_writeable(array) and any(size > 1 and not step for size, step in steps)


def _walk(array: np.ndarray, start: int, unit: int) -> _Walk:
    axes = [_Axis(size, step // unit, (axis,)) for axis, size, step in _moving(array)]
    low = start + sum((axis.size - 1) * min(axis.stride, 0) for axis in axes)
    return _Walk(array, low, tuple(sorted(axes, key=lambda axis: -abs(axis.stride))))


def _levels(strides: set[int]) -> Iterator[Levels]:
    """Every choice of the strides as levels, the longest choices first."""
    longer = sorted(strides - {1}, reverse=True)
    most = len(longer) if len(longer) <= _MOST_STRIDES else 0
    for count in range(most, -1, -1):
        for chosen in combinations(longer, count):
            levels = (*chosen, 1)
            if all(outer % inner == 0 for outer, inner in pairwise(levels)):
                yield levels


_Fitted = tuple[int, tuple[int, ...], tuple[tuple[ViewStep, ...], ...]]


def _fit(walks: Sequence[_Walk], levels: Levels, may_split: bool) -> _Fitted | None:
    """First element and shape of a base with these levels, and the views of it."""
    moves: list[dict[int, _Axis]] = []
    for walk in walks:
        found = _moves(walk.axes, levels, may_split)
        if found is None:
            return None
        moves.append(found)
    rest = [walk.low for walk in walks]
    places: list[list[int]] = [[] for _ in walks]  # of the lowest element on each level
    shape: list[int] = []
    for level in reversed(range(len(levels))):
        spans = [move[level].span // levels[level] if level in move else 0 for move in moves]
        radix = levels[level - 1] // levels[level] if level else None
        origin = _origin(rest, spans, radix)
        if origin is None:
            return None
        at = [(place - origin) % radix if radix else place - origin for place in rest]
        rest = [(r - a - origin) // radix if radix else 0 for r, a in zip(rest, at, strict=True)]
        shape.insert(0, max(map(add, at, spans)) + 1)
        for place, where in zip(places, at, strict=True):
            place.insert(0, where)
    first = walks[0].low - sum(map(mul, places[0], levels))
    views = map(partial(_view, levels), walks, moves, places)
    return first, tuple(shape), tuple(views)


def _moves(axes: Sequence[_Axis], levels: Levels, may_split: bool) -> dict[int, _Axis] | None:
    """The one axis that moves on each level; several that together are like one count as one."""
    moving: dict[int, list[_Axis]] = {}
    for axis in axes:
        level = next(i for i, step in enumerate(levels) if axis.stride % step == 0)
        moving.setdefault(level, []).append(axis)
    found: dict[int, _Axis] = {}
    for level in reversed(range(len(levels))):
        if level not in moving:
            continue
        axis = moving[level][0]
        for inner in moving[level][1:]:
            if axis.stride != inner.stride * inner.size:
                return None
            axis = _Axis(axis.size * inner.size, inner.stride, axis.parts + inner.parts)
        if level and axis.span >= levels[level - 1]:
            halves = _split(axis, levels[level - 1]) if may_split else None
            if halves is None:
                return None
            outer, axis = halves
            moving.setdefault(level - 1, []).append(outer)
        found[level] = axis
    return found


def _split(axis: _Axis, stride: int) -> tuple[_Axis, _Axis] | None:
    """A walk through whole rows, which are ``stride`` apart: over the rows, and within one."""
    size, rest = divmod(stride, abs(axis.stride))
    if rest or axis.size % size:
        return None
    over = stride if axis.stride > 0 else -stride
    return _Axis(axis.size // size, over, ()), _Axis(size, axis.stride, axis.parts)


def _origin(starts: Sequence[int], spans: Sequence[int], radix: int | None) -> int | None:
    """Where a level begins, so that no walk runs from its end on to its start again."""
    if radix is None:
        return min(starts)
    for origin in starts:
        walks = zip(starts, spans, strict=True)
        if all((start - origin) % radix + span < radix for start, span in walks):
            return origin
    return None


def _view(
    levels: Levels, walk: _Walk, moves: Mapping[int, _Axis], places: Sequence[int]
) -> tuple[ViewStep, ...]:
    """The steps from the base to an array."""
    array = walk.array
    steps = [
        ViewStep("select", (i, places[i])) for i in reversed(range(len(levels))) if i not in moves
    ]
    axes = [moves[level] for level in sorted(moves)]
    if axes:
        specs = [_spec(places[level], moves[level], levels[level]) for level in sorted(moves)]
        steps.append(ViewStep("slice", (tuple(specs),)))
    parts = [part for axis in axes for part in axis.parts]
    shape = tuple(array.shape[part] for part in parts)
    if shape != tuple(axis.size for axis in axes):
        steps.append(ViewStep("reshape", (shape,)))
    order = tuple(parts.index(part) for part in sorted(parts))
    if order != tuple(range(len(parts))):
        steps.append(ViewStep("transpose", (order,)))
    still = tuple(axis for axis in range(array.ndim) if axis not in parts)
    if still:
        steps.append(ViewStep("expand_dims", (still,)))
    if not is_writeable(array) or any(array.shape[axis] != 1 for axis in still):
        steps.append(ViewStep("broadcast_to", (array.shape,)))
    return tuple(steps)


def _spec(low: int, axis: _Axis, unit: int) -> SliceSpec:
    step, high = axis.stride // unit, low + axis.span // unit
    return SliceSpec(low, high + 1, step) if step > 0 else SliceSpec(high, low - 1, step)
