"""Arrays of which some elements are replaced."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.graph import Node, Operand, SliceSpec
from fxc.ir.symbols import Dim

from .builder import BOOL, I64, Val
from .emission import Emission
from .pointwise import as_bits
from .problems import Unsayable, no_number
from .views import plain


def slice_scatter(e: Emission, node: Node) -> list[Val]:
    x, source, index = node.args
    base = e.read(x)
    specs = [plain(e, spec) for spec in index]
    specs += [SliceSpec(0, size, 1) for size in base.shape[len(specs) :]]
    shape = [_length(e, spec) for spec in specs]
    return [replaced(e, base, specs, shape, source)]


def _length(e: Emission, spec: SliceSpec) -> Dim:
    """The number of places of a slice."""
    if spec.step == 1:
        return spec.stop - spec.start
    fields = (spec.start, spec.stop, spec.step)
    if not all(isinstance(dim, int) for dim in fields):
        raise Unsayable("a write with steps to places of which the ends change")
    return len(range(*fields))  # type: ignore[arg-type]


def replaced(
    e: Emission, base: Val, specs: Sequence[SliceSpec], shape: Sequence[Dim], source: Operand
) -> Val:
    """``base`` with ``source`` in a region of it."""
    held = e.sizes.held_shape(shape)
    value = e.cast(source, base.dtype)
    if 0 in held:
        return base
    value = e.broadcast(value, held)
    if all(spec.step == 1 for spec in specs) and not any(map(e.sizes.changes, shape)):
        if held == base.shape:
            return value
        starts = [e.sizes.value(spec.start) for spec in specs]
        return e.b.op("dynamic_update_slice", [base, value, *starts], base.dtype, base.shape)
    if not all(isinstance(size, int) for size in (*base.shape, *held)):
        raise no_number("a write with steps to an array")
    if all(spec.step == 1 for spec in specs):
        return _within(e, base, specs, shape, value)
    return _in_steps(e, base, specs, value)


def _within(
    e: Emission, base: Val, specs: Sequence[SliceSpec], shape: Sequence[Dim], value: Val
) -> Val:
    """A region of changing size: what is beside it stays."""
    room = [int(size) for size in value.shape]  # type: ignore[arg-type]
    wide = e.pad(base, [0] * base.rank, room)
    starts = [e.sizes.value(spec.start) for spec in specs]
    moved = e.b.op("dynamic_update_slice", [wide, value, *starts], base.dtype, wide.shape)
    moved = e.fitted(moved, base.shape)
    inside: Val | None = None
    for axis, (spec, size) in enumerate(zip(specs, shape, strict=True)):
        if not e.sizes.changes(size):
            continue
        stop = e.broadcast(e.sizes.value(spec.start + size), base.shape)
        here = e.b.compare("LT", e.iota(base.shape, axis), stop)
        inside = here if inside is None else e.b.same("and", inside, here)
    assert inside is not None
    # Before the region nothing has been written; along axes of fixed size all of the rest stays.
    return e.b.select(inside, moved, base)


def _in_steps(e: Emission, base: Val, specs: Sequence[SliceSpec], value: Val) -> Val:
    """The source with gaps between its elements, and where there are none."""
    turned, low, high, inner = [], [], [], []
    for axis, (spec, size, count) in enumerate(zip(specs, base.shape, value.shape, strict=True)):
        start, step = spec.start, spec.step
        if not (isinstance(start, int) and isinstance(step, int)):
            raise Unsayable("a write with steps to places of which the ends change")
        places = range(start, start + int(count) * step, step)  # type: ignore[arg-type]
        if step < 0:
            turned.append(axis)
            places = places[::-1]
        low.append(places[0])
        high.append(int(size) - 1 - places[-1])  # type: ignore[arg-type]
        inner.append(abs(step) - 1 if len(places) > 1 else 0)
    turned = [axis for axis in turned if value.shape[axis] != 1]
    if turned:
        value = e.b.same("reverse", value, rest=f"dims = {turned}")
    inside = e.pad(e.like(value, True, BOOL), low, high, inner)
    return e.b.select(inside, e.pad(value, low, high, inner), base)


def select_scatter(e: Emission, node: Node) -> list[Val]:
    x, source, axis, index = node.args
    base, place = e.read(x), e.sizes.value(index)
    return [_row_replaced(e, base, e.cast(source, base.dtype), axis, place)]


def dynamic_select_scatter(e: Emission, node: Node) -> list[Val]:
    base = e.read(node.args[0])
    place, source = e.cast(node.arg("index"), I64), e.cast(node.args[1], base.dtype)
    return [_row_replaced(e, base, source, node.arg("axis"), place)]


def _row_replaced(e: Emission, base: Val, source: Val, axis: int, place: Val) -> Val:
    """What stands at one place of an axis."""
    axis %= base.rank
    rest = [size for a, size in enumerate(base.shape) if a != axis]
    row = e.broadcast(source, rest)
    row = e.reshape(row, [*base.shape[:axis], 1, *base.shape[axis + 1 :]])
    zero = e.b.scalar(0, I64) if base.rank > 1 else place
    starts = [place if a == axis else zero for a in range(base.rank)]
    return e.b.op("dynamic_update_slice", [base, row, *starts], base.dtype, base.shape)


def _source(e: Emission, node: Node, shape: Sequence[Dim]) -> Val:
    """The source in the shape of the view, as the dtype of the base."""
    return e.broadcast(e.cast(node.args[1], e.read(node.args[0]).dtype), shape)


def transpose_scatter(e: Emission, node: Node) -> list[Val]:
    base = e.read(node.args[0])
    axes = [axis % base.rank for axis in node.args[2]]
    value = _source(e, node, [base.shape[axis] for axis in axes])
    return [e.transpose(value, [axes.index(axis) for axis in range(base.rank)])]


def reshape_scatter(e: Emission, node: Node) -> list[Val]:
    base = e.read(node.args[0])
    return [e.reshape(_source(e, node, e.sizes.held_shape(node.args[2])), base.shape)]


def expand_dims_scatter(e: Emission, node: Node) -> list[Val]:
    base = e.read(node.args[0])
    rank = base.rank + len(node.args[2])
    new = {axis % rank for axis in node.args[2]}
    sizes = iter(base.shape)
    shape = [1 if axis in new else next(sizes) for axis in range(rank)]
    return [e.reshape(_source(e, node, shape), base.shape)]


def squeeze_scatter(e: Emission, node: Node) -> list[Val]:
    base = e.read(node.args[0])
    gone = {axis % base.rank for axis in node.args[2]}
    shape = [size for axis, size in enumerate(base.shape) if axis not in gone]
    return [e.reshape(_source(e, node, shape), base.shape)]


def diagonal_scatter(e: Emission, node: Node) -> list[Val]:
    """Each element is that of the source at its place along the diagonal, if it is on it."""
    x, _, offset, first, second = node.args
    base = e.read(x)
    first, second = first % base.rank, second % base.rank
    if not all(isinstance(size, int) for size in base.shape):
        raise no_number("a write to a diagonal")
    rows, columns = (int(base.shape[axis]) for axis in (first, second))  # type: ignore[arg-type]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    if length == 0:
        return [base]
    rest = [axis for axis in range(base.rank) if axis not in (first, second)]
    value = _source(e, node, [*(base.shape[axis] for axis in rest), length])
    before = max(0, -offset)  # rows before the diagonal
    none = [0] * len(rest)
    value = e.pad(value, [*none, before], [*none, rows - before - length])
    order = sorted([*rest, first])
    value = e.transpose(value, [[*rest, first].index(axis) for axis in order])
    wide = e.broadcast(value, base.shape, order)
    column = e.b.same("add", e.iota(base.shape, first), e.like(base, offset, I64))
    on = e.b.compare("EQ", column, e.iota(base.shape, second))
    return [e.b.select(on, wide, base)]


def real_scatter(e: Emission, node: Node) -> list[Val]:
    return [_with_part(e, node, "imag")]


def imag_scatter(e: Emission, node: Node) -> list[Val]:
    return [_with_part(e, node, "real")]


def _with_part(e: Emission, node: Node, kept: str) -> Val:
    """A complex array with one part replaced."""
    base = e.read(node.args[0])
    other = e.b.op(kept, [base], node.args[1].type.dtype, base.shape)
    value = e.broadcast(e.cast(node.args[1], other.dtype), base.shape)
    both = [value, other] if kept == "imag" else [other, value]
    return e.b.op("complex", both, base.dtype, base.shape)


def bitcast_scatter(e: Emission, node: Node) -> list[Val]:
    base, dtype = e.read(node.args[0]), node.args[2]
    value = e.broadcast(e.cast(node.args[1], dtype), base.shape)
    return [as_bits(e, value, base.dtype)]


EMITTERS = {
    "slice_scatter": slice_scatter,
    "select_scatter": select_scatter,
    "dynamic_select_scatter": dynamic_select_scatter,
    "transpose_scatter": transpose_scatter,
    "reshape_scatter": reshape_scatter,
    "expand_dims_scatter": expand_dims_scatter,
    "squeeze_scatter": squeeze_scatter,
    "diagonal_scatter": diagonal_scatter,
    "real_scatter": real_scatter,
    "imag_scatter": imag_scatter,
    "bitcast_scatter": bitcast_scatter,
}
