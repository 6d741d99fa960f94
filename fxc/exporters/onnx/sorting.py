"""Numbers in order: sorting, and places among sorted numbers."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node

from .arithmetic import is_nan
from .emitter import OnnxEmitter
from .kernels import BOOL, FLOAT16, FLOAT32, INT64
from .pointwise import given
from .reductions import ordered
from .tensors import Tensor
from .writer import ModelWriter


def _sorted(w: ModelWriter, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Numbers in order and their places; of equal ones the first comes first."""
    keys = ordered(w, x)
    places = w.op("Shape", (keys,), INT64)
    count = w.op("Gather", (places, w.ints(axis)), INT64, axis=0)
    found = w.calls("TopK", (keys, count), (keys.dtype, INT64), axis=axis, largest=0, sorted=1)
    return found[0], found[1]


def _order(w: ModelWriter, x: Tensor, axis: int) -> Tensor:
    """The places of numbers in order; nan comes last."""
    if x.dtype.kind != "f":
        return _sorted(w, x, axis)[1]
    nans = is_nan(x)
    _, order = _sorted(w, w.choose(nans, np.inf, x), axis)
    moved = w.op("GatherElements", (w.cast(nans, INT64), order), INT64, axis=axis)
    _, again = _sorted(w, moved, axis)
    return w.op("GatherElements", (order, again), INT64, axis=axis)


def _sort_line(w: ModelWriter, node: Node) -> tuple[Tensor, int]:
    x, axis = node.args[0], node.arg("axis")
    found = w.value(x)
    if axis is None or not x.type.rank:
        return w.op("Reshape", (found, w.ints(-1)), found.dtype), 0
    return found, axis % x.type.rank


def in_order(w: ModelWriter, x: Tensor, axis: int) -> Tensor:
    """An array that is sorted along an axis."""
    order = _order(w, x if x.dtype != FLOAT16 else w.cast(x, FLOAT32), axis)
    return w.op("GatherElements", (x, order), x.dtype, axis=axis)


def _sort(w: ModelWriter, node: Node) -> Tensor:
    return in_order(w, *_sort_line(w, node))


def _argsort(w: ModelWriter, node: Node) -> Tensor:
    x, axis = _sort_line(w, node)
    return _order(w, x if x.dtype != FLOAT16 else w.cast(x, FLOAT32), axis)


# Note [Searching]
# NumPy halves the range in which a place is, and so does the loop here, for all numbers at once. Of
# an array that is not sorted both find the same place for one number. For several NumPy starts each
# search from the one before.


def _searchsorted(w: ModelWriter, node: Node) -> Tensor:
    """See Note [Searching]."""
    x, v = node.args[:2]
    common = np.result_type(x.type.dtype, v.type.dtype)
    line, wanted = ordered(w, given(w, x, common)), ordered(w, given(w, v, common))
    return searched(w, line, wanted, right=node.arg("side") == "right")


def searched(w: ModelWriter, line: Tensor, wanted: Tensor, *, right: bool) -> Tensor:
    """For each number the place in a sorted line of the first that is not before it."""
    shape = w.op("Shape", (wanted,), INT64)
    none = w.op("Expand", (w.constant(0, INT64), shape), INT64)
    every = w.op("Expand", (w.size_of(line, 0), shape), INT64)
    turn, going = (w.tensor(name, kind, is_number=True) for name, kind in _TURNS)
    low, high = w.tensor("low", INT64), w.tensor("high", INT64)
    with w.body() as scope:
        middle = (low + high) / 2
        active = low < high
        found = w.op("Gather", (line, w.where(active, middle, 0)), line.dtype, axis=0)
        before = _is_before(found, wanted, right)
        lower = w.where(active & before, middle + 1, low)
        higher = w.where(active & ~before, middle, high)
        goes_on = _exists(w, lower < higher)
    body = w.finish(scope, (turn, going, low, high), (goes_on, lower, higher))
    first = _exists(w, none < every)
    return w.calls("Loop", (None, first, none, every), (INT64, INT64), body=body)[0]


_TURNS = (("turn", INT64), ("going", BOOL))


def _exists(w: ModelWriter, conditions: Tensor) -> Tensor:
    return ~w.op("ReduceSum", (w.cast(conditions, INT64), None), INT64, keepdims=0).equal(0)


def _is_before(x: Tensor, y: Tensor, right: bool) -> Tensor:
    """Whether x is less than y, or with ``right`` not more; nan comes last."""
    before = x <= y if right else x < y
    if x.dtype.kind != "f":
        return before
    return before | (is_nan(y) if right else is_nan(y) & ~is_nan(x))


EMITTERS: dict[str, OnnxEmitter] = {
    "sort": OnnxEmitter(_sort),
    "argsort": OnnxEmitter(_argsort),
    "searchsorted": OnnxEmitter(_searchsorted),
}
