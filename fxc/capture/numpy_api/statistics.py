"""Averages, histograms, and what leaves nans out, where NumPy's own code needs elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.size_guards import guard

from ..door.numpy_source import run_source
from ..refusing import refuse
from ..session import current
from ..values.dims import dim_of
from ..values.operands import array_value, operand, record
from ..values.traced_scalar import numpy_scalar
from . import creation, shaping
from .ufunc_methods import array_ufunc


def average(
    a: object,
    axis: object = None,
    weights: object = None,
    returned: object = False,
    **options: object,
) -> Any:
    """As ``np.average``."""
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


def _nan_extremum(ufunc: np.ufunc) -> Callable[..., Any]:
    def call(a: Any, axis: object = None, out: Any = None, **options: object) -> Any:
        given = {name: x for name, x in options.items() if x is not np._NoValue}
        found = array_ufunc(ufunc, "reduce", (a,), {"axis": axis, "out": out, **given})
        missing = creation.asarray(np.isnan(found)).any()
        current().record("try_demand", operand(np.logical_not(missing)))
        return found

    return call


nanmin, nanmax = _nan_extremum(np.fmin), _nan_extremum(np.fmax)


def nanstd(a: object, *args: object, **kwargs: object) -> Any:
    """As ``np.nanstd``."""
    variance = run_source(np.nanvar, (a, *args), kwargs)
    return np.sqrt(variance, out=variance) if creation.is_array(variance) else np.sqrt(variance)


def histogram(
    a: Any, bins: object = 10, range: Any = None, density: object = None, weights: Any = None
) -> Any:
    """As ``np.histogram`` into a number of bins that is known, or between edges."""
    value, weight = array_value(a), None if weights is None else array_value(weights)
    if isinstance(bins, str):
        raise refuse(
            "np.histogram into bins that depend on the data cannot be captured; give edges"
        )
    if operand(bins).type.rank:
        edges = creation.asarray(bins)
        options = {"density": bool(density)}
        return record("histogram_of_edges", value, edges._value, weight, **options), edges
    count = dim_of(bins)
    if not guard(count, ">", 0):
        raise ValueError("`bins` must be positive, when an integer")
    limits = (None, None) if range is None else tuple(map(operand, range))
    return record("histogram", value, weight, *limits, bins=count, density=bool(density))


def kron(a: object, b: object) -> Any:
    """As ``np.kron``."""
    right = creation.asarray(b)
    left = creation.array(a, copy=None, ndmin=right.ndim)
    rank = left.ndim
    if not right.ndim:
        return np.multiply(left, right)
    sizes = (1,) * (rank - right.ndim) + right.shape
    whole = tuple(m * n for m, n in zip(left.shape, sizes, strict=True))
    left = np.expand_dims(left, tuple(_range(1, 2 * rank, 2)))
    right = np.expand_dims(right, tuple(_range(rank - right.ndim)))
    right = np.expand_dims(right, tuple(_range(0, 2 * rank, 2)))
    return np.multiply(left, right).reshape(whole)


_range = range

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.average: average,
    np.nanmin: nanmin,
    np.nanmax: nanmax,
    np.nanstd: nanstd,
    np.histogram: histogram,
    np.kron: kron,
}
