"""Sets with members that are known at run time only. See Note [Dicts of the graph]."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from fxc.ir.error_kinds import KEYS_OF_DATA
from fxc.ir.later import import_later

from ..session.refusing import How, refusal
from ..session.session import current
from ..values.operands import settled
from .dict_tables import sure
from .traced_dicts import LOSING, Keyed, any_order

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


def _unordered() -> Exception:
    return refusal(KEYS_OF_DATA, "the order of a set with keys that depend on data is not captured")


class TracedSet(Keyed):
    """A set of the graph.

    ``is_added``: adding the members in their order to an empty set gives Python's, whose order
    depends on all that has been done with it.
    """

    __slots__ = ("is_added",)

    def __init__(self, items: Iterable[object], label: str) -> None:
        super().__init__(set, label)
        self.is_added = How.HOLED not in current().asked(label)
        for key in items:
            self.table.append((self.table.as_key(key),))

    def _snapshot(self, of: Callable[[object], object]) -> Any:
        self.check_added()
        found = object.__new__(TracedSet)
        found.of, found.table = set, self.table.snapshot(of)
        return found

    def in_order(self, part: int | None) -> Any:
        raise _unordered()

    def check_added(self) -> None:
        """Refuse to show a set that has members of other sets, or has lost some."""
        if not self.is_added:
            raise _unordered()

    def add(self, key: object) -> None:
        self.table.store((self.table.as_key(sure(settled(key))),))

    remove, discard = (import_later(LOSING, name) for name in ("remove", "discard"))

    def update(self, *others: object) -> None:
        for other in others:
            self.is_added &= not isinstance(other, TracedSet)
            self._staged(taken_in, self, any_order(other))

    def copy(self) -> Any:
        return self | set()

    renewed = copy

    def __getitem__(self, key: object) -> Any:
        raise TypeError("'set' object is not subscriptable")

    def __setitem__(self, key: object, value: object) -> None:
        raise TypeError("'set' object does not support item assignment")

    def __ior__(self, other: object) -> Any:
        self.update(other)
        return self

    __or__, __ror__ = _operator("|", united), _operator("|", united, turned=True)
    __and__, __rand__ = _operator("&", common), _operator("&", common, turned=True)
    __sub__, __rsub__ = _operator("-", without), _operator("-", without, turned=True)
    __hash__ = None
