"""Quotients and remainders: by floor, as NumPy has them, and 0 where an integer is divided by 0."""

from __future__ import annotations

from .builder import BOOL, Val
from .casts import Kit
from .signs import absolute, copysign, is_negative, unsigned


def _quotient_and_rest(k: Kit, x: Val, y: Val) -> tuple[Val, Val]:
    """C's quotient and remainder of integers; 0 and 0 where the divisor is 0.

    XLA may do anything for a division by 0, and for the lowest number by -1.
    """
    if y.known is not None and int(y.known) not in (0, -1):
        return k.b.same("divide", x, y), k.b.same("remainder", x, y)
    zero = k.like(x, 0)
    by_zero = k.b.compare("EQ", y, zero)
    special = by_zero
    if x.dtype.kind == "i":
        by_minus = k.b.compare("EQ", y, k.like(x, -1))
        special = k.b.same("or", by_zero, by_minus)
    safe = k.b.select(special, k.like(x, 1), y)
    quotient = k.b.same("divide", x, safe)
    if x.dtype.kind == "i":
        quotient = k.b.select(by_minus, k.b.same("negate", x), quotient)
    rest = k.b.same("remainder", x, safe)
    return k.b.select(by_zero, zero, quotient), k.b.select(by_zero, zero, rest)


def _has_other_sign(k: Kit, rest: Val, y: Val) -> Val:
    """Where a remainder is not 0 and has not the divisor's sign."""
    if y.known is not None and y.known > 0:
        return is_negative(k, rest)
    differs = k.b.compare("NE", is_negative(k, rest), is_negative(k, y))
    return k.b.same("and", differs, k.truth(rest))


def floor_divide(k: Kit, x: Val, y: Val) -> Val:
    if x.dtype.kind == "f":
        return _float_floor_divide(k, x, y)
    quotient, rest = _quotient_and_rest(k, x, y)
    if x.dtype.kind == "u":
        return quotient
    less = k.b.same("subtract", quotient, k.like(x, 1))
    return k.b.select(_has_other_sign(k, rest, y), less, quotient)


def _float_floor_divide(k: Kit, x: Val, y: Val) -> Val:
    """By the remainder, as NumPy does: the quotient may be just below a whole number."""
    one, zero = k.like(x, 1), k.like(x, 0)
    rest = k.b.same("remainder", x, y)
    plain = k.b.same("divide", x, y)
    whole = k.b.same("divide", k.b.same("subtract", x, rest), y)
    whole = k.b.select(_has_other_sign(k, rest, y), k.b.same("subtract", whole, one), whole)
    low = k.b.same("floor", whole)
    is_above = k.b.compare("GT", k.b.same("subtract", whole, low), k.like(x, 0.5))
    found = k.b.select(is_above, k.b.same("add", low, one), low)
    found = k.b.select(k.truth(whole), found, copysign(k, zero, plain))
    return k.b.select(k.truth(y), found, plain)


def remainder(k: Kit, x: Val, y: Val) -> Val:
    if x.dtype.kind == "f":
        rest = k.b.same("remainder", x, y)
        zero = copysign(k, k.like(x, 0), y)
        settled = k.b.select(k.b.compare("EQ", rest, k.like(x, 0)), zero, rest)
        settled = k.b.select(k.truth(y), settled, rest)
    else:
        _, settled = _quotient_and_rest(k, x, y)
        rest = settled
        if x.dtype.kind == "u":
            return settled
    return k.b.select(_has_other_sign(k, rest, y), k.b.same("add", rest, y), settled)


def fmod(k: Kit, x: Val, y: Val) -> Val:
    return k.b.same("remainder", x, y) if x.dtype.kind == "f" else _quotient_and_rest(k, x, y)[1]


def gcd(k: Kit, x: Val, y: Val) -> Val:
    return k.b.bits(_common(k, *(_size(k, each) for each in (x, y))), x.dtype)


def lcm(k: Kit, x: Val, y: Val) -> Val:
    a, b = _size(k, x), _size(k, y)
    part = _quotient_and_rest(k, a, _common(k, a, b))[0]
    return k.b.bits(k.b.same("multiply", part, b), x.dtype)


def _size(k: Kit, x: Val) -> Val:
    """The absolute value as an unsigned int: that of the lowest number is one, too."""
    return k.b.bits(absolute(k, x), unsigned(x.dtype))


def _common(k: Kit, x: Val, y: Val) -> Val:
    """Euclid's algorithm, until no element has a remainder."""
    no, axes = k.b.scalar(False, BOOL), list(range(x.rank))

    def test(x: Val, y: Val) -> Val:
        return k.b.reduce(k.truth(y), no, "or", axes)

    def step(x: Val, y: Val) -> list[Val]:
        is_done = k.b.compare("EQ", y, k.like(y, 0))
        rest = _quotient_and_rest(k, x, y)[1]
        return [k.b.select(is_done, x, y), k.b.select(is_done, y, rest)]

    return k.b.loop([x, y], test, step)[0]
