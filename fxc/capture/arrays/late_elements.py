"""Texts in arrays, of more than one character: ``names[i]``, ``names.tolist()``.

See Note [Late effects].
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from types import NoneType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import TEXT
from fxc.ir.graph import Value

from ..numbers.python_numbers import to_bool, to_python
from ..session.refusing import refuse
from ..values.late import OF_TEXTS, Late
from ..values.operands import TracedValue, constant, record, wrap

_NEVER_EQUAL = (str, int, float, complex, bool, NoneType)  # a text that ends with a NUL


class LateText(Late):
    """The only element of a vector, as a text of Python's: it is compared and looked for while the
    compiled code runs; all else is late.
    """

    __slots__ = ()

    @property
    def _cell(self) -> Any:
        return self._args[0]

    def _beside(self, *others: object) -> object:
        return self._cell.reshape(())

    def _stored_as(self, dtype: np.dtype) -> object:
        return self._cell.reshape(()) if dtype.kind == "U" else self

    def _is_filled(self) -> object:
        return self != ""

    def is_one_of(self, texts: Iterable[object]) -> object:
        """Whether it is one of these constants."""
        return self.place_among([*texts])[1]

    def place_among(self, keys: Sequence[object]) -> tuple[object, object]:
        """Its place among these constants; whether it is there."""
        if not keys:
            return 0, False
        known = [each if _is_comparable(each) else "" for each in keys]
        same = wrap(constant(np.array(known))) == self._cell
        others = np.array([not _is_comparable(each) for each in keys])
        if others.any():
            same = np.logical_and(same, ~others)
        return to_python(same.argmax()), to_bool(same.any())

    __hash__ = Late.__hash__


def _is_comparable(x: object) -> bool:
    """Whether NumPy compares this as Python does: in arrays no text ends with a NUL."""
    return type(x) is str and not x.endswith("\0")


def _comparison(name: str) -> Callable[[LateText, object], object]:
    compare = getattr(operator, name)

    def compared(self: LateText, other: object) -> object:
        if isinstance(other, LateText):
            return to_bool(compare(self._cell, other._cell)[0])
        if isinstance(other, TracedValue) and other._value.type.dtype.kind == "U":
            return compare(self._beside(), other)
        if _is_comparable(other):
            return to_bool(compare(self._cell, wrap(constant(np.array(other))))[0])
        if type(other) in _NEVER_EQUAL and name in ("eq", "ne"):
            return name == "ne"
        return getattr(Late, f"__{name}__")(self, other)

    return compared


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(LateText, f"__{_name}__", _comparison(_name))


class LateElement(LateText):
    """The same as an ``np.str_``."""

    __slots__ = ()

    def _plain(self) -> LateText:
        """As a text of Python's own."""
        return python_element(self._cell)

    def __getattr__(self, name: str) -> object:
        if name in ("item", "tolist"):
            return self._plain
        if name in OF_TEXTS and name != "format":  # it gives an ``np.str_`` without fields
            return getattr(self._plain(), name)
        if not name.startswith("_") and hasattr(np.str_, name):
            raise refuse(TEXT, f"{name} of an element of an array of texts", f"str(x).{name}")
        return super().__getattr__(name)

    def __getitem__(self, key: object) -> Any:
        return self._plain()[key]

    def __add__(self, other: object) -> Any:
        return self._plain() + other

    def __radd__(self, other: object) -> Any:
        return other + self._plain()

    def __mul__(self, count: object) -> Any:
        return self._plain() * count

    __rmul__ = __mul__

    def __mod__(self, args: object) -> Any:
        raise refuse(TEXT, "% of an element of an array of texts", "str(x) % …")


def late_element(view: Any) -> LateElement:
    """The element that an array of rank 0 shows, as it is now."""
    cell = record("copy", view.reshape(1)._value, order="C")
    return LateElement(np.str_, element_in, (cell,), {})


def vector_element(vector: Value) -> LateElement:
    """The only element of a vector, to which nobody writes."""
    return LateElement(np.str_, element_in, (wrap(vector),), {})


def python_element(cell: object) -> LateText:
    """The only element of a vector as a text of Python's own; nobody writes to the vector."""
    return LateText(str, item_in, (cell,), {})


def element_in(cell: np.ndarray) -> object:
    """The only element of a vector."""
    return cell[0]


def item_in(cell: np.ndarray) -> object:
    """The same as an object of Python's."""
    return cell.item()
