"""Changes of lists of the graph that move items: ``insert``, ``del``, ``pop(i)``, ``remove``.

See Note [Lists of counted length].
"""

from __future__ import annotations

from typing import Any

from ..session import current, refuse
from ..statements.choices import chosen
from .list_code import deleted, inserted
from .operands import Traced, settled
from .traced_lists import TracedList, checked_place


def _staged(function: Any, *args: Any) -> None:
    current().door.staged(function)(*args)


def _is_plain(x: TracedList, *places: Any) -> bool:
    """Whether Python makes a change: it knows the items and these places, or there are no items."""
    if x.items is None or not x.is_made_in(current().region):
        return False
    return not x.items or not any(isinstance(place, Traced) for place in places)


def insert(x: TracedList, place: Any, item: Any) -> None:
    """As ``list.insert``."""
    item = settled(item)
    if _is_plain(x, place):
        x._items.insert(0 if isinstance(place, Traced) else place, item)
    elif type(place) is int and place == 0:
        x._appendleft(item)
    elif x.begin_change(item) is None:
        _staged(inserted, x, checked_place(place), item)


def delete(x: TracedList, key: Any) -> None:
    """``del x[key]``."""
    bounds = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
    if _is_plain(x, *bounds):
        del x._items[key]
    elif x.begin_change() is None:
        start, stop = _part(x, key) if isinstance(key, slice) else _one(x, key)
        _staged(deleted, x, start, stop)


def taken(x: TracedList, place: Any) -> Any:
    """``x.pop(place)``."""
    if _is_plain(x, place):
        return x._items.pop(place)
    if (owner := x.begin_change()) is not None:
        return x._any_item(owner)
    start, stop = _one(x, place)
    found = x.at(start)
    _staged(deleted, x, start, stop)
    return found


def remove(x: TracedList, item: Any) -> None:
    """As ``list.remove``."""
    if _is_plain(x) and not any(isinstance(each, Traced) for each in (item, *x._items)):
        x._items.remove(item)
    elif x.begin_change() is None:
        place = x.index(item)
        _staged(deleted, x, place, place + 1)


def _one(x: TracedList, key: Any) -> tuple[Any, Any]:
    """The place of an item, of which is checked that there is one, and the next one."""
    place = x._place_of(checked_place(key))
    return place, place + 1


def _part(x: TracedList, key: slice) -> tuple[Any, Any]:
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
