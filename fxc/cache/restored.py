"""Compilations of other processes: what a call needs is there, the rest is read when needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Restored:
    """What is ``known`` of an object, and of the ``rest`` of it when that is asked for."""

    __slots__ = ("__dict__", "_rest")

    def __init__(self, known: Mapping[str, object], rest: Callable[[], object]) -> None:
        self.__dict__.update(known)
        self._rest = rest

    def whole(self) -> Any:
        """The object itself."""
        return self._rest()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._rest(), name)
        self.__dict__[name] = found
        return found


class RestoredCompilation(Restored):
    """A compilation as it was stored."""

    __slots__ = ()

    def running(self, run: Callable[..., Any]) -> RestoredCompilation:
        """The compilation with other code to run it."""
        return RestoredCompilation({**self.__dict__, "run": run}, self._rest)
