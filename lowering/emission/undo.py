"""Old content of inputs is kept while they are stored to, in case that a check fails.

See Note [Stores that are undone] in ``building/undone.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from fxc.ir.bounds import decide
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Dim, computed_in, product, symbols_of

from ..nests.accesses import stored
from ..nests.addressing import byte_offset, step_of
from ..nests.statements import (
    Allocate,
    Apply,
    Boxed,
    Check,
    Compute,
    Index,
    Load,
    Loop,
    Matmul,
    Stmt,
    Store,
    walk,
)
from . import store_log
from .emitter import Emitter
from .llvm_text import FAILED
from .registers import Kept, Log, Undo
from .scratch import new_scratch
from .store_log import KEEP, SHIFT, new_log, unit_of, write_down

Loops = tuple[Loop, ...]

_BLOCK = 1 << SHIFT

# The copy of an input is followed by a mark for each block: 1 if it has been copied.
_COPY = f"""\
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
define internal void @"fxc.copy_block"(ptr %target, ptr %source, i64 %size, i64 %block) \
alwaysinline nounwind {{
  %at = shl i64 %block, {SHIFT}
  %left = sub i64 %size, %at
  %bytes = call i64 @llvm.umin.i64(i64 %left, i64 {_BLOCK})
  %from = getelementptr i8, ptr %source, i64 %at
  %to = getelementptr i8, ptr %target, i64 %at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret void
}}
define void @"fxc.keep"(ptr %data, ptr %copy, i64 %size, i64 %block) \
noinline minsize optsize nounwind {{
  call void @"fxc.copy_block"(ptr %copy, ptr %data, i64 %size, i64 %block)
  %marks = getelementptr i8, ptr %copy, i64 %size
  %mark = getelementptr i8, ptr %marks, i64 %block
  store i8 1, ptr %mark
  ret void
}}
"""


def _each(name: str, mark: int, action: str) -> str:
    """A function that does something with those blocks of a range that have a mark."""
    return f"""\
define void @"{name}"(ptr %data, ptr %copy, i64 %size, i64 %first, i64 %last) \
noinline minsize optsize nounwind {{
entry:
  %marks = getelementptr i8, ptr %copy, i64 %size
  br label %test
test:
  %block = phi i64 [ %first, %entry ], [ %next, %on ]
  %ends = icmp sgt i64 %block, %last
  br i1 %ends, label %done, label %look
look:
  %mark = getelementptr i8, ptr %marks, i64 %block
  %is = load i8, ptr %mark
  %found = icmp eq i8 %is, {mark}
  br i1 %found, label %act, label %on
act:
  call void {action}, i64 %size, i64 %block)
  br label %on
on:
  %next = add i64 %block, 1
  br label %test
done:
  ret void
}}
"""


_KEEP_RANGE = _each("fxc.keep_range", 0, '@"fxc.keep"(ptr %data, ptr %copy')
_RESTORE = _each("fxc.restore", 1, '@"fxc.copy_block"(ptr %data, ptr %copy')
_SUPPORT = _COPY + _KEEP_RANGE + _RESTORE
_DECLARES = (
    KEEP,
    'declare void @"fxc.keep_range"(ptr nocapture, ptr nocapture, i64, i64, i64) nounwind',
    'declare void @"fxc.restore"(ptr nocapture, ptr nocapture, i64, i64, i64) cold nounwind',
)


def prepare(emitter: Emitter, block: Sequence[Stmt]) -> Undo | None:
    """Make room for what stores before a check in ``block`` overwrite."""
    f, program = emitter.function, emitter.program
    # Of others no store is left, as one to an empty part.
    storages = sorted(program.undone.intersection(emitter.regs.data))
    if not storages:
        return None
    f.module.declare("declare noalias ptr @malloc(i64)")
    f.module.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    f.module.support[_SUPPORT] = None
    for line in _DECLARES:
        f.module.declare(line)
    undo, blocks_of = Undo({}, "false"), {}
    for storage in storages:
        buffer = program.buffers[storage]
        size = emitter.dim(product(buffer.shape) * buffer.dtype.itemsize)
        blocks = f.op(f"lshr i64 {f.op(f'add i64 {size}, {_BLOCK - 1}')}, {SHIFT}")
        unit = unit_of(program, storage, block[: last_check(block)])
        if unit is not None:
            log, missing = new_log(emitter, storage, size, blocks, unit)
            undo = Undo({**undo.kept, storage: log}, f.op(f"or i1 {undo.no_room}, {missing}"))
            continue
        copy = f.op(f"call ptr @malloc(i64 {f.op(f'add i64 {size}, {blocks}')})")
        scratch = emitter.scratches[f"{storage} before"] = new_scratch(f)
        f.do(f"store ptr {copy}, ptr {scratch.memory}, align 8")
        undo = Undo(undo.kept, f.op(f"or i1 {undo.no_room}, {f.op(f'icmp eq ptr {copy}, null')}"))
        marks = f.op(f"getelementptr i8, ptr {copy}, i64 {size}")
        last = f.op(f"sub i64 {blocks}, 1")
        undo.kept[storage] = Kept(emitter.regs.data[storage], copy, marks, size, last)
        blocks_of[marks] = blocks
    there = f.new_label("there")
    f.do(f"br i1 {undo.no_room}, label %{FAILED}, label %{there}")
    f.start(there)
    for marks, blocks in blocks_of.items():
        f.do(f"call void @llvm.memset.p0.i64(ptr {marks}, i8 0, i64 {blocks}, i1 false)")
    return undo


def last_check(block: Sequence[Stmt]) -> int:
    """The place behind the last statement that may send the call back."""
    checks = (any(isinstance(s, Check | Allocate) for s in walk((stmt,))) for stmt in block)
    return max((place + 1 for place, has in enumerate(checks) if has), default=0)


def keep(emitter: Emitter, undo: Undo, stmt: Stmt) -> None:
    """Copy what a statement is about to overwrite."""
    program = emitter.program
    if isinstance(stmt, Store):
        kept = undo.kept.get(program.buffers[stmt.buffer].storage)
        if kept is not None:
            _keep_block(emitter, kept, stmt)
    elif isinstance(stmt, Loop):
        computed = {s.name for s in walk((stmt,)) if isinstance(s, Load | Compute | Index)}
        for store, loops in _stores((stmt,), ()):
            kept = undo.kept.get(program.buffers[store.buffer].storage)
            if isinstance(kept, Kept):
                _keep_range(emitter, kept, _ends(emitter, store, loops, computed))
    elif isinstance(stmt, Matmul | Apply | Boxed):
        for storage in stored(program, (stmt,)) & undo.kept.keys():
            kept = undo.kept[storage]
            assert isinstance(kept, Kept)  # see ``unit_of``
            _keep_range(emitter, kept, None)


def _stores(block: Sequence[Stmt], loops: tuple[Loop, ...]) -> Iterator[tuple[Store, Loops]]:
    """The stores of nests, with the loops around each."""
    for stmt in block:
        if isinstance(stmt, Store):
            yield stmt, loops
        elif isinstance(stmt, Loop):
            yield from _stores(stmt.body, (*loops, stmt))


def _ends(
    emitter: Emitter, store: Store, loops: Loops, computed: Set[str]
) -> tuple[Dim, Dim] | None:
    """The first and the last place of the input that a nest stores to, if it is known before."""
    low = high = byte_offset(emitter.program.buffers[store.buffer], store.index)
    for loop in reversed(loops):
        last = loop.size - 1
        steps = step_of(low, loop.var), step_of(high, loop.var)
        falls = [None if step is None else decide(step, "<", 0) for step in steps]
        if None in falls:
            return None
        low = substitute(low, {loop.var: last if falls[0] else 0})
        high = substitute(high, {loop.var: 0 if falls[1] else last})
    ends = (low, high)
    here = all(symbols_of(end).keys() <= emitter.regs.dims.keys() for end in ends)
    return ends if here and not any(computed & computed_in(end).keys() for end in ends) else None


def _keep_range(emitter: Emitter, kept: Kept, ends: tuple[Dim, Dim] | None) -> None:
    f, first, last = emitter.function, "0", kept.last
    if ends is not None:
        first, last = (f.op(f"ashr i64 {emitter.dim(end)}, {SHIFT}") for end in ends)
    f.do(f'call void @"fxc.keep_range"({kept.given}, i64 {first}, i64 {last})')


def _keep_block(emitter: Emitter, kept: Kept | Log, stmt: Store) -> None:
    f = emitter.function
    offset = emitter.dim(byte_offset(emitter.program.buffers[stmt.buffer], stmt.index))
    if isinstance(kept, Log):
        old, marks = write_down(emitter, kept, stmt, offset)
    else:
        old, marks = f.new_label("kept"), kept.marks
    new, seldom, mark = f.new_label("keep"), f.module.seldom(True), emitter.mark(stmt.buffer)
    block = f.op(f"lshr i64 {offset}, {SHIFT}")
    is_kept = f.op(f"load i8, ptr {f.op(f'getelementptr i8, ptr {marks}, i64 {block}')}, align 1")
    f.do(f"br i1 {f.op(f'icmp eq i8 {is_kept}, 0')}, label %{new}, label %{old}{seldom}")
    f.start(new)
    given = store_log.given(f, kept) if isinstance(kept, Log) else kept.given
    f.do(f'call void @"fxc.keep"({given}, i64 {block}){mark}')
    f.do(f"br label %{old}")
    f.start(old)


def bring_back(emitter: Emitter, undo: Undo) -> None:
    """Undo the stores: a check has failed."""
    f = emitter.function
    restore, restored = f.new_label("restore"), f.new_label("restored")
    f.do(f"br i1 {undo.no_room}, label %{restored}, label %{restore}")
    f.start(restore)
    for kept in undo.kept.values():
        if isinstance(kept, Kept):
            f.do(f'call void @"fxc.restore"({kept.given}, i64 0, i64 {kept.last})')
        else:
            store_log.bring_back(emitter, kept)
    f.do(f"br label %{restored}")
    f.start(restored)
