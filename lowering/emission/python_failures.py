"""Where operators of Python's numbers fail, as LLVM code."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..nests.buffers import BOOL, F64, I64
from ..operators.python_rules import FAILING_FUNCTIONS
from ..operators.scalar_rules import DTypes
from .casts import Emit
from .llvm_text import Lanes
from .python_code import SUMS, both, either, is_beyond, is_zero, powers, shift_count, small_factor
from .scalar_code import NUMPY_CODE

LOWEST = -(2**63)
EXACT = 2**53  # up to here floats hold every integer


def _overflows(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        if dtypes[0].kind == "f":
            return code.const(False, BOOL)
        factor = small_factor(name, args)
        if factor:
            least = -(2**63 // factor)
            past = code.binary("sub", I64, args[1], code.const(least, I64))
            return code.compare("ugt", I64, past, code.const((2**63 - 1) // factor - least, I64))
        return code.overflowing(name, args[:2])[1]

    return emit


def _division_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """By zero; of ints that floats do not hold, since Python rounds their quotient once."""
    x, y = args[:2]
    zero = is_zero(code, y, dtypes[1])
    if dtypes[0].kind == "f":
        return zero
    return either(code, zero, *(is_beyond(code, each, EXACT) for each in (x, y)))


def _quotient_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """By zero; ``-2**63 // -1`` has 65 bits."""
    zero = is_zero(code, args[1], dtypes[1])
    if dtypes[0].kind == "f":
        return zero
    lowest = code.compare("eq", I64, args[0], code.const(LOWEST, I64))
    minus = code.compare("eq", I64, args[1], code.const(-1, I64))
    return either(code, zero, both(code, lowest, minus))


def _remainder_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return is_zero(code, args[1], dtypes[1])


def _power_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return _is_lost(code, args[:2], args[2])
    return powers(code, args[0], args[1])[1]


def _left_shift_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, by = args[:2]
    if by == "1":
        return code.overflowing("add", (x, x))[1]
    count, outside = shift_count(code, by)
    back = code.binary("ashr", I64, code.binary("shl", I64, x, count), count)
    lost = either(code, outside, code.compare("ne", I64, back, x))
    lost = both(code, lost, code.compare("ne", I64, x, code.const(0, I64)))
    return either(code, lost, code.compare("slt", I64, by, code.const(0, I64)))


def _right_shift_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.compare("slt", I64, args[1], code.const(0, I64))


def _is_lowest(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return code.const(False, BOOL)
    return code.compare("eq", I64, args[0], code.const(LOWEST, I64))


def _misfits(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, low, high = args[:3]
    return either(code, code.compare("slt", I64, x, low), code.compare("sgt", I64, x, high))


def _not(code: Lanes, test: str) -> str:
    return code.binary("xor", BOOL, test, code.const(True, BOOL))


def _int_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """Of what is infinite, nan, or has an int of more than 64 bits."""
    x, dtype = args[0], dtypes[0]
    if dtype == np.uint64:
        return code.compare("slt", I64, x, code.const(0, I64))
    if dtype.kind != "f":
        return code.const(False, BOOL)
    size = code.intrinsic("fabs", dtype, (x,))
    large = code.compare("uge", dtype, size, code.const(2.0**63, dtype))
    return both(code, large, code.compare("une", dtype, x, code.const(-(2.0**63), dtype)))


# ---------------------------------------------------------------- functions of ``math``


def _is_finite(code: Lanes, x: str) -> str:
    size = code.intrinsic("fabs", F64, (x,))
    return code.compare("olt", F64, size, code.const(np.inf, F64))


def _is_nan(code: Lanes, x: str) -> str:
    return code.compare("uno", F64, x, x)


def _is_lost(code: Lanes, args: Sequence[str], value: str) -> str:
    """Whether numbers give none: a pole, an overflow, or outside of the domain."""
    return both(code, *(_is_finite(code, x) for x in args), _not(code, _is_finite(code, value)))


def _function_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """As ``_is_lost``; an infinity that gives nan is outside of the domain, too."""
    x, value = args
    made_nan = both(code, _is_nan(code, value), _not(code, _is_nan(code, x)))
    return either(code, made_nan, _is_lost(code, (x,), value))


def _fmod_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, y, value = args
    given = either(code, _is_nan(code, x), _is_nan(code, y))
    return both(code, _is_nan(code, value), _not(code, given))


def _pow_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return _is_lost(code, args[:2], args[2])


# Of operators that can fail: whether they do, from the operands and the number that they give.
FAILS: dict[str, Emit] = {
    **{f"try_{name}": _overflows(of) for name, of in SUMS.items()},
    "try_divide": _division_fails,
    "try_floor_divide": _quotient_fails,
    "try_remainder": _remainder_fails,
    "try_natural_quotient": _remainder_fails,
    "try_natural_remainder": _remainder_fails,
    "try_power": _power_fails,
    "try_left_shift": _left_shift_fails,
    "try_right_shift": _right_shift_fails,
    "try_negative": _is_lowest,
    "try_absolute": _is_lowest,
    "try_int": _int_fails,
    "try_round": _int_fails,
    "try_fit": _misfits,
    "try_demand": NUMPY_CODE["logical_not"],
    **{f"math_{name}": _function_fails for name in FAILING_FUNCTIONS},
    "math_pow": _pow_fails,
    "math_fmod": _fmod_fails,
    "math_floor": _int_fails,
    "math_ceil": _int_fails,
}
FAILURE_CODE: dict[str, Emit] = {f"{name} fails": emit for name, emit in FAILS.items()}
# What follows from these passing is used nowhere: see ``late``.
ROUNDINGS = frozenset(f"{name} fails" for name, emit in FAILS.items() if emit is _int_fails)
# Of these a number that is small enough says that they have not failed: which, and how small.
_FUNCTIONS = [name for name, emit in FAILS.items() if emit in (_function_fails, _pow_fails)]
LOSSES: dict[str, tuple[int, float]] = {
    **{f"{name} fails": (-1, math.inf) for name in _FUNCTIONS},
    **dict.fromkeys(ROUNDINGS, (0, 2.0**63)),
}
