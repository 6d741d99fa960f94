"""Lists of any length that stand in arrays, all in one. See Note [Pools of lists]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from fxc.ir.graph import Literal, Operand

from ..forms.form import Form
from ..forms.items import form_of_items, takes
from ..forms.leaving import array_of_list, dtype_as_places
from ..refusing import How, Request, Requests, refuse
from ..session import current
from ..statements.counted import Bounded, Counted
from .above import above
from .list_changes import delete, extend, taken
from .list_code import appended
from .list_parts import made
from .operands import Traced, operand, record, settled, wrap
from .records import Pooled
from .sized_lists import list_of_vector, sized, tuples_of
from .traced_lists import TracedList, place_among
from .truths import flag_of

# Note [Pools of lists]
# A list that an item of another one, or the value of a dict, is, and whose length depends on data
# (``neighbours[i].append(j)``, ``groups[key].append(v)``), is a *pooled* list, as a dict or an
# object may be a record (Note [Records]): the number of a list in a pool. A pool has all lists that
# are made at one place of the program. Its arena, a list of the graph, has the items of all of
# them, and its heads, another one, where in the arena the items of each list begin, how many there
# are, and how many there is room for. A list that is full goes on where it is, if it is the last in
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
    """The first place of those whose lists are to be in the pool that this one's are in; None where
    they are to be in none.
    """
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
        self.heads = TracedList([], outermost=True)
        self.arena = TracedList([], outermost=True, most=_MOST)

    def __repr__(self) -> str:
        return self.label

    def add(self, items: Any) -> PooledList:
        """A new list with these items."""
        heads = self.heads
        number = heads.length() if heads.items is not None else heads._number()
        heads.append((self.end(), 0, 0))
        made = PooledList(self, number)
        made.extend(items)
        return made

    def at(self, number: Any) -> PooledList:
        """The list of that number."""
        return PooledList(self, number)

    def check_ours(self, what: str) -> None:
        """Refuse what can be done with lists alone that the program has made."""
        if self.given:
            raise refuse(
                f"{what} of a list in a list from outside, at a place that depends on data, cannot "
                "be captured; use a copy"
            )

    # -------------------------------------------------------- the arena

    @property
    def form(self) -> Form | None:
        """What the items are; None if none has been appended yet."""
        return None if self.arena._room is None else self.arena._room.form

    def has_room(self, *more: Any) -> bool:
        """Whether there is room here for items; asks for it where there is none."""
        arena = self.arena
        owner = arena._owner_of_change(turns=False)
        if owner is not None and not arena._has_room(owner, *more):
            arena._wish(owner, *more, often=True)
            return False
        room = arena._room
        if owner is None and (room is None or not takes(room.form, *more)):
            arena.make_room(more, None, None)
        arena._known = None
        return True

    def end(self) -> Any:
        """How many places of the arena are taken."""
        return 0 if self.arena._room is None else self.arena._room.count

    def set_end(self, end: Any) -> None:
        """Take so many places."""
        room = self.arena._taken_room()
        current().record("try_demand", flag_of(end <= room.most))
        room.set_count(end)

    def put(self, place: Any, x: Any) -> None:
        """Store an item in the arena."""
        self.arena._put(place, x)

    def move(self, place: Any, source: Any) -> None:
        """Have an item of the arena at another place, too, if any has been appended."""
        if self.arena._room is not None:
            self.arena.move(place, source)

    def head(self, number: Any) -> tuple[Any, Any, Any]:
        """Where the items of a list begin, how many there are, and room for how many."""
        begin, count, room = (self.heads.part_at(number, part) for part in range(3))
        return begin, count, room

    def set_head(self, number: Any, begin: Any, room: Any) -> None:
        """Have the items of a list begin elsewhere."""
        self.heads.set_part(number, _BEGIN, begin)
        self.heads.set_part(number, _ROOM, room)

    def count(self, number: Any) -> Any:
        """The length of a list."""
        return self.heads.part_at(number, _COUNT)

    def set_count(self, number: Any, count: Any) -> None:
        """Set the length of a list."""
        self.heads.set_part(number, _COUNT, count)

    def begin(self, number: Any) -> Any:
        """Where the items of a list begin."""
        return self.heads.part_at(number, _BEGIN)


def rows_of(label: str, begins: Any, counts: Any, numbers: Any) -> TracedList:
    """The list of lists from outside, whose items, of which that many begin there, stand in a
    vector; ``label`` is that of the pool.
    """
    pool = ListPool(label, given=True)
    pool.heads = tuples_of([begins, counts, counts])
    pool.arena = list_of_vector(numbers)
    form = form_of_items([pool.at(0)], None)
    assert form is not None
    places = record("arange", Literal(0), Literal(1), length=begins._type.shape[0], dtype=_INT)
    return sized(form, (places._value,))


class PooledList(Pooled):
    """A list of a pool."""

    __slots__ = ()
    pool: ListPool

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return list

    def _holds(self) -> Iterable[Any]:
        return self.pool.heads, self.pool.arena

    def _snapshot(self, of: Callable[[Any], Any]) -> Any:
        return of(self.copy())

    def is_(self, other: Any) -> Any:
        """``self is other``."""
        self.pool.check_ours("'is'")
        return self.pool is other.pool and self.number == other.number

    # -------------------------------------------------------- reads

    def length(self) -> Any:
        """``len(self)``."""
        return self.pool.count(self.number)

    def _is_filled(self) -> Any:
        return self.length() > 0

    def __len__(self) -> int:
        return int(self.length())

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def __iter__(self) -> Iterator[Any]:
        found = self._counted()
        if type(found) is Bounded:
            raise self.refused("a use in Python")
        return iter(found)

    def at(self, place: Any) -> Any:
        """The item at a place that there is."""
        arena = self.pool.arena
        if arena._room is None:
            owner = arena._awaited_by()
            current().record("try_demand", Literal(False))
            return 0 if owner is None else arena._any_item(owner)
        return arena.at(self.pool.begin(self.number) + place)

    def place_of(self, key: Any) -> Any:
        """The place of an item, of which is checked that there is one."""
        return place_among(key, self.length())

    def __getitem__(self, key: Any) -> Any:
        return self.copy()[key] if isinstance(key, slice) else self.at(self.place_of(key))

    def _counted(self) -> Counted | Bounded:
        if self.pool.form is None and self.pool.arena._awaited_by() is None:
            return Counted(0, self.at, of=(self,))  # nothing has been stored in any of them
        count = self.length()
        return Bounded((0, count), 0, count, self.at, of=(self,))

    def _part(self) -> tuple[Form, list[Any]]:
        """The form of the items, and arrays of them."""
        room = self.pool.arena._taken_room()
        begin = self.pool.begin(self.number)
        part = slice(begin, begin + self.length())
        return room.form, [wrap(array)[part] for array in room.arrays]

    def copy(self) -> TracedList:
        """As ``list.copy``: a list of its own."""
        if self.pool.form is None:
            return TracedList([])
        form, arrays = self._part()
        return made(form, arrays, self.pool.arena._taken_room().most)

    def as_array(self, dtype: Any = None) -> Any:
        """``np.array(self, dtype)``."""
        if self.pool.form is None:
            return np.array([], dtype)
        form, arrays = self._part()
        copies = [array.copy()._value for array in arrays]
        return array_of_list(form, copies, dtype, self._is_filled)

    def _operand(self) -> Operand:
        found: Operand = operand(self.as_array())
        return found

    def _as_places(self) -> Any:
        form = self.pool.form
        return [] if form is None else self.as_array(dtype_as_places(form))

    def is_of_numbers(self) -> bool:
        """Whether ``as_array`` gives an array, see Note [Lists of numbers]."""
        return True

    def has(self, x: Any) -> Any:
        """``x in self``."""
        return self.copy().has(x) if self.pool.form is not None else False

    def __contains__(self, x: Any) -> bool:
        return bool(self.has(x))

    def __add__(self, other: Any) -> Any:
        return self.copy() + (other.copy() if type(other) is PooledList else other)

    def __radd__(self, other: Any) -> Any:
        return other + self.copy()

    def __mul__(self, count: Any) -> Any:
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
                    raise refuse("a change to a list while a loop runs over it cannot be captured")
                current().record("try_demand", flag_of(self.number != x.number))

    def begin_change(self, *more: Any) -> bool:
        """Before a change that moves items, or takes in more of them: whether there is room."""
        self._check_not_running()
        return self.pool.has_room(*more)

    def put_first(self, x: Any) -> bool:
        """Store an item before the others: these are to be moved."""
        return False

    @property
    def changes(self) -> int:
        """How often a list of the pool has been changed."""
        return self.pool.changes

    def python_items(self) -> Any:
        """Python knows the items of none of these lists."""
        return None

    def any_item(self) -> Any:
        """What stands for an item in a statement that will be recorded again."""
        return self.at(0)

    def append(self, x: Any) -> None:
        """As ``list.append``."""
        x = settled(x)
        if self.begin_change(x):
            current().door.staged(appended)(self.pool, self.number, x)

    def extend(self, more: Any) -> None:
        """As ``list.extend``."""
        if isinstance(more, Traced):
            extend(self, more)
        elif items := list(more):
            self._extend_by(items)

    def _extend_by(self, items: Sequence[Any]) -> None:
        for x in items:
            self.append(x)

    def __iadd__(self, more: Any) -> PooledList:
        self.extend(more)
        return self

    def move(self, place: Any, source: Any) -> None:
        """Have the item at another place at this one, too."""
        begin = self.pool.begin(self.number)
        self.pool.move(begin + place, begin + source)

    def put_again(self, place: Any, x: Any) -> None:
        """Store an item that the list has already."""
        room = self.pool.arena._room
        if room is not None:
            room.put(self.pool.begin(self.number) + place, x)

    def shorten(self, number: Any) -> None:
        """Leave so many items."""
        self.pool.set_count(self.number, number)

    def __setitem__(self, key: Any, x: Any) -> None:
        x = settled(x)
        self.pool.check_ours("a change")
        if isinstance(key, slice):
            raise self.refused("an assignment to a slice")
        if self.pool.has_room(x):
            self.pool.put(self.pool.begin(self.number) + self.place_of(key), x)

    def __delitem__(self, key: Any) -> None:
        delete(self, key)

    def pop(self, place: Any = -1) -> Any:
        """As ``list.pop``."""
        return taken(self, place)

    def clear(self) -> None:
        """As ``list.clear``."""
        self._check_not_running()
        self.shorten(0)

    # -------------------------------------------------------- everything else

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(list, name):
            raise AttributeError(name)
        if name in above().list_methods:
            return partial(above().list_methods[name], self)
        if name in ("count", "index"):
            return getattr(self.copy(), name)
        raise self.refused(f".{name}()")

    def __hash__(self) -> NoReturn:
        raise TypeError("unhashable type: 'list'")

    def refused(self, what: str) -> Exception:
        return refuse(
            f"{what} of a list in another one, whose length depends on data, cannot be captured; "
            "use a loop over the items"
        )
