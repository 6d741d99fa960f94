"""Numbers that PCG64 draws, in LLVM's text. See Note [Quick draws]."""

from __future__ import annotations

import numpy as np

from fxc.ir.flag_bits import HAS_FLAGS
from fxc.ir.records import frozen

from .llvm_text import constant

# Note [Quick draws]
# A uniform number is one step of the bit generator. A normal or exponential one is as well, nearly
# always: the ziggurat method takes a column of 256 by eight of the bits, and a place in it by
# others, and is done if the place is far enough left of the edge. NumPy's functions in C make
# calls for both. Where the bit generator is PCG64, native code makes the step itself, and keeps the
# state in registers while it fills an array. Otherwise, and where the place is near the edge, it
# leaves the state before the step and calls NumPy's function for this number. That may set flags
# of the processor, which are put back: of an array at its end. The quick way to a single number
# sets none but "inexact", which nobody looks at, if the scale is neither tiny nor huge and what is
# added is finite; of others NumPy's function draws it.
# The widths of the columns are not written down: fxc/native/ziggurats.py asks NumPy's function
# for them. Without them, or where numbers or states differ, NumPy's functions draw all numbers.


@frozen
class Ziggurat:
    """At which bits a random word of 64 bits has the column, the sign if any, and the place in the
    column; how many places there are, of what width in each column, and how many are safe.
    """

    column: int
    sign: int | None
    place: int
    places: int
    widths: tuple[float, ...] = ()
    safe: tuple[int, ...] = ()


ZIGGURATS = {
    "random_standard_normal": Ziggurat(0, 8, 9, 2**52),
    "random_standard_exponential": Ziggurat(3, None, 11, 2**53),
}
# How the number of a function is made of a standard one, x.
_MADE = {
    "normal": "  %t = fmul double %x1, %x\n  %y = fadd double %x0, %t",
    "uniform": "  %t = fmul double %x1, %x\n  %y = fadd double %x0, %t",
    "exponential": "  %y = fmul double %x0, %x",
}
_AS_IT_IS = "  %y = fadd double %x, -0.0"
# Of each function the scale and what is added, and what scales no product overflows or is tiny by.
SCALES = {"normal": ("%x1", "%x0"), "uniform": ("%x1", "%x0"), "exponential": ("%x0", None)}
SCALE_LEAST, SCALE_MOST = 2.0**-900, 2.0**900
FILL = "fxc.quick_fill"


def quick_draws(
    function: str, next_word: int, in_c: int, ziggurat: Ziggurat | None, *, many: bool
) -> str:
    """``void (bit generator, count, place, x0, x1)``, which draws many numbers, or one.

    ``next_word`` is the address of PCG64's function, ``in_c`` that of NumPy's standard one.
    """
    value, tables = _UNIFORM, ""
    if ziggurat is not None:
        value, tables = _of_ziggurat(ziggurat), _tables(ziggurat)
    made = _MADE.get(function.removeprefix("random_"), _AS_IT_IS)
    has_flags = HAS_FLAGS and ziggurat is not None and not many
    ask = (_WITH_FLAGS if has_flags else _ASK).format(c=in_c)
    how = "nounwind" if many else "alwaysinline nounwind"
    parts = {"fill": FILL, "how": how, "next": next_word, "ask": ask, "value": value, "made": made}
    return tables + (_MANY if many else _ONE).format_map(parts)


def _tables(ziggurat: Ziggurat) -> str:
    real = np.dtype(np.float64)
    widths = ", ".join(f"double {constant(each, real)}" for each in ziggurat.widths)
    safe = ", ".join(f"i64 {each}" for each in ziggurat.safe)
    return f"""\
@fxc.widths = internal constant [256 x double] [{widths}], align 64
@fxc.safe = internal constant [256 x i64] [{safe}], align 64
"""


_UNIFORM = """\
  %bits53 = lshr i64 %word, 11
  %whole = uitofp i64 %bits53 to double
  %quick = fmul double %whole, 0x3CA0000000000000
  br label %keep"""


def _of_ziggurat(ziggurat: Ziggurat) -> str:
    signed = "  %quick = fadd double %size, -0.0"
    if ziggurat.sign is not None:
        signed = f"""\
  %to.sign = shl i64 %word, {63 - ziggurat.sign}
  %sign = and i64 %to.sign, -9223372036854775808
  %size.bits = bitcast double %size to i64
  %quick.bits = or i64 %size.bits, %sign
  %quick = bitcast i64 %quick.bits to double"""
    return f"""\
  %low = lshr i64 %word, {ziggurat.column}
  %column = and i64 %low, 255
  %high = lshr i64 %word, {ziggurat.place}
  %place = and i64 %high, {ziggurat.places - 1}
  %width.at = getelementptr double, ptr @fxc.widths, i64 %column
  %width = load double, ptr %width.at, align 8
  %safe.at = getelementptr i64, ptr @fxc.safe, i64 %column
  %safe = load i64, ptr %safe.at, align 8
  %whole = sitofp i64 %place to double
  %size = fmul double %whole, %width
{signed}
  %is.safe = icmp ult i64 %place, %safe
  br i1 %is.safe, label %keep, label %ask"""


# PCG64 multiplies and adds in 128 bits, and turns the exclusive or of the halves.
_STEP = """\
  %product = mul i128 %s, 47026247687942121848144207491837523525
  %s.new = add i128 %product, %inc
  %upper.wide = lshr i128 %s.new, 64
  %upper = trunc i128 %upper.wide to i64
  %lower = trunc i128 %s.new to i64
  %mixed = xor i64 %upper, %lower
  %turn = lshr i64 %upper, 58
  %word = call i64 @llvm.fshr.i64(i64 %mixed, i64 %mixed, i64 %turn)
{value}
"""
# The state and what is added to it have names of their own where they change.
_INSIDE = """\
  %holder = load ptr, ptr %bits, align 8
  %inside = load ptr, ptr %holder, align 8
  %add.at = getelementptr i8, ptr %inside, i64 16
  %s{first} = load i128, ptr %inside, align 8
  %inc{first} = load i128, ptr %add.at, align 8
"""
_HEAD = """\
declare i64 @llvm.fshr.i64(i64, i64, i64)

define internal void @"{fill}"(ptr %bits, i64 %count, ptr %out, double %x0, double %x1) {how} {{
entry:
  %next.at = getelementptr i8, ptr %bits, i64 8
  %next = load i64, ptr %next.at, align 8
  %known = icmp eq i64 %next, {next}
  %flags = alloca i32, align 4
"""
_ASK = "%asked = call double inttoptr (i64 {c} to ptr)(ptr %bits)"
_WITH_FLAGS = f"""\
call void @llvm.x86.sse.stmxcsr(ptr %flags)
  {_ASK}
  call void @llvm.x86.sse.ldmxcsr(ptr %flags)"""
_ONE = f"""\
{_HEAD}\
  br i1 %known, label %draw, label %ask
draw:
{_INSIDE.format(first="")}\
{_STEP}\
keep:
  store i128 %s.new, ptr %inside, align 8
  br label %made
ask:
  {{ask}}
  br label %made
made:
  %x = phi double [ %quick, %keep ], [ %asked, %ask ]
{{made}}
  store double %y, ptr %out, align 8
  ret void
}}}}
"""
_MANY = f"""\
{_HEAD}\
  %none = alloca i128, align 16
  store i128 0, ptr %none, align 8
  br i1 %known, label %begin, label %loop
begin:
{_INSIDE.format(first=".first")}\
  br label %loop
loop:
  %pcg = phi ptr [ %none, %entry ], [ %inside, %begin ], [ %pcg, %more ]
  %inc = phi i128 [ 0, %entry ], [ %inc.first, %begin ], [ %inc, %more ]
  %s = phi i128 [ 0, %entry ], [ %s.first, %begin ], [ %s.next, %more ]
  %i = phi i64 [ 0, %entry ], [ 0, %begin ], [ %behind, %more ]
  %go = icmp ult i64 %i, %count
  br i1 %go, label %draw, label %end
draw:
  br i1 %known, label %step, label %ask
step:
{_STEP}\
keep:
  br label %more
ask:
  store i128 %s, ptr %pcg, align 8
  {{ask}}
  %s.asked = load i128, ptr %pcg, align 8
  br label %more
more:
  %x = phi double [ %quick, %keep ], [ %asked, %ask ]
  %s.next = phi i128 [ %s.new, %keep ], [ %s.asked, %ask ]
{{made}}
  %place.at = getelementptr double, ptr %out, i64 %i
  store double %y, ptr %place.at, align 8
  %behind = add i64 %i, 1
  br label %loop
end:
  store i128 %s, ptr %pcg, align 8
  ret void
}}}}
"""
