"""Python's operators on NumPy's complex scalars, which are not what the ufuncs compute.

They round products otherwise, and do not look for nan in imaginary parts where they order. See Note
[Complex numbers] in ``lowering``.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.types import ScalarType, Type

from ..numbers.python_numbers import cast_to
from ..values.operands import operand, record
from .dtypes import promoting

_WITHOUT_UFUNC = complex(np.inf, np.nan)  # it is above finite numbers for scalars alone


def computed(op: str, left: object, right: Any) -> object:
    """What Python's operator gives for scalars; None where NumPy takes the ufunc."""
    parts = operand(left), operand(right)
    if not _has_scalar_form(*(x.type for x in parts)):
        return None
    dtype = np.result_type(*(promoting(x.type) for x in parts))
    cast = (x if x.type == ScalarType(dtype) else cast_to(x, dtype) for x in parts)
    return record(f"py_{op}", *cast)


@cache
def _has_scalar_form(left: Type, right: Type) -> bool:
    """Whether operators of such operands are those of a complex scalar: NumPy is asked for an order
    that its ufuncs do not have.
    """
    kinds = left, right
    if not all(isinstance(kind, ScalarType) and kind.dtype.kind in "biufc" for kind in kinds):
        return False
    x, y = (_sample(kind) for kind in kinds)
    if isinstance(x, np.complexfloating):
        return bool(operator.gt(type(x)(_WITHOUT_UFUNC), y))
    return isinstance(y, np.complexfloating) and bool(operator.lt(x, type(y)(_WITHOUT_UFUNC)))


def _sample(kind: Type) -> Any:
    one = promoting(kind)
    return one.type(1) if isinstance(one, np.dtype) else one
