"""Short inner products are added up in the loop that makes one of their operands.

::

                                         t4 = less((n), 16)
    for i0 in 0:n                        if t4
      b2[i0] = x[cols[i0]]                 for i0 in 0:n
    b3[] = matmul(v, b2)           →         t5 = add multiply(v[i0], x[cols[i0]])  [sequential]
                                           b3[] = t5
                                         else
                                           …

where ``b2`` is read by the product alone. Before it has filled a block of its accumulators, BLAS
adds product by product: see Note [Dot products].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.later import import_later
from fxc.ir.records import frozen, replace
from fxc.ir.symbols import Dim, symbol

from ..nests.accesses import accesses, renamed
from ..nests.buffers import BOOL, F64, I64, Buffer, Const
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Check,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    While,
    blocks_of,
    with_blocks,
)

# See Note [Rooms with one door].
dot_order = import_later("fxc.lowering.operators.dot_order", "dot_order")


def short_dots(program: Program) -> Program:
    """The program with such products in loops of their own, inside of the user's loops.

    Requires: nothing. Ensures: the same results, bit for bit.
    """
    return replace(program, body=_Short(program).block(program.body, repeated=False))


@frozen
class _Dot:
    """A loop, the checks behind it, and the product of what it stores with another vector."""

    loop: Loop
    checks: tuple[Check, ...]
    product: Matmul
    store: Store
    other: Buffer
    most: int  # elements that are no block

    @property
    def stmts(self) -> tuple[Stmt, ...]:
        return (self.loop, *self.checks, self.product)


class _Short:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = program.buffers

    def block(self, block: Sequence[Stmt], *, repeated: bool) -> tuple[Stmt, ...]:
        made: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Loop):
                made.append(stmt)
                continue
            again = repeated or isinstance(stmt, For | While)
            inner = tuple(self.block(each, repeated=again) for each in blocks_of(stmt))
            made.append(with_blocks(stmt, inner))
            found = self.found(made) if repeated and isinstance(stmt, Matmul) else None
            if found is not None:
                made[-len(found.stmts) :] = self.either(found)
        return tuple(made)

    def found(self, stmts: list[Stmt]) -> _Dot | None:
        """The product that these end with, if its loop can add it up."""
        *before, product = stmts
        checks: list[Check] = []
        while before and isinstance(before[-1], Check):
            checks.insert(0, before[-1])
            before.pop()
        loop = before[-1] if before else None
        if not (isinstance(loop, Loop) and isinstance(product, Matmul)):
            return None
        if product.done is not None or product.together is not None:
            return None
        for made, other in ((product.x, product.y), (product.y, product.x)):
            store = self.store_of(loop, made, product)
            most = self.most(self.buffers[made], self.buffers[other])
            if store is not None and most is not None and self.is_apart(loop, product, other):
                return _Dot(loop, tuple(checks), product, store, self.buffers[other], most)
        return None

    def store_of(self, loop: Loop, made: str, product: Matmul) -> Store | None:
        """The one statement of a simple loop that stores an operand which nothing else reads."""
        buffer = self.buffers[made]
        simple = Load | Compute | Index | Store | Accumulate
        is_plain = loop == Loop(loop.var, loop.size, loop.body, loc=loop.loc, note=loop.note)
        if buffer.role != "temp" or not is_plain or (loop.size,) != buffer.shape:
            return None
        if not all(isinstance(stmt, simple) for stmt in loop.body):
            return None
        totals = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
        if any(each.order != "any" or each.position is not None for each in totals):
            return None
        stores = [
            stmt
            for stmt in loop.body
            if isinstance(stmt, Store) and self.buffers[stmt.buffer].storage == buffer.storage
        ]
        met = [each for stmt in self.program.body for each in accesses(self.program, stmt)]
        if sum(each.storage == buffer.storage for each in met) != 2 or len(stores) != 1:
            return None
        (store,) = stores
        return store if store.index == (symbol(loop.var, hint=0, lower=0),) else None

    def most(self, x: Buffer, y: Buffer) -> int | None:
        """The number of elements below which BLAS adds product by product, if that is known."""
        if x.dtype.kind != "f" or x.shape != y.shape or len(x.shape) != 1:
            return None
        if x.strides != y.strides or x.strides != (x.dtype.itemsize,):
            return None
        if isinstance(x.shape[0], int):
            return None
        order = dot_order(x.dtype).adjacent
        return None if order is None or order.fused_rest else order.multiple

    def is_apart(self, loop: Loop, product: Matmul, other: str) -> bool:
        """Whether the loop stores nothing of the other vector, and meets nothing of the result."""
        read, written = ({self.buffers[name].storage for name in names} for names in loop.touched)
        out = self.buffers[product.out].storage
        return self.buffers[other].storage not in written and out not in read | written

    def either(self, dot: _Dot) -> list[Stmt]:
        """The short product, or what was there."""
        size, name = dot.loop.size, f"{dot.product.out}.size"
        is_short = f"{dot.product.out}.short"
        return [
            Index(name, I64, size),
            Compute(is_short, BOOL, "less", (name, Const(dot.most, I64)), (I64, I64)),
            If(is_short, tuple(self.added_up(dot)), dot.stmts),
        ]

    def added_up(self, dot: _Dot) -> list[Stmt]:
        """The loop with names of its own, which adds up the product."""
        out, dtype = dot.product.out, dot.other.dtype
        names = {
            stmt.name: f"{stmt.name}.short"
            for stmt in dot.loop.body
            if isinstance(stmt, Load | Compute | Index | Accumulate)
        }
        place: tuple[Dim, ...] = dot.store.index
        there, exact, each, total = (f"{out}.{what}" for what in ("y", "xy", "each", "total"))
        body: list[Stmt] = []
        for stmt in dot.loop.body:
            if stmt is not dot.store:
                body.append(renamed(stmt, names))
                continue
            value = names.get(stmt.value, stmt.value) if isinstance(stmt.value, str) else stmt.value
            body += [
                Load(there, dtype, dot.other.name, place),
                Compute(exact, dtype, "multiply", (value, there), (dtype, dtype)),
                *_cast(each, exact, dtype, F64),
                Accumulate(total, F64, "add", exact if dtype == F64 else each, _ZERO, "sequential"),
            ]
        checks = [
            replace(stmt, failed=names.get(str(stmt.failed), stmt.failed)) for stmt in dot.checks
        ]
        rounded = f"{out}.rounded"
        return [
            replace(dot.loop, body=tuple(body)),
            *checks,
            *_cast(rounded, total, F64, dtype),
            Store(out, (), total if dtype == F64 else rounded, dtype),
        ]


_ZERO = Const(0.0, F64)


def _cast(name: str, value: str, dtype: np.dtype, to: np.dtype) -> list[Stmt]:
    return [] if dtype == to else [Compute(name, to, "astype", (value,), (dtype,))]
