"""Exceptions that come from outside of the code that they end."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from types import CodeType, TracebackType

from .errors import FxcError

# What NumPy's functions raise, or fxc if it has a bug; other classes, and TimeoutError, come from a
# handler of a signal or another thread.
NUMPYS_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    FxcError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    Warning,
)

_FXC = os.path.dirname(os.path.dirname(__file__)) + os.sep


def hand_on(error: BaseException) -> None:
    """Raise what the handler of a signal has raised, if that is what ``error`` comes from."""
    found = raised_by_handler(error)
    if found is not None:
        raise found


def raised_by_handler(error: BaseException) -> BaseException | None:
    """What the handler of a signal has raised, if that is what ``error`` comes from."""
    found: BaseException | None = error
    while found is not None:
        codes = set(_codes_of(found.__traceback__))
        if not all(_is_ours(code.co_filename) for code in codes) and not codes.isdisjoint(
            _handlers()
        ):
            return found
        found = found.__cause__ or found.__context__
    return None


def _codes_of(trace: TracebackType | None) -> Iterator[CodeType]:
    while trace is not None:
        yield trace.tb_frame.f_code
        trace = trace.tb_next


def _is_ours(filename: str) -> bool:
    return filename.startswith((_FXC, "<fxc"))


def _handlers() -> set[CodeType | None]:
    import signal  # which makes three enumerations, and is needed where something has been raised

    return {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}


def _code(handler: object) -> CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    function = getattr(handler, "__func__", handler)
    if not hasattr(function, "__code__"):
        function = vars(type(handler)).get("__call__")
    return getattr(function, "__code__", None)
