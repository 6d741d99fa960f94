"""Calls by compiled code, and what is done where no variant fits or one fails."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from fxc.compilations.decisions import MOST_REFUSALS, WITHOUT_LIMITS, Captures, Limits, kinds_of
from fxc.compilations.leaves import AGAIN, composites_leave, refusal_at, site_of
from fxc.compilations.state import State
from fxc.compilations.trials import clock
from fxc.compilations.turns import Handed, key_of
from fxc.compilations.variants import USUAL_RESTS, Variant, why_none_fits
from fxc.ir.asynchronous import raised_by_handler
from fxc.ir.errors import (
    MISSED,
    PLEASE_REPORT,
    CaptureError,
    ExtensionError,
    Flagged,
    FxcError,
    InternalError,
    Interrupted,
    NumberedError,
    OverlapError,
    PutOff,
    RunFailed,
    TooManyVariants,
    WouldRaise,
)
from fxc.ir.forking import compiling
from fxc.ir.location import Site
from fxc.ir.logs import PERF, SPLITS
from fxc.ir.tracebacks import met_in_capture, raised_again, shown, unseen

from .compiling import Worth, new_variant
from .remembering import Remembering
from .running import P, R

MOST_VARIANTS = 64
_OF_USE = 4  # calls that a variant has to have served to be kept when no capture pays any more
_MOST_MISSES = 32  # calls for which a capture did not pay in a row, before none is tried again
_IN_ANY_CASE = 24  # captures for one combination of argument types with ``fullgraph=True``


class Serving(Remembering[P, R]):
    """A function that is captured and compiled for the calls that no variant fits."""

    __slots__ = ()
    _most_variants = MOST_VARIANTS
    _in_any_case = 8  # captures for one combination of argument types

    def cache_clear(self) -> None:
        """Forget all compilations and counts."""
        self._state = State()
        self._call_by(None)

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

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variant | None:
        for variant in self._state.variants:
            if variant.captured.guards.check(args, kwargs) is not None:
                return variant
        return None

    def _found_or_compiled(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], most: Limits
    ) -> Variant:
        handled = sys.exc_info()[1]
        shown = handled.__traceback__ if handled is not None else None
        with self._state.guard():
            try:
                found = self._find(args, kwargs)
                if found is None:
                    with compiling():
                        found = self._compile(args, kwargs, most)
                return found
            except Exception as error:
                raised = raised_by_handler(error)
                if raised is None and error is handled:
                    raise raised_again(error, shown) from None
                if raised is None:
                    met_in_capture(error, handled)
                    raise
                raise Interrupted from raised

    def _compile(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], most: Limits = WITHOUT_LIMITS
    ) -> Variant:
        state = self._state
        if len(state.variants) >= self._most_variants:
            raise self._too_many(len(state.variants), args, kwargs)
        function, options = self.__fxc_original__, self._options
        is_tried = options.fullgraph or self._is_part
        worth = Worth(most.seconds, is_tried, self._is_part, most.capture, waits=True)
        variant = new_variant(function, options, state, args, kwargs, worth)
        self._add(variant)
        return variant

    def _add(self, variant: Variant) -> None:
        state = self._state
        variant.key = next((key for key in state.captures if key == variant.key), variant.key)
        self._watch(variant)
        variant.born = state.calls()
        state.variants.append(variant)
        state.begin_anew()
        self._end_turns()

    @unseen
    def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        state = self._state
        key = kinds_of(args, kwargs)
        if not self._options.fullgraph:
            found = state.captures.get(key)
            refused = None if found is None else found.refused
            if refused is not None and refused.holds(args, kwargs):
                return self._instead(refused, args, kwargs)
            for overlap in state.overlaps:
                if overlap.check(args, kwargs) is not None:
                    self._leave(args, kwargs, False)
                    return self._eager(args, kwargs, overlap)
        if any(each.check(args, kwargs) is not None for each in state.raised):
            self._leave(args, kwargs, False)
            return self._eager(args, kwargs)
        captures = self._captures(key, (args, kwargs))
        remembered = self._remembered(key, args, kwargs)
        if remembered is not None:
            return self._first_run(remembered, args, kwargs, is_new=False)
        pays = self._pays(captures, key)
        if self._whole_split is not None:
            captures.wait_for(sum(each.seconds for each in self._whole_split.captures))
        captures.begin(state.has_lost)
        if pays and captures.must_wait(self._alike(key)):  # before a look at all values
            return self._meanwhile(captures, args, kwargs)
        if not pays or self._varies(key, args, kwargs):
            return self._without_capture(captures, key, args, kwargs)
        otherwise: Callable[[tuple[Any, ...], dict[str, Any]], Any]
        try:
            with captures.one_more():
                variant = self._found_or_compiled(args, kwargs, captures.most)
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
            return self._first_run(variant, args, kwargs, is_new=True)
        return otherwise(args, kwargs)  # where nothing is being handled

    @unseen
    def _first_run(
        self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any], is_new: bool
    ) -> Any:
        """Run a call by a variant that has not run in this process."""
        try:
            result = variant.call(args, kwargs)
        except RunFailed as failure:
            cause = failure.__cause__
        else:
            if result is not MISSED:
                if is_new:
                    self._remember(variant)
                variant.look()
                return result
            if variant.captured.guards.is_outdated:
                return self._miss(args, kwargs)
            cause = self._misfit(variant, args, kwargs)
        return self._failed(variant, cause, args, kwargs)

    def _misfit(self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception:
        """What is wrong with a new variant that does not fit the call it was made for."""
        why = variant.captured.guards.why(args, kwargs)
        cause = InternalError(f"the guards of a new compilation do not hold: {why}")
        if self._options.fullgraph:
            raise cause
        return cause

    def _pays(self, captures: Captures, key: object) -> bool:
        if self._options.fullgraph:
            return captures.count < _IN_ANY_CASE
        return captures.count < self._in_any_case or captures.pay(self._alike(key))

    def _alike(self, key: object) -> list[Variant]:
        """The variants for arguments of the same kinds."""
        return [variant for variant in self._state.variants if variant.key == key]

    @unseen
    def _without_capture(
        self, captures: Captures, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a call that is not worth a capture."""
        state = self._state
        if self._options.fullgraph:
            raise self._too_many(captures.count, args, kwargs)
        alike = self._alike(key)
        if not captures.misses:
            self._cut_varied(self._other_values(alike, args, kwargs))
        captures.misses += 1
        if captures.misses >= _MOST_MISSES:
            known = captures.refusals()
            known.add(None)
            if state.variants:
                self._give_up(self._too_many(captures.count, args, kwargs))
                dropped = [each for each in alike if each.all_calls < _OF_USE]
                state.variants = [each for each in state.variants if each not in dropped]
        captures.misses += self._leave(args, kwargs, False)
        PERF.info("%s: runs as plain NumPy: no more captures of such calls pay", self.__name__)
        return self._by_python(self._runner(), args, kwargs)

    @unseen
    def _meanwhile(self, captures: Captures, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call of a function whose compilation is put off, and note how long it takes."""
        run = self._runner()
        PERF.info("%s: runs as plain NumPy until it is worth compiling", self.__name__)
        handed, before = self._leave(args, kwargs, False, captures.left), clock()
        try:
            return self._by_python(run, args, kwargs)
        finally:
            took = clock() - before
            known = self._state.in_vain.get(key_of(args, kwargs))
            usual = took if known is None else min(known.seconds, took)
            captures.left -= took + handed * usual

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
            state.overlaps += (error,)
            return functools.partial(self._eager, why=error)
        captures = self._captures(key)
        if isinstance(error, CaptureError) and error.may_pass and captures.count == 1:
            return functools.partial(self._eager, why=error)
        if isinstance(error, CaptureError) and error.is_raised and not self._is_part:
            return functools.partial(self._raised_or_cut, error, captures)
        known = captures.refusals()
        if isinstance(error, TooManyVariants):
            known.add(None)
            self._cut_varied(self._other_values(state.variants, args, kwargs))
            self._give_up(error)
        elif isinstance(error, CaptureError):
            known.add(error.refusal)
            self._split(error)
        else:
            known.add(None)
            assert isinstance(error, NumberedError)
            is_bug = isinstance(error, InternalError)
            self._warn_eager(error, f"a bug in fxc, {PLEASE_REPORT}: " if is_bug else "")
        return functools.partial(self._instead, known)

    def _raised(self, error: Exception) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        """What to do where the program raises an exception while it is captured."""
        guards = vars(error).pop("__fxc_guards__", None)
        if guards is not None:
            self._state.raised = (guards, *self._state.raised[: MOST_REFUSALS - 1])
        error.__traceback__ = None
        return functools.partial(self._eager_after, error)

    @unseen
    def _eager_after(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as plain NumPy what raised in fxc: that raises the same, or needs less memory."""
        if isinstance(error, ExtensionError):  # what a backend gives, which need not be as NumPy's
            self._without_extension(error)
            return self._eager(args, kwargs)
        PERF.info("%s: runs as plain NumPy: %s", self.__name__, shown(error))
        result = self._eager(args, kwargs)
        if (backend := getattr(error, "__fxc_backend__", None)) is not None:
            self._without_extension(error, of=backend)
        elif not getattr(error, "__fxc_need_not_raise__", isinstance(error, MemoryError)):
            if self._options.fullgraph:
                raise InternalError(f"{self.__name__} failed where NumPy did not") from error
            text = f": fxc failed where NumPy did not: {shown(error)}; {PLEASE_REPORT}"
            self._warn_of_bug(text, error)
        return result

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
        site = None if isinstance(error, Flagged) else site_of(variant.compilation, error)
        error.__traceback__ = None  # it holds the arguments, and arrays of the plan
        if isinstance(error, Flagged) and self._made_careful(variant):
            return self._take(args, kwargs)
        if site is not None and self._is_cut(variant, site, args, kwargs):
            variant.replays = USUAL_RESTS
            self._rest(variant, args, kwargs)
            return self._by_python(self._runner(), args, kwargs)
        self._rest(variant, args, kwargs)
        if isinstance(error, Flagged):
            return self._eager(args, kwargs, "there may be floating-point warnings")
        leaves = variant.captured.need_not_raise or composites_leave(variant)
        if leaves or (isinstance(error, WouldRaise) and error.args):
            why = "native code has stopped where Python or NumPy goes on, or raises"
            result = self._eager(args, kwargs, why if type(error) is WouldRaise else shown(error))
        else:
            result = self._eager_after(error, args, kwargs)
        if site is not None:
            self._went_on(site)
        return result

    def _went_on(self, site: Site) -> None:
        """Note that Python has raised nothing where native code has left a call."""
        self._state.leaves.went_on |= {site}

    def _is_cut(
        self, variant: Variant, site: Site, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        """Whether the function is split where native code has left a call; now, if it has left
        others. See Note [Leaves].
        """
        state, leaves = self._state, self._state.leaves
        again = variant.is_near(state.served) and variant.replays >= AGAIN - 1
        if again and not self._options.fullgraph and leaves.calls_for_cut(site):
            leaves.tried |= {site}
            captures = self._captures(variant.key)
            if self._pays(captures, variant.key):
                with captures.one_more(), state.guard(), compiling():
                    refusal = refusal_at(site, variant, self.__fxc_original__, args, kwargs)
                if refusal is not None:
                    SPLITS.info("%s: %s at %s is left to Python", self.__name__, site.op, site.loc)
                    self._cut_left(refusal)
                    leaves.cut |= {site}
        return site in leaves.cut and self._runner() is not self.__fxc_original__

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
            from fxc.compilations.traits import traits_of
            from fxc.pipeline.assemble import assemble
            from fxc.pipeline.stages import Compilation, llvm_index

            math, drawn = self._options.math, variant.captured.drawn
            native = llvm_index(math).get_kernel
            found = assemble(made.decomposed, native, drawn, careful=True, math=math)
            graphs = made.captured, made.functional, made.decomposed
            made = Compilation(*graphs, found, found.fallbacks, found.plan.run)
            self._only_python(variant)
            captured, traits = variant.captured, traits_of(variant.captured, made)
            careful = Variant(captured, made, variant.key, True, traits, calls=variant.calls)
            self._watch(careful)
            state.variants[place] = careful
        return True

    def _rest(self, variant: Variant, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Let some calls that come now be plain NumPy, if such calls had to be replayed before."""
        if variant.watch is not None:
            variant.watch.renew()
        rest, key = variant.rest(self._state.served), key_of(args, kwargs)
        run = self.__fxc_original__ if key in self._state.losing else self._runner()
        if rest and not self._options.fullgraph and not self._is_driver_tried(key, run, True):
            self._give_turn(Handed(run, key, rest))
