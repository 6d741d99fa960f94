"""Numbers that become items of an array of a given dtype, each converted by itself.

NumPy casts some of them and asks Python's ``int`` or ``float`` for others, which may raise where a
cast wraps around, or round twice. Native code casts, and leaves where that would make a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numpy_api.ufuncs import call_ufunc
from ..session import current
from .operands import operand

_EXACT = 2**53  # up to which ints are float64s, too


def is_a_cast(source: np.dtype, target: np.dtype) -> bool:
    """Whether NumPy's conversion of such a number is the cast, whatever the number is."""
    if np.can_cast(source, target, "safe"):
        return True
    return source.kind in "fc" and target.kind in "fc"


def is_stored(source: np.dtype, target: np.dtype) -> bool:
    """Whether native code converts numbers of one dtype to the other."""
    return is_a_cast(source, target) or (source.kind in "iuf" and target.kind in "iuf")


def demand_cast(x: object, source: np.dtype, target: np.dtype) -> None:
    """Have native code leave where one of the elements, or the scalar, is not just cast."""
    if is_a_cast(source, target):
        return
    low, high = _bounds(source, target)
    for name, bound in (("greater", low), ("less", high)):
        if bound is not None:
            fits = call_ufunc(name, x, bound)
            fits = fits.all() if getattr(fits, "ndim", 0) else fits
            current().record("try_demand", operand(fits))


def _bounds(source: np.dtype, target: np.dtype) -> tuple[Any, Any]:
    """Numbers between which both conversions are the same; None for an end without a bound."""
    if target.kind == "f":
        if source.itemsize < 8:
            return None, None
        return (-_EXACT if source.kind == "i" else None), _EXACT
    info = np.iinfo(target)
    if source.kind == "f":
        return source.type(info.min - 1), source.type(info.max + 1)
    have = np.iinfo(source)
    low = info.min - 1 if have.min < info.min else None
    return low, (info.max + 1 if have.max > info.max else None)
