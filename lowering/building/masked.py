"""``x[mask] = source``: the elements of the source one after the other where the mask is True.

::

    for b in 0:(n + 63) // 64 ordered
      for i in 0:64: some = logical_or mask[64*b + i]
      if some
        for i in 0:64 ordered
          if mask[64*b + i]
            t = count[]
            x[64*b + i] = source[t]
            count[] = add(t, 1)

Blocks without a True are passed over, as they are in NumPy. How many there are in all has been
checked before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fxc.ir.graph import Node
from fxc.ir.location import Site, SourceLocation
from fxc.ir.size_functions import floordiv, minimum
from fxc.ir.symbols import Dim, computed, counted_in, symbol, symbols_of
from fxc.ops.metas.shapes import is_known_one

from ..nests.buffers import BOOL, I64, Atom, Const, Idx
from ..nests.statements import Accumulate, Check, Compute, If, Load, Loop, Stmt, Store
from .body import Body
from .context import Context
from .index_maps import broadcast

# From an index into the array to that of the buffer it is stored at.
Place = Callable[[Body, Idx], Idx]


def check_count(context: Context, node: Node) -> None:
    """The call goes back to NumPy unless the mask chooses as many elements as the source has.

    A source of one element is for all of them.
    """
    mask, source = node.arg("mask"), node.arg("source")
    if context.is_work(mask):
        context.place_value(mask)
    given = source.type.shape[0]
    if is_known_one(given):
        return  # it is broadcast
    index = context.loop_vars(mask.type.shape)
    body = Body(context)
    total: Atom = body.value(mask, index, I64)
    levels = sum(not isinstance(i, int) for i in index)
    if levels:
        chosen = context.fresh()
        body.stmts.append(Accumulate(chosen, I64, "add", total, Const(0, I64), "any", levels))
        total = chosen
    if all(dim != 0 for dim in mask.type.shape):
        context.emit_nest(index, mask.type.shape, body.stmts, node.loc)
    else:
        total = Const(0, I64)
    behind = Body(context)
    both = (total, behind.index(given, I64))
    failed = behind.compute("not_equal", both, (I64, I64), BOOL)
    if _may_be_one(given):
        several = (behind.index(given, I64), Const(1, I64))
        failed = behind.compute(
            "logical_and",
            (failed, behind.compute("not_equal", several, (I64, I64), BOOL)),
            (BOOL, BOOL),
            BOOL,
        )
    for stmt in (*behind.stmts, Check(failed, Site(node.op, node.loc))):
        context.emit(stmt)


def _may_be_one(given: Dim) -> bool:
    """Whether a source of this size, found at run time, may be one element that is broadcast."""
    return bool(counted_in(given))


def store_masked(context: Context, node: Node, name: str, outer: Place) -> None:
    """Store the source of a ``masked_put`` where its mask is True.

    Neither of them reads the buffer ``name``.
    """
    mask, shape = node.arg("mask"), node.args[0].type.shape
    if any(dim == 0 for dim in shape):
        return
    rank, last = mask.type.rank, mask.type.rank - 1
    index = list(context.loop_vars(shape))
    along = context.loop_var()
    size = here = shape[last]
    block: Dim | None = None
    costs = context.machine.costs
    length = costs.mask_block
    if not isinstance(size, int) or size > costs.mask_blocks * length:
        block = context.loop_var()
        here = minimum(length, size - block * length)
    index[last] = along if block is None else block * length + along
    count = context.add_buffer(I64, (), ())
    context.emit(Store(count, (), Const(0, I64), I64))
    body = Body(context)
    chosen = body.value(mask, tuple(index[:rank]))
    put = If(chosen, _put_one(context, node, name, outer, tuple(index), count), ())
    stmts: tuple[Stmt, ...] = (
        Loop(str(along), here, (*body.stmts, put), ordered=True, loc=node.loc),
    )
    if block is not None:
        some = Body(context)
        found = context.fresh()
        each = some.value(mask, tuple(index[:rank]))
        any_one = Accumulate(found, BOOL, "logical_or", each, Const(False, BOOL), "any")
        looking = Loop(str(along), here, (*some.stmts, any_one), loc=node.loc)
        blocks = floordiv(size + (length - 1), length)
        passing = (looking, If(found, stmts, ()))
        stmts = (Loop(str(block), blocks, passing, ordered=True, loc=node.loc),)
    for stmt in nested(stmts, index[:last], shape[:last], node.loc, ordered=True):
        context.emit(stmt)


def _put_one(
    context: Context, node: Node, name: str, outer: Place, index: Idx, count: str
) -> tuple[Stmt, ...]:
    """What happens for one True of the mask: its elements are stored, and it is counted."""
    mask, source = node.arg("mask"), node.arg("source")
    rank, shape = mask.type.rank, node.args[0].type.shape
    at, following = context.fresh(), context.fresh()
    over = sorted({name for dim in index[:rank] for name in symbols_of(dim)})
    number: Dim = computed(at, tuple(symbol(each) for each in over))
    if source.type.shape[0] == 1:
        number = 0
    body = Body(context)
    rest = broadcast(source.type.shape[1:], index[rank:], shape[rank:])
    element = body.element(source, (number, *rest), context.buffers[name].dtype)
    target = outer(body, index)
    stores = (*body.stmts, *context.cells(name, target, element))
    step = Body(context)
    given = source.type.shape[0]
    one = step.index(minimum(given, 2) - 1 if _may_be_one(given) else 1, I64)
    return (
        Load(at, I64, count, ()),
        *nested(stores, index[rank:], shape[rank:], node.loc),
        *step.stmts,
        Compute(following, I64, "add", (at, one), (I64, I64)),
        Store(count, (), following, I64),
    )


def nested(
    stmts: Sequence[Stmt],
    index: Sequence[Dim],
    shape: Sequence[Dim],
    loc: SourceLocation | None,
    *,
    ordered: bool = False,
) -> tuple[Stmt, ...]:
    """The statements in loops over ``index``."""
    for each, size in reversed(list(zip(index, shape, strict=True))):
        if not isinstance(each, int):
            stmts = (Loop(str(each), size, tuple(stmts), ordered=ordered, loc=loc),)
    return tuple(stmts)
