"""Forwarding: what has been stored or loaded is passed on in a register."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from fxc.ir.records import field, mutable, replace
from fxc.ir.size_functions import rename_computed
from fxc.ir.symbols import Dim, computed_in

from ..nests.accesses import Block, are_apart, stored, with_atoms
from ..nests.buffers import Atom, Const, Idx, are_other_fields
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Bind,
    Boxed,
    Check,
    Compute,
    Index,
    Load,
    Stmt,
    Store,
    While,
    blocks_of,
    with_blocks,
)


class _Elements:
    """What registers hold of a buffer, by index: at numbers, which are apart from each other, and
    at what loops and sizes say.
    """

    def __init__(self, copied: _Elements | None = None) -> None:
        self.at_numbers: dict[Idx, Atom] = {} if copied is None else dict(copied.at_numbers)
        self.others: dict[Idx, Atom] = {} if copied is None else dict(copied.others)

    def of(self, index: Idx) -> dict[Idx, Atom]:
        """Where an element with such an index is."""
        return self.at_numbers if all(type(dim) is int for dim in index) else self.others

    def overwritten(self, index: Idx) -> None:
        """Forget what may stand there."""
        at = self.of(index)
        at.pop(index, None)
        for there in (self.others,) if at is self.at_numbers else (self.at_numbers, self.others):
            for known in [known for known in there if not are_apart(known, index)]:
                del there[known]


@mutable
class _Known:
    """What is in registers: elements by buffer, results by operation."""

    elements: dict[str, _Elements]
    results: dict[object, str]
    names: dict[str, Atom]
    is_part: bool = False  # other statements read the totals of these
    totals: dict[object, str] = field(default_factory=dict)  # of this block: it says how often

    def inner(self, program: Program, block: Block) -> _Known:
        """What a block that runs repeatedly may use of it."""
        written = stored(program, block)
        elements = {
            buffer: _Elements(found)
            for buffer, found in self.elements.items()
            if program.buffers[buffer].storage not in written
        }
        return _Known(elements, dict(self.results), self.names, self.is_part)

    def at(self, buffer: str, index: Idx) -> dict[Idx, Atom]:
        return self.elements.setdefault(buffer, _Elements()).of(index)

    def overwritten(self, program: Program, stmt: Store) -> None:
        """Forget what may stand where ``stmt`` stores."""
        storage = program.buffers[stmt.buffer].storage
        for buffer in [b for b in self.elements if program.buffers[b].storage == storage]:
            if buffer == stmt.buffer:
                self.elements[buffer].overwritten(stmt.index)
            elif not are_other_fields(program.buffers[buffer], program.buffers[stmt.buffer]):
                del self.elements[buffer]

    def forget(self, program: Program, storages: set[str]) -> None:
        for buffer in [b for b in self.elements if program.buffers[b].storage in storages]:
            del self.elements[buffer]

    def atom(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if isinstance(atom, str) else atom

    def dim(self, dim: Dim) -> Dim:
        known = {name: self.names[name] for name in computed_in(dim) if name in self.names}
        if not known:
            return dim
        atoms = {n: int(a.value) if isinstance(a, Const) else a for n, a in known.items()}
        return rename_computed(dim, atoms)

    def index(self, index: Idx) -> Idx:
        return tuple(self.dim(dim) for dim in index)


def forward(program: Program, block: Block, *, is_part: bool = False) -> Block:
    """The statements with what is stored, loaded, computed or added up passed on. Of a part of
    a program each total keeps its name: others read it.
    """
    return _forwarded(program, block, _Known({}, {}, {}, is_part))


def _forwarded(program: Program, block: Block, known: _Known) -> Block:
    result: list[Stmt] = []
    for stmt in block:
        kept = _forward_one(program, stmt, known)
        if kept is not None:
            result.append(kept)
    return tuple(result)


def _forward_one(program: Program, stmt: Stmt, known: _Known) -> Stmt | None:
    """The statement on known registers; None if its result is known."""
    match stmt:
        case Load(name=name, buffer=buffer):
            index = known.index(stmt.index)
            if index != stmt.index:
                stmt = replace(stmt, index=index)
            elements = known.at(buffer, index)
            found = elements.get(index)
            if found is not None:
                known.names[name] = found
                return None
            elements[index] = name
            return stmt
        case Compute():
            given = tuple([known.atom(a) for a in stmt.args])
            if any(map(operator.is_not, given, stmt.args)):
                stmt = replace(stmt, args=given)
            args = _exactly(stmt.args)
            key = stmt.op, stmt.dtype, stmt.arg_dtypes, args, stmt.quiet
            return _once(stmt, key, known.results, known)
        case Index(dtype=dtype):
            value = known.dim(stmt.value)
            if value is not stmt.value:
                stmt = replace(stmt, value=value)
            return _once(stmt, ("index", dtype, stmt.value), known.results, known)
        case Store(buffer=buffer):
            index = known.index(stmt.index)
            stored = known.atom(stmt.value)
            if stored is not stmt.value or index != stmt.index:
                stmt = replace(stmt, value=stored, index=index)
            known.overwritten(program, stmt)
            known.at(buffer, index)[index] = stmt.value
            return stmt
        case Accumulate():
            stmt = replace(stmt, value=known.atom(stmt.value), init=known.atom(stmt.init))
            if known.is_part:
                return stmt
            how = (stmt.combine, stmt.dtype, stmt.order, stmt.levels, stmt.position, stmt.quiet)
            exact = _exactly((stmt.value, stmt.init))
            return _once(stmt, (*how, exact), known.totals, known)
        case Check():
            return replace(stmt, failed=known.atom(stmt.failed))
        case Boxed() | Bind(cuts=True):  # native code begins anew behind it, with no registers
            stmt = _with_atoms(stmt, known)
            known.elements.clear()
            known.results.clear()
            return stmt
        case _:
            return _forward_nested(program, stmt, known)


def _exactly(atoms: Sequence[Atom]) -> tuple[object, ...]:
    """What atoms are compared by: of constants, by all that is written of them, a sign of zero."""
    return tuple(repr(atom.value) if isinstance(atom, Const) else (atom,) for atom in atoms)


def _once(
    stmt: Compute | Index | Accumulate, key: object, results: dict[object, str], known: _Known
) -> Stmt | None:
    earlier = results.get(key)
    if earlier is not None:
        known.names[stmt.name] = earlier
        return None
    results[key] = stmt.name
    return stmt


def _forward_nested(program: Program, stmt: Stmt, known: _Known) -> Stmt:
    given = blocks_of(stmt)
    if isinstance(stmt, While):  # the test runs again behind the body
        inside = known.inner(program, (stmt,))
        blocks = tuple(_forwarded(program, b, inside.inner(program, b)) for b in given)
    else:
        blocks = tuple(_forwarded(program, b, known.inner(program, b)) for b in given)
    known.forget(program, stored(program, (stmt,)))
    return _with_atoms(with_blocks(stmt, blocks), known)


def _with_atoms(stmt: Stmt, known: _Known) -> Stmt:
    if isinstance(stmt, Bind):
        return replace(stmt, value=known.atom(stmt.value))
    return with_atoms(stmt, known.atom)
