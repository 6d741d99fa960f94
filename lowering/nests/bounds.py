"""How large a size gets that depends on the counters of the user's loops.

A temporary of ``x[i:]`` inside ``for i in lo:hi`` has another size in each iteration; the arena has
room for the largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from fxc.ir.bounds import decide
from fxc.ir.errors import InternalError
from fxc.ir.size_functions import floordiv, maximum, minimum
from fxc.ir.symbols import (
    MOST_MEASURED,
    Atom,
    Computed,
    Dim,
    Symbol,
    SymExpr,
    SymFunc,
    atoms,
    computed_in,
    product,
    symbol,
    symbols_of,
)

from .buffers import Atom as Scalar
from .buffers import Const
from .program import Program
from .statements import Bind, For, Index, walk

Range = tuple[Dim, Dim]  # the least and the largest value


def counter_ranges(program: Program) -> dict[str, Range]:
    """The values that each loop's counter takes, over dims without counters.

    A loop whose bounds depend on data is not among them: nothing has a size that depends on it.
    """
    return ranges_within(counter_bounds(program))


def ranges_within(counters: Mapping[str, Range]) -> dict[str, Range]:
    """The values of counters with these bounds, outer ones first."""
    ranges: dict[str, Range] = {}
    for var, (first, last) in counters.items():
        ranges[var] = bounds(first, ranges)[0], bounds(last - 1, ranges)[1]
    return ranges


def counter_bounds(program: Program) -> dict[str, Range]:
    """The bounds of each loop, outer ones first; they may depend on the counters around it. Those
    of a counted size are as of a counter.

    A loop whose bounds depend on data is not among them, nor is a measured size.
    """
    known: dict[Scalar, Dim] = {param.name: symbol(param.name) for param in program.params}
    found: dict[str, Range] = {}
    for stmt in walk(program.body):
        match stmt:
            case Index(name, _, value):
                known[name] = value
            case For(var, lo, hi):
                first, last = _bound(lo, known), _bound(hi, known)
                if first is not None and last is not None:
                    found[var] = first, last
            case Bind(name, _, most) if most != MOST_MEASURED:
                found[name] = 0, most + 1
            case _:
                pass
    return found


def _bound(atom: Scalar, known: Mapping[Scalar, Dim]) -> Dim | None:
    return int(atom.value) if isinstance(atom, Const) else known.get(atom)


def measured_sizes(program: Program) -> frozenset[str]:
    """The sizes that only the running program knows. See Note [Measured sizes]."""
    binds = (stmt for stmt in walk(program.body) if isinstance(stmt, Bind))
    return frozenset(stmt.name for stmt in binds if stmt.most == MOST_MEASURED)


def room_of(shape: Sequence[Dim], ranges: Mapping[str, Range]) -> tuple[Dim, ...]:
    """The largest size of each axis."""
    return tuple(bounds(dim, ranges)[1] for dim in shape)


def most_elements(shape: Sequence[Dim], ranges: Mapping[str, Range]) -> Dim:
    """A number that the elements of an array of this shape do not exceed."""
    functions = (atom for dim in shape for atom in atoms(dim) if isinstance(atom, SymFunc))
    if all(function.name != "floordiv" for function in functions):
        return product(room_of(shape, ranges))
    return bounds(_without_quotients(product(list(shape))), ranges)[1]


def _without_quotients(dim: Dim) -> Dim:
    """A dim that is no less, in which no ``floordiv(a, b)`` is multiplied by ``b``."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, factor in dim.terms:
        term = None if factor < 0 else _without_quotient(monomial)
        if term is None:
            total = total + (SymExpr(((monomial, factor),)) if monomial else factor)
        else:
            total = total + _without_quotients(factor * term)
    return total


def _without_quotient(monomial: tuple[Atom, ...]) -> Dim | None:
    for place, atom in enumerate(monomial):
        if not isinstance(atom, SymFunc) or atom.name != "floordiv" or isinstance(atom.right, int):
            continue
        if len(atom.right.terms) > 1:
            continue
        ((divisor, by),) = atom.right.terms
        rest = list(monomial[:place] + monomial[place + 1 :])
        if all(divisor.count(each) <= rest.count(each) for each in divisor):
            for each in divisor:
                rest.remove(each)
            others: list[Dim] = [SymExpr((((each,), 1),)) for each in rest]
            return floordiv(atom.left, by) * product(others)
    return None


def bounds(dim: Dim, ranges: Mapping[str, Range]) -> Range:
    """The least and the largest value of a dim.

    >>> i, n = symbol("i"), symbol("n", lower=1)
    >>> bounds(i * minimum(i, -3), {"i": (-4, 1)})
    (-4, 16)
    >>> print(*bounds(i * n - i, {"i": (0, n - 1)}))
    -n + 1 n*n - n
    """
    if isinstance(dim, int):
        return dim, dim
    low: Dim = 0
    high: Dim = 0
    for monomial, coefficient in dim.terms:
        least: Dim = 1
        most: Dim = 1
        for atom in monomial:
            least, most = _times((least, most), _bounds_of_atom(atom, ranges))
        if coefficient < 0:
            least, most = most, least
        low, high = low + least * coefficient, high + most * coefficient
    return low, high


def _times(left: Range, right: Range) -> Range:
    """The least and the largest product of two numbers between these bounds."""
    if all(decide(low, ">=", 0) for low, _ in (left, right)):
        return left[0] * right[0], left[1] * right[1]
    products = [x * y for x in left for y in right]
    return reduce(minimum, products), reduce(maximum, products)


def is_within(index: Sequence[Dim], shape: Sequence[Dim], ranges: Mapping[str, Range]) -> bool:
    """Whether an index is in bounds for all values of counters, whatever else is known."""
    for dim, size in zip(index, shape, strict=True):
        if computed_in(size) or computed_in(dim):
            return False
        if _is_remainder(dim, size) and decide(size, ">", 0):
            continue
        if not symbols_of(dim).keys() <= ranges.keys():
            return False
        low, high = bounds(dim, ranges)
        if not (decide(low, ">=", 0) and decide(high - size, "<", 0)):
            return False
    return True


def _is_remainder(dim: Dim, size: Dim) -> bool:
    """Whether a dim is a number modulo a size."""
    match dim:
        case SymExpr(terms=(((SymFunc("mod", _, right),), 1),)):
            return right == size
        case _:
            return False


def trips(between: Range, ranges: Mapping[str, Range]) -> Dim:
    """How many iterations there are from a first number up to a last one, which is none of them;
    never less than none.
    """
    count = between[1] - between[0]
    return count if decide(bounds(count, ranges)[0], ">=", 0) else maximum(count, 0)


def _bounds_of_atom(atom: Atom, ranges: Mapping[str, Range]) -> Range:
    if isinstance(atom, Computed):
        raise InternalError(f"a size depends on {atom.name}, which is computed")
    if isinstance(atom, Symbol):
        itself = SymExpr((((atom,), 1),))
        return ranges.get(atom.name, (itself, itself))
    left, right = bounds(atom.left, ranges), bounds(atom.right, ranges)
    match atom.name:
        case "min":
            return minimum(left[0], right[0]), minimum(left[1], right[1])
        case "max":
            return maximum(left[0], right[0]), maximum(left[1], right[1])
        case "floordiv" if right[0] == right[1]:
            return left[0] // right[0], left[1] // right[0]
        case "mod" if right[0] == right[1]:
            return 0, right[0] - 1
        case "floordiv" | "mod" if decide(atom.left, ">=", 0) and decide(atom.right, ">=", 0):
            return 0, left[1]
        case "floordiv" if decide(right[0], ">", 0):
            return minimum(left[0], 0), maximum(left[1], 0)
        case "floordiv":
            most = maximum(-left[0], left[1])
            return -most, most
        case "mod":
            return minimum(right[0] + 1, 0), maximum(right[1] - 1, 0)
        case _:
            raise InternalError(f"no bounds are known for {atom.name}")
