"""Indices that are in bounds by how they are made need no check.

::

    for i in 0:n                                          for i in 0:n
      t1 = minimum(maximum(y[i], 0), 9)                     t1 = minimum(maximum(y[i], 0), 9)
      t2 = logical_or out_of_bounds(t1, 10)  [any]    →     b[i] = x[copy(t1)]
      b[i] = x[wrap_index(t1, 10)]
    raise if t2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import TypeGuard

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.records import replace
from fxc.ir.symbols import Dim

from ..nests.buffers import I64, Atom, Const
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Check,
    Compute,
    Index,
    Stmt,
    atoms_read,
    blocks_of,
    walk,
    with_blocks,
)

_LONG = np.iinfo(np.int64)
_LEVELS = 64  # of operations that are looked through

Made = Mapping[str, Compute | Index]


def proven_places(program: Program) -> Program:
    """The program without such checks.

    Requires: what is computed stays as it is. Ensures: the same results.
    """
    stmts = tuple(walk(program.body))
    made = _made(stmts)
    bounds = _Bounds(made)
    proven = {each.name for each in made.values() if _is_place(each) and bounds.is_inside(each)}
    if not proven:
        return program
    read = Counter(atom for each in stmts for atom in atoms_read(each))
    checks = {each.failed for each in stmts if isinstance(each, Check)}
    totals = [each for each in stmts if isinstance(each, Accumulate) and each.value in proven]
    vain = {each.name for each in totals if each.name in checks and read[each.name] == 1}
    vain |= {str(each.value) for each in totals if each.name in vain and read[each.value] == 1}
    return replace(program, body=_block(program.body, proven, vain))


def _made(stmts: Iterable[Stmt]) -> Made:
    """How numbers are made, but for names of several."""
    found: dict[str, Compute | Index] = {}
    several: set[str] = set()
    for stmt in stmts:
        if isinstance(stmt, Compute | Index) and found.setdefault(stmt.name, stmt) != stmt:
            several.add(stmt.name)
    return {name: stmt for name, stmt in found.items() if name not in several}


def _block(block: tuple[Stmt, ...], proven: Set[str], vain: Set[str]) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Accumulate(name=name) | Compute(name=name) | Check(failed=name) if name in vain:
                pass
            case Compute(name=name, op="wrap_index") if name in proven:
                found.append(replace(stmt, op="copy", args=stmt.args[:1], arg_dtypes=(I64,)))
            case _:
                inner = tuple(_block(each, proven, vain) for each in blocks_of(stmt))
                found.append(with_blocks(stmt, inner))
    return tuple(found)


def _is_place(stmt: Stmt) -> TypeGuard[Compute]:
    return isinstance(stmt, Compute) and stmt.op in ("wrap_index", "out_of_bounds")


class _Bounds:
    """What is certain of integers, by how they are made. Each question is answered once."""

    def __init__(self, made: Made) -> None:
        self.made = made
        self.known: dict[tuple[Atom, str, Dim], bool] = {}

    def is_inside(self, place: Compute) -> bool:
        """Whether an index counts from the front and is below the size."""
        index, size = place.args[0], self.number(place.args[1])
        return size is not None and self.holds(index, ">=", 0) and self.holds(index, "<=", size - 1)

    def number(self, atom: Atom) -> Dim | None:
        """The integer itself, where it is a constant or an expression in sizes and counters."""
        if isinstance(atom, Const):
            return int(atom.value)
        found = self.made.get(atom)
        return found.value if isinstance(found, Index) else None

    def holds(self, atom: Atom, relation: str, bound: Dim, levels: int = _LEVELS) -> bool:
        """Whether ``atom >= bound``, or ``atom <= bound``, is certain."""
        key = atom, relation, bound
        if key not in self.known:
            self.known[key] = levels > 0 and self._holds(atom, relation, bound, levels - 1)
        return self.known[key]

    def _holds(self, atom: Atom, relation: str, bound: Dim, levels: int) -> bool:
        number, stmt = self.number(atom), self.made.get(str(atom))
        if number is not None or not isinstance(stmt, Compute):
            return number is not None and decide(number, relation, bound) is True
        is_low = relation == ">="
        of_args = (self.holds(each, relation, bound, levels) for each in stmt.args)
        match stmt.op:
            case "maximum" | "minimum":
                return any(of_args) if is_low == (stmt.op == "maximum") else all(of_args)
            case "remainder" if (divisor := _divisor(stmt)) > 0:
                return decide(0 if is_low else divisor - 1, relation, bound) is True
            case "astype" if (limits := _limits(stmt)) is not None:
                return decide(limits[not is_low], relation, bound) is True or next(of_args)
            case "add" if (term := _sum(stmt)) is not None:
                one, more = term
                fits = more <= 0 if is_low else more >= 0
                if not fits:  # it may wrap around
                    end, other = (_LONG.max, "<=") if is_low else (_LONG.min, ">=")
                    fits = self.holds(one, other, int(end) - more, levels)
                return fits and self.holds(one, relation, bound - more, levels)
        return False


def _divisor(stmt: Compute) -> int:
    """The constant that an integer is divided by; 0 if there is none."""
    divisor = stmt.args[1]
    return int(divisor.value) if isinstance(divisor, Const) and stmt.dtype.kind in "iu" else 0


def _limits(stmt: Compute) -> tuple[int, int] | None:
    """What integers have all values that a cast leaves as they are; None if it does not."""
    source = stmt.arg_dtypes[0]
    if source.kind == "b":
        return 0, 1
    if source.kind not in "iu" or not np.can_cast(source, stmt.dtype):
        return None
    return int(np.iinfo(source).min), int(np.iinfo(source).max)


def _sum(stmt: Compute) -> tuple[Atom, int] | None:
    """The term and the constant that an int64 is the sum of."""
    for one, other in (stmt.args, stmt.args[::-1]):
        if isinstance(other, Const) and stmt.dtype == I64:
            return one, int(other.value)
    return None
