"""log, log2, log10 and log1p.

x = 2**k m with m between sqrt(1/2) and sqrt(2), taken apart in the bits; log(x) = k ln 2 +
log(m). With f = m - 1, log(m) is kept as a sum high + low, whose leading part f - f**2 / 2 is
computed without error. What remains is a series in s = f / (2 + f) for float64, a polynomial in f
for float32. Errors: below 0.75 ulp. float32 log, log2 and log10 do without low and with a
polynomial for their base: below 1.3 ulp. Subnormal arguments go to cold code.
"""

from collections.abc import Callable
from typing import Final

from fxc.ir.records import frozen

from .builder import Code, Value, fma, magnitude, pattern, polynomial, sqrt, where
from .coefficients import LOG_DIRECT, LOG_SERIES
from .exponential import FORMATS, LOG2_E

# Constants split in two: the first part of LOG10_2 times an exponent is exact.
_LOG2_E: Final = {
    "f64": (LOG2_E, 2.0355273740931033e-17),
    "f32": (1.4426950216293335, 1.925963033500e-08),
}
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


def split_normal(x: Value) -> Parts:
    """Take a positive number apart, that is not subnormal; others give nonsense."""
    form = FORMATS[x.kind]
    root = pattern(x.kind, 0.5**0.5)
    one_apart = 2.0**form.mantissa
    shifted = x.bits + (pattern(x.kind, 1.0) - root)
    biased = (shifted.logical_shift(form.mantissa) | pattern(x.kind, one_apart)).from_bits
    mantissa = ((shifted & (2**form.mantissa - 1)) + root).from_bits
    return Parts(biased - (one_apart + form.bias), mantissa - 1.0)


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
    unusual = (x.bits - 1).at_least_unsigned(pattern(x.kind, float("inf")) - 1)
    return x.code.unless_rare(unusual, [result], lambda: [_log_special(x)])[0]


def _log_special(x: Value) -> Value:
    zero = x.equals(0.0)
    pole = -1.0 / abs(where(zero, x, 1.0))
    negative = sqrt(where(x.bits >= 0, 1.0, x))
    return where(zero, pole, where(x.bits >= 0, x, negative))


def _log_of_parts(x: Value, formula: Callable[[Parts], Value]) -> Value:
    """The formula of the parts of x; the cold code is for what is not positive and normal."""
    first = pattern(x.kind, FORMATS[x.kind].smallest_normal)
    rare = (x.bits - first).at_least_unsigned(pattern(x.kind, float("inf")) - first)
    usual = formula(split_normal(x))

    def remedy() -> list[Value]:
        special = where(rare, _log_special(x), usual)
        subnormal = (x.bits - 1).below_unsigned(first - 1)
        return x.code.unless_rare(subnormal, [special], lambda: [formula(split(x))])

    return x.code.unless_rare(rare, [usual], remedy)[0]


def _single(parts: Parts, unit: tuple[float, float], factor: tuple[float, float]) -> Value:
    """float32 k * unit + factor * log(1 + f)."""
    f, k = parts.fraction, parts.exponent
    series = [each * factor[0] for each in (-0.5, *LOG_DIRECT["f32"])]
    tail = polynomial(f, [factor[1], *series]) if factor[1] else f * polynomial(f, series)
    low = f * tail
    if unit[1]:
        low = fma(k, unit[1], low)
    return fma(k, unit[0], fma(f, factor[0], low)) if factor[0] != 1 else fma(k, unit[0], f + low)


def combined(k: Value, high: Value, low: Value) -> Value:
    """k ln 2 + high + low."""
    form = FORMATS[k.kind]
    total = fma(k, form.ln2_high, high)
    lost = fma(k, form.ln2_high, -total) + high
    return total + (lost + fma(k, form.ln2_low, low))


def log(code: Code, x: Value) -> Value:
    """Natural logarithm. Below 0.65 ulp (float32: 1.3)."""

    def formula(parts: Parts) -> Value:
        if x.kind == "f32":
            form = FORMATS["f32"]
            return _single(parts, (form.ln2_high, form.ln2_low), (1.0, 0.0))
        return combined(parts.exponent, *log_of_mantissa(parts.fraction))

    return _log_of_parts(x, formula)


def log2(code: Code, x: Value) -> Value:
    """Base 2 logarithm, exact for powers of two. Below 0.75 ulp (float32: 1.3)."""

    def formula(parts: Parts) -> Value:
        if x.kind == "f32":
            return _single(parts, (1.0, 0.0), _LOG2_E["f32"])
        return _based(parts, parts.exponent, _LOG2_E["f64"])

    return _log_of_parts(x, formula)


def log10(code: Code, x: Value) -> Value:
    """Base 10 logarithm. Below 0.75 ulp (float32: 1.3)."""
    unit, unit_low = _LOG10_2[x.kind]

    def formula(parts: Parts) -> Value:
        if x.kind == "f32":
            return _single(parts, _LOG10_2["f32"], _LOG10_E["f32"])
        return _based(parts, parts.exponent * unit, _LOG10_E["f64"], parts.exponent * unit_low)

    return _log_of_parts(x, formula)


def _based(
    parts: Parts, start: Value, factor: tuple[float, float], start_low: Value | None = None
) -> Value:
    """start + start_low + factor * log(1 + f); start is exact, and zero or above the logarithm."""
    high, low = log_of_mantissa(parts.fraction)
    low = fma(low, factor[0], high * factor[1] if start_low is None else start_low)
    if start_low is not None:
        low = fma(high, factor[1], low)
    total = fma(high, factor[0], start)
    return total + (fma(high, factor[0], start - total) + low)


def log_of_sum(a: Value | float, b: Value, extra: Value | None = None) -> Value:
    """log(a + b) for a positive finite sum, 0 <= a <= 1; `extra` is a number of doublings."""
    total = b + a
    a_leads = magnitude(b) < pattern(b.kind, 1.0)
    lost = where(a_leads, b - (total - a), a - (total - b))
    parts = split_normal(total)
    f = parts.fraction
    exponent = parts.exponent if extra is None else parts.exponent + extra
    # lost / total, of which a few bits matter: 2**(1 - k), and half of 1 / (1 + f) to 7 %.
    form = FORMATS[b.kind]
    power = (total.bits + (pattern(b.kind, 1.0) - pattern(b.kind, 0.5**0.5))) & (
        -1 << form.mantissa
    )
    down = (b.code.constant(power.kind, 2 * form.bias + 1 << form.mantissa) - power).from_bits
    high, low = log_of_mantissa(f)
    return combined(exponent, high, fma(lost * down, fma(f, fma(f, 0.5, -0.5), 0.5), low))


def log1p(code: Code, x: Value) -> Value:
    """log(1 + x). Below 0.75 ulp."""
    result = with_log_specials(x + 1.0, log_of_sum(1.0, x))
    tiny = magnitude(x).below_unsigned(pattern(x.kind, FORMATS[x.kind].negligible))
    return where(tiny, x, result)
