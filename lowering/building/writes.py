"""What fills buffers in one step or several: values, scatters in place, joins."""

from __future__ import annotations

from itertools import groupby

from fxc.ir.graph import Node, Operand, Region, Value
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, array_type
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE
from fxc.ops.updates import UPDATES

from ..nests.buffers import Idx
from .body import Body
from .context import Context
from .fields import FIELDS, field, names_in, own_index
from .index_maps import PART_VIEWS, is_view_copy
from .rotations import rotation_of
from .stores import Place, is_unset, loc_of, place_apart, store, whole

# See Note [Rooms with one door].
store_masked = import_later("fxc.lowering.building.masked", "store_masked")
index_space = import_later("fxc.lowering.building.indexed", "index_space")
indexed = import_later("fxc.lowering.building.indexed", "indexed")
view_index = import_later("fxc.lowering.building.indexed", "view_index")


def fill_new(context: Context, value: Operand, *, c_order: bool = False, aimed: bool = True) -> str:
    """Compute ``value`` into a buffer: the one it aims at if that is free, else a new one."""
    node = context.node_of.get(value) if isinstance(value, Value) else None
    tag = TABLE[node.op].tag if node is not None else None
    target = context.target.get(value) if aimed and isinstance(value, Value) else None
    if target is not None and tag in (*UPDATES, Tag.JOIN):  # stored in several steps
        read = context.reads_of(value) if isinstance(value, Value) else ()
        target = None if target in read else target
    if target is not None and context.may_overwrite(target):
        context.place_readers(target, value)
        name = target
    else:
        name = context.new_buffer(value.type, c_order=c_order)
    if node is not None and tag in UPDATES:
        fill_scatter(context, node, name)
    elif node is not None and tag is Tag.JOIN:
        store_joined(context, node, name, whole)
    else:
        store(context, value, name, whole, loc_of(context, value))
    if isinstance(value, Value):
        context.put(value, name)
    return name


class StoringContext(Context):
    """One whose values are computed by the rules for stores."""

    def fill_new(self, value: Operand, *, c_order: bool = False, aimed: bool = True) -> str:
        return fill_new(self, value, c_order=c_order, aimed=aimed)

    def store_whole(self, value: Operand, name: str) -> None:
        store(self, value, name, whole, None)


# -- scatters


def scatter(context: Context, node: Node) -> None:
    """Update a region of a base; in the base's own buffer where nobody reads the old value."""
    if _is_part_of_next(context, node):
        context.note_inline(node)
        return
    place_scatter(context, node)


def place_scatter(context: Context, node: Node) -> None:
    """Give the result of a scatter a buffer and store what changes."""
    base, output = node.args[0], node.output
    if base not in context.place:
        _place_base(context, base)
    storage = context.storage_of(base)
    name = context.place[base]
    if node.into is base and name == storage and context.may_overwrite(name):
        context.place_readers(name)
        store_region(context, node, name, whole)
        context.put(output, name)
        return
    context.copies.append(f"{node.loc or ''} {base} is read again after it".strip())
    fill_scatter(context, node, aimed_buffer(context, node))


def _place_base(context: Context, base: Value) -> None:
    """Place what a scatter updates, before it: what the scatter reads must still be there."""
    original = uncopied(context, base)
    context.scope.position -= 1
    if is_unset(context, base):
        context.put(base, aimed_buffer(context, context.node_of[base]))
    elif (
        isinstance(original, Value)
        and original is not base
        and _may_take_over(context, context.place[original])
    ):
        context.put(base, context.place[original])
    else:
        made = context.node_of.get(base)
        if made is not None and is_view_copy(made):
            reason = "a part is copied because its updates cannot be made in place"
            context.copies.append(f"{made.loc or ''} {reason}".strip())
        context.place_value(base)
    context.scope.position += 1


def _may_take_over(context: Context, name: str) -> bool:
    """Whether the copy of what fills the buffer may be that buffer."""
    buffer = context.buffers[name]
    is_inputs = buffer.role == "input" and len(context.scopes) == 1
    return buffer.storage == name and not is_inputs and context.may_overwrite(name)


def uncopied(context: Context, value: Operand) -> Operand:
    """What ``value`` is an inline copy of, in the same layout, if nothing else reads the copy."""
    if not isinstance(value, Value) or value in context.place or context.is_alive(value):
        return value
    node, kind = context.node_of.get(value), value.type
    base = node.args[0] if node is not None and node.op == "copy" else value
    if base not in context.place or not isinstance(kind, ArrayType):
        return value
    return base if context.buffers[context.place[base]].strides == kind.strides else value


def aimed_buffer(context: Context, node: Node) -> str:
    """The buffer that the result aims at if nothing that is read stands in it, else a new one."""
    target = context.target.get(node.output)
    if target is None or not context.may_overwrite(target):
        return context.new_buffer(node.output.type)
    if any(target in context.reads_of(value) for value in node.inputs):
        return context.new_buffer(node.output.type)
    context.place_readers(target, node.output)
    return target


def fill_scatter(context: Context, node: Node, name: str) -> None:
    """The base into a buffer, then the region into it."""
    store(context, node.args[0], name, whole, node.loc)
    store_region(context, node, name, whole)
    context.put(node.output, name)


def store_region(context: Context, node: Node, name: str, outer: Place) -> None:
    """Store the source of a scatter node at its region, which lies at ``outer`` of ``name``."""
    if node.op == "masked_put":
        _read_apart(context, node, name)
        store_masked(context, node, name, outer)
        return
    if TABLE[node.op].tag is Tag.INDEX_PUT:
        _store_indexed(context, node, name, outer)
        return
    source, group = node.args[1], TABLE[node.op].group
    part: Idx = ()
    if group in ("real", "imag"):
        name, part = context.parts(name), (PART_VIEWS[f"{group}_copy"],)
    elif group in FIELDS:
        name = field(context.buffers, name, names_in(node))

    def place(body: Body, index: Idx) -> Idx:
        own = own_index(node, index) if group in FIELDS else part
        return (*outer(body, view_index(body, node, index)), *own)

    inner = context.node_of.get(source) if isinstance(source, Value) else None
    if inner is not None and source not in context.place:
        if TABLE[inner.op].tag in UPDATES:
            store_region(context, inner, name, place)
            return
        storage = context.buffers[name].storage
        if TABLE[inner.op].tag is Tag.JOIN and storage not in context.reads_of(source):
            store_joined(context, inner, name, place)
            return
    store(context, source, name, place, node.loc)


def _read_apart(context: Context, node: Node, name: str) -> None:
    """Place what a ``masked_put`` reads so that storing to a buffer does not change it."""
    storage = context.buffers[name].storage
    for operand in (node.arg("mask"), node.arg("source")):
        if not isinstance(operand, Value):
            continue
        if storage in context.reads_of(operand):
            context.copies.append(
                f"{node.loc or ''} read before it is overwritten in {name}".strip()
            )
            place_apart(context, operand)
        elif context.is_work(operand):
            context.place_value(operand)


def _store_indexed(context: Context, node: Node, name: str, outer: Place) -> None:
    """Store the source of a node where its index arrays point to."""
    source = node.arg("source")
    stretched = isinstance(source, Value) and source.type.shape != index_space(node)[0]
    if stretched and context.is_work(source):
        context.place_value(source)  # otherwise computed again for each place

    def place(body: Body, index: Idx) -> Idx:
        return outer(body, indexed(body, node, index))

    store(context, source, name, place, node.loc, by=node)


def _is_part_of_next(context: Context, node: Node) -> bool:
    """Whether this scatter only changes a part of what the next scatter writes back:
    ``scatter(b, scatter(view(b), s, inner), outer)``. It is then stored there, at once.
    """
    following = context.scope.last_use.get(node.output, -1)
    if context.scope.uses.get(node.output) != 1 or following >= len(context.scope.nodes):
        return False
    outer = context.scope.nodes[following]
    if TABLE[outer.op].tag is not Tag.SCATTER or outer.args[1] is not node.output:
        return False
    base = node.args[0]
    view = context.node_of.get(base) if isinstance(base, Value) else None
    while view is not None and TABLE[view.op].tag in UPDATES:
        base = view.args[0]  # a chain of updates of one view
        view = context.node_of.get(base) if isinstance(base, Value) else None
    return (
        view is not None
        and is_view_copy(view)
        and view.args[0] is outer.args[0]
        and TABLE[view.op].group == TABLE[outer.op].group
        and view.args[1:] == outer.args[2:]
        and base is node.args[0]
        and base not in context.place
    )


def aim(context: Context, region: Region, value: Operand, name: str) -> None:
    """Prefer the buffer ``name`` for ``value``, and for the values that it is an update of."""
    makers = {output: node for node in region.nodes for output in node.outputs}
    while isinstance(value, Value) and value not in context.target:
        context.target[value] = name
        node = makers.get(value)
        if node is None or TABLE[node.op].tag not in UPDATES:
            return
        value = node.args[0]


# -- joins


def join(context: Context, node: Node) -> None:
    """Concatenate: each part is stored at its place in the result."""
    context.note_inline(node)
    inline = {x: context.node_of[x] for x in node.inputs if x not in context.place}
    rotation = rotation_of(node, inline)
    if rotation is not None:
        context.rotations[node.output] = rotation
        return
    following = context.scope.last_use.get(node.output, -1)
    if context.scope.uses.get(node.output) == 1 and following < len(context.scope.nodes):
        user = context.scope.nodes[following]
        if TABLE[user.op].tag is Tag.SCATTER and user.args[1] is node.output:
            return  # stored straight into the region it fills
    context.place_value(node.output)


def store_joined(context: Context, node: Node, name: str, outer: Place) -> None:
    """Store the parts of a concatenation one behind the other, many equal ones by one nest."""
    axis: int | None = node.arg("axis")
    start: Dim = 0
    for _, equal in groupby(node.args[0], id):
        parts = [*equal]
        part = parts[0] if axis is not None else context.flattened(parts[0])
        along = axis % part.type.rank if axis is not None else 0
        size = part.type.shape[along]
        if len(parts) > context.machine.costs.joined_apart:
            part = _repeated(context, part, len(parts))
            store(context, part, name, _shifted(outer, along, start, size), node.loc)
        else:
            for number in range(len(parts)):
                place = _shifted(outer, along, start + number * size)
                store(context, part, name, place, node.loc)
        start = start + len(parts) * size


def _shifted(outer: Place, along: int, start: Dim, each: Dim | None = None) -> Place:
    """The place of a part that begins at ``start``, or of many, by a number in front."""

    def place(body: Body, index: Idx) -> Idx:
        here = start
        if each is not None:
            here, index = here + index[0] * each, index[1:]
        return outer(body, (*index[:along], index[along] + here, *index[along + 1 :]))

    return place


def _repeated(context: Context, part: Operand, times: int) -> Value:
    """An array so many times, along an axis in front."""
    buffer = context.buffers[context.place_value(part)]
    kind = array_type(buffer.dtype, (times, *buffer.shape))
    value = Value(f"{buffer.name}_repeated", kind)
    context.put(value, context.alias(buffer, kind, (0, *buffer.strides), buffer.offset))
    return value
