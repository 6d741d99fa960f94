"""Loops whose counter is divided become loops in loops.

::

    for i in 0:n*m                              for i in 0:n
      v[i] = u[mod(i, m), floordiv(i, m)]  →      for ir0 in 0:m
                                                    v[m*i + ir0] = u[ir0, i]

A division takes tens of cycles where only run time knows the divisor; lanes have none, and
what they read of a row would be gathered.
"""

from __future__ import annotations

from collections.abc import Iterator

from fxc.ir.records import replace
from fxc.ir.size_functions import apply_function, floordiv, mod, with_atoms
from fxc.ir.symbols import Computed, Dim, Symbol, SymFunc, atoms, computed, symbol

from ..nests.accesses import Block, renamed
from ..nests.program import Program
from ..nests.statements import Compute, Index, Load, Loop, Stmt, Store, blocks_of, walk, with_blocks


def split_quotients(program: Program) -> Program:
    """Split loops by the sizes that divide their counters.

    Requires: nests are merged. Ensures: the same results, bit for bit, in the same order.
    """
    return replace(program, body=_block(program.body))


def _block(block: Block) -> Block:
    return tuple(_changed(stmt) for stmt in block)


def _changed(stmt: Stmt) -> Stmt:
    if isinstance(stmt, Loop) and (divisor := _divisor(stmt)) is not None:
        return _changed(_split(stmt, divisor))
    inner = tuple(map(_block, blocks_of(stmt)))
    return with_blocks(stmt, inner) if inner else stmt


def _divisor(loop: Loop) -> Dim | None:
    """The size by which the counter is divided, the smallest one, if it divides all others."""
    if loop.descending or loop.behind or loop.chunk is not None:
        return None
    if not all(isinstance(s, Load | Compute | Index | Store | Loop) for s in walk(loop.body)):
        return None  # a total would be carried through one more loop
    found = dict.fromkeys(each for dim in _dims(loop.body) for each in _divisors(dim, loop.var))
    for divisor in found:
        if all(mod(each, divisor) == 0 for each in (*found, loop.size)):
            return divisor
    return None


def _dims(block: Block) -> Iterator[Dim]:
    for stmt in walk(block):
        match stmt:
            case Load(index=index) | Store(index=index):
                yield from index
            case Index(value=value):
                yield value
            case Loop(size=size):
                yield size
            case _:
                pass


def _divisors(dim: Dim, var: str) -> Iterator[Dim]:
    """The sizes by which a counter is divided in a dim."""
    if isinstance(dim, int):
        return
    for atom in atoms(dim):
        match atom:
            case SymFunc("floordiv" | "mod", left, right) if left == symbol(var, hint=0, lower=0):
                yield right


def _split(loop: Loop, divisor: Dim) -> Loop:
    """The quotients outside, the remainders inside."""
    quotient = symbol(loop.var, hint=0, lower=0)
    depth = sum(isinstance(stmt, Loop) for stmt in walk(loop.body))
    var = f"{loop.var}r{depth}"
    remainder = symbol(var, hint=0, lower=0)

    def of(atom: Symbol | SymFunc | Computed) -> Dim | None:
        if isinstance(atom, Symbol):
            return quotient * divisor + remainder if atom.name == loop.var else None
        if isinstance(atom, Computed):
            return computed(atom.name, tuple(with_atoms(each, of) for each in atom.over))
        if atom.left == quotient and mod(atom.right, divisor) == 0:
            rest = floordiv(atom.right, divisor)
            if atom.name == "floordiv":
                return floordiv(quotient, rest)
            if atom.name == "mod":
                return mod(quotient, rest) * divisor + remainder
        return apply_function(atom.name, with_atoms(atom.left, of), with_atoms(atom.right, of))

    body = tuple(renamed(stmt, {}, lambda dim: with_atoms(dim, of)) for stmt in loop.body)
    inner = replace(loop, var=var, size=divisor, body=body)
    return replace(loop, size=floordiv(loop.size, divisor), body=(inner,), note="")
