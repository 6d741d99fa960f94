"""Functional graph → loop nests, node by node in program order."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Graph, Literal, Node, Operand, Region, Value, walk
from fxc.ir.later import import_later
from fxc.ir.location import Site
from fxc.ir.records import replace
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import symbol, symbols_of
from fxc.ir.types import PART_DTYPES, ArrayType, ScalarType
from fxc.ops.kernels import kernel_of
from fxc.ops.metas.shapes import hints
from fxc.ops.operators import CONTROL, EFFECTS, Tag
from fxc.ops.table import TABLE
from fxc.ops.updates import UPDATES, way

from ..machine.target import SERIAL, Target
from ..nests.boxed_args import BufferArg, InputArg, buffer_args
from ..nests.buffers import Buffer
from ..nests.pieces import with_cuts
from ..nests.program import Param, Program
from ..nests.statements import Boxed, Check, touched
from ..operators.inner_loops import has_inner_loop
from .context import Context, KernelOf
from .coverage import NATIVE_DTYPES
from .index_maps import is_view_copy
from .results import finish
from .scope import free_values, new_scope
from .stores import store, whole
from .undone import can_undo, is_measured
from .writes import StoringContext, aim

# See Note [Rooms with one door].
as_numpys = import_later("fxc.lowering.building.call_operands", "as_numpys")
seen_by_plan = import_later("fxc.lowering.building.call_operands", "seen_by_plan")
viewed = import_later("fxc.ir.evaluate", "viewed")
dims_of = import_later("fxc.ir.text", "dims_of")
new_size = import_later("fxc.lowering.building.counting", "new_size")
read_size = import_later("fxc.lowering.building.counting", "read_size")
gives_new = import_later("fxc.ops.foreign_calls", "gives_new")
is_drawn = import_later("fxc.lowering.operators.draws", "is_drawn")
is_small = import_later("fxc.lowering.operators.draws", "is_small")

# Note [Raising ops]
# An operation that can raise at run time (Operator.raises, every call of NumPy) may send the whole
# call back to plain NumPy, which replays it from the start: exceptions and partial writes are then
# NumPy's own. That is only right while the caller's arrays are untouched, so no store to an input
# comes before the last such operation, or it can be undone: Note [Stores that are undone]. Those
# that depend on no update therefore come first.


def build_loops(graph: Graph, kernel_of: KernelOf, machine: Target = SERIAL) -> Program:
    """The loop nests of a functional graph, for a machine; ``kernel_of`` says which operators have
    native code.

    Requires: the graph is functional and has its signature.
    Ensures: each result lies in a buffer of its own; each mutated input's new content is stored in
    the input's own buffer, behind the last operation that can raise.
    """
    signature = graph.signature
    assert signature is not None
    context = StoringContext(kernel_of, machine)
    if signature.mutations:
        graph = graph.with_body(_raising_first(graph.body, context))
    scope = new_scope(graph.body)
    context.scopes.append(scope)
    context.inputs = graph.inputs
    regions = [region for node in walk(graph.body) for region in node.regions]
    context.taken = {v.name for v in graph.inputs}
    context.taken |= {v.name for region in regions for v in region.params}
    inputs = [_declare(context, number, value) for number, value in enumerate(graph.inputs)]
    for mutation in signature.mutations:
        name = inputs[mutation.input]
        scope.owned.add(name)
        context.way_of[name] = way(graph, mutation)
        if not mutation.regions:
            aim(context, graph.body, graph.outputs[mutation.result], name)
    raising = [place for place, node in enumerate(graph.nodes) if _may_raise(node, context)]
    if raising:  # a check of native code comes before what its node stores
        kernel = context.kernel_for(graph.nodes[raising[-1]])
        context.commits_from = raising[-1] + (kernel is None or not kernel.checks)
        context.can_undo = can_undo(context, graph)
    for position, node in enumerate(graph.nodes):
        scope.position = position
        visit(context, node)
    scope.position = len(graph.nodes)
    results = finish(context, graph, inputs)
    program = Program(
        graph.name,
        context.buffers,
        tuple(context.params),
        tuple(inputs),
        tuple(results),
        tuple(scope.statements),
        tuple(context.copies),
        context.sizes,
        frozenset(context.undone),
        machine,
    )
    return with_cuts(_without_unread_wholes(program))


def _without_unread_wholes(program: Program) -> Program:
    """Complex temporaries that are only read by their parts are float buffers."""
    used: dict[str, set[str]] = {}
    for name in frozenset[str]().union(*touched(program.body)):
        used.setdefault(program.buffers[name].storage, set()).add(name)
    buffers = dict(program.buffers)
    for name, buffer in program.buffers.items():
        whole = program.buffers[buffer.storage]
        is_whole = buffer.parts and buffer.field is None and whole.role == "temp"
        if is_whole and used.get(whole.name) == {name}:
            del buffers[whole.name]
            buffers[name] = replace(buffer, storage=name)
    return replace(program, buffers=buffers)


def _declare(context: Context, number: int, value: Value) -> str:
    kind = value.type
    name = value.name
    if isinstance(kind, ArrayType):
        name = name if name[0].isalpha() else context.unused(f"in{name}")
        context.buffers[name] = Buffer(name, kind.dtype, kind.shape, kind.strides, "input", name)
        context.put(value, name)
        return name
    param = Param(name, kind.dtype, number)
    if kind.dtype in NATIVE_DTYPES:
        context.params.append(param)
    elif kind.dtype in PART_DTYPES:
        dtype = PART_DTYPES[kind.dtype]
        context.params += [Param(f"{name}.{p}", dtype, number, p) for p in ("real", "imag")]
    if kind.weak and kind.dtype.kind == "i":
        context.dim_of[value] = symbol(value.name)
    else:
        context.param_of[value] = param
    return name


def _raising_first(region: Region, context: Context) -> Region:
    """The region with what may raise, and what that depends on, before all else.

    Updates stay where they are: an earlier one might no longer be made in place.
    """
    makers = {output: node for node in region.nodes for output in node.outputs}
    binders = {node.bound: node for node in region.nodes if node.bound is not None}
    movable: set[Node] = set()
    early: set[Node] = set()
    needs: dict[Node, list[Node]] = {}
    for node in region.nodes:
        needed = needs[node] = [makers[value] for value in node.inputs if value in makers]
        if binders:
            names = {name for dim in dims_of(node) for name in symbols_of(dim)}
            needed += [binders[name] for name in names if name in binders]
        if TABLE[node.op].tag in (*UPDATES, *CONTROL) or not movable.issuperset(needed):
            continue
        movable.add(node)
        waiting = [node] if _may_raise(node, context) else []
        while waiting:
            each = waiting.pop()
            if each not in early:
                early.add(each)
                waiting += needs[each]
    ordered = sorted(region.nodes, key=lambda node: node not in early)
    return Region(region.params, tuple(ordered), region.results)


def _may_raise(node: Node, context: Context, *, inside: bool = False) -> bool:
    if TABLE[node.op].tag is Tag.CLOCK:
        return inside  # native code checks each call that it makes
    kernel = context.kernel_for(node)
    if kernel is None or kernel.checks:
        return True
    if is_measured(node):
        return True  # there may be no memory for that
    return any(
        _may_raise(inner, context, inside=True) for region in node.regions for inner in region.nodes
    )


def visit(context: Context, node: Node) -> None:
    """Lower one node: make its results known to the context, emit what has to run."""
    for output in node.outputs:
        context.node_of[output] = node
    kernel = context.kernel_for(node)
    if kernel is None:
        boxed(context, node)
    else:
        kernel.build(context, node)


def boxed(context: Context, node: Node) -> None:
    """A call of NumPy itself: from the plan, with operands that are arrays of their own, or from
    native code.
    """
    if TABLE[node.op].tag is Tag.CLOCK:
        _place_all(context)
    is_brief = is_drawn(node) or has_inner_loop(node)
    inside = len(context.scopes) > 1 or (is_brief and is_small(node, context.machine.costs))
    inside = inside or not context.machine.plan
    graph = _evaluated(context, node) if node.regions else None
    given = graph.inputs if graph is not None else node.args
    args = tuple(_boxed_arg(context, arg, inside) for arg in given)
    values = node.outputs
    if TABLE[node.op].tag in EFFECTS:  # it gives back the handle, where that is
        held = args[0]
        assert isinstance(held, BufferArg)
        context.put(values[0], held.buffer)
        values = values[1:]
    is_given = not inside and graph is None and gives_new(kernel_of(node.op))
    make = context.given_buffer if is_given else context.new_buffer
    outs = tuple(make(value.type) for value in values)
    for value, out in zip(values, outs, strict=True):
        context.put(value, out)
    if inside:
        failed = context.fresh()
        context.emit(Boxed(node.op, args, outs, node.loc, failed=failed, brief=is_brief))
        context.emit(Check(failed, Site(node.op, node.loc)))
        return
    size = None if node.bound is None else new_size(context, node)
    context.emit(Boxed(node.op, args, outs, node.loc, graph, size))
    if size is not None:
        read_size(context, node, size[1])


def _place_all(context: Context) -> None:
    """Compute all arrays of this region that were left to who reads them."""
    scope = context.scope
    for node in scope.nodes[: scope.position]:
        for value in node.outputs:
            is_read = scope.last_use.get(value, -1) > scope.position
            if is_read and isinstance(value.type, ArrayType) and not is_view_copy(node):
                context.place_value(value)


def _evaluated(context: Context, node: Node) -> Graph:
    """The node as a graph of its own: its inputs are what it reads and what binds symbols."""
    binding = [v for v in context.inputs if isinstance(v.type, ArrayType) or v in context.dim_of]
    read = dict.fromkeys((*node.inputs, *free_values(node), *binding, *context.size_values))
    return Graph(node.op, "functional", Region(tuple(read), (node,), node.outputs))


def _whole_buffer(context: Context, value: Value, inside: bool) -> str:
    """The buffer that a call of NumPy reads.

    ``inside`` of native code views stay views: Note [What a call sees].
    """
    if not inside or value in context.place:
        numpys: str = as_numpys(context, value)
        return numpys
    kind = value.type
    if isinstance(kind, ArrayType):
        _place_base(context, value)
        found = context.strided(value)
        if found is not None:
            return found
    if any(value in node.outputs for node in context.scope.nodes):
        return context.place_value(value)
    name = context.new_buffer(kind)  # a view from outside, which others see as a view
    store(context, value, name, whole, None)
    return name


def _place_base(context: Context, value: Value) -> None:
    """Place the array that ``value`` is a view of, if it is computed in this region."""
    base: Operand = value
    while isinstance(base, Value) and base not in context.place:
        node = context.node_of.get(base)
        if node is None or not any(each is node for each in context.scope.nodes):
            return
        if not is_view_copy(node):
            context.place_value(base)
            return
        base = node.args[0]


def _boxed_arg(context: Context, arg: object, inside: bool) -> object:
    match arg:
        case Value():
            if arg in context.dim_of:
                return context.dim_of[arg]
            if arg in context.param_of and not inside:
                return InputArg(context.param_of[arg].input)
            if arg in context.literal_of:
                return context.literal_of[arg].value
            if isinstance(arg.type, ScalarType):
                name = _whole_buffer(context, arg, inside)
                return BufferArg(name, scalar=True, weak=arg.type.weak)
            if not inside:
                return _seen_by_plan(context, arg)
            buffer = context.buffers[_whole_buffer(context, arg, inside)]
            return BufferArg(buffer.name) if buffer.data is None else _constant_array(buffer)
        case Literal():
            return arg.value
        case tuple():
            return tuple(_boxed_arg(context, item, inside) for item in arg)
        case _:
            return arg


def _seen_by_plan(context: Context, value: Value) -> object:
    """An array for a call of the plan: a view as NumPy's own. See Note [What a call sees]."""
    name, steps = seen_by_plan(context, value)
    given = [ViewStep(s.op, tuple(_boxed_arg(context, a, False) for a in s.args)) for s in steps]
    buffer = context.buffers[name]
    if buffer.data is None:
        return BufferArg(name, steps=tuple(given))
    if all(map(_is_known, given)):
        return viewed(_constant_array(buffer), given, {}, kernel_of)
    return BufferArg(context.place_value(value))


def _constant_array(buffer: Buffer) -> np.ndarray:
    assert buffer.data is not None
    return np.frombuffer(buffer.data, buffer.dtype).reshape(hints(buffer.shape))


def _is_known(step: ViewStep) -> bool:
    return not any(True for _ in (*buffer_args(step.args), *dims_of(step.args)))
