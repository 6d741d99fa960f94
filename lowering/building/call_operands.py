"""Operands of calls, in memory as NumPy's are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxc.ir.graph import Node, Operand, SliceSpec, Value
from fxc.ir.signature import ViewStep
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, c_strides, normal_strides, ordered_strides, stride_order
from fxc.ops.table import TABLE

from ..nests.buffers import Buffer
from .affine import affine
from .context import Context
from .index_maps import is_view_copy
from .stores import store, whole

# Note [What a call sees]
# The bits that NumPy and BLAS give depend on where operands lie: the order in which a sum is added
# up follows strides, and ``a @ a.T`` is another routine (syrk) if both operands are one buffer than
# if they are two with equal content. For a call of NumPy, and for a product of matrices, therefore
# - an operand that is a view is one here, of the same array: native code reads it in place, and the
#   plan makes it by NumPy's own views. It is not copied first;
# - what is copied all the same, or was computed into another layout, is given gaps where NumPy's
#   array has some (``as_numpys``);
# - operands that are views of one array are so here. An array that would be computed where it is
#   read is placed before its first view is;
# - operands that are two arrays stay two, also where their content is the same: ``simplify`` does
#   not make them one (``operands_apart``);
# - a copy that one reader needs is that reader's own. ``Context.put`` is for the array itself.


def views_to_base(context: Context, value: Operand) -> Iterator[tuple[Value, Node]]:
    """The views from ``value`` down to what is in memory or no view, each with its node."""
    while isinstance(value, Value) and value not in context.place:
        node = context.node_of.get(value)
        if node is None or not is_view_copy(node):
            return
        yield value, node
        value = node.args[0]


def as_numpys(context: Context, value: Operand) -> str:
    """A buffer with ``value``, in place or not, that lies in memory as NumPy's array does."""
    kind = value.type
    if not isinstance(value, Value) or not isinstance(kind, ArrayType):
        return context.place_value(value)
    name = context.strided(value)
    if name is None and kind.strides == _dense(kind):
        return context.place_value(value)
    if name is not None and _lies_as(context.buffers[name], kind):
        return name
    strides = _compact(kind)
    if name is None and (strides == _dense(kind) or 0 in strides):
        return context.place_value(value)
    return _own_copy(context, value, kind, strides)


def seen_by_plan(context: Context, value: Value) -> tuple[str, tuple[ViewStep, ...]]:
    """A buffer with an array of its own, and the views of it that NumPy's array is."""
    base, steps = _steps_to(context, value)
    name, kind = context.place_value(base), base.type
    assert isinstance(kind, ArrayType)
    buffer = context.buffers[name]
    if buffer.name == buffer.storage and _lies_as(buffer, kind):
        return name, steps
    strides = _compact(kind)
    name = _own_copy(context, base, kind, strides)
    buffer = context.buffers[name]
    if buffer.name == buffer.storage:
        return name, steps
    size = kind.dtype.itemsize
    start, step = buffer.offset // size, tuple(stride // size for stride in strides)
    room = context.buffers[buffer.storage].shape[0]
    first = ViewStep("slice", ((SliceSpec(start, room, 1),),))
    return buffer.storage, (first, ViewStep("as_strided", (kind.shape, step, True)), *steps)


def _dense(kind: ArrayType) -> tuple[Dim, ...]:
    return ordered_strides(kind.shape, stride_order(kind), kind.dtype.itemsize)


def _lies_as(buffer: Buffer, kind: ArrayType) -> bool:
    """Whether NumPy finds the array of a buffer as it finds one of this type."""
    ours, theirs = (
        normal_strides(kind.shape, strides, kind.dtype.itemsize)
        for strides in (buffer.strides, kind.strides)
    )
    return ours == theirs or all(
        guard(left, "==", right) for left, right in zip(ours, theirs, strict=True)
    )


def _compact(kind: ArrayType) -> tuple[Dim, ...]:
    """Strides with the axes in the order of the type's, and with gaps, if small ones, where it has
    some: what NumPy and BLAS look at.
    """
    size = kind.dtype.itemsize
    strides: list[Dim] = list(c_strides(kind.shape, size))
    if any(dim == 0 for dim in kind.shape):
        return tuple(strides)
    dense: Dim = size  # the stride of an axis that no gap is in front of
    made: Dim = size
    for axis in reversed(stride_order(kind)):
        dim, stride = kind.shape[axis], kind.strides[axis]
        if dim == 1:
            continue
        sign = 1 if guard(stride, ">", 0) else -1 if guard(stride, "<", 0) else 0
        strides[axis] = 0
        if sign:
            made = made if guard(sign * stride, "==", dense) else made + size
            strides[axis] = sign * made
            dense, made = sign * stride * dim, made * dim
    return normal_strides(kind.shape, strides, size)


def _own_copy(context: Context, value: Value, kind: ArrayType, strides: Sequence[Dim]) -> str:
    """A new buffer with the value and with these strides; a reading of one if they have gaps."""
    if strides == _dense(kind):
        name = context.new_buffer(kind)
    else:
        room: Dim = kind.dtype.itemsize
        start: Dim = 0
        for dim, stride in zip(kind.shape, strides, strict=True):
            span = (dim - 1) * stride
            is_reversed = not guard(stride, ">=", 0)
            room = room - span if is_reversed else room + span
            start = start - span if is_reversed else start
        one = kind.dtype.itemsize
        flat = context.add_buffer(kind.dtype, (room // one,), (one,))
        name = context.alias(context.buffers[flat], kind, strides, start)
    store(context, value, name, whole, None)
    return name


def _steps_to(context: Context, value: Value) -> tuple[Value, tuple[ViewStep, ...]]:
    """The array that ``value`` is a view of, and the views that it is; itself if it is none."""
    base: Operand = value
    steps: list[ViewStep] = []
    for _, node in views_to_base(context, value):
        base = node.args[0]
        steps.append(ViewStep(TABLE[node.op].group, node.args[1:]))
    if not isinstance(base, Value) or not isinstance(base.type, ArrayType):
        return value, ()
    return base, tuple(reversed(steps))


def place_shared(context: Context, x: Operand, y: Operand) -> None:
    """Place the array that two operands are views of, so that both are read there.

    It is the one furthest down of which strides describe both.
    """
    of_y = [value for value, _ in _down(context, y)]
    shared = [value for value, _ in _down(context, x) if value in of_y]
    for value in reversed(shared):
        if all(_lies_in(context, operand, value) for operand in (x, y)):
            if context.strided(value) is None:
                context.place_value(value)
            return


def _down(context: Context, operand: Operand) -> Iterator[tuple[Value, Node | None]]:
    """``views_to_base``, and what they end at."""
    last = operand
    for value, node in views_to_base(context, operand):
        yield value, node
        last = node.args[0]
    if isinstance(last, Value):
        yield last, None


def _lies_in(context: Context, operand: Operand, base: Value) -> bool:
    """Whether ``operand``, a view of ``base``, has strides if ``base`` lies in memory."""
    kind = base.type
    if not isinstance(operand, Value) or not isinstance(kind, ArrayType):
        return False
    index = context.loop_vars(operand.type.shape)
    return affine(operand, base, _dense(kind), index, context.node_of) is not None
