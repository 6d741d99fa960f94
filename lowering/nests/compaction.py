"""Loops that store the places of what is chosen, one after the other: by the bits of a mask.

::

    for i in 0:64 ordered                   bits = mask[0:64]
      t2 = astype(mask[i])             →    while bits:
      t3 = add t2  [sequential]               places[t3] = trailing_zeros(bits)
      places[t3 - t2, 0] = i                  t3 += 1; bits &= bits - 1

What is written is in ``places_code``.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, symbols_of

from .addressing import byte_offset, split, step_of
from .buffers import BOOL, I64, Atom
from .program import Program
from .statements import Accumulate, Compute, Index, Load, Loop, Stmt, Store, atoms_read


@frozen
class Placed:
    """A store of a place: where that of the first one is, and how far the next one is behind it, in
    bytes; the place of the first element, and by how much it grows.
    """

    store: Store
    start: Dim
    stride: Dim
    first: Dim
    step: int


@frozen
class Compaction:
    """A loop of this kind: what is computed first, whether an element is chosen, how many were, and
    what is stored at that place.
    """

    before: tuple[Stmt, ...]
    chosen: Atom
    total: Accumulate
    placed: tuple[Placed, ...]


def compaction(program: Program, loop: Loop) -> Compaction | None:
    """What the loop stores one after the other, if it does no more than that."""
    totals = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    stores = tuple(stmt for stmt in loop.body if isinstance(stmt, Store))
    rest = tuple(stmt for stmt in loop.body if isinstance(stmt, Load | Compute | Index))
    if len(totals) != 1 or len(rest) + len(stores) + 1 != len(loop.body):
        return None
    (total,) = totals
    if (total.dtype, total.combine, total.order, total.levels) != (I64, "add", "sequential", 1):
        return None
    made = {stmt.name: stmt for stmt in rest}
    number = made.get(total.value) if isinstance(total.value, str) else None
    if not (isinstance(number, Compute) and number.op == "astype" and _is_mask(number)):
        return None
    at = [s for s in rest if total.name in atoms_read(s)]
    place = at[0] if len(at) == 1 else None
    behind = ("subtract", (total.name, number.name))
    if not isinstance(place, Compute) or (place.op, place.args) != behind:
        return None
    found = tuple(_placed(program, loop, store, place.name, made) for store in stores)
    placed = tuple(each for each in found if each is not None)
    before = tuple(stmt for stmt in rest if stmt is not place and stmt is not number)
    is_read = any(number.name in atoms_read(stmt) for stmt in before)
    if is_read or len(placed) != len(stores) or not _may_wait(program, before, stores):
        return None
    return Compaction(before, number.args[0], total, placed)


def _is_mask(stmt: Compute) -> bool:
    return stmt.arg_dtypes == (BOOL,)


def _placed(
    program: Program, loop: Loop, store: Store, place: str, made: dict[str, Load | Compute | Index]
) -> Placed | None:
    """The store, if it stores what counts evenly, at a distance from the one before."""
    value = made.get(store.value) if isinstance(store.value, str) else None
    start, multiples = split(byte_offset(program.buffers[store.buffer], store.index))
    is_next = [atom.name for atom, _ in multiples] == [place]
    if not isinstance(value, Index) or not is_next or loop.var in symbols_of(start):
        return None
    step = step_of(value.value, loop.var)
    if value.dtype != I64 or store.dtype != I64 or not isinstance(step, int):
        return None
    return Placed(store, start, multiples[0][1], value.value, step)


def _may_wait(program: Program, before: Sequence[Stmt], stores: Sequence[Store]) -> bool:
    """Whether all elements may be looked at before the first place is stored."""
    read = {program.buffers[s.buffer].storage for s in before if isinstance(s, Load)}
    return read.isdisjoint(program.buffers[s.buffer].storage for s in stores)
