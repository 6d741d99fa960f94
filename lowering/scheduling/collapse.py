"""Nested loops over memory without gaps become one."""

from __future__ import annotations

from fxc.ir.records import replace
from fxc.ir.symbols import Dim, symbol

from ..nests.accesses import rename
from ..nests.addressing import byte_offset, split, step_of
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    blocks_of,
    with_blocks,
)
from .over_parts import over_parts


def collapse(program: Program, stmt: Stmt) -> Stmt:
    """Two perfectly nested loops as one, where every access moves on evenly across both.

    The parts of complex numbers are a loop, too, where the same is done to both.
    """
    blocks = tuple(tuple(collapse(program, s) for s in b) for b in blocks_of(stmt))
    stmt = with_blocks(stmt, blocks)
    nests = [stmt] if not isinstance(stmt, Loop) else [stmt, *over_parts(program, stmt)]
    for nest in nests:
        match nest:
            case Loop(body=(Loop() as inner,)) if _is_even(program, nest, inner):
                return _collapsed(nest, inner)
    return stmt


def _collapsed(outer: Loop, inner: Loop) -> Loop:
    flat = symbol(outer.var, hint=0, lower=0)
    dims = {outer.var: flat // inner.size, inner.var: flat % inner.size}
    levels = {s.levels for s in inner.body if isinstance(s, Accumulate)}
    body = tuple(_lifted(rename(s, dims), bool(levels)) for s in inner.body)
    behind = inner.behind + _times(outer.behind, inner.size)
    return replace(outer, size=outer.size * inner.size, body=body, behind=behind)


def _times(behind: int, size: Dim) -> int:
    return behind * size if isinstance(size, int) else 0


def _lifted(stmt: Stmt, carried: bool) -> Stmt:
    if isinstance(stmt, Accumulate) and carried:
        return replace(stmt, levels=stmt.levels - 1)
    return stmt


def _is_even(program: Program, outer: Loop, inner: Loop) -> bool:
    if (outer.ordered, outer.descending) != (inner.ordered, inner.descending):
        return False
    if inner.chunk is not None or (outer.behind and not isinstance(inner.size, int)):
        return False
    for stmt in inner.body:
        match stmt:
            case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                offset = byte_offset(program.buffers[buffer], index)
                if not _continues(offset, outer, inner):
                    return False
            case Index(value=value):
                if not _continues(value, outer, inner):
                    return False
            case Accumulate(levels=levels, position=position):
                if levels < 2 or stmt.is_pairwise:
                    return False
                if position is not None and not _continues(position, outer, inner):
                    return False
            case Compute():
                pass
            case _:
                return False
    return True


def _continues(dim: Dim, outer: Loop, inner: Loop) -> bool:
    known, _ = split(dim)  # computed integers go with the statements that compute them
    slow, fast = step_of(known, outer.var), step_of(known, inner.var)
    return slow is not None and fast is not None and slow == fast * inner.size
