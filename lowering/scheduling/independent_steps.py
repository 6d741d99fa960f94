"""Loops of the user's program over columns, or over elements, become nests.

::

    loop j in 0:n                            for j in 0:n lanes 8
      for i1 in 0:m                    →       for i1 in 0:m
        A[i1, j] = f(A[i1, j])                   A[i1, j] = f(A[i1, j])

    loop i in 0:m                            for i in 0:m parallel 16
      loop j in 1:n                    →       for j in 0:n - 1 lanes 8
        t1 = item(u[i, j - 1])                   t1 = item(u[i, j])
        v[i, j] = power(t1, 2.0)                 v[i, j + 1] = power(t1, 2.0)

The iterations have nothing to do with each other, as those of a parallel loop, and always do the
same. A column alone has each of its elements in another cache line, so lanes go from column to
column. Loops over elements have lanes and threads as those over arrays have, and functions that
LLVM has no vectors for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.symbols import Dim, computed_in, symbol, symbols_of

from ..nests.accesses import Block, rename
from ..nests.addressing import byte_offset, step_of
from ..nests.bounds import Range, counter_bounds, ranges_within, trips
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import Compute, For, Index, Load, Loop, Stmt, Store
from ..operators.python_rules import asks_library
from .survey import Survey, why_no_lanes
from .wraps import pieces, without_wraps

# See Note [Rooms with one door].
why_dependent = import_later("fxc.lowering.nests.independence", "why_dependent")

Counters = tuple[dict[str, Range], dict[str, Range]]  # their bounds, and the values that they take


def independent_steps(program: Program) -> Program:
    """The program with such loops as nests.

    Requires: stored values are forwarded. Ensures: the same results, bit for bit.
    """
    counters = counter_bounds(program)
    known = counters, ranges_within(counters)

    def change(steps: For) -> Block | None:
        nest = _nest(program, known, steps) or of_elements(program, known, steps)
        return None if nest is None else without_wraps((nest,), program.target.costs)

    return replace(program, body=outermost_first(program.body, change))


def _nest(program: Program, counters: Counters, steps: For) -> Loop | None:
    """The nest that a loop over columns is; None if that is not right or brings nothing."""
    if not any(isinstance(stmt, Loop) for stmt in steps.body):
        return None
    nest = as_loop(counters, steps, steps.body)
    if nest is None or not _is_across(program, nest) or why_dependent(program, nest):
        return None
    return nest


def as_loop(counters: Counters, steps: For, body: Block) -> Loop | None:
    """The loop that runs what an iteration of another one does, from its first number on."""
    known, ranges = counters
    if steps.leave is not None or steps.var not in known:
        return None
    if any(_varies(stmt.size, steps.var) for stmt in body if isinstance(stmt, Loop)):
        return None
    first, last = known[steps.var]
    moved: dict[str, Dim] = {steps.var: symbol(steps.var, hint=0) + first}
    body = body if first == 0 else tuple(rename(stmt, moved) for stmt in body)
    return Loop(steps.var, trips((first, last), ranges), body, loc=steps.loc)


def of_elements(program: Program, counters: Counters, steps: For) -> Loop | None:
    """The nest that a loop over elements is, or one over such loops; None if that is not right or
    brings nothing.
    """
    body = tuple(_of_elements_inside(program, counters, stmt) for stmt in steps.body)
    nest = None if None in body else as_loop(counters, steps, cast(Block, body))
    if nest is None or why_dependent(program, nest):
        return None
    if any(isinstance(stmt, Loop) for stmt in nest.body):
        return nest
    if is_short(program, nest):
        return None
    plain = pieces(nest, program.target.costs)
    return None if all(why_no_lanes(program, each) for each in plain) else nest


def is_short(program: Program, nest: Loop) -> bool:
    """Whether LLVM may rather write out all iterations: they are few, known, and fill no registers.

    A size that varies may be a small one only in the call that is captured.
    """
    size = nest.size
    if not isinstance(size, int) or size >= program.target.costs.steps_short:
        return False
    return size % Survey(program, nest).lanes != 0


def _of_elements_inside(program: Program, counters: Counters, stmt: Stmt) -> Stmt | None:
    match stmt:
        case For():
            return of_elements(program, counters, stmt)
        case Compute(op=op, args=args):
            return None if asks_library(op, args) else stmt
        case Load() | Index() | Store():
            return stmt
        case _:
            return None


def _varies(size: Dim, var: str) -> bool:
    return bool(computed_in(size)) or var in symbols_of(size)


def _is_across(program: Program, nest: Loop) -> bool:
    """Whether the loops inside go across memory that the loop around goes along."""
    along = inside = 0
    for offset, size, inner in _moves(program, nest.body, ()):
        if any(_is_unit(offset, var, size) for var in inner):
            inside += 1
        else:
            along += _is_unit(offset, nest.var, size)
    return along > inside


def _moves(
    program: Program, block: Block, inner: tuple[str, ...]
) -> Iterator[tuple[Dim, int, tuple[str, ...]]]:
    """The places of all that loops inside load and store."""
    for stmt in block:
        if isinstance(stmt, Loop):
            yield from _moves(program, stmt.body, (*inner, stmt.var))
        elif isinstance(stmt, Load | Store) and inner:
            buffer = program.buffers[stmt.buffer]
            yield byte_offset(buffer, stmt.index), stmt.dtype.itemsize, inner


def _is_unit(offset: Dim, var: str, size: int) -> bool:
    return not computed_in(offset) and step_of(offset, var) == size
