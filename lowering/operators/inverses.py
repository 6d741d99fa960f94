"""Which numbers can be divided by way of an inverse, see Note [Quotients by inverses]."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..nests.buffers import F32, F64

# The operators of floats that keep a processor's unit for divisions busy.
DIVIDING = frozenset({"divide", "reciprocal", "sqrt", "py_divide", "try_divide", "py_root"})
# Absolute values from the first number on, below the second one.
DIVISORS: Mapping[np.dtype, tuple[float, float]] = {
    F32: (2.0**-30, 2.0**30),
    F64: (2.0**-500, 2.0**500),
}
DIVIDENDS: Mapping[np.dtype, tuple[float, float]] = {
    F32: (2.0**-60, 2.0**60),
    F64: (2.0**-400, 2.0**400),
}


def inverse_of(value: float, dtype: np.dtype) -> float:
    """1 / value, rounded; nan where no quotient is made with it."""
    low, high = DIVISORS[dtype]
    return float(dtype.type(1) / dtype.type(value)) if low <= abs(value) < high else math.nan
