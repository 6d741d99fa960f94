"""Branches that replace the best number so far, which happens more and more seldom.

::

    for i in 0:n
      t7 = best[]
      if greater(t7, x[i])                  a jump that a processor guesses
        best[] = x[i]; at[] = (i)

LLVM would rather choose both numbers in each iteration. The next comparison would then wait for the
choice, which for floats takes three times as long as the comparison. What else the condition says
is asked after that, which is seldom.

So it is for a number of any type that stays in memory, an element of an array of which the loop
reads others: the next comparison would wait for the store as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from fxc.ir.symbols import computed_in, symbols_of
from fxc.ops.python_numbers import stem

from ..nests.accesses import read_early
from ..nests.buffers import BOOL, Atom, Const
from ..nests.program import Program
from ..nests.statements import (
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    While,
    blocks_of,
    walk,
)
from .registers import Record

_ORDERS = frozenset({"less", "less_equal", "greater", "greater_equal"})
_OF_TRUTHS = frozenset({"logical_and", "logical_or", "logical_not", "not", "astype"})

Made = Mapping[str, Load | Compute]


def replacing(program: Program, loop: For | While) -> dict[int, Record]:
    """The branches of a loop that compare with a number of earlier iterations, and may replace it,
    by ``id``.
    """
    if is_short(program, loop):
        return {}
    stmts = tuple(_of_iteration(loop.body))
    early = read_early(program, loop.body, set())
    made: dict[str, Load | Compute] = {s.name: s for s in stmts if isinstance(s, Load | Compute)}
    found: dict[int, Record] = {}
    for stmt in stmts:
        if isinstance(stmt, If):
            compared = _compared(stmt.condition, made)
            bests = {
                load
                for load in compared
                if (load.dtype.kind == "f" and program.buffers[load.buffer].storage in early)
                or _stays_in_memory(program, loop, load)
            }
            then, orelse = (_replaced(arm, other, bests, made) for arm, other in _both(stmt))
            if then != orelse:
                needs = next(_orders(stmt.condition, bests, made), None) if then else None
                found[id(stmt)] = Record(then, needs)
    return found


def is_short(program: Program, loop: For | While) -> bool:
    """Whether there are so few iterations that nothing in them is seldom."""
    ends = (loop.lo, loop.hi) if isinstance(loop, For) else ()
    known = [end.value for end in ends if isinstance(end, Const)]
    return len(known) == 2 and known[1] - known[0] < program.target.costs.bests


def _stays_in_memory(program: Program, loop: For | While, load: Load) -> bool:
    """Whether this is the same element in each iteration, of an array of which others are read."""
    mentioned = {name for dim in load.index for name in (*symbols_of(dim), *computed_in(dim))}
    made = {each.name for each in walk(loop.body) if isinstance(each, Load | Compute | Index)}
    if not load.index or mentioned & (made | ({loop.var} if isinstance(loop, For) else set())):
        return False
    storage = program.buffers[load.buffer].storage
    return any(
        isinstance(each, Load)
        and program.buffers[each.buffer].storage == storage
        and each.index != load.index
        for each in _of_iteration(loop.body)
    )


def _both(stmt: If) -> tuple[tuple[Sequence[Stmt], Sequence[Stmt]], ...]:
    return (stmt.then, stmt.orelse), (stmt.orelse, stmt.then)


def _of_iteration(block: Sequence[Stmt]) -> Iterator[Stmt]:
    for stmt in block:
        yield stmt
        if not isinstance(stmt, Loop | For | While):
            for inner in blocks_of(stmt):
                yield from _of_iteration(inner)


def _compared(condition: Atom, made: Made) -> Iterator[Load]:
    """The numbers in memory that an order in the condition is about."""
    stmt = made.get(condition) if isinstance(condition, str) else None
    if not isinstance(stmt, Compute):
        return
    if stem(stmt.op) in _ORDERS:
        for arg in stmt.args:
            load = made.get(arg) if isinstance(arg, str) else None
            if isinstance(load, Compute) and load.op == "item":
                load = made.get(str(load.args[0]))
            if isinstance(load, Load):
                yield load
    elif stem(stmt.op) in _OF_TRUTHS and all(each == BOOL for each in stmt.arg_dtypes):
        for arg in stmt.args:
            yield from _compared(arg, made)


def _orders(condition: Atom, bests: Set[Load], made: Made) -> Iterator[str]:
    """The orders with one of these numbers without which the condition does not hold."""
    stmt = made.get(condition) if isinstance(condition, str) else None
    if isinstance(stmt, Compute) and all(each == BOOL for each in stmt.arg_dtypes):
        for arg in stmt.args if stem(stmt.op) in ("logical_and", "astype") else ():
            yield from _orders(arg, bests, made)
    elif isinstance(stmt, Compute) and not bests.isdisjoint(_compared(condition, made)):
        yield stmt.name


def _replaced(
    arm: Sequence[Stmt], other: Sequence[Stmt], bests: Collection[Load], made: Made
) -> bool:
    """Whether an arm stores a number of another origin where the other arm leaves one of these."""
    names = {load.name for load in bests}
    others = [each for each in other if isinstance(each, Store)]
    kept = {(s.buffer, s.index) for s in others if s.value in names}
    kept |= {(s.buffer, s.index) for s in bests} - {(s.buffer, s.index) for s in others}
    stored = [s.value for s in arm if isinstance(s, Store) and (s.buffer, s.index) in kept]
    return bool(stored) and not any(_is_made_of(value, names, made) for value in stored)


def _is_made_of(value: Atom, names: Collection[str], made: Made) -> bool:
    stmt = made.get(value) if isinstance(value, str) else None
    args = stmt.args if isinstance(stmt, Compute) else ()
    return value in names or any(_is_made_of(arg, names, made) for arg in args)
