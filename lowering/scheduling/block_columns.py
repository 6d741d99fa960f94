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

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from fxc.ir.records import replace
from fxc.ir.size_functions import floordiv, hint, minimum, mod
from fxc.ir.symbols import Dim, symbol

from ..machine.costs import Costs
from ..nests.accesses import rename, renamed
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
        """The loop over columns by blocks of rows; by blocks of columns around, if it is long."""
        totals = {s.name: self.new_buffer(s, columns.size) for s in rows.body if _is_total(s)}
        costs, column = self.program.target.costs, symbol(columns.var, hint=0, lower=0)
        width = self.width(columns, rows)
        if width is None:
            return _by_rows(columns, rows, totals, column, costs)
        number = symbol(f"{columns.var}b", hint=0, lower=0)
        is_even = isinstance(columns.size, int) and columns.size % width == 0
        size = width if is_even else minimum(width, columns.size - number * width)
        shift = {columns.var: column + number * width}
        moved = [rename(s, shift) for s in columns.body]
        inside = replace(columns, size=size, body=tuple(moved))
        found = moved[columns.body.index(rows)]
        assert isinstance(found, Loop)
        count = floordiv(columns.size + (width - 1), width)
        body = _by_rows(inside, found, totals, shift[columns.var], costs)
        return [Loop(str(number), count, tuple(body), loc=columns.loc)]

    def width(self, columns: Loop, rows: Loop) -> int | None:
        """How many columns a thread takes at once; None if it takes all of them."""
        target, row = self.program.target, hint(columns.size)
        itemsize = max(s.dtype.itemsize for s in rows.body if isinstance(s, Load))
        least = max(1, target.costs.columns_width // itemsize)
        if target.threads <= 1 or row < 2 * least:
            return None
        return max(1, row // target.threads // least) * least

    def new_buffer(self, total: Accumulate, size: Dim) -> str:
        name = f"{total.name}.totals"
        itemsize = total.dtype.itemsize
        self.buffers[name] = Buffer(name, total.dtype, (size,), (itemsize,), "temp", name)
        return name


def _by_rows(
    columns: Loop, rows: Loop, names: Mapping[str, str], at: Dim, costs: Costs
) -> list[Stmt]:
    """The loop over columns by blocks of rows. The total of a column is ``at`` an index of buffers
    with these ``names``.
    """
    totals = [s for s in rows.body if isinstance(s, Accumulate)]
    start = tuple(Store(names[s.name], (at,), s.init, s.dtype) for s in totals)
    made: list[Stmt] = [Loop(columns.var, columns.size, start, loc=columns.loc)]
    number = symbol(f"{rows.var}b", hint=0, lower=0)
    most = costs.columns_rows

    def block(size: Dim, before: Dim) -> Stmt:
        shift = {rows.var: symbol(rows.var, hint=0, lower=0) + before}
        moved = tuple(_going_on(rename(s, shift), costs.columns_ahead) for s in rows.body)
        inner = replace(rows, size=size, body=moved)
        loads = [Load(f"{s.name}.so_far", s.dtype, names[s.name], (at,)) for s in totals]
        stores = [Store(names[s.name], (at,), s.name, s.dtype) for s in totals]
        return Loop(columns.var, columns.size, (*loads, inner, *stores), loc=columns.loc)

    whole, left = floordiv(rows.size, most), mod(rows.size, most)
    if whole != 0:
        along = block(most, number * most)
        made.append(Loop(str(number), whole, (along,), ordered=True, loc=rows.loc))
    if left != 0:
        made.append(renamed(block(left, whole * most), _names(rows, ".left")))
    finals = [Load(s.name, s.dtype, names[s.name], (at,)) for s in totals]
    place = columns.body.index(rows)
    rest = (*columns.body[:place], *finals, *columns.body[place + 1 :])
    return [*made, replace(columns, body=rest)]


def _names(rows: Loop, suffix: str) -> dict[str, str]:
    """Other names for the scalars of a block of rows."""
    defined = [name for stmt in rows.body for name in _defined(stmt)]
    so_far = [f"{stmt.name}.so_far" for stmt in rows.body if _is_total(stmt)]
    return {name: name + suffix for name in (*defined, *so_far)}


def _is_total(stmt: Stmt) -> TypeGuard[Accumulate]:
    return isinstance(stmt, Accumulate)


def _defined(stmt: Stmt) -> list[str]:
    return [s.name for s in walk((stmt,)) if hasattr(s, "name")]


def _going_on(stmt: Stmt, ahead: int) -> Stmt:
    """A statement in a block of rows: a processor does not look ahead in so many streams."""
    match stmt:
        case Accumulate(name=name):
            return replace(stmt, init=f"{name}.so_far")
        case Load():
            return replace(stmt, ahead=ahead)
        case _:
            return stmt
