"""Loops of the user's program whose iterations wait for each other."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.symbols import substitute, symbol

from ..loops import Compute, For, Load, Stmt, Store
from .interrupts import trips

_BESIDE = 6  # what is done besides in the time of an operation that waits
_BRIEF = 128  # iterations: code for each of them leaves no loop, and the loop around gains


def is_chain(stmt: For, *, inside: bool) -> bool:
    """Whether each of many iterations computes a float from what the one before has stored.

    Such a loop takes the time of these operations one after the other if there is little else:
    unrolled it would be as slow, and take longer to compile. If it is ``inside`` of a scalar loop,
    one operation is not enough: its end and its next beginning overlap, the better the shorter.
    """
    number = trips(stmt)
    if number is not None and number <= _BRIEF:
        return False
    least = 2 if inside else 1
    floats = [s for s in stmt.body if isinstance(s, Load | Store) and s.dtype.kind == "f"]
    before = {stmt.var: symbol(stmt.var) - 1}
    for store in (s for s in floats if isinstance(s, Store)):
        place = tuple(substitute(dim, before) for dim in store.index)
        loads = (s for s in floats if isinstance(s, Load) and s.buffer == store.buffer)
        found = _computed_from({s.name for s in loads if s.index == place}, stmt.body)
        enough = len(found) >= max(least, _work(stmt.body) / _BESIDE)
        if store.value in found and enough:
            return True
    return False


def _work(block: Sequence[Stmt]) -> int:
    """How many operations there are, and elements that are loaded."""
    return sum(
        bool(each.index) if isinstance(each, Load) else each.op != "item"
        for each in block
        if isinstance(each, Load | Compute)
    )


def _computed_from(names: set[str], block: Sequence[Stmt]) -> set[str]:
    """The floats that operations of a block compute from these."""
    found: set[str] = set()
    for stmt in block:
        match stmt:
            case Compute(name=name, args=args) if stmt.dtype.kind == "f":
                if any(arg in names or arg in found for arg in args):
                    (names if stmt.op == "item" else found).add(name)
            case _:
                pass
    return found
