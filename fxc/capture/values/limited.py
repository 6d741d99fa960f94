"""What stands for a value and can do no more than its class says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.graph import Operand

from .operands import Traced


class Limited(Traced):
    """What can do no more than its class says: Python's other operators are refused."""

    __slots__ = ()
    refused: Callable[[str], BaseException]  # what to raise for a use of it

    def _operand(self) -> Operand:
        raise self.refused("this operation")

    def __setitem__(self, key: object, value: object) -> None:
        raise self.refused("an assignment to an item")

    def __delitem__(self, key: object) -> None:
        raise self.refused("del")

    def __eq__(self, other: object) -> Any:
        raise self.refused("==")

    def __ne__(self, other: object) -> Any:
        raise self.refused("!=")

    def _ordered(self, other: object) -> Any:
        raise self.refused("an order")

    __lt__ = __le__ = __gt__ = __ge__ = _ordered

    def __hash__(self) -> int:
        raise self.refused("hash()")

    def __repr__(self) -> str:
        raise self.refused("the text")
