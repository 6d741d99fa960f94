"""What strips meet of memory for the first time is fetched into the cache ahead.

::

    for s in … ordered                       for s in … ordered
      for i in …                               for i in …
        for j in 0:m                    →        for j in 0:m
          t[…] = f(u[i, j], u[i + 1, j])           t[…] = f(u[i, j], u[i + 1, j] ahead 4096)

A processor follows a few streams by itself. Strips go through more of them, most of which are in
the cache, in turns; so do other nests that read many rows at once. Nor does it see far where a body
takes long. What is stored there looks ahead, too: a line of the cache is read before it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING

from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.size_functions import hint, substitute
from fxc.ir.symbols import computed_in, product, symbols_of

from ..nests.accesses import Block
from ..nests.addressing import byte_offset, is_unit_step, step_of
from ..nests.buffers import Idx
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    Load,
    Loop,
    Stmt,
    Store,
    blocks_of,
    walk,
    with_blocks,
)
from ..operators.python_rules import SCALAR_RULES

if TYPE_CHECKING:
    from .row_blocks import Nest

rows_behind = import_later("fxc.lowering.scheduling.row_blocks", "rows_behind")

_First = tuple[str, Idx]


def fetched_ahead(program: Program, block: Block) -> Block:
    """The statements, in which large nests that follow many rows, or take long, look ahead, but for
    strips.
    """
    made: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Loop):
            far = _follows_many(program, stmt) or _takes_long(program, stmt)
            if far and _is_far(program, stmt):
                places = _last_places(program, stmt)
                stmt = _looking(stmt, places, program.target.costs.strips_ahead)
            made.append(stmt)
        else:
            made.append(
                with_blocks(stmt, tuple(fetched_ahead(program, b) for b in blocks_of(stmt)))
            )
    return tuple(made)


def _follows_many(program: Program, nest: Loop) -> bool:
    """Whether a body goes through more rows of memory at once than a processor follows."""
    rows: dict[str, set[tuple[str, Idx]]] = {}
    for loop in walk((nest,)):
        if isinstance(loop, Loop):
            if loop.ordered or any(isinstance(s, Loop) and len(loop.body) > 1 for s in loop.body):
                return False
            for stmt in loop.body:
                if isinstance(stmt, Load | Store):
                    at = tuple(dim for dim in stmt.index if loop.var not in symbols_of(dim))
                    rows.setdefault(loop.var, set()).add((stmt.buffer, at))
    return any(len(found) > program.target.costs.streams for found in rows.values())


def _takes_long(program: Program, nest: Loop) -> bool:
    """Whether the body of a nest takes so long that a processor, which looks some hundred
    instructions ahead, does not ask for the next lines of the cache in time, or adds up: then its
    instructions wait for each other. What several loops in a row do meets most in the cache.
    """
    body: Sequence[Stmt] = (nest,)
    while len(body) == 1 and isinstance(body[0], Loop) and not body[0].ordered:
        body = body[0].body
    if any(isinstance(stmt, Loop) for stmt in body):
        return False
    if any(isinstance(stmt, Accumulate) for stmt in body):
        return True
    costs = (SCALAR_RULES[stmt.op].cost for stmt in body if isinstance(stmt, Compute))
    return sum(costs) >= program.target.costs.ahead_work


def _is_far(program: Program, nest: Loop) -> bool:
    """Whether what a nest meets is more than the cache holds."""
    buffers = [program.buffers[name] for name in set().union(*nest.touched)]
    size = sum(hint(product(each.shape)) * each.dtype.itemsize for each in buffers)
    return size > program.target.cache


def _last_places(program: Program, nest: Loop) -> set[_First]:
    """For each buffer along whose rows a nest goes, the place that lies behind all others."""
    loops = [loop for loop in walk((nest,)) if isinstance(loop, Loop)]
    counters = {loop.var: 0 for loop in loops}
    found: dict[str, tuple[int, Idx]] = {}
    for loop, stmt in [(each, stmt) for each in loops for stmt in each.body]:
        if isinstance(stmt, Load | Store):
            buffer = program.buffers[stmt.buffer]
            offset = byte_offset(buffer, stmt.index)
            is_along = is_unit_step(buffer, step_of(offset, loop.var)) and not buffer.parts
            if is_along and not computed_in(offset):
                here = (hint(substitute(offset, counters)), stmt.index)
                found[stmt.buffer] = max(found.get(stmt.buffer, here), here, key=lambda x: x[0])
    return {(name, index) for name, (_, index) in found.items()}


def fetching_ahead(nests: Sequence[Nest], kept: Set[str], ahead: int) -> list[Nest]:
    """The nests, in which the first load of each row but those of ``kept`` looks so many bytes
    ahead. What is stored first is not read from memory.
    """
    names = dict.fromkeys(name for nest in nests for name in nest.accesses if name not in kept)
    firsts: list[set[_First]] = [set() for _ in nests]
    for name in names:
        _, place, index = max(_met(nests, name), key=lambda met: met[0], default=(0, 0, None))
        if index is not None:
            firsts[place].add((name, index))
    made: list[Nest] = []
    for nest, found in zip(nests, firsts, strict=True):
        loop = nest.loop
        if found:
            loop = replace(loop, body=tuple(_looking(s, found, ahead) for s in loop.body))
        made.append(replace(nest, loop=loop))
    return made


def _met(nests: Sequence[Nest], name: str) -> Iterator[tuple[int, int, Idx | None]]:
    """The rows of a storage that nests meet in a strip, less the strip's first one; in which nest,
    and at which index if it is loaded there.
    """
    for place, nest in enumerate(nests):
        for access in nest.accesses.get(name, ()):
            rows = [rows_behind(at, nest.loop.var) for at in access.index or ()]
            row = next((row for row in rows if row is not None), None)
            if row is not None and access.buffer == name:
                yield row - nest.behind, place, None if access.written else access.index


def _looking(stmt: Stmt, firsts: set[_First], ahead: int) -> Stmt:
    """The statement with the first access at each of these places looking ahead."""
    if isinstance(stmt, Load | Store) and (stmt.buffer, stmt.index) in firsts:
        firsts.remove((stmt.buffer, stmt.index))
        return replace(stmt, ahead=ahead)
    if not any(isinstance(s, Load | Store) for s in walk((stmt,))):
        return stmt
    blocks = tuple(tuple(_looking(s, firsts, ahead) for s in b) for b in blocks_of(stmt))
    return with_blocks(stmt, blocks)
