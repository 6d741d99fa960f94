"""Compilations of other processes: what a call needs is there, the rest is read when needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from fxc.capture.guards.program import GuardProgram, Step
from fxc.ir.later import import_later
from fxc.ir.records import computed_once

if TYPE_CHECKING:
    from fxc.capture.captured import Captured

replace = import_later("dataclasses", "replace")  # for who asks. See Note [Rooms with one door].


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


class Rest:
    """The second part of a compilation, which is read when it is asked for."""

    __slots__ = ("_found", "_read")

    def __init__(self, read: Callable[[], tuple[Any, ...]]) -> None:
        self._read = read
        self._found: tuple[Any, ...] | None = None

    @property
    def _parts(self) -> tuple[Any, ...]:
        found = self._found
        if found is None:
            found = self._found = self._read()
        return found

    def capture(self) -> Any:
        """The capture, without guards and epilogue."""
        return self._parts[0]

    def graphs(self) -> tuple[Any, ...]:
        """The functional graph, the decomposed one, and the relations that they demand."""
        return self._parts[1]  # type: ignore[no-any-return]

    def module(self) -> Any:
        """The module of native code."""
        return self._parts[2]

    def steps(self) -> Sequence[Step]:
        """The steps of the guards."""
        return self._parts[3]  # type: ignore[no-any-return]

    def source(self) -> tuple[str, str]:
        """Of the native code, with its kind of loops."""
        module = self.module()
        return module.text, module.user_loops


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

    @computed_once
    def steps(self) -> tuple[Step, ...]:
        """The steps, when somebody asks why they do not hold."""
        return tuple(self._late())

    @property
    def size(self) -> int:
        """How many steps there are."""
        return self._size


class RestoredCompilation(Restored):
    """A compilation as it was stored."""

    __slots__ = ()
