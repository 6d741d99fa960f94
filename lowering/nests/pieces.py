"""Where a program is cut into pieces of native code, and what the caller allocates for them.

It is cut at the calls of NumPy, and behind a measured size if an array that leaves native code is
of that size: the caller makes that before the next piece. See Note [Measured sizes].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from fxc.ir.records import replace
from fxc.ir.symbols import MOST_MEASURED, Dim, symbols_of

from .accesses import storages
from .bounds import counter_ranges, measured_sizes, room_of
from .boxed_args import boxed_buffers
from .program import Program, is_cut
from .statements import Bind, Boxed, Load, Stmt


def with_cuts(program: Program) -> Program:
    """The program with cuts behind the measured sizes that the caller needs to know."""
    if not any(map(_is_measured, program.body)):
        return program
    outputs = {name for name, buffer in program.buffers.items() if buffer.role == "output"}
    if not any(map(is_cut, program.body)) and outputs.isdisjoint(of_measured_size(program)):
        return program
    body = (replace(s, cuts=True) if _is_measured(s) else s for s in program.body)
    return replace(program, body=tuple(body))


def _is_measured(stmt: Stmt) -> TypeGuard[Bind]:
    return isinstance(stmt, Bind) and stmt.most == MOST_MEASURED


def pieces(program: Program) -> Iterator[tuple[int, int]]:
    """The first statement of each piece of native code, and the one behind its last."""
    first = 0
    for place, stmt in enumerate(program.body):
        if is_cut(stmt):
            end = place + isinstance(stmt, Bind)
            if not all(map(_is_of_caller, program.body[first:end])):
                yield first, end
            first = place + 1
    if not all(map(_is_of_caller, program.body[first:])):
        yield first, len(program.body)


def _is_of_caller(stmt: Stmt) -> bool:
    """Whether a statement only reads a size that the caller has."""
    return isinstance(stmt, Load) or (isinstance(stmt, Bind) and not stmt.cuts)


def arrays_apart(program: Program) -> list[str]:
    """Storages that are arrays of their own: inputs, results, what NumPy is called with, and what
    several pieces share that is of a measured size.
    """
    apart = {
        program.buffers[name].storage
        for stmt in program.body
        if isinstance(stmt, Boxed) and is_cut(stmt)
        for name in (*stmt.outs, *boxed_buffers(stmt.args))
    }
    measured = of_measured_size(program)
    seen: set[str] = set()
    for first, last in pieces(program) if measured else ():
        used = storages(program, program.body[first:last]) & measured.keys()
        apart |= used & seen
        seen |= used
    return [
        name
        for name, buffer in program.buffers.items()
        if buffer.storage == name and (buffer.role in ("input", "output") or name in apart)
    ]


def of_measured_size(program: Program) -> dict[str, tuple[Dim, ...]]:
    """The storages that native code or its caller allocates of measured sizes, each with its
    largest shape.
    """
    measured = measured_sizes(program)
    ranges = counter_ranges(program) if measured else {}
    found: dict[str, tuple[Dim, ...]] = {}
    for name, buffer in program.buffers.items() if measured else ():
        if buffer.role in ("temp", "output") and buffer.storage == name:
            room = room_of(buffer.shape, ranges)
            if any(not measured.isdisjoint(symbols_of(dim)) for dim in (*buffer.shape, *room)):
                found[name] = room
    return found
