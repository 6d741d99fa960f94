"""Inner products that a loop of the user's program makes one by one are made together before it.

::

    loop j in 0:n                            b7 = matmul(v5, v6)    # n products
      b6 = matmul(v3, v4)              →     loop j in 0:n
      A[i, j] = A[i, j] - b6[]                 A[i, j] = A[i, j] - b7[j, 0, 0]

where ``v3`` is the same vector in all iterations, and ``v4`` a column, the next one each time: then
registers hold sums of columns that lie side by side. Each sum is added up in the same order. See
Note [Dot products].
"""

from __future__ import annotations

from fxc.ir.records import replace
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Dim, computed_in, symbol, symbols_of
from fxc.ir.types import c_strides

from ..nests.addressing import step_of
from ..nests.bounds import counter_bounds, ranges_within, trips
from ..nests.buffers import Buffer
from ..nests.met import Met, are_apart, is_positive, met_in_vector, stores
from ..nests.program import Program
from ..nests.rewriting import innermost_first
from ..nests.statements import For, Load, Matmul, Stmt, Store


def products_ahead(program: Program) -> Program:
    """The program with products made ahead of loops.

    Requires: nothing. Ensures: the same results, bit for bit.
    """
    moving = _Moving(program)
    body = innermost_first(program.body, moving.loop)
    return replace(program, body=body, buffers=moving.buffers) if moving.moved else program


class _Moving:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = dict(program.buffers)
        self.counters = counter_bounds(program)
        self.ranges = ranges_within(self.counters)
        self.moved = 0

    def loop(self, loop: For) -> list[Stmt] | None:
        """The loop, behind what can be made ahead of it."""
        if loop.leave is not None or loop.var not in self.counters:
            return None
        ahead: list[Stmt] = []
        body: list[Stmt] = []
        for place, stmt in enumerate(loop.body):
            made = self.ahead(loop, stmt, place) if isinstance(stmt, Matmul) else None
            if made is None:
                body.append(stmt)
            else:
                ahead.append(made[0])
                body += made[1]
        return [*ahead, replace(loop, body=tuple(body))] if ahead else None

    def ahead(self, loop: For, stmt: Matmul, place: int) -> tuple[Matmul, list[Stmt]] | None:
        """All products that a statement of the loop makes, and what takes its place there."""
        out, *vectors = (self.buffers[name] for name in (stmt.out, stmt.x, stmt.y))
        if out.shape or out.dtype.kind != "f" or any(len(each.shape) != 1 for each in vectors):
            return None
        steps = [self.step(each, loop.var) for each in vectors]
        if None in steps or {*steps} != {0, out.dtype.itemsize}:
            return None
        for each in vectors:
            for number, part in enumerate(loop.body):
                for written in stores(self.buffers, (part,), each.storage):
                    if written is None or not self.are_apart(loop, each, written, number < place):
                        return None
        first, last = self.counters[loop.var]
        self.moved += 1
        sums = self.new(out, trips((first, last), self.ranges))
        x, y = (
            self.vectors(each, loop, step or 0, is_row=number == 0)
            for number, (each, step) in enumerate(zip(vectors, steps, strict=True))
        )
        name = f"{sums}.now"
        index = (symbol(loop.var, hint=0) - first, 0, 0)
        now: list[Stmt] = [Load(name, out.dtype, sums, index), Store(stmt.out, (), name, out.dtype)]
        return Matmul(sums, x, y, stmt.loc), now

    def step(self, vector: Buffer, var: str) -> Dim | None:
        """By how much a vector, which is as long in all iterations, moves with each."""
        (size,), (stride,) = vector.shape, vector.strides
        if computed_in(vector.offset) or computed_in(size):
            return None
        if var in symbols_of(size) or var in symbols_of(stride):
            return None
        return step_of(vector.offset, var)

    def new(self, out: Buffer, count: Dim) -> str:
        name = f"{out.name}.ahead{self.moved}"
        shape = (count, 1, 1)
        strides = c_strides(shape, out.dtype.itemsize)
        self.buffers[name] = Buffer(name, out.dtype, shape, strides, "temp", name)
        return name

    def vectors(self, vector: Buffer, loop: For, step: Dim, *, is_row: bool) -> str:
        """A buffer with the vectors of all iterations, as rows or columns."""
        first, last = self.counters[loop.var]
        (size,), (stride,) = vector.shape, vector.strides
        inner = ((1, size), (0, stride)) if is_row else ((size, 1), (stride, 0))
        name = f"{vector.name}.ahead{self.moved}{'x' if is_row else 'y'}"
        self.buffers[name] = replace(
            vector,
            name=name,
            shape=(trips((first, last), self.ranges), *inner[0]),
            strides=(step, *inner[1]),
            offset=substitute(vector.offset, {loop.var: first}),
        )
        return name

    def are_apart(self, loop: For, vector: Buffer, written: Met, is_before: bool) -> bool:
        """Whether what is written in an iteration is not read in a later one, nor in the same one,
        if it ``is_before``.
        """
        read = met_in_vector(vector, vector.shape[0])
        first, last = self.counters[loop.var]
        if are_apart(read, written, ((loop.var, first, last - 1),), self.ranges):
            return True
        return not is_before and self.have_own_column(
            loop, read, written, trips((first, last), self.ranges)
        )

    def have_own_column(self, loop: For, read: Met, written: Met, count: Dim) -> bool:
        """Whether each iteration meets one column alone, the next one each time."""
        ((element, *_),) = read.ways
        row, step = step_of(read.offset, element), step_of(read.offset, loop.var)
        if row in (0, None) or step is None or step_of(written.offset, loop.var) != step:
            return False
        if any(step_of(written.offset, var) not in (0, row) for var, *_ in written.ways):
            return False
        inside: dict[str, Dim] = {element: 0, **{var: 0 for var, *_ in written.ways}}
        rows = substitute(read.offset, inside) - substitute(written.offset, inside)
        if rows != 0 and not (isinstance(rows, int) and isinstance(row, int) and rows % row == 0):
            return False
        assert row is not None
        is_inside = is_positive(row - step * count + 1, self.ranges)
        return is_inside and is_positive(step, self.ranges)
