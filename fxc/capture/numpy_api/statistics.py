"""Averages, histograms, and what leaves nans out, where NumPy's own code needs elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.size_guards import guard

from ..arrays import creation, shaping
from ..arrays.traced_scalar import numpy_scalar
from ..numbers.dims import dim_of
from ..session.refusing import refuse
from ..values.operands import array_value, operand, record
from .numpy_source import run_source


def average(
    a: object,
    axis: object = None,
    weights: object = None,
    returned: object = False,
    **options: object,
) -> Any:
    if weights is not None:
        return run_source(np.average, (a, axis, weights, returned), options)
    array = creation.asarray(a)
    found = array.mean(axis, **options)
    if not returned:
        return found
    whole = creation.asarray(found)
    count = numpy_scalar(whole.dtype.type, array.size / whole.size)
    if whole.ndim:
        count = shaping.broadcast_to(count, whole.shape).copy()
    return found, count


def nanstd(a: object, *args: object, **kwargs: object) -> Any:
    variance = run_source(np.nanvar, (a, *args), kwargs)
    return np.sqrt(variance, out=variance) if creation.is_array(variance) else np.sqrt(variance)


def histogram(
    a: object, bins: object = 10, range: Any = None, density: object = None, weights: object = None
) -> Any:
    """As ``np.histogram`` into a number of bins that is known, or between edges."""
    value, weight = array_value(a), None if weights is None else array_value(weights)
    if isinstance(bins, str):
        raise refuse(NUMPY_OPTION, "np.histogram into bins that depend on the data", "give edges")
    if operand(bins).type.rank:
        edges = creation.asarray(bins)
        options = {"density": bool(density)}
        return record("histogram_of_edges", value, edges._value, weight, **options), edges
    count = dim_of(bins)
    if not guard(count, ">", 0):
        raise ValueError("`bins` must be positive, when an integer")
    limits = (None, None) if range is None else tuple(map(operand, range))
    return record("histogram", value, weight, *limits, bins=count, density=bool(density))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.average: average,
    np.nanstd: nanstd,
    np.histogram: histogram,
}
