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
        """What the function returns, if that is all it does: leaves, constants, tuples of them."""
        (function,) = ast.parse(self.source).body
        assert isinstance(function, ast.FunctionDef)
        *before, last = function.body
        if not isinstance(last, ast.Return) or last.value is None:
            return None
        unpacks = all(
            isinstance(stmt, ast.Assign)
            and isinstance(stmt.value, ast.Name)
            and stmt.value.id == "leaves"
            for stmt in before
        )
        parts = (ast.Tuple, ast.Constant, ast.Name, ast.Load)
        plain = all(isinstance(part, parts) for part in ast.walk(last.value))
        names = {part.id for part in ast.walk(last.value) if isinstance(part, ast.Name)}
        leaves = {f"r{place}" for place in range(100)}
        empty = any(isinstance(p, ast.Tuple) and not p.elts for p in ast.walk(last.value))
        return last.value if unpacks and plain and names <= leaves and not empty else None
