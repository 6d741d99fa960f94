"""j0 and j1, the Bessel functions of the first kind, as scipy.special has them.

Up to 8 they are polynomials in x**2; beyond, a cosine and a sine of x, each times a polynomial in
(8 / x)**2. The error is one of the amplitude, sqrt(2 / (pi x)): it does not get smaller with the
result near zeros. float32 is computed in float64.
"""

import math
from typing import Final

from .builder import Code, Value, fma, polynomial, sqrt, where
from .special_coefficients import BESSEL_COSINE, BESSEL_NEAR, BESSEL_SINE
from .trigonometric import cos, sin

_NEAR: Final = 8.0


def j0(code: Code, x: Value) -> Value:
    """The one of order 0. Below 13 ulps of the amplitude (float32: 1)."""
    if x.kind == "f32":
        return j0(code, x.widen()).narrow()
    a = abs(x)
    return where(a <= _NEAR, _near(a, 0), _far(a, 0))


def j1(code: Code, x: Value) -> Value:
    """The one of order 1. Below 13 ulps of the amplitude (float32: 1)."""
    if x.kind == "f32":
        return j1(code, x.widen()).narrow()
    a = abs(x)
    result = where(a <= _NEAR, a * _near(a, 1), _far(a, 1))
    return where(x.bits < 0, -result, result)


def _near(a: Value, order: int) -> Value:
    inside = where(a <= _NEAR, a, 0.0)
    return polynomial(fma(inside * inside, 1.0 / 32.0, -1.0), BESSEL_NEAR[order])


def _far(a: Value, order: int) -> Value:
    code = a.code
    inside = where(a <= _NEAR, _NEAR, a)
    sine, cosine = sin(code, inside), cos(code, inside)
    both, apart = sine + cosine, sine - cosine
    inverse = _NEAR / inside
    square = inverse * inverse
    by_cosine = polynomial(square, BESSEL_COSINE[order])
    by_sine = inverse * polynomial(square, BESSEL_SINE[order])
    first, second = (both, -apart) if order == 0 else (apart, both)
    return sqrt((1.0 / math.pi) / inside) * fma(first, by_cosine, second * by_sine)
