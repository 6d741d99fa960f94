"""tanh, sinh, cosh and their inverses.

tanh is the quotient (e**2x - 1) / (e**2x + 1) with the rounding errors of both sums carried along.
sinh and cosh take e**x and e**-x from the same two polynomials, sinh(r) and cosh(r) for the reduced
r, since e**±r = cosh(r) ± sinh(r). The inverses are logarithms of a sum whose error is carried
along. Errors: tanh below 1.1 ulp, sinh and cosh below 2, the inverses below 2.5.
"""

from .builder import (
    Code,
    Value,
    capped,
    copysign,
    fma,
    pattern,
    polynomial,
    sqrt,
    tiny_or_nan,
    where,
)
from .coefficients import COSH, SINH
from .exponential import (
    FORMATS,
    LOG2_E,
    add_to_exponential,
    nearest_integer,
    power_of_two,
    reduced_expm1,
)
from .logarithm import log_of_sum


def tanh(code: Code, x: Value) -> Value:
    """Hyperbolic tangent. Below 1.1 ulp."""
    limit = 22.0 if x.kind == "f64" else 10.0
    parts = reduced_expm1(capped(abs(x), None, limit) * 2.0)
    # Halves of the numerator and of the denominator, which is larger by one.
    top, top_lost = add_to_exponential(parts, -0.5)
    bottom = top + 1.0
    bottom_lost = (top - (bottom - 1.0)) + top_lost
    inverse = 1.0 / bottom
    ratio = top * inverse
    rest = fma(-ratio, bottom, top) + fma(-ratio, bottom_lost, top_lost)
    return where(x.is_nan(), x, copysign(fma(rest, inverse, ratio), x))


def sinh(code: Code, x: Value) -> Value:
    """Hyperbolic sine. Below 2 ulp."""
    up, down, sine, cosine = _both_exponentials(x)
    lead = up - down
    rest = fma(lead, cosine, (up + down) * sine)
    itself = tiny_or_nan(x, FORMATS[x.kind].negligible)
    return where(itself, x, copysign((lead + rest) * 2.0, x))


def cosh(code: Code, x: Value) -> Value:
    """Hyperbolic cosine. Below 2 ulp."""
    up, down, sine, cosine = _both_exponentials(x)
    lead = up + down
    rest = fma(lead, cosine, (up - down) * sine)
    return where(x.is_nan(), x, (lead + rest) * 2.0)


def _both_exponentials(x: Value) -> tuple[Value, Value, Value, Value]:
    """2**n / 4, 2**-n / 4, sinh(r) and cosh(r) - 1, where abs(x) = n ln 2 + r."""
    form = FORMATS[x.kind]
    a = capped(abs(x), None, 710.6 if x.kind == "f64" else 89.5)
    n, bits = nearest_integer(a, LOG2_E, form.bias - 2)
    first = fma(n, -form.ln2_high, a)
    r = fma(n, -form.ln2_low, first)
    r_low = fma(n, -form.ln2_low, first - r)
    square = r * r
    sine = r + fma(square * r, polynomial(square, SINH[x.kind]), r_low)
    cosine = square * polynomial(square, COSH[x.kind])
    opposite = x.code.constant(bits.kind, 2 * form.bias - 4) - bits
    down = where(n > 60.0, 0.0, power_of_two(opposite))
    return power_of_two(bits), down, sine, cosine


def arcsinh(code: Code, x: Value) -> Value:
    """Inverse hyperbolic sine. Below 2.5 ulp."""
    a = abs(x)
    large, small = _by_size(a)
    square = small * small
    beyond = small + square / (sqrt(square + 1.0) + 1.0)
    result = _log1p_or_log_twice(large, a, beyond)
    unusual = a.bits.at_least_unsigned(pattern(x.kind, float("inf")))
    return where(unusual, x, copysign(result, x))


def arccosh(code: Code, x: Value) -> Value:
    """Inverse hyperbolic cosine; nan below 1. Below 2.5 ulp."""
    one = pattern(x.kind, 1.0)
    large, small = _by_size(x)
    t = small - 1.0
    below = ~(x.bits >= one)
    inside = where(below, 0.0, t)
    root = sqrt(where(below, t, inside * (inside + 2.0)))
    result = _log1p_or_log_twice(large, x, t + root)
    usual = (x.bits - one).below_unsigned(pattern(x.kind, float("inf")) - one)
    return where(usual, result, where(below, root, x))


def arctanh(code: Code, x: Value) -> Value:
    """Inverse hyperbolic tangent; infinite at ±1, nan beyond. Below 2.5 ulp."""
    a = abs(x)
    usual = a.bits.below_unsigned(pattern(x.kind, 1.0))

    def remedy() -> list[Value]:
        outside = a.bits > pattern(x.kind, 1.0)
        pole = 1.0 / (1.0 - where(outside, 0.0, a))
        return [where(outside, sqrt(where(outside, 1.0 - a, 1.0)), pole)]

    inside = where(usual, a, 0.0)
    beyond = (inside + inside) / (1.0 - inside)
    result = log_of_sum(1.0, beyond) * 0.5
    tiny = a.bits.below_unsigned(pattern(x.kind, 2.0 ** -(FORMATS[x.kind].mantissa // 2 + 2)))
    result = where(tiny, a, result)
    return copysign(code.unless_rare(~usual, [result], remedy)[0], x)


def _by_size(x: Value) -> tuple[Value, Value]:
    """Where x is so large that x**2 ± 1 is x**2, and x, with 2 put for the large ones."""
    bound = 2.0 ** (FORMATS[x.kind].mantissa // 2 + 3)
    large = x.bits > pattern(x.kind, bound)
    return large, where(large, 2.0, x)


def _log1p_or_log_twice(large: Value, x: Value, beyond: Value) -> Value:
    """log(2 x) where x is large, else log(1 + beyond)."""
    start = where(large, 0.0, x.code.constant(x.kind, 1.0))
    extra = where(large, 1.0, x.code.constant(x.kind, 0.0))
    return log_of_sum(start, where(large, x, beyond), extra)
