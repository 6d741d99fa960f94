"""Loops over steps in which each element meets only itself run all steps for one part of the
elements, then for the next.

::

    for k in 0:steps                       for s in 0:(n + 1023) // 1024
      for i in 0:n                           for k in 0:steps
        x[i] = f(x[i], c[i])         →         for i in 0:min(1024, n - 1024*s)
                                                 x[i + 1024*s] = f(x[i + 1024*s], c[i + 1024*s])

The part stays in the cache for all steps; the whole arrays would go through it once a step. Each
element is computed by the same operations in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.size_functions import floordiv, hint, minimum
from fxc.ir.symbols import Dim, computed_in, product, symbol, symbols_of

from ..nests.accesses import Access, Block, accesses, rename, stored
from ..nests.addressing import byte_offset, step_of
from ..nests.buffers import I64, Const
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import (
    Compute,
    For,
    Index,
    Load,
    Loop,
    Stmt,
    walk,
)
from .strips import is_plain

rows_behind = import_later("fxc.lowering.scheduling.row_blocks", "rows_behind")


def interchange(program: Program) -> Program:
    """Let loops over steps run inside of a loop over parts of the elements.

    Requires: nests are merged. Ensures: the same results, bit for bit.
    """
    return replace(program, body=outermost_first(program.body, partial(_in_parts, program)))


def _in_parts(program: Program, steps: For) -> list[Stmt] | None:
    """The loop inside of one over parts; None if that is not right or does not pay."""
    nests = [stmt for stmt in walk(steps.body, into_loops=False) if isinstance(stmt, Loop)]
    if not nests or not _has_only_nests(program, steps) or len({nest.size for nest in nests}) > 1:
        return None
    if not _meets_only_itself(program, nests) or _reads_results(program, steps, nests):
        return None
    counters = {stmt.var for stmt in walk((steps,), into_loops=False) if isinstance(stmt, For)}
    size, (each, new) = nests[0].size, _bytes(program, nests, counters)
    costs = program.target.costs
    if counters & symbols_of(size).keys() or computed_in(size):
        return None
    if each <= 2 * new or _are_few(steps, costs.parts_steps):
        return None
    if each * hint(size) < costs.parts_bytes:
        return None
    part = max(program.target.nearest // each, 1)
    part = 1 << (min(part, costs.parts_iterations).bit_length() - 1)
    if hint(size) < 2 * part:
        return None
    number = symbol(f"{nests[0].var}p", hint=0, lower=0)
    count = f"{number}.count"
    inside = replace(steps, body=_parts(steps.body, number * part, part))
    return [
        Index(count, I64, floordiv(size + (part - 1), part)),
        For(str(number), Const(0, I64), count, (inside,), loc=steps.loc),
    ]


def _has_only_nests(program: Program, steps: For) -> bool:
    """Whether there is nothing but nests, and scalars that are the same for each part."""
    if steps.leave is not None:
        return False
    for stmt in steps.body:
        match stmt:
            case Loop():
                if not is_plain(program, stmt):
                    return False
            case For():
                if not _has_only_nests(program, stmt):
                    return False
            case Load() | Compute() | Index():
                pass
            case _:
                return False
    return True


def _meets_only_itself(program: Program, nests: Sequence[Loop]) -> bool:
    """Whether iterations of different numbers meet no common element that one of them stores, and
    no array of the caller's is stored to: an interrupt would leave its elements at different steps.
    """
    found = [(nest.var, access) for nest in nests for access in accesses(program, nest)]
    written = {access.storage for _, access in found if access.written}
    if any(program.buffers[name].role == "input" for name in written):
        return False
    for storage in written:
        places = [(var, each) for var, each in found if each.storage == storage]
        if len({each.buffer for _, each in places}) > 1 or not _same_place(places):
            return False
    return True


def _reads_results(program: Program, steps: For, nests: Sequence[Loop]) -> bool:
    """Whether a scalar that is read between nests is an element that they store."""
    written = stored(program, nests)
    scalars = (each for each in walk(steps.body, into_loops=False) if isinstance(each, Load))
    return any(program.buffers[each.buffer].storage in written for each in scalars)


def _same_place(places: Sequence[tuple[str, Access]]) -> bool:
    """Whether along one axis all indices are the loop's counter, and as much more."""
    ranks = {len(each.index) for _, each in places if each.index is not None}
    if len(ranks) != 1 or any(each.index is None for _, each in places):
        return False
    for axis in range(ranks.pop()):
        ahead = {rows_behind(each.index[axis], var) for var, each in places if each.index}
        if len(ahead) == 1 and None not in ahead:
            return True
    return False


def _bytes(program: Program, nests: Sequence[Loop], counters: Set[str]) -> tuple[int, int]:
    """The bytes of one iteration of all nests: of buffers in which each step meets the same
    elements, or others of the same cache lines, and of those in which it meets others.
    """
    line = program.target.line
    moving: dict[str, tuple[bool, int]] = {}
    for nest in nests:
        for access in accesses(program, nest):
            if (index := access.index) is None:
                continue
            offset = byte_offset(program.buffers[access.buffer], index)
            steps = [step_of(offset, counter) for counter in counters]
            is_same = all(s is not None and 2 * abs(hint(s)) <= line for s in steps)
            for axis, dim in enumerate(index):
                if rows_behind(dim, nest.var) is not None:
                    size = _of_row(program, access, axis, counters if is_same else frozenset())
                    moving.setdefault(access.buffer, (is_same, size))
    same, new = (
        sum(size for each, size in moving.values() if each is kind) for kind in (True, False)
    )
    return same, new


def _of_row(program: Program, access: Access, axis: int, counters: Set[str]) -> int:
    """The bytes of a row behind an axis: a cache line of what moves with counters."""
    buffer, index = program.buffers[access.buffer], access.index or ()
    fixed = [not (counters & symbols_of(dim).keys()) for dim in index[axis + 1 :]]
    rest = product(
        [size for size, kept in zip(buffer.shape[axis + 1 :], fixed, strict=True) if kept]
    )
    return hint(rest) * (buffer.dtype.itemsize if all(fixed) else program.target.line)


def _are_few(steps: For, few: int) -> bool:
    lo, hi = steps.lo, steps.hi
    known = isinstance(lo, Const) and isinstance(hi, Const)
    return known and int(hi.value) - int(lo.value) < few  # type: ignore[union-attr]


def _parts(block: Block, start: Dim, part: int) -> Block:
    """The statements for the elements of one part."""
    result: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Loop(var=var, size=size, body=body):
                shift: dict[str, Dim] = {var: symbol(var, hint=0, lower=0) + start}
                inner = tuple(rename(each, shift) for each in body)
                result.append(replace(stmt, size=minimum(part, size - start), body=inner))
            case For(body=body):
                result.append(replace(stmt, body=_parts(body, start, part)))
            case _:
                result.append(stmt)
    return tuple(result)
