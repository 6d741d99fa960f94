"""Where ``break``, ``continue``, ``return`` and ``raise`` are, and which of them stay."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .nodes import FUNCTIONS, children, own_statements, placed, walk


class Returned(ast.stmt):
    """A return whose value is known already: behind a loop that was left by one."""

    _fields = ()


_LOOPS = (ast.For, ast.While)
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise, Returned)
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)
_NAMES = (ast.Name, ast.Attribute)
_KEEPING = (ast.Match, ast.TryStar)


def is_kept(node: ast.stmt) -> bool:
    """Whether the jumps of a ``try`` statement stay: one out of ``finally`` drops an exception."""
    if not isinstance(node, ast.Try):
        return False
    jumps = _jumps_among(node.finalbody)
    return any(isinstance(each, ast.Return | ast.Break | ast.Continue) for each in jumps)


def is_plain(statement: ast.stmt) -> bool:
    """Whether a statement keeps its jumps, see ``mark_plain``."""
    return bool(getattr(statement, "plain", False))


def jumps_in(node: ast.AST) -> list[ast.stmt]:
    """The jumps inside a statement that lead out of it."""
    found = _jumps_among(_parts(node))
    if not isinstance(node, _LOOPS):
        return found
    of_else = _jumps_among(node.orelse)
    leaving = (ast.Return, ast.Raise, Returned)
    return [each for each in found if isinstance(each, leaving) or each in of_else]


def jumps_of_loop(node: ast.For | ast.While) -> list[ast.stmt]:
    """The ``break`` and ``continue`` statements that belong to a loop."""
    jumps = _jumps_among(node.body)
    return [each for each in jumps if isinstance(each, ast.Break | ast.Continue)]


def _jumps_among(nodes: Iterable[ast.AST]) -> list[ast.stmt]:
    """The jumps among the nodes, and those inside that lead out of them."""
    found: list[ast.stmt] = []
    for each in nodes:
        if isinstance(each, _JUMPS):
            found.append(each)
        elif not isinstance(each, ast.expr):
            found += jumps_in(each)
    return found


def jumps_behind_exits(body: list[ast.stmt]) -> bool:
    """Whether there are jumps behind which a context manager or a ``finally`` may still raise."""
    return any(
        _is_left_by_code(each) and not all(isinstance(x, ast.Raise) for x in jumps_in(each))
        for each in own_statements(body)
    )


def _is_left_by_code(node: ast.stmt) -> bool:
    return isinstance(node, ast.With) or (isinstance(node, ast.Try) and bool(node.finalbody))


def always_jumps(statements: list[ast.stmt]) -> bool:
    """Whether the statements end with a jump in any case."""
    for each in statements:
        if isinstance(each, _JUMPS):
            return True
        if isinstance(each, ast.If) and always_jumps(each.body) and always_jumps(each.orelse):
            return True
    return False


def mark_plain(body: list[ast.stmt]) -> bool:
    """Mark the branches and loops around jumps that are kept, and those that other code runs in
    between, which is no part of them.

    Gives whether there are returns in branches or loops that can be replaced.
    """
    every = list(own_statements(body))
    around = [each for each in every if isinstance(each, ast.If | ast.For | ast.While)]
    inside = {each: jumps_in(each) for each in around}
    kept = {
        jump
        for each in every
        if isinstance(each, _KEEPING) or is_kept(each)
        for jump in jumps_in(each)
        if not isinstance(jump, ast.Raise)
    }
    for each in around:
        own = [] if isinstance(each, ast.If) else jumps_of_loop(each)
        vars(each)["plain"] = not kept.isdisjoint([*inside[each], *own]) or yields(each)
    returns = {each for each in every if isinstance(each, ast.Return)}
    returning = [each for each in around if not returns.isdisjoint(inside[each])]
    stay = not returns.isdisjoint(kept) or any(map(is_plain, returning))
    if stay:
        _mark(returning)
    ends = {
        jump
        for each in around
        if not isinstance(each, ast.If) and is_plain(each)
        for jump in jumps_of_loop(each)
    }
    _mark(each for each in around if not ends.isdisjoint(inside[each]))
    return bool(returning) and not stay


def _mark(statements: Iterable[ast.stmt]) -> None:
    for each in statements:
        vars(each)["plain"] = True


def yields(node: ast.AST) -> bool:
    """Whether a statement or an expression has a ``yield`` or ``await``, but in inner functions."""
    return isinstance(node, _YIELDS) or any(map(yields, _parts(node)))


def _parts(node: ast.AST) -> list[ast.AST]:
    return [] if isinstance(node, FUNCTIONS) else children(node)


def handles(node: ast.Try) -> ast.expr:
    """The last line in front of the handlers of a ``try`` statement, and the names of the classes
    that they are for as they are written.
    """
    kinds = [each.type for each in node.handlers]
    named = [part for each in kinds if each is not None for part in walk(each)]
    names = [x.id if isinstance(x, ast.Name) else x.attr for x in named if isinstance(x, _NAMES)]
    names += ["Exception" for each in kinds if each is None]
    end = node.handlers[0].lineno - 1 if node.handlers else 0
    parts = [ast.Constant(end), *(ast.Constant(each) for each in names)]
    return placed(node, ast.Tuple([*parts], ast.Load()))
