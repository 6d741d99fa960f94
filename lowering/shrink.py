"""Temporaries that nobody reads disappear; those of one iteration shrink to what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fxc.ir.symbols import Dim, symbol

from .accesses import Block, accesses
from .loops import (
    Accumulate,
    Compute,
    Index,
    Load,
    Loop,
    Matmul,
    Program,
    Stmt,
    Store,
    atoms_read,
    blocks_of,
    walk,
    with_blocks,
)


def drop_dead(program: Program) -> Program:
    while True:
        read = {a.storage for s in program.body for a in accesses(program, s) if not a.written}
        read |= {program.buffers[name].storage for name in program.results}
        read |= {b.storage for b in program.buffers.values() if b.role != "temp"}
        live: set[str] = set()
        body = _live_block(program, program.body, read, live)
        if body == program.body:
            break
        program = replace(program, body=body)
    touched = {a.storage for s in program.body for a in accesses(program, s)}
    used = {a.buffer for s in program.body for a in accesses(program, s)} | set(program.results)
    buffers = {
        name: buffer
        for name, buffer in program.buffers.items()
        if buffer.role in ("input", "output") or name in used or name in touched
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
            case Matmul(out=out):
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
    return _shrink_block(program, program.body)


def _shrink_block(program: Program, block: Block) -> Program:
    for stmt in block:
        if not isinstance(stmt, Loop):
            for inner in blocks_of(stmt):
                program = _shrink_block(program, inner)
            continue
        for name in {a.buffer for a in accesses(program, stmt)}:
            program = _shrink_in(program, stmt, name)
        current = _find(program.body, stmt.var)
        if current is not None:
            program = _shrink_block(program, current.body)
    return program


def _find(block: Block, var: str) -> Loop | None:
    for stmt in walk(block):
        if isinstance(stmt, Loop) and stmt.var == var:
            return stmt
    return None


def _shrink_in(program: Program, loop: Loop, name: str) -> Program:
    buffer = program.buffers[name]
    if buffer.role != "temp" or buffer.storage != name:
        return program
    everywhere = [a for s in program.body for a in accesses(program, s) if a.storage == name]
    here = [a for a in accesses(program, loop) if a.storage == name]
    if len(here) != len(everywhere) or any(a.buffer != name or a.index is None for a in here):
        return program
    var = symbol(loop.var)
    for dim in range(len(buffer.shape)):
        if all(a.index is not None and a.index[dim] == var for a in here):
            return _without_dim(program, name, dim)
    return program


def _without_dim(program: Program, name: str, dim: int) -> Program:
    buffer = program.buffers[name]
    shape = buffer.shape[:dim] + buffer.shape[dim + 1 :]
    strides: list[Dim] = []
    step: Dim = buffer.dtype.itemsize
    for size in reversed(shape):
        strides.insert(0, step)
        step = step * size
    buffers = {**program.buffers, name: replace(buffer, shape=shape, strides=tuple(strides))}
    body = tuple(_drop_index(stmt, name, dim) for stmt in program.body)
    return replace(program, buffers=buffers, body=body)


def _drop_index(stmt: Stmt, name: str, dim: int) -> Stmt:
    match stmt:
        case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
            if buffer != name:
                return stmt
            return replace(stmt, index=index[:dim] + index[dim + 1 :])
        case _:
            blocks = tuple(tuple(_drop_index(s, name, dim) for s in b) for b in blocks_of(stmt))
            return with_blocks(stmt, blocks)
