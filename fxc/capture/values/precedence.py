"""Which operand of Python's operators is asked first, where one is a list."""

from __future__ import annotations

from .operands import Traced
from .protocols import TakesFunctions


def goes_first(other: object, *, repeating: bool = False) -> bool:
    """Whether NumPy's operator of ``other`` comes before the ``+``, or ``*``, of a list.

    Python asks the operand on the right first where the one on the left is a sequence of C's: so
    ``items += array`` makes an array. A number may be how often to repeat.
    """
    if not (isinstance(other, Traced) and isinstance(other, TakesFunctions)):
        return False
    return not (repeating and other._is_number)
