"""Loops of the user's program whose iterations wait for each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from fxc.ir.size_functions import substitute
from fxc.ir.symbols import computed_in, symbol

from ..machine.costs import Costs
from ..nests.buffers import Atom
from ..nests.program import Program
from ..nests.statements import Compute, For, If, Index, Load, Stmt, Store, atoms_read, walk
from .frame import is_scalar
from .interrupts import trips


def is_chain(stmt: For, costs: Costs, *, inside: bool) -> bool:
    """Whether each of many iterations computes a float, or an element of an array that is the least
    or the greatest of several integers, from what the one before has stored, or looks up an element
    at a place that follows from it.

    Such a loop takes the time of these operations one after the other if there is little else:
    unrolled it would be as slow, and take longer to compile. If it is ``inside`` of a scalar loop,
    one operation is not enough: its end and its next beginning overlap, the better the shorter.
    Of several choices after each other LLVM would make branches, which a processor guesses badly.
    """
    number = trips(stmt, costs)
    if number is not None and number <= costs.chain_brief:
        return False
    least = 2 if inside else 1
    for store in (s for s in stmt.body if isinstance(s, Store)):
        carried: set[Atom] = {load.name for load in _loads_behind(stmt, store)}
        computed = _computed_from(set(carried), stmt.body, store.dtype.kind)
        if store.dtype.kind == "f" or (store.index and _choices(computed, stmt.body) > 1):
            found, time = computed, len(computed)
        else:
            found = _looked_up_from(carried, stmt.body)
            looked_up = sum(isinstance(s, Load) and s.name in found for s in stmt.body)
            time = costs.chain_lookup * looked_up
        enough = time >= max(least, _work(stmt.body) / costs.chain_beside)
        if store.value in found and enough:
            return True
    return False


def handed_on(program: Program, stmt: For) -> dict[str, Store]:
    """The loads of elements that the iteration before has stored, by name, with that store: what
    it stores is as well handed on in a register. The first iteration's may come before the loop.
    """
    found: dict[str, Store] = {}
    if not is_scalar(stmt):
        return found
    stores = [s for s in walk(stmt.body) if isinstance(s, Store)]
    for store in stores:
        storage = program.buffers[store.buffer].storage
        is_only = all(s is store or program.buffers[s.buffer].storage != storage for s in stores)
        if is_only and any(s is store for s in stmt.body):
            loads = _loads_behind(stmt, store)
            found |= {
                s.name: store for s in loads if s.index != store.index and _is_certain(stmt, s)
            }
    return found


def _loads_behind(stmt: For, store: Store) -> list[Load]:
    """The loads of what the iteration before has stored."""
    if any(map(computed_in, store.index)):  # that is another place in each iteration
        return []
    before = {stmt.var: symbol(stmt.var) - 1}
    place = tuple(substitute(dim, before) for dim in store.index)
    loads = (s for s in stmt.body if isinstance(s, Load) and s.buffer == store.buffer)
    return [s for s in loads if s.index == place]


def _is_certain(stmt: For, load: Load) -> bool:
    """Whether an iteration cannot end before it gets to a load."""
    before = itertools.takewhile(lambda s: s is not load, stmt.body)
    kinds = Load | Compute | Index | Store | If
    return all(isinstance(s, kinds) and getattr(s, "ends", None) is None for s in walk((*before,)))


def _work(block: Sequence[Stmt]) -> int:
    """How many operations there are, and elements that are loaded."""
    return sum(
        bool(each.index) if isinstance(each, Load) else each.op != "item"
        for each in block
        if isinstance(each, Load | Compute)
    )


def _choices(names: set[Atom], block: Sequence[Stmt]) -> int:
    """How many of these are the less or the greater one of two numbers."""
    computed = (s for s in block if isinstance(s, Compute) and s.name in names)
    return sum(each.op in _CHOICES for each in computed)


_CHOICES = frozenset({"minimum", "maximum", "py_minimum", "py_maximum"})


def _computed_from(names: set[Atom], block: Sequence[Stmt], kind: str) -> set[Atom]:
    """The numbers of a kind that operations of a block compute from these."""
    found: set[Atom] = set()
    for stmt in block:
        match stmt:
            case Compute(name=name, args=args) if stmt.dtype.kind == kind:
                if any(arg in names or arg in found for arg in args):
                    (names if stmt.op == "item" else found).add(name)
            case _:
                pass
    return found


def _looked_up_from(names: set[Atom], block: Sequence[Stmt]) -> set[Atom]:
    """The numbers that follow from elements whose places are computed from these."""
    found: set[Atom] = set()
    for stmt in block:
        if isinstance(stmt, Load | Compute | Index):
            read = atoms_read(stmt)
            if not found.isdisjoint(read) or (
                isinstance(stmt, Load) and not names.isdisjoint(read)
            ):
                found.add(stmt.name)
            elif not names.isdisjoint(read):
                names.add(stmt.name)
    return found
