"""Accesses in lanes whose elements stand a few apart: which statements of a block meet the others.

::

    for j in 0:n lanes 8                    x[2*j] to x[2*j + 15] are loaded, and picked from
      t1 = maximum(x[2*j], x[2*j + 1])  →
      y[3*j] = t1; y[3*j + 1] = …           stored together, in the order of memory
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.symbols import Dim

from .accesses import elements_apart
from .addressing import byte_offset
from .program import Program
from .statements import Accumulate, Compute, Index, Load, Stmt, Store


def loaded_together(
    program: Program, block: Sequence[Stmt], load: Load, var: str
) -> tuple[int, int]:
    """From the element of ``load``, the first and the last one that loads of the block meet in the
    same iteration, if less lies between them than between two lanes.
    """
    apart = abs(elements_apart(program, load, var))
    places = sorted(
        place
        for stmt in block
        if isinstance(stmt, Load)
        and (place := _from(program, load, stmt, var)) is not None
        and abs(place) < apart
    )
    first = places[0]
    return first, max(place for place in places if place - first < apart)


def stored_together(
    program: Program, block: Sequence[Stmt], number: int, var: str
) -> tuple[Store, ...]:
    """That store of the block and following ones which fill what lies between its lanes, in the
    order of memory; () if they do not, or something between them touches what they store to.
    """
    store = block[number]
    if not isinstance(store, Store) or not (apart := abs(elements_apart(program, store, var))):
        return ()
    storage = program.buffers[store.buffer].storage
    found = {0: store}
    for stmt in block[number + 1 :]:
        if isinstance(stmt, Load | Store) and program.buffers[stmt.buffer].storage == storage:
            if isinstance(stmt, Load):
                break
            place = _from(program, store, stmt, var)
            if place is None or place in found or abs(place) >= apart:
                break
            if stmt.dtype != store.dtype:  # another field of records
                break
            found[place] = stmt
        elif not isinstance(stmt, Load | Store | Compute | Index | Accumulate):
            break
        if len(found) == apart:
            places = sorted(found)
            is_filled = places[-1] - places[0] == apart - 1
            return tuple(found[place] for place in places) if is_filled else ()
    return ()


def _from(program: Program, first: Load | Store, other: Load | Store, var: str) -> int | None:
    """How many elements the second lies behind the first, in each lane, if that is known."""
    here, there = program.buffers[first.buffer], program.buffers[other.buffer]
    if here.storage != there.storage or first.dtype.itemsize != other.dtype.itemsize:
        return None
    offset = byte_offset(there, other.index)
    distance: Dim = offset - byte_offset(here, first.index)
    if not isinstance(distance, int) or distance % first.dtype.itemsize:
        return None
    return distance // first.dtype.itemsize
