"""From an index into a buffer to a byte offset, as a polynomial over loop variables."""

from __future__ import annotations

from collections.abc import Set

from fxc.ir.size_functions import floordiv, with_atoms
from fxc.ir.symbols import (
    Computed,
    Dim,
    Monomial,
    Symbol,
    SymExpr,
    SymFunc,
    atoms,
    computed_in,
    symbols_of,
    terms_of,
)

from .buffers import Buffer, Idx

Term = tuple[Monomial, int]


def byte_offset(buffer: Buffer, index: Idx) -> Dim:
    """The distance in bytes of the element at ``index`` from the start of the storage."""
    found = buffer.offsets.get(index)
    if found is None:
        offset: Dim = buffer.offset
        for at, stride in zip(index, buffer.strides, strict=True):
            offset = offset + at * stride
        found = buffer.offsets[index] = linearised(offset)
    return found


def linearised(dim: Dim) -> Dim:
    """``dim`` with every ``m * (f // m) + f % m`` written as ``f``."""
    changed = True
    while changed and isinstance(dim, SymExpr):
        changed = False
        for atom in {a for a in atoms(dim) if isinstance(a, SymFunc) and a.name == "mod"}:
            f, m = atom.left, atom.right
            quotient = floordiv(f, m)
            rewritten = _replace(dim, atom, f - m * quotient)
            left = set(atoms(rewritten))
            rounded = {a for a in atoms(quotient) if isinstance(a, SymFunc) and a.right == m}
            is_whole = left.isdisjoint(rounded)
            if atom not in left and (is_whole or _terms(rewritten) < _terms(dim)):
                dim, changed = rewritten, True
                break
    return dim


def _terms(dim: Dim) -> int:
    """The number of terms that vary."""
    return sum(bool(monomial) for monomial, _ in dim.terms) if isinstance(dim, SymExpr) else 0


def _replace(dim: Dim, atom: SymFunc, value: Dim) -> Dim:
    return with_atoms(dim, lambda each: value if each == atom else None)


def step_of(dim: Dim, loop: str) -> Dim | None:
    """By how much ``dim`` grows with each iteration of ``loop``; None if that varies."""
    if isinstance(dim, int) or loop not in symbols_of(dim):
        return 0
    if dim.steps is None:
        dim.steps = {}
    if loop not in dim.steps:  # the passes ask for the same again and again
        dim.steps[loop] = _step_of(dim, loop)
    return dim.steps[loop]


def _step_of(dim: SymExpr, loop: str) -> Dim | None:
    total: Dim = 0
    for monomial, coefficient in dim.terms:
        plain = [a for a in monomial if isinstance(a, Symbol) and a.name == loop]
        hidden = [a for a in monomial if loop in _inside(a)]
        if hidden or len(plain) > 1:
            return None
        if plain:
            term: Dim = coefficient
            for factor in monomial:
                if factor is not plain[0]:
                    term = term * SymExpr((((factor,), 1),))
            total = total + term
    return total


def _inside(atom: Symbol | SymFunc | Computed) -> set[str]:
    match atom:
        case SymFunc(_, left, right):
            return {*symbols_of(left), *symbols_of(right)}
        case Computed(_, over):
            return {name for dim in over for name in symbols_of(dim)}
        case _:
            return set()


def split(dim: Dim) -> tuple[Dim, tuple[tuple[Computed, Dim], ...]]:
    """``dim`` as a part known from loop variables and multiples of computed integers.

    A computed integer inside a floordiv or mod stays in the first part.
    """
    if not computed_in(dim):
        return dim, ()
    assert isinstance(dim, SymExpr)
    known: Dim = 0
    multiples: list[tuple[Computed, Dim]] = []
    for monomial, coefficient in dim.terms:
        found = next((atom for atom in monomial if isinstance(atom, Computed)), None)
        term: Dim = coefficient
        for factor in monomial:
            if factor is not found:
                term = term * SymExpr((((factor,), 1),))
        if found is None:
            known = known + term
        else:
            multiples.append((found, term))
    return known, tuple(multiples)


def row_of(dim: Dim, known: Set[str]) -> tuple[Dim, Dim]:
    """The terms of ``dim`` that depend on ``known`` symbols, and on no others, and the rest."""
    row: list[Term] = []
    rest: list[Term] = []
    for term in terms_of(dim):
        monomial, _ = term
        in_row = monomial and all(_is_over(atom, known) for atom in monomial)
        (row if in_row else rest).append(term)
    return _sum(row), _sum(rest)


def _sum(terms: list[Term]) -> Dim:
    match terms:
        case []:
            return 0
        case [((), number)]:
            return number
        case _:
            return SymExpr(tuple(terms))


def _is_over(atom: Symbol | SymFunc | Computed, known: Set[str]) -> bool:
    match atom:
        case Symbol(name=name):
            return name in known
        case SymFunc(_, left, right):
            return not any(
                computed_in(dim) or symbols_of(dim).keys() - known for dim in (left, right)
            )
        case Computed():
            return False


def varies(atom: Computed, loop: str) -> bool:
    """Whether a computed integer is another one in each iteration of ``loop``."""
    return loop in _inside(atom)


def is_unit_step(buffer: Buffer, step: Dim | None) -> bool:
    """Whether an access moves from one element to the next, upwards or downwards."""
    size = buffer.dtype.itemsize
    return step in (size, -size) or (buffer.parts and step in (2 * size, -2 * size))
