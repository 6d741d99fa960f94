"""Lists that loops may append to: by what the loops say of them.

See Note [Lists that grow].
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .nodes import walk

_MAKES_ANEW = (ast.Call, ast.BinOp, ast.UnaryOp)


def names_that_grow(
    body: Sequence[ast.stmt], besides: Sequence[ast.AST]
) -> tuple[tuple[str, bool], ...]:
    """The names of which a body says nothing but ``name.append(x)``, once, in any iteration; and
    whether ``x`` is what an expression makes.
    """
    found = {}
    for statement in body:
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [item], [])):
                if not isinstance(item, ast.Starred):
                    found[name] = isinstance(item, _MAKES_ANEW)
            case _:
                pass
    mentioned = [each.id for each in walk(*body, *besides) if isinstance(each, ast.Name)]
    return tuple((name, new) for name, new in found.items() if mentioned.count(name) == 1)
