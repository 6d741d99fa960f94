"""Powers, exponentials, logarithms, angles: those of StableHLO, and others in terms of them.

The bounds of StableHLO's own are XLA's. Formulas keep small arguments, infinities, signed zeros and
nan as NumPy has them.
"""

from __future__ import annotations

import math

from fxc.ir.types import PART_DTYPES

from .arithmetic import Rule, isinf, named
from .builder import BOOL, Val
from .casts import Kit
from .complexes import paired, parts
from .problems import Unsayable
from .signs import copysign


def real(rule: Rule) -> Rule:
    """A formula for real numbers alone."""

    def checked(k: Kit, *xs: Val) -> Val:
        if xs[0].dtype in PART_DTYPES:
            raise Unsayable("this function of complex numbers")
        return rule(k, *xs)

    return checked


def _add(k: Kit, x: Val, y: Val) -> Val:
    return k.b.same("add", x, y)


def _subtract(k: Kit, x: Val, y: Val) -> Val:
    return k.b.same("subtract", x, y)


def _multiply(k: Kit, x: Val, y: Val) -> Val:
    return k.b.same("multiply", x, y)


def _times(k: Kit, x: Val, factor: float) -> Val:
    return _multiply(k, x, k.like(x, factor))


def _divide(k: Kit, x: Val, y: Val) -> Val:
    return k.b.same("divide", x, y)


def _log_in(base: float) -> Rule:
    """A logarithm to a base: exact where it is a whole number."""

    def rule(k: Kit, x: Val) -> Val:
        logarithm = k.b.same("log", x)
        if x.dtype in PART_DTYPES:
            both = (_times(k, part, 1 / math.log(base)) for part in parts(k, logarithm))
            return paired(k, *both)
        found = _times(k, logarithm, 1 / math.log(base))
        whole = k.b.same("round_nearest_even", found)
        is_whole = k.b.compare("EQ", k.b.same("power", k.like(x, base), whole), x)
        return k.b.select(is_whole, whole, found)

    return rule


def exp2(k: Kit, x: Val) -> Val:
    return k.b.same("power", k.like(x, 2), x)


def power(k: Kit, x: Val, y: Val) -> Val:
    if x.dtype.kind == "b":
        raise Unsayable("a power of bools")
    if x.dtype in PART_DTYPES:
        raise Unsayable("a power of complex numbers")
    return k.b.same("power", x, y) if x.dtype.kind == "f" else _integer_power(k, x, y)


def _integer_power(k: Kit, x: Val, y: Val) -> Val:
    """By squares, as long as one exponent has bits left: XLA looks at the lowest few alone."""
    y = k.b.same("maximum", y, k.like(y, 0))
    zero, one, no = k.like(x, 0), k.like(x, 1), k.b.scalar(False, BOOL)
    axes = list(range(x.rank))

    def test(found: Val, square: Val, rest: Val) -> Val:
        return k.b.reduce(k.b.compare("GT", rest, zero), no, "or", axes)

    def step(found: Val, square: Val, rest: Val) -> list[Val]:
        is_odd = k.b.compare("EQ", k.b.same("and", rest, one), one)
        more = k.b.select(is_odd, _multiply(k, found, square), found)
        return [more, _multiply(k, square, square), k.b.same("shift_right_logical", rest, one)]

    return k.b.loop([one, x, y], test, step)[0]


def sqrt(k: Kit, x: Val) -> Val:
    """Of complex numbers the imaginary part has the sign of the operand's."""
    found = k.b.same("sqrt", x)
    if x.dtype not in PART_DTYPES:
        return found
    real, imag = parts(k, found)
    return paired(k, real, copysign(k, imag, parts(k, x)[1]))


def power_by_one(k: Kit, x: Val, y: Val) -> Val:
    """One exponent for all: NumPy takes the root for 0.5. See Note [Powers that NumPy computes
    otherwise].
    """
    found = power(k, x, y)
    if x.dtype.kind != "f":
        return found
    is_half = k.b.compare("EQ", y, k.like(y, 0.5))
    return k.b.select(is_half, k.b.same("sqrt", x), found)


def logaddexp(base: float) -> Rule:
    """``log(base**x + base**y)``: what is added to the larger one."""
    scale = math.log(base)

    def rule(k: Kit, x: Val, y: Val) -> Val:
        high, low = k.b.same("maximum", x, y), k.b.same("minimum", x, y)
        difference = _times(k, _subtract(k, low, high), scale)
        more = k.b.same("log_plus_one", k.b.same("exponential", difference))
        found = _add(k, high, _times(k, more, 1 / scale))
        equal = _add(k, x, k.like(x, math.log(2) / scale))
        return k.b.select(k.b.compare("EQ", x, y), equal, found)

    return rule


# ---------------------------------------------------------------- angles


def sin(k: Kit, x: Val) -> Val:
    if x.dtype not in PART_DTYPES:
        return k.b.same("sine", x)
    re, im = parts(k, x)
    real = _multiply(k, k.b.same("sine", re), cosh(k, im))
    return paired(k, real, _multiply(k, k.b.same("cosine", re), sinh(k, im)))


def cos(k: Kit, x: Val) -> Val:
    if x.dtype not in PART_DTYPES:
        return k.b.same("cosine", x)
    re, im = parts(k, x)
    real = _multiply(k, k.b.same("cosine", re), cosh(k, im))
    imag = _multiply(k, k.b.same("sine", re), sinh(k, im))
    return paired(k, real, k.b.same("negate", imag))


def arctan(k: Kit, x: Val) -> Val:
    return k.b.same("atan2", x, k.like(x, 1))


def arcsin(k: Kit, x: Val) -> Val:
    """By the other side of the triangle."""
    one = k.like(x, 1)
    other = k.b.same("sqrt", _multiply(k, _subtract(k, one, x), _add(k, one, x)))
    return k.b.same("atan2", x, other)


def arccos(k: Kit, x: Val) -> Val:
    """By half the angle."""
    one = k.like(x, 1)
    half = k.b.same(
        "atan2", k.b.same("sqrt", _subtract(k, one, x)), k.b.same("sqrt", _add(k, one, x))
    )
    return _times(k, half, 2)


def hypot(k: Kit, x: Val, y: Val) -> Val:
    """The larger times ``sqrt(1 + ratio**2)``: no square overflows."""
    x, y = k.b.same("abs", x), k.b.same("abs", y)
    high, low = k.b.same("maximum", x, y), k.b.same("minimum", x, y)
    zero = k.like(x, 0)
    safe = k.b.select(k.b.compare("EQ", high, zero), k.like(x, 1), high)
    ratio = _divide(k, low, safe)
    root = k.b.same("sqrt", _add(k, k.like(x, 1), _multiply(k, ratio, ratio)))
    found = _multiply(k, high, root)
    infinite = k.b.same("or", isinf(k, x), isinf(k, y))
    return k.b.select(infinite, k.like(x, math.inf), found)


def sinh(k: Kit, x: Val) -> Val:
    """By ``expm1``; beyond where ``exp`` overflows in two halves."""
    size = k.b.same("abs", x)
    small = k.b.same("exponential_minus_one", size)
    ratio = _divide(k, small, _add(k, small, k.like(x, 1)))
    near = _times(k, _add(k, small, ratio), 0.5)
    return copysign(k, _or_large(k, size, near), x)


def cosh(k: Kit, x: Val) -> Val:
    size = k.b.same("abs", x)
    grown = k.b.same("exponential", size)
    near = _times(k, _add(k, grown, _divide(k, k.like(x, 1), grown)), 0.5)
    return _or_large(k, size, near)


def _or_large(k: Kit, size: Val, near: Val) -> Val:
    half = k.b.same("exponential", _times(k, size, 0.5))
    far = _multiply(k, _times(k, half, 0.5), half)
    return k.b.select(k.b.compare("GT", size, k.like(size, 22.0)), far, near)


def arcsinh(k: Kit, x: Val) -> Val:
    size = k.b.same("abs", x)
    one = k.like(x, 1)
    square = _multiply(k, size, size)
    root = k.b.same("sqrt", _add(k, square, one))
    near = k.b.same("log_plus_one", _add(k, size, _divide(k, square, _add(k, root, one))))
    far = _add(k, k.b.same("log", size), k.like(x, math.log(2)))
    is_far = k.b.compare("GT", size, k.like(x, 1e8 if x.dtype.itemsize == 8 else 1e4))
    return copysign(k, k.b.select(is_far, far, near), x)


def arccosh(k: Kit, x: Val) -> Val:
    """Of what is more than 1 by ``more``."""
    more = _subtract(k, x, k.like(x, 1))
    inner = _multiply(k, more, _add(k, more, k.like(x, 2)))
    near = k.b.same("log_plus_one", _add(k, more, k.b.same("sqrt", inner)))
    far = _add(k, k.b.same("log", x), k.like(x, math.log(2)))
    is_far = k.b.compare("GT", x, k.like(x, 1e8 if x.dtype.itemsize == 8 else 1e4))
    found = k.b.select(is_far, far, near)
    return k.b.select(k.b.compare("LT", more, k.like(x, 0)), k.like(x, math.nan), found)


def arctanh(k: Kit, x: Val) -> Val:
    """Half of ``log1p(2x / (1 - x))``, of what is not negative."""
    size = k.b.same("abs", x)
    ratio = _divide(k, _times(k, size, 2), _subtract(k, k.like(x, 1), size))
    return copysign(k, _times(k, k.b.same("log_plus_one", ratio), 0.5), x)


RULES: dict[str, Rule] = {
    "sqrt": sqrt,
    "cbrt": named("cbrt"),
    "exp": named("exponential"),
    "exp2": exp2,
    "expm1": named("exponential_minus_one"),
    "log": named("log"),
    "log2": _log_in(2),
    "log10": _log_in(10),
    "log1p": named("log_plus_one"),
    "logaddexp": real(logaddexp(math.e)),
    "logaddexp2": real(logaddexp(2)),
    "power": power,
    "float_power": power,
    "sin": sin,
    "cos": cos,
    "tan": named("tan"),
    "arcsin": real(arcsin),
    "arccos": real(arccos),
    "arctan": real(arctan),
    "arctan2": named("atan2"),
    "hypot": real(hypot),
    "sinh": real(sinh),
    "cosh": real(cosh),
    "tanh": named("tanh"),
    "arcsinh": real(arcsinh),
    "arccosh": real(arccosh),
    "arctanh": real(arctanh),
}
