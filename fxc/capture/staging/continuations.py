"""Branches that are written otherwise, where their variables cannot be joined, or too many stand
inside of each other.

See Note [What follows a branch] and Note [Deep branches].
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import COUNTED_SIZE, ITERATOR
from fxc.ir.later import import_later

from ..session.locations import user_location
from ..session.refusing import How, Request, Requests, refuse
from .jumps import RESULT
from .leaving import is_plain, jumps_in, jumps_of_loop
from .nodes import (
    FUNCTIONS,
    call_of,
    change_blocks,
    copied,
    is_endless,
    name_of,
    placed,
    set_flag,
    walk,
    walk_statements,
)

if TYPE_CHECKING:
    from fxc.ir.errors import CaptureError

    from ..session.session import Session

# Note [What follows a branch]
# A variable that is of one type or size behind one arm and of another behind the other is no value
# of the graph. What follows the branch in its block can be captured for each of them: the capture
# begins again with a copy of these statements at the end of each arm, so that nothing is joined but
# at the end of the block, which may be that of the function, where results may differ. Each such
# branch doubles what follows it, so that there are few of them. Where sizes differ even there, or
# the next iteration of a loop has the variable, it is an array of one size or another behind the
# branch, by a copy. An assignment of ``a if test else b`` becomes such a branch, with an assignment
# in each arm.

# Note [What follows a loop]
# ``return np.array(path)`` in a loop that appends to ``path`` would be an array whose size is
# counted in the loop. The loop is left by a ``break`` instead, with a flag, and what it returns is
# computed behind it, of the same variables. So are returns in branches, but not those in a ``with``
# or ``try``, which end behind what is returned.

# See Note [Rooms with one door].
drive = import_later("fxc.capture.staging.driving", "drive")
handle_in_graph = import_later("fxc.capture.staging.handled", "handle_in_graph")

_COPYING = How.WITH_REST, How.LEFT_FIRST, How.WITHOUT_ONE
_ASKED = *_COPYING, How.DRIVEN, How.ENDED, How.HANDLED
_MOST = 6
_INERT = (
    *(ast.Name, ast.Constant, ast.Subscript, ast.Slice, ast.Tuple, ast.expr_context),
    *(ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop),
    *(ast.BinOp, ast.operator),
)
Asked = frozenset[tuple[int, How]]  # lines of a file, and how the branches there are written


def request_for(line: str, how: How) -> Request:
    """The request for a branch; ``line`` is its file and line."""
    file, _, number = line.rpartition(":")
    return Request(file, how, int(number))


def may_ask(requests: Requests) -> bool:
    """Whether there may be one more such branch."""
    return sum(each.how in _COPYING for each in requests) < _MOST


def written_otherwise(session: Session, error: CaptureError | None) -> Requests:
    """Requests to write a refused statement otherwise: loops over generators as functions; a choice
    as a branch; or a loop that returns an array whose size is counted in it, the innermost first.
    """
    requests, found = session.requests, Requests()
    if error is not None and not session.run_by_python <= requests:
        return frozenset(session.run_by_python)
    if error is None or not may_ask(requests):
        return found
    if error.kind is COUNTED_SIZE:
        loops = (each for each in reversed(session.statements) if hasattr(each, "start_of"))
        lines = (each.line for each in loops if any(x.startswith(RESULT) for x in each.values))
        wanted = (request_for(line, How.LEFT_FIRST) for line in lines)
        return frozenset([each for each in wanted if each not in requests][:1])
    choice = session.choices.get(error.args[0])
    return found if choice is None else Requests((choice,))


def note_run(session: Session, items: GeneratorType[Any, Any, Any]) -> bool:
    """Note that Python runs a generator at this line; whether it is to be driven instead.

    Refuses one that is being driven.
    """
    if session.generators.get(items, items) is None:
        raise refuse(ITERATOR, "next() of a generator in a loop over it")
    place = user_location()
    if place is None or not is_new(session, items):
        return False
    wanted = Request(place.file, How.DRIVEN, place.line)
    session.run_by_python.add(wanted)
    return wanted in session.requests


def is_new(session: Session, items: object) -> bool:
    """Whether this is a generator of the program of which nothing has been asked."""
    if type(items) is not GeneratorType or session.generators.get(items) is None:
        return False
    return inspect.getgeneratorstate(items) == inspect.GEN_CREATED


def asked(requests: Requests, filename: str) -> Asked:
    """The branches of a file that are written otherwise."""
    found = (each for each in requests if each.how in _ASKED and each.about == filename)
    return frozenset((int(each.which), each.how) for each in found)


def rewrite(node: ast.AST, branches: Asked) -> None:
    """Write these branches and loops in a function otherwise."""
    if driven := {line for line, how in branches if how is How.DRIVEN}:
        drive(node, driven)
    if handled := {line for line, how in branches if how is How.HANDLED}:
        handle_in_graph(node, handled)
    without = {line for line, how in branches if how is How.WITHOUT_ONE}
    for each in walk_statements(node) if without else ():
        if isinstance(each, ast.FunctionDef):
            lines = range(each.lineno, (each.end_lineno or each.lineno) + 1)
            vars(each)["without_one"] = not without.isdisjoint(lines)
    left = {line for line, how in branches if how is How.LEFT_FIRST}
    if left:
        for block, holder, name in reversed([*_blocks(node)]):  # the innermost first
            setattr(holder, name, [x for each in block for x in _left_first(each, left)])
    raising = {line for line, how in branches if how is How.ENDED}
    for each in walk_statements(node) if raising else ():
        if isinstance(each, ast.If) and each.lineno in raising:
            vars(each)["is_ended"] = True
    rest = {line for line, how in branches if how is How.WITH_REST}
    for block, _, _ in _blocks(node) if rest else ():
        _take_in(block, rest)


def ended(node: ast.stmt, part: str, arm: list[ast.stmt]) -> list[ast.stmt]:
    """An arm of a branch, which ends where it raises if that is asked: Note [Arms that raise]."""
    if not (arm and getattr(node, "is_ended", False)):
        return arm
    handler = ast.ExceptHandler(None, None, [ast.Expr(call_of(part, "end_raising"))])
    return [placed(node, ast.Try(arm, [handler], [], []))]


def _blocks(node: ast.AST) -> Iterator[tuple[list[ast.stmt], ast.AST, str]]:
    """The blocks of statements in a function, from the outside in."""
    for each in walk(node):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(each, name, None)
            if isinstance(block, list):
                yield block, each, name


def _take_in(statements: list[ast.stmt], lines: set[int]) -> None:
    for place in reversed(range(len(statements))):  # the last first: it is copied as it is then
        branch, rest = _as_branch(statements[place], lines), statements[place + 1 :]
        statements[place] = branch
        if isinstance(branch, ast.If) and branch.lineno in lines and rest:
            branch.body = [*branch.body, *rest]
            branch.orelse = [*branch.orelse, *map(copied, rest)]
            del statements[place + 1 :]


def _left_first(node: ast.stmt, lines: set[int]) -> list[ast.stmt]:
    """A loop at one of these lines that is left before what it returns is computed."""
    if not isinstance(node, ast.For | ast.While) or node.lineno not in lines:
        return [node]
    is_endless_loop = is_endless(node) and not any(
        isinstance(each, ast.Break) for each in jumps_of_loop(node)
    )
    before: list[ast.stmt] = []
    behind: list[ast.stmt] = []
    for block, place in [*_returns_in(node.body)]:
        returned = block[place]
        flag = f"__fxc_left_{returned.lineno}_{returned.col_offset}__"
        before.append(set_flag(node, flag, False))
        block[place:] = [set_flag(returned, flag, True), placed(returned, ast.Break())]
        behind.append(placed(returned, ast.If(name_of(flag), [returned], [])))
    others = any(isinstance(each, ast.Return) for each in jumps_in(node))
    if behind and is_endless_loop and not others:
        behind[-1:] = behind[-1].body  # type: ignore[attr-defined]
    return [*before, node, *behind]


def _returns_in(block: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int]]:
    """Where the returns are that stand in a block, or in branches of it."""
    for place, each in enumerate(block):
        if isinstance(each, ast.Return):
            yield block, place
            return
        if isinstance(each, ast.If):
            yield from _returns_in(each.body)
            yield from _returns_in(each.orelse)


def _as_branch(node: ast.stmt, lines: set[int]) -> ast.stmt:
    """An assignment of one value or another, at one of these lines, as a branch."""
    choice = _choice_of(node)
    if choice is None or choice.lineno not in lines:
        return node
    arms = []
    for value in (choice.body, choice.orelse):
        arm: Any = copied(node)
        arm.value = value
        arms.append([_as_branch(arm, lines)])
    return placed(choice, ast.If(choice.test, *arms))


def note_choice(node: ast.stmt) -> None:
    """Note a choice that may become a branch."""
    choice = _choice_of(node)
    if choice is not None:
        choice.is_assigned = True  # type: ignore[attr-defined]


def _choice_of(node: ast.AST) -> ast.IfExp | None:
    """``a if test else b`` in an assignment that may be made in each of two branches instead: the
    target of one in place is read first, so that the test may not change it.
    """
    if not isinstance(node, ast.Assign | ast.AugAssign) or not isinstance(node.value, ast.IfExp):
        return None
    parts = () if isinstance(node, ast.Assign) else (node.value.test, node.target)
    is_safe = all(isinstance(each, _INERT) for part in parts for each in ast.walk(part))
    return node.value if is_safe else None


# Note [Deep branches]
# A branch is rewritten as a loop, and Python compiles twenty blocks inside of each other at most.
# So many are soon there: each ``elif`` stands in the ``else`` of the one before, and so does what
# follows ``if …: return`` once there are no jumps. What stands last in an arm, deeper than
# ``_DEEPEST`` branches, is moved behind the outermost one, where a flag says whether it is to run.

_DEEPEST = 12  # the others are for loops, handlers and what stands first in an arm


def without_deep_branches(block: list[ast.stmt], flag: Callable[[], str]) -> list[ast.stmt]:
    """A block without jumps, and without branches so deep; ``flag`` gives names of variables."""
    made, todo = list[ast.stmt](), block[::-1]
    while todo:
        statement = todo.pop()
        arm = _deep_arm(statement)
        if arm is None:
            if not isinstance(statement, FUNCTIONS):
                change_blocks(statement, partial(without_deep_branches, flag=flag))
            made.append(statement)
            continue
        moved, name = arm[:], flag()
        arm[:] = [set_flag(moved[0], name, True)]
        made.append(set_flag(statement, name, False))
        todo += [placed(moved[0], ast.If(name_of(name), moved, [])), statement]
    return made


def _deep_arm(statement: ast.stmt) -> list[ast.stmt] | None:
    """An arm that ends with a branch which is too deep in a statement."""
    arms = [[statement]]
    for _ in range(_DEEPEST + 1):
        ends = [arm[-1] for arm in arms if arm]
        branches = [each for each in ends if isinstance(each, ast.If) and not is_plain(each)]
        arms = [arm for each in branches for arm in (each.body, each.orelse)]
    deep = (arm for arm in arms if arm and isinstance(arm[-1], ast.If) and not is_plain(arm[-1]))
    return next(deep, None)
