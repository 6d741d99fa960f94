"""Signs of elements, and what has none: nan."""

from __future__ import annotations

import numpy as np

from fxc.ir.types import PART_DTYPES

from .builder import BOOL, Val
from .casts import Kit
from .complexes import parts


def unsigned(dtype: np.dtype) -> np.dtype:
    """The unsigned integers of the same size."""
    return np.dtype(f"u{dtype.itemsize}")


def is_nan(k: Kit, x: Val) -> Val:
    """Where there is no number; complex ones have two parts."""
    if x.dtype in PART_DTYPES:
        return k.b.same("or", *(is_nan(k, part) for part in parts(k, x)))
    return k.b.compare("NE", x, x) if x.dtype.kind == "f" else k.like(x, False, BOOL)


def is_negative(k: Kit, x: Val) -> Val:
    """Where ``x < 0``."""
    return k.b.compare("LT", x, k.like(x, 0))


def copysign(k: Kit, x: Val, y: Val) -> Val:
    """By bits: a zero and a nan have signs, too."""
    word = unsigned(x.dtype)
    sign = 1 << (8 * word.itemsize - 1)
    kept = k.b.same("and", k.b.bits(x, word), k.like(x, sign - 1, word))
    taken = k.b.same("and", k.b.bits(y, word), k.like(x, sign, word))
    return k.b.bits(k.b.same("or", kept, taken), x.dtype)


def signbit(k: Kit, x: Val) -> Val:
    word = np.dtype(f"i{x.dtype.itemsize}")
    return is_negative(k, k.b.bits(x, word) if x.dtype.kind == "f" else x)


def absolute(k: Kit, x: Val) -> Val:
    if x.dtype in PART_DTYPES:
        return k.b.op("abs", [x], PART_DTYPES[x.dtype], x.shape)
    return x if x.dtype.kind in "bu" else k.b.same("abs", x)


def sign(k: Kit, x: Val) -> Val:
    """0 has none; neither has -0.0."""
    if x.dtype.kind in "bu":
        return k.b.convert(k.truth(x), x.dtype)
    found = k.b.same("sign", x)
    if x.dtype.kind != "f":
        return found
    zero = k.like(x, 0)
    return k.b.select(k.b.compare("EQ", x, zero), zero, found)


def negative(k: Kit, x: Val) -> Val:
    if x.dtype.kind == "u":
        return k.b.same("subtract", k.like(x, 0), x)
    return k.b.same("negate", x)
