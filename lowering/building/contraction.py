"""Products of matrices: NumPy's own inner loop on operands that lie as NumPy's do."""

from __future__ import annotations

from fxc.ir.graph import Node
from fxc.ir.size_guards import guard
from fxc.ir.types import c_strides

from ..nests.buffers import Buffer
from ..nests.statements import Matmul
from .call_operands import as_numpys, place_shared
from .context import Context
from .stores import store, whole
from .writes import free_target


def contraction(context: Context, node: Node) -> None:
    """A matrix product: NumPy's own inner loop (BLAS) on strided operands, or on the copies of
    them that ``np.dot`` makes. See Note [What a call sees].
    """
    dtype = node.output.type.dtype
    names = []
    place_shared(context, *node.args[:2])
    for operand in node.args[:2]:
        name = as_numpys(context, operand)
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


def dot_copies(buffer: Buffer) -> bool:
    """Whether ``np.dot`` copies an operand before it calls BLAS, which may then add otherwise.

    It copies what BLAS cannot read, reversed and broadcast axes, and matrices that are not
    contiguous; of these, windows of C arrays have the same bits either way.
    """
    step = buffer.dtype.itemsize
    axes = [
        (size, stride)
        for size, stride in zip(buffer.shape, buffer.strides, strict=True)
        if size != 1
    ]
    if any(size == 0 for size, _ in axes):
        return False
    if any(guard(stride, "<=", 0) for _, stride in axes):
        return True
    if len(axes) < 2 or axes[1][1] == step:
        return False
    (rows, first), (_, second) = axes
    return first != step or second != rows * step
