"""What is stored both in a temporary and elsewhere is loaded from there, and kept once.

::

    for i in 0:n                          for i in 0:n
      t[i] = f(a, i)                        b[i + 1] = f(a, i)
      b[i + 1] = f(a, i)           →      for i in 0:n
    for i in 0:n                            c[i] = g(b[i + 1], b[i])
      c[i] = g(t[i], b[i])

So it is with the sweeps of a time step, ``b[1:-1] = f(a); a[1:-1] = g(b)``, of which the second
reads what the first has computed, and what stands around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxc.ir.records import replace
from fxc.ir.size_functions import hint, substitute
from fxc.ir.symbols import Dim, computed_in, symbol, symbols_of

from ..nests.accesses import Block, stored
from ..nests.addressing import byte_offset, step_of
from ..nests.buffers import Idx
from ..nests.program import Program
from ..nests.statements import (
    For,
    If,
    Load,
    Loop,
    Stmt,
    Store,
    While,
    blocks_of,
    touched,
    walk,
    with_blocks,
)


def kept_once(program: Program) -> Program:
    """Load what temporaries hold from where it is stored, too.

    Requires: nests are merged. Ensures: the same results, bit for bit; temporaries that are no
    longer read are still stored to.
    """
    return replace(program, body=_block(program, program.body))


def _block(program: Program, block: Block) -> Block:
    made = list(block)
    for place, stmt in enumerate(block):
        if isinstance(stmt, Loop):
            for pair in _twice(program, stmt, ()):
                made[place + 1 :] = _loaded_once(program, stmt, pair, made[place + 1 :])
        else:
            inner = tuple(_block(program, each) for each in blocks_of(stmt))
            made[place] = with_blocks(stmt, inner) if inner else stmt
    return tuple(made)


def _twice(program: Program, loop: Loop, around: Idx) -> Iterator[tuple[Store, Store]]:
    """The elements of temporaries that are stored elsewhere, too: another one in each iteration."""
    counters = (*around, symbol(loop.var))
    for stmt in loop.body:
        if isinstance(stmt, Loop):
            yield from _twice(program, stmt, counters)
    stores = [stmt for stmt in loop.body if isinstance(stmt, Store)]
    for first in stores:
        if program.buffers[first.buffer].role != "temp" or set(first.index) != set(counters):
            continue
        for second in stores:
            kept = program.buffers[second.buffer].role != "temp"
            kept = kept and _is_as_close(program, loop, first, second)
            if kept and (second.value, second.dtype) == (first.value, first.dtype):
                yield first, second
                break


def _is_as_close(program: Program, loop: Loop, first: Store, second: Store) -> bool:
    """Whether the second place of two moves in steps that are no longer."""
    steps = [
        step_of(byte_offset(program.buffers[each.buffer], each.index), loop.var)
        for each in (first, second)
    ]
    near, far = (None if step is None else abs(hint(step)) for step in steps)
    return near is not None and far is not None and far <= near


def _loaded_once(
    program: Program, nest: Loop, pair: tuple[Store, Store], behind: Sequence[Stmt]
) -> Sequence[Stmt]:
    """The statements behind a nest, which load the second place of the pair instead of the first,
    if that is the same.
    """
    first, second = pair
    temp, other = first.buffer, program.buffers[second.buffer].storage
    using = [stmt for stmt in walk(program.body) if temp in set().union(*touched((stmt,)))]
    loads = [stmt for stmt in walk(tuple(behind)) if isinstance(stmt, Load) and stmt.buffer == temp]
    single = [stmt for stmt in using if not isinstance(stmt, Loop | If | For | While)]
    is_own = all(
        each.name == temp or each.storage != program.buffers[temp].storage
        for each in program.buffers.values()
    )
    if not (is_own and loads and len(single) == len(loads) + 1) or temp in program.results:
        return behind
    last = max(place for place, stmt in enumerate(behind) if temp in touched((stmt,))[0])
    stores = [stmt for stmt in walk(nest.body) if isinstance(stmt, Store)]
    if sum(program.buffers[stmt.buffer].storage == other for stmt in stores) > 1:
        return behind
    if other in stored(program, behind[: last + 1]) or any(map(computed_in, second.index)):
        return behind
    if not all(_moves_as_evenly(program, load, _instead(load, first, second)) for load in loads):
        return behind
    return [_instead(stmt, first, second) for stmt in behind]


def _moves_as_evenly(program: Program, load: Load, instead: Stmt) -> bool:
    """Whether another load moves evenly with each counter that this one does: what has been one
    loop over rows with no gaps between them is none over rows with gaps.
    """
    assert isinstance(instead, Load)
    here, there = (byte_offset(program.buffers[x.buffer], x.index) for x in (load, instead))
    counters = {name for dim in load.index for name in symbols_of(dim)}
    return all(step_of(here, name) is None or step_of(there, name) is not None for name in counters)


def _instead(stmt: Stmt, first: Store, second: Store) -> Stmt:
    if isinstance(stmt, Load) and stmt.buffer == first.buffer:
        counters = map(str, first.index)
        places: dict[str, Dim] = dict(zip(counters, stmt.index, strict=True))
        there = tuple(substitute(dim, places) for dim in second.index)
        return replace(stmt, buffer=second.buffer, index=there)
    blocks = tuple(tuple(_instead(s, first, second) for s in b) for b in blocks_of(stmt))
    return with_blocks(stmt, blocks) if blocks else stmt
