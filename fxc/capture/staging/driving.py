"""Generators of the program as functions that hand on what they yield.

::

    def rises(x):                        def rises(x):
        for i in range(1, len(x)):           for i in range(1, len(x)):
            if x[i] > x[i - 1]:                  if x[i] > x[i - 1]:
                yield i                              __fxc__.took(i)

    for i in rises(x):                   def __fxc_body__(item):
        total += x[i]                        nonlocal total
                                             i = item
                                             total += x[i]
                                         __fxc__.driven(rises(x), __fxc_body__)

See Note [Generators that are driven].
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .leaving import jumps_in, jumps_of_loop, yields
from .liveness import assigned, handed_on
from .nodes import (
    FUNCTIONS,
    change_blocks,
    children,
    door_call,
    name_of,
    own_statements,
    placed,
    walk,
)

# Note [Generators that are driven]
# Python runs a generator of the program while a capture lasts, as long as its conditions and the
# lengths of its loops are known. Where a capture has failed that ran one in a ``for``, or gave one
# to a function that takes up all its items, the next one drives it: its code is a function that
# calls another one for each item that it yields, and the body of the loop is that function. Both
# run by turns as they do in Python, and the loops of the generator may be loops of the graph. This
# is not done where more is told apart: ``break`` and ``return`` in the body, what is sent to the
# generator or returned by it, and a ``yield`` within ``try`` or ``with``.

_ITEM = "__fxc_given__"


def hand_out(function: ast.AST) -> bool:
    """Let a generator hand out what it yields; whether that says all that it does."""
    if not isinstance(function, ast.FunctionDef):
        return False
    function.body = _handing_out(function.body)
    own = list(own_statements(function.body))
    returns = (each.value for each in own if isinstance(each, ast.Return))
    return not any(map(yields, own)) and not any(value is not None for value in returns)


def _handing_out(block: list[ast.stmt]) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for each in block:
        match each:
            case ast.Expr(ast.Yield(value)):
                each = _taken(each, value or ast.Constant(None))
            case ast.Expr(ast.YieldFrom(value)):
                item = f"__fxc_yielded_{each.lineno}_{each.col_offset}__"
                body = [_taken(each, name_of(item))]
                each = placed(each, ast.For(name_of(item, ast.Store()), value, body, []))
            case ast.If() | ast.For() | ast.While() | ast.Match():
                change_blocks(each, _handing_out)
        made.append(each)
    return made


def _taken(place: ast.stmt, value: ast.expr) -> ast.stmt:
    return placed(place, ast.Expr(door_call("took", value)))


def drive(node: ast.AST, lines: set[int]) -> None:
    """Make functions of the bodies of loops at these lines, where that says what they do."""
    functions = [each for each in walk(node) if isinstance(each, ast.FunctionDef)]
    for function in functions:
        loops = [each for each in own_statements(function.body) if isinstance(each, ast.For)]
        wanted = [(each, _shared(function, each)) for each in loops if each.lineno in lines]
        for loop, names in reversed(wanted):  # the inner ones first
            if names is not None:
                _put_in_place(function, loop, _driven(function, loop, names))


def _shared(function: ast.FunctionDef, loop: ast.For) -> frozenset[str] | None:
    """The variables that the body of a loop has in common with the function around it; None if it
    can be no function of its own.
    """
    jumps = (*jumps_in(loop), *jumps_of_loop(loop))
    inside = walk(loop.target, *loop.body)
    if any(isinstance(each, ast.Return | ast.Break) for each in jumps) or any(
        isinstance(each, ast.Delete | ast.Import | ast.ImportFrom | ast.ClassDef) or yields(each)
        for each in inside
    ):
        return None
    if any(isinstance(each, ast.Name) and each.id == "super" for each in inside):
        return None
    own = assigned([loop.target, *loop.body])
    handed = handed_on(function.body)[loop]
    within = (each for each in inside if isinstance(each, FUNCTIONS))
    shared = own & frozenset[str](handed.at_head | handed.behind).union(*map(_names, within))
    rest = [each for each in own_statements(function.body) if each not in inside]
    bound = assigned(each for each in _without(rest, loop)) | _names(function.args)
    return shared if shared <= bound | _declared(function) else None


def _without(statements: list[ast.stmt], loop: ast.For) -> Iterator[ast.AST]:
    """The parts that bind names of statements outside of a loop, without blocks."""
    for each in statements:
        if isinstance(each, FUNCTIONS):
            yield each
        elif each is not loop:
            yield from (part for part in children(each) if not isinstance(part, ast.stmt))


def _names(node: ast.AST) -> frozenset[str]:
    found = (getattr(each, "id", getattr(each, "arg", None)) for each in walk(node))
    return frozenset(name for name in found if isinstance(name, str))


def _declared(function: ast.FunctionDef) -> frozenset[str]:
    """The names that a function says to be of others."""
    own = own_statements(function.body)
    said = (each.names for each in own if isinstance(each, ast.Global | ast.Nonlocal))
    return frozenset(name for names in said for name in names)


def _driven(function: ast.FunctionDef, loop: ast.For, shared: frozenset[str]) -> list[ast.stmt]:
    """The body as a function, its call for each item, and what follows the loop."""
    name = f"__fxc_body_{loop.lineno}_{loop.col_offset}__"
    own = own_statements(function.body)
    of_all = {x for each in own if isinstance(each, ast.Global) for x in each.names}
    said: list[ast.stmt] = []
    for kind, names in ((ast.Global, shared & of_all), (ast.Nonlocal, shared - of_all)):
        said += [kind(sorted(names))] if names else []
    bind = ast.Assign([loop.target], name_of(_ITEM))
    body = [*said, bind, *_ended_by_returns(loop.body)]
    args = ast.arguments([], [ast.arg(_ITEM)], None, [], [], None, [])
    made = ast.FunctionDef(name, args, body, [])
    if hasattr(made, "type_params"):
        made.type_params = []
    call = ast.Expr(door_call("driven", loop.iter, name_of(name)))
    return [placed(loop, made), placed(loop, call), *loop.orelse]


def _ended_by_returns(block: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a loop with a ``return`` for each ``continue``."""
    made: list[ast.stmt] = []
    for each in block:
        if isinstance(each, ast.Continue):
            each = placed(each, ast.Return(None))
        elif isinstance(each, ast.For | ast.While):
            each.orelse = _ended_by_returns(each.orelse)
        elif not isinstance(each, FUNCTIONS):
            change_blocks(each, _ended_by_returns)
        made.append(each)
    return made


def _put_in_place(function: ast.FunctionDef, loop: ast.For, made: list[ast.stmt]) -> None:
    def changed(block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in block:
            if not isinstance(each, FUNCTIONS):
                change_blocks(each, changed)
            found += made if each is loop else [each]
        return found

    function.body = changed(function.body)
