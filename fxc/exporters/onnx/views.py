"""Copies of views, and arrays in which what a view shows is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.graph import Node, Operand, SliceSpec
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, Type
from fxc.ops.metas import meta_of
from fxc.ops.metas.views import rows_of

from .emitter import OnnxEmitter, Write
from .kernels import INT64
from .pointwise import given
from .scattering import put_rows
from .tensors import Tensor
from .writer import ModelWriter

_LEAST = -(2**63)

# ---------------------------------------------------------------- helpers


def transposed(w: ModelWriter, x: Tensor, axes: Sequence[int]) -> Tensor:
    if list(axes) == list(range(len(axes))):
        return x
    return w.op("Transpose", (x,), x.dtype, perm=list(axes))


def reshaped(w: ModelWriter, x: Tensor, shape: Sequence[Dim]) -> Tensor:
    return w.op("Reshape", (x, w.sizes(shape)), x.dtype, allowzero=1)


def expanded(w: ModelWriter, x: Tensor, shape: Sequence[Dim]) -> Tensor:
    """Broadcast to a shape. To a size of 0 Expand does not."""
    sizes = w.sizes(shape)
    axes = [axis for axis, dim in enumerate(shape) if decide(dim, ">", 0) is not True]
    if not axes:
        return w.op("Expand", (x, sizes), x.dtype)
    some = w.op("Expand", (x, w.same("Max", sizes, w.ints(1))), x.dtype)
    ends = w.sizes([shape[axis] for axis in axes])
    return w.op("Slice", (some, w.ints(*[0] * len(axes)), ends, w.ints(*axes)), x.dtype)


def with_axes(w: ModelWriter, x: Tensor, axes: Sequence[int]) -> Tensor:
    return w.op("Unsqueeze", (x, w.ints(*axes)), x.dtype) if axes else x


def counted(w: ModelWriter, length: Tensor) -> Tensor:
    """0, 1, … up to a length."""
    return w.op("Range", (w.constant(0, INT64), length, w.constant(1, INT64)), INT64)


def to_front(w: ModelWriter, x: Tensor, axis: int, rank: int) -> Tensor:
    return transposed(w, x, [axis, *(a for a in range(rank) if a != axis)])


def from_front(w: ModelWriter, x: Tensor, axis: int, rank: int) -> Tensor:
    rest = list(range(1, rank))
    return transposed(w, x, [*rest[:axis], 0, *rest[axis:]])


def fitted(w: ModelWriter, source: Operand, dtype: np.dtype, shape: Sequence[Dim]) -> Tensor:
    """What is assigned to a region of this shape: cast, without leading axes of one, broadcast."""
    kind = source.type
    x = given(w, source, dtype)
    extra = kind.rank - len(shape)
    if extra > 0:
        x = w.op("Squeeze", (x, w.ints(*range(extra))), dtype)
    if tuple(kind.shape[max(extra, 0) :]) == tuple(shape):
        return x
    return expanded(w, x, shape)


def shape_of_view(op: str, kind: Type, *args: Any) -> tuple[Dim, ...]:
    found = meta_of(op)(kind, *args)
    assert isinstance(found, ArrayType)
    return found.shape


# ---------------------------------------------------------------- slices


def _ends(w: ModelWriter, spec: SliceSpec) -> tuple[Tensor, Tensor]:
    """Start and stop as the operator takes them, which counts negative ones from the end."""
    start, stop = w.size(spec.start), w.size(spec.stop)
    if isinstance(spec.step, int) and spec.step > 0:
        return start, stop
    stop = w.where(stop < 0, _LEAST, stop)
    nothing = start < 0
    return w.where(nothing, 0, start), w.where(nothing, 0, stop)


def _is_whole(spec: SliceSpec, dim: Dim) -> bool:
    return spec.start == 0 and spec.step == 1 and spec.stop == dim


def sliced(w: ModelWriter, x: Tensor, specs: Sequence[tuple[int, SliceSpec]]) -> Tensor:
    """The slices of some axes."""
    if not specs:
        return x
    ends = [_ends(w, spec) for _, spec in specs]
    starts, stops = (w.joined([w.listed(end[place]) for end in ends]) for place in (0, 1))
    steps = w.sizes([spec.step for _, spec in specs])
    if not all(isinstance(spec.step, int) for _, spec in specs):
        steps = w.where(steps.equal(0), 1, steps)  # where NumPy would have raised
    axes = w.ints(*(axis for axis, _ in specs))
    return w.op("Slice", (x, starts, stops, axes, steps), x.dtype)


def _cut(kind: Type, index: Sequence[SliceSpec]) -> list[tuple[int, SliceSpec]]:
    """The axes that are not taken whole."""
    return [
        (axis, spec)
        for axis, (spec, dim) in enumerate(zip(index, kind.shape, strict=False))
        if not _is_whole(spec, dim)
    ]


def _slice(w: ModelWriter, node: Node) -> Tensor:
    x, index = node.args
    return sliced(w, w.value(x), _cut(x.type, index))


def _slice_scatter(w: ModelWriter, node: Node) -> Tensor:
    """Axis by axis: what stands before, what is new, what stands behind."""
    x, source, index = node.args
    shape = shape_of_view("slice_copy", x.type, index)
    new = fitted(w, source, x.type.dtype, shape)

    def replaced(old: Tensor, cut: list[tuple[int, SliceSpec]]) -> Tensor:
        if not cut:
            return new
        (axis, spec), *rest = cut
        part = replaced(sliced(w, old, [(axis, spec)]), rest) if rest else new
        if spec.step == 1:
            return _between(w, old, part, axis, spec)
        places = w.size(spec.start) + counted(w, w.size(shape[axis])) * w.size(spec.step)
        rank = x.type.rank
        front = put_at(w, to_front(w, old, axis, rank), places, to_front(w, part, axis, rank))
        return from_front(w, front, axis, rank)

    return replaced(w.value(x), _cut(x.type, index))


def _between(w: ModelWriter, old: Tensor, new: Tensor, axis: int, spec: SliceSpec) -> Tensor:
    parts = [new]
    if spec.start != 0:
        before = sliced(w, old, [(axis, SliceSpec(0, spec.start, 1))])
        parts.insert(0, before)
    start, axes = w.size(spec.start), w.ints(axis)
    behind = w.listed(w.same("Max", start, w.size(spec.stop)))
    parts.append(w.op("Slice", (old, behind, w.ints(2**63 - 1), axes), old.dtype))
    return w.joined(parts, axis)


def put_at(w: ModelWriter, x: Tensor, places: Tensor, rows: Tensor) -> Tensor:
    """``x`` with rows at places (a list) of its first axis, no two of them equal."""
    return w.op("ScatterND", (x, with_axes(w, places, [1]), rows), x.dtype)


# ---------------------------------------------------------------- one index


def _select(w: ModelWriter, node: Node) -> Tensor:
    x, axis, index = node.args
    return w.op("Gather", (w.value(x), w.size(index)), x.type.dtype, axis=axis)


def _dynamic_select(w: ModelWriter, node: Node) -> Tensor:
    x, index = node.args[:2]
    found = (w.value(x), w.cast(w.value(index), INT64))
    return w.op("Gather", found, x.type.dtype, axis=node.arg("axis"))


def _select_scatter(w: ModelWriter, node: Node) -> Tensor:
    axis, index = node.args[2:]
    return _with_one(w, node, axis, w.size(index))


def _dynamic_select_scatter(w: ModelWriter, node: Node) -> Tensor:
    return _with_one(w, node, node.arg("axis"), w.cast(w.value(node.arg("index")), INT64))


def _with_one(w: ModelWriter, node: Node, axis: int, index: Tensor) -> Tensor:
    x, source = node.args[:2]
    rank, axis = x.type.rank, axis % x.type.rank
    shape = [dim for place, dim in enumerate(x.type.shape) if place != axis]
    row = with_axes(w, fitted(w, source, x.type.dtype, shape), [0])
    front = put_at(w, to_front(w, w.value(x), axis, rank), w.listed(index), row)
    return from_front(w, front, axis, rank)


# ---------------------------------------------------------------- the same elements


def _transpose(w: ModelWriter, node: Node) -> Tensor:
    x, axes = node.args
    return transposed(w, w.value(x), [axis % x.type.rank for axis in axes])


def _transpose_scatter(w: ModelWriter, node: Node) -> Tensor:
    x, source, axes = node.args
    order = [axis % x.type.rank for axis in axes]
    new = fitted(w, source, x.type.dtype, [x.type.shape[axis] for axis in order])
    return transposed(w, new, [order.index(axis) for axis in range(len(order))])


def _to_shape(w: ModelWriter, node: Node) -> Tensor:
    """The elements in C order in the shape of the result."""
    x = w.value(node.args[0])
    return reshaped(w, x, node.output.type.shape)


def _from_shape(w: ModelWriter, node: Node) -> Tensor:
    """All elements are replaced by those of a view that has them in C order."""
    x, source, *rest = node.args
    view = node.op.removesuffix("_scatter") + "_copy"
    new = fitted(w, source, x.type.dtype, shape_of_view(view, x.type, *rest))
    return reshaped(w, new, x.type.shape)


def _broadcast(w: ModelWriter, node: Node) -> Tensor:
    return expanded(w, w.value(node.args[0]), node.output.type.shape)


# ---------------------------------------------------------------- any elements


def _flat_places(w: ModelWriter, shape: Sequence[Dim], starts: Dim, steps: Sequence[Dim]) -> Tensor:
    """Of each element of a view of this shape the place in C order of what it is a view of."""
    total = w.size(starts)
    for axis, step in enumerate(steps):
        along = counted(w, w.size(shape[axis])) * w.size(step)
        total = total + with_axes(w, along, range(1, len(shape) - axis))
    return expanded(w, total, shape)


def _strided(kind: ArrayType, node: Node) -> tuple[Sequence[Dim], Dim, Sequence[Dim]]:
    """A view as its shape, and where its elements stand in C order."""
    elements = _elements(kind.shape)
    if node.op.startswith("diagonal"):
        offset, first, second = node.args[-3:]
        first, second = first % kind.rank, second % kind.rank
        shape = shape_of_view("diagonal_copy", kind, offset, first, second)
        rest = [step for axis, step in enumerate(elements) if axis not in (first, second)]
        start = elements[second] * offset if offset > 0 else elements[first] * -offset
        return shape, start, [*rest, elements[first] + elements[second]]
    shape, steps = node.arg("shape"), node.arg("steps")
    total: list[Dim] = [0] * len(shape)
    for row, step in zip(rows_of(steps, kind.rank, len(shape)), elements, strict=True):
        total = [before + each * step for before, each in zip(total, row, strict=True)]
    return shape, 0, total


def _elements(shape: Sequence[Dim]) -> list[Dim]:
    """How many elements in C order a step along each axis is."""
    steps: list[Dim] = []
    step: Dim = 1
    for dim in reversed(shape):
        steps.insert(0, step)
        step = step * dim
    return steps


def _strided_copy(w: ModelWriter, node: Node) -> Tensor:
    kind = node.args[0].type
    places = _flat_places(w, *_strided(kind, node))
    flat = reshaped(w, w.value(node.args[0]), (kind.size,))
    return w.op("Gather", (flat, places), kind.dtype, axis=0)


def _strided_scatter(w: ModelWriter, node: Node) -> Tensor:
    x, source = node.args[:2]
    shape, start, steps = _strided(x.type, node)
    places = w.op("Reshape", (_flat_places(w, shape, start, steps), w.ints(-1)), INT64)
    new = w.op("Reshape", (fitted(w, source, x.type.dtype, shape), w.ints(-1)), x.type.dtype)
    flat = put_rows(w, reshaped(w, w.value(x), (x.type.size,)), places, new)
    return reshaped(w, flat, x.type.shape)


_VIEWS: dict[str, tuple[Write, Write]] = {
    "slice": (_slice, _slice_scatter),
    "select": (_select, _select_scatter),
    "dynamic_select": (_dynamic_select, _dynamic_select_scatter),
    "transpose": (_transpose, _transpose_scatter),
    "reshape": (_to_shape, _from_shape),
    "expand_dims": (_to_shape, _from_shape),
    "squeeze": (_to_shape, _from_shape),
    "diagonal": (_strided_copy, _strided_scatter),
    "as_strided": (_strided_copy, _strided_scatter),
}


def _overlaps(node: Node) -> str | None:
    """NumPy writes elements that a view has twice in an order of its own."""
    shape, _, steps = _strided(node.args[0].type, node)
    places: np.ndarray = np.zeros((), np.int64)
    for size, step in zip(shape, steps, strict=True):
        if not isinstance(size, int) or not isinstance(step, int):
            return "nothing says whether elements are written twice"
        places = places[..., None] + np.arange(size) * step
    return "elements are written twice" if len(np.unique(places)) < places.size else None


EMITTERS: dict[str, OnnxEmitter] = {
    **{f"{name}_copy": OnnxEmitter(copy) for name, (copy, _) in _VIEWS.items()},
    **{f"{name}_scatter": OnnxEmitter(scatter) for name, (_, scatter) in _VIEWS.items()},
    "as_strided_scatter": OnnxEmitter(_strided_scatter, problem=_overlaps),
    "broadcast_to_copy": OnnxEmitter(_broadcast),
    "broadcast_copy": OnnxEmitter(_broadcast),
}
