"""Functions of dims in normal form, and dims with others in place of their symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .bounds import decide
from .error_kinds import TOO_LARGE
from .errors import InternalError, uncapturable
from .symbols import (
    MOST_MEASURED,
    Atom,
    Computed,
    Dim,
    Monomial,
    Symbol,
    SymExpr,
    SymFunc,
    as_dim,
    computed,
    normal,
    symbol,
    terms_of,
    weight,
)

_MOST_FACTORS = 4000  # in a function of sizes
_A_SIZE = 4  # of which nothing is known, as an example


def counted_size(name: str, most: Dim, guess: int | None = None) -> SymExpr:
    """The symbol of a size from 0 to ``most``, which may be about ``guess``. See Note [Counted
    sizes].
    """
    if guess is None:
        guess = _A_SIZE if most == MOST_MEASURED else (hint(most) + 1) // 2
    return symbol(name, hint=guess, lower=0, most=most)


def _function(name: str, left: Dim, right: Dim) -> Dim:
    if weight(left) + weight(right) > _MOST_FACTORS:
        raise uncapturable(
            TOO_LARGE,
            "a size that is computed in so many steps cannot be captured: its formula is too long",
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
    return normal(total)


def _whole_part(left: Dim, right: SymExpr) -> tuple[Dim, Dim]:
    """A quotient and the rest of polynomials; the first term of ``right`` leads."""
    lead, scale = terms_of(right)[0]
    leading = normal({lead: scale})
    quotient: Dim = 0
    for _ in range(len(terms_of(left))):
        for monomial, coefficient in terms_of(left):
            found = _exact_quotient(normal({monomial: coefficient}), leading)
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
    if isinstance(right, SymExpr):
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
                whole = rest + as_dim(taken)
                first = left if whole == right else right if whole == left else None
                if first is not None and decide(more, ">=", 0):
                    return minimum(first + more, whole) - as_dim(taken)
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


_FOLD = {"floordiv": floordiv, "mod": mod, "min": minimum, "max": maximum}


def apply_function(name: str, left: Dim, right: Dim) -> Dim:
    """The function ``floordiv``, ``mod``, ``min`` or ``max``, by its name in the text form."""
    return _FOLD[name](left, right)


def with_atoms(dim: Dim, of: Callable[[Atom], Dim | None]) -> Dim:
    """``dim`` with each factor replaced by a dim; by itself where ``of`` has none."""
    if isinstance(dim, int):
        return dim
    total: dict[Monomial, int] = {}
    for monomial, coefficient in dim.terms:
        found = [of(atom) for atom in monomial]
        if found.count(None) == len(found):
            total[monomial] = total.get(monomial, 0) + coefficient
            continue
        kept = tuple(atom for atom, new in zip(monomial, found, strict=True) if new is None)
        term: Dim = coefficient
        for new in found:
            if new is not None:
                term = new * term
        if isinstance(term, int):  # most are
            total[kept] = total.get(kept, 0) + term
            continue
        if kept:
            term = SymExpr(((kept, 1),)) * term
        for each, factor in terms_of(term):
            total[each] = total.get(each, 0) + factor
    return normal(total)


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """``dim`` with symbols replaced by name; symbols that ``values`` lacks stay."""
    if isinstance(dim, int) or values.keys().isdisjoint(dim.symbols):
        return dim

    def of(atom: Atom) -> Dim | None:
        if isinstance(atom, Symbol):
            return values.get(atom.name)
        if isinstance(atom, Computed):
            return computed(atom.name, tuple(substitute(each, values) for each in atom.over))
        return apply_function(
            atom.name, substitute(atom.left, values), substitute(atom.right, values)
        )

    return with_atoms(dim, of)


def rename_computed(dim: Dim, names: Mapping[str, str | int]) -> Dim:
    """``dim`` with computed integers called otherwise, or replaced by what they are known to be."""

    def of(atom: Atom) -> Dim | None:
        match atom:
            case Computed(name, over):
                found = names.get(name, name)
                return found if isinstance(found, int) else computed(found, over)
            case SymFunc(name, left, right):
                over = rename_computed(left, names), rename_computed(right, names)
                return apply_function(name, *over)
            case _:
                return None

    return with_atoms(dim, of)


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The number ``dim`` stands for; ``values`` names every symbol in it."""
    result = substitute(dim, values)
    if not isinstance(result, int):
        raise InternalError(f"{dim} is not known from {dict(values)}")
    return result


def hint_in_large(dim: Dim, least: int) -> int:
    """The value ``dim`` has where each symbol is ``least``, or what it was if that is more."""
    if isinstance(dim, int):
        return dim
    return evaluate(dim, {name: max(known.hint or 0, least) for name, known in dim.symbols.items()})


def hint(dim: Dim) -> int:
    """The value ``dim`` had in the call being captured."""
    if isinstance(dim, int):
        return dim
    if dim.value is None:
        values: dict[str, int] = {}
        for name, known in dim.symbols.items():
            if known.hint is None:
                raise InternalError(f"symbol {name} has no hint, and a decision depends on it")
            values[name] = known.hint
        dim.value = evaluate(dim, values)
    return dim.value
