"""Lists of any length that stand in arrays, all in one. See Note [Pools of lists]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from fxc.ir.error_kinds import CHANGE_IN_LOOP, COUNTED_LIST
from fxc.ir.graph import Literal
from fxc.ir.later import import_later

from ..arrays.traced_array import TracedArray
from ..forms.form import Form
from ..regions.counted import Bounded, Counted
from ..session.refusing import How, Request, Requests, refuse
from ..session.session import current
from ..values.operands import operand, record, taken_for, wrap
from ..values.operator_methods import goes_first
from .list_buffers import Buffer
from .list_changes import ChangedList
from .list_contents import kept
from .list_room import Int, place_among
from .records import Pooled
from .traced_lists import TracedList

# See Note [Rooms with one door].
form_of_items = import_later("fxc.capture.forms.items", "form_of_items")
are_fixed = import_later("fxc.capture.forms.leaving", "are_fixed")
array_of_list = import_later("fxc.capture.forms.leaving", "array_of_list")
dtype_as_places = import_later("fxc.capture.forms.leaving", "dtype_as_places")
demand = import_later("fxc.capture.forms.truths", "demand")
list_of_vector = import_later("fxc.capture.lists.sized_lists", "list_of_vector")
tuples_of = import_later("fxc.capture.lists.sized_lists", "tuples_of")

# Note [Pools of lists]
# A list that an item of another one, or the value of a dict, is, and whose length depends on data
# (``neighbours[i].append(j)``, ``groups[key].append(v)``), is a *pooled* list, as a dict or an
# object may be a record (Note [Records]): the number of a list in a pool. A pool has all lists that
# are made at one place of the program. Its arena, a buffer, has the items of all of them, and its
# heads, another one, say where in the arena the items of each list begin, how many there are, and
# how many there is room for. A list that is full goes on where it is, if it is the last in
# the arena; else it moves to the end, with room for twice as many. So variables, lists and dicts
# hold numbers, and two lists are one if the numbers are equal. The capture starts again with a pool
# where a list is asked for that no other way serves, and without it where that does not help.
# Lists of several places are in one pool where they meet: in a list, in a variable.

_BEGIN, _COUNT, _ROOM = range(3)
_INT = np.dtype(np.int64)
_MOST = 2**18  # places in the arena where the number of items is not known


def requests_for(labels: Iterable[str]) -> Requests:
    """What asks for one pool for the lists that are made at these places."""
    first, *rest = sorted(labels)
    pools = frozenset(Request(label, How.IN_POOL) for label in (first, *rest))
    return pools.union(Request(first, How.ONE_POOL, other) for other in rest)


def pool_of(label: str) -> str | None:
    """The first place of those whose lists share this one's pool; None for no pool."""
    requests = current().requests
    if Request(label, How.IN_POOL) not in requests:
        return None
    groups = [{each.about, str(each.which)} for each in requests if each.how is How.ONE_POOL]
    found = {label}
    for _ in groups:
        found.update(*(group for group in groups if group & found))
    first = min(found)
    return None if Request(first, How.POOL_BY_PYTHON) in requests else first


class ListPool:
    """All lists that are made at one place."""

    def __init__(self, label: str, *, given: bool = False) -> None:
        self.label = label
        self.given = given  # the lists are from outside: they can be read alone
        self.changes = 0
        self.heads = Buffer(outermost=True)
        self.arena = Buffer(outermost=True, most=_MOST)

    def __repr__(self) -> str:
        return self.label

    def add(self, items: Iterable[object]) -> PooledList:
        """A new list with these items."""
        number = self.heads.next_place()
        self.heads.append((self.end(), 0, 0))
        made = PooledList(self, number)
        made.extend(items)
        return made

    def at(self, number: Int) -> PooledList:
        """The list of that number."""
        return PooledList(self, number)

    def check_ours(self, what: str) -> None:
        """Refuse what can be done with lists alone that the program has made."""
        if self.given:
            raise refuse(
                COUNTED_LIST,
                f"{what} of a list in a list from outside, at a place that depends on data,",
                "use a copy",
            )

    # -------------------------------------------------------- the arena

    @property
    def form(self) -> Form | None:
        """What the items are; None if none has been appended yet."""
        return self.arena.form

    def has_room(self, *more: object) -> bool:
        """Whether there is room here for items; asks for it where there is none."""
        self.arena.owner_of_change()
        found = self.arena.takes_in(*more, spare=None, often=True)
        if found:
            self.arena.forget_length()
        return found

    def end(self) -> Any:
        """How many places of the arena are taken."""
        return 0 if self.form is None else self.arena.room.count

    def set_end(self, end: Any) -> None:
        """Take so many places."""
        room = self.arena.room
        demand(end <= room.most)
        room.set_count(end)

    def put(self, place: Int, x: object) -> None:
        self.arena.put(place, x)

    def move(self, place: Int, source: Int) -> None:
        """Have an item of the arena at another place, too, if any has been appended."""
        if self.form is not None:
            self.arena.move(place, source)


def rows_of(
    label: str, begins: TracedArray, counts: TracedArray, numbers: TracedArray
) -> TracedList:
    """The list of lists from outside, whose items, of which that many begin there, stand in a
    vector; ``label`` is that of the pool.
    """
    pool = ListPool(label, given=True)
    pool.heads = tuples_of([begins, counts, counts])
    pool.arena = list_of_vector(numbers)
    form = form_of_items([pool.at(0)], None)
    assert form is not None
    places = record("arange", Literal(0), Literal(1), length=begins._type.shape[0], dtype=_INT)
    return TracedList.sized(form, (places._value,))


class PooledList(ChangedList, Pooled):
    """A list of a pool."""

    __slots__ = ()
    is_run_over = True  # by loops of the graph
    pool: ListPool

    __class__ = taken_for(list)

    def _snapshot(self, of: Callable[[object], Any]) -> object:
        return of(self.copy())

    def is_(self, other: Pooled) -> object:
        self.pool.check_ours("'is'")
        return super().is_(other)

    # -------------------------------------------------------- reads

    def _head(self, part: int) -> Any:
        return self.pool.heads.part_at(self.number, part)

    def head(self) -> tuple[Any, Any, Any]:
        """Where the items begin in the arena, how many there are, and room for how many."""
        return self._head(_BEGIN), self._head(_COUNT), self._head(_ROOM)

    def length(self) -> Any:
        return self._head(_COUNT)

    def _is_filled(self) -> object:
        return self.length() > 0

    def __iter__(self) -> Iterator[Any]:
        found = self._counted()
        if type(found) is Bounded:
            raise self.refused("a use in Python")
        return iter(found)

    def at(self, place: Int) -> object:
        """The item at a place that there is."""
        arena = self.pool.arena
        if arena.form is not None:
            return arena.at(self._head(_BEGIN) + place)
        owner = arena.awaited_by()
        current().record("try_demand", Literal(False))
        return 0 if owner is None else arena.any_item(owner)

    def place_of(self, key: object) -> Any:
        """The place of an item, of which is checked that there is one."""
        return place_among(key, self.length())

    def __getitem__(self, key: object) -> Any:
        return self.copy()[key] if isinstance(key, slice) else self.at(self.place_of(key))

    def _counted(self) -> Counted | Bounded:
        if self.pool.form is None and self.pool.arena.awaited_by() is None:
            return Counted(0, self.at, of=(self,))  # nothing has been stored in any of them
        count = self.length()
        return Bounded((0, count), 0, count, self.at, of=(self,))

    def _columns(self) -> tuple[Form, list[Any]]:
        """The form of the items, and arrays of them."""
        room = self.pool.arena.room
        begin = self._head(_BEGIN)
        part = slice(begin, begin + self.length())
        return room.form, [wrap(array)[part] for array in room.arrays]

    def copy(self) -> TracedList:
        """As ``list.copy``: a list of its own."""
        if self.pool.form is None:
            return TracedList([])
        form, arrays = self._columns()
        return TracedList.of_columns(form, arrays, self.pool.arena.room.most)

    as_list = copy

    def _copied_deeply(self, is_fixed: Callable[[object], bool]) -> object:
        form = self.pool.form
        return self.copy() if form is None or are_fixed(form) else None

    def as_array(self, dtype: object = None) -> Any:
        if self.pool.form is None:
            return np.empty(0, dtype)
        form, arrays = self._columns()
        copies = [array.copy()._value for array in arrays]
        return array_of_list(form, copies, dtype, self._is_filled)

    def _as_places(self) -> object:
        form = self.pool.form
        return [] if form is None else self.as_array(dtype_as_places(form))

    def is_of_numbers(self) -> bool:
        """Whether ``as_array`` gives an array, see Note [Lists of numbers]."""
        return True

    def _has(self, x: object) -> object:
        return self.copy()._has(x) if self.pool.form is not None else False

    def __contains__(self, x: object) -> bool:
        return bool(self._has(x))

    def __add__(self, other: object) -> Any:
        if goes_first(other):
            return NotImplemented
        return self.copy() + (other.copy() if type(other) is PooledList else other)

    def __radd__(self, other: object) -> Any:
        return other + self.copy()

    def __mul__(self, count: Int) -> Any:
        if goes_first(count, repeating=True):
            return NotImplemented
        return self.copy() * count

    __rmul__ = __mul__

    # -------------------------------------------------------- changes

    def _check_not_running(self) -> None:
        """Refuse to change a list while a loop runs over it; a call in which one runs over another
        list of the pool, that turns out to be this one, is Python's.
        """
        self.pool.check_ours("a change")
        self.pool.changes += 1
        for each in current().statements:
            for x in getattr(getattr(each, "over", None), "of", ()):
                if type(x) is not PooledList or x.pool is not self.pool:
                    continue
                same = self.is_(x)
                if same is True or operand(same) is operand(x.is_(x)):
                    raise refuse(CHANGE_IN_LOOP, "a change to a list while a loop runs over it")
                demand(self.number != x.number)

    def begin_change(self, *more: object) -> bool:
        """Before a change that moves items, or takes in more of them: whether there is room."""
        self._check_not_running()
        return self.pool.has_room(*more)

    @property
    def changes(self) -> int:
        """How often a list of the pool has been changed."""
        return self.pool.changes

    def not_yet(self) -> object:
        """An item for a statement that will be recorded again."""
        return self.at(0)

    def append(self, x: object) -> None:
        x = kept(x)
        if self.begin_change(x):
            self._staged(appended, x)

    def move(self, place: Int, source: Int) -> None:
        """Have the item at another place at this one, too."""
        begin = self._head(_BEGIN)
        self.pool.move(begin + place, begin + source)

    def put_again(self, place: Int, x: object) -> None:
        """Store an item that the list has already."""
        if self.pool.form is not None:
            self.pool.arena.put_again(self._head(_BEGIN) + place, x)

    def shorten(self, number: Int) -> None:
        """Leave so many items."""
        self.pool.heads.set_part(self.number, _COUNT, number)

    def place(self, begin: Int, room: Int) -> None:
        """Have the items begin elsewhere, or have room for more of them."""
        self.pool.heads.set_part(self.number, _BEGIN, begin)
        self.pool.heads.set_part(self.number, _ROOM, room)

    def __setitem__(self, key: object, x: object) -> None:
        x = kept(x)
        self.pool.check_ours("a change")
        if isinstance(key, slice):
            raise self.refused("an assignment to a slice")
        if self.pool.has_room(x):
            self.pool.put(self._head(_BEGIN) + self.place_of(key), x)

    def clear(self) -> None:
        self._check_not_running()
        self.shorten(0)

    # -------------------------------------------------------- everything else

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or not hasattr(list, name):
            raise AttributeError(name)
        if name in ("count", "index"):
            return getattr(self.copy(), name)
        raise self.refused(f".{name}()")

    sort = ChangedList._sort
    reverse = ChangedList._reverse

    def __hash__(self) -> NoReturn:
        raise TypeError("unhashable type: 'list'")

    def refused(self, what: str) -> Exception:
        return refuse(
            COUNTED_LIST,
            f"{what} of a list in another one, whose length depends on data,",
            "use a loop over the items",
        )


def appended(items: PooledList, x: object) -> None:  # staged
    pool = items.pool
    begin, count, room = items.head()
    if count == room:
        end = pool.end()
        if begin + room == end:
            pool.set_end(end + 1)
            items.place(begin, room + 1)
        else:
            room = 2 * count + 4
            pool.set_end(end + room)
            for k in range(count):
                pool.move(end + k, begin + k)
            items.place(end, room)
            begin = end
    pool.put(begin + count, x)
    items.shorten(count + 1)
