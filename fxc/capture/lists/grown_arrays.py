"""Arrays that loops of the graph make longer: ``out = np.append(out, x)``.

See Note [Arrays that grow].
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from fxc.ir.error_kinds import EITHER_ARRAY
from fxc.ir.graph import Value
from fxc.ops.metas.layout import is_c_ordered

from ..arrays.traced_array import TracedArray
from ..arrays.unmade import UnmadeArray
from ..forms.truths import demand
from ..session.locations import user_location
from ..session.refusing import How, Request, refuse
from ..session.session import current
from ..values.operands import array_of, kind_of, wrap
from .list_buffers import Buffer, ToGrow, any_number
from .list_room import Int

# Note [Arrays that grow]
# ``out = np.empty((0, 2))`` before a loop and ``out = np.vstack([out, row])`` in it, under a
# condition perhaps, make an array of another length in each iteration. Where a loop of the graph
# cannot carry it otherwise, the capture starts again with an array that grows: a buffer of its rows
# (Note [Lists of counted length]), of which an array of the graph has the first ``count``. What
# ``np.concatenate`` makes of it, by which NumPy's other functions go, is another one of the same
# buffer. Where a loop does not carry rows (``out = np.hstack([out, column])``), the capture starts
# again with the columns of the array as the items of the buffer. So an array may become longer once
# alone: that it is the longest one is checked. It is an array by itself where anything else is done
# with it, and from then on if that is behind all loops. A loop that carries two of them does not
# know whether they are one, as they are if it adds nothing: so nobody may write to one in a loop,
# keep it there, ask which one it is, or have two behind all loops. So it is with one that begins as
# another variable (``out = x``), to which nobody may write from then on: behind all loops it has to
# be longer than that, and so another one.

_FEW = 16  # items that are made one by one


class GrownArrays(ToGrow):
    """The arrays of a capture that may grow, by the place where they begin."""

    def __init__(self) -> None:
        super().__init__()
        self._taken: dict[int, GrownArray] = {}

    def made(self, x: Any, place: int, is_new: bool = True) -> object:
        """An array that a variable begins with, a new one or that of another variable."""
        value = array_of(x)
        if value is None or not 1 <= value.type.rank <= 2:
            return x
        if value.type.dtype.kind not in "biufc" or (is_new and not kind_of(value).writeable):
            return x
        if not all(isinstance(dim, int) for dim in value.type.shape):
            return x
        about = f"array at {user_location()}:{place}"
        is_table = value.type.rank == 2
        by_columns = is_table and (len(x) > _FEW or current().wants(_columns_of(about)))
        rows = x.T if by_columns else x
        if len(rows) > _FEW or not self.grows(about):
            return x
        buffer = Buffer([rows[place].copy() for place in range(len(rows))])
        begun = None if is_new else value
        if begun is not None:
            current().aliases.grown.update(current().aliases.roots(value))
        kind = GrownKind(value.type.dtype, rows.shape[1:], by_columns, about, begun)
        return GrownArray(buffer, kind, len(rows))

    def take(self, array: GrownArray) -> None:
        """Note an array that the program has behind all loops: of one buffer there may be one."""
        if self._taken.setdefault(id(array.rows), array) is not array:
            raise refuse(
                EITHER_ARRAY, "an array that a loop makes longer, beside the one that it was,"
            )


class GrownKind(NamedTuple):
    """What an array that grows has in all iterations."""

    dtype: np.dtype
    shape: tuple[Any, ...]  # of an item
    by_columns: bool
    about: str
    begun: Value | None  # the array of another variable that it begins as, or None


def _columns_of(about: str) -> str:
    return f"columns of {about}"


def growing_array(door: Any, x: object, place: int, owner: object, name: str) -> object:
    """An array that a variable of the program begins with, which a function of this owner and name
    has made of no array: called by what is staged. What is NumPy's has made a new one, that nobody
    else has.
    """
    is_numpys = type(owner) is ModuleType and owner.__name__ == "numpy" and name in vars(owner)
    return door.arrays.made(x, place) if is_numpys else x


def growing_alias(_: object, x: object, place: int) -> object:
    """The same for the array of another variable: called by what is staged."""
    session = current()
    if type(x) is not TracedArray or x._object is not x._value:
        return x
    if x._value in session.classes or x._value in session.alternatives:
        return x
    return session.door.arrays.made(x, place, is_new=False)


class GrownArray(UnmadeArray):
    """The first ``count`` items of a buffer, elements, rows or columns, as an array."""

    __slots__ = ("_count", "_is_taken", "_kind", "_made", "rows")
    _held = ("_count", "rows")

    def __init__(self, rows: Buffer, kind: GrownKind, count: Int) -> None:
        self.rows = rows
        self._kind = kind
        self._count = count
        self._made: Any = None
        self._is_taken = False

    @property
    def _grows(self) -> bool:  # type: ignore[override]
        return not self._is_taken

    # -------------------------------------------------------- as one of its kind

    def _structure_keys(self) -> tuple[Any, ...]:
        return ((self.rows, self._kind),)

    @classmethod
    def _of_structure(cls, keys: tuple[Any, ...], items: Any) -> GrownArray:
        ((rows, kind),), (count,) = keys, items
        return cls(rows, kind, count)

    @staticmethod
    def _structure_items(x: Any) -> tuple[Any, ...]:
        return (x._count,)

    @staticmethod
    def _otherwise(keys: tuple[Any, ...]) -> Request | None:
        ((_, kind),) = keys
        if kind.shape and not kind.by_columns:
            return Request(_columns_of(kind.about), How.IN_GRAPH)
        return Request(kind.about, How.BY_PYTHON)

    def longer(self, parts: Sequence[Value], axis: object) -> object:
        """This with more parts at its end; NotImplemented if that is an array of another kind."""
        if axis not in ((1, -1) if self._kind.by_columns else (0,)):
            return NotImplemented
        for part in parts:
            kind = kind_of(part)
            if kind.rank != self.ndim or not (1 in kind.shape or is_c_ordered(kind)):
                return NotImplemented
            item = kind.shape[:1] if self._kind.by_columns else kind.shape[1:]
            if item != self._kind.shape:
                return NotImplemented
            if np.result_type(self.dtype, kind.dtype) != self.dtype:
                return NotImplemented
        count, buffer = self._count, self.rows
        demand(count == buffer.next_place())
        for part in parts:
            rows = wrap(part).astype(self.dtype)
            rows = rows.T if self._kind.by_columns else rows
            number = rows.shape[0]
            if type(number) is int and number <= _FEW:
                for place in range(number):
                    buffer.append(rows[place].copy())
            else:
                current().door.staged(_append_all)(buffer, rows)
            count = count + number
        return GrownArray(buffer, self._kind, count)

    # -------------------------------------------------------- as an array

    @property
    def array(self) -> Any:
        if self._made is None or not current().is_alive(self._made._value):
            begun = self._begun()
            self._made = self._array() if begun is None else begun
            if current().region:
                current().aliases.grown.add(self._made._value)
            else:
                current().door.arrays.take(self)
                self._is_taken = True
        return self._made

    def _begun(self) -> object:
        """The array of another variable that this still is behind all loops; None if it is none."""
        begun = self._kind.begun
        if begun is None or current().region:
            return None
        first = kind_of(begun).shape[1 if self._kind.by_columns else 0]
        if type(self._count) is int and self._count == first:
            return wrap(begun)
        demand(self._count != first)
        return None

    def _array(self) -> Any:
        buffer = self.rows
        if buffer.awaited_by() is not None:
            shape = (any_number(), *self._kind.shape)  # of what is recorded again
            found = current().door.call(np.empty, shape, self.dtype)
        elif buffer.items is None:
            _, (whole,) = buffer.arrays()
            found = wrap(whole)[: self._count]
        elif buffer.items:
            found = current().door.call(np.array, list(buffer.items), self.dtype)
        else:
            found = current().door.call(np.empty, (0, *self._kind.shape), self.dtype)
        found = found.T if self._kind.by_columns else found
        return found.copy() if self._kind.by_columns or buffer.items is None else found

    @property
    def dtype(self) -> np.dtype:
        return self._kind.dtype

    @property
    def ndim(self) -> int:
        return len(self._kind.shape) + 1


def _append_all(items: Buffer, rows: Any) -> None:
    for row in rows:
        items.append(row.copy())
