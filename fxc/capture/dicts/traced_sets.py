"""Sets with members that are known at run time only. See Note [Dicts of the graph]."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from fxc.ir.later import import_later

from ..session.refusing import How
from ..session.session import current
from ..values.operands import settled
from .dict_tables import sure
from .traced_dicts import LOSING, Keyed, any_order

# See Note [Rooms with one door].
_in_table_order = import_later("fxc.capture.dicts.set_orders", "in_table_order")
_is_as_added = import_later("fxc.capture.dicts.set_orders", "is_as_added")
_unordered = import_later("fxc.capture.dicts.set_orders", "unordered")

_Key = TypeVar("_Key")
Operator = Callable[["TracedSet", object], Any]


def _operator(
    name: str, staged: Callable[..., Any], *, turned: bool = False
) -> Callable[[TracedSet, object], Any]:
    """An operator of two sets, which are ``turned`` if the other one is the left."""

    def given(self: TracedSet, other: object) -> Any:
        left, right = (other, self) if turned else (self, other)
        if other.__class__ is not set:
            raise self.refused(name)
        made = self._staged(staged, any_order(left), any_order(right), right)
        if isinstance(made, TracedSet):
            made.is_added = False
        return made

    return given


# Python, to be staged.


def taken_in(items: set[_Key], keys: Iterable[_Key]) -> None:
    for key in keys:
        items.add(key)


def united(left: Iterable[_Key], right: Iterable[_Key], other: object) -> set[_Key]:
    found = set()
    for key in left:
        found.add(key)
    for key in right:
        found.add(key)
    return found


def common(left: Iterable[_Key], right: object, other: Collection[_Key]) -> set[_Key]:
    found = set()
    for key in left:
        if key in other:
            found.add(key)
    return found


def without(left: Iterable[_Key], right: object, other: Collection[_Key]) -> set[_Key]:
    found = set()
    for key in left:
        if key not in other:
            found.add(key)
    return found


def made_of(found: object, x: object) -> object:
    """A set, and what it was made of or is given: CPython merges other tables as wholes."""
    if isinstance(found, TracedSet) and isinstance(x, set | frozenset | dict):
        found.is_added = False
    return found


class TracedSet(Keyed):
    """A set of the graph.

    ``is_added``: adding the members in their order to an empty set gives Python's, whose order
    depends on all that has been done with it.
    """

    __slots__ = ("is_added",)

    def __init__(self, items: Iterable[object], label: str) -> None:
        super().__init__(set, label)
        self.is_added = How.HOLED not in current().asked(label) and _is_as_added(items)
        for key in items:
            self.table.append((self.table.as_key(key),))

    def _snapshot(self, of: Callable[[object], object]) -> object:
        self.check_added()
        found = object.__new__(TracedSet)
        found.of, found.table, found.is_added = set, self.table.snapshot(of), True
        return found

    def in_order(self, part: int | None) -> Any:
        self.check_added()
        items = self.in_any_order(part)
        if isinstance(items, list):
            if len(items) > 1:
                raise _unordered()
            return items
        return _in_table_order(self.table, items) if self.table.is_readable() else items

    def check_added(self) -> None:
        """Refuse to show a set that has members of other sets, or has lost some."""
        if not self.is_added:
            raise _unordered()

    def take_items(self, other: Keyed) -> bool:
        self.is_added &= isinstance(other, TracedSet) and other.is_added
        return super().take_items(other)

    def add(self, key: object) -> None:
        self.table.store((self.table.as_key(sure(settled(key))),))

    remove, discard = (import_later(LOSING, name) for name in ("remove", "discard"))

    def update(self, *others: object) -> None:
        for other in others:
            self._staged(taken_in, made_of(self, other), any_order(other))

    def copy(self) -> object:
        return self | set()

    renewed = copy

    def __getitem__(self, key: object) -> Any:
        raise TypeError("'set' object is not subscriptable")

    def __setitem__(self, key: object, value: object) -> None:
        raise TypeError("'set' object does not support item assignment")

    def __ior__(self, other: object) -> TracedSet:
        self.update(other)
        return self

    __or__, __ror__ = _operator("|", united), _operator("|", united, turned=True)
    __and__, __rand__ = _operator("&", common), _operator("&", common, turned=True)
    __sub__, __rsub__ = _operator("-", without), _operator("-", without, turned=True)
    __hash__ = None
