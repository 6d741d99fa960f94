"""The items of dicts and sets of the graph, in a buffer, and the table that finds them by key.

See Note [Dicts of the graph].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.error_kinds import KEYS_OF_DATA
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim

from ..forms.form import Form, columns_of, key_shape, types_of
from ..forms.mixed import number_of
from ..forms.options import options_in
from ..forms.several import Several, united
from ..lists.list_buffers import Buffer, any_of
from ..lists.list_contents import MOST_KEYS
from ..lists.list_room import Int
from ..lists.texts import Char, code_of, is_char
from ..lists.traced_lists import TracedList
from ..numbers.python_numbers import to_int
from ..numbers.traced_int import scalar_of_int, wrap_dim
from ..session.refusing import How, Request, Respecialise, refusal, refuse
from ..session.session import current
from ..values.operands import Traced, operand, settled, variable_of, wrap

if TYPE_CHECKING:
    from ..regions.structured import Statement

# See Note [Rooms with one door].
is_int = import_later("fxc.capture.dicts.unknown_keys", "is_int")
is_name = import_later("fxc.capture.dicts.unknown_keys", "is_name")
is_text = import_later("fxc.capture.dicts.unknown_keys", "is_text")
arrays_in = import_later("fxc.capture.forms.items", "arrays_in")
item_of = import_later("fxc.capture.forms.items", "item_of")
demand = import_later("fxc.capture.forms.truths", "demand")

# Note [Dicts of the graph]
# A dict or a set of the program into which a key goes that is known at run time only, an int, a
# character, one known text or another, or a tuple of these, or that gets a new key in a branch or
# loop, lives in the graph: its items, in their order, are a buffer of tuples
# (Note [Lists of counted length]), and a table of at least twice as many places has, at the place
# that a key's bits say or behind it, the number of its item. It begins with a few places, and is
# filled anew with more of them when half are taken. What becomes of items that are taken out says
# Note [Dicts that lose items]. Which dicts may be so is known by the line where they are made: the
# capture starts again when the first key comes.
# What is done with items one by one is Python code, staged like the user's own.

LEAST_PLACES = 64


class KeyedBuffer(Buffer):
    """Tuples in their order, each of a key and a value, or of a key alone, found by the key.

    ``label`` is what requests call the place where the dict or set is made.
    """

    __slots__ = ("_mask", "_of_texts", "_table", "label")

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = label
        self._of_texts = How.OF_TEXTS in self.session.asked(label)
        self._table: Value | None = None
        self._mask: Value | None = None

    def make_room(
        self,
        samples: Sequence[object],
        more: Dim | None,
        owner: Statement | None,
        form: Form | None = None,
    ) -> bool:
        """As that of lists; the table has the items that there are."""
        known = self.items
        if not super().make_room(samples, MOST_KEYS if more is None else more, owner, form):
            return False
        self.make_table(None if known is None else len(known))
        return True

    def make_table(self, known: int | None) -> None:
        """Make the table of as many items, which are known, or of those that there are."""
        size = 8 * self.room.most + LEAST_PLACES
        self._table = self.session.value("empty", (size,), np.dtype("i4"), layout=None)
        self._mask = self.session.value("empty", (1,), np.dtype("i8"), layout=None)
        self.fill(known)

    def takes_in(self, *more: object, spare: Dim | None = None, often: bool = False) -> bool:
        found = super().takes_in(*more, spare=spare, often=often)
        if found and self._room is None:
            raise refuse(KEYS_OF_DATA, "a dict of which nothing says what it holds")
        return found

    def is_readable(self) -> bool:
        """Whether there is a table here, of what has been stored before; else there will be."""
        return self.has_table() or self.takes_in()

    def has_table(self) -> bool:
        """Whether there is a table here already."""
        return self._room is not None

    def is_empty(self) -> bool:
        """Whether there is nothing in it for sure, nor anything that may be stored here."""
        return self._room is None and not self._items and self.owner() is None

    def any_item(self, owner: Statement | None = None) -> Any:
        return super().any_item(owner) if self.is_foreseen() else (0, 0)

    def is_foreseen(self) -> bool:
        """Whether anything is known of the items that are to be there. If not there are none, as
        long as no iteration that was recorded has stored one, and what is done with those is not
        looked at before the statement is recorded again.
        """
        owner = self.owner()
        return owner is not None and self.form_awaited(owner) is not None

    def form_of(self, items: list[object], before: Form | None) -> Form | None:
        """As that of lists. Only a dict of Python's has items of several kinds: that is asked for
        at once, before the loops around are to be run by Python for want of another way.
        """
        try:
            return super().form_of(items, before)
        except CaptureError as error:
            by_python = Request(self.label, How.BY_PYTHON)
            if by_python in self.session.requests:
                raise
            raise Respecialise(by_python, error=error) from None

    def snapshot(self, of: Callable[[object], object]) -> KeyedBuffer:
        """The items as they are now, to be shown."""
        found = KeyedBuffer(self.label)
        if self.items is None:
            copy = TracedList.copied(self)
            found._room, found._known = copy._room, copy._known
        else:
            found._items = list(map(of, self.items))
        return found

    # -------------------------------------------------------- keys

    def as_key(self, key: object) -> object:
        """A key with its characters as such, if all texts among the keys are characters."""
        key = settled(key)
        if type(key) is tuple:
            return tuple(map(self.as_key, key))
        if self._of_texts or isinstance(key, Char):
            return key
        if is_char(key):
            return Char(code_of(key))
        if is_text(key):
            raise Respecialise(Request(self.label, How.OF_TEXTS))
        return key

    def numbers(self, key: object) -> list[Any]:
        """The ints of a key."""
        if not is_key(key):
            raise refusal(
                KEYS_OF_DATA,
                "a key of a dict of the graph is an int, a text, a member of an enum, or a tuple "
                "of these; use them",
            )
        return [_plain_int(self.as_key(x)) for x in _parts(key)]

    def key_at(self, place: Int) -> list[Any]:
        """The ints of the key of an item."""
        form, places = self._key_form, iter(self.room.arrays)
        is_tuple = type(key_shape(form)) is tuple
        found = []
        for each in columns_of(form) if is_tuple else (form,):
            read = [operand(wrap(next(places))[place]) for _ in types_of(each)]
            # A number that is of one type, or a character; a text has a flag.
            is_one = len(read) == 1 and key_shape(each) != "text"
            found.append(_plain_int(variable_of(read[0]) if is_one else item_of(each, read)))
        return found

    @property
    def _key_form(self) -> Form:
        return columns_of(self.room.form)[0]

    def is_at(self, place: Int, key: Sequence[object]) -> Any:
        """Whether the key of an item has these ints."""
        found: Any = True
        for one, other in zip(self.key_at(place), key, strict=True):
            same = one == other
            found = same if found is True else np.logical_and(found, same)
        return found

    def find(self, key: object) -> tuple[Any, Any]:
        """The place in the table of a key, or for it, and the number of its item, from 1."""
        key = sure(key)
        numbers = self.numbers(key)
        if key_shape(self._key_form) != _shape_of(self.as_key(key)):
            raise refuse(KEYS_OF_DATA, "keys of several kinds in a dict of the graph")
        return self.looked_up(numbers)

    def looked_up(self, numbers: Sequence[object]) -> tuple[Any, Any]:
        """The same of the ints of a key."""
        return self.session.door.staged(looked_up)(self, numbers)  # type: ignore[no-any-return]

    # -------------------------------------------------------- the table

    def fill(self, count: int | None = None) -> None:
        """Fill the table anew, by so many items, or as many as there are."""
        self.session.door.staged(filled)(self, self.number() if count is None else count)

    def number_at(self, slot: Int) -> Any:
        """What the table has: the number of an item, from 1; 0 for none."""
        return to_int(self._slots[slot])

    def set_number(self, slot: Int, number: Int) -> None:
        self._slots[slot] = number

    @property
    def _slots(self) -> Any:
        assert self._table is not None
        return wrap(self._table)

    @property
    def _mask_now(self) -> Any:
        assert self._mask is not None
        return to_int(wrap(self._mask)[0])

    def slot(self, bits: object) -> Any:
        """The place in the table for some bits."""
        return bits & self._mask_now

    def set_size(self, size: Int) -> None:
        """Use so many places of the table, a power of two."""
        assert self._mask is not None
        wrap(self._mask)[0] = size - 1

    def is_crowded(self) -> Any:
        """Whether more than half of the places that are used are taken."""
        return 2 * self.room.count > self._mask_now

    # -------------------------------------------------------- changes

    def store(self, item: tuple[object, ...]) -> None:
        """Store an item behind the others, or in place of the one with its key."""
        self.numbers(item[0])
        self.owner_of_change()
        if self.takes_in(item):
            self.session.door.staged(stored)(self, item)

    def take_items(self, other: KeyedBuffer) -> bool:
        """Hold the items of another one, made here, instead; False if that cannot be had."""
        theirs = other._room
        samples = list(other._items) if theirs is None else [any_of(theirs.form)]
        if any(True for x in samples for _ in arrays_in(x)) or type(self) is not type(other):
            return False
        owner = self.owner_of_change()
        assert owner is not None
        if not (samples or self._items or self._room):
            return True
        if not self.has_room(owner, *samples):
            owner.wishes.note(self, samples, once=False)
        else:
            self.set_count(0)
            if theirs is None:
                self.fill(0)
                for item in samples:
                    self.store(item)
            else:
                self.session.door.staged(replaced)(self, other, other.number())
        return True

    def set_count(self, count: Int) -> None:
        """Have so many items, of which the table does not tell yet."""
        demand(count <= wrap_dim(self.room.most))
        self.room.set_count(count)
        self.forget_length()

    def put_value(self, place: Int, item: tuple[object, ...]) -> None:
        """Store what belongs to the key of an item, which stays."""
        if len(item) > 1:
            self.set_part(place, 1, item[1])

    def put_key(self, slot: Int, key: object) -> Any:
        """Store a key behind the others, whose item is stored next; how many these are then."""
        room = self.room
        number = room.count
        demand(number < wrap_dim(room.most))
        self.set_part(number, 0, key)
        room.set_count(number + 1)
        self.forget_length()
        self.set_number(slot, number + 1)
        return number + 1


# ------------------------------------------------------------------ keys


def is_key(key: object) -> bool:
    """Whether a key is an int, a character, a text or member of an enum, or a tuple of these."""
    return all(is_int(x) or is_char(x) or is_name(x) for x in _parts(key))


def _parts(key: object) -> tuple[object, ...]:
    return key if type(key) is tuple and key else (key,)


def sure(key: object) -> object:
    """A key that may be None, where it is not: None is no key of a dict of the graph."""
    is_none = type(key) is Several and any(x is None for _, x in key.options)
    return key.only(lambda x: x is not None) if is_none else key  # type: ignore[attr-defined]


def _shape_of(key: object) -> object:
    """As ``key_shape``."""
    if type(key) is tuple:
        return tuple(map(_shape_of, key))
    return "text" if is_name(key) else isinstance(key, Char)


def _plain_int(x: Any) -> object:
    """An int of Python's or NumPy's, or what stands for a name, as an int of Python's."""
    x = x.code if isinstance(x, Char) else x
    if is_name(x):
        number = current().door.dicts.number_of_text
        x = united([(flag, number(text)) for flag, text in options_in(x)])
    x = scalar_of_int(x)
    return to_int(number_of(x)) if isinstance(x, Traced) else int(x)


# ------------------------------------------------------------------ in Python, to be staged


def home_of(key: Sequence[Any]) -> Any:
    bits = key[0]
    for part in key[1:]:
        bits = (bits & 0xFFFFFFFF) * 1000003 ^ part
    return (bits & 0xFFFFFFFFFFFF) + ((bits >> 15) & 0xFFFFFFFF)


def looked_up(items: KeyedBuffer, key: Sequence[Any]) -> tuple[Any, Any]:
    slot = items.slot(home_of(key))
    number = items.number_at(slot)
    while number > 0 and not items.is_at(number - 1, key):
        slot = items.slot(slot + 1)
        number = items.number_at(slot)
    return slot, number


def stored(items: KeyedBuffer, item: tuple[object, ...]) -> None:
    slot, number = items.find(item[0])
    is_new = number == 0
    if is_new:
        number = items.put_key(slot, item[0])
    items.put_value(number - 1, item)
    if is_new and items.is_crowded():
        items.fill()


def replaced(items: KeyedBuffer, other: KeyedBuffer, count: Int) -> None:
    items.set_count(count)
    for place in range(count):
        items.put_again(place, other.at(place))
    items.fill()


def filled(items: KeyedBuffer, count: Int) -> None:
    size = LEAST_PLACES
    while size < 4 * count:
        size = size * 2
    items.set_size(size)
    for place in range(size):
        items.set_number(place, 0)
    for place in range(count):
        slot = items.slot(home_of(items.key_at(place)))
        while items.number_at(slot) > 0:
            slot = items.slot(slot + 1)
        items.set_number(slot, place + 1)
