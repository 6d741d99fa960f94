"""Items of a list that a loop has appended, before they are read. See Note [Lists that grow]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.error_kinds import LOOP_VARIABLE
from fxc.ir.graph import Operand, Value
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType

from ..session.refusing import refusal
from ..session.session import current

Kind = ArrayType | ScalarType


@frozen(eq=False)
class Rows:
    """What the iterations of a loop have appended: the items of an array, of this kind each."""

    array: Value
    kind: Kind
    count: int


@frozen(eq=False)
class Row:
    """One of them."""

    rows: Rows
    place: int

    def read(self) -> Value:
        """The item, recorded here."""
        session, kind = current(), self.rows.kind
        row = session.record("select", self.rows.array, 0, self.place)
        if not isinstance(kind, ArrayType):
            number = as_number(session.record("item", row), kind)
            assert isinstance(number, Value)
            return number
        if session.region:
            raise refusal(
                LOOP_VARIABLE,
                "an array of a list that a loop has filled is used in another loop or a branch "
                "first, which cannot be captured; use np.array(list)",
            )
        return session.value("copy", row, order="C")


@frozen(eq=False)
class ListArray:
    """The array of a list, which is one of floats, or of the ``asked`` dtype, and has one axis if
    the list is empty: where that makes a difference, the call goes back to Python.
    """

    array: Value
    filled: Operand
    asked: np.dtype | None = None

    def read(self) -> Value:
        """The array, which has elements from here on."""
        current().record("try_demand", self.filled)
        return self.array


def as_number(element: Operand, kind: ScalarType) -> Operand:
    """An element of an array as the number of this type that it stands for."""
    session, letter = current(), kind.dtype.kind
    if not kind.weak:
        return element
    if letter == "c":
        real = session.value("real_number", element)
        return session.value("py_complex", real, session.value("imaginary_number", element))
    return session.value({"b": "py_bool", "i": "py_int", "f": "py_float"}[letter], element)


def _later_of(x: object) -> object:
    return getattr(x, "_later", None) if hasattr(type(x), "_later") else None


def row_of(x: object) -> Row | None:
    """The row that a traced value is, if it has not been read yet as an array of its own."""
    row = _later_of(x)
    return row if type(row) is Row else None


def list_array_of(x: object) -> ListArray | None:
    """The array of a list that a traced array is, if that it has elements has not been asked."""
    found = _later_of(x)
    return found if type(found) is ListArray else None


def rows_in(items: Sequence[object]) -> Rows | None:
    """The array whose items these are, all of them, in order and not read yet; else None."""
    first = row_of(items[0]) if items else None
    if first is None or len(items) != first.rows.count:
        return None
    for place, item in enumerate(items):
        row = row_of(item)
        if row is None or row.rows is not first.rows or row.place != place:
            return None
    return first.rows
