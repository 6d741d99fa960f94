"""How a function is compiled, and what is known of it so far."""

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Mapping, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import OverlapError, UsageError
from fxc.ir.records import field, frozen, mutable
from fxc.ir.settings import OWN_BACKENDS, Math

from .decisions import Captures, InVain
from .leaves import Leaves
from .turns import Key, Pace, Rested, Turn
from .variants import Variant

if TYPE_CHECKING:
    from fxc.capture.guards.program import GuardProgram
    from fxc.dispatch.backend import BackendIndex
    from fxc.dispatch.extensions import Backend, Pass
    from fxc.split.splits import Split


@frozen
class Options:
    """How a function is compiled; see ``fxc.compile``."""

    fullgraph: bool = False
    backend: str | Backend | BackendIndex[Any] = "llvm"
    dynamic: bool | None = None
    math: Math = "default"
    passes: tuple[Pass | str, ...] = ()

    def __post_init__(self) -> None:
        if self.backend not in OWN_BACKENDS or self.passes:
            from fxc.dispatch.extensions import backend_of, passes_of

            backend_of(self.backend)
            passes_of(self.passes)
        if self.dynamic is not None and not isinstance(self.dynamic, bool):
            raise UsageError(ARGUMENT, f"dynamic must be True, False or None, not {self.dynamic!r}")
        if self.math not in get_args(Math):
            raise UsageError(ARGUMENT, f"math must be one of {get_args(Math)}, not {self.math!r}")

    def shown(self) -> dict[str, str]:
        """The options that are not the usual ones, for people."""
        usual = Options()
        given = {name: getattr(self, name) for name in self.__match_args__}
        return {k: str(v) for k, v in given.items() if v != getattr(usual, k)}


# One object each: thousands of functions may live at once.
_NO_KEYS: frozenset[Key] = frozenset()
_NOTHING: Mapping[Key, Any] = MappingProxyType({})


@mutable
class State:
    """What all bindings of one compiled function share."""

    variants: list[Variant] = field(default_factory=list)
    turns: dict[Key, Turn] = field(default_factory=dict)  # see Note [Turns]
    rest: Rested | None = None  # see Note [Rests]
    next_rest: int = 0  # how many calls it is to take at first
    paces: Mapping[Key, Pace] = _NOTHING  # of trials
    in_vain: Mapping[Key, InVain] = _NOTHING
    lost: Mapping[Key, int] = _NOTHING  # trials
    long: Mapping[Key, int] = _NOTHING  # calls behind them that took far longer than in the trial
    paying: frozenset[Key] = _NO_KEYS  # calls for which the driver has won one,
    losing: frozenset[Key] = _NO_KEYS  # or lost one while a variant rested,
    won: frozenset[Key] = _NO_KEYS  # or won one by little
    split: Split | None = None
    overlaps: tuple[OverlapError, ...] = ()
    raised: tuple[GuardProgram, ...] = ()  # of calls that raised in capture
    captures: dict[object, Captures] = field(default_factory=dict)  # by kinds of arguments
    warned: frozenset[str] = frozenset()
    leaves: Leaves = field(default_factory=Leaves)
    varying: frozenset[str] = frozenset()  # see Note [Numbers from outside]
    seconds_refused: float = 0.0  # of the capture of a caller that was refused in this function
    eager_calls: int = 0  # beside those of turns
    lock: RLock = field(default_factory=RLock)
    process: int = field(default_factory=os.getpid)

    def guard(self) -> RLock:
        """The lock for compiling; in a forked process a new one, for the old one may be held by a
        thread that is not there.
        """
        if self.process != os.getpid():
            self.lock, self.process = RLock(), os.getpid()
        return self.lock

    def vary(self, names: Set[str]) -> None:
        """Take these names, too, for ones whose numbers vary."""
        if not names <= self.varying:
            self.varying |= names

    @property
    def has_lost(self) -> bool:
        """Whether compilations were found to take longer than Python, and none to take less."""
        return bool(self.lost) and not any(variant.saves for variant in self.variants)

    @property
    def may_save_much(self) -> bool:
        """Whether Python may take several times as long, as far as is known."""
        if any(each.all_calls > 1 and not each.is_measured for each in self.variants):
            return True
        return self.split is not None and self.split.may_save_much

    def forget_trials(self) -> None:
        """Forget which calls have won or lost trials."""
        self.paying = self.losing = self.won = _NO_KEYS

    def pace(self, key: Key) -> Pace:
        """How fast trials of calls of one kind go on."""
        found = self.paces.get(key)
        if found is None:
            found = Pace(self.calls)
            self.paces = {**self.paces, key: found}
        return found

    def wasted(self, key: Key) -> InVain:
        """Calls of one kind that compiled code could not take."""
        found = self.in_vain.get(key)
        if found is None:
            found = InVain(self.served)
            self.in_vain = {**self.in_vain, key: found}
        return found

    def begin_anew(self) -> None:
        """Forget which calls were in vain: there is one more compilation."""
        self.in_vain = _NOTHING

    def calls(self) -> int:
        """How many calls there were."""
        return self.all_eager_calls + sum(variant.all_calls for variant in self.variants)

    @property
    def served(self) -> int:
        """Calls of compiled code, but for the first of each variant."""
        return sum(variant.all_calls - 1 for variant in self.variants)

    @property
    def all_eager_calls(self) -> int:
        """How many calls Python has run."""
        rest = self.rest
        rested = 0 if rest is None else rest.taken
        return self.eager_calls + rested + sum(turn.taken for turn in list(self.turns.values()))

    def end_rest(self) -> bool:
        """Let calls be looked at again; whether they were not."""
        rest, self.rest = self.rest, None
        if rest is not None:
            self.eager_calls += rest.taken
            self.next_rest = rest.next
        return rest is not None

    def end(self, turn: Turn) -> None:
        """Take a turn back."""
        if self.turns.get(turn.key) is turn:
            del self.turns[turn.key]
            if turn.was_long:
                self.long = {**self.long, turn.key: self.long.get(turn.key, 0) + 1}
            self.eager_calls += turn.taken
