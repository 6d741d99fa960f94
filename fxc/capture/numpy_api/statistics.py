"""Medians, averages, histograms, and what leaves nans out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Value
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import counted_in, product
from fxc.ir.types import is_c_contiguous
from fxc.ops.metas.shapes import normalize_axes_tuple
from fxc.ops.table import TABLE

from ..arrays import creation, shaping
from ..arrays.reductions import demand_more, named
from ..arrays.traced_scalar import numpy_scalar
from ..arrays.ufuncs import call_ufunc
from ..forms.sized import most_of
from ..numbers.dims import axis_number, dim_of
from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.above import above
from ..values.operands import array_value, kind_of, operand, record, wrap
from .library import listed
from .numpy_source import run_source

_SORTED = tuple(np.dtype(code) for code in "?bhilBHILfd")
_TOGETHER = 600  # elements from which on np.nanmedian takes rows one by one
_SHORT = 2048  # elements that are sorted in less time than NumPy takes to find those in the middle


def averaging(name: str, whole: Callable[..., Any]) -> Callable[..., Any]:
    """``np.mean``, ``np.var`` or ``np.std``: ``whole`` does it for all elements; for some, or about
    a mean that is given, NumPy's own code does.
    """
    code = getattr(np._core._methods, f"_{name}")  # type: ignore[attr-defined]

    def call(a: object, *args: object, **options: object) -> object:
        where = options.get("where", True)
        if options.get("mean") is None and (where is True or where is np._NoValue):
            return whole(a, *args, **options)
        given = {k: x for k, x in named(name, args, options).items() if x is not np._NoValue}
        array = creation.asarray(a)
        axis = given.get("axis")
        gone = array.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
        is_number = gone == array.ndim and not given.get("keepdims")
        if not is_number or given.get("out") is not None or array.dtype == np.float16:
            return run_source(code, (array,), given, f"np.{name}")
        # The code makes numbers by ``np.float64(x)``, which asks for a float of Python's.
        found = run_source(code, (array,), {**given, "keepdims": True}, f"np.{name}")
        return found[(0,) * array.ndim]

    return call


def median(a: object, axis: object = None, *args: object, **kwargs: object) -> object:
    """As ``np.median``: of short vectors and rows by a sort, of other integers by NumPy's own code,
    of other floats NumPy finds it.
    """
    value = array_value(a)
    if args or kwargs:
        return run_source(np.median, (a, axis, *args), kwargs)
    axes = _places(axis, value.type.rank)
    few = _are_few(value, axes)
    if few:
        return _middle(_rows(value, axes))
    if few is None and len(axes) == value.type.rank:
        found, door = partial(record, "median", value, axis=None), current().door
        is_short = record("int_value", kind_of(value).size) <= _SHORT
        return above().chosen(door, is_short, lambda: _middle(_rows(value, axes)), found)
    by_numpy = value.type.dtype.kind == "f" or counted_in(kind_of(value).size)
    is_served = axis is None or (len(axes) == 1 and value.type.rank <= 2)
    if not (by_numpy and is_served):
        return run_source(np.median, (a, axis), {})
    place = None if axis is None else axes[0]
    demand_more(kind_of(value), None if place is None else axes, 0)
    return record("median", value, axis=place)


def nanmedian(a: object, axis: object = None, *args: object, **kwargs: object) -> object:
    """As ``np.nanmedian``: of short vectors and rows by a sort, of others by NumPy."""
    value = array_value(a)
    if not (args or kwargs) and value.type.dtype.kind in "fiu":
        axes = _places(axis, value.type.rank)
        if _are_few(value, axes):
            if len(axes) < value.type.rank:
                return _middle_of_each(wrap(_rows(value, axes)))
            if value.type.dtype.kind == "f":
                return _middle(_rows(value, axes), leaves_nans=True)
    return listed(TABLE["nanmedian"])(a, axis, *args, **kwargs)


def _places(axis: object, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    return normalize_axes_tuple([axis_number(each) for each in given], rank)


def _are_few(value: Value, axes: tuple[int, ...]) -> bool | None:
    """Whether the numbers of each median are few, to be sorted; None if only the data says so."""
    kind, rank = kind_of(value), value.type.rank
    size, kept = kind.size, rank - len(axes)
    in_order = kept < 2 or len(axes) > 1 or is_c_contiguous(kind)
    of_columns = axes == (0,) and kept == 1
    if not axes or kind.dtype not in _SORTED:
        return False
    if not of_columns and (axes != tuple(range(kept, rank)) or not in_order):
        return False
    if not counted_in(size):
        length = hint(product([kind.shape[place] for place in axes]))
        return hint(size) > 0 and length <= _SHORT
    most = most_of(current(), size)  # of all, and so of each
    return True if most is not None and 0 < hint(most) <= _SHORT else None


def _rows(value: Value, axes: tuple[int, ...]) -> Value:
    """The numbers of each median along the last axis, in C order: integers as the floats that NumPy
    takes the mean of.

    Where the medians have several axes, they are in C order, too, as NumPy's only are for some.
    """
    kept, given = value.type.rank - len(axes), wrap(value)
    if axes == (0,) and kept == 1:
        given = given.T
    if value.type.dtype.kind != "f":
        given = given.astype(np.float64)
    return array_value(given.reshape(*given.shape[:kept], -1).copy())


def _middle(value: Value, leaves_nans: bool = False) -> object:
    """The mean of the one or two elements in the middle of a row; nan if there is one among them
    that is not left out.

    The mean begins to add at +0.0. Of nothing it warns: that is NumPy's.
    """
    ordered, size = wrap(record("sort", value, axis=-1, kind=None)._value), kind_of(value).shape[-1]
    count: Any = size
    if leaves_nans:
        count = np.count_nonzero(ordered == ordered)
        record("try_demand", operand(count > 0))
    elif not isinstance(size, int):
        count = record("int_value", size)
        record("try_demand", operand(count > 0))
    is_counted = leaves_nans or current().varies(size) or counted_in(size)  # in the graph
    number = count if is_counted else wrap_dim(size)
    places = (number - 1) // 2, number // 2, number - 1
    is_vector = ordered.ndim == 1
    one_of = _scalar_of if is_vector else _array_of
    lower, upper, last = (ordered[place if is_vector else (..., place)] for place in places)
    one, two = upper + 0.0, (lower + 0.0 + upper) / 2
    if isinstance(size, int) and not leaves_nans:
        found = one if size % 2 else two
    else:
        found = one_of(count % 2 == 1, one, two)
    return found if leaves_nans else one_of(call_ufunc("isnan", last), last, found)


def _middle_of_each(rows: Any) -> object:
    """The mean of the two elements in the middle of each row without its nans, or of one and
    itself; of long rows, of one alone: NumPy takes those one by one.
    """
    ordered = np.sort(rows, axis=-1)  # nans are last
    count = np.count_nonzero(ordered == ordered, axis=-1)
    record("try_demand", operand((count > 0).all()))
    places = (count - 1) // 2, count // 2
    lower, upper = (np.take_along_axis(ordered, x[..., None], -1)[..., 0] for x in places)
    two = (lower + 0.0 + upper) / 2
    if guard(kind_of(rows._value).shape[-1], "<", _TOGETHER):
        return two
    return _array_of(count % 2 == 1, upper + 0.0, two)


def _array_of(test: object, left: object, right: object) -> Any:
    return record("where", operand(test), operand(left), operand(right))


def _scalar_of(test: object, left: object, right: object) -> object:
    return record("item", _array_of(test, left, right)._value)


# ------------------------------------------------------------------ averages and histograms


def average(
    a: object,
    axis: object = None,
    weights: object = None,
    returned: object = False,
    **options: object,
) -> object:
    if weights is not None:
        return run_source(np.average, (a, axis, weights, returned), options)
    array = creation.asarray(a)
    found = array.mean(axis, **options)
    whole = creation.asarray(found)
    count = numpy_scalar(whole.dtype.type, array.size / whole.size)  # may raise
    if not returned:
        return found
    if whole.ndim:
        count = shaping.broadcast_to(count, whole.shape).copy()
    return found, count


def nanstd(a: object, *args: object, **kwargs: object) -> object:
    variance = run_source(np.nanvar, (a, *args), kwargs)
    return np.sqrt(variance, out=variance) if creation.is_array(variance) else np.sqrt(variance)


def histogram(
    a: object, bins: object = 10, range: Any = None, density: object = None, weights: object = None
) -> object:
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
