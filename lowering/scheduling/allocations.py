"""Temporaries whose size only the running program knows: native code allocates them itself.

::

    while …
      size count = t1
      allocate b3                       # f64[count]
      for i0 in 0:count: b3[i0] = …

What is allocated is kept for the next iteration, and enlarged if that needs more; the function
frees it however it is left. Where there is no memory, the call goes back to NumPy, as from a check.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from fxc.ir.records import replace
from fxc.ir.symbols import Dim, symbols_of

from ..nests.accesses import Block, storages
from ..nests.pieces import arrays_apart, of_measured_size, pieces
from ..nests.program import Program
from ..nests.statements import Allocate, Bind, For, Stmt, blocks_of, walk, with_blocks


def with_allocations(program: Program) -> Program:
    """The program with a statement in front of what uses each such temporary: where a piece of
    native code knows its size, since no memory may be had for it; of one whose size only a branch
    or loop knows, in front of the first access to it, in the innermost block that has all of them.
    """
    rooms = of_measured_size(program)
    for name in arrays_apart(program) if rooms else ():
        rooms.pop(name, None)
    if not rooms:
        return program
    inside = _sizes_of_blocks(program)
    early = {name: room for name, room in rooms.items() if inside.isdisjoint(_symbols(room))}
    made: dict[int, list[Stmt]] = {}
    for first, last in pieces(program):
        for name in sorted(storages(program, program.body[first:last]) & early.keys()):
            sizes = _symbols(early[name])
            binds = [
                place + 1
                for place, stmt in enumerate(program.body[:last])
                if isinstance(stmt, Bind) and stmt.name in sizes
            ]
            made.setdefault(max((first, *binds)), []).append(Allocate(name))
    body: list[Stmt] = []
    for place, stmt in enumerate(program.body):
        body += [*made.get(place, ()), stmt]
    return replace(program, body=_allocating(program, tuple(body), rooms.keys() - early.keys()))


def _symbols(shape: Sequence[Dim]) -> set[str]:
    return {name for dim in shape for name in symbols_of(dim)}


def _sizes_of_blocks(program: Program) -> set[str]:
    """The sizes and counters that have values inside of branches and loops only."""
    named = [stmt for stmt in walk(program.body) if isinstance(stmt, Bind | For)]
    outside = {stmt.name for stmt in program.body if isinstance(stmt, Bind)}
    return {stmt.name if isinstance(stmt, Bind) else stmt.var for stmt in named} - outside


def _allocating(program: Program, block: Block, wanted: Set[str]) -> Block:
    """The block, in which these storages are allocated."""
    used = [storages(program, (stmt,)) & wanted for stmt in block]
    made: list[Stmt] = []
    known: set[str] = set()
    for place, stmt in enumerate(block):
        others = set[str]().union(*used[:place], *used[place + 1 :])
        inner = blocks_of(stmt, into_loops=False)
        within = [storages(program, each) & wanted for each in inner]
        own = [
            found - others - set[str]().union(*within[:at], *within[at + 1 :])
            for at, found in enumerate(within)
        ]
        here = used[place] - known - set[str]().union(*own)
        made += [Allocate(name) for name in sorted(here)]
        known |= here
        blocks = zip(inner, own, strict=True)
        inner = tuple(_allocating(program, each, names) for each, names in blocks)
        made.append(with_blocks(stmt, inner) if inner else stmt)
    return tuple(made)
