"""The compilations that the cache has of one function for calls of one kind."""

from __future__ import annotations

import pickle
from types import FunctionType
from typing import Any

from fxc.compilations.variants import Variant
from fxc.ir.asynchronous import hand_on
from fxc.ir.digesting import digest
from fxc.ir.forking import BEGAN
from fxc.ir.logs import ROOT
from fxc.runtime.linking import Unlinked

from . import folder
from .by_reference import NotStored
from .plans import restored, stored

_MOST = 8  # compilations of one key
_NONE: frozenset[bytes] = frozenset()
_begun = BEGAN  # files that have changed since may not be what the process has


class Entries:
    """Those under a key which this process has not looked at yet, oldest first."""

    __slots__ = ("_left", "_useless", "_waiting", "key", "kinds")

    def __init__(self, key: bytes, kinds: object) -> None:
        self.key, self.kinds = key, kinds
        self._left = tuple(_read(key))
        # Those that were not for the calls so far, with their bytes.
        self._waiting: tuple[tuple[Variant, bytes], ...] = ()
        self._useless = _NONE

    def find(
        self, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Variant | None, bytes]:
        """One that is for this call, and its bytes."""
        for waiting in self._waiting:
            if waiting[0].captured.guards.check(args, kwargs) is not None:
                self._waiting = tuple(each for each in self._waiting if each is not waiting)
                return waiting
        left, self._left = self._left, ()
        for place, text in enumerate(left):
            found = self._restored(text, function, args, kwargs)
            if found is not None:
                if found.captured.guards.check(args, kwargs) is not None:
                    self._left += left[place + 1 :]
                    return found, text
                self._waiting += ((found, text),)
        return None, b""

    def _restored(
        self, text: bytes, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Variant | None:
        try:
            found = restored(text, function, args, kwargs, self.kinds)
        except (NotStored, Unlinked) as error:
            ROOT.info("%s: a compilation is not restored: %s", function.__name__, error)
        except Exception as error:
            hand_on(error)
            ROOT.info("%s: a compilation is not restored: %r", function.__name__, error)
        else:
            if found is None:
                self._left += (text,)
            else:
                found.kept = digest(self.key + text)
            return found
        self._useless |= {text}
        return None

    def add(self, variant: Variant, function: FunctionType) -> bytes | None:
        """Keep one more, in the place of what this process could not use. Its bytes, if it is."""
        try:
            text = stored(variant, function, _begun)
        except NotStored as error:
            ROOT.info("%s: a compilation is not stored: %s", function.__name__, error)
            return None
        known = [each for each in _read(self.key) if each != text]
        if len(known) >= _MOST:  # in the place of what this process could not use, or of the oldest
            known = [each for each in known if each not in self._useless][1 - _MOST :]
        if not folder.write(self.key, pickle.dumps([*known, text])):
            return None
        variant.kept = digest(self.key + text)
        return text


def _read(key: bytes) -> list[bytes]:
    found = folder.read(key)
    texts: list[bytes] = [] if found is None else pickle.loads(found)
    return texts
