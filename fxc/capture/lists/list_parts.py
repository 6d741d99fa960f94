"""Lists made of lists of counted length: parts, sums and sorted ones; and what is in them.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np

from fxc.ir.error_kinds import COUNTED_LIST, TEXT
from fxc.ir.graph import Literal, Value
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim, counted_in

from ..arrays.creation import is_array
from ..arrays.traced_array import TracedArray
from ..forms.form import Form, Number, is_of_arrays, types_of
from ..numbers.python_numbers import to_python
from ..numbers.traced_int import wrap_dim
from ..session.locations import user_location
from ..session.refusing import How, Request, refuse
from ..session.session import current
from ..values.operands import Traced, TracedValue, kind_of, record, wrap
from .list_buffers import Buffer, any_number, any_of
from .list_changes import ChangedList
from .list_room import Room, new_number

# See Note [Rooms with one door].
form_of_items = import_later("fxc.capture.forms.items", "form_of_items")
takes = import_later("fxc.capture.forms.items", "takes")
widened = import_later("fxc.capture.forms.items", "widened")
class_of_objects = import_later("fxc.capture.forms.leaving", "class_of_objects")
classes_in = import_later("fxc.capture.forms.leaving", "classes_in")
columns_in_order = import_later("fxc.capture.forms.leaving", "columns_in_order")
may_change = import_later("fxc.capture.forms.leaving", "may_change")
holds_texts = import_later("fxc.capture.forms.leaving", "holds_texts")
demand = import_later("fxc.capture.forms.truths", "demand")
is_number = import_later("fxc.capture.forms.variables", "is_number")
recorded = import_later("fxc.capture.regions.structured", "recorded")

_Key = Callable[[object], object]
_IsSame = Callable[[object, object], object]


class ListParts(Buffer):
    """What can be done with the items of a list of the graph that does not change it."""

    __slots__ = ()

    # -------------------------------------------------------- new lists

    @classmethod
    def sized(cls, form: Form, arrays: Sequence[Value]) -> Self:
        """A new list of items in arrays, which it takes over: see Note [Lists of a size]."""
        found, (size, *_) = cls([]), kind_of(arrays[0]).shape
        found.session.door.lists.sized |= {by_python()}
        found._room = Room(form, tuple(arrays), new_number(wrap_dim(size)), size, None)
        found._known = size
        return found

    @classmethod
    def of_columns(cls, form: Form, columns: Sequence[TracedArray], most: Dim) -> Self:
        """A new list of items that stand in these arrays, of which there are at most so many."""
        size = columns[0]._type.shape[0]
        if not counted_in(size):
            return cls.sized(form, [column.copy()._value for column in columns])
        found = cls([])
        arrays: list[Value] = []
        for column, kind in zip(columns, types_of(form), strict=True):
            shape = most, *kind.shape
            arrays.append(found.session.value("empty", shape, kind.dtype, layout=None))
            wrap(arrays[-1])[: column.shape[0]] = column
        found._room = Room(form, tuple(arrays), new_number(wrap_dim(size)), most, None)
        return found

    @classmethod
    def copied(cls, x: Buffer) -> Self:
        """A list with the same items, for a text."""
        form, arrays = x.arrays()
        if may_change(form):
            raise refuse(
                TEXT,
                "the text of a list whose length depends on data, and whose items are dicts, "
                "objects or lists that may change,",
            )
        found = cls.of_columns(form, [wrap(array)[:] for array in arrays], x.room.most)
        found.of, found.maxlen = x.of, x.maxlen
        return found

    @classmethod
    def joined(cls, left: object, right: object) -> Self:
        """``left + right``, of which one is a list of counted length."""
        sides = [cls._counted_side(each, other) for each, other in ((left, right), (right, left))]
        (before, first, some), (other, second, more) = (
            side._contents("'+'", of_arrays=True) for side in sides
        )
        form = _joint_form(before, other)
        pairs = zip(_filled(form, before, first), _filled(form, other, second), strict=True)
        columns = [record("concatenate", each, axis=0) for each in pairs]
        found = cls.of_columns(form, columns, some + more)
        if is_of_arrays(form):
            if sides[0].keeper is sides[1].keeper:
                found.borrow(())  # it may have one of them twice
            for side in sides:
                found.share(side)
        return found

    @classmethod
    def _counted_side(cls, x: object, other: Any) -> Self:
        """A side of a sum as a list of counted length."""
        if isinstance(x, Traced) and x._in_pool and isinstance(x, list):
            return x.copy()  # type: ignore[return-value]
        if type(x) is cls and x.items is None:
            return x
        items = x.items if type(x) is cls else x
        if type(items) is not list:
            raise TypeError(f'can only concatenate list (not "{type(x).__name__}") to list')
        found = cls(items)
        form = other.room.form
        found.make_room([], 0, None, form if takes(form, *items) else None)
        return found

    def as_list(self) -> Self:
        """A new list with the same items."""
        return self.part(slice(None))

    def part(self, key: slice) -> Self:
        return self._of_items("a slice", key)

    def in_order(self, key: _Key | None, reverse: object) -> Self:
        """``sorted(self, key=key, reverse=reverse)``."""
        if type(reverse) is not bool:
            raise self.unclear("sorted() in an order that is not known,")
        if key is not None or not isinstance(self.room.form, Number):
            return self._of_items("sorted()", self._keys(self.room.form, key)._order(reverse))
        form, arrays, most = self._contents("sorted()")
        return self.of_columns(form, [array_in_order(wrap(arrays[0]), reverse)], most)

    def first_in_order(self, largest: bool) -> object:
        """What ``min`` gives, or ``max``, of rows with texts; of others this is NotImplemented."""
        if self._room is None or not holds_texts(self.room.form):
            return NotImplemented
        return self.at(to_python(self._order(largest)[0]))

    def _of_items(self, what: str, places: object) -> Self:
        """A new list of the items at these places."""
        form, arrays, most = self._contents(what, of_arrays=True)
        found = self.of_columns(form, [wrap(array)[places] for array in arrays], most)
        if is_of_arrays(form):
            found.share(self)
        return found

    def _contents(self, what: str, *, of_arrays: bool = False) -> tuple[Form, list[Value], Dim]:
        form, arrays = self.arrays()
        if is_of_arrays(form) and not (of_arrays and not may_change(form)):
            raise self.unclear(f"{what} of arrays, which would be in two lists,")
        self.session.door.places.note_shared(classes_in(form))
        return form, arrays, self.room.most

    def _keys(self, form: Form, key: _Key | None) -> Self:
        """What the items are sorted by."""
        session = self.session
        if key is None:
            objects = class_of_objects(form)
            if objects is None or objects is list:
                return self
            key = session.door.in_order_by(objects)
        found: Self = session.door.staged(_keys_of)(self, key, type(self)([]))
        if found.items is not None:  # of a loop that Python runs
            found.make_room([], 0, None)
        return found

    def _order(self, reverse: bool) -> Any:
        """The places of the items in their order, which is that of equal ones."""
        form, arrays = self.arrays()
        columns = columns_in_order(form, map(wrap, arrays))
        if not columns:
            raise self.unclear("sorted() by something else than numbers, texts, or tuples of them,")
        if any(column.dtype.kind == "c" for column in columns):
            raise self.unclear("sorted() by complex numbers")
        return places_in_order(columns, reverse)

    # -------------------------------------------------------- what is in it

    def _has(self, x: object) -> object:
        if self._room is None:
            return NotImplemented
        if self._is_looked_at("'in'", x):
            return self._looked(place_of, x) >= 0
        return to_python((self._numbers() == x).any())

    def count(self, x: object) -> Any:
        if self._room is None:
            return self._items.count(x)
        if self._is_looked_at("count()", x):
            return self._looked(number_of, x)
        return to_python((self._numbers() == x).sum())

    def index(self, x: object) -> Any:
        if self.awaited_by():
            return any_number()
        if self._room is None:
            return self._items.index(x)
        if self._is_looked_at("index()", x):
            place = self._looked(place_of, x)
            demand(place >= 0)
            return place
        same = self._numbers() == x
        demand(same.any())
        return to_python(same.argmax())

    def _is_looked_at(self, what: str, x: object) -> bool:
        """Whether the items are looked at one by one: where these or ``x`` are no numbers, and
        those of a list that loses some at its start, in a loop. One object that is a nan is in a
        list that holds it: else ``x`` is to be none.
        """
        room = self.room
        if is_array(x) or is_of_arrays(room.form):
            raise self.unclear(f"{what} for arrays")
        if not isinstance(room.form, Number) or not is_number(x):
            return True
        demand(x == x)
        return room.head is not None and self.session.in_loop(self.home)

    def _looked(self, function: Callable[..., Any], x: object) -> Any:
        door = self.session.door
        return door.staged(function)(self, x, door.is_same_item)

    def _numbers(self) -> Any:
        """The items as an array."""
        _, (array,), count = self.contents()
        return wrap(array)[:count]

    def unclear(self, what: str) -> Exception:
        """What to raise for what needs the items."""
        return refuse(
            COUNTED_LIST, f"{what} of a list whose length depends on data", "use np.array(list)"
        )


def by_python() -> Request:
    """The request to leave lists that are made here to Python."""
    return Request(f"list at {user_location()}", How.BY_PYTHON)


def _joint_form(left: Form, right: Form) -> Form:
    """What the items of two lists are."""
    if left == right:
        return left

    def found() -> Form | None:
        form: Form | None = form_of_items([any_of(right)], left)
        return form

    session = current()
    form: Form
    _, form = recorded(session, found)  # the region is forgotten
    return form


def _filled(form: Form, before: Form, arrays: list[Value]) -> list[Value]:
    """What arrays of items hold for items of that form."""
    size, session = kind_of(arrays[0]).shape[0], current()
    return [
        x._value
        if isinstance(x, TracedValue)
        else session.record("full", (size,), Literal(part.dtype.type(x)), part.dtype, layout=None)
        for x, part in zip(widened(form, before, arrays), types_of(form), strict=True)
    ]


def array_in_order(x: TracedArray, reverse: bool) -> Any:
    """An array of numbers in the order that Python sorts them into."""
    if x.dtype.kind in "fc":  # equal ones stay in their order, which zeros show
        demand(np.logical_not(np.isnan(x).any()))
    found = np.sort(x[::-1] if reverse else x, kind="stable")
    return found[::-1] if reverse else found


def demand_numbers(columns: Iterable[TracedArray]) -> None:
    """Leave the graph if there is a NaN among them, which has no place in an order."""
    for column in columns:
        if column.dtype.kind == "f":
            demand(np.logical_not(np.isnan(column).any()))


def places_in_order(columns: list[TracedArray], reverse: bool) -> Any:
    """The places of the rows of some columns of numbers in their order."""
    demand_numbers(columns)
    columns = [column[::-1] for column in columns] if reverse else columns
    if len(columns) == 1:
        found: Any = np.argsort(columns[0], kind="stable")
    else:
        found = np.lexsort(tuple(columns[::-1]))
    return columns[0].shape[0] - 1 - found[::-1] if reverse else found


# ------------------------------------------------------------------ in Python, to be staged


def _keys_of(
    items: Iterable[object], key: Callable[[object], object], found: list[object]
) -> object:  # staged
    for item in items:
        found.append(key(item))
    return found


def place_of(items: ChangedList, x: object, is_same: _IsSame) -> Any:
    for place in range(len(items)):
        if is_same(items.at(place), x):
            return place
    return -1


def number_of(items: ChangedList, x: object, is_same: _IsSame) -> Any:
    count = 0
    for place in range(len(items)):
        if is_same(items.at(place), x):
            count += 1
    return count


def are_equal(
    a: Sequence[object], b: Sequence[object], is_same: Callable[[object, object], object]
) -> object:
    if len(a) != len(b):
        return False
    return all(is_same(a[k], b[k]) for k in range(len(b)))
