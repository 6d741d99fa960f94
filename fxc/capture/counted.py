"""What a loop can run over without Python: ranges, arrays, ``enumerate`` and ``zip`` of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fxc.ir.symbols import Dim, floordiv, guard, minimum

from .operands import Traced, TracedValue, settled
from .session import current, refuse
from .traced_array import TracedArray
from .traced_int import TracedInt, int_dim, wrap_dim

Item = Callable[[Any], Any]


class Counted:
    """``count`` items; ``item(k)`` gives the one at ``k``, an int, traced or not.

    Iterated by Python it is as long as it is in this call. ``once`` says that it stands for an
    iterator, whose items are gone afterwards.
    """

    def __init__(self, count: Dim, item: Item, *, once: bool = False) -> None:
        self.count = count
        self.item = item
        self.once = once
        self._used = False

    def taken(self) -> Counted:
        """This, to be run over now."""
        if self._used:
            raise refuse("running over one iterator twice cannot be captured; make it a list")
        self._used = self.once
        return self

    def __iter__(self) -> Iterator[Any]:
        self.taken()
        return (self.item(k) for k in range(int(wrap_dim(self.count))))

    def __next__(self) -> Any:
        if not self.once:
            raise TypeError("'range' object is not an iterator")
        raise refuse("next() of an iterator over an array cannot be captured; use a loop")

    def __len__(self) -> int:
        return int(wrap_dim(self.count))


class Bounded:
    """A range whose bounds follow from elements of arrays."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low = low
        self.high = high

    def __iter__(self) -> Iterator[Any]:
        return iter(range(self.low, self.high))


def range_of(*args: Any) -> Any:
    """``range(…)``."""
    args = tuple(arg._plain() if isinstance(arg, Traced) else arg for arg in args)
    if not any(isinstance(arg, TracedInt | TracedValue) for arg in args):
        return range(*args)
    low, high, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    for arg in (low, high, step):
        if not isinstance(arg, int | np.integer | TracedValue):
            raise TypeError(f"{type(arg).__name__!r} object cannot be interpreted as an integer")
    if type(step) is not int:
        return range(int(low), int(high), int(step))
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    dims = [int_dim(bound) for bound in (low, high)]
    if None in dims:
        return Bounded(low, high) if step == 1 else range(int(low), int(high), step)
    first, last = dims
    assert first is not None
    assert last is not None
    span = last - first if step > 0 else first - last
    if not current().varies(span) and not guard(span, ">", 0):
        return range(0)
    count = floordiv(span + (abs(step) - 1), abs(step))
    return Counted(
        count,
        lambda k: wrap_dim(first + k * step) if type(k) is int else wrap_dim(first) + k * step,
    )


def counted(x: Any) -> Any:
    """``x`` as something that is counted; None for what only Python can run over."""
    x = settled(x)
    if type(x) is Counted or type(x) is Bounded:
        return x
    if type(x) is range:
        return Counted(len(x), lambda k: x.start + k * x.step)
    if isinstance(x, TracedArray):
        if not x.ndim:
            raise TypeError("iteration over a 0-d array")
        return Counted(x._type.shape[0], lambda k: x[k])
    return None


def enumerated(x: Any, start: Any = 0) -> Any:
    """``enumerate(x, start)``."""
    found = counted(x)
    if type(found) is not Counted:
        return enumerate(x, start)
    return Counted(found.count, lambda k: (k + start, found.item(k)), once=True)


def zipped(*parts: Any, strict: bool = False) -> Any:
    """``zip(*parts)``."""
    found: list[Any] = [counted(part) for part in parts]
    if not found or strict or any(type(part) is not Counted for part in found):
        return zip(*parts, strict=strict)
    count = found[0].count
    for part in found[1:]:
        if part.count != count:
            count = minimum(count, part.count)
    return Counted(count, lambda k: tuple(part.item(k) for part in found), once=True)


def backwards(x: Any) -> Any:
    """``reversed(x)``."""
    found = counted(x)
    if type(found) is not Counted or isinstance(x, TracedArray):
        return reversed(x)
    last = found.count - 1
    return Counted(found.count, lambda k: found.item(wrap_dim(last) - k), once=True)
