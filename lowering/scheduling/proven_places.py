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
from functools import partial
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

Made = Mapping[str, Compute | Index]


def proven_places(program: Program) -> Program:
    """The program without such checks.

    Requires: what is computed stays as it is. Ensures: the same results.
    """
    stmts = tuple(walk(program.body))
    made = _made(stmts)
    proven = {each.name for each in made.values() if _is_place(each) and _is_inside(each, made)}
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


def _is_inside(stmt: Compute, made: Made) -> bool:
    """Whether an index counts from the front and is below the size."""
    index, size = stmt.args[0], _number(stmt.args[1], made)
    return size is not None and _at_least(index, 0, made) and _at_most(index, size - 1, made)


def _number(atom: Atom, made: Made) -> Dim | None:
    """What a number is, if that is known in terms of sizes."""
    if isinstance(atom, Const):
        return int(atom.value)
    found = made.get(atom)
    return found.value if isinstance(found, Index) else None


def _at_least(atom: Atom, low: Dim, made: Made) -> bool:
    """Whether an integer is certain to be no less than that."""
    number, stmt = _number(atom, made), made.get(str(atom))
    if number is not None or not isinstance(stmt, Compute):
        return number is not None and decide(number, ">=", low) is True
    below = [partial(_at_least, each, low, made) for each in stmt.args]
    match stmt.op:
        case "maximum":
            return any(each() for each in below)
        case "minimum":
            return all(each() for each in below)
        case "remainder":
            return _divisor(stmt) > 0 and decide(low, "<=", 0) is True
        case "astype" if (limits := _limits(stmt)) is not None:
            return decide(low, "<=", limits[0]) is True or below[0]()
        case "add" if (term := _sum(stmt)) is not None:
            one, more = term
            fits = more <= 0 or _at_most(one, int(_LONG.max) - more, made)
            return fits and _at_least(one, low - more, made)
    return False


def _at_most(atom: Atom, high: Dim, made: Made) -> bool:
    """Whether an integer is certain to be no more than that."""
    number, stmt = _number(atom, made), made.get(str(atom))
    if number is not None or not isinstance(stmt, Compute):
        return number is not None and decide(number, "<=", high) is True
    above = [partial(_at_most, each, high, made) for each in stmt.args]
    match stmt.op:
        case "minimum":
            return any(each() for each in above)
        case "maximum":
            return all(each() for each in above)
        case "remainder":
            return _divisor(stmt) > 0 and decide(high, ">=", _divisor(stmt) - 1) is True
        case "astype" if (limits := _limits(stmt)) is not None:
            return decide(high, ">=", limits[1]) is True or above[0]()
        case "add" if (term := _sum(stmt)) is not None:
            one, more = term
            fits = more >= 0 or _at_least(one, int(_LONG.min) - more, made)
            return fits and _at_most(one, high - more, made)
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
