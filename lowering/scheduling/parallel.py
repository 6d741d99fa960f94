"""Outermost loops that take long, and whose iterations are independent, become parallel.

::

    for i0 in 0:1000000               →     for i0 in 0:1000000 parallel 65536
      b1[i0] = exp(x[i0])                     b1[i0] = exp(x[i0])

See Note [Parallel loops]. Loops of symbolic size are parallel, too: when it is known, one that is
no longer than a chunk is run as it is.
"""

from __future__ import annotations

from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.size_functions import floordiv, hint
from fxc.ir.symbols import Dim, computed_in, symbols_of

from ..nests.accesses import Block
from ..nests.addressing import byte_offset, step_of
from ..nests.bounds import bounds, counter_ranges
from ..nests.program import LEAST_PIECE, Program
from ..nests.statements import (
    Accumulate,
    Bind,
    For,
    Load,
    Loop,
    Stmt,
    Store,
    While,
    blocks_of,
    walk,
    with_blocks,
)
from .cost import cost

# See Note [Rooms with one door].
private_to = import_later("fxc.lowering.nests.independence", "private_to")
why_dependent = import_later("fxc.lowering.nests.independence", "why_dependent")


def parallel(program: Program) -> Program:
    """The program with parallel loops, if the machine has threads for them.

    Requires: nothing is changed in the nests afterwards. Ensures: the same results, bit for bit,
    for any number of threads up to that of the target.
    """
    if program.target.threads <= 1:
        return program
    marking = _Marking(program)
    body = marking.block(program.body, repeated=False)
    return replace(program, body=body, buffers=marking.buffers)


class _Marking:
    """The program's loops, looked at one by one; ``buffers`` get the copies that they need."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.target = program.target
        self.buffers = dict(program.buffers)
        self.ranges = counter_ranges(program)
        counted = {stmt.name for stmt in walk(program.body) if isinstance(stmt, Bind)}
        self.counters = {name: r for name, r in self.ranges.items() if name not in counted}

    def block(self, block: Block, *, repeated: bool) -> Block:
        """The statements, which are ``repeated`` inside of a loop of the user's program."""
        made: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Loop):
                made.append(self.loop(stmt, repeated))
            else:
                again = repeated or isinstance(stmt, For | While)
                inner = tuple(self.block(each, repeated=again) for each in blocks_of(stmt))
                made.append(with_blocks(stmt, inner))
        return tuple(made)

    def loop(self, loop: Loop, repeated: bool) -> Loop:
        """The loop, parallel if that is right and pays."""
        chunk = self.chunk(loop, repeated)
        if chunk is None:
            return loop
        shared = why_dependent(self.program, loop)
        private = private_to(self.program, loop) if shared else frozenset[str]()
        if shared and (not private or why_dependent(self.program, loop, private)):
            return loop
        for name in private:
            self.buffers[name] = replace(self.buffers[name], copies=self.target.threads)
        return replace(loop, parallel=chunk)

    def chunk(self, loop: Loop, repeated: bool) -> Dim | None:
        """How many iterations to run at once; None if the loop is too short for more than one
        chunk, or nobody knows how long it takes. What is repeated often is short where it was
        short in the call that is compiled.
        """
        costs = self.target.costs
        each, least = cost(self.target, loop.body), costs.least
        if each is None or loop.var in symbols_of(each) or computed_in(loop.size):
            return None
        whole = bounds(loop.size * each, self.counters if repeated else self.ranges)[1]
        if (repeated or isinstance(whole, int)) and hint(whole) < least:
            return None
        multiple = costs.multiple
        in_lanes = self.is_along(loop)
        if not isinstance(each, int):
            by = multiple if in_lanes else 1
            return by * (1 + floordiv(costs.chunk, by * each + 1))
        is_sum = any(isinstance(stmt, Accumulate) and stmt.is_pairwise for stmt in loop.body)
        number = max(LEAST_PIECE if is_sum else 1, costs.chunk // max(1, each))
        chunk = -(-number // multiple) * multiple if in_lanes or number >= multiple else number
        return chunk if not isinstance(loop.size, int) or loop.size > chunk else None

    def is_along(self, loop: Loop) -> bool:
        """Whether loops inside go across memory that the loop itself goes along: it gets the lanes,
        as in a scan down the columns.
        """
        inside = (stmt for inner in loop.body if isinstance(inner, Loop) for stmt in walk((inner,)))
        return any(
            step_of(byte_offset(self.program.buffers[stmt.buffer], stmt.index), loop.var)
            in (stmt.dtype.itemsize, -stmt.dtype.itemsize)
            for stmt in inside
            if isinstance(stmt, Load | Store)
        )
