"""One more compilation of a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fxc.compilations.decisions import kinds_of
from fxc.compilations.state import Options, State
from fxc.compilations.variants import Variant, why_none_fits
from fxc.ir.errors import (
    CaptureError,
    ExportError,
    ExtensionError,
    InternalError,
    PutOff,
    Unchecked,
)
from fxc.ir.logs import INFO, PERF, RECOMPILES
from fxc.ir.records import frozen
from fxc.ir.settings import config
from fxc.ir.version import __version__

if TYPE_CHECKING:
    from fxc.capture.capture import Terms
    from fxc.capture.captured import Captured
    from fxc.pipeline.stages import Compilation
    from fxc.tracing.compiles import Made

_begun = 0  # captures in this process
_LONGER = 10  # times as long as it may take, a capture is taken to need that does not end by then
_HOT = "many calls have these sizes"
_MOST_DEMANDED = 32  # relations for which a call is captured again, see ``Unchecked``


def captures_begun() -> int:
    """How many there were in this process: a call during which there was one is no usual one."""
    return _begun


@frozen
class Worth:
    """How many seconds a compilation may take at most, and whether its code needs no trial."""

    longest: float
    is_tried: bool
    is_part: bool = False  # of a function that is split
    # Seconds of the capture: one that takes longer is refused, or put off if all may take as long,
    capture: float = math.inf
    waits: bool = False  # or in any case
    knows_sizes: bool = False  # of arrays, also those that vary: Note [Hot sizes]


def new_variant(
    function: Callable[..., Any],
    options: Options,
    state: State,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    worth: Worth,
) -> Variant:
    """Capture and compile a function for a call that no variant fits.

    Raises ``PutOff`` where that is estimated to take longer than it is worth.
    """
    global _begun
    _begun += 1
    why = _HOT if worth.knows_sizes else why_none_fits(state.variants, args, kwargs)
    folder = config.trace
    with _keeping_bugs(function, options, state):
        if folder is None:
            return _new_variant(function, options, state, args, kwargs, worth, why)
        from fxc.tracing.compiles import Beginning, traced

        number, shown = len(state.variants) + 1, options.shown()
        beginning = Beginning(function, args, kwargs, number, why, shown, worth.is_part)
        with traced(folder, __version__, beginning) as end:
            variant = _new_variant(function, options, state, args, kwargs, worth, why)
            end(_traced(variant, options))
    return variant


@contextmanager
def _keeping_bugs(function: Callable[..., Any], options: Options, state: State) -> Iterator[None]:
    """Keep what a report needs of a bug of ours that the block meets."""
    try:
        yield
    except InternalError as error:
        from fxc.cache.bugs import keep_bug

        keep_bug(function, state.variants, error, options.shown())
        raise


def _traced(variant: Variant, options: Options) -> Made:
    """What a trace tells of a compilation that is finished."""
    from fxc.tracing.compiles import Made

    captured, made = variant.captured, variant.compilation
    code = made.assembled
    return Made(
        captured.guards,
        made.decomposed,
        made.fallbacks,
        captured.drawn,
        options.math == "fast",
        None if code is None else code.module,
        None if code is None else code.engine,
    )


def _new_variant(
    function: Callable[..., Any],
    options: Options,
    state: State,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    worth: Worth,
    why: str,
) -> Variant:
    """The variant, if it is ``why`` there is one more. There are so many parameters because this is
    all that a compilation depends on.
    """
    from fxc.ir.steps import listening  # on first use: importing fxc imports little
    from fxc.pipeline.step_logs import StageTimes, logging_steps

    name = getattr(function, "__name__", type(function).__name__)
    if worth.knows_sizes:
        RECOMPILES.info("%s: compiled again: %s", name, why)
    else:
        log_again(name, state.variants, args, kwargs)
    for each in state.variants:
        state.vary(frozenset(each.captured.guards.changed(args, kwargs)))
    times = StageTimes()
    with listening(times), logging_steps(name):
        captured, made = _made(function, options, state, (args, kwargs), worth)
    from fxc.compilations.traits import traits_of  # with what compiles

    key, traits = kinds_of(args, kwargs), traits_of(captured, made)
    variant = Variant(
        captured, made, key, worth.is_tried, traits, why=why, seconds=tuple(times.seconds)
    )
    took = 1e3 * sum(times.seconds)
    log_variant(name, variant, len(state.variants) + 1, f"is made in {took:.0f} ms")
    return variant


def log_again(
    name: str, variants: Sequence[Variant], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Log why there is to be one more variant, if there are some."""
    if variants and RECOMPILES.isEnabledFor(INFO):
        RECOMPILES.info("%s: compiled again:%s", name, _reasons(variants, args, kwargs))


def log_variant(name: str, variant: Variant, number: int, origin: str) -> None:
    """Log that there is one more variant, what it is for, and what costs in it."""
    if RECOMPILES.isEnabledFor(INFO):
        from fxc.ir.text import inputs_text  # for who reads logs

        shown = inputs_text(variant.captured.graph)
        RECOMPILES.info("%s: variant %d %s, for %s", name, number, origin, shown)
    if PERF.isEnabledFor(INFO):
        from fxc.pipeline.step_logs import costs_of

        for cost in costs_of(variant.compilation):
            PERF.info("%s: %s", name, cost)


def _reasons(variants: Sequence[Variant], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why none of the variants fits, for each of them."""
    if len(variants) == 1:
        return f" {why_none_fits(variants, args, kwargs)}"
    found = (why_none_fits((each,), args, kwargs) for each in variants)
    return "".join(f"\n    variant {n}: {why}" for n, why in enumerate(found, 1))


def _made(
    function: Callable[..., Any],
    options: Options,
    state: State,
    given: tuple[tuple[Any, ...], dict[str, Any]],
    worth: Worth,
) -> tuple[Captured, Compilation]:
    """The capture of a call and what is made of it, with what lowering relies on checked."""
    if options.backend == "llvm":
        from fxc.pipeline.beside import load_beside  # before all that takes long to import

        load_beside()
    from fxc.capture.capture import Terms
    from fxc.capture.outside.inputs import without_sizes

    name = getattr(function, "__name__", type(function).__name__)
    demanded: frozenset[Any] = frozenset()
    dynamic, varying = options.dynamic, state.varying
    if worth.knows_sizes:
        varying = without_sizes(varying)
    while True:
        terms = Terms(dynamic, varying=varying, demanded=demanded, seconds=worth.capture)
        captured = _captured(function, given, terms, worth)
        state.vary(captured.varying)
        varying |= captured.varying
        try:
            return captured, _compiled(captured, options, name, worth.longest)
        except Unchecked as error:
            if error.relations <= demanded or len(demanded) > _MOST_DEMANDED:
                raise
            demanded |= error.relations
        except CaptureError as error:  # lowering relies on what may hold for constant sizes
            if dynamic is not None:
                raise
            RECOMPILES.info("%s: compiled for sizes as they are: %s", name, error)
            dynamic = False


def _captured(
    function: Callable[..., Any],
    given: tuple[tuple[Any, ...], dict[str, Any]],
    terms: Terms,
    worth: Worth,
) -> Captured:
    from fxc.capture.capture import capture
    from fxc.capture.session.session import MOST_SECONDS

    try:
        return capture(function, *given, terms)
    except CaptureError as error:
        may_wait = worth.waits or worth.longest <= worth.capture
        if not (may_wait and error.is_cut_short and worth.capture < MOST_SECONDS):
            raise
        raise PutOff(_LONGER * worth.capture) from None


def _compiled(captured: Captured, options: Options, name: str, longest: float) -> Compilation:
    from fxc.ir.size_guards import unheard
    from fxc.pipeline.stages import compile_captured

    try:
        with unheard():
            return compile_captured(
                captured, options.backend, longest, options.math, options.passes
            )
    except PutOff as found:
        PERF.info("%s: compiling it is put off: %s", name, found)
        raise
    except (ExtensionError, ExportError):  # not what fxc does
        raise
    except CaptureError:  # what lowering relies on does not hold in each iteration of a loop
        raise
    except Exception as error:  # the program was captured: what fails now is fxc
        raise InternalError(f"{name}: {type(error).__name__}: {error}") from error
