"""What makes the result of a call of its leaves.

See Note [Native calls].
"""

from __future__ import annotations

import ast
from typing import Any

from fxc.ir.records import frozen


@frozen
class Finish:
    """What makes the result of the leaves: its source, the function, the variables it takes."""

    source: str
    function: Any
    objects: tuple[str, ...]

    @property
    def plain(self) -> ast.expr | None:
        """What the function returns, if that is all it does: leaves, constants, tuples of them, and
        new tuples of other classes.
        """
        (function,) = ast.parse(self.source).body
        assert isinstance(function, ast.FunctionDef)
        *before, last = function.body
        if not isinstance(last, ast.Return) or last.value is None:
            return None
        made: dict[str, ast.expr] = {}
        for stmt in before:
            match stmt:
                case ast.Assign(value=ast.Name("leaves")):
                    pass
                case ast.Assign([ast.Name(name)], value):
                    made[name] = value
                case _:
                    return None
        filled = _Filled(made)
        value = filled.visit(last.value)
        return value if not made and self._is_plain(value) else None

    def _is_plain(self, value: ast.expr) -> bool:
        known = {f"r{place}" for place in range(100)} | self.function.__globals__.keys()
        for part in ast.walk(value):
            match part:
                case ast.Tuple(elts) if not elts:
                    return False
                case ast.Call(ast.Name("new_tuple"), [ast.Name(), ast.Tuple()], []):
                    pass
                case ast.Name(name) if name in known:
                    pass
                case ast.Tuple() | ast.Constant() | ast.Load():
                    pass
                case _:
                    return False
        return True


class _Filled(ast.NodeTransformer):
    """Puts what variables are made of in their places. One that is read twice is left: it is one
    object.
    """

    def __init__(self, made: dict[str, ast.expr]) -> None:
        self.made = made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.made.pop(node.id, None)
        return node if value is None else self.visit(value)
