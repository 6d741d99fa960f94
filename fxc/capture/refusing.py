"""How a capture ends before the program does: refused, or to begin again with other requests."""

from __future__ import annotations

import sys
import threading
from typing import Any

from fxc.ir.errors import CaptureError
from fxc.ir.location import SourceLocation

from .locations import line_text, user_location


class Respecialise(BaseException):
    """Start the capture again with these inputs or symbols as constants.

    Not an Exception, so that a handler in the user's program does not stop it.
    """

    def __init__(self, names: frozenset[str], error: CaptureError | None = None) -> None:
        super().__init__(names)
        self.names = names
        self.error = error  # why a loop or branch is not captured as a whole


class LeftToPython(BaseException):
    """The capture has come to an operator that is to be refused, see Note [Leaves].

    Not an Exception: no other way to capture the program leads around it.
    """


class _Thread(threading.local):
    session: Any = None  # of the capture that the thread is in


thread = _Thread()


class _RefusedAtTheEnd(CaptureError, GeneratorExit):
    """A refusal in a generator that is closed: of other exceptions Python tells the user there."""


def refuse(message: str, location: SourceLocation | None = None) -> CaptureError:
    """A CaptureError at the user's line, to be raised.

    The session remembers the first, in case a handler in the user's program catches it.
    """
    is_closing = isinstance(sys.exception(), GeneratorExit)
    error = (_RefusedAtTheEnd if is_closing else CaptureError)(message)
    location = location or user_location()
    vars(error)["location"] = location
    if location is not None:
        error.add_note(line_text(location))
    session = thread.session
    if session is not None and session.error is None:
        session.error = error
    return error
