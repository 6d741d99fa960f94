"""Elements of arrays of texts of one character, and numbers in texts.

See Note [Texts of the graph].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Operand

from ..arrays.traced_array import TracedArray
from ..forms.truths import demand
from ..numbers.python_numbers import to_int
from ..session.session import current
from ..values.operands import taken_for
from .list_room import Int
from .texts import Char, code_of, filled, refused


def text_of_element(code: int) -> np.str_:
    """What NumPy gives of an array of texts of one character."""
    return np.str_(chr(code) if code else "")


class CharOfArray(Char):
    """An ``np.str_`` of one character, or of none if its ``bare`` code is 0.

    That it has one is checked where the difference would show.
    """

    __slots__ = _held = ("bare",)
    _of_item = staticmethod(text_of_element)

    def __init__(self, bare: object) -> None:
        self.bare: Any = bare

    __class__ = taken_for(np.str_)

    @property
    def code(self) -> Any:
        demand(self.bare > 0)
        return self.bare

    @staticmethod
    def _structure_items(x: Any) -> tuple[Any, ...]:
        return (x.bare,)

    @staticmethod
    def _has_structure(x: object) -> bool:
        return type(x) is CharOfArray

    def _is_filled(self) -> object:
        return self.bare > 0

    def plain(self) -> Char:
        return Char(self.code)

    def _operand(self) -> Operand:
        return filled((), self.bare).view("U1")._operand()  # type: ignore[no-any-return]

    def codes_beside(self, other: object) -> tuple[Any, Any]:
        if type(other) is CharOfArray:
            return self.bare, other.bare
        is_known = type(other) is str and other != "\0"
        return self.bare if is_known else self.code, code_of(other)

    def _is_text(self, name: str, text: str) -> object:
        return name == "__ne__" if text else getattr(self.bare, name)(0)

    def __getattr__(self, name: str) -> object:
        if hasattr(np.str_, name) and not hasattr(str, name):
            raise refused(name)
        return super().__getattr__(name)


def element_of(cell: TracedArray) -> CharOfArray:
    """The element that an array of rank 0 shows."""
    return CharOfArray(to_int(cell.view(np.int32)[()]))


def int_in(codes: TracedArray) -> object:
    """``int`` of a text of digits, perhaps with a sign; of others it is Python's."""
    return current().door.staged(_number_in)(codes, codes.shape[0])


def _number_in(codes: Any, count: Int) -> object:
    is_negative = count > 1 and codes[0] == ord("-")
    demand(count > is_negative)
    found = 0
    for k in range(is_negative, count):
        digit = int(codes[k]) - ord("0")
        demand(digit >= 0)
        demand(digit < 10)
        found = found * 10 + digit
    return -found if is_negative else found
