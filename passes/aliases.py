"""Which memory an array shows: the path of views from its base to it, in a normal form.

Whatever basic indexing, ``transpose``, ``expand_dims`` and ``squeeze`` do one after the other is
one affine view, so that ``x[1:][:, 0]`` and ``x[1:, 0]`` are the same memory and the same value:

    >>> from fxc.ir.graph import SliceSpec
    >>> from fxc.ir.text import show_steps
    >>> tail = extended((), (6, 4), ViewStep("slice", ((SliceSpec(1, 6, 1), SliceSpec(0, 4, 1)),)))
    >>> column = extended(tail, (5, 4), ViewStep("select", (1, 0)))
    >>> print(show_steps(steps_of(column)))
    select(1, 0), slice([1:6:1])

Other views (``reshape``, ``broadcast_to``, ``diagonal``, …) stand in the path as they are.
"""

from __future__ import annotations

from collections.abc import Callable

from fxc.ir.graph import SliceSpec
from fxc.ir.records import frozen
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim
from fxc.ops.metas.shapes import slice_length

Shape = tuple[Dim, ...]


@frozen
class Affine:
    """A view by basic indexing and an order of axes.

    ``index`` has, for each axis of what is viewed (of the given ``shape``), the elements that are
    taken, or one index if the axis is gone. ``axes`` has, for each axis of the view, the axis that
    it walks, or None for a new axis of size 1.
    """

    shape: Shape
    index: tuple[Dim | SliceSpec, ...]
    axes: tuple[int | None, ...]


@frozen
class Other:
    """Any other view, of an array of the given shape."""

    shape: Shape
    step: ViewStep


Path = tuple[Affine | Other, ...]

# Of complex numbers and of records, whatever the order of them.
_PARTS = frozenset({"real", "imag", "field", "fields"})
_FIELDS = frozenset({"field", "fields"})


def extended(path: Path, shape: Shape, step: ViewStep) -> Path:
    """The path of ``step`` applied to the array of that ``shape`` that ``path`` leads to."""
    if path and step.op == "reshape":
        last = path[-1]
        if isinstance(last, Other) and last.step.op == "reshape":
            return extended(path[:-1], last.shape, step)  # only the last shape counts
    if path and step.op in _PARTS and isinstance(path[-1], Affine):
        return (*extended(path[:-1], path[-1].shape, step), path[-1])  # the part comes first
    if path and step.op in _FIELDS and isinstance(path[-1], Other):
        last = path[-1]
        if last.step.op == "fields":  # those that are taken of it are fields of the whole
            return (*path[:-1], Other(last.shape, step))
        if last.step.op == "field" == step.op:  # a field of a field is one
            names = (*last.step.args[0], *step.args[0])
            return (*path[:-1], Other(last.shape, ViewStep("field", (names,))))
    if path and isinstance(path[-1], Other) and path[-1].step.op == "bitcast":
        moved = _shape_after(shape, step)
        if moved is not None:  # the bitcast comes last
            return (*extended(path[:-1], shape, step), Other(moved, path[-1].step))
    rule = _RULES.get(step.op)
    affine = rule(shape, *step.args) if rule is not None else None
    if affine is None:
        return (*path, Other(shape, step))
    if path and isinstance(path[-1], Affine):
        joined = _composed(path[-1], affine)
        if joined is not None:
            return path[:-1] if is_whole(joined) else (*path[:-1], joined)
    return path if is_whole(affine) else (*path, affine)


def _shape_after(shape: Shape, step: ViewStep) -> Shape | None:
    """The shape of what basic indexing, an order of axes or a reshape shows; else None."""
    if step.op == "reshape":
        return tuple(step.args[0])
    affine = _RULES[step.op](shape, *step.args) if step.op in _RULES else None
    if affine is None:
        return None
    taken = [affine.index[axis] if axis is not None else None for axis in affine.axes]
    return tuple(slice_length(entry) if isinstance(entry, SliceSpec) else 1 for entry in taken)


def is_whole(view: Affine) -> bool:
    """Whether the view shows everything, as it is."""
    return view.axes == tuple(range(len(view.shape))) and all(
        isinstance(entry, SliceSpec) and _takes_all(entry, dim)
        for entry, dim in zip(view.index, view.shape, strict=True)
    )


def _takes_all(spec: SliceSpec, dim: Dim) -> bool:
    return spec.start == 0 and spec.step == 1 and spec.stop == dim


def steps_of(path: Path) -> tuple[ViewStep, ...]:
    """The view operators of a path, one after the other."""
    steps: list[ViewStep] = []
    for segment in path:
        if isinstance(segment, Affine):
            steps += _affine_steps(segment)
        else:
            steps.append(segment.step)
    return tuple(steps)


def _affine_steps(view: Affine) -> list[ViewStep]:
    """Indices from the last axis to the first, the slice, the order of axes, the new axes."""
    steps = [ViewStep("select", (axis, view.index[axis])) for axis in reversed(_gone(view))]
    specs = tuple(entry for entry in view.index if isinstance(entry, SliceSpec))
    kept = [dim for axis, dim in enumerate(view.shape) if axis not in _gone(view)]
    if not all(map(_takes_all, specs, kept)):
        steps.append(ViewStep("slice", (specs,)))
    order = _order(view)
    if order != tuple(range(len(order))):
        steps.append(ViewStep("transpose", (order,)))
    if None in view.axes:
        steps.append(ViewStep("expand_dims", (_new(view),)))
    return steps


def inverse_steps(view: Affine) -> list[ViewStep]:
    """The views from an array in the shape of ``view`` to one in the shape of its ``region_of``."""
    steps = []
    if None in view.axes:
        steps.append(ViewStep("squeeze", (_new(view),)))
    order = _order(view)
    if order != tuple(range(len(order))):
        steps.append(ViewStep("transpose", (tuple(map(order.index, range(len(order)))),)))
    region = region_of(view)
    if _gone(view) and (region is None or region.op == "slice"):
        steps.append(ViewStep("expand_dims", (_gone(view),)))
    return steps


def region_of(view: Affine) -> ViewStep | None:
    """The elements that the view shows as a view of one step; None if these are all there are."""
    gone = _gone(view)
    specs = tuple(
        entry if isinstance(entry, SliceSpec) else SliceSpec(entry, entry + 1, 1)
        for entry in view.index
    )
    whole = [_takes_all(spec, dim) for spec, dim in zip(specs, view.shape, strict=True)]
    if all(whole):
        return None
    if len(gone) == 1 and all(whole[: gone[0]]) and all(whole[gone[0] + 1 :]):
        return ViewStep("select", (gone[0], view.index[gone[0]]))
    return ViewStep("slice", (specs,))


def _gone(view: Affine) -> tuple[int, ...]:
    """The axes of what is viewed of which one index is taken."""
    return tuple(a for a, entry in enumerate(view.index) if not isinstance(entry, SliceSpec))


def _new(view: Affine) -> tuple[int, ...]:
    return tuple(place for place, axis in enumerate(view.axes) if axis is None)


def _order(view: Affine) -> tuple[int, ...]:
    """For each axis of the view that is not new, its place among the axes that are not gone."""
    kept = [axis for axis, entry in enumerate(view.index) if isinstance(entry, SliceSpec)]
    return tuple(kept.index(axis) for axis in view.axes if axis is not None)


# ------------------------------------------------------------------ composition


def _composed(first: Affine, second: Affine) -> Affine | None:
    """``second`` of ``first`` as one view; None if it takes nothing of an axis that is new."""
    index = list(first.index)
    for axis, entry in zip(first.axes, second.index, strict=True):
        if axis is None:
            if isinstance(entry, SliceSpec) and slice_length(entry) != 1:
                return None
            continue
        taken = index[axis]
        assert isinstance(taken, SliceSpec)  # an axis that is gone is not among the axes
        if isinstance(entry, SliceSpec):
            index[axis] = _slice_of_slice(taken, entry)
        else:
            index[axis] = taken.start + entry * taken.step
    axes = tuple(None if axis is None else first.axes[axis] for axis in second.axes)
    return Affine(first.shape, tuple(index), axes)


def _slice_of_slice(first: SliceSpec, second: SliceSpec) -> SliceSpec:
    start = first.start + second.start * first.step
    stop = first.start + second.stop * first.step
    return _normal(SliceSpec(start, stop, first.step * second.step), slice_length(second))


def _normal(spec: SliceSpec, length: Dim) -> SliceSpec:
    """The same elements always in the same words; nothing is ``0:0``."""
    start, step = spec.start, spec.step
    if length == 0:
        return SliceSpec(0, 0, step)
    if isinstance(start, int) and isinstance(step, int) and isinstance(length, int):
        last = start + (length - 1) * step
        return SliceSpec(start, last + (1 if step > 0 else -1), step)
    return spec


# ------------------------------------------------------------------ steps as affine views


# The rules give the view of an array of the shape, or None if it is not affine.


def _whole(dim: Dim) -> SliceSpec:
    return SliceSpec(0, dim, 1)


def _slice(shape: Shape, specs: tuple[SliceSpec, ...]) -> Affine:
    index = [_normal(spec, slice_length(spec)) for spec in specs]
    index += [_whole(dim) for dim in shape[len(specs) :]]
    return Affine(shape, tuple(index), tuple(range(len(shape))))


def _without(shape: Shape, gone: dict[int, Dim]) -> Affine:
    """The view at one index of some axes."""
    index = tuple(gone.get(axis, _whole(dim)) for axis, dim in enumerate(shape))
    return Affine(shape, index, tuple(axis for axis in range(len(shape)) if axis not in gone))


def _select(shape: Shape, axis: int, at: Dim) -> Affine:
    return _without(shape, {axis % len(shape): at})


def _squeeze(shape: Shape, axes: tuple[int, ...]) -> Affine:
    return _without(shape, {axis % len(shape): 0 for axis in axes})


def _transpose(shape: Shape, axes: tuple[int, ...]) -> Affine:
    return Affine(shape, tuple(map(_whole, shape)), tuple(axis % len(shape) for axis in axes))


def _expand_dims(shape: Shape, axes: tuple[int, ...]) -> Affine:
    rank = len(shape) + len(axes)
    new = {axis % rank for axis in axes}
    old = iter(range(len(shape)))
    order = tuple(None if place in new else next(old) for place in range(rank))
    return Affine(shape, tuple(map(_whole, shape)), order)


def _reshape(shape: Shape, wanted: Shape) -> Affine | None:
    """A reshape that only adds and drops axes of size 1."""
    kept = [axis for axis, dim in enumerate(shape) if dim != 1]
    if [shape[axis] for axis in kept] != [dim for dim in wanted if dim != 1]:
        return None
    index = tuple(0 if dim == 1 else _whole(dim) for dim in shape)
    rest = iter(kept)
    return Affine(shape, index, tuple(None if dim == 1 else next(rest) for dim in wanted))


_RULES: dict[str, Callable[..., Affine | None]] = {
    "slice": _slice,
    "select": _select,
    "transpose": _transpose,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "reshape": _reshape,
}
