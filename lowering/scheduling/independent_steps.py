"""Loops of the user's program over columns become nests, so that lanes go from column to column.

::

    loop j in 0:n                            for j in 0:n
      for i1 in 0:m                    →       for i1 in 0:m
        A[i1, j] = f(A[i1, j])                   A[i1, j] = f(A[i1, j])

The iterations have nothing to do with each other, as those of a parallel loop. A column alone has
each of its elements in another cache line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fxc.ir.symbols import Dim, computed_in, symbol, symbols_of

from ..nests.accesses import Block, rename
from ..nests.addressing import byte_offset, step_of
from ..nests.bounds import Range, counter_bounds, ranges_within, trips
from ..nests.independence import why_dependent
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import For, Load, Loop, Store

Counters = tuple[dict[str, Range], dict[str, Range]]  # their bounds, and the values that they take


def independent_steps(program: Program) -> Program:
    """The program with such loops as nests.

    Requires: stored values are forwarded. Ensures: the same results, bit for bit.
    """
    counters = counter_bounds(program)
    known = counters, ranges_within(counters)

    def change(steps: For) -> Block | None:
        nest = _nest(program, known, steps)
        return None if nest is None else (nest,)

    return replace(program, body=outermost_first(program.body, change))


def _nest(program: Program, counters: Counters, steps: For) -> Loop | None:
    """The nest that a loop is; None if that is not right or brings nothing."""
    known, ranges = counters
    if steps.leave is not None or steps.var not in known:
        return None
    inner = [stmt for stmt in steps.body if isinstance(stmt, Loop)]
    if not inner or any(_varies(stmt.size, steps.var) for stmt in inner):
        return None
    first, last = known[steps.var]
    moved: dict[str, Dim] = {steps.var: symbol(steps.var, hint=0) + first}
    body = steps.body if first == 0 else tuple(rename(stmt, moved) for stmt in steps.body)
    count = trips((first, last), ranges)
    nest = Loop(steps.var, count, body, loc=steps.loc)
    if not _is_across(program, nest) or why_dependent(program, nest):
        return None
    return nest


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
