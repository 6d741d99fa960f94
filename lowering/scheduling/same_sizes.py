"""What guards say of sizes: those that are equal get one name, so that loops over them fuse, and
collapse into one; what a size is never below becomes its bound.

Not those that are counted at run time: the program itself checks what is taken for granted of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fxc.ir.records import replace
from fxc.ir.size_functions import substitute
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, counted_in, plain_symbol, symbol, symbols_of

from ..nests.accesses import rename
from ..nests.buffers import Buffer
from ..nests.program import Program
from ..nests.statements import Loop, Stmt, blocks_of, with_blocks


def same_sizes(program: Program, guards: Iterable[Guard]) -> Program:
    """The program with one symbol for those that the guards say are equal, and their bounds."""
    dims: dict[str, Dim] = {}
    guards = tuple(guards)
    for each in guards:
        left, right = (substitute(side, dims) for side in (each.left, each.right))
        counted = counted_in(each.left) or counted_in(each.right)
        name = plain_symbol(left) if each.relation == "==" and not counted else None
        if name is not None and plain_symbol(right) not in (None, name):
            dims = {known: substitute(dim, {name: right}) for known, dim in dims.items()}
            dims[name] = right
    bounds = _bounds(program, guards, dims)
    dims = {name: substitute(dim, bounds) for name, dim in dims.items()} | bounds
    if not dims:
        return program
    buffers = {name: _sized(buffer, dims) for name, buffer in program.buffers.items()}
    body = tuple(_over(rename(stmt, dims), dims) for stmt in program.body)
    return replace(program, buffers=buffers, body=body)


def _bounds(program: Program, guards: Iterable[Guard], dims: Mapping[str, Dim]) -> dict[str, Dim]:
    """The sizes of inputs, and the ints among them, that guards say are larger than is known."""
    inputs = [program.buffers[name] for name in program.inputs if name in program.buffers]
    given = {param.name for param in program.params}
    given |= {name for buffer in inputs for dim in buffer.shape for name in symbols_of(dim)}
    found: dict[str, Dim] = {}
    for each in guards:
        difference, relation = each.normal
        names = list(symbols_of(difference))
        if relation not in ("<", "<=") or len(names) != 1 or names[0] not in given:
            continue
        known = symbols_of(found.get(names[0], -difference))[names[0]]
        this = symbol(known.name, hint=known.hint, lower=known.lower, most=known.most)
        least = difference + this + (relation == "<")  # of 4 - n <= 0: 4
        if not isinstance(least, int) or known.most is not None or known.name in dims:
            continue
        if known.lower is None or least > known.lower:
            found[known.name] = symbol(known.name, hint=known.hint, lower=least)
    return found


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
