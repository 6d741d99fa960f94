"""Tuples whose length depends on data: ``tuple(xs)`` and the columns of ``zip(*rows)``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.graph import Operand

from ..session.refusing import refuse
from ..session.session import current
from ..values.limited import refuse_methods
from ..values.operands import operand, taken_for
from ..values.operator_methods import goes_first
from .in_lists import InList, joined


class CountedTuple(InList):
    """A tuple: its items are those of a list of the graph."""

    __slots__ = ()
    _written_by = "_counted_tuple"
    _held = ("held",)
    _is_row = True
    __class__ = taken_for(tuple)

    @staticmethod
    def refused(what: str) -> Exception:
        return refuse(COUNTED_LIST, f"{what} of a tuple whose length depends on data")

    def _parts(self) -> tuple[object, ...]:
        return (self.held,)

    def _with_parts(self, parts: Any) -> Self:
        return type(self)(*parts)

    def as_array(self, dtype: object = None, *, taken: bool = False) -> Any:
        """``np.array(self, dtype)``."""
        return self.held.as_array(dtype)

    def _operand(self) -> Operand:
        return operand(self.as_array())

    def _has(self, x: object) -> object:
        return self._staged(_contains, x)

    def __add__(self, other: object) -> object:
        if other.__class__ is not tuple:
            return NotImplemented
        return CountedTuple(self._staged(joined, current().door.call(list, other)))

    def __radd__(self, other: object) -> object:
        if other.__class__ is not tuple:
            return NotImplemented
        return CountedTuple(self._staged(_joined_behind, current().door.call(list, other)))

    def __mul__(self, count: object) -> object:
        if goes_first(count, repeating=True):
            return NotImplemented
        raise self.refused("'*'")

    __rmul__ = __mul__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(tuple, name):
            raise AttributeError(f"'tuple' object has no attribute {name!r}")
        return getattr(self.held, name)


_REFUSED = {
    "_as_places": "an index",
    "__repr__": "the text",
    **dict.fromkeys(("__eq__", "__ne__", "__hash__"), "a comparison or hash()"),
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), "an order"),
}
refuse_methods(CountedTuple, _REFUSED)


class ZippedRows(Iterator[object]):
    """``zip(*rows)``: an iterator over the columns."""

    __class__ = taken_for(zip)

    def __init__(self, columns: list[object]) -> None:
        self._left = iter(columns)

    def __next__(self) -> object:
        return next(self._left)


def tuple_before(items: object) -> object:
    """A tuple of the items of a list that nobody else has."""
    return tuple(items) if type(items) is list else CountedTuple(items)


def list_behind(x: object) -> object:
    """The list of the graph of such a tuple; anything else itself."""
    return x.held if isinstance(x, CountedTuple) else x


# ------------------------------------------------------------------ in Python, to be staged


def _contains(held: Any, x: object) -> bool:
    return x in held


def _joined_behind(held: list[Any], first: list[Any]) -> list[Any]:
    return first + held
