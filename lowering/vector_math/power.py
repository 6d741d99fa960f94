"""pow, cbrt and hypot.

pow carries log(abs(x)) as a sum of two numbers with a relative error of 2**-63 (float32: 2**-34),
so that y log(abs(x)), which may be as large as 745, is still good to an ulp of the result. Tables
keep the polynomials short. Special cases go to cold code. Errors: pow below 1.3 ulp (float32:
0.6), cbrt below 0.75, hypot below 1.
"""

from typing import Final

from .builder import (
    Code,
    Value,
    capped,
    copysign,
    fma,
    horner,
    magnitude,
    pattern,
    polynomial,
    sqrt,
    where,
)
from .coefficients import EXP_IN_CELL, LOG_IN_CELL, RECIPROCAL_CBRT
from .exponential import (
    FORMATS,
    LOG2_E,
    capped_exponent,
    nearest_integer,
    power_of_two,
    scaled,
)
from .tables import looked_up

_HUGE: Final = {"f64": 2.0**70, "f32": 2.0**40}  # exponents that only 1 has results for
_INFINITE: Final = float("inf")


def pow(code: Code, x: Value, y: Value) -> Value:
    """x**y, with the special cases of C99 and NumPy. Below 1.3 ulp (float32: 0.6)."""
    form = FORMATS[x.kind]
    infinite = pattern(x.kind, _INFINITE)
    first = pattern(x.kind, form.smallest_normal)
    rare = (x.bits - first).at_least_unsigned(infinite - first)
    # Else these would set flags.
    huge = magnitude(y).at_least_unsigned(pattern(x.kind, _HUGE[x.kind]))
    normal, factor = where(rare, 1.0, x), where(huge, 0.0, y)
    high, low = _multiple(precise_log(normal), factor)
    result = _exp_of_pair(high, low)
    # Also results that are not normal.
    rare = rare | magnitude(high).at_least_unsigned(pattern(x.kind, form.exp_bound - 1.0)) | huge
    return code.unless_rare(rare, [result], lambda: [_pow_special(x, y, _pow_of_positive(x, y))])[0]


def _multiple(logarithm: tuple[Value, Value], factor: Value) -> tuple[Value, Value]:
    high = logarithm[0] * factor
    return high, fma(logarithm[1], factor, fma(logarithm[0], factor, -high))


def _pow_of_positive(x: Value, y: Value) -> Value:
    if x.kind == "f32":  # a result that is not normal is rounded once
        return _pow_of_positive(x.widen(), y.widen()).narrow()
    form, a = FORMATS[x.kind], _ordinary(x)
    doublings = form.mantissa + 2
    tiny = a.bits < pattern(x.kind, form.smallest_normal)
    lifted = where(tiny, where(tiny, a, 0.0) * 2.0**doublings, a)
    down = where(tiny, -float(doublings), x.code.constant(x.kind, 0.0))
    # Beyond half of this every power is 0, 1 or infinite; the cap keeps the products finite.
    factor = capped(y, -_HUGE[x.kind], _HUGE[x.kind])
    high, low = _multiple(precise_log(lifted, down), factor)
    beyond = magnitude(high).at_least_unsigned(pattern(x.kind, 1.2 * form.exp_bound))
    high, low = capped_exponent(high), where(beyond, 0.0, low)
    bits, power, rest = _sixteenths(high, low, 2 * form.bias)
    return scaled(fma(power, rest, power), bits >> 4)


def _ordinary(x: Value) -> Value:
    """abs(x), with 1 for zeros, infinities and nans, lest they raise a floating-point signal."""
    a = abs(x)
    extreme = (a.bits - 1).at_least_unsigned(pattern(x.kind, _INFINITE) - 1)
    return where(extreme, 1.0, a)


def precise_log(x: Value, doublings: Value | None = None) -> tuple[Value, Value]:
    """The logarithm of a normal positive number times 2**doublings, as a sum with a relative
    error of 2**-63 (float32: 2**-34), the second below the last place of the first.

    m, between 0.703 and 1.406, is in one of 16 cells; c, about 1 / m, is a number of so few bits
    that r = c m - 1 is exact; log(m) = -log(c) + log(1 + r), and abs(r) < 0.0342.
    """
    form = FORMATS[x.kind]
    start, one_apart = pattern(x.kind, 0.703125), 2.0**form.mantissa
    shifted = x.bits + (pattern(x.kind, 1.0) - start)
    biased = (shifted.logical_shift(form.mantissa) | pattern(x.kind, one_apart)).from_bits
    k = biased - (one_apart + form.bias)
    if doublings is not None:
        k = k + doublings
    mantissa = ((shifted & (2**form.mantissa - 1)) + start).from_bits
    cell = shifted.logical_shift(form.mantissa - 4)
    r = fma(mantissa, looked_up("reciprocal", x.kind, cell), -1.0)
    lead = fma(k, form.ln2_high, looked_up("log", x.kind, cell))
    lead_low = fma(k, form.ln2_low, looked_up("log_low", x.kind, cell))
    # log(1 + r) = part + lost + r**3 series; part + lost = r - r**2 / 2, exactly. What the cube
    # lacks counts by a third.
    half = r * -0.5
    part = fma(half, r, r)
    lost = fma(half, r, r - part)
    square = r * r
    cube = square * r
    lacks = fma(fma(r, r, -square), r, fma(square, r, -cube))
    lost = fma(lacks, 1.0 / 3.0, lost + lead_low)
    low = fma(cube, polynomial(r, LOG_IN_CELL[x.kind], square), lost)
    high = lead + part
    low = ((lead - high) + part) + low
    total = high + low
    return total, (high - total) + low


def _exp_of_pair(high: Value, low: Value) -> Value:
    """exp(high + low) for a normal result, and a low that is small beside high."""
    bits, power, rest = _sixteenths(high, low, 0)
    lift = FORMATS[high.kind].mantissa - 4
    scale = (power.bits + ((bits & -16) << lift)).from_bits
    return fma(scale, rest, scale)


def _sixteenths(high: Value, low: Value, offset: int) -> tuple[Value, Value, Value]:
    """With n the integer nearest to 16 high / ln 2: low bits that hold n + 16 offset,
    2**(n / 16) but for the exponent, and exp(r) - 1, where abs(r) is below 0.0217.
    """
    form = FORMATS[high.kind]
    n, bits = nearest_integer(high, 16 * LOG2_E, 16 * offset)
    r = fma(n, -form.ln2_high / 16, high) + fma(n, -form.ln2_low / 16, low)
    series = horner(r, EXP_IN_CELL[high.kind])
    rest = fma(r * r, series, r + looked_up("exp2_low", high.kind, bits))
    return bits, looked_up("exp2", high.kind, bits), rest


def _pow_special(x: Value, y: Value, usual: Value) -> Value:
    """x**y given abs(x)**y for the case that x and y are finite and x is not zero."""
    code, a = x.code, abs(x)
    infinite = pattern(x.kind, _INFINITE)
    half = y * 0.5
    whole = y.equals(code.intrinsic("trunc", y))
    odd = whole & half.differs(code.intrinsic("trunc", half))
    negative = x.bits < 0
    extreme = (a.bits - 1).at_least_unsigned(infinite - 1)
    down = (y.bits < 0) & y.differs(0.0)
    # 0**y and inf**y; the division signals 0**-1, also of a constant zero: else LLVM divides.
    pole = code.intrinsic("arithmetic.fence", where(extreme & down, a, 1.0))
    inverse = 1.0 / pole
    result = where(extreme, where(down, inverse, a), usual)
    # x**±inf.
    grows = where(down, a.bits.below_unsigned(pattern(x.kind, 1.0)), a.bits > pattern(x.kind, 1.0))
    limit = where(grows, _INFINITE, code.constant(x.kind, 0.0))
    limit = where(a.equals(1.0), 1.0, limit)
    result = where(magnitude(y).equals(infinite), limit, result)
    # Negative x: an odd y gives the sign back, a fraction is outside the domain.
    result = where(negative & odd, -result, result)
    outside = negative & ~whole & ~extreme
    result = where(outside, sqrt(where(outside, x, 1.0)), result)
    result = where(x.is_nan() | y.is_nan(), x + y, result)
    return where(y.equals(0.0) | x.equals(1.0), 1.0, result)


def cbrt(code: Code, x: Value) -> Value:
    """Cube root. Below 0.75 ulp.

    The exponent and the mantissa, together as one integer, are a piecewise linear logarithm: a
    third of it, subtracted from a constant, gives x**(-1/3) to 3.5 %. Then come a step with a
    polynomial, one of Newton's, and one more for the root itself.
    """
    form = FORMATS[x.kind]
    lift = 3 * (form.mantissa // 3 + 1)
    first = pattern(x.kind, form.smallest_normal)
    rare = (magnitude(x) - first).at_least_unsigned(pattern(x.kind, _INFINITE) - first)

    def remedy() -> list[Value]:
        unusual = (magnitude(x) - 1).at_least_unsigned(pattern(x.kind, _INFINITE) - 1)
        lifted = where(unusual, 1.0, abs(x)) * 2.0**lift
        return [where(unusual, x, copysign(_root(lifted) * 2.0 ** (-lift // 3), x))]

    return code.unless_rare(rare, [copysign(_root(abs(x)), x)], remedy)[0]


def _root(a: Value) -> Value:
    """The cube root of a normal positive number."""
    form = FORMATS[a.kind]
    # As much of the bits as is a mantissa: with the exponent of `unit`, a float of that integer.
    width = 12 if a.kind == "f64" else 9
    unit = 2.0**form.mantissa
    start = (4.0 / 3.0 * form.bias - 0.068162913) * 2.0**-width * unit
    upper = (a.bits.logical_shift(width) | pattern(a.kind, unit)).from_bits
    inverse = (fma(upper, -1.0 / 3.0, unit * 4.0 / 3.0 + start).bits << width).from_bits
    error = fma(-(a * inverse), inverse * inverse, 1.0)
    inverse = fma(inverse * error, polynomial(error, RECIPROCAL_CBRT["f64"]), inverse)
    if a.kind == "f64":
        error = fma(-(a * inverse), inverse * inverse, 1.0)
        inverse = fma(inverse * error, 1.0 / 3.0, inverse)
    square = inverse * inverse
    root = a * square
    return fma(fma(root * root, root, -a) * square, -1.0 / 3.0, root)


def hypot(code: Code, x: Value, y: Value) -> Value:
    """sqrt(x**2 + y**2) without overflow on the way. Below 1 ulp."""
    form = FORMATS[x.kind]
    left, right = magnitude(x), magnitude(y)
    steep = right > left
    large, small = where(steep, right, left), where(steep, left, right)
    exponent = large.logical_shift(form.mantissa)
    exponent = code.intrinsic("smax", exponent, code.constant(exponent.kind, 1))
    exponent = code.intrinsic("smin", exponent, code.constant(exponent.kind, 2 * form.bias - 1))
    scale = power_of_two(code.constant(exponent.kind, 2 * form.bias) - exponent)
    u, v = large.from_bits * scale, small.from_bits * scale
    length = sqrt(fma(u, u, v * v)) * power_of_two(exponent)
    infinite = pattern(x.kind, _INFINITE)
    either = left.equals(infinite) | right.equals(infinite)
    return where(either, _INFINITE, length)
