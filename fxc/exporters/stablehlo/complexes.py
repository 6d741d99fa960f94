"""Complex numbers by their parts."""

from __future__ import annotations

from fxc.ir.types import PART_DTYPES

from .builder import Val
from .casts import Kit


def parts(k: Kit, x: Val) -> tuple[Val, Val]:
    """Real and imaginary parts."""
    part = PART_DTYPES[x.dtype]
    return k.b.op("real", [x], part, x.shape), k.b.op("imag", [x], part, x.shape)


def paired(k: Kit, real: Val, imag: Val) -> Val:
    """Complex numbers of these parts."""
    (dtype,) = (whole for whole, part in PART_DTYPES.items() if part == real.dtype)
    return k.b.op("complex", [real, imag], dtype, real.shape)


def quotient(k: Kit, x: Val, y: Val) -> Val:
    """By Smith's method, as NumPy has it; by 0 each part is divided by +0.0."""
    b = k.b
    (re, im), (c, d) = parts(k, x), parts(k, y)
    c_size, d_size = b.same("abs", c), b.same("abs", d)
    is_wide = b.compare("GE", c_size, d_size)
    large, small = b.select(is_wide, c, d), b.select(is_wide, d, c)
    first, second = b.select(is_wide, re, im), b.select(is_wide, im, re)
    ratio = b.same("divide", small, large)
    whole = b.same("add", large, b.same("multiply", small, ratio))
    scale = b.same("divide", k.like(c, 1), whole)
    real = b.same("multiply", b.same("add", first, b.same("multiply", second, ratio)), scale)
    scaled = b.same("multiply", first, ratio)
    imag = b.select(is_wide, b.same("subtract", second, scaled), b.same("subtract", scaled, second))
    imag = b.same("multiply", imag, scale)
    by_zero = b.compare("EQ", large, k.like(c, 0))
    real = b.select(by_zero, b.same("divide", re, c_size), real)
    return paired(k, real, b.select(by_zero, b.same("divide", im, c_size), imag))


def inverse(k: Kit, x: Val) -> Val:
    """``1 / x``, as NumPy's reciprocal has it: not the quotient's formula."""
    b = k.b
    real, imag = parts(k, x)
    is_wide = b.compare("LE", b.same("abs", imag), b.same("abs", real))
    large, small = b.select(is_wide, real, imag), b.select(is_wide, imag, real)
    ratio = b.same("divide", small, large)
    whole = b.same("add", large, b.same("multiply", small, ratio))
    one = k.like(real, 1)
    upper, lower = b.select(is_wide, one, ratio), b.select(is_wide, ratio, one)
    lower = b.same("divide", b.same("negate", lower), whole)
    return paired(k, b.same("divide", upper, whole), lower)
