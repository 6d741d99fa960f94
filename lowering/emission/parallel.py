"""Parallel loops: a function that runs the iterations of a chunk, and a call that has it run.

See Note [Parallel loops] in ``nests/independence.py``, and Note [Threads] in ``runtime/pool.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fxc.ir.records import frozen, replace

from ..nests.bounds import counter_ranges
from ..nests.chunks import COUNT, FIRST, chunk
from ..nests.hoisting import hoist
from ..nests.statements import Loop
from . import lock
from .arena import room_of_copy
from .emitter import Emitter
from .interrupts import INTERRUPTED
from .llvm_text import FunctionText
from .native_module import PARALLEL
from .outside import FromOutside, inside, read_outside

_ANY = 2**31  # threads


@frozen
class ChunkFunction:
    """A function ``name(first, count, number of the thread, context)`` that is run by ``most``
    threads; what it reads is in the record ``context`` in the stack frame.
    """

    name: str
    context: str
    most: int

    def run(self, emitter: Emitter, size: str, chunk: str, several: str | None) -> None:
        """Have it run for all of ``size``: by threads if the register ``several`` is true."""
        f = emitter.function

        def threads() -> None:
            run, pool = emitter.inner_loop(PARALLEL, "")
            lets = lock.LEAVES if emitter.lets == lock.YIELDS else emitter.lets
            given = f"i64 {size}, i64 {chunk}, i64 {self.most}, "
            given += f"ptr {emitter.lock}, ptr {lock.function(emitter.module)}, i64 {lets}"
            called = f"ptr {pool}, ptr @{self.name}, ptr {self.context}, {given}"
            raised, on = f.op(f"call i1 {run}({called})"), f.new_label("on")
            seldom = emitter.module.seldom(True)
            f.do(f"br i1 {raised}, label %{INTERRUPTED}, label %{on}{seldom}")
            f.start(on)
            if emitter.lets != lock.LEAVES:
                lock.enter(emitter)

        def alone() -> None:
            f.do(f"call void @{self.name}(i64 0, i64 {size}, i64 0, ptr {self.context})")

        if several is None:
            threads()
        else:
            emitter.either(several, threads, alone)


def parallel_loop(emitter: Emitter, loop: Loop) -> None:
    """Run the loop by threads, if it has more than one chunk."""
    assert loop.parallel is not None
    hoisted, body = hoist(emitter.program, loop)
    emitter.block(hoisted)
    loop = replace(loop, body=body)

    def write(inner: Emitter, _: Sequence[str]) -> None:
        inner.loop(chunk_of(inner, loop, "%first", "%count"), 1)

    function = chunk_function(emitter, loop, (), write)
    size, length = emitter.dim(loop.size), emitter.dim(loop.parallel or 1)
    is_known = isinstance(loop.size, int) and isinstance(loop.parallel, int)
    several = None if is_known else emitter.function.op(f"icmp sgt i64 {size}, {length}")
    function.run(emitter, size, length, several)


def chunk_function(
    emitter: Emitter,
    loop: Loop,
    given: Sequence[FromOutside],
    write: Callable[[Emitter, Sequence[str]], None],
) -> ChunkFunction:
    """The function for chunks of a loop, which ``write`` writes: it may read what the loop reads,
    and what else is ``given``, in registers.
    """
    buffers = emitter.program.buffers
    outer = read_outside(emitter, loop.body, {loop.var})
    copies = {each.name: buffers[each.name].copies for each in outer if each.group == "data"}
    several = [name for name, count in copies.items() if count > 1]
    whole = [*outer, *(_step(emitter, name) for name in several), *given]
    f = FunctionText(emitter.module)
    registers = _loaded(f, whole)
    inner = inside(emitter, f, outer, registers[: len(outer)])
    for name, step in zip(several, registers[len(outer) :], strict=False):
        offset = f.op(f"mul i64 %number, {step}")
        inner.regs.data[name] = f.op(f"getelementptr i8, ptr {inner.regs.data[name]}, i64 {offset}")
    if emitter.regs.marks:
        inner.regs.marks = dict.fromkeys(inner.regs.data, "")
    write(inner, registers[len(registers) - len(given) :])
    f.do("ret void")
    name = f'"{emitter.prefix}.chunk{len(emitter.chunks)}"'
    parameters = "i64 %first, i64 %count, i64 %number, ptr %context"
    head = f"define internal void @{name}({parameters}) nounwind"
    emitter.chunks.append((head, ["entry:", *f.stack_lines, *f.lines, "}"]))
    most = min((copies[name] for name in several), default=_ANY)
    return ChunkFunction(name, _stored(emitter.function, whole), most)


def _step(emitter: Emitter, name: str) -> FromOutside:
    """How far the copies of a temporary are apart."""
    room = room_of_copy(emitter.program, name, counter_ranges(emitter.program))
    return FromOutside("step", name, "i64", emitter.dim(room))


def _record(outer: Sequence[FromOutside]) -> str:
    return f"{{ {', '.join(each.kind for each in outer)} }}"


def _stored(f: FunctionText, outer: Sequence[FromOutside]) -> str:
    """A place in the stack frame with all that the function reads."""
    kind, place = _record(outer), f.reserve()
    f.stack_lines.append(f"  {place} = alloca {kind}, align 8")
    for number, each in enumerate(outer):
        at = f.op(f"getelementptr {kind}, ptr {place}, i32 0, i32 {number}")
        f.do(f"store {each.kind} {each.register}, ptr {at}")
    return place


def _loaded(f: FunctionText, outer: Sequence[FromOutside]) -> list[str]:
    kind, registers = _record(outer), []
    for number, each in enumerate(outer):
        at = f.op(f"getelementptr {kind}, ptr %context, i32 0, i32 {number}")
        registers.append(f.op(f"load {each.kind}, ptr {at}"))
    return registers


def chunk_of(inner: Emitter, loop: Loop, first: str, count: str) -> Loop:
    """The loop over so many iterations, from the ``first`` on: registers."""
    inner.regs.dims |= {FIRST: first, COUNT: count}
    return chunk(loop)
