"""Loops of the user's over a few taps, each of which adds to the same elements, run inside of those
over the elements.

::

    for k in 0:5                              for i in 0:n
      for i in 0:n                              t = out[i]
        out[i] = add(out[i], f(k, i))    →      for k in 0:5
                                                  t = add f(k, i) from t
                                                out[i] = t

An element is loaded and stored once, and its total is in a register meanwhile. It takes the taps in
the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from fxc.ir.records import frozen, replace
from fxc.ir.symbols import Dim, computed_in, symbol, symbols_of

from ..nests.accesses import Block, rename
from ..nests.buffers import Const
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import (
    Accumulate,
    Compute,
    For,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    atoms_read,
)


def taps(program: Program) -> Program:
    """Let loops over a few taps run inside of those over the elements.

    Requires: nests are merged. Ensures: the same results, bit for bit.
    """

    def change(steps: For) -> Block | None:
        nest = _inside(program, steps)
        return None if nest is None else (nest,)

    return replace(program, body=outermost_first(program.body, change))


@frozen
class _Taps:
    """Loops over taps around a nest: counters with their bounds, and the scalars of each tap."""

    counters: tuple[tuple[str, int, int], ...]
    scalars: tuple[Stmt, ...]
    nest: Loop


def _taps(steps: For) -> _Taps | None:
    scalars = tuple(stmt for stmt in steps.body if isinstance(stmt, Load | Compute | Index))
    others = [stmt for stmt in steps.body if not isinstance(stmt, Load | Compute | Index)]
    lo, hi = steps.lo, steps.hi
    if steps.leave is not None or len(others) != 1 or steps.body[-1] is not others[0]:
        return None
    if not (isinstance(lo, Const) and isinstance(hi, Const)):
        return None
    counter = (steps.var, int(lo.value), int(hi.value) - int(lo.value))
    match others[0]:
        case Loop() as nest:
            return _Taps((counter,), scalars, nest)
        case For() as inner if (found := _taps(inner)) is not None:
            return _Taps((counter, *found.counters), (*scalars, *found.scalars), found.nest)
        case _:
            return None


def _inside(program: Program, steps: For) -> Loop | None:
    """The nest with the taps inside; None if that is not right, or they are many."""
    found = _taps(steps)
    if found is None:
        return None
    number = prod(size for _, _, size in found.counters)
    counters = {name for name, _, _ in found.counters}
    body = _straight(found.nest, counters)
    if body is None or not 1 < number <= program.target.costs.taps:
        return None
    stmts = (*found.scalars, *body)
    if any(counters & {*atoms_read(stmt)} for stmt in stmts) or not _slides(body, counters):
        return None
    totals = _totals(program, stmts, counters)
    if totals is None:
        return None
    moved: dict[str, Dim] = {}
    inner = _adding(stmts, totals, len(found.counters))
    for place, (name, low, _) in enumerate(found.counters):
        moved[name] = symbol(f"{found.nest.var}t{place}", hint=0, lower=0) + low
    inner = tuple(rename(stmt, moved) for stmt in inner)
    for place in reversed(range(len(found.counters))):
        inner = (Loop(f"{found.nest.var}t{place}", found.counters[place][2], inner),)
    before = tuple(replace(load, name=_before(total)) for total, (load, _) in totals.items())
    return _with_body(found.nest, (*before, *inner, *(s for s in body if isinstance(s, Store))))


def _straight(nest: Loop, counters: set[str]) -> Block | None:
    """The statements inside of perfectly nested loops, whose sizes do not depend on counters."""
    if nest.ordered or nest.descending or nest.behind or nest.chunk is not None:
        return None
    if computed_in(nest.size) or counters & symbols_of(nest.size).keys():
        return None
    match nest.body:
        case (Loop() as inner,):
            return _straight(inner, counters)
        case body if all(isinstance(stmt, Load | Compute | Index | Store) for stmt in body):
            return body
        case _:
            return None


def _slides(body: Block, counters: set[str]) -> bool:
    """Whether taps load what others load for elements near by: else the caches gain nothing."""
    dims = [dim for stmt in body if isinstance(stmt, Load) for dim in stmt.index]
    found = [symbols_of(dim).keys() for dim in dims]
    return any(names & counters and names - counters for names in found)


def _with_body(nest: Loop, body: Block) -> Loop:
    match nest.body:
        case (Loop() as inner,):
            return replace(nest, body=(_with_body(inner, body),))
        case _:
            return replace(nest, body=body)


def _totals(
    program: Program, stmts: Sequence[Stmt], counters: set[str]
) -> dict[str, tuple[Load, Compute]] | None:
    """What is stored, by its name: an element as it was with something added. None if anything else
    is stored, or it is read elsewhere.
    """
    loads = {stmt.name: stmt for stmt in stmts if isinstance(stmt, Load)}
    computed = {stmt.name: stmt for stmt in stmts if isinstance(stmt, Compute)}
    read = [atom for stmt in stmts for atom in atoms_read(stmt)]
    found: dict[str, tuple[Load, Compute]] = {}
    storages: list[str] = []
    for stmt in stmts:
        if isinstance(stmt, Load | Store):
            storages.append(program.buffers[stmt.buffer].storage)
    for stmt in stmts:
        if not isinstance(stmt, Store):
            continue
        total = computed.get(stmt.value) if isinstance(stmt.value, str) else None
        if total is None or len(total.args) != 2 or not isinstance(total.args[0], str):
            return None
        load = loads.get(total.args[0])
        if load is None or (load.buffer, load.index) != (stmt.buffer, stmt.index):
            return None
        buffer = program.buffers[stmt.buffer]
        if buffer.role == "input" or storages.count(buffer.storage) != 2:
            return None
        if {stmt.dtype, load.dtype, *total.arg_dtypes} != {total.dtype}:
            return None
        if any(counters & symbols_of(dim).keys() or computed_in(dim) for dim in stmt.index):
            return None
        if read.count(load.name) != 1 or read.count(total.name) != 1:
            return None
        found[total.name] = load, total
    return found


def _adding(
    stmts: Sequence[Stmt], totals: Mapping[str, tuple[Load, Compute]], levels: int
) -> tuple[Stmt, ...]:
    """The statements of one tap, which adds to the totals."""
    loaded = {load.name for load, _ in totals.values()}
    made: list[Stmt] = []
    for stmt in stmts:
        match stmt:
            case Compute(name=name, dtype=dtype, op=op, args=(_, value)) if name in totals:
                init, quiet = _before(name), stmt.quiet
                made.append(
                    Accumulate(name, dtype, op, value, init, "sequential", levels, None, quiet)
                )
            case Store():
                pass
            case Load(name=name) if name in loaded:
                pass
            case _:
                made.append(stmt)
    return tuple(made)


def _before(total: str) -> str:
    return f"{total}.before"
