"""Inner products that grow with the loop they stand in begin together, for some iterations at once.

::

    loop j in 0:n                                 loop s in 0:(n + 15) // 16
      b3 = matmul(v1, v2)              →            b3.begun = begin matmul(v4, v5) up to 16*s
      A[i, j] = A[i, j] - b3[]                      loop j in 16*s:min(16*s + 16, n)
                                                      b3 = matmul(v1, v2) from b3.begun[j - 16*s]
                                                      A[i, j] = A[i, j] - b3[]

where ``v1`` is ``A[i, :j]`` and ``v2`` a column. What the iterations of a strip store is what their
last few products read, so these are added one by one. Before, a lane for each column adds up what
they have in common, each in its own order. See Note [Dot products].
"""

from __future__ import annotations

from fxc.ir.bounds import decide
from fxc.ir.records import replace
from fxc.ir.size_functions import floordiv, minimum, substitute
from fxc.ir.symbols import Dim, computed_in, symbol

from ..nests.addressing import step_of
from ..nests.bounds import Range, counter_bounds, ranges_within
from ..nests.buffers import F64, I64, Buffer, Const
from ..nests.met import ends, is_positive, met_in_vector, stores
from ..nests.program import Program
from ..nests.rewriting import innermost_first
from ..nests.statements import For, Index, Matmul, Stmt

ACCUMULATORS = 2  # at most, of one product
MULTIPLE = 4  # of elements that orders take at once, at most


def growing_products(program: Program) -> Program:
    """The program with such products begun ahead.

    Requires: nothing. Ensures: the same results, bit for bit.
    """
    beginning = _Beginning(program)
    body = innermost_first(program.body, beginning.loop)
    return replace(program, body=body, buffers=beginning.buffers)


class _Beginning:
    def __init__(self, program: Program) -> None:
        self.costs = program.target.costs
        self.buffers = dict(program.buffers)
        self.counters = counter_bounds(program)
        self.ranges = ranges_within(self.counters)

    def loop(self, loop: For) -> list[Stmt] | None:
        """The loop in strips, if one of its products can begin ahead of each."""
        if loop.leave is not None or loop.var not in self.counters:
            return None
        for number, stmt in enumerate(loop.body):
            if isinstance(stmt, Matmul):
                known = self.known_at_first(loop, stmt)
                if known is not None:
                    return self.strips(loop, number, known)
        return None

    def known_at_first(self, loop: For, stmt: Matmul) -> int | None:
        """The number of elements of the first product, rounded down, if all products grow by one
        and what they have in common in a strip is there when it starts.
        """
        out, x, y = (self.buffers[name] for name in (stmt.out, stmt.x, stmt.y))
        ranks = [len(each.shape) for each in (out, x, y)]
        if ranks != [0, 1, 1] or out.dtype.kind != "f" or x.shape != y.shape:
            return None
        dims = (*x.shape, *x.strides, *y.strides, x.offset, y.offset)
        steps = [None if computed_in(dim) else step_of(dim, loop.var) for dim in dims]
        size = out.dtype.itemsize
        if steps[:3] != [1, 0, 0] or sorted(map(str, steps[3:])) != ["0", str(size)]:
            return None
        first, _ = self.counters[loop.var]
        known = substitute(x.shape[0], {loop.var: first})
        if not isinstance(known, int) or known < 0 or x.strides == y.strides == (size,):
            return None
        is_there = all(self.is_there(loop, each, known) for each in (x, y))
        return known - known % MULTIPLE if is_there else None

    def is_there(self, loop: For, vector: Buffer, known: int) -> bool:
        """Whether no iteration of a strip stores what all products of the strip have in common."""
        start = f"{loop.var}.start"
        first, last = self.counters[loop.var]
        at = symbol(start, hint=0)
        read = ends(met_in_vector(vector, at - first + known), (loop.var, at, last - 1))
        for written in stores(self.buffers, loop.body, vector.storage):
            met = None if written is None else ends(written, (loop.var, at, last - 1))
            if read is None or met is None or written is None:
                return False
            gaps = met[0] - read[1] - vector.dtype.itemsize, read[0] - met[1] - written.size
            if not any(self.is_natural(gap, start, (first, last - 1)) for gap in gaps):
                return False
        return True

    def is_natural(self, gap: Dim, var: str, between: Range) -> bool:
        """Whether a gap is none below zero, wherever a strip starts."""
        step = step_of(gap, var)
        falls = None if step is None else decide(step, "<=", 0)
        if falls is None:
            return False
        return is_positive(substitute(gap, {var: between[falls]}) + 1, self.ranges)

    def strips(self, loop: For, place: int, known: int) -> list[Stmt]:
        stmt = loop.body[place]
        assert isinstance(stmt, Matmul)
        first, last = self.counters[loop.var]
        strip = symbol(f"{loop.var}s", hint=0, lower=0)
        length = self.costs.growing_strip
        start = first + length * strip
        stop, done = minimum(start + length, last), length * strip + known
        begun = f"{stmt.out}.begun"
        shape = (ACCUMULATORS, length)
        self.buffers[begun] = Buffer(begun, F64, shape, (length * 8, 8), "temp", begun)
        x, y = (self.columns(stmt, operand, loop.var, (start, stop), done) for operand in "xy")
        ahead = Matmul(begun, x, y, stmt.loc, done)
        now = replace(stmt, done=done, begun=begun, place=symbol(loop.var, hint=0) - start)
        body = (*loop.body[:place], now, *loop.body[place + 1 :])
        lo, hi, count = (f"{strip}.{name}" for name in ("start", "stop", "count"))
        inside = replace(loop, lo=lo, hi=hi, body=body)
        bounds_of_strip = Index(lo, I64, start), Index(hi, I64, stop)
        return [
            Index(count, I64, floordiv(last - first + (length - 1), length)),
            For(str(strip), Const(0, I64), count, (*bounds_of_strip, ahead, inside), loop.loc),
        ]

    def columns(self, stmt: Matmul, operand: str, var: str, strip: Range, done: Dim) -> str:
        """A buffer with the beginnings of the vectors of a strip, as rows or columns."""
        vector = self.buffers[stmt.x if operand == "x" else stmt.y]
        start, stop = strip
        step, (stride,) = step_of(vector.offset, var), vector.strides
        assert step is not None
        name = f"{vector.name}.begun{operand}"
        inner = ((1, done), (0, stride)) if operand == "x" else ((done, 1), (stride, 0))
        self.buffers[name] = replace(
            vector,
            name=name,
            shape=(stop - start, *inner[0]),
            strides=(step, *inner[1]),
            offset=substitute(vector.offset, {var: start}),
        )
        return name
