"""Which lists of the program may be of the graph: those that it makes, by place.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..session import Session
from . import lists_of_lists
from .operands import Traced
from .traced_lists import TracedList


class MadeLists:
    """The lists of a capture by the places where they were made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._labels: dict[int, str] = {}
        self.known: list[list[Any]] = []
        self.changed = frozenset[str]()  # what was changed in a region
        self.sized = frozenset[str]()  # the requests to leave lists of a size to Python
        self._traced: list[tuple[str, TracedList]] = []

    def made(self, items: Any, place: str) -> Any:
        """A list, or a deque, that the program makes at a place."""
        if type(items) is deque:
            if items.maxlen is not None:
                return items
        elif type(items) is not list:
            return items
        label, static = f"list {place}", self._session.static
        if lists_of_lists.wanted(label) in static and f"{label} by Python" not in static:
            found = lists_of_lists.made(label, items)
            if found is not NotImplemented:
                return found
        if label in static and f"{label} by Python" not in static:
            made = TracedList(items)
            self._traced.append((label, made))
            return made
        self._labels[id(items)] = label
        self.known.append(items)
        self._session.door.places.note_list(items)
        return items

    def label_of(self, items: Any) -> str | None:
        """What requests call the place where a list of Python's was made."""
        return self._labels.get(id(items))

    def note_sized(self, place: str) -> None:
        """Note that a list of a size is made at a place."""
        self.sized |= {f"{place} by Python"}

    def note_change(self, x: Any) -> None:
        """Note that a list is changed, which has to be one of the graph if that is in a region."""
        found = self._labels.get(id(x))
        if self._session.region and found is not None and found not in self._session.static:
            self.changed = frozenset((found,))

    def note_index(self) -> None:
        """Note that a place is asked for that is not known: in one of the lists, which has to be
        one of the graph.
        """
        numbers = (int, float, bool, np.generic, Traced)
        self.changed |= {
            self._labels[id(items)]
            for items in self.known
            if type(items) is list and items and all(isinstance(x, numbers) for x in items)
        } - self._session.static

    def to_leave(self, x: Any) -> frozenset[str]:
        """The request to leave a list to Python, which may be one of the graph."""
        label = next((each for each, made in self._traced if made is x), self._labels.get(id(x)))
        return frozenset() if label is None else frozenset((f"{label} by Python",))

    @property
    def of_arrays(self) -> frozenset[str]:
        """The requests to leave lists of arrays, which the graph holds, to Python."""
        rooms = ((label, made._room) for label, made in self._traced)
        return frozenset(
            f"{label} by Python"
            for label, room in rooms
            if room is not None and any(part.rank for part in room.kind.parts)
        )
