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
    Loop,
    Matmul,
    While,
    blocks_of,
    touched,
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
            case For(var=var, body=body):
                first, last = bounds.get(var, (None, None))
                trips = None if first is None or last is None else _known(last - first)
                inside = None if trips is None or times is None else times * max(trips, 0)
                yield from _kernels(program, body, inside, bounds)
            case While() | If():
                inside = times if isinstance(stmt, If) else None
                for inner in blocks_of(stmt):
                    yield from _kernels(program, inner, inside, bounds)
            case _:
                pass


def _kernel(program: Program, stmt: Loop | Matmul, times: int | None) -> Kernel:
    read, written = map(sorted, touched((stmt,)))
    nest = stmt if isinstance(stmt, Loop) else None
    return Kernel(
        str(stmt.loc or ""),
        loops_text(nest) if nest is not None else "a product of matrices, by NumPy's BLAS",
        tuple(_shown(program, name) for name in read),
        tuple(_shown(program, name) for name in written),
        times,
        _known(nest_traffic(program, stmt)) or 0,
        _operations(program, (stmt,), {}),
        () if nest is None else tuple(reasons(program, nest)),
    )


def _shown(program: Program, name: str) -> str:
    """A buffer, for people: inputs have the names that the user gave them."""
    what = {"output": "result ", "temp": "temporary ", "constant": "constant ", "input": ""}
    return what[program.buffers[name].role] + name


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
