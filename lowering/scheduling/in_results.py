"""A large temporary that is read for the last time where a result is stored has its memory.

::

    for i in 0:n                          for i in 0:n
      t[i] = f(a[i])                        r[i] = f(a[i])
      s = add t[i]                 →        s = add r[i]
    for i in 0:n                          for i in 0:n
      r[i] = divide(t[i], s)                r[i] = divide(r[i], s)

So a processor goes through one array less: it has not to read the lines of the result before they
are written, and the pages of the temporary are not needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fxc.ir.records import replace
from fxc.ir.size_functions import hint
from fxc.ir.symbols import product, symbol

from ..nests.accesses import Block
from ..nests.buffers import Buffer, Idx
from ..nests.program import Program, is_cut
from ..nests.statements import Bind, Load, Loop, Stmt, Store, blocks_of, touched, walk, with_blocks


def in_results(program: Program) -> Program:
    """Let results have the elements of temporaries until they are stored.

    Requires: each element of a result that is stored in a nest is stored by one iteration. Ensures:
    the same results, bit for bit; temporaries that have moved are gone.
    """
    if any(isinstance(stmt, Bind) or is_cut(stmt) for stmt in walk(program.body)):
        return program  # results have their memory later than temporaries
    for place, stmt in enumerate(program.body):
        if isinstance(stmt, Loop):
            for temp, result, loads in _updates(program, stmt.body, (symbol(stmt.var),)):
                if _may_move(program, place, temp, result, loads):
                    body = tuple(_moved(each, temp, result) for each in program.body)
                    rest = {k: b for k, b in program.buffers.items() if k != temp}
                    program = replace(program, body=body, buffers=rest)
    return program


def _updates(program: Program, block: Block, counters: Idx) -> Iterator[tuple[str, str, int]]:
    """Temporaries and results of which each iteration loads an element before it stores it, and by
    how many loads.
    """
    loaded: list[Load] = []
    for stmt in block:
        if isinstance(stmt, Loop):
            yield from _updates(program, stmt.body, (*counters, symbol(stmt.var)))
        elif isinstance(stmt, Load):
            loaded.append(stmt)
        elif isinstance(stmt, Store) and _is_permuted(stmt.index, counters):
            found = Counter(load.buffer for load in loaded if load.index == stmt.index)
            for name, loads in found.items():
                if _are_alike(program, name, stmt.buffer):
                    yield name, stmt.buffer, loads


def _is_permuted(index: Idx, counters: Idx) -> bool:
    return len(index) == len(counters) and set(index) == set(counters)


def _are_alike(program: Program, temp: str, result: str) -> bool:
    """Whether a large temporary and a result have elements of the same kind at the same places."""
    old, new = program.buffers[temp], program.buffers[result]
    if (old.role, new.role) != ("temp", "output") or temp in program.results:
        return False
    size = hint(product(new.shape)) * new.dtype.itemsize
    return size > program.target.cache and _layout(old) == _layout(new)


def _layout(buffer: Buffer) -> object:
    return buffer.dtype, buffer.shape, buffer.strides, buffer.offset, buffer.parts, buffer.field


def _may_move(program: Program, place: int, temp: str, result: str, loads: int) -> bool:
    """Whether the nest at a place is the last to meet a temporary, by so many loads, and alone
    meets a result, by one store.
    """
    if temp not in program.buffers:  # it has moved
        return False
    names = (temp, result)
    kept = [program.buffers[name].storage for name in names]
    if sum(buffer.storage in kept for buffer in program.buffers.values()) != len(names):
        return False
    others = (*program.body[:place], *program.body[place + 1 :])
    if temp in _touched(program.body[place + 1 :]) or result in _touched(others):
        return False
    met = [s for s in walk((program.body[place],)) if isinstance(s, Load | Store)]
    here = [(s.buffer, isinstance(s, Load)) for s in met if s.buffer in names]
    only = sorted(here) == sorted([(result, False), *[(temp, True)] * loads])
    return only and _are_elements(program, temp)


def _touched(block: Sequence[Stmt]) -> set[str]:
    return set().union(*touched(tuple(block)))


def _are_elements(program: Program, name: str) -> bool:
    """Whether nothing meets a buffer but loads and stores of its elements."""
    return all(
        isinstance(stmt, Load | Store) or bool(blocks_of(stmt)) or name not in _touched((stmt,))
        for stmt in walk(program.body)
    )


def _moved(stmt: Stmt, temp: str, result: str) -> Stmt:
    if isinstance(stmt, Load | Store):
        return replace(stmt, buffer=result) if stmt.buffer == temp else stmt
    blocks = tuple(tuple(_moved(each, temp, result) for each in b) for b in blocks_of(stmt))
    return with_blocks(stmt, blocks) if blocks else stmt
