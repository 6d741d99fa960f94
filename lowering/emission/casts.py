"""Conversions between the dtypes of elements, as LLVM code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.flag_bits import INVALID

from ..nests.buffers import BOOL, F32, F64, HALF, I64
from ..operators.scalar_rules import DTypes
from .llvm_text import Lanes

# (code, argument registers, their dtypes, the result's dtype) -> result register
Emit = Callable[[Lanes, Sequence[str], DTypes, np.dtype], str]

I16, I32, U16 = np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.uint16)


def truth(code: Lanes, arg: str, dtype: np.dtype) -> str:
    """Whether the element counts as true."""
    if dtype.kind == "b":
        return arg
    if dtype == HALF:  # by its bits, for which no processor has to convert it
        bits = code.convert("bitcast", arg, HALF, I16)
        arg, dtype = code.binary("and", I16, bits, code.const(0x7FFF, I16)), I16
    return code.compare("une" if dtype.kind == "f" else "ne", dtype, arg, code.const(0, dtype))


def cast(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """NumPy's unsafe cast. Floats out of an integer's range give what the processor gives."""
    (x,), (source,) = args, dtypes
    if source == result:
        return x
    if result.kind == "b":
        return truth(code, x, source)
    if source.kind == "f" and result.itemsize < source.itemsize and not x.startswith("%"):
        x = code.fenced(x, source)  # LLVM computes it, and sets no flag
    if HALF in (source, result):
        return _of_halves(code, x, source, result)
    if source.kind == "f":
        if result.kind == "f":
            name = "fptrunc" if result.itemsize < source.itemsize else "fpext"
            return code.convert(name, x, source, result)
        return _float_to_int(code, x, source, result)
    if result.kind == "f":
        return code.convert("sitofp" if source.kind == "i" else "uitofp", x, source, result)
    if source.kind != "b" and result.itemsize == source.itemsize:
        return x
    if source.kind != "b" and result.itemsize < source.itemsize:
        return code.convert("trunc", x, source, result)
    return code.convert("sext" if source.kind == "i" else "zext", x, source, result)


def _of_halves(code: Lanes, x: str, source: np.dtype, result: np.dtype) -> str:
    """To and from float16, by way of float32. See Note [Half precision]."""
    if source == HALF:
        return cast(code, (code.convert("fpext", x, HALF, F32),), (F32,), result)
    if source == F64:
        x = _rounded_to_odd(code, x)
    elif source != F32:
        is_known = not x.startswith("%")
        x = cast(code, (x,), (source,), F32)
        x = code.fenced(x, F32) if is_known else x
    return code.convert("fptrunc", x, F32, HALF)


def half_of(code: Lanes, x: str) -> str:
    """The float16 that a float64 is, put together of its bits: each processor can do that."""

    def number(value: int) -> str:
        return code.const(value, I64)

    def bits_from(place: int, mask: int) -> str:
        return code.binary("and", I64, code.binary("lshr", I64, bits, number(place)), number(mask))

    bits = code.convert("bitcast", x, F64, I64)
    exponent, fraction = bits_from(52, 0x7FF), bits_from(42, 0x3FF)
    normal = code.binary("shl", I64, code.binary("sub", I64, exponent, number(1008)), number(10))
    missing = code.binary("sub", I64, number(1009), exponent)
    missing = code.select(code.compare("ult", I64, missing, number(11)), I64, missing, number(11))
    whole = code.binary("or", I64, fraction, number(1 << 10))
    found = code.select(
        code.compare("uge", I64, exponent, number(1009)),
        I64,
        code.binary("or", I64, normal, fraction),
        code.binary("lshr", I64, whole, missing),
    )
    is_finite = code.compare("ne", I64, exponent, number(0x7FF))
    other = code.binary("or", I64, fraction, number(0x1F << 10))
    found = code.select(is_finite, I64, found, other)
    found = code.binary("or", I64, found, bits_from(48, 1 << 15))
    return code.convert("bitcast", code.convert("trunc", found, I64, U16), U16, HALF)


def _rounded_to_odd(code: Lanes, x: str) -> str:
    """A float64 as a float32, from which rounding to float16 gives what one rounding gives: of the
    two around it the one whose last bit is set.
    """
    near = code.convert("fptrunc", x, F64, F32)
    back = code.convert("fpext", near, F32, F64)
    bits = code.convert("bitcast", near, F32, I32)
    even = code.binary("and", I32, bits, code.const(1, I32))
    is_even = code.compare("eq", I32, even, code.const(0, I32))
    sizes = [code.intrinsic("fabs", F64, (each,)) for each in (back, x)]
    step = code.select(
        code.compare("ogt", F64, *sizes), I32, code.const(-1, I32), code.const(1, I32)
    )
    inexact = code.compare("one", F64, back, x)
    moved = code.binary("and", BOOL, inexact, is_even)
    odd = code.binary("add", I32, bits, code.select(moved, I32, step, code.const(0, I32)))
    return code.convert("bitcast", odd, I32, F32)


def _float_to_int(code: Lanes, x: str, source: np.dtype, result: np.dtype) -> str:
    """Through int32 for narrow results and int64 else, whose lowest value marks 'out of range'."""
    wide = I32 if result.itemsize < 4 or result == I32 else I64
    limit = code.const(2.0 ** (8 * wide.itemsize - 1), source)
    if result == np.dtype(np.uint64):
        return _float_to_uint64(code, x, source, limit)
    whole = _checked_to_int(code, x, source, wide, limit)
    return whole if wide.itemsize == result.itemsize else code.convert("trunc", whole, wide, result)


def _checked_to_int(code: Lanes, x: str, source: np.dtype, wide: np.dtype, limit: str) -> str:
    lowest = code.const(-(2.0 ** (8 * wide.itemsize - 1)), source)
    if wide == I32:  # there are floats between the lowest int32 and the integer below
        x = code.intrinsic("trunc", source, (x,))
    inside = code.binary(
        "and", BOOL, code.compare("oge", source, x, lowest), code.compare("olt", source, x, limit)
    )
    safe = code.select(inside, source, x, lowest)
    code.report(code.binary("xor", BOOL, inside, code.const(True, BOOL)), INVALID)
    return code.convert("fptosi", safe, source, wide)


def _float_to_uint64(code: Lanes, x: str, source: np.dtype, limit: str) -> str:
    is_large = code.compare("oge", source, x, limit)
    reduced = code.select(is_large, source, code.binary("fsub", source, x, limit), x)
    whole = _checked_to_int(code, reduced, source, I64, limit)
    top = code.const(int(np.iinfo(np.int64).min), I64)
    return code.select(is_large, I64, code.binary("xor", I64, whole, top), whole)


def reinterpret(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """Integers of one size are one type of LLVM's."""
    (x,), (source,) = args, dtypes
    if source.kind == "b":
        return cast(code, args, dtypes, result)
    if source.kind != "f" and result.kind != "f":
        return x
    return x if source == result else code.convert("bitcast", x, source, result)
