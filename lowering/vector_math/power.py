"""pow, cbrt and hypot.

pow for float64 carries log(abs(x)) as a sum of two numbers with a relative error of 2**-65, so
that y log(abs(x)), which may be as large as 745, is still good to an ulp of the result. For float32
plain float64 arithmetic is as good. Special cases go to cold code. Errors: pow below 1.3 ulp
(float32: 0.6), cbrt below 0.75, hypot below 1.
"""

from typing import Final

from .builder import Code, Value, capped, copysign, fma, magnitude, pattern, polynomial, sqrt, where
from .coefficients import LOG2_WIDE, LOG_TAIL, RECIPROCAL_CBRT
from .exponential import (
    FORMATS,
    capped_exponent,
    exp2_for_single,
    exp_of_sum,
    exp_within,
    power_of_two,
)
from .logarithm import Parts, split, split_normal

_THIRD: Final = (0.3333333333333333, 1.850371707708594e-17)
_INFINITE: Final = float("inf")


def pow(code: Code, x: Value, y: Value) -> Value:
    """x**y, with the special cases of C99 and NumPy. Below 1.3 ulp (float32: 0.6)."""
    infinite = pattern(x.kind, _INFINITE)
    first = pattern(x.kind, FORMATS[x.kind].smallest_normal)
    rare = (x.bits - first).at_least_unsigned(infinite - first)
    normal = where(rare, 1.0, x)  # else it would set flags, and so would a huge y
    if x.kind == "f32":
        huge = magnitude(y).at_least_unsigned(infinite)
        result = _pow_of_parts_f32(split_normal(normal), y)
        rare = rare | huge

        def remedy() -> Value:
            return _pow_of_parts_f32(split(_ordinary(x)), y)
    else:
        # Also results that are not normal, and huge or infinite y and nans.
        huge = magnitude(y).at_least_unsigned(pattern("f64", 2.0**70))
        factor = where(huge, 0.0, y)
        log_high, log_low = precise_log(split_normal(normal))
        high = log_high * factor
        low = fma(log_high, factor, -high) + log_low * factor
        result = exp_within(high, low)
        rare = rare | magnitude(high).at_least_unsigned(pattern("f64", 707.0)) | huge

        def remedy() -> Value:
            return _pow_of_positive_f64(x, y)

    return code.unless_rare(rare, [result], lambda: [_pow_special(x, y, remedy())])[0]


def _pow_of_positive_f64(x: Value, y: Value) -> Value:
    log_high, log_low = precise_log(split(_ordinary(x)))
    # Beyond 2**65 every power is 0, 1 or infinite; the cap keeps the products finite.
    factor = capped(y, -(2.0**70), 2.0**70)
    high = log_high * factor
    low = fma(log_high, factor, -high) + log_low * factor
    low = where(magnitude(high).at_least_unsigned(pattern("f64", 800.0)), 0.0, low)
    return exp_of_sum(capped_exponent(high), low)


def _ordinary(x: Value) -> Value:
    """abs(x), with 1 for zeros, infinities and nans, lest they raise a floating-point signal."""
    a = abs(x)
    extreme = (a.bits - 1).at_least_unsigned(pattern(x.kind, _INFINITE) - 1)
    return where(extreme, 1.0, a)


def precise_log(parts: Parts) -> tuple[Value, Value]:
    """The logarithm = high + low with a relative error of 2**-65."""
    form = FORMATS["f64"]
    k, f = parts.exponent, parts.fraction
    # s + s_low = f / (2 + f); z + z_low = s**2.
    bottom = f + 2.0
    inverse = 1.0 / bottom
    s = f * inverse
    s_low = inverse * fma(-s, f - (bottom - 2.0), fma(-s, bottom, f))
    z = s * s
    z_low = fma(s + s, s_low, fma(s, s, -z))
    # log(1 + f) = 2 s (1 + z (1/3 + tail)).
    tail = z * polynomial(z, LOG_TAIL["f64"])
    w = tail + _THIRD[0]
    w_low = ((_THIRD[0] - w) + tail) + _THIRD[1]
    v = z * w
    v_low = fma(z, w, -v) + fma(z, w_low, z_low * w)
    t = s * v
    t_low = fma(s, v, -t) + fma(s, v_low, s_low * v)
    half = s + t
    half_low = ((s - half) + t) + (t_low + s_low)
    whole = half + half
    high = fma(k, form.ln2_high, whole)
    low = fma(k, form.ln2_high, -high) + whole
    return high, low + fma(k, form.ln2_low, half_low + half_low)


def _pow_of_parts_f32(parts: Parts, y: Value) -> Value:
    f = parts.fraction.widen()
    # The high powers of f matter so little that float32 will do.
    tail = polynomial(parts.fraction, LOG2_WIDE["f64"][6:]).widen()
    for coefficient in reversed(LOG2_WIDE["f64"][:6]):
        tail = fma(f, tail, coefficient)
    log2 = fma(f, tail, parts.exponent.widen())
    return exp2_for_single(capped(log2 * y.widen(), -200.0, 200.0)).narrow()


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
    # 0**y and inf**y; the division signals 0**-1.
    inverse = 1.0 / where(extreme & down, a, 1.0)
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
