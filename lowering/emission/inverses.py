"""Quotients by inverses as LLVM code. See Note [Quotients by inverses]."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..nests.buffers import F64, I64
from ..operators.inverses import DIVIDENDS, DIVISORS
from ..operators.scalar_rules import DTypes
from .casts import I32
from .division_code import quotient
from .llvm_text import Lanes, kind_name


def inverse(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    """1 / y, rounded; nan, and no flag, where quotients by y are made without it."""
    dtype, (y,) = dtypes[0], args
    bits = I64 if dtype == F64 else I32
    low, high = (_bits(bound, dtype) for bound in DIVISORS[dtype])
    size = code.convert("bitcast", code.intrinsic("fabs", dtype, (y,)), dtype, bits)
    above = code.binary("sub", bits, size, code.const(low, bits))
    usual = code.compare("ult", bits, above, code.const(high - low, bits))
    one = code.const(1.0, dtype)
    safe = code.computed(code.select(usual, dtype, y, one), dtype)
    found = code.computed(code.binary("fdiv", dtype, one, safe), dtype)
    return code.select(usual, dtype, found, code.const(math.nan, dtype))


def divide_with_inverse(code: Lanes, args: Sequence[str], dtypes: DTypes, result: np.dtype) -> str:
    dtype = dtypes[0]
    if code.count == 1:
        return quotient(code, dtype, args[0], args[1])
    module, kind = code.function.module, code.type(dtype)
    name = f"@fxc.divide_with_inverse.{kind_name(dtype)}x{code.count}"
    text = _function(code, name, dtype)
    if text not in module.functions:
        module.functions.append(text)
    operands = ", ".join(f"{kind} {each}" for each in args)
    return code.op(f"call {kind} {name}({operands})")


def _function(code: Lanes, name: str, dtype: np.dtype) -> str:
    """The quotients of some lanes: by an instruction if one of them is unusual."""
    kind, count = code.type(dtype), code.count
    whole = I64 if dtype == F64 else I32
    bits, mask, vector = code.type(whole), code.of("i1"), f"v{count}{kind_name(dtype)}"
    for line in (
        f"declare {kind} @llvm.fma.{vector}({kind}, {kind}, {kind})",
        f"declare {kind} @llvm.fabs.{vector}({kind})",
        f"declare i1 @llvm.vector.reduce.or.v{count}i1({mask})",
    ):
        code.function.module.declare(line)
    low, high = (_bits(bound, dtype) for bound in DIVIDENDS[dtype])
    sign = np.iinfo(whole).min
    splat = f"splat ({bits[1:-1].split()[-1]} {{}})".format
    fma = f"call {kind} @llvm.fma.{vector}"
    return f"""\
define internal {kind} {name}({kind} %x, {kind} %y, {kind} %r) alwaysinline nounwind {{
entry:
  %xbits = bitcast {kind} %x to {bits}
  %ybits = bitcast {kind} %y to {bits}
  %size = and {bits} %xbits, {splat(np.iinfo(whole).max)}
  %before = add {bits} %size, {splat(-1)}
  %small = icmp ult {bits} %before, {splat(low - 1)}
  %known = fcmp ord {kind} %r, %r
  %limit = select {mask} %known, {bits} {splat(high)}, {bits} zeroinitializer
  %large = icmp uge {bits} %size, %limit
  %rare = or {mask} %small, %large
  %some = call i1 @llvm.vector.reduce.or.v{count}i1({mask} %rare)
  br i1 %some, label %rarely, label %usually, !prof !{{!"branch_weights", i32 1, i32 1000}}
usually:
  %ysign = and {bits} %ybits, {splat(sign)}
  %abits = xor {bits} %xbits, %ysign
  %a = bitcast {bits} %abits to {kind}
  %minus = fneg {kind} %a
  %b = call {kind} @llvm.fabs.{vector}({kind} %y)
  %s = call {kind} @llvm.fabs.{vector}({kind} %r)
  %t = fneg {kind} %s
  %q = fmul {kind} %a, %s
  %e = {fma}({kind} %q, {kind} %b, {kind} %minus)
  %near = {fma}({kind} %e, {kind} %t, {kind} %q)
  %rest = {fma}({kind} %near, {kind} %b, {kind} %minus)
  %found = {fma}({kind} %rest, {kind} %t, {kind} %near)
  br label %done
rarely:
  %divided = fdiv {kind} %x, %y
  br label %done
done:
  %result = phi {kind} [ %found, %usually ], [ %divided, %rarely ]
  ret {kind} %result
}}"""


def _bits(value: float, dtype: np.dtype) -> int:
    return int(np.array(value, dtype).view(f"u{dtype.itemsize}"))
