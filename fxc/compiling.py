"""One more compilation of a function."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fxc.ir.errors import (
    CaptureError,
    ExportError,
    ExtensionError,
    InternalError,
    PutOff,
    Unchecked,
)
from fxc.ir.records import frozen

from .decisions import kinds_of
from .state import Options, State
from .variants import Variant, why_none_fits

if TYPE_CHECKING:
    from fxc.capture.captured import Captured

    from .stages import Compilation

_log = logging.getLogger("fxc")
_begun = 0  # captures in this process
_MOST_DEMANDED = 32  # relations for which a call is captured again, see ``Unchecked``


def captures_begun() -> int:
    """How many there were in this process: a call during which there was one is no usual one."""
    return _begun


@frozen
class Worth:
    """How many seconds a compilation may take at most, and whether its code needs no trial."""

    longest: float
    is_tried: bool


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
    from fxc.capture.capture import Terms, capture

    _begun += 1
    name = getattr(function, "__name__", type(function).__name__)
    if state.variants:
        why = why_none_fits(state.variants, args, kwargs)
        _log.info("%s: compiled again: %s", name, why)
    for each in state.variants:
        state.varying.update(each.captured.guards.changed(args, kwargs))
    demanded: frozenset[Any] = frozenset()
    dynamic = options.dynamic
    while True:
        terms = Terms(dynamic, varying=frozenset(state.varying), demanded=demanded)
        captured = capture(function, args, kwargs, terms)
        state.varying |= captured.varying
        try:
            made = _compiled(captured, options, name, worth.longest)
            from .traits import traits_of  # with what compiles

            traits = traits_of(captured, made)
            return Variant(captured, made, kinds_of(args, kwargs), worth.is_tried, traits)
        except Unchecked as error:
            if error.relations <= demanded or len(demanded) > _MOST_DEMANDED:
                raise
            demanded |= error.relations
        except CaptureError as error:  # lowering relies on what may hold for constant sizes
            if dynamic is not None:
                raise
            _log.info("%s: compiled for sizes as they are: %s", name, error)
            dynamic = False


def _compiled(captured: Captured, options: Options, name: str, longest: float) -> Compilation:
    from .stages import compile_captured

    try:
        return compile_captured(captured, options.backend, longest, options.math, options.passes)
    except PutOff as found:
        _log.info("%s: compiling it is put off: %s", name, found)
        raise
    except (ExtensionError, ExportError):  # not what fxc does
        raise
    except CaptureError:  # what lowering relies on does not hold in each iteration of a loop
        raise
    except Exception as error:  # the program was captured: what fails now is fxc
        raise InternalError(f"{name}: {type(error).__name__}: {error}") from error


@contextmanager
def without_collections() -> Iterator[None]:
    """What a compilation makes is kept until its end: to look for garbage among it takes a sixth of
    the time. Where the program has more threads it is looked for: they make some, too.
    """
    collects = gc.isenabled() and threading.active_count() == 1
    if not collects:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
