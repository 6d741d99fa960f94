"""Changes of lists of the graph that move items: ``insert``, ``del``, ``pop(i)``, ``remove``.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..refusing import refuse
from ..session import current
from ..statements.choices import chosen
from . import list_parts
from .list_code import deleted, extended, inserted, replaced
from .operands import Traced, settled
from .traced_lists import checked_place


class Changed(Protocol):
    """A list of the graph that is changed in place."""

    def begin_change(self, *more: Any) -> bool:
        """Before a change: whether there is room for it; else it will be recorded again."""

    def put_first(self, x: Any) -> bool:
        """Store an item before the others; False if they have to be moved for that."""

    def any_item(self) -> Any:
        """What stands for an item until then."""

    def python_items(self) -> Any:
        """The items, where Python changes them; None where the graph does."""

    def place_of(self, key: Any) -> Any:
        """The place of an item, of which is checked that there is one."""

    def at(self, place: Any) -> Any:
        """The item at a place that there is."""

    def length(self) -> Any:
        """``len(self)``."""

    def index(self, x: Any) -> Any:
        """As ``list.index``."""

    def copy(self) -> Any:
        """As ``list.copy``."""


def _staged(function: Any, *args: Any) -> None:
    current().door.staged(function)(*args)


def _plain_items(x: Changed, *places: Any) -> Any:
    """The items that Python changes, as it knows the places; None otherwise."""
    items = x.python_items()
    is_known = not items or not any(isinstance(place, Traced) for place in places)
    return items if is_known else None


def insert(x: Changed, place: Any, item: Any) -> None:
    """As ``list.insert``."""
    item = settled(item)
    if (items := _plain_items(x, place)) is not None:
        items.insert(0 if isinstance(place, Traced) else place, item)
    elif type(place) is int and place == 0 and x.put_first(item):
        pass
    elif x.begin_change(item):
        _staged(inserted, x, checked_place(place), item)


def delete(x: Changed, key: Any) -> None:
    """``del x[key]``."""
    bounds = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
    if (items := _plain_items(x, *bounds)) is not None:
        del items[key]
    elif x.begin_change():
        _staged(deleted, x, *(_part(x, key) if isinstance(key, slice) else _one(x, key)))


def taken(x: Changed, place: Any) -> Any:
    """``x.pop(place)``."""
    if (items := _plain_items(x, place)) is not None:
        return items.pop(place)
    if not x.begin_change():
        return x.any_item()
    start, stop = _one(x, place)
    found = x.at(start)
    _staged(deleted, x, start, stop)
    return found


def remove(x: Changed, item: Any) -> None:
    """As ``list.remove``."""
    items = x.python_items()
    if items is not None and not any(isinstance(each, Traced) for each in (item, *items)):
        items.remove(item)
    elif x.begin_change():
        place = x.index(item)
        _staged(deleted, x, place, place + 1)


def extend(x: Any, more: Any) -> None:
    """As ``list.extend``, by what a loop may run over."""
    _staged(extended, x, more)


def sort(x: Changed, *, key: Any = None, reverse: Any = False) -> None:
    """As ``list.sort``, of a list that has room."""
    found = _copy_to_change(x)
    if found is not None:
        _staged(replaced, x, list_parts.in_order(found, key, reverse))


def reverse(x: Changed) -> None:
    """As ``list.reverse``, likewise."""
    found = _copy_to_change(x)
    if found is not None:
        _staged(replaced, x, list_parts.part_of(found, slice(None, None, -1)))


def _copy_to_change(x: Changed) -> Any:
    """The items in a list of their own; None if there is no room, or an item in no list."""
    found = x.copy() if x.begin_change() else None
    return None if found is None or found.items == [] else found


METHODS: dict[str, Callable[..., None]] = {
    "insert": insert,
    "remove": remove,
    "sort": sort,
    "reverse": reverse,
}


def _one(x: Changed, key: Any) -> tuple[Any, Any]:
    """The place of an item, of which is checked that there is one, and the next one."""
    place = x.place_of(checked_place(key))
    return place, place + 1


def _part(x: Changed, key: slice) -> tuple[Any, Any]:
    """The bounds of a part of the items."""
    if key.step not in (None, 1):
        raise refuse(
            "del of every other item of a list whose length depends on data cannot be captured; "
            "use a comprehension"
        )
    count = x.length()
    start = 0 if key.start is None else _bound(key.start, count)
    stop = count if key.stop is None else _bound(key.stop, count)
    return start, chosen(current().door, stop < start, lambda: start, lambda: stop)


def _bound(key: Any, count: Any) -> Any:
    """A bound of a slice among so many items."""
    door, place = current().door, checked_place(key)
    place = chosen(door, place < 0, lambda: place + count, lambda: place)
    place = chosen(door, place < 0, lambda: 0, lambda: place)
    return chosen(door, place > count, lambda: count, lambda: place)
