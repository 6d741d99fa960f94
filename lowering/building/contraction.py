"""Products of matrices: NumPy's own inner loop on operands that lie as NumPy's do."""

from __future__ import annotations

from fxc.ir.graph import Node
from fxc.ir.types import c_strides

from ..emission.products import dot_copies
from ..loops import Matmul
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
