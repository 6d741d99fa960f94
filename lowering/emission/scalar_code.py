"""Pointwise operators as LLVM code on registers: one function an operator.

It emits code for any number of lanes, without branches, with the bits that NumPy's loops give. A
new operator needs no more than ``NUMPY_CODE[name] = emit`` (see ``casts.Emit``) and its
``ScalarRule``. An operand of a NumPy function has the dtype of NumPy's loop already. The code for
Python's own numbers is in ``python_code``, the table of all code in ``operator_code``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.flag_bits import INVALID, OVERFLOW
from fxc.ir.later import import_later

from ..nests.buffers import BOOL, F64, I64
from ..operators.scalar_rules import COMPLEX_MATH, MATH_COSTS, SPECIAL_COSTS, DTypes
from .casts import I32, Emit, cast, reinterpret, truth
from .llvm_text import Lanes

# See Note [Rooms with one door].
divide: Emit = import_later("fxc.lowering.emission.division_code", "divide")
divide_with_inverse: Emit = import_later("fxc.lowering.emission.inverses", "divide_with_inverse")
inverse: Emit = import_later("fxc.lowering.emission.inverses", "inverse")
floor_divide: Emit = import_later("fxc.lowering.emission.division_code", "floor_divide")
fmod: Emit = import_later("fxc.lowering.emission.division_code", "fmod")
reciprocal: Emit = import_later("fxc.lowering.emission.division_code", "reciprocal")
remainder: Emit = import_later("fxc.lowering.emission.division_code", "remainder")
fused_multiply_add: Emit = import_later("fxc.lowering.emission.complex_code", "fused_multiply_add")
has_no_order: Emit = import_later("fxc.lowering.emission.complex_code", "has_no_order")
power: Emit = import_later("fxc.lowering.emission.scalar_power", "power")
power_of_scalars: Emit = import_later("fxc.lowering.emission.scalar_power", "power_of_scalars")


def _arithmetic(on_float: str, on_int: str, on_bool: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        name = {"f": on_float, "b": on_bool}.get(dtypes[0].kind, on_int)
        return code.arithmetic(name, dtypes[0], args[0], args[1])

    return emit


def _identity(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return args[0]


def _of_scalars(name: str, plain: Emit) -> Emit:
    """Arithmetic of NumPy's integer scalars, of whose overflow NumPy warns."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        dtype = dtypes[0]
        if code.count != 1 or dtype.kind not in "iu":
            return plain(code, args, dtypes, result)
        left, right = args if len(args) == 2 else (code.const(0, dtype), args[0])
        kind, sign = code.type(dtype), "s" if dtype.kind == "i" else "u"
        function = f"{{ {kind}, i1 }} @llvm.{sign}{name}.with.overflow.{kind}"
        code.function.module.declare(f"declare {function}({kind}, {kind})")
        pair = f"{{ {kind}, i1 }} " + code.op(f"call {function}({kind} {left}, {kind} {right})")
        code.report(code.op(f"extractvalue {pair}, 1"), OVERFLOW)
        return code.op(f"extractvalue {pair}, 0")

    return emit


def _negative(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return code.op(f"fneg {code.type(dtypes[0])} {args[0]}")
    return code.binary("sub", dtypes[0], code.const(0, dtypes[0]), args[0])


def _absolute(negative: Emit) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        dtype = dtypes[0]
        match dtype.kind:
            case "f":
                return code.intrinsic("fabs", dtype, args)
            case "i":
                below = code.compare("slt", dtype, args[0], code.const(0, dtype))
                return code.select(below, dtype, negative(code, args, dtypes, result), args[0])
            case _:
                return args[0]

    return emit


def _sign(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, x = dtypes[0], args[0]
    zero, one = code.const(0, dtype), code.const(1, dtype)
    if dtype.kind == "u":
        return code.select(code.compare("ne", dtype, x, zero), dtype, one, zero)
    is_float = dtype.kind == "f"
    above = code.compare("ogt" if is_float else "sgt", dtype, x, zero)
    below = code.compare("olt" if is_float else "slt", dtype, x, zero)
    # Of floats nan stays nan, and both zeros give +0.0.
    rest = code.select(code.compare("uno", dtype, x, x), dtype, x, zero) if is_float else zero
    return code.select(above, dtype, one, code.select(below, dtype, code.const(-1, dtype), rest))


def _square(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    name = {"f": "fmul", "b": "and"}.get(dtypes[0].kind, "mul")
    return code.arithmetic(name, dtypes[0], args[0], args[0])


def _sqrt(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """A root; without the flags of that of a negative number that nobody is to be told of."""
    dtype, (x,) = dtypes[0], args
    if "invalid" not in code.quiet:
        return code.intrinsic("sqrt", dtype, args)
    zero = code.const(0.0, dtype)
    below = code.compare("olt", dtype, x, zero)
    inside = code.computed(code.select(below, dtype, zero, x), dtype)
    root = code.computed(code.intrinsic("sqrt", dtype, (inside,)), dtype)
    return code.select(below, dtype, code.const(np.nan, dtype), root)


def _extreme(float_test: str, signed: str, unsigned: str) -> Emit:
    """maximum and minimum: nan wins, and of equal operands the second is taken."""

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        dtype, (x, y) = dtypes[0], args
        if dtype.kind != "f":
            test = signed if dtype.kind == "i" else unsigned
            return code.select(code.compare(test, dtype, x, y), dtype, x, y)
        chosen = code.select(code.signaling(float_test, dtype, x, y), dtype, x, y)
        return code.select(code.compare("uno", dtype, x, x), dtype, x, chosen)

    return emit


def _numeric_extreme(float_test: str, signed: str, unsigned: str) -> Emit:
    """fmax and fmin: a nan loses against a number."""
    either = _extreme(float_test, signed, unsigned)

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        dtype, (x, y) = dtypes[0], args
        if dtype.kind != "f":
            return either(code, args, dtypes, result)
        chosen = code.select(code.compare(float_test, dtype, x, y), dtype, x, y)
        chosen = code.select(code.compare("uno", dtype, x, x), dtype, y, chosen)
        return code.select(code.compare("uno", dtype, y, y), dtype, x, chosen)

    return emit


def _power_by_one(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """See Note [Powers that NumPy computes otherwise]."""
    dtype, (x, y) = dtypes[0], args
    found = power(code, args, dtypes, result)
    for exponent, other in (
        (2.0, lambda base: _square(code, (base,), dtypes, result)),
        (1.0, lambda base: base),
        (0.5, lambda base: code.intrinsic("sqrt", dtype, (base,))),
        (-1.0, lambda base: reciprocal(code, (base,), dtypes, result)),
    ):
        is_it = code.compare("oeq", dtype, y, code.const(exponent, dtype))
        # Of others it would set flags.
        base = code.computed(code.select(is_it, dtype, x, code.const(1.0, dtype)), dtype)
        found = code.select(is_it, dtype, other(base), found)
    return found


def _copysign(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.intrinsic("copysign", dtypes[0], args)


def _heaviside(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, (x, at_zero) = dtypes[0], args
    zero, one = code.const(0.0, dtype), code.const(1.0, dtype)
    step = code.select(code.compare("olt", dtype, x, zero), dtype, zero, one)
    step = code.select(code.compare("oeq", dtype, x, zero), dtype, at_zero, step)
    return code.select(code.compare("uno", dtype, x, x), dtype, x, step)


def _log_of_sum(exponential: str, per_unit: float) -> Emit:
    """logaddexp and logaddexp2: the larger operand, plus log1p of what the smaller one is of it.

    Equal operands, infinite ones among them, have no difference. NumPy calls a nan invalid.
    """

    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        dtype, (x, y) = dtypes[0], args
        code.report(code.compare("uno", dtype, x, y), INVALID)
        same = code.compare("oeq", dtype, x, y)
        zero = code.const(0.0, dtype)
        left = code.computed(code.select(same, dtype, zero, x), dtype)
        right = code.computed(code.select(same, dtype, zero, y), dtype)
        apart = code.intrinsic("fabs", dtype, (code.binary("fsub", dtype, left, right),))
        part = code.math(exponential, dtype, (code.op(f"fneg {code.type(dtype)} {apart}"),))
        more = code.math("log1p", dtype, (part,))
        if per_unit != 1:
            more = code.binary("fmul", dtype, more, code.const(per_unit, dtype))
        larger = code.select(code.compare("ogt", dtype, x, y), dtype, x, y)
        return code.binary("fadd", dtype, larger, more)

    return emit


def _intrinsic(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.intrinsic(name, dtypes[0], args) if dtypes[0].kind == "f" else args[0]

    return emit


def _math(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.math(name, dtypes[0], args)

    return emit


def _complex_math(name: str, part: int) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.complex_math(name, result, args, part)

    return emit


def _comparison(on_float: str, on_int: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        left, right = dtypes
        if left != right:
            return _mixed_comparison(code, args, dtypes, on_int)
        if left.kind == "f":
            return code.compare(on_float, left, args[0], args[1])
        prefix = "" if on_int in ("eq", "ne") else ("s" if left.kind == "i" else "u")
        return code.compare(prefix + on_int, left, args[0], args[1])

    return emit


def _mixed_comparison(code: Lanes, args: Sequence[str], dtypes: DTypes, name: str) -> str:
    """A signed with an unsigned integer of the same size, by value."""
    signed = 0 if dtypes[0].kind == "i" else 1
    dtype = dtypes[signed]
    below = code.compare("slt", dtype, args[signed], code.const(0, dtype))
    prefix = "" if name in ("eq", "ne") else "u"
    same_sign = code.compare(prefix + name, dtype, args[0], args[1])
    truth = {"eq": False, "ne": True}.get(name, (name in ("lt", "le")) == (signed == 0))
    return code.select(below, BOOL, code.const(truth, BOOL), same_sign)


def _isnan(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind != "f":
        return code.const(False, BOOL)
    return code.compare("uno", dtypes[0], args[0], args[0])


def _against_infinity(test: str, on_int: bool) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        dtype = dtypes[0]
        if dtype.kind != "f":
            return code.const(on_int, BOOL)
        size = code.intrinsic("fabs", dtype, args)
        return code.compare(test, dtype, size, code.const(np.inf, dtype))

    return emit


def _signbit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype = dtypes[0]
    bits = I64 if dtype == F64 else I32
    raw = code.convert("bitcast", args[0], dtype, bits)
    return code.compare("slt", bits, raw, code.const(0, bits))


def _logical(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        left, right = (truth(code, a, d) for a, d in zip(args, dtypes, strict=True))
        return code.binary(name, BOOL, left, right)

    return emit


def _logical_not(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.binary("xor", BOOL, truth(code, args[0], dtypes[0]), code.const(True, BOOL))


def _invert(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype = dtypes[0]
    ones = code.const(True, BOOL) if dtype.kind == "b" else code.const(-1, I64)
    if dtype.kind != "b":
        ones = "-1" if code.count == 1 else f"splat (i{8 * dtype.itemsize} -1)"
    return code.binary("xor", dtype, args[0], ones)


def _shift(name_signed: str, name_unsigned: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        dtype, (x, by) = dtypes[0], args
        width = code.const(8 * dtype.itemsize, dtype)
        inside = code.compare("ult", dtype, by, width)
        safe = code.select(inside, dtype, by, code.const(0, dtype))
        name = name_signed if dtype.kind == "i" else name_unsigned
        shifted = code.binary(name, dtype, x, safe)
        beyond = code.const(0, dtype)
        if name == "ashr":
            last = code.const(8 * dtype.itemsize - 1, dtype)
            beyond = code.binary("ashr", dtype, x, last)
        return code.select(inside, dtype, shifted, beyond)

    return emit


def _where(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    chosen = [code.computed(each, result) for each in args[1:]]
    return code.computed(code.select(args[0], result, *chosen), result)


def _counted_from_front(code: Lanes, args: Sequence[str]) -> tuple[str, str]:
    """An index with a negative one counted from the end, and whether it is out of bounds."""
    index, size = args
    below = code.compare("slt", I64, index, code.const(0, I64))
    place = code.select(below, I64, code.binary("add", I64, index, size), index)
    return place, code.compare("uge", I64, place, size)


def _wrap_index(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    place, outside = _counted_from_front(code, args)
    return code.select(outside, I64, code.const(0, I64), place)


# By the names of ``operators.scalar_rules.NUMPY_RULES``.
NUMPY_CODE: dict[str, Emit] = {
    "add": _arithmetic("fadd", "add", "or"),
    "subtract": _arithmetic("fsub", "sub", "xor"),
    "multiply": _arithmetic("fmul", "mul", "and"),
    "add of scalars": _of_scalars("add", _arithmetic("fadd", "add", "or")),
    "subtract of scalars": _of_scalars("sub", _arithmetic("fsub", "sub", "xor")),
    "multiply of scalars": _of_scalars("mul", _arithmetic("fmul", "mul", "and")),
    "absolute of scalars": _absolute(_of_scalars("sub", _negative)),
    "negative of scalars": _of_scalars("sub", _negative),
    "divide": divide,
    "divide_with_inverse": divide_with_inverse,
    "inverse": inverse,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "fmod": fmod,
    "fused_multiply_add": fused_multiply_add,
    "power": power,
    "power_by_one": _power_by_one,
    "power_of_scalars": power_of_scalars,
    "float_power": power,
    "negative": _negative,
    "positive": _identity,
    "conjugate": _identity,
    "copy": _identity,
    "item": _identity,
    "astype": cast,
    "reinterpret": reinterpret,
    "absolute": _absolute(_negative),
    "sign": _sign,
    "square": _square,
    "reciprocal": reciprocal,
    "maximum": _extreme("ogt", "sgt", "ugt"),
    "minimum": _extreme("olt", "slt", "ult"),
    "maximum of halves": _extreme("oge", "sge", "uge"),  # the first of equal ones
    "minimum of halves": _extreme("ole", "sle", "ule"),
    "fmax of halves": _numeric_extreme("oge", "sge", "uge"),
    "fmin of halves": _numeric_extreme("ole", "sle", "ule"),
    "fmax": _numeric_extreme("ogt", "sgt", "ugt"),
    "fmin": _numeric_extreme("olt", "slt", "ult"),
    "copysign": _copysign,
    "heaviside": _heaviside,
    "logaddexp": _log_of_sum("exp", 1),
    "logaddexp2": _log_of_sum("exp2", float(np.log2(np.e))),
    **{name: _intrinsic(name) for name in ("rint", "floor", "ceil", "trunc", "fabs")},
    "sqrt": _sqrt,
    "equal": _comparison("oeq", "eq"),
    "not_equal": _comparison("une", "ne"),
    "less": _comparison("olt", "lt"),
    "less_equal": _comparison("ole", "le"),
    "greater": _comparison("ogt", "gt"),
    "greater_equal": _comparison("oge", "ge"),
    "has_no_order": has_no_order,
    "isnan": _isnan,
    "isinf": _against_infinity("oeq", False),
    "isfinite": _against_infinity("olt", True),
    "signbit": _signbit,
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": _logical_not,
    "bitwise_and": _arithmetic("", "and", "and"),
    "bitwise_or": _arithmetic("", "or", "or"),
    "bitwise_xor": _arithmetic("", "xor", "xor"),
    "invert": _invert,
    "left_shift": _shift("shl", "shl"),
    "right_shift": _shift("ashr", "lshr"),
    "where": _where,
    "count_from_front": lambda code, args, *_: _counted_from_front(code, args)[0],
    "wrap_index": _wrap_index,
    "out_of_bounds": lambda code, args, *_: _counted_from_front(code, args)[1],
    **{name: _math(name) for name in MATH_COSTS},
    **{f"special_{name}": _math(name) for name in SPECIAL_COSTS},
    **{name: _complex_math(*what) for name, what in COMPLEX_MATH.items()},
}
