"""Temporaries that nobody reads disappear; those of one iteration shrink to what it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from fxc.ir.records import replace
from fxc.ir.symbols import Dim, symbol

from ..nests.accesses import Access, Block, accesses, storages
from ..nests.buffers import Buffer
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Apply,
    Compute,
    For,
    Index,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    While,
    atoms_read,
    blocks_of,
    touched,
    with_blocks,
)


def drop_dead(program: Program) -> Program:
    while True:
        read = {program.buffers[name].storage for name in touched(program.body)[0]}
        read |= {program.buffers[name].storage for name in program.results}
        read |= {b.storage for b in program.buffers.values() if b.role != "temp"}
        live: set[str] = set()
        body = _live_block(program, program.body, read, live)
        if body == program.body:
            break
        program = replace(program, body=body)
    used = frozenset(program.results).union(*touched(program.body))
    whole = storages(program, program.body)
    buffers = {
        name: buffer
        for name, buffer in program.buffers.items()
        if buffer.role in ("input", "output") or name in used or name in whole
    }
    return replace(program, buffers=buffers)


def _live_block(program: Program, block: Block, read: set[str], live: set[str]) -> Block:
    """The statements that something depends on; ``live`` collects the names they read."""
    kept: list[Stmt] = []
    for stmt in reversed(block):
        match stmt:
            case Load(name=name) | Compute(name=name) | Index(name=name) | Accumulate(name=name):
                if name not in live:
                    continue
            case Store(buffer=buffer):
                if program.buffers[buffer].storage not in read:
                    continue
            case Matmul(out=out) | Apply(out=out):
                if program.buffers[out].storage not in read:
                    continue
            case _:
                live.update(_names_read(stmt))  # of what its own blocks compute, too
                blocks = tuple(_live_block(program, b, read, live) for b in blocks_of(stmt))
                if blocks and not any(blocks):
                    continue
                stmt = with_blocks(stmt, blocks)
        live.update(_names_read(stmt))
        kept.append(stmt)
    return tuple(reversed(kept))


def _names_read(stmt: Stmt) -> Iterator[str]:
    return (atom for atom in atoms_read(stmt) if isinstance(atom, str))


def shrink(program: Program) -> Program:
    """Drop the dims of temporaries that only the iterations of one loop use."""
    times = Counter(a.storage for stmt in program.body for a in accesses(program, stmt))
    buffers = dict(program.buffers)
    body = _shrink_block(program, program.body, times, buffers, repeated=False)
    return replace(program, buffers=buffers, body=body)


def _shrink_block(
    program: Program,
    block: Block,
    times: Mapping[str, int],
    buffers: dict[str, Buffer],
    *,
    repeated: bool,
) -> Block:
    """The block with fewer indices; ``buffers`` changes alike. ``times`` counts the accesses of
    each storage in the whole program. A block that is ``repeated`` may read what it has stored in
    the iteration before.
    """
    made: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Loop):
            dims = {} if _is_tree(stmt) else _dims_of_one_iteration(program, stmt, times)
            if repeated:
                dims = {x: dim for x, dim in dims.items() if is_made_in(stmt, buffers[x], {})}
            if dims:
                stmt = _without_indices(stmt, dims)
                buffers.update((name, _without_dim(buffers[name], dims[name])) for name in dims)
        again = repeated or isinstance(stmt, For | While)
        inner = tuple(
            _shrink_block(program, b, times, buffers, repeated=again) for b in blocks_of(stmt)
        )
        made.append(with_blocks(stmt, inner) if inner else stmt)
    return tuple(made)


def _is_tree(loop: Loop) -> bool:
    """Whether a loop adds up pairwise: always in lanes, each of which needs elements of its own."""
    return any(isinstance(s, Accumulate) and s.is_pairwise for s in loop.body)


def _dims_of_one_iteration(
    program: Program, loop: Loop, times: Mapping[str, int]
) -> dict[str, int]:
    """Temporaries that only this loop uses, with a dim that is its counter everywhere."""
    buffers = program.buffers
    temps = {
        name
        for name in storages(program, (loop,))
        if buffers[name].role == "temp" and buffers[name].storage == name
    }
    here: dict[str, list[Access]] = {}
    for access in accesses(program, loop) if temps else ():
        here.setdefault(access.storage, []).append(access)
    var, found = symbol(loop.var), {}
    for name, places in here.items():
        if name not in temps or len(places) != times[name]:
            continue
        indices = [a.index for a in places if a.buffer == name and a.index is not None]
        if len(indices) != len(places):
            continue
        dims = (d for d in range(len(indices[0])) if all(index[d] == var for index in indices))
        dim = next(dims, None)
        if dim is not None:
            found[name] = dim
    return found


def is_made_in(loop: Loop, buffer: Buffer, around: Mapping[Dim, Dim]) -> bool:
    """Whether an iteration first stores all elements of the buffer that it uses."""
    sizes = {**around, symbol(loop.var): loop.size}
    for stmt in loop.body:
        if buffer.name not in set().union(*touched((stmt,))):
            continue
        if isinstance(stmt, Loop):
            return is_made_in(stmt, buffer, sizes)
        return isinstance(stmt, Store) and all(
            (size == 1 and at == 0) or sizes.get(at) == size
            for at, size in zip(stmt.index, buffer.shape, strict=True)
        )
    return False


def _without_dim(buffer: Buffer, dim: int) -> Buffer:
    shape = buffer.shape[:dim] + buffer.shape[dim + 1 :]
    strides: list[Dim] = []
    step: Dim = buffer.dtype.itemsize
    for size in reversed(shape):
        strides.insert(0, step)
        step = step * size
    return replace(buffer, shape=shape, strides=tuple(strides))


def _without_indices(stmt: Stmt, dims: Mapping[str, int]) -> Stmt:
    match stmt:
        case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
            if buffer not in dims:
                return stmt
            dim = dims[buffer]
            return replace(stmt, index=index[:dim] + index[dim + 1 :])
        case _:
            blocks = tuple(tuple(_without_indices(s, dims) for s in b) for b in blocks_of(stmt))
            return with_blocks(stmt, blocks)
