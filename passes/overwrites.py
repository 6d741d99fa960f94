"""What is written and then overwritten before anybody reads it.

::

    %1 = zeros((8,), f64)                            %1 = empty((8,), f64)
    %2 = slice_scatter(%1, %a, [0:3:1])       →      %3 = slice_scatter(%1, %b, [0:5:1])
    %3 = slice_scatter(%2, %b, [0:5:1])              %4 = slice_scatter(%3, %c, [5:8:1])
    %4 = slice_scatter(%3, %c, [5:8:1])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fxc.ir.graph import Arg, Node, Region, SliceSpec, Value, walk
from fxc.ir.types import ArrayType, ordered_strides, stride_order
from fxc.ops.identities import DISTINCT
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

# The elements from ``start`` up to ``stop`` along each axis.
Box = tuple[tuple[int, int], ...]

_MOST_BOXES = 64  # that a region is cut into before the question is given up
_MOST_HIDDEN = 256  # that are looked at, the last ones


def drop_overwritten(region: Region) -> Region:
    """Leave out scatters whose elements later scatters hide, and contents that are hidden whole.

    Requires: the region is functional.
    Ensures: its results have the same elements; an operator that can raise still runs.
    """
    uses = Counter(v for each in _regions(region) for v in _read_by(each))
    return _Run(uses).region(region)


def _regions(region: Region) -> Iterator[Region]:
    yield region
    for node in walk(region):
        yield from node.regions


def _read_by(region: Region) -> Iterator[Value]:
    for node in region.nodes:
        yield from node.inputs
    yield from (operand for operand in region.results if isinstance(operand, Value))


class _Run:
    """From the last node to the first; ``hidden`` are the elements of a value that nobody reads."""

    def __init__(self, uses: Counter[Value]) -> None:
        self.uses = uses
        self.hidden: dict[Value, list[Box]] = {}
        self.replaced: dict[Value, Value] = {}

    def region(self, region: Region) -> Region:
        kept: list[Node] = []
        for node in reversed(region.nodes):
            if node.regions:
                args = [self.region(arg) if isinstance(arg, Region) else arg for arg in node.args]
                node = Node(node.schema, tuple(args), node.outputs, node.loc)
            made = self.node(node)
            if made is not None:
                kept.append(made)
        if not self.replaced:
            return Region(region.params, tuple(reversed(kept)), region.results)
        nodes = tuple(map(self.substituted, reversed(kept)))
        return Region(region.params, nodes, region.results)

    def node(self, node: Node) -> Node | None:
        """The node, another that computes less, or None if its base stands for its result."""
        if len(node.outputs) != 1:
            return node
        value, hidden = node.output, self.hidden.get(node.output, [])
        if TABLE[node.op].tag is not Tag.SCATTER:
            return _unset(node) if hidden and _is_covered(_all_of(value), hidden) else node
        box = _scattered(node)
        base = node.args[0]
        if box is None or not isinstance(base, Value):
            return node
        if hidden and _is_covered(box, hidden):
            self.replaced[value] = base
            if self.uses[base] == 1:
                self.hidden[base] = hidden
            return None
        if self.uses[base] == 1:
            exact = _is_dense(node)
            self.hidden[base] = _with(hidden, box) if exact else hidden
        return node

    def substituted(self, node: Node) -> Node:
        if self.replaced.keys().isdisjoint(node.inputs):
            return node
        args = tuple(map(self.argument, node.args))
        return Node(node.schema, args, node.outputs, node.loc)

    def argument(self, arg: Arg) -> Any:
        while isinstance(arg, Value) and arg in self.replaced:
            arg = self.replaced[arg]
        return arg  # a value that is replaced is read by one scatter, as its base


def _all_of(value: Value) -> Box | None:
    return _ints((0, dim) for dim in value.type.shape)


def _ints(pairs: Iterable[tuple[Any, Any]]) -> Box | None:
    """The box, if all of its sides are known."""
    found = tuple(pairs)
    return found if all(isinstance(end, int) for pair in found for end in pair) else None


def _scattered(node: Node) -> Box | None:
    """A box around the elements that a scatter writes, if their places are known."""
    shape = node.args[0].type.shape
    match TABLE[node.op].group:
        case "slice":
            specs: tuple[SliceSpec, ...] = node.args[2]
            rest = ((0, dim) for dim in shape[len(specs) :])
            return _ints((*map(_span, specs), *rest))
        case "select":
            _, _, axis, at = node.args
            axis %= len(shape)
            return _ints((at, at + 1) if a == axis else (0, dim) for a, dim in enumerate(shape))
        case "reshape" | "transpose" | "expand_dims" | "squeeze":
            return _ints((0, dim) for dim in shape)
        case _:
            return None


def _span(spec: SliceSpec) -> tuple[Any, Any]:
    if isinstance(spec.step, int) and spec.step > 0:
        return spec.start, spec.stop
    return spec.stop + 1, spec.start + 1


def _is_dense(node: Node) -> bool:
    """Whether the scatter writes every element of the box around them."""
    specs = node.args[2] if TABLE[node.op].group == "slice" else ()
    return all(spec.step in (1, -1) for spec in specs)


def _with(boxes: Sequence[Box], box: Box) -> list[Box]:
    """These and one more, which is one with the last ones where the two are a box."""
    found = [*boxes]
    while found and (joined := _joined(found[-1], box)) is not None:
        box = joined
        found.pop()
    return [*found[1 - _MOST_HIDDEN :], box]


def _joined(one: Box, other: Box) -> Box | None:
    """The box that two boxes are together; None if they are none."""
    differing = [
        axis for axis, sides in enumerate(zip(one, other, strict=True)) if len({*sides}) > 1
    ]
    if len(differing) != 1:
        return None if differing else one
    (axis,) = differing
    (low, high), (start, stop) = one[axis], other[axis]
    if start > high or low > stop:
        return None
    return (*one[:axis], (min(low, start), max(high, stop)), *one[axis + 1 :])


def _is_covered(box: Box | None, by: Iterable[Box]) -> bool:
    """Whether every element of ``box`` is in one of the others."""
    if box is None:
        return False
    left = [box] if all(low < high for low, high in box) else []
    for other in by:
        left = [piece for each in left for piece in _outside(each, other)]
        if len(left) > _MOST_BOXES:
            return False
    return not left


def _outside(box: Box, other: Box) -> Iterator[Box]:
    """The parts of ``box`` that are not in ``other``, cut along one axis after the other."""
    shared = [
        (max(low, start), min(high, stop))
        for (low, high), (start, stop) in zip(box, other, strict=True)
    ]
    if any(low >= high for low, high in shared):
        yield box
        return
    for axis, (start, stop) in enumerate(shared):
        low, high = box[axis]
        if low < start:
            yield (*box[:axis], (low, start), *box[axis + 1 :])
        if stop < high:
            yield (*box[:axis], (stop, high), *box[axis + 1 :])
        box = (*box[:axis], (start, stop), *box[axis + 1 :])


def _unset(node: Node) -> Node:
    """``empty`` in place of a node whose elements nobody reads."""
    kind = node.output.type
    if not isinstance(kind, ArrayType) or node.regions:
        return node
    if TABLE[node.op].raises or node.op in DISTINCT:
        return node
    layout = stride_order(kind)
    if ordered_strides(kind.shape, layout, kind.dtype.itemsize) != kind.strides:
        return node
    order = None if layout == tuple(range(kind.rank)) else layout
    return Node(TABLE.schema_of("empty"), (kind.shape, kind.dtype, order), node.outputs, node.loc)
