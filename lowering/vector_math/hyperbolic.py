"""tanh, sinh, cosh and their inverses.

tanh is the quotient of halves of e**2x - 1 and e**2x + 1, with the rounding errors of the last sums
carried along for float64; float32 has 1 - 2 / (e**2x + 1) and a polynomial for small arguments.
sinh and cosh take e**x and e**-x from the same two polynomials, sinh(r) and cosh(r) for the reduced
r, since e**±r = cosh(r) ± sinh(r). The inverses are logarithms of a sum whose error is carried
along. Errors: tanh below 2 ulp, sinh and cosh below 2, the inverses below 2.5.
"""

from .builder import (
    Code,
    Value,
    at_most,
    capped,
    copysign,
    fma,
    pattern,
    polynomial,
    sqrt,
    tiny_or_nan,
    where,
)
from .coefficients import COSH, EXP, SINH, TANH
from .exponential import (
    FORMATS,
    LOG2_E,
    expm1_multiple,
    nearest_integer,
    power_of_two,
)
from .logarithm import log_of_sum

_HALF_LN2 = 0.34657359027997264


def tanh(code: Code, x: Value) -> Value:
    """Hyperbolic tangent. Below 1.6 ulp (float32: 2)."""
    a = abs(x)
    if x.kind == "f32":
        inside = capped(a, None, 10.0)
        square = inside * inside  # of what is not near, too: that is to set no flags
        near = fma(square * inside, polynomial(square, TANH["f32"]), a)  # nan for nan
        return copysign(where(a >= 0.4, _tanh_from_exp(inside), near), x)
    inside = at_most(a, 22.0)
    start, rest = expm1_multiple(inside, 2)
    top = start + rest
    bottom = top + 1.0
    ratio = top / bottom
    # The residue and what the sums lost, over `bottom`, of which 1 - ratio is the inverse. Near 1
    # that difference has no bits left, and needs none.
    inverse = where(a < 16.0, 1.0 - ratio, 0.0)
    lost = fma(-ratio, top - (bottom - 1.0), rest - (top - start))
    return copysign(fma(fma(-ratio, bottom, top) + lost, inverse, ratio), x)


def _tanh_from_exp(x: Value) -> Value:
    """1 - 2 / (e**2x + 1) for float32 x between 0.4 and 10."""
    n, bits = nearest_integer(x, 2.0 * LOG2_E, FORMATS["f32"].bias)
    r = fma(n, -_HALF_LN2, x)  # the error is n 2**-30, less than that of x where n is large
    square = r * r
    series = [2.0 ** (i + 1) * each for i, each in enumerate(EXP["f32"])]
    scale = power_of_two(bits)
    growth = fma(square, polynomial(r, series, square), r)
    return 1.0 - 1.0 / fma(scale, growth, fma(scale, 0.5, 0.5))


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
