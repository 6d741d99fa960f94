"""Loops that compute places in lanes, and update the elements there one after the other.

::

    for i in 0:n                            for eight i at once: t1 = …
      t1 = …                           →      for each of them:
      h[t1] = add(h[t1], w[i])                  h[t1] = add(h[t1], w[i])

Two lanes may have one place, so their updates are made in order. All else has lanes.
"""

from __future__ import annotations

from fxc.ir.records import frozen

from .addressing import byte_offset, split, varies
from .hoisting import hoist
from .program import Program
from .statements import Compute, Index, Load, Loop, Stmt, Store, atoms_read


@frozen
class InTurn:
    """The statements of a loop: those before, in lanes, and those that are run lane by lane."""

    hoisted: tuple[Stmt, ...]
    lanes: tuple[Stmt, ...]
    turns: tuple[Stmt, ...]


def in_turn(program: Program, loop: Loop) -> InTurn | None:
    """The loop in parts, if it updates elements at computed places."""
    if loop.ordered or not all(isinstance(s, Load | Compute | Index | Store) for s in loop.body):
        return None
    updated = _updated(program, loop)
    if not updated:
        return None
    hoisted, body = hoist(program, loop)
    turns: list[Stmt] = []
    late: set[str] = set()
    for stmt in body:
        touches = isinstance(stmt, Load | Store) and program.buffers[stmt.buffer].storage in updated
        if touches or any(isinstance(atom, str) and atom in late for atom in atoms_read(stmt)):
            turns.append(stmt)
            if not isinstance(stmt, Store):
                late.add(stmt.name)  # type: ignore[union-attr]
    lanes = tuple(stmt for stmt in body if not any(stmt is each for each in turns))
    return InTurn(hoisted, lanes, tuple(turns))


def _updated(program: Program, loop: Loop) -> set[str]:
    """The storages that are read and written at places which are computed."""
    met: dict[bool, set[str]] = {False: set(), True: set()}
    for stmt in loop.body:
        if isinstance(stmt, Load | Store):
            buffer = program.buffers[stmt.buffer]
            _, multiples = split(byte_offset(buffer, stmt.index))
            if any(varies(atom, loop.var) for atom, _ in multiples):
                met[isinstance(stmt, Store)].add(buffer.storage)
    return met[False] & met[True]
