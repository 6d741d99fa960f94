"""Symbolic integers: polynomials over named symbols, floordiv, mod, min and max.

A ``Dim`` is an ``int`` or a ``SymExpr``; a ``SymExpr`` is never constant (arithmetic folds to
``int``), so ``isinstance(dim, int)`` tells whether a size is known. Expressions are kept in a
normal form, therefore ``==`` is structural and cheap, and two equal polynomials compare equal
however they were built::

    >>> n, m = symbol("n", hint=4), symbol("m", hint=5)
    >>> (n + 1) * m - m
    m*n
    >>> (n * m) // m
    n

Note that ``<`` and friends do not exist on a ``SymExpr``: whoever needs to know asks
``size_guards.guard(lhs, relation, rhs)``. See Note [Guards on symbols].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType

from .records import field, frozen
from .upward import UPWARD


@frozen
class Symbol:
    """A named unknown integer; equal names are equal symbols."""

    name: str
    hint: int | None = field(default=None, compare=False)
    lower: int | None = field(default=None, compare=False)
    most: Dim | None = field(default=None, compare=False)  # see Note [Counted sizes]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


@frozen
class SymFunc:
    """``floordiv``, ``mod``, ``min`` or ``max`` of two dims, as an opaque factor."""

    name: str
    left: Dim
    right: Dim


@frozen
class Computed:
    """An integer that is computed while the program runs, as an opaque factor: a function of the
    dims ``over`` of which nothing else is known. Equal names are equal values.
    """

    name: str
    over: tuple[Dim, ...]


Atom = Symbol | SymFunc | Computed
Monomial = tuple[Atom, ...]


def _atom_key(atom: Atom) -> str:
    return f"~{_show_atom(atom)}" if isinstance(atom, SymFunc) else atom.name


class SymExpr:
    """A polynomial with integer coefficients; immutable, hashable, in normal form."""

    __slots__ = (
        *("_computed", "_hash", "_symbols", "_text", "_weight"),
        *("bound", "steps", "terms", "value"),
    )
    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._symbols: dict[str, Symbol] | None = None
        self._computed: dict[str, Computed] | None = None
        self.value: int | None = None  # see ``size_functions.hint``
        self.bound: tuple[int | None] | None = None  # see ``bounds.least``
        self.steps: dict[str, Dim | None] | None = None  # see ``step_of`` of loop nests
        self._text = ""
        self._weight = 0

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.terms)
        return self._hash

    @property
    def symbols(self) -> Mapping[str, Symbol]:
        """The symbols that it depends on, by name."""
        if self._symbols is None:
            found: dict[str, Symbol] = {}
            for monomial, _ in self.terms:
                for atom in monomial:
                    if isinstance(atom, Symbol):
                        found[atom.name] = atom
                    else:
                        for dim in _inside(atom):
                            found.update(symbols_of(dim))
            self._symbols = found
        return self._symbols

    @property
    def computed(self) -> Mapping[str, Computed]:
        """The computed integers that it is made of, by name."""
        if self._computed is None:
            operands = operands_of(self)
            self._computed = {atom.name: atom for atom in operands if isinstance(atom, Computed)}
        return self._computed

    @property
    def weight(self) -> int:
        """The number of factors, with those inside functions."""
        if not self._weight:
            self._weight = sum(_atom_weight(a) for monomial, _ in self.terms for a in monomial)
        return self._weight

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymExpr) and self.terms == other.terms

    def __add__(self, other: Dim) -> Dim:
        if not isinstance(other, SymExpr):
            return self._plus_constant(int(other)) if other else self
        total = dict(self.terms)
        for monomial, coefficient in other.terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        return normal(total)

    def _plus_constant(self, number: int) -> SymExpr:
        """The constant stands last in the normal form, and never alone."""
        *others, (monomial, before) = self.terms
        if monomial:
            return SymExpr((*self.terms, ((), number)))
        if before + number:
            others.append(((), before + number))
        return SymExpr(tuple(others))

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return SymExpr(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Dim) -> Dim:
        return self + (-other)

    def __rsub__(self, other: Dim) -> Dim:
        return (-self) + other

    def __mul__(self, other: Dim) -> Dim:
        if isinstance(other, int):
            if other == 1 or other == 0:
                return self if other else 0
            return SymExpr(tuple((m, c * int(other)) for m, c in self.terms))
        total: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in terms_of(other):
                monomial = tuple(sorted(m1 + m2, key=_atom_key)) if m1 and m2 else m1 or m2
                total[monomial] = total.get(monomial, 0) + c1 * c2
        return normal(total)

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return _divided("//", self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return _divided("//", other, self)

    def __mod__(self, other: Dim) -> Dim:
        return _divided("%", self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return _divided("%", other, self)

    def __repr__(self) -> str:
        self._text = self._text or self._shown()
        return self._text

    def _shown(self) -> str:
        text = ""
        for monomial, coefficient in self.terms:
            factors = [_show_atom(atom) for atom in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+"
            if not text:
                text = ("-" if coefficient < 0 else "") + "*".join(factors)
            else:
                text += f" {sign} " + "*".join(factors)
        return text


Dim = int | SymExpr
_HEAVY = 1000  # factors, times the terms of products
_DEEP = 40  # functions in one another: Python reads 200 parentheses in one another
_NO_SYMBOLS: Mapping[str, Symbol] = MappingProxyType({})
_NONE_COMPUTED: Mapping[str, Computed] = MappingProxyType({})


def _divided(operator: str, left: Dim, right: Dim) -> Dim:
    found: Dim = UPWARD[operator](left, right)  # of ``size_functions``: it needs sums and products
    return found


def symbol(
    name: str, *, hint: int | None = None, lower: int | None = None, most: Dim | None = None
) -> SymExpr:
    """A new symbolic integer; ``hint`` is its value now, ``lower`` a bound it always keeps.

    ``most`` makes it a counted size.
    """
    return SymExpr((((Symbol(name, hint, lower, most),), 1),))


MOST_MEASURED = 2**30  # of sizes that nothing is known of, see Note [Measured sizes]


def counted_in(dim: Dim) -> list[Symbol]:
    """The counted sizes that ``dim`` depends on."""
    return [each for each in symbols_of(dim).values() if each.most is not None]


def computed(name: str, over: tuple[Dim, ...]) -> SymExpr:
    """The integer called ``name``, computed anew wherever one of the dims ``over`` changes."""
    return SymExpr((((Computed(name, over),), 1),))


def _show_atom(atom: Atom) -> str:
    if isinstance(atom, SymFunc):
        return f"{atom.name}({atom.left}, {atom.right})"
    return atom.name


def terms_of(dim: Dim) -> tuple[tuple[Monomial, int], ...]:
    """Monomials and their factors; those of 0 are none."""
    if isinstance(dim, SymExpr):
        return dim.terms
    return (((), int(dim)),) if dim else ()


def _inside(atom: SymFunc | Computed) -> tuple[Dim, ...]:
    """The dims that it is a function of."""
    return (atom.left, atom.right) if isinstance(atom, SymFunc) else atom.over


def _term_key(term: tuple[Monomial, int]) -> tuple[int, str]:
    monomial = term[0]
    return (-len(monomial), "*".join(map(_atom_key, monomial)))


def normal(total: Mapping[Monomial, int]) -> Dim:
    """The dim that is the sum of monomials times their factors."""
    terms = [(m, c) for m, c in total.items() if c]
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    return SymExpr(tuple(sorted(terms, key=_term_key) if len(terms) > 1 else terms))


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    """The product of dims; 1 for none."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


def atoms(dim: Dim) -> Iterator[Atom]:
    """Every atom of ``dim``, with those inside functions, and what computed ones depend on."""
    for monomial, _ in terms_of(dim):
        for atom in monomial:
            yield atom
            if not isinstance(atom, Symbol):
                for each in _inside(atom):
                    yield from atoms(each)


def plain_symbol(dim: Dim) -> str | None:
    """The name, if ``dim`` is nothing but a symbol."""
    match dim:
        case SymExpr(terms=(((Symbol(name),), 1),)):
            return name
        case _:
            return None


def operands_of(dim: Dim) -> Iterator[Symbol | Computed]:
    """What has to be known to compute ``dim``: of a computed integer not what it depends on."""
    for monomial, _ in terms_of(dim):
        for atom in monomial:
            if isinstance(atom, SymFunc):
                yield from operands_of(atom.left)
                yield from operands_of(atom.right)
            else:
                yield atom


def computed_in(dim: Dim) -> Mapping[str, Computed]:
    """The computed integers that ``dim`` is made of, by name."""
    return dim.computed if isinstance(dim, SymExpr) else _NONE_COMPUTED


def symbols_of(dim: Dim) -> Mapping[str, Symbol]:
    """The symbols that ``dim`` depends on, by name."""
    return dim.symbols if isinstance(dim, SymExpr) else _NO_SYMBOLS


def weight(dim: Dim) -> int:
    """The number of factors of ``dim``, with those inside functions; 0 of a number."""
    return dim.weight if isinstance(dim, SymExpr) else 0


def dims_in(tree: object) -> Iterator[SymExpr]:
    """What depends on symbols in arguments, leaves and slots, and in tuples of such."""
    if isinstance(tree, SymExpr):
        yield tree
    elif isinstance(tree, tuple):
        for item in tree:
            yield from dims_in(item)
    elif is_dataclass(tree) and not isinstance(tree, type):
        for each in fields(tree):
            yield from dims_in(getattr(tree, each.name))


def are_heavy(*dims: Dim) -> bool:
    """Whether an expression of these is more than it is worth to reason about.

    An expression is taken apart wherever it is looked at. Where each step of a program takes a
    number twice (``n += n * (n % 7)``), it doubles with each. The graph computes such ints. So it
    does those of functions in functions (``n = (n * 3 + 1) % 8``, again and again).
    """
    size = math.prod(len(terms_of(dim)) for dim in dims) * sum(map(weight, dims))
    return size > _HEAVY or any(weight(dim) > _DEEP and _depth(dim) > _DEEP for dim in dims)


def _depth(dim: Dim) -> int:
    """How many functions stand in one another."""
    atoms = (atom for monomial, _ in terms_of(dim) for atom in monomial)
    return max(map(_atom_depth, atoms), default=0)


def _atom_depth(atom: Atom) -> int:
    match atom:
        case SymFunc(_, left, right):
            return 1 + max(_depth(left), _depth(right))
        case Computed(_, over):
            return 1 + max(map(_depth, over), default=0)
        case _:
            return 0


def _atom_weight(atom: Atom) -> int:
    match atom:
        case SymFunc(_, left, right):
            return 1 + weight(left) + weight(right)
        case Computed(_, over):
            return 1 + sum(map(weight, over))
        case _:
            return 1


def as_dim(atom: Atom) -> Dim:
    """A factor alone."""
    return SymExpr((((atom,), 1),))
