"""gamma and gammaln, the logarithm of its absolute value, as scipy.special has them.

From 7.5 on it is Stirling's series. Below, the recurrence leads to 2 + w with abs(w) <= 0.5, where
w P(w) is precise near the zeros of gammaln at 1 and 2. Both ways of gammaln take one logarithm;
that of gamma is kept as a sum. Negative arguments are reflected, in cold code. Errors of gammaln:
below 4 ulps (float32: 5) of the result for positive arguments; else of the larger of the two
logarithms that are added. gamma: below 4.5 ulps (float32, computed in float64: 1).
"""

import math
from typing import Final

from .builder import Code, Value, at_most, fma, polynomial, where
from .exponential import exp_of_sum
from .logarithm import log
from .power import precise_log
from .special_coefficients import GAMMA, GAMMALN, STIRLING
from .trigonometric import sin

_LARGE: Final = 7.5
_INFINITE_FROM: Final = 180.0
_HALF_LOG_TURN: Final = 0.9189385332046727  # log(2 pi) / 2


def gammaln(code: Code, x: Value) -> Value:
    """log(abs(gamma(x))): infinite at 0, -1, -2 … Below 4 ulp (float32: 5) where x is positive."""
    usual = _of_positive(abs(x))

    def remedy() -> list[Value]:
        a = abs(x)
        distance = a - code.intrinsic("rint", where(a < math.inf, a, 0.0))
        sine = abs(sin(code, where(a < math.inf, distance, 0.5) * math.pi))
        reflected = log(code, math.pi / where(sine.equals(0.0), sine, a * sine))
        # At tiny numbers the product underflows, and both logarithms are the same but for the sign.
        result = where(a < 2.0**-60, usual, reflected - usual)
        return [where(sine.equals(0.0), reflected, where(a < math.inf, result, x))]

    return code.unless_rare(x.bits < 0, [usual], remedy)[0]


def gamma(code: Code, x: Value) -> Value:
    """The gamma function: infinite at ±0, nan at -1, -2 … Below 4.5 ulp (float32: 1)."""
    if x.kind == "f32":
        return gamma(code, x.widen()).narrow()
    usual = _gamma_of_positive(abs(x))

    def remedy() -> list[Value]:
        a = abs(x)
        whole = code.intrinsic("rint", where(a < math.inf, a, 0.0))
        sine = sin(code, where(a < math.inf, a - whole, 0.0) * math.pi)
        odd = code.intrinsic("trunc", whole * 0.5).differs(whole * 0.5)
        pole = sine.equals(0.0) & (a >= 1.0)
        # At tiny numbers the product underflows.
        tiny = a < 2.0**-60
        inverse = where(tiny, code.constant(x.kind, 1.0), math.pi) / where(
            tiny, a, a * where(odd, -sine, sine)
        )
        result = where(tiny, -inverse, -inverse / usual)
        return [where(pole, float("nan"), result)]

    return code.unless_rare(x.bits < 0, [usual], remedy)[0]


def _gamma_of_positive(x: Value) -> Value:
    large = ~(x < _LARGE)
    inside = where(large, 2.0, x)
    product, w = _recurrence(inside)
    near = polynomial(w, GAMMA[x.kind])
    near = where(inside < 1.5, near / product, near * product)
    # exp((x - 1/2) log(x) - x + log(2 pi) / 2 and the series), as a sum of two numbers.
    far = at_most(where(large, x, _LARGE), _INFINITE_FROM)
    log_high, log_low = precise_log(far)
    factor = far - 0.5
    lead = log_high * factor
    low = fma(log_high, factor, -lead) + log_low * factor
    high = lead - far
    low = low + ((lead - high) - far)
    inverse = 1.0 / far
    rest = fma(inverse, polynomial(inverse * inverse, STIRLING[x.kind]), _HALF_LOG_TURN)
    total = high + rest
    result = exp_of_sum(total, low + ((high - total) + rest))
    return where(x.is_nan(), x, where(large, result, near))


def _of_positive(x: Value) -> Value:
    large = ~(x < _LARGE)
    inside = where(large, 2.0, x)
    product, w = _recurrence(inside)
    logarithm = log(x.code, where(large, x, product))
    near = where(inside < 1.5, -logarithm, logarithm)
    near = fma(w, polynomial(w, GAMMALN[x.kind]), near)
    return where(large, _stirling(where(large, x, _LARGE), logarithm), near)


def _recurrence(x: Value) -> tuple[Value, Value]:
    """What leads from gamma(2 + w) to gamma(x), and w: a divisor below 1.5, else a factor."""
    product = where(x < 1.5, x, x.code.constant(x.kind, 1.0))
    product = where(x < 0.5, fma(x, x, x), product)
    w = where(x < 0.5, x, where(x < 1.5, x - 1.0, x - 2.0))
    for step in range(1, 6):
        beyond = x >= step + 1.5
        product = product * where(beyond, x - float(step), 1.0)
        w = where(beyond, x - (step + 2.0), w)
    return product, w


def _stirling(x: Value, logarithm: Value) -> Value:
    """(x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 and the series."""
    infinite = x.equals(float("inf"))
    inverse = 1.0 / x
    rest = fma(inverse, polynomial(inverse * inverse, STIRLING[x.kind]), _HALF_LOG_TURN - 0.5)
    lead = where(infinite, 0.0, logarithm) - 1.0
    return where(infinite, x, fma(x - 0.5, lead, rest))
