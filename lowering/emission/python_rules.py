"""Operators of Python's numbers as LLVM code: what they give, and where they fail.

A rule gives some number, and traps nowhere, also where ``FAILS`` says that the operator fails. See
Note [Operators of Python numbers] in ``fxc.ops.python_numbers``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..nests.buffers import BOOL, F64, I64
from .llvm_text import Lanes
from .scalar_power import power_of_scalars
from .scalar_rules import NUMPY_RULES, DTypes, Emit, ScalarRule, cast, cast_types

LOWEST = -(2**63)
EXACT = 2**53  # up to here floats hold every integer

# ---------------------------------------------------------------- dtypes of loops


def _as_result(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (result,) * len(dtypes), result


def _widest(dtypes: DTypes) -> DTypes:
    """Ints and bools as i64, unless there is a float among them."""
    kind = F64 if any(dtype.kind == "f" for dtype in dtypes) else I64
    return (kind,) * len(dtypes)


def _as_operands(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return _widest(dtypes), result


def _compared(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    """An int beside a float stays one: they are compared exactly."""
    if any(dtype.kind == "f" for dtype in dtypes):
        return tuple(I64 if dtype.kind == "i" else F64 for dtype in dtypes), result
    return (I64, I64), result


def _as_floats(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (F64,) * len(dtypes), result


# ---------------------------------------------------------------- arithmetic


def _add(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        prefix = "f" if dtypes[0].kind == "f" else ""
        return code.binary(f"{prefix}{name}", dtypes[0], args[0], args[1])

    return emit


def _checked(name: str) -> Emit:
    """As ``_add``; of ints with the very code that says whether they overflow."""
    plain = _add(name)

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        if dtypes[0].kind == "f" or _small_factor(name, args):
            return plain(code, args, dtypes, result)
        return code.overflowing(name, args)[0]

    return emit


def _overflows(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        if dtypes[0].kind == "f":
            return code.const(False, BOOL)
        factor = _small_factor(name, args)
        if factor:
            least = -(2**63 // factor)
            past = code.binary("sub", I64, args[1], code.const(least, I64))
            return code.compare("ugt", I64, past, code.const((2**63 - 1) // factor - least, I64))
        return code.overflowing(name, args[:2])[1]

    return emit


def _small_factor(name: str, args: Sequence[str]) -> int:
    """The first operand, if it is one of the factors for which processors have an instruction that
    takes a third of the time of products, but does not say whether it overflows; 0 else.
    """
    return int(args[0]) if name == "mul" and args[0] in ("3", "5", "9") else 0


def _is_zero(code: Lanes, x: str, dtype: np.dtype) -> str:
    return code.compare("oeq" if dtype.kind == "f" else "eq", dtype, x, code.const(0, dtype))


def _either(code: Lanes, *tests: str) -> str:
    found = tests[0]
    for test in tests[1:]:
        found = code.binary("or", BOOL, found, test)
    return found


def _both(code: Lanes, *tests: str) -> str:
    found = tests[0]
    for test in tests[1:]:
        found = code.binary("and", BOOL, found, test)
    return found


def _divide(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, y = (cast(code, (arg,), (dtype,), F64) for arg, dtype in zip(args, dtypes, strict=True))
    return code.binary("fdiv", F64, x, y)


def _division_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """By zero; of ints that floats do not hold, since Python rounds their quotient once."""
    x, y = args[:2]
    zero = _is_zero(code, y, dtypes[1])
    if dtypes[0].kind == "f":
        return zero
    return _either(code, zero, *(_is_beyond(code, each, EXACT) for each in (x, y)))


def _is_beyond(code: Lanes, x: str, limit: int) -> str:
    """Whether an int is not between ``-limit`` and ``limit``."""
    moved = code.binary("add", I64, x, code.const(limit, I64))
    return code.compare("ugt", I64, moved, code.const(2 * limit, I64))


def _quotient_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """By zero; ``-2**63 // -1`` has 65 bits."""
    zero = _is_zero(code, args[1], dtypes[1])
    if dtypes[0].kind == "f":
        return zero
    lowest = code.compare("eq", I64, args[0], code.const(LOWEST, I64))
    minus = code.compare("eq", I64, args[1], code.const(-1, I64))
    return _either(code, zero, _both(code, lowest, minus))


def _remainder_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return _is_zero(code, args[1], dtypes[1])


def _natural(name: str) -> Emit:
    """A quotient or remainder of ints that are not negative, the divisor not 0."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.binary(name, I64, args[0], args[1])

    return emit


def _natural_or_zero(name: str) -> Emit:
    """As ``_natural`` where the divisor may be 0."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        x, y = args
        safe = code.select(_is_zero(code, y, I64), I64, code.const(1, I64), y)
        return code.binary(name, I64, x, safe)

    return emit


def _powers(code: Lanes, x: str, y: str) -> tuple[str, str]:
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
        lost = _both(code, chosen, _either(code, overflows, squares_fail))
        failed = _either(code, failed, lost)
        power = code.select(chosen, I64, product, power)
        if bit < 5:
            square, overflows = code.overflowing("mul", (square, square))
            squares_fail = _either(code, squares_fail, overflows)
    long = code.compare("sgt", I64, y, code.const(63, I64))
    failed = _either(code, failed, _both(code, long, _is_beyond(code, x, 1)))
    odd = code.compare("ne", I64, code.binary("and", I64, y, one), zero)
    minus = code.compare("eq", I64, x, code.const(-1, I64))
    sign = code.select(_both(code, minus, odd), I64, code.const(-1, I64), one)
    is_zero = code.compare("eq", I64, x, zero)
    of_long = code.select(is_zero, I64, zero, sign)
    return code.select(long, I64, of_long, power), failed


def _power(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return power_of_scalars(code, args)
    return _powers(code, args[0], args[1])[0]


def _power_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return _is_lost(code, args[:2], args[2])
    return _powers(code, args[0], args[1])[1]


def _shift_count(code: Lanes, by: str) -> tuple[str, str]:
    """A count of at most 63, and whether the given one is more, or negative."""
    most = code.const(63, I64)
    outside = code.compare("ugt", I64, by, most)
    return code.select(outside, I64, most, by), outside


def _bit_length(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    size = NUMPY_RULES["absolute"].emit(code, args, dtypes, result)
    kind = code.type(result)
    function = f"@llvm.ctlz.{'i64' if code.count == 1 else f'v{code.count}i64'}"
    code.function.module.declare(f"declare {kind} {function}({kind}, i1 immarg)")
    zeros = code.op(f"call {kind} {function}({kind} {size}, i1 false)")
    return code.binary("sub", result, code.const(64, result), zeros)


def _left_shift(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if args[1] == "1":
        return code.overflowing("add", (args[0], args[0]))[0]
    count, outside = _shift_count(code, args[1])
    shifted = code.binary("shl", I64, args[0], count)
    return code.select(outside, I64, code.const(0, I64), shifted)


def _left_shift_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, by = args[:2]
    if by == "1":
        return code.overflowing("add", (x, x))[1]
    count, outside = _shift_count(code, by)
    back = code.binary("ashr", I64, code.binary("shl", I64, x, count), count)
    lost = _either(code, outside, code.compare("ne", I64, back, x))
    lost = _both(code, lost, code.compare("ne", I64, x, code.const(0, I64)))
    return _either(code, lost, code.compare("slt", I64, by, code.const(0, I64)))


def _right_shift(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.binary("ashr", I64, args[0], _shift_count(code, args[1])[0])


def _right_shift_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.compare("slt", I64, args[1], code.const(0, I64))


def _is_lowest(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return code.const(False, BOOL)
    return code.compare("eq", I64, args[0], code.const(LOWEST, I64))


def _absolute_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """Of a complex number the operands are its parts."""
    if len(args) == 3:
        return _is_lost(code, args[:2], args[2])
    return _is_lowest(code, args, dtypes, result)


def _bitwise(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.binary(name, dtypes[0], args[0], args[1])

    return emit


def _fit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return args[0]


def _misfits(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, low, high = args[:3]
    return _either(code, code.compare("slt", I64, x, low), code.compare("sgt", I64, x, high))


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


def _not(code: Lanes, test: str) -> str:
    return code.binary("xor", BOOL, test, code.const(True, BOOL))


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


def _int_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """Of what is infinite, nan, or has an int of more than 64 bits."""
    x, dtype = args[0], dtypes[0]
    if dtype == np.uint64:
        return code.compare("slt", I64, x, code.const(0, I64))
    if dtype.kind != "f":
        return code.const(False, BOOL)
    size = code.intrinsic("fabs", dtype, (x,))
    large = code.compare("uge", dtype, size, code.const(2.0**63, dtype))
    return _both(code, large, code.compare("une", dtype, x, code.const(-(2.0**63), dtype)))


# ---------------------------------------------------------------- functions of ``math``


def _is_finite(code: Lanes, x: str) -> str:
    size = code.intrinsic("fabs", F64, (x,))
    return code.compare("olt", F64, size, code.const(np.inf, F64))


def _is_nan(code: Lanes, x: str) -> str:
    return code.compare("uno", F64, x, x)


def _is_lost(code: Lanes, args: Sequence[str], value: str) -> str:
    """Whether numbers give none: a pole, an overflow, or outside of the domain."""
    return _both(code, *(_is_finite(code, x) for x in args), _not(code, _is_finite(code, value)))


def _function_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """As ``_is_lost``; an infinity that gives nan is outside of the domain, too."""
    x, value = args
    made_nan = _both(code, _is_nan(code, value), _not(code, _is_nan(code, x)))
    return _either(code, made_nan, _is_lost(code, (x,), value))


def _fmod_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    x, y, value = args
    given = _either(code, _is_nan(code, x), _is_nan(code, y))
    return _both(code, _is_nan(code, value), _not(code, given))


def _pow_fails(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return _is_lost(code, args[:2], args[2])


def _library(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.library(name, args)

    return emit


def _scaled(factor: float) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.binary("fmul", F64, args[0], code.const(factor, F64))

    return emit


_LIBRARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "cbrt", "pow", "atan2"),
    *("erf", "erfc"),
)
_OF_NUMPY = {"sqrt": "sqrt", "fabs": "fabs", "copysign": "copysign", "fmod": "fmod"}
_OF_NUMPY |= {name: name for name in ("hypot", "isnan", "isinf", "isfinite")}
_LIBRARY_COST = 40

_MATH_RULES = {
    **{f"math_{n}": ScalarRule(_library(n), _LIBRARY_COST, typed=_as_floats) for n in _LIBRARY},
    **{
        f"math_{name}": ScalarRule(NUMPY_RULES[of].emit, NUMPY_RULES[of].cost, typed=_as_floats)
        for name, of in _OF_NUMPY.items()
    },
    "math_degrees": ScalarRule(_scaled(180.0 / math.pi), typed=_as_floats),
    "math_radians": ScalarRule(_scaled(math.pi / 180.0), typed=_as_floats),
    "math_floor": ScalarRule(_to_int("floor"), 3, typed=_as_floats),
    "math_ceil": ScalarRule(_to_int("ceil"), 3, typed=_as_floats),
}

# ---------------------------------------------------------------- the tables

_COMPARISONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le"}
_COMPARISONS |= {"greater": "gt", "greater_equal": "ge"}

_SHARED: dict[str, ScalarRule] = {
    "divide": ScalarRule(_divide, 5, typed=_as_operands),
    "floor_divide": ScalarRule(NUMPY_RULES["floor_divide"].emit, 20, typed=_as_result),
    "remainder": ScalarRule(NUMPY_RULES["remainder"].emit, 20, typed=_as_result),
    "power": ScalarRule(_power, _LIBRARY_COST, typed=_as_result),
    "left_shift": ScalarRule(_left_shift, 3, typed=_as_result),
    "right_shift": ScalarRule(_right_shift, 2, typed=_as_result),
    "negative": ScalarRule(NUMPY_RULES["negative"].emit, typed=_as_result),
    "absolute": ScalarRule(NUMPY_RULES["absolute"].emit, typed=_as_result),
    "int": ScalarRule(_to_int(""), 2, typed=cast_types),  # the cast truncates
    "round": ScalarRule(_to_int("rint"), 2, typed=cast_types),
    "fit": ScalarRule(_fit, 0, typed=_as_result),
    "demand": ScalarRule(cast, 0, typed=cast_types),
}
_NATURAL = {"natural_quotient": "udiv", "natural_remainder": "urem"}
_SUMS = {"add": "add", "subtract": "sub", "multiply": "mul"}

PYTHON_RULES: dict[str, ScalarRule] = {
    **{f"{prefix}_{name}": rule for prefix in ("py", "try") for name, rule in _SHARED.items()},
    **{f"py_{name}": ScalarRule(_add(of), typed=_as_result) for name, of in _SUMS.items()},
    **{f"try_{name}": ScalarRule(_checked(of), typed=_as_result) for name, of in _SUMS.items()},
    **{
        f"py_{name}": ScalarRule(_natural(of), 20, typed=_as_result)
        for name, of in _NATURAL.items()
    },
    **{
        f"try_{name}": ScalarRule(_natural_or_zero(of), 20, typed=_as_result)
        for name, of in _NATURAL.items()
    },
    **{f"py_{name}": ScalarRule(_bitwise(name), typed=_as_result) for name in ("and", "or", "xor")},
    "py_invert": ScalarRule(NUMPY_RULES["invert"].emit, typed=_as_result),
    "py_not": ScalarRule(NUMPY_RULES["logical_not"].emit, typed=cast_types),
    "py_bit_length": ScalarRule(_bit_length, 3, typed=_as_result),
    "py_float": ScalarRule(cast, typed=cast_types),
    "py_root": ScalarRule(NUMPY_RULES["sqrt"].emit, NUMPY_RULES["sqrt"].cost, typed=_as_floats),
    "py_bool": ScalarRule(cast, typed=cast_types),
    **{f"py_{n}": ScalarRule(_comparison(of), typed=_compared) for n, of in _COMPARISONS.items()},
    "hypot_of_parts": ScalarRule(_library("hypot"), _LIBRARY_COST),  # of complex_rules; no operator
    "py_maximum": ScalarRule(_extreme("ogt", "sgt", "ugt"), 2, typed=_as_result),
    "py_minimum": ScalarRule(_extreme("olt", "slt", "ult"), 2, typed=_as_result),
    **_MATH_RULES,
}

# Of operators that can fail: whether they do, from the operands and the number that they give.
FAILS: dict[str, Emit] = {
    **{f"try_{name}": _overflows(of) for name, of in _SUMS.items()},
    "try_divide": _division_fails,
    "try_floor_divide": _quotient_fails,
    "try_remainder": _remainder_fails,
    "try_natural_quotient": _remainder_fails,
    "try_natural_remainder": _remainder_fails,
    "try_power": _power_fails,
    "try_left_shift": _left_shift_fails,
    "try_right_shift": _right_shift_fails,
    "try_negative": _is_lowest,
    "try_absolute": _absolute_fails,
    "try_int": _int_fails,
    "try_round": _int_fails,
    "try_fit": _misfits,
    "try_demand": NUMPY_RULES["logical_not"].emit,
    **{
        f"math_{name}": _function_fails
        for name in (
            *("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos"),
            *("tan", "asin", "acos", "sinh", "cosh", "acosh"),
        )
    },
    "math_pow": _pow_fails,
    "math_fmod": _fmod_fails,
    "math_floor": _int_fails,
    "math_ceil": _int_fails,
}
# What follows from these passing is used nowhere: see ``late``.
ROUNDINGS = frozenset(f"{name} fails" for name, emit in FAILS.items() if emit is _int_fails)
# Of these a number that is small enough says that they have not failed: which, and how small.
_FUNCTIONS = [name for name, emit in FAILS.items() if emit in (_function_fails, _pow_fails)]
LOSSES: dict[str, tuple[int, float]] = {
    **{f"{name} fails": (-1, math.inf) for name in _FUNCTIONS},
    **dict.fromkeys(ROUNDINGS, (0, 2.0**63)),
}
FAILURE_RULES = {f"{name} fails": ScalarRule(emit, cost=2) for name, emit in FAILS.items()}

SCALAR_RULES: dict[str, ScalarRule] = NUMPY_RULES | PYTHON_RULES | FAILURE_RULES
