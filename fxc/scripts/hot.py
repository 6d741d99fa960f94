"""One function of a script that takes much of its time.

See Note [Unchanged scripts].
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from fxc.calling.compiling import Worth, new_variant
from fxc.compilations.native_calls import NativeCall, chain
from fxc.compilations.state import Options, State
from fxc.compilations.variants import Variant
from fxc.ir.asynchronous import hand_on
from fxc.ir.errors import MISSED, RunFailed, WrongResult
from fxc.ir.records import frozen
from fxc.ir.tracebacks import hide_all

from ..verifying.calls import VerifiedCall
from .kept import KeptCompilations
from .swapping import NO_ANSWER, answering, pickled_place
from .verdicts import NOT_AGAIN, too_long

_TRIALS, _LONG_ENOUGH = 3, 0.1  # calls that are compared, or seconds of them
_FASTER = 1.4  # times: what gains less is put back
_MOST_VARIANTS, _MOST_MISSES, _MOST_FAILURES = 4, 3, 20
_SELDOM = 8  # calls that are served for each miss: then those of other types are few
_MOST_STRANGE = 100  # calls that code is not for, on trial or where there is to be no more
_STRANGE, _MISS = "its arguments change from call to call", 5e-6  # seconds of such a call
_OPTIONS = Options(fullgraph=True, math="exact")


@frozen(eq=False)
class _Live:
    """Compiled code that has passed its trial, with the seconds of a call, by NumPy and by it."""

    variant: Variant
    numpy: float
    compiled: float

    @property
    def gained(self) -> float:
        """Seconds, by all its calls."""
        return (self.numpy - self.compiled) * self.variant.all_calls


class HotFunction:
    """A function that asks this object first, which says ``NO_ANSWER`` until it knows better.

    Its ``stage``: ``counting`` calls; ``asked`` for compiled code, for arguments of a call;
    ``waiting``, as that takes too long for now; on ``trial``, in which calls are compared and
    timed; ``live``; or ``over``: as it was. What is live serves calls while code for others is
    asked for, and on trial.
    """

    def __init__(
        self,
        function: FunctionType,
        asking: CodeType,
        is_shared: Callable[[], bool] = lambda: False,
    ) -> None:
        self.function = function
        self.is_shared = is_shared  # whether other threads run the program, too
        self.own_code = function.__code__
        self.stage = "counting"
        self.until = 0.0  # seconds of the script for which it waits
        self.needed = 0.0  # seconds that compiling it takes, when it was put off for that
        self.reason = ""  # why it is over
        self.calls = 0
        self.asked: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self.share = 0.0  # of the program's time that it took before
        self.lost = 0.0  # seconds, by comparing calls
        self.since = 0.0  # seconds of the script after which it was taken up
        self._state = State()
        self._live: list[_Live] = []
        self._trials: list[tuple[float, float]] = []
        self.unkept: list[tuple[KeptCompilations, Variant]] = []  # what was made in this run
        self._misses = self._failures = self._served = 0
        self._is_full = False  # there is to be no more compiled code for it
        self._is_comparing = False
        self._plain = self._copy()
        self.answer: Callable[..., Any] = self
        self._asking_code = function.__code__ = answering(asking, self)

    def _copy(self) -> FunctionType:
        """The function as it was: for captures, and for NumPy."""
        of = self.function
        made = FunctionType(
            self.own_code, of.__globals__, of.__name__, of.__defaults__, of.__closure__
        )
        made.__kwdefaults__, made.__qualname__ = of.__kwdefaults__, of.__qualname__
        made.__module__ = of.__module__
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Of the code of a function."""
        return pickled_place()

    def __fxc_asked__(self) -> CodeType:
        """The code that was there before, for digests of it."""
        return self.own_code

    def put_back(self, reason: str) -> None:
        """Let the function be as it was, unless the program has given it other code."""
        self.stage, self.asked, self.reason = "over", None, reason
        self.answer = _no_answer
        self._live.clear()
        if self.function.__code__ is self._asking_code:
            self.function.__code__ = self.own_code

    @property
    def served(self) -> int:
        """How many calls compiled code has taken."""
        return sum(each.all_calls for each in self._state.variants)

    def wait(self, until: float, needed: float) -> None:
        """Ask for compiled code, which takes so many seconds, again when the script has run so
        long.
        """
        if self._live:
            self.refuse("")
        else:
            self.stage, self.asked, self.until, self.needed = "waiting", None, until, needed

    def count(self) -> None:
        """Count calls again, after it has waited."""
        self.stage, self.answer = "counting", self

    def refuse(self, reason: str) -> None:
        """Go on with the compiled code that serves other calls, or as it was if there is none."""
        if not self._live:
            self.put_back(reason)
            return
        self.stage, self.asked, self._is_full = "live", None, True
        self._state.variants[:] = [each.variant for each in self._live]

    def let_go(self) -> None:
        """Put it back, and hold nothing of the program: what knows the code may hold this."""
        self.put_back("")
        self._state = State()
        self.unkept.clear()
        del self.function, self._plain

    @property
    def times(self) -> tuple[float, float]:
        """Of a call by NumPy, and by the compiled code that has gained most."""
        most = max(self._live, key=lambda each: each.gained, default=None)
        return (0.0, 0.0) if most is None else (most.numpy, most.compiled)

    @property
    def gained(self) -> float:
        """Seconds."""
        return sum(each.gained for each in self._live) - self.lost

    @property
    def rate(self) -> float:
        """Of the time that the program took before, what it gains."""
        numpy, compiled = self.times
        return self.share * (1 - compiled / numpy) if numpy else 0.0

    @property
    def was_in_vain(self) -> bool:
        """Whether it was compiled, or tried to be, and put back, or put off so far."""
        is_over = self.stage == "over" and bool(self.reason)
        return is_over or (self.needed > 0 and not self.served)

    @property
    def is_called_once(self) -> bool:
        """As far as is known: it was running when it was taken up, and was not called since."""
        return self.stage == "counting" and self.calls == 0

    @property
    def verdict(self) -> str | None:
        """Why it has gained nothing; '' if it has, or may; None if that is not known."""
        if self.is_called_once:
            return NOT_AGAIN
        if self._live or self.is_on_disk:
            return ""
        if self.stage == "waiting" and self.needed < math.inf:
            return too_long(self.needed)
        return {"live": "", "over": self.reason}.get(self.stage)

    @property
    def is_on_disk(self) -> bool:
        """Whether later runs find what was compiled for it."""
        return self.stage != "over" and any(each.kept for each in self._state.variants)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A result, or ``NO_ANSWER`` where the function is to run its statements."""
        if self.stage == "counting":
            self.calls += 1
            if self.calls >= 2:
                self.answer = _no_answer  # the quickest: there may be no time for it for long
                self.asked, self.stage = (args, kwargs), "asked"
            return NO_ANSWER
        try:
            result = self._tried(args, kwargs) if self.stage == "trial" else MISSED
            if result is MISSED and self._live:
                result = self._missed(args, kwargs)
        except BaseException as error:  # of a signal: Ctrl-C, say
            hide_all(error)
            raise
        return NO_ANSWER if result is MISSED else result

    def _missed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that native code has not taken."""
        for variant in [each.variant for each in self._live]:
            if variant.native is not None:
                if variant.captured.guards.check(args, kwargs) is not None:
                    return self._failed()
                continue
            try:
                result = variant.call(args, kwargs)
            except RunFailed as failure:
                hand_on(failure)
                return self._failed()
            if result is not MISSED:
                return result
        if self.stage == "live":
            self._note_miss(args, kwargs)
        return MISSED

    def _note_miss(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Ask for code for such calls, if there are some of them in a row, or among few others;
        where there is to be no more, let them not cost more than the others gain.
        """
        served = self.served - self._served
        if served > _SELDOM * self._misses:
            self._misses, self._served = 0, self.served
        self._misses += 1
        if self._is_full:
            numpy, compiled = self.times
            if self._misses > _MOST_STRANGE and served * (numpy - compiled) < self._misses * _MISS:
                self.put_back(_STRANGE)
        elif self._misses >= _MOST_MISSES:
            self.stage, self.asked = "asked", (args, kwargs)

    def _failed(self) -> Any:
        """A call that NumPy has to run, as it raises or warns there."""
        self._failures += 1
        if self._failures > max(_MOST_FAILURES, self.served // 8):
            self.put_back("it raises or warns often")
        return MISSED

    def compile(self, longest: float, share: float = 1.0) -> None:
        """Make compiled code for the arguments that it was asked for. Raises what fxc raises."""
        assert self.asked is not None
        self.share = share
        args, kwargs = self.asked
        state = self._state
        kept = KeptCompilations(self._plain, _OPTIONS, args, kwargs)
        variant = kept.found(args, kwargs)
        if variant is None:
            worth = Worth(longest, is_tried=True, capture=longest)
            variant = new_variant(self._plain, _OPTIONS, state, args, kwargs, worth)
            self.unkept.append((kept, variant))
        del args, kwargs
        self.asked = None
        if variant.watch is not None:
            variant.watch.names = self._plain.__globals__
        variant.native = kept.native(variant)
        state.variants.append(variant)
        self._trials.clear()
        self._misses, self.stage = 0, "trial"
        if not self._live:
            self.answer = self

    def keep(self) -> None:
        """Keep on disk what was made and has been tried, also if it is no faster: that is found
        sooner the next time.
        """
        unkept, self.unkept = self.unkept, []
        for kept, variant in unkept:
            kept.keep(variant)

    def _tried(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call by both, compared and timed."""
        variant = self._state.variants[-1]
        if self._is_comparing:  # it calls itself, or a thread does
            return MISSED
        if variant.captured.guards.check(args, kwargs) is None:
            self._misses += 1
            if self._misses > _MOST_STRANGE:
                self.refuse(_STRANGE)
            return MISSED
        self._is_comparing, began, own = True, time.perf_counter(), 0.0
        try:
            call = VerifiedCall(self._plain, variant, _OPTIONS, args, kwargs, of_effects=True)
            if call.has_effects and (self.is_shared() or any(map(_is_foreign, call.inputs))):
                self.refuse("it changes what others may use at the same time")
                return MISSED
            result = self._compared(call, variant)
            own = call.seconds
            return result
        except WrongResult:
            self.unkept.clear()
            self.put_back("its result differs from NumPy's")
            return MISSED
        except RunFailed:
            return self._failed()
        except MemoryError:
            self.refuse("there is too little memory to compare it")
            return MISSED
        finally:
            self._is_comparing = False
            self.lost += time.perf_counter() - began - own

    def _compared(self, call: VerifiedCall, variant: Variant) -> Any:
        compiled = variant.call if variant.native is None else _by(variant, variant.native)
        seconds, began = 0.0, time.perf_counter()

        def timed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            nonlocal seconds
            start = time.perf_counter()
            try:
                return compiled(args, kwargs)
            finally:
                seconds = time.perf_counter() - start

        result = call.compared(timed)
        self._trials.append((call.seconds, seconds))
        if len(self._trials) >= _TRIALS or time.perf_counter() - began > _LONG_ENOUGH:
            self._decide()
        return result

    def _decide(self) -> None:
        numpy, compiled = (min(each) for each in zip(*self._trials, strict=True))
        if numpy < _FASTER * compiled:
            self.refuse(f"{numpy / max(compiled, 1e-9):.1f} times as fast")
            return
        variants = self._state.variants
        self._live.append(_Live(variants[-1], numpy, compiled))
        natives = [each.native for each in variants if each.native is not None]
        self._misses, self._served, self.stage = 0, self.served, "live"
        self._is_full = len(variants) >= _MOST_VARIANTS
        self.answer = chain((), natives, self) if natives else self


def _no_answer(*args: object, **kwargs: object) -> Any:
    return NO_ANSWER


def _is_foreign(x: object) -> bool:
    """Whether it is memory that NumPy does not own: other processes may have it, too."""
    while isinstance(x, np.ndarray) and isinstance(x.base, np.ndarray):
        x = x.base
    return isinstance(x, np.ndarray) and x.base is not None


def _by(variant: Variant, native: NativeCall) -> Callable[..., Any]:
    """The native code of a variant alone, as its ``call``."""
    builtin = native.builtin(lambda *args, **kwargs: variant.call(args, kwargs))
    return lambda args, kwargs: builtin(*args, **kwargs)
