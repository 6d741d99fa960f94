"""exp, log and sqrt of a complex number x + iy: two results, the real and the imaginary part.

exp has e**x cos(y) and e**x sin(y), each product rounded once. For float32 the factors are those of
float64, which is 0.6 ulp. log has half the logarithm of x**2 + y**2, of which all bits are kept:
beside the unit circle, where the logarithm is small, it is as good as elsewhere. sqrt has the root
of (abs(x) + abs(z)) / 2 as one part, and y over twice that root as the other.

Zeros, infinities and nan are those of C99, Annex G, and of glibc where that leaves a choice; they,
and numbers so large or small that a square would not be normal, go to cold code. Errors in ulps of
each part: exp below 2.5 (float32: 0.6), log and sqrt below 2.2.
"""

from typing import Final

from .builder import Code, Value, capped, copysign, fma, magnitude, pattern, sqrt, where
from .exponential import (
    FORMATS,
    LOG2_E,
    exp2_for_single,
    exp_of_rest,
    exp_within,
    nearest_integer,
    power_of_two,
)
from .inverse import arctan2
from .logarithm import combined, log_of_mantissa, split_normal
from .trigonometric import sine_and_cosine

_INFINITE: Final = float("inf")
# The exponents between which squares are normal, and one that brings the others there.
_SQUARED: Final = {"f64": (-400, 500, 700), "f32": (-40, 60, 100)}

Pair = tuple[Value, Value]


def complex_exp(code: Code, x: Value, y: Value) -> Pair:
    """e**(x + iy). Below 2.5 ulp (float32: 0.6)."""
    single = x.kind == "f32"
    sine, cosine = sine_and_cosine(y)
    rare = magnitude(x).at_least_unsigned(pattern(x.kind, 200.0 if single else 708.0))
    rare = rare | magnitude(y).at_least_unsigned(pattern(y.kind, _INFINITE))
    inside = where(rare, 0.0, x)  # else it would set flags
    growth = exp2_for_single(inside.widen() * LOG2_E) if single else exp_within(inside, None)
    usual = [growth * cosine, growth * sine]
    if single:
        wide = x.widen(), y.widen()
        usual = [each.narrow() for each in usual]
    else:
        usual[1] = where(y.equals(0.0), y, usual[1])

    def remedy() -> list[Value]:
        if single:
            return [each.narrow() for each in _exp_beyond(*wide, sine, cosine)]
        return _exp_beyond(x, y, sine, cosine)

    real, imaginary = code.unless_rare(rare, usual, remedy)
    return real, imaginary


def _exp_beyond(x: Value, y: Value, sine: Value, cosine: Value) -> list[Value]:
    """exp for all float64, the sine and cosine of y being given."""
    code, infinite = x.code, pattern(x.kind, _INFINITE)
    endless = magnitude(x).equals(infinite)
    no_angle = magnitude(y).at_least_unsigned(infinite)
    unusual = magnitude(x).at_least_unsigned(infinite) | no_angle
    # Beyond these numbers nothing is finite and not zero, not even times the smallest sine.
    inside = capped(where(unusual, 0.0, x), -1500.0, 1500.0)
    real, imaginary = (_scaled_far(inside, where(unusual, 0.0, each)) for each in (cosine, sine))
    # An infinite x leaves of the angle its quadrant.
    size = where(x.bits < 0, 0.0, code.constant(x.kind, _INFINITE))
    real = where(endless, copysign(size, where(no_angle, 1.0, cosine)), real)
    imaginary = where(endless, copysign(size, where(no_angle, y, sine)), imaginary)
    lost = where(endless & no_angle & (x.bits >= 0), y, 0.0)
    imaginary = where(lost.equals(0.0), imaginary, lost - lost)
    # nan, which is an invalid operation where only one part is.
    of_nan = x.is_nan() | (no_angle & ~endless)
    invalid = of_nan & y.differs(0.0) & ~(x.is_nan() & y.is_nan())
    below_zero = code.intrinsic("arithmetic.fence", where(invalid, -1.0, code.constant("f64", 1.0)))
    nan = where(invalid, sqrt(below_zero), x)
    imaginary = where(y.equals(0.0), y, where(of_nan, nan, imaginary))
    return [where(of_nan, nan, real), imaginary]


def _scaled_far(x: Value, factor: Value) -> Value:
    """factor * e**x, though e**x alone may be beyond all bounds."""
    form = FORMATS["f64"]
    n, bits = nearest_integer(x, LOG2_E, 0)
    exponent = bits - pattern("f64", form.one_apart)
    quarter = exponent >> 2
    step = power_of_two(quarter + form.bias)
    # Each of these is normal, or the whole is zero.
    result = (factor * step) * (exp_of_rest(x, None, n) * step)
    return result * step * power_of_two(exponent - quarter * 3 + form.bias)


def complex_log(code: Code, x: Value, y: Value) -> Pair:
    """The principal logarithm. Below 2.2 ulp."""
    kind, infinite = x.kind, pattern(x.kind, _INFINITE)
    rare, large, small = _by_size(x, y)
    usual = _log_of_size(where(rare, 1.0, large), where(rare, 0.0, small), 0)
    far = _SQUARED[kind][2]

    def remedy() -> list[Value]:
        nothing = large.equals(0.0)
        unusual = nothing | large.bits.at_least_unsigned(infinite)
        up = large < 1.0
        a, b = (
            _scaled_by(where(unusual, each, part), up, far)
            for each, part in ((1.0, large), (0.0, small))
        )
        down = where(up, -2.0 * far, code.constant(kind, 2.0 * far))
        size = _log_of_size(a, b, down)
        pole = -1.0 / abs(where(nothing, x, 1.0))
        either = magnitude(x).equals(infinite) | magnitude(y).equals(infinite)
        limit = where(either, _INFINITE, where(x.is_nan(), x, y))
        return [where(nothing, pole, where(unusual, limit, size))]

    return code.unless_rare(rare, [usual], remedy)[0], arctan2(code, y, x)


def complex_sqrt(code: Code, x: Value, y: Value) -> Pair:
    """The principal root. Below 2.2 ulp."""
    kind, infinite = x.kind, pattern(x.kind, _INFINITE)
    rare, large, _ = _by_size(x, y)
    root = _half_sum_root(where(rare, 1.0, x), where(rare, 0.0, y))
    usual = _sorted_roots(x, y, root)
    far = _SQUARED[kind][2]

    def remedy() -> list[Value]:
        unusual = large.equals(0.0) | large.bits.at_least_unsigned(infinite)
        up = large < 1.0
        a, b = (
            _scaled_by(where(unusual, each, part), up, far) for each, part in ((1.0, x), (0.0, y))
        )
        half = far // 2
        root = _scaled_by(_half_sum_root(a, b), ~up, half)
        real, imaginary = _sorted_roots(where(unusual, 1.0, x), where(unusual, 0.0, y), root)
        # An infinite y makes both parts so, an infinite x one of them.
        nan = where(x.is_nan(), x, y)
        no_sign = y.is_nan()
        limit = code.constant(kind, _INFINITE)
        left, endless = x.bits < 0, magnitude(x).equals(infinite)
        along = where(left, where(no_sign, nan, 0.0), limit)
        zero = copysign(code.constant(kind, 0.0), y)
        across = where(left, copysign(limit, y), where(no_sign, nan, zero))
        tall = magnitude(y).equals(infinite)
        nothing = large.equals(0.0)
        first = where(nothing, 0.0, where(tall, limit, where(endless, along, nan)))
        second = where(nothing | tall, y, where(endless, across, nan))
        return [where(unusual, first, real), where(unusual, second, imaginary)]

    real, imaginary = code.unless_rare(rare, list(usual), remedy)
    return real, imaginary


def _by_size(x: Value, y: Value) -> tuple[Value, Value, Value]:
    """Whether the square of the larger part is not normal, the larger part and the smaller one."""
    low, high, _ = _SQUARED[x.kind]
    code, a, b = x.code, magnitude(x), magnitude(y)
    large, small = code.intrinsic("smax", a, b), code.intrinsic("smin", a, b)
    first = pattern(x.kind, 2.0**low)
    rare = (large - first).at_least_unsigned(pattern(x.kind, 2.0**high) - first)
    return rare, large.from_bits, small.from_bits


def _scaled_by(x: Value, up: Value, exponent: int) -> Value:
    """x * 2**exponent, or 2**-exponent."""
    return x * where(up, 2.0**exponent, x.code.constant(x.kind, 2.0**-exponent))


def _log_of_size(large: Value, small: Value, extra: Value | int) -> Value:
    """log(large**2 + small**2) / 2, of which `extra` doublings were taken away."""
    form = FORMATS[large.kind]
    first, second = large * large, small * small
    total = first + second
    parts = split_normal(total)
    # 1 + f + t + rest are the sum of the squares over a power of two, without any error.
    low, rest = _two_sum(fma(large, large, -first), fma(small, small, -second))
    low, more = _two_sum(second - (total - first), low)
    root = pattern(large.kind, 0.5**0.5)
    power = (total.bits + (pattern(large.kind, 1.0) - root)) & (-1 << form.mantissa)
    inverse = large.code.constant(power.kind, 2 * form.bias << form.mantissa) - power
    down = inverse.from_bits
    t = low * down
    f = parts.fraction + t
    rest = fma(rest + more, down, t - (f - parts.fraction))
    high, low = log_of_mantissa(f)
    low = fma(rest, fma(f, f - 1.0, 1.0), low)  # 1 / (1 + f) to 7 %
    exponent = parts.exponent if isinstance(extra, int) else parts.exponent + extra
    return combined(exponent, high, low) * 0.5


def _two_sum(x: Value, y: Value) -> Pair:
    """x + y, rounded, and what the rounding lost."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _half_sum_root(x: Value, y: Value) -> Value:
    """sqrt((abs(x) + abs(z)) / 2)."""
    return sqrt((abs(x) + sqrt(fma(x, x, y * y))) * 0.5)


def _sorted_roots(x: Value, y: Value, root: Value) -> Pair:
    """The parts of the root, of which that is the larger one in magnitude."""
    other = y / (root + root)
    left = x.bits < 0
    return where(left, abs(other), root), where(left, copysign(root, y), other)
