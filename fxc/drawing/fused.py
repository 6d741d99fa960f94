"""Which operators are fused: the loop nests of a program as groups of a drawing."""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.records import frozen, replace
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Loop, Stmt, walk
from fxc.lowering.scheduling.explain import schedule


@frozen
class Fused:
    """A loop nest: how it runs, and the values of the graph that are computed in it."""

    nest: Loop
    how: str
    values: tuple[str, ...]


def fused(program: Program) -> tuple[Fused, ...]:
    """The nests of a program, in order."""
    outer = [stmt for stmt in walk(program.body, into_loops=False) if isinstance(stmt, Loop)]
    return tuple(Fused(nest, _how(program, nest), _values(nest)) for nest in outer)


def _how(program: Program, nest: Stmt) -> str:
    return schedule(replace(program, body=(nest,))).strip()


def _values(nest: Stmt) -> tuple[str, ...]:
    names = (getattr(each, "node", "") for each in walk((nest,)))
    return tuple(dict.fromkeys(filter(None, names)))


def groups(nests: tuple[Fused, ...]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """How each group runs, and the group of each value: the first nest that computes it."""
    named = {f"nest {number}": each for number, each in enumerate(nests, 1)}
    of: dict[str, str] = {}
    for name, each in named.items():
        for value in each.values:
            of.setdefault(value, name)
    return {name: each.how for name, each in named.items()}, of
