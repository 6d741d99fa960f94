"""Pieces of syntax of which drivers and parts are made."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from types import CellType, FunctionType
from typing import Any

from fxc.capture.staging.nodes import UNSET_NAME, copied, name_of, placed
from fxc.capture.staging.staging import Named, code_like

from .function_plan import Statement, always_leaves
from .statement_syntax import KEPT, METHOD, TAKEN

RESULT_NAME = "__fxc_result__"
REPLAY_NAME = "__fxc_replay__"
HELPER_NAME = "__fxc_helper__"
ERROR_NAME = "__fxc_name_error__"


def values_of(names: Sequence[str], context: ast.expr_context | None = None) -> ast.expr:
    """One variable, or a tuple of several; None if there are none."""
    context = context or ast.Load()
    if len(names) == 1:
        return name_of(names[0], context)
    if not names:
        return ast.Constant(None)
    return ast.Tuple([name_of(name, context) for name in names], context)


def tagged(tag: int, value: ast.expr) -> ast.expr:
    return ast.Tuple([ast.Constant(tag), value], ast.Load())


def positional(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def call_of(name: str, given: Sequence[str]) -> ast.stmt:
    call = ast.Call(name_of(name), [name_of(each) for each in given], [])
    return ast.Assign([name_of(RESULT_NAME, ast.Store())], call)


def if_bound(call: ast.stmt, names: Sequence[str]) -> ast.stmt:
    """The call, if all its arguments have a value; else the statements are to be run."""
    values = ast.Expr(ast.Tuple([name_of(name) for name in names], ast.Load()))
    given = ast.Assign([name_of(RESULT_NAME, ast.Store())], name_of(REPLAY_NAME))
    handler = ast.ExceptHandler(name_of(ERROR_NAME), None, [given])
    return ast.Try([values], [handler], [call], [])


def or_unset(place: ast.stmt, name: str, made: str) -> ast.stmt:
    """``made = name``, or ``UNSET`` if that is without a value."""
    value, mark = (
        ast.Assign([name_of(made, ast.Store())], name_of(each)) for each in (name, UNSET_NAME)
    )
    handler = ast.ExceptHandler(name_of(ERROR_NAME), None, [mark])
    return placed(place, ast.Try([value], [handler], [], []))


def let_go(run: Sequence[Statement]) -> list[ast.stmt]:
    """Let go of what was taken out of expressions once it has been used; what a loop or a branch
    takes is let go of in it.
    """
    read = frozenset[str]().union(*(each.reads for each in run)) - run[-1].after
    read -= frozenset[str]().union(*(each.binds for each in run if each.blocks))
    names = sorted(name for name in read if name.startswith(TAKEN))
    if not names or always_leaves(run):
        return []
    return [emptied(run[-1].node, names)]


def emptied(place: ast.stmt, names: Iterable[str]) -> ast.stmt:
    """``a = b = None``."""
    targets = [name_of(name, ast.Store()) for name in names]
    return placed(place, ast.Assign(targets, ast.Constant(None)))


class Returns(ast.NodeTransformer):
    """Statements whose ``return`` becomes what ``made`` makes of it, but for inner functions."""

    def __init__(self, made: Callable[[ast.Return], ast.stmt]) -> None:
        self._made = made

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return self._made(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]


class Moved(ast.NodeTransformer):
    """What was taken out of an expression is let go of where it is read, as Python does.

    That is ``(taken, taken := None)[0]``.
    """

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_taken = node.id.startswith(TAKEN) and not node.id.startswith((METHOD, KEPT))
        if not is_taken or not isinstance(node.ctx, ast.Load):
            return node
        empty = ast.NamedExpr(ast.Name(node.id, ast.Store()), ast.Constant(None))
        both = ast.Tuple([node, empty], ast.Load())
        return placed(node, ast.Subscript(both, ast.Constant(0), ast.Load()))

    def visit_ListComp(self, node: ast.expr) -> Any:
        return node  # where nothing may be assigned

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = visit_ListComp


def rewrite_own(node: ast.stmt, rewrite: ast.NodeTransformer) -> None:
    """Rewrite the expressions of a statement, but for those in its blocks."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            setattr(node, name, rewrite.visit(copied(value)))
        elif isinstance(value, list) and all(isinstance(x, ast.expr | ast.withitem) for x in value):
            setattr(node, name, [rewrite.visit(copied(each)) for each in value])


def function_node(
    function: FunctionType,
    args: ast.arguments,
    body: list[ast.stmt],
    is_asynchronous: bool = False,
) -> Any:
    kind: Any = ast.AsyncFunctionDef if is_asynchronous else ast.FunctionDef
    node = kind(function.__name__, args, body or [ast.Pass()], [])
    node.lineno = node.end_lineno = function.__code__.co_firstlineno
    node.col_offset = node.end_col_offset = 0
    placed(node, args)
    return node


def function_like(function: FunctionType, node: Named, cells: dict[str, Any]) -> FunctionType:
    """A function in place of another one: with its globals and the variables of functions around
    it, and besides ``cells``, or what is in them.
    """
    code = function.__code__
    made = code_like(node, cells, code)
    own = {
        name: each if isinstance(each, CellType) else CellType(each) for name, each in cells.items()
    }
    known = own | dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(known[name] for name in made.co_freevars)
    found = FunctionType(made, function.__globals__, function.__name__, None, closure)
    found.__qualname__ = function.__qualname__
    found.__module__ = function.__module__
    return found
