"""Rows that a loop of the user's program updates again and again are kept in registers.

::

    loop k in 0:n                            for i1 in 0:m
      for i1 in 0:m                            t1 = C[i, i1]
        C[i, i1] = add(C[i, i1], e)      →     for k in 0:n
                                                 t1 = add e  [sequential]
                                               C[i, i1] = t1

Each element meets the same operations in the same order. Where ``e`` reads down the columns of an
array (``A[:, k]``) that loops around read over and over, these read a copy of it that lies the
other way round.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import replace
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, computed_in, product, symbol, symbols_of
from fxc.ir.types import c_strides

from ..nests.accesses import Block, rename, stored
from ..nests.addressing import byte_offset, step_of
from ..nests.bounds import bounds, counter_bounds, ranges_within, trips
from ..nests.buffers import Atom, Buffer
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    For,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    blocks_of,
    with_blocks,
)


def repeated_updates(program: Program) -> Program:
    """The program with such loops turned inside out.

    Requires: no nests are merged. Ensures: the same results, bit for bit.
    """
    turning = _Turning(program)
    body = turning.block(program.body)
    return replace(program, body=body, buffers=turning.buffers)


class _Turning:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.costs = program.target.costs
        self.buffers = dict(program.buffers)
        self.counters = counter_bounds(program)
        self.ranges = ranges_within(self.counters)
        self.around: list[For] = []
        self.turned: dict[str, str] = {}  # by buffer, the one with a copy that lies otherwise

    def block(self, block: Block) -> Block:
        return tuple(new for stmt in block for new in self.statement(stmt))

    def statement(self, stmt: Stmt) -> list[Stmt]:
        """The statement, behind the copies that it needs."""
        if isinstance(stmt, Loop):
            return [stmt]
        if not isinstance(stmt, For):
            return [with_blocks(stmt, tuple(map(self.block, blocks_of(stmt))))]
        self.around.append(stmt)
        found = self.inside_out(stmt)
        made = replace(stmt, body=self.block(stmt.body)) if found is None else found
        self.around.pop()
        if self.around:
            return [made]
        copies = [self.copy(name, copy) for name, copy in self.turned.items()]
        self.turned.clear()
        return [*copies, made]

    def inside_out(self, steps: For) -> Loop | None:
        """The nest that does what the loop does, if it updates one row; else None."""
        scalars, row = steps.body[:-1], steps.body[-1] if steps.body else None
        if steps.leave is not None or steps.var not in self.counters or not isinstance(row, Loop):
            return None
        if row.ordered or row.descending or row.chunk is not None or row.parallel is not None:
            return None
        if not all(isinstance(stmt, Load | Compute | Index) for stmt in scalars):
            return None
        update = _Update.of(row)
        if update is None or not self.is_alone(steps, row, update, scalars):
            return None
        first, last = self.counters[steps.var]
        most = (
            bounds(row.size, self.ranges)[1]
            if not computed_in(row.size)
            else self.costs.updates_row
        )
        if hint(most) * update.load.dtype.itemsize > self.costs.updates_row:
            return None
        body = self.side_by_side(row, update.body)
        if body is None:
            return None
        total = f"{update.load.name}.total"
        adding = Accumulate(
            total, update.load.dtype, "add", update.value, update.load.name, "sequential",
            quiet=update.quiet,
        )  # fmt: skip
        moved: dict[str, Dim] = {steps.var: symbol(steps.var, hint=0) + first}
        inner = tuple(rename(stmt, moved) for stmt in (*scalars, *body))
        count = trips((first, last), self.ranges)
        loop = Loop(steps.var, count, (*inner, adding), loc=row.loc)
        return replace(row, body=(update.load, loop, replace(update.store, value=total)))

    def is_alone(self, steps: For, row: Loop, update: _Update, scalars: Sequence[Stmt]) -> bool:
        """Whether each step meets the same elements, one in each iteration of the row, and nothing
        else of that storage.
        """
        buffer = self.buffers[update.store.buffer]
        offset = byte_offset(buffer, update.store.index)
        if computed_in(offset) or steps.var in symbols_of(offset):
            return False
        if step_of(offset, row.var) != update.store.dtype.itemsize:
            return False
        if steps.var in symbols_of(row.size) or computed_in(row.size):
            return False
        others = [stmt for stmt in (*scalars, *update.body) if isinstance(stmt, Load)]
        return all(self.buffers[stmt.buffer].storage != buffer.storage for stmt in others)

    def side_by_side(self, row: Loop, body: Sequence[Stmt]) -> list[Stmt] | None:
        """The statements, if all that they read along the row lies side by side, or a copy of it
        does.
        """
        made: list[Stmt] = []
        for stmt in body:
            if isinstance(stmt, Load):
                buffer = self.buffers[stmt.buffer]
                offset = byte_offset(buffer, stmt.index)
                step = None if computed_in(offset) else step_of(offset, row.var)
                if step not in (0, stmt.dtype.itemsize):
                    copy = self.copy_of(row, stmt, buffer) if step is not None else None
                    if copy is None:
                        return None
                    stmt = replace(stmt, buffer=copy, index=stmt.index[::-1])
            made.append(stmt)
        return made

    def copy_of(self, row: Loop, stmt: Load, buffer: Buffer) -> str | None:
        """A buffer with the transposed matrix, if that is worth it."""
        if len(buffer.shape) != 2 or buffer.parts or row.var in symbols_of(stmt.index[1]):
            return None
        if step_of(stmt.index[0], row.var) != 1:
            return None
        outermost = self.around[0]
        if buffer.storage in stored(self.program, outermost.body):
            return None
        inside = {stmt.var for stmt in self.around}
        if any(symbols_of(dim).keys() & inside for dim in (*buffer.shape, buffer.offset)):
            return None
        if outermost.var not in self.counters or not self.is_read_often(row, buffer):
            return None
        name = self.turned.setdefault(buffer.name, f"{buffer.name}.turned")
        shape = buffer.shape[::-1]
        strides = c_strides(shape, buffer.dtype.itemsize)
        self.buffers[name] = Buffer(name, buffer.dtype, shape, strides, "temp", name)
        return name

    def is_read_often(self, row: Loop, buffer: Buffer) -> bool:
        reads = hint(bounds(row.size, self.ranges)[1])
        for loop in self.around:
            first, last = self.counters.get(loop.var, (0, 0))
            reads *= max(0, hint(bounds(last - first, self.ranges)[1]))
        return reads >= self.costs.updates_often * hint(product(buffer.shape))

    def copy(self, name: str, copy: str) -> Loop:
        """The nest that fills a copy."""
        buffer = self.buffers[name]
        first, second = f"{copy}.i", f"{copy}.j"
        index = (symbol(second, hint=0, lower=0), symbol(first, hint=0, lower=0))
        element = f"{copy}.element"
        body = (
            Load(element, buffer.dtype, name, index),
            Store(copy, index[::-1], element, buffer.dtype),
        )
        return Loop(first, buffer.shape[1], (Loop(second, buffer.shape[0], body),))


class _Update:
    """What an iteration of a row adds to an element: ``value``, which ``body`` computes."""

    def __init__(self, load: Load, store: Store, body: Sequence[Stmt], adding: Compute) -> None:
        self.load, self.store, self.body = load, store, body
        self.quiet = adding.quiet
        self.value: Atom = next(arg for arg in adding.args if arg != load.name)

    @classmethod
    def of(cls, row: Loop) -> _Update | None:
        """The update that a row is, if it is one of floats."""
        *body, store = row.body
        if not isinstance(store, Store) or store.dtype.kind != "f":
            return None
        if not all(isinstance(stmt, Load | Compute) for stmt in body):
            return None
        loads = [s for s in body if isinstance(s, Load) and s.buffer == store.buffer]
        adding = body[-1] if body else None
        if len(loads) != 1 or loads[0].index != store.index or not isinstance(adding, Compute):
            return None
        (load,), name = loads, adding.name
        if adding.op not in ("add", "subtract") or store.value != name or name in _used(body):
            return None
        if adding.args.count(load.name) != 1 or load.name in _used(body[:-1]):
            return None
        if adding.op == "subtract" and adding.args[0] != load.name:
            return None
        rest = [stmt for stmt in body[:-1] if stmt is not load]
        found = cls(load, store, rest, adding)
        if adding.op == "subtract":
            minus = Compute(
                f"{name}.minus", store.dtype, "negative", (found.value,), (store.dtype,)
            )
            found.value, found.body = minus.name, [*rest, minus]
        return found


def _used(body: Sequence[Stmt]) -> set[Atom]:
    return {arg for stmt in body if isinstance(stmt, Compute) for arg in stmt.args}
