"""What an exception of the user's program shows: the program's frames, and what the program was
handling.
"""

from __future__ import annotations

import os
from types import CodeType

from fxc.ir.errors import FxcError

_HERE = os.path.dirname(__file__) + os.sep
_MARK = "__fxc_in_capture__"


def met_in_capture(error: BaseException, handled: BaseException | None) -> None:
    """Note that an exception ends a capture: plain NumPy runs instead, and raises its own.
    ``handled`` is what the caller was handling when the capture began.
    """
    vars(error)[_MARK] = handled


def hide_fxc(error: BaseException) -> None:
    """Take out what is fxc's: of the traceback the frames that lead to the program, and what a
    capture has met before it.

    Errors of fxc, and what no frame of the program has raised, keep theirs.
    """
    if isinstance(error, FxcError):
        return
    seen: BaseException = error
    visited: set[int] = set()
    while seen.__context__ is not None and id(seen) not in visited:
        visited.add(id(seen))
        if _MARK in vars(seen.__context__):
            seen.__context__ = vars(seen.__context__)[_MARK]
        else:
            seen = seen.__context__
    first = error.__traceback__
    while first is not None and is_of_fxc(first.tb_frame.f_code):
        first = first.tb_next
    if first is not None:
        error.__traceback__ = first


def is_of_fxc(code: CodeType) -> bool:
    """Whether it is code of fxc's, not of the program's."""
    return code.co_filename.startswith(_HERE)
