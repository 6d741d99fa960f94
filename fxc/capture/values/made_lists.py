"""Which lists of the program may be of the graph: those that it makes, by place.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..forms.form import types_of
from ..refusing import Respecialise
from ..session import Session
from . import lists_of_lists
from .list_pools import ListPool, PooledList, pool_of, request, request_of_one
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
        self._placed: dict[int, tuple[tuple[str, Any], ...]] = {}  # the items of others
        self._pools: dict[str, ListPool] = {}
        # The requests to read lists of lists from outside item by item; whether one has changed.
        self.outside = frozenset[str]()
        self.is_outside_changed = False

    def made(self, items: Any, place: str) -> Any:
        """A list, or a deque, that the program makes at a place."""
        label, static = f"list {place}", self._session.static
        if type(items) is TracedList or pool_of(label) is not None:
            items = self.pooled(items, place)
        if type(items) is deque:
            if items.maxlen is not None:
                return items
        elif type(items) is not list:
            return items
        rows = lists_of_lists.wanted(label)
        if rows in static and static.isdisjoint((f"{label} by Python", f"{rows} by Python")):
            found = lists_of_lists.made(rows, items)
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

    def pooled(self, items: Any, place: str) -> Any:
        """A list that the program makes at a place, in a pool if there is to be one; itself if
        there is to be none.
        """
        label = f"list {place}"
        pool = pool_of(label)
        if pool is None or items.__class__ is not list:
            self._placed[id(items)] = ((label, items),)
            return items
        self._session.retries |= {f"{request(pool)} by Python"}
        if pool not in self._pools:
            self._pools[pool] = ListPool(pool)
        return self._pools[pool].add(items)

    def ask_pool(self, *lists: Any) -> None:
        """Begin again with these in one pool, if they are lists that may be."""
        found = [self._label_of(x) for x in lists]
        labels = {label for label in found if label is not None}
        if not labels or None in found:
            return
        wanted = request_of_one(labels).union(map(request, labels))
        if not wanted <= self._session.static:
            raise Respecialise(wanted)

    def _label_of(self, x: Any) -> str | None:
        if type(x) is PooledList:
            return x.pool.label
        if x.__class__ is not list:
            return None
        for label, made in (*self._placed.get(id(x), ()), *self._traced):
            if made is x:
                return label
        return self._labels.get(id(x))

    def label_of(self, items: Any) -> str | None:
        """What requests call the place where a list of Python's was made."""
        return self._labels.get(id(items))

    def note_outside_changed(self) -> None:
        """Note that a list from outside changes, which may be an item of another one."""
        self.is_outside_changed = True
        if self.outside:
            raise Respecialise(self.outside)

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
            if room is not None and any(part.rank for part in types_of(room.form))
        )
