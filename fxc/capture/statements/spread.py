"""Variables of a loop that hold tuples and their like: each item is a variable of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fxc.ir.error_kinds import LOOP_VARIABLE

from ..forms.several import Several
from ..forms.structures import Structure, items_of, joint_structure, names_of, structure_of
from ..forms.variables import described
from ..lists.texts import UnknownText, refused
from ..regions.structured import Variables
from ..session.refusing import RECORDS_APART, Respecialise, refuse
from ..session.session import current
from ..staging.jumps import RESULT
from ..values.maybe_set import UNBOUND
from ..values.operands import Traced


class Spread:
    """Which variables are tuples, and of what structure: ``best`` stands for ``best.0, best.1``.

    Where there are items, they are variables in its place.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.outer = tuple(names)
        self._structures: dict[str, Structure] = {}
        self._whole: set[str] = set()  # those that are not, though they may hold records
        self._kin: dict[str, Any] = {}  # what a variable was once that is joined

    def within(self, names: Iterable[str]) -> Iterator[str]:
        """The variables and items that these variables stand for."""
        for name in names:
            if name in self._structures:
                yield from self.within(names_of(name, self._structures[name]))
            else:
                yield name

    def learn(self, before: Variables, after: Variables, starts: Iterable[Variables] = ()) -> bool:
        """Look which variables are tuples, at first and after an iteration; whether some are that
        have not been before. ``starts`` are what else they have been.
        """
        found = dict(self._structures)
        for given in starts:
            for name, y in after.items():
                if given[name] is None and isinstance(y, Traced) and y._in_pool:
                    self._structures.pop(name, None)
                    self._whole.add(name)
        for name, right in after.items():
            self._learn(name, before[name], right)
        return found != self._structures

    def _learn(self, name: str, left: object, right: object) -> None:
        both = [x for x in (left, right) if x is not UNBOUND]
        structure = joint_structure(both, (structure_of(x, name) for x in both))
        known = self._structures.get(name)
        several = structure is None and any(type(x) is Several for x in both)
        if structure is None and known is not None and (several or known.pool is not None):
            del self._structures[name]  # it is a record or a tuple, or None: one of several things
            self._whole.add(name)
        if (
            name in self._whole
            or structure is None
            or not (structure.keys or name.startswith(RESULT))
        ):
            return
        if structure.joined and left is right:
            return
        if self._structures.setdefault(name, structure) != structure:
            return
        self._note_kin(name, structure, *both)
        items = (items_of(x, structure) for x in (left, right))
        for item, one, other in zip(names_of(name, structure), *items, strict=True):
            self._learn(item, one, other)

    def open(self, values: Variables) -> Variables:
        """The variables, with items in place of tuples."""
        return {name: part for each, x in values.items() for name, part in self._open(each, x)}

    def _open(self, name: str, x: object) -> Iterator[tuple[str, Any]]:
        structure = self._structures.get(name)
        if structure is None:
            yield name, x
            return
        if x is not UNBOUND and structure_of(x, name) != structure and not structure.takes(x):
            if isinstance(x, UnknownText) or issubclass(structure.kind, UnknownText):
                raise refused("another one in the next iteration")
            may_be_apart = isinstance(x, Traced) and x._wider_keys() is not None
            if may_be_apart and RECORDS_APART not in current().requests:
                raise Respecialise(RECORDS_APART)  # as indices, not as views
            otherwise = structure.otherwise
            if otherwise is not None and otherwise not in current().requests:
                raise Respecialise(otherwise)
            raise refuse(
                LOOP_VARIABLE,
                f"{described(name)} is {structure.text} in one iteration of this loop, and "
                "something else in another, which",
            )
        if x is not UNBOUND:
            self._note_kin(name, structure, x)
        for item, part in zip(names_of(name, structure), items_of(x, structure), strict=True):
            yield from self._open(item, part)

    def _note_kin(self, name: str, structure: Structure, *objects: object) -> None:
        """Note that a variable is one of these in some iteration."""
        if structure.joined:
            first = self._kin.setdefault(name, objects[0])
            current().door.places.note_kin(first, *objects)

    def close(self, values: Variables) -> Variables:
        """The variables, with tuples in place of items."""
        return {name: self._close(name, values) for name in self.outer}

    def _close(self, name: str, values: Variables) -> object:
        structure = self._structures.get(name)
        if structure is None:
            return values[name]
        items = [self._close(item, values) for item in names_of(name, structure)]
        if items and all(x is UNBOUND for x in items):
            return UNBOUND
        made = structure.of(items)
        if structure.joined and name in self._kin:
            current().door.places.note_kin(self._kin[name], made=made)
        return made
