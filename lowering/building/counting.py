"""Arrays whose size is counted: the size is bound, then the places of what is chosen are stored.

::

    for i in 0:n: t1 = add mask[i]
    size count = t1                                 # at most n
    for b in 0:n // 64 ordered
      for i in 0:64: some = logical_or mask[64*b + i]
      if some
        t2 = total[]
        for i in 0:64 ordered
          t3 = add mask[64*b + i]                   # a running total, from t2
          places[t3 - mask[64*b + i], 0] = 64*b + i
        total[] = t3
    …                                               # likewise, the last n % 64 elements

Each place is stored, and the next one over it where the mask is False: there is no branch to
mispredict. The last of them may be one past the end of the array, where it still has room: buffers
of counted sizes are as large as they may become.
"""

from __future__ import annotations

from dataclasses import replace

from fxc.ir.graph import Node, Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import floordiv, mod
from fxc.ir.symbols import Dim, computed, symbol, symbols_of
from fxc.ir.types import PY_INT

from ..nests.buffers import BOOL, I64, Const
from ..nests.statements import Accumulate, Bind, If, Load, Loop, Stmt, Store
from .body import Body
from .context import Context


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


def places(context: Context, node: Node) -> None:
    """The indices of the elements of a mask that are True."""
    mask = node.arg("mask")
    if context.is_work(mask):
        context.place_value(mask)
    name = context.new_buffer(node.output.type)
    count = context.add_buffer(I64, (), ())
    context.emit(Store(count, (), Const(0, I64), I64))
    shape = mask.type.shape
    outer, size = context.loop_vars(shape[:-1]), shape[-1]

    found_so_far = _Found(node, name, count)

    def stored(start: Dim, along: Dim, stop: Dim) -> tuple[Stmt, ...]:
        return _stored(context, found_so_far, (*outer, start + along), along, stop)

    stmts: tuple[Stmt, ...]
    length = context.machine.costs.mask_block
    if isinstance(size, int) and size <= context.machine.costs.mask_blocks * length:
        stmts = stored(0, context.loop_var(), size)
    else:
        block, along, blocks = context.loop_var(), context.loop_var(), floordiv(size, length)
        some = Body(context)
        each = some.value(mask, (*outer, block * length + along))
        found, no = context.fresh(), Const(False, BOOL)
        any_one = Accumulate(found, BOOL, "logical_or", each, no, "any")
        looking = Loop(str(along), length, (*some.stmts, any_one), loc=node.loc)
        passing = (looking, If(found, stored(block * length, along, length), ()))
        rest = mod(size, length)
        last = stored(blocks * length, context.loop_var(), rest) if rest != 0 else ()
        stmts = (Loop(str(block), blocks, passing, ordered=True, loc=node.loc), *last)
    context.emit_nest(outer, shape[:-1], stmts, node.loc, direction="upwards")
    context.put(node.output, name)


@frozen
class _Found:
    """The buffers for the places that a node finds in its mask, and for how many there are yet."""

    node: Node
    places: str
    count: str


def _stored(
    context: Context, found: _Found, index: tuple[Dim, ...], along: Dim, stop: Dim
) -> tuple[Stmt, ...]:
    """Store the places of so many elements, at ``index``, behind those that are counted already."""
    before, total = context.fresh(), context.fresh()
    body = Body(context)
    chosen = body.value(found.node.arg("mask"), index, I64)
    body.stmts.append(Accumulate(total, I64, "add", chosen, before, "sequential"))
    at = body.compute("subtract", (total, chosen), (I64, I64), I64)
    over = sorted({each for i in index for each in symbols_of(i)})
    place = computed(at, tuple(map(symbol, over)))
    for axis, i in enumerate(index):
        body.stmts.append(Store(found.places, (place, axis), body.index(i, I64), I64))
    return (
        Load(before, I64, found.count, ()),
        Loop(str(along), stop, tuple(body.stmts), ordered=True, loc=found.node.loc),
        Store(found.count, (), total, I64),
    )
