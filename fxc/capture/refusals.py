"""What is known of a refusal: where the program was, and what of the call it follows from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType, TracebackType
from typing import Any

from fxc.ir.errors import CaptureError
from fxc.ir.location import SourceLocation
from fxc.ir.made_functions import codes_in
from fxc.ir.records import frozen

from .guards.program import GuardProgram
from .session.locations import line_text


@frozen(eq=False)
class SourcePlace:
    """A place in a function of the program: a line, and the first and last line and column of an
    expression, if they are known. ``is_inner`` says that it is in an expression of the function
    that has a frame of its own, such as a comprehension; ``calls_itself`` that the function was
    called again from there.
    """

    function: Any  # a FunctionType, which type checkers take for a method
    line: int
    span: tuple[int, int, int, int] | None
    is_inner: bool = False
    calls_itself: bool = False

    @property
    def location(self) -> SourceLocation:
        code = self.function.__code__
        return SourceLocation(code.co_filename, self.line, code.co_name)


@frozen(eq=False)
class Refusal:
    """Where the program was when it was refused, from the captured function to the innermost one,
    and the line that it is about; the argument that was refused, if it was one; and which values
    had decided that it came there. ``is_of_data`` says that something from outside was refused.
    ``work`` is, where the program is too large, how much of it the lines of the function make. The
    capture had taken so many ``seconds``. ``is_of_block`` says that Python runs the blocks of the
    statement, too. ``alone`` are the functions that would meet it, too, if
    they were captured by themselves, as far as their arguments tell.
    """

    places: tuple[SourcePlace, ...]
    location: SourceLocation | None
    argument: str
    guards: GuardProgram | None
    is_of_data: bool
    work: Mapping[int, int]
    seconds: float
    is_of_block: bool
    alone: frozenset[Any]


def note_refusal(
    error: CaptureError,
    staged: Mapping[FunctionType, FunctionType],
    argument: str,
    guards: GuardProgram,
    is_of_data: bool,
    seconds: float,
) -> None:
    """Keep what is known of a refusal with it, and nothing else: its traceback holds arrays."""
    codes = {
        code: _defined_in(function, code)
        for function, made in staged.items()
        for code in codes_in(made.__code__)
    }
    places = tuple(_places(error.__traceback__, codes))
    # What is said of a result is said at the caller's line.
    location = None if error.is_of_result else vars(error).get("location")
    if error.refusal is None:
        for place in reversed([x for x in places[:-1] if not _is_around(x, places[-1])]):
            error.add_note(f"  called at {line_text(place.location).lstrip()}")
    error.refusal = Refusal(
        places,
        location,
        argument,
        guards.deciding(),
        is_of_data,
        error.work,
        seconds,
        error.is_of_block,
        error.alone,
    )
    error.__traceback__ = error.__context__ = error.__cause__ = None


def _is_around(place: SourcePlace, inner: SourcePlace) -> bool:
    """Whether a place is an expression, or the line of it that another place is in."""
    is_same = place.function is inner.function and place.line == inner.line
    return place.is_inner or (is_same and inner.is_inner and not place.calls_itself)


def _defined_in(function: FunctionType, staged: CodeType) -> FunctionType:
    """A function of the code that was staged: the function itself, or one like those that it
    defines, whose variables of enclosing functions have no value.
    """
    key = _written_at(staged)
    if key == _written_at(function.__code__) or staged.co_name.startswith("<"):
        return function
    for code in codes_in(function.__code__):
        if _written_at(code) == key:
            cells = tuple(CellType() for _ in code.co_freevars)
            return FunctionType(code, function.__globals__, code.co_name, None, cells)
    return function


def _written_at(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _places(
    traceback: TracebackType | None, codes: Mapping[CodeType, FunctionType]
) -> Iterator[SourcePlace]:
    last = None
    seen: set[FunctionType] = set()
    frames = [each for each in _tracebacks(traceback) if each.tb_frame.f_code in codes]
    for number, frame in enumerate(frames):
        code = frame.tb_frame.f_code
        function = codes[code]
        is_expression = code.co_name.startswith("<")
        if function is not last or is_expression:
            is_whole = code.co_name == function.__code__.co_name and function not in seen
            calls_itself = any(each.tb_frame.f_code is code for each in frames[number + 1 :])
            seen.add(function)
            last = function
            yield _place(function, frame, is_expression and not is_whole, calls_itself)


def _tracebacks(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _place(
    function: FunctionType, traceback: TracebackType, is_inner: bool, calls_itself: bool
) -> SourcePlace:
    positions = [*traceback.tb_frame.f_code.co_positions()]
    line, end, left, right = positions[traceback.tb_lasti // 2]
    if line is None or end is None or left is None or right is None:
        return SourcePlace(function, traceback.tb_lineno, None, is_inner, calls_itself)
    return SourcePlace(function, line, (line, left, end, right), is_inner, calls_itself)
