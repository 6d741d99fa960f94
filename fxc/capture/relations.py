"""Fewer relations between symbols that say the same as those a capture has recorded.

A stencil records dozens of facts such as ``1 < n - 1``, ``n - 2 != 1``, ``n - 2 == m - 2``; what
is to be checked at each call, and read in a dump, is ``m == n`` and ``n >= 4``.
"""

from __future__ import annotations

from collections.abc import Iterable

from fxc.ir.symbols import Dim, Guard, Symbol, SymExpr, decide, substitute, symbols_of


def strongest(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """Relations from which all of ``guards`` follow, and which follow from them."""
    given = tuple(guards)
    if not given:
        return ()
    equal, rest = _equal_symbols(given)
    bounds, rest = _bounds([_substituted(each, equal) for each in rest])
    known: dict[str, Symbol] = {}
    for each in given:
        for dim in (each.left, each.right):
            known.update(symbols_of(dim))
    rest = _tightened(bounds, rest, known)
    raised: dict[str, Dim] = {
        name: _symbol(Symbol(name, known[name].hint, known[name].lower if low is None else low))
        for name, (low, _) in bounds.items()
    }
    kept: dict[Guard, None] = {
        Guard(_symbol(known[name]), "==", _symbol(known[other])): None
        for name, other in equal.items()
    }
    for name, (low, high) in bounds.items():
        dim = _symbol(known[name])
        own = known[name].lower
        if low is not None and low == high:
            kept[Guard(dim, "==", low)] = None
            continue
        if low is not None and (own is None or low > own):
            kept[Guard(dim, ">=", low)] = None
        if high is not None:
            kept[Guard(dim, "<=", high)] = None
    for each in rest:
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


Bounds = dict[str, tuple[int | None, int | None]]


def _bounds(guards: list[Guard]) -> tuple[Bounds, list[Guard]]:
    """The range that relations of one symbol leave to it, and the other relations."""
    bounds: Bounds = {}
    rest: list[Guard] = []
    for each in guards:
        found = _range(each)
        if found is None:
            rest.append(each)
            continue
        name, low, high = found
        lowest, highest = bounds.get(name, (None, None))
        if low is not None:
            lowest = low if lowest is None else max(low, lowest)
        if high is not None:
            highest = high if highest is None else min(high, highest)
        bounds[name] = (lowest, highest)
    return bounds, rest


def _tightened(bounds: Bounds, rest: list[Guard], known: dict[str, Symbol]) -> list[Guard]:
    """Let ``n != 3`` move the bound ``n >= 3``; the relations that are left."""
    excluded: dict[str, dict[int, Guard]] = {}
    others: list[Guard] = []
    for each in rest:
        found = _range(Guard(each.left, "==", each.right)) if each.relation == "!=" else None
        if found is None or found[1] is None:
            others.append(each)
        else:
            excluded.setdefault(found[0], {})[found[1]] = each
    for name, values in excluded.items():
        low, high = bounds.get(name, (None, None))
        low = known[name].lower if low is None else low
        while low is not None and values.pop(low, None) is not None:
            low += 1
        while high is not None and values.pop(high, None) is not None:
            high -= 1
        bounds[name] = (low, high)
        others += [each for value, each in values.items() if low is None or value > low]
    return others


def _range(guard: Guard) -> tuple[str, int | None, int | None] | None:
    """For ``a*n + b relation 0``: the symbol, and the least and largest value it may have."""
    difference = guard.left - guard.right
    if not isinstance(difference, SymExpr):
        return None
    constant = 0
    found: tuple[str, int] | None = None
    for monomial, coefficient in difference.terms:
        if not monomial:
            constant = coefficient
        elif found is None and len(monomial) == 1 and isinstance(monomial[0], Symbol):
            found = monomial[0].name, coefficient
        else:
            return None
    if found is None:
        return None
    name, factor = found
    relation = guard.relation
    if factor < 0:
        factor, constant = -factor, -constant
        relation = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(relation, relation)
    match relation:
        case ">=":
            return name, -(constant // factor), None
        case ">":
            return name, (-constant) // factor + 1, None
        case "<=":
            return name, None, (-constant) // factor
        case "<":
            return name, None, -(constant // factor) - 1
        case "==" if constant % factor == 0:
            return name, -constant // factor, -constant // factor
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
