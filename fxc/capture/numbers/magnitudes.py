"""Whether 64 bits hold a dim, and each part of it: by guards, and by what a loop runs over."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, Symbol, SymExpr, SymFunc, symbols_of

from ..session.session import Session, current
from .varying import stays_within

MOST = 2**63 - 1
MANY = 2**16  # iterations
MEMORY = 2**56  # more than elements in any axis, or iterations of any loop that ends


def guard_range(dim: Dim, low: int, high: int) -> bool:
    return guard(dim, ">=", low) and guard(dim, "<=", high)


def guard_magnitude(
    dim: Dim, limit: int, within: Callable[[Dim, int, int], bool] = guard_range
) -> bool:
    """Whether no part of ``dim`` is beyond ``limit``, by guards on its symbols alone, or by what
    ``within`` says of them.
    """
    if isinstance(dim, int):
        return abs(dim) <= limit
    degree = max(len(monomial) for monomial, _ in dim.terms)
    total = sum(abs(coefficient) for _, coefficient in dim.terms)
    if degree == 1 and total == 1 and isinstance(dim.terms[0][0][0], Symbol):
        return limit >= MOST or within(dim, -limit, limit)
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
    return guard_magnitude(dim, MOST, partial(_lies_within, current()))


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
