"""Temporaries of a few rows that strips of rows go round and round in."""

from __future__ import annotations

from collections.abc import Callable

from fxc.ir.bounds import decide
from fxc.ir.records import replace
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Dim, SymExpr, SymFunc, computed_in, symbol, symbols_of

from .addressing import step_of
from .alternatives import alternatives, if_any
from .buffers import Buffer, Idx
from .statements import Load, Loop, Stmt, Store, blocks_of, walk, with_blocks

# Note [Rings]
# ::
#
#     for i0b in …
#       for i0s in … ordered
#         for i0 in …: t[mod(e, 4), …] = …     # the row e of as many as there would be
#         for i1 in …: … = f(t[mod(e - 1, 4), …])
#
# Each iteration of i0b has a ring of its own if it never reads a row that it has not stored: see
# Note [Parallel loops]. Of each nest is known from which row to which it goes in a strip, as the
# largest of some numbers and the least of some others. The first nest stores whole rows, and goes
# on in each strip where it has stopped, so it has stored all rows from its first one in the first
# strip on. The rows of each other nest are among those, and less than a ring behind the last.

Fills = Callable[[Stmt, Buffer], bool]


class _Rows:
    """The rows that an access meets in a strip: not below any of ``lows``, below all ``highs``."""

    def __init__(self, row: Dim, nest: Loop) -> None:
        last = substitute(row, {nest.var: if_any(nest.size) - 1})
        self.lows = alternatives(substitute(row, {nest.var: 0}), "max")
        self.highs = alternatives(last + 1, "min")


def is_ring(loop: Loop, buffer: Buffer, fills: Fills) -> bool:
    """Whether each iteration of a loop reads only rows of a buffer that it has stored itself.

    ``fills`` tells of a statement whether it stores all elements before it reads any.
    """
    if len(loop.body) != 1 or not isinstance(strips := loop.body[0], Loop):
        return False
    nests = [nest for nest in strips.body if _places(nest, buffer)]
    if strips.descending or strips.behind or not strips.ordered or not nests:
        return False
    axis = next((d for d, at in enumerate(_places(nests[0], buffer)[0]) if _is_round(at)), None)
    if axis is None or not _stores_rows(nests[0], buffer, axis, fills):
        return False
    met: list[_Rows] = []
    for nest in nests:
        rows = {_row(place[axis], nest, buffer.shape[axis]) for place in _places(nest, buffer)}
        if not isinstance(nest, Loop) or None in rows or (not met and len(rows) > 1):
            return False
        met += [_Rows(row, nest) for row in rows if row is not None]
    return _goes_on(met[0], strips.var) and all(
        _is_kept(met[0], each, strips.var, buffer.shape[axis]) for each in met
    )


def _places(stmt: Stmt, buffer: Buffer) -> list[Idx]:
    found = walk((stmt,))
    return [s.index for s in found if isinstance(s, Load | Store) and s.buffer == buffer.name]


def _is_round(at: Dim) -> bool:
    match at:
        case SymExpr(terms=((((SymFunc(name="mod"),), 1)),)):
            return True
        case _:
            return False


def _row(at: Dim, nest: Stmt, size: Dim) -> Dim | None:
    """The row of which ``at`` is the rest, if it moves on with the nest and nothing inside."""
    match at:
        case SymExpr(terms=((((SymFunc("mod", row, rows),), 1)),)) if rows == size:
            inside = {s.var for s in walk((nest,)) if isinstance(s, Loop) and s is not nest}
            known = isinstance(row, SymExpr) and not computed_in(row)
            if isinstance(nest, Loop) and known and inside.isdisjoint(symbols_of(row)):
                return row if step_of(row, nest.var) == 1 else None
    return None


def _stores_rows(nest: Stmt, buffer: Buffer, axis: int, fills: Fills) -> bool:
    """Whether an iteration of a nest first stores a whole row."""
    if not isinstance(nest, Loop):
        return False
    first = next(stmt for stmt in nest.body if _places(stmt, buffer))
    return fills(_in_row(first, buffer, axis), _one_row(buffer, axis))


def _one_row(buffer: Buffer, axis: int) -> Buffer:
    shape, strides = list(buffer.shape), list(buffer.strides)
    del shape[axis], strides[axis]
    return Buffer(
        buffer.name, buffer.dtype, tuple(shape), tuple(strides), buffer.role, buffer.storage
    )


def _in_row(stmt: Stmt, buffer: Buffer, axis: int) -> Stmt:
    if isinstance(stmt, Load | Store):
        if stmt.buffer != buffer.name:
            return stmt
        return replace(stmt, index=(*stmt.index[:axis], *stmt.index[axis + 1 :]))
    blocks = tuple(tuple(_in_row(s, buffer, axis) for s in block) for block in blocks_of(stmt))
    return with_blocks(stmt, blocks)


def _goes_on(rows: _Rows, strip: str) -> bool:
    """Whether all rows from the first one on have been stored up to where a strip ends."""
    following = {strip: symbol(strip, hint=0, lower=0) + 1}
    lows = [each for each in rows.lows if strip in symbols_of(each)]
    highs = [each for each in rows.highs if strip in symbols_of(each)]
    return all(_at_most(high, substitute(high, following)) for high in highs) and all(
        _at_most(substitute(low, following), high) for low in lows for high in highs
    )


def _is_kept(stored: _Rows, met: _Rows, strip: str, size: Dim) -> bool:
    """Whether all rows that are met have been stored, and none of them was overwritten."""
    starts = [substitute(low, {strip: 0}) for low in stored.lows]
    begun = all(any(_at_most(start, low) for low in met.lows) for start in starts)
    ended = all(any(_at_most(end, high) for end in met.highs) for high in stored.highs)
    held = any(_at_most(high - low, size) for high in stored.highs for low in met.lows)
    return begun and ended and held


def _at_most(left: Dim, right: Dim) -> bool:
    return decide(left, "<=", right) is True
