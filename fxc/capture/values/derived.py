"""Ints that follow from arguments and sizes by more than arithmetic of ints: ``int(0.8 * n)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.dispatch.bind import bind
from fxc.ir.graph import Literal, Operand, Region, Value
from fxc.ir.symbols import Dim, computed_in, hint, symbols_of
from fxc.ir.types import ScalarType, scalar_type_of
from fxc.ops.kernels import kernel_of
from fxc.ops.table import TABLE

from ..locations import user_location
from ..session import Session, current
from .operands import record

# Note [Derived ints]
# An int is a size, a bound of a slice or the length of a loop, and those are dims. What a float, or
# a function such as ``math.isqrt``, becomes is none. Where it follows from scalar arguments and
# sizes, and from nothing that the program reads of an array or that a loop carries, it is known
# before the program runs: the guard program computes it, by the kernels of the operators that were
# recorded for it, and it is one more input of the graph, a symbol like an int argument. A call for
# which the computation fails misses the guards; if it fails in the call that is captured, or in a
# capture without hidden inputs, the int is a scalar of the graph as others are.


def int_of(name: str, *args: Operand) -> Any:
    """The int that an operator makes of scalars."""
    found = derived(kernel_of(name), *args)
    return record(name, *args) if found is None else found


def derived(function: Callable[..., Any], *args: Operand) -> Any:
    """The int that a function makes of scalars, as the guard program computes it; else None."""
    session = current()
    outside = session.door.outside
    given = [x for x in args if isinstance(x, Value)]
    if not outside.derives or not any(session.origins.get(x) for x in given):
        return None
    found = _computed(session, function, args)
    if found is None:
        return None
    expression, number = found
    if type(number) is not int or not -(2**63) <= number < 2**63:
        return None
    return outside.derived(expression, number, f"an int at {user_location()}")


def known_result(x: Value) -> Any:
    """What an operator makes of scalars in this call, from here on a constant; None for an input of
    the graph, and for what the guard program does not compute.
    """
    session = current()
    found = _read(session, x) if session.door.outside.derives and x in session.made else None
    if found is None or _kind_of(found[1]) != x.type:
        return None
    session.door.outside.demand(*found, f"a number at {user_location()}")
    return found[1]


def _kind_of(number: Any) -> ScalarType | None:
    try:
        return scalar_type_of(number)
    except TypeError:
        return None


def _computed(
    session: Session, function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[str, Any] | None:
    """The expression of a function's result in the guard program, and what it is in this call."""
    read = [_read(session, each) for each in args]
    known = [each for each in read if each is not None]
    if len(known) < len(read):
        return None
    with np.errstate(all="ignore"):
        try:
            result = function(*(value for _, value in known))
        except Exception:
            return None
    made = session.door.outside.guards.constant(function)
    return f"{made}({', '.join(expression for expression, _ in known)})", result


def _read(session: Session, x: Any) -> tuple[str, Any] | None:
    """The same for an argument of an operator."""
    outside = session.door.outside
    match x:
        case Value():
            if x.type.rank or session.origins.get(x) is None:
                return None
            known: tuple[str, Any] | None = outside.numbers.get(x)
            call = session.made.get(x)
            if known is not None or call is None:
                return known
            if call.name == "int_value":
                return _dim(session, call.args[0])
            given = bind(TABLE[call.name], call.args, call.kwargs)
            return _computed(session, kernel_of(call.name), given)
        case Literal(value):
            return outside.guards.constant(value), value
        case tuple() | Region():
            return None
        case _:
            return outside.guards.constant(x), x


def _dim(session: Session, dim: Dim) -> tuple[str, int] | None:
    guards = session.door.outside.guards
    if computed_in(dim) or not symbols_of(dim).keys() <= guards.symbols.keys():
        return None
    return guards.expression(dim), hint(dim)
