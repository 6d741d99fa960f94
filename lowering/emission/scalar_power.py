"""``x ** y`` of floats; of two scalars it is the C library's pow, in Python and NumPy alike."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from ..nests.buffers import BOOL, F64, I64
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
# are results that are tiny, huge, infinite or nan.

_USUAL, _WIDE = 64, 128  # powers of two up to which results are looked at
_MORE = {_USUAL: 0.0068 * 2.0**-52, _WIDE: 0.0080 * 2.0**-52}  # of the result
# For an exponent: how to come by the number and what is missing from it to the power of ``%x``.
_PRODUCTS = """\
  %p = fmul {float} %x, %x
  %minus.p = fneg {float} %p
  %e = {fma} %x, {float} %x, {float} %minus.p)
"""
_SUM = """\
  %near = fadd {float} %q, %t
  %gone = fsub {float} %near, %q
  %rest = fsub {float} %t, %gone
"""
_WAYS = {
    2.0: _PRODUCTS.replace("%p", "%near").replace("%minus.near", "%minus").replace("%e", "%rest"),
    3.0: f"""\
{_PRODUCTS}\
  %q = fmul {{float}} %p, %x
  %minus.q = fneg {{float}} %q
  %f = {{fma}} %p, {{float}} %x, {{float}} %minus.q)
  %t = {{fma}} %e, {{float}} %x, {{float}} %f)
{_SUM}""",
    4.0: f"""\
{_PRODUCTS}\
  %q = fmul {{float}} %p, %p
  %minus.q = fneg {{float}} %q
  %f = {{fma}} %p, {{float}} %p, {{float}} %minus.q)
  %twice = fadd {{float}} %p, %p
  %t = {{fma}} %twice, {{float}} %e, {{float}} %f)
{_SUM}""",
    0.5: """\
  %near = {sqrt} %x)
  %minus = fneg {float} %near
  %rest = {fma} %minus, {float} %near, {float} %x)
""",
    -1.0: """\
  %near = fdiv {float} {one}, %x
  %minus = fneg {float} %near
  %lost = {fma} %minus, {float} %x, {float} {one})
  %rest = fmul {float} %lost, %near
""",
}
_EVEN = (2.0, 4.0)  # of either zero they are 0.0
_POSITIVE = (*_EVEN, 0.5)  # results without a sign, but for nan


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
    name, module = f'@"fxc.power.{exponent}x{code.count}"', code.function.module
    if not any(name in text for text in module.functions):
        write = _of_one if code.count == 1 else _of_lanes
        module.functions.append(write(code, exponent, name))
    return name


def _of_one(code: Lanes, exponent: float, name: str) -> str:
    """The function for an exponent."""
    module = code.function.module
    module.declare("declare void @llvm.sideeffect()")
    often = module.metadata('!{!"branch_weights", i32 29, i32 1}')
    return f"""\
define internal double {name}(double %x) alwaysinline nounwind {{
entry:
{usual(code, exponent)}\
  br i1 %usual.close, label %sure, label %seldom, !prof {often}
sure:
  br i1 %usual.moderate, label %done, label %seldom, !prof {often}
seldom:
  call void @llvm.sideeffect()
{_known(code, exponent)}\
  br i1 %known, label %done, label %library
library:
  %found = {_library(module, exponent, "%x")}
  br label %done
done:
  %result = phi double [ %near, %sure ], [ %near, %seldom ], [ %found, %library ]
  ret double %result
}}
"""


def _of_lanes(code: Lanes, exponent: float, name: str) -> str:
    """The function for an exponent, and one that asks pow for the lanes that are left to it."""
    module, count, kind, mask = code.function.module, code.count, code.type(F64), code.of("i1")
    every, rest = f"@llvm.vector.reduce.and.v{count}i1", name.replace("power", "powers")
    module.declare(f"declare i1 {every}({mask})")
    often = module.metadata('!{!"branch_weights", i32 4, i32 1}')
    return f"""\
define internal {kind} {name}({kind} %x) alwaysinline nounwind {{
entry:
{usual(code, exponent)}\
  %usual = and {mask} %usual.close, %usual.moderate
  %all = call i1 {every}({mask} %usual)
  br i1 %all, label %done, label %seldom, !prof {often}
seldom:
{_known(code, exponent)}\
  %sure = or {mask} %usual, %known
  %left = xor {mask} %sure, splat (i1 true)
  %number = bitcast {mask} %left to i{count}
  %places = zext i{count} %number to i64
  %found = call {kind} {rest}({kind} %x, {kind} %near, i64 %places)
  br label %done
done:
  %result = phi {kind} [ %near, %entry ], [ %found, %seldom ]
  ret {kind} %result
}}
{_lane_by_lane(code, exponent, rest)}"""


def _lane_by_lane(code: Lanes, exponent: float, name: str) -> str:
    """The function that puts powers by pow in the place of others, at the ``%places`` of 1s.

    They are put into a register: what was stored one by one could not be loaded at once soon.
    """
    module, kind = code.function.module, code.type(F64)
    module.declare("declare i64 @llvm.cttz.i64(i64, i1)")
    number = f"i{code.count}"
    return f"""\
define internal {kind} {name}({kind} %x, {kind} %near, i64 %places) noinline cold nounwind {{
entry:
  %bases = alloca {kind}, align 64
  store {kind} %x, ptr %bases, align 64
  br label %test
test:
  %left = phi i64 [ %places, %entry ], [ %others, %lane ]
  %results = phi {kind} [ %near, %entry ], [ %more, %lane ]
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
    """``%near``, and whether pow gives that, if it is of moderate size."""
    kind, bits, one = code.type(F64), code.of("i64"), code.const(1.0, F64)
    fma, sqrt = _call(code, "fma", 3), _call(code, "sqrt", 1)
    size = -1 if exponent in _POSITIVE else 2**63 - 1
    return f"""\
{_WAYS[exponent].format(float=kind, fma=fma, sqrt=sqrt, one=one)}\
  %bits = bitcast {kind} %near to {bits}
  %size = and {bits} %bits, {code.const(size, I64)}
{_near(code, exponent, "usual", _USUAL)}"""


def _call(code: Lanes, name: str, count: int) -> str:
    """How the call of an intrinsic on so many floats begins."""
    kind, suffix = code.type(F64), "f64" if code.count == 1 else f"v{code.count}f64"
    code.function.module.declare(
        f"declare {kind} @llvm.{name}.{suffix}({', '.join([kind] * count)})"
    )
    return f"call {kind} @llvm.{name}.{suffix}({kind}"


def _known(code: Lanes, exponent: float) -> str:
    """Whether pow gives ``%near``, if that may be small or large."""
    kind, mask = code.type(F64), code.of("i1")
    return f"""\
  %zero = fcmp oeq {kind} %x, {code.const(0.0, F64)}
{_near(code, exponent, "wide", _WIDE)}\
  %both = and {mask} %wide.close, %wide.moderate
  %known = or {mask} %both, {"%zero" if exponent in _EVEN else code.const(False, BOOL)}
"""


def _near(code: Lanes, exponent: float, name: str, most: int) -> str:
    """Whether pow gives ``%near``, if that is between these powers of two; and whether it is."""
    low, high = (int.from_bytes(struct.pack(">d", 2.0**power)) for power in (-most, most))
    bits = code.of("i64")
    close = _close_root if exponent == 0.5 else _close
    return f"""\
{close(code, name, _MORE[most])}\
  %{name}.past = sub {bits} %size, {code.const(low, I64)}
  %{name}.moderate = icmp ult {bits} %{name}.past, {code.const(high - low, I64)}
"""


def _close(code: Lanes, name: str, more: float) -> str:
    kind = code.type(F64)
    return f"""\
  %{name}.away = {_call(code, "copysign", 2)} %near, {kind} %rest)
  %{name}.lost = {_call(code, "fma", 3)} %{name}.away, {kind} {code.const(more, F64)}, {kind} %rest)
  %{name}.more = fadd {kind} %near, %{name}.lost
  %{name}.close = fcmp ueq {kind} %{name}.more, %near
"""


def _close_root(code: Lanes, name: str, more: float) -> str:
    """Of a root, ``%rest`` is what is missing from its square: twice the root times what is missing
    from it. That is compared with half the distance to the next number below, without a division.
    """
    kind, bits = code.type(F64), code.of("i64")
    twice, below = code.const(-2 * more, F64), code.const(1 - 2.0**-53, F64)
    return f"""\
  %{name}.below = fmul {kind} %near, {below}
  %{name}.bits = bitcast {kind} %{name}.below to {bits}
  %{name}.exponent = and {bits} %{name}.bits, {code.const(0x7FF << 52, I64)}
  %{name}.binade = bitcast {bits} %{name}.exponent to {kind}
  %{name}.apart = fmul {kind} %{name}.binade, {code.const(2.0**-52, F64)}
  %{name}.least = {_call(code, "fma", 3)} %near, {kind} {twice}, {kind} %{name}.apart)
  %{name}.most = fmul {kind} %{name}.least, %near
  %{name}.off = {_call(code, "fabs", 1)} %rest)
  %{name}.close = fcmp ule {kind} %{name}.off, %{name}.most
"""
