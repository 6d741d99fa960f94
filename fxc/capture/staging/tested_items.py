"""Loops over the items for which a test holds.

The body of a loop over a filter or a generator may change what the test reads, so an item is
tested when it comes up, in the loop itself. ``for x in filter(test, items)`` becomes::

    over, test = __fxc__.untested(filter, test, items)
    for item in over:
        if test(item):
            x = item
            …

and ``for x in (f(k) for k in items if test(k))``, with a ``k`` of its own::

    for k in items:
        if test(k):
            x = f(k)
            …
"""

from __future__ import annotations

import ast
from typing import Any

from .nodes import FUNCTIONS, door_call, name_of, placed, walk

# What has variables of its own, or assigns variables of the function, or leaves it.
_SCOPES = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom),
)


def test_in_loops(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements of a function, with such loops in this form."""
    tests = _Tests()
    return [each for statement in body for each in tests.of(statement)]


class _Tests(ast.NodeTransformer):
    def of(self, statement: ast.stmt) -> list[ast.stmt]:
        found = self.visit(statement)
        return found if isinstance(found, list) else [found]

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.expr, *FUNCTIONS)):
            return node
        return super().visit(node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        match node.iter:
            case ast.Call(ast.Name("filter"), [test, items], []):
                if isinstance(test, ast.Starred) or isinstance(items, ast.Starred):
                    return node
                return _of_filter(node, node.iter.func, test, items)
            case ast.GeneratorExp(_, [only]) if not only.is_async and _is_flat(node.iter, only):
                return [_of_generator(node, node.iter.elt, only)]
        return node


def _of_filter(node: ast.For, function: ast.expr, test: ast.expr, items: ast.expr) -> Any:
    number = f"{node.lineno}_{node.col_offset}"
    over, holds, item = (f"__fxc_{part}{number}__" for part in ("over", "holds", "item"))
    parts = ast.Tuple([name_of(over, ast.Store()), name_of(holds, ast.Store())], ast.Store())
    begin = ast.Assign([parts], door_call("untested", function, test, items))
    asked = ast.Call(name_of(holds), [name_of(item)], [])
    loop = _tested(node, name_of(item, ast.Store()), name_of(over), asked, name_of(item))
    return [placed(node, begin), loop]


def _is_flat(made: ast.GeneratorExp, only: ast.comprehension) -> bool:
    """Whether the names in a generator are its own and those around it."""
    return not any(isinstance(each, _SCOPES) for each in walk(made.elt, only.target, *only.ifs))


def _of_generator(node: ast.For, value: ast.expr, only: ast.comprehension) -> ast.stmt:
    own = {each.id for each in walk(only.target) if isinstance(each, ast.Name)}
    number = f"{node.lineno}_{node.col_offset}"
    for each in walk(value, only.target, *only.ifs):
        if isinstance(each, ast.Name) and each.id in own:
            each.id = f"__fxc_{each.id}{number}__"
    tests = only.ifs
    asked = ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0] if tests else None
    return _tested(node, only.target, only.iter, asked, value)


def _tested(
    node: ast.For, target: ast.expr, over: ast.expr, asked: ast.expr | None, value: ast.expr
) -> ast.stmt:
    """The loop ``node`` over these items, those that are ``asked`` for."""
    body: list[ast.stmt] = [ast.Assign([node.target], value), *node.body]
    if asked is not None:
        body = [ast.If(asked, body, [])]
    return placed(node, ast.For(target, over, body, node.orelse))
