"""Strips of rows in blocks, each of which computes once more what it reads of its neighbours' rows.

::

    for s in 0:(n + 17) // 16 ordered     for b in 0:(n + 63) // 64
      for i in 0:min(16, …)                 for s in 0:5 ordered
        t[(i + 16*s) mod 32, …] = …   →       for i in …  # 65 rows of t, from row 64*b on
      for i in …                                t[(i + 64*b + …) mod 32, …] = …
        v[…] = g(t[…], t[…])                  for i in …  # 64 rows of v
                                                v[…] = g(t[…], t[…])

Blocks have nothing to do with each other: threads may run them, each with rows of its own of what
is between the nests. What is stored for others is stored by one block alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from fxc.ir.records import frozen
from fxc.ir.size_functions import floordiv, hint, maximum, minimum
from fxc.ir.symbols import Dim, symbol, symbols_of

from ..machine.target import Target
from ..nests.accesses import Access
from ..nests.statements import Loop

ByStorage = Mapping[str, Sequence[Access]]
Halo = tuple[int, int]  # from how many rows after a block's first to how many after its last


@frozen
class Nest:
    """A nest that runs strip by strip, so many rows behind the first one, and what it meets."""

    loop: Loop
    behind: int
    accesses: ByStorage


@frozen
class Blocks:
    """So many blocks of so many rows, with the halo of each nest."""

    number: Dim
    rows: int
    halos: tuple[Halo, ...]


def row_blocks(target: Target, nests: Sequence[Nest], own: Mapping[str, int]) -> Blocks | None:
    """The blocks in which nests may run, if there are threads for them, and that is right.

    ``own`` are the temporaries that only these nests use, and along which dim their rows lie.
    """
    halos = _halos(nests, own)
    if target.threads <= 1 or halos is None:
        return None
    size: Dim = 0
    for nest, (low, _) in zip(nests, halos, strict=True):
        if _stored(nest.accesses) - own.keys():
            size = maximum(size, nest.loop.size - low)
    widest = max(high - low for low, high in halos)
    costs = target.costs
    rows = max(hint(size) // (costs.blocks_each * target.threads), costs.blocks_halo * widest, 1)
    if hint(size) < 2 * rows:
        return None
    return Blocks(floordiv(size + (rows - 1), rows), rows, halos)


def rows_behind(dim: Dim, var: str) -> int | None:
    """``dim`` less the counter of a loop, if that is a number."""
    if isinstance(dim, int) or var not in symbols_of(dim):
        return None
    rest = dim - symbol(var, hint=0)
    return rest if isinstance(rest, int) else None


def in_blocks(
    nests: Sequence[Nest], blocks: Blocks, rows: int
) -> tuple[int, list[tuple[Dim, Dim]]]:
    """How many strips of so many rows a block has, and from where to where each nest runs in one:
    in rows of the block.
    """
    block, strip = counters(nests)
    base = min(low + nest.behind for nest, (low, _) in zip(nests, blocks.halos, strict=True))
    end = max(
        blocks.rows + high + nest.behind - base
        for nest, (_, high) in zip(nests, blocks.halos, strict=True)
    )
    count = -(-end // rows)
    if count == 1:
        strip = 0
    spans: list[tuple[Dim, Dim]] = []
    for nest, (low, high) in zip(nests, blocks.halos, strict=True):
        front = strip * rows + (base - nest.behind)
        start = maximum(low, front)
        if low < 0:
            start = maximum(start, -block * blocks.rows)
        last = _rows_in_block(blocks, block, nest.loop.size, blocks.rows + high)
        spans.append((start, minimum(last, front + rows)))
    return count, spans


def _rows_in_block(blocks: Blocks, block: Dim, size: Dim, most: int) -> Dim:
    """Up to which row of a block a nest runs: so many if all blocks have them."""
    number, rows = blocks.number, blocks.rows
    if isinstance(size, int) and isinstance(number, int) and size >= (number - 1) * rows + most:
        return most
    return minimum(most, size - block * blocks.rows)


def counters(nests: Sequence[Nest]) -> tuple[Dim, Dim]:
    """The counters of blocks and of strips."""
    name = nests[0].loop.var
    return symbol(f"{name}b", hint=0, lower=0), symbol(f"{name}s", hint=0, lower=0)


def _stored(accesses: ByStorage) -> set[str]:
    return {name for name, found in accesses.items() if any(each.written for each in found)}


def _halos(nests: Sequence[Nest], own: Mapping[str, int]) -> tuple[Halo, ...] | None:
    """Which rows each nest has to run over so that a block finds all it reads; None if one would
    then store what is not its own.
    """
    exact = _exact(nests, own.keys())
    if exact is None:
        return None
    found = {place: (shift, shift) for place, shift in exact.items()}
    for place in reversed(range(len(nests))):
        nest = nests[place]
        low, high = found.setdefault(place, (0, 0))
        if place in exact and low != high:
            return None
        for name in own.keys() & nest.accesses.keys():
            ahead = [_row(a, own[name], nest) for a in nest.accesses[name] if not a.written]
            for before in range(place):
                for a in nests[before].accesses.get(name, ()):
                    if a.written and ahead:
                        row = _row(a, own[name], nests[before])
                        halo = (low + min(ahead) - row, high + max(ahead) - row)
                        old = found.get(before, halo)
                        found[before] = (min(old[0], halo[0]), max(old[1], halo[1]))
    return tuple(found[place] for place in range(len(nests)))


def _row(access: Access, dim: int, nest: Nest) -> int:
    row = rows_behind((access.index or ())[dim], nest.loop.var)
    assert row is not None  # or there would be no rows
    return row


def _exact(nests: Sequence[Nest], own: Set[str]) -> dict[int, int] | None:
    """The nests that meet what is stored for others, and how many rows after those of a block each
    begins and ends, so that it meets rows of the block alone. None if there is no such number.
    """
    shared = sorted(set().union(*(_stored(nest.accesses) for nest in nests)) - own)
    links: list[dict[int, int]] = []
    for name in shared:
        rows = _rows_of(nests, name)
        if rows is None:
            return None
        links.append(rows)
    found: dict[int, int] = {}
    for place in sorted({place for link in links for place in link}):
        shifts = {} if place in found else _shifts(links, place)
        if shifts is None:
            return None
        found |= {each: shift - max(shifts.values()) for each, shift in shifts.items()}
    return found


def _shifts(links: Sequence[Mapping[int, int]], place: int) -> dict[int, int] | None:
    """How many rows after a nest's each of those must begin that meet what it meets."""
    found, todo = {place: 0}, [place]
    while todo:
        here = todo.pop()
        for link in links:
            for other, row in link.items() if here in link else ():
                shift = found[here] + link[here] - row
                if other not in found:
                    found[other] = shift
                    todo.append(other)
                elif found[other] != shift:
                    return None
    return found


def _rows_of(nests: Sequence[Nest], name: str) -> dict[int, int] | None:
    """Which row of a storage each nest meets, less its counter; None if one meets others, too."""
    met = [(k, a) for k, nest in enumerate(nests) for a in nest.accesses.get(name, ())]
    if len({a.buffer for _, a in met}) > 1 or any(a.index is None for _, a in met):
        return None
    for places in zip(*(a.index or () for _, a in met), strict=True):
        rows = {
            (k, rows_behind(at, nests[k].loop.var)) for (k, _), at in zip(met, places, strict=True)
        }
        if len(rows) == len({k for k, _ in rows}) and all(row is not None for _, row in rows):
            return {k: row for k, row in rows if row is not None}
    return None
