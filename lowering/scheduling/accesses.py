"""Which buffers statements read and write, and renaming of what indexes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, decide, substitute

from ..building.index_maps import Idx
from ..emission.addressing import linearised
from ..loops import (
    Accumulate,
    Apply,
    Boxed,
    BufferArg,
    Compute,
    Index,
    Load,
    Loop,
    Matmul,
    Program,
    Stmt,
    Store,
    blocks_of,
    walk,
    with_blocks,
)

Block = tuple[Stmt, ...]


@frozen
class Access:
    """One place where a buffer is read or written."""

    buffer: str
    storage: str
    index: Idx | None  # None: anywhere in it
    written: bool


def accesses(program: Program, stmt: Stmt) -> Iterator[Access]:
    """All accesses of a statement and of what is inside it."""
    buffers = program.buffers
    for inner in walk((stmt,)):
        match inner:
            case Load() | Store():
                name = inner.buffer
                yield Access(name, buffers[name].storage, inner.index, type(inner) is Store)
            case Compute() | Index():
                pass
            case Matmul(out, x, y):
                yield Access(out, program.buffers[out].storage, None, True)
                for name in (x, y):
                    yield Access(name, program.buffers[name].storage, None, False)
            case Apply(out=out, keys=keys):
                for written in (True, False):
                    yield Access(out, program.buffers[out].storage, None, written)
                if keys is not None:
                    yield Access(keys, program.buffers[keys].storage, None, False)
            case Boxed(args=args, outs=outs, size=size):
                for name in (*outs, *((size[1],) if size else ())):
                    yield Access(name, program.buffers[name].storage, None, True)
                for name in boxed_buffers(args):
                    yield Access(name, program.buffers[name].storage, None, False)


def boxed_buffers(args: Sequence[object]) -> Iterator[str]:
    """The buffers among the arguments of a boxed call."""
    for arg in args:
        if isinstance(arg, BufferArg):
            yield arg.buffer
        elif isinstance(arg, tuple):
            yield from boxed_buffers(arg)


def conflict(first: Sequence[Access], second: Sequence[Access]) -> bool:
    """Whether the order of the two statements matters."""
    written = {a.storage for a in first if a.written}
    read = {a.storage for a in first}
    return any(a.storage in written or (a.written and a.storage in read) for a in second)


def are_apart(index: Idx, other: Idx) -> bool:
    """Whether two indices into one buffer never point to the same element."""
    return any(decide(i, "!=", j) is True for i, j in zip(index, other, strict=True))


def rename(stmt: Stmt, dims: dict[str, Dim]) -> Stmt:
    """The statement with loop variables replaced."""

    def index(old: Idx) -> Idx:
        return tuple(substitute(dim, dims) for dim in old)

    match stmt:
        case Load(index=old) | Store(index=old):
            return replace(stmt, index=index(old))
        case Index(value=value):
            return replace(stmt, value=linearised(substitute(value, dims)))
        case Accumulate(position=position) if position is not None:
            return replace(stmt, position=linearised(substitute(position, dims)))
        case Loop(var=var, body=body):
            new = dims.get(var)
            kept = str(new) if new is not None else var
            return replace(stmt, var=kept, body=tuple(rename(s, dims) for s in body))
        case _:
            blocks = tuple(tuple(rename(s, dims) for s in b) for b in blocks_of(stmt))
            return with_blocks(stmt, blocks)
