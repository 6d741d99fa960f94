"""Views, which are new arrays here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.graph import Node, SliceSpec
from fxc.ir.symbols import Dim
from fxc.ir.types import PART_DTYPES

from .builder import I64, Val, separated, signature_of
from .emission import Emission
from .pointwise import as_bits, part_of
from .problems import Unsayable, no_number


def slice_copy(e: Emission, node: Node) -> list[Val]:
    x = e.read(node.args[0])
    return [sliced(e, x, [plain(e, spec) for spec in node.args[1]], node.output.type.shape)]


def plain(e: Emission, spec: SliceSpec) -> SliceSpec:
    """The slice with the sizes that are known."""
    return SliceSpec(*(e.sizes.plain(dim) for dim in (spec.start, spec.stop, spec.step)))


def sliced(e: Emission, x: Val, index: Sequence[SliceSpec], shape: Sequence[Dim]) -> Val:
    """``x[start:stop:step, …]`` in a tensor that holds the shape."""
    specs = [*index, *(SliceSpec(0, size, 1) for size in x.shape[len(index) :])]
    held = e.sizes.held_shape(shape)
    if _asks(held) or _asks(x.shape):
        if all(spec.step == 1 for spec in specs) and not _asks(held):
            return _at(e, x, [e.sizes.value(spec.start) for spec in specs], held)
        if any(e.sizes.changes(spec.start) for spec in specs):
            return _moving_window(e, x, specs, held)
        return _asking_slice(e, x, specs, held)
    moving = [a for a, spec in enumerate(specs) if not _is_known(spec)]
    fixed = [SliceSpec(0, x.shape[a], 1) if a in moving else s for a, s in enumerate(specs)]
    x = _known_slice(e, x, fixed)
    if not moving:
        return e.fitted(x, held)
    if any(specs[axis].step != 1 for axis in moving):
        return _moving_steps(e, x, specs, shape)
    spare = [0] * x.rank  # a slice that is held in more than there is begins where it should
    for axis in moving:
        size, there = int(held[axis]), int(x.shape[axis])  # type: ignore[arg-type]
        if e.sizes.changes(shape[axis]):
            spare[axis] = max(0, size - there) if specs[axis].start == 0 else size
    x = e.pad(x, [0] * x.rank, spare)
    places = [e.sizes.value(spec.start if a in moving else 0) for a, spec in enumerate(specs)]
    return _at(e, x, places, held)


def _at(e: Emission, x: Val, places: Sequence[Val], sizes: Sequence[Dim]) -> Val:
    """The elements from a place on; of an array that has none there is no place."""
    if 0 in x.shape:
        return e.full(0, x.dtype, sizes)
    return e.b.op("dynamic_slice", [x, *places], x.dtype, sizes, f"sizes = {list(sizes)}")


def _moving_window(e: Emission, x: Val, specs: list[SliceSpec], held: Sequence[Dim]) -> Val:
    """A slice of computed sizes at a computed place: the only one that a gather takes."""
    if any(spec.step != 1 for spec in specs):
        raise no_number("a slice with steps")
    place = e.sizes.vector([e.sizes.value(spec.start) for spec in specs])
    axes = list(range(x.rank))
    numbers = f"offset_dims = {axes}, start_index_map = {axes}, index_vector_dim = 0"
    return gathered(e, x, place, numbers, held, held)


def _moving_steps(e: Emission, x: Val, specs: list[SliceSpec], shape: Sequence[Dim]) -> Val:
    """First the stretch from the lowest place to the highest, then steps in it."""
    stretch, steps, lengths = [], [], []
    for spec, dim in zip(specs, shape, strict=True):
        size, step = e.sizes.plain(dim), spec.step
        if not (isinstance(size, int) and isinstance(step, int)) or not size:
            raise Unsayable("a slice with steps of a size that changes")
        last = spec.start + (size - 1) * step
        low, high = (spec.start, last) if step > 0 else (last, spec.start)
        stretch.append(SliceSpec(low, high + 1, 1))
        lengths.append((size - 1) * abs(step) + 1)
        steps.append(SliceSpec(*slice(None, None, step).indices(lengths[-1])))
    return _known_slice(e, sliced(e, x, stretch, lengths), steps)


def _is_known(spec: SliceSpec) -> bool:
    return all(isinstance(dim, int) for dim in _fields(spec))


def _fields(spec: SliceSpec) -> tuple[Dim, Dim, Dim]:
    return spec.start, spec.stop, spec.step


def _asks(shape: Sequence[Dim]) -> bool:
    """Whether there are question marks among the sizes."""
    return not all(isinstance(size, int) for size in shape)


def _known_slice(e: Emission, x: Val, specs: list[SliceSpec]) -> Val:
    """Negative steps take the elements upwards, and turn them around."""
    texts, turned, shape = [], [], []
    for axis, spec in enumerate(specs):
        places = range(*(int(dim) for dim in _fields(spec)))  # type: ignore[arg-type]
        if spec.step < 0 and len(places):  # type: ignore[operator]
            places = places[::-1]
            turned.append(axis)
        stop = places[-1] + 1 if len(places) else 0
        start = places[0] if len(places) else 0
        shape.append(len(places))
        texts.append(f"{start}:{stop}" + (f":{abs(places.step)}" if abs(places.step) != 1 else ""))
    if tuple(shape) != x.shape:
        shown = Val(x.dtype, shape)
        e.b.line(
            shown, " = stablehlo.slice ", x, f" [{', '.join(texts)}] : ({x.type}) -> ", shown.type
        )
        x = shown
    turned = [axis for axis in turned if x.shape[axis] != 1]
    return e.b.same("reverse", x, rest=f"dims = {turned}") if turned else x


def _asking_slice(e: Emission, x: Val, specs: list[SliceSpec], held: Sequence[Dim]) -> Val:
    """A slice of sizes that the module computes: the elements upwards, then turned around."""
    starts: list[Dim] = []
    stops: list[Dim] = []
    steps: list[int] = []
    turned = []
    for axis, (spec, size) in enumerate(zip(specs, held, strict=True)):
        step = spec.step
        if not isinstance(step, int):
            raise Unsayable("a slice with a step that is no number")
        last = spec.start + (size - 1) * step
        low = spec.start if step > 0 else last
        if step < 0:
            turned.append(axis)
        starts.append(low)
        stops.append(low + (size - 1) * abs(step) + 1)
        steps.append(abs(step))
    bounds = [e.sizes.shape(dims) for dims in (starts, stops, steps)]
    found = e.b.op("real_dynamic_slice", [x, *bounds], x.dtype, held)
    return e.b.same("reverse", found, rest=f"dims = {turned}") if turned else found


def select_copy(e: Emission, node: Node) -> list[Val]:
    x, axis, index = node.args
    return [_selected(e, e.read(x), axis, e.sizes.plain(index))]


def _selected(e: Emission, x: Val, axis: int, index: Dim) -> Val:
    axis %= x.rank
    whole = [SliceSpec(0, size, 1) for size in x.shape]
    whole[axis] = SliceSpec(index, index + 1, 1)
    shape = [1 if a == axis else size for a, size in enumerate(x.shape)]
    return e.reshape(sliced(e, x, whole, shape), [s for a, s in enumerate(x.shape) if a != axis])


def dynamic_select_copy(e: Emission, node: Node) -> list[Val]:
    x = e.read(node.args[0])
    axis = node.arg("axis") % x.rank
    place = e.cast(node.arg("index"), I64)
    shape = [1 if a == axis else size for a, size in enumerate(x.shape)]
    rest = [size for a, size in enumerate(x.shape) if a != axis]
    if _asks(shape):
        numbers = (
            f"offset_dims = {list(range(len(rest)))}, collapsed_slice_dims = [{axis}], "
            f"start_index_map = [{axis}], index_vector_dim = 0"
        )
        return [gathered(e, x, e.reshape(place, (1,)), numbers, shape, rest)]
    zero = e.b.scalar(0, I64) if x.rank > 1 else place
    places = [place if a == axis else zero for a in range(x.rank)]
    return [e.reshape(_at(e, x, places, shape), rest)]


def transpose_copy(e: Emission, node: Node) -> list[Val]:
    return [e.transpose(e.read(node.args[0]), [axis % len(node.args[1]) for axis in node.args[1]])]


def reshape_copy(e: Emission, node: Node) -> list[Val]:
    """Of what is held in a larger tensor the last axes alone may change, if they are whole."""
    x, kind = e.read(node.args[0]), node.output.type
    before = node.args[0].type
    if e.changing(before) or e.changing(kind):
        kept = [dim for dim in kind.shape if dim != 1] == [dim for dim in before.shape if dim != 1]
        leading = before.shape[:1] == kind.shape[:1]
        only = all(set(e.changing(each)) <= {0} for each in (before, kind))
        if not kept and not (leading and only):
            raise Unsayable("a reshape of an array of which the sizes change")
    return [e.reshape(x, e.held(kind))]


def reshaped(e: Emission, node: Node) -> list[Val]:
    """Axes of size 1 that come or go."""
    return [e.reshape(e.read(node.args[0]), e.held(node.output.type))]


def broadcast_copy(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    return [e.spread(node.args[0], kind.dtype, kind)]


def diagonal_copy(e: Emission, node: Node) -> list[Val]:
    """Where the place along one axis is that along the other, summed along both."""
    x, offset, first, second = node.args
    tensor = e.read(x)
    if _asks(tensor.shape) or e.changing(x.type):
        raise no_number("a diagonal")
    first, second = first % tensor.rank, second % tensor.rank
    rest = [axis for axis in range(tensor.rank) if axis not in (first, second)]
    moved = e.transpose(tensor, [first, second, *rest])
    length = int(e.held(node.output.type)[-1])  # type: ignore[arg-type]
    steps = e.iota((length, 1), 0)
    starts = e.broadcast(e.b.constant(np.array([[max(0, -offset), max(0, offset)]])), (length, 2))
    places = e.b.same("add", starts, e.broadcast(steps, (length, 2)))
    sizes = [1, 1, *moved.shape[2:]]
    numbers = (
        f"offset_dims = {list(range(1, len(sizes) - 1))}, collapsed_slice_dims = [0, 1], "
        "start_index_map = [0, 1], index_vector_dim = 1"
    )
    found = gathered(e, moved, places, numbers, sizes, (length, *moved.shape[2:]))
    return [e.transpose(found, [*range(1, found.rank), 0])]


def gathered(
    e: Emission, x: Val, places: Val, numbers: str, sizes: Sequence[Dim], shape: Sequence[Dim]
) -> Val:
    """Slices of ``x`` of these sizes at many places; of an empty array there are none."""
    if 0 in x.shape:
        return e.full(0, x.dtype, shape)
    found, given = Val(x.dtype, shape), [x, places]
    name, more = "gather", ""
    if _asks(sizes):
        name, given = "dynamic_gather", [*given, e.sizes.shape(sizes)]
    else:
        more = f", slice_sizes = array<i64{':' if sizes else ''} {', '.join(map(str, sizes))}>"
    e.b.line(
        found, f' = "stablehlo.{name}"(', *separated(given),
        f") <{{dimension_numbers = #stablehlo.gather<{numbers}>, "
        f"indices_are_sorted = false{more}}}> : {signature_of(given, [found])}",
    )  # fmt: skip
    return found


def real_copy(e: Emission, node: Node) -> list[Val]:
    return [part_of(e, e.read(node.args[0]), "real")]


def imag_copy(e: Emission, node: Node) -> list[Val]:
    return [part_of(e, e.read(node.args[0]), "imag")]


def bitcast_copy(e: Emission, node: Node) -> list[Val]:
    x, dtype = e.read(node.args[0]), node.output.type.dtype
    if x.dtype in PART_DTYPES and dtype not in PART_DTYPES:
        raise Unsayable("the bytes of complex numbers")
    return [as_bits(e, x, dtype)]


EMITTERS = {
    "slice_copy": slice_copy,
    "select_copy": select_copy,
    "dynamic_select_copy": dynamic_select_copy,
    "transpose_copy": transpose_copy,
    "reshape_copy": reshape_copy,
    "expand_dims_copy": reshaped,
    "squeeze_copy": reshaped,
    "broadcast_to_copy": broadcast_copy,
    "broadcast_copy": broadcast_copy,
    "diagonal_copy": diagonal_copy,
    "real_copy": real_copy,
    "imag_copy": imag_copy,
    "bitcast_copy": bitcast_copy,
}
