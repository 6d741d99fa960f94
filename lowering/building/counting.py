"""Arrays whose size is counted: the places of what is chosen are stored, and counted.

::

    t2 = total[]
    for i in 0:n ordered
      t3 = add mask[i]                          # a running total, from t2
      places[t3 - mask[i], 0] = i
    total[] = t3
    size count = total[]                        # at most n

Each place is stored, and the next one over it where the mask is False: there is no branch to
mispredict. The last of them may be one past the end of the array, where it still has room: buffers
of counted sizes are as large as they may become. Emission goes by bits of the mask, where it can.
Those of a measured size begin an array with a place for each element of the mask.

Where the places leave the region, the caller has to know first how many there are: the mask is
added up before. See Note [Counted where chosen] in ``scope``.
"""

from __future__ import annotations

from fxc.ir.graph import Node, Value
from fxc.ir.records import replace
from fxc.ir.symbols import computed, product, symbol, symbols_of
from fxc.ir.types import PY_INT, c_strides

from ..nests.buffers import I64, Const
from ..nests.statements import Accumulate, Bind, Load, Loop, Store
from .body import Body
from .context import Context
from .reductions import reduction


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
    context.size_values.append(Value(node.arg("symbol"), PY_INT))
    context.put(context.size_values[-1], name)


def new_size(context: Context, node: Node) -> tuple[str, str]:
    """The symbol that a call of NumPy binds, and a buffer for its value."""
    name = context.new_buffer(PY_INT)
    keep_size(context, node, name)
    return node.arg("symbol"), name


def read_size(context: Context, node: Node, name: str) -> None:
    """Bind the symbol in the native code behind a call of NumPy."""
    body = Body(context)
    number = body.load(name, ())
    for stmt in (*body.stmts, Bind(node.arg("symbol"), number, node.arg("most"))):
        context.emit(stmt)


def total(context: Context, node: Node) -> None:
    """A sum: that of a mask may be made where the places of what is chosen are found."""
    finding = context.scope.found_by.get(node.output)
    if finding is None:
        reduction(context, node)
    else:
        context.put(node.output, _find(context, finding))


def places(context: Context, node: Node) -> None:
    """The indices of the elements of a mask that are True."""
    if node.output not in context.place:
        _find(context, node)


def _room(context: Context, node: Node) -> str:
    """A buffer for the places that a mask may choose."""
    kind, sizes = node.output.type, symbols_of(node.arg("count")).keys()
    if not any(sizes & scope.measured for scope in context.scopes):
        return context.new_buffer(kind)
    most = (product(node.arg("mask").type.shape), kind.shape[1])
    strides = c_strides(kind.shape, kind.dtype.itemsize)
    name = context.add_buffer(kind.dtype, most, strides)
    return context.alias(context.buffers[name], kind, strides, 0)


def _find(context: Context, node: Node) -> str:
    """Store the indices of the elements of a mask that are True; the buffer with their number."""
    mask, shape = node.arg("mask"), node.arg("mask").type.shape
    name = _room(context, node)
    count = context.add_buffer(I64, (), ())
    context.emit(Store(count, (), Const(0, I64), I64))
    index = (*context.loop_vars(shape[:-1]), context.loop_var())
    before, total = context.fresh(), context.fresh()
    body = Body(context)
    chosen = body.value(mask, index, I64)
    body.stmts.append(Accumulate(total, I64, "add", chosen, before, "sequential"))
    at = body.compute("subtract", (total, chosen), (I64, I64), I64)
    over = sorted({each for i in index for each in symbols_of(i)})
    place = computed(at, tuple(map(symbol, over)))
    for axis, i in enumerate(index):
        body.stmts.append(Store(name, (place, axis), body.index(i, I64), I64))
    stmts = (
        Load(before, I64, count, ()),
        Loop(str(index[-1]), shape[-1], tuple(body.stmts), ordered=True, loc=node.loc),
        Store(count, (), total, I64),
    )
    context.emit_nest(index[:-1], shape[:-1], stmts, node.loc, direction="upwards")
    context.put(node.output, name)
    return count
