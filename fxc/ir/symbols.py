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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType

from .errors import CaptureError, InternalError
from .records import frozen


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

    __slots__ = ("_computed", "_hash", "_hint", "_least", "_symbols", "_text", "_weight", "terms")
    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._symbols: dict[str, Symbol] | None = None
        self._computed: dict[str, Computed] | None = None
        self._hint: int | None = None
        self._least: tuple[int | None] | None = None
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
    def hint(self) -> int:
        """The value it had in the call being captured."""
        if self._hint is None:
            values: dict[str, int] = {}
            for name, known in self.symbols.items():
                if known.hint is None:
                    raise InternalError(f"symbol {name} has no hint, and a decision depends on it")
                values[name] = known.hint
            self._hint = evaluate(self, values)
        return self._hint

    @property
    def least(self) -> int | None:
        """A number that it is never below, if its form tells."""
        if self._least is None:
            self._least = (_lower_bound(_no_more(self)),)
        return self._least[0]

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
        return _normal(total)

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
        return _normal(total)

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return floordiv(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return mod(self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return mod(other, self)

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
_MOST_FACTORS = 4000  # in a function of sizes
_NO_SYMBOLS: Mapping[str, Symbol] = MappingProxyType({})
_NONE_COMPUTED: Mapping[str, Computed] = MappingProxyType({})


def symbol(
    name: str, *, hint: int | None = None, lower: int | None = None, most: Dim | None = None
) -> SymExpr:
    """A new symbolic integer; ``hint`` is its value now, ``lower`` a bound it always keeps.

    ``most`` makes it a counted size.
    """
    return SymExpr((((Symbol(name, hint, lower, most),), 1),))


MOST_MEASURED = 2**30  # of sizes that nothing is known of, see Note [Measured sizes]
_A_SIZE = 4  # one of them, as an example


def counted_size(name: str, most: Dim) -> SymExpr:
    """The symbol of a size from 0 to ``most``. See Note [Counted sizes]."""
    found = _A_SIZE if most == MOST_MEASURED else (hint(most) + 1) // 2
    return symbol(name, hint=found, lower=0, most=most)


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


def _normal(total: Mapping[Monomial, int]) -> Dim:
    terms = [(m, c) for m, c in total.items() if c]
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    return SymExpr(tuple(sorted(terms, key=_term_key) if len(terms) > 1 else terms))


def _function(name: str, left: Dim, right: Dim) -> Dim:
    if weight(left) + weight(right) > _MOST_FACTORS:
        raise CaptureError(
            "a size that is computed in so many steps cannot be captured: its formula is too long"
        )
    return SymExpr((((SymFunc(name, left, right),), 1),))


def _exact_quotient(left: Dim, right: Dim) -> Dim | None:
    """``left / right`` if ``right`` is one term that divides every term of ``left``."""
    divisor = terms_of(right)
    if len(divisor) != 1:
        return None
    (factors, scale) = divisor[0]
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms_of(left):
        rest = list(monomial)
        for factor in factors:
            if factor not in rest:
                return None
            rest.remove(factor)
        if coefficient % scale:
            return None
        total[tuple(rest)] = coefficient // scale
    return _normal(total)


def _whole_part(left: Dim, right: SymExpr) -> tuple[Dim, Dim]:
    """A quotient and the rest of polynomials; the first term of ``right`` leads."""
    lead, scale = terms_of(right)[0]
    leading = _normal({lead: scale})
    quotient: Dim = 0
    for _ in range(len(terms_of(left))):
        for monomial, coefficient in terms_of(left):
            found = _exact_quotient(_normal({monomial: coefficient}), leading)
            if found is not None:
                quotient, left = quotient + found, left - found * right
                break
        else:
            break
    return quotient, left


def _constant(dim: Dim) -> int:
    """The term without a symbol."""
    return next((factor for monomial, factor in terms_of(dim) if not monomial), 0)


def floordiv(left: Dim, right: Dim) -> Dim:
    """``left // right`` as Python's, folded where the quotient is exact but for a number."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    if right == 1:
        return left
    exact = _exact_quotient(left, right)
    if exact is not None:
        return exact
    rest = _constant(left)
    if rest and isinstance(right, int):
        exact = _exact_quotient(left - rest, right)
        if exact is not None:
            return exact + rest // right
    if isinstance(left, int) and decide(right, ">", left if left >= 0 else ~left):
        return 0 if left >= 0 else -1
    if isinstance(right, SymExpr) and len(right.terms) > 1:
        quotient, small = _whole_part(left, right)
        if isinstance(small, int) and decide(right, ">", small if small >= 0 else ~small):
            return quotient + (0 if small >= 0 else -1)
    match terms_of(left):
        case (((SymFunc("floordiv", inner, divisor),), 1),) if decide(right, ">", 0):
            return floordiv(inner, divisor * right)  # (a // b) // c
        case _:
            return _function("floordiv", left, right)


def mod(left: Dim, right: Dim) -> Dim:
    """``left % right`` as Python's."""
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    if right == 1 or _exact_quotient(left, right) is not None:
        return 0
    rest = _constant(left)
    if rest and isinstance(right, int) and _exact_quotient(left - rest, right) is not None:
        return rest % right
    if isinstance(left, int) and decide(right, ">", left if left >= 0 else ~left):
        return left if left >= 0 else right + left
    return _function("mod", left, right)


def _extreme(name: str, left: Dim, right: Dim, keep_left: str, keep_right: str) -> Dim:
    if decide(left, keep_left, right):
        return left
    if decide(left, keep_right, right):
        return right
    if name == "min":
        for more, rest in ((left, right), (right, left)):
            found = _of_rest(more, rest)
            if found is not None:
                return found
    if str(right) < str(left):
        left, right = right, left
    return _function(name, left, right)


def _of_rest(more: Dim, rest: Dim) -> Dim | None:
    """``min(more, rest)`` of naturals, where ``rest`` is ``n - min(first, n)``: what is taken from
    the rest of n is what both take from n but for the first.
    """
    for monomial, factor in terms_of(rest):
        match monomial:
            case (SymFunc("min", left, right) as taken,) if factor == -1:
                whole = rest + _as_dim(taken)
                first = left if whole == right else right if whole == left else None
                if first is not None and decide(more, ">=", 0):
                    return minimum(first + more, whole) - _as_dim(taken)
            case _:
                pass
    return None


def minimum(left: Dim, right: Dim) -> Dim:
    """The smaller of two dims."""
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return _extreme("min", left, right, "<=", ">=")


def maximum(left: Dim, right: Dim) -> Dim:
    """The larger of two dims."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return _extreme("max", left, right, ">=", "<=")


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    """The product of dims; 1 for none."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


_FOLD = {"floordiv": floordiv, "mod": mod, "min": minimum, "max": maximum}


def apply_function(name: str, left: Dim, right: Dim) -> Dim:
    """The function ``floordiv``, ``mod``, ``min`` or ``max``, by its name in the text form."""
    return _FOLD[name](left, right)


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


def are_heavy(*dims: Dim) -> bool:
    """Whether an expression of these is more than it is worth to reason about.

    An expression is taken apart wherever it is looked at. Where each step of a program takes a
    number twice (``n += n * (n % 7)``), it doubles with each. The graph computes such ints.
    """
    return math.prod(len(terms_of(dim)) for dim in dims) * sum(map(weight, dims)) > _HEAVY


def _atom_weight(atom: Atom) -> int:
    match atom:
        case SymFunc(_, left, right):
            return 1 + weight(left) + weight(right)
        case Computed(_, over):
            return 1 + sum(map(weight, over))
        case _:
            return 1


def with_atoms(dim: Dim, of: Callable[[Atom], Dim | None]) -> Dim:
    """``dim`` with each factor replaced by a dim; by itself where ``of`` has none."""
    if isinstance(dim, int):
        return dim
    total: dict[Monomial, int] = {}
    for monomial, coefficient in dim.terms:
        found = [of(atom) for atom in monomial]
        kept = tuple(atom for atom, new in zip(monomial, found, strict=True) if new is None)
        term: Dim = SymExpr(((kept, coefficient),)) if kept else coefficient
        for new in found:
            if new is not None:
                term = term * new
        for each, factor in terms_of(term):
            total[each] = total.get(each, 0) + factor
    return _normal(total)


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """``dim`` with symbols replaced by name; symbols that ``values`` lacks stay."""

    def of(atom: Atom) -> Dim | None:
        if isinstance(atom, Symbol):
            return values.get(atom.name)
        if isinstance(atom, Computed):
            return computed(atom.name, tuple(with_atoms(each, of) for each in atom.over))
        return apply_function(atom.name, with_atoms(atom.left, of), with_atoms(atom.right, of))

    return with_atoms(dim, of)


def rename_computed(dim: Dim, names: Mapping[str, str | int]) -> Dim:
    """``dim`` with computed integers called otherwise, or replaced by what they are known to be."""

    def of(atom: Atom) -> Dim | None:
        match atom:
            case Computed(name, over):
                found = names.get(name, name)
                return found if isinstance(found, int) else computed(found, over)
            case SymFunc(name, left, right):
                return apply_function(name, with_atoms(left, of), with_atoms(right, of))
            case _:
                return None

    return with_atoms(dim, of)


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The number ``dim`` stands for; ``values`` names every symbol in it."""
    result = substitute(dim, values)
    if not isinstance(result, int):
        raise InternalError(f"{dim} is not known from {dict(values)}")
    return result


def hint(dim: Dim) -> int:
    """The value ``dim`` had in the call being captured."""
    return dim if isinstance(dim, int) else dim.hint


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


def _least(dim: Dim) -> int | None:
    return dim if isinstance(dim, int) else dim.least


def _function_bound(atom: SymFunc | Computed) -> int | None:
    if isinstance(atom, Computed):
        return None
    left, right = _least(atom.left), _least(atom.right)
    if atom.name == "max":
        return max((low for low in (left, right) if low is not None), default=None)
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
                    return _as_dim(other)
    return None


def _without_floor(monomial: Monomial, factor: int) -> Dim | None:
    """A dim that ``factor`` times the monomial never exceeds, with the quotient of naturals in it
    taken as if it were exact; None if there is no such quotient.
    """
    for place, atom in enumerate(monomial):
        if isinstance(atom, SymFunc) and atom.name == "floordiv" and _is_natural(atom.left):
            rest = monomial[:place] + monomial[place + 1 :]
            least = _lower_bound(atom.right)
            if least is None or least < 1 or not all(map(_is_natural, map(_as_dim, rest))):
                return None
            whole, more = divmod(factor, atom.right) if type(atom.right) is int else (0, factor)
            return (whole + more) * atom.left * product(list(map(_as_dim, rest)))
    return None


def _as_dim(atom: Atom) -> Dim:
    return SymExpr((((atom,), 1),))


def decide(left: Dim, relation: str, right: Dim) -> bool | None:
    """Whether ``left relation right`` holds for all values, or None if that is not known."""
    difference = left - right
    if isinstance(difference, int):
        return compare(difference, relation, 0)
    low, high = _least(difference), _least(-difference)
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
