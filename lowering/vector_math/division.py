"""fmod: the remainder of a division, without error. See Note [Exact remainders]."""

from .builder import Code, Value, copysign, fma, pattern, type_name, where
from .exponential import FORMATS

# Note [Exact remainders]
# With a = abs(x), b = abs(y), both finite and b > 0, and p bits of precision, let Q be the integer
# part of a / b and R = a - Q b, which is what is wanted. Let d be a / b as the division rounds it,
# q the integer part of d, and d < 2**p.
#
# - q is Q or Q + 1. All integers up to 2**p are floats, and rounding keeps order: from
#   Q <= a / b < Q + 1 follows Q <= d <= Q + 1. (An underflow of d is no exception.)
# - R and R - b are floats. If a >= b, both a and b are multiples of u = ulp(b), hence R and R - b
#   too, and those are not larger than b. If a < b, then Q = 0 and R = a; that q = 1 needs that
#   a / b rounds to 1, so a >= b / 2, and a - b is a float (Sterbenz). Subnormals are floats like
#   others here: all are multiples of the smallest.
# - So fma(-q, b, a) is R or R - b without rounding. It is negative exactly in the second case,
#   since R >= 0, and then adding b, which gives the float R, does not round either.
#
# The result has the sign of x, also if it is zero. What remains is computed by the C library, lane
# by lane, in cold code: d >= 2**p, b = 0, infinities and nans.


def fmod(code: Code, x: Value, y: Value) -> Value:
    """What is left of x after whole multiples of y, with the sign of x. Exact.

    See Note [Exact remainders].
    """
    a, b = abs(x), abs(y)
    ratio = a / b
    limit = pattern(x.kind, 2.0 ** (FORMATS[x.kind].mantissa + 1))
    # In the bits, infinities and nans are above all other numbers. An infinite b gives ratio = 0.
    rare = ratio.bits.at_least_unsigned(limit) | b.bits.equals(pattern(x.kind, float("inf")))
    rest = fma(-code.intrinsic("trunc", ratio), b, a)
    rest = copysign(where(rest < 0.0, rest + b, rest), x)
    return code.unless_rare(
        rare, [rest], lambda: [_by_library(where(rare, x, 0.0), where(rare, y, 1.0))]
    )[0]


def _by_library(x: Value, y: Value) -> Value:
    """fmod of each lane by the C library; it is quick for 0 and 1.

    It is a function of its own for one lane, too: LLVM would rather compute ``frem`` always than
    branch around it.
    """
    code = x.code
    symbol = f"fxc.fmod_by_library.{x.kind}x{code.lanes}"
    vector, scalar = code.type(x.kind), type_name(x.kind, 1)
    head = f"""\
define internal {vector} @{symbol}({vector} %x, {vector} %y) \
cold noinline nounwind willreturn memory(none) {{
entry:
"""
    if code.lanes == 1:
        code.helpers[symbol] = f"{head}  %r = frem {scalar} %x, %y\n  ret {scalar} %r\n}}\n"
        return code.call(x.kind, f"@{symbol}", [x, y])
    code.helpers[symbol] = f"""\
{head}  br label %lanes
lanes:
  %i = phi i64 [ 0, %entry ], [ %inext, %lanes ]
  %r = phi {vector} [ zeroinitializer, %entry ], [ %rnext, %lanes ]
  %xone = extractelement {vector} %x, i64 %i
  %yone = extractelement {vector} %y, i64 %i
  %rone = frem {scalar} %xone, %yone
  %rnext = insertelement {vector} %r, {scalar} %rone, i64 %i
  %inext = add i64 %i, 1
  %more = icmp ult i64 %inext, {code.lanes}
  br i1 %more, label %lanes, label %exit
exit:
  ret {vector} %rnext
}}
"""
    return code.call(x.kind, f"@{symbol}", [x, y])
