"""Sizes that are equal by a guard get one name: loops over them fuse, and collapse into one.

Not those that are counted at run time: the program itself checks what is taken for granted of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fxc.ir.size_functions import substitute
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, counted_in, plain_symbol

from ..nests.accesses import rename
from ..nests.buffers import Buffer
from ..nests.program import Program
from ..nests.statements import Loop, Stmt, blocks_of, with_blocks


def same_sizes(program: Program, guards: Iterable[Guard]) -> Program:
    """The program with one symbol for those that the guards say are equal."""
    dims: dict[str, Dim] = {}
    for each in guards:
        left, right = (substitute(side, dims) for side in (each.left, each.right))
        counted = counted_in(each.left) or counted_in(each.right)
        name = plain_symbol(left) if each.relation == "==" and not counted else None
        if name is not None and plain_symbol(right) not in (None, name):
            dims = {known: substitute(dim, {name: right}) for known, dim in dims.items()}
            dims[name] = right
    if not dims:
        return program
    buffers = {name: _sized(buffer, dims) for name, buffer in program.buffers.items()}
    body = tuple(_over(rename(stmt, dims), dims) for stmt in program.body)
    return replace(program, buffers=buffers, body=body)


def _sized(buffer: Buffer, dims: Mapping[str, Dim]) -> Buffer:
    return replace(
        buffer,
        shape=tuple(substitute(dim, dims) for dim in buffer.shape),
        strides=tuple(substitute(dim, dims) for dim in buffer.strides),
        offset=substitute(buffer.offset, dims),
    )


def _over(stmt: Stmt, dims: Mapping[str, Dim]) -> Stmt:
    """The statement with the sizes of loops replaced."""
    if isinstance(stmt, Loop):
        chunk = None if stmt.chunk is None else substitute(stmt.chunk, dims)
        stmt = replace(stmt, size=substitute(stmt.size, dims), chunk=chunk)
    return with_blocks(stmt, tuple(tuple(_over(s, dims) for s in b) for b in blocks_of(stmt)))
