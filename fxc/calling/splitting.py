"""Functions of which only parts are compiled. See Note [Splitting]."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fxc.compilations.decisions import Captures, Refused
from fxc.compilations.variants import Variant
from fxc.ir.errors import CaptureError, TooManyVariants, notes_of
from fxc.ir.tracebacks import unseen

from .running import P, R
from .taking_turns import TakingTurns

if TYPE_CHECKING:
    from fxc.capture.refusals import Refusal
    from fxc.split.splits import Split


class Splitting(TakingTurns[P, R]):
    """A function that is cut where its capture is refused."""

    __slots__ = ()

    def _new_split(self, function: types.FunctionType) -> Split | None:
        """A splitting of the function with no cut yet; None if it has no source."""
        raise NotImplementedError

    def _split(self, error: CaptureError) -> None:
        """Cut the function where its capture was refused, and say so."""
        split = self._splitting()
        if split is None:
            self._warn_eager(error)
        elif split.refused(error, split.plan.body):
            self._warn_split(split, error)

    @unseen
    def _raised_or_cut(
        self, error: CaptureError, captures: Captures, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a call in Python whose capture raised in a branch or a loop: if it comes to that, the
        exception is the program's. Else that is cut out, for the calls after it.
        """
        result = self._eager(args, kwargs, error)
        captures.refusals().add(error.refusal)
        self._split(error)
        return result

    def _give_up(self, error: TooManyVariants) -> None:
        """Leave calls that no compilation fits to Python."""
        if self._state.split is None:
            self._warn_eager(error)
        else:
            self._warn_split(self._state.split, error)

    def _splitting(self) -> Split | None:
        """The splitting of the function; None if it has no source."""
        state, function = self._state, self.__fxc_original__
        function = getattr(function, "__func__", function)
        if state.split is None and isinstance(function, types.FunctionType):
            state.split = self._new_split(function)
            if state.split is not None:
                state.split.on_change.append(self._end_turns)
        return state.split

    def leaves_parts(self, refusal: Refusal) -> bool:
        """Cut where the function was refused as a part of another one; whether anything is left."""
        split = self._splitting()
        return split is not None and split.leaves_parts(refusal)

    @unseen
    def _instead(self, refused: Refused, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function in Python, and what is left of it compiled."""
        run = self._runner()
        self._leave(args, kwargs, refused.by_types and not self._state.variants)
        return self._by_python(run, args, kwargs)

    def _cut_varied(self, names: Iterable[str]) -> None:
        """Let Python work with values of which captures make constants, and which vary."""
        split = self._splitting()
        if split is not None:
            split.varied(names, split.plan.body)

    def _cut_left(self, refusal: Refusal) -> None:
        split = self._splitting()
        if split is not None:
            split.left(refusal, split.plan.body)

    def _other_values(
        self, variants: Iterable[Variant], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> set[str]:
        """What has other values than in each of the variants."""
        found = [each.captured.guards.other_values(args, kwargs) for each in variants]
        return set.intersection(*found) if found else set()

    def _varies(self, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether it is known, or likely, that something has another value in each call."""
        captures = self._state.captures[key]
        if self._options.fullgraph or not captures.are_dear:
            return False
        alike = [each for each in self._state.variants if each.key == key]
        return not captures.pay(alike) and bool(self._other_values(alike, args, kwargs))

    def _warn_split(self, split: Split, error: CaptureError) -> None:
        """Say which statement was refused, and how much of the function is compiled."""
        if not split.has_parts:
            self._warn_eager(error)
            return
        compiled, count = split.in_parts
        text = f": {count - compiled} of {count} statements run as plain NumPy: {error.text}"
        self._warn(error.kind, text, notes_of(error))
