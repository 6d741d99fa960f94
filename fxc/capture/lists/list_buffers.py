"""Buffers, as which counted lists are held: items with a length, in Python or in the graph.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim
from fxc.ir.types import ScalarType, Type

from ..forms.form import Array, Form, OfNumbers, columns_of, is_of_arrays, types_of
from ..forms.options import is_record
from ..numbers.python_numbers import to_int
from ..numbers.traced_int import wrap_dim
from ..regions.counted import Bounded, Counted
from ..session.refusing import How, Request, Requests, Respecialise
from ..session.session import current
from ..values.operands import operand, wrap
from .list_contents import MOST_APPENDED, MOST_ARRAYS, SPARE, is_wide, kept
from .list_owners import Owned, refuse_change
from .list_room import Int, checked_place, is_unknown, new_room, place_among

if TYPE_CHECKING:
    from ..regions.structured import Statement

# See Note [Rooms with one door].
arrays_in = import_later("fxc.capture.forms.items", "arrays_in")
form_of_items = import_later("fxc.capture.forms.items", "form_of_items")
item_of = import_later("fxc.capture.forms.items", "item_of")
takes = import_later("fxc.capture.forms.items", "takes")
placeholder = import_later("fxc.capture.forms.variables", "placeholder")
lend = import_later("fxc.capture.regions.given", "lend")


class Buffer(Owned):
    """Items that the program collects, and that may come to depend on data."""

    __slots__ = ()

    # -------------------------------------------------------- what stands for items

    def not_yet(self, owner: Statement | None = None) -> object:
        """An item for a statement that will be recorded again."""
        owner = self.owner() if owner is None else owner
        assert owner is not None
        owner.wishes.note(self, [])
        if self._room is not None:
            return self.item(-1)
        if self._items and not is_record(self._items[-1]):  # which could be told apart
            return self._items[-1]
        if not self._items:  # of an empty list, if it is none later
            self.session.record("try_demand", Literal(False))
        return self.any_item(owner)

    def form_awaited(self, owner: Statement) -> Form | None:
        """The form of the items, and of those that a statement will store, if known."""
        return self.form_of([*self._items, *owner.wishes.samples(self)], None)

    def form_of(self, items: list[object], before: Form | None) -> Form | None:
        """The form of items; ``before`` is that of those that there are."""
        found: Form | None = form_of_items(items, before)
        return found

    def any_item(self, owner: Statement | None = None) -> Any:
        """What stands for an item that a statement will read when it is recorded again."""
        owner = self.owner() if owner is None else owner
        assert owner is not None
        form = self.form_awaited(owner)
        return 0 if form is None else any_of(form)

    # -------------------------------------------------------- room

    def make_room(
        self,
        samples: Sequence[object],
        more: Dim | None,
        owner: Statement | None,
        form: Form | None = None,
    ) -> bool:
        """Make room here for more items like ``samples``; False if nothing says what they are."""
        session, old = self.session, self._room
        assert session.region == self.home
        items, pace = self._items if old is None else [], self._pace_in(owner)
        if form is None:
            form = self.form_of([*items, *samples], self.form)
        if form is None:
            return False  # nothing is ever appended
        if self.leaves and owner is not None:
            is_new = isinstance(form, Array) and not items and old is None
            if pace is None or not (is_new or isinstance(form, OfNumbers)):
                raise refuse_change()
        if old is None:
            self._known = len(items)
        if self._changing and pace is None and owner is not None:
            self._known = None
        before: Dim = len(items) if old is None else old.most
        unknown = MOST_ARRAYS if is_of_arrays(form) else self._most or MOST_APPENDED
        most = before + (unknown if more is None else more) + SPARE
        most = most if self.maxlen is None else self.maxlen + 1
        if pace is not None:
            assert self._fixed is not None
            most = self._fixed + pace.settle()
        if self._turns and isinstance(most, int):
            most = 1 << (most - 1).bit_length()  # for places around the end without a division
        size = self._fixed
        if size is None and is_wide(old):
            size = self.size_here()
        self._room = new_room(form, most, owner, self._turns, old or len(items), size)
        lent = {value for x in items for value in arrays_in(x) if lend(session, value)}
        for place, x in enumerate(items):
            if not lent.isdisjoint(arrays_in(x)):
                self.borrow(list(items)[: place + 1])
        for place, x in enumerate(items):
            self.put(place, x, lent=lent)
        self._spare = 0 if pace is not None else SPARE
        return True

    # -------------------------------------------------------- the length

    def length(self) -> object:
        if self._room is None:
            return any_number() if self.awaited_by() else len(self._items)
        return self.number() if self.session.in_loop(self.home) else wrap_dim(self.size_here())

    def next_place(self) -> Any:
        """The place of the next item that is appended."""
        return self.length() if self._room is None else self.number()

    # -------------------------------------------------------- changes

    def append(self, x: object) -> None:
        self.add(x)

    def add(self, x: object, *, first: bool = False) -> None:
        """Add an item behind the others, or before them."""
        x = kept(x)
        owner = self.owner_of_change(turns=first, appends=True)
        if owner is not None:
            if not self.has_room(owner, x):
                self._wish(owner, x, often=first)
                return
        elif self._room is None:
            (self._items.appendleft if first else self._items.append)(x)
            return
        elif not self._spare or not takes(self._room.form, x):
            self.make_room([x], SPARE, None)
        self._spare -= owner is None
        if self.maxlen is not None:
            if not self.maxlen:
                return
            self.session.door.staged(made_room_in)(self, self.maxlen, -1 if first else 0)
        number, known, room = self.number(), self._known, self.room
        if self._pace_in(owner) is not None:  # which counts it already
            self.put(number - 1, x)
            return
        is_known = known is not None and owner is None and not first
        self._known = known + 1 if is_known else None  # type: ignore[operator]
        room.check_not_full(number)
        if first:
            self._borrowed = self._borrowed and ()
            room.turn(-1)
        self.put(0 if first else number, x)
        room.set_count(number + 1)

    def taken(self, place: int) -> Any:
        """The first item, 0, or the last, -1, which is taken away."""
        owner = self.owner_of_change(turns=place == 0)
        if owner is not None and not self.has_room(owner):
            return self.not_yet(owner)
        if self._room is None:
            if self.of is deque and not place:
                return self._items.popleft()
            return self._items.pop() if place else self._items.pop(0)
        found = self.item(place)
        self.drop(place)
        return found

    def drop(self, place: int) -> None:
        """Take the first item, 0, or the last, -1, away."""
        self.shorten(self.number() - 1)
        if not place:
            self.room.turn(1)

    def clear(self) -> None:
        owner = self.owner_of_change()
        if owner is not None and not self.has_room(owner):
            if self._items or self._room or self.awaited_by():
                self.not_yet(owner)
        elif self._room is None:
            self._items.clear()
        else:
            self.shorten(0)

    def set_part(self, place: Int, part: int, x: object) -> None:
        """Store a part of an item, which is a tuple, at a place that there is."""
        room = self._room
        if room is None or not takes(columns_of(room.form)[part], x):
            owner = self.owner()
            before = self._part_of_any(owner, place)
            sample = (*before[:part], x, *before[part + 1 :])
            if owner is not None:
                owner.wishes.note(self, [sample])
                return
            if room is None and type(place) is int:
                self._items[place] = sample
                return
            self.make_room([sample], SPARE, None)
        self.put(place, x, part=part)

    def _part_of_any(self, owner: Statement | None, place: Int) -> Any:
        """An item at a place, if Python knows it; what stands for one otherwise."""
        if self._room is not None:
            return any_of(self._room.form)
        if owner is None or (type(place) is int and place < len(self._items)):
            return self._items[place if type(place) is int else 0]
        return self.any_item(owner)

    # -------------------------------------------------------- reads

    def item(self, key: object) -> Any:
        """The item at a place, of which is checked that there is one."""
        if self._is_asked_late(key):
            owner = self.owner()
            if owner is not None:
                return self.not_yet(owner)
            self.make_room([], SPARE, None)
        if self._room is not None:
            return self.at(checked_place(key) if self.is_exact else self.place_of(key))
        try:
            return self._items[key]
        except IndexError:
            owner = self.owner()
            if owner is None:
                raise
            return self.not_yet(owner)

    def _is_asked_late(self, key: object) -> bool:
        """Whether Python knows the items, but not the place, or the bounds of the slice."""
        return (
            self._room is None
            and is_unknown(key)
            and bool(self._items or self.awaited_by() is not None)
        )

    def place_of(self, key: object) -> Any:
        """The place of an item, of which is checked that there is one."""
        return place_among(key, self.number())

    def part_at(self, place: Int, part: int) -> object:
        """A part of an item, which is a tuple, at a place that there is."""
        if self._room is not None:
            return self.at(place, part)
        owner = self.awaited_by()
        return (self.item(place) if owner is None else self.any_item(owner))[part]

    def _counted(self) -> Counted | Bounded | None:
        if (owner := self.awaited_by()) is not None:
            number, item = any_number(), self.any_item(owner)
            return Bounded((0, number), 0, number, lambda place: item, (self,))
        if self._room is None:
            return None
        if self._known is None and self.session.in_loop(self.home):
            number = self.number()
            return Bounded((0, number), 0, number, self.at, (self,))
        return Counted(self.size_here(), self.at, of=(self,))

    def contents(self) -> tuple[Form, tuple[Value, ...], Any]:
        """The form of the items, arrays that begin with what they hold, and the length."""
        room = self.room
        if room.head is None:
            return room.form, room.arrays, self.length()
        size = self.size_here()
        return room.form, room.in_order(size), wrap_dim(size)


def made_room_in(items: Buffer, most: int, place: int) -> None:
    if items.number() >= most:
        items.drop(place)


def any_number() -> Any:
    """What stands for a length, or a place, in a statement that will be recorded again."""
    made = current().record("empty", (1,), np.dtype("i8"), layout=None)
    return to_int(wrap(made)[0])


def any_of(form: Form) -> Any:
    """What stands for an item of a form; nobody knows which of its options it is."""
    return item_of(form, map(_any_operand, types_of(form)))


def _any_operand(kind: Type) -> Operand:
    if isinstance(kind, ScalarType):
        return operand(wrap(current().record("empty", (1,), kind.dtype, layout=None))[0])
    found: Operand = placeholder(current(), kind)
    return found


class ToGrow:
    """Texts or arrays of a capture that buffers may hold, by the place where they begin."""

    def __init__(self) -> None:
        self._wanted = Requests()

    def grows(self, about: str) -> bool:
        """Whether a buffer is to hold what begins here; what is not yet asked for is noted."""
        session = current()
        if not session.wants(about):
            self._wanted |= {Request(about, How.IN_GRAPH)} - session.requests
            return False
        session.retries |= {Request(about, How.BY_PYTHON)}
        return True

    def ask(self) -> None:
        """Begin again with these, where a branch or loop cannot give what they become."""
        if self._wanted:
            raise Respecialise(*self._wanted)
