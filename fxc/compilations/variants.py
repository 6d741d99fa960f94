"""The compilations of one function."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fxc.ir.later import import_later
from fxc.ir.records import field, frozen, mutable

from . import trials
from .trials import BY_LITTLE, CLEARLY, EARLY, ENOUGH, LONG, LONG_LOOP, SETTLED, Trial

if TYPE_CHECKING:
    from fxc.capture.captured import Captured
    from fxc.native.flagged import FlagFacts, Watch
    from fxc.pipeline.stages import Compilation

    from .hot_sizes import HotSizes, Proof
    from .native_calls import NativeCall

# Few guards are made anew. See Note [Rooms with one door].
replace = import_later("dataclasses", "replace")

USUAL_RESTS, MOST_RESTS = 7, 12  # 2**7 calls of plain NumPy between two of native code, or 2**12
_BRIEF_REST = 0.01  # seconds: a rest that was no longer may be followed by one twice as long,
_VERY_BRIEF_REST, _FASTER = 0.001, 3  # or, if it was far shorter, 2**3 times
_NEAR = 8  # calls that end well after which those before do not count
OFTEN = 2000  # calls after which native code for whole calls pays in any case: it takes 2 to 8 ms
# Calls that end so many seconds after one another are those of a loop, which will make many more:
# native code for them is made at once.
CLOSE = 1e-4
_MANY_STEPS = 60  # of a guard program; from here on any function is tried, see Note [Trials]
_LEAST_OFTEN, _STEPS_THAT_PAY = 200, 40_000  # sooner, if there is much to check at each call


@frozen
class Traits:
    """What decides how a compilation is called, beside its code."""

    is_exact: bool  # native code without approximations
    evaluates: bool  # loops or branches that are not native: one operator after the other
    has_fast_loops: bool  # that may be far faster than Python's
    flags: FlagFacts | None  # if its code may set floating-point flags
    has_sizes: bool  # symbols: those of arrays


@mutable
class Variant:
    """One compilation. ``call`` gives the result for arguments, or ``MISSED`` if the guards do not
    hold; it raises ``RunFailed`` if the compiled code does.
    """

    captured: Captured
    compilation: Compilation
    key: object  # what the arguments are that it was made for
    is_tried: bool  # or not to be tried, see Note [Trials]
    traits: Traits
    call: Callable[[tuple[Any, ...], dict[str, Any]], Any] = field(init=False)
    won: int = 0  # trials
    saves: float = 0.0  # seconds, each call, as far as trials say
    is_measured: bool = False  # so that Python does not take several times as long
    born: int = 0  # after so many calls of the function
    calls: int = 0  # of ``call``
    often: float = field(init=False)  # calls after which it is looked at, see Note [Native calls]
    looked: tuple[int, float] = (0, -math.inf)  # after how many calls, and when
    native: NativeCall | None = None
    timed: HotSizes | Proof | None = None  # its calls, see Note [Hot sizes]
    stays_python: bool = False  # its calls: there is no native code for them
    watch: Watch | None = None  # if its code may set floating-point flags
    replays: int = 0  # of calls close to each other that Python had to run again
    last_replay: int = 0  # the number of the function's calls that had ended well before
    rested: float = -math.inf  # since when
    why: str = ""  # it was made: what no variant before it fits
    seconds: tuple[float, ...] = ()  # that each stage took, see ``step_logs.STAGES``
    is_verified: bool = False  # its calls run beside NumPy
    kept: bytes = b""  # what it goes by in the disk cache, if it is there
    stored: bytes = b""  # as other processes have it, see Note [Stored compilations]
    steps: int = field(init=False)  # of its guards
    asleep: Callable[[], tuple[Captured, Compilation, tuple[float, ...]]] | None = None

    def sleep(self, asleep: Callable[[], tuple[Captured, Compilation, tuple[float, ...]]]) -> None:
        """Have the capture, the compilation and the seconds no more, until somebody asks:
        ``asleep`` gives them.
        """
        self.asleep = asleep
        del self.captured, self.compilation, self.seconds

    if not TYPE_CHECKING:  # which is to know of other names that there are none

        def __getattr__(self, name: str) -> Any:
            if name not in ("captured", "compilation", "seconds") or self.asleep is None:
                raise AttributeError(name)
            self.captured, self.compilation, self.seconds = self.asleep()
            return getattr(self, name)

    def when_often(self) -> int:
        return min(OFTEN, max(_LEAST_OFTEN, _STEPS_THAT_PAY // self.steps))

    def look(self) -> bool:
        """Whether native code for its calls pays from now on; else when to look again."""
        calls, now = self.all_calls, time.perf_counter()
        if self.stays_python:
            self.often = math.inf if self.is_tried else self.calls + 1
            return False
        if calls >= self.when_often():
            return True
        before, self.looked = self.looked, (calls, now)
        if not trials.are_held():
            self.often = self.when_often()
        elif calls == before[0] + 1 and now - before[1] < CLOSE:
            return True
        elif calls > before[0] + 1 or self.calls < EARLY:
            self.often = self.calls + 1
        else:
            self.often = min(2 * self.calls, self.when_often())
        return False

    def settle(self, trial: Trial) -> None:
        """Let it not be tried any more after a trial that it has won, or once more."""
        self.won += 1
        is_known = trial.compiled <= trial.longest
        self.is_measured = is_known and trial.python <= CLEARLY * trial.compiled
        self.saves = max(trial.python - trial.compiled, 0.0) if is_known else math.inf
        if not trial.is_won and self.won < ENOUGH:
            self.try_later(BY_LITTLE)
            return
        self.is_tried = True
        is_settled = self.native is not None or self.stays_python
        self.often = math.inf if is_settled else self.calls + 1

    def try_later(self, calls: int) -> None:
        """Let it be tried after so many calls."""
        self.is_tried, self.often = False, self.calls + calls

    def forget_native(self) -> bool:
        """Drop its native calls, for some time; whether there were any."""
        had = self.native is not None
        self.calls, self.native = self.all_calls, None
        self.often = self.calls + OFTEN
        return had

    def rest(self, calls: int) -> int:
        """For how many calls native code is not tried, after one that Python has to run again when
        so many of the function had ended well: one of which it is always so is hardly slower than
        NumPy, however brief its calls.
        """
        if not self.is_near(calls):
            self.replays = 0
        before, self.rested = self.rested, time.perf_counter()
        most = MOST_RESTS if self.rested - before < _BRIEF_REST else USUAL_RESTS
        more = _FASTER if self.rested - before < _VERY_BRIEF_REST and self.replays else 1
        self.last_replay = calls
        self.replays = min(self.replays + more, max(most, self.replays))
        return int(2**self.replays) - 2

    def is_near(self, calls: int) -> bool:
        """Whether the last call that was run again was not long before that of this number."""
        return calls - self.last_replay <= _NEAR

    @property
    def first_calls(self) -> int:
        """After how many calls those of a part are timed, as they are like those that follow."""
        return SETTLED if self.watch is not None and self.watch.copies else EARLY

    @property
    def longest_tried(self) -> float:
        """Seconds that a call may take for Python to be tried, too."""
        if self.traits.evaluates:
            return math.inf
        return LONG_LOOP if self.traits.has_fast_loops else LONG

    def call_by(self, call: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> None:
        """Let ``call`` be this."""
        self.call = call

    @property
    def may_have_hot_sizes(self) -> bool:
        """Whether its calls are to be timed, see Note [Hot sizes]."""
        return self.traits.has_sizes and not self.is_verified

    @property
    def all_calls(self) -> int:
        return self.calls + (0 if self.native is None else self.native.calls)

    def __post_init__(self) -> None:
        if self.compilation.relations:
            guards = self.captured.guards.demanding(self.compilation.relations)
            self.captured = replace(self.captured, guards=guards)
        guards, traits = self.captured.guards, self.traits
        self.steps, self.traits = guards.size, _shared(traits)
        is_small = guards.size < _MANY_STEPS
        self.is_tried |= not trials.are_held() or (not traits.is_exact and is_small)
        made = self.compilation.assembled
        if made is not None and traits.flags is not None:
            from fxc.native.flagged import watched

            self.watch = watched(self, traits.flags, made.plan.run, made.notice)
        self.call_watched()
        self.often = 1 if trials.are_held() else self.when_often()

    def call_watched(self) -> None:
        """Let ``call`` run the code as the watch has it now; one that is verified stays so."""
        if self.is_verified:
            return
        epilogue = self.captured.epilogue
        run = self.compilation.run if self.watch is None else self.watch.served
        finish = None if epilogue is None else epilogue.finish
        self.call = self.captured.guards.call(run, finish, self)


@lru_cache(256)
def _shared(traits: Traits) -> Traits:
    """Equal ones as one object: most compilations have those of another one."""
    return traits


def why_none_fits(
    variants: Sequence[Variant], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str:
    """What does not hold for the compilation that fits best, the last of several."""
    failures = [each.captured.guards.failure(args, kwargs) for each in reversed(variants)]
    most = max(filter(None, failures), key=lambda each: each.place, default=None)
    return "" if most is None else most.text
