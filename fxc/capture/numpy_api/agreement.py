"""Whether arrays agree, as one bool of Python's: ``np.allclose``, ``np.array_equal``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ops.metas.shapes import same_shape

from ..arrays.reductions import Asked, reduce
from ..arrays.ufuncs import call_ufunc
from ..numbers.python_numbers import to_bool
from ..values.operands import array_value, kind_of, wrap
from .numpy_source import run_source


def allclose(
    a: object, b: object, rtol: object = 1e-05, atol: object = 1e-08, equal_nan: bool = False
) -> Any:
    return _all(
        run_source(np.isclose, (a, b), {"rtol": rtol, "atol": atol, "equal_nan": equal_nan})
    )


def array_equal(a1: object, a2: object, equal_nan: bool = False) -> Any:
    """As ``np.array_equal``; sizes that agree or differ in this call are guarded to do so."""
    left, right = (wrap(array_value(x)) for x in (a1, a2))
    if left.ndim != right.ndim or not same_shape(*(kind_of(x._value).shape for x in (left, right))):
        return False
    equal = call_ufunc("equal", left, right)
    if equal_nan and all(x.dtype.kind in "fc" for x in (left, right)):
        nans = call_ufunc("logical_and", *(call_ufunc("isnan", x) for x in (left, right)))
        equal = call_ufunc("logical_or", equal, nans)
    return _all(equal)


def _all(x: object) -> Any:
    return to_bool(reduce("all", x, Asked()))
