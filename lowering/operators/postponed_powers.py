"""Loops in lanes whose powers are asked of the C library behind a strip of iterations.

::

    for i in 0:n                               for a strip of i: t1.base = subtract(x[i], y[i])
      t1 = subtract(x[i], y[i])                its powers, and then those that are left to pow
      t2 = power_of_scalars(t1, 2.0)      →    for the same i: out[i] = add(t2, z[i])
      out[i] = add(t2, z[i])

Of 16 powers, one is left to pow in every fourth case: see Note [Powers by pow]. Nobody can guess
whether there is one, and while a processor finds that it has guessed badly it begins nothing else.
But it goes on dividing: where there is a division or a root for each power, that takes longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from fxc.ir.records import frozen

from ..nests.buffers import F64, Atom
from ..nests.hoisting import hoist
from ..nests.program import Program
from ..nests.statements import Compute, Index, Load, Loop, Stmt, Store, atoms_read
from .inverses import DIVIDING
from .python_rules import POWERS, SCALAR_RULES, asks_library


@frozen
class Stage:
    """The powers whose bases are made of those of earlier stages, and how these are made."""

    bases: tuple[Stmt, ...]
    powers: tuple[Compute, ...]


@frozen
class PostponedPowers:
    """The statements of a loop: those before it, those of powers, and all that is stored."""

    hoisted: tuple[Stmt, ...]
    stages: tuple[Stage, ...]
    rest: tuple[Stmt, ...]


def postponed_powers(program: Program, loop: Loop) -> PostponedPowers | None:
    """The loop in parts, if it has such powers, and what is then computed twice is little."""
    kinds = Load | Compute | Index | Store
    if loop.ordered or loop.behind or not all(isinstance(stmt, kinds) for stmt in loop.body):
        return None
    hoisted, body = hoist(program, loop)
    powers = [stmt for stmt in body if _is_power(stmt)]
    known = {power.name for power in powers}
    level: dict[Atom, int] = {}
    for stmt in body:
        if not isinstance(stmt, Store):
            below = max((level.get(atom, 0) for atom in atoms_read(stmt)), default=0)
            level[stmt.name] = below + (stmt.name in known)  # type: ignore[union-attr]
    stages: list[Stage] = []
    for number in range(1, max(level.values(), default=0) + 1):
        here = tuple(power for power in powers if level[power.name] == number)
        bases = _needed(body, known, (power.args[0] for power in here), stores=False)
        stages.append(Stage(bases, here))
    if _loads_what_it_stores(program, body, stages):
        return None
    rest = _needed(body, known, (), stores=True)
    twice = sum(_work(stage.bases) for stage in stages) + _work(rest)
    twice += _work(powers) - _work(body)
    costs = program.target.costs
    dividing = sum(isinstance(stmt, Compute) and stmt.op in DIVIDING for stmt in body)
    if not dividing < len(powers) <= costs.powers_most or twice > costs.powers_twice * len(powers):
        return None
    return PostponedPowers(hoisted, tuple(stages), rest)


def _loads_what_it_stores(program: Program, body: Sequence[Stmt], stages: Sequence[Stage]) -> bool:
    """Whether a base is made of what a statement in front of it may store in the same iteration.
    What other iterations store it does not meet: they have no order.
    """
    ahead = {id(stmt) for stage in stages for stmt in stage.bases}
    stored: set[str] = set()
    for stmt in body:
        if isinstance(stmt, Store):
            stored.add(_storage(program, stmt))
        elif isinstance(stmt, Load) and id(stmt) in ahead and _storage(program, stmt) in stored:
            return True
    return False


def _storage(program: Program, stmt: Load | Store) -> str:
    return program.buffers[stmt.buffer].storage


def _is_power(stmt: Stmt) -> TypeGuard[Compute]:
    return (
        isinstance(stmt, Compute)
        and stmt.op in POWERS
        and stmt.arg_dtypes[0] == F64
        and not stmt.quiet
        and not asks_library(stmt.op, stmt.args)
    )


def _needed(
    body: Sequence[Stmt], known: set[str], atoms: Iterable[Atom], *, stores: bool
) -> tuple[Stmt, ...]:
    """What makes these numbers, and with ``stores`` what is stored, from the powers ``known``."""
    wanted = set(atoms)
    kept: list[Stmt] = []
    for stmt in reversed(body):
        if isinstance(stmt, Store):
            is_needed = stores
        else:
            name = stmt.name  # type: ignore[union-attr]
            is_needed = name in wanted and name not in known
        if is_needed:
            kept.append(stmt)
            wanted.update(atoms_read(stmt))
    return tuple(reversed(kept))


def _work(stmts: Iterable[Stmt]) -> int:
    return sum(SCALAR_RULES[stmt.op].cost for stmt in stmts if isinstance(stmt, Compute))
