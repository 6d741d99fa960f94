"""Where the graph holds the items of a list. See Note [Lists of counted length]."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Value
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim

from ..forms.carrying import pack
from ..forms.form import Form, columns_of, types_of
from ..forms.items import item_of, widened
from ..session import current
from ..statements.structured import Statement
from .operands import operand, record, variable_of, wrap
from .python_numbers import to_int
from .traced_int import wrap_dim
from .truths import flag_of


@frozen(eq=False)
class Room:
    """Arrays for up to ``most`` items, and the length; ``owner`` is the statement that appends.

    Of a list that loses items at its begin, or takes some there, ``head`` holds the place of the
    first item; the place behind the last one is the first.
    """

    form: Form
    arrays: tuple[Value, ...]
    length: Value
    most: Dim
    owner: Statement | None
    head: Value | None = None

    @property
    def count(self) -> Any:
        """The length, as a scalar of the graph."""
        return to_int(wrap(self.length)[0])

    def set_count(self, number: Any) -> None:
        """Store the length."""
        wrap(self.length)[0] = number

    def check_not_full(self, number: Any) -> None:
        """Look whether there is room for another item, where the arrays do not say so."""
        if self.head is not None:
            current().record("try_demand", flag_of(number < wrap_dim(self.most)))

    def put(self, place: Any, x: Any) -> None:
        """Store an item."""
        there = self._turned(place)
        for array, part in zip(self.arrays, pack(self.form, x), strict=True):
            wrap(array)[there] = variable_of(part)

    def at(self, place: Any) -> Any:
        """The item at a place."""
        there = self._turned(place)
        return item_of(self.form, [operand(wrap(array)[there]) for array in self.arrays])

    def move(self, place: Any, source: Any) -> None:
        """Store the item at one place at another one, too."""
        to, there = self._turned(place), self._turned(source)
        for array in self.arrays:
            wrap(array)[to] = wrap(array)[there]

    def put_part(self, place: Any, part: int, x: Any) -> None:
        """Store a part of an item that consists of several."""
        form, arrays = self._part(part)
        for array, each in zip(arrays, pack(form, x), strict=True):
            wrap(array)[place] = variable_of(each)

    def part_at(self, place: Any, part: int) -> Any:
        """A part of the item at a place."""
        form, arrays = self._part(part)
        return item_of(form, [operand(wrap(array)[place]) for array in arrays])

    def _part(self, part: int) -> tuple[Form, tuple[Value, ...]]:
        """The form of a part of the items, and where it stands."""
        assert self.head is None
        columns = columns_of(self.form)
        begin = sum(len(types_of(each)) for each in columns[:part])
        return columns[part], self.arrays[begin : begin + len(types_of(columns[part]))]

    def turn(self, by: int) -> None:
        """Begin with another item: the next one, or the one before."""
        assert self.head is not None
        wrap(self.head)[0] = self._turned(by)

    def _turned(self, place: Any) -> Any:
        """Where the item at a place stands in the arrays."""
        if self.head is None:
            return place
        return _around(to_int(wrap(self.head)[0]) + place, self.most)

    def in_order(self, size: Dim) -> tuple[Value, ...]:
        """So many of the items, in arrays that begin with the first one."""
        if self.head is None:
            return self.arrays
        numbers = record("arange", Literal(0), Literal(1), length=size, dtype=np.dtype(np.int64))
        places = _around(numbers + wrap(self.head)[0], self.most)
        return tuple(wrap(array)[places]._value for array in self.arrays)


def new_room(
    form: Form,
    most: Dim,
    owner: Statement | None,
    turns: bool,
    content: Room | int,
    size: Dim | None = None,
) -> Room:
    """Room for the content of another one, or for so many items, which are not stored yet.

    ``turns``: items come or go at the begin; ``size``: the number of items, if that is known.
    """
    session = current()
    arrays = tuple(
        session.record("empty", (most, *part.shape), part.dtype, layout=None)
        for part in types_of(form)
    )
    if isinstance(content, int):
        length = session.record("empty", (1,), np.dtype("i8"), layout=None)
        wrap(length)[0] = content
    else:
        size = content.most if size is None else size
        length, end = content.length, wrap_dim(size)
        given = content.in_order(size)
        if content.head is None and size != content.most:
            given = tuple(wrap(array)[:end]._value for array in given)
        for array, part in zip(arrays, widened(form, content.form, given), strict=True):
            wrap(array)[:end] = part
    head = session.record("zeros", (1,), np.dtype("i8"), layout=None) if turns else None
    return Room(form, arrays, length, most, owner, head)


def _around(place: Any, most: Dim) -> Any:
    """A place in arrays of that length, which go on at their begin."""
    is_power = isinstance(most, int) and not most & (most - 1)
    return place & (most - 1) if is_power else place % wrap_dim(most)
