"""Lists made of lists of counted length: parts, sums and sorted ones; and what is in them.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Value
from fxc.ir.symbols import Dim, counted_in

from ..forms.carrying import nothing
from ..forms.form import Form, Items, Number, columns_of, is_of_arrays, types_of
from ..forms.items import form_of_items, item_of, takes, widened
from ..forms.leaving import class_of_objects, classes_in, may_change
from ..numpy_api.creation import is_array
from ..numpy_api.library import lexsort
from ..refusing import refuse
from ..session import current
from ..statements.counted import Counted
from ..statements.structured import recorded
from .list_code import number_of, place_of
from .list_room import Room
from .operands import Traced, TracedValue, kind_of, operand, record, wrap
from .python_numbers import to_python
from .sequences import array_of
from .sized_lists import sized
from .tables import Table
from .traced_int import wrap_dim
from .traced_lists import TracedList
from .truths import flag_of
from .variables import is_number


def part_of(x: TracedList, key: slice) -> TracedList:
    """``x[key]``."""
    form, arrays, most = _contents(x, "a slice")
    return made(form, [wrap(array)[key] for array in arrays], most)


def copied(x: TracedList) -> TracedList:
    """A list with the same items, for a text."""
    form, arrays = x.arrays()
    if may_change(form):
        raise refuse(
            "the text of a list whose length depends on data, and whose items are dicts, objects "
            "or lists that may change, cannot be captured"
        )
    found = made(form, [wrap(array)[:] for array in arrays], x._taken_room().most)
    found.of = x.of
    return found


def joined(left: Any, right: Any) -> TracedList:
    """``left + right``, of which one is a list of counted length."""
    sides = [_counted(each, other) for each, other in ((left, right), (right, left))]
    (before, first, some), (other, second, more) = (_contents(side, "'+'") for side in sides)
    form = _joint_form(before, other)
    pairs = zip(_filled(form, before, first), _filled(form, other, second), strict=True)
    return made(form, [record("concatenate", each, axis=0) for each in pairs], some + more)


def _joint_form(left: Form, right: Form) -> Form:
    """What the items of two lists are."""
    if left == right:
        return left

    def found() -> Form | None:
        return form_of_items([item_of(right, nothing(right))], left)

    session = current()
    form: Form
    _, form = recorded(session, found)  # the region is forgotten
    return form


def _filled(form: Form, before: Form, arrays: list[Value]) -> list[Value]:
    """What arrays of items hold for items of that form."""
    (size,), session = kind_of(arrays[0]).shape, current()
    return [
        x._value
        if isinstance(x, TracedValue)
        else session.record("full", (size,), Literal(part.dtype.type(x)), part.dtype, layout=None)
        for x, part in zip(widened(form, before, arrays), types_of(form), strict=True)
    ]


def in_order(x: TracedList, key: Any, reverse: Any) -> TracedList:
    """``sorted(x, key=key, reverse=reverse)``."""
    form, arrays, most = _contents(x, "sorted()")
    if type(reverse) is bool and (key is not None or isinstance(form, Items)):
        return made(form, _at(arrays, _order(_keys(x, form, key), reverse)), most)
    if not (isinstance(form, Number) and key is None) or type(reverse) is not bool:
        raise x._unclear("sorted() by a key, of tuples, or of numbers of several kinds,")
    return made(form, [_in_order(wrap(arrays[0]), reverse)], most)


def _in_order(x: Any, reverse: bool) -> Any:
    """An array of numbers in the order that Python sorts them into."""
    if x.dtype.kind in "fc":  # equal ones stay in their order, which zeros show
        current().record("try_demand", np.logical_not(np.isnan(x).any())._value)
    found = np.sort(x[::-1] if reverse else x, kind="stable")
    return found[::-1] if reverse else found


def few_in_order(items: list[Any], keys: list[Any], reverse: bool) -> list[Any] | None:
    """The items that Python knows in the order of their keys, numbers or tuples of them; None for
    other keys.
    """
    found = _columns(keys)
    if found is None:
        return None
    form, columns = found
    if keys is items and isinstance(form, Number):
        found = _in_order(columns[0], reverse)
        return [item_of(form, [operand(found[place])]) for place in range(len(items))]
    places = _places(columns, reverse)
    of_items = _columns(items)
    if of_items is None:
        return [Table(items)[places[place]] for place in range(len(items))]
    form, columns = of_items
    columns = [column[places] for column in columns]
    rows = ([operand(column[place]) for column in columns] for place in range(len(items)))
    return [item_of(form, row) for row in rows]


def _columns(items: list[Any]) -> tuple[Form, list[Any]] | None:
    """Numbers, or tuples of them, as arrays; None for other things."""
    rows = [x if type(x) is tuple else (x,) for x in items]
    if not items or not all(map(is_number, chain(*rows))):
        return None
    if len({len(row) if type(x) is tuple else 0 for x, row in zip(items, rows, strict=True)}) > 1:
        return None
    form = form_of_items(items, None)
    if form is None or not all(isinstance(each, Number) for each in columns_of(form)):
        return None
    both = zip(zip(*rows, strict=True), types_of(form), strict=True)
    return form, [array_of([*column], each.dtype) for column, each in both]


def _keys(x: TracedList, form: Form, key: Any) -> TracedList:
    """What the items are sorted by."""
    session, items = current(), x._counted()
    if key is None:
        objects = class_of_objects(form)
        if objects is None:
            return x
        key = session.door.in_order_by(objects)
    if type(items) is not Counted:
        raise x._unclear("sorted() by a key, in a loop,")
    # The region is forgotten: it shows what the keys are.
    _, form = recorded(session, lambda: form_of_items([session.door.call(key, x.at(0))], None))
    arrays = (
        session.record("empty", (items.count,), part.dtype, layout=None) for part in types_of(form)
    )
    found: TracedList = session.door.staged(_keys_of)(x, key, sized(form, tuple(arrays)))
    return found


def _keys_of(items: Any, key: Any, found: Any) -> Any:  # staged
    for place, item in enumerate(items):
        found[place] = key(item)
    return found


def _order(x: TracedList, reverse: bool) -> Any:
    """The places of the items in their order, which is that of equal ones."""
    form, arrays = x.arrays()
    plain = all(isinstance(each, Number) for each in columns_of(form))
    if class_of_objects(form) is not None or not plain:
        raise x._unclear("sorted() by something else than numbers, or tuples of them,")
    columns = [wrap(array) for array in arrays]
    if any(column.dtype.kind == "c" for column in columns):
        raise x._unclear("sorted() by complex numbers")
    return _places(columns, reverse)


def _places(columns: list[Any], reverse: bool) -> Any:
    """The same of columns of numbers."""
    for column in columns:
        if column.dtype.kind == "f":
            current().record("try_demand", np.logical_not(np.isnan(column).any())._value)
    columns = [column[::-1] for column in columns] if reverse else columns
    if len(columns) == 1:
        found: Any = np.argsort(columns[0], kind="stable")
    else:
        found = lexsort(columns[::-1])
    return columns[0].shape[0] - 1 - found[::-1] if reverse else found


def _at(arrays: Sequence[Value], places: Any) -> list[Any]:
    return [wrap(array)[places] for array in arrays]


def has(x: TracedList, item: Any) -> Any:
    """``item in x``."""
    if _is_looked_at(x, "'in'", item):
        return _looked(place_of, x, item) >= 0
    return to_python((_numbers(x) == item).any())


def count(x: TracedList, item: Any) -> Any:
    """``x.count(item)``."""
    if _is_looked_at(x, "count()", item):
        return _looked(number_of, x, item)
    return to_python((_numbers(x) == item).sum())


def position(x: TracedList, item: Any) -> Any:
    """``x.index(item)``."""
    if _is_looked_at(x, "index()", item):
        place = _looked(place_of, x, item)
        current().record("try_demand", flag_of(place >= 0))
        return place
    same = _numbers(x) == item
    current().record("try_demand", same.any()._value)
    return to_python(same.argmax())


def _is_looked_at(x: TracedList, what: str, item: Any) -> bool:
    """Whether the items are looked at one by one: where these or ``item`` are no numbers, and those
    of a list that loses some at its begin, in a loop. One object that is a nan is in a list that
    holds it: else the item is to be none.
    """
    room = x._taken_room()
    if is_array(item) or is_of_arrays(room.form):
        raise x._unclear(f"{what} for arrays")
    if not isinstance(room.form, Number) or not is_number(item):
        return True
    current().record("try_demand", flag_of(item == item))
    return room.head is not None and current().in_loop(x._home)


def _looked(function: Any, x: TracedList, item: Any) -> Any:
    door = current().door
    return door.staged(function)(x, item, door.is_same_item)


def _numbers(x: TracedList) -> Any:
    """The items as an array."""
    (array,), count = x.begun()
    return wrap(array)[:count]


def _counted(x: Any, other: Any) -> TracedList:
    """A side of a sum as a list of counted length."""
    if isinstance(x, Traced) and x._in_pool and isinstance(x, list):
        found: TracedList = x.copy()  # type: ignore[assignment]
        return found
    if type(x) is TracedList and x.items is None:
        return x
    items = x.items if type(x) is TracedList else x
    if type(items) is not list:
        raise TypeError(f'can only concatenate list (not "{type(x).__name__}") to list')
    found = TracedList(items)
    form = other._taken_room().form
    found.make_room([], 0, None, form if takes(form, *items) else None)
    return found


def _contents(x: TracedList, what: str) -> tuple[Form, list[Value], Dim]:
    form, arrays = x.arrays()
    if any(part.rank for part in types_of(form)):
        raise x._unclear(f"{what} of arrays, which would be in two lists,")
    current().door.places.note_shared(classes_in(form))
    return form, arrays, x._taken_room().most


def made(form: Form, columns: Sequence[Any], most: Dim) -> TracedList:
    """A new list of items that stand in these arrays, of which there are at most so many."""
    size, session = columns[0]._value.type.shape[0], current()
    if not counted_in(size):
        return sized(form, tuple(column.copy()._value for column in columns))
    found, arrays = TracedList([]), []
    for column, part in zip(columns, types_of(form), strict=True):
        shape = most, *column._value.type.shape[1:]
        array = session.record("empty", shape, part.dtype, layout=None)
        wrap(array)[: column.shape[0]] = column
        arrays.append(array)
    length = session.record("empty", (1,), np.dtype("i8"), layout=None)
    wrap(length)[0] = wrap_dim(size)
    found._room = Room(form, tuple(arrays), length, most, None)
    return found
