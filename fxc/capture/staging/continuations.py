"""Branches that are written otherwise, where their variables cannot be joined.

See Note [What follows a branch].
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..session.refusing import How, Request, Requests
from .leaving import leaves_loop
from .liveness import assigned
from .nodes import copied, name_of, placed, walk

# Note [What follows a branch]
# A variable that is of one type or size behind one arm and of another behind the other is no value
# of the graph. What follows the branch in its block can be captured for each of them: the capture
# begins again with a copy of these statements at the end of each arm, so that nothing is joined but
# at the end of the block, which may be that of the function, where results may differ. Each such
# branch doubles what follows it, so that there are few of them. Where sizes differ even there, the
# arms become loops of one iteration or none, which carry arrays of any size.

WAYS = How.WITH_REST, How.ARMS_AS_LOOPS
_MOST = 6
Asked = frozenset[tuple[int, How]]  # lines of a file, and how the branches there are written


def request_for(line: str, how: How) -> Request:
    """The request for a branch; ``line`` is its file and line."""
    file, _, number = line.rpartition(":")
    return Request(file, how, int(number))


def may_ask(requests: Requests) -> bool:
    """Whether there may be one more such branch."""
    return sum(each.how in WAYS for each in requests) < _MOST


def asked(requests: Requests, filename: str) -> Asked:
    """The branches of a file that are written otherwise."""
    found = (each for each in requests if each.how in WAYS and each.about == filename)
    return frozenset((int(each.which), each.how) for each in found)


def rewrite(node: ast.AST, branches: Asked) -> None:
    """Write these branches in a function otherwise."""
    loops = {line for line, how in branches if how is How.ARMS_AS_LOOPS}
    if "range" in assigned(ast.iter_child_nodes(node)):
        loops = set()
    rest = {line for line, how in branches if how is How.WITH_REST} - loops
    for each in walk(node):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(each, name, None)
            if isinstance(statements, list):
                _take_in(statements, rest)
                setattr(each, name, list(_looped(statements, loops)))


def _take_in(statements: list[ast.stmt], lines: set[int]) -> None:
    for place in reversed(range(len(statements))):  # the last first: it is copied as it is then
        branch, rest = statements[place], statements[place + 1 :]
        if isinstance(branch, ast.If) and branch.lineno in lines and rest:
            branch.body = [*branch.body, *rest]
            branch.orelse = [*branch.orelse, *map(copied, rest)]
            del statements[place + 1 :]


def _looped(statements: list[ast.stmt], lines: set[int]) -> Iterable[ast.stmt]:
    """``for _ in range(1 if test else 0): body`` and the like for ``else``."""
    for each in statements:
        if not isinstance(each, ast.If) or each.lineno not in lines or leaves_loop(each):
            yield each
            continue
        count = f"__fxc_once_{each.lineno}_{each.col_offset}__"
        once = ast.IfExp(each.test, ast.Constant(1), ast.Constant(0))
        yield placed(each, ast.Assign([name_of(count, ast.Store())], once))
        yield _loop(each, name_of(count), each.body)
        if each.orelse:
            other = ast.BinOp(ast.Constant(1), ast.Sub(), name_of(count))
            yield _loop(each, other, each.orelse)


def _loop(branch: ast.If, count: ast.expr, body: list[ast.stmt]) -> ast.stmt:
    over = ast.Call(name_of("range"), [count], [])
    return placed(branch, ast.For(name_of("__fxc_turn__", ast.Store()), over, body, []))
