"""A log of the first stores to an input, with what they overwrite.

See Note [Stores that are undone] in ``building/undone.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..nests.accesses import stored
from ..nests.program import Program
from ..nests.statements import Apply, Boxed, Loop, Matmul, Stmt, Store, walk
from .emitter import Emitter
from .llvm_text import FAILED, FunctionText
from .registers import Log, Scratch

SHIFT = 9  # of the copy that takes the place of a log: blocks of 512 bytes
MANY = 1024  # stores
_RECORD = 16  # bytes: where in the input, and the old content
_FIELDS = ("data", "records", "size", "blocks", "count", "copy")
KEEP = 'declare void @"fxc.keep"(ptr nocapture, ptr nocapture, i64, i64) cold nounwind'
_NO_ROOM = "inttoptr (i64 1 to ptr)"


def unit_of(program: Program, storage: str, block: Sequence[Stmt]) -> int | None:
    """How many bytes the stores to an input change, if there are none but of single elements."""
    sizes = set()
    for stmt in block:
        for inner in walk((stmt,)):
            if isinstance(inner, Loop | Matmul | Apply | Boxed):
                if storage in stored(program, (inner,)):
                    return None
            elif isinstance(inner, Store) and program.buffers[inner.buffer].storage == storage:
                sizes.add(program.buffers[inner.buffer].dtype.itemsize)
    return sizes.pop() if len(sizes) == 1 and max(sizes) <= 8 else None


def new_log(emitter: Emitter, storage: str, size: str, blocks: str, unit: int) -> tuple[Log, str]:
    """An empty one, and a register: whether there is no room for it. ``blocks`` is how many there
    are of the input.
    """
    f = emitter.function
    records = f.op(f"call ptr @malloc(i64 {MANY * _RECORD})")
    fields = f.stack("i64", len(_FIELDS))
    given = (f"ptr {emitter.regs.data[storage]}", f"ptr {records}", f"i64 {size}", f"i64 {blocks}")
    for place, value in enumerate((*given, "i64 0", "ptr null")):
        at = f.op(f"getelementptr i64, ptr {fields}, i64 {place}")
        f.do(f"store {value}, ptr {at}, align 8")
        if _FIELDS[place] in ("records", "copy"):
            emitter.scratches[f"{storage} {_FIELDS[place]}"] = Scratch(at, "")
    marks = f.stack("ptr", 1)
    f.do(f"store ptr null, ptr {marks}, align 8")
    f.module.support[_functions(unit)] = None
    f.module.declare(f'declare preserve_mostcc ptr @"fxc.note.{unit}"(ptr nocapture, i64) nounwind')
    f.module.declare(
        f'declare void @"fxc.put_back.{unit}"(ptr nocapture, ptr nocapture, i64) cold nounwind'
    )
    return Log(fields, marks, unit), f.op(f"icmp eq ptr {records}, null")


def write_down(emitter: Emitter, log: Log, stmt: Store, offset: str) -> tuple[str, str]:
    """Write down what a store is about to change, if there is room. Gives the label behind it. The
    block that has been begun is for where there is none, with a register for the marks of the copy.
    """
    f = emitter.function
    note, look, done = f.new_label("note"), f.new_label("look"), f.new_label("kept")
    marks = f.op(f"load ptr, ptr {log.marks}, align 8")
    f.do(f"br i1 {f.op(f'icmp eq ptr {marks}, null')}, label %{note}, label %{look}")
    f.start(note)
    found = f.op(
        f'call preserve_mostcc ptr @"fxc.note.{log.unit}"(ptr {log.fields}, i64 {offset})'
        f"{emitter.mark(stmt.buffer)}"
    )
    f.do(f"store ptr {found}, ptr {log.marks}, align 8")
    none = f.op(f"icmp eq ptr {found}, {_NO_ROOM}")
    f.do(f"br i1 {none}, label %{FAILED}, label %{done}{f.module.seldom(True)}")
    f.start(look)
    return done, marks


def bring_back(emitter: Emitter, log: Log) -> None:
    """Undo the stores in a log, or in all blocks of the copy that has taken its place."""
    f = emitter.function
    noted, copied, done = (f.new_label(stem) for stem in ("noted", "copied", "undone"))
    data, records, size, blocks, count, copy = (_field(f, log, name) for name in _FIELDS)
    f.do(f"br i1 {f.op(f'icmp eq ptr {copy}, null')}, label %{noted}, label %{copied}")
    f.start(noted)
    given = f"ptr {records}, i64 {count}"
    f.do(f'call void @"fxc.put_back.{log.unit}"(ptr {data}, {given})')
    f.do(f"br label %{done}")
    f.start(copied)
    last = f.op(f"sub i64 {blocks}, 1")
    f.do(f'call void @"fxc.restore"(ptr {data}, ptr {copy}, i64 {size}, i64 0, i64 {last})')
    f.do(f"br label %{done}")
    f.start(done)


def given(f: FunctionText, log: Log) -> str:
    """The input, its copy and its size, where there is a copy."""
    data, copy, size = (_field(f, log, name) for name in ("data", "copy", "size"))
    return f"ptr {data}, ptr {copy}, i64 {size}"


def _field(f: FunctionText, log: Log, name: str) -> str:
    at = f.op(f"getelementptr i64, ptr {log.fields}, i64 {_FIELDS.index(name)}")
    return f.op(f"load {_kind(name)}, ptr {at}, align 8")


def _kind(name: str) -> str:
    return "i64" if name in ("size", "blocks", "count") else "ptr"


def _loaded(*names: str) -> str:
    """Lines that load these fields."""
    lines = []
    for name in names:
        place = _FIELDS.index(name)
        lines.append(f"  %{name}.at = getelementptr i64, ptr %fields, i64 {place}")
        lines.append(f"  %{name} = load {_kind(name)}, ptr %{name}.at, align 8")
    return "\n".join(lines)


def _functions(unit: int) -> str:
    """What a log of stores of ``unit`` bytes needs."""
    return f"""\
declare noalias ptr @malloc(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
{KEEP}
{_put_back(unit)}{_settle(unit)}{_note(unit)}"""


def _put_back(unit: int) -> str:
    """Undoes the stores in a log, in the input or in the copy: the last one first."""
    kind = f"i{8 * unit}"
    return f"""\
define void @"fxc.put_back.{unit}"(ptr %target, ptr %records, i64 %count) \
noinline minsize optsize nounwind {{
entry:
  br label %test
test:
  %left = phi i64 [ %count, %entry ], [ %place, %look ]
  %ends = icmp eq i64 %left, 0
  br i1 %ends, label %out, label %look
look:
  %place = sub i64 %left, 1
  %offset = mul i64 %place, {_RECORD}
  %record = getelementptr i8, ptr %records, i64 %offset
  %content = getelementptr i8, ptr %record, i64 8
  %where = load i64, ptr %record, align 8
  %old = load {kind}, ptr %content, align 8
  %at = getelementptr i8, ptr %target, i64 %where
  store {kind} %old, ptr %at, align 1
  br label %test
out:
  ret void
}}
"""


def _settle(unit: int) -> str:
    """Makes the copy, of all blocks with stores in the log."""
    return f"""\
define internal ptr @"fxc.settle.{unit}"(ptr %fields) noinline minsize optsize nounwind {{
entry:
{_loaded(*_FIELDS)}
  %room = add i64 %size, %blocks
  %made = call ptr @malloc(i64 %room)
  %none = icmp eq ptr %made, null
  br i1 %none, label %gone, label %there
gone:
  ret ptr {_NO_ROOM}
there:
  store ptr %made, ptr %copy.at, align 8
  %marks = getelementptr i8, ptr %made, i64 %size
  call void @llvm.memset.p0.i64(ptr %marks, i8 0, i64 %blocks, i1 false)
  br label %test
test:
  %done = phi i64 [ 0, %there ], [ %more, %on ]
  %ends = icmp eq i64 %done, %count
  br i1 %ends, label %out, label %look
look:
  %offset = mul i64 %done, {_RECORD}
  %record = getelementptr i8, ptr %records, i64 %offset
  %where = load i64, ptr %record, align 8
  %block = lshr i64 %where, {SHIFT}
  %mark = getelementptr i8, ptr %marks, i64 %block
  %is = load i8, ptr %mark, align 1
  %new = icmp eq i8 %is, 0
  br i1 %new, label %keep, label %on
keep:
  call void @"fxc.keep"(ptr %data, ptr %made, i64 %size, i64 %block)
  br label %on
on:
  %more = add i64 %done, 1
  br label %test
out:
  call void @"fxc.put_back.{unit}"(ptr %made, ptr %records, i64 %count)
  ret ptr %marks
}}
"""


def _note(unit: int) -> str:
    """Writes a store down. When the log is full it gives the marks of a copy, or 1 if there is no
    room for that.
    """
    kind = f"i{8 * unit}"
    return f"""\
define preserve_mostcc ptr @"fxc.note.{unit}"(ptr %fields, i64 %where) \
noinline minsize optsize nounwind {{
entry:
{_loaded("data", "records", "count")}
  %offset = mul i64 %count, {_RECORD}
  %record = getelementptr i8, ptr %records, i64 %offset
  %content = getelementptr i8, ptr %record, i64 8
  %at = getelementptr i8, ptr %data, i64 %where
  %old = load {kind}, ptr %at, align 1
  store i64 %where, ptr %record, align 8
  store {kind} %old, ptr %content, align 8
  %more = add i64 %count, 1
  store i64 %more, ptr %count.at, align 8
  %full = icmp eq i64 %more, {MANY}
  br i1 %full, label %settle, label %done
settle:
  %marks = call ptr @"fxc.settle.{unit}"(ptr %fields)
  ret ptr %marks
done:
  ret ptr null
}}
"""
