"""Operators of Python's numbers, and functions of ``math``: where Python raises, nothing does."""

from __future__ import annotations

import math

from fxc.ops.python_numbers import PYTHON_OPERATORS, stem

from . import arithmetic, elementary
from .arithmetic import Rule
from .builder import F64, I64, Val
from .casts import Kit, cast
from .problems import Unsayable


def _extreme(direction: str) -> Rule:
    """Python's ``max`` and ``min``: the first where neither is beyond the other."""
    return lambda k, x, y: k.b.select(k.b.compare(direction, y, x), y, x)


def _as_floats(rule: Rule) -> Rule:
    """In float64, or complex128 if one operand is."""

    def floating(k: Kit, *xs: Val) -> Val:
        dtype = _C128 if any(x.dtype.kind == "c" for x in xs) else F64
        return rule(k, *(cast(k, x, dtype) for x in xs))

    return floating


def _compared(compare: Rule) -> Rule:
    """Of an int and a float the int becomes one."""

    def rule(k: Kit, x: Val, y: Val) -> Val:
        if x.dtype != y.dtype:
            x, y = cast(k, x, F64), cast(k, y, F64)
        return compare(k, x, y)

    return rule


def _bit_length(k: Kit, x: Val) -> Val:
    zeros = k.b.same("count_leading_zeros", k.b.same("abs", x))
    return k.b.same("subtract", k.like(x, 64), zeros)


def _to_int(name: str) -> Rule:
    return lambda k, x: cast(k, k.b.same(name, x) if x.dtype.kind == "f" else x, I64)


def _scaled(factor: float) -> Rule:
    return lambda k, x: k.b.same("multiply", x, k.like(x, factor))


def _complex(k: Kit, x: Val, y: Val) -> Val:
    """``complex(x, y)`` of real numbers."""
    if "c" in (x.dtype.kind, y.dtype.kind):
        raise Unsayable("a complex number of complex numbers")
    return k.b.op("complex", [cast(k, x, F64), cast(k, y, F64)], _C128, x.shape)


_C128 = (F64.type(0) + 0j).dtype

_OF_MATH = {
    "fabs": "fabs", "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log",
    "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "cbrt": "cbrt",
    "hypot": "hypot", "pow": "power", "fmod": "fmod", "copysign": "copysign", "isnan": "isnan",
    "isinf": "isinf", "isfinite": "isfinite",
}  # fmt: skip
_NUMPYS = arithmetic.RULES | elementary.RULES

_OF_PYTHON: dict[str, Rule] = {
    **{
        name: _NUMPYS[name]
        for name in (
            "add", "subtract", "multiply", "floor_divide", "remainder", "power", "left_shift",
            "right_shift", "negative", "absolute",
        )
    },
    "divide": _as_floats(_NUMPYS["divide"]),
    "natural_quotient": _NUMPYS["floor_divide"],
    "natural_remainder": _NUMPYS["remainder"],
    "int": lambda k, x: cast(k, x, I64),
    "round": _to_int("round_nearest_even"),
    "fit": lambda k, x, low, high: x,
    "demand": lambda k, x: k.truth(x),
    "and": _NUMPYS["bitwise_and"],
    "or": _NUMPYS["bitwise_or"],
    "xor": _NUMPYS["bitwise_xor"],
    "invert": _NUMPYS["invert"],
    "not": lambda k, x: k.b.same("not", k.truth(x)),
    "root": _as_floats(_NUMPYS["sqrt"]),
    "maximum": _extreme("GT"),
    "minimum": _extreme("LT"),
    "bit_length": _bit_length,
    "float": lambda k, x: cast(k, x, F64),
    "bool": lambda k, x: k.truth(x),
    "complex": _complex,
    **{
        name: _compared(_NUMPYS[name])
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    },
}  # fmt: skip

_MATH: dict[str, Rule] = {
    **{name: _as_floats(_NUMPYS[numpys]) for name, numpys in _OF_MATH.items()},
    "degrees": _as_floats(_scaled(180 / math.pi)),
    "radians": _as_floats(_scaled(math.pi / 180)),
    "floor": _to_int("floor"),
    "ceil": _to_int("ceil"),
}

# Those that compute in the dtype of their result; the others take operands as they are.
_IN_RESULT = frozenset(
    {
        *("add", "subtract", "multiply", "floor_divide", "remainder", "power", "left_shift"),
        *("right_shift", "negative", "natural_quotient", "natural_remainder", "fit"),
        *("and", "or", "xor", "invert", "maximum", "minimum", "bit_length"),
    }
)


def number_rule(op: str) -> Rule | None:
    """The rule of an operator of Python's numbers."""
    if op not in PYTHON_OPERATORS:
        return None
    if op.startswith("math_"):
        return _MATH.get(op.removeprefix("math_"))
    return _OF_PYTHON.get(stem(op))


def computes_in_result(op: str) -> bool:
    """Whether the operands of an operator of Python's numbers become what its result is."""
    return not op.startswith("math_") and stem(op) in _IN_RESULT
