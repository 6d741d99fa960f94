"""Assignments whose result depends on the order in which NumPy copies elements."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import as_strided

from fxc.ir.graph import Node, Operand, Region, Value, walk
from fxc.ir.later import import_later
from fxc.ir.objects import address_of
from fxc.ir.records import frozen
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim, symbols_of
from fxc.ir.types import ArrayType
from fxc.ops.kernels import kernel_of

# See Note [Rooms with one door].
viewed = import_later("fxc.ir.evaluate", "viewed")
dims_of = import_later("fxc.ir.text", "dims_of")

# Note [Assignments in order]
# The operators of a graph read all they need before they write. So does NumPy, with one exception:
# an assignment to a vector from an overlapping vector that runs the same way is done element by
# element, backwards where the source begins before the target and reaches into it. With equal steps
# that comes to the same. With others, as in ``b[::2][:8] = b[:8]``, NumPy reads elements that it
# has already overwritten. Such assignments are not captured.


@frozen
class OrderedAssignment:
    """An assignment within ``root`` whose order shows, or may show by the values of symbols."""

    node: Node
    root: Value
    symbols: frozenset[str]


def ordered_assignments(body: Region) -> Iterator[OrderedAssignment]:
    """The assignments of a captured graph to which the note applies."""
    views: dict[Value, Node] = {}
    selections: dict[Value, Node] = {}
    for node in walk(body):
        if node.schema.is_view:
            views[node.output] = node
        elif node.op == "where":
            selections[node.output] = node
        elif node.op == "copy_":
            target, source = node.args[:2]
            chosen = selections.get(source)
            if chosen is not None and chosen.args[2] is target:  # np.copyto with where=
                source = chosen.args[1]
            found = _judged(node, target, source, views)
            if found is not None:
                yield found


def _judged(
    node: Node, target: Value, source: Operand, views: dict[Value, Node]
) -> OrderedAssignment | None:
    into, given = target.type, source.type
    if not isinstance(into, ArrayType) or not isinstance(given, ArrayType):
        return None
    if into.rank != 1 or given.rank == 0 or not _run_apart(into.strides[-1], given.strides[-1]):
        return None
    assert isinstance(source, Value)  # literals are scalars
    root, to_target = _path(target, views)
    other, to_source = _path(source, views)
    kind = root.type
    if root is not other or not isinstance(kind, ArrayType):
        return None
    steps = (*to_target, *to_source)
    if any(isinstance(arg, Value) for step in steps for arg in step.args):  # a dynamic_select
        return OrderedAssignment(node, root, frozenset())
    dims = dims_of((kind, *(step.args for step in steps)))
    symbols = frozenset(name for dim in dims for name in symbols_of(dim))
    if symbols and _meet_in_step(_walked(kind, to_target), _walked(kind, to_source)):
        return None
    if not symbols:
        memory = memory_like(kind)
        parts = (viewed(memory, path, {}, kernel_of) for path in (to_target, to_source))
        if not is_order_shown(*parts):
            return None
    return OrderedAssignment(node, root, symbols)


def _run_apart(into: Dim, out_of: Dim) -> bool:
    """Whether two vectors may run the same way with different steps."""
    if isinstance(into, int) and isinstance(out_of, int) and into * out_of <= 0:
        return False
    return into not in (out_of, -out_of)


@frozen
class _Walk:
    """How a vector walks an array: for each axis where it begins, and by how much it moves."""

    begin: tuple[Dim, ...]
    step: tuple[Dim, ...]


def _walked(kind: ArrayType, steps: tuple[ViewStep, ...]) -> _Walk | None:
    """How the vector at the end of basic indexing walks an array of this type."""
    begin: list[Dim] = [0] * kind.rank
    step: list[Dim] = [1] * kind.rank
    axes = list(range(kind.rank))
    for each in steps:
        if each.op == "slice":
            for axis, part in zip(axes, each.args[0], strict=True):
                begin[axis] = begin[axis] + part.start * step[axis]
                step[axis] = step[axis] * part.step
        elif each.op == "select":
            number, place = each.args
            axis = axes.pop(number)
            begin[axis] = begin[axis] + place * step[axis]
            step[axis] = 0
        else:
            return None
    return _Walk(tuple(begin), tuple(step))


def _meet_in_step(target: _Walk | None, source: _Walk | None) -> bool:
    """Whether an element of both can only be at the same place in both, as in ``a[i, :i] =
    a[:i, i]``: then it is read just before it is written.
    """
    if target is None or source is None:
        return False
    places: list[Dim | None] = [None, None]  # in the target, in the source
    for axis, (into, out_of) in enumerate(zip(target.step, source.step, strict=True)):
        gap = source.begin[axis] - target.begin[axis]
        if (into, out_of) == (1, 0):
            places[0] = gap
        elif (into, out_of) == (0, 1):
            places[1] = -gap
    one, other = places
    return one is not None and other is not None and one - other == 0


def _path(value: Value, views: dict[Value, Node]) -> tuple[Value, tuple[ViewStep, ...]]:
    """The array whose memory ``value`` shows, and the steps from there."""
    steps: list[ViewStep] = []
    while value in views:
        node = views[value]
        steps.insert(0, ViewStep(node.op, node.args[1:]))
        value = node.args[0]
    return value, tuple(steps)


def memory_like(kind: ArrayType) -> np.ndarray:
    """An array of this layout that has no elements: only for asking where its views lie."""
    shape, strides = map(_numbers, (kind.shape, kind.strides))
    return as_strided(np.empty(1, kind.dtype), shape, strides)


def _numbers(dims: tuple[Dim, ...]) -> tuple[int, ...]:
    return tuple(dim for dim in dims if isinstance(dim, int))


def is_order_shown(target: np.ndarray, source: np.ndarray) -> bool:
    """Whether ``target[...] = source`` reads what it has overwritten; see the note.

    >>> b = np.arange(16)
    >>> is_order_shown(b[::2], b[:8]), is_order_shown(b[:8], b[::2])
    (True, False)
    """
    count = target.size
    if source.shape[-1] != count:
        return False
    into, out_of = target.strides[0], source.strides[-1]
    if into * out_of <= 0:
        return False
    gap = address_of(target) - address_of(source)
    if into < 0:  # NumPy begins at the lower end
        gap += (count - 1) * (into - out_of)
        into, out_of = -into, -out_of
    backwards = 0 < gap < count * out_of
    # Element ``read`` of the source is element ``written`` of the target where
    # read * out_of == gap + written * into. Both grow together: the first and the last tell.
    unit = math.gcd(into, out_of)
    if gap % unit:
        return False
    period = into // unit
    phase = gap // unit * pow(out_of // unit, -1, period) % period
    low = max(0, -(-gap // out_of))
    high = min(count - 1, (gap + (count - 1) * into) // out_of)
    first, last = low + (phase - low) % period, high - (high - phase) % period
    if first > last:
        return False
    late = [read - (read * out_of - gap) // into for read in (first, last)]
    return min(late) < 0 if backwards else max(late) > 0
