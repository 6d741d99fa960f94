"""log, log2, log10 and log1p.

x = 2**k m with m between sqrt(1/2) and sqrt(2), taken apart in the bits; log(x) = k ln 2 +
log(m). With f = m - 1, log(m) is kept as a sum high + low, whose leading part f - f**2 / 2 is
computed without error. What remains is a series in s = f / (2 + f) for float64, a polynomial in f
for float32. Errors: below 0.75 ulp.
"""

from typing import Final

from fxc.ir.records import frozen

from .builder import Code, Value, fma, magnitude, pattern, polynomial, sqrt, where
from .coefficients import LOG_DIRECT, LOG_SERIES
from .exponential import FORMATS, LOG2_E

# Constants split in two: the first part of LOG10_2 times an exponent is exact.
_LOG2_E_LOW: Final = {"f64": 2.0355273740931033e-17, "f32": 1.925963033500e-08}
_LOG10_E: Final = {
    "f64": (0.4342944819032518, 1.098319650216765e-17),
    "f32": (0.4342944920063019, -1.010305009e-08),
}
_LOG10_2: Final = {
    "f64": (0.30102999566361177, 3.6942390771589308e-13),
    "f32": (0.3010292053222656, 7.9034151668e-07),
}


@frozen
class Parts:
    """The exponent k as a float, and the mantissa m less one."""

    exponent: Value
    fraction: Value


def split(x: Value) -> Parts:
    """Take a positive number apart; others give nonsense without a floating-point signal."""
    form = FORMATS[x.kind]
    lift = form.mantissa + 2
    root = pattern(x.kind, 0.5**0.5)
    one_apart = 2.0**form.mantissa
    bits = x.bits
    tiny = bits.below_unsigned(pattern(x.kind, form.smallest_normal))
    bits = where(tiny, where(tiny, x, 0.0) * 2.0**lift, x).bits
    offset = x.code.constant(x.kind, one_apart + form.bias)
    offset = where(tiny, one_apart + form.bias + lift, offset)
    shifted = bits + (pattern(x.kind, 1.0) - root)
    biased = (shifted.logical_shift(form.mantissa) | pattern(x.kind, one_apart)).from_bits
    exponent = biased - offset
    mantissa = ((shifted & (2**form.mantissa - 1)) + root).from_bits
    return Parts(exponent, mantissa - 1.0)


def log_of_mantissa(f: Value) -> tuple[Value, Value]:
    """log(1 + f) = high + low, for 1 + f between sqrt(1/2) and sqrt(2)."""
    half = f * -0.5
    high = fma(half, f, f)
    lost = fma(half, f, f - high)
    square = f * f
    if f.kind == "f32":
        return high, fma(square * f, polynomial(f, LOG_DIRECT[f.kind], square), lost)
    s = f / (f + 2.0)
    z = s * s
    series = fma(z, polynomial(z, LOG_SERIES[f.kind]), square * 0.5)
    return high, fma(s, series, lost)


def with_log_specials(x: Value, result: Value) -> Value:
    """The result, but nan below zero, -inf at zero, and inf and nan as they are."""
    bits = x.bits
    unusual = (bits - 1).at_least_unsigned(pattern(x.kind, float("inf")) - 1)

    def remedy() -> list[Value]:
        zero = x.equals(0.0)
        pole = -1.0 / abs(where(zero, x, 1.0))
        negative = sqrt(where(bits >= 0, 1.0, x))
        return [where(zero, pole, where(bits >= 0, x, negative))]

    return x.code.unless_rare(unusual, [result], remedy)[0]


def combined(k: Value, high: Value, low: Value) -> Value:
    """k ln 2 + high + low."""
    form = FORMATS[k.kind]
    total = fma(k, form.ln2_high, high)
    lost = fma(k, form.ln2_high, -total) + high
    return total + (lost + fma(k, form.ln2_low, low))


def log(code: Code, x: Value) -> Value:
    """Natural logarithm. Below 0.65 ulp."""
    parts = split(x)
    return with_log_specials(x, combined(parts.exponent, *log_of_mantissa(parts.fraction)))


def log2(code: Code, x: Value) -> Value:
    """Base 2 logarithm, exact for powers of two. Below 0.75 ulp."""
    parts = split(x)
    high, low = _times(*log_of_mantissa(parts.fraction), LOG2_E, _LOG2_E_LOW[x.kind])
    total = parts.exponent + high
    lost = (parts.exponent - total) + high
    return with_log_specials(x, total + (lost + low))


def log10(code: Code, x: Value) -> Value:
    """Base 10 logarithm. Below 0.75 ulp."""
    parts = split(x)
    high, low = _times(*log_of_mantissa(parts.fraction), *_LOG10_E[x.kind])
    unit, unit_low = _LOG10_2[x.kind]
    total = fma(parts.exponent, unit, high)
    lost = fma(parts.exponent, unit, -total) + high
    return with_log_specials(x, total + (lost + fma(parts.exponent, unit_low, low)))


def _times(high: Value, low: Value, factor: float, factor_low: float) -> tuple[Value, Value]:
    product = high * factor
    return product, fma(high, factor, -product) + fma(high, factor_low, low * factor)


def log_of_sum(a: Value | float, b: Value, extra: Value | None = None) -> Value:
    """log(a + b) for a positive finite sum, 0 <= a <= 1; `extra` is a number of doublings."""
    total = b + a
    a_leads = magnitude(b) < pattern(b.kind, 1.0)
    lost = where(a_leads, b - (total - a), a - (total - b))
    # Not a zero divisor, for log1p(-1).
    lost = lost / where(total.equals(0.0), b, total)
    parts = split(total)
    exponent = parts.exponent if extra is None else parts.exponent + extra
    high, low = log_of_mantissa(parts.fraction)
    return combined(exponent, high, low + lost)


def log1p(code: Code, x: Value) -> Value:
    """log(1 + x). Below 0.75 ulp."""
    result = with_log_specials(x + 1.0, log_of_sum(1.0, x))
    tiny = magnitude(x).below_unsigned(pattern(x.kind, FORMATS[x.kind].negligible))
    return where(tiny, x, result)
