"""Histograms as composites: bins are found as NumPy finds them, and elements added up in its order.

See ``composites``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal, SliceSpec
from fxc.ir.size_functions import floordiv, hint
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ScalarType

from .composites import OpsHandle

_FLOAT64 = np.dtype(np.float64)
_INT64 = np.dtype(np.int64)

# Note [Histograms as NumPy computes them]
# numpy/lib/_histograms_impl.py: the place of an element among bins of one width is a quotient,
# rounded down, and then looked at once more: it may be one off at the edges. Weights are added up
# as float64 in blocks of so many elements, in order, then the sums of the blocks in the dtype of
# the weights. What lies outside of a given range is in no bin; here it is in one behind the last.
# Of many elements of a narrow dtype each number is counted, and its place is found once.
_BLOCK = 65536
_EXACT = 2**53  # integers up to here are float64s


def bincount(ops: OpsHandle, x: object, weights: object, minlength: Dim) -> Any:
    """The elements at each place, where all places are below ``minlength``: else it is NumPy's."""
    kind = ops.type_of(x)
    if isinstance(kind, ScalarType) or kind.dtype.kind not in "iu" or kind.dtype == np.uint64:
        return NotImplemented
    if decide(kind.size, ">", 0) is not True or decide(minlength, ">", 0) is not True:
        return NotImplemented
    if weights is not None and not _adds_up(ops, weights):
        return NotImplemented
    places = ops.astype(x, _INT64, "unsafe", "K")
    _demand(ops, ops.greater_equal(ops.min(places, None, False), np.int64(0)))
    _demand(ops, ops.less(ops.max(places, None, False), _number(ops, minlength, _INT64)))
    dtype = _INT64 if weights is None else _FLOAT64
    one = np.int64(1) if weights is None else ops.astype(weights, _FLOAT64, "unsafe", "K")
    return _added_up(ops, ops.zeros((minlength,), dtype, None), one, (places,))


def histogram(
    ops: OpsHandle, x: object, weights: object, low: object, high: object, bins: Dim, density: bool
) -> Any:
    """See Note [Histograms as NumPy computes them]. There are so many parameters because they are
    those of the operator.
    """
    kind = ops.type_of(x)
    if density or isinstance(kind, ScalarType) or decide(kind.size, ">", 0) is not True:
        return NotImplemented
    if kind.dtype != _FLOAT64 and (kind.dtype.kind not in "iu" or kind.dtype == np.uint64):
        return NotImplemented
    if weights is not None and not _adds_up(ops, weights):
        return NotImplemented
    if low is not None and not (_is_exact(ops, low) and _is_exact(ops, high)):
        return NotImplemented
    size = product(kind.shape)
    flat = ops.reshape_copy(x, (size,))
    if kind.dtype == _INT64:
        _demand(ops, ops.greater_equal(ops.min(flat, None, False), np.int64(-_EXACT)))
        _demand(ops, ops.less_equal(ops.max(flat, None, False), np.int64(_EXACT)))
    values = ops.astype(flat, _FLOAT64, "unsafe", "K")
    first, last = _ends(ops, values, low, high)
    edges = ops.linspace(first, last, bins + 1, True, _FLOAT64)
    lower = ops.slice_copy(edges, (SliceSpec(0, bins, 1),))
    upper = ops.slice_copy(edges, (SliceSpec(1, bins + 1, 1),))
    _demand(ops, ops.all(ops.less(lower, upper), None, False))
    counts, is_given = None, low is not None
    if weights is None and _has_few_values(kind.dtype, size):
        values, counts = _each_value(ops, flat, kind.dtype)
        is_given = True  # those that are not there may lie outside of the range
    places = _places(ops, values, (first, last), (lower, upper), bins, is_given=is_given)
    added = np.int64(1) if counts is None else counts
    return _counted(ops, places, weights, added, bins, is_given=is_given), edges


def _has_few_values(dtype: np.dtype, size: Dim) -> bool:
    """Whether there are far more elements than numbers that the dtype has."""
    return dtype.itemsize <= 2 and hint(size) >= _OFTEN * 2 ** (8 * dtype.itemsize)


_OFTEN = 4  # a place takes so many times as long to find as an element to count


def _each_value(ops: OpsHandle, flat: object, dtype: np.dtype) -> tuple[object, object]:
    """All numbers of a dtype, and how many elements are each of them."""
    least, number = int(np.iinfo(dtype).min), 2 ** (8 * dtype.itemsize)
    places = ops.subtract(ops.astype(flat, _INT64, "unsafe", "K"), np.int64(least))
    counts = _added_up(ops, ops.zeros((number,), _INT64, None), np.int64(1), (places,))
    numbers = ops.add(ops.arange(0, 1, number, _INT64), np.int64(least))
    return ops.astype(numbers, _FLOAT64, "unsafe", "K"), counts


def _adds_up(ops: OpsHandle, weights: object) -> bool:
    """Whether weights are added up as float64."""
    kind = ops.type_of(weights)
    return not isinstance(kind, ScalarType) and kind.dtype.kind in "fi"


def _is_exact(ops: OpsHandle, end: object) -> bool:
    """Whether an end of the range is a float64, or may be one."""
    if isinstance(end, Literal):
        end = end.value
    if isinstance(end, int | float):
        return abs(end) <= _EXACT
    kind = ops.type_of(end)
    return kind.rank == 0 and kind.dtype == _FLOAT64


def _demand(ops: OpsHandle, holds: object) -> None:
    """Leave the call to NumPy if this is not so."""
    ops.try_demand(ops.py_bool(holds))


def _number(ops: OpsHandle, size: Dim, dtype: np.dtype) -> object:
    if isinstance(size, int):
        return dtype.type(size)
    return ops.astype(ops.int_value(size), dtype, "unsafe", "K")


def _ends(ops: OpsHandle, values: object, low: object, high: object) -> tuple[object, object]:
    """The ends of the range: those of the data if none are given."""
    if low is None:
        first, last = (getattr(ops, name)(values, None, False) for name in ("min", "max"))
    else:
        first, last = (ops.astype(end, _FLOAT64, "unsafe", "K") for end in (low, high))
        _demand(ops, ops.less_equal(first, last))
    _demand(ops, ops.isfinite(ops.subtract(last, first)))
    is_empty = ops.equal(first, last)
    return (
        ops.item(ops.where(is_empty, ops.subtract(first, 0.5), first)),
        ops.item(ops.where(is_empty, ops.add(last, 0.5), last)),
    )


def _places(
    ops: OpsHandle,
    values: object,
    ends: tuple[object, object],
    edges: tuple[object, object],
    bins: Dim,
    *,
    is_given: bool,
) -> object:
    """The bin of each element; behind all bins if it is outside of the range that is given.

    What is below the lower edge of its place is not above the upper one of the bin before.
    """
    first, last = ends
    keep = None
    if is_given:
        above, below = ops.greater_equal(values, first), ops.less_equal(values, last)
        keep = ops.logical_and(above, below)
        values = ops.where(keep, values, first)
    parts = ops.divide(ops.subtract(values, first), ops.subtract(last, first))
    number = _number(ops, bins, _INT64)
    places = ops.astype(ops.multiply(parts, _number(ops, bins, _FLOAT64)), _INT64, "unsafe", "K")
    last_place = ops.subtract(number, np.int64(1))
    places = ops.minimum(places, last_place)
    lower, upper = edges
    less = ops.less(values, _at(ops, lower, places))
    more = ops.greater_equal(values, _at(ops, upper, places))
    more = ops.logical_and(more, ops.less(places, last_place))
    places = ops.add(ops.subtract(places, less), ops.logical_and(more, ops.logical_not(less)))
    return places if keep is None else ops.where(keep, places, number)


def _at(ops: OpsHandle, edges: object, places: object) -> object:
    return ops.gather(edges, (places,), (0,), 0, None)


def _counted(
    ops: OpsHandle, places: object, weights: object, counts: object, bins: Dim, *, is_given: bool
) -> object:
    """The sum of weights in each bin, or without any that of ``counts``."""
    room = bins + is_given
    if weights is None:
        found = _added_up(ops, ops.zeros((room,), _INT64, None), counts, (places,))
    else:
        (size,) = ops.type_of(places).shape
        flat = ops.astype(ops.reshape_copy(weights, (size,)), _FLOAT64, "unsafe", "K")
        blocks = floordiv(size + (_BLOCK - 1), _BLOCK)
        numbers = ops.arange(0, 1, size, _INT64)
        block = ops.right_shift(numbers, np.int64(_BLOCK.bit_length() - 1))
        sums = ops.zeros((blocks, room), _FLOAT64, None)
        sums = _added_up(ops, sums, flat, (block, places))
        dtype = ops.type_of(weights).dtype
        found = ops.sum(ops.astype(sums, dtype, "unsafe", "K"), (0,), False, dtype)
    return ops.slice_copy(found, (SliceSpec(0, bins, 1),)) if is_given else found


def _added_up(ops: OpsHandle, start: object, source: object, indices: tuple[object, ...]) -> object:
    axes = tuple(range(len(indices)))
    return ops.index_reduce(start, source, indices, axes, 0, "add")
