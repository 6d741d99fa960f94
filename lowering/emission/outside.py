"""What statements that become a function of their own read from the function around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, Symbol, computed_in, operands_of

from ..nests.addressing import byte_offset
from ..nests.buffers import I64, Atom
from ..nests.statements import Accumulate, Compute, Index, Load, Loop, Stmt, Store, walk
from .emitter import Emitter
from .llvm_text import FunctionText, scalar_type


@frozen
class FromOutside:
    """A storage's address (``data``), a size or counter (``dims``) or a scalar (``atoms``), with
    its LLVM type and its register in the function around.
    """

    group: str
    name: str
    kind: str
    register: str


def read_outside(emitter: Emitter, block: Sequence[Stmt], bound: Set[str]) -> list[FromOutside]:
    """All that a block reads; it defines the symbols that are ``bound`` itself."""
    regs, buffers = emitter.regs, emitter.program.buffers
    made = Load | Compute | Index | Accumulate
    stmts = walk(tuple(block))
    inside = {s.name for s in stmts if isinstance(s, made)}
    dims: dict[str, None] = {}
    storages: dict[str, None] = {}
    atoms: dict[str, np.dtype] = {}
    for stmt in stmts:
        match stmt:
            case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                storages[buffers[buffer].storage] = None
                dims.update(_read(byte_offset(buffers[buffer], index)))
            case Loop(size=size, chunk=chunk):
                dims.update(_read(size) | _read(chunk or 0))
            case Index(value=value):
                dims.update(_read(value))
            case Accumulate(position=position):
                dims.update(_read(position or 0))
        for atom, dtype in _typed_atoms(stmt):
            if isinstance(atom, str) and atom not in inside:
                atoms[atom] = dtype
    own = {*bound, *(s.var for s in stmts if isinstance(s, Loop))}
    found = [FromOutside("data", s, "ptr", regs.data[s]) for s in storages]
    found += [FromOutside("dims", d, "i64", regs.dims[d]) for d in dims if d not in own]
    found += [FromOutside("atoms", a, scalar_type(t), regs.atoms[a][0]) for a, t in atoms.items()]
    return found


def inside(
    emitter: Emitter, f: FunctionText, outer: Sequence[FromOutside], registers: Sequence[str]
) -> Emitter:
    """An emitter for the function of its own, which has what is read in these registers."""
    inner = emitter.inside(f)
    groups = {"data": inner.regs.data, "dims": inner.regs.dims}
    for each, register in zip(outer, registers, strict=True):
        if each.group == "atoms":
            inner.regs.atoms[each.name] = (register, 1)
        else:
            groups[each.group][each.name] = register
    return inner


def _typed_atoms(stmt: Stmt) -> Iterator[tuple[Atom, np.dtype]]:
    match stmt:
        case Compute(args=args, arg_dtypes=dtypes):
            yield from zip(args, dtypes, strict=True)
        case Store(value=value, dtype=dtype):
            yield value, dtype
        case Accumulate(value=value, init=init, dtype=dtype):
            yield from ((value, dtype), (init, dtype))
    match stmt:
        case Load(index=index) | Store(index=index):
            yield from ((name, I64) for dim in index for name in computed_in(dim))
        case Index(value=dim):
            yield from ((name, I64) for name in computed_in(dim))


def _read(dim: Dim) -> dict[str, None]:
    """The symbols that computing ``dim`` reads."""
    return {each.name: None for each in operands_of(dim) if isinstance(each, Symbol)}
