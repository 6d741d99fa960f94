"""What stands for a variable, or a place, that has no value yet."""

from __future__ import annotations

from types import CellType
from typing import Any


class _Unbound:
    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND: Any = _Unbound()


def contents_of(cell: CellType) -> Any:
    """What a variable of an enclosing function holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND
