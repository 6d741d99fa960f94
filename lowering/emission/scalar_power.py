"""``x ** y`` of floats; of two scalars it is the C library's pow, in Python and NumPy alike."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import numpy as np

from ..nests.buffers import F64, I64
from ..operators.scalar_rules import NEARLY_EXACT, DTypes
from ..vector_math import MOST_OF_SINGLES, WHOLE_POWERS
from .llvm_text import Lanes, ModuleText, constant

# Note [Powers by pow]
# ``s ** 2`` of a scalar is ``pow(s, 2.0)``, which is not always the nearest number to the square.
# By the comments above it, glibc's pow errs by up to 0.511 ulp, and 1.5 * 2**-15 times the
# logarithm of the result: less than 0.5131 if that is between 2**-64 and 2**64, less than 0.5152 up
# to twice as many powers of two. What is beyond one half comes before the last rounding and is a
# part of the result, so that it is half as much just above a power of two as just below one: less
# than 0.00655 (0.0076) times the result over its power of two. Where a power, known to twice as
# many bits, is further than that (we take 0.0068 and 0.0080) from the middle between two numbers,
# pow gives the nearer one, too: the other one would be further off than pow may err. It is if what
# is missing, with that much more, is lost in a sum. The rest, one in 51 (43), is left to pow, as
# are results that are tiny, huge, infinite or nan. Nothing is looked for in bases of these: what is
# missing from an infinity is no number, and would set a flag that pow does not set. In their lanes
# the steps are taken with a base whose power lies in the middle, so that they are left to pow.
# Powers of 0.0 are looked at as others: distances are often 0.0. Of -0.0 only those to an even
# exponent are: of its root and its cube the steps find the wrong zero. 1 / 0.0 sets a flag.

_USUAL, _WIDE = 64, 128  # powers of two up to which results are looked at
_MORE = {_USUAL: 0.0068 * 2.0**-52, _WIDE: 0.0080 * 2.0**-52}  # of the result
# For an exponent: how to come by the number and what is missing from it to the power of ``{x}``.
_PRODUCTS = """\
  %{name}.p = fmul {float} {x}, {x}
  %{name}.minus.p = fneg {float} %{name}.p
  %{name}.e = {fma} {x}, {float} {x}, {float} %{name}.minus.p)
"""
_SUM = """\
  %{name}.near = fadd {float} %{name}.q, %{name}.t
  %{name}.gone = fsub {float} %{name}.near, %{name}.q
  %{name}.rest = fsub {float} %{name}.t, %{name}.gone
"""
_WAYS = {
    2.0: _PRODUCTS.replace("minus.p", "minus").replace(".p", ".near").replace(".e ", ".rest "),
    3.0: f"""\
{_PRODUCTS}\
  %{{name}}.q = fmul {{float}} %{{name}}.p, {{x}}
  %{{name}}.minus.q = fneg {{float}} %{{name}}.q
  %{{name}}.f = {{fma}} %{{name}}.p, {{float}} {{x}}, {{float}} %{{name}}.minus.q)
  %{{name}}.t = {{fma}} %{{name}}.e, {{float}} {{x}}, {{float}} %{{name}}.f)
{_SUM}""",
    4.0: f"""\
{_PRODUCTS}\
  %{{name}}.q = fmul {{float}} %{{name}}.p, %{{name}}.p
  %{{name}}.minus.q = fneg {{float}} %{{name}}.q
  %{{name}}.f = {{fma}} %{{name}}.p, {{float}} %{{name}}.p, {{float}} %{{name}}.minus.q)
  %{{name}}.twice = fadd {{float}} %{{name}}.p, %{{name}}.p
  %{{name}}.t = {{fma}} %{{name}}.twice, {{float}} %{{name}}.e, {{float}} %{{name}}.f)
{_SUM}""",
    0.5: """\
  %{name}.near = {sqrt} {x})
  %{name}.minus = fneg {float} %{name}.near
  %{name}.rest = {fma} %{name}.minus, {float} %{name}.near, {float} {x})
""",
    -1.0: """\
  %{name}.near = fdiv {float} {one}, {x}
  %{name}.minus = fneg {float} %{name}.near
  %{name}.short = {fma} %{name}.minus, {float} {x}, {float} {one})
  %{name}.rest = fmul {float} %{name}.short, %{name}.near
""",
}
_EVEN = (2.0, 4.0)
# Bases whose powers lie in the middle between two numbers.
_MIDDLES = {
    2.0: 1.0113215857950282,
    3.0: 1.524431438703043,
    4.0: 1.187166155579264,
    0.5: 1.905082505307516,
    -1.0: 1.0994949722435545,
}


def power(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """The power within a bound, as of arrays."""
    dtype, (x, y) = dtypes[0], args
    for exponent, function in WHOLE_POWERS.items():
        is_exact = dtype == F64 or abs(exponent) <= MOST_OF_SINGLES
        if is_exact and y == code.const(float(exponent), dtype):
            return code.math(function, dtype, (x,))
    return code.math("pow", dtype, args)


def power_of_scalars(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    if dtypes[0] == F64:
        return power_of_floats(code, args)
    return power(code, args, dtypes, result)


def power_of_floats(code: Lanes, args: Sequence[str]) -> str:
    """The power of two scalars of float64."""
    x, y = args
    exponent = next((each for each in NEARLY_EXACT if y == code.const(each, F64)), None)
    if exponent is None:
        return code.library("pow", args)
    kind = code.type(F64)
    return code.op(f"call {kind} {nearly_exact(code, exponent)}({kind} {x})")


def nearly_exact(code: Lanes, exponent: float) -> str:
    """The name of a function that gives powers to the exponent, one of ``NEARLY_EXACT``."""
    write = _of_one if code.count == 1 else _of_lanes
    return defined(code, exponent, "", write)


def defined(
    code: Lanes, exponent: float, kind: str, write: Callable[[Lanes, float, str], str]
) -> str:
    """The name of a function of powers; its text is written once in a module."""
    name = f'@"fxc.power.{exponent}x{code.count}{kind}"'
    if not any(name in text for text in code.function.module.functions):
        code.function.module.functions.append(write(code, exponent, name))
    return name


def _of_one(code: Lanes, exponent: float, name: str) -> str:
    """The function for an exponent."""
    module = code.function.module
    module.declare("declare void @llvm.sideeffect()")
    seldom = module.metadata('!{!"branch_weights", i32 1, i32 29}')
    return f"""\
define internal double {name}(double %x) alwaysinline nounwind {{
entry:
{_beyond(code, exponent, "usual", _USUAL)}\
  br i1 %usual.beyond, label %seldom, label %usual, !prof {seldom}
usual:
{_near(code, exponent, "usual", _USUAL, "%x")}\
  br i1 %usual.left, label %seldom, label %done, !prof {seldom}
seldom:
  call void @llvm.sideeffect()
{_looked_at(code, exponent, "wide", _WIDE)}\
  br i1 %wide.left, label %library, label %done
library:
  %found = {_library(module, exponent, "%x")}
  br label %done
done:
  %result = phi double [ %usual.near, %usual ], [ %wide.near, %seldom ], [ %found, %library ]
  ret double %result
}}
"""


def _of_lanes(code: Lanes, exponent: float, name: str) -> str:
    """The function for an exponent, and one that asks pow for the lanes that are left to it."""
    module, count, kind, mask = code.function.module, code.count, code.type(F64), code.of("i1")
    some, rest = _some(code), name.replace("power", "powers")
    seldom = module.metadata('!{!"branch_weights", i32 1, i32 4}')
    return f"""\
define internal {kind} {name}({kind} %x) alwaysinline nounwind {{
entry:
{usual(code, exponent)}\
  %some = {some} %usual.left)
  br i1 %some, label %seldom, label %done, !prof {seldom}
seldom:
  %number = bitcast {mask} %usual.left to i{count}
  %places = zext i{count} %number to i64
  %found = call {kind} {rest}({kind} %x, {kind} %usual.near, i64 %places)
  br label %done
done:
  %result = phi {kind} [ %usual.near, %entry ], [ %found, %seldom ]
  ret {kind} %result
}}
{_lane_by_lane(code, exponent, rest)}"""


def _some(code: Lanes) -> str:
    """How the call begins that says whether a mask has any 1s."""
    name, mask = f"@llvm.vector.reduce.or.v{code.count}i1", code.of("i1")
    code.function.module.declare(f"declare i1 {name}({mask})")
    return f"call i1 {name}({mask}"


def _lane_by_lane(code: Lanes, exponent: float, name: str) -> str:
    """The function that puts powers by pow in the place of others, at the ``%places`` of 1s.

    They are put into a register: what was stored one by one could not be loaded at once soon.
    What is near the middle remains so in the wide range, which is for other sizes.
    """
    module, kind = code.function.module, code.type(F64)
    module.declare("declare i64 @llvm.cttz.i64(i64, i1)")
    number = f"i{code.count}"
    return f"""\
define internal {kind} {name}({kind} %x, {kind} %near, i64 %places) noinline cold nounwind {{
entry:
  %bases = alloca {kind}, align 64
  store {kind} %x, ptr %bases, align 64
{_beyond(code, exponent, "usual", _USUAL)}\
  %sizes = {_some(code)} %usual.beyond)
  br i1 %sizes, label %look, label %test
look:
{_looked_at(code, exponent, "wide", _WIDE)}\
  %wide.number = bitcast {code.of("i1")} %wide.left to {number}
  %wide.places = zext {number} %wide.number to i64
  %both = and i64 %places, %wide.places
  br label %test
test:
  %left = phi i64 [ %places, %entry ], [ %both, %look ], [ %others, %lane ]
  %results = phi {kind} [ %near, %entry ], [ %wide.near, %look ], [ %more, %lane ]
  %some = icmp ne i64 %left, 0
  br i1 %some, label %lane, label %done
lane:
  %place = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %before = sub i64 %left, 1
  %others = and i64 %left, %before
  %base = getelementptr double, ptr %bases, i64 %place
  %one = load double, ptr %base, align 8
  %found = {_library(module, exponent, "%one")}
  %number = trunc i64 %place to {number}
  %bit = shl {number} 1, %number
  %here = bitcast {number} %bit to {code.of("i1")}
  %first = insertelement {kind} poison, double %found, i64 0
  %each = shufflevector {kind} %first, {kind} poison, {code.of("i32")} zeroinitializer
  %more = select {code.of("i1")} %here, {kind} %each, {kind} %results
  br label %test
done:
  ret {kind} %results
}}
"""


def _library(module: ModuleText, exponent: float, base: str) -> str:
    power = module.library("pow", 2)
    return f"call double {power}(double {base}, double {constant(exponent, F64)})"


def usual(code: Lanes, exponent: float) -> str:
    """``%usual.near``, and by ``%usual.left`` whether pow may give another one, of vectors."""
    return _looked_at(code, exponent, "usual", _USUAL)


def _call(code: Lanes, name: str, count: int) -> str:
    """How the call of an intrinsic on so many floats begins."""
    kind, suffix = code.type(F64), "f64" if code.count == 1 else f"v{code.count}f64"
    code.function.module.declare(
        f"declare {kind} @llvm.{name}.{suffix}({', '.join([kind] * count)})"
    )
    return f"call {kind} @llvm.{name}.{suffix}({kind}"


def _looked_at(code: Lanes, exponent: float, name: str, most: int) -> str:
    """A number near the power, and whether it is left to pow: not if it is of a size up to
    ``most`` and known, or 0.0.
    """
    kind, mask, bits = code.type(F64), code.of("i1"), code.of("i64")
    other, zeros = "beyond", ""
    if exponent > 0:
        other, either = "other", "size" if exponent in _EVEN else "bits"
        zeros = f"""\
  %{name}.some = icmp ne {bits} %{name}.{either}, {code.const(0, I64)}
  %{name}.other = and {mask} %{name}.beyond, %{name}.some
"""
    middle = code.const(_MIDDLES[exponent], F64)
    return f"""\
{_beyond(code, exponent, name, most)}\
{zeros}\
  %{name}.x = select {mask} %{name}.{other}, {kind} {middle}, {kind} %x
{_near(code, exponent, name, most, f"%{name}.x")}"""


def _beyond(code: Lanes, exponent: float, name: str, most: int) -> str:
    """Whether the power is not between these powers of two, by its base."""
    power = int(most / abs(exponent))
    low, high = (int.from_bytes(struct.pack(">d", 2.0**each)) for each in (-power, power))
    kind, bits = code.type(F64), code.of("i64")
    signs = -1 if exponent == 0.5 else 2**63 - 1  # no root is one of a negative number
    return f"""\
  %{name}.bits = bitcast {kind} %x to {bits}
  %{name}.size = and {bits} %{name}.bits, {code.const(signs, I64)}
  %{name}.past = sub {bits} %{name}.size, {code.const(low, I64)}
  %{name}.beyond = icmp uge {bits} %{name}.past, {code.const(high - low, I64)}
"""


def _near(code: Lanes, exponent: float, name: str, most: int, x: str) -> str:
    """A number near the power of a usual base, and whether pow may give another one."""
    kind, one = code.type(F64), code.const(1.0, F64)
    fma, sqrt = _call(code, "fma", 3), _call(code, "sqrt", 1)
    left = _left_root if exponent == 0.5 else _left
    return f"""\
{_WAYS[exponent].format(name=name, x=x, float=kind, fma=fma, sqrt=sqrt, one=one)}\
{left(code, name, _MORE[most])}"""


def _left(code: Lanes, name: str, more: float) -> str:
    kind = code.type(F64)
    copysign, fma = _call(code, "copysign", 2), _call(code, "fma", 3)
    more_of = code.const(more, F64)
    return f"""\
  %{name}.away = {copysign} %{name}.near, {kind} %{name}.rest)
  %{name}.lost = {fma} %{name}.away, {kind} {more_of}, {kind} %{name}.rest)
  %{name}.more = fadd {kind} %{name}.near, %{name}.lost
  %{name}.left = fcmp one {kind} %{name}.more, %{name}.near
"""


def _left_root(code: Lanes, name: str, more: float) -> str:
    """Of a root, ``.rest`` is what is missing from its square: twice the root times what is missing
    from it. That is compared with half the distance to the next number below, without a division.
    """
    kind, bits = code.type(F64), code.of("i64")
    twice, below = code.const(-2 * more, F64), code.const(1 - 2.0**-53, F64)
    return f"""\
  %{name}.below = fmul {kind} %{name}.near, {below}
  %{name}.below.bits = bitcast {kind} %{name}.below to {bits}
  %{name}.exponent = and {bits} %{name}.below.bits, {code.const(0x7FF << 52, I64)}
  %{name}.binade = bitcast {bits} %{name}.exponent to {kind}
  %{name}.apart = fmul {kind} %{name}.binade, {code.const(2.0**-52, F64)}
  %{name}.least = {_call(code, "fma", 3)} %{name}.near, {kind} {twice}, {kind} %{name}.apart)
  %{name}.most = fmul {kind} %{name}.least, %{name}.near
  %{name}.off = {_call(code, "fabs", 1)} %{name}.rest)
  %{name}.left = fcmp ogt {kind} %{name}.off, %{name}.most
"""
