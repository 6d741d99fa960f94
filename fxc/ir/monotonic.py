"""How dims move with one of their symbols."""

from __future__ import annotations

from .bounds import decide
from .size_functions import floordiv
from .symbols import Computed, Dim, Symbol, SymExpr, SymFunc, symbols_of, terms_of


def is_monotonic(dim: Dim, name: str) -> bool:
    """Whether ``dim`` never falls, or never grows, with a symbol, by its form.

    >>> from .size_functions import floordiv, minimum
    >>> from .symbols import symbol
    >>> i, n = symbol("i", lower=0), symbol("n", lower=1)
    >>> is_monotonic(n - i * i, "i"), is_monotonic(i * i - n * i, "i")
    (True, False)
    >>> is_monotonic(i + floordiv(i, 2), "i"), is_monotonic(i - floordiv(i, 2), "i")
    (True, False)
    >>> is_monotonic(minimum(i, n) + i, "i"), is_monotonic(minimum(i, n - i), "i")
    (True, False)
    """
    signs, linear = _directions(dim, name)
    return linear or (len(signs) == 1 and None not in signs)


def grows(dim: Dim, name: str) -> bool | None:
    """Whether ``dim`` never falls with a symbol (True) or never grows (False), if its form says so.

    >>> from .symbols import symbol
    >>> i, n, m = symbol("i", lower=0), symbol("n", lower=1), symbol("m")
    >>> grows(n * i - m, "i"), grows(n - 2 * i, "i"), grows(m * i, "i")
    (True, False, None)
    """
    signs, _ = _directions(dim, name)
    return signs.pop() if len(signs) == 1 else None


def _directions(dim: Dim, name: str) -> tuple[set[bool | None], bool]:
    """Whether the terms grow with a symbol, as far as it is known, and whether all are linear."""
    signs: set[bool | None] = set()
    linear = True
    for monomial, coefficient in terms_of(dim):
        lows = [atom.lower if isinstance(atom, Symbol) else None for atom in monomial]
        degree = sum(isinstance(atom, Symbol) and atom.name == name for atom in monomial)
        if any(name in symbols_of(part) for atom in monomial for part in _parts(atom)):
            inner = {None} if len(monomial) > 1 else _directions_of(monomial[0], name)
            signs |= {None if grows is None else grows == (coefficient > 0) for grows in inner}
            linear = False
        elif degree:
            known = all(low is not None and low >= 0 for low in lows)
            signs.add(coefficient > 0 if known or monomial == monomial[:1] else None)
            linear &= degree == 1
    return signs, linear


def _parts(atom: Symbol | SymFunc | Computed) -> tuple[Dim, ...]:
    if isinstance(atom, SymFunc):
        return atom.left, atom.right
    return tuple(atom.over) if isinstance(atom, Computed) else ()


def _directions_of(atom: Symbol | SymFunc | Computed, name: str) -> set[bool | None]:
    """As ``_directions``, of what a quotient, a minimum or a maximum grows with."""
    if not isinstance(atom, SymFunc):
        return {None}
    if atom.name in ("min", "max"):
        sides = [atom.left, atom.right]
    elif atom.name == "floordiv" and _is_positive(atom.right, name):
        sides = [atom.left]
    else:
        return {None}
    found: set[bool | None] = set()
    for side in sides:
        signs, linear = _directions(side, name)
        found |= signs if not linear or len(signs) <= 1 else {None}
    return found


def _is_positive(dim: Dim, name: str) -> bool:
    """Whether a divisor is always positive, and does not change with a symbol."""
    return name not in symbols_of(dim) and decide(dim, ">", 0) is True


def without_remainders(dim: Dim, name: str, *, above: bool) -> Dim:
    """A dim that is nowhere less (``above``) or nowhere more than ``dim``, without remainders that
    vary with a symbol by what does not.

    >>> from .size_functions import floordiv, mod
    >>> from .symbols import symbol
    >>> i, n = symbol("i", lower=0), symbol("n", lower=1)
    >>> print(without_remainders(floordiv(n - mod(i, 3), 2), "i", above=True))
    floordiv(n, 2)
    >>> print(without_remainders(mod(i, n), "i", above=True))
    n - 1
    """
    if name not in symbols_of(dim):
        return dim
    total: Dim = 0
    for monomial, coefficient in terms_of(dim):
        part: Dim = SymExpr(((monomial, 1),)) if monomial else 1
        if len(monomial) == 1 and isinstance(monomial[0], SymFunc):
            part = _without_remainder(monomial[0], part, name, above == (coefficient > 0))
        total = total + coefficient * part
    return total


def _without_remainder(atom: SymFunc, itself: Dim, name: str, above: bool) -> Dim:
    if name not in symbols_of(itself) or not _is_positive(atom.right, name):
        return itself
    if atom.name == "mod":
        return atom.right - 1 if above else 0
    if atom.name == "floordiv":
        return floordiv(without_remainders(atom.left, name, above=above), atom.right)
    return itself
