"""Stores that run behind the loads they would spoil.

::

    u[1:-1] = f(u[:-2], u[2:])     for j in 0:n stores 1 behind: u[j + 1] = f(u[j], u[j + 2])

    the same along rows            for j in …: waiting[0, j] = u[1, j]
                                   for s in 0:rows ordered
                                     for j in …: old = waiting[0, j]
                                                 waiting[0, j] = f(u[s, j], u[s + 2, j])
                                                 u[max(s - 1, 0) + 1, j] = old
                                   for j in …: u[rows, j] = waiting[0, j]

Elements of one row wait in registers, rows in a small buffer until those that still read what they
overwrite are computed; what waits at first is the old content of the first row, which thus stays. A
temporary for the whole array would be written and read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import floordiv, hint, maximum, minimum, mod
from fxc.ir.symbols import Dim, product
from fxc.ir.types import c_strides

from ..machine.costs import Costs
from ..nests.addressing import byte_offset, step_of
from ..nests.buffers import Element, Idx
from ..nests.statements import Load, Loop, Stmt, Store
from .context import Context

# For an index of the result: the statements that compute the element, it, and where it goes.
Compute = Callable[[Idx], tuple[Sequence[Stmt], Element, Idx]]
# For a load: by how many iterations of each loop its element is written later (or earlier).
Distances = Mapping[str, int]
Lag = tuple[int, ...]  # the same for the loops from the outermost to the innermost


@frozen
class _Pace:
    """What waits: ``rows`` of the loop number ``depth``, and ``near`` elements in the innermost.

    With a ``block`` the rows are blocks of so many elements of that loop itself.
    """

    depth: int
    rows: int
    near: int
    block: int = 0


@frozen
class Stored:
    """What is stored into the buffer ``name``: an element of this ``shape`` at each ``index``."""

    name: str
    index: Idx
    shape: Sequence[Dim]
    compute: Compute
    loc: SourceLocation | None


def store_behind(context: Context, stored: Stored, distances: Sequence[Distances]) -> bool:
    """Emit loops that store each element once no load needs what it overwrites.

    ``distances`` has those of all loads that meet elements which the loops store. False, and
    nothing emitted, if too much would have to wait.
    """
    name, index = stored.name, stored.index
    axes = _order(context, name, index, stored.compute(index)[2])
    sizes = [stored.shape[axis] for axis in axes]
    lags = [tuple(each.get(str(index[axis]), 0) for axis in axes) for each in distances]
    pace = _pace(lags, sizes, context.buffers[name].dtype.itemsize, context.machine.costs)
    if pace is None:
        return False
    for stmt in _Nest(context, stored, axes, sizes).at(pace):
        context.emit(stmt)
    return True


def _order(context: Context, name: str, index: Idx, target: Idx) -> list[int]:
    """The axes that have loops, by decreasing step in memory where the steps are known."""
    axes = [axis for axis, i in enumerate(index) if not isinstance(i, int)]
    offset = byte_offset(context.buffers[name], target)
    steps = {axis: step_of(offset, str(index[axis])) for axis in axes}
    known = {axis: abs(step) for axis, step in steps.items() if isinstance(step, int)}
    return sorted(axes, key=lambda axis: -known[axis]) if len(known) == len(axes) else axes


def _pace(lags: Sequence[Lag], sizes: Sequence[Dim], itemsize: int, costs: Costs) -> _Pace | None:
    last, worth = len(sizes) - 1, costs.late_worth
    early = [lag for lag in lags if _is_before(lag)]
    depth = min(map(_depth, early), default=last)
    if depth == last:
        near = max((-lag[last] for lag in early), default=0)
        if near <= costs.late_near:
            return _Pace(last, 0, near)
        block = max(costs.late_block // itemsize, near)
        is_held = block * itemsize <= 4 * costs.late_block
        if is_held and hint(sizes[last]) > worth * block:
            return _Pace(last, 1, 0, block)
        if last == 0:
            return None
        depth = last - 1
    rows = max(1, *(-lag[depth] for lag in early))
    near = 0
    for rest in (lag[depth + 1 :] for lag in early if lag[depth] == -rows):
        if _is_before(rest) and _depth(rest) == len(rest) - 1 and -rest[-1] <= costs.late_near:
            near = max(near, -rest[-1])
        elif _is_before(rest):
            rows, near = rows + 1, 0
            break
    if rows > costs.late_rows or hint(sizes[depth]) < worth * rows:
        return None
    if hint(product(tuple(sizes[depth + 1 :]))) < costs.late_row:
        return None
    return _Pace(depth, rows, near)


def _is_before(lag: Lag) -> bool:
    """Whether what is read is overwritten by an earlier iteration."""
    return next((step for step in lag if step), 0) < 0


def _depth(lag: Lag) -> int:
    return next(depth for depth, step in enumerate(lag) if step)


@frozen
class _Row:
    """An index into the result, the variables in it that are a row's, and how far they run."""

    index: Idx
    variables: Idx
    sizes: tuple[Dim, ...]


class _Nest:
    """The loops for one store. ``axes`` are those of the index, from the outermost loop in."""

    def __init__(
        self, context: Context, stored: Stored, axes: Sequence[int], sizes: Sequence[Dim]
    ) -> None:
        self.context = context
        self.name = stored.name
        self.index: list[Dim] = [0] * len(stored.index)
        self.axes = axes
        self.sizes = sizes
        self.compute = stored.compute
        self.loc = stored.loc

    def at(self, pace: _Pace) -> tuple[Stmt, ...]:
        """The loops at this pace."""
        outer = [self.context.loop_var() for _ in range(pace.depth)]
        for axis, variable in zip(self.axes, outer, strict=False):
            self.index[axis] = variable
        body = self.with_rows(pace) if pace.rows else self.in_registers(pace.near)
        return self.loops(outer, self.sizes[: pace.depth], body)

    def loops(
        self,
        variables: Sequence[Dim],
        sizes: Sequence[Dim],
        body: Sequence[Stmt],
        *,
        behind: int = 0,
        note: str = "",
    ) -> tuple[Stmt, ...]:
        stmts = tuple(body)
        for variable, size in reversed(list(zip(variables, sizes, strict=True))):
            if isinstance(variable, int):
                continue
            loop = Loop(str(variable), size, stmts, True, loc=self.loc, note=note, behind=behind)
            stmts, behind = (loop,), 0
        return stmts

    def in_registers(self, near: int) -> tuple[Stmt, ...]:
        """The innermost loop, where only elements of its own wait."""
        variable = self.context.loop_var()
        self.index[self.axes[-1]] = variable
        stmts, element, target = self.compute(tuple(self.index))
        body = (*stmts, *self.context.cells(self.name, target, element))
        return self.loops((variable,), self.sizes[-1:], body, behind=near)

    def with_rows(self, pace: _Pace) -> tuple[Stmt, ...]:
        """Loops over rows that wait in a buffer."""
        context, rows, block = self.context, pace.rows, pace.block
        size = self.sizes[pace.depth]
        count = floordiv(size + (block - 1), block) if block else size
        lengths: tuple[Dim, ...] = (block,) if block else tuple(self.sizes[pace.depth + 1 :])
        dtype, shape = context.buffers[self.name].dtype, (rows, *lengths)
        ring = context.add_buffer(dtype, shape, c_strides(shape, dtype.itemsize))

        def waiting(number: Dim, row: _Row) -> list[Store]:
            slot = mod(number, rows) if rows > 1 else 0
            return context.cells(ring, (slot, *row.variables), element)

        def stored(row: _Row) -> list[Store]:
            return context.cells(self.name, self.compute(row.index)[2], element)

        step = context.loop_var()
        here = self.row(pace, step)
        stmts, element, _ = self.compute(here.index)
        earlier = self.row(pace, maximum(step - rows, 0), here.variables)
        kept = waiting(step, here)
        loads, late = self.passed(kept, stored(earlier))
        body = self.loops(
            here.variables, here.sizes, (*stmts, *loads, *late, *kept), behind=pace.near
        )
        if block:  # a shorter last block leaves elements of the one before
            (length,) = here.sizes
            rest = context.loop_var()
            earlier = self.row(pace, step - 1, (rest + length,))
            left = (block - length) * minimum(step, 1)
            copied = self.passed(waiting(0, earlier), stored(earlier))
            body = (*body, *self.loops((rest,), (left,), sum(copied, ())))
        most, gone = minimum(rows, count), maximum(count - rows, 0)
        begin, end = context.loop_vars((most, most))
        first, last = self.row(pace, 0), self.row(pace, gone + end)
        filled = self.passed(stored(first), waiting(begin, first))
        emptied = self.passed(waiting(gone + end, last), stored(last))
        return (
            *self.loops((begin, *first.variables), (most, *first.sizes), sum(filled, ())),
            *self.loops((step,), (count,), body, note=f"stored {rows} behind"),
            *self.loops((end, *last.variables), (most, *last.sizes), sum(emptied, ())),
        )

    def row(self, pace: _Pace, number: Dim, variables: Idx = ()) -> _Row:
        """A row or block, by new loop variables if none are given."""
        index = list(self.index)
        axis, inner = self.axes[pace.depth], self.axes[pace.depth + 1 :]
        if pace.block:
            (variable,) = variables = variables or (self.context.loop_var(),)
            index[axis] = number * pace.block + variable
            size = minimum(pace.block, self.sizes[pace.depth] - number * pace.block)
            return _Row(tuple(index), variables, (size,))
        variables = variables or tuple(self.context.loop_var() for _ in inner)
        index[axis] = number
        for each, variable in zip(inner, variables, strict=True):
            index[each] = variable
        return _Row(tuple(index), variables, tuple(self.sizes[pace.depth + 1 :]))

    def passed(
        self, source: Sequence[Store], target: Sequence[Store]
    ) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...]]:
        """Loads of what stands in some cells, and its stores into others."""
        loads = tuple(Load(self.context.fresh(), s.dtype, s.buffer, s.index) for s in source)
        stores = zip(target, loads, strict=True)
        return loads, tuple(replace(s, value=load.name) for s, load in stores)
