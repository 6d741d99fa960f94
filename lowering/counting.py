"""Arrays whose size is counted: the size is bound, then the places of what is chosen are stored.

::

    for i in 0:n: t1 = add mask[i]
    size count = t1                                 # at most n
    for i in 0:n ordered
      t2 = add mask[i]                              # a running total
      places[t2 - mask[i], 0] = i

Each place is stored, and the next one over it where the mask is False: there is no branch to
mispredict. The last of them may be one past the end of the array, where it still has room: buffers
of counted sizes are as large as they may become.
"""

from __future__ import annotations

from dataclasses import replace

from fxc.ir.graph import Node, Value
from fxc.ir.symbols import Dim, computed, symbol, symbols_of

from fxc.ir.types import ScalarType

from .context import STRETCHED_WEIGHT, Body, Context
from .loops import Accumulate, Bind, Const, Store
from .scalar_rules import I64

_INT = ScalarType(I64, weak=True)


def bind_size(context: Context, node: Node) -> None:
    """Let the symbol of the node stand for its number, which the caller finds in a buffer."""
    body = Body(context)
    number = body.value(node.arg("number"), (), I64)
    name = context.new_buffer(node.output.type)
    for stmt in (*body.stmts, Store(name, (), number, I64)):
        context.emit(stmt)
    if len(context.scopes) == 1:  # what is of that size may leave the function
        keep_size(context, node, name)
    context.emit(Bind(node.arg("symbol"), number, node.arg("most")))
    context.put(node.output, name)


def keep_size(context: Context, node: Node, name: str) -> None:
    """Let the caller, and what it calls in NumPy, find the size that a node binds in a buffer."""
    context.buffers[name] = replace(context.buffers[name], role="output")
    context.sizes[node.arg("symbol")] = name
    context.size_values.append(Value(node.arg("symbol"), _INT))
    context.put(context.size_values[-1], name)


def new_size(context: Context, node: Node) -> tuple[str, str]:
    """The symbol that a call of NumPy binds, and a buffer for its value."""
    name = context.new_buffer(_INT)
    keep_size(context, node, name)
    return node.arg("symbol"), name


def read_size(context: Context, node: Node, name: str) -> None:
    """Bind the symbol in the native code behind a call of NumPy."""
    body = Body(context)
    number = body.load(name, ())
    for stmt in (*body.stmts, Bind(node.arg("symbol"), number, node.arg("most"))):
        context.emit(stmt)


def places(context: Context, node: Node) -> None:
    """The indices of the elements of a mask that are True."""
    mask = node.arg("mask")
    if context.weights.get(mask, 0) >= STRETCHED_WEIGHT:
        context.place_value(mask)
    name = context.new_buffer(node.output.type)
    shape = mask.type.shape
    index = context.loop_vars(shape)
    body = Body(context)
    here = body.value(mask, index, I64)
    levels = sum(not isinstance(i, int) for i in index)
    place: Dim = 0
    if levels:
        total = context.fresh()
        body.stmts.append(Accumulate(total, I64, "add", here, Const(0, I64), "sequential", levels))
        before = body.compute("subtract", (total, here), (I64, I64), I64)
        over = sorted({name for i in index for name in symbols_of(i)})
        place = computed(before, tuple(map(symbol, over)))
    stores = [Store(name, (place, axis), body.index(i, I64), I64) for axis, i in enumerate(index)]
    context.emit_nest(index, shape, (*body.stmts, *stores), node.loc, direction="upwards")
    context.put(node.output, name)
