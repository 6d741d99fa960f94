"""Counted lists, those whose length depends on data. See Note [Lists of counted length]."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Value
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType

from ..forms.carrying import nothing
from ..forms.form import Form, columns_of, is_of_arrays, types_of
from ..forms.items import arrays_in, form_of_items, item_of, records_in, takes, widened
from ..forms.leaving import array_of_list, dtype_as_places
from ..refusing import refuse
from ..session import CountedSize, Session, current
from ..statements.counted import Bounded, Counted
from ..statements.structured import Statement
from .above import above
from .given import check_gift, give, lend
from .list_room import Room, new_room
from .mixed import scalar_kinds
from .operands import Traced, operand, settled, wrap
from .python_numbers import to_int
from .traced_int import TracedInt, wrap_dim
from .truths import flag_of

# Note [Lists of counted length]
# A list that a branch or a loop of the graph changes (``if x[i] > 0: found.append(i)``) lives in
# the graph from there on: one array for each number of an item, with room for the most items that
# there may be, and an array of one element that holds the length. Both are made before the
# outermost statement that appends, which is recorded again when it has been seen what it appends.
# An item is read and written by its place, of which is checked that the list has it. Behind the
# statement the length is a counted size, see Note [Counted sizes]. Of a list that loses its first
# item (``queue.pop(0)``), and of a deque that does, or takes items before it, the first item stands
# anywhere in the arrays, which go on at their begin: so no item moves, and places are used again.
#
# Before, and where no statement of the graph changes it, the items are Python's. Which lists may
# become so is known by the place where they are made (``made_list``): the capture starts again
# when the first of them is changed where Python cannot follow.

MOST_APPENDED = 2**17  # items where the number of iterations is not known
MOST_ARRAYS = 2**12  # likewise, of arrays
MOST_KEYS = 2**16  # likewise, of dicts and sets
_FEW = 16  # items that are compared one by one
_SPARE = 16  # items that may be appended later, one by one


class TracedList(Traced):
    """A list that the program makes and that may come to depend on data."""

    __slots__ = (
        *("_borrowed", "_changing", "_depth", "_home", "_items", "_known", "_most", "_room"),
        *("_size", "_spare", "_turns", "changes", "of"),
    )

    def _holds(self) -> Iterable[Any]:
        return self.items or ()

    def __init__(self, items: Any, *, outermost: bool = False, most: int | None = None) -> None:
        session = current()
        self._most = most  # items where their number is not known
        self._items = items
        self.of: type = type(items)  # list or deque
        self._turns = False  # whether items come or go at the begin
        self._room: Room | None = None
        # The region that it is made in, or the outermost one: as if it had been made at the begin.
        self._home = 0 if outermost else session.region
        self._depth = 0 if outermost else len(session.statements)
        self._spare = 0
        self._size: tuple[int, int, Dim] | None = None  # when and where it was counted
        self._known: Dim | None = None  # the length, see Note [Lists of a size]
        self._changing = False  # whether a statement changes the length
        self.changes = 0  # of the length, or of which items these are
        # The items that it begins with, if they are the caller's arrays, and () after changes.
        self._borrowed: Sequence[Any] | None = None

    @classmethod
    def of_size(cls, form: Form, arrays: tuple[Value, ...], length: Value, size: Dim) -> TracedList:
        """A list of so many items, which stand in arrays."""
        found = cls([])
        found._room, found._known = Room(form, arrays, length, size, None), size
        return found

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.of

    def __repr__(self) -> str:
        return repr(self._plain_items("the text"))

    @property
    def items(self) -> list[Any] | None:
        """The items, as far as Python knows them."""
        return self._items if self._room is None else None

    def few_items(self) -> list[Any] | None:
        """The items, if there are few of them and Python knows how many."""
        if self._room is None:
            return None if self._awaited_by() else self._items
        if isinstance(self._known, int) and self._known <= _FEW:
            return [self.at(place) for place in range(self._known)]
        return None

    def borrow(self, items: Sequence[Any]) -> None:
        """Note that it has arrays of the caller's: these, which it begins with, or others."""
        self._borrowed = items
        current().aliases.borrowers.append(self)

    @property
    def borrowed(self) -> Sequence[Any]:
        """The arrays of the caller's that it begins with, and with them what is between them."""
        if self._borrowed is None:
            return ()
        if not self._borrowed:
            raise current().aliases.refuse_borrowed(
                "a list that began with an array of the caller's, and has changed, or has a part "
                "of another array, cannot be captured as a result; begin with or append a copy"
            )
        return self._borrowed

    @property
    def is_run_over(self) -> bool:
        """Whether loops of the graph run over it, as Python does not know the items."""
        return self._room is not None or self._awaited_by() is not None

    # -------------------------------------------------------- changes

    def _snapshot(self, of: Callable[[Any], Any]) -> Any:
        if self.items is not None:
            return self.of(map(of, self.items))
        return above().list_copy(self)

    def append(self, x: Any) -> None:
        """As ``list.append``."""
        x = settled(x)
        owner = self._owner_of_change(turns=False)
        if owner is not None:
            if not self._has_room(owner, x):
                self._wish(owner, x)
                return
        elif self._room is None:
            self._items.append(x)
            return
        elif not self._spare or not takes(self._room.form, x):
            self.make_room([x], _SPARE, None)
        self._spare -= owner is None
        number, known = self._number(), self._known
        self._known = known + 1 if type(known) is int and owner is None else None
        room = self._taken_room()
        room.check_not_full(number)
        self._put(number, x)
        room.set_count(number + 1)

    def _put(self, place: Any, x: Any, lent: Container[Value] = ()) -> None:
        """Store an item."""
        with self._taking(x, lent):
            self._taken_room().put(place, x)

    def set_part(self, place: Any, part: int, x: Any) -> None:
        """Store a part of an item, which is a tuple, at a place that there is."""
        room = self._room
        if room is None or not takes(columns_of(room.form)[part], x):
            owner = self._owner(current())
            before = self._part_of_any(owner, place)
            sample = (*before[:part], x, *before[part + 1 :])
            if owner is not None:
                owner.wishes.note(self, [sample])
                return
            if room is None and type(place) is int:
                self._items[place] = sample
                return
            self.make_room([sample], _SPARE, None)
        with self._taking(x):
            self._taken_room().put_part(place, part, x)

    def part_at(self, place: Any, part: int) -> Any:
        """A part of an item, which is a tuple, at a place that there is."""
        if self._room is None:
            owner = self._awaited_by()
            return self[place][part] if owner is None else self._any_item(owner)[part]
        found = self._room.part_at(place, part)
        self._note_read(found)
        return found

    def _part_of_any(self, owner: Statement | None, place: Any) -> Any:
        """An item at a place, if Python knows it; what stands for one otherwise."""
        if self._room is not None:
            return self._any_item_of(self._room.form)
        if owner is None or (type(place) is int and place < len(self._items)):
            return self._items[place if type(place) is int else 0]
        return self._any_item(owner)

    @contextmanager
    def _taking(self, x: Any, lent: Container[Value] = ()) -> Iterator[None]:
        """Take over what is stored in the body."""
        session = current()
        given = [value for value in arrays_in(x) if value not in lent]
        for value in given:
            check_gift(session, self, value)
        records, places = list(records_in(x)), session.door.places
        for each in records:
            places.check_item(each)
        yield
        for each in records:
            places.note_item(each)
        for value in given:
            give(session, self, value)

    def pop(self, *places: Any) -> Any:
        """As ``list.pop`` or ``deque.pop``."""
        if places and self.of is deque:
            raise TypeError("deque.pop() takes no arguments")
        place = places[0] if places else -1
        if type(place) is not int or place not in (-1, 0):
            return above().list_pop(self, place)
        return self._taken(place)

    def _popleft(self) -> Any:
        """As ``deque.popleft``."""
        return self._taken(0)

    def _taken(self, place: int) -> Any:
        """The first item, or the last, which is taken away."""
        owner = self._owner_of_change(turns=place == 0)
        if owner is not None and not self._has_room(owner):
            return self._not_yet(owner)
        room = self._room
        if room is None:
            return (
                self._items.popleft()
                if self.of is deque and not place
                else (self._items.pop() if place else self._items.pop(0))
            )
        found, number = self[place], self._number()
        self._borrowed = self._borrowed and ()
        room.set_count(number - 1)
        self._known = None
        if not place:
            room.turn(1)
        return found

    @property
    def _length_in_python(self) -> int | None:
        """The length, if Python knows it."""
        if self._room is None:
            return None if self._changing or self._awaited_by() else len(self._items)
        return self._known if type(self._known) is int else None

    def is_made_in(self, region: int) -> bool:
        """Whether the program makes it in that region."""
        return self._home == region

    def take_items(self, other: TracedList) -> bool:
        """Hold what another list, made here, holds instead; False if that cannot be had."""
        stays = self._length_in_python is not None and (
            self._length_in_python == other._length_in_python
        )
        self._check_not_running()
        owner = self._owner(current()) if stays else self._owner_of_change(turns=False)
        theirs = other._room
        samples = list(other._items) if theirs is None else [other._any_item_of(theirs.form)]
        if self.of is not other.of or any(True for x in samples for _ in arrays_in(x)):
            return False
        assert owner is not None
        if not (samples or self._items or self._room):
            return True
        is_wide = stays or theirs is None or _is_wide(self._room)
        if not (is_wide and self._has_room(owner, *samples)):
            owner.wishes.note(self, samples, once=False)
            return True
        room = self._taken_room()
        if stays and theirs is None:
            for place, x in enumerate(samples):
                self._put(place, x)
            return True
        if room.head is not None or theirs is None:
            self.clear()
            for x in samples if theirs is None else ():
                self.append(x)
        if theirs is None:
            return True
        if theirs.head is not None or (theirs.form != room.form and len(types_of(theirs.form)) > 1):
            return False
        end = wrap_dim(other._size_here())
        given: list[Any] = widened(room.form, theirs.form, theirs.arrays)
        for array, part in zip(room.arrays, given, strict=True):
            wrap(array)[:end] = part if isinstance(part, int) else part[:end]
        if room.head is not None:
            wrap(room.head)[0] = 0
        room.set_count(end)
        return True

    def _appendleft(self, x: Any) -> None:
        """As ``deque.appendleft``."""
        x = settled(x)
        owner = self._owner_of_change(turns=True)
        if owner is not None and not self._has_room(owner, x):
            owner.wishes.note(self, [x], once=False)
            return
        if self._room is None:
            self._items.appendleft(x)
            return
        if owner is None and not (self._spare and takes(self._room.form, x)):
            self.make_room([x], _SPARE, None)
        self._spare -= owner is None
        room, number = self._taken_room(), self._number()
        self._borrowed = self._borrowed and ()
        room.check_not_full(number)
        room.turn(-1)
        self._put(0, x)
        room.set_count(number + 1)
        self._known = None

    def _owner_of_change(self, *, turns: bool) -> Statement | None:
        """The outermost statement that changes the length here, or at the begin: it ``turns``."""
        self._check_not_running()
        owner, room = self._owner(current()), self._room
        self._turns |= turns and (owner is not None or room is not None)
        if turns and owner is None and room is not None and room.head is None:
            self.make_room([], _SPARE, None)
        self._changing |= owner is not None
        return owner

    def clear(self) -> None:
        """As ``list.clear``."""
        owner = self._owner_of_change(turns=False)
        if owner is not None and not self._has_room(owner):
            if self._items or self._room or self._awaited_by():
                self._not_yet(owner)
        elif self._room is None:
            self._items.clear()
        else:
            self._room.set_count(0)
            self._known = None
            self._borrowed = self._borrowed and ()

    def __setitem__(self, key: Any, x: Any) -> None:
        x, room = settled(x), self._room
        if self._is_exact and isinstance(key, slice):
            above().list_assign(self, key, x)
            return
        self._borrowed = self._borrowed and ()
        if room is not None and takes(room.form, x):
            self._put(checked_place(key) if self._is_exact else self.place_of(key), x)
            return
        owner = self._owner(current())
        if owner is not None and not self._has_room(owner, x):
            owner.wishes.note(self, [x])
        elif self._room is None and not isinstance(key, Traced):
            self._items[key] = x
        else:
            self.make_room([x], _SPARE, None)
            self._put(self.place_of(key), x)

    def __delitem__(self, key: Any) -> None:
        above().list_delete(self, key)

    def begin_change(self, *more: Any) -> bool:
        """Before a change that moves items, or takes in more of them: whether there is room; else
        a statement will be recorded again.
        """
        owner = self._owner_of_change(turns=False)
        if owner is None:
            if self._room is None or not takes(self._room.form, *more):
                self.make_room(more, _SPARE, None)
        elif not self._has_room(owner, *more):
            self._wish(owner, *more)
            return False
        return True

    def put_first(self, x: Any) -> bool:
        """Store an item before the others."""
        self._appendleft(x)
        return True

    def python_items(self) -> Any:
        """The items, where Python changes them; None where the graph does."""
        return self.items if self.is_made_in(current().region) else None

    def any_item(self) -> Any:
        """What stands for an item in a statement that will be recorded again."""
        owner = self._owner(current())
        assert owner is not None
        return self._any_item(owner)

    def _wish(self, owner: Statement, *more: Any, often: bool = False) -> None:
        """Note what a statement adds, which will be recorded again with room for it."""
        assert owner.recording is not None
        for each in more:
            for record in records_in(each):
                current().door.places.seal(record)
        once = not (often or current().in_loop(owner.recording.number))
        owner.wishes.note(self, more, once=once)

    def move(self, place: Any, source: Any) -> None:
        """Have the item at another place at this one, too."""
        self._taken_room().move(place, source)

    def put_again(self, place: Any, x: Any) -> None:
        """Store an item that the list has already."""
        self._taken_room().put(place, x)

    def shorten(self, number: Any) -> None:
        """Leave so many items."""
        self._borrowed = self._borrowed and ()
        self._taken_room().set_count(number)
        self._known = None

    def _check_not_running(self) -> None:
        """Note a change; refuse it while a loop of the graph runs over the list."""
        self.changes += 1
        over = (getattr(each, "over", None) for each in current().statements)
        if any(x is self for each in over for x in getattr(each, "of", ())):
            raise refuse("a change to a list while a loop runs over it cannot be captured")

    def _owner(self, session: Session) -> Statement | None:
        """The outermost statement being recorded that has begun since the list was made."""
        if session.region == self._home:
            return None
        inside = next(each.number for each in session.regions if each.number > self._home)
        for each in session.statements[self._depth :]:
            if each.recording is not None and each.recording.number == inside:
                found: Statement = each
                return found
        raise refuse(
            "a change to a list in a branch or loop that becomes one of the graph cannot be "
            "captured"
        )

    def _has_room(self, owner: Statement, *more: Any) -> bool:
        """Whether this statement has made room for what it appends."""
        room = self._room
        if room is None or room.owner is not owner or (self._turns and room.head is None):
            return False
        if self._changing and self._known is not None:  # which the statement has relied on
            return False
        return takes(room.form, *more)

    def _taken_room(self) -> Room:
        assert self._room is not None
        return self._room

    def _not_yet(self, owner: Statement) -> Any:
        """An item of a list whose statement will be recorded again."""
        owner.wishes.note(self, [])
        if self._room is not None:
            return self[-1]
        if self._items:
            return self._items[-1]
        current().record("try_demand", Literal(False))  # of an empty list, if it is none later
        return self._any_item(owner)

    def _any_item(self, owner: Statement) -> Any:
        """What stands for an item of a list without room."""
        form = form_of_items([*self._items, *owner.wishes.samples(self)], None)
        return 0 if form is None else self._any_item_of(form)

    def _any_item_of(self, form: Form) -> Any:
        return item_of(form, nothing(form))

    def _any_part(self, owner: Statement, item: Any) -> TracedList:
        """What stands for a slice of a list without room."""
        is_known = self._items or owner.wishes.samples(self)
        if not is_known or scalar_kinds(item) is None:
            return TracedList(list(self._items))
        found: TracedList = above().room_for_numbers(item, self._any_number())
        return found

    def _awaited_by(self) -> Statement | None:
        """The statement, if there is one, that will be recorded again with room for what it has
        changed.
        """
        session = current()
        if self._room is not None or session.region == self._home:
            return None
        inside = session.statements[self._depth :]
        return next((each for each in inside if each.wishes.has(self)), None)

    def _any_number(self) -> Any:
        """What stands for a length, or a place, that will be known then."""
        made = current().record("empty", (1,), np.dtype("i8"), layout=None)
        return to_int(wrap(made)[0])

    # -------------------------------------------------------- room

    def make_room(
        self,
        samples: Sequence[Any],
        more: Dim | None,
        owner: Statement | None,
        form: Form | None = None,
    ) -> bool:
        """Make, here, room for so many more items like ``samples``, or of this form;
        False if nothing says what the items are.
        """
        session, old = current(), self._room
        assert session.region == self._home
        if self._changing:
            self._known = None
        items = self._items if old is None else []
        if form is None:
            form = form_of_items([*items, *samples], None if old is None else old.form)
        if form is None:
            return False  # nothing is ever appended
        before: Dim = len(items) if old is None else old.most
        unknown = MOST_ARRAYS if is_of_arrays(form) else self._most or MOST_APPENDED
        most = before + (unknown if more is None else more) + _SPARE
        if self._turns and isinstance(most, int):
            most = 1 << (most - 1).bit_length()  # for places around the end without a division
        if old is None:
            self._known = None if self._changing else len(items)
        size = self._size_here() if old is not None and _is_wide(old) else None
        self._room = new_room(form, most, owner, self._turns, old or len(items), size)
        lent = {value for x in items for value in arrays_in(x) if lend(session, self, value)}
        for place, x in enumerate(items):
            if not lent.isdisjoint(arrays_in(x)):
                self.borrow(list(items)[: place + 1])
        for place, x in enumerate(items):
            self._put(place, x, lent)
        self._spare = _SPARE
        return True

    def begun(self) -> tuple[tuple[Value, ...], Any]:
        """Arrays that begin with the items, and how many these are."""
        room = self._taken_room()
        if room.head is None:
            return room.arrays, self.length()
        size = self._size_here()
        return room.in_order(size), wrap_dim(size)

    # -------------------------------------------------------- reads

    @property
    def _is_exact(self) -> bool:
        """Whether the arrays hold the items and no room for more: places in them are the list's."""
        room, known = self._room, self._known
        return room is not None and room.head is None and known is not None and known == room.most

    def _number(self) -> Any:
        """The length, as a scalar of the graph."""
        if self._known is not None:
            return wrap_dim(self._known)
        return self._taken_room().count

    def length(self) -> Any:
        """``len(self)``."""
        session = current()
        if self._room is None:
            return self._any_number() if self._awaited_by() else len(self._items)
        return self._number() if session.in_loop(self._home) else wrap_dim(self._size_here())

    def _size_here(self) -> Dim:
        """The length as a size."""
        if self._known is not None:
            return self._known
        session, room = current(), self._taken_room()
        written = session.aliases.written.get(room.length, 0)
        if self._size is None or self._size[0] < written or self._size[1] != session.region:
            number = operand(wrap(room.length)[0])
            assert isinstance(number, Value)
            name = session.new_size_name()
            value = session.record("bind_size", number, symbol=name, most=room.most)
            guess = _SPARE if _is_wide(room) and isinstance(room.most, int) else None
            size = session.counted(CountedSize(name, room.most, value, number, guess=guess))
            self._size = session.now, session.region, size
        return self._size[2]

    def _is_filled(self) -> Any:
        if self._room is None:
            return self._any_number() > 0 if self._awaited_by() else bool(self._items)
        return self._number() > 0

    def __len__(self) -> int:
        return int(self.length())

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def __iter__(self) -> Iterator[Any]:
        place = 0
        while place < self._plain_length():
            yield self[place]
            place += 1

    def _plain_length(self) -> int:
        if type(self._known) is int:
            return self._known
        return len(self._plain_items("a use in Python, or a change while it is run over,"))

    def __getitem__(self, key: Any) -> Any:
        if self._room is None and _is_unknown(key) and (self._items or self._awaited_by()):
            owner = self._owner(current())
            if owner is not None:
                found = self._not_yet(owner)
                return self._any_part(owner, found) if isinstance(key, slice) else found
            self.make_room([], _SPARE, None)
        if self._room is not None:
            if isinstance(key, slice):
                if self.of is deque:
                    raise TypeError("sequence index must be integer, not 'slice'")
                return above().list_part(self, key)
            if self._is_exact:
                return self.at(checked_place(key))
            return self.at(self.place_of(key))
        if isinstance(key, slice) and self.of is list:
            if (owner := self._awaited_by()) is not None:
                return self._any_part(owner, self._any_item(owner))
            return TracedList(self._items[key])
        try:
            return self._items[key]
        except IndexError:
            session = current()
            owner = self._owner(session)
            if owner is None:
                raise
            return self._not_yet(owner)

    def place_of(self, key: Any) -> Any:
        """The place of an item, of which is checked that there is one."""
        if isinstance(key, slice):
            raise self._unclear("an assignment to a slice")
        return place_among(key, self._number())

    def at(self, place: Any) -> Any:
        """The item at a place that there is."""
        found = self._taken_room().at(place)
        self._note_read(found)
        return found

    def _note_read(self, x: Any) -> None:
        """Note an item, or a part of one, that has been read."""
        for value in arrays_in(x):
            give(current(), self, value)
        for each in records_in(x):
            current().door.places.note_item(each)

    def repeats(self) -> tuple[Literal, Dim] | None:
        """The number that all items are, and how many, if that is so where the list is made."""
        room, session = self._room, current()
        if room is None or self._known is None or len(room.arrays) > 1:
            return None
        call = session.made.get(room.arrays[0])
        if call is None or call.name != "full" or room.arrays[0] in session.aliases.written:
            return None
        number = call.args[1]
        return (number, self._known) if isinstance(number, Literal) else None

    def _counted(self) -> Counted | Bounded | None:
        if (owner := self._awaited_by()) is not None:
            number, item = self._any_number(), self._any_item(owner)
            return Bounded((0, number), 0, number, lambda place: item, (self,))
        if self._room is None:
            return None
        if self._known is None and current().in_loop(self._home):
            number = self._number()
            return Bounded((0, number), 0, number, self.at, (self,))
        return Counted(self._size_here(), self.at, of=(self,))

    def arrays(self) -> tuple[Form, list[Value]]:
        """The form of the items, and what they hold in arrays of the list's length."""
        room, size = self._taken_room(), self._size_here()
        if room.head is not None:
            return room.form, list(room.in_order(size))
        end = wrap_dim(size)
        return room.form, [wrap(array)[:end].copy()._value for array in room.arrays]

    def rooms(self) -> tuple[Form, tuple[Value, ...], Any]:
        """The form of the items, arrays that begin with what they hold, and the length."""
        room, size = self._taken_room(), self._size_here()
        return room.form, room.in_order(size), wrap_dim(size)

    def as_array(self, dtype: Any = None) -> Any:
        """``np.array(self, dtype)``."""
        if self._room is None:
            return self._items
        form, arrays = self.arrays()

        def is_filled() -> Any:
            return (self._known is not None and guard(self._known, ">", 0)) or self._is_filled()

        return array_of_list(form, arrays, dtype, is_filled)

    def _operand(self) -> Any:
        return operand(self.as_array())

    def _as_places(self) -> Any:
        room = self._room
        return self._items if room is None else self.as_array(dtype_as_places(room.form))

    def _unclear(self, what: str) -> Exception:
        return refuse(
            f"{what} of a list whose length depends on data cannot be captured; use np.array(list)"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self.of, name):
            raise AttributeError(name)
        if name in ("popleft", "appendleft"):
            return self._popleft if name == "popleft" else self._appendleft
        is_sorting, is_here = name in ("sort", "reverse"), current().region == self._home
        if is_here and is_sorting and self._room is not None:
            return self._sort if name == "sort" else self._reverse
        if name in above().list_methods and not (is_here and is_sorting):
            return partial(above().list_methods[name], self)
        if is_here and self._room is None:
            return getattr(self._items, name)
        raise self._unclear(f".{name}()")

    def __eq__(self, other: object) -> bool:
        return bool(self._plain_items("==") == other)

    def __ne__(self, other: object) -> bool:
        return bool(self._plain_items("!=") != other)

    __hash__ = None  # type: ignore[assignment]

    def has(self, x: Any) -> Any:
        """``x in self``."""
        return x in self._items if self._room is None else above().list_has(self, x)

    def count(self, x: Any) -> Any:
        """As ``list.count``."""
        return self._items.count(x) if self._room is None else above().list_count(self, x)

    def index(self, x: Any) -> Any:
        """As ``list.index``."""
        if self._awaited_by():
            return self._any_number()
        return self._items.index(x) if self._room is None else above().list_index(self, x)

    def _sort(self, *, key: Any = None, reverse: Any = False) -> None:
        """As ``list.sort``, of a list of the graph."""
        self._take_over(above().list_in_order(self, key, reverse))

    def _reverse(self) -> None:
        """As ``list.reverse``, likewise."""
        self._take_over(above().list_part(self, slice(None, None, -1)))

    def _take_over(self, other: TracedList) -> None:
        """Take the items of a new list of the same length."""
        self._check_not_running()
        self._room, self._spare, self._size = other._room, 0, None
        self._known = other._known
        self._borrowed = self._borrowed and ()

    def copy(self) -> Any:
        """As ``list.copy``."""
        if self.of is deque and self._room is not None:
            raise self._unclear(".copy()")
        if self._room is None and self.of is deque:
            return self._items.copy()
        return self[:]

    def __contains__(self, x: Any) -> bool:
        return x in self._plain_items("'in'")

    def __add__(self, other: Any) -> Any:
        if self.items is None or (type(other) is TracedList and other.items is None):
            if other.__class__ is not list or self.of is not list:
                raise self._unclear("'+'")
            return above().list_sum(self, other)
        return self._items + plain_list(other)

    def __radd__(self, other: Any) -> Any:
        return other + self._items if self._room is None else above().list_sum(other, self)

    def __mul__(self, count: Any) -> Any:
        return self._plain_items("'*'") * count

    __rmul__ = __mul__

    def __iadd__(self, more: Any) -> TracedList:
        self.extend(more)
        return self

    def extend(self, more: Any) -> None:
        """As ``list.extend``."""
        is_here = self.is_made_in(current().region)
        if is_here and type(more) is TracedList and more.items is None:
            self._take_over(above().list_sum(self, more))
        elif isinstance(more, Traced) and not isinstance(more, tuple):
            above().list_extend(self, more)
        else:
            for x in list(more):
                self.append(x)

    def _plain_items(self, what: str) -> Any:
        if self._room is not None:
            raise self._unclear(what)
        return self._items


def list_to_grow() -> TracedList:
    """An empty list, as if made where the program begins."""
    return TracedList([], outermost=True)


def _is_wide(room: Room | None) -> bool:
    """Whether there is room for as many items as there may be where that is not known."""
    return room is not None and (not isinstance(room.most, int) or room.most >= MOST_KEYS)


def _is_unknown(key: Any) -> bool:
    """Whether a place, or a bound of a slice, is a number of the graph."""
    if isinstance(key, slice):
        return any(isinstance(each, Traced) for each in (key.start, key.stop, key.step))
    return isinstance(key, Traced)


def checked_place(key: Any) -> Any:
    """The place of an item, which is one of an array of as many elements."""
    if type(key) is bool:
        return int(key)
    if not isinstance(key, int | np.integer | TracedInt):
        kind = operand(key).type
        if kind.rank or kind.dtype.kind not in "iu":
            raise refuse(f"a place in a list that is of {kind} cannot be captured; use an int")
        key = to_int(key[()] if isinstance(kind, ArrayType) else key)
    return key


def place_among(key: Any, number: Any) -> Any:
    """A place among so many items, of which is checked that there is one."""
    session = current()
    if type(key) is int:
        place = number + key if key < 0 else key
    else:
        place = above().chosen(session.door, key < 0, lambda: number + key, lambda: key)
    for test in (place >= 0, place < number):
        if test is not True:
            session.record("try_demand", flag_of(test))
    return place


def plain_list(x: Any) -> Any:
    """A list whose items Python knows as Python's list; anything else itself."""
    return x.items if type(x) is TracedList and x.items is not None else x
