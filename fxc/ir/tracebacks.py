"""What an exception of the user's program shows: the program's frames, and what the program was
handling.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any, ParamSpec, TypeVar

from .errors import FxcError, InternalError, NumberedError, notes_of, reference
from .settings import config

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
R = TypeVar("R")
_HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_GUARDS = "__fxc_guards__"
_MARK = "__fxc_in_capture__"
_HANDING_ON: set[CodeType] = set()  # of functions that `hands_on` knows


def met_in_capture(error: BaseException, handled: BaseException | None) -> None:
    """Note that an exception ends a capture: plain NumPy runs instead, and raises its own.
    ``handled`` is what the caller was handling when the capture began.
    """
    vars(error)[_MARK] = handled


def raised_again(error: BaseException, traceback: TracebackType | None) -> Exception:
    """What stands for an exception that a ``raise`` alone has raised in a capture: the caller is
    handling it, and goes on to show the frames that it had before.
    """
    error.__traceback__ = traceback
    made = RuntimeError("it raises again what is handled")
    vars(made)[_GUARDS] = vars(error).pop(_GUARDS, None)
    return made


def shown(error: BaseException) -> str:
    """An exception as text, also one that holds values of a capture, which have none."""
    try:
        return repr(error)
    except Exception:
        return type(error).__name__


def hide_fxc(error: BaseException) -> None:
    """Take out what is fxc's: of the traceback the frames that lead to the program, and what a
    capture has met before it; so of what the program was handling. Where a part of a split function
    has been split in its turn, one frame of the function is left, the inner one.

    Errors of fxc say where more is to be read, and have no frames of fxc, but for bugs. Neither
    has what the call of a function itself has raised, as for wrong arguments, nor an interrupt that
    comes while fxc compiles or compiled code runs. What else no frame of the program has raised
    keeps them, and so does all with ``FXC_FULL_TRACEBACK``.
    """
    if isinstance(error, FxcError):
        if isinstance(error, NumberedError) and reference(error.kind) not in notes_of(error):
            error.add_note(reference(error.kind))
        if not isinstance(error, InternalError) and not config.full_traceback:
            hide_all(error)
        return
    if config.full_traceback:
        return
    entries = _entries(error)
    if entries:
        last = entries[-1].tb_frame.f_code
        if last in _HANDING_ON or (not isinstance(error, Exception) and is_of_fxc(last)):
            hide_all(error)
            return
    _show_program(error)
    seen: BaseException | None = error
    visited: set[int] = set()
    while seen is not None and seen.__context__ is not None and id(seen) not in visited:
        visited.add(id(seen))
        while seen.__context__ is not None and _MARK in vars(seen.__context__):
            seen.__context__ = vars(seen.__context__).pop(_MARK)
        seen = seen.__context__
        if seen is not None and not isinstance(seen, FxcError):
            _show_program(seen)


def folded(function: Callable[P, R]) -> Callable[P, R]:
    """A function of the API, of whose exceptions the program sees its own frames alone, and the
    innermost one of fxc's, where that raises in NumPy's place.
    """

    @functools.wraps(function)
    @hands_on
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            hide_fxc(error)
            if not isinstance(error, FxcError) and not config.full_traceback:
                _shorten(error)
            raise

    return run


def hide_all(error: BaseException) -> None:
    """Take all of fxc's frames out of a traceback."""
    _keep(error, [each for each in _entries(error) if not is_of_fxc(each.tb_frame.f_code)])


def _shorten(error: BaseException) -> None:
    """Of fxc's frames at the end of a traceback leave the innermost one."""
    entries = _entries(error)
    while len(entries) > 1 and all(is_of_fxc(each.tb_frame.f_code) for each in entries[-2:]):
        del entries[-2]
    _keep(error, entries)


def _entries(error: BaseException) -> list[TracebackType]:
    """The entries of a traceback, the outermost first."""
    found = []
    entry = error.__traceback__
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found


def _keep(error: BaseException, entries: list[TracebackType]) -> None:
    """Make these the entries of a traceback."""
    for before, after in itertools.pairwise([*entries, None]):
        assert before is not None
        before.tb_next = after
    error.__traceback__ = entries[0] if entries else None


def _first(entry: TracebackType | None, *, of_fxc: bool) -> TracebackType | None:
    """The first entry of a traceback that is fxc's, or that is not."""
    while entry is not None:
        if is_of_fxc(entry.tb_frame.f_code) is of_fxc:
            return entry
        entry = entry.tb_next
    return None


def _show_program(error: BaseException) -> None:
    """Take fxc's frames out of a traceback that has some of the program's."""
    first = _first(error.__traceback__, of_fxc=False)
    if first is not None and _first(first, of_fxc=True) is None:  # as it is as a rule
        error.__traceback__ = first
    elif first is not None:
        _hide_between(error)


def _hide_between(error: BaseException) -> None:
    """Take out fxc's frames that the program's stand behind."""
    kept: list[TracebackType] = []
    ours: list[TracebackType] = []  # entries since the last of the program's
    for entry in _entries(error):
        if is_of_fxc(entry.tb_frame.f_code):
            ours.append(entry)
        else:
            if kept and any(map(_is_of_part, ours)):
                kept.pop()
            kept.append(entry)
            ours = []
    if kept:
        _keep(error, kept + ours)


def is_of_fxc(code: CodeType) -> bool:
    """Whether it is code of fxc's, or that fxc has made, not of the program's."""
    return code.co_filename.startswith((_HERE, "<fxc"))


def unseen(function: F) -> F:
    """Let what looks for a caller of the program (``stacklevel=2`` of warnings and log records)
    pass over calls of this function: Python does so with those of its import system, which it knows
    by the names of their files.
    """
    code: Any = function
    code.__code__ = _renamed(code.__code__)
    return function


def hands_on(function: F) -> F:
    """As ``unseen``, for a function that only calls one of the program's, or one of the API: what
    is raised in it itself is the fault of its caller.
    """
    code: Any = unseen(function)
    _HANDING_ON.add(code.__code__)
    return function


def _renamed(code: CodeType) -> CodeType:
    inner = tuple(_renamed(x) if isinstance(x, CodeType) else x for x in code.co_consts)
    # A name for each module: by it tracebacks ask the module's loader for the source, once.
    return code.replace(co_filename=f"{code.co_filename} (importlib._bootstrap)", co_consts=inner)


def _is_of_part(entry: TracebackType) -> bool:
    """Whether it is a call of a part of a function that is split."""
    return getattr(entry.tb_frame.f_locals.get("self"), "_is_part", False)
