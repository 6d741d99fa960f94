"""Index arrays and masks, see Note [Index arrays]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Node, Operand
from fxc.ir.symbols import Dim, product
from fxc.ops.metas.indexed import index_space

from .arithmetic import truth
from .emitter import OnnxEmitter
from .kernels import FLOAT16, INT64, UINT64
from .pointwise import given
from .scattering import from_either, put_rows
from .tensors import Tensor
from .views import counted, expanded, fitted, reshaped, transposed, with_axes
from .writer import ModelWriter


def _wrap_index(w: ModelWriter, node: Node) -> Tensor:
    """Where the index is out of bounds the flag is False, and 0 stands for it."""
    index = node.arg("index")
    x, size = w.cast(w.value(index), INT64), w.size(node.arg("size"))
    fits = (x >= -size) & (x < size)
    w.require(fits, index.type.rank)
    return w.where(fits, w.where(x < 0, x + size, x), 0)


def _axes_first(rank: int, axes: Sequence[int]) -> list[int]:
    return [*axes, *(axis for axis in range(rank) if axis not in axes)]


def _inverse(order: Sequence[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]


def _places(w: ModelWriter, x: Operand, indices: Sequence[Operand], axes: Sequence[int]) -> Tensor:
    """The index arrays as one, into the indexed axes as one."""
    total: Tensor | None = None
    for index, axis in zip(indices, axes, strict=True):
        found = w.cast(w.value(index), INT64)
        total = found if total is None else total * w.size(x.type.shape[axis]) + found
    assert total is not None
    return total


def _merged(w: ModelWriter, x: Operand, axes: Sequence[int]) -> tuple[Tensor, list[Dim], list[int]]:
    """``x`` with the indexed axes as one in front; the shape of the others; the order of axes."""
    kind, order = x.type, _axes_first(x.type.rank, axes)
    front = transposed(w, w.value(x), order)
    rest = [kind.shape[axis] for axis in order[len(axes) :]]
    if len(axes) > 1:
        count = product([kind.shape[axis] for axis in axes])
        front = reshaped(w, front, (count, *rest))
    return front, rest, order


def _gather(w: ModelWriter, node: Node) -> Tensor:
    x, indices, axes, place = node.args[:4]
    space, shape = index_space(x.type, tuple(i.type for i in indices), axes, place)
    front, _, _ = _merged(w, x, axes)
    found = w.op("Gather", (front, _places(w, x, indices, axes)), x.type.dtype, axis=0)
    return _into_place(w, found, len(shape), place, len(space))


def _into_place(w: ModelWriter, x: Tensor, count: int, place: int, rank: int) -> Tensor:
    """The first axes moved behind ``place`` others."""
    rest = list(range(count, rank))
    return transposed(w, x, [*rest[:place], *range(count), *rest[place:]])


def _rows(
    w: ModelWriter, node: Node, source: Operand
) -> tuple[Tensor, Tensor, Tensor, list[int], tuple[Dim, ...]]:
    """What is written to rows: the array, the places, the rows; the order of axes, the shape of
    the rows.
    """
    x, indices, axes = node.arg("x"), node.arg("indices"), node.arg("axes")
    place = node.arg("place")
    space, shape = index_space(x.type, tuple(i.type for i in indices), axes, place)
    front, rest, order = _merged(w, x, axes)
    broadcast = expanded(w, _places(w, x, indices, axes), shape)
    flat = w.op("Reshape", (broadcast, w.ints(-1)), INT64)
    new = fitted(w, source, x.type.dtype, space)
    of_index = range(place, place + len(shape))
    new = transposed(w, new, _axes_first(len(space), list(of_index)))
    count = product(shape)
    return front, flat, reshaped(w, new, (count, *rest)), order, (count, *rest)


def _back(w: ModelWriter, node: Node, found: Tensor, order: list[int]) -> Tensor:
    shape = node.arg("x").type.shape
    whole = reshaped(w, found, [shape[axis] for axis in order])
    return transposed(w, whole, _inverse(order))


def _index_put(w: ModelWriter, node: Node) -> Tensor:
    front, flat, rows, order, _ = _rows(w, node, node.arg("source"))
    return _back(w, node, put_rows(w, front, flat, rows), order)


_REDUCTIONS = {
    "add": "add",
    "subtract": "add",
    "multiply": "mul",
    "maximum": "max",
    "minimum": "min",
}


def _index_reduce(w: ModelWriter, node: Node) -> Tensor:
    """Row after row in order, as ``ufunc.at`` does it."""
    ufunc = node.arg("ufunc")
    front, flat, rows, order, shape = _rows(w, node, node.arg("source"))
    rank = len(shape)
    places = expanded(w, with_axes(w, flat, range(1, rank)), shape)
    working = INT64 if front.dtype.kind in "iu" else front.dtype
    front, rows = w.cast(front, working), w.cast(rows, working)
    if ufunc == "subtract":
        rows = -rows
    reduction = _REDUCTIONS[ufunc]
    found = w.op("ScatterElements", (front, places, rows), front.dtype, axis=0, reduction=reduction)
    return _back(w, node, w.cast(found, node.output.type.dtype), order)


def _index_reduce_problem(node: Node) -> str | None:
    ufunc, source, kind = node.arg("ufunc"), node.arg("source"), node.arg("x").type
    if ufunc not in _REDUCTIONS or source is None:
        return f"it does not scatter by {ufunc}"
    dtype, given = kind.dtype, source.type.in_loops
    if dtype.kind == "b" or dtype == FLOAT16 or np.result_type(_one(dtype), _one(given)) != dtype:
        return f"it does not scatter {source.type.dtype} to {dtype} by {ufunc}"
    if ufunc in ("maximum", "minimum") and (dtype.kind == "f" or dtype == UINT64):
        return f"it does not scatter {dtype} by {ufunc} as NumPy does"
    return None


def _one(kind: np.dtype | type) -> Any:
    """A one of a dtype, or of Python's own."""
    return kind(1) if isinstance(kind, type) else kind.type(1)


def _nonzero(w: ModelWriter, node: Node) -> Tensor:
    mask = truth(w.value(node.arg("mask")))
    return w.op("Transpose", (w.op("NonZero", (mask,), INT64),), INT64, perm=[1, 0])


def _masked_put(w: ModelWriter, node: Node) -> Tensor:
    x, mask, source = node.args
    kind, holds = x.type, truth(w.value(mask))
    deep = kind.rank - mask.type.rank
    if source.type.rank <= deep:
        new = given(w, source, kind.dtype)
        return w.where(with_axes(w, holds, range(mask.type.rank, kind.rank)), new, w.value(x))
    rest = kind.shape[mask.type.rank :]
    flat = w.op("Reshape", (holds, w.ints(-1)), holds.dtype)
    extra = source.type.rank - len(rest) - 1
    rows = fitted(w, source, kind.dtype, (source.type.shape[extra], *rest))
    count = w.size_of(rows, 0)
    taken = w.cast(flat, INT64)
    number = w.same("CumSum", taken, w.constant(0, INT64), exclusive=1)
    total = w.op("ReduceSum", (taken, None), INT64, keepdims=0)
    w.require(total.equal(count) | count.equal(1))
    number = w.where(count.equal(1), 0, number)
    size = product(mask.type.shape)
    old = reshaped(w, w.value(x), (size, *rest))
    places = (counted(w, w.size(size)), number)
    return reshaped(w, from_either(w, old, rows, flat & (number < count), places), kind.shape)


EMITTERS: dict[str, OnnxEmitter] = {
    "wrap_index": OnnxEmitter(_wrap_index),
    "gather": OnnxEmitter(_gather),
    "index_put": OnnxEmitter(_index_put),
    "index_reduce": OnnxEmitter(_index_reduce, problem=_index_reduce_problem),
    "nonzero": OnnxEmitter(_nonzero),
    "masked_put": OnnxEmitter(_masked_put),
}
