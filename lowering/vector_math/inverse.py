"""arcsin, arccos, arctan and arctan2.

One odd polynomial for the arctangent on [-1, 1], reached by a division of the smaller by the larger
argument; one for the arcsine on [-1/2, 1/2], reached by arcsin(x) = pi/2 - 2 arcsin(sqrt((1-x)/2)).
Errors: below 2.2 ulp.
"""

from typing import Final

from .builder import Code, Value, copysign, fma, magnitude, pattern, polynomial, sqrt, where
from .coefficients import ARCSIN, ARCTAN

# pi/2 in two parts.
_HALF_PI: Final = {
    "f64": (1.5707963267948966, 6.123233995736766e-17),
    "f32": (1.5707963705062866, -4.371139000186241e-08),
}


def arctan(code: Code, x: Value) -> Value:
    """Arctangent. Below 2 ulp."""
    a = abs(x)
    steep = a.bits > pattern(x.kind, 1.0)
    z = where(steep, 1.0, a) / where(steep, a, 1.0)
    result = _odd(z, ARCTAN[x.kind])
    result = where(steep, _less_than_half_pi(result, 1.0), result)
    return where(x.is_nan(), x, copysign(result, x))


def arctan2(code: Code, y: Value, x: Value) -> Value:
    """The angle of the point (x, y). Below 2 ulp."""
    down, across = abs(y), abs(x)
    steep = down.bits > across.bits
    small, large = where(steep, across, down), where(steep, down, across)
    divisor = code.intrinsic("smax", large.bits, code.constant(large.bits.kind, 1)).from_bits
    z = small / divisor  # 0 / 0 counts as 0
    both = large.bits.equals(pattern(x.kind, float("inf"))) & small.equals(large)
    angle = _odd(where(both, 1.0, z), ARCTAN[x.kind])
    left = x.bits < 0
    turned = _less_than_half_pi(where(left, -angle, angle), 1.0)
    angle = where(steep, turned, where(left, _less_than_half_pi(angle, 2.0), angle))
    return where(x.is_nan(), x, where(y.is_nan(), y, copysign(angle, y)))


def arcsin(code: Code, x: Value) -> Value:
    """Arcsine; nan outside [-1, 1]. Below 2.2 ulp."""
    far, _, angle = _arcsine_near_zero(x)
    return copysign(where(far, _less_than_half_pi(angle * 2.0, 1.0), angle), x)


def arccos(code: Code, x: Value) -> Value:
    """Arccosine; nan outside [-1, 1]. Below 2.2 ulp."""
    far, left, angle = _arcsine_near_zero(x)
    signed = where(left, -angle, angle)
    twice = angle * 2.0
    outer = where(left, _less_than_half_pi(twice, 2.0), twice)
    return where(far, outer, _less_than_half_pi(signed, 1.0))


def _arcsine_near_zero(x: Value) -> tuple[Value, Value, Value]:
    """Whether abs(x) exceeds 1/2, whether x < 0, and the arcsine that remains to be taken.

    That is abs(x) itself, or sqrt((1 - abs(x)) / 2), which is nan where abs(x) > 1.
    """
    a = abs(x)
    far = magnitude(x) > pattern(x.kind, 0.5)
    near = where(far, 0.0, a)
    square = where(far, fma(a, -0.5, 0.5), near * near)
    z = where(far, sqrt(where(far, square, 0.0)), a)
    angle = fma(square * z, polynomial(square, ARCSIN[x.kind]), z)
    return far, x.bits < 0, angle


def _odd(z: Value, coefficients: tuple[float, ...]) -> Value:
    square = z * z
    first, second, *rest = coefficients
    # The series alternates: its even and odd halves nearly cancel, so the last steps go singly.
    tail = polynomial(square, rest)
    total = fma(square, fma(square, tail, second), first)
    return fma(square * z, total, z)


def _less_than_half_pi(angle: Value, halves: float) -> Value:
    """halves * pi/2 - angle."""
    high, low = _HALF_PI[angle.kind]
    whole = angle.code.constant(angle.kind, halves * high)
    total = whole - angle
    return total + (((whole - total) - angle) + halves * low)
