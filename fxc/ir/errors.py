"""The error and warning classes of fxc."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import error_kinds as kinds
from .error_kinds import Kind


class FxcError(Exception):
    """What all errors of fxc have in common."""

    __module__ = "fxc"  # where users find it


class NumberedError(FxcError):
    """An error of a kind that has a number: ``FXC0012: …``. ``text`` is what stands behind it."""

    kind: Kind

    @property
    def text(self) -> str:
        """The message without the number."""
        return str(self.args[-1]) if self.args else ""

    def __str__(self) -> str:
        return numbered(self.kind, self.text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class CaptureError(NumberedError):
    """The program is fine, but fxc cannot capture it.

    The message names the call and what to write instead; a note shows the user's line.
    Without ``fullgraph=True`` a user sees it as a :class:`CaptureWarning`, and the statement runs
    in Python. ``refusal`` says where the program was, if it had begun; see
    ``fxc.capture.refusals.Refusal``. With ``is_of_whole`` Python runs all of the function: no part
    of it gives what the others need; with ``is_of_block`` it runs the blocks of the statement, too:
    errors of floats are more than warnings there. ``is_of_result`` says that the program had ended;
    ``work``, where it is too large, how much of it each line of the function made; ``may_pass``,
    that the call itself may bring what was missing: a module that it imports; ``is_raised``, that
    the program raises an exception if it comes to this; ``is_cut_short``, that there was no more
    time; ``alone``, which functions it was in that were called as they could be by themselves.
    """

    __module__ = "fxc"  # where users find it

    kind = kinds.EXTENSION  # of those that backends of others raise
    refusal: Any = None
    is_of_whole = False
    is_of_block = False
    is_of_result = False
    may_pass = False
    is_raised = False
    is_cut_short = False
    alone: frozenset[Any] = frozenset()
    work: Mapping[int, int] = MappingProxyType({})


class TooManyVariants(CaptureError):
    """A function has been compiled again and again for what differs from call to call."""

    kind = kinds.TOO_MANY_VARIANTS


class OverlapError(CaptureError):
    """Inputs overlap, one of them is written, and no graph says what that does.

    ``check(args, kwargs)`` is not None for the calls in which it would be the same. Without
    ``fullgraph=True`` such a call runs as plain NumPy, and only the log says so.
    """

    kind = kinds.OVERLAPPING_ARGUMENTS

    def __init__(self, reason: str, check: Callable[..., object]) -> None:
        super().__init__(reason)
        self.check = check


class Unchecked(CaptureError):
    """A stage relies on relations of counted sizes that the capture does not check."""

    kind = kinds.COUNTED_SIZE

    def __init__(self, relations: frozenset[object]) -> None:
        shown = ", ".join(sorted(map(str, relations)))
        super().__init__(f"sizes that depend on data have to be such that {shown}")
        self.relations = relations


class ExportError(NumberedError):
    """A program has something that a target of an export lacks; the message names all of it."""

    __module__ = "fxc"  # where users find it

    kind = kinds.EXPORT_TARGET


class ExtensionError(NumberedError):
    """A pass or a backend of the user's, or a package that offers one, has failed."""

    kind = kinds.EXTENSION


class InternalError(NumberedError):
    """A bug in fxc: a pass broke its contract. Please report it with the printed graph."""

    __module__ = "fxc"  # where users find it

    kind = kinds.INTERNAL


class VerificationError(InternalError):
    """A graph does not hold what its schemas, its types or its stage claim."""

    kind = kinds.NOT_VERIFIED


class WrongResult(NumberedError):
    """Compiled code has given something else than NumPy; the text says what differs first."""

    kind = kinds.WRONG_RESULT


class ParseError(NumberedError):
    """A schema or a graph text is not well formed."""

    kind = kinds.NOT_PARSED

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.add_note(reference(self.kind))


class ProgramFileError(ParseError):
    """A file is no exported program, or is not whole."""

    kind = kinds.PROGRAM_FILE


class UsageError(NumberedError, ValueError):
    """A value that a user gives to fxc makes no sense."""

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.add_note(reference(kind))


class UsageTypeError(NumberedError, TypeError):
    """What a user gives to fxc is of the wrong type."""

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.add_note(reference(kind))


class CaptureWarning(UserWarning):
    """A call ran as plain NumPy; the text says why, where, and what to write instead."""

    __module__ = "fxc"  # where users find it


class WouldRaise(FxcError):
    """Compiled code met what NumPy raises an exception for. Nothing that the caller sees has been
    done; NumPy shall run the call again and raise. With a text it says why NumPy may go on instead.
    """


class Flagged(WouldRaise):
    """Compiled code has done what NumPy tells of: NumPy shall run the call again, and tell."""


class PutOff(FxcError):
    """What was captured would take about so many ``seconds`` to compile, and may wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it would take about {seconds:.1f} s")
        self.seconds = seconds


class RunFailed(BaseException):
    """Compiled code raised the exception that is the cause of this one, before any effect.

    What the epilogue raises, which may have had effects, is not wrapped.
    """


class Interrupted(BaseException):
    """The handler of a signal raised the exception that is the cause of this one, while native code
    ran, or behind it there was no memory. There may have been effects: the call is not replayed.
    """


def uncapturable(kind: Kind, text: str) -> CaptureError:
    """The error of that kind, to be raised."""
    error = CaptureError(text)
    error.kind = kind
    return error


def a_kind(value: object) -> str:
    """What messages call an object, by its type: "an int".

    >>> a_kind(3), a_kind("three")
    ('an int', 'a str')
    """
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def numbered(kind: Kind, text: str) -> str:
    """The message of an error or a warning of that kind."""
    return f"{kind}: {text}"


def reference(kind: Kind) -> str:
    """The line that says where more is to be read."""
    return f"  more: python -m fxc help {kind}"


PLEASE_REPORT = "please report it, with python -m fxc rage SCRIPT"  # a bug in fxc


def notes_of(error: BaseException) -> list[str]:
    """The lines below the message of an error."""
    return list(getattr(error, "__notes__", ()))


MISSED: Any = type("Missed", (), {})()  # what a call gives if the compiled code is not for it
