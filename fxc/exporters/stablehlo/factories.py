"""New arrays, and arrays of arrays."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Node
from fxc.ops.metas.views import rows_of

from .builder import F32, Val
from .casts import cast
from .emission import Emission
from .problems import Unsayable
from .views import gathered

_F16 = np.dtype("f2")


def zeros(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    return [e.full(0, kind.dtype, e.held(kind))]


def ones(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    return [e.full(1, kind.dtype, e.held(kind))]


def full(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    return [e.spread(node.arg("value"), kind.dtype, kind)]


def constant(e: Emission, node: Node) -> list[Val]:
    return [e.b.constant(node.args[0].array())]


def arange(e: Emission, node: Node) -> list[Val]:
    """NumPy's recipe: the first number, and places times what the second one is more than it."""
    kind = node.output.type
    work = F32 if kind.dtype == _F16 else kind.dtype
    if kind.dtype.kind in "cb":
        raise Unsayable(f"numbers from one to another as {kind.dtype}")
    start, step = node.args[:2]
    both = np.result_type(start.type.dtype, step.type.dtype)
    second = e.b.same("add", e.cast(start, both), e.cast(step, both))
    first, second = (cast(e, cast(e, x, kind.dtype), work) for x in (e.read(start), second))
    shape = e.held(kind)
    delta = e.broadcast(e.b.same("subtract", second, first), shape)
    places = e.iota(shape, 0, work)
    moved = e.b.same("multiply", places, delta)
    return [cast(e, e.b.same("add", e.broadcast(first, shape), moved), kind.dtype)]


def concatenate(e: Emission, node: Node) -> list[Val]:
    xs, axis, kind = node.args[0], node.arg("axis"), node.output.type
    parts = [e.cast(x, kind.dtype) for x in xs]
    along = {(axis or 0) % kind.rank}
    if any(along & set(e.changing(x.type)) or (axis is None and e.changing(x.type)) for x in xs):
        raise Unsayable("joined arrays of which the sizes change")
    if axis is None:
        parts = [
            e.reshape(x, [e.sizes.held(operand.type.size)])
            for x, operand in zip(parts, xs, strict=True)
        ]
    axis = (axis or 0) % kind.rank
    if len(parts) == 1:
        return parts
    return [e.b.op("concatenate", parts, kind.dtype, e.held(kind), f"dim = {axis}")]


def as_strided_copy(e: Emission, node: Node) -> list[Val]:
    """The elements at places that are computed from steps along each axis."""
    x, shape = e.read(node.args[0]), e.held(node.output.type)
    steps = node.arg("steps")
    is_whole = not e.changing(node.args[0].type) and not e.changing(node.output.type)
    if not is_whole or not all(isinstance(dim, int) for dim in (*x.shape, *shape, *steps)):
        raise Unsayable("windows of sizes that are no numbers")
    sizes = [int(size) for size in shape]  # type: ignore[arg-type]
    along = np.indices(sizes, np.int64)
    rows = rows_of(steps, x.rank, len(sizes))
    places = [
        sum((s * p for s, p in zip(row, along, strict=True)), 0 * along.sum(0)) for row in rows
    ]
    index = e.b.constant(np.stack(places, -1).astype(np.int64))
    axes = list(range(x.rank))
    numbers = (
        f"collapsed_slice_dims = {axes}, start_index_map = {axes}, index_vector_dim = {len(sizes)}"
    )
    return [gathered(e, x, index, numbers, [1] * x.rank, shape)]


EMITTERS = {
    "zeros": zeros,
    "empty": zeros,
    "ones": ones,
    "full": full,
    "constant": constant,
    "arange": arange,
    "concatenate": concatenate,
    "as_strided_copy": as_strided_copy,
}
