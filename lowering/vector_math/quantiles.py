"""erfinv, erfcinv and ndtri, as scipy.special has them.

With w = -log(1 - x**2), erfinv(x) = x P(w) for w < 5, which is up to 0.9966. Beyond, in cold code,
it is s Q(s) with s = sqrt(w), by one of several polynomials. Errors: below 3.5 ulps.
"""

from typing import Final

from .builder import Code, Value, copysign, magnitude, pattern, polynomial, sqrt, where
from .logarithm import log
from .special_coefficients import ERFINV, ERFINV_TAILS

_CENTRAL: Final = 5.0
_ROOT_TWO: Final = 1.4142135623730951
_INFINITE: Final = float("inf")


def erfinv(code: Code, x: Value) -> Value:
    """The inverse of erf: infinite at ±1, nan beyond. Below 3 ulp."""
    return _of_product(x, (1.0 - x) * (x + 1.0))


def erfcinv(code: Code, x: Value) -> Value:
    """The inverse of erfc: infinite at 0 and 2, nan beyond. Below 3 ulp."""
    return _of_product(-(x - 1.0), x * (2.0 - x))


def ndtri(code: Code, x: Value) -> Value:
    """The inverse of ndtr: infinite at 0 and 1, nan beyond. Below 3.5 ulp."""
    return _of_product(x + x - 1.0, x * 4.0 * (1.0 - x)) * _ROOT_TWO


def _of_product(x: Value, product: Value) -> Value:
    """erfinv(x), given 1 - x**2, which is precise where x is nearly ±1."""
    w = -log(x.code, product)
    rare = magnitude(w).at_least_unsigned(pattern(x.kind, _CENTRAL))
    usual = x * polynomial(where(rare, 0.0, w), ERFINV[x.kind])

    def remedy() -> list[Value]:
        finite = magnitude(w).below_unsigned(pattern(x.kind, _INFINITE))
        s = sqrt(where(finite, w, _CENTRAL))
        tail = x.code.constant(x.kind, 1.0)
        for bound, middle, coefficients in reversed(ERFINV_TAILS[x.kind]):
            tail = where(s < bound, polynomial(s - middle, coefficients), tail)
        return [where(finite, copysign(s * tail, x), where(w.is_nan(), w, copysign(w, x)))]

    return x.code.unless_rare(rare, [usual], remedy)[0]
