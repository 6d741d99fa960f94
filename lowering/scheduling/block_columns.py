"""Column sums that walk along rows.

::

    for j in 0:m                          for j in 0:m: acc[j] = 0.0
      for i in 0:n                  →     for b in 0:(n + 15) // 16
        t = add x[i, j]                     for j in 0:m
      out[j] = t                              a = acc[j]
                                              for i in 0:min(16, n - 16*b)
                                                t = add x[i + 16*b, j] from a
                                              acc[j] = t
                                          for j in 0:m: out[j] = acc[j]

A column is read with a stride; taken alone it touches a page for each element. A block of rows is
read along all of them instead, and the totals are kept in a buffer meanwhile. Each total is still
combined in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fxc.ir.size_functions import floordiv, hint, minimum
from fxc.ir.symbols import Dim, symbol

from ..nests.accesses import rename
from ..nests.addressing import byte_offset, step_of
from ..nests.buffers import Buffer
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Load,
    Loop,
    Stmt,
    Store,
    atoms_read,
    blocks_of,
    walk,
    with_blocks,
)


def block_columns(program: Program) -> Program:
    """Block the reductions whose columns are far apart in memory.

    Requires: the program is fused. Ensures: the same results, bit for bit.
    """
    blocking = _Blocking(program)
    body = blocking.block(program.body)
    return replace(program, body=body, buffers=blocking.buffers)


class _Blocking:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = dict(program.buffers)

    def block(self, block: Sequence[Stmt]) -> tuple[Stmt, ...]:
        result: list[Stmt] = []
        for stmt in block:
            found = self.column(stmt) if isinstance(stmt, Loop) else None
            if found is not None and isinstance(stmt, Loop):
                result += self.blocked(stmt, found)
            else:
                inner = tuple(self.block(b) for b in blocks_of(stmt))
                result.append(with_blocks(stmt, inner))
        return tuple(result)

    def column(self, loop: Loop) -> Loop | None:
        """The only loop inside, if it reduces columns that are far apart."""
        inner = [stmt for stmt in loop.body if isinstance(stmt, Loop)]
        if len(inner) != 1 or loop.ordered or inner[0].ordered:
            return None
        (rows,) = inner
        totals = [s for s in rows.body if isinstance(s, Accumulate)]
        if not totals or any(isinstance(s, Loop | Store) for s in rows.body):
            return None
        if any(s.is_pairwise or s.position is not None or s.levels > 1 for s in totals):
            return None
        outside = {name for s in loop.body if s is not rows for name in _defined(s)}
        if any(atom in outside for s in rows.body for atom in atoms_read(s)):
            return None
        written = {s.buffer for s in walk(loop.body) if isinstance(s, Store)}
        loads = [s for s in rows.body if isinstance(s, Load)]
        if any(s.buffer in written for s in loads):
            return None
        return rows if any(self.is_far(s, loop, rows) for s in loads) else None

    def is_far(self, load: Load, columns: Loop, rows: Loop) -> bool:
        buffer = self.program.buffers[load.buffer]
        offset = byte_offset(buffer, load.index)
        along, down = step_of(offset, columns.var), step_of(offset, rows.var)
        size = load.dtype.itemsize * (2 if buffer.parts else 1)
        if along is None or down is None or abs(hint(along)) != size:
            return False
        costs, array = self.program.target.costs, hint(columns.size) * hint(rows.size) * hint(along)
        return abs(hint(down)) >= costs.columns_step and array >= costs.columns_bytes

    def blocked(self, columns: Loop, rows: Loop) -> list[Stmt]:
        totals = [s for s in rows.body if isinstance(s, Accumulate)]
        column = symbol(columns.var, hint=0, lower=0)
        names = {s.name: self.new_buffer(s, columns.size) for s in totals}
        start = tuple(Store(names[s.name], (column,), s.init, s.dtype) for s in totals)
        before = Loop(columns.var, columns.size, start, loc=columns.loc)
        number = symbol(f"{rows.var}b", hint=0, lower=0)
        most = self.program.target.costs.columns_rows
        count = floordiv(rows.size + (most - 1), most)
        here: Dim = minimum(most, rows.size - number * most)
        shift = {rows.var: symbol(rows.var, hint=0, lower=0) + number * most}
        moved = tuple(rename(s, shift) for s in rows.body)
        inner = replace(rows, size=here, body=tuple(map(_going_on, moved)))
        loads = tuple(Load(f"{s.name}.so_far", s.dtype, names[s.name], (column,)) for s in totals)
        stores = tuple(Store(names[s.name], (column,), s.name, s.dtype) for s in totals)
        along = Loop(columns.var, columns.size, (*loads, inner, *stores), loc=columns.loc)
        blocks = Loop(str(number), count, (along,), ordered=True, loc=rows.loc)
        finals = tuple(Load(s.name, s.dtype, names[s.name], (column,)) for s in totals)
        place = columns.body.index(rows)
        rest = (*columns.body[:place], *finals, *columns.body[place + 1 :])
        return [before, blocks, replace(columns, body=rest)]

    def new_buffer(self, total: Accumulate, size: Dim) -> str:
        name = f"{total.name}.totals"
        itemsize = total.dtype.itemsize
        self.buffers[name] = Buffer(name, total.dtype, (size,), (itemsize,), "temp", name)
        return name


def _defined(stmt: Stmt) -> list[str]:
    return [s.name for s in walk((stmt,)) if hasattr(s, "name")]


def _going_on(stmt: Stmt) -> Stmt:
    if isinstance(stmt, Accumulate):
        return replace(stmt, init=f"{stmt.name}.so_far")
    return stmt
