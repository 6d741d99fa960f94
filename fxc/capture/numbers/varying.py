"""Ints that differ between the iterations of the loops that are being captured."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fxc.ir.bounds import decide
from fxc.ir.size_functions import apply_function, hint, substitute
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, Symbol, SymExpr, SymFunc, symbol, symbols_of

from ..guards.words import as_place
from ..session.session import Session, current


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
