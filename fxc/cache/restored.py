"""Compilations of other processes: what a call needs is there, the rest is read when needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any

from fxc.capture.guards.program import GuardProgram, Step

if TYPE_CHECKING:
    from fxc.capture.captured import Captured


class Restored:
    """What is ``known`` of an object, and of the ``rest`` of it when that is asked for."""

    __slots__ = ("__dict__", "_rest")

    def __init__(self, known: Mapping[str, object], rest: Callable[[], object]) -> None:
        self.__dict__.update(known)
        self._rest = rest

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._rest(), name)
        self.__dict__[name] = found
        return found


class RestoredCapture(Restored):
    """What has been captured, as it was stored."""

    __slots__ = ()

    def whole(self) -> Captured:
        """The capture itself."""
        found: Any = self._rest()
        whole: Captured = replace(found, guards=self.guards, epilogue=self.epilogue)
        return whole


class RestoredGuards(GuardProgram):
    """Guards whose functions are compiled already; ``late`` gives their steps."""

    def __init__(
        self,
        late: Callable[[], Sequence[Step]],
        size: int,
        constants: dict[str, object],
        names: tuple[tuple[str, ...], tuple[str, ...], dict[str, str]],
        codes: dict[str, CodeType],
    ) -> None:
        self._late, self._size = late, size
        self.constants, self.codes = constants, codes
        self.inputs, self.objects, self.symbols = names

    @cached_property
    def steps(self) -> tuple[Step, ...]:  # type: ignore[override]
        """The steps, when somebody asks why they do not hold."""
        return tuple(self._late())

    @property
    def size(self) -> int:
        """How many steps there are."""
        return self._size


class RestoredCompilation(Restored):
    """A compilation as it was stored."""

    __slots__ = ()

    def running(self, run: Callable[..., Any]) -> RestoredCompilation:
        """The compilation with other code to run it."""
        return RestoredCompilation({**self.__dict__, "run": run}, self._rest)
