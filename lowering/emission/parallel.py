"""Parallel loops: a function that runs the iterations of a chunk, and a call that has it run.

See Note [Parallel loops] in ``nests/independence.py``, and Note [Threads] in ``runtime/pool.py``.
"""

from __future__ import annotations

from dataclasses import replace

from fxc.ir.size_functions import hint, substitute
from fxc.ir.symbols import Dim, symbol

from ..nests.accesses import rename
from ..nests.bounds import counter_ranges
from ..nests.statements import Loop, Stmt, blocks_of, with_blocks
from .arena import room_of_copy
from .emitter import Emitter
from .llvm_text import FunctionText
from .outside import FromOutside, inside, read_outside
from .vectors import hoist

PARALLEL = "parallel loops"  # among the functions of the pointer table
_ANY = 2**31  # threads
_FIRST, _COUNT = "chunk.first", "chunk.count"  # symbols: of a chunk's iterations


def parallel_loop(emitter: Emitter, loop: Loop) -> None:
    """Run the loop by threads, if it has more than one chunk."""
    assert loop.parallel is not None
    f = emitter.function
    hoisted, body = hoist(emitter.program, loop)
    emitter.block(hoisted)
    outer = read_outside(emitter, body, {loop.var})
    buffers = emitter.program.buffers
    copies = {each.name: buffers[each.name].copies for each in outer if each.group == "data"}
    steps = [_step(emitter, name) for name, count in copies.items() if count > 1]
    outer += steps
    name = _function(emitter, replace(loop, body=body), outer)
    context = _context(f, outer)
    size, chunk = emitter.dim(loop.size), emitter.dim(loop.parallel)
    most = min((count for count in copies.values() if count > 1), default=_ANY)

    def threads() -> None:
        run, pool = emitter.inner_loop(PARALLEL, "")
        given = f"i64 {size}, i64 {chunk}, i64 {most}"
        f.do(f"call void {run}(ptr {pool}, ptr @{name}, ptr {context}, {given})")

    def alone() -> None:
        f.do(f"call void @{name}(i64 0, i64 {size}, i64 0, ptr {context})")

    if isinstance(loop.size, int) and isinstance(loop.parallel, int):
        (threads if loop.size > loop.parallel else alone)()
    else:
        emitter.either(f.op(f"icmp sgt i64 {size}, {chunk}"), threads, alone)


def _step(emitter: Emitter, name: str) -> FromOutside:
    """How far the copies of a temporary are apart."""
    room = room_of_copy(emitter.program, name, counter_ranges(emitter.program))
    return FromOutside("step", name, "i64", emitter.dim(room))


def _context(f: FunctionText, outer: list[FromOutside]) -> str:
    """A place in the stack frame with all that the function reads."""
    kind = _record(outer)
    place = f.reserve()
    f.stack_lines.append(f"  {place} = alloca {kind}, align 8")
    for number, each in enumerate(outer):
        at = f.op(f"getelementptr {kind}, ptr {place}, i32 0, i32 {number}")
        f.do(f"store {each.kind} {each.register}, ptr {at}")
    return place


def _record(outer: list[FromOutside]) -> str:
    return f"{{ {', '.join(each.kind for each in outer)} }}"


def _function(emitter: Emitter, loop: Loop, outer: list[FromOutside]) -> str:
    """Write the function for a chunk; its name."""
    f = FunctionText(emitter.module)
    name = f'"{emitter.prefix}.chunk{len(emitter.chunks)}"'
    kind = _record(outer)
    registers = []
    for number, each in enumerate(outer):
        at = f.op(f"getelementptr {kind}, ptr %context, i32 0, i32 {number}")
        registers.append(f.op(f"load {each.kind}, ptr {at}"))
    steps = [each for each in outer if each.group == "step"]
    known = len(outer) - len(steps)
    inner = inside(emitter, f, outer[:known], registers[:known])
    for each, register in zip(steps, registers[known:], strict=True):
        offset = f.op(f"mul i64 %number, {register}")
        base = inner.regs.data[each.name]
        inner.regs.data[each.name] = f.op(f"getelementptr i8, ptr {base}, i64 {offset}")
    inner.regs.dims |= {_FIRST: "%first", _COUNT: "%count"}
    if emitter.regs.marks:
        inner.regs.marks = dict.fromkeys(inner.regs.data, "")
    inner.loop(_chunk_of(loop), 1)
    f.do("ret void")
    head = (
        f"define internal void @{name}(i64 %first, i64 %count, i64 %number, ptr %context) nounwind"
    )
    emitter.chunks.append((head, ["entry:", *f.stack_lines, *f.lines, "}"]))
    return name


def _chunk_of(loop: Loop) -> Loop:
    """The loop over the iterations of one chunk."""
    least = {"hint": 0, "lower": 0}
    there = symbol(loop.var, **least) + symbol(_FIRST, **least)
    body = tuple(_moved(stmt, {loop.var: there}) for stmt in loop.body)
    size = symbol(_COUNT, hint=hint(loop.parallel or 0), lower=1)
    return replace(loop, size=size, body=body, parallel=None)


def _moved(stmt: Stmt, dims: dict[str, Dim]) -> Stmt:
    """The statement for another iteration, the sizes of loops inside included."""
    if isinstance(stmt, Loop):
        stmt = replace(stmt, size=substitute(stmt.size, dims))
        return with_blocks(stmt, tuple(tuple(_moved(s, dims) for s in b) for b in blocks_of(stmt)))
    return rename(stmt, dims)
