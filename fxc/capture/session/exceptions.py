"""Exceptions during a capture: which operations have raised them, and which are bugs in fxc.

What a meta or a function of NumPy's surface raises on NumPy's behalf, and what the program raises,
is an exception of the program: it may have to be captured otherwise, or refused. A bug is neither:
no other way to capture the program makes up for it. See Note [Handled failures].
"""

from __future__ import annotations

import opcode
import operator
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import EXCEPTION
from fxc.ir.errors import CaptureError, FxcError, InternalError

from .locations import OURS, location_of
from .refusing import UPDATES_BY_PYTHON, Respecialise, refusal

if TYPE_CHECKING:
    from .session import Session

_NOTED = "__fxc_failed__"
CHANGES = (setattr, delattr)  # of attributes: their exceptions do not say whether one is there


def note(error: BaseException, function: object, args: object, kwargs: object) -> None:
    """Note the innermost operation that has raised an exception."""
    if isinstance(error, Exception) and not isinstance(error, FxcError):
        vars(error).setdefault(_NOTED, (function, args, kwargs))


def guess_no_more(session: Session, error: Exception) -> None:
    """Capture again without calls that may give what was taken for None, if that can be why."""
    if session.has_guessed and isinstance(error, AttributeError | TypeError):
        raise Respecialise(UPDATES_BY_PYTHON)


def raised_in_region(error: Exception) -> CaptureError:
    """The refusal of an exception in what may not be run."""
    refused = refusal(
        EXCEPTION,
        f"{type(error).__name__} ({error}) in a branch or a loop that is captured as a whole "
        "cannot be captured; check before",
        location_of(error),
    )
    refused.is_raised = True
    return refused


def noted(error: BaseException) -> tuple[Any, Any, Any]:
    """The operation that has raised an exception, with its arguments; its function may be None."""
    found: tuple[Any, Any, Any] = vars(error).get(_NOTED, (None, (), {}))
    return found


def noting(method: Callable[..., object]) -> Callable[..., Any]:
    """An operator's method of traced values, which notes what it raises."""
    function = getattr(operator, method.__name__.strip("_"))

    def noted_method(*args: object) -> object:
        try:
            return method(*args)
        except Exception as error:
            note(error, function, args, {})
            raise

    noted_method.__name__, noted_method.__doc__ = method.__name__, method.__doc__
    return noted_method


_LOADS = frozenset(
    number for name, number in opcode.opmap.items() if name.startswith(("LOAD_ATTR", "LOAD_METHOD"))
)
_STAGING = f"{OURS}capture{os.sep}staging{os.sep}"  # runs nothing of the program, or of NumPy's
_RAISES = frozenset({opcode.opmap["RAISE_VARARGS"], opcode.opmap["RERAISE"]})


def check_no_bug(error: BaseException, raised: Iterable[BaseException] = ()) -> None:
    """Raise ``InternalError`` for an exception that only a bug in fxc raises. What the program has
    ``raised`` is none, wherever that was.
    """
    if isinstance(error, InternalError):
        raise error
    if any(error is each for each in raised) or not _is_bug(error):
        return
    raise InternalError(f"{type(error).__name__}: {error}") from error


def _is_bug(error: BaseException) -> bool:
    """Whether code of fxc failed an ``assert``, or read a name or private attribute in vain; or in
    any other way where it does no more than to read the text of the program.
    """
    around, at = None, error.__traceback__
    while at is not None and at.tb_next is not None:
        around, at = at, at.tb_next
    if at is None or not _is_ours(at):
        return False
    if around is not None and _is_ours(around) and at.tb_frame.f_code.co_name == "__getattr__":
        at = around  # which has asked for the attribute
    match error:
        case AssertionError():
            return True
        case FxcError() | RecursionError() | MemoryError():
            return False
        case Exception() if at.tb_frame.f_code.co_filename.startswith(_STAGING):
            return True
        case NameError() | NotImplementedError():
            return isinstance(error, NotImplementedError) or _operation(at) not in _RAISES
        case AttributeError(name=str(name)):
            return name.startswith("_") and _operation(at) in _LOADS
        case _:
            return False


def _is_ours(at: TracebackType) -> bool:
    return at.tb_frame.f_code.co_filename.startswith(OURS)


def _operation(at: TracebackType) -> int:
    """The opcode of the instruction that raised."""
    return at.tb_frame.f_code.co_code[at.tb_lasti]
