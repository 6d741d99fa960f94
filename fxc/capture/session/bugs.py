"""Which exceptions during a capture are bugs in fxc.

What a meta or a function of NumPy's surface raises on NumPy's behalf, and what the program raises,
is an exception of the program: it may have to be captured otherwise, or refused. A bug is neither:
no other way to capture the program makes up for it.
"""

from __future__ import annotations

import opcode
from collections.abc import Iterable
from types import TracebackType

from fxc.ir.errors import InternalError

from .locations import OURS

_LOADS = frozenset(
    number for name, number in opcode.opmap.items() if name.startswith(("LOAD_ATTR", "LOAD_METHOD"))
)
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
    """Whether code of fxc has failed an ``assert``, or read a name or a private attribute that is
    not there.
    """
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or not at.tb_frame.f_code.co_filename.startswith(OURS):
        return False
    match error:
        case AssertionError():
            return True
        case NameError() | NotImplementedError():
            return isinstance(error, NotImplementedError) or _operation(at) not in _RAISES
        case AttributeError(name=str(name)):
            return name.startswith("_") and _operation(at) in _LOADS
        case _:
            return False


def _operation(at: TracebackType) -> int:
    """The opcode of the instruction that raised."""
    return at.tb_frame.f_code.co_code[at.tb_lasti]
