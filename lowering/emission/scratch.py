"""What a function of native code allocates itself, and frees: see ``building.scratch``."""

from __future__ import annotations

from collections.abc import Iterable

from ..nests.bounds import counter_ranges, room_of
from ..nests.statements import Allocate
from .emitter import Emitter
from .llvm_text import FAILED, FunctionText, Lanes
from .registers import Scratch

ALIGNMENT = 64  # more than malloc's


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


def emit_allocate(emitter: Emitter, stmt: Allocate) -> str:
    """Enlarge what is allocated if it is too small now; the number of bytes."""
    f, buffer = emitter.function, emitter.program.buffers[stmt.storage]
    scratch = emitter.scratches[stmt.storage]
    f.module.declare("declare noalias ptr @malloc(i64)")
    code, need, fails = Lanes(f, 1), str(buffer.dtype.itemsize), "false"
    for dim in room_of(buffer.shape, counter_ranges(emitter.program)):
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
