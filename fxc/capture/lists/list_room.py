"""Where the graph holds the items of a list, and places there.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.graph import Literal, Value
from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType

from ..forms.form import Form, columns_of, types_of
from ..numbers.python_numbers import to_int
from ..numbers.traced_int import TracedInt, wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.above import above, chosen_of
from ..values.operands import Traced, operand, record, variable_of, wrap

if TYPE_CHECKING:
    from ..regions.structured import Statement

# See Note [Rooms with one door].
pack = import_later("fxc.capture.forms.carrying", "pack")
item_of = import_later("fxc.capture.forms.items", "item_of")
widened = import_later("fxc.capture.forms.items", "widened")
demand = import_later("fxc.capture.forms.truths", "demand")

# Note [Lists of counted length]
# A list that a branch or a loop of the graph changes (``if x[i] > 0: found.append(i)``) is a
# *buffer*. It lives in the graph from there on: one array for each number of an item, with room for
# the most items that there may be, and an array of one element that holds the length. Both are made
# before the outermost statement that appends, which is recorded again when it has been seen what it
# appends. Until then the statement only *wishes* for room, and what it reads are placeholders. An
# item is read and written by its place, of which is checked that the list has it. Behind the
# statement the length is a counted size, see Note [Counted sizes].
#
# A loop may keep a *pace*: each of its iterations, whose number is known before, appends as many
# items, in the body itself and not in a branch there. Then no length is in the graph: iteration k
# stores item ``length + k * pace``, and behind the loop the list has the length that follows, as
# one of a size has (Note [Lists of a size]); the arrays have just the items. The first pass through
# the body finds the pace out, and the next one relies on it. One that does otherwise, or needs an
# array of the items, breaks it off, and the loop is recorded again. Where a program cannot be
# captured with such a list (it writes to an array in it, say), the list ``leaves`` the graph behind
# the loop: Python has the items then, and their number is a constant.
#
# Of a list that loses its first item (``queue.pop(0)``), and of a deque that does, or takes items
# before it, the first item stands anywhere in the arrays, which go on at their begin: so no item
# moves, and places are used again. A deque with ``maxlen`` has arrays for no more, and drops an
# item before it takes another.
#
# Before, and where no statement of the graph changes it, the items are Python's. Which lists may
# become so is known by the place where they are made (``made_list``): the capture starts again
# when the first of them is changed where Python cannot follow.
#
# Everything else is a buffer, or a view of one: a dict has its items in one (Note [Dicts of the
# graph]), records their fields (Note [Records]), a pool of lists the items of all of them (Note
# [Pools of lists]), a text that grows its characters (Note [Texts of the graph]).


class Int(Protocol):
    """An int of Python's, or one of the graph: a place in a list, or a length."""

    def __add__(self, other: int, /) -> Any: ...
    def __radd__(self, other: int, /) -> Any: ...
    def __mul__(self, other: int, /) -> Any: ...
    def __rmul__(self, other: int, /) -> Any: ...
    def __sub__(self, other: int, /) -> Any: ...
    def __rsub__(self, other: int, /) -> Any: ...
    def __lt__(self, other: int, /) -> Any: ...
    def __ge__(self, other: int, /) -> Any: ...
    def __gt__(self, other: int, /) -> Any: ...
    def __index__(self) -> int: ...


class WithLength(Traced):
    """What has a length that may be a number of the graph."""

    __slots__ = ()
    length: Callable[[], Any]  # ``len(self)``

    def __len__(self) -> int:
        return int(self.length())

    def check_attribute(self, name: str) -> None:
        """Raise what Python raises if only our class has the attribute that the program reads."""
        kind = self.__class__
        if not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")


@frozen(eq=False)
class Room:
    """Arrays for up to ``most`` items, and the length; ``owner`` is the statement that appends.

    Of a list that loses items at its start, or takes some there, ``head`` holds the place of the
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

    def set_count(self, number: Int) -> None:
        wrap(self.length)[0] = number

    def check_not_full(self, number: Int) -> None:
        """Look whether there is room for another item, where the arrays do not say so."""
        if self.head is not None:
            demand(number < wrap_dim(self.most))

    def put(self, place: Int, x: object, part: int | None = None) -> None:
        """Store an item, or a part of one."""
        (form, arrays), there = self._part(part), self._turned(place)
        for array, each in zip(arrays, pack(form, x), strict=True):
            wrap(array)[there] = variable_of(each)

    def at(self, place: Int, part: int | None = None) -> object:
        """The item at a place, or a part of it."""
        (form, arrays), there = self._part(part), self._turned(place)
        return item_of(form, [operand(wrap(array)[there]) for array in arrays])

    def _part(self, part: int | None) -> tuple[Form, tuple[Value, ...]]:
        """The form of the items, or of a part of them, and where it stands."""
        if part is None:
            return self.form, self.arrays
        assert self.head is None
        columns = columns_of(self.form)
        begin = sum(len(types_of(each)) for each in columns[:part])
        return columns[part], self.arrays[begin : begin + len(types_of(columns[part]))]

    def move(self, place: Int, source: Int) -> None:
        """Store the item at one place at another one, too."""
        to, there = self._turned(place), self._turned(source)
        for array in self.arrays:
            wrap(array)[to] = wrap(array)[there]

    def turn(self, by: int) -> None:
        """Begin with another item: the next one, or the one before."""
        assert self.head is not None
        wrap(self.head)[0] = self._turned(by)

    def _turned(self, place: Int) -> Any:
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

    ``turns``: items come or go at the start; ``size``: the number of items, if that is known.
    """
    session, arrays = current(), new_arrays(form, most)
    if isinstance(content, int):
        length = new_number(content)
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


def new_arrays(form: Form, size: Dim) -> tuple[Value, ...]:
    """Arrays for so many items, which are not stored yet."""
    return tuple(
        current().value("empty", (size, *part.shape), part.dtype, layout=None)
        for part in types_of(form)
    )


def filled_arrays(form: Form, x: object, shape: tuple[Dim, ...]) -> tuple[Value, ...]:
    """Arrays of such items, all of which are this one."""
    return tuple(
        current().value("full", shape, part, kind.dtype, layout=None)
        for part, kind in zip(pack(form, x), types_of(form), strict=True)
    )


def new_number(number: Int) -> Value:
    made = current().value("empty", (1,), np.dtype("i8"), layout=None)
    wrap(made)[0] = number
    return made


def _around(place: Any, most: Dim) -> Any:
    """A place in arrays of that length, which go on at their begin."""
    is_power = isinstance(most, int) and not most & (most - 1)
    return place & (most - 1) if is_power else place % wrap_dim(most)


# ------------------------------------------------------------------ places


def is_unknown(key: object) -> bool:
    """Whether a place, or a bound of a slice, is a number of the graph."""
    return any(isinstance(each, Traced) for each in numbers_of(key))


def numbers_of(key: object) -> tuple[object, ...]:
    """The place, or the bounds of a slice and its step."""
    return (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)


def checked_place(key: Any) -> Any:
    """The place of an item, which is one of an array of as many elements."""
    if type(key) is bool:
        return int(key)
    kind_in_python = key.__class__  # also of a bool of the graph
    if kind_in_python is bool or not isinstance(key, int | np.integer | TracedInt):
        kind = operand(key).type
        is_number = kind.dtype.kind in "iu" or (kind.weak and kind.dtype.kind == "b")
        if kind.rank or not is_number:  # Python takes its own bools, but not NumPy's
            raise refuse(COUNTED_LIST, f"a place in a list that is of {kind}", "use an int")
        key = to_int(key[()] if isinstance(kind, ArrayType) else key)
    return key


def place_among(key: Any, number: Any) -> object:
    """A place among so many items, of which is checked that there is one."""
    session, key = current(), checked_place(key)
    if type(key) is int:
        place = number + key if key < 0 else key
    else:
        place = above().chosen(session.door, key < 0, lambda: number + key, lambda: key)
    for test in (place >= 0, place < number):
        if test is not True:
            demand(test)
    return place


def bounds_among(key: slice, number: Int) -> tuple[Any, Any]:
    """The bounds of a slice, without a step, among so many items."""
    start = 0 if key.start is None else _bound(key.start, number)
    stop = number if key.stop is None else _bound(key.stop, number)
    return start, chosen_of(current().door, stop < start, start, stop)


def _bound(key: object, number: Int) -> Any:
    door, given = current().door, checked_place(key)
    place = above().chosen(door, given < 0, lambda: given + number, lambda: given)
    place = chosen_of(door, place < 0, 0, place)
    return chosen_of(door, place > number, number, place)
