"""The module around the loop nests: entries and their ends, constants.

See Note [Native entry].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import filterfalse

from fxc.ir.graph import Graph
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim

from ..nests.accesses import storages
from ..nests.pieces import arrays_apart
from ..nests.program import Program, is_cut
from ..vector_math import EXACT, definitions
from . import draws, interrupts, sticky
from .arena import ALIGNMENT, Arena, plan_arena
from .bindings import bind, dims_of_buffers
from .callers import PlainC, Python, return_argument, symbols_of_inputs
from .emit import StatementEmitter
from .frame import loops_of, width
from .llvm_text import FAILED, LEFT, FunctionText, ModuleText
from .lock import enter
from .merging import merged
from .minor import minor_loops
from .native_module import Given, Module, Segment, Whole, in_text, segments_of
from .objects import is_object, returned_numbers
from .registers import Undo
from .scratch import free

# See Note [Rooms with one door].
prepare_undo = import_later("fxc.lowering.emission.undo", "prepare")
last_check = import_later("fxc.lowering.emission.undo", "last_check")
bring_back = import_later("fxc.lowering.emission.undo", "bring_back")

# Note [Native entry]
# A program is cut at its calls of NumPy, and where the caller has to know a size (``pieces``); each
# piece is one native function with the calling convention of METH_FASTCALL,
# ``PyObject *entry(PyObject *self, PyObject **args, n)``:
#   self     a bytes object with a table of pointers: NumPy's inner loops and their data, large
#            constants
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

_FLAGGED, _TOLD = "flagged", "told"  # blocks, see Note [Floating-point flags]
_UNKEPT = "unkept"  # the block where the state of a generator could not be kept


def emit_module(
    graph: Graph, program: Program, module: ModuleText, drawn: Sequence[int] = ()
) -> Module:
    """LLVM text for a program, as ``module`` says of its code; for ``drawn`` see ``lower``."""
    returned = returned_numbers(graph, program) if not module.plain else {}
    apart = [name for name in arrays_apart(program) if name not in returned]
    arena = plan_arena(program, apart)
    segments = list(segments_of(program, module.plain))
    size, frame = _rooms(program, arena, len(segments))
    objects = tuple(param for param in program.params if is_object(param) and not module.plain)
    packed = program.params if module.plain else tuple(filterfalse(is_object, program.params))
    given = Given(packed, objects, tuple(apart), symbols_of_inputs(graph))
    dims, user_loops = tuple(dims_of_buffers(program, arena.offsets)), loops_of(program)
    users = Counter(name for stmt in program.body for name in storages(program, (stmt,)))
    kept = tuple(program.inputs[place] for place in drawn) if len(segments) == 1 else ()
    if any(map(is_cut, program.body)):
        kept = ()
    caller = PlainC() if module.plain else Python()
    whole = Whole(
        graph, program, given, arena, frame, returned, dims, user_loops, users, caller, kept
    )
    for segment in segments:
        _emit_segment(module, whole, segment)
    math = definitions(module.math, program.target.permutes)
    declares = sorted({*module.declares, *math.declares})
    parts = [*_constants(program, module.plain, segments), math.text, *merged(module.functions)]
    text = "\n".join(part for part in (*declares, *parts, *module.notes) if part)
    loops = tuple(module.inner_loops)
    called = tuple(module.calls), tuple(module.support)
    results = tuple(returned)
    updated = sticky.updated_inputs(program)
    guarded = user_loops == "scalar" and sticky.has_guarded(program.body)
    in_vain = sticky.has_extremes(program.body) or sticky.has_early(program.body)
    may_be_careful = not module.careful and (guarded or in_vain)
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


def _rooms(program: Program, arena: Arena, segments: int) -> tuple[Dim, int]:
    """Bytes of the arena that is an argument, and of the one in the stack frame."""
    size = arena.size
    if isinstance(size, int) and size <= program.target.frame and (segments == 1 or size == 0):
        return 0, max(size, 1) if arena.offsets else 0
    return size, 0


def _constants(program: Program, plain: str, segments: Sequence[Segment]) -> Iterator[str]:
    """Where flags are looked at LLVM is not to compute with floats itself: it would set none."""
    are_told = any(segment.flags for segment in segments)
    for name in in_text(program, plain):
        data, kind = program.buffers[name].data or b"", program.buffers[name].dtype.kind
        kept = "externally_initialized " if are_told and kind in "fc" else ""
        text = data and "\\" + data.hex("\\")
        yield (
            f"@fxc.{name} = private unnamed_addr {kept}constant "
            f'[{len(data)} x i8] c"{text or ""}", align {ALIGNMENT}'
        )


def _emit_segment(module: ModuleText, whole: Whole, segment: Segment) -> None:
    program, returned = whole.program, whole.returned
    block = program.body[segment.first : segment.last]
    f = FunctionText(module)
    emitter = StatementEmitter(module, f, program, segment.entry)
    whole.caller.begin(f)
    kept = bind(emitter, block, segment, whole)
    if segment.looks:
        interrupts.prepare(emitter, block)
    if segment.calls:
        emitter.raised = f.null_slot()
    if segment.flags:
        emitter.has_quiet = sticky.has_quiet(block)
        sticky.clear(emitter)
    states = draws.keep_states(emitter, whole.drawn, _UNKEPT)
    emitter.minor = minor_loops(block, emitter.costs)
    undo = emitter.undo = prepare_undo(emitter, block) if emitter.program.undone else None
    checked = last_check(block) if undo is not None else 0
    emitter.block(block[:checked])
    emitter.undo = None
    emitter.block(block[checked:])
    module.at = ""  # what follows is for no line of the program
    enter(emitter)
    for slot in kept:
        slot.write(f)
    if segment.flags:
        numbers = [(emitter.regs.data[n], program.buffers[n].dtype.itemsize) for n in returned]
        sticky.look(emitter, numbers, _FLAGGED, _TOLD)
    free(f, emitter.scratches.values())
    draws.drop_states(emitter, states)
    whole.caller.done(emitter, returned)
    if segment.checks:
        _failed(emitter, segment, whole, states, undo)
    if segment.looks:
        interrupts.begin_end(emitter)
        draws.drop_states(emitter, states)
        interrupts.end(emitter, kept)
        whole.caller.stop(emitter)
    if states:
        f.start(_UNKEPT)  # there is no other memory yet
        return_argument(f, 0)
    if segment.flags:
        _flagged(emitter, states)
    _write(emitter, whole, segment)


def _write(emitter: StatementEmitter, whole: Whole, segment: Segment) -> None:
    """The finished function, behind those that run its chunks."""
    f, module = emitter.function, emitter.module
    head = whole.caller.head(segment.entry)
    if whole.frame:
        head += ' "probe-stack"="inline-asm"'  # more than a page: touch each one
    kind = width(module, whole.program, whole.loops)
    body = ["entry:", *f.stack_lines, *f.lines, "}"]
    for each, lines in (*emitter.chunks, (head, body)):
        module.functions.append("\n".join((f"{each}{kind} {{", *lines)))


def _failed(
    emitter: StatementEmitter,
    segment: Segment,
    whole: Whole,
    states: Sequence[tuple[str, str]],
    undo: Undo | None,
) -> None:
    """Where a check has failed: everything is brought back, and NumPy takes the call."""
    f = emitter.function
    for number in sorted(emitter.sites):
        f.start(f"{LEFT}.{number}")
        whole.caller.note(emitter, number)
        f.do(f"br label %{FAILED}")
    f.start(FAILED)
    enter(emitter)
    if undo is not None:
        bring_back(emitter, undo)
    free(f, emitter.scratches.values())
    draws.bring_back_states(emitter, states)
    whole.caller.fail(emitter, segment)


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
