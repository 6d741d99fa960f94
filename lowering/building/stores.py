"""Storing a value to a buffer, as if it had been read in full before."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from fxc.ir.graph import Node, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.location import SourceLocation
from fxc.ir.records import replace
from fxc.ir.size_functions import hint
from fxc.ir.symbols import SymFunc, atoms, product
from fxc.ir.types import ordered_strides
from fxc.ops.identities import DISTINCT

from ..nests.addressing import byte_offset
from ..nests.buffers import Buffer, Element, Idx, are_other_fields
from ..nests.statements import Load, Stmt, Store
from .body import Body, Origin
from .context import Context
from .index_maps import broadcast

if TYPE_CHECKING:
    from .delayed import Compute

# See Note [Rooms with one door].
Stored = import_later("fxc.lowering.building.delayed", "Stored")
store_behind = import_later("fxc.lowering.building.delayed", "store_behind")
distance = import_later("fxc.lowering.building.dependences", "distance")
relation = import_later("fxc.lowering.building.dependences", "relation")
index_space = import_later("fxc.lowering.building.indexed", "index_space")
update_dtypes = import_later("fxc.lowering.building.indexed", "update_dtypes")
updated = import_later("fxc.lowering.building.indexed", "updated")

# From an index into what is stored to the index of the buffer that it is stored at.
Place = Callable[[Body, Idx], Idx]


def whole(body: Body, index: Idx) -> Idx:
    """The place of a value that fills its buffer."""
    return index


def loc_of(context: Context, value: Operand) -> SourceLocation | None:
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
        body = Body(context, rotations=True)
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
            compute = _computing(context, value, name, place)
            stored = Stored(name, index, value.type.shape, compute, loc)
            if store_behind(context, stored, distances):
                return
        context.copies.append(f"{loc or ''} read before it is overwritten in {name}".strip())
        _place_before(context, value, clash, of_value)
    raise AssertionError(f"no order of stores found for {value}")


def _computing(context: Context, value: Operand, name: str, place: Place) -> Compute:
    """What computes the elements of ``value``, and their places in a buffer."""

    def compute(at: Idx) -> tuple[Sequence[Stmt], Element, Idx]:
        body = Body(context, rotations=True)
        element = body.element(value, at, context.buffers[name].dtype)
        return body.stmts, element, place(body, at)

    return compute


def _place_before(
    context: Context, value: Operand, clash: Origin, of_value: Sequence[Origin]
) -> None:
    """Compute what clashes with the stores before them: a part of the value, or all of it."""
    part = clash.value
    smaller = 2 * hint(product(part.type.shape)) <= hint(product(value.type.shape))
    if smaller or not isinstance(value, Value) or part is value or clash not in of_value:
        place_apart(context, part)
    else:
        place_apart(context, value)


def _may_be_anything(context: Context, value: Operand) -> bool:
    """Whether ``value`` keeps what is in the memory that it gets.

    It has one reader: others would have to find the same. Small ones are filled: they may lie in
    the stack frame, where LLVM takes what is not set for one thing here and another there.
    """
    if not isinstance(value, Value) or not is_unset(context, value):
        return False
    return context.scope.uses.get(value) == 1 and is_large(context, value)


def is_large(context: Context, value: Value) -> bool:
    """Whether an array lies outside of the stack frame."""
    size = product(value.type.shape) * value.type.dtype.itemsize
    return not isinstance(size, int) or size > context.machine.frame


def place_apart(context: Context, value: Value, order: Sequence[int] | None = None) -> str:
    """Place a (possibly placed) value in a buffer of its own, and read it from there.

    ``order`` names its axes from the outermost to the innermost; NumPy's layout if None.
    """
    name = context.new_buffer(value.type)
    if order is not None:
        axes = [*order, *(axis for axis in range(value.type.rank) if axis not in order)]
        buffer = context.buffers[name]
        strides = ordered_strides(buffer.shape, axes, buffer.dtype.itemsize)
        context.buffers[name] = replace(buffer, strides=strides)
    store(context, value, name, whole, loc_of(context, value))
    context.put(value, name)
    return name


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


def _meetings(
    context: Context, body: Body, stores: Sequence[Store]
) -> Iterator[tuple[Origin, tuple[Idx, Idx] | None]]:
    """The loads from the memory of stores, with the places of both; None if they are not read as
    they are written.
    """
    for origin, stmt in itertools.product(body.origins, stores):
        load, target = origin.load, context.buffers[stmt.buffer]
        source = context.buffers[load.buffer]
        if source is target:
            yield origin, _comparable(target, load.index, stmt.index)
        elif source.storage == target.storage and not are_other_fields(source, target):
            yield origin, None


def _first_clash(context: Context, body: Body, index: Idx, stores: Sequence[Store]) -> Origin | str:
    """The first load that no loop order reconciles with the stores; else the direction needed."""
    loops = [str(i) for i in index if not isinstance(i, int)]
    direction = ""
    for origin, places in _meetings(context, body, stores):
        needed = "clash" if places is None else relation(*places, loops)
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
    for _, places in _meetings(context, body, stores):
        if places is None:
            return None
        if relation(*places, loops) != "apart":
            each = distance(*places, loops)
            if each is None:
                return None
            found.append(each)
    return found


def _comparable(buffer: Buffer, read: Idx, written: Idx) -> tuple[Idx, Idx]:
    """Two places in a buffer by index, or by offset where an index has quotients or remainders."""
    if not any(isinstance(atom, SymFunc) for dim in (*read, *written) for atom in atoms(dim)):
        return read, written
    return (byte_offset(buffer, read),), (byte_offset(buffer, written),)


def is_unset(context: Context, base: Operand) -> bool:
    """Whether the content of ``base`` is undefined (a fresh ``empty``)."""
    node = context.node_of.get(base) if isinstance(base, Value) else None
    return node is not None and node.op in DISTINCT
