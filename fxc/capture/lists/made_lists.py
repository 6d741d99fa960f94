"""Which lists of the program may be of the graph: those that it makes, by place.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.later import import_class_later

from ..forms.form import is_of_arrays
from ..session.refusing import How, Request, Requests, Respecialise
from ..session.session import Session
from ..values.operands import Traced
from . import lists_of_lists
from .list_pools import ListPool, PooledList, pool_of, requests_for
from .traced_lists import TracedList

if TYPE_CHECKING:
    from .byte_arrays import ByteArray
else:
    ByteArray = import_class_later("fxc.capture.lists.byte_arrays", "ByteArray")


class MadeLists:
    """The lists of a capture by the places where they were made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._labels: dict[int, str] = {}
        self.known: list[Any] = []
        self.changed = Requests()  # to have what was changed in a region in the graph
        self.sized = Requests()  # the requests to leave lists of a size to Python
        self._traced: list[tuple[str, TracedList]] = []
        self._placed: dict[int, tuple[tuple[str, Any], ...]] = {}  # the items of others
        self._pools: dict[str, ListPool] = {}
        self._structured: set[str] = set()
        # The requests to read lists of lists from outside item by item; whether one has changed.
        self.outside = Requests()
        self.is_outside_changed = False

    def made(self, items: object, place: str, *, in_graph: bool = False) -> object:
        """A list, or a deque, that the program makes at a place; one that is to be of the graph
        unless that has failed, or one that is if that has been asked for.
        """
        if isinstance(items, ByteArray):
            items.held = self.made(items.held, place, in_graph=in_graph)
            return items
        label = f"list {place}"
        if type(items) is TracedList or pool_of(label) is not None:
            items = self.pooled(items, place)
        if type(items) is not list and type(items) is not deque:
            return items
        asked = self._session.asked(label)
        if How.AS_ROWS in asked and asked.isdisjoint((How.BY_PYTHON, How.ROWS_BY_PYTHON)):
            found = lists_of_lists.made(Request(label, How.ROWS_BY_PYTHON), items)
            if found is not NotImplemented:
                return found
        leaves = How.BY_PYTHON in asked
        if How.IN_GRAPH in asked or (in_graph and not leaves):
            made = TracedList(items, leaves=leaves)
            self._traced.append((label, made))
            return made
        self._labels[id(items)] = label
        self.known.append(items)
        self._session.door.places.note_list(items)
        return items

    def pooled(self, items: object, place: str) -> object:
        """A list that the program makes at a place, in a pool if there is to be one."""
        label = f"list {place}"
        pool = pool_of(label)
        if pool is None or items.__class__ is not list:
            self._placed[id(items)] = ((label, items),)
            return items
        self._session.retries |= {Request(pool, How.POOL_BY_PYTHON)}
        if pool not in self._pools:
            self._pools[pool] = ListPool(pool)
        return self._pools[pool].add(items)

    def note_structured(self, items: Iterable[object]) -> None:
        """Note lists of which another one, in the graph, holds the items as they are now."""
        labels = map(self._label_of, items)
        self._structured |= {label for label in labels if label is not None}

    def ask_pool(self, *lists: object, structured: bool = False) -> None:
        """Begin again with these in one pool, if they are lists that may be; with those that others
        hold item by item, too, if that is asked for.
        """
        found = [self._label_of(x) for x in lists]
        if structured and found:
            found += self._structured
        labels = {label for label in found if label is not None}
        if not labels or None in found:
            return
        wanted = requests_for(labels)
        if not wanted <= self._session.requests:
            raise Respecialise(*wanted)

    def _label_of(self, x: object) -> str | None:
        if type(x) is PooledList:
            return x.pool.label
        if x.__class__ is not list:
            return None
        for label, made in (*self._placed.get(id(x), ()), *self._traced):
            if made is x:
                return label
        return self._labels.get(id(x))

    def label_of(self, items: object) -> str | None:
        """What requests call the place where a list of Python's was made."""
        return self._labels.get(id(items))

    def note_outside_changed(self) -> None:
        """Note that a list from outside changes, which may be an item of another one."""
        self.is_outside_changed = True
        if self.outside:
            raise Respecialise(*self.outside)

    def note_change(self, x: object) -> None:
        """Note that a list is changed, which has to be one of the graph if that is in a region."""
        if self._session.region and (wanted := self.to_change(x)) is not None:
            self.changed = frozenset((wanted,))

    def to_change(self, x: object) -> Request | None:
        """The request to have a list of Python's in the graph, if that has not failed."""
        wanted = Request(self._labels.get(id(x), ""), How.IN_GRAPH)
        return wanted if wanted.about and wanted not in self._session.requests else None

    def note_index(self) -> None:
        """Note that an unknown place of a list is asked for, to be one of the graph."""
        numbers = (int, float, bool, np.generic, Traced)
        self.changed |= {
            Request(self._labels[id(items)], How.IN_GRAPH)
            for items in self.known
            if type(items) is list and items and all(isinstance(x, numbers) for x in items)
        } - self._session.requests

    def begin_to_grow(self, lists: Iterable[object]) -> None:
        """Have these lists in the graph, before a loop that appends to them in each iteration."""
        if wanted := {each for each in map(self.to_change, lists) if each is not None}:
            raise Respecialise(*wanted)

    def to_leave(self, x: object) -> Requests:
        """The request to leave a list of the graph to Python."""
        return Requests(Request(label, How.BY_PYTHON) for label, made in self._traced if made is x)

    @property
    def of_arrays(self) -> Requests:
        """The requests to leave lists of arrays, which the graph holds, to Python."""
        return frozenset(
            Request(label, How.BY_PYTHON)
            for label, made in self._traced
            if made.form is not None and is_of_arrays(made.form)
        )
