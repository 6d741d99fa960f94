"""erf, erfc, erfcx, ndtr and log_ndtr, as scipy.special has them.

erf(a) = 1 - exp(-a g(a)), where g, by its definition smooth, is one polynomial up to where erf is
1. The others are exp(-a**2) E(a) for a >= 0; E(a) (1 + 2 a) is a polynomial in (a - K) / (a + K)
for all a. The square is kept as a sum, so that its rounding error, which exp multiplies, does not
show. Errors: erf below 2.5, erfc and erfcx below 3.5, ndtr below 4, log_ndtr below 5 ulps.
"""

from collections.abc import Mapping
from typing import Final

from .builder import Code, Value, at_most, copysign, fma, magnitude, pattern, polynomial, where
from .exponential import (
    FORMATS,
    LOG2_E,
    exp,
    exp_of_rest,
    expm1_multiple,
    nearest_integer,
    scaled,
)
from .logarithm import log_of_sum
from .special_coefficients import ERF, ERF_LOW, ERFC

_K: Final[Mapping[str, float]] = {"f64": 3.0, "f32": 2.0}
_ONE_FROM: Final[Mapping[str, float]] = {"f64": 5.95, "f32": 3.95}
# Where exp(-a**2) is surely zero.
_ZERO_FROM: Final[Mapping[str, float]] = {"f64": 27.3, "f32": 10.3}
_ROOT_HALF: Final = 0.7071067811865476


def erf(code: Code, x: Value) -> Value:
    """The error function. Below 2.5 ulp."""
    a = at_most(abs(x), _ONE_FROM[x.kind])
    first, *others = ERF[x.kind]
    growth = fma(a, first, a * polynomial(a, [ERF_LOW[x.kind], *others]))
    start, rest = expm1_multiple(-growth, 1)
    return copysign(start + rest, x)


def _without_square(a: Value) -> Value:
    """exp(a**2) erfc(a) for a >= 0."""
    # By a sum with -1, since the polynomial is steepest at a = 0, where t is -1.
    t = (a + a) / (a + _K[a.kind]) - 1.0
    first, *others = ERFC[a.kind]
    return fma(t, polynomial(t, others), first) / fma(a, 2.0, 1.0)


def _complement(a: Value, x: Value, factor: float) -> Value:
    """erfc(a) * factor, where a = x * sqrt(factor), and a is neither negative nor huge."""
    form = FORMATS[x.kind]
    square = x * x
    high, low = square * -factor, fma(x, x, -square) * -factor
    n, bits = nearest_integer(high, LOG2_E, 2 * form.bias)
    return scaled(exp_of_rest(high, low, n) * (_without_square(a) * factor), bits)


def erfc(code: Code, x: Value) -> Value:
    """1 - erf(x), precise where that is small. Below 3.5 ulp."""
    a = at_most(abs(x), _ZERO_FROM[x.kind])
    result = _complement(a, a, 1.0)
    return where(x.bits < 0, 2.0 - result, result)


def erfcx(code: Code, x: Value) -> Value:
    """exp(x**2) erfc(x). Below 3.5 ulp."""
    a = abs(x)
    large = at_most(a, 2.0 ** (FORMATS[x.kind].bias - 2))
    result = where(large.differs(a), 0.5641895835477563 / a, _without_square(large))

    def below_zero() -> list[Value]:
        inside = at_most(a, _ZERO_FROM[x.kind])
        square = inside * inside
        low = fma(inside, inside, -square)
        return [fma(exp(code, square), fma(low, 2.0, 2.0), -result)]

    return code.unless_rare(x.bits < 0, [result], below_zero)[0]


def ndtr(code: Code, x: Value) -> Value:
    """The normal distribution: the area below x. Below 4 ulp."""
    a = at_most(abs(x), _ZERO_FROM[x.kind] / _ROOT_HALF)
    result = _complement(a * _ROOT_HALF, a, 0.5)
    return where(x.bits < 0, result, 1.0 - result)


def log_ndtr(code: Code, x: Value) -> Value:
    """The logarithm of ndtr. Below 5 ulp."""
    form = FORMATS[x.kind]
    a = at_most(abs(x), _ZERO_FROM[x.kind] / _ROOT_HALF)
    above = -_complement(a * _ROOT_HALF, a, 0.5)
    # Beyond this the square is all that counts.
    below = _without_square(at_most(abs(x) * _ROOT_HALF, 2.0 ** (form.mantissa / 2.0)))
    negative = x.bits < 0
    inside = where(negative, fma(below, 0.5, -1.0), above)
    result = log_of_sum(1.0, inside)
    result = where(
        magnitude(inside).below_unsigned(pattern(x.kind, form.negligible)), above, result
    )
    square = where(negative, x, 0.0)
    return where(x.is_nan(), x, fma(square * -0.5, square, result))
