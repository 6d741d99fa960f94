"""What takes less time to compute where it is read than to store and to load is computed there.

::

    for i in 0:n + 1
      b[i] = f(u[i], u[i + 1])           for i in 0:n
    for i in 0:n                      →    v[i] = g(f(u[i + 1], u[i + 2]), f(u[i], u[i + 1]))
      v[i] = g(b[i + 1], b[i])

A nest that reads a temporary at several places, or in a loop of another size, cannot be merged with
the one that stores it. Where an element takes few operations, to make it anew at each place is
cheaper than its way through the caches. Of stages that follow each other the last come first: each
one before them has more places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, computed_in, product

from ..nests.accesses import Block, rename, renamed, storages, stored
from ..nests.addressing import byte_offset, split, step_of
from ..nests.buffers import Idx
from ..nests.program import Program, is_cut
from ..nests.statements import (
    Accumulate,
    Bind,
    Compute,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    atoms_read,
    blocks_of,
    walk,
    with_blocks,
)
from ..operators.python_rules import SCALAR_RULES
from ..operators.scalar_rules import are_told_apart, ignored
from .cost import cost
from .forward import forward


def recompute(program: Program) -> Program:
    """Compute elements of temporaries where they are read, if that takes less time.

    Requires: nests are merged, and what they store is forwarded. Ensures: the same results, bit for
    bit; temporaries that are no longer read are still stored to.
    """
    return replace(program, body=_block(program, program.body, _uses(program.body)))


_NAMED = Load | Compute | Index


@frozen
class _Element:
    """How an element of a temporary is made: by ``stmts`` in loops with these ``counters``, the
    last of which has its value.
    """

    buffer: str
    index: Idx
    counters: Mapping[str, Dim]  # and their sizes
    stmts: Block

    @property
    def reads(self) -> set[str]:
        return {stmt.buffer for stmt in self.stmts if isinstance(stmt, Load)}

    @property
    def has_given(self) -> bool:
        """Whether it is made of numbers that are computed in front of the loops."""
        read = {atom for stmt in self.stmts for atom in atoms_read(stmt) if isinstance(atom, str)}
        return not read <= {stmt.name for stmt in _named(self.stmts)}

    def of(self, load: Load) -> Block:
        """The statements that make what is loaded, of the same name."""
        names = {each.name: f"{load.name}_{n}" for n, each in enumerate(_named(self.stmts))}
        names[list(names)[-1]] = load.name
        where = {str(at): there for at, there in zip(self.index, load.index, strict=True)}
        where = {name: dim for name, dim in where.items() if name in self.counters}
        return tuple(rename(renamed(stmt, names), where) for stmt in self.stmts)


def _block(program: Program, block: Block, uses: Mapping[str, int]) -> Block:
    """A block with elements made where they are read; ``uses`` counts the loads and stores of each
    buffer in the whole program, as it was.
    """
    here = _uses(block)
    own = {name for name, number in here.items() if number == uses.get(name)}
    made = list(block)
    for place in reversed(range(len(made))):
        stmt = made[place]
        if isinstance(stmt, Loop):
            behind: Sequence[Stmt] = made[place + 1 :]
            for element in _elements(program, stmt):
                only = _uses(made[: place + 1])[element.buffer] == 1
                if only and element.buffer in own:
                    behind = _made_there(program, element, behind)
            made[place + 1 :] = behind
        inner = tuple(_block(program, each, uses) for each in blocks_of(stmt))
        made[place] = with_blocks(stmt, inner) if inner else stmt
    return tuple(made)


def _uses(block: Sequence[Stmt]) -> Counter[str]:
    return Counter(s.buffer for s in walk(tuple(block)) if isinstance(s, Load | Store))


def _named(block: Block) -> list[Load | Compute | Index]:
    return [stmt for stmt in block if isinstance(stmt, Load | Compute | Index)]


def _elements(program: Program, nest: Loop) -> Iterator[_Element]:
    """The elements of whole temporaries for which alone there are loops in a nest. What is stored
    beside something else, as where rows are added up, is made there anyway, and at hand.
    """
    written = stored(program, (nest,))
    for counters, body in _bodies(nest, {}):
        store = body[-1]
        if not isinstance(store, Store) or not all(isinstance(s, _NAMED) for s in body[:-1]):
            continue
        made = {stmt.name for stmt in walk((nest,)) if isinstance(stmt, _NAMED | Accumulate)}
        made -= {stmt.name for stmt in _named(body)}
        stmts = _needed(body, store) if _fills(program, store, counters) else ()
        if any(not made.isdisjoint(atoms_read(stmt)) for stmt in stmts):
            continue
        if stmts and written.isdisjoint(storages(program, stmts)):
            yield _Element(store.buffer, store.index, counters, stmts)


def _bodies(loop: Loop, around: Mapping[str, Dim]) -> Iterator[tuple[Mapping[str, Dim], Block]]:
    """The bodies of loops with no loop inside, with the counters around them and their sizes."""
    if loop.ordered or loop.chunk is not None:
        return
    counters = {**around, loop.var: loop.size}
    inner = [stmt for stmt in loop.body if isinstance(stmt, Loop)]
    for each in inner:
        yield from _bodies(each, counters)
    if not inner:
        yield counters, loop.body


def _fills(program: Program, store: Store, counters: Mapping[str, Dim]) -> bool:
    """Whether this stores all there is of a temporary, but for what loops around it do."""
    buffer = program.buffers[store.buffer]
    names = [str(dim) for dim in store.index]
    if buffer.role != "temp" or len({*names}) != len(names) or not counters.keys() <= {*names}:
        return False
    if any(isinstance(dim, int) or computed_in(dim) for dim in store.index):
        return False
    sizes = zip(names, buffer.shape, strict=True)
    return all(counters.get(name, size) == size for name, size in sizes)


def _needed(body: Block, store: Store) -> Block:
    """The statements that make what is stored; none if that is a number, or at hand, or is looked
    up at a place that is computed.
    """
    needed, found = {store.value}, list[Stmt]()
    for stmt in reversed(_named(body)):
        if stmt.name in needed:
            found.append(stmt)
            needed |= {*atoms_read(stmt)}
            if isinstance(stmt, Load) and any(map(computed_in, stmt.index)):
                return ()
    if not found or not isinstance(found[0], Load | Compute) or found[0].name != store.value:
        return ()
    return tuple(reversed(found))


def _made_there(program: Program, element: _Element, behind: Sequence[Stmt]) -> Sequence[Stmt]:
    """What is behind a nest, with the element made where it is loaded, if that is right and takes
    less time.
    """
    using = [stmt for stmt in behind if element.buffer in storages(program, (stmt,))]
    nests = [stmt for stmt in using if isinstance(stmt, Loop)]
    if not nests or len(nests) != len(using) or element.buffer in stored(program, using):
        return behind
    if not _is_seen(program, element, nests):
        return behind
    told = ignored(element.stmts)
    if any(are_told_apart(told, ignored((nest,))) for nest in nests):
        return behind
    last = max(place for place, stmt in enumerate(behind) if stmt in using)
    between = behind[: last + 1]
    if element.has_given and any(map(is_cut, between)):  # the next piece has no registers of this
        return behind
    reads = storages(program, element.stmts)
    if not reads.isdisjoint(stored(program, between)) or any(isinstance(s, Bind) for s in between):
        return behind
    instead = {
        id(each): forward(program, (_with(each, element),), is_part=True)[0] for each in nests
    }
    if not _pays(program, element, (tuple(nests), tuple(instead.values()))):
        return behind
    return [instead.get(id(stmt), stmt) for stmt in behind]


def _is_seen(program: Program, element: _Element, nests: Sequence[Loop]) -> bool:
    """Whether a temporary has no other readings, and each load in these nests can be replaced."""
    storage = program.buffers[element.buffer].storage
    if sum(each.storage == storage for each in program.buffers.values()) > 1:
        return False
    loads = [found for nest in nests for found in _loads(nest, element.buffer)]
    return storage not in program.results and all(
        _moves_as_evenly(program, element, loop, load) for loop, load in loads
    )


def _loads(loop: Loop, name: str) -> Iterator[tuple[Loop, Load]]:
    """The loads of a buffer, each with the loop that it is directly in."""
    for stmt in loop.body:
        if isinstance(stmt, Load) and stmt.buffer == name:
            yield loop, stmt
        elif isinstance(stmt, Loop):
            yield from _loads(stmt, name)


def _moves_as_evenly(program: Program, element: _Element, loop: Loop, load: Load) -> bool:
    """Whether what makes an element moves by a fixed step from one iteration to the next, and reads
    memory in steps that are no longer than the load's.
    """
    if any(map(computed_in, load.index)):
        return False
    for at, there in zip(element.index, load.index, strict=True):
        if str(at) not in element.counters and at != there:
            return False
    whole = step_of(byte_offset(program.buffers[load.buffer], load.index), loop.var)
    for stmt in element.of(load):
        if isinstance(stmt, Load):
            step = step_of(byte_offset(program.buffers[stmt.buffer], stmt.index), loop.var)
            if whole is None or step is None:
                return False
            if abs(hint(step)) > max(abs(hint(whole)), stmt.dtype.itemsize):
                return False
        elif isinstance(stmt, Index) and step_of(split(stmt.value)[0], loop.var) is None:
            return False
    return True


def _with(stmt: Stmt, element: _Element) -> Stmt:
    """The statement, in which an element is made in place of each load."""

    def one(inner: Stmt) -> Block:
        if isinstance(inner, Load) and inner.buffer == element.buffer:
            return element.of(inner)
        return (_with(inner, element),)

    blocks = tuple(tuple(made for s in b for made in one(s)) for b in blocks_of(stmt))
    return with_blocks(stmt, blocks) if blocks else stmt


def _pays(program: Program, element: _Element, nests: tuple[Block, Block]) -> bool:
    """Whether nests with the element made in them take less time than those that load it, with the
    one that stores it, and its way through the caches. No division is done twice.
    """
    target, buffer = program.target, program.buffers[element.buffer]
    places = {s.index for s in walk(nests[0]) if isinstance(s, Load) and s.buffer == buffer.name}
    operations = [SCALAR_RULES[s.op].cost for s in element.stmts if isinstance(s, Compute)]
    if max(operations, default=0) > target.costs.stored_weight and len(places) > 1:
        return False
    found = [cost(target, each) for each in (*nests, element.stmts)]
    before, after, own = (None if each is None else hint(each) for each in found)
    if before is None or after is None or own is None:
        return False
    number, itemsize = hint(product(tuple(element.counters.values()))), buffer.dtype.itemsize
    is_far = number * itemsize > target.nearest
    saved = own + itemsize * (target.costs.byte + target.costs.far_byte * is_far)
    return after <= before + number * saved
