"""Calls that show something: ``print``, ``warnings``, ``write`` of files.

See Note [Late effects].
"""

from __future__ import annotations

import sys
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

from fxc.ir.error_kinds import TEXT, WARNS
from fxc.ir.graph import Value
from fxc.ir.handles import HANDLE, handle
from fxc.ir.records import mutable

from ..epilogue.epilogue import NoteBuilder
from ..guards.facts import tell_no_errors
from ..guards.program import Source
from ..outside.files import TracedFile
from ..outside.outside import Outside
from ..session.locations import are_ignored, is_users, runs_ours, user_frame
from ..session.refusing import refuse
from ..values.late import late
from ..values.snapshots import snapshot
from .formats import Formats

# Note [Late effects]
# What a program shows (``print``, a log record, a warning, what it writes to an open file) is shown
# behind the compiled code, by the epilogue, in the order of the program and in order with changes
# to objects: until then a call can go back to NumPy, which then shows it. What is to be shown is as
# it is at the statement: numbers, and copies of arrays. A text of numbers that are known at run
# time only is a ``Late``: a function and its arguments; that may be kept and returned, too.
# Branches join such texts, loops carry them and lists of the graph hold them as the numbers in
# them; what is left without these is a ``Template``. Texts of several templates are one of several
# things.
# In branches and loops of the graph the operator ``note`` appends the numbers to a list of the
# call, with the number of the statement; the epilogue shows all that such a statement has noted
# where it stands. A statement outside of them is an effect of its own (effects.py).


@mutable
class Notes:
    """The statements in regions of one capture, and the list behind the handle ``log``."""

    source: Source
    log: Value
    texts: list[str]  # of the functions that show what the statement of that number has noted
    marks: list[set[int]]  # statements that are shown at one place of the epilogue


def show(
    door: Formats, what: str, function: Callable[..., object], *args: object, **kwargs: object
) -> None:
    """Record that ``function(*args, **kwargs)`` is to be called; ``what`` is its name."""
    given, options = snapshot(args), snapshot(kwargs)
    effects = door.outside.effects
    if not door.session.region:
        effects.add(Source("", what), "call", function, (given, options))
        return
    notes = _notes(door.outside)
    number = len(notes.texts)
    builder = NoteBuilder(door.outside)
    notes.texts.append(builder.function(number, function, given, options))
    effects.constants.update(builder.constants)
    effects.objects.update(builder.objects)
    door.session.record("note_", notes.log, tuple(builder.operands), site=number)
    last = effects.entries[-1] if effects.entries else None
    if last is None or last.action != "notes":
        notes.marks.append(set())
        effects.add(notes.source, "notes", len(notes.marks) - 1, None)
    notes.marks[-1].add(number)


def _notes(outside: Outside) -> Notes:
    notes: Notes | None = outside.notes
    if notes is None:
        guards = outside.guards
        kept = guards.fetch(f"{guards.constant(deque, 'deque')}()", "what is to be shown")
        source = guards.fetch(f"{guards.constant(handle, 'handle')}({kept.var})", kept.text)
        log = outside.add_input(HANDLE, source, "notes")
        notes = outside.notes = Notes(kept, log, [], [])
    return notes


# ---------------------------------------------------------------- print


def show_print(door: Formats, *args: object, **kwargs: object) -> None:
    """``print``."""
    file = kwargs.get("file")
    if file is not None and not isinstance(file, TracedFile):
        raise refuse(TEXT, "print to this kind of file")
    door.check_text(args)
    texts = [late(str, str, x) if isinstance(x, Exception) else door.as_text(x) for x in args]
    show(door, "print", print, *texts, **kwargs)


# ---------------------------------------------------------------- warnings


def show_warning(
    door: Formats,
    message: object,
    category: Any = None,
    stacklevel: object = 1,
    *more: object,
    **options: object,
) -> None:
    """``warnings.warn``."""
    if more or options or type(stacklevel) is not int:
        raise refuse(TEXT, "warnings.warn with these arguments")
    if are_ignored(type(message) if isinstance(message, Warning) else category or UserWarning):
        return
    guards = door.outside.guards
    filters = f"{guards.constant(warnings)}.filters"
    if not tell_no_errors(warnings.filters):
        raise refuse(WARNS, "warnings.warn where warnings are errors")
    guards.check(f"tell_no_errors({filters})", "no warning is an error")
    if isinstance(message, Warning):
        raise refuse(TEXT, "warnings.warn of a warning that is made before", "pass text")
    door.check_text((message,))
    where = _place_of(door, max(stacklevel, 1))
    show(door, "warnings.warn", _warn, message, category or UserWarning, where)


def _place_of(door: Formats, level: int) -> object:
    """Where a warning says that it comes from: a place in the program that is being captured, or
    how many callers of it are between.
    """
    frame = user_frame()
    while frame is not None and not runs_ours(frame, "_attempt"):
        if is_users(frame):
            level -= 1
            if level == 0:
                return Caller(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
        frame = frame.f_back
    return level + door.outside.of_part  # the function that a part is of stands between


class Caller:
    """A line of a module."""

    def __init__(self, path: str, line: int, space: dict[str, Any]) -> None:
        self.path = path
        self.line = line
        self.space = space


def _warn(message: str, category: type[Warning], where: Caller | int) -> None:
    place = where if isinstance(where, Caller) else _caller(where)
    registry = place.space.setdefault("__warningregistry__", {})
    name = place.space.get("__name__") or "<string>"
    warnings.warn_explicit(message, category, place.path, place.line, name, registry)


def _caller(level: int) -> Caller:
    """The line that called the compiled function, or one of its callers.

    Of a function that is split a part may be split in its turn, until the function is cut anew:
    then several frames are of one call of it.
    """
    frame, first, again = sys._getframe(1), True, False
    while frame.f_back is not None:
        if is_users(frame) and not frame.f_code.co_filename.startswith("<fxc "):
            level -= first or not again
            first = again = False
            if level == 0:
                break
        elif getattr(frame.f_locals.get("self"), "_is_part", False):
            again = True
        frame = frame.f_back
    return Caller(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
