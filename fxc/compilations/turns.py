"""Calls that are left to Python, before any variant is looked at.

See Note [Turns].
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from fxc.ir.records import frozen, mutable
from fxc.ir.tracebacks import hands_on

from .trials import LONG_LOOP, UNUSUAL, Trial, note_call, noted, now, since

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
#   If it is then measured again that Python is faster, only calls that take longer yet end the
#   next: in a recursion, those around others take far longer than these.
# - A function that is ``Tried`` is called by one way and the other: Note [Trials]. After its first
#   calls that must not be seen in the time of all: where some calls of the trial take longer than
#   Python's do, Python takes so many ``between`` them and the next that a twentieth is lost.
# - A driver whose parts, or what it calls, wait to be captured (Note [Captures that pay]) is no
#   faster than Python yet, and Python's calls would let them wait longer. So the trial of one that
#   takes no less than half a millisecond, beside which what it does itself is nothing, begins
#   behind these captures, or when it has run for four times as long as they have to wait.

# Note [Rests]
# Programs of many small functions that handle objects call them with arguments of many kinds, and
# a call takes hardly longer than a look at these kinds. Where captures of such a program have been
# in vain (Note [Captures that pay]), a function of which no compilation has been found to pay
# rests: all its calls are Python's, so many, without a look at anything. Then fxc looks at one.

Key = tuple[tuple[type, ...], tuple[str, ...]]
MORE, LONGEST, TAKEN = range(3)  # cells, which native code reads and writes
FOR_EVER = 2**62
_FAR_LONGER = 8  # times
_CYCLES = 4e9  # in a second: a processor whose clock is slower lets calls take longer
_FIRST = 1  # calls that are not timed
_LONG_ONE = 3  # unusual ones that a long one counts for
_SHORT = 5e-5  # seconds that a call may take in any case
_FREE = 10  # calls at first, when those of a trial follow each other whatever they take
_LOST = 0.04  # of Python's time, that trials may take more
_TIMING = 4e-6  # seconds that it takes to time a call
_ROW, _MOST_BETWEEN = 6, 2048  # calls of a trial in a row, as those alone find empty caches
_MOST_EARLY = 4  # times the seconds that a capture waits for: more of a driver's go into its trial
_FIRST_REST, _LONGEST_REST = 32, 8192  # calls, but so many only as take these seconds
_REST, _FEWEST = 0.02, 4  # or a few
_KNOWN = 3  # brief calls after which it is known how long Python takes


def key_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Key:
    """What calls that take one turn have in common."""
    if not kwargs:
        return tuple(map(type, args)), ()
    return tuple(map(type, (*args, *kwargs.values()))), tuple(kwargs)


class Rested:
    """Calls of all kinds that Python takes: so many ``more``. See Note [Rests]."""

    def __init__(self, run: Callable[..., Any], first: int) -> None:
        self.run = run
        self.more = ctypes.c_int64(0)  # which native code reads and writes
        self._given, self.next = 0, max(first, _FIRST_REST)

    def renew(self, seconds: float) -> int:
        """Take some calls from now on, as one has taken so many seconds; how many."""
        calls = max(_FEWEST, min(self.next, int(_REST / max(seconds, 1e-7))))
        self.next = min(2 * self.next, _LONGEST_REST)
        self._given += calls - self.more.value
        self.more.value = calls
        return calls

    @property
    def taken(self) -> int:
        """How many calls it has taken."""
        return self._given - self.more.value

    @hands_on
    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.more.value -= 1
        return self.run(*args, **kwargs)


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
        self._given = calls

    def go_on(self, other: Handed) -> None:
        """Take the calls that another turn would take."""
        self.cells[LONGEST] = other.cells[LONGEST]
        self.renew(other.cells[MORE])

    def renew(self, calls: int) -> None:
        """Take so many calls from now on."""
        self.cells[MORE], self._given = calls, self.taken + calls

    def end_if_long(self, seconds: float) -> None:
        """Take no more if one takes far longer than those that were measured."""
        if seconds * _CYCLES > self.cells[LONGEST]:
            self.cells[MORE] = 0

    @property
    def was_long(self) -> bool:
        """Whether it is over as a call has taken far longer than those that were measured."""
        return self.is_over and self.taken < self._given

    @property
    def between(self) -> Handed:
        """What native code may take."""
        return self

    @property
    def is_over(self) -> bool:
        """Whether it takes no more calls."""
        return self.cells[MORE] <= 0

    @property
    def taken(self) -> int:
        """How many calls it has taken."""
        return self.cells[TAKEN]

    @hands_on
    def __call__(self, *args: object, **kwargs: object) -> Any:
        self.cells[MORE] -= 1
        self.cells[TAKEN] += 1
        return self.run(*args, **kwargs)


@mutable
class Pace:
    """How fast trials of calls of one kind go on."""

    calls: Callable[[], int]  # of the function, so far
    python: float = float("inf")  # seconds that the last calls of Python's have taken, the mean,
    timed: int = 0  # and how many of them were timed
    is_free: bool = True  # for the first calls: those of a trial follow each other
    row: int = 0  # calls of the trial in a row,
    seconds: float = 0.0  # that took so long

    def note(self, seconds: float) -> None:
        """Take the time of a call that Python has run."""
        self.timed += 1
        if self.timed == 1:
            self.python = seconds
        else:
            self.python = (self.python + min(seconds, _FAR_LONGER * self.python)) / 2

    @property
    def is_known(self) -> bool:
        """Whether it is known how long Python takes."""
        return self.timed >= (_KNOWN if self.python < LONG_LOOP else 1)

    def rest(self, seconds: float) -> int:
        """How many calls are Python's after one of a trial that took so long."""
        self.row, self.seconds = self.row + 1, self.seconds + seconds + _TIMING
        goes_on = self.row < _ROW
        if self.is_free and self.calls() >= _FREE:
            self.is_free = goes_on = False
        if goes_on or not self.is_known:
            return 0
        lost = self.seconds - self.row * self.python
        self.row, self.seconds = 0, 0.0
        if self.is_free:
            return 0
        return max(0, min(int(lost / (_LOST * max(self.python, 1e-7))), _MOST_BETWEEN))


@frozen
class Ways:
    """What is compared: two ways to run a call. ``work`` gives how many captures have begun, and
    how often fxc did what makes a call take longer than those that follow. What is ``ours`` may be
    a driver, which Python runs, too; what it calls waits to be captured for the seconds ``left``.
    """

    ours: Callable[..., Any]
    python: Callable[..., Any]
    work: Callable[[], tuple[int, int]]
    is_driver: bool = False
    left: Callable[[], float] = float


class Tried:
    """Calls in both ways, in turn, until it is known what takes less time. ``end`` takes the
    verdict; ``arrange`` lets native code hand on the calls ``between`` from now on.
    """

    is_over = was_long = False

    def __init__(
        self,
        key: Key,
        ways: Ways,
        trial: Trial,
        pace: Pace,
        end: Callable[[Trial], None],
        arrange: Callable[[], None],
    ) -> None:
        self.key = key
        self.ways = ways
        self.between: Handed | None = None
        self._trial, self._pace = trial, pace
        self._end, self._arrange = end, arrange
        self._first, self._unusual = _FIRST, UNUSUAL
        self._taken = 0
        self._last = float("inf")  # seconds of the last call that was ours,
        self._ours, self._spent = 0, 0.0  # and of all in which there was no capture

    @property
    def taken(self) -> int:
        """How many calls Python has run."""
        return self._taken + (0 if self.between is None else self.between.taken)

    @property
    def _is_pythons(self) -> bool:
        """Whether Python is to run the next call: it is soon known how long it takes."""
        if self._is_early():
            return False
        if self._trial.is_pythons:
            return True
        pace = self._pace
        is_asked = not pace.is_known or (pace.row == 1 and pace.python < LONG_LOOP)
        return is_asked and self._last <= self._trial.longest

    def _is_early(self) -> bool:
        """Whether a trial of a driver would end before what takes most of its time is compiled."""
        if self._spent <= LONG_LOOP * self._ours:
            return False
        return self._spent < _MOST_EARLY * self.ways.left()

    @hands_on
    def __call__(self, *args: object, **kwargs: object) -> Any:
        between = self.between
        if between is not None and not between.is_over:
            return between(*args, **kwargs)
        ways, is_pythons = self.ways, self._is_pythons
        run = ways.python if is_pythons else ways.ours
        self._taken += ways.is_driver or is_pythons
        note_call()
        work, start = self._work(), now()
        try:
            return run(*args, **kwargs)
        finally:
            self._took(since(start), is_pythons, work)

    def _work(self) -> tuple[int, int, int]:
        return (*self.ways.work(), noted())

    def _took(self, seconds: float, is_pythons: bool, before: tuple[int, int, int]) -> None:
        """Take the time of a call, and see what is to be done next."""
        trial, work = self._trial, self._work()
        if is_pythons:
            self._pace.note(seconds)
        else:
            self._last = seconds
            if work[0] == before[0]:
                self._ours, self._spent = self._ours + 1, self._spent + seconds
            if self._is_early():
                return
        is_unusual = work != before and self._unusual > 0
        if is_unusual or (self._first > 0 and not is_pythons):
            self._unusual -= 1 if seconds < LONG_LOOP else _LONG_ONE
            self._first -= not is_pythons
        else:
            trial.note(seconds, is_pythons)
            if trial.pays is not None:
                self._end(trial)
                return
        if work[0] == before[0]:  # no capture, which are few and expensive
            self._rest(self._pace.rest(seconds))

    def _rest(self, calls: int) -> None:
        """Let Python take some calls."""
        if self.between is not None:
            self.between.renew(calls)
        elif calls:
            self.between = Handed(self.ways.python, self.key, calls, self._pace.python)
            self._arrange()


Turn = Handed | Tried
