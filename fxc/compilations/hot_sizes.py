"""Whether one size has so many calls that code for it alone pays. See Note [Hot sizes]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fxc.ir.errors import MISSED

from .trials import now, since
from .turns import FOR_EVER

if TYPE_CHECKING:
    from fxc.capture.captured import Captured

    from .native_calls import NativeCall

# Note [Hot sizes]
# Where the sizes of arrays are symbols one compilation serves all of them, but code that knows them
# may be several times as fast: short loops are written out, and what fits in registers stays there.
# So some calls of such a compilation are timed, four in a row, seldom: twice as many calls lie
# before the next row, or fewer if they take long. A size that half of a row has stands for as many
# of the calls between. When one has taken as much time as compiling has, the call is compiled once
# more, with the sizes as they are. That code stands in front of the other. It is dropped again
# unless it takes a twentieth less. So a program never loses more than it has spent anyway.
# Native calls (Note [Native calls]) count, and leave a call to Python when it is to be timed.

_ROW = 4  # calls
_MOST_SIZES, _MOST_MADE = 8, 4  # of which the time is known, and compilations for one size
_MOST_APART = 0.02  # seconds between two rows, of calls like these: others may take longer
_LEAST = 0.05  # seconds that compiling takes at least
_LATER = 2  # times as much time is to be spent before the next, after one in vain
_PROOF, _PATIENCE = 5, 64  # calls that are compared, and those of other sizes meanwhile
_FASTER = 0.95

Call = Callable[[tuple[Any, ...], dict[str, Any]], Any]
Sizes = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


class Served(Protocol):
    """A compilation whose calls are timed: what ``Variant`` has."""

    captured: Captured
    key: object
    calls: int
    often: float
    native: NativeCall | None
    is_tried: bool
    seconds: tuple[float, ...]

    @property
    def call(self) -> Call: ...

    @property
    def all_calls(self) -> int: ...

    @property
    def first_calls(self) -> int: ...

    def call_by(self, call: Call) -> None: ...


class _Timed:
    """Calls of a compilation, some of which are timed."""

    def __init__(self, variant: Served) -> None:
        self.variant, self.plain, self.often = variant, variant.call, variant.often
        self.asks = False  # for what is to be done after this call

    def _ask(self) -> None:
        self.asks, self.often, self.variant.often = True, self.variant.often, 0

    def answered(self) -> None:
        """Ask no more."""
        self.asks, self.variant.often = False, self.often

    def tell_native(self) -> None:
        """Let native code leave calls to be timed."""

    def end(self) -> None:
        """Time no more calls."""
        self.answered()
        self.variant.call_by(self.plain)


class HotSizes(_Timed):
    """Calls of a compilation whose sizes are symbols, and the time that each size has taken."""

    def __init__(self, variant: Served) -> None:
        super().__init__(variant)
        self.rival: Proof | None = None
        self._worth = max(_LEAST, sum(variant.seconds))
        self._made = 0
        self._all = 0.0  # seconds
        self._known: set[Sizes] = set()  # for which there is code, or was
        self._spent: dict[Sizes, float] = {}
        self._shortest: dict[Sizes, float] = {}
        self._row: list[tuple[Sizes, float]] = []
        self._last = self._due = variant.all_calls
        variant.call_by(self)

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        variant = self.variant
        if variant.all_calls < self._due:
            return self.plain(args, kwargs)
        start = now()
        result = self.plain(args, kwargs)
        if result is not MISSED:
            if self.rival is not None:
                self.rival.wait()
            else:
                self._note(since(start), args, kwargs)
        return result

    def hot(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
        """The least seconds that a call of such sizes takes."""
        sizes = _sizes_of(self.variant, args, kwargs)
        seconds = self._shortest.get(sizes, 0.0)
        self._made += 1
        self._known.add(sizes)
        self._spent, self._shortest = {}, {}
        return seconds

    def settle(self, is_faster: bool = False) -> None:
        """Go on when it is known whether code for one size is faster."""
        self.rival = None
        if not is_faster:
            self._worth *= _LATER
        if self._made == _MOST_MADE:
            self.end()
            self._due = FOR_EVER
        else:
            self._due = self.variant.all_calls + 1
        self.tell_native()

    def tell_native(self) -> None:
        """Let native code leave a call to be timed when it is due; all, while there is a rival."""
        native = self.variant.native
        if native is not None:
            more = 0 if self.rival is not None else self._due - self.variant.all_calls
            native.leave_after(max(more, 0))

    def _note(self, seconds: float, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        sizes: Sizes = ()
        if self._all * _ROW >= self._worth:
            sizes = _sizes_of(self.variant, args, kwargs)
        self._row.append((sizes, seconds))
        taken = sum(each for _, each in self._row)
        if len(self._row) == _ROW or taken * _ROW >= self._worth:
            self._end_row(taken / len(self._row), sizes)

    def _end_row(self, usual: float, sizes: Sizes) -> None:
        """Take what has been timed for all calls since the last row."""
        calls, spent = self.variant.all_calls, self._spent
        each = (calls - self._last) / len(self._row)
        often = Counter(timed for timed, _ in self._row)
        for timed, seconds in self._row:
            self._all += each * seconds
            if timed and timed not in self._known and 2 * often[timed] >= len(self._row):
                spent[timed] = spent.get(timed, 0.0) + each * seconds
                self._shortest[timed] = min(seconds, self._shortest.get(timed, seconds))
        self._row = []
        while len(spent) > _MOST_SIZES:
            least = min(spent, key=spent.__getitem__)
            del spent[least], self._shortest[least]
        if spent.get(sizes, 0.0) >= self._worth and self.variant.is_tried:
            self._ask()
        left = max(self._worth - max(spent.values(), default=0.0), self._worth / _ROW)
        more = int(min(left / 2, _MOST_APART) / max(usual, 1e-9))
        self._last, self._due = calls, calls + max(1, min(more, calls))
        self.tell_native()


class Proof(_Timed):
    """The first calls of code for one size, which have to take less than so many seconds."""

    def __init__(self, variant: Served, rival: HotSizes, seconds: float) -> None:
        super().__init__(variant)
        self.rival = rival
        self._longest = _FASTER * seconds
        self._times: list[float] = []
        self._patience = _PATIENCE
        variant.call_by(self)
        variant.often, rival.rival = FOR_EVER, self
        rival.tell_native()

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        start = now()
        result = self.plain(args, kwargs)
        if result is not MISSED and self.variant.calls > self.variant.first_calls:
            self._times.append(since(start))
            if len(self._times) == _PROOF:
                self._ask()
        return result

    def wait(self) -> None:
        """A call of another size: there may be no more of this one for a long time."""
        self._patience -= 1
        if not self._patience:
            self.rival._ask()

    @property
    def holds(self) -> bool:
        """Whether it takes less time."""
        return bool(self._times) and min(self._times) < self._longest


def _sizes_of(variant: Served, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sizes:
    """The sizes and strides of the arrays of a call."""
    given = variant.captured.guards.check(args, kwargs) or ()
    return tuple((x.shape, x.strides) for x in given if type(x) is np.ndarray)
