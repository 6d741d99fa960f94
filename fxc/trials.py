"""Whether compiled code takes less time than Python does.

See Note [Trials].
"""

from __future__ import annotations

import os
import time

from fxc.ir.records import mutable

# Note [Trials]
# Compiled code may take longer than Python: where a call has many guards to check, or does little
# beside them, where a driver has small parts. So some calls are timed that compiled code runs, then
# some that Python runs, each in turn for the caller. What takes longer is left to Python: a part
# for good; a function for a number of calls (Note [Turns]), then it is tried once more, by native
# calls if there were many (Note [Native calls]), then left for eight times as many, and so on.
# A driver, of which parts would be captured once more, is also left to Python for ten times as long
# as all captures have taken, or for just as long if it lost by little.
# - Where a call has run must not be seen in its result: who looks at the last bits of elementary
#   functions should get the same at each call. A function that has some of fxc's own is tried only
#   if it has very many guards.
# - A loop, which may take a hundred times as long in Python, is tried only if it is short.
# - With ``fullgraph=True`` nothing is tried: there is no other way.

# The time of the thread, which others that have the processor meanwhile do not make longer.
clock = time.thread_time if os.name == "posix" else time.perf_counter
ENABLED = True  # but in tests, which are to see what compiled code does
CALLS = 3  # that compiled code runs and that are timed, and as many that Python runs
EARLY = 3  # calls of a function after which it is tried,
SETTLED = 17  # and one whose arguments are copied at first: see Note [Warnings]
BRIEF = 5e-5  # seconds up to which it is always timed so often in Python
LONG = 5e-3  # seconds from which on it is not timed in Python
LONG_LOOP = 5e-4  # and of a loop,
LONG_DRIVER = 5e-2  # and of a driver, most of which may be Python
_CLEARLY = 2.0  # times as long: then one call that is not brief says it
_HARDLY, _BY_FAR = 1.05, 1.5


@mutable
class Trial:
    """The times of calls so far: the shortest, and how many there are."""

    compiled: float = float("inf")
    python: float = float("inf")
    compiled_calls: int = 0
    python_calls: int = 0
    longest: float = LONG

    @property
    def is_pythons(self) -> bool:
        """Whether Python is to run the next call."""
        return self.compiled_calls == CALLS

    @property
    def pays(self) -> bool | None:
        """Whether compiled code takes no longer; None as long as that is not known."""
        if self.is_pythons and self.compiled > self.longest:
            return True
        is_clear = self.compiled > BRIEF and self.python > _CLEARLY * self.compiled
        if self.python_calls < (1 if is_clear else CALLS):
            return None
        return self.compiled <= _HARDLY * self.python

    @property
    def is_lost(self) -> bool:
        """Whether compiled code takes so much longer that it hardly ever will not."""
        return self.compiled > _BY_FAR * self.python

    def note(self, seconds: float) -> None:
        """Take the time of a call, of that kind which is to be timed."""
        if self.is_pythons:
            self.python, self.python_calls = min(self.python, seconds), self.python_calls + 1
        else:
            self.compiled = min(self.compiled, seconds)
            self.compiled_calls += 1
