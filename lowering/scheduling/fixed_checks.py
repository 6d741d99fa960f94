"""A check that comes out the same in all iterations of a loop of the user's stands in front of it.

::

    loop j in 0:8                             raise if out_of_bounds(t1, n)
      raise if out_of_bounds(t1, n)     →     loop j in 0:8
      y[j] = add(y[j], x[t1, j])                y[j] = add(y[j], x[t1, j])

So the loop may become a nest, which has lanes. It is a loop that has an iteration: a check that
fails loses the call, whenever it is made. See Note [Raising ops].
"""

from __future__ import annotations

from fxc.ir.bounds import decide
from fxc.ir.records import replace

from ..nests.accesses import Block
from ..nests.bounds import bounds, counter_bounds, ranges_within
from ..nests.program import Program
from ..nests.rewriting import innermost_first
from ..nests.statements import (
    Accumulate,
    Boxed,
    Check,
    Compute,
    For,
    Index,
    Load,
    Stmt,
    atoms_read,
    walk,
)


def fixed_checks(program: Program) -> Program:
    """The program with such checks in front of loops.

    Requires: stored values are forwarded. Ensures: the same results, bit for bit.
    """
    counters = counter_bounds(program)
    ranges = ranges_within(counters)

    def change(loop: For) -> Block | None:
        if loop.var not in counters or not any(isinstance(s, Check) for s in loop.body):
            return None
        first, last = counters[loop.var]
        if decide(bounds(last - first, ranges)[0], ">=", 1) is not True:
            return None
        early = _early(loop)
        kept = tuple(stmt for stmt in loop.body if not any(stmt is each for each in early))
        return (*early, replace(loop, body=kept)) if early else None

    return replace(program, body=innermost_first(program.body, change))


def _early(loop: For) -> list[Stmt]:
    """The checks that may stand in front of a loop, with what they are made of."""
    inside = walk(loop.body)
    varying = {
        stmt.name for stmt in inside if isinstance(stmt, Load | Compute | Index | Accumulate)
    }
    varying |= {stmt.failed for stmt in inside if isinstance(stmt, Boxed)}
    fixed: dict[str, Compute] = {}
    found: list[Stmt] = []

    def take(atom: object) -> None:
        stmt = fixed.pop(str(atom), None)
        if stmt is not None:
            for each in stmt.args:
                take(each)
            found.append(stmt)

    for stmt in loop.body:
        if any(atom in varying for atom in atoms_read(stmt)):
            continue
        if isinstance(stmt, Compute):
            fixed[stmt.name] = stmt
            varying.discard(stmt.name)
        elif isinstance(stmt, Check):
            take(stmt.failed)
            found.append(stmt)
    return found
