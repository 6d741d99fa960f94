"""The names of a function that is rewritten, and calls of the door in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from types import CodeType
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import STATEMENT
from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen

from ..session.refusing import refusal
from .liveness import Handed, assigned
from .nodes import (
    FUNCTIONS,
    Node,
    at,
    children,
    door_part,
    later,
    names_of,
    placed,
    walk_statements,
)

CapturedNode = ast.FunctionDef | ast.Lambda
FunctionNode = CapturedNode | ast.AsyncFunctionDef


@frozen
class Scope:
    """The names that a function or comprehension binds, those it declares global, and those that
    this or an inner function declares nonlocal.
    """

    bound: frozenset[str]
    declared: frozenset[str] = frozenset()
    rebound: frozenset[str] = frozenset()


class Names(ast.NodeTransformer):
    """Knows which names are the function's own."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._scopes: list[Scope] = []
        self._count = 0
        self._handed: dict[ast.stmt, Handed] = {}
        self._lists: set[ast.expr] = set()  # expressions whose values are kept
        self._parts: set[ast.expr] = set()  # of ``[0] * n``
        # Of each function: see Note [Variables without a value].
        self._flagged: list[frozenset[str]] = []

    if TYPE_CHECKING:

        def generic_visit(self, node: Node) -> Node:
            """The node itself, with other parts."""

    def _place_of(self, name: str) -> str:
        """Where a name is found: ``local``, ``free`` (an enclosing function's) or ``outer``."""
        for scope in reversed(self._scopes):
            if name in scope.declared:
                return "outer"
            if name in scope.bound:
                return "local"
        return "free" if name in self._code.co_freevars else "outer"

    def _local(self, names: frozenset[str]) -> tuple[str, ...]:
        """The variables among names, without those that inner functions rebind."""
        own = names - self._scopes[-1].rebound
        return tuple(sorted(name for name in own if self._place_of(name) == "local"))

    def _fresh(self, kind: str) -> str:
        self._count += 1
        return f"__fxc_{kind}{self._count}__"

    def _door(self, method: str, place: ast.AST, *args: ast.expr) -> ast.Call:
        called = at(place, door_part(method))
        if not isinstance(place, ast.Attribute):
            # Python takes the line in which the name of a method ends for that of its call.
            called.end_lineno, called.end_col_offset = called.lineno, called.col_offset
        return at(place, ast.Call(called, list(args), []))

    def _text(self, node: ast.AST, text: Any) -> ast.Constant:
        return at(node, ast.Constant(text))

    def _variables(self, place: ast.AST, names: Iterable[str]) -> ast.expr | None:
        """A function of variables, whose cells it has; None if there are none."""
        found = tuple(sorted(names))
        return placed(place, later(at(place, names_of(found, ast.Load())))) if found else None

    def _refuse(self, node: Any, what: str) -> Exception:
        code = self._code
        location = SourceLocation(code.co_filename, node.lineno, code.co_name)
        return refusal(STATEMENT, f"{what} cannot be captured", location)


def parameters(args: ast.arguments) -> list[str]:
    """The names of parameters in the order of a code object."""
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]


def given(code: CodeType) -> list[str]:
    """The parameters of a code object."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return list(code.co_varnames[:count])


def scope_of(function: FunctionNode) -> Scope:
    """The names that are local to a function, and those it declares global."""
    body = function.body if isinstance(function.body, list) else [function.body]
    declared: set[str] = set()
    elsewhere: set[str] = set()
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        match node:
            case ast.Nonlocal(found):
                elsewhere.update(found)
            case ast.Global(found):
                declared.update(found)
        if not isinstance(node, (*FUNCTIONS, ast.expr)):
            todo.extend(children(node))
    names = assigned(body).union(parameters(function.args))
    rebound = {
        name
        for each in walk_statements(*body)
        if isinstance(each, ast.Nonlocal)
        for name in each.names
    }
    return Scope(names - declared - elsewhere, frozenset(declared), frozenset(rebound))


# ------------------------------------------------------------------ private names

# In a class ``C``, ``__x`` means ``_C__x`` to Python, wherever it is a name.


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
