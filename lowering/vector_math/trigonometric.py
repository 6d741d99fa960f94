"""sin, cos and tan.

float64: x is reduced by the nearest multiple n of pi/2, with that constant in three parts, to
r + r_low; the residue is precise even next to a multiple. n modulo 4 tells which of sin(r) and
cos(r) is wanted, and its sign.

float32 is computed in float64, where no second word is needed. sin and cos reduce by multiples of
pi there, to stay with one polynomial. The result is correctly rounded in nearly all cases. tan of
arguments below 2**13 stays in float32, with r_low as for float64.

Finite arguments from 2**30 (float32: 2**40) on take a cold path, see `reduction`. Errors: sin and
cos below 1 ulp, tan below 2.2.
"""

from collections.abc import Callable
from typing import Final

from .builder import Code, Value, fma, horner, magnitude, pattern, polynomial, where
from .coefficients import COS, SIN, SIN_HALF_TURN, TAN
from .exponential import nearest_integer
from .reduction import huge_argument

_PI: Final = (3.141592653589793, 1.2246467991473532e-16, -2.9947698097183397e-33)
_HALF_PI_F32: Final = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
_INVERSE_PI: Final = 0.3183098861837907

_Reduced = tuple[Value, Value | None, Value]
"""r, r_low (None: all is in float64 for float32), and an integer that is n modulo 4 (halves: 2)."""


def sin(code: Code, x: Value) -> Value:
    """Sine. Below 1 ulp."""
    if x.kind == "f64":
        return where(x.equals(0.0), x, _sine_of_quadrants(x, 0))

    def usual(wide: Value) -> _Reduced:
        n, bits = nearest_integer(wide, _INVERSE_PI, 0)
        return *_residue(wide, n, 1.0, x.kind), bits

    return _signed_sine(*_reduced(x, usual, quarters=0, halvings=1)).narrow()


def cos(code: Code, x: Value) -> Value:
    """Cosine. Below 1 ulp."""
    if x.kind == "f64":
        return _sine_of_quadrants(x, 1)

    def usual(wide: Value) -> _Reduced:
        # The sine of the distance from the nearest odd multiple of pi/2.
        n, bits = nearest_integer(fma(wide, _INVERSE_PI, -0.5), None, 1)
        return *_residue(wide, n + 0.5, 1.0, x.kind), bits

    return _signed_sine(*_reduced(x, usual, quarters=1, halvings=1)).narrow()


def tan(code: Code, x: Value) -> Value:
    """Tangent. Below 2.2 ulp."""
    if x.kind == "f32":
        rare = magnitude(x).at_least_unsigned(pattern("f32", 2.0**13))
        return code.unless_rare(rare, [_moderate_tan(x)], lambda: [_tan_of_quadrants(x)])[0]
    return _tan_of_quadrants(x)


def _moderate_tan(x: Value) -> Value:
    """The tangent of a float32 below 2**13, without float64."""
    n, bits = nearest_integer(x, 2.0 * _INVERSE_PI, 0)
    r, r_low = _precise_residue(x, n, _HALF_PI_F32)
    square = r * r
    tangent = r + fma(square * r, polynomial(square, TAN["f32"]), r_low)
    odd = (bits << 31) < 0
    ratio = where(odd, -1.0, tangent) / where(odd, tangent, 1.0)
    return where(x.equals(0.0), x, ratio)


def _tan_of_quadrants(x: Value) -> Value:
    r, r_low, bits = _within_quadrant(x)
    sine, cosine = _sine_and_cosine(r, r_low, x.kind)
    odd = (bits << 63) < 0
    top, bottom = where(odd, cosine, sine), where(odd, -sine, cosine)
    if r_low is None:
        top, bottom = top.narrow(), bottom.narrow()
    return where(x.equals(0.0), x, top / bottom)


def _within_quadrant(x: Value) -> _Reduced:
    """x reduced by the nearest multiple of pi/2."""

    def usual(wide: Value) -> _Reduced:
        n, bits = nearest_integer(wide, 2.0 * _INVERSE_PI, 0)
        return *_residue(wide, n, 0.5, x.kind), bits

    return _reduced(x, usual, quarters=0, halvings=2)


def _sine_of_quadrants(x: Value, quarters: int) -> Value:
    """sin(x + quarters * pi/2) for float64."""
    r, r_low, bits = _within_quadrant(x)
    bits = bits + quarters
    sine, cosine = _sine_and_cosine(r, r_low, x.kind)
    chosen = where((bits << 63) < 0, cosine, sine)
    return (chosen.bits ^ ((bits.logical_shift(1)) << 63)).from_bits


def sine_and_cosine(x: Value) -> tuple[Value, Value]:
    """Both functions, as float64: for float32 as good as need be. The sign of a zero gets lost."""
    r, r_low, bits = _within_quadrant(x)
    sine, cosine = _sine_and_cosine(r, r_low, x.kind)
    odd = (bits << 63) < 0
    found = where(odd, cosine, sine), where(odd, sine, cosine)
    signs = bits.logical_shift(1) << 63, (bits + 1).logical_shift(1) << 63
    first, second = ((x.bits ^ sign).from_bits for x, sign in zip(found, signs, strict=True))
    return first, second


def _sine_and_cosine(r: Value, r_low: Value | None, kind: str) -> tuple[Value, Value]:
    """Both functions of r + r_low, for abs(r) <= pi/4."""
    square = r * r
    half = square * 0.5
    sine_tail = polynomial(square, SIN[kind])
    cosine_tail = square * square * polynomial(square, COS[kind])
    lead = 1.0 - half
    if r_low is None:
        return r * fma(square, sine_tail, 1.0), lead + cosine_tail
    sine = r + fma(square * r, sine_tail, fma(r_low, -half, r_low))
    return sine, lead + (((1.0 - lead) - half) + fma(-r, r_low, cosine_tail))


def _residue(x: Value, n: Value, halves: float, kind: str) -> tuple[Value, Value | None]:
    """x - n pi * halves, by parts."""
    if kind == "f32":
        first = fma(n, -_PI[0] * halves, x)
        return fma(n, -_PI[1] * halves, first), None
    return _precise_residue(x, n, (_PI[0] * halves, _PI[1] * halves, _PI[2] * halves))


def _precise_residue(x: Value, n: Value, unit: tuple[float, float, float]) -> tuple[Value, Value]:
    """x - n * unit as a sum, the unit being given in three parts."""
    # `first` is exact. `first - second` may cancel and is exact then.
    first = fma(n, -unit[0], x)
    second = n * unit[1]
    second_low = fma(n, unit[1], -second)
    r = first - second
    return r, fma(n, -unit[2], ((first - r) - second) - second_low)


def _reduced(
    x: Value, usual: Callable[[Value], _Reduced], quarters: int, halvings: int
) -> _Reduced:
    """The argument reduced by `usual`, or in cold code where it is huge."""
    single = x.kind == "f32"
    wide = x.widen() if single else x
    r, low, bits = usual(wide)
    first = pattern(x.kind, 2.0**40 if single else 2.0**30)
    # Of nan and infinity `usual` makes nan.
    huge = (magnitude(x) - first).below_unsigned(pattern(x.kind, float("inf")) - first)
    if low is None:
        r, bits = x.code.unless_rare(
            huge, [r, bits], lambda: huge_argument(wide, quarters, halvings)[::2]
        )
        return r, None, bits
    r, low, bits = x.code.unless_rare(
        huge, [r, low, bits], lambda: huge_argument(wide, quarters, halvings)
    )
    return r, low, bits


def _signed_sine(r: Value, r_low: Value | None, bits: Value) -> Value:
    """(-1)**bits * sin(r) for abs(r) <= pi/2, good enough for float32."""
    square = r * r
    sine = r * fma(square, horner(square, SIN_HALF_TURN["f32"]), 1.0)
    return (sine.bits ^ (bits << 63)).from_bits
