"""Operators of Python's numbers as LLVM code.

The code gives some number, and traps nowhere, also where ``python_failures`` says that the operator
fails. See Note [Operators of Python numbers] in ``fxc.ops.python_numbers``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..nests.buffers import BOOL, F64, I64
from ..operators.python_rules import LIBRARY, OF_NUMPY
from ..operators.scalar_rules import DTypes
from .casts import Emit, cast
from .llvm_text import Lanes
from .scalar_code import NUMPY_CODE

# ---------------------------------------------------------------- arithmetic


def _add(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        prefix = "f" if dtypes[0].kind == "f" else ""
        return code.arithmetic(f"{prefix}{name}", dtypes[0], args[0], args[1])

    return emit


def _checked(name: str) -> Emit:
    """As ``_add``; of ints with the very code that says whether they overflow."""
    plain = _add(name)

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        if dtypes[0].kind == "f" or small_factor(name, args):
            return plain(code, args, dtypes, result)
        return code.overflowing(name, args)[0]

    return emit


def small_factor(name: str, args: Sequence[str]) -> int:
    """The first operand, if it is one of the factors for which processors have an instruction that
    takes a third of the time of products, but does not say whether it overflows; 0 else.
    """
    return int(args[0]) if name == "mul" and args[0] in ("3", "5", "9") else 0


def is_zero(code: Lanes, x: str, dtype: np.dtype) -> str:
    return code.compare("oeq" if dtype.kind == "f" else "eq", dtype, x, code.const(0, dtype))


def either(code: Lanes, *tests: str) -> str:
    found = tests[0]
    for test in tests[1:]:
        found = code.binary("or", BOOL, found, test)
    return found


def both(code: Lanes, *tests: str) -> str:
    found = tests[0]
    for test in tests[1:]:
        found = code.binary("and", BOOL, found, test)
    return found


def _divide(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, y = (cast(code, (arg,), (dtype,), F64) for arg, dtype in zip(args, dtypes, strict=True))
    return code.binary("fdiv", F64, x, y)


def is_beyond(code: Lanes, x: str, limit: int) -> str:
    """Whether an int is not between ``-limit`` and ``limit``."""
    moved = code.binary("add", I64, x, code.const(limit, I64))
    return code.compare("ugt", I64, moved, code.const(2 * limit, I64))


def _natural(name: str) -> Emit:
    """A quotient or remainder of ints that are not negative, the divisor not 0."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.binary(name, I64, args[0], args[1])

    return emit


def _natural_or_zero(name: str) -> Emit:
    """As ``_natural`` where the divisor may be 0."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        x, y = args
        safe = code.select(is_zero(code, y, I64), I64, code.const(1, I64), y)
        return code.binary(name, I64, x, safe)

    return emit


def powers(code: Lanes, x: str, y: str) -> tuple[str, str]:
    """An int to the power of another by squaring; whether that fails.

    An exponent of more than six bits is as good as its last bit if the base is 0, 1 or -1; for
    other bases the power overflows.
    """
    one, zero = code.const(1, I64), code.const(0, I64)
    power, square = one, x
    failed = code.compare("slt", I64, y, zero)
    squares_fail = code.const(False, BOOL)
    for bit in range(6):
        shifted = code.binary("lshr", I64, y, code.const(bit, I64))
        chosen = code.compare("ne", I64, code.binary("and", I64, shifted, one), zero)
        product, overflows = code.overflowing("mul", (power, square))
        lost = both(code, chosen, either(code, overflows, squares_fail))
        failed = either(code, failed, lost)
        power = code.select(chosen, I64, product, power)
        if bit < 5:
            square, overflows = code.overflowing("mul", (square, square))
            squares_fail = either(code, squares_fail, overflows)
    long = code.compare("sgt", I64, y, code.const(63, I64))
    failed = either(code, failed, both(code, long, is_beyond(code, x, 1)))
    odd = code.compare("ne", I64, code.binary("and", I64, y, one), zero)
    minus = code.compare("eq", I64, x, code.const(-1, I64))
    sign = code.select(both(code, minus, odd), I64, code.const(-1, I64), one)
    is_zero = code.compare("eq", I64, x, zero)
    of_long = code.select(is_zero, I64, zero, sign)
    return code.select(long, I64, of_long, power), failed


def _power(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return NUMPY_CODE["power_of_scalars"](code, args, dtypes, result)
    return powers(code, args[0], args[1])[0]


def shift_count(code: Lanes, by: str) -> tuple[str, str]:
    """A count of at most 63, and whether the given one is more, or negative."""
    most = code.const(63, I64)
    outside = code.compare("ugt", I64, by, most)
    return code.select(outside, I64, most, by), outside


def _bit_length(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    size = NUMPY_CODE["absolute"](code, args, dtypes, result)
    kind = code.type(result)
    function = f"@llvm.ctlz.{'i64' if code.count == 1 else f'v{code.count}i64'}"
    code.function.module.declare(f"declare {kind} {function}({kind}, i1 immarg)")
    zeros = code.op(f"call {kind} {function}({kind} {size}, i1 false)")
    return code.binary("sub", result, code.const(64, result), zeros)


def _left_shift(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if args[1] == "1":
        return code.overflowing("add", (args[0], args[0]))[0]
    count, outside = shift_count(code, args[1])
    shifted = code.binary("shl", I64, args[0], count)
    return code.select(outside, I64, code.const(0, I64), shifted)


def _right_shift(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.binary("ashr", I64, args[0], shift_count(code, args[1])[0])


def _bitwise(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.binary(name, dtypes[0], args[0], args[1])

    return emit


def _fit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return args[0]


# ---------------------------------------------------------------- comparisons


def _comparison(name: str) -> Emit:
    on_float = f"{'u' if name == 'ne' else 'o'}{name}"
    on_int = name if name in ("eq", "ne") else f"s{name}"
    swapped = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(name, name)

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        left, right = dtypes
        if left == right:
            return code.compare(on_float if left.kind == "f" else on_int, left, args[0], args[1])
        if left.kind == "f":
            return _compare_exactly(code, swapped, args[1], args[0])
        return _compare_exactly(code, name, args[0], args[1])

    return emit


def _compare_exactly(code: Lanes, name: str, x: str, y: str) -> str:
    """An int with a float. Where the float of the int is another number than ``y``, that decides;
    where it is the same, ``y`` is whole, and what rounding took from the int decides.
    """
    near = cast(code, (x,), (I64,), F64)
    same = code.compare("oeq", F64, near, y)
    top = code.const(2.0**63, F64)
    at_top = code.compare("oeq", F64, y, top)  # which is more than any int of 64 bits
    # What ``y`` is where both are the same: LLVM would convert ``y`` whatever the condition says.
    below_top = code.select(code.compare("olt", F64, near, top), F64, near, code.const(0.0, F64))
    whole = code.convert("fptosi", below_top, F64, I64)
    by_float = code.compare(f"{'u' if name == 'ne' else 'o'}{name}", F64, near, y)
    by_int = code.compare(name if name in ("eq", "ne") else f"s{name}", I64, x, whole)
    below = code.const(name in ("lt", "le", "ne"), BOOL)
    exact = code.select(at_top, BOOL, below, by_int)
    return code.select(same, BOOL, exact, by_float)


def _extreme(on_float: str, signed: str, unsigned: str) -> Emit:
    """``y if y > x else x``."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        (x, y), dtype = args, dtypes[0]
        test = {"f": on_float, "i": signed}.get(dtype.kind, unsigned)
        return code.select(code.compare(test, dtype, y, x), dtype, y, x)

    return emit


# ---------------------------------------------------------------- conversions


def _to_int(rounding: str) -> Emit:
    """An int; of floats that have none it is any, see ``_int_fails``."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        if dtypes[0].kind != "f":
            return cast(code, args, dtypes, I64)
        if rounding:
            args = (code.intrinsic(rounding, dtypes[0], args),)
        made = code.convert("fptosi", args[0], dtypes[0], I64)
        return code.op(f"freeze {code.type(I64)} {made}")

    return emit


def _library(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.library(name, args)

    return emit


def _scaled(factor: float) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.binary("fmul", F64, args[0], code.const(factor, F64))

    return emit


_COMPARISONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le"}
_COMPARISONS |= {"greater": "gt", "greater_equal": "ge"}

_SHARED: dict[str, Emit] = {
    "divide": _divide,
    "floor_divide": NUMPY_CODE["floor_divide"],
    "remainder": NUMPY_CODE["remainder"],
    "power": _power,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
    "negative": NUMPY_CODE["negative"],
    "absolute": NUMPY_CODE["absolute"],
    "int": _to_int(""),  # the cast truncates
    "round": _to_int("rint"),
    "fit": _fit,
    "demand": cast,
}
_NATURAL = {"natural_quotient": "udiv", "natural_remainder": "urem"}
SUMS = {"add": "add", "subtract": "sub", "multiply": "mul"}

# By the names of ``operators.python_rules.PYTHON_RULES``.
PYTHON_CODE: dict[str, Emit] = {
    **{f"{prefix}_{name}": emit for prefix in ("py", "try") for name, emit in _SHARED.items()},
    **{f"py_{name}": _add(of) for name, of in SUMS.items()},
    **{f"try_{name}": _checked(of) for name, of in SUMS.items()},
    **{f"py_{name}": _natural(of) for name, of in _NATURAL.items()},
    **{f"try_{name}": _natural_or_zero(of) for name, of in _NATURAL.items()},
    **{f"py_{name}": _bitwise(name) for name in ("and", "or", "xor")},
    "py_invert": NUMPY_CODE["invert"],
    "py_not": NUMPY_CODE["logical_not"],
    "py_bit_length": _bit_length,
    "py_float": cast,
    "py_root": NUMPY_CODE["sqrt"],
    "py_bool": cast,
    **{f"py_{name}": _comparison(of) for name, of in _COMPARISONS.items()},
    "hypot_of_parts": _library("hypot"),
    "py_maximum": _extreme("ogt", "sgt", "ugt"),
    "py_minimum": _extreme("olt", "slt", "ult"),
    **{f"math_{name}": _library(name) for name in LIBRARY},
    **{f"math_{name}": NUMPY_CODE[name] for name in OF_NUMPY},
    "math_degrees": _scaled(180.0 / math.pi),
    "math_radians": _scaled(math.pi / 180.0),
    "math_floor": _to_int("floor"),
    "math_ceil": _to_int("ceil"),
}
