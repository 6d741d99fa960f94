"""Which buffers statements read and write, and renaming of what indexes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fxc.ir.bounds import decide
from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import rename_computed, substitute
from fxc.ir.symbols import Dim, computed_in, terms_of

from .addressing import byte_offset, is_unit_step, linearised, split, step_of, varies
from .buffers import Atom, Idx
from .program import Program
from .statements import (
    Accumulate,
    Allocate,
    Apply,
    Boxed,
    Check,
    Compute,
    For,
    If,
    Index,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    While,
    blocks_of,
    touched,
    walk,
    whole_buffers,
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
    field: tuple[int, int] | None = None


def accesses(program: Program, stmt: Stmt) -> Iterator[Access]:
    """All accesses of a statement and of what is inside it."""
    buffers = program.buffers
    for inner in walk((stmt,)):
        match inner:
            case Load() | Store():
                buffer, is_written = buffers[inner.buffer], type(inner) is Store
                yield Access(buffer.name, buffer.storage, inner.index, is_written, buffer.field)
            case Compute() | Index():
                pass
            case Matmul() | Apply() | Boxed():
                for name, is_written in whole_buffers(inner):
                    yield Access(name, buffers[name].storage, None, is_written)


def storages(program: Program, block: Sequence[Stmt]) -> set[str]:
    """The storages that statements read or write."""
    read, written = touched(block)
    return {program.buffers[name].storage for name in read | written}


def stored(program: Program, block: Sequence[Stmt]) -> set[str]:
    """The storages that statements write."""
    return {program.buffers[name].storage for name in touched(block)[1]}


def conflict(program: Program, first: Stmt, second: Stmt) -> bool:
    """Whether the order of the two statements matters."""
    if not stored(program, (first,)).isdisjoint(storages(program, (second,))):
        return True
    return not stored(program, (second,)).isdisjoint(storages(program, (first,)))


def are_apart(index: Idx, other: Idx) -> bool:
    """Whether two indices into one buffer never point to the same element."""
    return any(decide(i, "!=", j) is True for i, j in zip(index, other, strict=True))


def rename(stmt: Stmt, dims: dict[str, Dim], known: dict[Idx, Idx] | None = None) -> Stmt:
    """The statement with loop variables replaced; ``known`` are indices for which it is done."""
    known = {} if known is None else known

    def index(old: Idx) -> Idx:
        if old not in known:
            known[old] = tuple(substitute(dim, dims) for dim in old)
        return known[old]

    match stmt:
        case Load(index=old) | Store(index=old):
            return replace(stmt, index=index(old))
        case Compute():
            return stmt
        case Index(value=value):
            return replace(stmt, value=linearised(substitute(value, dims)))
        case Accumulate(position=position) if position is not None:
            return replace(stmt, position=linearised(substitute(position, dims)))
        case Loop(var=var, body=body) | For(var=var, body=body):
            new = dims.get(var)
            kept = str(new) if new is not None else var
            stmt = replace(stmt, var=kept, body=tuple(rename(s, dims, known) for s in body))
            if isinstance(stmt, For):
                return stmt
            return replace(stmt, size=substitute(stmt.size, dims))
        case _:
            blocks = tuple(tuple(rename(s, dims, known) for s in b) for b in blocks_of(stmt))
            return with_blocks(stmt, blocks)


def renamed(
    stmt: Stmt, names: Mapping[str, str], plain: Callable[[Dim], Dim] = lambda dim: dim
) -> Stmt:
    """The statement with scalars of other names, and other dims."""

    def dim(old: Dim) -> Dim:
        return plain(rename_computed(old, names))

    def atom(old: Atom) -> Atom:
        return names.get(old, old) if isinstance(old, str) else old

    match stmt:
        case Load(name=name, index=index):
            return replace(stmt, name=names.get(name, name), index=tuple(map(dim, index)))
        case Store(index=index, value=value):
            return replace(stmt, value=atom(value), index=tuple(map(dim, index)))
        case Index(name=name, value=old):
            return replace(stmt, name=names.get(name, name), value=dim(old))
        case Compute(name=name, args=args):
            return replace(stmt, name=names.get(name, name), args=tuple(map(atom, args)))
        case Accumulate(name=name, value=value, init=init):
            named = names.get(name, name)
            return replace(stmt, name=named, value=atom(value), init=atom(init))
        case Loop(size=size, body=body):
            inner = tuple(renamed(each, names, plain) for each in body)
            return replace(stmt, size=dim(size), body=inner)
        case Check(failed=failed):
            return replace(stmt, failed=atom(failed))
        case If() | For() | While() | Matmul() | Apply():
            blocks = tuple(tuple(renamed(s, names, plain) for s in b) for b in blocks_of(stmt))
            return with_atoms(with_blocks(stmt, blocks), atom)
        case _:
            raise AssertionError(f"{type(stmt).__name__} in a loop that is split")


def with_atoms(stmt: Stmt, atom: Callable[[Atom], Atom]) -> Stmt:
    """A branch or loop of the user's with other scalars in place of those that it reads itself."""
    match stmt:
        case For(leave=leave):
            leave = None if leave is None else atom(leave)
            return replace(stmt, lo=atom(stmt.lo), hi=atom(stmt.hi), leave=leave)
        case If() | While():
            return replace(stmt, condition=atom(stmt.condition))
        case _:
            return stmt


def read_early(program: Program, block: Sequence[Stmt], known: set[str]) -> set[str]:
    """The storages of single numbers that an iteration reads before it stores to them; ``known``
    grows by those that it stores to.
    """
    early: set[str] = set()
    for stmt in block:
        if isinstance(stmt, Load | Store) and not stmt.index:
            storage = program.buffers[stmt.buffer].storage
            if isinstance(stmt, Store):
                known.add(storage)
            elif storage not in known:
                early.add(storage)
        elif isinstance(stmt, If):
            arms = set(known), set(known)
            early |= read_early(program, stmt.then, arms[0])
            early |= read_early(program, stmt.orelse, arms[1])
            known |= arms[0] & arms[1]
    return early


def allocated(block: Sequence[Stmt]) -> list[str]:
    """The storages that a block allocates."""
    return [stmt.storage for stmt in walk(tuple(block)) if isinstance(stmt, Allocate)]


def carried_through(loop: Loop) -> list[Accumulate]:
    """The accumulators whose total is carried through ``loop``."""
    found: list[Accumulate] = []

    def visit(block: Sequence[Stmt], depth: int) -> None:
        for stmt in block:
            if isinstance(stmt, Accumulate) and stmt.levels >= depth:
                found.append(stmt)
            elif isinstance(stmt, Loop):
                visit(stmt.body, depth + 1)

    visit(loop.body, 1)
    return found


# Note [Running totals]
# A total that the rest of an iteration reads (``np.maximum.accumulate``) is the same however the
# elements before it are grouped, if they stay in order: integers that are added or compared, and
# floats that are compared, nans and zeros among them. In lanes each takes in the total of those one
# place before it, then two, then four; all take in that of the lanes before, which the last one
# hands on. Iterations wait for each other once in so many elements.


def is_running(stmt: Accumulate) -> bool:
    """Whether a total that is read on the way can be made in lanes. See Note [Running totals]."""
    kinds = _GROUPED.get(stmt.combine, "")
    is_plain = stmt.levels == 1 and stmt.position is None
    return stmt.order == "sequential" and is_plain and stmt.dtype.kind in kinds


_GROUPED = {  # kinds of dtypes, by operation
    "add": "iu",
    **dict.fromkeys(("maximum", "minimum"), "iuf"),
    **dict.fromkeys(("py_maximum", "py_minimum"), "f"),  # of which none is a nan
}


def pair_at(program: Program, block: Sequence[Stmt], number: int) -> tuple[Store, Store] | None:
    """The statement of that number and the next, if they store the parts of complex numbers."""
    match block[number : number + 2]:
        case [Store(index=(*place, 0)) as first, Store(index=(*again, 1)) as second]:
            if first.buffer == second.buffer and place == again:
                return (first, second) if program.buffers[first.buffer].parts else None
    return None


def elements_apart(program: Program, stmt: Load | Store, var: str) -> int:
    """How many elements lie from one lane to the next, if more than one; 0 if that is not known."""
    offset = byte_offset(program.buffers[stmt.buffer], stmt.index)
    size = stmt.dtype.itemsize
    known, multiples = split(offset)
    step = 0 if any(varies(atom, var) for atom, _ in multiples) else step_of(known, var)
    if not isinstance(step, int) or step % size or abs(step) <= size:
        return 0
    return step // size


def whole_lines(program: Program, loop: Loop, name: str) -> list[Load | Store]:
    """The loads and stores of consecutive elements of a buffer that begin a line of the cache in
    the same iterations: of several such groups the one whose splitting costs most.
    """
    buffer, line = program.buffers[name], program.target.line
    if buffer.field is not None:
        return []
    made = {s.name for s in loop.body if isinstance(s, Load | Compute | Index)}
    groups: dict[frozenset[object], list[Load | Store]] = {}
    for stmt in loop.body:
        if not isinstance(stmt, Load | Store) or stmt.buffer != name:
            continue
        offset = byte_offset(buffer, stmt.index)
        step = step_of(offset, loop.var)
        if not isinstance(step, int) or step <= 0 or not is_unit_step(buffer, step):
            continue
        if isinstance(stmt, Store) or made.isdisjoint(computed_in(offset)):  # known before the loop
            in_line = frozenset((each, number % line) for each, number in terms_of(offset))
            groups.setdefault(in_line - {(each, 0) for each, _ in in_line}, []).append(stmt)
    return max(groups.values(), key=lambda group: split_cost(program, group), default=[])


def split_cost(program: Program, accesses: Sequence[Load | Store]) -> int:
    """What it costs that each of these meets two lines, as a multiple of one load."""
    store = program.target.costs.split_store
    return sum(store if isinstance(stmt, Store) else 1 for stmt in accesses)
