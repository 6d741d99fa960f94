"""``x.sum(axis=-1, where=mask)`` of floats: NumPy adds up each run of chosen elements by itself.

::

    edges = each k in 0:n - 1 where mask[k] != mask[k + 1]
    total = 0.0
    for each run: it begins at 0 or behind an edge, and ends with the next one or with the row
      total = total + pairwise(x[run])
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.graph import Node
from fxc.ir.size_functions import counted_size, hint
from fxc.ir.symbols import Dim, computed
from fxc.ir.types import PART_DTYPES

from ..nests.buffers import BOOL, I64, Atom, Const, Idx, atoms_of, element_of
from ..nests.statements import Accumulate, Bind, For, Load, Loop, Order, Stmt, Store
from .body import Body, literal_element
from .context import Context
from .index_maps import broadcast

_BOTH = (I64, I64)


def chosen_sums(context: Context, node: Node) -> None:
    """Place the sums of what a mask chooses of each row."""
    x, mask = node.arg("x"), node.arg("where")
    context.as_buffer(x)  # all of it is computed, and warned of
    if context.is_work(mask):
        context.place_value(mask)
    context.put(node.output, context.new_buffer(node.output.type))
    shape = node.output.type.shape
    rows = tuple(context.loop_var() for _ in shape)
    row = _Row(context, node, rows)
    stmts: Sequence[Stmt] = (*row.find_edges(), *row.added())
    for each, size in reversed(list(zip(rows, shape, strict=True))):
        bound = Body(context)
        until = bound.index(size, I64)
        stmts = (*bound.stmts, For(str(each), Const(0, I64), until, tuple(stmts), node.loc))
    for stmt in stmts:
        context.emit(stmt)


class _Row:
    """One row, while the statements for it are made."""

    def __init__(self, context: Context, node: Node, rows: Idx) -> None:
        self.context, self.node, self.rows = context, node, rows
        self.size: Dim = node.arg("x").type.shape[-1]
        self.edges = context.add_buffer(I64, (self.size,), (I64.itemsize,))
        self.count = context.add_buffer(I64, (), ())

    def chosen(self, body: Body, place: Dim) -> Atom:
        """Whether the element is."""
        mask, shape = self.node.arg("where"), self.node.arg("x").type.shape
        return body.value(mask, broadcast(mask.type.shape, (*self.rows, place), shape))

    def find_edges(self) -> tuple[Stmt, ...]:
        """Store where the mask changes, and how often, as the places of what a mask chooses."""
        context, body = self.context, Body(self.context)
        here, before, total = context.loop_var(), context.fresh(), context.fresh()
        pair = self.chosen(body, here), self.chosen(body, here + 1)
        changes = body.cast_atom(body.compute("not_equal", pair, (BOOL, BOOL), BOOL), BOOL, I64)
        body.stmts.append(Accumulate(total, I64, "add", changes, before, "sequential"))
        at = body.compute("subtract", (total, changes), _BOTH, I64)
        place = computed(at, (*self.rows, here))
        body.stmts.append(Store(self.edges, (place,), body.index(here, I64), I64))
        return (
            Store(self.count, (), Const(0, I64), I64),
            Load(before, I64, self.count, ()),
            Loop(str(here), self.size - 1, tuple(body.stmts), ordered=True, loc=self.node.loc),
            Store(self.count, (), total, I64),
        )

    def added(self) -> tuple[Stmt, ...]:
        """What adds up the runs."""
        context, output, loc = self.context, self.node.output, self.node.loc
        before, run = Body(context), context.loop_var()
        is_first = before.cast_atom(self.chosen(before, 0), BOOL, I64)
        changes = before.load(self.count, ())
        ends = before.compute("add", (changes, is_first), _BOTH, I64)
        twice = before.compute("add", (ends, Const(1, I64)), _BOTH, I64)
        number = before.compute("right_shift", (twice, Const(1, I64)), _BOTH, I64)
        block = self.add_run(run, is_first, changes)
        start, dtype = self.node.arg("initial"), output.type.dtype
        begun = literal_element(0, dtype) if start is None else before.element(start, (), dtype)
        stores = context.cells(context.place[output], self.rows, begun)
        return (*before.stmts, *stores, For(str(run), Const(0, I64), number, block, loc))

    def add_run(self, run: Dim, is_first: Atom, changes: str) -> tuple[Stmt, ...]:
        """Add the sum of one run to the total."""
        context, node, dtype = self.context, self.node, self.node.output.type.dtype
        body, inside, along = Body(context), Body(context), context.loop_var()
        edge = body.compute("subtract", (body.index(2 * run, I64), is_first), _BOTH, I64)
        start = self.behind(body, edge, run)
        following = body.compute("add", (edge, Const(1, I64)), _BOTH, I64)
        is_edge = body.compute("less", (following, changes), _BOTH, BOOL)
        last = (is_edge, self.behind(body, following, run), body.index(self.size, I64))
        stop = body.compute("where", last, (BOOL, *_BOTH), I64)
        length = body.compute("subtract", (stop, start), _BOTH, I64)
        size = counted_size(context.fresh(), self.size, 1 + hint(self.size) // 4)
        begin = computed(start, (*self.rows, run))
        value = inside.element(node.arg("x"), (*self.rows, begin + along), dtype)
        order: Order = "complex pairwise" if dtype in PART_DTYPES else "pairwise"
        totals = [
            Accumulate(context.fresh(), PART_DTYPES.get(dtype, dtype), "add", atom, old, order)
            for old, atom in zip(
                atoms_of(body.element(node.output, self.rows)), atoms_of(value), strict=True
            )
        ]
        loop = Loop(str(along), size, (*inside.stmts, *totals), loc=node.loc)
        total = element_of([stmt.name for stmt in totals])
        stores = context.cells(context.place[node.output], self.rows, total)
        return (*body.stmts, Bind(str(size), length, self.size), loop, *stores)

    def behind(self, body: Body, edge: str, run: Dim) -> str:
        """The place behind an edge, by its number; 0 for the number -1."""
        number = body.compute("maximum", (edge, Const(0, I64)), _BOTH, I64)
        at = body.load(self.edges, (computed(number, (*self.rows, run)),))
        place = body.compute("add", (at, Const(1, I64)), _BOTH, I64)
        is_none = body.compute("less", (edge, Const(0, I64)), _BOTH, BOOL)
        return body.compute("where", (is_none, Const(0, I64), place), (BOOL, *_BOTH), I64)
