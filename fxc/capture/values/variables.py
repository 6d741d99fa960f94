"""What can be said of what a variable holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import PY_INT, ArrayType, ScalarType
from fxc.ops.metas.layout import layout_of

from ..outside.containers import External
from ..outside.shadows import has_method
from ..session import Session, current
from ..statements.differing import Differing
from .mixed import Mixed, of_numpy
from .operands import Traced, TracedValue, operand
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


def array_of(x: object) -> Value | None:
    """The value of the graph of a traced array; None for anything else."""
    if isinstance(x, TracedValue) and isinstance(x._value.type, ArrayType):
        return x._value
    return None


def graph_type(x: object) -> ArrayType | ScalarType | None:
    """The type of a variable's value in a graph; None if it has none."""
    if type(x) in (Mixed, Several, Differing):
        return None
    if type(x) is TracedInt:
        return PY_INT
    if is_number(x) or array_of(x) is not None:
        return operand(x).type
    return None


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


def truth(test: object) -> Any:
    """``test`` as a bool, or as a traced scalar that stands for one.

    What follows from arguments alone is decided by their numbers, which become constants; but for
    sizes and ints: a guard has decided what a guard can say of them, the rest is none of the kind
    that stays the same (``n & (n - 1)``). Nor is a number that has changed from call to call.
    """
    if type(test) is TracedScalar:
        session = current()
        origins = session.origins.get(test._value)
        if origins and not origins <= session.ints and not session.leaves_open(origins):
            return bool(test)
        return test
    return going_on(test)


def going_on(test: Any) -> Any:
    """As ``truth``, for loops: a number that is an argument need not be a constant."""
    if type(test) is TracedScalar:
        return test
    if type(test) is Mixed:
        return test.number
    if isinstance(test, Traced | External) and (filled := test._is_filled()) is not None:
        return filled
    found = array_of(test)
    if found is not None and all(type(dim) is int and dim == 1 for dim in found.type.shape):
        return test[(0,) * found.type.rank]
    if type(test) is TracedInt:
        return test.__ne__(0)
    return _by_python(test) if has_method(test, "__bool__") else bool(test)


def _by_python(x: object) -> Any:
    """The truth of an object whose ``__bool__`` is Python code."""
    found: Any = current().door.special(x, "__bool__")
    kind = found.__class__
    if kind is not bool:
        raise TypeError(f"__bool__ should return bool, returned {kind.__name__}")
    return truth(found) if isinstance(found, Traced) else found


def flag_of(test: object) -> Operand:
    """The truth of a bool or a traced scalar as NumPy's bool."""
    if type(test) is bool:
        return Literal(np.bool_(test))
    if operand(test).type.dtype.kind != "b":
        test = test != 0
    return of_numpy(operand(test))


def described(name: str) -> str:
    """A variable in a message; those of jumps.py stand for what the function returns."""
    return "the result" if name.startswith("__fxc") else name
