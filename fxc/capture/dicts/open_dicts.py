"""Dicts of the program that have keys by a condition. See Note [Places that are new]."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..numbers.python_numbers import to_bool, to_int
from ..outside.dicts import ExternalDict
from ..session.session import current
from ..values.above import above
from ..values.maybe_set import MaybeSet
from ..values.objects import MISSING


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

    def _is_filled(self) -> Any:
        held = list(dict.values(self))
        if not all(type(x) is MaybeSet for x in held):
            return True
        return reduce(np.logical_or, map(_flag, held)) if held else False

    def length(self) -> Any:
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
