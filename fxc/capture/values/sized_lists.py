"""Lists with as many items as a size says: ``[0] * (n + 1)``, ``list(range(n))``, ``x.tolist()``.

See Note [Lists of a size].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.size_functions import maximum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, counted_in
from fxc.ir.types import ScalarType

from ..forms.carrying import pack
from ..forms.form import Form, Number, of_tuple, types_of
from ..forms.items import form_of_items, takes
from ..locations import user_location
from ..refusing import How, Request, refuse
from ..session import current
from ..statements.counted import FEW
from .above import above
from .dims import dim_of
from .mixed import scalar_kinds
from .operands import Traced, array_value, kind_of, operand, record, wrap
from .traced_int import wrap_dim
from .traced_lists import TracedList

# Note [Lists of a size]
# A list whose length is a symbol, or whose items a comprehension computes and are more than a few,
# is one of the graph from the start (Note [Lists of counted length]): arrays that have just the
# items. Its length is that dim as long as no statement may change it, and its items are read and
# written as those of an array. The place in the program stands for the lists that are made there.
# If the program cannot be captured with them it is captured again, with lists of Python's there;
# sizes are constants then.


def _by_python() -> Request:
    return Request(f"list at {user_location()}", How.BY_PYTHON)


def _may_be_sized(size: Dim, *, from_array: bool = False) -> bool:
    """Whether a list of that length is one of the graph; those made of arrays always, but for a few
    items.
    """
    if not from_array and isinstance(size, int):
        return False
    if isinstance(size, int) and size <= FEW:
        return False
    return _by_python() not in current().requests


def repeated(items: list[Any], count: Dim) -> Any:
    """``items * count``; NotImplemented where Python has to make the list."""
    if len(items) != 1 or not _may_be_sized(count) or not _is_plain(items[0]):
        return NotImplemented
    form = form_of_items(items, None)
    assert form is not None
    session = current()
    if counted_in(count):
        size = maximum(count, 0)
    else:
        size = count if guard(count, ">=", 0) else 0
    arrays = (
        session.record("full", (size,), part, wanted.dtype, layout=None)
        for part, wanted in zip(pack(form, items[0]), types_of(form), strict=True)
    )
    return sized(form, tuple(arrays))


def _is_plain(x: Any) -> bool:
    """Whether an item is a number, a tuple of such, or a record."""
    if isinstance(x, Traced) and x._in_pool:
        return True
    if type(x) is tuple:
        return bool(x) and all(map(_is_plain, x))
    kinds = scalar_kinds(x)
    return kinds is not None and not any(each.weak and each.dtype.kind == "c" for each in kinds)


def room_for_numbers(value: Any, count: Any) -> TracedList:
    """A list of so many items of the kind of ``value``, which are not there yet."""
    if not _is_plain(value):
        current().door.places.ask_record(value)
        raise refuse(
            "a list of items that are neither numbers nor arrays, as long as a size says, cannot "
            "be captured; use an array"
        )
    form, session, shape = form_of_items([value], None), current(), (dim_of(count),)
    assert form is not None
    arrays = (session.record("empty", shape, each.dtype, layout=None) for each in types_of(form))
    return sized(form, tuple(arrays))


def of_ints(x: Any) -> Any:
    """``list(range(…))``; None where Python makes it."""
    if x.steps is None or not _may_be_sized(x.count):
        return None
    form = form_of_items([0], None)
    assert form is not None
    return sized(form, (array_value(x),))


def of_elements(x: Any) -> Any:
    """``list(x)`` of a vector; None where Python makes it."""
    kind = x._value.type
    if kind.rank != 1 or not _may_be_sized(kind.shape[0], from_array=True):
        return None
    return _of_array(record("copy", x._value, order="C")._value, weak=False)


def to_list(x: Any) -> Any:
    """``x.tolist()``: of a vector."""
    kind = x._value.type
    wanted = {"b": "?", "i": "i8", "u": "i8", "f": "f8"}.get(kind.dtype.kind)
    if wanted is None or kind.dtype == np.uint64:
        raise refuse(f"x.tolist() of {kind.dtype} cannot be captured; use list(x)")
    if kind.rank == 1 and _may_be_sized(kind.shape[0], from_array=True):
        return _of_array(x.astype(wanted)._value, weak=True)
    if kind.size == 0 and kind.rank == 1:
        return []
    if not isinstance(kind.size, int) or kind.size > MOST_LISTED:
        raise refuse(
            f"x.tolist() of more than {MOST_LISTED} elements, or of several axes of unknown sizes, "
            "cannot be captured; use the array"
        )
    return _items(x)


def list_of_vector(array: Any) -> TracedList:
    """The list of the numbers of a new vector."""
    return _of_array(array._value, weak=True)


def list_of(array: Any) -> Any:
    """The list of the items of a new vector; None where Python has to make it."""
    if not _may_be_sized(array._value.type.shape[0], from_array=True):
        return None
    return _of_array(array._value, weak=True)


def tuples_of(columns: Sequence[Any]) -> TracedList:
    """The list of the tuples whose items stand in new vectors."""
    form = of_tuple(_form_of_elements(each._value, weak=True) for each in columns)
    return sized(form, tuple(each._value for each in columns))


MOST_LISTED = 256


def _items(x: Any) -> Any:
    """The elements as numbers of Python's, one by one."""
    if not x.ndim:
        return x.item()
    return [_items(x[k]) if x.ndim > 1 else x[k].item() for k in range(x.shape[0])]


def _of_array(array: Value, *, weak: bool) -> TracedList:
    return sized(_form_of_elements(array, weak=weak), (array,))


def _form_of_elements(array: Value, *, weak: bool) -> Form:
    return Number(ScalarType(array.type.dtype, weak=weak))


def sized(form: Form, arrays: tuple[Value, ...]) -> TracedList:
    """A new list of the items that stand in arrays, which it takes over."""
    session, (size,) = current(), kind_of(arrays[0]).shape
    session.door.lists.sized |= {_by_python()}
    length = session.record("empty", (1,), np.dtype("i8"), layout=None)
    wrap(length)[0] = wrap_dim(size)
    return TracedList.of_size(form, arrays, length, size)


def in_order(x: Any, reverse: Any) -> Any:
    """``sorted(x)`` of a vector; None where Python sorts."""
    made = of_elements(x)
    return None if made is None else above().list_in_order(made, None, reverse)


def assign_part(x: TracedList, key: slice, items: Any) -> None:
    """``x[key] = items`` of as many numbers as it replaces."""
    if len(x._taken_room().arrays) > 1:
        raise x._unclear("an assignment to a slice")
    found = wrap(x._taken_room().arrays[0])[key]
    if type(items) is TracedList and items.items is None:
        form, (given,) = items.arrays()
        source, count = wrap(given), items.length()
        same = form == x._taken_room().form
    elif isinstance(items, list | tuple):
        source, count = items, len(items)
        same = takes(x._taken_room().form, *items)
    else:
        same = False
    if not same:
        raise x._unclear("an assignment of other items to a slice")
    equal = found.shape[0] == count
    if equal is not True:
        current().record("try_demand", operand(equal))
    if count != 0:
        found[...] = source
