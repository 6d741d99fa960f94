"""The work of each loop nest: what it moves and computes, and how long that takes at least."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fxc.ir.errors import InternalError
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint, substitute
from fxc.ir.symbols import Dim

from ..nests.accesses import Block
from ..nests.alternatives import most
from ..nests.bounds import Range, counter_bounds
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Compute,
    For,
    If,
    Load,
    Loop,
    Matmul,
    Store,
    While,
    blocks_of,
    touched,
    walk,
)
from ..nests.traffic import nest_traffic
from .explain import loops_text, reasons


@frozen
class Kernel:
    """One loop nest or product of matrices, at the sizes that it was compiled for.

    ``times`` is how often it runs in a call, None if nobody knows. ``moved`` bytes and
    ``operations`` are those of one time.
    """

    place: str
    loops: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    times: int | None
    moved: int
    operations: int
    reasons: tuple[str, ...]


def kernels(program: Program) -> list[Kernel]:
    """The loop nests and products of a program, in its order."""
    return [*_kernels(program, program.body, 1, counter_bounds(program))]


def _kernels(
    program: Program, block: Block, times: int | None, bounds: Mapping[str, Range]
) -> Iterator[Kernel]:
    for stmt in block:
        match stmt:
            case Loop() | Matmul():
                yield _kernel(program, stmt, times)
            case For() | While() | If():
                inside = _times(stmt, times, bounds)
                found = [k for b in blocks_of(stmt) for k in _kernels(program, b, inside, bounds)]
                if not found and not isinstance(stmt, If):
                    found = [_one_by_one(program, stmt, inside, bounds)]
                yield from found
            case _:
                pass


def _times(stmt: For | While | If, times: int | None, bounds: Mapping[str, Range]) -> int | None:
    """How often the statements in it run in a call."""
    if isinstance(stmt, If) or times is None:
        return times
    if isinstance(stmt, While) or stmt.var not in bounds:
        return None
    first, last = bounds[stmt.var]
    trips = _known(last - first)
    return None if trips is None else times * max(trips, 0)


def _one_by_one(
    program: Program, stmt: For | While, times: int | None, bounds: Mapping[str, Range]
) -> Kernel:
    """A loop of the program's own in which numbers are computed: one iteration of it."""
    blocks = blocks_of(stmt)
    read, written = map(sorted, touched((stmt,)))
    moved = sum(_bytes(program, block) for block in blocks)
    return Kernel(
        str(stmt.loc or ""),
        "a loop of the program, one iteration after the other",
        tuple(_shown(program, name) for name in read),
        tuple(_shown(program, name) for name in written),
        times,
        moved,
        sum(_operations(program, block, {}) for block in blocks),
        (),
    )


def _bytes(program: Program, block: Block) -> int:
    """What single loads and stores of a block move."""
    return sum(
        each.dtype.itemsize
        for each in walk(block)
        if isinstance(each, Load | Store) and program.buffers[each.buffer].shape
    )


def _kernel(program: Program, stmt: Loop | Matmul, times: int | None) -> Kernel:
    read, written = map(sorted, touched((stmt,)))
    nest = stmt if isinstance(stmt, Loop) else None
    return Kernel(
        str(stmt.loc or ""),
        loops_text(stmt) if isinstance(stmt, Loop) else _product_text(stmt),
        tuple(_shown(program, name) for name in read),
        tuple(_shown(program, name) for name in written),
        times,
        _known(nest_traffic(program, stmt)) or 0,
        _operations(program, (stmt,), {}),
        () if nest is None else tuple(reasons(program, nest)),
    )


def _product_text(stmt: Matmul) -> str:
    return "a product of matrices, " + ("by NumPy's BLAS" if stmt.sums is None else str(stmt.sums))


def _shown(program: Program, name: str) -> str:
    """A buffer, for people: inputs have the names that the user gave them."""
    what = {"output": "result ", "temp": "temporary ", "constant": "constant ", "input": ""}
    buffer = program.buffers[name]
    storage = buffer.storage if buffer.storage in program.buffers else name
    return what[buffer.role] + storage


def _operations(program: Program, block: Block, outer: Mapping[str, int]) -> int:
    """How many operations on numbers there are, of an inner loop in the middle of those around."""
    count = 0
    for stmt in block:
        match stmt:
            case Compute() | Accumulate():
                count += 1
            case Matmul(x=x, out=out):
                inner = program.buffers[x].shape[-1]
                sizes = [inner, 2, *program.buffers[out].shape]
                product = 1
                for size in sizes:
                    product *= _known(size) or 1
                count += product
            case Loop(var=var, size=size, body=body):
                trips = max(_known(substitute(most(size), dict(outer))) or 1, 0)
                count += trips * _operations(program, body, {**outer, var: trips // 2})
            case _:
                count += sum(_operations(program, inner, outer) for inner in blocks_of(stmt))
    return count


def _known(dim: Dim) -> int | None:
    """The number that a dim was in the call that was captured; None if nobody knows."""
    try:
        return hint(dim)
    except InternalError:
        return None
