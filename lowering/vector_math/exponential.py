"""exp, exp2, exp10 and expm1.

With n the integer nearest to x / ln 2 and r = x - n ln 2, exp(x) = 2**n exp(r), where
abs(r) <= 0.3466 and exp(r) is a polynomial. n comes from adding a number so large that its last
place is one: the low bits of the sum are then n as an integer, offset as we please, which a shift
moves into the exponent field. Results near the ends of the range, and beyond, come from cold code.
Errors: below 1.6 ulp.
"""

from collections.abc import Callable
from typing import Final

from fxc.ir.records import frozen

from .builder import (
    Code,
    Operand,
    Value,
    capped,
    copysign,
    fma,
    magnitude,
    pattern,
    polynomial,
    tiny_or_nan,
    where,
)
from .coefficients import EXP, EXP2, EXP2_WIDE

LOG2_E: Final = 1.4426950408889634
_LN10: Final = {
    "f64": (2.302585092994046, -2.1707562233822494e-16),
    "f32": (2.3025851249694824, -3.1975436520e-08),
}


@frozen
class Format:
    """Facts of a float kind. ln2_high times any exponent is exact."""

    mantissa: int
    bias: int
    ln2_high: float
    ln2_low: float
    smallest_normal: float
    lowest_exponent: float
    highest_exponent: float

    @property
    def exp_bound(self) -> float:
        """For numbers between this and its negative, exp is normal."""
        return 708.0 if self.mantissa == 52 else 87.0

    @property
    def negligible(self) -> float:
        """Below this, x**2 does not change x in a sum."""
        return 2.0 ** -(self.mantissa + 2)

    @property
    def one_apart(self) -> float:
        """A number whose neighbours, up and down, are one apart."""
        return 1.5 * 2.0**self.mantissa


FORMATS: Final = {
    "f64": Format(
        52, 1023, 6.93147180369123816490e-01, 1.90821492927058770002e-10, 2.0**-1022, -1076, 1025
    ),
    "f32": Format(23, 127, 0.693145751953125, 1.4286068203094172e-06, 2.0**-126, -151, 129),
}


def nearest_integer(x: Value, factor: Operand | None, offset: int) -> tuple[Value, Value]:
    """The integer n nearest to x * factor: as a float, and as low bits that hold n + offset."""
    form = FORMATS[x.kind]
    shift = form.one_apart + offset
    total = x + shift if factor is None else fma(x, factor, shift)
    return total - shift, total.bits


def power_of_two(bits: Value) -> Value:
    """2**(bits - bias), where the low bits of `bits` are a biased exponent."""
    return (bits << FORMATS["f64" if bits.kind == "i64" else "f32"].mantissa).from_bits


def scaled(x: Value, bits: Value) -> Value:
    """x * 2**n, rounded once, where the low bits of `bits` are n + 2 * bias."""
    half = bits >> 1
    return x * power_of_two(half) * power_of_two(bits - half)


def scaled_normal(x: Value, bits: Value) -> Value:
    """x * 2**n, where the low bits of `bits` are n, and neither x nor the result is subnormal."""
    return (x.bits + (bits << FORMATS[x.kind].mantissa)).from_bits


def unless_beyond(
    x: Value, bound: float, usual: Callable[[Value], Value], always: Callable[[], Value]
) -> Value:
    """`usual(x)`, but `always()` where abs(x) >= bound or x is nan, in cold code."""
    rare = magnitude(x).at_least_unsigned(pattern(x.kind, bound))
    inside = where(rare, 0.0, x)  # else it would set flags
    return x.code.unless_rare(rare, [usual(inside)], lambda: [always()])[0]


def exp_of_sum(high: Value, low: Value | None) -> Value:
    """exp(high + low) for a high that `capped` has limited, and a low below its last place."""
    form = FORMATS[high.kind]
    n, bits = nearest_integer(high, LOG2_E, 2 * form.bias)
    return scaled(exp_of_rest(high, low, n), bits)


def exp_within(high: Value, low: Value | None) -> Value:
    """The same for a normal result: abs(high) < 708, for float32 87."""
    n, bits = nearest_integer(high, LOG2_E, 0)
    return scaled_normal(exp_of_rest(high, low, n), bits)


def exp_of_rest(high: Value, low: Value | None, n: Value) -> Value:
    """exp(high + low - n ln 2)."""
    form = FORMATS[high.kind]
    r = fma(n, -form.ln2_low, fma(n, -form.ln2_high, high))
    if low is not None:
        r = r + low
    square = r * r
    return fma(square, polynomial(r, EXP[high.kind], square), r) + 1.0


def exp2_for_single(x: Value) -> Value:
    """2**x by float64, good enough for float32; abs(x) < 1000."""
    n, bits = nearest_integer(x, None, FORMATS["f64"].bias)
    r = x - n
    return fma(r, polynomial(r, EXP2_WIDE["f64"]), 1.0) * power_of_two(bits)


def capped_exponent(x: Value) -> Value:
    """x, limited to where exp is neither surely zero nor surely infinite."""
    form = FORMATS[x.kind]
    return capped(x, form.lowest_exponent * 0.6931, form.highest_exponent * 0.6932)


def exp(code: Code, x: Value) -> Value:
    """e**x. Below 1.1 ulp, results below the normal range included."""
    return unless_beyond(
        x,
        FORMATS[x.kind].exp_bound,
        lambda inside: exp_within(inside, None),
        lambda: _with_limits(x, lambda finite: exp_of_sum(capped_exponent(finite), None)),
    )


def exp2(code: Code, x: Value) -> Value:
    """2**x, exact for integers. Below 1.1 ulp."""
    form = FORMATS[x.kind]

    def usual(inside: Value) -> Value:
        n, bits = nearest_integer(inside, None, 0)
        r = inside - n
        return scaled_normal(fma(r, polynomial(r, EXP2[x.kind]), 1.0), bits)

    def always(finite: Value) -> Value:
        inside = capped(finite, form.lowest_exponent, form.highest_exponent)
        n, bits = nearest_integer(inside, None, 2 * form.bias)
        r = inside - n
        return scaled(fma(r, polynomial(r, EXP2[x.kind]), 1.0), bits)

    return unless_beyond(x, form.bias - 1.0, usual, lambda: _with_limits(x, always))


def exp10(code: Code, x: Value) -> Value:
    """10**x. Below 1.1 ulp."""
    form = FORMATS[x.kind]

    def parts(finite: Value) -> tuple[Value, Value]:
        high = finite * _LN10[x.kind][0]
        return high, fma(finite, _LN10[x.kind][1], fma(finite, _LN10[x.kind][0], -high))

    def always(finite: Value) -> Value:
        limit = form.highest_exponent * 0.30104
        high, low = parts(capped(finite, form.lowest_exponent * 0.30102, limit))
        return exp_of_sum(high, low)

    bound = form.exp_bound * 0.434
    return unless_beyond(
        x, bound, lambda inside: exp_within(*parts(inside)), lambda: _with_limits(x, always)
    )


def _with_limits(x: Value, finite: Callable[[Value], Value]) -> Value:
    """An exponential, by a function of finite numbers: infinity, zero and nan set no flags."""
    infinite = pattern(x.kind, float("inf"))
    limit = magnitude(x).at_least_unsigned(infinite)
    beyond = where(x.bits.equals(pattern(x.kind, -float("inf"))), 0.0, x)
    return where(limit, beyond, finite(where(limit, 0.0, x)))


@frozen
class ReducedExponential:
    """exp(x) = 2 * scale * (1 + high + low), low being a correction of high's rounding."""

    scale: Value
    high: Value
    low: Value


def reduced_expm1(x: Value) -> ReducedExponential:
    """The exponential taken apart, for sums with other numbers; x is between -60 and 709.9."""
    kind = x.kind
    form = FORMATS[kind]
    n, bits = nearest_integer(x, LOG2_E, form.bias - 1)
    first = fma(n, -form.ln2_high, x)
    r = fma(n, -form.ln2_low, first)
    r_low = fma(n, -form.ln2_low, first - r)
    square = r * r
    rest = square * polynomial(r, EXP[kind], square)
    high = r + rest
    return ReducedExponential(power_of_two(bits), high, ((r - high) + rest) + r_low)


def add_to_exponential(parts: ReducedExponential, half: float) -> tuple[Value, Value]:
    """scale * (1 + high + low) + half as a rounded sum and what the rounding lost."""
    start = parts.scale + half
    start_lost = half - (start - parts.scale)
    total = fma(parts.scale, parts.high, start)
    lost = fma(parts.scale, parts.high, start - total) + start_lost
    return total, fma(parts.scale, parts.low, lost)


def expm1(code: Code, x: Value) -> Value:
    """e**x - 1. Below 1.3 ulp (float32: 1.6)."""
    if x.kind == "f64":
        return _precise_expm1(x)

    def usual(inside: Value) -> Value:
        start, rest = expm1_multiple(inside, 1)
        return copysign(start + rest, x)

    return unless_beyond(x, FORMATS["f32"].exp_bound, usual, lambda: _precise_expm1(x))


def expm1_multiple(x: Value, factor: int) -> tuple[Value, Value]:
    """(e**(factor x) - 1) / factor as a sum, where factor is 1 or 2 and factor x is not huge.

    The second number is the smaller one. The sign of a zero gets lost.
    """
    form = FORMATS[x.kind]
    n, bits = nearest_integer(x, factor * LOG2_E, form.bias)
    r = fma(n, -form.ln2_low / factor, fma(n, -form.ln2_high / factor, x))
    square = r * r
    scaled_series = [factor ** (i + 1) * each for i, each in enumerate(EXP[x.kind])]
    rest = square * polynomial(r, scaled_series, square)
    scale = power_of_two(bits)
    # Exact for n = 0, so that small results have but one rounding error.
    start = scale - 1.0 if factor == 1 else fma(scale, 0.5, -0.5)
    return fma(scale, r, start), scale * rest


def _precise_expm1(x: Value) -> Value:
    low = -40.0 if x.kind == "f64" else -20.0
    inside = capped(x, low, 709.9 if x.kind == "f64" else 88.9)
    total, lost = add_to_exponential(reduced_expm1(inside), -0.5)
    itself = tiny_or_nan(x, FORMATS[x.kind].negligible)
    return where(itself, x, copysign((total + lost) * 2.0, x))
