"""Fewer relations between symbols that say the same as those a capture has recorded.

A stencil records dozens of facts such as ``1 < n - 1``, ``n - 2 != 1``, ``n - 2 == m - 2``; what
is to be checked at each call, and read in a dump, is ``m == n`` and ``n >= 4``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from fxc.ir.bounds import decide
from fxc.ir.size_functions import substitute
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, Symbol, SymExpr, plain_symbol, symbols_of


def strongest(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """Relations from which all of ``guards`` follow, and which follow from them."""
    given = tuple(guards)
    known: dict[str, Symbol] = {}
    for each in given:
        known |= {**symbols_of(each.left), **symbols_of(each.right)}
    equal, rest = _equal_symbols(given)
    bounds, others = _bounds([_substituted(each, equal) for each in rest])
    kept: dict[Guard, None] = {
        Guard(_symbol(known[name]), "==", _symbol(known[other])): None
        for name, other in equal.items()
    }
    raised: dict[str, Dim] = {}
    for dim, bound in bounds.items():
        name = plain_symbol(dim)
        if name is not None:
            raised[name] = _symbol(Symbol(name, known[name].hint, bound.low))
        kept.update(dict.fromkeys(bound.relations(dim, known.get(name or ""))))
    for each in others:
        stronger = _substituted_dims(each, raised)
        if decide(stronger.left, each.relation, stronger.right) is not True:
            kept[_tidy(each)] = None
    return tuple(kept)


def _symbol(each: Symbol) -> SymExpr:
    return SymExpr((((each,), 1),))


def _equal_symbols(guards: tuple[Guard, ...]) -> tuple[dict[str, str], list[Guard]]:
    """Symbols by the one they equal, and the other relations."""
    leader: dict[str, str] = {}
    rest: list[Guard] = []

    def find(name: str) -> str:
        while name in leader:
            name = leader[name]
        return name

    for each in guards:
        pair = _pair(each)
        if pair is None:
            rest.append(each)
            continue
        left, right = find(pair[0]), find(pair[1])
        if left != right:
            leader[right] = left
    return {name: find(name) for name in leader}, rest


def _pair(guard: Guard) -> tuple[str, str] | None:
    """The two symbols that a relation says are equal."""
    if guard.relation != "==":
        return None
    difference = guard.left - guard.right
    if not isinstance(difference, SymExpr) or len(difference.terms) != 2:
        return None
    (first, a), (second, b) = difference.terms
    if a != -b or len(first) != 1 or len(second) != 1:
        return None
    left, right = first[0], second[0]
    if not isinstance(left, Symbol) or not isinstance(right, Symbol):
        return None
    return left.name, right.name


def _substituted(guard: Guard, equal: dict[str, str]) -> Guard:
    if not equal:
        return guard
    known = {**symbols_of(guard.left), **symbols_of(guard.right)}
    values: dict[str, Dim] = {
        name: _symbol(Symbol(equal[name], each.hint, each.lower))
        for name, each in known.items()
        if name in equal
    }
    return _substituted_dims(guard, values) if values else guard


def _substituted_dims(guard: Guard, values: dict[str, Dim]) -> Guard:
    left, right = substitute(guard.left, values), substitute(guard.right, values)
    return Guard(left, guard.relation, right)


class _Bound:
    """The range that relations leave to an expression, and the relations that say so."""

    def __init__(self, low: int | None) -> None:
        self.low = low
        self.high: int | None = None
        self.low_guard: Guard | None = None
        self.high_guard: Guard | None = None
        self.excluded: dict[int, Guard] = {}

    def narrow(self, guard: Guard, low: int | None, high: int | None) -> None:
        if low is not None and (self.low is None or low > self.low):
            self.low, self.low_guard = low, guard
        if high is not None and (self.high is None or high < self.high):
            self.high, self.high_guard = high, guard

    def exclude(self) -> None:
        """Let ``n != 3`` move the bound ``n >= 3``."""
        while self.low in self.excluded:
            self.low_guard = self.excluded[self.low]
            self.low += 1
        while self.high in self.excluded:
            self.high_guard = self.excluded[self.high]
            self.high -= 1

    def relations(self, dim: SymExpr, symbol: Symbol | None) -> list[Guard]:
        """What is to be said of ``dim``; of a plain symbol in the simplest form."""
        if self.low is not None and self.low == self.high:
            return [Guard(dim, "==", self.low)]
        found = []
        if self.low_guard is not None and self.low is not None:
            exact = symbol is not None or self.low_guard.relation == "!="
            found.append(Guard(dim, ">=", self.low) if exact else self.low_guard)
        if self.high_guard is not None and self.high is not None:
            exact = symbol is not None or self.high_guard.relation == "!="
            found.append(Guard(dim, "<=", self.high) if exact else self.high_guard)
        for value in self.excluded:
            below = self.low is not None and value < self.low
            above = self.high is not None and value > self.high
            if not below and not above:
                found.append(Guard(dim, "!=", value))
        return found


def _bounds(guards: list[Guard]) -> tuple[dict[SymExpr, _Bound], list[Guard]]:
    """The ranges that relations leave to expressions, and the other relations."""
    bounds: dict[SymExpr, _Bound] = {}
    others: list[Guard] = []
    for each in guards:
        found = _range(each)
        if found is None:
            others.append(each)
            continue
        dim, low, high = found
        bound = bounds.get(dim)
        if bound is None:
            own = next(iter(symbols_of(dim).values())).lower if plain_symbol(dim) else None
            bound = bounds[dim] = _Bound(own)
        if each.relation == "!=" and low is not None:
            bound.excluded[low] = each
        else:
            bound.narrow(each, low, high)
    for bound in bounds.values():
        bound.exclude()
    return bounds, others


def _range(guard: Guard) -> tuple[SymExpr, int | None, int | None] | None:
    """For ``a*p + b relation 0``: p, and the least and largest value it may have.

    ``p`` has no constant term, its coefficients have no common divisor, the first is positive.
    """
    difference = guard.left - guard.right
    if not isinstance(difference, SymExpr):
        return None
    constant = next((c for monomial, c in difference.terms if not monomial), 0)
    terms = [term for term in difference.terms if term[0]]
    factor = math.gcd(*(coefficient for _, coefficient in terms))
    relation = guard.relation
    if terms[0][1] < 0:
        factor, constant = -factor, -constant
        relation = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(relation, relation)
    dim = SymExpr(tuple((monomial, c // factor) for monomial, c in terms))
    factor = abs(factor)
    match relation:
        case ">=":
            return dim, -(constant // factor), None
        case ">":
            return dim, (-constant) // factor + 1, None
        case "<=":
            return dim, None, (-constant) // factor
        case "<":
            return dim, None, -(constant // factor) - 1
        case "==" | "!=" if constant % factor == 0:
            return dim, -constant // factor, -constant // factor
        case _:
            return None


def _tidy(guard: Guard) -> Guard:
    """The relation with the constant terms on the right."""
    difference = guard.left - guard.right
    constant = 0
    if isinstance(difference, SymExpr):
        constant = next((c for monomial, c in difference.terms if not monomial), 0)
    if isinstance(guard.right, int) or not constant:
        return guard
    return Guard(difference - constant, guard.relation, -constant)
