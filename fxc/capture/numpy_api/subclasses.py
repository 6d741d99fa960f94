"""Subclasses of arrays that compute as arrays do, and have attributes besides."""

from __future__ import annotations

import ast
import inspect
from itertools import chain
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
)
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..guards.builder import GuardBuilder
from ..guards.program import Source
from ..session.classes import ArrayClass, OfSubclass
from ..staging.staging import source_of

_MAKING = "__array_finalize__"
_NUMPYS = frozenset(dir(np.ndarray))
# What a class may have of its own: no operation on an array asks for it.
_HARMLESS = {
    *("__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__qualname__"),
    *("__slots__", "__new__", "__init__", "__init_subclass__", "__repr__", "__str__"),
    *("__reduce__", "__reduce_ex__", "__setstate__"),
    *("__firstlineno__", "__static_attributes__"),
}
_ASKING = {"getattr": 3, "hasattr": 2, "isinstance": 2, "type": 1}  # with so many arguments
_NODES = (
    *(ast.If, ast.Return, ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass, ast.Constant, ast.Name),
    *(ast.Attribute, ast.Call, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Tuple),
    *(ast.List, ast.Dict, ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop),
)
# An attribute that is one of these runs no code of the program's.
_OF_C = (GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType)
# Whether arrays of a class compute as arrays do, and whether they keep attributes as they are, with
# what the class was made of then.
_known: WeakKeyDictionary[type, tuple[list[int], tuple[bool, bool]]] = WeakKeyDictionary()


def class_relied_on(guards: GuardBuilder, source: Source, array: np.ndarray) -> ArrayClass | None:
    """The class of an array that computes as arrays do; None for others. Guards say it again: in
    another process its class may be another.
    """
    if not computes_as_array(array):
        return None
    keeps = keeps_attributes(array)
    asked = guards.constant(keeps_attributes if keeps else computes_as_array)
    guards.check(f"{asked}({source.var})", f"{type(array).__name__} computes as arrays do")
    return OfSubclass(source, type(array), keeps)


def computes_as_array(array: np.ndarray) -> bool:
    """Whether the operations of an array are those of ``ndarray``, and making another one of its
    class has no effect but on that one's attributes; called by guards, too.
    """
    return _facts(type(array))[0] and _has_operations_of_its_class(array)


def keeps_attributes(array: np.ndarray) -> bool:
    """Whether, besides, what is made of the array has the attributes of it, however often."""
    return _facts(type(array))[1] and _has_operations_of_its_class(array)


def _has_operations_of_its_class(array: np.ndarray) -> bool:
    return _NUMPYS.isdisjoint(getattr(array, "__dict__", ()))


def _facts(kind: type) -> tuple[bool, bool]:
    is_array = issubclass(kind, np.ndarray)
    ours = kind.__mro__[: kind.__mro__.index(np.ndarray)] if is_array else ()
    held = [*map(id, chain.from_iterable([vars(each).values() for each in ours]))]
    known = _known.get(kind)
    if known is None or known[0] != held:  # or it has been changed
        computes = (
            is_array and type(kind) is type and all(_is_harmless(each, kind) for each in ours)
        )
        known = _known[kind] = held, (computes, computes and all(map(_keeps_attributes, ours)))
    return known[1]


def _is_harmless(kind: type, whole: type) -> bool:
    for name, value in vars(kind).items():
        if name == _MAKING:
            if type(value) is not FunctionType or not _sets_attributes(value, whole):
                return False
        elif name == "__array_priority__":
            if type(value) not in (float, int):
                return False
        elif name not in _HARMLESS and (name in _NUMPYS or name.startswith("__")):
            return False
    return True


def _keeps_attributes(kind: type) -> bool:
    """Whether each line is as ``self.unit = getattr(obj, "unit", None)``."""
    making = vars(kind).get(_MAKING)
    node = source_of(making) if making else None
    lines = node.body if isinstance(node, ast.FunctionDef) else []
    return "__array_priority__" not in vars(kind) and all(map(_keeps_one, lines))


def _keeps_one(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(
            ast.Compare(ast.Name(), [ast.Is()], [ast.Constant(None)]), [ast.Return(None)], []
        ):
            return True
        case ast.Assign([ast.Attribute(_, name)], ast.Call(ast.Name("getattr"), args)):
            pass
        case ast.AnnAssign(ast.Attribute(_, name), value=ast.Call(ast.Name("getattr"), args)):
            pass
        case ast.Expr(ast.Constant() | ast.Call()) | ast.Pass():
            return True
        case _:
            return False
    match args:
        case [ast.Name(), ast.Constant(read), ast.Constant()]:
            return bool(read == name)
    return False


def _sets_attributes(function: FunctionType, kind: type) -> bool:
    """Whether ``__array_finalize__`` does no more than to set attributes of its first argument."""
    node = source_of(function)
    if not isinstance(node, ast.FunctionDef) or not node.args.args or node.decorator_list:
        return False
    own = node.args.args[0].arg
    inside = [each for statement in node.body for each in ast.walk(statement)]
    names = {each.attr for each in inside if isinstance(each, ast.Attribute)}
    names |= {str(each.value) for each in inside if isinstance(each, ast.Constant)}
    return all(_is_plain(name, kind) for name in names) and all(
        _is_allowed(each, own, kind, function.__globals__) for each in inside
    )


def _is_plain(name: str, kind: type) -> bool:
    found = type(inspect.getattr_static(kind, name, None))
    return not hasattr(found, "__get__") or found is FunctionType or issubclass(found, _OF_C)


def _is_allowed(node: ast.AST, own: str, kind: type, space: dict[str, Any]) -> bool:
    match node:
        case ast.Attribute(ast.Name(name), read, ast.Load()) if name == own:
            return hasattr(kind, read)
        case ast.Attribute(ast.Name(name), _, ast.Load()):
            return isinstance(space.get(name), ModuleType)
        case ast.Attribute(ast.Call(ast.Name("super"), []), "__array_finalize__"):
            return True
        case ast.Attribute(ast.Name(name), put, ast.Store()):
            return name == own and put not in _NUMPYS
        case ast.Attribute():
            return False
        case ast.Call(ast.Name("super")):
            return "super" not in space and not node.args
        case ast.Call(ast.Name(name)):
            return name not in space and _ASKING.get(name) == len(node.args) and not node.keywords
        case ast.Call(ast.Attribute(ast.Call(), "__array_finalize__")):
            return not node.keywords
        case _:
            return isinstance(node, _NODES) and not isinstance(node, ast.Call)
