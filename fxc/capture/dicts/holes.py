"""Dicts and sets of the graph from which items are taken out.

See Note [Dicts that lose items].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.symbols import Dim

from ..forms.form import Form
from ..lists.list_room import Int, new_number
from ..numbers.python_numbers import to_bool, to_int
from ..numbers.traced_int import wrap_dim
from ..regions.counted import Bounded, Counted
from ..regions.structured import Statement
from ..values.operands import wrap
from .dict_tables import KeyedBuffer, home_of

# Note [Dicts that lose items]
# An item that is taken out of a dict or a set of the graph leaves a hole among the items: a flag
# says so, and a number counts the holes. The table forgets it: an item behind it that has been
# displaced by others moves to its place, so that whatever is found is found as if it had never
# been there. The items are moved together, and the table is filled anew, before they are looked
# at in their order, and where the holes leave no room. Places below ``first`` are holes.
# Which dicts lose items is known by the line where they are made, as the capture starts again
# when the first item is taken out.


class HoledBuffer(KeyedBuffer):
    """A buffer of tuples with keys that may have holes, beyond which flags do not matter."""

    __slots__ = ("_first", "_gone", "_holes", "_tidy")

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self._gone: Value | None = None
        self._holes: Value | None = None
        self._first: Value | None = None
        self._tidy: tuple[int, int] | None = None  # when and where the items were moved together

    def make_room(
        self,
        samples: Sequence[object],
        more: Dim | None,
        owner: Statement | None,
        form: Form | None = None,
    ) -> bool:
        self.tidy()
        return super().make_room(samples, more, owner, form)

    def make_table(self, known: int | None) -> None:
        shape = (self.room.most,)
        self._gone = self.session.value("zeros", shape, np.dtype("?"), layout=None)
        self._holes, self._first = new_number(0), new_number(0)
        super().make_table(known)

    # -------------------------------------------------------- reads

    def number(self) -> Any:
        return super().number() if self._known is not None else self.end() - self.holes()

    def size_here(self) -> Dim:
        self.tidy()
        return super().size_here()

    def _counted(self) -> Counted | Bounded | None:
        self.tidy()
        return super()._counted()

    def tidy(self) -> None:
        """Move the items together, unless that has just been done here."""
        if self._room is None or self._known is not None or self.is_run_over_now():
            return
        written = self.session.aliases.written.get(self.room.length, 0)
        if self._tidy is None or self._tidy[0] < written or self._tidy[1] != self.session.region:
            self.session.door.staged(tidied_if_holed)(self)
            self._tidy = self.session.now, self.session.region

    def end(self) -> Any:
        """How many places are taken, by items and holes."""
        return self.room.count

    def holes(self) -> Any:
        return _of(self._holes)

    def first(self) -> Any:
        """A place before which there are no items."""
        return _of(self._first)

    def is_gone(self, place: Int) -> Any:
        assert self._gone is not None
        return to_bool(wrap(self._gone)[place])

    def is_crowded(self) -> Any:
        is_full = self.end() >= wrap_dim(self.room.most)
        return np.logical_or(super().is_crowded(), np.logical_and(is_full, self.holes() > 0))

    # -------------------------------------------------------- changes

    def fill(self, count: int | None = None) -> None:
        if count is None:
            self.session.door.staged(tidied)(self)
        super().fill(count)

    def set_gone(self, place: Int, is_gone: bool) -> None:
        assert self._gone is not None
        wrap(self._gone)[place] = is_gone

    def set_first(self, place: Int) -> None:
        assert self._first is not None
        wrap(self._first)[0] = place

    def cut(self, end: Int, holes: Int) -> None:
        """Leave the items and holes before a place: so many of these."""
        assert self._holes is not None
        self.shorten(end)
        wrap(self._holes)[0] = holes

    def unlink(self, slot: Int) -> None:
        """Have the table forget what it has at this place."""
        self.session.door.staged(unlinked)(self, slot)

    def first_place(self) -> Any:
        """The place of the first item, which there is."""
        return self.session.door.staged(first_place)(self)

    def take_out(self, slot: Int, number: Int) -> None:
        """Take out the item of a number, that the table has at this place."""
        self.forget_length()
        self.session.door.staged(taken_out)(self, slot, number)


def _of(number: Value | None) -> object:
    assert number is not None
    return to_int(wrap(number)[0])


# ------------------------------------------------------------------ in Python, to be staged


def tidied_if_holed(items: HoledBuffer) -> None:
    if items.holes() > 0:
        items.fill()


def tidied(items: HoledBuffer) -> None:
    count = 0
    for place in range(items.end()):
        if items.is_gone(place):
            items.set_gone(place, False)
        else:
            items.move(count, place)
            count += 1
    items.cut(count, 0)
    items.set_first(0)


def taken_out(items: HoledBuffer, slot: Int, number: Int) -> None:
    items.set_gone(number - 1, True)
    items.cut(items.end(), items.holes() + 1)
    items.unlink(slot)


def unlinked(items: HoledBuffer, gap: Int) -> None:
    slot = items.slot(gap + 1)
    number = items.number_at(slot)
    while number > 0:
        home = items.slot(home_of(items.key_at(number - 1)))
        if items.slot(slot - home) >= items.slot(slot - gap):
            items.set_number(gap, number)
            gap = slot
        slot = items.slot(slot + 1)
        number = items.number_at(slot)
    items.set_number(gap, 0)


def popped(items: HoledBuffer, slot: Int, number: Int, default: object) -> object:
    found = default
    if number > 0:
        found = items.at(number - 1)[1]
        items.take_out(slot, number)
    return found


def discarded(items: HoledBuffer, slot: Int, number: Int) -> None:
    if number > 0:
        items.take_out(slot, number)


def first_place(items: HoledBuffer) -> Any:
    place = items.first()
    while items.is_gone(place):
        place += 1
    items.set_first(place)
    return place


def first_taken(items: HoledBuffer) -> object:
    place = items.first_place()
    found = items.at(place)
    slot, number = items.looked_up(items.key_at(place))
    items.take_out(slot, number)
    return found


def last_taken(items: HoledBuffer) -> object:
    left = items.end() - items.holes() - 1
    place = items.end() - 1
    while items.is_gone(place):
        items.set_gone(place, False)
        place -= 1
    found = items.at(place)
    slot, _ = items.looked_up(items.key_at(place))
    items.unlink(slot)
    items.cut(place, place - left)
    return found


def moved_last(items: HoledBuffer, slot: Int, number: Int) -> None:
    if number < items.end():
        item = items.at(number - 1)
        items.take_out(slot, number)
        items.store(item)


def emptied(items: HoledBuffer) -> None:
    for place in range(items.end()):
        items.set_gone(place, False)
    items.cut(0, 0)
    items.set_first(0)
    items.fill(0)
