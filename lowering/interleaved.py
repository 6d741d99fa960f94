"""Real and imaginary parts in lanes: memory holds them in turn, registers apart.

A vector of complex numbers is loaded once for both parts, which are then picked out of it; the
stores of two parts become one.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.symbols import Dim

from .llvm_text import Lanes, memory_type
from .loops import Buffer, Load, Program, Stmt, Store


def is_unit_step(buffer: Buffer, step: Dim | None) -> bool:
    """Whether an access moves from one element to the next, upwards or downwards."""
    size = buffer.dtype.itemsize * (2 if buffer.parts else 1)
    return step in (size, -size)


def pair_at(program: Program, block: Sequence[Stmt], number: int) -> tuple[Store, Store] | None:
    """The statement of that number and the next, if they store the parts of complex numbers."""
    match block[number : number + 2]:
        case [Store(index=(*place, 0)) as first, Store(index=(*again, 1)) as second]:
            if first.buffer == second.buffer and place == again:
                return (first, second) if program.buffers[first.buffer].parts else None
    return None


def lowest(offset: Dim, step: int, part: Dim, itemsize: int, code: Lanes) -> Dim:
    """Where the numbers of all lanes begin, if ``offset`` is that of a part in the first lane."""
    start = offset - part * itemsize
    return start if step > 0 else start + (code.count - 1) * step


def load(code: Lanes, stmt: Load, pointer: str) -> str:
    """The numbers of all lanes, both parts of each."""
    kind = f"<{2 * code.count} x {memory_type(stmt.dtype)}>"
    return code.op(f"load {kind}, ptr {pointer}, align {stmt.dtype.itemsize}")


def part_of(code: Lanes, stmt: Load, numbers: str, step: int) -> str:
    """The part that ``stmt`` loads, of the numbers in memory order."""
    kind = f"<{2 * code.count} x {memory_type(stmt.dtype)}>"
    lanes = range(code.count) if step > 0 else range(code.count - 1, -1, -1)
    mask = ", ".join(f"i32 {2 * lane + int(str(stmt.index[-1]))}" for lane in lanes)
    return code.op(f"shufflevector {kind} {numbers}, {kind} poison, <{code.count} x i32> <{mask}>")


def joined(code: Lanes, stmt: Store, values: tuple[str, str], step: int) -> str:
    """The numbers in memory order, of their real and their imaginary parts."""
    kind = code.of(memory_type(stmt.dtype))
    lanes = range(code.count) if step > 0 else range(code.count - 1, -1, -1)
    mask = ", ".join(f"i32 {lane}, i32 {code.count + lane}" for lane in lanes)
    return code.op(
        f"shufflevector {kind} {values[0]}, {kind} {values[1]}, <{2 * code.count} x i32> <{mask}>"
    )
