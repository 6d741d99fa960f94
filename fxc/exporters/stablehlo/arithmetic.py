"""Arithmetic, comparisons and bits of elements, as NumPy has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fxc.ir.types import PART_DTYPES

from .builder import BOOL, Val
from .casts import Kit
from .complexes import inverse, paired, parts, quotient
from .division import floor_divide, fmod, gcd, lcm, remainder
from .problems import Unsayable
from .signs import absolute, copysign, is_nan, is_negative, negative, sign, signbit, unsigned

Rule = Callable[..., Val]

_F16 = np.dtype("f2")


def both(first: str, second: str) -> Callable[[Kit, Val, Val], Val]:
    """An operation of its own for bools."""

    def rule(k: Kit, x: Val, y: Val) -> Val:
        return k.b.same(second if x.dtype == BOOL else first, x, y)

    return rule


def named(name: str) -> Rule:
    """An operation of StableHLO with the very meaning."""
    return lambda k, *xs: k.b.same(name, *xs)


def for_floats(name: str) -> Rule:
    """An operation of floats, which leaves integers as they are."""

    def rule(k: Kit, x: Val) -> Val:
        if x.dtype in PART_DTYPES:
            return paired(k, *(rule(k, part) for part in parts(k, x)))
        return k.b.same(name, x) if x.dtype.kind == "f" else x

    return rule


# ---------------------------------------------------------------- division


def reciprocal(k: Kit, x: Val) -> Val:
    if x.dtype in PART_DTYPES:
        return inverse(k, x)
    if x.dtype.kind != "f":
        raise Unsayable("the reciprocal of an integer")
    return k.b.same("divide", k.like(x, 1), x)


def divide(k: Kit, x: Val, y: Val) -> Val:
    return quotient(k, x, y) if x.dtype in PART_DTYPES else k.b.same("divide", x, y)


def conjugate(k: Kit, x: Val) -> Val:
    if x.dtype not in PART_DTYPES:
        return x
    real, imag = parts(k, x)
    return paired(k, real, k.b.same("negate", imag))


# ---------------------------------------------------------------- the larger and the smaller


def _extreme(direction: str, name: str, logical: str) -> Rule:
    def rule(k: Kit, x: Val, y: Val) -> Val:
        """Where one is nan, nan; of two that are equal, two zeros say, the second."""
        if x.dtype.kind != "f":
            return _plain_extreme(k, x, y)
        first = k.b.same("or", k.b.compare(direction, x, y), is_nan(k, x))
        return k.b.select(first, x, y)

    def _plain_extreme(k: Kit, x: Val, y: Val) -> Val:
        if x.dtype in PART_DTYPES:
            raise Unsayable("the larger of complex numbers")
        return k.b.same(logical if x.dtype == BOOL else name, x, y)

    return rule


def _numeric_extreme(direction: str, rule: Rule) -> Rule:
    def numeric(k: Kit, x: Val, y: Val) -> Val:
        """Where one is nan, the other."""
        if x.dtype.kind != "f":
            return rule(k, x, y)
        first = k.b.same("or", k.b.compare(direction, x, y), is_nan(k, y))
        return k.b.select(first, x, y)

    return numeric


maximum = _extreme("GT", "maximum", "or")
minimum = _extreme("LT", "minimum", "and")


def heaviside(k: Kit, x: Val, y: Val) -> Val:
    found = k.b.select(is_negative(k, x), k.like(x, 0), k.like(x, 1))
    found = k.b.select(k.b.compare("EQ", x, k.like(x, 0)), y, found)
    return k.b.select(is_nan(k, x), x, found)


# ---------------------------------------------------------------- comparisons


def comparison(direction: str) -> Rule:
    """Complex numbers are compared by their real parts, then by the others."""

    def rule(k: Kit, x: Val, y: Val) -> Val:
        if x.dtype in PART_DTYPES and direction not in ("EQ", "NE"):
            (a, b), (c, d) = parts(k, x), parts(k, y)
            strictly = k.b.compare(direction[:1] + "T", a, c)
            tied = k.b.same("and", k.b.compare("EQ", a, c), k.b.compare(direction, b, d))
            return k.b.same("or", strictly, tied)
        if x.dtype != y.dtype:
            return _mixed(k, direction, x, y)
        return k.b.compare(direction, x, y)

    return rule


_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}


def _mixed(k: Kit, direction: str, x: Val, y: Val) -> Val:
    """A signed and an unsigned int of 64 bits, by their values."""
    if x.dtype.kind == "u":
        return _mixed(k, _MIRRORED[direction], y, x)
    below = k.like(x, direction in ("LT", "LE", "NE"), BOOL)
    compared = k.b.compare(direction, k.b.bits(x, y.dtype), y)
    return k.b.select(is_negative(k, x), below, compared)


def isinf(k: Kit, x: Val) -> Val:
    if x.dtype in PART_DTYPES:
        return k.b.same("or", *(isinf(k, part) for part in parts(k, x)))
    if x.dtype.kind != "f":
        return k.like(x, False, BOOL)
    return k.b.compare("EQ", k.b.same("abs", x), k.like(x, np.inf))


def isfinite(k: Kit, x: Val) -> Val:
    if x.dtype in PART_DTYPES:
        return k.b.same("and", *(isfinite(k, part) for part in parts(k, x)))
    if x.dtype.kind != "f":
        return k.like(x, True, BOOL)
    return k.b.op("is_finite", [x], BOOL, x.shape)


def logical(name: str) -> Rule:
    """An operation of truths."""
    return lambda k, *xs: k.b.same(name, *map(k.truth, xs))


# ---------------------------------------------------------------- bits


def _if_in_range(k: Kit, y: Val, shifted: Val, rest: Val) -> Val:
    """What a shift leaves; a negative one, taken for unsigned, is a large one."""
    word = unsigned(y.dtype)
    if y.known is not None and 0 <= y.known < 8 * word.itemsize:
        return shifted
    in_range = k.b.compare("LT", k.b.bits(y, word), k.like(y, 8 * word.itemsize, word))
    return k.b.select(in_range, shifted, rest)


def left_shift(k: Kit, x: Val, y: Val) -> Val:
    return _if_in_range(k, y, k.b.same("shift_left", x, y), k.like(x, 0))


def right_shift(k: Kit, x: Val, y: Val) -> Val:
    if x.dtype.kind == "u":
        shifted, rest = k.b.same("shift_right_logical", x, y), k.like(x, 0)
    else:
        shifted = k.b.same("shift_right_arithmetic", x, y)
        rest = k.b.select(is_negative(k, x), k.like(x, -1), k.like(x, 0))
    return _if_in_range(k, y, shifted, rest)


def trunc(k: Kit, x: Val) -> Val:
    if x.dtype.kind != "f":
        return x
    return k.b.select(is_negative(k, x), k.b.same("ceil", x), k.b.same("floor", x))


def nextafter(k: Kit, x: Val, y: Val) -> Val:
    """The bits of floats, with the sign folded in, count up with the numbers."""
    word = np.dtype(f"i{x.dtype.itemsize}")
    if x.dtype == _F16:
        raise Unsayable("the next float16")
    bits = k.b.bits(x, word)
    away = k.b.compare("NE", k.b.compare("LT", x, y), is_negative(k, x))
    step = k.b.select(away, k.like(x, 1, word), k.like(x, -1, word))
    moved = k.b.bits(k.b.same("add", bits, step), x.dtype)
    least = copysign(k, k.b.bits(k.like(x, 1, word), x.dtype), y)
    moved = k.b.select(k.b.compare("EQ", x, k.like(x, 0)), least, moved)
    found = k.b.select(k.b.compare("EQ", x, y), y, moved)
    either = k.b.same("or", is_nan(k, x), is_nan(k, y))
    return k.b.select(either, k.b.same("add", x, y), found)


_COMPARISONS = {
    "equal": "EQ", "not_equal": "NE", "less": "LT", "less_equal": "LE", "greater": "GT",
    "greater_equal": "GE",
}  # fmt: skip

RULES: dict[str, Rule] = {
    "add": both("add", "or"),
    "subtract": named("subtract"),
    "multiply": both("multiply", "and"),
    "divide": divide,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "fmod": fmod,
    "negative": negative,
    "positive": lambda k, x: x,
    "absolute": absolute,
    "fabs": absolute,
    "sign": sign,
    "square": lambda k, x: both("multiply", "and")(k, x, x),
    "reciprocal": reciprocal,
    "maximum": maximum,
    "minimum": minimum,
    "fmax": _numeric_extreme("GE", maximum),
    "fmin": _numeric_extreme("LE", minimum),
    "copysign": copysign,
    "heaviside": heaviside,
    "nextafter": nextafter,
    "conjugate": conjugate,
    "gcd": gcd,
    "lcm": lcm,
    "rint": for_floats("round_nearest_even"),
    "floor": for_floats("floor"),
    "ceil": for_floats("ceil"),
    "trunc": trunc,
    **{name: comparison(direction) for name, direction in _COMPARISONS.items()},
    "isnan": is_nan,
    "isinf": isinf,
    "isfinite": isfinite,
    "signbit": signbit,
    "logical_and": logical("and"),
    "logical_or": logical("or"),
    "logical_xor": logical("xor"),
    "logical_not": logical("not"),
    "bitwise_and": named("and"),
    "bitwise_or": named("or"),
    "bitwise_xor": named("xor"),
    "invert": named("not"),
    "left_shift": left_shift,
    "right_shift": right_shift,
}
