"""Elementary functions. onnxruntime's CPU has few of them for float64; those are made of others.

All are within some ulps of NumPy's; ``docs/export.md`` says how many.
"""

from __future__ import annotations

import math

import numpy as np

from .arithmetic import (
    Function,
    copysign,
    int_power,
    is_float,
    is_inf,
    is_nan,
    is_negative,
    sqrt,
    two_to,
)
from .kernels import FLOAT64
from .tensors import Tensor

_LN2 = math.log(2)


def _own(kind: str) -> Function:
    return lambda x: x.writer.same(kind, x)


def _doubles(run: Function) -> Function:
    """A function that is computed in float64 and rounded."""

    def of(*operands: Tensor) -> Tensor:
        found = run(*[x.cast(FLOAT64) for x in operands])
        return found.cast(operands[0].dtype)

    return of


exp, log, sin, cos, tanh = map(_own, ("Exp", "Log", "Sin", "Cos", "Tanh"))


def power(x: Tensor, y: Tensor) -> Tensor:
    return x.writer.same("Pow", x, y) if is_float(x) else int_power(x, y)


def expm1(x: Tensor) -> Tensor:
    """By Kahan's way: the error of ``exp`` cancels with that of its logarithm."""
    w = x.writer
    grown = exp(x)
    usual = w.choose(abs(x) < 1, x, 1.0)
    near = (grown - 1) * usual / w.choose(abs(x) < 1, _not_zero(log(grown)), 1.0)
    return w.where(grown.equal(1), x, near)


def log1p(x: Tensor) -> Tensor:
    """By Kahan's way: what ``1 + x`` rounds is made up for."""
    w = x.writer
    shifted = 1 + x
    made_up = log(shifted) * (x / _not_zero(shifted - 1))
    found = w.choose(abs(x) < 1, made_up, log(shifted))
    return w.where(shifted.equal(1), x, w.choose(x.equal(-1), log(shifted), found))


def _not_zero(x: Tensor) -> Tensor:
    return x.writer.choose(x.equal(0), 1.0, x)


def tan(x: Tensor) -> Tensor:
    return sin(x) / cos(x)


_SMALL = (
    (-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
     -1.228866684490136173410e2, -6.485021904942025371773e1),
    (1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
     4.853903996359136964868e2, 1.945506571482613964425e2),
)  # fmt: skip


def _polynomial(x: Tensor, factors: tuple[float, ...]) -> Tensor:
    total = x * factors[0] + factors[1] if factors[0] != 1 else x + factors[1]
    for factor in factors[2:]:
        total = total * x + factor
    return total


def arctan(x: Tensor) -> Tensor:
    """In three parts: near zero a quotient of polynomials (Moshier, Cephes)."""
    w = x.writer
    size = abs(x)
    is_large, is_middle = size > 2.414213562373095, size > 0.66
    of_large = w.constant(-1, x.dtype) / w.choose(is_large, size, 1.0)
    of_middle = (w.choose(is_large, 1.0, size) - 1) / (size + 1)
    small = w.choose(is_large, of_large, w.choose(is_middle, of_middle, size))
    z = small * small
    found = small * (z * _polynomial(z, _SMALL[0]) / _polynomial(z, _SMALL[1])) + small
    rest = 6.123233995736765886130e-17  # of π/2 behind the float
    angle = w.choose(is_large, math.pi / 2, w.choose(is_middle, math.pi / 4, 0.0 * size))
    more = w.choose(is_large, rest, w.choose(is_middle, rest / 2, 0.0 * size))
    return copysign(w.choose(is_inf(x), math.pi / 2, angle + (found + more)), x)


def arctan2(y: Tensor, x: Tensor) -> Tensor:
    """The angle of the first quadrant, mirrored."""
    w = x.writer
    across, along = abs(y), abs(x)
    both = is_inf(x) & is_inf(y)
    across, along = (w.choose(both, 1.0, each) for each in (across, along))
    steep = across > along
    low, high = w.choose(steep, along, across), w.choose(steep, across, along)
    angle = arctan(low / _not_zero(high))
    angle = w.choose(steep, math.pi / 2 - angle, angle)
    angle = w.choose(is_negative(x), (math.pi - angle) + 1.2246467991473532e-16, angle)
    return copysign(w.choose(is_nan(x) | is_nan(y), x + y, angle), y)


def arcsin(x: Tensor) -> Tensor:
    return arctan2(x, sqrt((1 - x) * (1 + x)))


def arccos(x: Tensor) -> Tensor:
    return 2 * arctan2(sqrt(1 - x), sqrt(1 + x))


def sinh(x: Tensor) -> Tensor:
    size = abs(x)
    w = x.writer
    grown = expm1(w.choose(size < 22, size, 1.0))
    half = exp(0.5 * size)
    found = w.choose(size < 22, 0.5 * (grown + grown / (grown + 1)), 0.5 * half * half)
    return copysign(found, x)


def cosh(x: Tensor) -> Tensor:
    half = exp(0.5 * abs(x))
    return 0.5 * half * half + 0.5 / half / half


def arcsinh(x: Tensor) -> Tensor:
    w = x.writer
    size = abs(x)
    usual = w.choose(size < 1e8, size, 1.0)
    square = usual * usual
    near = log1p(usual + square / (1 + sqrt(square + 1)))
    found = w.choose(size < 1e8, near, log(size) + _LN2)
    return copysign(found, x)


def arccosh(x: Tensor) -> Tensor:
    w = x.writer
    more = w.choose(x < 1e8, x, 2.0) - 1
    return w.choose(x < 1e8, log1p(more + sqrt(2 * more + more * more)), log(x) + _LN2)


def arctanh(x: Tensor) -> Tensor:
    size = abs(x)
    return copysign(0.5 * log1p(2 * size / (1 - size)), x)


def exp2(x: Tensor) -> Tensor:
    return two_to(x)


def log2(x: Tensor) -> Tensor:
    return log(x) * (1 / _LN2)


def log10(x: Tensor) -> Tensor:
    return log(x) * (1 / math.log(10))


def cbrt(x: Tensor) -> Tensor:
    """A power, and a step of Newton's method."""
    w = x.writer
    size = abs(x)
    root = w.same("Pow", size, w.constant(1 / 3, x.dtype))
    better = root - (root - size / _not_zero(root * root)) * (1 / 3)
    plain = size.equal(0) | is_inf(x) | is_nan(x)
    return copysign(w.choose(plain, size, better), x)


def hypot(x: Tensor, y: Tensor) -> Tensor:
    w = x.writer
    x, y = abs(x), abs(y)
    high, low = w.choose(x > y, x, y), w.choose(x > y, y, x)
    ratio = low / _not_zero(w.choose(is_inf(high), 1.0, high))
    found = w.choose(high.equal(0), 0.0, high * sqrt(1 + ratio * ratio))
    found = w.choose(is_nan(x) | is_nan(y), np.nan, found)
    return w.choose(is_inf(x) | is_inf(y), np.inf, found)


def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    w = x.writer
    high = w.choose((x > y) | is_nan(x), x, y)
    apart = w.choose(x.equal(y), 0.0, -abs(x - y))
    return w.choose(is_nan(apart), apart, high + log1p(exp(apart)))


def logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    w = x.writer
    high = w.choose((x > y) | is_nan(x), x, y)
    apart = w.choose(x.equal(y), 0.0, -abs(x - y))
    return w.choose(is_nan(apart), apart, high + log1p(two_to(apart)) * (1 / _LN2))


def _scaled(numerator: float, denominator: float) -> Function:
    return lambda x: x * x.dtype.type(x.dtype.type(numerator) / x.dtype.type(denominator))


# operator -> what it is of floats, within some ulps
ROUNDED: dict[str, Function] = {
    "power": power,
    "float_power": power,
    "exp": exp,
    "exp2": _doubles(exp2),
    "expm1": _doubles(expm1),
    "log": log,
    "log2": _doubles(log2),
    "log10": _doubles(log10),
    "log1p": _doubles(log1p),
    "logaddexp": _doubles(logaddexp),
    "logaddexp2": _doubles(logaddexp2),
    "sin": _doubles(sin),
    "cos": _doubles(cos),
    "tan": _doubles(tan),
    "arcsin": _doubles(arcsin),
    "arccos": _doubles(arccos),
    "arctan": _doubles(arctan),
    "arctan2": _doubles(arctan2),
    "hypot": _doubles(hypot),
    "sinh": _doubles(sinh),
    "cosh": _doubles(cosh),
    "tanh": _doubles(tanh),
    "arcsinh": _doubles(arcsinh),
    "arccosh": _doubles(arccosh),
    "arctanh": _doubles(arctanh),
    "cbrt": _doubles(cbrt),
    "deg2rad": _scaled(np.pi, 180),
    "rad2deg": _scaled(180, np.pi),
}
