"""What a native function reads of its arguments before its statements: sizes, numbers, pointers.

See Note [Native entry].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fxc.ir.symbols import Dim, SymExpr, dims_in, symbols_of
from fxc.ir.types import ArrayType

from ..nests.accesses import accesses, allocated, storages, stored
from ..nests.buffers import Buffer
from ..nests.program import Program
from ..nests.statements import Bind, Boxed, Loop, Stmt, walk
from .arena import ALIGNMENT
from .callers import argument, symbols_in
from .casts import half_of
from .emit import StatementEmitter
from .emitter import Emitter
from .frame import Slot, alias_marks, numbers, vectors
from .llvm_text import FunctionText, Lanes, scalar_type
from .native_module import CONSTANT, Segment, Whole, in_text
from .objects import at_least, read_number
from .scratch import prepare


def bind(
    emitter: StatementEmitter, block: Sequence[Stmt], segment: Segment, whole: Whole
) -> list[Slot]:
    """What the segment reads, in registers: sizes, scalars, pointers; what it keeps of numbers."""
    f, program = emitter.function, whole.program
    dims = tuple(dict.fromkeys((*_dims(block), *whole.dims)))
    needed = {name for dim in dims for name in symbols_of(dim)}
    least = {
        name: each.lower
        for dim in dims
        for name, each in symbols_of(dim).items()
        if each.lower is not None
    }
    _bind_symbols(emitter, whole, needed, least)
    _bind_sizes(emitter, segment, whole, needed)
    _bind_params(emitter, whole, least)
    for dim in dims:
        emitter.compute_functions(dim)
    for name in whole.returned:
        emitter.regs.data[name] = _room(f, program.buffers[name])
    emitter.scratches = prepare(f, allocated(block))
    _bind_data(emitter, block, whole)
    if whole.loops == "none":
        return []
    memory = dict(emitter.regs.data)
    kept = _bind_numbers(emitter, block, whole)
    data = emitter.regs.data
    in_memory = (n for n in data if n not in whole.returned and data[n] == memory[n])
    marks = alias_marks(emitter.module, [*in_memory, *emitter.scratches], whole.arena.sharing())
    emitter.regs.marks = dict.fromkeys(data, "") | marks  # LLVM knows what is in the frame
    return kept


def _dims(block: Sequence[Stmt]) -> Iterator[SymExpr]:
    """What the statements depend on, besides where their buffers lie."""
    for stmt in walk(tuple(block)):
        found: Iterable[object] = ()
        if isinstance(stmt, Loop):
            found = (stmt.size, stmt.chunk, stmt.parallel)
        elif isinstance(stmt, Boxed):
            found = dims_in(stmt.args)
        yield from (dim for dim in found if isinstance(dim, SymExpr))
        for attribute in ("index", "value", "position"):
            each = getattr(stmt, attribute, None)
            dims = each if isinstance(each, tuple) else (each,)
            yield from (dim for dim in dims if isinstance(dim, SymExpr))


def dims_of_buffers(program: Program, offsets: Mapping[str, Dim]) -> Iterator[SymExpr]:
    """What the places of elements depend on."""
    found: dict[Dim, None] = {}
    for buffer in program.buffers.values():
        found.update(dict.fromkeys((*buffer.shape, *buffer.strides, buffer.offset)))
    found.update(dict.fromkeys(offsets.values()))
    return (dim for dim in found if isinstance(dim, SymExpr))


def _bind_symbols(
    emitter: Emitter, whole: Whole, needed: set[str], least: Mapping[str, int]
) -> None:
    """Read the symbols that are dims or strides of inputs."""
    f, known = emitter.function, emitter.regs.dims
    for value, name in zip(whole.graph.inputs, whole.program.inputs, strict=True):
        if not isinstance(value.type, ArrayType):
            continue
        for place in symbols_in(value.type, name):
            symbol = place.symbol
            if symbol in needed and symbol not in known:
                mark = at_least(emitter, least.get(symbol))
                known[symbol] = whole.caller.size(f, whole.given, place, mark)


def _bind_sizes(emitter: Emitter, segment: Segment, whole: Whole, needed: set[str]) -> None:
    """Read the sizes that earlier pieces have counted."""
    f, program = emitter.function, whole.program
    for stmt in program.body[: segment.first]:
        if isinstance(stmt, Bind) and stmt.name in needed:
            data = whole.caller.data(f, whole.given, program.sizes[stmt.name])
            emitter.regs.dims[stmt.name] = f.op(f"load i64, ptr {data}, align 8")


def _bind_params(emitter: Emitter, whole: Whole, least: Mapping[str, int]) -> None:
    f, given = emitter.function, whole.given
    for place, param in enumerate(given.objects):
        register = read_number(emitter, param, argument(f, 2 + place), least.get(param.name))
        emitter.regs.atoms[param.name] = (register, 1)
        if param.dtype.kind == "i":
            emitter.regs.dims[param.name] = register
    for place, param in enumerate(given.packed):
        wide = "double" if param.dtype.kind == "f" else "i64"
        mark = at_least(emitter, least.get(param.name))
        register = whole.caller.number(f, place, wide, mark)
        kind = scalar_type(param.dtype)
        if kind == "half":
            register = half_of(Lanes(f, 1), register)
        elif kind == "float":
            register = f.op(f"fptrunc double {register} to float")
        elif kind != wide:
            register = f.op(f"trunc i64 {register} to {kind}")
        emitter.regs.atoms[param.name] = (register, 1)
        if wide == "i64" and param.dtype.itemsize == 8:
            emitter.regs.dims[param.name] = register


def _bind_data(emitter: Emitter, block: Sequence[Stmt], whole: Whole) -> None:
    f, program, given = emitter.function, whole.program, whole.given
    offsets, frame = whole.arena.offsets, whole.frame
    used = {a.storage: None for stmt in block for a in accesses(program, stmt)}
    shared = {storage: offsets[storage] for storage in offsets if storage in used}
    written = in_text(program, emitter.module.plain)
    for storage in used:
        if storage in emitter.regs.data or storage in shared or storage in emitter.scratches:
            continue
        if storage in written:
            emitter.regs.data[storage] = f"@fxc.{storage}"
        elif program.buffers[storage].role == "constant":
            emitter.regs.data[storage], _ = emitter.inner_loop(CONSTANT, storage)
        elif storage in given.arrays:
            emitter.regs.data[storage] = whole.caller.data(f, given, storage)
    if shared and frame:
        _bind_shared(emitter, shared, f.stack("i8", frame, ALIGNMENT))
    elif shared:
        arena = whole.caller.data(f, given, "")
        _bind_shared(emitter, shared, arena)


def _bind_shared(emitter: Emitter, offsets: Mapping[str, Dim], arena: str) -> None:
    """The pointers to temporaries that lie in one array; each is found from the one before.

    See Note [Opaque values].
    """
    f = emitter.function
    place: Dim = 0
    pointer = arena
    for storage, offset in offsets.items():
        if isinstance(offset, int):
            emitter.regs.data[storage] = f.op(f"getelementptr i8, ptr {arena}, i64 {offset}")
            continue
        distance = emitter.dim(offset - place)
        next_one = f.op(f"getelementptr i8, ptr {pointer}, i64 {distance}")
        place, pointer = offset, f.opaque(next_one, "ptr")
        emitter.regs.data[storage] = pointer


def _room(f: FunctionText, buffer: Buffer) -> str:
    """A place in the stack frame for the one element of a buffer."""
    return f.stack("i8", buffer.dtype.itemsize, max(8, buffer.alignment))


def _bind_numbers(emitter: Emitter, block: Sequence[Stmt], whole: Whole) -> list[Slot]:
    """Keep single numbers in the stack frame; those to be written back at the end."""
    f, data, program = emitter.function, emitter.regs.data, whole.program
    inside = Counter(name for stmt in block for name in storages(program, (stmt,)))
    outside = {name for name, count in inside.items() if whole.users[name] > count}
    written = stored(program, block)
    kept: list[Slot] = []
    for storage, size in numbers(program, block).items():
        if storage in whole.returned:
            continue
        slot = Slot(_room(f, program.buffers[storage]), data[storage], size)
        data[storage] = slot.register
        role = program.buffers[storage].role
        if role == "input" or storage in outside:
            slot.read(f)
        if storage in written and (role != "temp" or storage in outside):
            kept.append(slot)
    for storage, size in vectors(program, block).items():
        if storage not in outside:
            data[storage] = f.stack("i8", size, ALIGNMENT)
    return kept
