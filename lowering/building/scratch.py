"""Temporaries whose size only the running program knows: native code allocates them itself.

::

    while …
      size count = t1
      allocate b3                       # f64[count]
      for i0 in 0:count: b3[i0] = …

What is allocated is kept for the next iteration, and enlarged if that needs more; the function
frees it however it is left. Where there is no memory, the call goes back to NumPy, as from a check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, symbols_of

from ..emission.bounds import bounds, counter_ranges, measured_sizes
from ..emission.llvm_text import FAILED, FunctionText, Lanes
from ..loops import Allocate, Bind, Program, Stmt, blocks_of, walk, with_blocks
from ..scheduling.accesses import Block, storages

if TYPE_CHECKING:
    from ..emission.emit import Emitter

ALIGNMENT = 64  # more than malloc's


def with_allocations(program: Program) -> Program:
    """The program with a statement in front of the first access to each such temporary, in the
    innermost block that has all of them.
    """
    measured, ranges = measured_sizes(program), counter_ranges(program)
    if not measured:
        return program

    def is_measured(shape: Sequence[Dim]) -> bool:
        most = (dim for size in shape for dim in (size, bounds(size, ranges)[1]))
        return any(not measured.isdisjoint(symbols_of(dim)) for dim in most)

    wanted = {
        name
        for name, buffer in program.buffers.items()
        if buffer.role == "temp" and buffer.storage == name and is_measured(buffer.shape)
    }
    return replace(program, body=_allocating(program, program.body, wanted))


def _allocating(program: Program, block: Block, wanted: set[str]) -> Block:
    """The block, in which these storages are allocated."""
    used = [storages(program, (stmt,)) & wanted for stmt in block]
    made: list[Stmt] = []
    known: set[str] = set()
    for place, stmt in enumerate(block):
        others = set[str]().union(*used[:place], *used[place + 1 :])
        inner = blocks_of(stmt, into_loops=False)
        within = [storages(program, each) & wanted for each in inner]
        own = [
            found - others - set[str]().union(*within[:at], *within[at + 1 :])
            for at, found in enumerate(within)
        ]
        here = used[place] - known - set[str]().union(*own)
        made += [Allocate(name) for name in sorted(here)]
        known |= here
        blocks = zip(inner, own, strict=True)
        inner = tuple(_allocating(program, each, names) for each, names in blocks)
        made.append(with_blocks(stmt, inner) if inner else stmt)
    return tuple(made)


def allocated(block: Sequence[Stmt]) -> list[str]:
    """The storages that a block allocates."""
    return [stmt.storage for stmt in walk(tuple(block)) if isinstance(stmt, Allocate)]


@frozen
class Scratch:
    """Where the stack frame has the address of what is allocated, and how much that is."""

    memory: str
    size: str


def prepare(f: FunctionText, storages: Iterable[str]) -> dict[str, Scratch]:
    """Begin a function that allocates these storages: there is nothing yet."""
    return {storage: new_scratch(f) for storage in storages}


def new_scratch(f: FunctionText) -> Scratch:
    """One that is empty."""
    scratch = Scratch(f.stack("ptr", 1), f.stack("i64", 1))
    f.do(f"store ptr null, ptr {scratch.memory}, align 8")
    f.do(f"store i64 0, ptr {scratch.size}, align 8")
    return scratch


def free(f: FunctionText, scratches: Iterable[Scratch]) -> None:
    """Give back what is allocated; the function is about to return."""
    for scratch in scratches:
        f.module.declare("declare void @free(ptr)")
        f.do(f"call void @free(ptr {f.op(f'load ptr, ptr {scratch.memory}, align 8')})")


def _room(program: Program, shape: Sequence[Dim]) -> Iterator[Dim]:
    """The sizes to allocate for; one that is counted may be stored to up to its bound."""
    counted = {stmt.name for stmt in walk(program.body) if isinstance(stmt, Bind)}
    counted -= measured_sizes(program)
    ranges = counter_ranges(program)
    for dim in shape:
        yield bounds(dim, ranges)[1] if counted.intersection(symbols_of(dim)) else dim


def emit_allocate(emitter: Emitter, stmt: Allocate) -> str:
    """Enlarge what is allocated if it is too small now; the number of bytes."""
    f, buffer = emitter.function, emitter.program.buffers[stmt.storage]
    scratch = emitter.scratches[stmt.storage]
    f.module.declare("declare noalias ptr @malloc(i64)")
    code, need, fails = Lanes(f, 1), str(buffer.dtype.itemsize), "false"
    for dim in _room(emitter.program, buffer.shape):
        need, over = code.overflowing("mul", (need, emitter.dim(dim)))
        fails = f.op(f"or i1 {fails}, {over}")
    fails = f.op(f"or i1 {fails}, {f.op(f'icmp ugt i64 {need}, {2**62}')}")
    fits, grow, on = f.new_label("fits"), f.new_label("grow"), f.new_label("on")
    f.do(f"br i1 {fails}, label %{FAILED}, label %{fits}")
    f.start(fits)
    has = f.op(f"load i64, ptr {scratch.size}, align 8")
    f.do(f"br i1 {f.op(f'icmp ugt i64 {need}, {has}')}, label %{grow}, label %{on}")
    f.start(grow)
    free(f, [scratch])
    made = f.op(f"call ptr @malloc(i64 {f.op(f'add i64 {need}, {ALIGNMENT}')})")
    f.do(f"store ptr {made}, ptr {scratch.memory}, align 8")
    f.do(f"store i64 {need}, ptr {scratch.size}, align 8")
    f.do(f"br i1 {f.op(f'icmp eq ptr {made}, null')}, label %{FAILED}, label %{on}")
    f.start(on)
    memory = f.op(f"load ptr, ptr {scratch.memory}, align 8")
    end = f.op(f"getelementptr i8, ptr {memory}, i64 {ALIGNMENT - 1}")
    f.module.declare("declare ptr @llvm.ptrmask.p0.i64(ptr, i64)")
    aligned = f.op(f"call ptr @llvm.ptrmask.p0.i64(ptr {end}, i64 {-ALIGNMENT})")
    emitter.regs.data[stmt.storage] = aligned
    return need
