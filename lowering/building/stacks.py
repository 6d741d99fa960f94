"""Sums of products as products of stacks of matrices. See Note [Sums of products]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.graph import Node, Operand, Value
from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ArrayType, array_type, normal_strides, ordered_strides

from ..nests.buffers import Buffer, Const
from ..nests.statements import Matmul, Store
from ..nests.together import Sums
from ..operators.einsum_order import SumOrder
from .context import Context
from .stores import store, whole
from .writes import aimed_buffer

Labels = tuple[str, ...]


@frozen
class _Matrices:
    """The labels of two operands as those of a stack of matrices, ``first`` being the left one.

    ``ones`` are the axes of the stack that the result has, ``outer`` those that are summed in turn.
    """

    first: int
    ones: Labels
    rows: Labels
    columns: Labels
    outer: Labels
    inner: Labels
    sums: Sums


def are_matrices(order: SumOrder) -> bool:
    """Whether a sum over two operands is a product of matrices, or of a matrix and a vector, or one
    that only a function for these adds up.
    """
    x, y, _ = order.walked.steps
    sides = zip(x, y, order.walked.kept, strict=True)
    return order.way == "in lanes" or any(kept and 0 in (one, other) for one, other, kept in sides)


def matrices(context: Context, node: Node, order: SumOrder) -> None:
    """The result in a buffer, by products of stacks of matrices."""
    matrices = _matrices(order)
    xs, kind = node.arg("xs"), node.output.type
    inputs, output = node.arg("subscripts").split("->")
    given = list(zip(inputs.split(","), xs, strict=True))
    if matrices.first:
        given.reverse()
    sizes = _sizes(order)
    names = []
    for number, (labels, operand) in enumerate(given):
        labels, operand = _diagonal(context, labels, operand)
        buffer = context.buffers[context.as_buffer(operand)]
        last = _last(matrices, number)
        is_right = not last or _steps(buffer, labels).get(last[-1][-1]) == kind.dtype.itemsize
        if not is_right or buffer.dtype != kind.dtype:
            axes, in_row = _axes(order, labels, last)
            buffer = copied(context, operand, kind.dtype, axes, in_row, node.loc)
        sides = (matrices.inner, matrices.columns) if number else (matrices.rows, matrices.inner)
        names.append(_stack(context, buffer, _steps(buffer, labels), matrices, sides, sizes))
    out = aimed_buffer(context, node)
    buffer = context.buffers[out]
    sides = (matrices.rows, matrices.columns)
    stack = _stack(context, buffer, _steps(buffer, output), matrices, sides, sizes)
    if matrices.sums.adds:
        index = context.loop_vars(buffer.shape)
        zero = Const(0.0, kind.dtype)
        context.emit_nest(index, buffer.shape, [Store(out, index, zero, kind.dtype)], node.loc)
    x, y = names
    context.emit(Matmul(stack, x, y, node.loc, sums=matrices.sums))
    context.put(node.output, out)


def _sizes(order: SumOrder) -> dict[str, Dim]:
    """The size of each axis of the walk, by its labels."""
    return dict(zip(order.walked.labels, order.walked.sizes, strict=True))


def _matrices(order: SumOrder) -> _Matrices:
    walked = order.walked
    kept = [axis for axis, is_kept in enumerate(walked.kept) if is_kept]
    x, y, _ = walked.steps
    only_x = [axis for axis in kept if x[axis] != 0 and y[axis] == 0]
    only_y = [axis for axis in kept if y[axis] != 0 and x[axis] == 0]
    (inner,) = order.inner
    first = 0
    if not only_y and order.way == "in turn":  # lanes are for columns
        first, only_x, only_y = 1, only_y, only_x
    row, column = only_x[-1:], only_y[-1:]
    ones = [axis for axis in kept if axis not in (*row, *column)]
    labels = walked.labels

    def of(axes: Sequence[int]) -> Labels:
        return tuple(labels[axis] for axis in axes)

    adds = bool(order.outer)
    is_onto = adds and order.is_onto
    sums = Sums(order.way, adds, is_onto)
    return _Matrices(first, of(ones), of(row), of(column), of(order.outer), of([inner]), sums)


def _steps(buffer: Buffer, labels: str) -> dict[str, Dim]:
    """By how many bytes an operand moves along each label."""
    steps: dict[str, Dim] = {}
    for label, size, stride in zip(labels, buffer.shape, buffer.strides, strict=True):
        if size != 1:
            steps[label] = steps.get(label, 0) + stride
    return steps


def _diagonal(context: Context, labels: str, operand: Operand) -> tuple[str, Operand]:
    """The operand with each label once."""
    once = "".join(dict.fromkeys(labels))
    if once == labels:
        return labels, operand
    buffer = context.buffers[context.as_buffer(operand)]
    sizes = dict(zip(labels, buffer.shape, strict=True))
    steps = _steps(buffer, labels)
    kind = array_type(buffer.dtype, [sizes[label] for label in once])
    found = Value(f"{buffer.name}_diagonal_{labels}", kind)
    context.put(found, context.alias(buffer, kind, [steps.get(e, 0) for e in once], buffer.offset))
    return once, found


def _last(matrices: _Matrices, number: int) -> Labels:
    """What has to lie last in the memory of an operand: columns lie side by side, and so do the
    elements of a sum in lanes without columns.
    """
    if matrices.columns:
        return (*matrices.inner, *matrices.columns) if number else ()
    return matrices.inner if matrices.sums.way == "in lanes" else ()


def _axes(order: SumOrder, labels: str, last: Labels) -> tuple[list[int], int]:
    """The axes of an operand, outermost first: as in the walk, but for those that are last.
    What is one axis of the walk stays one; how many axes of the operand the last of these is.
    """
    behind = [*order.walked.labels, *last]
    places = {label: place for place, axis in enumerate(behind) for label in axis}
    keys = [(places.get(label, -1), _within(behind, label)) for label in labels]
    axes = sorted(range(len(labels)), key=keys.__getitem__)
    return axes, sum(keys[axis][0] == keys[axes[-1]][0] for axis in axes)


def _within(axes: Sequence[str], label: str) -> int:
    return next((axis.index(label) for axis in axes if label in axis), 0)


def copied(
    context: Context,
    operand: Operand,
    dtype: np.dtype,
    axes: Sequence[int],
    in_row: int,
    loc: SourceLocation | None,
) -> Buffer:
    """The operand in a buffer of its own, with a gap behind each row if they would meet. The last
    ``in_row`` of the axes are a row, which has no gaps within it.
    """
    kind, size = operand.type, dtype.itemsize
    assert isinstance(kind, ArrayType)
    around, within = axes[: len(axes) - in_row], axes[len(axes) - in_row :]
    row = pitch = product([kind.shape[axis] for axis in within])
    if isinstance(row, int) and row and row * size % context.machine.costs.sums_meeting == 0:
        pitch = row + context.machine.line // size
    strides = list(ordered_strides(kind.shape, within, size))
    step = pitch * size
    for axis in reversed(around):
        strides[axis] = step
        step = step * kind.shape[axis]
    rows = product([kind.shape[axis] for axis in around])
    flat = context.buffers[context.add_buffer(dtype, (rows * pitch,), (size,))]
    made = array_type(dtype, kind.shape)
    name = context.alias(flat, made, normal_strides(kind.shape, strides, size), 0)
    store(context, operand, name, whole, loc)
    return context.buffers[name]


def _stack(
    context: Context,
    buffer: Buffer,
    steps: dict[str, Dim],
    matrices: _Matrices,
    sides: tuple[Labels, Labels],
    sizes: dict[str, Dim],
) -> str:
    """The buffer read as a stack of matrices."""
    is_one = not matrices.rows and not matrices.columns
    around = (matrices.outer, matrices.ones) if is_one else (matrices.ones, matrices.outer)
    axes = [(label,) for part in around for label in part] + list(sides)
    shape = [product([sizes[label] for label in axis]) for axis in axes]
    strides = [0 if not axis else steps.get(axis[0][-1], 0) for axis in axes]
    return context.alias(buffer, array_type(buffer.dtype, shape), strides, buffer.offset)
