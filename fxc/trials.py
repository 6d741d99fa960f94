"""Whether compiled code takes less time than Python does.

See Note [Trials].
"""

from __future__ import annotations

from fxc.ir.records import mutable

# Note [Trials]
# A part of a function that is split, and a function of which each call has many guards to check,
# may take longer than Python. So some calls of it are timed that compiled code runs, then some that
# Python runs, each in turn for the caller. What takes longer is left to Python: a part for good, a
# function for many calls. Other functions are not tried: where a call would run is not to be seen
# in its result, up to the bounds for elementary functions, but who looks at those should get the
# same at each call.

CALLS = 3  # that compiled code runs and that are timed, and as many that Python runs
SETTLED = 17  # calls after which compiled code is as quick as it gets: see Note [Warnings]
BRIEF = 5e-5  # seconds from which on Python is timed once
LONG = 5e-3  # seconds from which on it is not: it might take a hundred times as long


@mutable
class Trial:
    """The times of calls so far: the shortest, and how many there are."""

    compiled: float = float("inf")
    python: float = float("inf")
    compiled_calls: int = 0
    python_calls: int = 0

    @property
    def is_pythons(self) -> bool:
        """Whether Python is to run the next call."""
        return self.compiled_calls == CALLS

    @property
    def pays(self) -> bool | None:
        """Whether compiled code takes no longer; None as long as that is not known."""
        if self.compiled_calls and self.compiled > LONG:
            return True
        if self.python_calls < (CALLS if self.compiled < BRIEF else 1):
            return None
        return self.compiled <= 1.05 * self.python

    def note(self, seconds: float) -> None:
        """Take the time of a call, of that kind which is to be timed."""
        if self.is_pythons:
            self.python, self.python_calls = min(self.python, seconds), self.python_calls + 1
        else:
            self.compiled = min(self.compiled, seconds)
            self.compiled_calls += 1
