"""Changes of lists of the graph that move items: ``insert``, ``del``, slices, ``pop``, ``remove``.

See Note [Lists of counted length].
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, MutableSequence
from typing import Any, Self

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.graph import Operand

from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import Traced, operand
from ..values.operator_methods import as_they_come, goes_first
from .list_contents import kept
from .list_room import Int, WithLength, bounds_among, checked_place, is_unknown


@MutableSequence.register
class ChangedList(WithLength):
    """What lists of the graph have in common that are changed in place, item by item."""

    __slots__ = ()

    # What each such list has of its own. A change is begun when there is room for it; else it is
    # recorded again, and until then ``not_yet`` stands for an item that is taken out.
    begin_change: Callable[..., bool]
    not_yet: Callable[[], Any]  # and if the list stays empty for sure, the call is Python's
    place_of: Callable[[Int], Any]  # of which is checked that there is an item
    at: Callable[[Int], Any]  # the item at a place that there is
    index: Callable[[object], Any]
    copy: Callable[[], Any]
    append: Callable[[object], None]
    as_array: Callable[..., Any]
    move: Callable[[Int, Int], None]  # have an item at another place, too
    put_again: Callable[[Int, object], None]  # an item that the list has already
    shorten: Callable[[Int], None]  # leave so many items

    def put_first(self, x: object) -> bool:
        """Store an item before the others; False if they have to be moved for that."""
        return False

    def python_items(self) -> Any:
        """The items, where Python changes them; None where the graph does."""
        return None

    def few_items(self) -> list[Any] | None:
        """The items, if there are few of them and Python knows how many."""
        return None

    def _operand(self) -> Operand:
        return operand(self.as_array())

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def _known_items(self, key: object) -> Any:
        """The items that Python changes, as it knows the places; None otherwise."""
        items = self.python_items()
        return None if items and is_unknown(key) else items

    def insert(self, place: object, x: object) -> None:
        x = kept(x)
        if (items := self._known_items(place)) is not None:
            items.insert(0 if isinstance(place, Traced) else place, x)
        elif type(place) is int and place == 0 and self.put_first(x):
            pass
        elif self.begin_change(x):
            self._staged(inserted, checked_place(place), x)

    def __delitem__(self, key: object) -> None:
        if (items := self._known_items(key)) is not None:
            del items[key]
        elif self.begin_change():
            self._staged(deleted, *self._bounds_of(key))
        elif not isinstance(key, slice):
            self.not_yet()

    def pop(self, place: object = -1) -> object:
        if (items := self._known_items(place)) is not None:
            return items.pop(place)
        if not self.begin_change():
            return self.not_yet()
        start, stop = self._bounds_of(place)
        found = self.at(start)
        self._staged(deleted, start, stop)
        return found

    def remove(self, x: object) -> None:
        items = self.python_items()
        if items is not None and not any(isinstance(each, Traced) for each in (x, *items)):
            items.remove(x)
        elif self.begin_change():
            place = self.index(x)
            self._staged(deleted, place, place + 1)
        else:
            self.not_yet()

    def extend(self, more: Any) -> None:
        if isinstance(more, Traced) and (more._is_row or not isinstance(more, tuple)):
            self._staged(extended, more)
        else:
            for x in as_they_come(more):
                self.append(x)

    def __iadd__(self, more: Iterable[object]) -> Self:
        if goes_first(more):
            return NotImplemented
        self.extend(more)
        return self

    def _sort(self, *, key: object = None, reverse: object = False) -> None:
        """As ``list.sort``."""
        self._replace(lambda x: x.in_order(key, reverse))

    def _reverse(self) -> None:
        """As ``list.reverse``."""
        self._replace(lambda x: x.part(slice(None, None, -1)))

    def _replace(self, of: Callable[[Any], object]) -> None:
        """Take the items of another list of this length, which is made of one with these."""
        found = self.copy() if self.begin_change() else None
        if found is not None and found.items != []:
            self._staged(replaced, of(found))

    def _staged(self, change: Callable[..., None], *args: object) -> None:
        current().door.staged(change)(self, *args)

    def _bounds_of(self, key: Any) -> tuple[Any, Any]:
        """The bounds of a part of the items: of a slice, or an item that there is."""
        if not isinstance(key, slice):
            place = self.place_of(key)
            return place, place + 1
        if key.step not in (None, 1):
            raise refuse(
                COUNTED_LIST,
                "del of every other item of a list whose length depends on data",
                "use a comprehension",
            )
        return bounds_among(key, self.length())


def is_list(x: object) -> bool:
    """Whether this is a list of the graph."""
    return isinstance(x, ChangedList)


def _ordering(name: str) -> Callable[[Any, Any], object]:
    def order(self: Any, other: Any) -> object:
        items, others = (x.few_items() if is_list(x) else x for x in (self, other))
        if items is None or others is None:
            raise without_order()
        found: object = getattr(operator, name)(items, others)
        return found

    return order


def without_order() -> Exception:
    """The refusal of ``a < b`` and its like of lists."""
    about = "an order of lists whose length depends on data"
    return refuse(COUNTED_LIST, about, "compare arrays")


for _name in ("__lt__", "__le__", "__gt__", "__ge__"):
    setattr(ChangedList, _name, _ordering(_name))


# ------------------------------------------------------------------ in Python, to be staged


def inserted(items: ChangedList, place: Int, x: object) -> None:
    count = len(items)
    if place < 0:
        place = place + count
    if place < 0:
        place = 0
    if place > count:
        place = count
    items.append(x)
    for k in range(count - place):
        items.move(count - k, count - k - 1)
    items.put_again(place, x)


def deleted(items: ChangedList, start: Int, stop: Int) -> None:
    count = len(items)
    for k in range(count - stop):
        items.move(start + k, stop + k)
    items.shorten(count - stop + start)


def spliced(items: ChangedList, start: Any, stop: Any, more: ChangedList) -> None:
    count, added = len(items), len(more)
    removed = stop - start
    for _ in range(added - removed):
        items.append(more.at(0))
    for k in range(count - stop):
        k = k if added < removed else count - stop - 1 - k
        items.move(start + added + k, stop + k)
    for k in range(added):
        items.put_again(start + k, more.at(k))
    if added < removed:
        items.shorten(count + added - removed)


def list_of(items: Iterable[object]) -> list[object]:
    return [x for x in items]  # noqa: C416 - as captured


def replaced(items: ChangedList, found: ChangedList) -> None:
    for k in range(len(found)):
        items.put_again(k, found.at(k))


def extended(items: ChangedList, more: Iterable[object]) -> None:
    for x in more:
        items.append(x)
