"""The module around the loop nests: entries, arguments, temporaries, constants.

See Note [Native entry].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fxc.ir.graph import Graph
from fxc.ir.location import Site
from fxc.ir.objects import ARRAY_DATA, ARRAY_DIMS, ARRAY_STRIDES, BYTES_DATA
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, SymExpr, symbols_of
from fxc.ir.types import ArrayType, ScalarType

from ..nests.accesses import accesses, allocated, storages, stored
from ..nests.bounds import Range, counter_ranges, most_elements
from ..nests.buffers import FRAME
from ..nests.pieces import arrays_apart, pieces
from ..nests.program import Param, Program, is_cut
from ..nests.statements import Allocate, Bind, Boxed, Check, Loop, Stmt, walk
from ..vector_math import EXACT, definitions
from . import draws, interrupts, sticky
from .calls import dims_in, return_raised
from .emit import StatementEmitter
from .emitter import Emitter
from .frame import LoopKind, Slot, alias_marks, loops_of, numbers, width
from .llvm_text import FAILED, LEFT, FunctionText, ModuleText, scalar_type
from .merging import merged
from .minor import minor_loops
from .objects import at_least, is_object, read_number, return_numbers, returned_numbers
from .registers import Undo
from .scratch import free, prepare
from .undo import bring_back, last_check
from .undo import prepare as prepare_undo

# Note [Native entry]
# A program is cut at its calls of NumPy, and where the caller has to know a size (``pieces``); each
# piece is one native function with the calling convention of METH_FASTCALL,
# ``PyObject *entry(PyObject *self, PyObject **args, n)``:
#   self     a bytes object with a table of pointers: NumPy's inner loops and their data
#   args[0]  any object; it is the result if a check failed and the call has to go back to NumPy,
#            or else what NumPy raised, see Note [Calls of NumPy]
#   args[1]  a bytes object with scalar parameters, 8 bytes each
#   args[2:] the scalar parameters that are given as objects; then arrays: the program's array
#            slots in order, then the arena for temporaries, unless those are few enough for the
#            stack frame
# Its result is a number that the program gives, a tuple of several, or args[1] if there is none;
# NULL if an exception is set, see Note [Interrupts]; ``self`` if the call has to be replayed for
# what NumPy tells of, see Note [Floating-point flags].
# Data pointers, dims and strides are read from the arrays themselves; no address is part of the
# code. The caller has checked everything that the graph's guards say.

ALIGNMENT = 64
_FLAGGED, _TOLD = "flagged", "told"  # blocks, see Note [Floating-point flags]
_UNKEPT = "unkept"  # the block where the state of a generator could not be kept


@frozen
class Segment:
    """One native function: the statements of the program from ``first`` up to ``last``.

    ``checks``: some of them may send the call back to NumPy. ``looks``: see Note [Interrupts],
    ``calls``: Note [Calls of NumPy].
    """

    entry: str
    first: int
    last: int
    checks: bool
    looks: bool
    calls: bool
    binds: tuple[str, ...] = ()  # symbols, see Note [Counted sizes]
    flags: bool = False  # see Note [Floating-point flags]


@frozen
class Given:
    """What an entry is given, in order: parameters in bytes, parameters as objects, storages that
    are arrays.
    """

    packed: tuple[Param, ...]
    objects: tuple[Param, ...]
    arrays: tuple[str, ...]

    def place(self, name: str) -> int:
        """The argument that is an array, or behind the last of them the arena."""
        array = self.arrays.index(name) if name in self.arrays else len(self.arrays)
        return 2 + len(self.objects) + array


@frozen
class Module:
    """LLVM text and what the runtime needs to call it.

    ``arena`` is the size in bytes of the temporaries that live together in one more array.
    ``returned`` are the storages whose numbers are returned.
    ``inner_loops`` name the contents of the pointer table: (ufunc, dtype) each with its data
    pointer. For ``user_loops`` see Note [Scalar loops]. ``calls`` are the objects that each call of
    NumPy mentions. ``support`` are texts of modules whose
    functions it calls, each after those that it needs. ``updated`` are the inputs that it reads and
    writes. If it ``keeps_states`` of generators, it brings them back where it fails.
    """

    text: str
    program: Program
    segments: tuple[Segment, ...]
    given: Given
    arena: Dim
    returned: tuple[str, ...]
    inner_loops: tuple[tuple[str, str], ...]
    user_loops: LoopKind
    calls: tuple[tuple[Any, ...], ...]
    support: tuple[str, ...]
    updated: tuple[int, ...] = ()
    keeps_states: bool = False
    may_be_careful: bool = False  # it may set flags that careful code would not
    sites: tuple[Site, ...] = ()  # see Note [Leaves]
    approximates: bool = False  # elementary functions, up to bounds

    @property
    def sets_flags(self) -> bool:
        """Whether it looks at floating-point flags."""
        return any(segment.flags for segment in self.segments)


@frozen
class Arena:
    """Where temporaries lie in the array that they share."""

    offsets: dict[str, Dim]
    sizes: dict[str, Dim]
    size: Dim

    def meet(self, left: str, right: str) -> bool:
        """Whether two storages take the same memory (one after the other)."""
        if left not in self.offsets or right not in self.offsets or not isinstance(self.size, int):
            return False
        starts = [hint(self.offsets[name]) for name in (left, right)]
        stops = [
            start + hint(self.sizes[n]) for start, n in zip(starts, (left, right), strict=True)
        ]
        return max(starts) < min(stops)


@frozen
class Whole:
    """What the pieces of a program have in common: found once, there may be hundreds of them.

    ``users`` has for each storage the number of the program's statements that use it.
    """

    graph: Graph
    program: Program
    given: Given
    arena: Arena
    frame: int
    returned: Mapping[str, ScalarType]
    dims: tuple[SymExpr, ...]
    loops: LoopKind
    users: Mapping[str, int]
    drawn: tuple[str, ...] = ()  # handles of generators whose states are kept


def emit_module(
    graph: Graph, program: Program, drawn: Sequence[int] = (), *, careful: bool = False
) -> Module:
    """LLVM text for a program; for ``drawn`` see ``lower``."""
    module = ModuleText(careful)
    returned = returned_numbers(graph, program)
    apart = [name for name in arrays_apart(program) if name not in returned]
    arena = _plan_arena(program, apart)
    segments = list(_segments(program))
    size, frame = arena.size, 0
    if isinstance(size, int) and size <= FRAME and (len(segments) == 1 or size == 0):
        size, frame = 0, max(size, 1) if arena.offsets else 0
    packed = tuple(param for param in program.params if not is_object(param))
    objects = tuple(param for param in program.params if is_object(param))
    given = Given(packed, objects, tuple(apart))
    dims, user_loops = tuple(_dims_of_buffers(program, arena.offsets)), loops_of(program)
    users = Counter(name for stmt in program.body for name in storages(program, (stmt,)))
    kept = tuple(program.inputs[place] for place in drawn) if len(segments) == 1 else ()
    if any(map(is_cut, program.body)):
        kept = ()
    whole = Whole(graph, program, given, arena, frame, returned, dims, user_loops, users, kept)
    for segment in segments:
        _emit_segment(module, whole, segment)
    math = definitions(module.math)
    declares = sorted({*module.declares, *math.declares})
    parts = [*declares, *_constants(program), math.text, *merged(module.functions), *module.notes]
    text = "\n".join(part for part in parts if part)
    loops = tuple(module.inner_loops)
    called = tuple(module.calls), tuple(module.support)
    results = tuple(returned)
    updated = sticky.updated_inputs(program)
    guarded = user_loops == "scalar" and sticky.has_guarded(program.body)
    may_be_careful = not careful and (guarded or sticky.has_extremes(program.body))
    return Module(
        text,
        program,
        tuple(segments),
        given,
        size,
        results,
        loops,
        user_loops,
        *called,
        updated,
        bool(kept),
        may_be_careful,
        tuple(module.sites),
        any(name not in EXACT for name, *_ in module.math),
    )


def _segments(program: Program) -> Iterator[Segment]:
    for first, last in pieces(program):
        block = program.body[first:last]
        checks = any(isinstance(s, Check | Allocate) for s in walk(block))
        looks = interrupts.looks(block)
        calls = any(isinstance(s, Boxed) for s in walk(block))
        binds = tuple(s.name for s in block if isinstance(s, Bind))
        flags = sticky.sets_flags(block)
        yield Segment(f"fxc.entry{first}", first, last, checks, looks, calls, binds, flags)


def _bytes(program: Program, name: str, ranges: Mapping[str, Range]) -> Dim:
    """The room that a temporary takes, in the largest size that it has."""
    buffer = program.buffers[name]
    size = buffer.dtype.itemsize * most_elements(buffer.shape, ranges)
    if isinstance(size, int):
        return -(-size // ALIGNMENT) * ALIGNMENT
    return (size + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT


def _plan_arena(program: Program, apart: Sequence[str]) -> Arena:
    """Offsets of the other temporaries; those that do not live at the same time share memory."""
    lives: dict[str, tuple[int, int]] = {}
    apart = [*apart, *allocated(program.body)]
    for place, stmt in enumerate(program.body):
        for access in accesses(program, stmt):
            storage = access.storage
            if storage not in apart and program.buffers[storage].role == "temp":
                first, _ = lives.get(storage, (place, place))
                lives[storage] = (first, place)
    offsets: dict[str, Dim] = {}
    ranges = counter_ranges(program)
    sizes = {name: _bytes(program, name, ranges) for name in lives}
    if not all(isinstance(size, int) for size in sizes.values()):
        total: Dim = 0
        for name, size in sizes.items():
            offsets[name] = total
            total = total + size
        return Arena(offsets, sizes, total)
    for name in sorted(lives, key=lambda n: -hint(sizes[n])):
        taken = sorted(
            (hint(offsets[other]), hint(offsets[other]) + hint(sizes[other]))
            for other in offsets
            if lives[other][0] <= lives[name][1] and lives[name][0] <= lives[other][1]
        )
        at = 0
        for start, stop in taken:
            if at + hint(sizes[name]) <= start:
                break
            at = max(at, stop)
        offsets[name] = at
    end = max((hint(offsets[n]) + hint(sizes[n]) for n in offsets), default=0)
    return Arena(offsets, sizes, end)


def _constants(program: Program) -> Iterator[str]:
    for name, buffer in program.buffers.items():
        if buffer.data is not None:
            data = "".join(f"\\{byte:02X}" for byte in buffer.data)
            yield (
                f"@fxc.{name} = private unnamed_addr constant "
                f'[{len(buffer.data)} x i8] c"{data}", align {ALIGNMENT}'
            )


def _emit_segment(module: ModuleText, whole: Whole, segment: Segment) -> None:
    program, returned = whole.program, whole.returned
    block = program.body[segment.first : segment.last]
    f = FunctionText(module)
    emitter = StatementEmitter(module, f, program, segment.entry)
    f.lines.append(f"  %table = getelementptr i8, ptr %self, i64 {BYTES_DATA}")
    kept = _bind(emitter, block, segment, whole)
    if segment.looks:
        interrupts.prepare(emitter)
    if segment.calls:
        emitter.raised = f.null_slot()
    if segment.flags:
        emitter.has_quiet = sticky.has_quiet(block)
        sticky.clear(emitter)
    states = draws.keep_states(emitter, whole.drawn, _UNKEPT)
    emitter.minor = minor_loops(block)
    undo = emitter.undo = prepare_undo(emitter, block)
    checked = last_check(block) if undo is not None else 0
    emitter.block(block[:checked])
    emitter.undo = None
    emitter.block(block[checked:])
    for slot in kept:
        slot.write(f)
    if segment.flags:
        numbers = [(emitter.regs.data[n], program.buffers[n].dtype.itemsize) for n in returned]
        sticky.look(emitter, numbers, _FLAGGED, _TOLD)
    free(f, emitter.scratches.values())
    draws.drop_states(emitter, states)
    if returned:
        return_numbers(emitter, returned)
    else:
        _return_argument(f, 1)
    if segment.checks:
        _failed(emitter, segment, states, undo)
    if segment.looks:
        interrupts.begin_end(emitter)
        draws.drop_states(emitter, states)
        interrupts.end(emitter, kept)
    if states:
        f.start(_UNKEPT)  # there is no other memory yet
        _return_argument(f, 0)
    if segment.flags:
        _flagged(emitter, states)
    module.declare("declare void @Py_IncRef(ptr)")
    head = f'define ptr @"{segment.entry}"(ptr %self, ptr %args, i64 %nargs) nounwind'
    if whole.frame:
        head += ' "probe-stack"="inline-asm"'  # more than a page: touch each one
    head += f"{width(module, whole.loops)} {{"
    lines = [head, "entry:", *f.stack_lines, *f.lines, "}"]
    module.functions.append("\n".join(lines))


def _bind(
    emitter: StatementEmitter, block: Sequence[Stmt], segment: Segment, whole: Whole
) -> list[Slot]:
    """What the segment reads, in registers: sizes, scalars, pointers; what it keeps of numbers."""
    f, program, given = emitter.function, whole.program, whole.given
    dims = tuple(dict.fromkeys((*_dims(block), *whole.dims)))
    needed = {name for dim in dims for name in symbols_of(dim)}
    least = {
        name: each.lower
        for dim in dims
        for name, each in symbols_of(dim).items()
        if each.lower is not None
    }
    _bind_symbols(emitter, whole.graph, program, given, needed, least)
    _bind_sizes(emitter, program, segment, given, needed)
    _bind_params(emitter, given, least)
    for dim in dims:
        emitter.compute_functions(dim)
    for name in whole.returned:
        emitter.regs.data[name] = f.stack("i8", program.buffers[name].dtype.itemsize)
    emitter.scratches = prepare(f, allocated(block))
    _bind_data(emitter, block, whole)
    if whole.loops == "none":
        return []
    memory = dict(emitter.regs.data)
    kept = _bind_numbers(emitter, block, whole)
    data = emitter.regs.data
    in_memory = (n for n in data if n not in whole.returned and data[n] == memory[n])
    marks = alias_marks(emitter.module, [*in_memory, *emitter.scratches], whole.arena.meet)
    emitter.regs.marks = dict.fromkeys(data, "") | marks  # LLVM knows what is in the frame
    return kept


def _failed(
    emitter: StatementEmitter,
    segment: Segment,
    states: Sequence[tuple[str, str]],
    undo: Undo | None,
) -> None:
    """Where a check has failed: everything is brought back, and NumPy takes the call."""
    f = emitter.function
    for number in sorted(emitter.sites):
        f.start(f"{LEFT}.{number}")
        written, _ = emitter.inner_loop(LEFT, "")
        f.do(f"store i64 {number}, ptr {written}, align 8")
        f.do(f"br label %{FAILED}")
    f.start(FAILED)
    if undo is not None:
        bring_back(emitter, undo)
    free(f, emitter.scratches.values())
    draws.bring_back_states(emitter, states)
    if segment.calls:
        return_raised(emitter)
    _return_argument(f, 0)


def _flagged(emitter: StatementEmitter, states: Sequence[tuple[str, str]]) -> None:
    """Where NumPy is to look at floating-point flags, or has been told to raise for them."""
    f = emitter.function
    f.start(_FLAGGED)
    free(f, emitter.scratches.values())
    draws.bring_back_states(emitter, states)
    f.do("call void @Py_IncRef(ptr %self)")
    f.do("ret ptr %self")
    f.start(_TOLD)
    free(f, emitter.scratches.values())
    draws.bring_back_states(emitter, states)
    f.do("ret ptr null")


def _dims(block: Sequence[Stmt]) -> Iterator[SymExpr]:
    """What the statements depend on, besides where their buffers lie."""
    for stmt in walk(tuple(block)):
        found: Iterable[object] = ()
        if isinstance(stmt, Loop):
            found = (stmt.size, stmt.chunk)
        elif isinstance(stmt, Boxed):
            found = dims_in(stmt.args)
        yield from (dim for dim in found if isinstance(dim, SymExpr))
        for attribute in ("index", "value", "position"):
            each = getattr(stmt, attribute, None)
            dims = each if isinstance(each, tuple) else (each,)
            yield from (dim for dim in dims if isinstance(dim, SymExpr))


def _dims_of_buffers(program: Program, offsets: Mapping[str, Dim]) -> Iterator[SymExpr]:
    """What the places of elements depend on."""
    found: dict[Dim, None] = {}
    for buffer in program.buffers.values():
        found.update(dict.fromkeys((*buffer.shape, *buffer.strides, buffer.offset)))
    found.update(dict.fromkeys(offsets.values()))
    return (dim for dim in found if isinstance(dim, SymExpr))


def _return_argument(f: FunctionText, place: int) -> None:
    result = _argument(f, place)
    f.do(f"call void @Py_IncRef(ptr {result})")
    f.do(f"ret ptr {result}")


def _argument(f: FunctionText, place: int) -> str:
    slot = f.op(f"getelementptr ptr, ptr %args, i64 {place}")
    return f.op(f"load ptr, ptr {slot}, align 8")


def _field(f: FunctionText, pointer: str, offset: int, kind: str, mark: str = "") -> str:
    at = f.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
    return f.op(f"load {kind}, ptr {at}, align 8{mark}")


def _bind_symbols(
    emitter: Emitter,
    graph: Graph,
    program: Program,
    given: Given,
    needed: set[str],
    least: Mapping[str, int],
) -> None:
    """Read the symbols that are dims or strides of inputs from the arrays."""
    f, known = emitter.function, emitter.regs.dims
    for value, name in zip(graph.inputs, program.inputs, strict=True):
        kind = value.type
        if not isinstance(kind, ArrayType):
            continue
        for field, dims in ((ARRAY_DIMS, kind.shape), (ARRAY_STRIDES, kind.strides)):
            for axis, dim in enumerate(dims):
                is_symbol = isinstance(dim, SymExpr) and list(symbols_of(dim)) == [str(dim)]
                if is_symbol and str(dim) in needed and str(dim) not in known:
                    array = _argument(f, given.place(name))
                    vector = _field(f, array, field, "ptr")
                    mark = at_least(emitter, least.get(str(dim)))
                    known[str(dim)] = _field(f, vector, 8 * axis, "i64", mark)


def _bind_sizes(
    emitter: Emitter, program: Program, segment: Segment, given: Given, needed: set[str]
) -> None:
    """Read the sizes that earlier pieces have counted."""
    f = emitter.function
    for stmt in program.body[: segment.first]:
        if isinstance(stmt, Bind) and stmt.name in needed:
            array = _argument(f, given.place(program.sizes[stmt.name]))
            data = _field(f, array, ARRAY_DATA, "ptr")
            emitter.regs.dims[stmt.name] = f.op(f"load i64, ptr {data}, align 8")


def _bind_params(emitter: Emitter, given: Given, least: Mapping[str, int]) -> None:
    f = emitter.function
    for place, param in enumerate(given.objects):
        argument = _argument(f, 2 + place)
        register = read_number(emitter, param, argument, least.get(param.name))
        emitter.regs.atoms[param.name] = (register, 1)
        if param.dtype.kind == "i":
            emitter.regs.dims[param.name] = register
    if not given.packed:
        return
    params = _argument(f, 1)
    for place, param in enumerate(given.packed):
        wide = "double" if param.dtype.kind == "f" else "i64"
        register = _field(f, params, BYTES_DATA + 8 * place, wide)
        kind = scalar_type(param.dtype)
        if kind == "float":
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
    for storage in used:
        if storage in emitter.regs.data or storage in shared or storage in emitter.scratches:
            continue
        if program.buffers[storage].role == "constant":
            emitter.regs.data[storage] = f"@fxc.{storage}"
        elif storage in given.arrays:
            array = _argument(f, given.place(storage))
            emitter.regs.data[storage] = _field(f, array, ARRAY_DATA, "ptr")
    if shared and frame:
        _bind_shared(emitter, shared, f.stack("i8", frame, ALIGNMENT))
    elif shared:
        arena = _field(f, _argument(f, given.place("")), ARRAY_DATA, "ptr")
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
        slot = Slot(f.stack("i8", size), data[storage], size)
        data[storage] = slot.register
        role = program.buffers[storage].role
        if role == "input" or storage in outside:
            slot.read(f)
        if storage in written and (role != "temp" or storage in outside):
            kept.append(slot)
    return kept
