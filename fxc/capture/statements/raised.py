"""What is raised by a condition that is not known, and handled in the program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType, MethodType
from typing import Any

from fxc.ir.error_kinds import EXCEPTION

from ..forms.options import one_holds
from ..forms.truths import demand, truth
from ..numbers.python_numbers import logical_not
from ..regions.needed import StatementDoor
from ..session.locations import OURS, is_users
from ..session.refusing import HANDLED_BY_PYTHON, How, Request, Respecialise, refuse
from ..values.objects import has_python_method, is_python_function
from ..values.operands import Traced

# Note [Handled in the graph]
# What is raised by a condition that is not known, in a ``try`` of the program or in a function that
# one calls, goes to the handler by a branch. The capture begins again with requests for the lines
# on the way: that of the ``raise``, those of the calls, and that in the ``try``. These lines are
# written otherwise (``fxc.capture.staging.handled``). A ``raise`` sets a flag and leaves the
# function. A call, or another operation that may raise, is taken apart from what stands around it
# and is ``checked``: what it gives is of no meaning where its flags say that it has raised, and
# nothing but a branch on them comes next, in which stands a copy of the handler, or what leaves the
# function in turn. An exception is known by its class; nothing that it is made of is computed. Who
# looks at the exception gets it from Python, as does whoever is not checked: there it is demanded
# that nothing has been raised. If the program cannot be captured so, it is captured without.


def checking(door: StatementDoor, *called: object) -> int:
    """Before an operation, or a call of one thing: what it raises is tested next. Other functions
    than Python's go on behind what a function that they are given raises.
    """
    forget(door)
    checks = door.unsure.checks
    checks.append((next(_frames()) if all(map(_stops, called)) else None, door.depth()))
    return len(checks)


def _stops(called: Any) -> bool:
    """Whether nothing is done behind what a call raises."""
    if isinstance(called, type):
        return has_python_method(called, "__init__") and not has_python_method(called, "__new__")
    is_search = getattr(called, "__name__", "") == "index"
    return is_search or isinstance(called, MethodType) or is_python_function(called)


def forget(door: StatementDoor) -> None:
    """Forget the checks that an exception has left, in the function that runs and in those that it
    called.
    """
    unsure, (_, *around) = door.unsure, _frames()
    unsure.checks = [each for each in unsure.checks if each[0] in around]
    unsure.pending = []


def checked(door: StatementDoor, place: int, value: object) -> object:
    """What the operation has given, behind it."""
    del door.unsure.checks[place - 1 :]
    return value


def has_raised(door: StatementDoor, is_last: bool, kinds: Any = Exception) -> object:
    """Whether the operation has raised one of these, and no handler before has taken it."""
    unsure = door.unsure
    found = [each for each in unsure.pending if issubclass(each[0], kinds)]
    unsure.pending = [] if is_last else [x for x in unsure.pending if x not in found]
    if not found:
        return False
    unsure.leaving = [kind for kind, _ in found]
    flags = [flag for _, flag in found]
    if len(flags) == 1 and flags[0] is True:
        return True
    holds = one_holds(flags)
    if type(truth(holds)) is bool:
        raise refuse(EXCEPTION, f"a handler for a {found[0][0].__name__} of known numbers")
    return holds


def leaves(door: StatementDoor, line: int) -> None:
    """Note what leaves the function at a line."""
    unsure, place = door.unsure, (next(_frames()), line)
    kinds = {*unsure.leaving, unsure.kinds.get(place, unsure.leaving[0])}
    if len(kinds) > 1:
        raise refuse(EXCEPTION, "an exception of one class or another")
    (unsure.kinds[place],) = kinds


def signals(door: StatementDoor, kind: Callable[[], Any]) -> bool:
    """Whether ``raise kind()`` stands in a branch that is captured together with its other arm."""
    unsure, found = door.unsure, kind()
    if not (isinstance(found, type) and issubclass(found, Exception)):
        return False
    around = _try_around(door, found)
    if around is None or door.depth() <= around[1]:
        return False
    if any(has_python_method(found, each) for each in _MAKING):
        return False
    unsure.pending.append((found, True))
    return True


_MAKING = "__init__", "__new__"


def handed(door: StatementDoor, result: object, *raised: Any) -> object:
    """What a function returns, if it has not raised anything at these lines, by their flags."""
    frame = next(_frames())
    for line, flag in zip(raised[::2], raised[1::2], strict=True):
        if flag is not False:
            signal(door, door.unsure.kinds[frame, line], flag, frame.f_back)
    return result


def signal(door: StatementDoor, kind: type, flag: Any, called_by: FrameType | None) -> None:
    """Note that a call raises such an exception if ``flag`` holds: it is tested next, or else it is
    demanded that it does not hold.
    """
    if isinstance(flag, Traced) and _is_tested(door, kind, called_by):
        door.unsure.pending.append((kind, flag))
    else:
        demand(logical_not(flag) if isinstance(flag, Traced) else not flag)


def raises_if(door: StatementDoor, kind: type, flag: Callable[[], Any]) -> Any:
    """What ``flag`` gives, which is whether an operation raises, if that is tested next; else None:
    the operation is to demand that it does not.
    """
    if _try_around(door, kind) is None or not _is_tested(door, kind):
        return None
    found = flag()
    door.unsure.pending.append((kind, found))
    return found


def _is_tested(door: StatementDoor, kind: type, called_by: FrameType | None = None) -> bool:
    checks, frame = door.unsure.checks, next(_frames(called_by), None)
    if checks[-1:] == [(frame, door.depth())]:
        return True
    ask(door, kind, called_by)
    return False


def ask(door: StatementDoor, kind: type | None = None, below: FrameType | None = None) -> None:
    """Ask for the lines between an operation that may raise and the ``try`` around it."""
    around, session = _try_around(door, kind), door.session
    if around is None or HANDLED_BY_PYTHON in session.requests:
        return
    found = set[Request]()
    for frame in _frames(below):
        if is_users(frame):
            found.add(Request(frame.f_code.co_filename, How.HANDLED, frame.f_lineno))
        if frame is around[0]:
            break
    if not found <= session.requests:
        raise Respecialise(*found)


def _try_around(door: StatementDoor, kind: type | None) -> Any:
    """The innermost ``try`` whose body is being run and that may handle such an exception."""
    frames = {frame: frame.f_lineno for frame in _frames()}
    tries = door.unsure.tries
    tries[:] = [each for each in tries if each[0] in frames]
    kinds = {each.__name__ for each in kind.__mro__} if kind is not None else set[str]()
    for each in reversed(tries):
        if frames[each[0]] <= each[2] and (kind is None or not kinds.isdisjoint(each[3:])):
            return each
    return None


def _frames(frame: FrameType | None = None) -> Iterator[FrameType]:
    """The frames of the program, from the innermost out; those of libraries among them."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(OURS):
            yield frame
        frame = frame.f_back
