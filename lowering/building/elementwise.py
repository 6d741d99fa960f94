"""The nest of a value of which each element is computed by itself: for lowerings of the user's."""

from __future__ import annotations

from collections.abc import Callable

from fxc.ir.graph import Node

from ..nests.buffers import Element, Idx
from .body import Body
from .context import Context


def elementwise(context: Context, node: Node, element: Callable[[Body, Idx], Element]) -> None:
    """Store ``element(body, index)`` at each index of the result of a node.

    It reads operands by ``body.element(operand, index, dtype)`` and computes by ``body.compute(op,
    args, dtypes, dtype)``, with the names of ``SCALAR_RULES``. An index is a tuple of dims, one for
    each axis, which may be computed with.
    """
    kind = node.output.type
    name = context.new_buffer(kind)
    if all(dim != 0 for dim in kind.shape):
        while True:
            before = len(context.scope.statements)
            index, body = context.loop_vars(kind.shape), Body(context)
            found = element(body, index)
            if len(context.scope.statements) == before:  # else an operand has been placed
                stmts = [*body.stmts, *context.cells(name, index, found)]
                context.emit_nest(index, kind.shape, stmts, node.loc)
                break
    context.put(node.output, name)
