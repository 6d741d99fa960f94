"""What can be said of what a variable holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import layout_of

from ..session import Session
from .differing import Differing
from .mixed import Mixed, graph_type
from .operands import TracedValue
from .options import Option
from .several import Several
from .traced_int import TracedInt
from .traced_scalar import TracedScalar
from .unbound import UNBOUND


def is_number(x: object) -> bool:
    """Whether ``x`` is a scalar that a node may carry."""
    return isinstance(x, np.generic) or type(x) in (
        *(bool, int, float, complex),
        *(TracedInt, TracedScalar, Mixed, Several, Differing),
    )


def is_constant(x: object) -> bool:
    """Whether ``x`` is the same in each call, and nothing that a node may carry."""
    return x is None or type(x) in (str, bytes)


def is_same(left: Any, right: Any) -> bool:
    """Whether two values of a variable cannot be told apart."""
    if left is right:
        return True
    if isinstance(left, TracedValue) and isinstance(right, TracedValue):
        return left._value is right._value
    if type(left) is not type(right):
        return False
    if type(left) is TracedInt:
        return bool(left._dim == right._dim)
    if type(left) is Differing:
        parts = ((x.flag, x.left, x.right) for x in (left, right))
        return all(map(is_same, *parts))
    if type(left) is Several:
        pairs = zip(left.options, right.options, strict=False)
        same = len(left.options) == len(right.options)
        return same and all(is_same(one, other) for one, other in pairs)
    if type(left) is Mixed:
        parts = ((x.given, x.flag, x.whole) for x in (left, right))
        return all(map(is_same, *parts))
    if is_number(left):
        return Literal(left) == Literal(right)
    if type(left) is tuple:
        return len(left) == len(right) and all(map(is_same, left, right))
    return is_constant(left) and bool(left == right)


def kind_text(x: object) -> str:
    """What a message calls a value."""
    if x is UNBOUND:
        return "without a value"
    if type(x) is Differing or type(x) is Several:
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


def one_by_flags(options: Sequence[Option]) -> Any:
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
