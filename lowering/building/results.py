"""The results of a graph, and what its inputs become."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.graph import Graph, Node, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.records import replace
from fxc.ir.signature import ViewStep
from fxc.ir.types import ArrayType
from fxc.ops.metas import meta_of
from fxc.ops.table import TABLE

from ..nests.buffers import Buffer, Idx
from .body import Body
from .context import Context
from .stores import Place, loc_of, store, whole

# See Note [Rooms with one door].
view_index = import_later("fxc.lowering.building.indexed", "view_index")


def finish(context: Context, graph: Graph, inputs: Sequence[str]) -> list[str]:
    """Give every result a buffer of its own, then bring new contents into the inputs."""
    assert graph.signature is not None
    mutations = {m.result: m for m in graph.signature.mutations}
    wanted = {number: inputs[m.input] for number, m in mutations.items()}
    places = [context.place.get(v) if isinstance(v, Value) else None for v in graph.outputs]
    moving = {name for number, name in wanted.items() if places[number] != name}
    results: list[str] = []
    for number, value in enumerate(graph.outputs):
        placed = context.place.get(value) if isinstance(value, Value) else None
        buffer = context.buffers[placed] if placed is not None else None
        if number in wanted:
            fits = buffer is not None and buffer.storage not in moving
        else:
            fits = buffer is not None and _can_be_result(buffer, value) and placed not in results
        if not fits or placed is None:
            placed = _fill_result(context, value, buffer is not None)
        results.append(placed)
    for number, name in wanted.items():
        if results[number] != name:
            _commit(
                context, graph.outputs[number], results[number], name, mutations[number].regions
            )
            results[number] = name
    for number, name in enumerate(results):
        if number not in wanted:
            context.buffers[name] = replace(context.buffers[name], role="output")
    return results


def _can_be_result(buffer: Buffer, value: Operand) -> bool:
    kind = value.type
    if buffer.role != "temp" or buffer.storage != buffer.name:
        return False
    return not isinstance(kind, ArrayType) or buffer.strides == kind.strides


def _fill_result(context: Context, value: Operand, placed: bool) -> str:
    """A new buffer with a result that has none of its own."""
    name = context.new_buffer(value.type)
    if placed:
        context.copies.append(f"{value} is a result besides what else lives in its buffer")
    store(context, value, name, whole, loc_of(context, value))
    if isinstance(value, Value) and not placed:
        context.put(value, name)
    return name


def _commit(
    context: Context,
    value: Operand,
    source: str,
    name: str,
    regions: Sequence[tuple[ViewStep, ...]],
) -> None:
    """Copy a result that was computed elsewhere into the input's buffer, or regions of it."""
    holder = Value(f"{source}", value.type)
    context.place[holder] = source
    loc = loc_of(context, value)
    for steps in regions or ((),):
        part: Value = holder
        place: Place = whole
        for step in steps:
            part, place = _viewed(context, part, place, step)
        store(context, part, name, place, loc)


def _viewed(context: Context, value: Value, outer: Place, step: ViewStep) -> tuple[Value, Place]:
    """A view of a value that fills ``outer``, and the place that it fills itself."""
    copy = TABLE.partner(step.op, "copy")
    args = (value, *step.args)
    kind = meta_of(copy.name)(value.type, *step.args)
    assert isinstance(kind, ArrayType)
    view = Value(f"{value.name}_{copy.group}", kind)
    node = context.node_of[view] = Node(copy.schema, args, (view,))
    context.note_inline(node)

    def place(body: Body, index: Idx) -> Idx:
        return outer(body, view_index(body, node, index))

    return view, place
