"""Lists made of lists of counted length: parts, sums and sorted ones; and what is in them.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Value
from fxc.ir.symbols import Dim, counted_in
from fxc.ir.types import ArrayType

from ..numpy_api.creation import is_array
from ..numpy_api.library import lexsort
from ..session import current, refuse
from ..statements.counted import Counted
from ..statements.structured import flag_of, is_number, placeholder, recorded
from .kinds import ItemKind, kind_of_items
from .list_code import number_of, place_of
from .list_room import Room
from .operands import Traced, TracedValue, kind_of, operand, record, wrap
from .python_numbers import to_python
from .sequences import array_of
from .sized_lists import sized
from .tables import Table
from .traced_int import wrap_dim
from .traced_lists import TracedList


def part_of(x: TracedList, key: slice) -> TracedList:
    """``x[key]``."""
    kind, arrays, most = _contents(x, "a slice")
    return made(kind, [wrap(array)[key] for array in arrays], most)


def copied(x: TracedList) -> TracedList:
    """A list with the same items, for a text."""
    kind, arrays = x.arrays()
    if kind.changes:
        raise refuse(
            "the text of a list whose length depends on data, and whose items are dicts, objects "
            "or lists that may change, cannot be captured"
        )
    found = made(kind, [wrap(array)[:] for array in arrays], x._taken_room().most)
    found.of = x.of
    return found


def joined(left: Any, right: Any) -> TracedList:
    """``left + right``, of which one is a list of counted length."""
    sides = [_counted(each, other) for each, other in ((left, right), (right, left))]
    (before, first, some), (other, second, more) = (_contents(side, "'+'") for side in sides)
    kind = _joint_kind(before, other)
    pairs = zip(_filled(kind, before, first), _filled(kind, other, second), strict=True)
    return made(kind, [record("concatenate", each, axis=0) for each in pairs], some + more)


def _joint_kind(left: ItemKind, right: ItemKind) -> ItemKind:
    """What the items of two lists are."""
    if left == right:
        return left

    def found() -> ItemKind | None:
        return kind_of_items([right.item([placeholder(session, x) for x in right.parts])], left)

    session = current()
    kind: ItemKind
    _, kind = recorded(session, found)  # the region is forgotten
    return kind


def _filled(kind: ItemKind, before: ItemKind, arrays: list[Value]) -> list[Value]:
    """What arrays of items hold for items of that kind."""
    (size,), session = kind_of(arrays[0]).shape, current()
    return [
        x._value
        if isinstance(x, TracedValue)
        else session.record("full", (size,), Literal(part.dtype.type(x)), part.dtype, layout=None)
        for x, part in zip(kind.filled(before, arrays), kind.parts, strict=True)
    ]


def in_order(x: TracedList, key: Any, reverse: Any) -> TracedList:
    """``sorted(x, key=key, reverse=reverse)``."""
    kind, arrays, most = _contents(x, "sorted()")
    if type(reverse) is bool and (key is not None or kind.items is not None):
        return made(kind, _at(arrays, _order(_keys(x, kind, key), reverse)), most)
    plain = len(kind.parts) == 1 and kind.is_of_numbers and key is None
    if not plain or type(reverse) is not bool:
        raise x._unclear("sorted() by a key, of tuples, or of numbers of several kinds,")
    return made(kind, [_in_order(wrap(arrays[0]), reverse)], most)


def _in_order(x: Any, reverse: bool) -> Any:
    """An array of numbers in the order that Python sorts them into."""
    if x.dtype.kind in "fc":  # equal ones stay in their order, which zeros show
        current().record("try_demand", np.logical_not(np.isnan(x).any())._value)
    found = np.sort(x[::-1] if reverse else x, kind="stable")
    return found[::-1] if reverse else found


def few_in_order(items: list[Any], keys: list[Any], reverse: bool) -> list[Any] | None:
    """The items that Python knows in the order of their keys, numbers or tuples of them; None for
    other keys.
    """
    found = _columns(keys)
    if found is None:
        return None
    kind, columns = found
    if keys is items and len(columns) == 1 and kind.items is None:
        found = _in_order(columns[0], reverse)
        return [kind.item([operand(found[place])]) for place in range(len(items))]
    places = _places(columns, reverse)
    of_items = _columns(items)
    if of_items is None:
        return [Table(items)[places[place]] for place in range(len(items))]
    kind, columns = of_items
    columns = [column[places] for column in columns]
    rows = ([operand(column[place]) for column in columns] for place in range(len(items)))
    return [kind.item(row) for row in rows]


def _columns(items: list[Any]) -> tuple[ItemKind, list[Any]] | None:
    """Numbers, or tuples of them, as arrays; None for other things."""
    rows = [x if type(x) is tuple else (x,) for x in items]
    if not items or not all(map(is_number, chain(*rows))):
        return None
    if len({len(row) if type(x) is tuple else 0 for x, row in zip(items, rows, strict=True)}) > 1:
        return None
    kind = kind_of_items(items, None)
    kinds = () if kind is None else (kind,) if kind.items is None else kind.items
    if kind is None or any(len(each.parts) > 1 or not each.is_of_numbers for each in kinds):
        return None
    both = zip(zip(*rows, strict=True), kinds, strict=True)
    return kind, [array_of([*column], each.parts[0].dtype) for column, each in both]


def _keys(x: TracedList, kind: ItemKind, key: Any) -> TracedList:
    """What the items are sorted by."""
    session, items = current(), x._counted()
    if key is None:
        objects = kind.of_objects
        if objects is None:
            return x
        key = session.door.in_order_by(objects)
    if type(items) is not Counted:
        raise x._unclear("sorted() by a key, in a loop,")
    # The region is forgotten: it shows what the keys are.
    _, kind = recorded(session, lambda: kind_of_items([session.door.call(key, x.at(0))], None))
    arrays = (
        session.record("empty", (items.count,), part.dtype, layout=None) for part in kind.parts
    )
    staged: Any = _keys_of
    found: TracedList = session.door.staged(staged)(x, key, sized(kind, tuple(arrays)))
    return found


def _keys_of(items: Any, key: Any, found: Any) -> Any:  # staged
    for place, item in enumerate(items):
        found[place] = key(item)
    return found


def _order(x: TracedList, reverse: bool) -> Any:
    """The places of the items in their order, which is that of equal ones."""
    kind, arrays = x.arrays()
    kinds = [kind] if kind.items is None else list(kind.items)
    if kind.of_objects is not None or any(
        len(each.parts) > 1 or not each.is_of_numbers for each in kinds
    ):
        raise x._unclear("sorted() by something else than numbers, or tuples of them,")
    columns = [wrap(array) for array in arrays]
    if any(column.dtype.kind == "c" for column in columns):
        raise x._unclear("sorted() by complex numbers")
    return _places(columns, reverse)


def _places(columns: list[Any], reverse: bool) -> Any:
    """The same of columns of numbers."""
    for column in columns:
        if column.dtype.kind == "f":
            current().record("try_demand", np.logical_not(np.isnan(column).any())._value)
    columns = [column[::-1] for column in columns] if reverse else columns
    if len(columns) == 1:
        found: Any = np.argsort(columns[0], kind="stable")
    else:
        found = lexsort(columns[::-1])
    return columns[0].shape[0] - 1 - found[::-1] if reverse else found


def _at(arrays: Sequence[Value], places: Any) -> list[Any]:
    return [wrap(array)[places] for array in arrays]


def has(x: TracedList, item: Any) -> Any:
    """``item in x``."""
    if _is_looked_at(x, "'in'", item):
        return _looked(place_of, x, item) >= 0
    return to_python((_numbers(x) == item).any())


def count(x: TracedList, item: Any) -> Any:
    """``x.count(item)``."""
    if _is_looked_at(x, "count()", item):
        return _looked(number_of, x, item)
    return to_python((_numbers(x) == item).sum())


def position(x: TracedList, item: Any) -> Any:
    """``x.index(item)``."""
    if _is_looked_at(x, "index()", item):
        place = _looked(place_of, x, item)
        current().record("try_demand", flag_of(place >= 0))
        return place
    same = _numbers(x) == item
    current().record("try_demand", same.any()._value)
    return to_python(same.argmax())


def _is_looked_at(x: TracedList, what: str, item: Any) -> bool:
    """Whether the items are looked at one by one: where these or ``item`` are no numbers, and those
    of a list that loses some at its begin, in a loop. One object that is a nan is in a list that
    holds it: else the item is to be none.
    """
    room = x._taken_room()
    if is_array(item) or any(isinstance(part, ArrayType) for part in room.kind.parts):
        raise x._unclear(f"{what} for arrays")
    if len(room.kind.parts) > 1 or not room.kind.is_of_numbers or not is_number(item):
        return True
    current().record("try_demand", flag_of(item == item))
    return room.head is not None and current().in_loop(x._home)


def _looked(function: Any, x: TracedList, item: Any) -> Any:
    door = current().door
    return door.staged(function)(x, item, door.is_same_item)


def _numbers(x: TracedList) -> Any:
    """The items as an array."""
    (array,), count = x.begun()
    return wrap(array)[:count]


def _counted(x: Any, other: Any) -> TracedList:
    """A side of a sum as a list of counted length."""
    if isinstance(x, Traced) and x._in_pool and isinstance(x, list):
        found: TracedList = x.copy()  # type: ignore[assignment]
        return found
    if type(x) is TracedList and x.items is None:
        return x
    items = x.items if type(x) is TracedList else x
    if type(items) is not list:
        raise TypeError(f'can only concatenate list (not "{type(x).__name__}") to list')
    found = TracedList(items)
    kind = other._taken_room().kind
    found.make_room([], 0, None, kind if all(map(kind.takes, items)) else None)
    return found


def _contents(x: TracedList, what: str) -> tuple[ItemKind, list[Value], Dim]:
    kind, arrays = x.arrays()
    if any(part.rank for part in kind.parts):
        raise x._unclear(f"{what} of arrays, which would be in two lists,")
    current().door.places.note_shared(kind.classes)
    return kind, arrays, x._taken_room().most


def made(kind: ItemKind, columns: Sequence[Any], most: Dim) -> TracedList:
    """A new list of items that stand in these arrays, of which there are at most so many."""
    size, session = columns[0]._value.type.shape[0], current()
    if not counted_in(size):
        return sized(kind, tuple(column.copy()._value for column in columns))
    found, arrays = TracedList([]), []
    for column, part in zip(columns, kind.parts, strict=True):
        shape = most, *column._value.type.shape[1:]
        array = session.record("empty", shape, part.dtype, layout=None)
        wrap(array)[: column.shape[0]] = column
        arrays.append(array)
    length = session.record("empty", (1,), np.dtype("i8"), layout=None)
    wrap(length)[0] = wrap_dim(size)
    found._room = Room(kind, tuple(arrays), length, most, None)
    return found
