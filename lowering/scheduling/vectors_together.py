"""Products of vectors with one matrix, which a loop makes one by one, are made for some at once.

::

    loop i in 0:n                    loop iv in 0:(n + 63) // 64
      b3 = matmul(v1, C)               b3.some = matmul(v2, C) of up to 64 vectors, …
      for j in 0:m             →       loop i in 64*iv:min(64*iv + 64, n)
        A[i, j] = b3[j]                  for k in 0:m
                                           b3[k] = b3.some[i - 64*iv, 0, k]
                                         for j in 0:m
                                           A[i, j] = b3[j]

where ``v1`` is ``A[i]``: each row of the matrix is read once for all vectors of a block. The matrix
may lose a column with each iteration (``X[:, i] @ X[:, i:]``). Each sum is added up in the same
order: see Note [Products of a vector and a matrix].
"""

from __future__ import annotations

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.later import import_later
from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import floordiv, hint, minimum, substitute
from fxc.ir.symbols import Dim, computed_in, symbol
from fxc.ir.types import c_strides

from ..nests.addressing import step_of
from ..nests.bounds import Range, counter_bounds, ranges_within
from ..nests.buffers import I64, Buffer, Const
from ..nests.met import Met, are_apart, ends, is_positive, met_in_vector, stores
from ..nests.program import Program
from ..nests.rewriting import innermost_first
from ..nests.statements import For, Index, Load, Loop, Matmul, Stmt, Store
from ..nests.together import Together

# See Note [Rooms with one door].
matrix_order = import_later("fxc.lowering.operators.matrix_order", "matrix_order")


def vectors_together(program: Program) -> Program:
    """The program with such products made for some vectors at once.

    Requires: nothing. Ensures: the same results, bit for bit.
    """
    strips = _Strips(program)
    body = innermost_first(program.body, strips.loop)
    return replace(program, body=body, buffers=strips.buffers)


@frozen
class _Found:
    """A product of the body of a loop, whose vector moves by ``step`` with each iteration."""

    place: int
    vector: Buffer
    matrix: Buffer  # with a row for each element of the vector
    step: Dim
    fewer: int


class _Strips:
    def __init__(self, program: Program) -> None:
        self.target = program.target
        self.buffers = dict(program.buffers)
        self.counters = counter_bounds(program)
        self.ranges = ranges_within(self.counters)
        self.made = 0

    def loop(self, loop: For) -> list[Stmt] | None:
        """The loop in strips, if it has such products."""
        if loop.leave is not None or loop.var not in self.counters:
            return None
        first, last = self.counters[loop.var]
        if decide(last - first, "<", self.vectors) is True:
            return None
        products = [
            found
            for place, stmt in enumerate(loop.body)
            if isinstance(stmt, Matmul) and stmt.done is None
            for found in (self.found(loop, stmt, place),)
            if found is not None
        ]
        return self.strips(loop, products) if products else None

    def found(self, loop: For, stmt: Matmul, place: int) -> _Found | None:
        """The product, if BLAS's order for it is known and what it reads is there ahead."""
        x, y = (self.buffers[name] for name in (stmt.x, stmt.y))
        if (len(x.shape), len(y.shape)) == (2, 1):
            x, y = y, replace(x, shape=x.shape[::-1], strides=x.strides[::-1])
        if (len(x.shape), len(y.shape)) != (1, 2) or x.dtype.kind != "f":
            return None
        step, fewer = step_of(x.offset, loop.var), self.fewer(loop, x, y)
        if step is None or fewer is None or computed_in(x.offset):
            return None
        if not (self.is_for_blas(x, y) and self.is_known(x.dtype)):
            return None
        found = _Found(place, x, y, step, fewer)
        return found if self.is_there(loop, found) else None

    def is_known(self, dtype: np.dtype) -> bool:
        """Whether BLAS's order is, and the machine has instructions for it."""
        order = matrix_order(dtype)
        return order is not None and (self.target.fuses or not order.is_fused)

    def fewer(self, loop: For, vector: Buffer, matrix: Buffer) -> int | None:
        """By how many first columns the matrix gets narrower with each iteration, if that is all
        that changes.
        """
        fixed = (*vector.shape, *vector.strides, matrix.shape[0], *matrix.strides)
        if any(map(computed_in, (*fixed, matrix.shape[1], matrix.offset))):
            return None
        if any(step_of(dim, loop.var) != 0 for dim in fixed):
            return None
        steps = step_of(matrix.offset, loop.var), step_of(matrix.shape[1], loop.var)
        for fewer in (0, 1):
            if steps == (fewer * matrix.dtype.itemsize, -fewer):
                return fewer
        return None

    def is_for_blas(self, vector: Buffer, matrix: Buffer) -> bool:
        """Whether NumPy gives BLAS such operands as they are, the columns side by side; that no row
        is longer than the step to the next one may turn out later.
        """
        size, (row, column) = vector.dtype.itemsize, matrix.strides
        (between,) = vector.strides
        if column != size or not all(_is_multiple(each, size) for each in (between, row)):
            return False
        if between != size and decide(between, ">", size) is not True:
            return False
        return decide(row, ">=", size * matrix.shape[1]) is not False

    def is_there(self, loop: For, found: _Found) -> bool:
        """Whether no iteration stores what a later product reads."""
        first, last = self.counters[loop.var]
        ways = ((loop.var, first, last - 1),)
        for buffer in (found.vector, found.matrix):
            read = _met(buffer)
            for place, stmt in enumerate(loop.body):
                for written in stores(self.buffers, (stmt,), buffer.storage):
                    if written is None:
                        return False
                    is_own = place > found.place and self.is_own(read, written, loop.var)
                    if not (is_own or are_apart(read, written, ways, self.ranges)):
                        return False
        return True

    def is_own(self, read: Met, written: Met, var: str) -> bool:
        """Whether an iteration meets nothing that another one does: all that it reads and writes
        lies within the step to the next one.
        """
        here, there = ends(read), ends(written)
        if here is None or there is None:
            return False
        step, *others = (step_of(each, var) for each in (*here, *there))
        if step is None or any(each != step for each in others):
            return False
        return all(
            is_positive(step - gap + 1, self.ranges)
            for gap in (there[1] - here[0] + written.size, here[1] - there[0] + read.size)
        )

    def strips(self, loop: For, products: list[_Found]) -> list[Stmt]:
        first, last = self.counters[loop.var]
        length = min(map(self.length, products))
        strip = symbol(f"{loop.var}v", hint=0, lower=0)
        start = first + length * strip
        between = start, minimum(start + length, last)
        ahead: list[Stmt] = []
        body = list(loop.body)
        for found in products:
            stmt = loop.body[found.place]
            assert isinstance(stmt, Matmul)
            made = self.ahead(loop.var, stmt, found, between, length)
            ahead.append(made)
            body[found.place] = self.now(loop.var, stmt, found, made.out, start)
        lo, hi, count = (f"{strip}.{name}" for name in ("start", "stop", "count"))
        inside = replace(loop, lo=lo, hi=hi, body=tuple(body))
        edges = Index(lo, I64, between[0]), Index(hi, I64, between[1])
        return [
            Index(count, I64, floordiv(last - first + (length - 1), length)),
            For(str(strip), Const(0, I64), count, (*edges, *ahead, inside), loop.loc),
        ]

    def length(self, found: _Found) -> int:
        """How many iterations a strip has."""
        costs = self.target.costs
        row = max(1, hint(found.matrix.shape[1]) * found.vector.dtype.itemsize)
        return max(self.vectors, min(costs.together_strip, costs.together_bytes // row))

    @property
    def vectors(self) -> int:
        """Those of a block. Half of the registers have totals of it."""
        return max(1, self.target.registers // 4)

    def columns(self, found: _Found) -> int:
        """Those of a block."""
        lanes = max(1, self.target.vector // found.vector.dtype.itemsize)
        return lanes * max(1, self.target.registers // 16)

    def ahead(self, var: str, stmt: Matmul, found: _Found, strip: Range, length: int) -> Matmul:
        """The products of a strip."""
        start, stop = strip
        at_start = {var: start}
        vector, matrix = found.vector, found.matrix
        columns = substitute(matrix.shape[1], at_start)
        self.made += 1
        some, x, y = (f"{stmt.out}.{what}{self.made}" for what in ("some", "vectors", "matrix"))
        self.buffers[x] = replace(
            vector,
            name=x,
            shape=(stop - start, 1, vector.shape[0]),
            strides=(found.step, 0, vector.strides[0]),
            offset=substitute(vector.offset, at_start),
        )
        self.buffers[y] = replace(
            matrix,
            name=y,
            shape=(matrix.shape[0], columns),
            offset=substitute(matrix.offset, at_start),
        )
        shape = (stop - start, 1, columns)
        strides = c_strides(shape, vector.dtype.itemsize)
        self.buffers[some] = Buffer(some, vector.dtype, shape, strides, "temp", some)
        together = Together(length, self.vectors, self.columns(found), found.fewer)
        return Matmul(some, x, y, stmt.loc, together=together)

    def now(self, var: str, stmt: Matmul, found: _Found, some: str, start: Dim) -> Loop:
        """What one iteration takes of them."""
        element, name = f"{some}.column", f"{some}.now"
        place, column = symbol(var, hint=0) - start, symbol(element, hint=0, lower=0)
        index = (place, 0, column + place * found.fewer)
        dtype = found.vector.dtype
        body = Load(name, dtype, some, index), Store(stmt.out, (column,), name, dtype)
        return Loop(element, found.matrix.shape[1], body, loc=stmt.loc)


def _met(buffer: Buffer) -> Met:
    """The elements of a vector or a matrix."""
    if len(buffer.shape) == 1:
        return met_in_vector(buffer, buffer.shape[0])
    offset, ways = buffer.offset, []
    for axis, (size, stride) in enumerate(zip(buffer.shape, buffer.strides, strict=True)):
        element = f"{buffer.name}.element{axis}"
        offset = offset + symbol(element, hint=0) * stride
        ways.append((element, 0, size - 1))
    return Met(offset, tuple(ways), buffer.dtype.itemsize)


def _is_multiple(dim: Dim, size: int) -> bool:
    if isinstance(dim, int):
        return dim > 0 and dim % size == 0
    return all(factor % size == 0 for _, factor in dim.terms)
