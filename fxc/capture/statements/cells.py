"""Places that branches and loops assign, which are variables then like others.

See Note [Assigned places].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Cells:
    """The places that a statement takes for variables, by their texts."""

    def __init__(self, door: Any, rebound: Any) -> None:
        self._places = door.places
        self._cells = door.places.carried(rebound)
        self._before = {text: place.read() for text, place in self._cells.items()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._cells)

    def has(self, place: Any) -> bool:
        """Whether a place is one of these."""
        found = self._cells.get(place.text)
        return found is not None and found.base is place.base

    def among(self, env: Mapping[str, Any]) -> Mapping[str, Any]:
        """The variables with the places."""
        if not self._cells:
            return env
        return {**env, **{text: place.read() for text, place in self._cells.items()}}

    def hand_on(self, values: Sequence[Any]) -> list[Any]:
        """Assign the places, which come last; gives the other values."""
        if not self._cells:
            return list(values)
        count = len(values) - len(self._cells)
        for (text, place), value in zip(self._cells.items(), values[count:], strict=True):
            self._places.assign(place, self._before[text], value)
        return list(values[:count])

    def read_again(self, values: Sequence[Any]) -> list[Any]:
        """The values, with what the places hold now."""
        count = len(values) - len(self._cells)
        return [*values[:count], *(place.read() for place in self._cells.values())]
