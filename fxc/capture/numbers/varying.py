"""Ints that differ between the iterations of the loops that are being captured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

from fxc.ir.bounds import decide
from fxc.ir.later import import_later
from fxc.ir.size_functions import apply_function, hint, substitute
from fxc.ir.size_guards import Guard, guard
from fxc.ir.symbols import Dim, Symbol, SymExpr, SymFunc, symbol, symbols_of

from ..guards.words import as_place
from ..session.session import Session, current

# See Note [Rooms with one door].
is_monotonic = import_later("fxc.ir.monotonic", "is_monotonic")


def decide_in_loops(left: Dim, relation: str, right: Dim) -> bool | None:
    """Whether a relation holds in each iteration of the loops around that comes here, or in none:
    the counter is between its bounds, and what the tests of the branches around say holds.
    """
    found = decide(left, relation, right)
    difference, session = left - right, current()
    counters = [each for each in symbols_of(difference) if each in session.counters]
    if found is not None or relation in ("==", "!=") or len(counters) != 1:
        return found
    (counter,) = counters
    if not is_monotonic(difference, counter):
        return None
    each = symbols_of(difference)[counter]
    step = substitute(difference, {counter: SymExpr((((each,), 1),)) + 1}) - difference
    ways = [decide(step, way, 0) is True for way in (">=", "<=")]  # does it rise, or fall
    for low, high in product(*_bounds_here(session, each)):
        ends = [substitute(difference, {counter: end}) for end in (low, high - 1)]
        for answer in (True, False):
            said = [decide(end, relation, 0) is answer for end in ends]
            # Which way what holds in the first iteration holds in all, and else in the last.
            one, other = ways if (relation[0] == ">") is answer else ways[::-1]
            if all(said) or (said[0] and one) or (said[1] and other):
                return answer
    return None


def holds_here(guard: Guard) -> bool:
    """Whether a relation holds in each iteration that comes here: see ``decide_in_loops``."""
    asked = ("<", ">") if guard.relation == "!=" else (guard.relation,)
    return any(decide_in_loops(guard.left, each, guard.right) is True for each in asked)


def _bounds_here(session: Session, counter: Symbol) -> tuple[list[Dim], list[Dim]]:
    """What a counter is not below, and what it is below, at this place of the program."""
    given = session.counters[counter.name]
    lows, highs = ([] if bound is None else [bound] for bound in given)
    for each in _said_here(session):
        difference, relation = each.normal
        for sign in (1, -1):
            bound = SymExpr((((counter,), 1),)) - sign * difference  # which it is then compared to
            if relation == "!=" or session.varies(bound):
                continue
            if relation == "==" or sign > 0:
                highs.append(bound if relation == "<" else bound + 1)
            if relation == "==" or sign < 0:
                lows.append(bound + 1 if relation == "<" else bound)
    return lows, highs


def _said_here(session: Session) -> Iterator[Guard]:
    """What the tests of the branches around say of the counters of loops."""
    for each in session.statements:
        if (arm := each.arm) is not None:
            yield from session.said_by(*arm)


def place_in_bounds(session: Session, index: Dim, size: Dim) -> Dim | None:
    """The index, counted from the front, if it is in bounds in every iteration: by guards on what
    does not change in the loops. None if that cannot be said.
    """
    for found in (index, index + size):
        least = _extreme(session, found, -1)
        most = _extreme(session, found - size, 1)
        if least is None or most is None or hint(least) < 0 or hint(most) >= 0:
            continue
        if guard(least, ">=", 0) and guard(most, "<", 0):
            return found
    return None


def was_another(place: Dim | None) -> bool:
    """Whether an int was another one, as a place that had to be known, in a call before."""
    varying = current().door.outside.varying
    return any(as_place(name) in varying for name in symbols_of(place or 0))


def in_bounds_from_either_end(session: Session, index: Dim, size: Dim) -> bool:
    """Whether an index is in bounds in every iteration, in some from the back: by guards."""
    least, most = _extreme(session, index + size, -1), _extreme(session, index - size, 1)
    if least is None or most is None or hint(least) < 0 or hint(most) >= 0:
        return False
    return guard(least, ">=", 0) and guard(most, "<", 0)


def stays_within(session: Session, dim: Dim, low: int, high: int) -> bool:
    """Whether a dim is from ``low`` to ``high`` in every iteration, by what the sizes are now."""
    least, most = _extreme(session, dim, -1), _extreme(session, dim, 1)
    return None not in (least, most) and hint(least) >= low and hint(most) <= high  # type: ignore[arg-type]


def may_leave(session: Session, bound: Dim, size: Dim) -> bool:
    """Whether a bound of a slice is beyond the axis in some iteration of the loops, or counts from
    the front in one and from the back in another: by what the sizes are now.
    """
    for found in (bound, bound + size):
        least, most = _extreme(session, found, -1), _extreme(session, found - size, 1)
        if least is None or most is None:
            return False  # that is for guards to say
        if hint(least) >= 0 and hint(most) <= 0:
            return False
    return True


def _extreme(session: Session, dim: Dim, sign: int) -> Dim | None:
    """The largest number (the least, if ``sign`` is -1) that ``dim`` has in any iteration.

    A counter that ``dim`` moves with is replaced by its first or its last number, those of inner
    loops first, whose bounds may depend on the outer counters.
    """
    bound = _without_functions(session, dim, sign)
    for name in reversed(tuple(session.counters)):
        if bound is None or name not in symbols_of(bound):
            continue
        low, high = session.counters[name]
        if low is None or high is None:
            return None
        counter = symbol(name, lower=low if isinstance(low, int) else None)
        step = substitute(bound, {name: counter + 1}) - substitute(bound, {name: counter})
        rises, falls = decide(step, ">=", 0), decide(step, "<=", 0)
        if not rises and not falls:
            return None
        end = high - 1 if bool(rises) == (sign > 0) else low
        bound = _without_functions(session, substitute(bound, {name: end}), sign)
    return bound


def _without_functions(session: Session, dim: Dim, sign: int) -> Dim | None:
    """A bound of ``dim`` in which no counter stands inside of a function."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, factor in dim.terms:
        hidden = [atom for atom in monomial if isinstance(atom, SymFunc) and _varies(session, atom)]
        if not hidden:
            total = total + SymExpr(((monomial, factor),)) if monomial else total + factor
            continue
        if len(monomial) != 1:
            return None
        bound = _function_bound(session, hidden[0], sign if factor > 0 else -sign)
        if bound is None:
            return None
        total = total + factor * bound
    return total


def _varies(session: Session, atom: SymFunc) -> bool:
    return session.varies(atom.left) or session.varies(atom.right)


def _function_bound(session: Session, atom: SymFunc, sign: int) -> Dim | None:
    """A bound that ``decide`` knows, too."""
    right = atom.right
    if atom.name in ("min", "max"):
        sides = [_extreme(session, side, sign) for side in (atom.left, right)]
        if None in sides:
            return None
        return apply_function(atom.name, *sides)  # type: ignore[arg-type]
    if atom.name != "mod" or session.varies(right) or not decide(right, ">", 0):
        return None
    return right - 1 if sign > 0 else 0


# ------------------------------------------------------------------ whether 64 bits hold a dim


_MOST = 2**63 - 1
MANY = 2**16  # iterations
MEMORY = 2**56  # more than elements in any axis, or iterations of any loop that ends


def guard_range(dim: Dim, low: int, high: int) -> bool:
    return guard(dim, ">=", low) and guard(dim, "<=", high)


def guard_magnitude(
    dim: Dim, limit: int, within: Callable[[Dim, int, int], bool] = guard_range
) -> bool:
    """Whether no part of ``dim`` exceeds ``limit``, by guards, or by what ``within`` says."""
    if isinstance(dim, int):
        return abs(dim) <= limit
    degree = max(len(monomial) for monomial, _ in dim.terms)
    total = sum(abs(coefficient) for _, coefficient in dim.terms)
    if degree == 1 and total == 1 and isinstance(dim.terms[0][0][0], Symbol):
        return limit >= _MOST or within(dim, -limit, limit)
    bound = int((limit / total) ** (1 / degree))
    while bound**degree * total > limit:  # for floats round
        bound -= 1
    for monomial, _ in dim.terms:
        for atom in monomial:
            if isinstance(atom, SymFunc):
                parts: tuple[Dim, ...] = (atom.left, atom.right)
            else:
                parts = (SymExpr((((atom,), 1),)),)
            if not all(guard_magnitude(part, bound, within) for part in parts):
                return False
    return True


def fits(dim: Dim) -> bool:
    """Whether 64 bits hold each part of a dim, in every iteration of the loops around."""
    return guard_magnitude(dim, _MOST, partial(_lies_within, current()))


def fits_now(dim: Dim) -> bool:
    """Whether 64 bits hold each part of a dim as it is in this call."""
    if isinstance(dim, int):
        return abs(dim) <= _MOST
    total = 0
    for monomial, factor in dim.terms:
        for atom in monomial:
            if isinstance(atom, SymFunc) and not (fits_now(atom.left) and fits_now(atom.right)):
                return False
        total += abs(hint(SymExpr(((monomial, factor),))) if monomial else factor)
    return total <= _MOST


def _lies_within(session: Session, part: SymExpr, low: int, high: int) -> bool:
    """Whether a symbol is from ``low`` to ``high``: for what it stands for, or by guards."""
    (name,) = symbols_of(part)
    if low <= -MEMORY and high >= MEMORY:
        first, _ = session.counters.get(name, (None, None))
        if session.is_size(name) or (isinstance(first, int) and abs(first) < MEMORY // 2):
            return True
    if session.varies(part) and not (high >= MANY and stays_within(session, part, low, high)):
        return False  # in some iteration, or it would with a few more of them
    return guard_range(part, low, high)
