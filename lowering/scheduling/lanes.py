"""Which loops run in lanes, in how many, and how such loops begin and end.

::

    for i0 in 0:1000                →     for i0 in 0:1000 lanes 8 overlapping aligned to b1
      b1[i0] = exp(x[i0])                   b1[i0] = exp(x[i0])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from fxc.ir.boxed_dtypes import has_gaps
from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.size_functions import hint
from fxc.ir.symbols import computed_in, symbol

from ..nests.accesses import Block, carried_through, rename, split_cost, whole_lines
from ..nests.addressing import byte_offset, step_of
from ..nests.buffers import Const
from ..nests.extremes import extreme_of, without_position
from ..nests.hoisting import hoist
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    Ends,
    For,
    If,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
    While,
    blocks_of,
    walk,
    with_blocks,
)
from ..operators.python_rules import POWERS, SCALAR_RULES
from .survey import Survey, lanes_for

# See Note [Rooms with one door].
chunk = import_later("fxc.lowering.nests.chunks", "chunk")
compaction = import_later("fxc.lowering.nests.compaction", "compaction")
in_turn = import_later("fxc.lowering.nests.turns", "in_turn")
postponed_powers = import_later("fxc.lowering.operators.postponed_powers", "postponed_powers")

# Note [Loops in lanes]
# ``for i0 in 0:n lanes 8``: eight iterations run at once, as far as there are so many; a loop
# inside has lanes of its own where the one around has none, as in its rest. What fills no vector
# is said by ``ends``:
# - "rest": it runs one by one behind the vectors;
# - "again": as "overlapping", of a loop that finds extremes beside what it stores; one of any size
#   goes on in narrow vectors before, and runs one by one if it has fewer iterations than those;
# - "overlapping": there is no rest, the last vector ends with the loop, and does some iterations
#   once more;
# - "reaching": as "overlapping", of a parallel loop: a chunk that has fewer iterations than lanes
#   does some of the chunk in front of it once more, too;
# - "end first": the last vector is computed before all others and stored after them;
# - "ends first": so is the first one.
# The other vectors of a loop that is ``aligned`` to a buffer store to whole cache lines of it, or
# load them: as many as can be of one that is met at several places (``whole_lines``). A loop that
# adds up pairwise has as many lanes as NumPy, or twice as many, for two groups at once.


def lanes(program: Program) -> Program:
    """Choose lanes for all loops.

    Requires: no loop is changed afterwards. Ensures: the same statements.
    """
    return replace(program, body=_block(program, program.body))


def _block(program: Program, block: Block, *, inside: bool = False) -> Block:
    """``inside``: it stands in a loop, which begins those in it again and again."""
    return tuple(_in_lanes(program, stmt, inside) for stmt in block)


def _in_lanes(program: Program, stmt: Stmt, inside: bool) -> Stmt:
    if not isinstance(stmt, Loop):
        blocks = tuple(_block(program, each, inside=inside) for each in blocks_of(stmt))
        return with_blocks(stmt, blocks)
    if stmt.lanes > 1:
        return stmt  # as an earlier step wants it
    loop = as_written(program, stmt)
    if any(isinstance(each, Loop) for each in loop.body):
        stmt = replace(stmt, body=_like(stmt.body, _block(program, loop.body, inside=True)))
    if any(isinstance(each, Accumulate) and each.is_pairwise for each in loop.body):
        return replace(stmt, lanes=_of_tree(program, loop))
    if _is_packed(program, loop):
        return replace(stmt, packed=True)
    if _is_block_move(program, loop, inside):
        return replace(stmt, moved=True)
    extreme = extreme_of(loop)
    if extreme is not None:
        count = lanes_for(program, without_position(loop, extreme), stmt.size)
        return replace(stmt, lanes=count, searched=True) if count > 1 else stmt
    count = lanes_for(program, loop, stmt.size)
    if count == 1:
        count = _in_turn(program, loop)
        return stmt if count == 1 else replace(stmt, lanes=count, in_turn=True)
    if _is_postponed(program, loop, count):
        ends = "overlapping" if is_repeatable(program, loop) else "rest"
        if ends == "overlapping" and _has_one_in_front(stmt, count):
            ends = "reaching"
        return replace(stmt, lanes=count, ends=ends, postponed=True)
    to_align = _to_align(program, loop, count, inside)
    ends = _ends(program, loop, count, bool(to_align))
    if ends == "overlapping" and _has_one_in_front(stmt, count):
        ends = "reaching"
    aligned = to_align if ends in _ALIGNED else ""
    return replace(stmt, lanes=count, ends=ends, aligned=aligned)


def _in_turn(program: Program, loop: Loop) -> int:
    """The lanes of what comes before updates that are made in turn; 1 if they do not pay."""
    parts = in_turn(program, loop)
    if parts is None:
        return 1
    work = sum(SCALAR_RULES[s.op].cost for s in parts.lanes if isinstance(s, Compute))
    survey = Survey(program, replace(loop, body=parts.lanes))
    if work < program.target.costs.turns_work or not survey.possible:
        return 1
    return program.target.vector // survey.widest


def _is_postponed(program: Program, loop: Loop, count: int) -> bool:
    """Whether its powers are asked for behind strips of iterations."""
    costs = program.target.costs
    if not any(isinstance(stmt, Compute) and stmt.op in POWERS for stmt in loop.body):
        return False
    if hint(loop.size) < costs.powers_least or count % costs.powers_lanes or count & (count - 1):
        return False
    return postponed_powers(program, loop) is not None


def _is_packed(program: Program, loop: Loop) -> bool:
    """Whether it stores places by the bits of masks, which lanes find."""
    found = compaction(program, loop) if loop.ordered else None
    return found is not None and Survey(program, replace(loop, body=found.before)).possible


def as_written(program: Program, loop: Loop) -> Loop:
    """The loop upwards; of a parallel one, a chunk."""
    if loop.descending:
        backwards = loop.size - 1 - symbol(loop.var, hint=0)
        body = tuple(rename(stmt, {loop.var: backwards}) for stmt in loop.body)
        return replace(loop, body=body, descending=False)
    if loop.parallel is None:
        return loop
    chunked: Loop = chunk(replace(loop, body=hoist(program, loop)[1]))
    return chunked


def _like(block: Block, chosen: Block) -> Block:
    """The statements, with the lanes that were chosen for their loops as they are written."""
    others = iter([stmt for stmt in chosen if type(stmt) in _WITH_LOOPS])
    return tuple(_as(stmt, next(others)) if type(stmt) in _WITH_LOOPS else stmt for stmt in block)


def _as(stmt: Stmt, chosen: Stmt) -> Stmt:
    blocks = tuple(map(_like, blocks_of(stmt), blocks_of(chosen)))
    stmt = with_blocks(stmt, blocks)
    if not (isinstance(stmt, Loop) and isinstance(chosen, Loop)):
        return stmt
    return replace(
        stmt,
        lanes=chosen.lanes,
        ends=chosen.ends,
        aligned=chosen.aligned,
        moved=chosen.moved,
        packed=chosen.packed,
        in_turn=chosen.in_turn,
        searched=chosen.searched,
        postponed=chosen.postponed,
    )


_WITH_LOOPS = frozenset({Loop, If, For, While})

_ALIGNED = ("overlapping", "reaching", "ends first")


def _has_one_in_front(loop: Loop, count: int) -> bool:
    """Whether each chunk of a loop has so many iterations itself and in front of it: all but the
    last one have as many as ``parallel`` says, or more.
    """
    size, least = loop.size, loop.parallel
    return isinstance(size, int) and isinstance(least, int) and min(size, least) >= count


# ------------------------------------------------------------------ trees


def _of_tree(program: Program, loop: Loop) -> int:
    """The lanes of the leaves of a pairwise sum."""
    from ..operators.reduction_order import PAIRWISE_LANES  # not for programs without such sums

    _, body = hoist(program, loop)
    totals = [stmt for stmt in body if isinstance(stmt, Accumulate)]
    (count,) = {PAIRWISE_LANES[stmt.order] for stmt in totals if stmt.is_pairwise}
    rest = [stmt for stmt in body if not isinstance(stmt, Accumulate)]
    work = sum(SCALAR_RULES[stmt.op].cost for stmt in rest if isinstance(stmt, Compute))
    is_narrow = 2 * count * _widest(rest, totals) <= program.target.vector
    return 2 * count if is_narrow or work >= program.target.costs.lanes_work else count


def _widest(block: Sequence[Stmt], totals: Sequence[Accumulate]) -> float:
    """The bytes of the widest element; infinite if there is more than elements."""
    sizes: list[float] = [stmt.dtype.itemsize for stmt in totals]
    for stmt in block:
        match stmt:
            case Load(dtype=dtype) | Store(dtype=dtype):
                sizes.append(dtype.itemsize)
            case Compute(dtype=dtype, arg_dtypes=given):
                sizes += [dtype.itemsize, *(each.itemsize for each in given)]
            case _:
                sizes.append(np.inf)
    return max(sizes)


# ------------------------------------------------------------------ ends


def _ends(program: Program, loop: Loop, count: int, is_aligned: bool) -> Ends:
    is_known = isinstance(loop.size, int)
    if isinstance(loop.size, int) and loop.size < count and not loop.behind:
        return "rest"
    enough = not isinstance(loop.size, int) or loop.size > count
    if enough and (loop.size % count or is_aligned) and is_repeatable(program, loop):
        return "overlapping"
    _, body = hoist(program, loop)
    is_short = len(walk(body)) <= program.target.costs.ends_statements
    if loop.behind or (enough and is_short and _computes_first(program, body)):
        return "ends first" if is_short and is_known else "end first"
    if (not is_known or loop.size % count) and _may_take_again(program, loop, body):
        return "again"
    return "rest"


def _may_take_again(program: Program, loop: Loop, body: Sequence[Stmt]) -> bool:
    """Whether iterations may run twice, as is_repeatable says, but for extremes that they find."""
    totals = [stmt for stmt in body if isinstance(stmt, Accumulate)]
    plain = all(isinstance(stmt, Load | Compute | Index | Accumulate | Store) for stmt in body)
    extremes = all(
        s.order == "any" and s.combine in _EXTREMES and s.position is None for s in totals
    )
    others = [stmt for stmt in body if not isinstance(stmt, Accumulate)]
    return plain and extremes and is_repeatable(program, replace(loop, body=tuple(others)))


_EXTREMES = frozenset(("maximum", "minimum", "logical_or", "logical_and"))


def is_repeatable(program: Program, loop: Loop) -> bool:
    """Whether iterations of ``loop`` may run twice: none reads what one writes, or adds it up."""
    stored = {s.buffer for s in walk(loop.body) if isinstance(s, Store)}
    loaded = {s.buffer for s in walk(loop.body) if isinstance(s, Load)}
    written = {program.buffers[buffer].storage for buffer in stored}
    read = {program.buffers[buffer].storage for buffer in loaded}
    return not (written & read) and not carried_through(loop)


def _computes_first(program: Program, body: Sequence[Stmt], depth: int = 0) -> bool:
    """Whether iterations of a loop may be computed before earlier ones store, and stored twice.

    Loads that follow a store, or meet computed places of what is stored, could tell. ``depth``: of
    loops around, with totals of their own.
    """
    stored = {program.buffers[s.buffer].storage for s in body if isinstance(s, Store)}
    already: set[str] = set()
    for stmt in body:
        match stmt:
            case Load(buffer=buffer, index=index):
                storage = program.buffers[buffer].storage
                is_computed = any(computed_in(dim) for dim in index)
                if storage in already or (storage in stored and is_computed):
                    return False
            case Store(buffer=buffer, index=index):
                if any(computed_in(dim) for dim in index):
                    return False
                already.add(program.buffers[buffer].storage)
            case Compute() | Index():
                pass
            case Accumulate(levels=levels) if levels <= depth:
                pass
            case Loop(body=inner) if not any(isinstance(each, Store) for each in walk(inner)):
                read = {program.buffers[s.buffer].storage for s in walk(inner) if _is_load(s)}
                if read & already or not _computes_first(program, inner, depth + 1):
                    return False
            case _:
                return False
    return True


def _is_load(stmt: Stmt) -> TypeGuard[Load]:
    return isinstance(stmt, Load)


def _to_align(program: Program, loop: Loop, lanes: int, inside: bool) -> str:
    """The buffer at whose cache lines vectors had best begin: where most is split otherwise. None
    ("") if the loop is too short to care, or does not store to consecutive elements.
    """
    costs = program.target.costs
    is_short = hint(loop.size) < costs.ends_vectors * lanes
    if is_short and isinstance(loop.size, int):
        return ""
    names = dict.fromkeys(s.buffer for s in loop.body if isinstance(s, Load | Store))
    found = {name: whole_lines(program, loop, name) for name in names}
    found = {name: each for name, each in found.items() if _fills_lines(program, loop, each, lanes)}
    stored = [name for name in found if any(isinstance(s, Store) for s in found[name])]
    if not stored:
        return ""
    best = max((*stored, *found), key=lambda name: split_cost(program, found[name]))
    if is_short and inside and split_cost(program, found[best]) <= costs.split_store:
        return ""  # one store gains less than it takes to look where each row begins
    return best


def _fills_lines(
    program: Program, loop: Loop, accesses: Sequence[Load | Store], lanes: int
) -> bool:
    """Whether vectors of so many lanes go on by whole lines."""
    if not accesses:
        return False
    step = step_of(byte_offset(program.buffers[accesses[0].buffer], accesses[0].index), loop.var)
    return isinstance(step, int) and lanes * step % program.target.line == 0


# ------------------------------------------------------------------ moves


def _is_block_move(program: Program, loop: Loop, inside: bool) -> bool:
    """Whether a loop only fills or copies consecutive elements, enough of them for a call."""
    buffers = program.buffers
    if not (loop.body and isinstance(store := loop.body[-1], Store)) or has_gaps(store.dtype):
        return False
    copied = [each for each in loop.body if _is_copy(each) and each.name == store.value]
    value = copied[0].args[0] if copied else store.value
    body = tuple(each for each in loop.body if each not in copied)
    if len(body) > 2:  # places that are computed among them
        return False
    for stmt in body:
        if isinstance(stmt, Load | Store):
            offset = byte_offset(buffers[stmt.buffer], stmt.index)
            if step_of(offset, loop.var) != stmt.dtype.itemsize:
                return False
    match body[:-1]:
        case () if isinstance(value, Const):
            return len(set(np.array(value.value).astype(store.dtype).tobytes())) == 1
        case (Load() as load,) if load.name == value:
            is_apart = buffers[load.buffer].storage != buffers[store.buffer].storage
            size, costs = hint(loop.size) * store.dtype.itemsize, program.target.costs
            is_call = inside and not isinstance(loop.size, int)  # of known size LLVM writes it down
            least = costs.moved_least if is_call else 0
            return is_apart and least <= size <= costs.moved
    return False


def _is_copy(stmt: Stmt) -> TypeGuard[Compute]:
    return isinstance(stmt, Compute) and stmt.op == "copy" and stmt.arg_dtypes == (stmt.dtype,)
