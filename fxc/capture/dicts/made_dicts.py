"""Dicts and sets that the program makes: with keys by a condition, or of the graph.

See Notes [Places that are new] and [Dicts of the graph].
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from functools import reduce
from types import FunctionType
from typing import Any

import numpy as np

from fxc.ir.later import import_later
from fxc.ir.location import SourceLocation

from ..numbers.python_numbers import to_bool, to_int
from ..outside.dicts import ExternalDict
from ..session.locations import user_location
from ..session.refusing import How, Request, Respecialise
from ..session.session import current
from ..values.above import above
from ..values.maybe_set import MaybeSet
from ..values.objects import MISSING
from .dict_tables import is_key
from .traced_dicts import TracedDict, factory_of
from .traced_sets import TracedSet

# See Note [Rooms with one door].
is_unknown_key = import_later("fxc.capture.dicts.unknown_keys", "is_unknown_key")


class OpenDict(ExternalDict):
    """A dict that the program has made. It is all here, unlike one from outside."""

    def __init__(self, items: dict[Any, Any]) -> None:
        dict.__init__(self, items)
        self._whole = True
        self._is_unordered = False

    @property
    def original(self) -> dict[Any, Any]:
        return {}

    def _check_key(self, key: object) -> None:
        """Keys are what the program gives."""

    # -------------------------------------------------------- reads

    def placed(self) -> dict[Any, Any]:
        """The items in their order, those by a condition as ``MaybeSet``."""
        self.check_ordered()
        return dict(zip(dict.keys(self), dict.values(self), strict=True))

    def get(self, key: object, default: object = None, /) -> Any:
        found = self._find(key)
        if type(found) is not MaybeSet:
            return default if found is MISSING else found
        return above().chosen(current().door, _flag(found), lambda: found.value, lambda: default)

    def _is_filled(self) -> object:
        held = list(dict.values(self))
        if not all(type(x) is MaybeSet for x in held):
            return True
        return reduce(np.logical_or, map(_flag, held)) if held else False

    def length(self) -> object:
        held = list(dict.values(self))
        flags = [to_int(_flag(x)) for x in held if type(x) is MaybeSet]
        return sum(flags, len(held) - len(flags))

    # -------------------------------------------------------- changes

    def _change(self, action: str, key: object = None, value: object = None) -> None:
        current().door.check_change(self)

    def _note_order(self, key: object) -> None:
        """Note whether a key that is stored comes up here or where it was: that is not known."""
        if type(dict.get(self, key)) is MaybeSet:
            self._is_unordered |= next(reversed(dict.keys(self))) != key

    def __setitem__(self, key: object, value: object, /) -> None:
        if not current().door.places.takes_item(self, key):
            current().door.check_change(self)
            self._note_order(key)
        self.see(key, value)

    def store_if(self, flag: object, key: object, value: object) -> None:
        """Set an item if the flag holds."""
        self._note_order(key)
        self.see(key, MaybeSet(flag, value))

    def popitem(self, *last: object) -> Any:
        """Which item is the last is known if it is there for sure."""
        if last:
            raise TypeError("dict.popitem() takes no arguments")
        if not dict.__len__(self):
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(dict.keys(self)))
        if self._is_unordered or type(dict.__getitem__(self, key)) is MaybeSet:
            self.settle()
        return key, self.pop(key)

    def clear(self) -> None:
        super().clear()
        self._is_unordered = False


def _flag(x: MaybeSet) -> Any:
    return to_bool(x.flag)


# ------------------------------------------------------------------ by the line where they are made


class MadeDicts:
    """The dicts and sets that the program of a capture makes, by the line where it does."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[SourceLocation | None, Any]] = {}
        self._words: dict[str, int] = {}

    def number_of_text(self, text: str) -> int:
        """What stands for a text among keys."""
        return self._words.setdefault(text, len(self._words))

    def made(self, items: Any) -> object:
        """A dict or a set that the program makes here."""
        if type(items) not in (dict, set, OrderedDict) and not _counts(items):
            return items
        place, session = user_location(), current()
        label = _label(place)
        if session.wants(label) and _may_be(items):
            session.retries |= {Request(label, How.BY_PYTHON)}
            return (TracedSet if type(items) is set else TracedDict)(items, label)
        if type(items) is dict and How.OPEN in session.asked(label):
            items = OpenDict(items)
        self._made[id(items)] = place, items
        return items

    def are_known(self, keys: tuple[object, ...]) -> bool:
        """Whether Python has the keys of what is made here, or is to have them."""
        if any(map(is_unknown_key, keys)):
            return False
        return not (current().wants(_label(user_location())) and all(map(is_key, keys)))

    def place_of(self, items: object) -> SourceLocation | None:
        """The line where a dict or a set was made; None if that is not known."""
        return self._made.get(id(items), (None, None))[0]

    def ask(self, items: object) -> None:
        """Begin again with a dict or set of the graph in place of this one, if it may be one."""
        label = _label(self.place_of(items))
        if (
            id(items) in self._made
            and How.IN_GRAPH not in current().asked(label)
            and _may_be(items)
        ):
            raise Respecialise(Request(label, How.IN_GRAPH))

    def ask_open(self, items: object) -> None:
        """Begin again with an ``OpenDict`` in place of a dict that gets a key by a condition."""
        if id(items) in self._made and type(items) is dict:
            raise Respecialise(Request(_label(self.place_of(items)), How.OPEN))


def _label(place: SourceLocation | None) -> str:
    return f"dict at {place}"


def _counts(items: object) -> bool:
    if type(items) is not defaultdict:
        return type(items) is Counter
    factory = factory_of(items)
    return factory in (int, float, list) or type(factory) is FunctionType


def _may_be(items: Any) -> bool:
    return all(is_key(key) for key in (dict.keys(items) if isinstance(items, dict) else items))
