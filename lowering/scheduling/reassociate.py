"""Sums and products in any order, where the user allows it (``fxc.compile(math="fast")``).

for i0 in 0:n                                  for i0 in 0:n
  t1 = add x[i0]  [pairwise]                     t1 = add x[i0]  [any]
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import replace

from ..nests.program import Program
from ..nests.statements import Accumulate, Loop, Stmt, atoms_read, blocks_of, walk, with_blocks


def reassociate(program: Program) -> Program:
    """The program with totals of floats that are combined in any order.

    Requires: nothing.
    Ensures: a total that later statements of its loop read while it grows keeps its order, as do
    those of the parts of complex numbers.
    """
    return replace(program, body=_block(program.body))


def _block(stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
    return tuple(map(_stmt, stmts))


def _stmt(stmt: Stmt) -> Stmt:
    stmt = with_blocks(stmt, tuple(map(_block, blocks_of(stmt))))
    if not isinstance(stmt, Loop) or stmt.ordered:
        return stmt
    totals = [each for each in stmt.body if isinstance(each, Accumulate)]
    read = {atom for each in walk(stmt.body) for atom in atoms_read(each)}
    kept = any(each.name in read or each.order == "complex pairwise" for each in totals)
    if not totals or kept:
        return stmt
    free = (replace(s, order="any") if isinstance(s, Accumulate) else s for s in stmt.body)
    return replace(stmt, body=tuple(free), chunk=None)
