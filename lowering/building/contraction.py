"""Products of matrices: NumPy's own inner loop on operands that lie as NumPy's do."""

from __future__ import annotations

from fxc.ir.graph import Node, Operand, Value
from fxc.ir.size_functions import substitute
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, c_strides
from fxc.ops.table import TABLE

from ..emission.addressing import linearised
from ..emission.products import dot_copies
from ..loops import Matmul
from .context import Context
from .index_maps import INDEX_MAPS, Idx, is_view_copy, select_index
from .stores import store, whole
from .writes import free_target

# Note [Strides of factors]
# BLAS adds the products of a vector with gaps in another order than those of one without. A factor
# that is a view is therefore read in place. One that is not in memory, or whose place is known at
# run time only (``A[:, k]``), is copied, with a gap behind each element where NumPy's view has one.


def contraction(context: Context, node: Node) -> None:
    """A matrix product: NumPy's own inner loop (BLAS) on strided operands, or on the copies of
    them that ``np.dot`` makes.
    """
    dtype = node.output.type.dtype
    names = []
    for operand in node.args[:2]:
        name = _factor(context, operand)
        buffer = context.buffers[name]
        if buffer.dtype != dtype or (node.op == "dot" and dot_copies(buffer)):
            kind = operand.type
            strides = c_strides(kind.shape, dtype.itemsize)
            cast = context.add_buffer(dtype, kind.shape, strides)
            store(context, operand, cast, whole, node.loc)
            name = cast
        names.append(name)
    out = free_target(context, node) or context.new_buffer(node.output.type)
    context.emit(Matmul(out, names[0], names[1], node.loc))
    context.put(node.output, out)


def _factor(context: Context, operand: Operand) -> str:
    """A buffer with the operand, whose strides are as NumPy's. See Note [Strides of factors]."""
    kind = operand.type
    in_place = context.strided(operand) if isinstance(operand, Value) else None
    if in_place is not None or not isinstance(operand, Value) or not isinstance(kind, ArrayType):
        return in_place or context.place_value(operand)
    strides, step = _strides_in_numpy(context, operand), kind.dtype.itemsize
    if not strides or not guard(strides[-1], ">", step):
        return context.place_value(operand)
    if kind.rank > 1 and not guard(strides[-2], ">", step):  # columns without gaps
        order = kind.shape[-1:] + kind.shape[-2:-1]
        inner = c_strides(order, step)[::-1]
        size = order[0] * order[1] * step
        outer = [x * size for x in c_strides(kind.shape[:-2], 1)]
        name = context.add_buffer(kind.dtype, kind.shape, (*outer, *inner))
    else:
        pairs = (*kind.shape, 2)
        room = context.buffers[context.add_buffer(kind.dtype, pairs, c_strides(pairs, step))]
        name = context.alias(room, kind, room.strides[:-1], room.offset)
    store(context, operand, name, whole, None)
    return name


def _strides_in_numpy(context: Context, value: Value) -> tuple[Dim, ...]:
    """The strides of the view that NumPy makes; () for what is none."""
    index: Idx = context.loop_vars(value.type.shape)
    here, base = index, value
    while (node := context.node_of.get(base)) is not None and is_view_copy(node):
        group, source = TABLE[node.op].group, node.args[0]
        if not isinstance(source, Value):
            return ()
        if group == "dynamic_select":  # wherever it is, the strides are the same
            here = select_index(source.type, (node.arg("axis"), 0), here)
        elif group in INDEX_MAPS:
            here = INDEX_MAPS[group](source.type, node.args[1:], here)
        else:
            return ()
        base = source
    kind = base.type
    if base is value or not isinstance(kind, ArrayType) or len(here) != kind.rank:
        return ()
    offset: Dim = 0
    for stride, at in zip(kind.strides, here, strict=True):
        offset = offset + at * stride
    offset = linearised(offset)
    zero = {str(i): 0 for i in index if not isinstance(i, int)}
    strides: list[Dim] = []
    for i in index:
        first, second, third = (
            offset if isinstance(i, int) else substitute(offset, {**zero, str(i): place})
            for place in (0, 1, 2)
        )
        if second - first != third - second:  # a reshape of what is stretched: no view
            return ()
        strides.append(second - first)
    return tuple(strides)
