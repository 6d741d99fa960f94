"""One function of a script that takes much of its time.

See Note [Unchanged scripts].
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from fxc.calling.compiling import Worth, new_variant
from fxc.capture.staging.staging import keep_source, source_of
from fxc.compilations.native_calls import NativeCall, chain
from fxc.compilations.native_texts import native_call
from fxc.compilations.state import Options, State
from fxc.compilations.variants import Variant
from fxc.ir.errors import MISSED, RunFailed, WrongResult

from ..verifying.calls import VerifiedCall
from .swapping import answering

_TRIALS, _LONG_ENOUGH = 3, 0.1  # calls that are compared, or seconds of them
_FASTER = 1.4  # times: what gains less is put back
_MOST_VARIANTS, _MOST_MISSES, _MOST_FAILURES = 4, 3, 20
_OPTIONS = Options(fullgraph=True, math="exact")


class HotFunction:
    """A function that asks this object first, which says ``MISSED`` until it knows better.

    Its ``stage``: ``counting`` calls; ``asked`` for compiled code, for arguments of a call; on
    ``trial``, in which calls are compared and timed; ``live``; or ``over``: as it was.
    """

    def __init__(self, function: FunctionType, asking: CodeType) -> None:
        self.function = function
        self.own_code = function.__code__
        self.stage = "counting"
        self.calls = 0
        self.asked: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self.saved = 0.0  # seconds for each call
        self.times = (0.0, 0.0)  # of a call by NumPy, and by compiled code
        self._state = State()
        self._natives: list[NativeCall] = []
        self._trials: list[tuple[float, float]] = []
        self._misses = self._failures = 0
        self._plain = self._copy()
        self.answer: Callable[..., Any] = self
        code, source = answering(asking, self), source_of(self._plain)
        if isinstance(source, ast.FunctionDef):
            keep_source(code, source)  # for captures of what calls it
        function.__code__ = code

    def _copy(self) -> FunctionType:
        """The function as it was: for captures, and for NumPy."""
        of = self.function
        made = FunctionType(
            self.own_code, of.__globals__, of.__name__, of.__defaults__, of.__closure__
        )
        made.__kwdefaults__, made.__qualname__ = of.__kwdefaults__, of.__qualname__
        made.__module__ = of.__module__
        return made

    def put_back(self) -> None:
        """Let the function be as it was."""
        self.stage, self.asked = "over", None
        self.function.__code__ = self.own_code

    @property
    def served(self) -> int:
        """How many calls compiled code has taken."""
        return sum(each.all_calls for each in self._state.variants)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A result, or ``MISSED`` where the function is to run its statements."""
        if self.stage == "trial":
            return self._tried(args, kwargs)
        if self.stage == "live":
            return self._missed(args, kwargs)
        if self.stage == "counting":
            self.calls += 1
            if self.calls >= 2:
                self.asked, self.stage = (args, kwargs), "asked"
        return MISSED

    def _missed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that native code has not taken."""
        for variant in self._state.variants:
            if variant.native is not None:
                if variant.captured.guards.check(args, kwargs) is not None:
                    return self._failed()
                continue
            try:
                result = variant.call(args, kwargs)
            except RunFailed:
                return self._failed()
            if result is not MISSED:
                return result
        self._misses += 1
        if self._misses >= _MOST_MISSES:
            if len(self._state.variants) >= _MOST_VARIANTS:
                return MISSED
            self._misses, self.stage, self.asked = 0, "asked", (args, kwargs)
        return MISSED

    def _failed(self) -> Any:
        """A call that NumPy has to run, as it raises or warns there."""
        self._failures += 1
        if self._failures > max(_MOST_FAILURES, self.served // 8):
            self.put_back()
        return MISSED

    def compile(self, longest: float) -> None:
        """Make compiled code for the arguments that it was asked for. Raises what fxc raises."""
        assert self.asked is not None
        args, kwargs = self.asked
        state = self._state
        variant = new_variant(self._plain, _OPTIONS, state, args, kwargs, Worth(longest, True))
        del args, kwargs
        self.asked = None
        made = variant.compilation
        if variant.watch is not None:
            variant.watch.names = self._plain.__globals__
            made = made.running(variant.watch.run)
        try:
            if variant.watch is None or not variant.watch.copies:
                variant.native = native_call(variant.captured, made, variant)
        except Exception:  # it stays Python's: native code has no way to say all of it
            variant.native = None
        state.variants.append(variant)
        self._trials.clear()
        self.stage = "trial"
        self.answer = self

    def _tried(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call by both, compared and timed."""
        variant = self._state.variants[-1]
        if variant.captured.guards.check(args, kwargs) is None:
            self._misses += 1
            if self._misses > _MOST_MISSES:
                self.put_back()
            return MISSED
        compiled = variant.call if variant.native is None else _by(variant, variant.native)
        seconds = 0.0

        def timed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            nonlocal seconds
            start = time.perf_counter()
            try:
                return compiled(args, kwargs)
            finally:
                seconds = time.perf_counter() - start

        call = VerifiedCall(self._plain, variant, _OPTIONS, args, kwargs, is_quiet=False)
        try:
            result = call.compared(timed)
        except WrongResult:
            self.put_back()
            return MISSED
        except RunFailed:
            return self._failed()
        self._trials.append((call.seconds, seconds))
        if len(self._trials) >= _TRIALS or call.seconds > _LONG_ENOUGH:
            self._decide()
        return result

    def _decide(self) -> None:
        numpy, compiled = (min(each) for each in zip(*self._trials, strict=True))
        if numpy < _FASTER * compiled:
            self.put_back()
            return
        self.saved, self.times = numpy - compiled, (numpy, compiled)
        natives = [each.native for each in self._state.variants if each.native is not None]
        self.stage, self._misses = "live", 0
        self.answer = chain((), natives, self) if natives else self


def _by(variant: Variant, native: NativeCall) -> Callable[..., Any]:
    """The native code of a variant alone, as its ``call``."""
    builtin = native.builtin(lambda *args, **kwargs: variant.call(args, kwargs))
    return lambda args, kwargs: builtin(*args, **kwargs)
