"""Loops that read an array round its end run in pieces, each with plain indices.

::

    for i in 0:n                              for i in 0:1
      v[i] = u[(i + n - 1) mod n] - u[i]  →     v[i] = u[i + n - 1] - u[i]
                                              for i in 0:n - 1
                                                v[i + 1] = u[i] - u[i + 1]

So the long piece moves along memory, and has vectors. A loop of the user's (``u[(i - 1) % n]``)
is split when it has become a nest. Where nobody knows whether a loop is long enough for a remainder
to begin anew just once, short pieces keep it. Loops around long ones stay as they are:
a remainder for each row costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from fxc.ir.bounds import decide
from fxc.ir.records import replace
from fxc.ir.size_functions import apply_function, hint, maximum, minimum, with_atoms
from fxc.ir.symbols import Computed, Dim, Symbol, SymFunc, atoms, symbol, symbols_of

from ..machine.costs import Costs
from ..nests.accesses import Block, rename, renamed
from ..nests.program import Program
from ..nests.statements import (
    Compute,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    blocks_of,
    walk,
    with_blocks,
)

_Atom = Symbol | SymFunc | Computed


def pieces(loop: Loop, costs: Costs) -> list[Loop]:
    """The loop in pieces in which no remainder of its counter wraps, or as it is."""
    is_right = _may_be_split(loop, costs.wraps_inside)
    wraps = dict.fromkeys(_wraps(loop.body, loop)) if is_right else {}
    starts = sorted((place for place in wraps if place != loop.size), key=hint)
    statements = (1 + len(starts)) * len(walk((loop,)))
    if not wraps or statements > costs.wraps_statements:
        return [loop]
    places = [0, *starts, loop.size]
    return [_piece(loop, number, places) for number in range(len(starts) + 1)]


def split_wraps(program: Program) -> Program:
    """Split loops where a remainder of their counter wraps.

    Requires: nests are merged. Ensures: the same results, bit for bit.
    """
    return replace(program, body=without_wraps(program.body, program.target.costs))


def without_wraps(block: Block, costs: Costs) -> Block:
    """The statements with such loops split."""
    result: list[Stmt] = []
    for stmt in block:
        inner = tuple(without_wraps(each, costs) for each in blocks_of(stmt))
        stmt = with_blocks(stmt, inner) if inner else stmt
        result += pieces(stmt, costs) if isinstance(stmt, Loop) else [stmt]
    return tuple(result)


def _may_be_split(loop: Loop, long: int) -> bool:
    if loop.descending or loop.behind or loop.chunk is not None:
        return False
    if not all(isinstance(s, Load | Compute | Index | Store | Loop) for s in walk(loop.body)):
        return False  # a total would need one part of another
    inner = [stmt for stmt in walk(loop.body) if isinstance(stmt, Loop)]
    return all(hint(each.size) < long for each in inner)


def _wraps(block: Block, loop: Loop) -> Iterator[Dim]:
    """The iterations from which on a remainder begins anew."""
    for dim in _dims(block):
        for atom in _remainders(dim, loop):
            yield _place(atom, loop)


def _dims(block: Block) -> Iterator[Dim]:
    for stmt in walk(block):
        match stmt:
            case Load(index=index) | Store(index=index):
                yield from index
            case Index(value=value):
                yield value
            case _:
                pass


def _remainders(dim: Dim, loop: Loop) -> Iterator[SymFunc]:
    """Those that begin anew at a place that is known, and at no other in long loops."""
    if isinstance(dim, int) or loop.var not in symbols_of(dim):
        return
    for atom in atoms(dim):
        if isinstance(atom, SymFunc) and atom.name == "mod" and atom.right == loop.size:
            ahead = _ahead(atom, loop)
            if loop.var in symbols_of(ahead):
                continue
            is_one = decide(ahead, ">", -loop.size) and decide(ahead, "<", loop.size)
            may_be_one = isinstance(ahead, int) and not isinstance(loop.size, int)
            if (is_one or may_be_one) and decide(ahead, ">=", 0) is not None:
                yield atom


def _place(atom: SymFunc, loop: Loop) -> Dim:
    """The iteration from which on a remainder begins anew."""
    ahead = _ahead(atom, loop)
    return -ahead if decide(ahead, "<", 0) else loop.size - ahead


def _ahead(atom: SymFunc, loop: Loop) -> Dim:
    return atom.left - symbol(loop.var, hint=0, lower=0)


def _piece(loop: Loop, number: int, places: list[Dim]) -> Loop:
    """The iterations from one place up to the next, with names of their own.

    The order of the places is that of this call. In another one a piece begins no earlier than
    those before it, and is empty where its end does not lie behind.
    """
    start, stop = _end(places, number), _end(places, number + 1)

    def plain(dim: Dim) -> Dim:
        wrapped = {*_remainders(dim, loop)}

        def of(atom: _Atom) -> Dim | None:
            if not isinstance(atom, SymFunc):
                return None
            if atom in wrapped:
                return _without_wrap(atom, loop, number, places)
            left, right = with_atoms(atom.left, of), with_atoms(atom.right, of)
            return apply_function(atom.name, left, right)

        return with_atoms(dim, of)

    defined = (s.name for s in walk(loop.body) if isinstance(s, Load | Compute | Index))
    names = {name: f"{name}.{number}" for name in defined} if number else {}
    shift: dict[str, Dim] = {loop.var: symbol(loop.var, hint=0, lower=0) + start}
    body = tuple(rename(renamed(stmt, names, plain), shift) for stmt in loop.body)
    return replace(loop, size=stop - start, body=body)


def _end(places: list[Dim], number: int) -> Dim:
    if number + 1 == len(places):
        return places[-1]
    return minimum(reduce(maximum, places[: number + 1]), places[-1])


def _without_wrap(atom: SymFunc, loop: Loop, number: int, places: list[Dim]) -> Dim | None:
    """A remainder in a piece; None if it may begin anew there, or not for the first time."""
    place, ahead = _place(atom, loop), _ahead(atom, loop)
    is_around = places.index(place) <= number
    behind = decide(ahead, "<", 0) is True
    is_before = is_around or decide(places[number + 1], "<=", place)
    if is_before and (is_around == behind or decide(-ahead if behind else ahead, "<=", loop.size)):
        return atom.left + loop.size * (behind - is_around)
    return None
