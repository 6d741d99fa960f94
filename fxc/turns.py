"""Calls that are left to Python, before any variant is looked at.

See Note [Turns].
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .tracebacks import unseen
from .trials import LONG_LOOP, Trial, now, since

# Note [Turns]
# What is not worth a look at the variants stands in ``State.turns``, by the types of arguments and
# the names of keywords.
# - Calls that Python is to run, by the function itself or its driver, are ``Handed`` on: some of
#   them, and then fxc looks again. How many depends on how often that was in vain; for ever, if
#   nothing but the types has decided. A small native function in front of all others
#   (lowering/calling/forward.py) hands them on at a tenth of a microsecond: a function that cannot
#   be compiled is as fast as without fxc.
# - It has no look at arguments but for their types. So where it was measured that Python is faster,
#   calls that take far longer than those that were measured end its turn: they are of another size.
# - A function that is ``Tried`` is called by one way and the other: Note [Trials].

Key = tuple[tuple[type, ...], tuple[str, ...]]
MORE, LONGEST, TAKEN = range(3)  # cells, which native code reads and writes
FOR_EVER = 2**62
_FAR_LONGER = 8  # times
_CYCLES = 4e9  # in a second: a processor whose clock is slower lets calls take longer
_FIRST = 1  # calls that are not timed
_UNUSUAL = 24  # nor are so many more in which fxc works,
_LONG_ONE = 3  # and a long one counts for so many
_SHORT = 5e-5  # seconds that a call may take in any case


def key_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
    """What calls that take one turn have in common."""
    if not kwargs:
        return tuple(map(type, args)), ()
    return tuple(map(type, (*args, *kwargs.values()))), tuple(kwargs)


class Handed:
    """Calls that Python takes: so many more, of ``seconds`` if it is known how long they take."""

    def __init__(
        self, run: Callable[..., Any], key: Key, calls: int, seconds: float = float("inf")
    ) -> None:
        self.run = run
        self.key = key
        longest = max(_SHORT, _FAR_LONGER * seconds) * _CYCLES
        self.cells = (ctypes.c_int64 * 4)()
        self.cells[MORE], self.cells[LONGEST] = calls, int(min(longest, FOR_EVER))

    def go_on(self, other: Handed) -> None:
        """Take the calls that another turn would take."""
        self.cells[LONGEST], self.cells[MORE] = other.cells[LONGEST], other.cells[MORE]

    @property
    def is_over(self) -> bool:
        """Whether it takes no more calls."""
        return self.cells[MORE] <= 0

    @property
    def taken(self) -> int:
        """How many calls it has taken."""
        return self.cells[TAKEN]

    @unseen
    def __call__(self, *args: object, **kwargs: object) -> Any:
        self.cells[MORE] -= 1
        self.cells[TAKEN] += 1
        return self.run(*args, **kwargs)


class Tried:
    """Calls by ``ours`` and by ``python`` in turn, until it is known what takes less time.

    ``end`` takes the verdict, ``work`` counts what makes a call take longer than those that follow.
    What is ours may be a ``driver``, which Python runs, too.
    """

    is_over = False

    def __init__(
        self,
        key: Key,
        ours: Callable[..., Any],
        python: Callable[..., Any],
        trial: Trial,
        end: Callable[[Trial], None],
        work: Callable[[], int],
        driver: bool = False,
    ) -> None:
        self.key = key
        self.taken = 0  # calls that Python has run
        self._ours, self._python = ours, python
        self._trial, self._end, self._work = trial, end, work
        self.is_driver = driver
        self._first = _FIRST

    @unseen
    def __call__(self, *args: object, **kwargs: object) -> Any:
        trial, is_pythons = self._trial, self._trial.is_pythons
        run = self._python if is_pythons else self._ours
        self.taken += self.is_driver or is_pythons
        work, start = self._work(), now()
        try:
            return run(*args, **kwargs)
        finally:
            seconds = since(start)
            if self._first > 0 or (self._work() != work and self._first > -_UNUSUAL):
                self._first -= 1 if seconds < LONG_LOOP else _LONG_ONE
            else:
                trial.note(seconds, is_pythons)
                if trial.pays is not None:
                    self._end(trial)


Turn = Handed | Tried
