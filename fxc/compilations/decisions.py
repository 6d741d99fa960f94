"""Which calls are captured, and what is known of those that cannot be.

See Note [Captures that pay].
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.errors import CaptureError, PutOff
from fxc.ir.records import field, frozen, mutable

if TYPE_CHECKING:
    from fxc.cache.entries import Entries
    from fxc.capture.guards.program import GuardProgram
    from fxc.capture.refusals import Refusal
    from fxc.split.splits import Split

    from .variants import Variant

_FEW, _MANY, _MOST = 5, 128, 4096  # calls in vain: before fxc looks less often; between two looks,
_LOOK = 1e-2  # or as many as take these seconds, if they are brief: a look takes 0.1 ms
_SELDOM, _WORTH = 4, 32  # calls left for each in vain, but fewer if some were served
_SAVED = 0.02  # seconds that a call of compiled code may have saved
_FEW_DEAR, _DEAR = 2, 2.0  # captures that have taken so many seconds together
_LONGEST = 1.2  # seconds that a compilation may take that is not put off,
_BRIEF = 0.2  # and of a patient process,
_TO_CAPTURE = 1.6  # and its capture, times as many
SHARE = 0.1  # of them that Python has to spend first,
AFTER_REFUSAL = 0.02  # and of a capture that was refused, before the next one,
_TOGETHER = 0.5  # seconds of all captures of a function that is split, before others wait,
_LATER, _AT_ONCE = 1.0, 3  # or of any after so many that did not pay
_FREE, _MUCH = 2.0, 0.5  # seconds of captures in vain, and their part of the process's time, from
_PATIENT = 0.5  # which on Python has to spend so large a share before a capture that is not a first
_WARY = 0.25  # seconds of captures in vain from which on those of objects wait,
_FIRST = 0.02  # a first one until Python has spent these on such calls;
_LOST = 0.5  # or these, after one that took longer than Python;
_ALL, _PART = 1.0, 0.1  # and none is begun where they took these, and a part of the process's time
_OF_OBJECTS = 0.4  # seconds that the capture of such a call may take which is not put off
_UNMEASURED, _MOST_UNMEASURED = 1e-2, 256  # seconds of Python's, or calls, between two looks at the
_FAR_LONGER = 8  # clock of the thread, which may take dozens of microseconds; times as long ends it
MOST_REFUSALS = 4  # of one combination of argument types, before all are taken to be refused

# Note [Captures that pay]
# A function whose calls always differ in what the capture makes a constant of, or that raises in
# each, could be captured anew at every call. For arguments of the same kinds there are a few
# captures in any case; then one more only if the variants have served as many calls as there were
# captures, beyond the first call of each, and if these may have saved the time of all captures.
# Else Python runs the call, and after many such calls in a row that is how it stays. What has
# another value than in all variants, where they have a constant or a certain object, is cut out of
# the function: Python does what is done with it, and with what comes of that. Where captures are
# expensive, that is so after two.
# What would take seconds to compile is put off until Python has spent a tenth of that on such
# calls. A recursion that comes to thousands of operators, and takes a millisecond in Python, would
# be compiled for nothing if it is called a few times. It is captured again then; and after it was
# compiled nothing else is captured before Python has spent as much again. The last bits of
# elementary functions may change where native code takes over, unlike in Note [Trials].
# So it is after a refusal: other calls of the same kind, for which it may not hold, are captured
# once Python has spent a fiftieth of the time that the refused capture took. A function in which
# the capture of its caller was refused would mostly be refused again, if it was called there as it
# could be by itself: that capture counts as one of its own. Meanwhile its driver runs, with what is
# left of it compiled. After three captures
# of one kind that do not pay yet the next waits for as long as the last one took: what comes of it
# may serve as little as those, and calls then take no more than twice as long.
# The captures of a function that is split, of its parts and of what it calls have half a second
# together. After that each waits until Python has spent a tenth of what all have taken on such
# calls: there may be dozens of parts, and a recursion calls what is compiled for each size anew.
# A program of many small functions that handle objects could spend a hundred times its own time on
# captures that few calls are served by. Where captures that were refused, and those of what had
# been captured before, have taken most of a process so far, what was captured before waits until
# Python has spent half of the time of its last capture, and what takes long to capture is put off
# like what takes long to compile.
# So it is sooner for calls of objects, where neither the arguments nor what the function names hold
# anything of NumPy's: most of what such programs do is not compiled, or no faster then. Once
# captures in vain have taken a quarter of a second, first captures wait, too. They never take more
# than a second and a tenth of the time of the process.


class _Process:
    wasted = 0.0  # seconds of captures that were refused, or of what had been captured before
    seconds = 0.0  # of the process, as last asked: that takes longer than many a function


def _is_patient(of_objects: bool = False) -> bool:
    """Whether captures that come to little have taken most of the time of this process."""
    wasted = _Process.wasted
    if of_objects:
        return wasted > _WARY
    return wasted > _FREE and wasted > _MUCH * time.process_time()


def are_in_vain() -> bool:
    """Whether captures of objects were in vain so far, so that functions rest: Note [Rests]."""
    return _is_patient(of_objects=True)


def _seconds_left() -> float:
    """How many seconds captures of objects may still take in vain."""
    _Process.seconds = time.process_time()
    return _ALL + _PART * _Process.seconds - _Process.wasted


def are_over() -> bool:
    """Whether no capture of objects is to begin now."""
    if _Process.wasted < _ALL + _PART * _Process.seconds:
        return False
    return _seconds_left() <= 0


def note_waste(seconds: float) -> None:
    """Take note of captures whose code is not used."""
    _Process.wasted += seconds


@frozen
class Limits:
    """Seconds that a compilation may take at most, as estimated, and its capture."""

    seconds: float = math.inf
    capture: float = math.inf


WITHOUT_LIMITS = Limits()


@mutable
class Refused:
    """Refusals of calls with arguments of the same kinds, by the values that they depended on.

    If ``by_types``, nothing but the types of the arguments decides about them.
    """

    guards: list[GuardProgram] = field(default_factory=list)
    always: bool = False
    by_types: bool = False

    def add(self, refusal: Refusal | None) -> None:
        if refusal is None or refusal.guards is None or len(self.guards) == MOST_REFUSALS:
            self.always = True
            self.by_types = refusal is not None and not refusal.is_of_data
        else:
            self.guards.append(refusal.guards)

    def holds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call would be refused again."""
        if self.always:
            return True
        return any(each.check(args, kwargs) is not None for each in self.guards)


@mutable
class InVain:
    """Calls of one kind that compiled code could not take since the last compilation, when it had
    ``served`` so many, and those left to Python since.
    """

    served: int
    count: int = 0
    seconds: float = math.inf  # that one of them has taken, at least

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Around one of them."""
        started = time.thread_time()
        try:
            yield
        finally:
            self.seconds = min(self.seconds, time.thread_time() - started)

    def rest(self, served: int) -> int:
        """One more: how many calls that come now are not worth a look, if compiled code has served
        so many by now.
        """
        self.count += 1
        if self.count < _FEW:
            return 0
        worth = 1 + _WORTH * max(served - self.served, 0)
        most = max(_MANY, int(min(_LOOK / max(self.seconds, 1e-7), _MOST)))
        calls = min(_SELDOM * self.count // worth, most)
        self.count += calls
        return calls


@mutable
class Captures:
    """Captures of calls with arguments of the same kinds. See Note [Captures that pay]."""

    may_wait: bool = False  # the next one, for Python to spend some time
    of_objects: bool = False  # and nothing of NumPy's
    count: int = 0
    seconds: float = 0.0  # of processor time
    misses: int = 0  # calls in a row for which one would not have paid
    cost: float = 0.0  # seconds of which Python has to spend a share before each
    left: float = 0.0  # seconds that Python has to spend before the next one
    least: float = 0.0  # seconds that Python has to spend in any case, if others were in vain
    usual: float = 0.0  # seconds of a call in Python, by the clock of the thread,
    unmeasured: int = 0  # and how many more are not measured by it
    is_put_off: bool = False  # the next one, which is estimated to take long
    is_awaited: bool = False  # the next one, by the last call that no variant took
    refused: Refused | None = None
    entries: Entries | None = None  # of the disk cache

    def begun(self) -> tuple[float | None, float]:
        """When a call in Python begins, by the clock of the thread, if it is to be asked, and by
        the one on the wall.
        """
        self.unmeasured -= 1
        return time.thread_time() if self.unmeasured < 0 else None, time.perf_counter()

    def ended(self, start: tuple[float | None, float]) -> None:
        """Take the time of a call in Python. If it was brief, the next ones are measured by the
        clock on the wall, until one takes far longer.
        """
        by_thread, by_wall = start
        took = time.perf_counter() - by_wall
        if by_thread is not None:
            took = min(took, time.thread_time() - by_thread)
            self.usual = took
            self.unmeasured = int(min(_UNMEASURED / max(took, 1e-7), _MOST_UNMEASURED))
        elif took > _FAR_LONGER * self.usual:
            took, self.unmeasured = self.usual, 0
        self.left -= took

    def refused_before(self, seconds: float) -> None:
        """Count the capture of a caller that took so long and was refused in the function."""
        if self.may_wait:
            self.count, self.left = 1, seconds * AFTER_REFUSAL

    def refusals(self) -> Refused:
        """Those of such calls, to which there may be one more."""
        if self.refused is None:
            self.refused = Refused()
        return self.refused

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count a capture and its time, whatever comes of it; one that is put off comes again."""
        self.count, self.misses = self.count + 1, 0
        self.left = self._share_of(self.cost)
        share, is_in_vain = _LATER if self.count >= _AT_ONCE else 0.0, self.count > 1
        started = time.thread_time()
        try:
            yield
        except PutOff as found:
            self.count, self.is_put_off, is_in_vain = self.count - 1, True, True
            self.cost, self.left = found.seconds, self._share_of(found.seconds)
            raise
        except CaptureError:
            share, is_in_vain = max(share, AFTER_REFUSAL), True
            raise
        finally:
            took = time.thread_time() - started
            self.seconds += took
            _Process.wasted += took * is_in_vain
            if self.may_wait:
                if _is_patient(self.of_objects):
                    share = max(share, _PATIENT * 2 ** (self.count * self.of_objects))
                self.left += took * share

    def _share_of(self, cost: float) -> float:
        """Seconds that Python has to spend before a capture that costs so many."""
        return cost * (_PATIENT if _is_patient(self.of_objects) else SHARE)

    @property
    def most(self) -> Limits:
        """What the next one may take that is not put off."""
        if not self.may_wait:
            return WITHOUT_LIMITS
        seconds = math.inf if self.is_put_off else _BRIEF if _is_patient() else _LONGEST
        if not self.of_objects:
            return Limits(seconds, _TO_CAPTURE * seconds)
        if are_in_vain() and not self.is_put_off:
            seconds = _BRIEF
        left = _seconds_left() / 2 if self.is_put_off else min(seconds, _OF_OBJECTS)
        return Limits(seconds, max(_BRIEF, left))

    def begin(self, has_lost: bool) -> None:
        """Let Python spend some time before the next one, where those of others were in vain, or
        what came of those of this function ``has_lost`` against Python.
        """
        first = _LOST if has_lost else 0.0 if self.count else _FIRST
        if self.of_objects and self.least < first and are_in_vain():
            self.left += first - self.least
            self.least = first

    def wait_for(self, together: float) -> None:
        """Let Python spend some time first if all captures of a split function have taken long."""
        if self.may_wait and not self.cost and together > _TOGETHER:
            self.cost, self.left = together, self._share_of(together)

    @property
    def are_dear(self) -> bool:
        """Whether one more is too much where it would make a constant of what varies."""
        return self.count >= _FEW_DEAR and self.seconds >= _DEAR

    def must_wait(self, variants: Sequence[Variant]) -> bool:
        """Whether Python has to spend more before the next one, as those so far do not pay."""
        if self.of_objects and are_in_vain():
            self.is_awaited = self.left > 0 or are_over()
        else:
            self.is_awaited = self.left > 0 and (self.cost > 0 or not self.pay(variants))
        return self.is_awaited

    def pay(self, variants: Sequence[Variant]) -> bool:
        """Whether one more may be worth its time, after those that the variants come from."""
        served = sum(variant.all_calls - 1 for variant in variants)
        return served >= self.count and served * _SAVED >= self.seconds


def captures_left(split: Split) -> list[Captures]:
    """The captures of what a driver calls, and of what that calls in turn, for which Python is to
    spend some time first.
    """
    found: dict[int, Any] = {}
    left = [*split.called]
    while left:
        state = left.pop()._state
        if found.setdefault(id(state), state) is state and state.split is not None:
            left += [each for each in state.split.called if id(each._state) not in found]
    return [each for state in found.values() for each in state.captures.values() if each.left > 0]


def seconds_awaited(split: Split) -> float:
    """How many seconds Python has to spend before the captures that calls wait for there."""
    return max((x.left for x in captures_left(split) if x.is_awaited), default=0.0)


def kinds_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    """What calls that cannot be captured have in common: kinds and dtypes of arguments."""
    return (tuple(map(_kind_of, args)), tuple((key, _kind_of(x)) for key, x in kwargs.items()))


def types_of(kinds: Any) -> object:
    """The types of arguments of these kinds, and the names of keywords: what takes one turn."""
    positional, named = kinds
    each = (*positional, *(kind for _, kind in named))
    return tuple(x[0] if type(x) is tuple else x for x in each), tuple(name for name, _ in named)


def _kind_of(value: Any, depth: int = 0) -> object:
    """The kind of one argument; attributes of the user's own objects are not read, and of large or
    nested containers no more than the types of the first items.
    """
    kind = type(value)
    if issubclass(kind, np.ndarray):  # isinstance would ask a proxy for the object behind it
        return (kind, value.dtype, value.ndim, value.flags.aligned)
    if kind not in (tuple, list, dict):
        return kind
    if depth == _DEPTH or len(value) > _FEW_ITEMS:
        return (kind, frozenset(map(type, islice(value, _FEW_ITEMS))))
    if kind is dict:
        if not all(type(key) is str for key in value):
            return (kind, frozenset(map(type, value)), frozenset(map(type, value.values())))
        kinds = {key: _kind_of(item, depth + 1) for key, item in value.items()}
        alike = frozenset(kinds.values())  # then the keys may be data, such as words
        return (kind, alike if len(alike) == 1 else frozenset(kinds.items()))
    items = [_kind_of(item, depth + 1) for item in value]
    return (kind, tuple(items) if kind is tuple else frozenset(items))


def is_of_numpy(kinds: object) -> bool:
    """Whether something of NumPy's is among the arguments of calls of these kinds."""
    if isinstance(kinds, tuple | frozenset):
        return any(map(is_of_numpy, kinds))
    return is_numpys(kinds) if isinstance(kinds, type) else isinstance(kinds, np.dtype)


def is_numpys(value: Any) -> bool:
    """Whether a thing, or its class, is of a module of NumPy's."""
    kind = type(value)
    if kind is ModuleType or kind is FunctionType:
        module = value.__name__ if kind is ModuleType else value.__module__
    else:
        module = _module_of_class(value if issubclass(kind, type) else kind)
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


_module_of_class = vars(type)["__module__"].__get__  # those of C have none in their namespace
_FEW_ITEMS, _DEPTH = 16, 2  # of containers of which each item counts
