"""What stands for a sequence whose items are in a list that nobody else has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..regions.counted import Bounded, Counted
from ..session.session import current
from ..values.above import above
from .list_room import WithLength


class InList(WithLength):
    """A sequence that reads the list ``held``: one of Python's, or one of the graph."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held: Any = held

    def _staged(self, function: Callable[..., object], *args: object) -> Any:
        return current().door.staged(function)(self.held, *args)

    def length(self) -> object:
        return current().door.call(len, self.held)

    def _is_filled(self) -> object:
        return self.length() != 0

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def _counted(self) -> Counted | Bounded | None:
        found: Counted | Bounded | None = above().counted(self.held)
        return found

    def __getitem__(self, key: object) -> object:
        if isinstance(key, slice):
            return type(self)(self._staged(_item, key))
        return self._at(_item, key)

    def _at(self, function: Callable[..., object], *args: object) -> object:
        """What a function does at a place; the error is the one of this sequence."""
        try:
            return self._staged(function, *args)
        except IndexError:
            raise IndexError(f"{self.__class__.__name__} index out of range") from None


# ------------------------------------------------------------------ in Python, to be staged


def _item(held: Any, key: object) -> object:
    return held[key]


def joined(held: list[Any], more: list[Any]) -> list[Any]:
    """``held + more``."""
    return held + more
