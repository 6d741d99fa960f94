"""Tuples and lists whose items are known, at a place, or in an order, that is not: ``(0, 1)[d]``.

See Note [Tables].
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import CHANGE_IN_LOOP, KEYS_OF_DATA
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.types import PY_BOOL

from ..forms.differing import differing_in, each_way
from ..forms.form import Form, Number, are_numbers, types_of
from ..forms.mixed import form_of_numbers, scalar_kinds
from ..forms.options import graph_type, is_named, is_unknown_number
from ..lists.list_parts import array_in_order, demand_numbers, places_in_order
from ..lists.list_room import checked_place
from ..lists.records import record_at
from ..lists.traced_lists import TracedList
from ..numbers.python_numbers import to_int
from ..numbers.traced_int import int_dim, scalar_of_int
from ..numbers.varying import place_in_bounds, was_another
from ..outside.containers import External, is_plain, known_items
from ..outside.dicts import ExternalDict
from ..outside.lists import ExternalList
from ..session.alternatives import one_of
from ..session.refusing import ROWS_BY_PYTHON, How, Request, Respecialise, refusal, refuse
from ..session.session import current
from ..values.above import chosen_of
from ..values.limited import IN_PLACE, Limited, refuse_methods
from ..values.operands import Traced, array_of, operand, taken_for, variable_of, wrap
from .unknown_items import OneOfItems, item_by_key

if TYPE_CHECKING:
    from .dict_tables import KeyedBuffer

# See Note [Rooms with one door].
is_unknown_key = import_later("fxc.capture.dicts.unknown_keys", "is_unknown_key")
one_key = import_later("fxc.capture.dicts.unknown_keys", "one_key")
pack = import_later("fxc.capture.forms.carrying", "pack")
form_of_items = import_later("fxc.capture.forms.items", "form_of_items")
item_of = import_later("fxc.capture.forms.items", "item_of")
keys_in = import_later("fxc.capture.forms.joining", "keys_in")
union_of = import_later("fxc.capture.forms.joining", "union_of")
demand = import_later("fxc.capture.forms.truths", "demand")
flag_of = import_later("fxc.capture.forms.truths", "flag_of")
is_number = import_later("fxc.capture.forms.variables", "is_number")
is_open_number = import_later("fxc.capture.forms.variables", "is_open_number")
array_of_items = import_later("fxc.capture.arrays.sequences", "array_of")
codes_in = import_later("fxc.capture.lists.texts", "codes_in")
text_at = import_later("fxc.capture.lists.texts", "Text")

# Note [Tables]
# ``owner[key]``, where Python knows the items and not the key, reads an array: the items in a row,
# numbers or the columns of tuples and lists of numbers. An index that is out of bounds leaves the
# compiled code as one of an array does, and Python raises. Of arrays it is one or another, see
# Note [Conditional aliases], or the only one that there is (``[F] * n``). The array is made where
# it is read, as the items are then; hoisting takes it out of loops. Of other objects it is one of
# these, which can be read, and called (``OneOfItems``). A dict is a table, too: the place of a key
# that is not known is found by comparing it with the keys. Lists that a loop of the graph changes
# are no tables: see Note [Lists of counted length]. A place that is an int argument or a size is a
# constant at first; among numbers one is not known from the call on in which it is another one.

_MOST_ARRAYS = 16
_MOST_EXCHANGED = 4  # more are in order sooner by ``np.argsort``


class Table:
    """``owner`` in ``owner[key]``."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __getitem__(self, key: Any) -> Any:
        key = key._plain() if is_open_number(key) else key
        if type(self._owner) is str and type(key) is slice:
            is_open = any(map(_is_open, (key.start, key.stop, key.step)))
            return text_at(codes_in(self._owner))[key] if is_open else self._owner[key]
        if not _is_open(key):
            if not (was_another(int_dim(key)) and _are_numbers(known_items(self._owner))):
                return self._owner[key]
            key = scalar_of_int(key)
        key = to_int(key) if graph_type(key) == PY_BOOL else key
        if isinstance(self._owner, External):
            if (
                isinstance(self._owner, ExternalList)
                and (made := self._owner.as_list()) is not None
            ):
                return made[key]
            self._owner.settle()
        items = [ReadRow.of(x, self._owner) for x in self._owner]
        if items and all(type(x) is TracedList for x in items):
            _ask_for_rows(self._owner)
        if _are_numbers(items):
            return _number_at(items, key)
        if items and array_of(items[0]) is not None and all(x is items[0] for x in items):
            _demand_place(key, len(items))
            return items[0]
        arrays = [x for x in map(array_of, items) if x is not None]
        are_few = len(arrays) == len(items) <= _MOST_ARRAYS
        if are_few and len({x.type for x in arrays}) == 1:
            return _array_at(arrays, key)
        if (record := record_at(items, lambda numbers: _number_at(numbers, key))) is not None:
            return record
        if (one := OneOfItems.at(items, lambda numbers: _number_at(numbers, key))) is not None:
            return one
        known = tuple(self._owner)
        if not OneOfItems.may_be(known):
            current().door.lists.ask_pool(*known)
            return self._owner[key]
        return OneOfItems(_item_at, known, _checked(key, len(known)))


class KnownItems(list[Any]):
    """The keys, values or items of a dict or a set of the graph, as Python knows them. No loop goes
    on over them behind a change, which Python would see.
    """

    def __init__(self, table: KeyedBuffer, part: int | None) -> None:
        super().__init__(each if part is None else each[part] for each in table.items)
        self.table = table

    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self)):
            self._check_known()
            yield self[place]
        self._check_known()

    def _check_known(self) -> None:
        if self.table.items is None:
            raise refuse(CHANGE_IN_LOOP, "a change to a dict or a set while a loop runs over it")


def _is_open(key: Any) -> bool:
    """Whether this is a number that is another one from time to time."""
    return bool(is_unknown_number(key) and key._is_open())


def _item_at(items: tuple[object, ...], key: object) -> Any:
    return items[0] if all(x is items[0] for x in items) else Table(items)[key]


def _checked(key: object, count: int) -> Any:
    """A place among so many, counted from the first; a call in which there is none is Python's."""
    return scalar_of_int(_demand_place(key, count)) % count


def few_in_order(
    items: Sequence[object], keys: Sequence[object], reverse: bool
) -> list[Any] | None:
    """The items in the order of their keys, numbers or tuples of them; None for other keys."""
    found = _columns(keys)
    if found is None:
        return None
    form, columns = found
    if len(items) <= _MOST_EXCHANGED and _columns(items) is not None:
        return _exchanged(items, keys, columns, reverse)
    if keys is items and isinstance(form, Number):
        found = array_in_order(columns[0], reverse)
        return [item_of(form, [operand(found[place])]) for place in range(len(items))]
    places = places_in_order(columns, reverse)
    of_items = _columns(items)
    if of_items is None:
        return [Table(items)[places[place]] for place in range(len(items))]
    form, columns = of_items
    columns = [column[places] for column in columns]
    rows = ([operand(column[place]) for column in columns] for place in range(len(items)))
    return [item_of(form, row) for row in rows]


def _exchanged(
    items: Sequence[object], keys: Sequence[object], columns: Sequence[Any], reverse: bool
) -> list[Any]:
    """The same of a few numbers: neighbours change places until all are in order."""
    if len(keys) > 2:  # of two that are no numbers Python does the same
        demand_numbers(columns)
    door, rows = current().door, list(zip(items, keys, strict=True))
    for last in range(len(rows) - 1, 0, -1):
        for place in range(last):
            one, other = rows[place : place + 2]
            sooner, later = (one[1], other[1]) if reverse else (other[1], one[1])
            test = door.compared("lt", sooner, later)
            rows[place : place + 2] = (
                tuple(chosen_of(door, test, x, y) for x, y in zip(*both, strict=True))
                for both in ((other, one), (one, other))
            )
    return [item for item, _ in rows]


def deciding(keys: Sequence[object]) -> Sequence[object]:
    """The beginnings of tuples, where these are known and differ: the rest decides nothing."""
    rows = [x for x in keys if type(x) is tuple]
    if len(rows) == len(keys):
        for size, column in enumerate(zip(*rows, strict=False), 1):
            if not is_plain(column):
                break
            firsts = [row[:size] for row in rows]
            if len({*firsts}) == len(rows):
                return firsts
    return keys


def with_ranks(keys: Sequence[object]) -> Sequence[object]:
    """Tuples with the places of texts among them in place of the texts, which are known."""
    rows = [x for x in keys if type(x) is tuple]
    if len(rows) < len(keys) or len({*map(len, rows)}) > 1:
        return keys
    columns = list(zip(*rows, strict=True))
    if all(type(x) is not str for x in chain(*columns)):
        return keys
    return list(zip(*map(_ranks, columns), strict=True))


def _ranks(column: Sequence[object]) -> Sequence[object]:
    texts = [x for x in column if type(x) is str]
    if len(texts) < len(column):
        return column
    places = {text: place for place, text in enumerate(sorted(texts))}
    return [places[text] for text in texts]


def _columns(items: Sequence[object]) -> tuple[Form, list[Any]] | None:
    """Numbers, or tuples of them, as arrays; None for other things."""
    rows = [x if type(x) is tuple else (x,) for x in items]
    if not items or not all(map(is_number, chain(*rows))):
        return None
    if len({len(row) if type(x) is tuple else 0 for x, row in zip(items, rows, strict=True)}) > 1:
        return None
    form = form_of_items(items, None)
    if form is None or not are_numbers(form):
        return None
    both = zip(zip(*rows, strict=True), types_of(form), strict=True)
    return form, [array_of_items([*column], each.dtype) for column, each in both]


def keyed(owner: Any) -> Any:
    """A dict as it is in ``owner[key]``; what is none itself."""
    is_outside = isinstance(owner, ExternalDict) and not isinstance(owner, Traced)
    kind = owner.kind if is_outside else type(owner)
    return KeyedTable(owner) if kind in (dict, OrderedDict) else owner


class KeyedTable:
    """A dict in ``owner[key]``, which is read."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def get(self, key: object, default: object = None) -> Any:
        if differing_in(key) is not None:
            return each_way(lambda each: self.get(each, default), key)
        self._settle(key)
        found = self._at(key, default)
        return self._owner.get(key, default) if found is NotImplemented else found

    def __getitem__(self, key: object) -> Any:
        if differing_in(key) is not None:
            return each_way(self.__getitem__, key)
        key = one_key(key)
        self._settle(key)
        found = self._at(key)
        return self._owner[key] if found is NotImplemented else found

    def _settle(self, key: object) -> None:
        """Read all of a dict from outside, if the key is not known."""
        if isinstance(self._owner, External) and is_unknown_key(key):
            self._owner.settle()

    def _at(self, key: object, *default: object) -> object:
        if not is_unknown_key(key):
            return NotImplemented
        found = item_by_key(_item_at, self._owner, key, *default)
        if found is NotImplemented:
            current().door.dicts.ask(self._owner)
        return found


class ReadRow(Limited):
    """A list among the items of a list, at a place that is not known: it can be read."""

    __slots__ = _held = ("items", "owner")

    def __init__(self, items: tuple[object, ...], owner: object) -> None:
        self.items = items
        self.owner = owner

    @staticmethod
    def of(x: object, owner: object) -> Any:
        """A list of numbers as such a row; anything else itself."""
        if ROWS_BY_PYTHON in current().requests:
            return x
        if isinstance(x, External) and isinstance(x, list):
            x.settle()
        elif type(x) is not list:
            return x
        items = tuple(x)
        return ReadRow(items, owner) if all(scalar_kinds(item) is not None for item in items) else x

    __class__ = taken_for(list)

    def __getitem__(self, key: object) -> Any:
        return Table([*self.items])[key] if not isinstance(key, slice) else list(self.items[key])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def _as_places(self) -> object:
        return [*self.items]

    def __add__(self, other: Any) -> Any:
        return [*self.items] + ([*other.items] if type(other) is ReadRow else other)

    def __radd__(self, other: object) -> Any:
        return [*other, *self.items] if isinstance(other, list) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        return [*self.items] * count

    __rmul__ = __mul__

    def __getattr__(self, name: str) -> object:
        raise AttributeError(name) if name.startswith("__") else self.refused()

    def refused(self, what: str = "") -> BaseException:
        _ask_for_rows(self.owner)
        error = refusal(
            KEYS_OF_DATA,
            "a list among the items of a list, at a place that depends on data, can only be read; "
            "use an array of two axes",
        )
        return Respecialise(ROWS_BY_PYTHON, error=error)


refuse_methods(ReadRow, IN_PLACE)  # which others would see


def _ask_for_rows(owner: object) -> None:
    """Capture again with a list of lists of the graph, see Note [Lists of lists]."""
    session = current()
    label = session.door.lists.label_of(owner)
    if label is not None and How.AS_ROWS not in session.asked(label):
        raise Respecialise(Request(label, How.AS_ROWS))


def _are_numbers(items: Sequence[Any]) -> bool:
    """Whether these are numbers that can be mixed, or rows of such of one length."""
    if not items:
        return False
    if all(type(x) in (tuple, ReadRow) for x in items):
        rows = [x.items if type(x) is ReadRow else x for x in items]
        sizes = {len(row) for row in rows}
        return len(sizes) == 1 and sizes != {0} and all(map(_are_numbers, zip(*rows, strict=True)))
    if any(map(is_named, items)):
        return union_of(key for x in items for key in keys_in(x)) is not None
    return form_of_numbers(items) is not None


def _number_at(items: Sequence[object], key: object) -> object:
    """The number at a place, or the row."""
    rows = [x.items if type(x) is ReadRow else x for x in items]
    form = form_of_items(rows, None)
    assert form is not None
    place = checked_place(key)
    columns = zip(*(pack(form, row) for row in rows), strict=True)
    both = zip(columns, types_of(form), strict=True)
    arrays = [array_of_items(list(map(variable_of, parts)), part.dtype) for parts, part in both]
    found = item_of(form, [operand(array[place]) for array in arrays])
    return ReadRow(found, items[0].owner) if type(items[0]) is ReadRow else found


def _array_at(arrays: Sequence[Value], key: object) -> object:
    """The array at a place: one or another of them."""
    place = _checked(key, len(arrays))
    flags = [flag_of(place == k) for k in range(len(arrays) - 1)]
    return wrap(one_of(current(), flags, arrays))


def _demand_place(key: object, count: int) -> Any:
    """An index of which is checked that it is in bounds."""
    place = checked_place(key)
    dim = int_dim(place)
    if dim is not None and place_in_bounds(current(), dim, count) is not None:
        return place
    number = scalar_of_int(place)
    demand(number >= -count)
    demand(number < count)
    return number
