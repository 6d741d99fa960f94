"""``fxc.compile`` and the object it gives."""

from __future__ import annotations

import functools
import logging
import math
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from fxc.ir.asynchronous import hand_on, raised_by_handler
from fxc.ir.errors import (
    MISSED,
    CaptureError,
    Flagged,
    FxcError,
    InternalError,
    Interrupted,
    OverlapError,
    PutOff,
    RunFailed,
    TooManyVariants,
    WouldRaise,
)
from fxc.ir.forking import compiling
from fxc.ir.location import Site

from . import trials, warned
from .compiling import captures_begun, new_variant, without_collections
from .decisions import LONGEST, MOST_REFUSALS, SHARE, Captures, InVain, Refused, kinds_of
from .leaves import AGAIN, refusal_at, site_of
from .report import CacheInfo, SplitStages, Stages, stages_of
from .state import Options, State
from .tracebacks import hide_fxc, met_in_capture, raised_again, unseen
from .trials import BY_LITTLE, HANDING_ON, LONG_DRIVER, Trial, clock, noted
from .turns import FOR_EVER, MORE, Handed, Key, Tried, Turn, key_of
from .variants import OFTEN, USUAL_RESTS, Variant, why_none_fits

if TYPE_CHECKING:
    from fxc.capture.refusals import Refusal
    from fxc.lowering.calling.native_call import Spent

    from .splits import Split
    from .stages import Backend

P = ParamSpec("P")
Q = ParamSpec("Q")
T = TypeVar("T")
R = TypeVar("R")

_log = logging.getLogger("fxc")
_BACKENDS = ("llvm", "numpy")
MOST_VARIANTS = 64
_MANY_HANDED = 6  # calls that are handed on from which on it pays that native code does it
_LONGER, _MOST_LOST = 8, 6  # times as many calls after each trial, so often, that is lost
_OF_USE = 4  # calls that a variant has to have served to be kept when no capture pays any more
_MOST_MISSES = 32  # calls for which a capture did not pay in a row, before none is tried again
_IN_ANY_CASE = 24  # captures for one combination of argument types with ``fullgraph=True``


class Compiled(Generic[P, R]):
    """A function that is captured and compiled when it is called; see ``fxc.compile``.

    >>> import numpy as np
    >>> @compile
    ... def area(width, height):
    ...     return width * height
    >>> area(np.array([1.0, 2.0]), 3.0)
    array([3., 6.])
    >>> print(area.inspect(np.array([1.0, 2.0]), 3.0).functional.nodes[0].op)
    multiply
    """

    # In slots, so that functools.wraps does not hand them on to the wrapper of a compiled function.
    __slots__ = ("__dict__", "__fxc_original__", "__weakref__", "_options", "_state")
    __fxc_original__: Callable[P, R]
    _most_variants = MOST_VARIANTS
    _is_part = False  # of a function that is split
    _spent: Spent | None = None  # what its calls have besides their arguments
    _in_any_case = 8  # captures for one combination of argument types

    def __init__(self, fn: Callable[P, R], options: Options) -> None:
        self.__name__: str = getattr(fn, "__name__", type(fn).__name__)
        functools.update_wrapper(self, fn)
        self.__fxc_original__ = fn
        self._options = options
        self._state = State()

    @unseen
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function; the result is NumPy's."""
        turns, result = self._state.turns, MISSED
        try:
            if turns:
                turn = turns.get(key_of(args, kwargs))
                if turn is not None and turn.is_over:
                    result = self._take_behind(turn, args, kwargs)
                elif turn is not None:
                    result = turn(*args, **kwargs)
            if result is MISSED:
                result = self._take(args, kwargs)
        except Exception as error:
            self._hide_fxc(error)
            raise
        return result  # type: ignore[no-any-return]

    @unseen
    def _take(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call by the variant that fits, or else see what to do."""
        try:
            for variant in self._state.variants:
                result = variant.call(args, kwargs)
                if result is not MISSED:
                    if variant.calls >= variant.often:
                        self._served_often(variant, args, kwargs)
                    return result
        except RunFailed as failure:
            cause = failure.__cause__
        else:
            cause = None
        if cause is None:
            return self._miss(args, kwargs)
        return self._failed(variant, cause, args, kwargs)

    def _hide_fxc(self, error: Exception) -> None:
        hide_fxc(error)

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Compiled[Concatenate[T, Q], R], owner: T, kind: type | None = None
    ) -> Callable[Q, R]: ...
    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """A method, where the function itself would be one."""
        fn = self.__fxc_original__
        get = getattr(type(fn), "__get__", None)
        if owner is None or get is None:
            return self
        is_plain = isinstance(fn, types.FunctionType)
        return (
            self if not is_plain and get(fn, owner, kind) is fn else types.MethodType(self, owner)
        )

    def __repr__(self) -> str:
        return f"<fxc.Compiled {getattr(self, '__qualname__', self.__fxc_original__)}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Found again by its name, like a function, or made again from a function that is."""
        name = str(getattr(self, "__qualname__", ""))
        found: Any = sys.modules.get(self.__module__)
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (Compiled, (self.__fxc_original__, self._options))

    def __copy__(self) -> Compiled[P, R]:
        return self

    def __deepcopy__(self, memo: object) -> Compiled[P, R]:
        return self

    # -- looking inside

    def inspect(self, *args: P.args, **kwargs: P.kwargs) -> Stages | SplitStages:
        """All stages of the compilation for these arguments; nothing is run or changed. Of a
        function that is split, those of its parts that have been called.

        Raises ``CaptureError`` if the call cannot be captured.
        """
        state = self._state
        variant = self._find(args, kwargs)
        if variant is None and state.split is not None:
            return SplitStages(
                state.split.driver.text,
                tuple(
                    stages_of(variant.compilation)
                    for part in state.split.compiled
                    for variant in part._state.variants
                ),
            )
        return stages_of((variant or self._compile(args, kwargs)).compilation)

    def cache_info(self) -> CacheInfo:
        """Counts of compilations and calls."""
        state, parts = self._state, list[Any]()
        if state.split is not None:
            from .parts import parts_of  # whose classes are made from this one

            parts = parts_of(state.split)
        fallbacks: Counter[str] = Counter()
        variants = [each for made in (self, *parts) for each in made._state.variants]
        for variant in variants:
            for name in variant.compilation.fallbacks:
                fallbacks[name] += variant.all_calls
        used = {name: count for name, count in fallbacks.items() if count}
        calls = sum(variant.all_calls for variant in state.variants)
        part_calls = sum(variant.all_calls for variant in variants) - calls
        eager = state.all_eager_calls
        return CacheInfo(len(variants), calls, eager, used, len(parts), part_calls)

    def cache_clear(self) -> None:
        """Forget all compilations and counts."""
        self._state = State()
        self._call_by(None)

    # -- calls

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variant | None:
        for variant in self._state.variants:
            if variant.captured.guards.check(args, kwargs) is not None:
                return variant
        return None

    def _found_or_compiled(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], longest: float
    ) -> Variant:
        handled = sys.exc_info()[1]
        shown = handled.__traceback__ if handled is not None else None
        with self._state.guard():
            try:
                found = self._find(args, kwargs)
                if found is None:
                    with compiling(), without_collections():
                        found = self._compile(args, kwargs, longest)
                return found
            except Exception as error:
                raised = raised_by_handler(error)
                if raised is None and error is handled:
                    raise raised_again(error, shown) from None
                if raised is None:
                    met_in_capture(error, handled)
                    raise
                raise Interrupted from raised

    def _served_often(
        self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        state, key = self._state, key_of(args, kwargs)
        calls = variant.all_calls + state.all_eager_calls
        if variant.is_tried or (state.lost[key] and calls >= variant.when_often()):
            self._make_native(variant)
        if not variant.is_tried:
            variant.try_later(OFTEN)  # unless the trial that begins is the end of it
            self._try(variant, key)

    @unseen
    def _try(self, variant: Variant, key: Key) -> None:
        """Find out whether the next calls take longer than in Python; see Note [Trials]."""
        from .native_calls import chain

        natives = [each.native for each in self._state.variants if each.native is not None]

        def take(*args: Any, **kwargs: Any) -> Any:
            return self._take(args, kwargs)

        def end(trial: Trial) -> None:
            if trial.pays:
                variant.settle(trial)
                self._end_turn(turn)
            else:
                variant.try_later(0)
                self._lost(turn, trial, self._until_native(variant))

        trial = Trial(longest=variant.longest_tried, saved=HANDING_ON)
        ours, original = chain((), natives, take), self.__fxc_original__
        turn = Tried(key, ours, original, trial, end, captures_begun)
        self._give_turn(turn)

    def _until_native(self, variant: Variant) -> int:
        """How many calls there are to come before native code for those of a variant pays."""
        calls = variant.all_calls + self._state.all_eager_calls
        more = variant.when_often() - calls
        return more if more > 0 and variant.native is None else FOR_EVER

    def _lost(self, turn: Tried, trial: Trial, most: int = FOR_EVER) -> None:
        """Leave calls to Python for which it has won a trial, so many at most."""
        state = self._state
        _log.info("%s: takes longer than as plain NumPy, and runs so", self.__name__)
        calls = OFTEN if trial.is_lost else BY_LITTLE
        calls *= _LONGER ** min(state.lost[turn.key], _MOST_LOST)
        if turn.is_driver:
            seconds = self._capture_seconds / (SHARE if trial.is_lost else 1.0)
            calls = max(calls, int(seconds / max(trial.python, 1e-7)))
        state.lost[turn.key] += 1
        self._end_turn(turn)
        left = Handed(self.__fxc_original__, turn.key, min(calls, most), trial.python)
        self._give_turn(left)

    @property
    def _capture_seconds(self) -> float:
        """How long captures of the function and of its parts have taken."""
        split = self._state.split
        parts: Iterable[Any] = () if split is None else split.parts.values()
        made: list[Captures] = []
        for each in (self, *parts):
            made += each._state.captures.values()
        return sum(captures.seconds for captures in made)

    # -- turns, see Note [Turns]

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
        state.paying.clear()
        state.losing.clear()
        if state.turns:
            for turn in list(state.turns.values()):
                state.end(turn)
            self._arrange()

    def _arrange(self) -> None:
        """Let native code have the calls that it can take, in the order of ``__call__``."""
        state = self._state
        turns = list(state.turns.values())
        natives = [each.native for each in state.variants if each.native is not None]
        handed = [turn for turn in turns if isinstance(turn, Handed)]
        pays = natives or any(turn.cells[MORE] >= _MANY_HANDED for turn in handed)
        if len(handed) < len(turns) or not pays:
            self._call_by(None)
            return
        from .native_calls import chain

        last, most = self._last_way
        lock, made = state.guard(), last
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
        return types.MethodType(Compiled.__call__, self), FOR_EVER

    def _leave(self, args: tuple[Any, ...], kwargs: dict[str, Any], is_final: bool) -> int:
        """Let Python take calls like this one that come now: all, if that is ``final``, or else
        some. Returns how many.
        """
        state, key = self._state, key_of(args, kwargs)
        run = self._runner()
        if self._options.fullgraph or (self._is_part and not is_final):
            return 0
        if self._is_driver_tried(key, run):
            return 0
        if is_final and key in state.paying:
            state.paying.remove(key)  # the next trial
            calls = OFTEN
        elif is_final:
            calls = FOR_EVER
        else:
            served = state.served
            calls = state.in_vain.setdefault(key, InVain(served)).rest(served)
        if calls:
            self._give_turn(Handed(run, key, calls))
        return calls

    def _is_driver_tried(self, key: Key, run: Callable[..., Any], rests: bool = False) -> bool:
        """Whether calls are by the driver until it is known whether it pays; where a variant
        ``rests``, it will be called again soon.
        """
        state, split = self._state, self._state.split
        is_known = self._is_part or key in state.paying or not trials.ENABLED
        if split is None or run is self.__fxc_original__ or is_known or split.is_entered_again:
            return False
        if not split.is_waiting:
            self._try_driver(key, run, split, rests)
        return True

    def _try_driver(self, key: Key, run: Callable[..., Any], split: Split, rests: bool) -> None:
        """Find out whether the function is faster as it is than split."""

        def end(trial: Trial) -> None:
            if trial.pays:
                self._state.paying.add(key)
            elif rests:
                self._state.losing.add(key)
            if trial.pays or rests or split.is_waiting:
                self._end_turn(turn)
            else:
                self._lost(turn, trial)

        trial = Trial(longest=LONG_DRIVER, saved=HANDING_ON)
        turn = Tried(
            key, run, self.__fxc_original__, trial, end, lambda: captures_begun() + noted(), True
        )
        self._give_turn(turn)

    def _make_native(self, variant: Variant) -> None:
        """Let native code take the calls of a variant from the next one on, where it can.

        See Note [Native calls].
        """
        with self._state.guard(), compiling():
            self._make_native_call(variant)

    def _make_native_call(self, variant: Variant) -> None:
        from fxc.lowering.calling.native_guards import Untranslated

        from .native_calls import native_call

        state = self._state
        with state.guard():
            if variant.often == math.inf or variant.native is not None:  # it is there already
                return
            if variant.watch is not None and variant.watch.copies:
                variant.often = variant.calls + 1
                return
            variant.often = math.inf
            try:
                made = variant.compilation
                if variant.watch is not None:
                    made = replace(made, run=variant.watch.run)
                variant.native = native_call(variant.captured, made, variant, self._spent)
            except Untranslated as reason:
                _log.debug("%s: its calls stay Python: %s", self.__name__, reason)
                return
            except Exception as error:
                hand_on(error)
                self._warn(f": a bug in fxc, please report it: no native calls: {error!r}")
                return
            self._arrange()
        if self._state is not state:  # cleared meanwhile
            self._call_by(None)

    def _call_by(self, builtin: Any) -> None:
        """Become of a class whose ``__call__`` is a builtin, or of the usual one again."""
        kind: Any = type(self)
        if isinstance(kind.__call__, types.BuiltinFunctionType):
            kind = kind.__base__
        if kind.__call__ is not Compiled.__call__:  # a subclass with calls of its own
            return
        if builtin is not None:
            members = {"__slots__": (), "__module__": kind.__module__, "__doc__": kind.__doc__}
            kind = type(kind)(kind.__name__, (kind,), {**members, "__call__": builtin})
        self.__class__ = kind

    @unseen
    def _failed(
        self,
        variant: Variant,
        error: BaseException | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Nothing that the caller sees has changed: NumPy takes the call, or more careful code."""
        assert isinstance(error, Exception)
        if isinstance(error, Flagged) and self._made_careful(variant):
            return self._take(args, kwargs)
        site = None if isinstance(error, Flagged) else site_of(variant.compilation, error)
        if site is not None and self._is_cut(variant, site, args, kwargs):
            variant.replays = USUAL_RESTS
            self._rest(variant, args, kwargs)
            return self._by_python(self._runner(), args, kwargs)
        self._rest(variant, args, kwargs)
        if isinstance(error, Flagged):
            return self._eager(args, kwargs, "there may be floating-point warnings")
        if variant.captured.need_not_raise or (isinstance(error, WouldRaise) and error.args):
            why = "native code has stopped where Python or NumPy goes on, or raises"
            why = why if type(error) is WouldRaise else repr(error)
            result = self._eager(args, kwargs, why)
        else:
            result = self._eager_after(error, args, kwargs)
        if site is not None:
            self._went_on(site)
        return result

    def _went_on(self, site: Site) -> None:
        """Note that Python has raised nothing where native code has left a call."""
        self._state.leaves.went_on.add(site)

    def _is_cut(
        self, variant: Variant, site: Site, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        """Whether the function is split where native code has left a call; now, if it has left
        others. See Note [Leaves].
        """
        state, leaves = self._state, self._state.leaves
        again = variant.is_near(state.served) and variant.replays >= AGAIN - 1
        if again and not self._options.fullgraph and leaves.calls_for_cut(site):
            leaves.tried.add(site)
            captures = self._captures(variant.key)
            if self._pays(captures, variant.key):
                with captures.one_more(), state.guard(), compiling(), without_collections():
                    refusal = refusal_at(site, variant, self.__fxc_original__, args, kwargs)
                if refusal is not None:
                    _log.info("%s: %s at %s is left to Python", self.__name__, site.op, site.loc)
                    self._cut_left(refusal)
                    leaves.cut.add(site)
        return site in leaves.cut and self._runner() is not self.__fxc_original__

    def _cut_left(self, refusal: Refusal) -> None:
        split = self._splitting()
        if split is not None:
            split.left(refusal, split.plan.body)

    def _made_careful(self, variant: Variant) -> bool:
        """Whether there is other code now, without what may have set flags that NumPy would not.

        See Note [Floating-point flags].
        """
        made, state = variant.compilation, self._state
        if made.assembled is None or not made.assembled.module.may_be_careful:
            return False
        with state.guard(), compiling():
            place = next((n for n, each in enumerate(state.variants) if each is variant), None)
            if place is None or made.decomposed is None:
                return False
            from .assemble import assemble

            found = assemble(made.decomposed, variant.captured.drawn, careful=True)
            made = replace(made, assembled=found, run=found.plan.run, relations=())
            self._only_python(variant)
            careful = Variant(variant.captured, made, variant.key, True, calls=variant.calls)
            self._watch(careful)
            state.variants[place] = careful
        return True

    def _watch(self, variant: Variant) -> None:
        if variant.watch is not None:
            variant.watch.changed = functools.partial(self._only_python, variant)
            variant.watch.names = getattr(self.__fxc_original__, "__globals__", {})

    def _rest(self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let some calls that come now be plain NumPy, if such calls had to be replayed before."""
        if variant.watch is not None:
            variant.watch.renew()
        rest, key = variant.rest(self._state.served), key_of(args, kwargs)
        run = self.__fxc_original__ if key in self._state.losing else self._runner()
        if rest and not self._options.fullgraph and not self._is_driver_tried(key, run, True):
            self._give_turn(Handed(run, key, rest))

    def _only_python(self, variant: Variant) -> None:
        """Take native calls back, for some time."""
        if variant.forget_native():
            self._arrange()

    @unseen
    def _eager(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], why: Exception | str | None = None
    ) -> Any:
        """Run the function as it is; the log says why, if that is not to be a warning."""
        if why is not None:
            _log.info("%s: runs as plain NumPy: %s", self.__name__, why)
        self._state.eager_calls += 1
        with self._timed(args, kwargs):
            return self.__fxc_original__(*args, **kwargs)

    @unseen
    def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        state = self._state
        key = kinds_of(args, kwargs)
        if not self._options.fullgraph:
            refused = state.refused.get(key)
            if refused is not None and refused.holds(args, kwargs):
                return self._instead(refused, args, kwargs)
            for overlap in state.overlaps:
                if overlap.check(args, kwargs) is not None:
                    self._leave(args, kwargs, False)
                    return self._eager(args, kwargs, overlap)
        if any(each.check(args, kwargs) is not None for each in state.raised):
            self._leave(args, kwargs, False)
            return self._eager(args, kwargs)
        captures = self._captures(key)
        pays = self._pays(captures, key)
        if pays and captures.left > 0:  # before a look at all values
            return self._meanwhile(captures, args, kwargs)
        if not pays or self._varies(key, args, kwargs):
            return self._without_capture(captures, key, args, kwargs)
        at_once = self._options.fullgraph or captures.dear or not trials.ENABLED
        otherwise: Callable[[tuple[Any, ...], dict[str, Any]], Any]
        try:
            with captures.one_more():
                variant = self._found_or_compiled(args, kwargs, math.inf if at_once else LONGEST)
        except Interrupted as interrupt:
            raise interrupt.__cause__ or interrupt from None
        except PutOff:
            otherwise = functools.partial(self._meanwhile, captures)
        except FxcError as error:
            if self._options.fullgraph:
                raise
            error.__traceback__ = None  # it holds the arguments
            otherwise = self._refused(error, key, args, kwargs)
        except Exception as error:  # the program's own error, or NumPy's: let NumPy raise it
            otherwise = self._raised(error)
        else:
            try:
                result = variant.call(args, kwargs)
            except RunFailed as failure:
                cause = failure.__cause__
            else:
                if result is not MISSED:
                    return result
                why = variant.captured.guards.why(args, kwargs)
                cause = InternalError(f"the guards of a new compilation do not hold: {why}")
                if self._options.fullgraph:
                    raise cause
            return self._failed(variant, cause, args, kwargs)
        return otherwise(args, kwargs)  # where nothing is being handled

    def _captures(self, key: object) -> Captures:
        """What is known of captures of calls of one kind."""
        waits = trials.ENABLED and not self._options.fullgraph
        return self._state.captures.setdefault(key, Captures(waits=waits))

    def _pays(self, captures: Captures, key: object) -> bool:
        if self._options.fullgraph:
            return captures.count < _IN_ANY_CASE
        alike = [variant for variant in self._state.variants if variant.key == key]
        return captures.count < self._in_any_case or captures.pay(alike)

    @unseen
    def _without_capture(
        self, captures: Captures, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a call that is not worth a capture."""
        state = self._state
        if self._options.fullgraph:
            raise self._too_many(captures.count, args, kwargs)
        alike = [each for each in state.variants if each.key == key]
        if not captures.misses:
            self._cut_varied(self._other_values(alike, args, kwargs))
        captures.misses += 1
        if captures.misses >= _MOST_MISSES:
            known = state.refused.setdefault(key, Refused())
            known.add(None)
            if state.variants:
                self._give_up(self._too_many(captures.count, args, kwargs))
                dropped = [each for each in alike if each.all_calls < _OF_USE]
                state.variants = [each for each in state.variants if each not in dropped]
        captures.misses += self._leave(args, kwargs, False)
        _log.info("%s: runs as plain NumPy: no more captures of such calls pay", self.__name__)
        return self._by_python(self._runner(), args, kwargs)

    @unseen
    def _meanwhile(self, captures: Captures, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call of a function whose compilation is put off, and note how long it takes."""
        run = self._runner()
        before, handed = clock(), self._leave(args, kwargs, False)
        try:
            return self._by_python(run, args, kwargs)
        finally:
            captures.left -= (clock() - before) * (1 + handed)

    def _too_many(
        self, count: int, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> TooManyVariants:
        why = why_none_fits(self._state.variants, args, kwargs)
        return TooManyVariants(
            f"{self.__name__} has been compiled {count} times and is not compiled again: "
            f"{why}; pass what differs as an argument, or use dynamic=True"
        )

    def _refused(
        self, error: FxcError, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        """What to do where a call cannot be compiled."""
        state = self._state
        if isinstance(error, OverlapError):
            state.overlaps.append(error)
            return functools.partial(self._eager, why=error)
        known = state.refused.setdefault(key, Refused())
        if isinstance(error, TooManyVariants):
            known.add(None)
            self._cut_varied(self._other_values(state.variants, args, kwargs))
            self._give_up(error)
        elif isinstance(error, CaptureError):
            known.add(error.refusal)
            self._split(error)
        else:
            known.add(None)
            self._warn_eager(f"a bug in fxc, please report it: {error}", error)
        return functools.partial(self._instead, known)

    def _raised(self, error: Exception) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        """What to do where the program raises an exception while it is captured."""
        guards = vars(error).pop("__fxc_guards__", None)
        if guards is not None:
            self._state.raised[MOST_REFUSALS - 1 :] = []
            self._state.raised.insert(0, guards)
        error.__traceback__ = None
        return functools.partial(self._eager_after, error)

    @unseen
    def _eager_after(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as plain NumPy what raised in fxc; it should raise the same."""
        _log.info("%s: runs as plain NumPy: %r", self.__name__, error)
        result = self._eager(args, kwargs)
        if not getattr(error, "__fxc_need_not_raise__", False):
            if self._options.fullgraph:
                raise InternalError(f"{self.__name__} failed where NumPy did not") from error
            self._warn(f": fxc failed where NumPy did not: {error!r}; please report it")
        return result

    # -- functions that are split, see Note [Splitting]

    def _split(self, error: CaptureError) -> None:
        """Cut the function where its capture was refused, and say so."""
        split = self._splitting()
        if split is None:
            self._warn_eager(str(error), error)
        elif split.refused(error, split.plan.body):
            self._warn_split(split, error)

    def _give_up(self, error: TooManyVariants) -> None:
        """Leave calls that no compilation fits to Python."""
        if self._state.split is None:
            self._warn_eager(str(error), error)
        else:
            self._warn_split(self._state.split, error)

    def _other_values(
        self, variants: Iterable[Variant], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> set[str]:
        """What has other values than in each of the variants."""
        found = [each.captured.guards.other_values(args, kwargs) for each in variants]
        return set.intersection(*found) if found else set()

    def _varies(self, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether it is known, or likely, that something has another value in each call."""
        captures = self._state.captures[key]
        if self._options.fullgraph or not captures.are_dear:
            return False
        alike = [each for each in self._state.variants if each.key == key]
        return not captures.pay(alike) and bool(self._other_values(alike, args, kwargs))

    def _cut_varied(self, names: Iterable[str]) -> None:
        """Let Python work with values of which captures make constants, and which vary."""
        split = self._splitting()
        if split is not None:
            split.varied(names, split.plan.body)

    def _splitting(self) -> Split | None:
        """The splitting of the function; None if it has no source."""
        state, function = self._state, self.__fxc_original__
        function = getattr(function, "__func__", function)
        if state.split is None and isinstance(function, types.FunctionType):
            from .parts import split_of  # whose classes are made from this one

            state.split = split_of(function, replace(self._options, fullgraph=False), self)
            if state.split is not None:
                state.split.on_change.append(self._end_turns)
        return state.split

    def leaves_parts(self, refusal: Refusal) -> bool:
        """Cut where the function was refused as a part of another one; whether anything is left."""
        split = self._splitting()
        return split is not None and split.leaves_parts(refusal)

    @unseen
    def _instead(self, refused: Refused, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function in Python, and what is left of it compiled."""
        run = self._runner()
        self._leave(args, kwargs, refused.by_types and not self._state.variants)
        return self._by_python(run, args, kwargs)

    @unseen
    def _by_python(
        self, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function, or its driver; what there is to warn of comes when it has ended."""
        self._state.eager_calls += 1
        is_outermost = warned.keep()
        try:
            with self._timed(args, kwargs):
                return run(*args, **kwargs)
        finally:
            if is_outermost:
                warned.give()

    def _timed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AbstractContextManager[None]:
        """Around a call in Python, which may be one in vain."""
        known = self._state.in_vain
        found = known.get(key_of(args, kwargs)) if known else None
        return nullcontext() if found is None else found.timed()

    def _runner(self) -> Callable[..., Any]:
        """What to call instead of the function."""
        original, split = self.__fxc_original__, self._state.split
        if split is None or not (split.driver.parts or split.cuts.calling):
            return original
        made: Callable[..., Any] = split.driver.function
        return _bound_as(original, made)

    def _warn_split(self, split: Split, error: CaptureError) -> None:
        """Say which statement was refused, and how much of the function is compiled."""
        if not split.driver.parts:
            self._warn_eager(str(error), error)
            return
        compiled, count = split.in_parts
        text = "\n".join([str(error), *getattr(error, "__notes__", ())])
        self._warn(f": {count - compiled} of {count} statements run as plain NumPy: {text}")

    def _warn_eager(self, reason: str, error: Exception) -> None:
        text = "\n".join([reason, *getattr(error, "__notes__", ())])
        self._warn(f" runs as plain NumPy: {text}")

    def _warn(self, text: str) -> None:
        """Warn, once for each text, which follows the name of the function."""
        if text not in self._state.warned:
            self._state.warned.add(text)
            warned.warn(self.__name__ + text)

    def _compile(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], longest: float = math.inf
    ) -> Variant:
        state = self._state
        if len(state.variants) >= self._most_variants:
            raise self._too_many(len(state.variants), args, kwargs)
        function, options = self.__fxc_original__, self._options
        is_tried = options.fullgraph or self._is_part
        variant = new_variant(function, options, state, args, kwargs, is_tried, longest)
        self._watch(variant)
        state.variants.append(variant)
        state.in_vain.clear()
        self._end_turns()
        return variant


def _bound_as(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, as a method if the original is one."""
    bound = isinstance(original, types.MethodType)
    return types.MethodType(function, original.__self__) if bound else function


@overload
def compile(fn: Callable[P, R], /) -> Compiled[P, R]: ...
@overload
def compile(
    fn: None = None,
    /,
    *,
    fullgraph: bool = False,
    backend: str | Backend = "llvm",
    dynamic: bool | None = None,
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
@overload
def compile(
    fn: Callable[P, R],
    /,
    *,
    fullgraph: bool = False,
    backend: str | Backend = "llvm",
    dynamic: bool | None = None,
) -> Compiled[P, R]: ...
def compile(
    fn: Callable[P, R] | None = None,
    /,
    *,
    fullgraph: bool = False,
    backend: str | Backend = "llvm",
    dynamic: bool | None = None,
) -> Any:
    """Compile a NumPy function: same results, same writes, same aliases, same exceptions.

    The function is captured at its first call for each combination of argument types, turned into
    one pure graph, and compiled to native code. What cannot be captured runs as plain NumPy, with
    one ``CaptureWarning``.

    ``fullgraph``: raise ``CaptureError`` instead of running as plain NumPy.
    ``backend``: "llvm" (native code), "numpy" (the graph, operator by operator), or a callable
    that is given the functional graph, a BackendIndex and the types of the inputs, and returns a
    function from the inputs to the graph's results.
    ``dynamic``: make the sizes of arrays symbols, so that one compilation serves all sizes: True
    for all arrays at once, False for none; by default an array's when they have changed.

    >>> import numpy as np
    >>> @compile
    ... def relax(u):
    ...     u[1:-1] = 0.5 * (u[:-2] + u[2:])
    ...     return u.max()
    >>> u = np.array([0.0, 8.0, 4.0, 0.0])
    >>> relax(u), u
    (np.float64(4.0), array([0., 2., 4., 0.]))
    >>> relax.cache_info().eager_calls
    0
    """
    options = Options(fullgraph, backend, dynamic)
    if fn is None:
        return lambda function: Compiled(function, options)
    for kind in (staticmethod, classmethod):
        if isinstance(fn, kind):
            raise TypeError(f"put @{kind.__name__} above @fxc.compile, not below it")
    if not callable(fn):
        raise TypeError(f"fxc.compile takes a function, not a {type(fn).__name__}")
    return Compiled(fn, options)
