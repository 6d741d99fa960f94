"""Texts to which loops add: ``s = ""`` before ``s += c``. ::

s = __fxc__.growing("", 4, False)

See Note [Texts of the graph].
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .nodes import door_call, own_statements, placed

_LOOPS = (ast.For, ast.While)


def mark_grown_texts(body: list[ast.stmt]) -> None:
    """Have the door make the texts that variables begin with to which loops add."""
    loops = [each for each in own_statements(body) if isinstance(each, _LOOPS)]
    inside = (each for loop in loops for each in own_statements([loop]))
    grown = dict(side for statement in inside for side in _grown_by(statement))
    for statement in own_statements(body) if grown else ():
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                _mark(target, statement, grown)


def _grown_by(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names to which a statement adds, and whether at the begin."""
    match statement:
        case ast.AugAssign(ast.Name(name), ast.Add()):
            yield name, False
        case ast.Assign(targets, value):
            for target in targets:
                for variable, given in _pairs(target, value):
                    for at_begin, end in enumerate(_ends(given)):
                        if isinstance(end, ast.Name) and end.id == variable.id:
                            yield variable.id, bool(at_begin)


def _ends(value: ast.expr) -> tuple[ast.expr, ...]:
    """The first and the last operand of a sum; nothing of what is none."""
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add)):
        return ()
    first, last = value.left, value.right
    while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add):
        first = first.left
    return first, last


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The variables of an assignment, and what each is given."""
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _pairs(one, other)


def _mark(target: ast.expr, statement: ast.Assign, grown: dict[str, bool]) -> None:
    begun = {id(x): grown[n.id] for n, x in _pairs(target, statement.value) if n.id in grown}
    statement.value = _Marked(begun).visit(statement.value)


class _Marked(ast.NodeTransformer):
    """The expression in which the door makes some of the texts."""

    def __init__(self, begun: dict[int, bool]) -> None:
        self._begun = begun

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if id(node) not in self._begun or type(node.value) is not str:
            return node
        names = ast.Constant(node.col_offset), ast.Constant(self._begun[id(node)])
        return placed(node, door_call("growing", node, *names))
