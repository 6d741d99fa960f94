"""Elementwise arithmetic with NumPy's results: each function gets operands of NumPy's loop.

Where an operator of ONNX has other semantics (integers divided by zero, shifts by too much, signs
of zeros, nan in ``maximum``) the function is made of several that have not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .kernels import BOOL, FLOAT32, FLOAT64, INT64, UINT64
from .tensors import Tensor
from .zeros import is_minus_zero


def is_float(x: Tensor) -> bool:
    return x.dtype.kind == "f"


def is_nan(x: Tensor) -> Tensor:
    return x.writer.op("IsNaN", (x,), BOOL)


def is_inf(x: Tensor) -> Tensor:
    return x.writer.op("IsInf", (x,), BOOL)


def is_negative(x: Tensor) -> Tensor:
    """Whether the sign bit is set; of nan it is not."""
    if not is_float(x):
        return x < 0
    return x < 0 if x.unsigned_zeros else (x < 0) | is_minus_zero(x)


def signs(x: Tensor) -> Tensor:
    """1 or -1, as the sign bit says."""
    return x.writer.choose(is_negative(x), x.writer.constant(-1, x.dtype), 1)


def copysign(x: Tensor, y: Tensor) -> Tensor:
    return abs(x) * signs(y)


def floor(x: Tensor) -> Tensor:
    return x.writer.same("Floor", x) if is_float(x) else x


def ceil(x: Tensor) -> Tensor:
    return x.writer.same("Ceil", x) if is_float(x) else x


def trunc(x: Tensor) -> Tensor:
    return copysign(floor(abs(x)), x) if is_float(x) else x


def rint(x: Tensor) -> Tensor:
    return x.writer.same("Round", x)


def sqrt(x: Tensor) -> Tensor:
    return x.writer.same("Sqrt", x)


# ---------------------------------------------------------------- division


def divided(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """``floor_divide`` and ``remainder``."""
    return _floats_divided(x, y) if is_float(x) else _ints_divided(x, y)


def _floats_divided(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """As ``npy_divmod`` computes them, and Python its own floats."""
    w = x.writer
    rest = w.same("Mod", x, y, fmod=1)
    quotient = (x - rest) / y
    other_sign = ~rest.equal(0) & ((y < 0) ^ (rest < 0))
    quotient = w.choose(other_sign, quotient - 1, quotient)
    mod = copysign(w.choose(other_sign, rest + y, rest), y)
    whole = floor(quotient)
    whole = w.choose(quotient - whole > 0.5, whole + 1, whole)
    ratio = x / y
    whole = w.choose(y.equal(0), ratio, w.choose(quotient.equal(0), 0, whole))
    return whole * w.choose(whole.equal(0) & quotient.equal(0), signs(ratio), 1), mod


def _ints_divided(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Towards minus infinity; by zero it is zero; the least number by -1 stays what it is."""
    w = x.writer
    trap = y.equal(0)
    if x.dtype.kind == "i":
        minus = y.equal(-1)
        trap = trap | minus
    safe = w.where(trap, 1, y)
    rest = w.same("Mod", x, safe)
    quotient = (x - rest) / safe
    if x.dtype.kind == "i":
        quotient = w.where(minus, -x, quotient)
    by_zero = y.equal(0)
    return w.where(by_zero, 0, quotient), w.where(trap, 0, rest)


def floor_divide(x: Tensor, y: Tensor) -> Tensor:
    return divided(x, y)[0]


def remainder(x: Tensor, y: Tensor) -> Tensor:
    return divided(x, y)[1]


def fmod(x: Tensor, y: Tensor) -> Tensor:
    """With the sign of the dividend."""
    w = x.writer
    if is_float(x):
        return w.same("Mod", x, y, fmod=1)
    trap = y.equal(0)
    if x.dtype.kind == "i":
        trap = trap | y.equal(-1)
    safe = w.where(trap, 1, y)
    return w.where(trap, 0, x - x / safe * safe)


def reciprocal(x: Tensor) -> Tensor:
    if is_float(x):
        return 1 / x
    least = int(np.iinfo(x.dtype).min) if x.dtype.kind == "i" and x.dtype.itemsize >= 4 else 0
    w = x.writer
    return w.where(x.equal(0), least, 1 / w.where(x.equal(0), 1, x))


# ---------------------------------------------------------------- the larger, the sign


def maximum(x: Tensor, y: Tensor) -> Tensor:
    return x.writer.same("Max", x, y)


def minimum(x: Tensor, y: Tensor) -> Tensor:
    return x.writer.same("Min", x, y)


def fmax(x: Tensor, y: Tensor) -> Tensor:
    return x.writer.choose((x >= y) | is_nan(y), x, y) if is_float(x) else maximum(x, y)


def fmin(x: Tensor, y: Tensor) -> Tensor:
    return x.writer.choose((x <= y) | is_nan(y), x, y) if is_float(x) else minimum(x, y)


def sign(x: Tensor) -> Tensor:
    w = x.writer
    if x.dtype.kind == "u":
        return w.cast(~x.equal(0), x.dtype)
    rest = w.choose(x.equal(0), 0, x) if is_float(x) else w.constant(0, x.dtype)
    return w.choose(x > 0, 1, w.choose(x < 0, w.constant(-1, x.dtype), rest))


def heaviside(x: Tensor, y: Tensor) -> Tensor:
    w = x.writer
    return w.where(
        x.equal(0), y, w.choose(is_nan(x), x, w.choose(x < 0, w.constant(0, x.dtype), 1))
    )


# ---------------------------------------------------------------- bits


def left_shift(x: Tensor, y: Tensor) -> Tensor:
    return _shifted(x, y, "LEFT")


def right_shift(x: Tensor, y: Tensor) -> Tensor:
    """Of negative numbers with copies of the sign."""
    if x.dtype.kind == "u":
        return _shifted(x, y, "RIGHT")
    return x.writer.where(x < 0, ~_shifted(~x, y, "RIGHT"), _shifted(x, y, "RIGHT"))


def _shifted(x: Tensor, y: Tensor, direction: str) -> Tensor:
    """By as many bits as there are, or more, or by less than none: zero."""
    w = x.writer
    fits = (y >= 0) & (y < 8 * x.dtype.itemsize)
    count = w.cast(w.where(fits, y, 0), UINT64)
    moved = w.op("BitShift", (w.cast(x, UINT64), count), UINT64, direction=direction)
    return w.where(fits, w.cast(moved, x.dtype), 0)


# ---------------------------------------------------------------- powers of integers


def int_power(x: Tensor, y: Tensor) -> Tensor:
    """By squaring, for each bit of the exponent; where that is negative NumPy raises."""
    w = x.writer
    bits = 8 * x.dtype.itemsize
    base, total = w.cast(x, INT64), w.constant(1, INT64)
    exponent = w.cast(y, INT64)
    for bit in range(bits):
        chosen = ~(exponent & (1 << bit if bit < 63 else -(2**63))).equal(0)
        total = w.where(chosen, total * base, total)
        base = base * base
    return w.cast(total, x.dtype)


def gcd(x: Tensor, y: Tensor) -> Tensor:
    """Euclid's algorithm, as often as it takes for the largest numbers of the dtype."""
    w = x.writer
    x, y = abs(x), abs(y)
    for _ in range(_EUCLID[x.dtype.itemsize]):
        ended = y.equal(0)
        rest = w.same("Mod", x, w.where(ended, 1, y))
        x, y = w.where(ended, x, y), w.where(ended, 0, rest)
    return x


# Pairs of Fibonacci numbers take longest.
_EUCLID = {1: 13, 2: 24, 4: 47, 8: 93}


def lcm(x: Tensor, y: Tensor) -> Tensor:
    w = x.writer
    shared = gcd(x, y)
    none = shared.equal(0)
    return w.where(none, 0, abs(x) / w.where(none, 1, shared) * abs(y))


Function = Callable[..., Tensor]


def logical(kind: str) -> Function:
    """A connective of whatever is not zero."""

    def run(*operands: Tensor) -> Tensor:
        truths = [truth(x) for x in operands]
        return truths[0].writer.op(kind, truths, BOOL)

    return run


def truth(x: Tensor) -> Tensor:
    return x if x.dtype == BOOL else ~x.equal(0)


def add(x: Tensor, y: Tensor) -> Tensor:
    return x | y if x.dtype == BOOL else x + y


def multiply(x: Tensor, y: Tensor) -> Tensor:
    return x & y if x.dtype == BOOL else x * y


def compared(kind: str) -> Function:
    """A comparison; of a signed and an unsigned number by value."""
    signed = {"less": (True, False), "greater": (False, True)}

    def run(x: Tensor, y: Tensor) -> Tensor:
        if x.dtype == y.dtype:
            return _plainly(kind, x, y)
        w = x.writer
        stem = kind.removesuffix("_equal")
        of_x, of_y = signed.get(stem, (kind == "not_equal", kind == "not_equal"))
        found = _plainly(kind, w.cast(x, UINT64), w.cast(y, UINT64))
        if x.dtype.kind == "i":
            return w.where(x < 0, w.constant(of_x), found)
        return w.where(y < 0, w.constant(of_y), found)

    return run


def _plainly(kind: str, x: Tensor, y: Tensor) -> Tensor:
    if kind == "not_equal":
        return ~x.equal(y)
    if kind == "equal":
        return x.equal(y)
    if x.dtype == BOOL:
        x, y = x.cast(np.dtype(np.uint8)), y.cast(np.dtype(np.uint8))
    found: Tensor = getattr(x, _SPELLED[kind])(y)
    return found


_SPELLED = {
    "less": "__lt__",
    "less_equal": "__le__",
    "greater": "__gt__",
    "greater_equal": "__ge__",
}


def absolute(x: Tensor) -> Tensor:
    return abs(x)


def ldexp(x: Tensor, y: Tensor) -> Tensor:
    """In steps, each by a power of two that is a float."""
    w = x.writer
    largest = 120 if x.dtype == FLOAT32 else 1000
    steps = w.same(
        "Max",
        w.same("Min", w.cast(y, INT64), w.constant(3 * largest, INT64)),
        w.constant(-3 * largest, INT64),
    )
    for _ in range(3):
        now = w.same(
            "Max", w.same("Min", steps, w.constant(largest, INT64)), w.constant(-largest, INT64)
        )
        x = x * w.cast(two_to(w.cast(now, FLOAT64)), x.dtype)
        steps = steps - now
    return x


def two_to(x: Tensor) -> Tensor:
    return x.writer.same("Pow", x.writer.constant(2, x.dtype), x)


# operator -> what it is of operands in the dtypes of NumPy's loop
EXACT: dict[str, Function] = {
    "add": add,
    "subtract": lambda x, y: x - y,
    "multiply": multiply,
    "divide": lambda x, y: x / y,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "fmod": fmod,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "absolute": absolute,
    "fabs": absolute,
    "sign": sign,
    "square": lambda x: multiply(x, x),
    "reciprocal": reciprocal,
    "maximum": maximum,
    "minimum": minimum,
    "fmax": fmax,
    "fmin": fmin,
    "copysign": copysign,
    "heaviside": heaviside,
    "gcd": gcd,
    "lcm": lcm,
    "conjugate": lambda x: x,
    "rint": rint,
    "floor": floor,
    "ceil": ceil,
    "trunc": trunc,
    "sqrt": sqrt,
    "isnan": lambda x: is_nan(x) if is_float(x) else _never(x),
    "isinf": lambda x: is_inf(x) if is_float(x) else _never(x),
    "isfinite": lambda x: (abs(x) < np.inf) if is_float(x) else ~_never(x),
    "signbit": lambda x: is_negative(x),
    "logical_and": logical("And"),
    "logical_or": logical("Or"),
    "logical_xor": logical("Xor"),
    "logical_not": lambda x: ~truth(x),
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
    "invert": lambda x: ~x,
    "left_shift": left_shift,
    "right_shift": right_shift,
    "ldexp": ldexp,
    **{
        name: compared(name)
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    },
}


def _never(x: Tensor) -> Tensor:
    zero = x.writer.cast(x, BOOL)
    return zero & ~zero
