"""Exceptions that come from outside of the code that they end."""

from __future__ import annotations

import functools
import signal
import traceback
from types import CodeType
from typing import Any

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


def hand_on(error: BaseException) -> None:
    """Raise what the handler of a signal has raised, if that is what ``error`` comes from."""
    found = raised_by_handler(error)
    if found is not None:
        raise found


def raised_by_handler(error: BaseException) -> BaseException | None:
    """What the handler of a signal has raised, if that is what ``error`` comes from."""
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    found: BaseException | None = error
    while found is not None:
        frames = traceback.walk_tb(found.__traceback__)
        if any(frame.f_code in handlers for frame, _ in frames):
            return found
        found = found.__cause__ or found.__context__
    return None


def _code(handler: Any) -> CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    function = getattr(handler, "__func__", handler)
    if not hasattr(function, "__code__"):
        function = vars(type(handler)).get("__call__")
    return getattr(function, "__code__", None)
