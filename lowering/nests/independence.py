"""Whether the iterations of a loop have nothing to do with each other: then threads may run them.

See Note [Parallel loops].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from fxc.ir.bounds import decide
from fxc.ir.errors import VerificationError
from fxc.ir.records import frozen
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Dim, SymExpr, computed_in, product, symbol, symbols_of

from .accesses import Block, accesses, carried_through, storages
from .addressing import byte_offset, step_of
from .alternatives import extreme, moving
from .buffers import Buffer
from .program import LEAST_PIECE, Program
from .rings import is_ring
from .statements import Accumulate, Compute, Index, Load, Loop, Stmt, Store, blocks_of, walk

# Note [Parallel loops]
# ``for i0 in 0:n parallel 4096``: threads run the loop in chunks of so many iterations, each of
# which does just what the loop would. No iteration reads what another one writes, and no two write
# to one place. So neither the number of threads nor the size of chunks shows in a result;
# ``why_dependent`` says what speaks against it, and a program that is about to be written as code
# is verified (``verify_parallel``).
# - Two iterations write apart if what each meets of a storage lies in an interval of bytes that
#   moves by at least its own width from one iteration to the next; or else if all accesses have one
#   index in common, which is another one in each iteration; or else if that is so of each store and
#   each other access, or if these have an index that always differs (``d[t]``, ``d[t - 1]``).
# - A temporary that each iteration fills before it reads it, and nobody else reads, may be the same
#   for all iterations: there is one ``copy`` of it for each thread, see ``Buffer.copies``. So it is
#   with rows that strips go round in, see Note [Rings].
# - A total that goes through the loop is added up in pieces, which do not depend on the number of
#   threads, and whose totals are added up in an order that is always the same. The pieces of a
#   pairwise sum are what it halves anyway, see Note [Pairwise sums]; those of other totals are
#   equally long. Sums in order have no pieces, and so it is, so far, with positions.
# - Checks, calls and allocations are outside of such loops: nothing ends them early.

Sizes = Mapping[str, Dim]
_MOST_PAIRED = 16  # accesses of one storage that are compared with each other
_Inside = tuple[Load | Store, Sizes]


@frozen
class _Met:
    """An access, the bytes it meets in iteration 0 and by how much they move from one to the next;
    None if that is not known.
    """

    stmt: Load | Store
    low: Dim | None
    high: Dim | None
    step: Dim | None


def why_dependent(program: Program, loop: Loop, private: Set[str] = frozenset()) -> str:
    """What speaks against running iterations of a loop at once; "" if nothing does.

    The storages that are ``private`` have a copy for each thread.
    """
    if loop.ordered or loop.descending or loop.behind:
        return "its iterations have an order"
    for stmt in walk(loop.body):
        if not isinstance(stmt, Load | Compute | Index | Store | Accumulate | Loop):
            return f"it holds a statement of kind {type(stmt).__name__}"
    if carried_through(loop) and not _has_pieces(loop):
        return "it carries a total"
    met: dict[str, list[_Inside]] = {}
    for stmt, sizes in _inside(loop.body, {}):
        met.setdefault(program.buffers[stmt.buffer].storage, []).append((stmt, sizes))
    for storage, places in met.items():
        if storage in private or not any(isinstance(stmt, Store) for stmt, _ in places):
            continue
        found = [_interval(program, stmt, sizes, loop.var) for stmt, sizes in places]
        if not (_are_apart(program, found, loop) or _all_apart(program, found, loop)):
            return f"its iterations share {storage}"
    return ""


def _has_pieces(loop: Loop) -> bool:
    """Whether the totals that go through a loop may be added up in pieces."""
    is_cut = loop.chunk is not None and not (
        isinstance(loop.size, int) and isinstance(loop.chunk, int) and loop.size <= loop.chunk
    )
    return not is_cut and all(
        stmt.order != "sequential" and stmt.levels == 1 and stmt.position is None
        if isinstance(stmt, Accumulate)
        else not isinstance(stmt, Loop)
        for stmt in loop.body
    )


def _why_too_short(loop: Loop) -> str:
    is_sum = any(isinstance(stmt, Accumulate) and stmt.is_pairwise for stmt in loop.body)
    if is_sum and not (isinstance(loop.parallel, int) and loop.parallel >= LEAST_PIECE):
        return "its pieces may be leaves of a pairwise sum"
    return ""


def _inside(block: Block, inner: Sizes) -> Iterator[_Inside]:
    """The accesses of a block, and the sizes of the loops they are inside of."""
    for stmt in block:
        match stmt:
            case Load() | Store():
                yield stmt, inner
            case Loop(var=name, size=size, body=body):
                yield from _inside(body, {**inner, name: size})
            case _:
                pass


def _interval(program: Program, stmt: Load | Store, inner: Sizes, var: str) -> _Met:
    offset = byte_offset(program.buffers[stmt.buffer], stmt.index)
    if computed_in(offset):
        return _Met(stmt, None, None, None)
    sizes = [*inner.items()]
    low, high = extreme(offset, sizes, "max"), extreme(offset, sizes, "min")
    (step, least), (other, most) = moving(low, "max", var), moving(high, "min", var)
    if step is None or step != other or not symbols_of(step).keys().isdisjoint(inner):
        return _Met(stmt, None, None, None)
    return _Met(stmt, least, most + stmt.dtype.itemsize, step)


def _are_apart(program: Program, found: Sequence[_Met], loop: Loop) -> bool:
    return _moves_apart(found) or _have_own_index(program, found, loop)


def _all_apart(program: Program, found: Sequence[_Met], loop: Loop) -> bool:
    """Whether each store and each other access are apart, or never meet one element."""
    if len(found) > _MOST_PAIRED:
        return False
    return all(
        _never_meet(one, other, loop) or _are_apart(program, (one, other), loop)
        for number, one in enumerate(found)
        for other in found[number:]
        if isinstance(one.stmt, Store) or isinstance(other.stmt, Store)
    )


def _never_meet(one: _Met, other: _Met, loop: Loop) -> bool:
    """Whether an index of one access always differs from that of the other, in any iterations."""
    if one is other or one.stmt.buffer != other.stmt.buffer:
        return False
    counters = {loop.var, *(s.var for s in walk(loop.body) if isinstance(s, Loop))}
    here: dict[str, Dim] = {name: symbol(name, hint=0, lower=0) for name in counters}
    there: dict[str, Dim] = {name: symbol(f"{name}.other", hint=0, lower=0) for name in counters}
    for left, right in zip(one.stmt.index, other.stmt.index, strict=True):
        if not (computed_in(left) or computed_in(right)):
            gap = substitute(left, here) - substitute(right, there)
            if decide(gap, ">", 0) is True or decide(gap, "<", 0) is True:
                return True
    return False


def _moves_apart(found: Sequence[_Met]) -> bool:
    """Whether all that an iteration meets moves by its own width, at least."""
    step = found[0].step
    if step is None or any(each.step != step for each in found):
        return False
    width = step if decide(step, ">", 0) else -step
    lows = {each.low for each in found}
    highs = {each.high for each in found}
    return all(
        low is not None and high is not None and decide(high - low, "<=", width)
        for low in lows
        for high in highs
    )


def _have_own_index(program: Program, found: Sequence[_Met], loop: Loop) -> bool:
    """Whether one index of all accesses is the same, and another one in each iteration."""
    if len({each.stmt.buffer for each in found}) > 1:
        return False
    around = {loop.var, *(s.var for s in walk(loop.body) if isinstance(s, Loop))}
    for places in zip(*(each.stmt.index for each in found), strict=True):
        place = places[0]
        if isinstance(place, SymExpr) and not computed_in(place) and len(set(places)) == 1:
            step = step_of(place, loop.var)
            if isinstance(step, int) and step and symbols_of(place).keys() & around == {loop.var}:
                return True
    return False


def private_to(program: Program, loop: Loop) -> frozenset[str]:
    """The temporaries of which each thread that runs iterations of a loop may have its own: those
    that are the same in all iterations, each of which fills them before it reads them.
    """
    named: dict[str, set[str]] = {}
    for access in accesses(program, loop):
        named.setdefault(access.storage, set()).add(access.buffer)
    used = storages(program, tuple(_others(program.body, loop)))
    return frozenset(
        storage
        for storage, names in named.items()
        if program.buffers[storage].role == "temp"
        and storage not in used
        and storage not in program.results
        and names == {storage}
        and (_is_filled(program, loop, storage) or is_ring(loop, program.buffers[storage], _fills))
    )


def _others(block: Sequence[Stmt], loop: Loop) -> Iterator[Stmt]:
    """The statements that are not in a loop, and hold it not."""
    for stmt in block:
        if stmt is loop:
            continue
        if any(inner is loop for inner in walk((stmt,))):
            for each in blocks_of(stmt):
                yield from _others(each, loop)
        else:
            yield stmt


def _is_filled(program: Program, loop: Loop, storage: str) -> bool:
    """Whether no index of the storage moves with the loop, and each iteration stores all elements
    before it reads any.
    """
    for stmt in walk(loop.body):
        index = stmt.index if isinstance(stmt, Load | Store) and stmt.buffer == storage else ()
        if any(computed_in(dim) or loop.var in symbols_of(dim) for dim in index):
            return False
    return _is_filled_in(program, loop.body, storage)


def _is_filled_in(program: Program, block: Block, storage: str) -> bool:
    """Whether a block, which reads the storage, fills it before; or else the only loop in it that
    uses the storage does so in each iteration.
    """
    using = [s for s in block if any(a.storage == storage for a in accesses(program, s))]
    if _fills(using[0], program.buffers[storage]):
        return True
    inner = blocks_of(using[0])
    return len(using) == len(inner) == 1 and _is_filled_in(program, inner[0], storage)


def _fills(stmt: Stmt, buffer: Buffer, around: Sizes | None = None) -> bool:
    """Whether a statement, inside of loops of these sizes, stores all elements of a buffer before
    it loads any.
    """
    around = around or {}
    match stmt:
        case Loop(var=var, size=size, body=body):
            uses = [
                s for s in walk(body) if isinstance(s, Load | Store) and s.buffer == buffer.name
            ]
            first = next(s for s in body if uses[0] in walk((s,)))
            at_one_place = all(each.index == uses[0].index for each in uses)
            return at_one_place and _fills(first, buffer, {**around, var: size})
        case Store(index=index):
            return _meets_all(buffer, byte_offset(buffer, index), around)
        case _:
            return False


def _meets_all(buffer: Buffer, offset: Dim, around: Sizes) -> bool:
    """Whether loops take an offset through all elements of a buffer, one after the other in memory
    for some order of the loops.
    """
    steps = {name: step_of(offset, name) for name in around}
    if any(not steps[name] and not decide(size, ">=", 1) for name, size in around.items()):
        return False
    left = {name: steps[name] for name, size in around.items() if size != 1 and steps[name] != 0}
    reached: Dim = buffer.dtype.itemsize
    while left:
        name = next((name for name, step in left.items() if step == reached), None)
        if name is None:
            return False
        reached = reached * around[name]
        del left[name]
    whole = product(buffer.shape) * buffer.dtype.itemsize
    return reached == whole and substitute(offset, dict.fromkeys(around, 0)) == buffer.offset


def verify_parallel(program: Program) -> None:
    """Raise ``VerificationError`` if a parallel loop is inside of another one, or its iterations
    depend on each other.
    """
    for stmt in walk(program.body):
        if not isinstance(stmt, Loop):
            continue
        inner = [each for each in walk(stmt.body) if isinstance(each, Loop)]
        if any(each.parallel is not None for each in inner):
            raise VerificationError(f"a loop inside of {stmt.var} is parallel\n{program}")
        if stmt.parallel is None:
            continue
        own = {name for name in private_to(program, stmt) if program.buffers[name].copies > 1}
        why = why_dependent(program, stmt, own) or _why_too_short(stmt)
        if why:
            raise VerificationError(f"{stmt.var} is parallel, but {why}\n{program}")
