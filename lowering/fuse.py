"""Fusion: loop nests → fewer loop nests with the same effect.

Nests that share data run together where no iteration then meets another's elements; what was
stored and is loaded again in the same iteration is passed on in a register; buffers that nobody
reads any more disappear, and those that live within one iteration shrink to what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fxc.ir.records import frozen, mutable
from fxc.ir.symbols import Dim, SymExpr, hint, substitute, symbol, symbols_of

from .addressing import byte_offset, linearised, step_of
from .index_maps import Idx
from .loops import (
    Accumulate,
    Atom,
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
    atoms_read,
    blocks_of,
    walk,
    with_blocks,
)

Block = tuple[Stmt, ...]

HOPS = 12  # how many nests a nest may be moved over to be fused with an earlier one
LONG = 16  # iterations of an inner loop that pay for running it apart from its neighbours
BODY_LIMIT = 400  # statements in one fused nest


def fuse(program: Program) -> Program:
    """Merge loop nests, forward stored values, drop and shrink temporaries.

    Requires: statements are in an order that computes the right results.
    Ensures: the same stores to inputs and outputs, with no more memory traffic than before.
    """
    body = _merge_block(program, program.body)
    program = replace(program, body=body)
    program = replace(program, body=_forward(program, program.body))
    program = _drop_dead(program)
    program = _shrink(program)
    return replace(program, body=tuple(_collapse(program, stmt) for stmt in program.body))


# -- accesses


@frozen
class Access:
    """One place where a buffer is read or written."""

    buffer: str
    storage: str
    index: Idx | None  # None: anywhere in it
    written: bool


def accesses(program: Program, stmt: Stmt) -> Iterator[Access]:
    """All accesses of a statement and of what is inside it."""
    for inner in walk((stmt,)):
        match inner:
            case Load(buffer=buffer, index=index):
                yield Access(buffer, program.buffers[buffer].storage, index, False)
            case Store(buffer=buffer, index=index):
                yield Access(buffer, program.buffers[buffer].storage, index, True)
            case Matmul(out, x, y):
                yield Access(out, program.buffers[out].storage, None, True)
                for name in (x, y):
                    yield Access(name, program.buffers[name].storage, None, False)
            case Boxed(args=args, outs=outs):
                for name in outs:
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


def _conflict(first: Sequence[Access], second: Sequence[Access]) -> bool:
    """Whether the order of the two statements matters."""
    written = {a.storage for a in first if a.written}
    read = {a.storage for a in first}
    return any(a.storage in written or (a.written and a.storage in read) for a in second)


# -- merging


def _merge_block(program: Program, block: Block) -> Block:
    done: list[Stmt] = []
    known: list[list[Access]] = []
    for stmt in block:
        if not isinstance(stmt, Loop):
            inner = tuple(_merge_block(program, b) for b in blocks_of(stmt))
            stmt = with_blocks(stmt, inner)
        mine = list(accesses(program, stmt))
        if not (isinstance(stmt, Loop) and _merge_back(program, stmt, mine, done, known)):
            done.append(stmt)
            known.append(mine)
    return tuple(done)


def _merge_back(
    program: Program,
    loop: Loop,
    mine: list[Access],
    done: list[Stmt],
    known: list[list[Access]],
) -> bool:
    """Merge ``loop`` into one of the last statements, if there is one that takes it."""
    defined = {name for stmt in walk((loop,)) for name in atoms_read(stmt)}
    for place in range(len(done) - 1, max(-1, len(done) - 1 - HOPS), -1):
        earlier = done[place]
        if isinstance(earlier, Loop):
            merged = _merged(program, earlier, loop, known[place], mine)
            if merged is not None:
                done[place] = merged
                known[place] = list(accesses(program, merged))
                return True
        if not isinstance(earlier, Loop | Load | Compute | Index | Store):
            return False
        if _conflict(known[place], mine) or _defines(earlier) & defined:
            return False
    return False


def _defines(stmt: Stmt) -> set[Atom]:
    return {s.name for s in walk((stmt,)) if isinstance(s, Load | Compute | Index | Accumulate)}


def _merged(
    program: Program, first: Loop, second: Loop, before: list[Access], after: list[Access]
) -> Loop | None:
    """One loop that does both, or None if that is not right or not worth it."""
    if first.size != second.size or first.chunk != second.chunk:
        return None
    if first.ordered or second.ordered:
        return None
    shared = {a.storage for a in before} & {a.storage for a in after}
    if not shared or sum(1 for _ in walk((first, second))) > BODY_LIMIT:
        return None
    if not _same_kind(first, second) or _moves_evenly(program, first) != _moves_evenly(
        program, second
    ):
        return None
    renamed = rename(second, {second.var: symbol(first.var, hint=0, lower=0)})
    moved = list(accesses(program, renamed))
    if not _legal(first.var, before, moved):
        return None
    if _totals(first) & {a for s in walk((second,)) for a in atoms_read(s)}:
        return None
    assert isinstance(renamed, Loop)
    body = _merge_block(program, (*first.body, *renamed.body))
    if not _is_worth_it(body):
        return None
    return replace(first, body=body, loc=first.loc or second.loc)


def _is_worth_it(body: Block) -> bool:
    """Whether what stays apart inside the merged loop are long loops: short ones would lose the
    one long loop (or vector) that each of the two nests was on its own.
    """
    inner = [stmt for stmt in body if isinstance(stmt, Loop)]
    if len(inner) <= 1 and all(isinstance(s, Loop) for s in body):
        return True
    if not inner:
        return True
    return all(hint(stmt.size) >= LONG for stmt in inner)


def _totals(loop: Loop) -> set[Atom]:
    return {s.name for s in walk((loop,)) if isinstance(s, Accumulate)}


def _same_kind(first: Loop, second: Loop) -> bool:
    """Whether both loops can be run in the same way: see how each accumulates."""
    kinds = [{s.order for s in loop.body if isinstance(s, Accumulate)} for loop in (first, second)]
    nested = [any(isinstance(s, Loop) for s in loop.body) for loop in (first, second)]
    if any("sequential" in kind for kind in kinds):
        return kinds[0] == kinds[1]
    if any("pairwise" in kind for kind in kinds):
        return not any(nested)
    if kinds[0] or kinds[1]:
        return nested[0] == nested[1]
    return True


def _moves_evenly(program: Program, loop: Loop) -> bool:
    """Whether each access moves by a fixed step from one iteration to the next: lanes need that."""
    for stmt in loop.body:
        match stmt:
            case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                if step_of(byte_offset(program.buffers[buffer], index), loop.var) is None:
                    return False
            case Index(value=value):
                if step_of(value, loop.var) is None:
                    return False
            case _:
                pass
    return True


def _legal(var: str, first: Sequence[Access], second: Sequence[Access]) -> bool:
    """Whether each iteration of ``var`` meets in both only elements of its own."""
    written = {a.storage for a in first if a.written}
    for b in second:
        for a in first:
            if a.storage != b.storage or not (a.written or b.written):
                continue
            if b.storage not in written and not b.written:
                continue
            if a.buffer != b.buffer or a.index is None or b.index is None:
                return False
            if not any(_moves_with(var, i, j) for i, j in zip(a.index, b.index, strict=True)):
                return False
    return True


def _moves_with(var: str, left: Dim, right: Dim) -> bool:
    """Whether both are the same index and a different one in each iteration of ``var``."""
    if left != right or not isinstance(left, SymExpr):
        return False
    step = step_of(left, var)
    return isinstance(step, int) and step != 0 and _only(var, left)


def _only(var: str, dim: Dim) -> bool:
    """Whether no other loop variable is in ``dim``."""
    return all(n == var or not is_loop_var(n) for n in symbols_of(dim))


def is_loop_var(name: str) -> bool:
    """Whether a symbol is a loop variable of a nest; see ``Context.loop_var``."""
    return name[0] == "i" and name[1:].isdigit()


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


# -- forwarding


@mutable
class _Known:
    """What is in registers: elements by place, results by operation."""

    elements: dict[tuple[str, Idx], Atom]
    results: dict[object, str]
    names: dict[str, Atom]

    def inner(self, program: Program, block: Block) -> _Known:
        """What a block that runs repeatedly may use of it."""
        written = {a.storage for stmt in block for a in accesses(program, stmt) if a.written}
        elements = {
            place: atom
            for place, atom in self.elements.items()
            if program.buffers[place[0]].storage not in written
        }
        return _Known(elements, dict(self.results), self.names)

    def forget(self, program: Program, storages: set[str]) -> None:
        for place in [p for p in self.elements if program.buffers[p[0]].storage in storages]:
            del self.elements[place]

    def atom(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if isinstance(atom, str) else atom


def _forward(program: Program, block: Block) -> Block:
    return _forwarded(program, block, _Known({}, {}, {}))


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
        case Load(name=name, buffer=buffer, index=index):
            found = known.elements.get((buffer, index))
            if found is not None:
                known.names[name] = found
                return None
            known.elements[buffer, index] = name
            return stmt
        case Compute():
            stmt = replace(stmt, args=tuple(known.atom(a) for a in stmt.args))
            key = (stmt.op, stmt.dtype, stmt.args, stmt.arg_dtypes)
            return _once(stmt, repr(key), known)
        case Index(dtype=dtype, value=value):
            return _once(stmt, ("index", dtype, value), known)
        case Store(buffer=buffer, index=index):
            stmt = replace(stmt, value=known.atom(stmt.value))
            known.forget(program, {program.buffers[buffer].storage})
            known.elements[buffer, index] = stmt.value
            return stmt
        case Accumulate():
            return replace(stmt, value=known.atom(stmt.value), init=known.atom(stmt.init))
        case Boxed():  # native code begins anew behind a call of NumPy, with no registers
            known.elements.clear()
            known.results.clear()
            return stmt
        case _:
            return _forward_nested(program, stmt, known)


def _once(stmt: Compute | Index, key: object, known: _Known) -> Stmt | None:
    earlier = known.results.get(key)
    if earlier is not None:
        known.names[stmt.name] = earlier
        return None
    known.results[key] = stmt.name
    return stmt


def _forward_nested(program: Program, stmt: Stmt, known: _Known) -> Stmt:
    stmt = _with_atoms(stmt, known)
    blocks = tuple(_forwarded(program, b, known.inner(program, b)) for b in blocks_of(stmt))
    written = {a.storage for a in accesses(program, stmt) if a.written}
    known.forget(program, written)
    return with_blocks(stmt, blocks)


def _with_atoms(stmt: Stmt, known: _Known) -> Stmt:
    from .loops import For, If

    match stmt:
        case If():
            return replace(stmt, condition=known.atom(stmt.condition))
        case For():
            return replace(stmt, lo=known.atom(stmt.lo), hi=known.atom(stmt.hi))
        case _:
            return stmt


# -- dead stores and results


def _drop_dead(program: Program) -> Program:
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
                blocks = tuple(_live_block(program, b, read, live) for b in blocks_of(stmt))
                if blocks and not any(blocks):
                    continue
                stmt = with_blocks(stmt, blocks)
        live.update(a for a in atoms_read(stmt) if isinstance(a, str))
        kept.append(stmt)
    return tuple(reversed(kept))


# -- shrinking


def _shrink(program: Program) -> Program:
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


# -- collapsing


def _collapse(program: Program, stmt: Stmt) -> Stmt:
    """Two perfectly nested loops as one, where every access moves on evenly across both."""
    blocks = tuple(tuple(_collapse(program, s) for s in b) for b in blocks_of(stmt))
    stmt = with_blocks(stmt, blocks)
    match stmt:
        case Loop(body=(Loop() as inner,)) if _is_even(program, stmt, inner):
            flat = symbol(stmt.var, hint=0, lower=0)
            dims = {stmt.var: flat // inner.size, inner.var: flat % inner.size}
            levels = {s.levels for s in inner.body if isinstance(s, Accumulate)}
            body = tuple(_lifted(rename(s, dims), bool(levels)) for s in inner.body)
            return replace(stmt, size=stmt.size * inner.size, body=body)
        case _:
            return stmt


def _lifted(stmt: Stmt, carried: bool) -> Stmt:
    if isinstance(stmt, Accumulate) and carried:
        return replace(stmt, levels=stmt.levels - 1)
    return stmt


def _is_even(program: Program, outer: Loop, inner: Loop) -> bool:
    if (outer.ordered, outer.descending) != (inner.ordered, inner.descending):
        return False
    if inner.chunk is not None:
        return False
    for stmt in inner.body:
        match stmt:
            case Load(buffer=buffer, index=index) | Store(buffer=buffer, index=index):
                offset = byte_offset(program.buffers[buffer], index)
                if not _continues(offset, outer, inner):
                    return False
            case Index(value=value):
                if not _continues(value, outer, inner):
                    return False
            case Accumulate(levels=levels, order=order, position=position):
                if levels < 2 or order == "pairwise":
                    return False
                if position is not None and not _continues(position, outer, inner):
                    return False
            case Compute():
                pass
            case _:
                return False
    return True


def _continues(dim: Dim, outer: Loop, inner: Loop) -> bool:
    slow, fast = step_of(dim, outer.var), step_of(dim, inner.var)
    return slow is not None and fast is not None and slow == fast * inner.size
