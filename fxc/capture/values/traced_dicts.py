"""Dicts and sets with keys that are known at run time only. See Note [Dicts of the graph]."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Operand, Value
from fxc.ir.symbols import Dim

from ..locations import user_location
from ..session import Respecialise, current, refuse
from ..statements.choices import chosen
from ..statements.counted import Bounded, Counted
from ..statements.structured import Statement, flag_of
from .kinds import ItemKind, kind_of_items
from .list_room import Room
from .open_dicts import OpenDict
from .operands import Traced, operand, settled, wrap
from .python_numbers import to_int
from .traced_int import TracedInt, scalar_of_int
from .traced_lists import TracedList
from .unknown_keys import is_int

# Note [Dicts of the graph]
# A dict or a set of the program into which a key goes that is known at run time only, an int or a
# tuple of ints, lives in the graph: its items, in their order, are a list of tuples (Note [Lists of
# counted length]), and a table of as many places as a power of two says has, at the place that a
# key's bits say or behind it, the number of its item. Nothing is ever taken out. Which dicts may be
# so is known by the line where they are made: the capture starts again when the first key comes.

_MOST = 2**16  # items where the number of iterations is not known
_LABEL = "dict at"
_OPEN = " with keys by a condition"


class MadeDicts:
    """The dicts and sets that the program of a capture makes, by the line where it does."""

    def __init__(self) -> None:
        self._labels: dict[int, tuple[str, Any]] = {}

    def made(self, items: Any) -> Any:
        """A dict or a set that the program makes here."""
        if type(items) not in (dict, set) and not _counts(items):
            return items
        label, session = f"{_LABEL} {user_location()}", current()
        if type(items) is dict and f"{label}{_OPEN}" in session.static:
            return OpenDict(items)
        by_python = f"{label} by Python"
        if label in session.static and by_python not in session.static and _may_be(items):
            session.retries |= {by_python}
            return TracedDict(items)
        self._labels[id(items)] = label, items
        return items

    def ask(self, items: Any) -> None:
        """Begin again with a dict or set of the graph in place of this one, if it may be one."""
        label, _ = self._labels.get(id(items), (None, None))
        if label is not None and label not in current().static and _may_be(items):
            raise Respecialise(frozenset((label,)))

    def ask_open(self, items: Any) -> None:
        """Begin again with an ``OpenDict`` in place of a dict that gets a key by a condition."""
        label, _ = self._labels.get(id(items), (None, None))
        if label is not None and type(items) is dict:
            raise Respecialise(frozenset((f"{label}{_OPEN}",)))


def _counts(items: Any) -> bool:
    return type(items) is defaultdict and items.default_factory in (int, float)


def _may_be(items: Any) -> bool:
    return all(is_key(key) for key in items)


def is_key(key: Any) -> bool:
    """Whether a key is an int, or a tuple of ints."""
    return all(map(is_int, key)) and bool(key) if type(key) is tuple else is_int(key)


def _plain_int(x: Any) -> Any:
    """An int of Python's or NumPy's as one of Python's."""
    if type(x) is TracedInt:
        return scalar_of_int(x)
    return to_int(x) if isinstance(x, Traced) else int(x)


class TracedDict(Traced):
    """A dict, a defaultdict of numbers or a set of the graph."""

    __slots__ = ("_known", "_table", "_zero", "items_", "of")

    def __init__(self, items: Any) -> None:
        self.of: type = type(items)
        self._zero = items.default_factory() if self.of is defaultdict else None
        pairs = [(key,) for key in items] if self.of is set else list(items.items())
        self.items_ = TracedList(pairs)
        self._table: Value | None = None

    def _holds(self) -> Iterable[Any]:
        return (self.items_,)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.of

    # -------------------------------------------------------- room

    @property
    def _room(self) -> Room | None:
        return self.items_._room if self._table is not None else None

    def make_room(self, samples: Sequence[Any], more: Dim | None, owner: Statement | None) -> bool:
        """As that of lists; the table has the items that there are."""
        if not self.items_.make_room(samples, _MOST if more is None else more, owner):
            return False
        room = self.items_._taken_room()
        if not isinstance(room.most, int):
            raise refuse("a dict with as many items as a size says cannot be captured")
        size = 1 << (2 * room.most - 1).bit_length()
        self._table = current().record("zeros", (size,), np.dtype("i4"), layout=None)
        staged: Any = _filled
        current().door.staged(staged)(self, self.items_.length())
        return True

    def _has_room(self, *more: Any) -> bool:
        """Whether there is room here; asks for it where there is none."""
        owner = self.items_._owner(current())
        if owner is None:
            fits = self._room is not None and all(map(self._room.kind.takes, more))
            if not fits and not self.make_room(more, None, None):
                raise refuse("a dict of which nothing says what it holds cannot be captured")
            return True
        if self._table is not None and self.items_._has_room(owner, *more):
            return True
        assert owner.recording is not None
        owner.wishes.note(self, more, once=not current().in_loop(owner.recording.number))
        return False

    # -------------------------------------------------------- keys

    def _numbers(self, key: Any) -> list[Any]:
        """The ints of a key."""
        parts = key if type(key) is tuple else (key,)
        if not is_key(key):
            raise refuse("a key of a dict of the graph is an int or a tuple of ints; use these")
        return [_plain_int(x) for x in map(settled, parts)]

    def key_at(self, place: Any) -> list[Any]:
        """The ints of the key of an item."""
        assert self._room is not None
        kind, places = self._key_kind, iter(self._room.arrays)
        parts = [kind] if kind.items is None else list(kind.items)
        found = []
        for each in parts:
            arrays = [next(places) for _ in each.parts]
            found.append(to_int(wrap(operand(wrap(arrays[0])[place]))))  # type: ignore[arg-type]
        return found

    @property
    def _key_kind(self) -> ItemKind:
        assert self._room is not None
        assert self._room.kind.items is not None
        return self._room.kind.items[0]

    def is_at(self, place: Any, key: Any) -> Any:
        """Whether the key of an item is this one."""
        found: Any = True
        for one, other in zip(self.key_at(place), key, strict=True):
            same = one == other
            found = same if found is True else np.logical_and(found, same)
        return found

    def number_at(self, slot: Any) -> Any:
        """What the table has: the number of an item, from 1; 0 for none."""
        assert self._table is not None
        return to_int(wrap(self._table)[slot])

    @property
    def mask(self) -> int:
        """What the bits of a key are cut to."""
        assert self._table is not None
        (size,) = self._table.type.shape
        assert isinstance(size, int)
        return size - 1

    def _found(self, key: Any) -> tuple[Any, Any]:
        """The place in the table of a key, or for it, and the number of its item, from 1."""
        numbers = self._numbers(key)
        form = len(self._key_kind.items) if self._key_kind.items is not None else None
        if form != (len(key) if type(key) is tuple else None):
            raise refuse("keys of several lengths in a dict of the graph cannot be captured")
        return self.looked_up(numbers)

    def looked_up(self, numbers: Sequence[Any]) -> tuple[Any, Any]:
        """The same of the ints of a key."""
        staged: Any = _looked_up
        found: tuple[Any, Any] = current().door.staged(staged)(self, numbers)
        return found

    # -------------------------------------------------------- reads

    def has(self, key: Any) -> Any:
        """``key in self``."""
        if self._room is None and not self.items_._items and self._is_home():
            return False
        if not self._has_room():
            return self.items_._any_number() > 0
        return self._found(key)[1] > 0

    def _is_home(self) -> bool:
        """Whether no statement that may store is being recorded."""
        return self.items_._owner(current()) is None

    def __getitem__(self, key: Any) -> Any:
        if self.of is set:
            raise TypeError("'set' object is not subscriptable")
        key = settled(key)
        if self.of is defaultdict:
            return self._made_by_a_read(key)
        if not self._has_room():
            return self._any_item()[1]
        _, number = self._found(key)
        current().record("try_demand", flag_of(number > 0))  # else Python raises a KeyError
        return self.items_.at(number - 1)[1]

    def _made_by_a_read(self, key: Any) -> Any:
        sample = (key, self._zero)
        if not self._has_room(sample):
            return self._zero
        staged: Any = _made_by_a_read
        return current().door.staged(staged)(self, key, self._zero)

    def get(self, key: Any, default: Any = None) -> Any:
        """As ``dict.get``."""
        if self.of is set:
            raise AttributeError("'set' object has no attribute 'get'")
        if not self._has_room():
            return default if default is not None else self._any_item()[1]
        _, number = self._found(key)
        door = current().door
        return chosen(door, number > 0, lambda: self.items_.at(number - 1)[1], lambda: default)

    def _any_item(self) -> Any:
        """What stands for an item that is not there yet."""
        items = self.items_
        owner = items._owner(current())
        known = [] if owner is None else owner.wishes.samples(self)
        if items._room is not None:
            return items._any_item_of(items._room.kind)
        kind = kind_of_items([*(items._items or ()), *known], None)
        return (0, 0) if kind is None else items._any_item_of(kind)

    def length(self) -> Any:
        """``len(self)``."""
        return self.items_.length() if self._has_no_wish() else self.items_._any_number()

    def _has_no_wish(self) -> bool:
        inside = current().statements
        awaited = any(each.wishes.has(self) for each in inside)
        return self._table is not None or not awaited

    def __len__(self) -> int:
        return int(self.length())

    def _is_filled(self) -> Any:
        return self.length() > 0

    def _counted(self) -> Any:
        found = self._mapped(0)
        return None if type(found) is list else found

    def _mapped(self, part: int | None) -> Any:
        """The keys, the values, or the items, one after the other."""
        if self.of is set:
            raise refuse("the order of a set with keys that depend on data is not captured")
        return self.in_any_order(part)

    def in_any_order(self, part: int | None = 0) -> Any:
        """The same, where the order does not show."""
        if not self._has_no_wish():
            number, item = self.items_._any_number(), self._any_item()
            found = item if part is None else item[part]
            return Bounded((0, number), 0, number, lambda place: found, (self.items_,))
        items = self.items_._counted()
        if items is None:
            return [each if part is None else each[part] for each in self.items_._items]
        if type(items) is Bounded:
            low, high = items.low, items.high
            return Bounded((low, high), low, high, self._part_at(part), items.of)
        return Counted(items.count, self._part_at(part), of=items.of)

    def _part_at(self, part: int | None) -> Any:
        def at(place: Any) -> Any:
            found = self.items_.at(place)
            return found if part is None else found[part]

        return at

    def keys(self) -> Any:
        """As ``dict.keys``."""
        return self._mapped(0)

    def values(self) -> Any:
        """As ``dict.values``."""
        return self._mapped(1)

    def items(self) -> Any:
        """As ``dict.items``."""
        return self._mapped(None)

    def __iter__(self) -> Iterator[Any]:
        found = self._mapped(0)
        return iter(found)

    # -------------------------------------------------------- changes

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.of is set:
            raise TypeError("'set' object does not support item assignment")
        self._store((settled(key), settled(value)))

    def add(self, key: Any) -> None:
        """As ``set.add``."""
        if self.of is not set:
            raise AttributeError(f"{self.of.__name__!r} object has no attribute 'add'")
        self._store((settled(key),))

    def _store(self, item: tuple[Any, ...]) -> None:
        self._numbers(item[0])
        self.items_._owner_of_change(turns=False)
        if self._has_room(item):
            staged: Any = _stored
            current().door.staged(staged)(self, item)

    def find(self, key: Any) -> tuple[Any, Any]:
        """See ``_found``; called by what is staged."""
        return self._found(key)

    def put(self, place: Any, item: tuple[Any, ...]) -> None:
        """Store what belongs to the key of an item, which stays."""
        if len(item) > 1:
            self.items_._put(place, (self.items_.at(place)[0], item[1]))

    def put_new(self, slot: Any, item: tuple[Any, ...]) -> None:
        """Store an item behind the others."""
        room, table = self.items_._taken_room(), self._table
        assert table is not None
        number = room.count
        current().record("try_demand", flag_of(number < room.most))
        self.items_._put(number, item)
        room.set_count(number + 1)
        self.items_._known = None
        wrap(table)[slot] = number + 1

    def number(self, slot: Any, number: Any) -> None:
        """Have the table say where an item is."""
        assert self._table is not None
        wrap(self._table)[slot] = number

    # -------------------------------------------------------- everything else

    def _operand(self) -> Operand:
        raise self._refused("this operation")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self.of, name):
            raise AttributeError(name)
        raise self._refused(f".{name}()")

    def __contains__(self, key: Any) -> bool:
        return bool(self.has(key))

    def __delitem__(self, key: Any) -> None:
        raise self._refused("del")

    def __eq__(self, other: object) -> bool:
        raise self._refused("==")

    def __ne__(self, other: object) -> bool:
        raise self._refused("!=")

    def __or__(self, other: object) -> Any:
        raise self._refused("|")

    __hash__ = None  # type: ignore[assignment]
    __ror__ = __ior__ = __and__ = __sub__ = __xor__ = __or__

    def __repr__(self) -> str:
        raise self._refused("the text")

    def _refused(self, what: str) -> Exception:
        return refuse(
            f"{what} of a {self.of.__name__} with keys that depend on data cannot be captured"
        )


# ------------------------------------------------------------------ staged


def _looked_up(items: Any, key: Any) -> Any:
    bits = key[0]
    for part in key[1:]:
        bits = (bits & 0xFFFFFFFF) * 1000003 ^ part
    slot = ((bits & 0xFFFFFFFFFFFF) + ((bits >> 15) & 0xFFFFFFFF)) & items.mask
    number = items.number_at(slot)
    while number > 0 and not items.is_at(number - 1, key):
        slot = (slot + 1) & items.mask
        number = items.number_at(slot)
    return slot, number


def _stored(items: Any, item: Any) -> None:
    slot, number = items.find(item[0])
    if number > 0:
        items.put(number - 1, item)
    else:
        items.put_new(slot, item)


def _made_by_a_read(items: Any, key: Any, zero: Any) -> Any:
    slot, number = items.find(key)
    if number > 0:
        return items.items_.at(number - 1)[1]
    items.put_new(slot, (key, zero))
    return zero


def _filled(items: Any, count: Any) -> None:
    for place in range(count):
        key = items.key_at(place)
        slot, _ = items.looked_up(key)
        items.number(slot, place + 1)
