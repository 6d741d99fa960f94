"""Iterators of Python, NumPy and ``itertools`` that a loop can run over without Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ITERATOR
from fxc.ir.size_functions import minimum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, product
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import same_dim

from ..arrays.traced_array import TracedArray
from ..forms.options import is_open_int
from ..forms.truths import demand
from ..lists.counted_tuples import ZippedRows, tuple_before
from ..numbers.dims import dim_of
from ..numbers.python_functions import call_function
from ..numbers.python_numbers import extremum, scalar_of, to_float, to_int
from ..numbers.traced_int import scalar_of_int, wrap_dim
from ..regions.counted import FEW, Bounded, Counted, Item, counted
from ..regions.needed import StatementDoor
from ..session.locations import user_location
from ..session.refusing import How, Request, Respecialise, refuse
from ..session.session import current
from ..values.operands import array_value, is_scalar, settled, wrap
from .comprehensions import MOST_KNOWN, Filtered
from .itertools_in_python import counting, taken_from

_ENDLESS = 2**62  # items: no loop reaches the last


def enumerated(x: Any, start: Any = 0) -> object:
    """``enumerate(x, start)``."""
    found = counted(x)
    if found is None:
        return enumerate(x, start)
    return _together([found], lambda k: (k + start, found.at(k)), lambda: enumerate(x, start))


def _together(
    parts: Sequence[Counted | Bounded], item: Item, iterator: Callable[[], Iterator[Any]]
) -> Counted | Bounded:
    """As many items as the shortest of some parts has."""
    of = tuple(x for part in parts for x in part.taken().of)
    dims = [part.count for part in parts if type(part) is Counted]
    if len(dims) == len(parts):
        return Counted(reduce(minimum, dims), item, once=True, of=of)
    lengths = [x.length() for x in parts]
    count = lengths[0] if len(parts) == 1 else extremum("minimum", tuple(lengths))
    return Bounded((count,), 0, count, item, of, once=True, iterator=iterator)


def zipped(*parts: object, strict: bool = False) -> Any:
    """``zip(*parts)``."""
    found: list[Any] = [counted(part) for part in parts]
    is_known = found and all(part is not None for part in found)
    if not is_known or (strict and not _are_as_long(*found)):
        return zip(*parts, strict=strict)

    def each(k: object) -> tuple[Any, ...]:
        return tuple(x.at(k) for x in found)

    return _together(found, each, lambda: zip(*parts, strict=False))


def columns(door: StatementDoor, rows: object) -> ZippedRows | None:
    """``zip(*rows)`` of tuples that depend in number on the call; None for others. A column is a
    tuple of as many items.
    """
    found = counted(settled(rows))
    if found is None or (type(found) is Counted and isinstance(found.count, int)):
        return None
    first = found.at(0)
    if type(first) is not tuple:
        return None
    demand(found.length() > 0)  # else there are no columns
    lists = (door.staged(_items_at)(found, place) for place in range(len(first)))
    return ZippedRows([*map(tuple_before, lists)])


def _items_at(rows: Any, place: int) -> list[Any]:
    return [row[place] for row in rows]


def _are_as_long(first: Counted | Bounded, *others: Counted | Bounded) -> bool:
    """Whether there are as many items in each for sure: sizes that are equal are guarded to be,
    lengths that are found at run time are compared there.
    """
    for part in others:
        known = type(part) is Counted and type(first) is Counted
        if not known or current().varies(part.count - first.count):
            demand(part.length() == first.length())
        elif not same_dim(part.count, first.count):
            return False
    return True


def mapped(function: Callable[..., Any], *parts: Any) -> Any:
    """``map(function, *parts)``."""
    found = zipped(*parts)
    is_short = all(type(part) is range and len(part) <= MOST_KNOWN for part in parts)
    if is_short or type(found) not in (Counted, Bounded):
        return map(function, *parts)
    return _together([found], lambda k: function(*found.at(k)), lambda: map(function, *parts))


def filtering(test: Callable[..., Any], x: Any) -> object:
    """``filter(test, x)``."""
    found = counted(x)
    if found is None:
        return filter(test, x)
    return Filtered(_together([found], found.at, lambda: iter(x)), test)


def backwards(x: Any) -> Any:
    """``reversed(x)``."""
    if (isinstance(x, Counted | Bounded) and x.once) or x.__class__ in (set, frozenset):
        raise TypeError(f"{x.__class__.__name__!r} object is not reversible")
    found = counted(x) if not isinstance(x, TracedArray) or x.ndim else None
    if type(found) is Bounded:
        return found.backwards(once=True)
    if type(found) is not Counted:
        return reversed(x)
    last = found.count - 1
    return Counted(found.count, lambda k: found.item(wrap_dim(last) - k), once=True, of=found.of)


def places_of(*sizes: Any) -> Any:
    """``np.ndindex(*sizes)``: the places of an array of this shape, as numbers of the graph."""
    if len(sizes) == 1 and isinstance(sizes[0], tuple):
        (sizes,) = sizes
    dims = [dim_of(size, "a size") for size in sizes]
    if not dims:
        return iter([()])
    if not all(guard(dim, ">=", 0) for dim in dims):
        raise ValueError("negative dimensions are not allowed")
    return Counted(product(dims), lambda k: _place(dims, k), once=True)


def _place(sizes: Sequence[Dim], k: object) -> tuple[Any, ...]:
    """The place of the element of number ``k`` in an array of these sizes in C order."""
    left, found = scalar_of_int(k), []
    for dim in reversed(sizes[1:]):
        size = wrap_dim(dim)
        left, rest = left // size, left % size
        found.append(rest)
    return left, *reversed(found)


def elements_of(array: object) -> Any:
    """``np.ndenumerate(array)``."""
    x = wrap(array_value(array))
    found = places_of(*map(wrap_dim, x._type.shape))
    if type(found) is not Counted:
        return iter([((), x[()])])

    def item(k: object) -> tuple[Any, Any]:
        place = found.item(k)
        return place, x[place]

    return Counted(found.count, item, once=True)


def elements_in_order(x: TracedArray) -> Counted:
    """The elements of an array one after the other, as ``x.flat`` gives them."""
    if is_c_ordered(x._type):
        row = x.reshape(-1)
        return Counted(x._type.size, lambda k: row[k], once=True)
    sizes = x._type.shape
    return Counted(product(sizes), lambda k: x[_place(sizes, k)], once=True)


def pairs(x: Any) -> Any:
    """``itertools.pairwise(x)``."""
    found = counted(x)
    if type(found) is not Counted or (not isinstance(x, TracedArray) and found.once):
        return itertools.pairwise(x)
    if current().varies(found.count) or not guard(found.count, ">", 0):
        return itertools.pairwise(x)
    return Counted(
        found.count - 1, lambda k: (found.item(k), found.item(k + 1)), once=True, of=found.of
    )


def accumulated(door: StatementDoor, x: object) -> object:
    """``itertools.accumulate(x)`` of a list of floats: NumPy adds them up in the same order; None
    for what Python has to run over. (What is stored in an array meanwhile would be read.)
    """
    if isinstance(x, TracedArray) or type(found := counted(x)) is not Counted or found.once:
        return None
    if current().varies(found.count) or not guard(found.count, ">", 0):
        return None
    first, items = found.item(0), door.call(np.array, x)
    if not is_scalar(first) or items.ndim != 1 or items.dtype.kind != "f":
        return None
    sums, is_pythons = door.call(np.cumsum, items), first.__class__ is float
    return Counted(
        found.count, lambda k: to_float(sums[k]) if is_pythons else sums[k], once=True, of=found.of
    )


def products(*parts: Any, repeat: Any = 1) -> Any:
    """``itertools.product(*parts, repeat=repeat)``."""
    found = [known for part in parts if (known := _as_it_is(part)) is not None]
    if not parts or len(found) < len(parts) or type(repeat) is not int or repeat < 1:
        return itertools.product(*parts, repeat=repeat)
    sizes = [x.count for x in found] * repeat
    if all(isinstance(size, int) and size <= FEW for size in sizes):
        return itertools.product(*parts, repeat=repeat)

    def items(k: object) -> tuple[Any, ...]:
        places = _place(sizes, k)
        return tuple(x.item(at) for x, at in zip(found * repeat, places, strict=True))

    return Counted(product(sizes), items, once=True)


def pairs_of_two(x: Any, r: Any) -> Any:
    """``itertools.combinations(x, r)``, of two."""
    found = _as_it_is(x)
    if found is None or r != 2 or (isinstance(found.count, int) and found.count <= FEW):
        return itertools.combinations(x, r)
    size, item = wrap_dim(found.count), found.item
    many = size * (size - 1) // 2

    def pair(k: object) -> tuple[Any, Any]:
        """Counted from the last one: the first item is the last but ``row`` of those that can be,
        behind as many pairs as ``1 + 2 + … + row``.
        """
        left = many - 1 - scalar_of_int(k)
        row = (_root(8 * left + 1) - 1) // 2
        return item(size - 2 - row), item(size - 1 - (left - row * (row + 1) // 2))

    return Counted(dim_of(many), pair, once=True)


def _root(x: object) -> Any:
    """The integer part of the root of an int below 2**52, of which a float's is exact."""
    return (
        math.isqrt(x) if type(x) is int else to_int(scalar_of(call_function(math.sqrt, (x,), {})))
    )


def counts(start: Any = 0, step: Any = 1) -> Any:
    if not (_is_python_int(start) and _is_python_int(step)):
        return itertools.count(start, step)
    session, label = current(), f"count at {user_location()}"
    if session.wants(label):
        return Numbers(session.door.staged(counting)(start), step)
    made = Counted(_ENDLESS, lambda k: start + k * step, once=True)
    made.by_next = Respecialise(Request(label, How.IN_GRAPH))
    return made


class Numbers(Counted):
    """``itertools.count`` whose numbers are taken by ``next``, from a dict that is followed."""

    _held = ("_numbers",)

    def __init__(self, held: dict[str, Any], step: object) -> None:
        super().__init__(_ENDLESS, self._refused, once=True)
        self._numbers, self._step = held, step

    def _refused(self, place: object) -> Any:
        raise refuse(ITERATOR, "a loop over itertools.count of which next() takes numbers, too,")

    def __next__(self) -> Any:
        return current().door.staged(taken_from)(self._numbers, self._step)


def _is_python_int(x: object) -> bool:
    return type(x) is int or is_open_int(x)


def _as_it_is(x: object) -> Counted | None:
    """A range, or the elements that an array has now; None for anything else."""
    if isinstance(x, TracedArray) and x.ndim == 1:
        x = x.copy()
    elif type(x) is not range and (type(x) is not Counted or x.steps is None):
        return None
    found: Counted = counted(x)
    return None if current().varies(found.count) else found
