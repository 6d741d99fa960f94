"""What can be said of what a variable holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import layout_of

from ..session.session import Session
from ..values.maybe_set import UNBOUND
from ..values.operands import Traced
from .differing import Differing
from .options import Option, graph_type, is_named
from .several import Several


def is_number(x: object) -> bool:
    """Whether ``x`` is a scalar that a node may carry."""
    if isinstance(x, Traced):
        return x._is_number
    return isinstance(x, np.generic) or type(x) in (bool, int, float, complex)


def is_open_number(x: object) -> bool:
    """Whether ``x`` is a number of the graph, of one type or of several, but none that differs."""
    return isinstance(x, Traced) and x._is_number and not x._sides


def is_constant(x: object) -> bool:
    """Whether ``x`` is the same in each call, and nothing that a node may carry."""
    return is_named(x) or type(x) is bytes


def is_same(left: Any, right: Any) -> bool:
    """Whether two values of a variable cannot be told apart."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, Traced):
        parts, others = left._parts(), right._parts()
        return _are_same(parts, others) if parts else left._is_same(right)
    if is_number(left):
        return Literal(left) == Literal(right)
    if type(left) is tuple:
        return _are_same(left, right)
    return is_constant(left) and bool(left == right)


def _are_same(left: Sequence[object], right: Sequence[object]) -> bool:
    return len(left) == len(right) and all(map(is_same, left, right))


def kind_text(x: object) -> str:
    """What a message calls a value."""
    if x is UNBOUND:
        return "without a value"
    if type(x) in (Differing, Several):
        return "one thing or another"
    kind = graph_type(x)
    return f"a {x.__class__.__name__}" if kind is None else str(kind)


def placeholder(session: Session, kind: ArrayType | ScalarType) -> Operand:
    """A value of this type that nobody reads: of a variable that has none."""
    if isinstance(kind, ScalarType):
        return Literal(kind.zero)
    return session.value("empty", kind.shape, kind.dtype, layout=layout_of(kind))


def described(name: str) -> str:
    """A variable in a message; those of jumps.py stand for what the function returns."""
    return "the result" if name.startswith("__fxc") else name


def one_by_flags(options: Sequence[Option]) -> object:
    """What is one of several things, of which some are arrays."""
    *others, (_, found) = options
    for flag, x in reversed(others):
        found = Differing(flag, x, found, _reason(x, found))
    return found


def _reason(x: object, other: object) -> str:
    """Why something cannot be done with what is one thing or another."""
    return (
        f"an operation on what is {kind_text(x)} by a condition, and else {kind_text(other)}, "
        "cannot be captured; make it the same kind of value in both cases"
    )
