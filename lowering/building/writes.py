"""Stores: filling new buffers, scatters in place, joins, and the results of a graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from fxc.ir.graph import Graph, Node, Operand, Region, Value
from fxc.ir.location import SourceLocation
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Dim, SymFunc, atoms, computed_in, decide, hint, product, symbols_of
from fxc.ir.types import ArrayType, ordered_strides
from fxc.ops.identities import DISTINCT
from fxc.ops.metas import meta_of
from fxc.ops.table import TABLE, Tag
from fxc.ops.updates import UPDATES

from ..emission.addressing import byte_offset, step_of, varies
from ..emission.frame import FRAME
from ..loops import Buffer, Element, Load, Stmt, Store
from .body import Body, Origin
from .context import STRETCHED_WEIGHT, Context
from .delayed import store_behind
from .index_maps import PART_VIEWS, Idx, broadcast, is_view_copy
from .indexed import index_space, indexed, update_dtypes, updated, view_index
from .masked import store_masked

# From an index into what is stored to the index of the buffer that it is stored at.
Place = Callable[[Body, Idx], Idx]


def whole(body: Body, index: Idx) -> Idx:
    """The place of a value that fills its buffer."""
    return index


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
        store(context, value, name, whole, _loc(context, value))
    if isinstance(value, Value):
        context.put(value, name)
    return name


def _loc(context: Context, value: Operand) -> SourceLocation | None:
    node = context.node_of.get(value) if isinstance(value, Value) else None
    return node.loc if node is not None else None


def store(
    context: Context,
    value: Operand,
    name: str,
    place: Place,
    loc: SourceLocation | None,
    *,
    by: Node | None = None,
) -> None:
    """Store ``value`` at ``place`` of a buffer, as if it had been read in full before.

    It is broadcast to the index space of ``by``, a node that writes by index arrays.
    """
    shape = value.type.shape if by is None else index_space(by)[0]
    reduced = by if by is not None and by.op == "index_reduce" else None
    if any(dim == 0 for dim in shape) or (place is whole and _may_be_anything(context, value)):
        return
    for _ in range(100):
        index = context.loop_vars(shape)
        body = Body(context)
        before = len(context.scope.statements)
        extra = max(0, value.type.rank - len(shape))  # axes of size 1 that assignment drops
        here = (0,) * extra + broadcast(value.type.shape[extra:], index, shape)
        dtype = context.buffers[name].dtype if reduced is None else update_dtypes(reduced)[0][1]
        element = body.element(value, here, dtype)
        of_value = tuple(body.origins)
        target = place(body, index)
        if len(context.scope.statements) != before:
            continue  # computing it placed something: look again
        stores = context.cells(name, target, element)
        if _is_there(context, body, stores):
            return
        clash = _first_clash(context, body, index, stores)
        if not isinstance(clash, Origin):
            if reduced is not None:
                (stmt,) = stores
                stores = [replace(stmt, value=updated(body, reduced, name, target, stmt.value))]
            stmts: list[Stmt] = [*body.stmts, *stores]
            context.emit_nest(index, shape, stmts, loc, direction=clash)
            return
        distances = _distances(context, body, index, stores)
        if distances is not None and by is None:

            def compute(at: Idx) -> tuple[Sequence[Stmt], Element, Idx]:
                body = Body(context)
                element = body.element(value, at, context.buffers[name].dtype)
                return body.stmts, element, place(body, at)

            if store_behind(context, name, index, value.type.shape, compute, distances, loc):
                return
        part = clash.value
        smaller = 2 * hint(product(part.type.shape)) <= hint(product(value.type.shape))
        context.copies.append(f"{loc or ''} read before it is overwritten in {name}".strip())
        if smaller or not isinstance(value, Value) or part is value or clash not in of_value:
            place_apart(context, part)
        else:
            place_apart(context, value)
    raise AssertionError(f"no order of stores found for {value}")


def _may_be_anything(context: Context, value: Operand) -> bool:
    """Whether ``value`` keeps what is in the memory that it gets.

    It has one reader: others would have to find the same. Small ones are filled: they may lie in
    the stack frame, where LLVM takes what is not set for one thing here and another there.
    """
    if not isinstance(value, Value) or not _is_unset(context, value):
        return False
    if context.scope.uses.get(value) != 1:
        return False
    size = product(value.type.shape) * value.type.dtype.itemsize
    return not isinstance(size, int) or size > FRAME


def place_apart(context: Context, value: Value, order: Sequence[int] | None = None) -> None:
    """Place a (possibly placed) value in a buffer of its own, and read it from there.

    ``order`` names its axes from the outermost to the innermost; NumPy's layout if None.
    """
    name = context.new_buffer(value.type)
    if order is not None:
        axes = [*order, *(axis for axis in range(value.type.rank) if axis not in order)]
        buffer = context.buffers[name]
        strides = ordered_strides(buffer.shape, axes, buffer.dtype.itemsize)
        context.buffers[name] = replace(buffer, strides=strides)
    store(context, value, name, whole, _loc(context, value))
    context.put(value, name)


def _is_there(context: Context, body: Body, stores: Sequence[Store]) -> bool:
    """Whether the stores would write back what stands there."""
    loads = {stmt.name: stmt for stmt in body.stmts if isinstance(stmt, Load)}
    if len(body.stmts) != len(stores):
        return False
    for stmt in stores:
        load = loads.get(stmt.value) if isinstance(stmt.value, str) else None
        if load is None or load.index != stmt.index:
            return False
        if context.buffers[load.buffer] is not context.buffers[stmt.buffer]:
            return False
    return True


def _first_clash(context: Context, body: Body, index: Idx, stores: Sequence[Store]) -> Origin | str:
    """The first load that no loop order reconciles with the stores; else the direction needed."""
    loops = [str(i) for i in index if not isinstance(i, int)]
    direction = ""
    for origin, stmt in itertools.product(body.origins, stores):
        load = origin.load
        if context.buffers[load.buffer].storage != context.buffers[stmt.buffer].storage:
            continue
        if context.buffers[load.buffer] is not context.buffers[stmt.buffer]:
            return origin
        needed = relation(*_comparable(context, stmt.buffer, load.index, stmt.index), loops)
        if needed == "same" or needed == "apart":
            continue
        if needed == "clash" or (direction and direction != needed):
            return origin
        direction = needed
    return direction


def _distances(
    context: Context, body: Body, index: Idx, stores: Sequence[Store]
) -> list[dict[str, int]] | None:
    """How far each load is from the store of its element; None if that varies for one of them.

    Loads of elements that are not stored do not count.
    """
    loops = [str(i) for i in index if not isinstance(i, int)]
    found: list[dict[str, int]] = []
    for origin, stmt in itertools.product(body.origins, stores):
        load = origin.load
        if context.buffers[load.buffer].storage != context.buffers[stmt.buffer].storage:
            continue
        if context.buffers[load.buffer] is not context.buffers[stmt.buffer]:
            return None
        read, written = _comparable(context, stmt.buffer, load.index, stmt.index)
        if relation(read, written, loops) != "apart":
            each = distance(read, written, loops)
            if each is None:
                return None
            found.append(each)
    return found


def _comparable(context: Context, name: str, read: Idx, written: Idx) -> tuple[Idx, Idx]:
    """Two places in a buffer by index, or by offset where an index has quotients or remainders."""
    if not any(isinstance(atom, SymFunc) for dim in (*read, *written) for atom in atoms(dim)):
        return read, written
    buffer = context.buffers[name]
    return (byte_offset(buffer, read),), (byte_offset(buffer, written),)


def distance(read: Idx, written: Idx, loops: Sequence[str]) -> dict[str, int] | None:
    """By how many iterations of each loop the element read is written later; None if that varies.

    Empty if no iteration writes it.
    """
    found: dict[str, int] = {}
    for r, w in zip(read, written, strict=True):
        gap, step = r - w, _single_loop(w, loops)
        if step is None:
            if gap != 0 or any(name in loops for name in symbols_of(w)):
                return None
            continue
        name, factor = step
        if not isinstance(gap, int) or not isinstance(factor, int) or name in found:
            return None
        if gap % factor:
            return {}
        found[name] = gap // factor
    return found if set(found) == set(loops) else None


def relation(read: Idx, written: Idx, loops: Sequence[str]) -> str:
    """How a read of a buffer stands to the write in the same iteration of ``loops``.

    ``same``: an element that no other iteration writes; ``apart``: never an element that
    any iteration writes;
    ``ascending`` / ``descending``: if the loops run that way, only elements written later;
    ``clash``: none of these is known.
    """
    if any(_disjoint(r, w, loops) for r, w in zip(read, written, strict=True)):
        return "apart"
    if any(_is_computed_in(dim, loops) for dim in (*read, *written)):
        return "clash"  # the same element may be written in several iterations
    if tuple(read) == tuple(written) or _is_own(read, written, loops):
        return "same"
    distance: dict[str, Dim] = {}
    for r, w in zip(read, written, strict=True):
        gap = r - w
        step = _single_loop(w, loops)
        if gap == 0:
            continue
        if step is None or not isinstance(gap, int) or not isinstance(step[1], int):
            return "clash"
        if gap % step[1]:
            return "apart"
        distance[step[0]] = gap // step[1]
    used = {loop for w in written for loop in symbols_of(w) if loop in loops}
    if used != set(loops):
        return "clash"
    for loop in loops:
        gap = distance.get(loop, 0)
        if isinstance(gap, int) and gap:
            return "ascending" if gap > 0 else "descending"
    return "clash"


def _is_own(read: Idx, written: Idx, loops: Sequence[str]) -> bool:
    """Whether an iteration meets only its own elements: of row ``k``, stored to row ``i``."""
    own = [_single_loop(w, loops) for r, w in zip(read, written, strict=True) if r == w]
    return {step[0] for step in own if step is not None and step[1] != 0} == set(loops)


def _is_computed_in(dim: Dim, loops: Sequence[str]) -> bool:
    """Whether ``dim`` holds an integer that is computed anew in iterations of ``loops``."""
    atoms = computed_in(dim).values()
    return any(varies(atom, loop) for atom in atoms for loop in loops)


def _single_loop(dim: Dim, loops: Sequence[str]) -> tuple[str, Dim] | None:
    """The one loop variable in ``dim`` and its factor, if ``dim`` is factor * loop + constant."""
    used = [name for name in symbols_of(dim) if name in loops]
    factor = step_of(dim, used[0]) if len(used) == 1 else None
    if factor is None or any(name in loops for name in symbols_of(factor)):
        return None
    return used[0], factor


def _disjoint(read: Dim, written: Dim, loops: Sequence[str]) -> bool:
    """Whether the two never agree, whatever the loop variables are (each on its own)."""
    if any(name in loops for dim in (read, written) for name in symbols_of(dim)):
        return False
    return decide(read, "!=", written) is True


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
    fill_scatter(context, node, free_target(context, node) or context.new_buffer(output.type))


def _place_base(context: Context, base: Value) -> None:
    """Place what a scatter updates, before it: what the scatter reads must still be there."""
    original = uncopied(context, base)
    context.scope.position -= 1
    if _is_unset(context, base):
        context.put(base, context.new_buffer(base.type))
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


def free_target(context: Context, node: Node) -> str | None:
    """The buffer that the result aims at, if nothing that is read stands in it."""
    target = context.target.get(node.output)
    if target is None or not context.may_overwrite(target):
        return None
    if any(target in context.reads_of(value) for value in node.inputs):
        return None
    context.place_readers(target, node.output)
    return target


def fill_scatter(context: Context, node: Node, name: str) -> None:
    """The base into a buffer, then the region into it."""
    store(context, node.args[0], name, whole, node.loc)
    store_region(context, node, name, whole)
    context.put(node.output, name)


def _is_unset(context: Context, base: Operand) -> bool:
    """Whether the content of ``base`` is undefined (a fresh ``empty``)."""
    node = context.node_of.get(base) if isinstance(base, Value) else None
    return node is not None and node.op in DISTINCT


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

    def place(body: Body, index: Idx) -> Idx:
        return (*outer(body, view_index(body, node, index)), *part)

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
        elif context.weights.get(operand, 0) >= STRETCHED_WEIGHT:
            context.place_value(operand)


def _store_indexed(context: Context, node: Node, name: str, outer: Place) -> None:
    """Store the source of a node where its index arrays point to."""
    source = node.arg("source")
    stretched = isinstance(source, Value) and source.type.shape != index_space(node)[0]
    if stretched and context.weights.get(source, 0) >= STRETCHED_WEIGHT:
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
    following = context.scope.last_use.get(node.output, -1)
    if context.scope.uses.get(node.output) == 1 and following < len(context.scope.nodes):
        user = context.scope.nodes[following]
        if TABLE[user.op].tag is Tag.SCATTER and user.args[1] is node.output:
            return  # stored straight into the region it fills
    context.place_value(node.output)


def store_joined(context: Context, node: Node, name: str, outer: Place) -> None:
    """Store the parts of a concatenation one behind the other."""
    axis: int | None = node.arg("axis")
    start: Dim = 0
    for part in node.args[0]:
        along = 0
        if axis is None:
            part = context.flattened(part)
        else:
            along = axis % part.type.rank

        def place(body: Body, index: Idx, start: Dim = start, along: int = along) -> Idx:
            return outer(body, (*index[:along], index[along] + start, *index[along + 1 :]))

        store(context, part, name, place, node.loc)
        start = start + part.type.shape[along]


# -- the results of the graph


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
            placed = fill_result(context, value, buffer is not None)
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


def fill_result(context: Context, value: Operand, placed: bool) -> str:
    """A new buffer with a result that has none of its own."""
    name = context.new_buffer(value.type)
    if placed:
        context.copies.append(f"{value} is a result besides what else lives in its buffer")
    store(context, value, name, whole, _loc(context, value))
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
    loc = _loc(context, value)
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
