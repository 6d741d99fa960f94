"""gammaln, the logarithm of the absolute value of the gamma function, as scipy.special has it.

From 7.5 on it is Stirling's series. Below, the recurrence leads to 2 + w with abs(w) <= 0.5, where
w P(w) is precise near the zeros at 1 and 2. Both take one logarithm. Negative arguments are
reflected, in cold code. Errors: below 4 ulps (float32: 5) of the result for positive arguments;
else of the larger of the two logarithms that are added.
"""

import math
from typing import Final

from .builder import Code, Value, fma, polynomial, where
from .logarithm import log
from .special_coefficients import GAMMALN, STIRLING
from .trigonometric import sin

_LARGE: Final = 7.5
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


def _of_positive(x: Value) -> Value:
    large = ~(x < _LARGE)
    inside = where(large, 2.0, x)
    one = x.code.constant(x.kind, 1.0)
    product = where(inside < 1.5, inside, one)
    product = where(inside < 0.5, fma(inside, inside, inside), product)
    w = where(inside < 0.5, inside, where(inside < 1.5, inside - 1.0, inside - 2.0))
    for step in range(1, 6):
        beyond = inside >= step + 1.5
        product = product * where(beyond, inside - float(step), 1.0)
        w = where(beyond, inside - (step + 2.0), w)
    logarithm = log(x.code, where(large, x, product))
    near = where(inside < 1.5, -logarithm, logarithm)
    near = fma(w, polynomial(w, GAMMALN[x.kind]), near)
    return where(large, _stirling(where(large, x, _LARGE), logarithm), near)


def _stirling(x: Value, logarithm: Value) -> Value:
    """(x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 and the series."""
    infinite = x.equals(float("inf"))
    inverse = 1.0 / x
    rest = fma(inverse, polynomial(inverse * inverse, STIRLING[x.kind]), _HALF_LOG_TURN - 0.5)
    lead = where(infinite, 0.0, logarithm) - 1.0
    return where(infinite, x, fma(x - 0.5, lead, rest))
