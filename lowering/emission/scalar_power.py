"""``x ** y`` of two scalars, which is the C library's pow in Python and in NumPy alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .llvm_text import LIBRARY_PREFIX, Lanes, constant

# Note [Squares by pow]
# ``s ** 2`` of a scalar is ``pow(s, 2.0)``, which is not always the nearest number to the square:
# pow errs by up to 0.54 ulp. So where the product p = s * s, whose error e is found by a fused
# multiplication, is within 0.45 ulp, any other number would be beyond 0.55 and pow gives p, too.
# The ulp is that of the number below p, which is half as large if p is a power of two. The rest,
# one in ten, is left to pow, as are results that are tiny, infinite or nan.

_F64 = np.dtype(np.float64)
_SQUARE = f"""\
define internal double @fxc.square_by_pow(double %x) alwaysinline nounwind {{
entry:
  %p = fmul double %x, %x
  %minus = fneg double %p
  %e = call double @llvm.fma.f64(double %x, double %x, double %minus)
  %error = call double @llvm.fabs.f64(double %e)
  %bits = bitcast double %p to i64
  %below = add i64 %bits, -1
  %exponent = and i64 %below, {0x7FF << 52}
  %power = bitcast i64 %exponent to double
  %bound = fmul double %power, {constant(0.45 * 2.0**-52, _F64)}
  %near = fcmp ole double %error, %bound
  %large = fcmp oge double %p, {constant(1e-290, _F64)}
  %usual = and i1 %near, %large
  %zero = fcmp oeq double %x, {constant(0.0, _F64)}
  %known = or i1 %usual, %zero
  br i1 %known, label %done, label %library
library:
  %found = call double @{LIBRARY_PREFIX}pow(double %x, double {constant(2.0, _F64)})
  br label %done
done:
  %square = phi double [ %p, %entry ], [ %found, %library ]
  ret double %square
}}
"""


def power_of_scalars(code: Lanes, args: Sequence[str]) -> str:
    """The power of two scalars of float64."""
    x, y = args
    if code.count > 1 or y != code.const(2.0, _F64):
        return code.library("pow", args)
    module = code.function.module
    module.declare("declare double @llvm.fma.f64(double, double, double)")
    module.declare("declare double @llvm.fabs.f64(double)")
    module.declare(f"declare double @{LIBRARY_PREFIX}pow(double, double) nounwind")
    if _SQUARE not in module.functions:
        module.functions.append(_SQUARE)
    return code.op(f"call double @fxc.square_by_pow(double {x})")
