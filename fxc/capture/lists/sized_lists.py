"""Lists with as many items as a size says: ``[0] * (n + 1)``, ``list(range(n))``, ``x.tolist()``.

See Note [Lists of a size].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import COUNTED_LIST, TOO_LARGE
from fxc.ir.size_functions import maximum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, counted_in
from fxc.ir.types import ScalarType

from ..arrays.late_elements import python_element
from ..arrays.traced_array import TracedArray
from ..forms.form import Form, Number, of_tuple
from ..forms.items import form_of_items
from ..forms.mixed import listed_kinds
from ..regions.counted import FEW
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import Traced, array_value, record, wrap
from .list_parts import by_python
from .list_room import filled_arrays
from .lists_of_lists import ListOfLists
from .traced_lists import TracedList

# Note [Lists of a size]
# A list whose length is a symbol is one of the graph from the start (Note [Lists of counted
# length]): arrays that have just the items. Its length is that dim as long as no statement may
# change it, and its items are read and written as those of an array. The place in the program
# stands for the lists that are made there. If the program cannot be captured with them it is
# captured again, with lists of Python's there; sizes are constants then.


def _may_be_sized(size: Dim, *, from_array: bool = False) -> bool:
    """Whether a list of that length is one of the graph, as those of arrays of many items are."""
    if isinstance(size, int) and (not from_array or size <= FEW):
        return False
    return by_python() not in current().requests


def repeated(items: Sequence[object], count: Dim) -> object:
    """``items * count``; NotImplemented where Python has to make the list."""
    if len(items) != 1 or not _may_be_sized(count) or not _is_plain(items[0]):
        return NotImplemented
    form = form_of_items(items, None)
    assert form is not None
    if counted_in(count):
        size = maximum(count, 0)
    else:
        size = count if guard(count, ">=", 0) else 0
    return TracedList.sized(form, filled_arrays(form, items[0], (size,)))


def _is_plain(x: object) -> bool:
    """Whether an item is a number, a tuple of such, or a record."""
    if isinstance(x, Traced) and x._in_pool:
        return True
    if type(x) is tuple:
        return bool(x) and all(map(_is_plain, x))
    return listed_kinds(x) is not None


def of_ints(x: Any) -> Any:
    """``list(range(…))``; None where Python makes it."""
    if x.steps is None or not _may_be_sized(x.count):
        return None
    return list_of_vector(wrap(array_value(x)))


def of_elements(x: TracedArray) -> Any:
    """``list(x)`` of a vector; None where Python makes it."""
    kind = x._type
    if kind.rank != 1 or not _may_be_sized(kind.shape[0], from_array=True):
        return None
    return list_of_vector(record("copy", x._value, order="C"), weak=False)


def to_list(x: TracedArray) -> object:
    """``x.tolist()``: of a vector, or of rows (Note [Lists of lists])."""
    kind = x._type
    if kind.dtype.kind == "U":
        return _texts(x)
    wanted = {"b": "?", "i": "i8", "u": "i8", "f": "f8", "c": "c16"}.get(kind.dtype.kind)
    is_sized = kind.rank in (1, 2) and _may_be_sized(kind.shape[0], from_array=True)
    if wanted is None or (is_sized and kind.dtype == np.uint64):
        raise refuse(COUNTED_LIST, f"x.tolist() of {kind.dtype}", "use list(x)")
    if is_sized and kind.rank == 1:
        return of_elements(x) if kind.dtype.char in "gG" else list_of_vector(x.astype(wanted))
    if is_sized and kind.dtype.char not in "gG":
        numbers = x.astype(wanted)
        return ListOfLists(by_python(), _form_of_elements(numbers), (numbers._value,))
    if kind.size == 0 and kind.rank == 1:
        return []
    if not isinstance(kind.size, int) or kind.size > MOST_LISTED:
        if isinstance(kind.shape[0], int) and kind.shape[0] <= FEW and kind.rank > 1:
            return [to_list(x[k]) for k in range(kind.shape[0])]
        raise refuse(
            TOO_LARGE,
            f"x.tolist() of more than {MOST_LISTED} elements, or of several axes of unknown sizes,",
            "use the array",
        )
    return _items(x)


def _texts(x: TracedArray) -> object:
    """``x.tolist()`` of texts."""
    size = x._type.shape[0] if x.ndim else 1
    if x.ndim == 0:
        return python_element(x.copy().reshape(1))
    if isinstance(size, int) and size <= FEW:
        return [_texts(x[k : k + 1].reshape(x.shape[1:])) for k in range(size)]
    if x.ndim > 1 or by_python() in current().requests:
        raise refuse(COUNTED_LIST, f"x.tolist() of {x._type}", "use list(x)")
    cells = record("expand_dims", record("copy", x._value, order="C")._value, (1,))
    form = form_of_items([python_element(cells[0])], None)
    assert form is not None
    return TracedList.sized(form, (cells._value,))


def list_of_vector(array: TracedArray, *, weak: bool = True) -> TracedList:
    """The list of the numbers of a new vector, which are Python's if they are weak."""
    return TracedList.sized(_form_of_elements(array, weak=weak), (array._value,))


def list_of(array: TracedArray) -> Any:
    """The list of the items of a new vector; None where Python has to make it."""
    if not _may_be_sized(array._type.shape[0], from_array=True):
        return None
    return list_of_vector(array)


def tuples_of(columns: Sequence[TracedArray], are_copies: bool = False) -> TracedList:
    """The list of the tuples whose items stand in new arrays, or in copies of the caller's."""
    form = of_tuple(map(_form_of_rows, columns))
    made = TracedList.sized(form, tuple(each._value for each in columns))
    return _of_callers(made) if are_copies else made


def arrays_of(rows: TracedArray) -> TracedList:
    """The list of the arrays of the caller's that the rows of this one are copies of."""
    return _of_callers(TracedList.sized(_form_of_rows(rows), (rows._value,)))


def _of_callers(made: TracedList) -> TracedList:
    """Note that the arrays in a list are copies of the caller's."""
    made.borrow(())
    made.session.aliases.of_callers.append(made.keeper)
    return made


def _form_of_rows(rows: TracedArray) -> Form:
    if rows._type.rank == 1:
        return _form_of_elements(rows)
    form: Form | None = form_of_items([rows[0]], None)
    assert form is not None
    return form


MOST_LISTED = 256


def _items(x: TracedArray) -> Any:
    """The elements as numbers of Python's, one by one."""
    if not x.ndim:
        return x.item()
    return [_items(x[k]) if x.ndim > 1 else x[k].item() for k in range(x.shape[0])]


def _form_of_elements(array: TracedArray, *, weak: bool = True) -> Number:
    return Number(ScalarType(array._type.dtype, weak=weak))


def in_order(x: Any, reverse: object) -> Any:
    """``sorted(x)`` of a vector; None where Python sorts."""
    made = of_elements(x)
    return None if made is None else made.in_order(None, reverse)
