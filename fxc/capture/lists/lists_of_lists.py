"""Lists of lists of numbers, all of one length: ``[[0] * m for _ in range(n)]``.

See Note [Lists of lists].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim
from fxc.ir.types import ScalarType

from ..forms.form import OfNumbers, numbers_in, types_of
from ..forms.mixed import form_of_numbers, number_form, scalar_kinds
from ..numbers.traced_int import wrap_dim
from ..regions.counted import Counted
from ..session.refusing import How, Request, Respecialise
from ..session.session import current
from ..values.limited import OF_LISTS, Limited, refuse_methods
from ..values.operands import Traced, kind_of, operand, taken_for, variable_of, wrap
from .list_contents import kept
from .list_room import Int, WithLength, checked_place, filled_arrays
from .traced_lists import TracedList

# See Note [Rooms with one door].
pack = import_later("fxc.capture.forms.carrying", "pack")
item_of = import_later("fxc.capture.forms.items", "item_of")
takes = import_later("fxc.capture.forms.items", "takes")
as_array = import_later("fxc.capture.forms.leaving", "as_array")
array_of = import_later("fxc.capture.arrays.sequences", "array_of")

# Note [Lists of lists]
# A list of lists of numbers whose rows are asked for at places that are not known, to be written
# (``table[i][j] = …``) or beside lists of the graph, becomes one of the graph where it is made: an
# array of two axes for each part of a number (Note [Mixed scalars]). Its rows are places in it. A
# number of another kind that is stored later is noted in ``Session.outer``, and the capture starts
# again with room for both. So it does, with Python's lists, if the program does anything else with
# the list than to read and write numbers: ``append``, a row that is replaced.


def made(by_python: Request, items: Sequence[Any]) -> object:
    """The list of the graph for one that Python has made; NotImplemented if it cannot be one. The
    request is to leave it to Python.
    """
    rows = [x.items if type(x) is TracedList and x.items is not None else x for x in items]
    if not rows or len(set(map(id, rows))) < len(rows):
        return NotImplemented
    if all(type(row) is list for row in rows):
        return _of_numbers(by_python, rows)
    found = {row.repeats() if type(row) is TracedList else None for row in rows}
    return repeated(by_python, len(rows), rows[0]) if len(found) == 1 else NotImplemented


def _of_numbers(by_python: Request, rows: Sequence[Sequence[object]]) -> Any:
    """The list of rows that Python knows."""
    flat, widths = [x for row in rows for x in row], set(map(len, rows))
    form = _form_of(by_python.about, flat) if len(widths) == 1 else None
    if form is None:
        return NotImplemented
    if all(x is flat[0] for x in flat):
        shape = len(rows), len(rows[0])
        return ListOfLists(by_python, form, filled_arrays(form, flat[0], shape))
    parts = [[pack(form, x) for x in row] for row in rows]
    arrays = [
        array_of([[variable_of(x[number]) for x in row] for row in parts], part.dtype)._value
        for number, part in enumerate(types_of(form))
    ]
    return ListOfLists(by_python, form, arrays)


def repeated(by_python: Request, count: Dim, row: object) -> object:
    """So many rows with the items of this one, all the same; NotImplemented otherwise."""
    size: Dim
    if type(row) is list and row and all(x is row[0] for x in row):
        number, size = row[0], len(row)
    elif type(row) is TracedList and (found := row.repeats()) is not None:
        number, size = found[0].value, found[1]
    else:
        return NotImplemented
    form = None if isinstance(number, Traced) else _form_of(by_python.about, [number])
    if form is None:
        return NotImplemented
    return ListOfLists(by_python, form, filled_arrays(form, number, (count, size)))


def _form_of(label: str, numbers: Sequence[object]) -> OfNumbers | None:
    """What all these are, and what is known to be stored later; None if they cannot be mixed."""
    known: frozenset[ScalarType] = current().outer.get(label, frozenset())
    return form_of_numbers(numbers, known) if numbers else None


def _place(key: object, count: Int, what: str) -> Any:
    """A place among so many; an exception where Python knows both."""
    place = checked_place(key)
    if type(place) is int and type(count) is int and not -count <= place < count:
        raise IndexError(f"{what} out of range")
    return place


class _AlongAxis(WithLength, Limited):
    """A list of what stands along an axis of arrays."""

    __slots__ = ()
    whole: ListOfLists
    _axis: ClassVar[int]

    __class__ = taken_for(list)

    def __getitem__(self, key: object) -> Any:
        raise NotImplementedError

    def _size(self) -> Dim:
        return kind_of(self.whole.arrays[0]).shape[self._axis]

    def length(self) -> Any:
        return wrap_dim(self._size())

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def _counted(self) -> Any:
        return Counted(self._size(), self.__getitem__, of=(self,))

    def refused(self, what: str = "") -> BaseException:
        """The request to make the list Python's."""
        return Respecialise(self.whole.by_python)

    def __getattr__(self, name: str) -> object:
        raise AttributeError(name) if name.startswith("__") else self.refused()


refuse_methods(_AlongAxis, OF_LISTS)


class ListOfLists(_AlongAxis):
    """See Note [Lists of lists]."""

    __slots__ = ("arrays", "by_python", "form")
    _written_by = "_rows"
    _axis = 0

    def __init__(self, by_python: Request, form: OfNumbers, arrays: Sequence[Value]) -> None:
        self.by_python = by_python
        self.form = form
        self.arrays = arrays

    @property
    def whole(self) -> ListOfLists:  # type: ignore[override]
        return self

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, slice):
            raise self.refused()
        return ListRow(self, _place(key, self.length(), "list index"))

    def as_array(self, dtype: object = None) -> Any:
        return as_array(self.form, [wrap(x).copy()._value for x in self.arrays], dtype)

    def _copied_deeply(self, is_fixed: Callable[[object], bool]) -> object:
        return self._snapshot(is_fixed)

    def _snapshot(self, of: Callable[[object], Any]) -> object:
        arrays = [wrap(x).copy()._value for x in self.arrays]
        return ListOfLists(self.by_python, self.form, arrays)


class ListRow(_AlongAxis):
    """A row of such a list."""

    __slots__ = ("place", "whole")
    _held = ("whole",)
    _written_by = "_row"
    _axis = 1

    def __init__(self, whole: ListOfLists, place: Int) -> None:
        self.whole = whole
        self.place = place

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, slice):
            raise self.refused()
        place = self.place, _place(key, self.length(), "list index")
        return item_of(self.whole.form, [operand(wrap(x)[place]) for x in self.whole.arrays])

    def __setitem__(self, key: object, x: object) -> None:
        x, whole = kept(x), self.whole
        kinds = scalar_kinds(x)
        if isinstance(key, slice) or kinds is None:
            raise self.refused()
        if not takes(whole.form, x):
            kinds |= numbers_in(whole.form)
            if number_form(kinds) is None:
                raise self.refused()
            label = whole.by_python.about
            current().outer[label] = kinds
            raise Respecialise(Request(label, How.OF_KINDS, len(kinds)))
        place = self.place, _place(key, self.length(), "list assignment index")
        for array, part in zip(whole.arrays, pack(whole.form, x), strict=True):
            wrap(array)[place] = variable_of(part)

    def _snapshot(self, of: Callable[[object], Any]) -> object:
        return ListRow(of(self.whole), self.place)
