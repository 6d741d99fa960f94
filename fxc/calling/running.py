"""A function that fxc has taken on, and how Python runs it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Generic, ParamSpec, TypeVar

from fxc.compilations.decisions import are_in_vain, are_over
from fxc.compilations.state import Options, State
from fxc.compilations.trials import clock
from fxc.compilations.turns import Handed, Rested, key_of
from fxc.ir import warned
from fxc.ir.error_kinds import INTERNAL, Kind
from fxc.ir.errors import (
    ExtensionError,
    InternalError,
    NumberedError,
    notes_of,
    numbered,
    reference,
)
from fxc.ir.logs import PERF, SPLITS
from fxc.ir.tracebacks import hands_on, hide_fxc, shown

P = ParamSpec("P")
R = TypeVar("R")
_LOOKING = 5e-8  # seconds that native code takes to see that a call is not its own
_CHANCE = 256  # calls in which a compilation has to be found to pay, or the function may rest


class Running(Generic[P, R]):
    """A function, what is known of it, and its calls in Python.

    What is built on it, floor by floor: ``Resting``, ``TakingTurns`` (calls that are taken before
    any variant is looked at), ``Splitting``, ``Serving`` (calls by compiled code), and ``Compiled``
    or ``Part``.
    """

    # In slots, so that functools.wraps does not hand them on to the wrapper of a compiled function.
    __slots__ = ("__dict__", "__fxc_original__", "__weakref__", "_options", "_state")
    __fxc_original__: Callable[P, R]
    _is_part = False  # of a function that is split
    _is_method = False  # where a class holds it

    def __init__(self, fn: Callable[P, R], options: Options) -> None:
        self.__name__: str = getattr(fn, "__name__", type(fn).__name__)
        functools.update_wrapper(self, fn)
        self.__fxc_original__ = fn
        self._options = options
        self._state = State()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function; the result is NumPy's."""
        raise NotImplementedError

    def _hide_fxc(self, error: BaseException) -> None:
        if isinstance(error, InternalError):
            self._keep_bug(error)
        hide_fxc(error)

    def _runner(self) -> Callable[..., Any]:
        """What to call instead of the function."""
        original, split = self.__fxc_original__, self._state.split
        if split is None or not split.is_driven:
            return original
        made: Callable[..., Any] = split.driver.function
        return _bound_as(original, made)

    @hands_on
    def _eager(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], why: Exception | str | None = None
    ) -> Any:
        """Run the function as it is; the log says why, if that is not to be a warning."""
        if why is not None:
            PERF.info("%s: runs as plain NumPy: %s", self.__name__, why)
        self._state.eager_calls += 1
        with self._timed(args, kwargs):
            return self.__fxc_original__(*args, **kwargs)

    @hands_on
    def _by_python(
        self, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function, or its driver; what there is to warn of comes when it has ended."""
        self._state.eager_calls += 1
        is_outermost = warned.keep()
        try:
            with self._timed(args, kwargs):
                return run(*args, **kwargs)
        finally:
            if is_outermost:
                warned.give()

    def _timed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AbstractContextManager[None]:
        """Around a call in Python, which may be one in vain."""
        known = self._state.in_vain
        found = known.get(key_of(args, kwargs)) if known else None
        return nullcontext() if found is None else found.timed()

    def _warn_eager(self, error: NumberedError, before: str = "") -> None:
        """Warn that Python runs the function, and why."""
        self._warn(error.kind, f" runs as plain NumPy: {before}{error.text}", notes_of(error))

    def _without_extension(self, error: Exception, of: str = "") -> None:
        """Raise what is wrong with a backend or a pass of the user's, or warn of it; ``of`` is the
        backend whose code has raised what NumPy does not.
        """
        if not isinstance(error, ExtensionError):
            text = f"the backend {of!r} raises {shown(error)} where NumPy raises nothing"
            error = ExtensionError(text)
        if self._options.fullgraph:
            raise error
        self._warn_eager(error)

    def _warn_of_bug(self, text: str, error: Exception) -> None:
        """Warn of a bug of ours, and keep what a report needs of it."""
        self._keep_bug(error)
        self._warn(INTERNAL, text)

    def _keep_bug(self, error: Exception) -> None:
        from fxc.cache.bugs import keep_bug  # on first use: with what reads traces

        keep_bug(self.__fxc_original__, self._state.variants, error, self._options.shown())

    def _warn(self, kind: Kind, text: str, notes: Iterable[str] = ()) -> None:
        """Warn, once for each text, which follows the name of the function."""
        text = "\n".join([text, *notes])
        if text not in self._state.warned:
            self._state.warned |= {text}
            SPLITS.info("%s%s", self.__name__, text)
            warned.warn(f"{numbered(kind, self.__name__ + text)}\n{reference(kind)}")


class Resting(Running[P, R]):
    """A function of which all calls may be Python's for a while: see Note [Rests]."""

    __slots__ = ()

    def _take(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call by the variant that fits, or else see what to do."""
        raise NotImplementedError

    def _arrange(self) -> None:
        """Let native code have the calls that it can take."""
        raise NotImplementedError

    @hands_on
    def _at_rest(self, rest: Rested, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call of a function that rests; if it is to end, as any."""
        if rest.more.value > 0:
            return rest(args, kwargs)
        turn = self._state.turns.get(key_of(args, kwargs))
        left = turn if isinstance(turn, Handed) and not turn.is_over else None
        if left is not None or are_over():
            start = clock()
            try:
                return self._eager(args, kwargs)
            finally:
                rest.renew(clock() - start)
                if left is not None:
                    left.end_if_long(clock() - start)
        try:
            return self._take(args, kwargs)
        finally:
            if rest.more.value <= 0 and self._state.rest is rest:
                self._state.end_rest()
                self._arrange()

    def _rests(self) -> bool:
        """Whether Python is to take all calls that come now, of whatever kinds: Note [Rests]."""
        state = self._state
        if self._is_part or not are_in_vain():
            return False
        if not all(each.of_objects for each in list(state.captures.values())):
            return False
        calls, variants = state.calls(), state.variants
        if any(calls - each.born < _CHANCE for each in variants):
            return False
        looks = 1 + sum(each.native is not None for each in variants)
        saved = sum(each.saves * each.all_calls for each in variants if each.saves)
        return saved < _LOOKING * looks * state.all_eager_calls

    def _give_rest(self, seconds: float) -> int:
        """Let Python take all calls, so many as these seconds of one say; how many."""
        state = self._state
        rest = state.rest or Rested(self.__fxc_original__, state.next_rest)
        calls = rest.renew(seconds)
        if state.rest is None:
            state.rest = rest
            self._arrange()
        return calls


def _bound_as(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, as a method if the original is one."""
    bound = isinstance(original, types.MethodType)
    return types.MethodType(function, original.__self__) if bound else function
