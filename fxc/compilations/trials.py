"""Whether compiled code takes less time than Python does.

See Note [Trials].
"""

from __future__ import annotations

import os
import time
from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager

from fxc.ir.records import mutable
from fxc.ir.settings import config

# Note [Trials]
# Compiled code may take longer than Python: where a call has many guards to check, or does little
# beside them, where a driver has small parts. So some calls are timed that compiled code runs, then
# some that Python runs, each in turn for the caller. What takes longer is left to Python: a part
# for good; a function for a number of calls (Note [Turns]), at most until there were so many that
# native calls pay (Note [Native calls]), then it is tried once more, then left for eight times as
# many, and so on.
# A driver, of which parts would be captured once more, is also left to Python for ten times as long
# as all captures have taken, or for just as long if it lost by little. While captures of what it
# calls wait for Python to spend some time (Note [Captures that pay]) nobody knows how fast it will
# be: then it is left to Python for that time, and tried again.
# - Calls in which other functions, or parts, are on trial are not timed, or few would know how long
#   Python takes: what is called is decided on before what calls it.
# - A trial that one variant loses counts for the native code of all: each may begin the next one.
# - What wins by little is tried once more, too, after some calls.
# - Calls of compiled code that end in Python, as no variant fits, are not timed.
# - A call that takes microseconds takes less than a look at the clock of the thread. It is timed by
#   the clock on the wall, and the shortest of several calls counts.
# - The clock of the processor is not steady, so they are called by turns.
# - Where a call has run must not be seen in its result: who looks at the last bits of elementary
#   functions should get the same at each call. A function that has some of fxc's own is tried only
#   if it has very many guards.
# - A loop, which may take a hundred times as long in Python, is tried only if it is short, or if
#   each iteration has an effect, which takes about as long in either. One that is not native, so
#   that NumPy runs it an operator at a time, is tried however long it is.
# - A driver, most of which may be Python, is tried if it is not long; however long, if each of its
#   parts has been timed, and Python takes no more than a few times as long for it.
# - With ``fullgraph=True`` nothing is tried: there is no other way.

# The time of the thread, which others that have the processor meanwhile do not make longer.
clock = time.thread_time if os.name == "posix" else time.perf_counter
ENABLED = True  # but in tests, which are to see what compiled code does
CALLS = 3  # that compiled code runs and that are timed, and as many that Python runs,
BRIEF_CALLS = 6  # or so many, if they are brief,
CLOSE_CALLS = 12  # or so many, if they take nearly as long
EARLY = 3  # calls of a function after which it is tried,
UNUSUAL = 24  # calls in which fxc has more to do than in later ones, that are not timed
SETTLED = 17  # and one whose arguments are copied at first: see Note [Warnings]
BRIEF = 5e-5  # seconds up to which it is always timed so often in Python, by another clock
LONG = 5e-3  # seconds from which on it is not timed in Python
LONG_LOOP = 5e-4  # and of a loop,
LONG_DRIVER = 5e-2  # and of a driver, most of which may be Python
CLEARLY = 4.0  # times as long: then few calls say it, or one that is not brief
_HARDLY, _CLOSE, _BY_FAR = 1.02, 1.2, 1.5
BY_LITTLE = 64  # calls before the next trial, after one that could have ended otherwise
ENOUGH = 2  # trials that are won by little
HANDING_ON = 4e-8  # seconds that a call takes longer which native code hands on to Python


def are_held() -> bool:
    """Whether calls are timed at all: not those that NumPy runs, too, to be compared."""
    return ENABLED and not config.verify


threads_of_python: set[int] = set()
"""Threads in which all calls are Python's."""


@contextmanager
def all_by_python() -> Iterator[None]:
    """Let Python run the compiled functions that the block calls, too."""
    own = {get_ident()} - threads_of_python
    threads_of_python.update(own)
    try:
        yield
    finally:
        threads_of_python.difference_update(own)


def now() -> tuple[float, float]:
    """When a call begins, by both clocks."""
    return clock(), time.perf_counter()


def since(start: tuple[float, float]) -> float:
    """How many seconds a call has taken."""
    seconds = time.perf_counter() - start[1]
    return seconds if seconds < BRIEF else min(seconds, clock() - start[0])


class _Noted:
    count = 0


def noted() -> int:
    """A number that grows with each call of a trial."""
    return _Noted.count


def note_call() -> None:
    """Count a call of what is on trial, or will be when it has been called some more times."""
    _Noted.count += 1


@mutable
class Trial:
    """The times of calls so far: the shortest, and how many there are."""

    compiled: float = float("inf")
    python: float = float("inf")
    compiled_calls: int = 0
    python_calls: int = 0
    python_seconds: float = 0.0  # of all these calls
    longest: float = LONG
    saved: float = 0.0  # seconds of a call that are saved where Python is not called instead

    @property
    def is_pythons(self) -> bool:
        """Whether Python is to run the next call."""
        least = 1 if self.compiled <= self.longest else CALLS
        return least <= self.compiled_calls > self.python_calls

    @property
    def pays(self) -> bool | None:
        """Whether compiled code takes no longer; None as long as that is not known."""
        if self.is_pythons and self.compiled > self.longest:
            return True
        if min(self.python_calls, self.compiled_calls) < self._enough:
            return None
        return self.compiled <= _HARDLY * self.python + self.saved

    @property
    def _enough(self) -> int:
        """How many calls Python is to run."""
        is_clear = self.python > CLEARLY * self.compiled
        if is_clear and self.compiled > BRIEF:
            return 1
        least, most = sorted((self.compiled, self.python))
        if most <= _CLOSE * least:
            return CLOSE_CALLS
        is_clear |= self.compiled > CLEARLY * self.python
        far = most > _BY_FAR * least
        return CALLS if is_clear or (far and self.python > BRIEF) else BRIEF_CALLS

    @property
    def is_lost(self) -> bool:
        """Whether compiled code takes so much longer that it hardly ever will not."""
        return self.compiled > _BY_FAR * self.python

    @property
    def is_won(self) -> bool:
        """Whether Python takes so much longer."""
        return self.python > _BY_FAR * self.compiled

    def note(self, seconds: float, by_python: bool) -> None:
        """Take the time of a call."""
        note_call()
        if by_python:
            self.python, self.python_calls = min(self.python, seconds), self.python_calls + 1
            self.python_seconds += seconds
        else:
            self.compiled = min(self.compiled, seconds)
            self.compiled_calls += 1
