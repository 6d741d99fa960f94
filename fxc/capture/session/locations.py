"""Where in the user's program we are, from the stack of frames."""

from __future__ import annotations

import contextlib
import functools
import itertools
import linecache
import os
import sys
from _thread import _local
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar

import numpy as np

from fxc.ir.location import SourceLocation

OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_HIDDEN = (OURS, _NUMPY, contextlib.__file__, "<frozen ")  # frozen: what Python starts with
_PYTHONS = os.path.dirname(os.__file__) + os.sep
_LIBRARY_FOLDERS = {"site-packages", "dist-packages"}  # pip's, also a user's own, and Debian's
_is_hidden: dict[str, bool] = {}
_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function")
Columns = tuple[int, int | None]  # the first byte of a line and the one behind the last


def user_frame() -> FrameType | None:
    """The innermost frame of the user's code: not fxc's, NumPy's, or contextlib's."""
    frame: FrameType | None = sys._getframe(1)
    # Each node is asked for it, from deep inside of fxc: what is hidden is told without a call.
    while frame is not None and (_is_hidden.get(frame.f_code.co_filename) or not is_users(frame)):
        frame = frame.f_back
    return frame


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs the user's code."""
    name = frame.f_code.co_filename
    hidden = _is_hidden.get(name)
    if hidden is None:
        hidden = _is_hidden[name] = name.startswith(_HIDDEN)
    return not hidden


def is_of_program(function: object) -> bool:
    """Whether it is a Python function, and none of a library."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and not is_in_library(code.co_filename)


_staged: set[CodeType] = set()  # of functions of ours


def as_program(function: _Function) -> _Function:
    """Decorator of a function of ours that is staged like those of a program."""
    made: Any = function
    _staged.add(made.__code__)
    return function


def as_programs(kind: _Class) -> _Class:
    """Decorator of a class of ours whose methods are staged like those of a program."""
    for each in vars(kind).values():
        function = each.fget if isinstance(each, property) else each
        if isinstance(function, FunctionType):
            as_program(function)
    return kind


def is_called_as_it_is(f: FunctionType, ours: str) -> bool:
    """Whether it is a function in one of our folders that is not staged."""
    return f.__code__.co_filename.startswith(ours) and f.__code__ not in _staged


@functools.cache
def is_in_library(file: str) -> bool:
    """Whether a file belongs to Python or to a package that was installed."""
    folders = file.replace(os.altsep or os.sep, os.sep).split(os.sep)
    return file.startswith((*_HIDDEN, _PYTHONS)) or not _LIBRARY_FOLDERS.isdisjoint(folders)


def runs_ours(frame: FrameType, name: str) -> bool:
    """Whether a frame runs the function of ours of that name."""
    code = frame.f_code
    return code.co_name == name and code.co_filename.startswith(OURS)


def is_outermost(entry: str) -> bool:
    """Whether one function of the user's is being run, called by that function of ours."""
    frame: FrameType | None = sys._getframe(1)
    others = 0
    while frame is not None and not runs_ours(frame, entry):
        others += not frame.f_code.co_filename.startswith(OURS)
        frame = frame.f_back
    return frame is not None and others == 1


def outermost_line(entry: str) -> int:
    """The line of the outermost of the user's functions that a function of ours runs, or 0."""
    frame, line = user_frame(), 0
    while frame is not None and not runs_ours(frame, entry):
        line = frame.f_lineno if is_users(frame) else line
        frame = frame.f_back
    return line


def user_location() -> SourceLocation | None:
    """The line of the user's program that is being run."""
    frame = user_frame()
    if frame is None:
        return None
    file = frame.f_code.co_filename
    return SourceLocation(file, frame.f_lineno, _name_of(frame), _ignored.kinds)


def _name_of(frame: FrameType) -> str:
    """Of the function; for a lambda, of the one in whose line it runs: it may be ours, an arm."""
    code, around = frame.f_code, frame.f_back
    if code.co_name != "<lambda>":
        return code.co_name
    while around is not None and not is_users(around):
        around = around.f_back
    if around is None or around.f_code.co_filename != code.co_filename:
        return code.co_name
    return around.f_code.co_name if around.f_lineno == frame.f_lineno else code.co_name


class _Ignored(_local):
    kinds: frozenset[str] = frozenset()
    warnings: tuple[type[Warning], ...] = ()
    region: int | None = None  # that the ``Filtering`` around stands in


_ignored = _Ignored()
_KINDS = frozenset({"divide", "over", "under", "invalid"})


class Ignoring:
    """``np.errstate`` with "ignore" alone, in a function that is captured."""

    def __init__(self, *kinds: str) -> None:
        self._kinds = frozenset(kinds)
        self._before: list[frozenset[str]] = []

    def __enter__(self) -> None:
        self._before.append(_ignored.kinds)
        _ignored.kinds |= self._kinds

    def __exit__(self, *error: object) -> None:
        _ignored.kinds = self._before.pop()


class Filtering:
    """``warnings.catch_warnings`` with filters that ignore, in the region of that number."""

    def __init__(self, region: int, *categories: type[Warning]) -> None:
        self._region = region
        self._categories = categories
        self._before: list[tuple[Any, ...]] = []

    def __enter__(self) -> None:
        self._before.append((_ignored.kinds, _ignored.warnings, _ignored.region))
        _ignored.region = self._region
        for each in self._categories:
            ignore_warnings(each)

    def __exit__(self, *error: object) -> None:
        _ignored.kinds, _ignored.warnings, _ignored.region = self._before.pop()


def may_filter(region: int) -> bool:
    """Whether filters that are set in the region of that number are taken back in it."""
    return _ignored.region == region


def ignore_warnings(category: type[Warning]) -> None:
    """Ignore such warnings, up to the end of the ``Filtering`` around."""
    _ignored.warnings = (*_ignored.warnings, category)
    if issubclass(RuntimeWarning, category):
        _ignored.kinds = _KINDS


def are_ignored(category: type[Warning]) -> bool:
    """Whether nobody is shown such warnings here."""
    return issubclass(category, _ignored.warnings)


def location_of(error: BaseException) -> SourceLocation | None:
    """The line of the user's program that raised an exception."""
    found, at = None, error.__traceback__
    while at is not None:
        if is_users(at.tb_frame):
            file = at.tb_frame.f_code.co_filename
            found = SourceLocation(file, at.tb_lineno, _name_of(at.tb_frame))
        at = at.tb_next
    return found


def line_text(location: SourceLocation, columns: Columns | None = None) -> str:
    """The note that points a user to a line: ``  model.py:14 in step:  y = np.sort(x)``, and with
    carets below it to these columns, if the line is not all there is.
    """
    line = linecache.getline(location.file, location.line).rstrip()
    source = line.lstrip()
    text = f"  {location} in {location.function}"
    if not source:
        return text
    text = f"{text}:  "
    carets = "" if columns is None else _carets(line, *columns)
    return f"{text}{source}\n{' ' * len(text)}{carets}" if carets else text + source


def _carets(line: str, first: int, end: int | None) -> str:
    """Carets below the columns, which count bytes, of a line that is shown without indentation;
    none if all of it is meant.
    """
    data = line.encode()
    source, indent = data.lstrip(), len(data) - len(data.lstrip())
    before, marked = data[indent:first], data[first:end]
    if first < indent or not marked or marked == source:
        return ""
    return " " * len(before.decode()) + "^" * len(marked.decode().rstrip())


def user_columns() -> Columns | None:
    """The columns of what the user's program is running, in its line; None if they are not known.
    An expression that goes on in further lines ends nowhere in this one.
    """
    frame = user_frame()
    if frame is None:
        return None
    at = frame.f_lasti // 2
    found = next(itertools.islice(frame.f_code.co_positions(), at, None), (None,) * 4)
    line, last, first, end = found
    if line != frame.f_lineno or last is None or first is None:
        return None
    return first, end if last == line else None
