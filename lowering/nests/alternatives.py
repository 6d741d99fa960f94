"""Dims that are the least or the largest of several: from where to where strips of rows go."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from fxc.ir.bounds import decide, least
from fxc.ir.size_functions import maximum, minimum, substitute
from fxc.ir.symbols import Dim, Monomial, SymExpr, SymFunc, symbol

from .addressing import step_of

_OTHER = {"min": "max", "max": "min"}
_MAKE = {"min": minimum, "max": maximum}


def alternatives(dim: Dim, which: str) -> tuple[Dim, ...]:
    """The dims of which ``dim`` is the least ("min") or the largest ("max"), or itself."""
    if isinstance(dim, int):
        return (dim,)
    for monomial, factor in dim.terms:
        name = which if factor > 0 else _OTHER[which]
        atom, times = _function(monomial, name)
        if atom is not None and decide(times, ">=", 0):
            rest, times = dim - SymExpr(((monomial, factor),)), times * factor
            sides = (rest + times * atom.left, rest + times * atom.right)
            return tuple(each for side in sides for each in alternatives(side, which))
    return (dim,)


def _function(monomial: Monomial, name: str) -> tuple[SymFunc | None, Dim]:
    """A factor that is the least or the largest of two dims, and what it is multiplied by."""
    for place, atom in enumerate(monomial):
        if isinstance(atom, SymFunc) and atom.name == name:
            others = monomial[:place] + monomial[place + 1 :]
            return atom, SymExpr(((others, 1),)) if others else 1
    return None, 1


def extreme(dim: Dim, sizes: Sequence[tuple[str, Dim]], which: str) -> tuple[Dim, ...]:
    """Dims that ``dim`` is never above ("min"), or never below ("max"), inside of loops of these
    sizes, outer ones first.
    """
    found = alternatives(dim, which)
    for name, size in reversed(sizes):
        ends = [_end(each, name, if_any(size) - 1, which) for each in found]
        found = tuple(dict.fromkeys(x for end in ends for x in end))
    return found


def _end(dim: Dim, name: str, last: Dim, which: str) -> tuple[Dim, ...]:
    """What ``dim`` is never above, or below, where a counter goes from 0 to ``last``."""
    step = step_of(dim, name)
    falls = None if step is None else decide(step, "<", 0)
    if falls is None:
        return ()
    return alternatives(substitute(dim, {name: last if falls == (which == "max") else 0}), which)


def moving(dims: Sequence[Dim], which: str, name: str) -> tuple[Dim | None, Dim]:
    """By how much the least ("min") or the largest ("max") of the dims that move with a symbol, if
    any do, does so, and what it is where the symbol is 0. None if no dim moves evenly.
    """
    steps = [(step_of(each, name), each) for each in dims]
    known = [step for step, _ in steps if step is not None]
    if not known:
        return None, 0
    found = next((step for step in known if step != 0), 0)
    counter = symbol(name, hint=0, lower=0)
    left = [each - found * counter for step, each in steps if step == found]
    return found, reduce(_MAKE[which], left)


def if_any(size: Dim) -> Dim:
    """The size of a loop that has iterations: ``max(n, 0)`` is then n."""
    if isinstance(size, SymExpr) and len(size.terms) == 1:
        ((monomial, factor),) = size.terms
        atom, times = _function(monomial, "max")
        if atom is not None and 0 in (atom.left, atom.right):
            return factor * times * (atom.left if atom.right == 0 else atom.right)
    return size


def most(size: Dim) -> Dim:
    """A number that the size of a loop does not exceed, if its form tells one; or itself."""
    ends = [least(-each) for each in alternatives(if_any(size), "min")]
    return min((-end for end in ends if end is not None), default=size)
