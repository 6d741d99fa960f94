"""Logistic functions, and products with logarithms, as scipy.special has them.

expit, logit and log_expit; xlogy, xlog1py, entr and rel_entr, which are zero where the factor is.
Errors: below 3 ulps.
"""

from .builder import Code, Value, magnitude, pattern, where
from .exponential import FORMATS, exp
from .logarithm import log, log1p, log_of_sum


def expit(code: Code, x: Value) -> Value:
    """1 / (1 + e**-x). Below 2.2 ulp."""
    e = exp(code, -abs(x))
    return where(x.bits < 0, e, 1.0) / (e + 1.0)


def log_expit(code: Code, x: Value) -> Value:
    """The logarithm of expit. Below 2 ulp."""
    e = exp(code, -abs(x))
    tiny = magnitude(e).below_unsigned(pattern(x.kind, FORMATS[x.kind].negligible))
    log_up = where(tiny, e, log_of_sum(1.0, e))
    return where(x.is_nan(), x, where(x.bits < 0, x - log_up, -log_up))


def logit(code: Code, x: Value) -> Value:
    """log(x / (1 - x)), infinite at 0 and 1, nan beyond. Below 2.5 ulp (float32: 3)."""
    smallest = pattern(x.kind, FORMATS[x.kind].smallest_normal)
    usual = (x.bits - smallest).below_unsigned(pattern(x.kind, 1.0) - smallest)
    inside = where(usual, x, 0.5)
    small = inside < 0.25
    odds = where(small, inside, (inside - 0.5) * 2.0) / (1.0 - inside)
    result = log_of_sum(where(small, 0.0, code.constant(x.kind, 1.0)), odds)

    def remedy() -> list[Value]:
        one = x.equals(1.0)
        pole = 1.0 / (1.0 - where(one, x, 0.0))
        return [where(one, pole, log(code, where(x > 1.0, 1.0 - x, x)))]

    return code.unless_rare(~usual, [result], remedy)[0]


def xlogy(code: Code, x: Value, y: Value) -> Value:
    """x log(y), and 0 where x is 0 and y a number. Below 1.5 ulp (float32: 2.5)."""
    nothing = x.equals(0.0) & ~y.is_nan()
    return where(nothing, 0.0, where(nothing, 0.0, x) * log(code, where(nothing, 1.0, y)))


def xlog1py(code: Code, x: Value, y: Value) -> Value:
    """x log(1 + y), and 0 where x is 0 and y a number. Below 1.5 ulp."""
    nothing = x.equals(0.0) & ~y.is_nan()
    return where(nothing, 0.0, where(nothing, 0.0, x) * log1p(code, where(nothing, 0.0, y)))


def entr(code: Code, x: Value) -> Value:
    """-x log(x); -inf below zero. Below 1.5 ulp (float32: 2.5)."""
    positive = x.bits > 0
    inside = where(positive, x, 1.0)
    other = where(x.equals(0.0), 0.0, where(x.is_nan(), x, float("-inf")))
    return where(positive, -inside * log(code, inside), other)


def rel_entr(code: Code, x: Value, y: Value) -> Value:
    """x log(x / y); of a zero x 0, elsewhere infinite if not both are positive. Below 2.5 ulp."""
    smallest, infinite = FORMATS[x.kind].smallest_normal, float("inf")
    both = (x > 0.0) & (y > 0.0)
    a, b = where(both, x, 1.0), where(both, y, 1.0)
    ratio = a / b
    near = (ratio > 0.5) & (ratio < 2.0)
    one = code.constant(x.kind, 1.0)
    fraction = where(near, (a - b) / b, ratio)
    usual = both & (ratio > smallest) & (ratio < infinite) & (a < infinite)
    result = where(usual, a, 1.0) * log_of_sum(where(near, one, 0.0), where(usual, fraction, 1.0))

    def remedy() -> list[Value]:
        nothing = x.equals(0.0) & (y >= 0.0)
        outside = where(nothing, 0.0, where(x.is_nan() | y.is_nan(), x + y, infinite))
        return [where(both, a * (log(code, a) - log(code, b)), outside)]

    return code.unless_rare(~usual, [result], remedy)[0]
