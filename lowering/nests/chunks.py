"""What a thread runs of a parallel loop. See Note [Parallel loops]."""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.records import replace
from fxc.ir.size_functions import hint, substitute
from fxc.ir.symbols import Dim, symbol

from .accesses import rename
from .statements import Loop, Stmt, blocks_of, with_blocks

FIRST, COUNT = "chunk.first", "chunk.count"  # symbols: of its iterations


def chunk(loop: Loop) -> Loop:
    """A chunk of a parallel loop, as a loop."""
    there = symbol(loop.var, hint=0, lower=0) + symbol(FIRST, hint=0, lower=0)
    body = tuple(_moved(stmt, {loop.var: there}) for stmt in loop.body)
    size = symbol(COUNT, hint=hint(loop.parallel or 0), lower=1)
    return replace(loop, size=size, body=body, parallel=None)


def _moved(stmt: Stmt, dims: Mapping[str, Dim]) -> Stmt:
    """The statement for another iteration, the sizes of loops inside included."""
    if isinstance(stmt, Loop):
        stmt = replace(stmt, size=substitute(stmt.size, dims))
        return with_blocks(stmt, tuple(tuple(_moved(s, dims) for s in b) for b in blocks_of(stmt)))
    return rename(stmt, dict(dims))
