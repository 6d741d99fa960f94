"""Dicts and sets with keys that are known at run time only. See Note [Dicts of the graph]."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.symbols import Dim

from ..forms.form import Constant, Form, Items, Union, columns_of, types_of
from ..forms.items import form_of_items, item_of, takes
from ..locations import user_location
from ..refusing import How, Request, Respecialise, refuse
from ..session import current
from ..statements.choices import chosen
from ..statements.counted import Bounded, Counted
from ..statements.structured import Statement
from .dict_code import (
    ADDED,
    LEAST_PLACES,
    best,
    common,
    copied,
    counted_more,
    counter_of,
    filled,
    looked_up,
    made_by_a_read,
    most_common,
    set_default,
    stored,
    total,
    united,
    without,
)
from .list_room import Room
from .mixed import number_of, scalar_kinds
from .open_dicts import OpenDict
from .operands import Limited, Traced, operand, settled, variable_of, wrap
from .options import options_in
from .python_numbers import to_int
from .several import Several
from .several import united as one_of
from .texts import Char, code_of, is_char
from .traced_int import TracedInt, scalar_of_int, wrap_dim
from .traced_lists import MOST_KEYS, TracedList
from .truths import flag_of
from .unknown_keys import is_int, is_text

# Note [Dicts of the graph]
# A dict or a set of the program into which a key goes that is known at run time only, an int, a
# character, one known text or another, or a tuple of these, or that gets a new key in a branch or
# loop, lives in the graph: its items, in their order, are a list of tuples
# (Note [Lists of counted length]), and a table of at least twice as many places has, at the place
# that a key's bits say or behind it, the number of its item. It begins with a few places, and is
# filled anew with twice as many when half of them are taken. Nothing is ever taken out. Which dicts
# may be so is known by the line where they are made: the capture starts again when the first key
# comes.
# What is done with items one by one is Python code (dict_code.py), staged like the user's own.


class MadeDicts:
    """The dicts and sets that the program of a capture makes, by the line where it does."""

    def __init__(self) -> None:
        self._labels: dict[int, tuple[str, Any]] = {}
        self._words: dict[str, int] = {}

    def number_of_text(self, text: str) -> int:
        """What stands for a text among keys."""
        return self._words.setdefault(text, len(self._words))

    def made(self, items: object) -> Any:
        """A dict or a set that the program makes here."""
        if type(items) not in (dict, set, OrderedDict) and not _counts(items):
            return items
        label, session = f"dict at {user_location()}", current()
        asked = session.asked(label)
        if type(items) is dict and How.OPEN in asked:
            return OpenDict(items)
        if How.IN_GRAPH in asked and How.BY_PYTHON not in asked and _may_be(items):
            session.retries |= {Request(label, How.BY_PYTHON)}
            return TracedDict(items, label)
        self._labels[id(items)] = label, items
        return items

    def ask(self, items: object) -> None:
        """Begin again with a dict or set of the graph in place of this one, if it may be one."""
        label, _ = self._labels.get(id(items), (None, None))
        if label is not None and How.IN_GRAPH not in current().asked(label) and _may_be(items):
            raise Respecialise(Request(label, How.IN_GRAPH))

    def ask_open(self, items: object) -> None:
        """Begin again with an ``OpenDict`` in place of a dict that gets a key by a condition."""
        label, _ = self._labels.get(id(items), (None, None))
        if label is not None and type(items) is dict:
            raise Respecialise(Request(label, How.OPEN))


def _counts(items: object) -> bool:
    if type(items) is not defaultdict:
        return type(items) is Counter
    factory = _factory_of(items)
    return factory in (int, float, list) or type(factory) is FunctionType


def _factory_of(items: defaultdict[Any, Any]) -> Any:
    """What makes missing items, as the program has it; it stands in a call of the door's."""
    made = items.default_factory
    return made.args[0] if isinstance(made, partial) and made.args else made


def _may_be(items: Any) -> bool:
    return all(is_key(key) for key in items)


def is_key(key: object) -> bool:
    """Whether a key is an int, a character, one text or another, or a tuple of these."""
    parts = key if type(key) is tuple and key else (key,)
    return all(is_int(x) or is_char(x) or is_text(x) for x in parts)


def _sure(key: object) -> Any:
    """A key that may be None, where it is not: None is no key of a dict of the graph."""
    is_none = type(key) is Several and any(x is None for _, x in key.options)
    return key.only(lambda x: x is not None) if is_none else key  # type: ignore[attr-defined]


def _shape_of(key: object) -> Any:
    """What tells keys apart that are never equal."""
    if type(key) is tuple:
        return tuple(map(_shape_of, key))
    return "text" if is_text(key) else type(key) is Char


def _shape_of_form(form: Form) -> Any:
    """The same of all keys of a form."""
    match form:
        case Union(options):
            is_text = all(isinstance(x, Constant) and type(x.value) is str for x in options)
            return "text" if is_text else form
        case Items(structure, items):
            return True if structure.is_traced else tuple(map(_shape_of_form, items))
        case _:
            return False


def _plain_int(x: Any) -> Any:
    """An int of Python's or NumPy's, or what stands for a text, as an int of Python's."""
    x = x.code if type(x) is Char else x
    if is_text(x):
        number = current().door.dicts.number_of_text
        x = one_of([(flag, number(text)) for flag, text in options_in(x)])
    if type(x) is TracedInt:
        return scalar_of_int(x)
    return to_int(number_of(x)) if isinstance(x, Traced) else int(x)


class TracedDict(Limited):
    """A dict, a Counter, a defaultdict of numbers or a set of the graph."""

    __slots__ = ("_default", "_label", "_mask", "_of_texts", "_table", "factory", "items_", "of")

    def __init__(self, items: Any, label: str) -> None:
        self.of: type = type(items)
        self._label = label
        self.factory = _factory_of(items) if self.of is defaultdict else None
        self._default = None if self.factory is None else self.made_default()
        self._of_texts = How.OF_TEXTS in current().asked(label)
        keys = map(self._as_key, items)
        of_set = self.of is set
        values: Any = ((),) * len(items) if of_set else ((x,) for x in items.values())
        self.items_ = TracedList([(key, *x) for key, x in zip(keys, values, strict=True)])
        self._table: Value | None = None
        self._mask: Value | None = None

    def _holds(self) -> Iterable[Any]:
        return (self.items_,)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.of

    def made_default(self) -> Any:
        """A value for a key that a defaultdict does not have."""
        door = current().door
        if self.factory is list:
            found = door.held_list([], self._label)
            door.lists.ask_pool(found)
            return found
        found = door.call(self.factory)
        if scalar_kinds(found) is None:
            raise self.refused("another default than a number or a list")
        return found

    def _snapshot(self, of: Callable[[Any], Any]) -> Any:
        found = object.__new__(TracedDict)
        found.of, found.factory, found.items_ = self.of, self.factory, self.items_._snapshot(of)
        found._label, found._of_texts = self._label, self._of_texts
        return found

    # -------------------------------------------------------- room

    @property
    def _room(self) -> Room | None:
        return self.items_._room if self._table is not None else None

    def make_room(self, samples: Sequence[Any], more: Dim | None, owner: Statement | None) -> bool:
        """As that of lists; the table has the items that there are."""
        known = self.items_.items
        if not self.items_.make_room(samples, MOST_KEYS if more is None else more, owner):
            return False
        room, session = self.items_._taken_room(), current()
        size = 4 * room.most + LEAST_PLACES
        self._table = session.record("empty", (size,), np.dtype("i4"), layout=None)
        self._mask = session.record("empty", (1,), np.dtype("i8"), layout=None)
        self.fill(None if known is None else len(known))
        return True

    def fill(self, count: int | None = None) -> None:
        """Fill the table anew, by so many items, or as many as there are."""
        number = self.items_.length() if count is None else count
        current().door.staged(filled)(self, number)

    def _mask_now(self) -> Any:
        assert self._mask is not None
        return to_int(wrap(self._mask)[0])

    def _has_room(self, *more: object) -> bool:
        """Whether there is room here; asks for it where there is none."""
        owner = self.items_._owner(current())
        if owner is None:
            fits = self._room is not None and takes(self._room.form, *more)
            if not fits and not self.make_room(more, None, None):
                raise refuse("a dict of which nothing says what it holds cannot be captured")
            return True
        if self._table is not None and self.items_._has_room(owner, *more):
            return True
        assert owner.recording is not None
        owner.wishes.note(self, more, once=not current().in_loop(owner.recording.number))
        return False

    def _is_readable(self) -> bool:
        """Whether there is a table here, of what has been stored before; else there will be."""
        return self._table is not None or self._has_room()

    # -------------------------------------------------------- keys

    def _as_key(self, key: object) -> Any:
        """A key with its characters as such, if all texts among the keys are characters."""
        if type(key) is tuple:
            return tuple(map(self._as_key, key))
        if self._of_texts or type(key) is Char:
            return key
        if is_char(key):
            return Char(code_of(key))
        if is_text(key):
            raise Respecialise(Request(self._label, How.OF_TEXTS))
        return key

    def _numbers(self, key: object) -> list[Any]:
        """The ints of a key."""
        parts = key if type(key) is tuple else (key,)
        if not is_key(key):
            raise refuse(
                "a key of a dict of the graph is an int, a character or a tuple of these; use them"
            )
        return [_plain_int(self._as_key(settled(x))) for x in parts]

    def key_at(self, place: Any) -> list[Any]:
        """The ints of the key of an item."""
        assert self._room is not None
        form, places = self._key_form, iter(self._room.arrays)
        is_tuple = type(_shape_of_form(form)) is tuple
        found = []
        for each in columns_of(form) if is_tuple else (form,):
            read = [operand(wrap(next(places))[place]) for _ in types_of(each)]
            is_text = isinstance(each, Union)
            found.append(_plain_int(item_of(each, read) if is_text else variable_of(read[0])))
        return found

    @property
    def _key_form(self) -> Form:
        assert self._room is not None
        return columns_of(self._room.form)[0]

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

    def slot(self, bits: Any) -> Any:
        """The place in the table for some bits."""
        return bits & self._mask_now()

    def set_size(self, size: Any) -> None:
        """Use so many places of the table, a power of two."""
        assert self._mask is not None
        wrap(self._mask)[0] = size - 1

    def is_crowded(self) -> Any:
        """Whether more than half of the places that are used are taken."""
        return 2 * self.items_._taken_room().count > self._mask_now()

    def _found(self, key: object) -> tuple[Any, Any]:
        """The place in the table of a key, or for it, and the number of its item, from 1."""
        key = _sure(key)
        numbers = self._numbers(key)
        if _shape_of_form(self._key_form) != _shape_of(self._as_key(key)):
            raise refuse("keys of several kinds in a dict of the graph cannot be captured")
        return self.looked_up(numbers)

    def looked_up(self, numbers: Sequence[Any]) -> tuple[Any, Any]:
        """The same of the ints of a key."""
        return current().door.staged(looked_up)(self, numbers)  # type: ignore[no-any-return]

    # -------------------------------------------------------- reads

    def has(self, key: object) -> Any:
        """``key in self``."""
        if self._is_empty():
            return False
        if not self._is_readable():
            return self._any_form() is not None and self.items_._any_number() > 0
        return self._found(key)[1] > 0

    def _is_empty(self) -> bool:
        """Whether there is nothing in it for sure."""
        return self._room is None and not self.items_._items and self._is_home()

    def _is_home(self) -> bool:
        """Whether no statement that may store is being recorded."""
        return self.items_._owner(current()) is None

    def __getitem__(self, key: object) -> Any:
        if self.of is set:
            raise TypeError("'set' object is not subscriptable")
        key = settled(key)
        if self.of is defaultdict:
            return self._made_by_a_read(key)
        if self.of is Counter:
            return self.get(key, 0)
        if not self._is_readable():
            return self._any_item()[1]
        _, number = self._found(key)
        current().record("try_demand", flag_of(number > 0))  # else Python raises a KeyError
        return self.items_.at(number - 1)[1]

    def _made_by_a_read(self, key: object) -> Any:
        key = self._as_key(key)
        if not self._has_room((key, self._default)):
            return self._default
        return current().door.staged(made_by_a_read)(self, key)

    def get(self, key: Any, default: Any = None) -> Any:
        """As ``dict.get``."""
        if self.of is set:
            raise AttributeError("'set' object has no attribute 'get'")
        if self._is_empty():
            return default
        if not self._is_readable():
            is_known = default is None and self._any_form() is not None
            return self._any_item()[1] if is_known else default
        _, number = self._found(key)
        door = current().door
        return chosen(door, number > 0, lambda: self.items_.at(number - 1)[1], lambda: default)

    def _any_item(self) -> Any:
        """What stands for an item that is not there yet."""
        form = self._any_form()
        return (0, 0) if form is None else self.items_._any_item_of(form)

    def _any_form(self) -> Form | None:
        """What is known of items that are not there yet. None for nothing: as long as no iteration
        that was recorded has stored one, there are none, and what is done with those is not looked
        at before the statement is recorded again.
        """
        items = self.items_
        if items._room is not None:
            return items._room.form
        owner = items._owner(current())
        known = [] if owner is None else owner.wishes.samples(self)
        return form_of_items([*(items._items or ()), *known], None)

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

    def best(self, key: object, largest: bool) -> Any:
        """``max(self, key=key)`` or ``min``."""
        if not self._has_no_wish():
            return self._any_item()[0]
        current().record("try_demand", flag_of(self._is_filled()))  # else Python raises
        first = self.items_.at(0)[0] if self.items_.items is None else self.items_.items[0][0]
        return current().door.staged(best)(self.in_any_order(), first, key, largest)

    def copy(self) -> Any:
        """As ``dict.copy``, or that of its like."""
        if self.of is set:
            return self._with("|", united, self, set())
        if self.of in (defaultdict, OrderedDict):
            raise self.refused("a copy")
        staged: Any = counter_of if self.of is Counter else copied
        return current().door.staged(staged)(self.items())

    def as_dict(self) -> Any:
        """``dict(self)``."""
        return current().door.staged(copied)(self.items())

    # -------------------------------------------------------- changes

    def __setitem__(self, key: object, value: object) -> None:
        if self.of is set:
            raise TypeError("'set' object does not support item assignment")
        self._store((self._as_key(_sure(settled(key))), settled(value)))

    def add(self, key: Any) -> None:
        """As ``set.add``."""
        if self.of is not set:
            raise AttributeError(f"{self.of.__name__!r} object has no attribute 'add'")
        self._store((self._as_key(_sure(settled(key))),))

    def setdefault(self, key: object, default: object = None) -> Any:
        """As ``dict.setdefault``."""
        if self.of is set:
            raise AttributeError("'set' object has no attribute 'setdefault'")
        return current().door.staged(set_default)(self, key, default)

    def update(self, *others: object, **items: object) -> None:
        """As ``dict.update``, or that of its like."""
        if items:
            raise self.refused("a keyword of update()")
        staged: Any = ADDED[self.of]
        for other in others:
            pairs = other.items() if isinstance(other, dict) and self.of is not set else other
            if self.of is Counter and isinstance(other, dict):
                staged = counted_more
            current().door.staged(staged)(self, any_order(pairs))

    def most_common(self, n: object = None) -> Any:
        """As ``Counter.most_common``."""
        if self.of is not Counter:
            raise AttributeError(f"{self.of.__name__!r} object has no attribute 'most_common'")
        return current().door.staged(most_common)(self, n)

    def total(self) -> Any:
        """As ``Counter.total``."""
        if self.of is not Counter:
            raise AttributeError(f"{self.of.__name__!r} object has no attribute 'total'")
        return current().door.staged(total)(self)

    def _store(self, item: tuple[Any, ...]) -> None:
        self._numbers(item[0])
        self.items_._owner_of_change(turns=False)
        if self._has_room(item):
            current().door.staged(stored)(self, item)

    def find(self, key: object) -> tuple[Any, Any]:
        """See ``_found``; called by what is staged."""
        return self._found(key)

    def put(self, place: Any, item: tuple[Any, ...]) -> None:
        """Store what belongs to the key of an item, which stays."""
        if len(item) > 1:
            self.items_.set_part(place, 1, item[1])

    def put_key(self, slot: Any, key: object) -> Any:
        """Store a key behind the others, whose item is stored next; how many these are then."""
        room, table = self.items_._taken_room(), self._table
        assert table is not None
        number = room.count
        current().record("try_demand", flag_of(number < wrap_dim(room.most)))
        self.items_.set_part(number, 0, key)
        room.set_count(number + 1)
        self.items_._known = None
        wrap(table)[slot] = number + 1
        return number + 1

    def number(self, slot: Any, number: object) -> None:
        """Have the table say where an item is."""
        assert self._table is not None
        wrap(self._table)[slot] = number

    # -------------------------------------------------------- everything else

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self.of, name):
            raise AttributeError(name)
        raise self.refused(f".{name}()")

    def __contains__(self, key: object) -> bool:
        return bool(self.has(key))

    def __or__(self, other: object) -> Any:
        return self._with("|", united, self, other)

    def __and__(self, other: object) -> Any:
        return self._with("&", common, self, other)

    def __rand__(self, other: object) -> Any:
        return self._with("&", common, other, self)

    def __sub__(self, other: object) -> Any:
        return self._with("-", without, self, other)

    def __rsub__(self, other: object) -> Any:
        return self._with("-", without, other, self)

    def __ror__(self, other: object) -> Any:
        return self._with("|", united, other, self)

    def __ior__(self, other: object) -> Any:
        if self.of is Counter:
            raise self.refused("|=")
        self.update(other)
        return self

    def _with(self, name: str, staged: object, left: object, right: object) -> Any:
        """What an operator of sets gives."""
        if not all(each.__class__ is set for each in (left, right)):
            raise self.refused(name)
        return current().door.staged(staged)(any_order(left), any_order(right), right)

    def __xor__(self, other: object) -> Any:
        raise self.refused("^")

    __hash__ = None  # type: ignore[assignment]
    __rxor__ = __iand__ = __isub__ = __ixor__ = __xor__

    def refused(self, what: str) -> Exception:
        return refuse(
            f"{what} of a {self.of.__name__} with keys that depend on data cannot be captured"
        )


def any_order(items: object) -> Any:
    """What a loop runs over in whose order a set does not show."""
    return items.in_any_order() if type(items) is TracedDict and items.of is set else items
