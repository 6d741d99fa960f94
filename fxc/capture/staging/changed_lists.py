"""``for x in items`` where the body changes ``items``: by places, as long as there is one. ::

over = __fxc__.list_to_change(items)
place = 0
while __fxc__.has_place(over, place):
    x = __fxc__.at_place(over, place)
    place += 1
    …
"""

from __future__ import annotations

import ast
from typing import Any

from .nodes import FUNCTIONS, door_call, name_of, placed, walk

_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "remove"})


def by_places(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements of a function, with such loops in this form."""
    return [each for statement in body for each in _Loops().of(statement)]


def _is_changed(name: str, body: list[ast.stmt]) -> bool:
    """Whether statements call a method of this variable that changes a list."""
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in _CHANGES
        and isinstance(each.value, ast.Name)
        and each.value.id == name
        for each in walk(*body)
    )


class _Loops(ast.NodeTransformer):
    def of(self, statement: ast.stmt) -> list[ast.stmt]:
        found = self.visit(statement)
        return found if isinstance(found, list) else [found]

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.expr, *FUNCTIONS)):
            return node
        return super().visit(node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if not isinstance(node.iter, ast.Name) or not _is_changed(node.iter.id, node.body):
            return node
        number = f"{node.lineno}_{node.col_offset}"
        over, place = f"__fxc_over{number}__", f"__fxc_place{number}__"
        head: list[ast.stmt] = [
            ast.Assign([name_of(over, ast.Store())], door_call("list_to_change", node.iter)),
            ast.Assign([name_of(place, ast.Store())], ast.Constant(0)),
        ]
        item = ast.Assign([node.target], door_call("at_place", name_of(over), name_of(place)))
        step = ast.AugAssign(ast.Name(place, ast.Store()), ast.Add(), ast.Constant(1))
        test = door_call("has_place", name_of(over), name_of(place))
        loop = ast.While(test, [item, step, *node.body], node.orelse)
        return [placed(node, each) for each in (*head, loop)]
