"""Pointwise operators as LLVM code on registers: one rule an operator.

A rule emits code for any number of lanes, without branches, with the bits that NumPy's loops give.
A new operator needs no more than ``NUMPY_RULES[name] = ScalarRule(emit)``. Those of Python's own
numbers, and the table of all rules, are in ``python_rules``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.records import frozen

from ..nests.buffers import BOOL, F64, I64
from ..vector_math import FUNCTIONS
from .llvm_text import DIVIDE, INVALID, OVERFLOW, Lanes
from .scalar_power import power_of_scalars

DTypes = tuple[np.dtype, ...]
# (code, argument registers, their dtypes, the result's dtype) -> result register
Emit = Callable[[Lanes, Sequence[str], DTypes, np.dtype], str]

# (dtypes of the operands, that of the result) -> those of the loop
Typed = Callable[[DTypes, np.dtype], tuple[DTypes, np.dtype]]

I32 = np.dtype(np.int32)


def anything(args: Sequence[object], dtypes: DTypes) -> bool:
    """Every operand is supported."""
    return True


def floats(args: Sequence[object], dtypes: DTypes) -> bool:
    """Only float loops are supported."""
    return all(dtype.kind == "f" for dtype in dtypes)


@frozen
class ScalarRule:
    """How a pointwise operator becomes code.

    ``cost`` is a rough number of machine operations. ``supports`` says for which operands and loop
    dtypes there is code. ``typed`` gives the dtypes of the loop for operators that are not ufuncs.
    """

    emit: Emit
    cost: int = 1
    supports: Callable[[Sequence[object], DTypes], bool] = anything
    typed: Typed | None = None


def _arithmetic(on_float: str, on_int: str, on_bool: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        name = {"f": on_float, "b": on_bool}.get(dtypes[0].kind, on_int)
        return code.binary(name, dtypes[0], args[0], args[1])

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
        pair = code.op(f"call {function}({kind} {left}, {kind} {right})")
        code.report(code.op(f"extractvalue {{ {kind}, i1 }} {pair}, 1"), OVERFLOW)
        return code.op(f"extractvalue {{ {kind}, i1 }} {pair}, 0")

    return emit


def _negative(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return code.op(f"fneg {code.type(dtypes[0])} {args[0]}")
    return code.binary("sub", dtypes[0], code.const(0, dtypes[0]), args[0])


def _absolute(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype = dtypes[0]
    match dtype.kind:
        case "f":
            return code.intrinsic("fabs", dtype, args)
        case "i":
            below = code.compare("slt", dtype, args[0], code.const(0, dtype))
            return code.select(below, dtype, _negative(code, args, dtypes, result), args[0])
        case _:
            return args[0]


def _sign(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, x = dtypes[0], args[0]
    zero, one = code.const(0, dtype), code.const(1, dtype)
    if dtype.kind == "u":
        return code.select(code.compare("ne", dtype, x, zero), dtype, one, zero)
    is_float = dtype.kind == "f"
    above = code.compare("ogt" if is_float else "sgt", dtype, x, zero)
    below = code.compare("olt" if is_float else "slt", dtype, x, zero)
    rest = zero
    if is_float:  # nan stays nan; both zeros give +0.0
        rest = code.select(code.compare("uno", dtype, x, x), dtype, x, zero)
    return code.select(above, dtype, one, code.select(below, dtype, code.const(-1, dtype), rest))


def _square(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    name = {"f": "fmul", "b": "and"}.get(dtypes[0].kind, "mul")
    return code.binary(name, dtypes[0], args[0], args[0])


def _reciprocal(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return _quotient(code, dtypes[0], code.const(1.0, dtypes[0]), args[0])


def _divide(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0].kind == "f":
        return _quotient(code, dtypes[0], args[0], args[1])
    return _arithmetic("fdiv", "sdiv", "and")(code, args, dtypes, result)


def _quotient(code: Lanes, dtype: np.dtype, x: str, y: str) -> str:
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


def _floor_divide(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
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


def _remainder(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
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


def _fmod(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, (x, y) = dtypes[0], args
    if dtype.kind == "f":
        return code.math("fmod", dtype, args)
    _report_division(code, dtype, x, y, overflows=False)
    safe, _ = _safe_divisor(code, dtype, y)
    return code.binary("srem" if dtype.kind == "i" else "urem", dtype, x, safe)


def _power(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.math("pow", dtypes[0], args)


def _power_of_scalars(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0] == F64:
        return power_of_scalars(code, args)
    return _power(code, args, dtypes, result)


def _power_by_one(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """See Note [Powers that NumPy computes otherwise]."""
    dtype, (x, y) = dtypes[0], args
    power = _power(code, args, dtypes, result)
    for exponent, other in (
        (2.0, lambda base: _square(code, (base,), dtypes, result)),
        (1.0, lambda base: base),
        (0.5, lambda base: code.intrinsic("sqrt", dtype, (base,))),
        (-1.0, lambda base: _reciprocal(code, (base,), dtypes, result)),
    ):
        is_it = code.compare("oeq", dtype, y, code.const(exponent, dtype))
        # Of others it would set flags.
        base = code.computed(code.select(is_it, dtype, x, code.const(1.0, dtype)), dtype)
        power = code.select(is_it, dtype, other(base), power)
    return power


def _fused_multiply_add(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.intrinsic("fma", result, args)


def _copysign(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return code.intrinsic("copysign", dtypes[0], args)


def _heaviside(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype, (x, at_zero) = dtypes[0], args
    zero, one = code.const(0.0, dtype), code.const(1.0, dtype)
    step = code.select(code.compare("olt", dtype, x, zero), dtype, zero, one)
    step = code.select(code.compare("oeq", dtype, x, zero), dtype, at_zero, step)
    return code.select(code.compare("uno", dtype, x, x), dtype, x, step)


def _intrinsic(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.intrinsic(name, dtypes[0], args) if dtypes[0].kind == "f" else args[0]

    return emit


def _math(name: str) -> Emit:
    def emit(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
        return code.math(name, dtypes[0], args)

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


def truth(code: Lanes, arg: str, dtype: np.dtype) -> str:
    """Whether the element counts as true."""
    if dtype.kind == "b":
        return arg
    return code.compare("une" if dtype.kind == "f" else "ne", dtype, arg, code.const(0, dtype))


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


def _out_of_bounds(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    return _counted_from_front(code, args)[1]


def _index_types(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (I64,), I64


def cast(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """NumPy's unsafe cast. Floats out of an integer's range give what the processor gives."""
    (x,), (source,) = args, dtypes
    if source == result:
        return x
    if result.kind == "b":
        return truth(code, x, source)
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


def cast_types(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    """The dtypes of an operator that takes its operand as it is."""
    return dtypes, result


def where_types(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    """The dtypes of a choice: the condition as a bool."""
    return (BOOL, result, result), result


def _reinterpret(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """Integers of one size are one type of LLVM's."""
    (x,), (source,) = args, dtypes
    if source.kind == "b":
        return cast(code, args, dtypes, result)
    if source.kind != "f" and result.kind != "f":
        return x
    return x if source == result else code.convert("bitcast", x, source, result)


def _supports_power(args: Sequence[object], dtypes: DTypes) -> bool:
    return dtypes[0].kind == "f"


def _no_bools(args: Sequence[object], dtypes: DTypes) -> bool:
    return all(dtype.kind != "b" for dtype in dtypes)


_CHEAP_MATH = {"exp": 20, "exp2": 20, "log": 24, "log2": 24, "sin": 30, "cos": 30, "tanh": 30}
_ROUND = ["rint", "floor", "ceil", "trunc", "fabs"]

NUMPY_RULES: dict[str, ScalarRule] = {
    "add": ScalarRule(_arithmetic("fadd", "add", "or")),
    "subtract": ScalarRule(_arithmetic("fsub", "sub", "xor")),
    "multiply": ScalarRule(_arithmetic("fmul", "mul", "and")),
    "add of scalars": ScalarRule(_of_scalars("add", _arithmetic("fadd", "add", "or"))),
    "subtract of scalars": ScalarRule(_of_scalars("sub", _arithmetic("fsub", "sub", "xor"))),
    "multiply of scalars": ScalarRule(_of_scalars("mul", _arithmetic("fmul", "mul", "and"))),
    "negative of scalars": ScalarRule(_of_scalars("sub", _negative)),
    "divide": ScalarRule(_divide, cost=5),
    "floor_divide": ScalarRule(_floor_divide, cost=20, supports=_no_bools),
    "remainder": ScalarRule(_remainder, cost=20, supports=_no_bools),
    "fmod": ScalarRule(_fmod, cost=20, supports=_no_bools),
    "fused_multiply_add": ScalarRule(_fused_multiply_add),  # of complex_rules; no operator
    "power": ScalarRule(_power, cost=60, supports=_supports_power),
    "power_by_one": ScalarRule(_power_by_one, cost=72, supports=_supports_power),
    "power_of_scalars": ScalarRule(_power_of_scalars, cost=60, supports=_supports_power),
    "float_power": ScalarRule(_power, cost=60, supports=_supports_power),
    "negative": ScalarRule(_negative),
    "positive": ScalarRule(_identity, cost=0),
    "conjugate": ScalarRule(_identity, cost=0),
    "copy": ScalarRule(_identity, cost=0, typed=cast_types),
    "item": ScalarRule(_identity, cost=0, typed=cast_types),
    "astype": ScalarRule(cast, typed=cast_types),
    "reinterpret": ScalarRule(_reinterpret, cost=0, typed=cast_types),
    "absolute": ScalarRule(_absolute),
    "sign": ScalarRule(_sign, cost=3, supports=_no_bools),
    "square": ScalarRule(_square),
    "reciprocal": ScalarRule(_reciprocal, cost=5, supports=floats),
    "maximum": ScalarRule(_extreme("ogt", "sgt", "ugt"), cost=2),
    "minimum": ScalarRule(_extreme("olt", "slt", "ult"), cost=2),
    "fmax": ScalarRule(_numeric_extreme("ogt", "sgt", "ugt"), cost=3),
    "fmin": ScalarRule(_numeric_extreme("olt", "slt", "ult"), cost=3),
    "copysign": ScalarRule(_copysign, supports=floats),
    "heaviside": ScalarRule(_heaviside, cost=3, supports=floats),
    **{name: ScalarRule(_intrinsic(name)) for name in _ROUND},
    "sqrt": ScalarRule(_sqrt, cost=6),
    "equal": ScalarRule(_comparison("oeq", "eq")),
    "not_equal": ScalarRule(_comparison("une", "ne")),
    "less": ScalarRule(_comparison("olt", "lt")),
    "less_equal": ScalarRule(_comparison("ole", "le")),
    "greater": ScalarRule(_comparison("ogt", "gt")),
    "greater_equal": ScalarRule(_comparison("oge", "ge")),
    "isnan": ScalarRule(_isnan),
    "isinf": ScalarRule(_against_infinity("oeq", False)),
    "isfinite": ScalarRule(_against_infinity("olt", True)),
    "signbit": ScalarRule(_signbit, supports=floats),
    "logical_and": ScalarRule(_logical("and")),
    "logical_or": ScalarRule(_logical("or")),
    "logical_xor": ScalarRule(_logical("xor")),
    "logical_not": ScalarRule(_logical_not),
    "bitwise_and": ScalarRule(_arithmetic("", "and", "and")),
    "bitwise_or": ScalarRule(_arithmetic("", "or", "or")),
    "bitwise_xor": ScalarRule(_arithmetic("", "xor", "xor")),
    "invert": ScalarRule(_invert),
    "left_shift": ScalarRule(_shift("shl", "shl"), cost=3, supports=_no_bools),
    "right_shift": ScalarRule(_shift("ashr", "lshr"), cost=3, supports=_no_bools),
    "where": ScalarRule(_where, typed=where_types),
    "wrap_index": ScalarRule(_wrap_index, cost=4, typed=_index_types),  # 0 if out of bounds
    "out_of_bounds": ScalarRule(_out_of_bounds, cost=1),
    **{
        name: ScalarRule(_math(name), cost=_CHEAP_MATH.get(name, 40), supports=floats)
        for name in FUNCTIONS
        if name not in ("pow", "fmod")
    },
}
