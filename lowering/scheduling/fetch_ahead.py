"""What strips meet of memory for the first time is fetched into the cache ahead.

::

    for s in … ordered                       for s in … ordered
      for i in …                               for i in …
        for j in 0:m                    →        for j in 0:m
          t[…] = f(u[i, j], u[i + 1, j])           t[…] = f(u[i, j], u[i + 1, j] ahead 2048)

A processor follows a few streams by itself. Strips go through more of them, most of which are in
the cache, in turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from ..nests.buffers import Idx
from ..nests.statements import Load, Stmt, blocks_of, walk, with_blocks
from .row_blocks import Nest, rows_behind

_First = tuple[str, Idx]


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
    """The statement with the first load at each of these places looking ahead."""
    if isinstance(stmt, Load) and (stmt.buffer, stmt.index) in firsts:
        firsts.remove((stmt.buffer, stmt.index))
        return replace(stmt, ahead=ahead)
    if not any(isinstance(s, Load) for s in walk((stmt,))):
        return stmt
    blocks = tuple(tuple(_looking(s, firsts, ahead) for s in b) for b in blocks_of(stmt))
    return with_blocks(stmt, blocks)
