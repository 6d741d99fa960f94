"""Calls that are taken before any variant is looked at, and what decides that.

See Note [Turns], Note [Trials] and Note [Native calls].
"""

from __future__ import annotations

import math
import types
from _thread import get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fxc.compilations import trials
from fxc.compilations.decisions import SHARE, captures_left, note_waste, seconds_awaited, types_of
from fxc.compilations.trials import (
    BY_LITTLE,
    HANDING_ON,
    LONG_DRIVER,
    Trial,
    threads_of_python,
)
from fxc.compilations.turns import FOR_EVER, MORE, Handed, Key, Tried, Turn, Ways, key_of
from fxc.compilations.variants import OFTEN, Variant
from fxc.ir.asynchronous import hand_on
from fxc.ir.errors import MISSED, PLEASE_REPORT
from fxc.ir.forking import compiling
from fxc.ir.logs import PERF
from fxc.ir.settings import config
from fxc.ir.tracebacks import unseen

from .compiling import captures_begun
from .running import P, R, Resting

if TYPE_CHECKING:
    from fxc.compilations.native_calls import NativeCall
    from fxc.lowering.calling.guarded_function import Spent
    from fxc.split.splits import Split


_MANY_HANDED = 6  # calls that are handed on from which on it pays that native code does it
_LONGER, _MOST_LOST = 8, 6  # times as many calls after each trial, so often, that is lost


class TakingTurns(Resting[P, R]):
    """A function whose calls are taken by turns, by native code, or else looked at: ``_take``."""

    __slots__ = ()
    _spent: Spent | None = None  # what its calls have besides their arguments

    @unseen
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function; the result is NumPy's."""
        turns, result = self._state.turns, MISSED
        try:
            if threads_of_python and get_ident() in threads_of_python:
                result = self.__fxc_original__(*args, **kwargs)
            elif (rest := self._state.rest) is not None:
                result = self._at_rest(rest, args, kwargs)
            elif turns:
                turn = turns.get(key_of(args, kwargs))
                if turn is not None and turn.is_over:
                    result = self._take_behind(turn, args, kwargs)
                elif turn is not None:
                    result = turn(*args, **kwargs)
            if result is MISSED:
                result = self._take(args, kwargs)
        except BaseException as error:  # an interrupt, too
            self._hide_fxc(error)
            raise
        return result  # type: ignore[no-any-return]

    def _served_often(
        self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        state, key, timed = self._state, key_of(args, kwargs), variant.timed
        if timed is not None and timed.asks:
            from .hot_sizes import answer

            answer(self, timed, args, kwargs)
            return
        if timed is None and variant.may_have_hot_sizes and self._options.dynamic is None:
            from fxc.compilations.hot_sizes import HotSizes

            variant.timed = HotSizes(variant)
        calls = variant.all_calls + state.all_eager_calls
        if variant.look() or (state.lost.get(key) and calls >= variant.when_often()):
            self._make_native(variant)
        if not variant.is_tried and (
            variant.native is not None or variant.calls >= variant.first_calls
        ):
            variant.try_later(OFTEN)  # unless the trial that begins is the end of it
            self._try(variant, key)

    @unseen
    def _try(self, variant: Variant, key: Key) -> None:
        """Find out whether the next calls take longer than in Python; see Note [Trials]."""
        from fxc.compilations.native_calls import chain

        natives = [each.native for each in self._state.variants if each.native is not None]

        def take(*args: object, **kwargs: object) -> Any:
            return self._take(args, kwargs)

        def end(trial: Trial) -> None:
            if self._state.turns.get(key) is not turn:
                return
            if trial.pays:
                variant.settle(trial)
                self._end_turn(turn)
            else:
                for each in self._state.variants:
                    if not each.is_tried:  # native code of any would take the calls after those
                        each.try_later(0)
                if key not in self._state.lost:
                    note_waste(sum(variant.seconds))
                self._lost(turn, trial, self._until_native(variant))

        def work() -> tuple[int, int]:
            copies = 0 if variant.watch is None else variant.watch.copies_left
            return captures_begun(), self._state.eager_calls - copies  # what no variant fits

        trial = Trial(longest=variant.longest_tried, saved=HANDING_ON)
        ways = Ways(chain((), natives, take), self.__fxc_original__, work)
        turn = Tried(key, ways, trial, self._state.pace(key), end, self._arrange)
        self._give_turn(turn)

    def _until_native(self, variant: Variant) -> int:
        """How many calls there are to come before native code for those of a variant pays."""
        calls = variant.all_calls + self._state.all_eager_calls
        more = variant.when_often() - calls
        return more if more > 0 and variant.native is None else FOR_EVER

    def _lost(self, turn: Tried, trial: Trial, most: int = FOR_EVER) -> None:
        """Leave calls to Python for which it has won a trial, so many at most."""
        state = self._state
        PERF.info("%s: takes longer than as plain NumPy, and runs so", self.__name__)
        calls = OFTEN if trial.is_lost else BY_LITTLE
        lost = state.lost.get(turn.key, 0)
        calls *= _LONGER ** min(lost, _MOST_LOST)
        if turn.ways.is_driver:
            calls = self._calls_lost(trial, calls)
        state.lost = {**state.lost, turn.key: lost + 1}
        self._end_turn(turn)
        # Most calls of a recursion are short; that the others are not is news a few times.
        seconds = trial.python * _LONGER ** min(state.long.get(turn.key, 0), _MOST_LOST)
        left = Handed(self.__fxc_original__, turn.key, min(calls, most), seconds)
        self._give_turn(left)
        if self._rests():
            self._give_rest(trial.python)

    @property
    def _whole_split(self) -> Split | None:
        """How the function is split that this is, or is a part of."""
        return self._state.split

    def _calls_lost(self, trial: Trial, least: int) -> int:
        """How many calls of a driver that has lost a trial Python is to take."""
        split, state = self._state.split, self._state
        captures = [] if split is None else split.captures
        if split is not None and (left := captures_left(split)):
            least, seconds = 1, max(each.left for each in left)
            for each in left:
                each.left = 0.0  # when Python has taken these calls
        else:
            taken = sum(each.seconds for each in (*state.captures.values(), *captures))
            seconds = taken / (SHARE if trial.is_lost else 1.0)
        return max(least, int(seconds * trial.python_calls / max(trial.python_seconds, 1e-7)))

    def _is_driver_tried(self, key: Key, run: Callable[..., Any], rests: bool = False) -> bool:
        """Whether calls are by the driver until it is known whether it pays; where a variant
        ``rests``, it will be called again soon.
        """
        state, split = self._state, self._state.split
        is_known = self._is_part or key in state.paying or not trials.are_held()
        if split is None or run is self.__fxc_original__ or is_known or split.is_entered_again:
            return False
        self._try_driver(key, run, split, rests)
        return True

    def _try_driver(self, key: Key, run: Callable[..., Any], split: Split, rests: bool) -> None:
        """Find out whether the function is faster as it is than split."""

        def end(trial: Trial) -> None:
            state, may_pay = self._state, trial.pays or not trial.is_lost
            if state.turns.get(key) is not turn:
                return
            split.is_tried = False
            if may_pay and split.without_given_up():
                return
            if trial.compiled > trial.longest and split.is_measured:
                self._end_turn(turn)
                self._try_driver(key, run, split, rests)
                return
            if trial.pays and not rests and not trial.is_won and key not in state.won:
                state.won |= {key}
                self._end_turn(turn)
                self._give_turn(Handed(run, key, BY_LITTLE))
                return
            if trial.pays:
                state.paying |= {key}
            elif rests:
                state.losing |= {key}
            if trial.pays or rests:
                self._end_turn(turn)
            else:
                self._lost(turn, trial)

        longest = math.inf if split.is_measured else LONG_DRIVER
        trial = Trial(longest=longest, saved=HANDING_ON)
        function, left = self.__fxc_original__, lambda: seconds_awaited(split)
        ways = Ways(run, function, lambda: (captures_begun(), 0), True, left)
        turn = Tried(key, ways, trial, self._state.pace(key), end, self._arrange)
        split.is_tried = True
        self._give_turn(turn)

    def _give_turn(self, turn: Turn) -> None:
        before = self._state.turns.get(turn.key)
        if isinstance(before, Handed) and isinstance(turn, Handed) and before.run == turn.run:
            before.go_on(turn)
            if isinstance(type(self).__call__, types.BuiltinFunctionType):
                return  # it is in the chain already
        elif before is not None:
            self._state.end(before)
        self._state.turns.setdefault(turn.key, turn)
        self._arrange()

    @unseen
    def _take_behind(self, turn: Turn, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call behind those of a turn, which ends unless it is to take some more."""
        try:
            return self._take(args, kwargs)
        finally:
            if turn.is_over:
                self._end_turn(turn)

    def _end_turn(self, turn: Turn) -> None:
        self._state.end(turn)
        self._arrange()

    def _end_turns(self) -> None:
        """Look at all calls anew."""
        state = self._state
        state.forget_trials()
        if state.split is not None:
            state.split.is_tried = False
        if state.end_rest() or state.turns:
            for turn in list(state.turns.values()):
                state.end(turn)
            self._arrange()

    def _leave(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], is_final: bool, left: float = 0.0
    ) -> int:
        """Let Python take calls like this one that come now: all, if that is ``final``, or else
        some, if seconds are ``left`` no more than take these. Returns how many.
        """
        state, key = self._state, key_of(args, kwargs)
        run = self._runner()
        if self._options.fullgraph:
            return 0
        is_beaten = run is self.__fxc_original__ or (state.lost and not state.paying)
        if is_beaten and self._rests():
            return self._give_rest(state.wasted(key).seconds)
        known = state.wasted(key)
        calls = 0 if is_final else known.rest(state.served)
        would_take_others = not calls and any(types_of(x.key) == key for x in state.variants)
        if would_take_others or self._is_driver_tried(key, run):
            return 0
        if is_final:
            calls = OFTEN if key in state.paying else FOR_EVER
            state.paying -= {key}  # the next trial
        elif 0 < left < known.seconds * calls:
            calls = int(left / known.seconds)
        if calls:
            self._give_turn(Handed(run, key, calls))
        return calls

    def _arrange(self) -> None:
        """Let native code have the calls that it can take, in the order of ``__call__``."""
        state = self._state
        if state.rest is not None:
            from fxc.compilations.native_calls import resting

            self._call_by(resting(state.rest, self._last_way[0]))
            return
        turns = list(state.turns.values())
        natives = [each.native for each in state.variants if each.native is not None]
        handed = [turn.between for turn in turns if turn.between is not None]
        pays = natives or any(turn is not turn.between for turn in turns)
        pays = pays or any(turn.cells[MORE] >= _MANY_HANDED for turn in handed)
        if len(handed) < len(turns) or not pays:
            self._call_by(None)
            return
        from fxc.compilations.native_calls import chain

        last, most = self._last_way
        lock, made = state.guard(), None
        if lock.acquire(blocking=False):  # else another thread compiles: no call waits for that
            try:
                with compiling():
                    made = chain(handed, natives, last, most)
            finally:
                lock.release()
        self._call_by(None if made is last else made)
        if self._state is not state:  # cleared meanwhile
            self._call_by(None)

    @property
    def _last_way(self) -> tuple[Callable[..., Any], int]:
        """What takes calls that native code does not, and how many arguments count for the code
        that hands calls on.
        """
        return types.MethodType(TakingTurns.__call__, self), FOR_EVER

    def _make_native(self, variant: Variant) -> None:
        """Let native code take the calls of a variant from the next one on, where it can.

        See Note [Native calls].
        """
        with self._state.guard(), compiling():
            self._make_native_call(variant)

    def _make_native_call(self, variant: Variant) -> None:
        from fxc.lowering.calling.guard_things import Untranslated

        state = self._state
        with state.guard():
            if variant.often == math.inf or variant.native is not None:  # it is there already
                return
            if variant.is_verified:
                variant.often = math.inf
                return
            if variant.watch is not None and variant.watch.copies:
                variant.often = variant.calls + 1
                return
            variant.often = math.inf
            try:
                variant.native = self._native_call(variant)
            except Exception as error:
                hand_on(error)
                variant.stays_python = True
                variant.look()  # it may still be tried
                if isinstance(error, Untranslated):
                    PERF.debug("%s: its calls stay Python: %s", self.__name__, error)
                else:
                    text = f": a bug in fxc, {PLEASE_REPORT}: no native calls: {error!r}"
                    self._warn_of_bug(text, error)
                return
            if variant.timed is not None:
                variant.timed.tell_native()
            self._arrange()
        if self._state is not state:  # cleared meanwhile
            self._call_by(None)

    def _native_call(self, variant: Variant) -> NativeCall:
        """The native function for calls of a variant: an earlier process may have made it."""
        from fxc.compilations.behind import behind_of

        function: Any = self.__fxc_original__
        behind = behind_of(variant)
        if variant.kept:
            from fxc.cache.natives import keep_native_call, restored_native_call

            found = restored_native_call(variant, behind, function, self._spent)
            if found is not None:
                return found
        from fxc.compilations.native_texts import native_call

        native = native_call(variant, behind, self._spent)
        if variant.kept:
            keep_native_call(native, variant, behind, function, self._spent)
        return native

    def _call_by(self, builtin: types.BuiltinFunctionType | None) -> None:
        """Become of a class whose ``__call__`` is a builtin, or of the usual one again."""
        kind: Any = type(self)
        if isinstance(kind.__call__, types.BuiltinFunctionType):
            kind = kind.__base__
        if kind.__call__ is not TakingTurns.__call__:  # a subclass with calls of its own
            return
        if builtin is not None:
            from fxc.compilations.native_calls import class_for

            kind = class_for(self, kind, builtin, self._is_method)
        self.__class__ = kind

    def _watch(self, variant: Variant) -> None:
        if variant.watch is not None:
            variant.watch.changed = self._only_python
            variant.watch.names = getattr(self.__fxc_original__, "__globals__", {})
        if config.verify:
            from fxc.verifying.calls import beside_numpy

            beside_numpy(variant, self.__fxc_original__, self._options)

    def _only_python(self, variant: Variant) -> None:
        """Take native calls back, for some time."""
        if variant.forget_native():
            self._arrange()
