"""What holds of dims for all values of their symbols."""

from __future__ import annotations

from .symbols import Computed, Dim, Monomial, Symbol, SymExpr, SymFunc, as_dim, product, terms_of


def _lower_bound(dim: Dim) -> int | None:
    """A number that ``dim`` is never below, if its form tells."""
    bound = 0
    for monomial, coefficient in terms_of(dim):
        term = coefficient
        for atom in monomial:
            low = atom.lower if isinstance(atom, Symbol) else _function_bound(atom)
            if low is None or low < 0:
                return None
            term *= low
        if monomial and coefficient < 0:
            return None
        bound += term
    return bound


def least(dim: Dim) -> int | None:
    """A number that ``dim`` is never below, if its form tells, or that of what is no more."""
    if isinstance(dim, int):
        return dim
    if dim.bound is None:
        dim.bound = (_lower_bound(_no_more(dim)),)
    return dim.bound[0]


def _function_bound(atom: SymFunc | Computed) -> int | None:
    if isinstance(atom, Computed):
        return None
    left, right = least(atom.left), least(atom.right)
    if atom.name == "max":
        return max((low for low in (left, right) if low is not None), default=None)
    if atom.name == "mod" and right is not None and right > 0:
        return 0  # of what is negative, too
    if left is None or right is None or left < 0 or right < 0:
        return None
    match atom.name:
        case "min":
            return min(left, right)
        case _:
            return 0


def _is_natural(dim: Dim) -> bool:
    low = _lower_bound(dim)
    return low is not None and low >= 0


def _no_more(dim: Dim) -> Dim:
    """A dim that is never more than ``dim``: a remainder is less than its divisor, and a counted
    size no more than it can be.
    """
    if isinstance(dim, int):
        return dim
    found: Dim = dim
    for monomial, factor in dim.terms:
        if factor < 0 and (more := _without_floor(monomial, -factor)) is not None:
            found = _no_more(found - factor * SymExpr(((monomial, 1),)) - more)
            continue
        atom = monomial[0] if len(monomial) == 1 and factor < 0 else None
        if isinstance(atom, Symbol) and atom.most is not None:
            found = _no_more(found - factor * SymExpr(((monomial, 1),)) + factor * atom.most)
        if isinstance(atom, SymFunc) and atom.name == "min":
            rest = found - factor * SymExpr(((monomial, 1),))
            larger = _larger_minimum(rest, atom, -factor)
            if larger is not None:
                found = rest + factor * larger
                continue
            sides = [rest + factor * side for side in (atom.left, atom.right)]
            found = next((each for each in sides if _is_natural(each)), found)
        if isinstance(atom, SymFunc) and atom.name == "mod":
            divisor = _lower_bound(atom.right)
            if divisor is not None and divisor > 0:
                found = found - factor * SymExpr(((monomial, 1),)) + factor * (atom.right - 1)
    return found


def _larger_minimum(dim: Dim, atom: SymFunc, factor: int) -> Dim | None:
    """A minimum that ``dim`` has, ``factor`` times or more, which is no less than this one."""
    for monomial, times in terms_of(dim):
        other = monomial[0] if len(monomial) == 1 and times >= factor else None
        if isinstance(other, SymFunc) and other.name == "min":
            here, there = (atom.left, atom.right), (other.left, other.right)
            pairs = ((x, y) for x in (0, 1) for y in (0, 1) if here[x] == there[y])
            for x, y in pairs:
                more = there[1 - y] - here[1 - x]
                if isinstance(more, int) and more >= 0:
                    return as_dim(other)
    return None


def _without_floor(monomial: Monomial, factor: int) -> Dim | None:
    """A dim that ``factor`` times the monomial never exceeds, with the quotient of naturals in it
    taken as if it were exact; None if there is no such quotient.
    """
    for place, atom in enumerate(monomial):
        if isinstance(atom, SymFunc) and atom.name == "floordiv" and _is_natural(atom.left):
            rest = monomial[:place] + monomial[place + 1 :]
            low = _lower_bound(atom.right)
            if low is None or low < 1 or not all(map(_is_natural, map(as_dim, rest))):
                return None
            whole, more = divmod(factor, atom.right) if type(atom.right) is int else (0, factor)
            return (whole + more) * atom.left * product(list(map(as_dim, rest)))
    return None


def decide(left: Dim, relation: str, right: Dim) -> bool | None:
    """Whether ``left relation right`` holds for all values, or None if that is not known."""
    difference = left - right
    if isinstance(difference, int):
        return compare(difference, relation, 0)
    low, high = least(difference), least(-difference)
    positive, negative = low is not None and low > 0, high is not None and high > 0
    at_least, at_most = low is not None and low >= 0, high is not None and high >= 0
    match relation:
        case "==" | "!=":
            return (relation == "!=") if positive or negative else None
        case ">=":
            return True if at_least else False if negative else None
        case "<":
            return False if at_least else True if negative else None
        case ">":
            return True if positive else False if at_most else None
        case "<=":
            return False if positive else True if at_most else None
        case _:
            raise ValueError(relation)


def compare(left: int, relation: str, right: int) -> bool:
    """Whether two numbers are in a relation."""
    match relation:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case _:
            raise ValueError(relation)
