"""Quotients and remainders as LLVM code, with NumPy's answers for what has none."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fxc.ir.flag_bits import DIVIDE, OVERFLOW

from ..nests.buffers import BOOL, F64, I64
from ..operators.scalar_rules import DTypes
from .casts import I32
from .llvm_text import Lanes


def divide(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return quotient(code, dtypes[0], args[0], args[1])
    name = "and" if dtypes[0].kind == "b" else "sdiv"
    return code.binary(name, dtypes[0], args[0], args[1])


def reciprocal(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return quotient(code, dtypes[0], code.const(1.0, dtypes[0]), args[0])


def quotient(code: Lanes, dtype: np.dtype, x: str, y: str) -> str:
    """A quotient; without the flags of a division by zero that nobody is to be told of."""
    ignored = code.quiet & {"divide", "invalid"}
    if not ignored:
        return code.binary("fdiv", dtype, x, y)
    zero = code.const(0.0, dtype)
    by_zero = code.compare("oeq", dtype, y, zero)
    nothing = code.compare("ueq", dtype, x, zero)
    if ignored == {"divide"}:
        by_zero = code.binary("and", BOOL, by_zero, code.compare("one", dtype, x, zero))
    elif ignored == {"invalid"}:
        by_zero = code.binary("and", BOOL, by_zero, nothing)
    usual = code.computed(code.select(by_zero, dtype, code.const(1.0, dtype), y), dtype)
    found = code.computed(code.binary("fdiv", dtype, x, usual), dtype)
    bits = I64 if dtype == F64 else I32
    signs = [code.convert("bitcast", each, dtype, bits) for each in (x, y)]
    sign = code.convert("bitcast", code.binary("xor", bits, *signs), bits, dtype)
    limit = code.select(
        nothing,
        dtype,
        code.const(np.nan, dtype),
        code.intrinsic("copysign", dtype, (code.const(np.inf, dtype), sign)),
    )
    return code.select(by_zero, dtype, limit, found)


def _safe_divisor(code: Lanes, dtype: np.dtype, y: str) -> tuple[str, str]:
    """A divisor that never traps, and whether it takes the place of ``y``, which then is 0, or -1
    in case that ``x`` is the lowest number. By that quotients are ``-(x & y)``, remainders 0.
    """
    one = code.const(1, dtype)
    if dtype.kind == "u":
        special = code.compare("eq", dtype, y, code.const(0, dtype))
    else:
        special = code.compare(
            "ult", dtype, code.binary("add", dtype, y, one), code.const(2, dtype)
        )
    return code.select(special, dtype, one, y), special


def _report_division(code: Lanes, dtype: np.dtype, x: str, y: str, overflows: bool) -> None:
    """Set the flags of a division of integers: by zero, and of the lowest number by -1."""
    if re.fullmatch(r"(?:splat \(i\d+ )?[1-9]\d*\)?", y):
        return
    code.report(code.compare("eq", dtype, y, code.const(0, dtype)), DIVIDE)
    if overflows and dtype.kind == "i":
        lowest = code.const(int(np.iinfo(dtype).min), dtype)
        is_lowest = code.compare("eq", dtype, x, lowest)
        by_minus_one = code.compare("eq", dtype, y, code.const(-1, dtype))
        code.report(code.binary("and", BOOL, is_lowest, by_minus_one), OVERFLOW)


def floor_divide(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, (x, y) = dtypes[0], args
    if dtype.kind == "f":
        return _float_divmod(code, dtype, x, y)[0]
    shift = _power_of_two(y)
    if shift is not None:
        by = code.const(shift, dtype)
        return code.binary("ashr" if dtype.kind == "i" else "lshr", dtype, x, by)
    _report_division(code, dtype, x, y, overflows=True)
    safe, special = _safe_divisor(code, dtype, y)
    quotient = code.binary("sdiv" if dtype.kind == "i" else "udiv", dtype, x, safe)
    zero = code.const(0, dtype)
    if dtype.kind == "u":
        return code.select(special, dtype, zero, quotient)
    if code.count == 1:  # the very remainder that ``remainder`` has: one instruction makes both
        rest = code.binary("srem", dtype, x, safe)
    else:
        rest = code.binary("sub", dtype, x, code.binary("mul", dtype, quotient, safe))
    down = _signs_differ(code, dtype, rest, safe)
    fix = code.select(down, dtype, code.const(1, dtype), zero)
    quotient = code.binary("sub", dtype, quotient, fix)
    by_special = code.binary("sub", dtype, zero, code.binary("and", dtype, x, y))
    return code.select(special, dtype, by_special, quotient)


def _power_of_two(divisor: str) -> int | None:
    """The exponent, if a divisor is a constant power of two: quotients and remainders that floor
    are shifts and masks.
    """
    found = re.fullmatch(r"(?:splat \(i\d+ )?(\d+)\)?", divisor)
    value = int(found[1]) if found is not None else 0
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def _signs_differ(code: Lanes, dtype: np.dtype, rest: str, divisor: str) -> str:
    """Whether ``rest`` is not 0 and its sign is not the divisor's."""
    zero = code.const(0, dtype)
    crossed = code.compare("slt", dtype, code.binary("xor", dtype, rest, divisor), zero)
    return code.binary("and", BOOL, crossed, code.compare("ne", dtype, rest, zero))


def remainder(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, (x, y) = dtypes[0], args
    if dtype.kind == "f":
        return _float_divmod(code, dtype, x, y)[1]
    shift = _power_of_two(y)
    if shift is not None:
        return code.binary("and", dtype, x, code.const((1 << shift) - 1, dtype))
    _report_division(code, dtype, x, y, overflows=False)
    safe, _ = _safe_divisor(code, dtype, y)
    rest = code.binary("srem" if dtype.kind == "i" else "urem", dtype, x, safe)
    if dtype.kind == "u":
        return rest
    up = _signs_differ(code, dtype, rest, safe)
    return code.binary("add", dtype, rest, code.select(up, dtype, safe, code.const(0, dtype)))


def _float_divmod(code: Lanes, dtype: np.dtype, x: str, y: str) -> tuple[str, str]:
    """Quotient and remainder as NumPy's ``npy_divmod`` computes them."""
    zero = code.const(0.0, dtype)
    rest = code.math("fmod", dtype, (x, y))
    no_divisor = code.compare("oeq", dtype, y, zero)
    whole = code.select(no_divisor, dtype, x, code.binary("fsub", dtype, x, rest))
    ratio = code.binary("fdiv", dtype, whole, y)
    has_rest = code.compare("une", dtype, rest, zero)
    y_below = code.compare("olt", dtype, y, zero)
    rest_below = code.compare("olt", dtype, rest, zero)
    differ = code.binary("and", BOOL, has_rest, code.binary("xor", BOOL, y_below, rest_below))
    modulo = code.select(differ, dtype, code.binary("fadd", dtype, rest, y), rest)
    signed_zero = code.intrinsic("copysign", dtype, (zero, y))
    modulo = code.select(has_rest, dtype, modulo, signed_zero)
    modulo = code.select(no_divisor, dtype, rest, modulo)
    lowered = code.binary("fsub", dtype, ratio, code.const(1.0, dtype))
    quotient = code.select(differ, dtype, lowered, ratio)
    floor = code.intrinsic("floor", dtype, (quotient,))
    gap = code.binary("fsub", dtype, quotient, floor)
    up = code.compare("ogt", dtype, gap, code.const(0.5, dtype))
    floor = code.select(up, dtype, code.binary("fadd", dtype, floor, code.const(1.0, dtype)), floor)
    nothing = code.compare("oeq", dtype, quotient, zero)
    bits = I64 if dtype == F64 else I32
    signs = [code.convert("bitcast", each, dtype, bits) for each in (x, y)]
    sign = code.convert("bitcast", code.binary("xor", bits, *signs), bits, dtype)
    floor = code.select(nothing, dtype, code.intrinsic("copysign", dtype, (zero, sign)), floor)
    return code.select(no_divisor, dtype, ratio, floor), modulo


def fmod(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, (x, y) = dtypes[0], args
    if dtype.kind == "f":
        return code.math("fmod", dtype, args)
    _report_division(code, dtype, x, y, overflows=False)
    safe, _ = _safe_divisor(code, dtype, y)
    return code.binary("srem" if dtype.kind == "i" else "urem", dtype, x, safe)
