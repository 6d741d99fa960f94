"""Loops of the user's program that keep the best number so far, and read it, become nests.

::

    loop i in 0:n                            t1 = b1[]
      t2 = b1[]                              for i in 0:n ordered lanes 8
      if greater(x[i], t2)             →       t4 = maximum x[i]  [sequential]
        b1[] = x[i]                            y[i] = t4
      else                                   b1[] = t4
        b1[] = t2
      y[i] = b1[]

Lanes make all such numbers of a few iterations together: see Note [Running totals]. Python's
``max`` of floats keeps the first of two that are equal, or that do not compare: a nan is no better
than any number.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import replace
from fxc.ops.python_numbers import stem

from ..nests.accesses import Block, read_early
from ..nests.bounds import counter_bounds, ranges_within
from ..nests.buffers import BOOL, Atom
from ..nests.independence import why_dependent
from ..nests.neutral import neutral
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import (
    Accumulate,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    atoms_read,
    walk,
)
from .branchless import Choices, Stays, uses
from .independent_steps import Counters, as_loop, is_short
from .survey import why_no_lanes

_EXTREMES = frozenset({"maximum", "minimum"})
_GREATER = {"greater": True, "greater_equal": True, "less": False, "less_equal": False}


def running_totals(program: Program) -> Program:
    """The program with such nests.

    Requires: stored values are forwarded. Ensures: the same results, bit for bit.
    """
    counters = counter_bounds(program)
    known = counters, ranges_within(counters)

    def change(loop: For) -> Block | None:
        stmts = walk((loop,))[1:]
        if not all(isinstance(stmt, Load | Compute | Index | Store | If) for stmt in stmts):
            return None
        if not any(isinstance(stmt, Store) and stmt.index for stmt in loop.body):
            return None
        carried = _carried(program, loop)
        return _nest(program, known, loop, carried) if carried else None

    return replace(program, body=outermost_first(program.body, change))


def _carried(program: Program, loop: For) -> dict[str, Load]:
    """The numbers of the program's own that an iteration reads as the one before has left them."""
    stmts, buffers = walk(loop.body), program.buffers
    early = read_early(program, loop.body, set())
    stored = {stmt.buffer for stmt in stmts if isinstance(stmt, Store) and not stmt.index}
    names = {each for each in early & stored if buffers[each].role != "input"}
    return {load.buffer: load for load in stmts if isinstance(load, Load) and load.buffer in names}


def _nest(program: Program, known: Counters, loop: For, carried: dict[str, Load]) -> Block | None:
    """The nest, between loads and stores of what it carries; None if it is not right, or would have
    no lanes.
    """
    choices = Choices(program, known, loop, uses(program, program.body))
    starts = {name: f"{loop.var}.{name}.start" for name in carried}
    values = starts.copy()
    choices.local |= carried.keys()
    try:
        plain = choices.loop(loop, values).body
    except Stays:
        return None
    totals: list[Accumulate] = []
    for name, start in starts.items():
        made = {each.name: each for each in plain if isinstance(each, Compute)}
        total = _total(made, values[name], start)
        if total is None:
            return None
        plain = _without_dead(_with_total(plain, total), start)
        totals.append(total)
    read = {atom for stmt in plain for atom in _read_besides_start(stmt)}
    if choices.failing or not read.isdisjoint(starts.values()):
        return None
    nest = as_loop(known, loop, plain)
    if nest is None or is_short(program, nest) or why_dependent(program, _with_copies(nest)):
        return None
    nest = replace(nest, ordered=True)
    if why_no_lanes(program, nest):
        return None
    before = [replace(load, name=starts[name]) for name, load in carried.items()]
    after = [
        Store(name, (), total.name, total.dtype)
        for name, total in zip(carried, totals, strict=True)
    ]
    return (*before, nest, *after)


def _read_besides_start(stmt: Stmt) -> Sequence[Atom]:
    """What a statement reads, but what its own total starts from."""
    return (stmt.value,) if isinstance(stmt, Accumulate) else atoms_read(stmt)


def _total(made: dict[str, Compute], name: str, start: str) -> Accumulate | None:
    """The better of what there was at the ``start`` and of another number."""
    stmt = made.get(name)
    if stmt is None or stmt.dtype.kind not in "iuf":
        return None
    other, greater = None, False
    if stem(stmt.op) in _EXTREMES and set(stmt.arg_dtypes) == {stmt.dtype}:
        is_exact = stmt.dtype.kind != "f" or stmt.args[0] == start  # 0.0 and -0.0 are equal
        other = _other(stmt.args, start) if is_exact else None
        greater = stem(stmt.op) == "maximum"
    elif stmt.op == "where" and isinstance(stmt.args[0], str):
        asked = made.get(stmt.args[0])
        if asked is not None and stem(asked.op) in _GREATER:
            other, greater = _chosen(stmt, asked, start), _GREATER[stem(asked.op)]
            greater = greater == (asked.args[0] == stmt.args[1])
    if other is None:
        return None
    is_python = stmt.dtype.kind == "f" and stmt.op not in _EXTREMES
    combine = ("py_" if is_python else "") + ("maximum" if greater else "minimum")
    return Accumulate(name, stmt.dtype, combine, other, start, "sequential", node=stmt.node)


def _other(args: Sequence[Atom], start: str) -> Atom | None:
    """The one of two numbers that is not the one at the start."""
    return None if start not in args else args[1] if args[0] == start else args[0]


def _chosen(stmt: Compute, asked: Compute, start: str) -> Atom | None:
    """The number that is chosen where it compares well with the one at the start."""
    other = _other(stmt.args[1:], start)
    if set(asked.arg_dtypes) != {stmt.dtype} or set(asked.args) != {start, other}:
        return None
    if stmt.dtype.kind == "f" and (stmt.args[2] != start or stem(asked.op).endswith("equal")):
        return None
    return other


def _with_total(block: Block, total: Accumulate) -> Block:
    """The statements with a total where it was chosen. A nan is no better than any number."""
    made: list[Stmt] = []
    for stmt in block:
        if not (isinstance(stmt, Compute) and stmt.name == total.name):
            made.append(stmt)
        elif total.combine.startswith("py_"):
            name, dtype, value = total.name, total.dtype, total.value
            worst = neutral(total.combine, dtype)
            choice = (f"{name}.nan", worst, value)
            made += [
                Compute(f"{name}.nan", BOOL, "isnan", (value,), (dtype,)),
                Compute(f"{name}.number", dtype, "where", choice, (BOOL, dtype, dtype)),
                replace(total, value=f"{name}.number"),
            ]
        else:
            made.append(total)
    return tuple(made)


def _without_dead(block: Block, start: str) -> Block:
    """The statements without comparisons with ``start`` that nobody asks for."""
    asked = {start}
    for stmt in block:
        if isinstance(stmt, Compute) and stmt.dtype == BOOL and asked & {*atoms_read(stmt)}:
            asked.add(stmt.name)
    found: list[Stmt] = []
    read: set[Atom] = set()
    for stmt in reversed(block):
        if isinstance(stmt, Compute) and stmt.name in asked and stmt.name not in read:
            continue
        read.update(atoms_read(stmt))
        found.append(stmt)
    return tuple(reversed(found))


def _with_copies(nest: Loop) -> Loop:
    """The nest with its totals as numbers of each iteration."""
    body = tuple(
        Compute(stmt.name, stmt.dtype, "copy", (stmt.value,), (stmt.dtype,))
        if isinstance(stmt, Accumulate)
        else stmt
        for stmt in nest.body
    )
    return replace(nest, body=body)
