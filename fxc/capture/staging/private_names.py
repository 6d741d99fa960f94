"""Private names: in a class ``C``, ``__x`` means ``_C__x`` to Python, wherever it is a name."""

from __future__ import annotations

import ast
from types import CodeType

from .nodes import children


def spell_out(function: ast.AST, code: CodeType) -> None:
    """Give the private names in a function, whose code this is, the form that Python uses."""
    owner = class_name(code).lstrip("_")
    if not owner:
        return
    for node in _outside_of_classes(function):
        for field in _NAMES.get(type(node), ()):
            found = getattr(node, field)
            if isinstance(found, str) and node is not function:
                setattr(node, field, _spelled_out(found, owner))
            elif isinstance(found, list):
                setattr(node, field, [_spelled_out(name, owner) for name in found])


def _outside_of_classes(function: ast.AST) -> list[ast.AST]:
    """What is in a function, but not what is in the body of a class in it: that spells its own."""
    found = [function]
    for each in found:
        body = each.body if isinstance(each, ast.ClassDef) else []
        found += [child for child in children(each) if child not in body]
    return found


def class_name(code: CodeType) -> str:
    """The innermost class in whose body a function stands; '' if there is none."""
    *around, _ = code.co_qualname.split(".")
    while around[-1:] == ["<locals>"]:
        around = around[:-2]  # the function around, in whose class it stands, too
    return around[-1] if around else ""


def _spelled_out(name: str, owner: str) -> str:
    private = name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{owner}{name}" if private else name


_NAMES: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.FunctionDef: ("name",),
    ast.Global: ("names",),
    ast.Nonlocal: ("names",),
    ast.ExceptHandler: ("name",),
    ast.MatchAs: ("name",),
    ast.MatchStar: ("name",),
    ast.MatchMapping: ("rest",),
    ast.MatchClass: ("kwd_attrs",),
    ast.alias: ("asname",),
}
