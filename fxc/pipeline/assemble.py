"""From a functional graph to a callable plan: lowering, engine and plan wired together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.handles import object_at
from fxc.ir.later import import_later
from fxc.ir.location import Site
from fxc.ir.records import frozen
from fxc.ir.settings import Math, config
from fxc.ir.signature import ViewStep
from fxc.ir.steps import done
from fxc.lowering.building.context import KernelOf
from fxc.lowering.emission.draws import DRAW, STATES
from fxc.lowering.emission.llvm_text import LEFT
from fxc.lowering.emission.native_module import (
    CALL,
    CONSTANT,
    NUMPY_FUNCTIONS,
    PARALLEL,
    UFUNC,
    Module,
    slots_of,
)
from fxc.lowering.emission.objects import SCALAR
from fxc.lowering.emission.sticky import NOTICE
from fxc.lowering.lower import lower
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.boxed_args import BufferArg, InputArg, buffer_args
from fxc.lowering.nests.buffers import Buffer
from fxc.lowering.nests.program import Program, is_cut
from fxc.lowering.nests.statements import Boxed, Stmt, touched, walk
from fxc.native.numpy_slots import check_places
from fxc.native.pointer_table import Entry, TableObjects, table_of
from fxc.ops.effects import direct
from fxc.ops.kernels import compiled_kernel_of, kernel_of, writing_kernel_of
from fxc.ops.operators import EFFECTS, Tag
from fxc.ops.table import TABLE
from fxc.runtime.engine import Engine
from fxc.runtime.features import converts_halves, permutes
from fxc.runtime.left import Left
from fxc.runtime.notice import Notice
from fxc.runtime.plan import Plan, make_plan
from fxc.runtime.recipe import GivenArg, NativeStep, NumpyStep, Recipe, SlotArg
from fxc.runtime.thread_numbers import most_threads

check_places()

# See Note [Rooms with one door].
gives_new = import_later("fxc.ops.foreign_calls", "gives_new")
large_array_maker = import_later("fxc.native.large_arrays", "maker")
draw_function = import_later("fxc.native.draws", "draw_function")
make_takers = import_later("fxc.runtime.taking", "make_takers")
evaluate = import_later("fxc.ir.evaluate", "evaluate")
verify_parallel = import_later("fxc.lowering.nests.independence", "verify_parallel")


@frozen
class Assembled:
    """Compiled code with its plan. ``fallbacks`` names the operators that NumPy itself runs."""

    module: Module
    engine: Engine
    plan: Plan
    fallbacks: tuple[str, ...]
    notice: Notice
    left: Left

    def left_at(self, error: BaseException) -> Site | None:
        """The operator for which a call was left to NumPy just now, by this exception."""
        return self.plan.raised_at(error) or self.left.site()


def target() -> Target:
    """What code is made for."""
    return Target(threads=most_threads(), halves=converts_halves(), permutes=permutes())


def assemble(
    graph: Graph,
    native_kernel: KernelOf,
    drawn: Sequence[int] = (),
    *,
    careful: bool = False,
    math: Math = "default",
) -> Assembled:
    """Compile a decomposed graph, which draws from the generators that the inputs ``drawn`` are.

    ``native_kernel`` says which operators have native code; NumPy is called for the others.

    Requires: the graph has its signature.
    """
    module = lower(
        graph, native_kernel, drawn, careful=careful, fast=math == "fast", target=target()
    )
    if config.verify_graphs:
        verify_parallel(module.program)
    return assembled(graph, module)


def assembled(graph: Graph, module: Module) -> Assembled:
    """What runs a module, which was made of a decomposed graph."""
    calls = [s for s in walk(module.program.body) if isinstance(s, Boxed)]
    if calls:
        make_takers()
    entries = [segment.entry for segment in module.segments]
    notice, left = Notice(), Left(module.sites)
    objects = TableObjects(notice, left, NUMPY_FUNCTIONS, module.calls)
    table = table_of(entries_of(module), objects)
    engine = Engine(
        module.text,
        table,
        entries,
        loops=module.user_loops,
        kept=[objects],
        support=module.support,
    )
    done("machine code", engine)
    recipe = recipe_of(graph, module, tuple(_steps(module, engine)))
    native = all(draw_function(key) for name, key in module.inner_loops if name == DRAW)
    boxed = tuple(s.op for s in calls if not (s.brief and native))
    made = Assembled(module, engine, make_plan(recipe), boxed, notice, left)
    done("plan", made)
    return made


def entries_of(module: Module) -> tuple[Entry, ...]:
    """What stands in the table of pointers of a module."""
    buffers = module.program.buffers
    return tuple(_entry_for(ufunc, kind, buffers) for ufunc, kind in module.inner_loops)


def _entry_for(ufunc: str, kind: str, buffers: Mapping[str, Buffer]) -> Entry:
    """The entry of the table for an inner loop, or for what goes by such a name."""
    if ufunc == CONSTANT:
        return ("constant", buffers[kind].data)
    if ufunc == SCALAR:
        return ("scalar", kind)
    if ufunc == CALL:
        return ("call", int(kind))
    if ufunc == DRAW:
        return ("draw", kind)
    if ufunc == UFUNC:
        op, _, number = kind.rpartition(" ")
        return ("loop of", TABLE[op].numpy, int(number))
    if ufunc == NOTICE:
        return (kind,)
    plain = {STATES: "states", PARALLEL: "parallel", LEFT: "left"}
    return (plain[ufunc],) if ufunc in plain else ("loop", ufunc, kind)


def recipe_of(
    graph: Graph, module: Module, steps: tuple[NativeStep | NumpyStep, ...] = ()
) -> Recipe:
    """What a plan that takes these steps is made of."""
    assert graph.signature is not None
    program = module.program
    views = {step.op for leaf in graph.signature.outputs for step in getattr(leaf, "steps", ())}
    views |= {
        step.op
        for stmt in program.body
        if isinstance(stmt, Boxed)
        for arg in buffer_args(stmt.args)
        for step in arg.steps
    }
    return Recipe(
        graph.inputs,
        slots_of(graph, module),
        module.arena,
        tuple((param.input, param.part, _code(param.dtype)) for param in module.given.packed),
        tuple(param.input for param in module.given.objects),
        module.returned,
        steps,
        program.results,
        graph.signature,
        {op: kernel_of(op) for op in views},
        large_array_maker,
        program.sizes,
    )


def _code(dtype: np.dtype) -> str:
    return {"f": "d", "u": "Q", "b": "?7x"}.get(dtype.kind, "q")  # 8 bytes each


def _steps(module: Module, engine: Engine) -> Iterator[NativeStep | NumpyStep]:
    natives = [
        NativeStep(
            function,
            segment.checks,
            segment.looks,
            segment.calls,
            segment.binds,
            segment.flags,
        )
        for segment, function in zip(module.segments, engine.functions, strict=True)
    ]
    starts = {s.first: step for s, step in zip(module.segments, natives, strict=True)}
    for place, stmt in enumerate(module.program.body):
        if place in starts:
            yield starts[place]
        if isinstance(stmt, Boxed) and is_cut(stmt):
            args = tuple(_argument(arg, module.program) for arg in stmt.args)
            site = Site(stmt.op, stmt.loc)
            if TABLE[stmt.op].tag in EFFECTS:
                kernel, given = _effect(stmt.op, args[1:])
                given = (args[0], *given)
                yield NumpyStep(stmt.op, kernel, given, stmt.outs, fresh=True, site=site)
            else:
                shapes = [module.program.buffers[out].shape for out in stmt.outs]
                writing = writing_kernel_of(stmt.op) if all(shapes) and stmt.graph is None else None
                if writing is not None and stmt.size is None:
                    reuses = _reused(module.program, place)
                    yield NumpyStep(
                        stmt.op, writing, args, stmt.outs, into=True, reuses=reuses, site=site
                    )
                else:
                    kernel = _kernel(stmt)
                    fresh = gives_new(kernel) and stmt.size is None
                    may_give = () if fresh else _given_by(module.program, place)
                    yield NumpyStep(
                        stmt.op, kernel, args, stmt.outs, stmt.size, fresh, may_give, site=site
                    )


def _given_by(program: Program, place: int) -> tuple[str, ...]:
    """The storages of which nobody knows before they hold what a function of NumPy's gives."""
    stmt, buffers = program.body[place], program.buffers
    assert isinstance(stmt, Boxed)
    if TABLE[stmt.op].tag is not Tag.OPAQUE:
        return ()
    before = _storages(program, program.body[:place])
    outs = [out for out in stmt.outs if buffers[out].storage == out and out not in before]
    return tuple(outs)


def _storages(program: Program, stmts: Sequence[Stmt]) -> set[str]:
    """The storages that statements touch."""
    return {program.buffers[name].storage for names in touched(stmts) for name in names}


def _reused(program: Program, place: int) -> str:
    """The operand of a ufunc's call whose memory its first result may have: one of its layout that
    nobody reads afterwards. The ufunc reads each element before it writes it.
    """
    stmt, buffers = program.body[place], program.buffers
    assert isinstance(stmt, Boxed)
    function, out = TABLE[stmt.op].numpy, buffers[stmt.outs[0]]
    if not isinstance(function, np.ufunc) or function.signature is not None:
        return ""

    if out.storage != out.name or out.storage in _storages(program, program.body[:place]):
        return ""
    later = _storages(program, program.body[place + 1 :])
    for arg in stmt.args:
        if not isinstance(arg, BufferArg) or arg.scalar or arg.steps:
            continue
        given = buffers[arg.buffer]
        is_own = given.role == "temp" and given.storage == given.name and given.name not in later
        if is_own and _layout(given) == _layout(out):
            return given.name
    return ""


def _layout(buffer: Buffer) -> tuple[object, ...]:
    return buffer.dtype, buffer.shape, buffer.strides, buffer.offset, buffer.parts


def _kernel(stmt: Boxed) -> Callable[..., Any]:
    """NumPy's kernel of a boxed call; for control flow, the evaluation of its graph."""
    graph = stmt.graph
    if graph is None:
        return compiled_kernel_of(stmt.op)

    def run(*args: object) -> Any:
        results = evaluate(graph, args, kernel_of)
        return results[0] if len(results) == 1 else results

    return run


def _effect(op: str, args: tuple[Any, ...]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What an operator does that has an effect, and the arguments behind its handle."""
    function, given = direct(op, args)

    def run(handle: np.ndarray, *args: object) -> Any:
        found = function(object_at(handle), *args)
        if type(found) is np.ndarray and not found.flags.c_contiguous:
            return np.ascontiguousarray(found)
        return found

    return run, given


def _argument(arg: object, program: Program) -> Any:
    if isinstance(arg, BufferArg):
        buffer = program.buffers[arg.buffer]
        if buffer.data is not None:
            return np.frombuffer(buffer.data, buffer.dtype).reshape(buffer.shape)
        kind = "python" if arg.weak else "scalar" if arg.scalar else "array"
        steps = tuple(
            ViewStep(step.op, tuple(_argument(each, program) for each in step.args))
            for step in arg.steps
        )
        return SlotArg(arg.buffer, kind, steps)
    if isinstance(arg, InputArg):
        return GivenArg(arg.input)
    if isinstance(arg, tuple):
        return tuple(_argument(item, program) for item in arg)
    return arg
