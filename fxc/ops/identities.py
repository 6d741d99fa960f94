"""Rewrites of one operator call that keep every bit of NumPy's result.

``IDENTITIES[name](args)`` gives the operator and arguments of an equal and cheaper call, or None.
The arguments are those of a node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from fxc.ir.graph import Literal
from fxc.ir.types import ArrayType

Rewrite = Callable[[tuple[Any, ...]], "tuple[str, tuple[Any, ...]] | None"]

# Note [Powers that NumPy computes otherwise]
# np.power with one exponent for all elements does not call pow for the exponents 2, 0.5, -1 and 1
# in float32 and float64: it runs square, sqrt, reciprocal and positive, so that (-inf)**0.5 is
# nan. One exponent is a scalar, an array of rank 0, one that broadcast_to made of one element, or
# one of size 1 beside a base of another shape. Where a number stands in the program, the rewrite
# below says so; where it is known at run time only, the loop compares it (``power_by_one``). A
# scalar raised to a scalar by ``**`` does call pow. For integers the square has the same bits as a
# product however it is computed; -1 raises. NumPy 2.0 always calls pow: there it is the operator
# ``**`` of arrays that runs the others.
_POWERS = {2.0: "square", 1.0: "positive", 0.5: "sqrt", -1.0: "reciprocal"}


@cache
def power_takes_shortcuts() -> bool:
    """See Note [Powers that NumPy computes otherwise]."""
    with np.errstate(all="ignore"):
        return bool(np.isnan(np.power(np.array([-np.inf]), 0.5))[0])


def _power(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]] | None:
    """See Note [Powers that NumPy computes otherwise]."""
    x, y = args
    if not isinstance(y, Literal) or not isinstance(x.type, ArrayType):
        return None
    if y.type.dtype.kind not in "iuf" or y.value not in _POWERS:
        return None
    exponent = float(y.value)  # type: ignore[arg-type]
    dtype: np.dtype = x.type.dtype
    weak = y.type.weak and (dtype.kind == "f" or (dtype.kind in "iu" and y.type.dtype.kind == "i"))
    if not weak and (y.type.weak or np.result_type(dtype, y.type.dtype) != dtype):
        return None  # the power is computed in another dtype than the base's
    if dtype.kind in "iu":
        return (_POWERS[exponent], (x,)) if exponent >= 1 else None
    if dtype.kind == "f" and dtype.itemsize >= 4 and power_takes_shortcuts():
        return _POWERS[exponent], (x,)
    return None


# Note [Comparisons with an int that the dtype does not hold]
# NumPy compares integers with a Python int by value, also where the int does not fit into their
# dtype: ``uint8_array < 256`` is True everywhere. Native code compares in the dtype itself, so what
# is known from the range becomes a comparison with its end, which has the same answer everywhere.
_MIRRORED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "greater",
    "greater": "less",
    "less_equal": "greater_equal",
    "greater_equal": "less_equal",
}


def _comparison(name: str, args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]] | None:
    """See Note [Comparisons with an int that the dtype does not hold]."""
    x, y = args
    if isinstance(x, Literal):
        name, x, y = _MIRRORED[name], y, x
    if isinstance(x, Literal) or not isinstance(y, Literal) or type(y.value) is not int:
        return None
    if x.type.dtype.kind not in "iu" or not y.type.weak:
        return None
    limits = np.iinfo(x.type.dtype)
    if limits.min <= y.value <= limits.max:
        return None
    if y.value < limits.min:
        is_true = name in ("greater", "greater_equal", "not_equal")
        return "greater_equal" if is_true else "less", (x, Literal(int(limits.min)))
    is_true = name in ("less", "less_equal", "not_equal")
    return "less_equal" if is_true else "greater", (x, Literal(int(limits.max)))


IDENTITIES: dict[str, Rewrite] = {
    "power": _power,
    **{name: partial(_comparison, name) for name in _MIRRORED},
}

# Two calls of these are not one: nobody knows what is in an empty array, and whoever fills it
# fills its own.
DISTINCT = frozenset({"empty"})
