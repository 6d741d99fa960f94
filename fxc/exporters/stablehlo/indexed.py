"""Elements at computed places, and where a mask holds. See Note [Index arrays]."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.graph import Node
from fxc.ir.symbols import MOST_MEASURED, Dim
from fxc.ir.types import Type
from fxc.lowering.building.pointwise import binary_dtypes
from fxc.ops.metas.shapes import broadcast_shapes

from .arithmetic import RULES as _ARITHMETIC
from .arithmetic import Rule
from .builder import BOOL, I64, Val
from .casts import cast
from .elementary import RULES as _ELEMENTARY
from .emission import Emission
from .problems import Unsayable, no_number
from .reductions import running
from .views import gathered


def _places(e: Emission, node: Node) -> tuple[Val, tuple[Dim, ...]]:
    """The index arrays as one, their last axis the axes they are for, and the shape of each."""
    indices = node.arg("indices")
    shape = e.sizes.held_shape(_joint([index.type for index in indices]))
    wide = [e.broadcast(e.cast(index, I64), shape) for index in indices]
    single = [e.reshape(index, [*shape, 1]) for index in wide]
    if len(single) == 1:
        return single[0], shape
    joined = [*shape, len(single)]
    return e.b.op("concatenate", single, I64, joined, f"dim = {len(shape)}"), shape


def _joint(kinds: Sequence[Type]) -> tuple[Dim, ...]:
    return tuple(broadcast_shapes(*(kind.shape for kind in kinds)))


def _sizes(x: Val, axes: Sequence[int]) -> list[Dim]:
    return [1 if axis in axes else size for axis, size in enumerate(x.shape)]


def gather(e: Emission, node: Node) -> list[Val]:
    x, axes, place = e.read(node.args[0]), list(node.arg("axes")), node.arg("place")
    places, shape = _places(e, node)
    result = e.held(node.output.type)
    beside = [a for a in range(len(result)) if not place <= a < place + len(shape)]
    numbers = (
        f"offset_dims = {beside}, collapsed_slice_dims = {sorted(axes)}, "
        f"start_index_map = {axes}, index_vector_dim = {len(shape)}"
    )
    return [gathered(e, x, places, numbers, _sizes(x, axes), result)]


def index_put(e: Emission, node: Node) -> list[Val]:
    """Where a place occurs twice, the last one stays, if what runs it goes by order."""
    return [_scattered(e, node, None)]


def index_reduce(e: Emission, node: Node) -> list[Val]:
    name, source, dtype = node.arg("ufunc"), node.arg("source"), node.output.type.dtype
    rule = (_ARITHMETIC | _ELEMENTARY).get(name)
    if rule is None or source is None:
        raise Unsayable(f"updates by {name}")
    if set(binary_dtypes(name, node.output.type, source.type)[0]) != {dtype}:
        raise Unsayable(f"updates by {name} in another dtype than {dtype}")
    return [_scattered(e, node, rule)]


def _scattered(e: Emission, node: Node, rule: Rule | None) -> Val:
    x, axes, place = e.read(node.args[0]), list(node.arg("axes")), node.arg("place")
    places, shape = _places(e, node)
    if any(e.changing(index.type) for index in node.arg("indices")):
        places = _nowhere(e, node, places, shape, x.shape[axes[0]])
    rest = [size for axis, size in enumerate(x.shape) if axis not in axes]
    value = e.cast(node.arg("source"), x.dtype)
    value = e.broadcast(value, [*rest[:place], *shape, *rest[place:]])
    beside = [a for a in range(value.rank) if not place <= a < place + len(shape)]
    return scattered(e, (x, places, value), (beside, axes), rule)


def _nowhere(e: Emission, node: Node, places: Val, shape: Sequence[Dim], beyond: Dim) -> Val:
    """What is nobody's is written nowhere. See Note [Held sizes]."""
    kind = max((index.type for index in node.arg("indices")), key=lambda kind: kind.rank)
    here = e.present(kind, shape, range(len(shape)))
    if here is None:
        return places
    wide = e.broadcast(here, places.shape, range(len(shape)))
    return e.b.select(wide, places, e.broadcast(e.sizes.value(beyond), places.shape))


def scattered(
    e: Emission, given: tuple[Val, Val, Val], axes: tuple[list[int], list[int]], rule: Rule | None
) -> Val:
    """``x`` with a value at many places: there what ``rule`` makes of both."""
    x, places, value = given
    beside, indexed = axes
    params = [Val(x.dtype, ()), Val(x.dtype, ())]
    update: Callable[..., list[Val]] = (
        (lambda old, new: [new]) if rule is None else lambda old, new: [rule(e, old, new)]
    )
    region = e.b.region(params, update)
    found = Val(x.dtype, x.shape)
    e.b.line(
        found, ' = "stablehlo.scatter"(', x, ", ", places, ", ", value,
        ") <{scatter_dimension_numbers = #stablehlo.scatter<"
        f"update_window_dims = {beside}, inserted_window_dims = {sorted(indexed)}, "
        f"scatter_dims_to_operand_dims = {indexed}, index_vector_dim = {places.rank - 1}>, "
        "indices_are_sorted = false, unique_indices = false}> (", region,
        f") : ({x.type}, {places.type}, {value.type}) -> {found.type}",
    )  # fmt: skip
    return found


# ---------------------------------------------------------------- masks


def _numbered(e: Emission, mask: Val) -> Val:
    """For each element of a mask how many hold before it."""
    counted = running(e, e.b.convert(mask, I64), 0, "add", 0)
    return e.b.same("subtract", counted, e.like(counted, 1))


def _whole_mask(e: Emission, operand: object) -> Val:
    kind = operand.type  # type: ignore[attr-defined]
    mask = e.filled(e.cast(operand, BOOL), kind, e.changing(kind), False)  # type: ignore[arg-type]
    if not all(isinstance(size, int) for size in mask.shape):
        raise no_number("the places of a mask")
    return e.reshape(mask, [int(np.prod(mask.shape))])  # type: ignore[arg-type]


def nonzero(e: Emission, node: Node) -> list[Val]:
    """The places where a mask holds, in a tensor that has room for all. See Note [Held sizes]."""
    operand = node.args[0]
    shape = e.held(operand.type)
    mask = _whole_mask(e, operand)
    kind = node.output.type
    rows, rank = e.held(kind)
    (total,) = mask.shape
    target = e.b.select(mask, _numbered(e, mask), e.like(mask, rows, I64))
    flat = scattered(
        e,
        (e.full(0, I64, (rows,)), e.reshape(target, [total, 1]), e.iota((total,), 0)),
        ([], [0]),
        None,
    )
    columns: list[Val] = []
    for axis in reversed(range(len(shape))):
        size = e.like(flat, shape[axis])
        columns.insert(0, e.reshape(e.b.same("remainder", flat, size), [rows, 1]))
        flat = e.b.same("divide", flat, size)
    if len(columns) == 1:
        return columns
    return [e.b.op("concatenate", columns, I64, (rows, rank), "dim = 1")]


def masked_put(e: Emission, node: Node) -> list[Val]:
    """One element of the source after the other goes to where the mask holds."""
    x = e.read(node.args[0])
    mask_operand, source = node.args[1:]
    kind = mask_operand.type
    value = e.cast(source, x.dtype)
    wide = e.broadcast(e.cast(mask_operand, BOOL), x.shape, range(kind.rank))
    if value.rank == 0 or value.rank < x.rank - kind.rank + 1 or value.shape[0] == 1:
        return [e.b.select(wide, e.broadcast(value, x.shape), x)]
    mask = _whole_mask(e, mask_operand)
    rest = x.shape[kind.rank :]
    value = e.broadcast(value, [value.shape[0], *rest])
    (total,) = mask.shape
    index = e.reshape(_numbered(e, mask), [total, 1])
    numbers = (
        f"offset_dims = {list(range(1, value.rank))}, collapsed_slice_dims = [0], "
        "start_index_map = [0], index_vector_dim = 1"
    )
    found = gathered(e, value, index, numbers, _sizes(value, [0]), [total, *rest])
    return [e.b.select(wide, e.reshape(found, x.shape), x)]


def bind_size(e: Emission, node: Node) -> list[Val]:
    """A number that is a size from here on, of no more than is known."""
    symbol, most = node.arg("symbol"), node.arg("most")
    number = cast(e, e.read(node.args[0]), I64)
    within = (0, None if most == MOST_MEASURED else e.sizes.range(most)[1])
    e.sizes.values[symbol] = lambda: number
    e.sizes.ranges[symbol] = within
    e.ranges[node.output] = within
    return [number]


EMITTERS = {
    "gather": gather,
    "index_put": index_put,
    "index_reduce": index_reduce,
    "nonzero": nonzero,
    "masked_put": masked_put,
    "bind_size": bind_size,
}
