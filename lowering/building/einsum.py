"""Sums of products, as ``np.einsum`` adds them up. See Note [Sums of products]."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.flag_bits import FLAG_KINDS
from fxc.ir.graph import Node, Operand, Value
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, product
from fxc.ir.types import PART_DTYPES, ArrayType, array_type
from fxc.ops.metas.einsums import sizes_of, walk

from ..nests.buffers import BOOL, F32, F64, Atom, Element, Idx, Pair, atoms_of, element_of
from ..nests.neutral import neutral
from ..nests.statements import Accumulate, Loop, Order, Stmt
from ..operators.einsum_order import SumOrder, einsum_order
from .body import Body
from .context import Context
from .stacks import are_matrices, copied, matrices
from .writes import aimed_buffer

_QUIET = frozenset(FLAG_KINDS.values())  # NumPy tells of none


def covers(node: Node) -> bool:
    """Whether there is native code: where the order of additions is known."""
    dtype = node.output.type.dtype
    is_known = dtype in (F32, F64, *PART_DTYPES) or dtype.kind in "biu"
    return is_known and _order(node) is not None


def _order(node: Node) -> SumOrder | None:
    xs: Sequence[Operand] = node.arg("xs")
    dtype = node.output.type.dtype
    found, _ = walk(node.arg("subscripts"), [x.type for x in xs], dtype.itemsize)
    casts = [x.type.dtype != dtype or not getattr(x.type, "aligned", True) for x in xs]
    return einsum_order(found, dtype, casts)


def einsum(context: Context, node: Node) -> None:
    """The result in a buffer."""
    order, xs = _order(node), node.arg("xs")
    assert order is not None
    is_float = node.output.type.dtype in (F32, F64)
    if is_float and len(xs) == 2 and len(order.inner) == 1 and are_matrices(order):
        matrices(context, node, order)
    else:
        _nest(context, node, order)


def _nest(context: Context, node: Node, order: SumOrder) -> None:
    """Loops over the axes of the result around loops over those that are summed."""
    subscripts, dtype = node.arg("subscripts"), node.output.type.dtype
    output = subscripts.split("->")[1]
    sizes = sizes_of(subscripts, [x.type for x in node.arg("xs")])
    index = dict(zip(sizes, context.loop_vars(tuple(sizes.values())), strict=True))
    kept = [label for labels in order.walked.labels for label in labels if label in output]
    xs = _side_by_side(context, node, sizes, kept)
    body = Body(context)
    total = _product(body, node, xs, index)
    stmts: tuple[Stmt, ...] = tuple(body.stmts)
    walked, carried = order.walked, (_QUIET, node.output.name)
    parts = [order.inner, order.outer]
    if order.is_onto:
        parts = [(*order.outer, *order.inner)]
    add, part = ("logical_or" if dtype == BOOL else "add"), PART_DTYPES.get(dtype, dtype)
    zero = neutral(add, part)
    for axes in parts:
        labels = "".join(walked.labels[axis] for axis in axes)
        if labels:
            how: Order = "sequential" if part.kind == "f" else "any"
            sums = [
                Accumulate(context.fresh(), part, add, atom, zero, how, len(labels), None, *carried)
                for atom in atoms_of(total)
            ]
            stmts, total = (*stmts, *sums), element_of([each.name for each in sums])
        for label in reversed(labels):
            stmts = (Loop(str(index[label]), sizes[label], stmts, loc=node.loc),)
    if part.kind == "f" and not order.inner:  # a negative zero is none
        body = Body(context)
        total = element_of([_combined(body, node, add, atom, zero) for atom in atoms_of(total)])
        stmts = (*stmts, *body.stmts)
    name = aimed_buffer(context, node)
    stores = context.cells(name, tuple(index[label] for label in output), total)
    around = [index[label] for label in kept]
    context.emit_nest(around, [sizes[label] for label in kept], (*stmts, *stores), node.loc)
    context.put(node.output, name)


def _side_by_side(
    context: Context, node: Node, sizes: dict[str, Dim], kept: Sequence[str]
) -> list[Operand]:
    """The operands, or copies of those that are read often in which the elements for neighbours in
    the result are neighbours, too: these are added up in the lanes of a vector.
    """
    found: dict[Operand, Operand] = {}
    inputs, xs = node.arg("subscripts").split("->")[0].split(","), node.arg("xs")
    work = hint(product(tuple(sizes.values())))
    for labels, x in zip(inputs, xs, strict=True):
        kind = x.type
        place = labels.find(kept[-1]) if kept else -1
        if place < 0 or len(set(labels)) < len(labels) or not isinstance(kind, ArrayType):
            continue
        often = work >= hint(product(kind.shape)) * context.machine.costs.updates_often
        if often and kind.shape[place] != 1 and kind.strides[place] != kind.dtype.itemsize:
            last, axes = kind.rank - 1, [axis for axis in range(kind.rank) if axis != place]
            turned = _turned(context, x, [*axes, place])
            name = copied(context, turned, kind.dtype, range(kind.rank), 1, node.loc).name
            back = Value(f"{name}_turned", turned.type)
            context.put(back, name)
            found[x] = _turned(context, back, [*range(place), last, *range(place, last)])
    return [found.get(x, x) for x in xs]


def _turned(context: Context, x: Operand, axes: Sequence[int]) -> Value:
    """A reading of an operand in memory with its axes in this order."""
    buffer = context.buffers[context.as_buffer(x)]
    kind = array_type(buffer.dtype, [buffer.shape[axis] for axis in axes])
    strides = [buffer.strides[axis] for axis in axes]
    name = context.alias(buffer, kind, strides, buffer.offset)
    found = Value(f"{name}_turned", kind)
    context.put(found, name)
    return found


def _product(body: Body, node: Node, xs: Sequence[Operand], index: dict[str, Dim]) -> Element:
    """The product of one element of each operand."""
    dtype, inputs = node.output.type.dtype, node.arg("subscripts").split("->")[0].split(",")
    found: Element | None = None
    for labels, x in zip(inputs, xs, strict=True):
        shape = getattr(x.type, "shape", ())
        at: Idx = tuple(
            0 if size == 1 else index[label] for label, size in zip(labels, shape, strict=True)
        )
        value = body.element(x, at, dtype)
        found = value if found is None else _times(body, node, found, value)
    assert found is not None
    return found


def _times(body: Body, node: Node, x: Element, y: Element) -> Element:
    """The product of two numbers; of complex ones each product of parts is rounded."""
    if not (isinstance(x, Pair) and isinstance(y, Pair)):
        (left,), (right,) = atoms_of(x), atoms_of(y)
        is_bool = node.output.type.dtype == BOOL
        return _combined(body, node, "logical_and" if is_bool else "multiply", left, right)
    ways = ("subtract", (x.re, y.re), (x.im, y.im)), ("add", (x.re, y.im), (x.im, y.re))
    re, im = (
        _combined(body, node, how, *(_combined(body, node, "multiply", *each) for each in both))
        for how, *both in ways
    )
    return Pair(re, im)


def _combined(body: Body, node: Node, op: str, x: Atom, y: Atom) -> Atom:
    """A sum or product of which NumPy tells nothing."""
    dtype = PART_DTYPES.get(node.output.type.dtype, node.output.type.dtype)
    before, body.quiet, body.node = (body.quiet, body.node), _QUIET, node.output.name
    found = body.compute(op, (x, y), (dtype, dtype), dtype)
    body.quiet, body.node = before
    return found
