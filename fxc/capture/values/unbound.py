"""What stands for a variable, or a place, that has no value yet."""

from __future__ import annotations

from typing import Any


class _Unbound:
    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND: Any = _Unbound()
