"""Variables and places that have no value yet, or have one by a condition.

See Note [Places that are new].
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CellType
from typing import Any

from fxc.ir.error_kinds import KEYS_BY_CONDITION
from fxc.ir.graph import Operand

from ..session.refusing import refusal
from ..session.session import current
from .operands import Traced, operand


class _Unbound:
    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND: Any = _Unbound()


def contents_of(cell: CellType) -> object:
    """What a variable of an enclosing function holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


class MaybeSet(Traced):
    """What a place holds: ``value`` if ``flag`` holds, else nothing.

    With ``by_class`` the class has something of that name, which ``value`` is then.
    """

    __slots__ = ("by_class", "flag", "value")
    _held = ("value",)

    def __init__(self, flag: object, value: object, *, by_class: bool = False) -> None:
        self.flag: Any = flag
        self.value: Any = value
        self.by_class = by_class

    def _operand(self) -> Operand:
        raise self.unclear()

    def given(self) -> Any:
        """The value, for a read; where there is none the call goes back to Python."""
        if not self.by_class:
            for statement in current().statements:
                statement.meets_flag(self.flag)
            current().record("try_demand", operand(self.flag))
        return self.value

    def unclear(self) -> Exception:
        """What to raise where it matters whether there is something."""
        return refusal(
            KEYS_BY_CONDITION,
            "what holds an attribute or a key by a condition cannot be captured here; give it a "
            "value in any case",
        )


def given(x: object) -> Any:
    """What a read of a place gives that holds ``x``."""
    return x.given() if type(x) is MaybeSet else x


def check_sure(held: Iterable[object]) -> None:
    """Refuse code that would see which of these are there."""
    for x in held:
        if type(x) is MaybeSet:
            raise x.unclear()
