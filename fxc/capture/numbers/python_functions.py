"""Functions of Python's, ``math.sqrt``, of numbers that are not known while capturing."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from fxc.ir.error_kinds import WARNS
from fxc.ops.python_numbers import PYTHON_OPERATORS

from ..session.refusing import refusal
from ..values.operands import Traced, TracedValue, array_of, operand, record
from .derived import int_of
from .python_numbers import arithmetic, scalar_of, to_int
from .traced_int import TracedInt


def _math_function(name: str) -> Callable[..., Any]:
    op = f"math_{name}"
    count = PYTHON_OPERATORS[op][0]

    def call(*args: object) -> object:
        if len(args) != count:
            return NotImplemented
        return int_of(op, *map(operand, args))

    return call


def _whole(name: str) -> Callable[..., Any]:
    """``math.floor`` and its kin: an int is what it is."""

    def call(x: Any) -> object:
        if type(x) is TracedInt:
            return x
        if x._value.type.weak and x._value.type.dtype.kind in "bi":
            return to_int(x)
        return int_of(f"math_{name}", x._value)

    return call


def _trunc(x: object) -> object:
    if type(x) is TracedInt:
        return x
    return to_int(x) if hasattr(x.__class__, "__trunc__") else NotImplemented


def _log(x: object, *base: Any) -> object:
    found = record("math_log", operand(x))
    if not base:
        return found
    (other,) = base
    below = record("math_log", operand(other)) if isinstance(other, TracedValue) else None
    return arithmetic("truediv", found, math.log(other) if below is None else below)


def _index(x: Any) -> object:
    if type(x) is TracedInt:
        return x
    kind = x._value.type
    is_int = kind.dtype.kind in "iu" or (kind.weak and kind.dtype.kind == "b")
    return to_int(x) if is_int else NotImplemented


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{
        getattr(math, name.removeprefix("math_")): _math_function(name.removeprefix("math_"))
        for name in PYTHON_OPERATORS
        if name.startswith("math_")
    },
    math.floor: _whole("floor"),
    math.ceil: _whole("ceil"),
    math.trunc: _trunc,
    math.log: _log,
    operator.index: _index,
}


def call_function(function: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """A function of Python's on traced scalars, or NotImplemented."""
    if kwargs:
        return NotImplemented
    if getattr(function, "__self__", None) is math and any(map(_is_complex, args)):
        raise refusal(WARNS, "a real number from a complex one, of which NumPy warns; use z.real")
    found = _FUNCTIONS.get(function)
    if found is None or (found is _trunc and any(array_of(x) is not None for x in args)):
        return NotImplemented
    given = [_scalar_or_number(x) for x in args]
    traced = any(isinstance(x, TracedValue | TracedInt) for x in given)
    return found(*given) if traced and None not in given else NotImplemented


def _is_complex(x: object) -> bool:
    return isinstance(x, TracedValue) and x._value.type.dtype.kind == "c"


def _scalar_or_number(x: object) -> object:
    """A traced scalar, or a number of Python's; None for what no number can be made of."""
    x = x._plain() if isinstance(x, Traced) else x
    if isinstance(x, TracedValue):
        return scalar_of(x)
    return x if type(x) in (bool, int, float, TracedInt) else None
