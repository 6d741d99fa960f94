"""``x ** y`` of two scalars, which is the C library's pow in Python and in NumPy alike."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..nests.buffers import F64
from .llvm_text import Lanes, ModuleText, constant

# Note [Powers by pow]
# ``s ** 2`` of a scalar is ``pow(s, 2.0)``, which is not always the nearest number to the square.
# By the comment above it, glibc's pow errs by up to 0.511 ulp, and 1.5 * 2**-15 times the logarithm
# of the result: less than 0.5131 if that is between 2**-64 and 2**64, less than 0.516 up to twice
# as many powers of two. So where a power, known to twice as many bits, is within 0.4865 (0.483) ulp
# of a number, any other would be beyond 0.5135 (0.517) and pow gives that one, too. It is within
# that if a little more than what is missing, added to it, is lost. The rest, one in 37 (30), is
# left to pow, as are results that are tiny, huge, infinite or nan.

_USUAL, _WIDE = 64, 128  # powers of two up to which results are looked at
_MORE = {_USUAL: 0.5 / 0.4865, _WIDE: 0.5 / 0.483}
_FMA = "call double @llvm.fma.f64(double"
# For an exponent: how to come by the number and what is missing from it to the power of ``%x``.
_PRODUCTS = f"""\
  %p = fmul double %x, %x
  %minus.p = fneg double %p
  %e = {_FMA} %x, double %x, double %minus.p)
"""
_SUM = """\
  %near = fadd double %q, %t
  %gone = fsub double %near, %q
  %rest = fsub double %t, %gone
"""
_WAYS = {
    2.0: _PRODUCTS.replace("%p", "%near").replace("%minus.near", "%minus").replace("%e", "%rest"),
    3.0: f"""\
{_PRODUCTS}\
  %q = fmul double %p, %x
  %minus.q = fneg double %q
  %f = {_FMA} %p, double %x, double %minus.q)
  %t = {_FMA} %e, double %x, double %f)
{_SUM}""",
    4.0: f"""\
{_PRODUCTS}\
  %q = fmul double %p, %p
  %minus.q = fneg double %q
  %f = {_FMA} %p, double %p, double %minus.q)
  %twice = fadd double %p, %p
  %t = {_FMA} %twice, double %e, double %f)
{_SUM}""",
    0.5: f"""\
  %near = call double @llvm.sqrt.f64(double %x)
  %minus = fneg double %near
  %lost = {_FMA} %minus, double %near, double %x)
  %twice = fadd double %near, %near
  %rest = fdiv double %lost, %twice
""",
    -1.0: f"""\
  %near = fdiv double {constant(1.0, F64)}, %x
  %minus = fneg double %near
  %lost = {_FMA} %minus, double %x, double {constant(1.0, F64)})
  %rest = fmul double %lost, %near
""",
}
_EVEN = (2.0, 4.0)  # of either zero they are 0.0
_POSITIVE = (*_EVEN, 0.5)  # results without a sign, but for nan


def power_of_scalars(code: Lanes, args: Sequence[str]) -> str:
    """The power of two scalars of float64."""
    x, y = args
    exponent = next((each for each in _WAYS if y == code.const(each, F64)), None)
    if code.count > 1 or exponent is None:
        return code.library("pow", args)
    return code.op(f"call double {_function(code.function.module, exponent)}(double {x})")


def _function(module: ModuleText, exponent: float) -> str:
    """The name of the function for an exponent, which the module then has."""
    name = f'@"fxc.power.{exponent}"'
    if any(name in text for text in module.functions):
        return name
    module.declare("declare double @llvm.fma.f64(double, double, double)")
    module.declare("declare double @llvm.sqrt.f64(double)")
    module.declare("declare void @llvm.sideeffect()")
    power = module.library("pow", 2)
    often = module.metadata('!{!"branch_weights", i32 29, i32 1}')
    module.functions.append(f"""\
define internal double {name}(double %x) alwaysinline nounwind {{
entry:
{_WAYS[exponent]}\
  %bits = bitcast double %near to i64
  %size = {"add i64 %bits, 0" if exponent in _POSITIVE else f"and i64 %bits, {2**63 - 1}"}
{_near("usual", _USUAL)}\
  br i1 %usual.close, label %sure, label %seldom, !prof {often}
sure:
  br i1 %usual.moderate, label %done, label %seldom, !prof {often}
seldom:
  call void @llvm.sideeffect()
  %zero = fcmp oeq double %x, {constant(0.0, F64)}
{_near("wide", _WIDE)}\
  %both = and i1 %wide.close, %wide.moderate
  %known = or i1 %both, {"%zero" if exponent in _EVEN else "false"}
  br i1 %known, label %done, label %library
library:
  %found = call double {power}(double %x, double {constant(exponent, F64)})
  br label %done
done:
  %result = phi double [ %near, %sure ], [ %near, %seldom ], [ %found, %library ]
  ret double %result
}}
""")
    return name


def _near(name: str, most: int) -> str:
    """Whether pow gives ``%near``, if that is between these powers of two; and whether it is."""
    low, high = (int.from_bytes(struct.pack(">d", 2.0**power)) for power in (-most, most))
    return f"""\
  %{name}.more = {_FMA} %rest, double {constant(_MORE[most], F64)}, double %near)
  %{name}.close = fcmp ueq double %{name}.more, %near
  %{name}.past = sub i64 %size, {low}
  %{name}.moderate = icmp ult i64 %{name}.past, {high - low}
"""
