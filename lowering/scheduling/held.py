"""A float that a loop of the user's program updates under a condition is a number meanwhile.

::

    loop j in 0:n                        t9 = p[i]
      if py_not_equal((i), (j))          p.held[] = t9
        p[i] = add(p[i], f[j])      →    loop j in 0:n
                                           if py_not_equal((i), (j))
                                             p.held[] = add(p.held[], f[j])
                                         p[i] = p.held[]

Each update would wait for the store of the one before. Where there is no condition LLVM does the
same; where there is one it does not, since nothing may be stored that the program does not store.
In arrays of the program's own nobody sees that.
"""

from __future__ import annotations

from itertools import combinations

from fxc.ir.records import replace
from fxc.ir.symbols import computed_in, symbols_of

from ..nests.accesses import Block, are_apart
from ..nests.bounds import counter_ranges, is_within
from ..nests.buffers import Buffer, Idx
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import (
    Apply,
    Boxed,
    For,
    If,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    blocks_of,
    walk,
    with_blocks,
)


def held(program: Program) -> Program:
    """The program with such elements in numbers.

    Requires: stored values are forwarded. Ensures: the same results, bit for bit.
    """
    holding = _Holding(program)
    body = outermost_first(program.body, holding.loop)
    return replace(program, body=body, buffers=holding.buffers)


class _Holding:
    def __init__(self, program: Program) -> None:
        self.buffers = dict(program.buffers)
        self.ranges = counter_ranges(program)

    def loop(self, loop: For) -> Block | None:
        """The loop, between loads and stores of its elements; None if it has none."""
        before: list[Stmt] = []
        behind: list[Stmt] = []
        for stmt in self.updates(loop):
            name = f"{stmt.buffer}.held{len(self.buffers)}"
            self.buffers[name] = Buffer(name, stmt.dtype, (), (), "temp", name)
            first, last = f"{name}.first", f"{name}.last"
            before += [
                Load(first, stmt.dtype, stmt.buffer, stmt.index),
                Store(name, (), first, stmt.dtype),
            ]
            loop = replace(loop, body=_moved(loop.body, stmt, name))
            behind += [Load(last, stmt.dtype, name, ()), replace(stmt, value=last)]
        return (*before, loop, *behind) if before else None

    def updates(self, loop: For) -> list[Store]:
        """A store to each element of arrays of which the loop meets a few alone, all known to be
        other ones.
        """
        inside = walk(loop.body)
        if any(isinstance(stmt, Matmul | Apply | Boxed) for stmt in inside):
            return []
        counters = {loop.var, *(stmt.var for stmt in inside if isinstance(stmt, For | Loop))}
        met: dict[str, list[Load | Store]] = {}
        for stmt in inside:
            if isinstance(stmt, Load | Store):
                met.setdefault(self.buffers[stmt.buffer].storage, []).append(stmt)
        plain = {id(stmt) for stmt in walk(loop.body, into_loops=False)}
        arms = [each for each in inside if isinstance(each, If)]
        chosen = {id(s) for arm in arms for block in blocks_of(arm) for s in walk(block)}
        found: list[Store] = []
        for storage, stmts in met.items():
            places: dict[Idx, list[Load | Store]] = {}
            for stmt in stmts:
                places.setdefault(stmt.index, []).append(stmt)
            updated = [s for s in map(_update, places.values()) if s is not None]
            buffer = self.buffers[storage]
            is_own = buffer.role in ("temp", "output") and buffer.dtype.kind == "f"
            if not is_own or len(updated) < len(places) or len({s.buffer for s in stmts}) > 1:
                continue
            if not any(id(s) in chosen for s in stmts if isinstance(s, Store)):
                continue
            apart = all(are_apart(x, y) for x, y in combinations(places, 2))
            is_known = apart and all(self.is_one(each, counters) for each in updated)
            if is_known and all(id(s) in plain for s in stmts):
                found += updated
        return found

    def is_one(self, stmt: Store, counters: set[str]) -> bool:
        """Whether the place is the same in all iterations, and there is one."""
        dims = stmt.index
        return (
            bool(dims)
            and not any(map(computed_in, dims))
            and not any(symbols_of(dim).keys() & counters for dim in dims)
            and is_within(dims, self.buffers[stmt.buffer].shape, self.ranges)
        )


def _update(stmts: list[Load | Store]) -> Store | None:
    """A store among loads and stores of one element, if there are both."""
    stores = [stmt for stmt in stmts if isinstance(stmt, Store)]
    return stores[0] if 0 < len(stores) < len(stmts) else None


def _moved(block: Block, update: Store, name: str) -> Block:
    """The statements with an element of a buffer in another one."""
    made: list[Stmt] = []
    for stmt in block:
        if not isinstance(stmt, Load | Store):
            inner = tuple(_moved(each, update, name) for each in blocks_of(stmt))
            made.append(with_blocks(stmt, inner))
        elif stmt.buffer == update.buffer and stmt.index == update.index:
            made.append(replace(stmt, buffer=name, index=()))
        else:
            made.append(stmt)
    return tuple(made)
