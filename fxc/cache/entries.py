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
_begun = BEGAN  # files that have changed since may not be what the process has


class Entries:
    """Those under a key which this process has not looked at yet, oldest first."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._left = _read(key)
        self._waiting = list[Variant]()  # that were not for the calls so far
        self._useless = set[bytes]()

    def find(
        self, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Variant | None:
        """One that is for this call."""
        for variant in self._waiting:
            if variant.captured.guards.check(args, kwargs) is not None:
                self._waiting.remove(variant)
                return variant
        left, self._left = self._left, []
        while left:
            text = left.pop(0)
            found = self._restored(text, function, args, kwargs)
            if found is not None:
                if found.captured.guards.check(args, kwargs) is not None:
                    self._left += left
                    return found
                self._waiting.append(found)
        return None

    def _restored(
        self, text: bytes, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Variant | None:
        try:
            found = restored(text, function, args, kwargs)
        except (NotStored, Unlinked) as error:
            ROOT.info("%s: a compilation is not restored: %s", function.__name__, error)
        except Exception as error:
            hand_on(error)
            ROOT.info("%s: a compilation is not restored: %r", function.__name__, error)
        else:
            if found is None:
                self._left.append(text)
            else:
                found.kept = digest(self.key + text)
            return found
        self._useless.add(text)
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
