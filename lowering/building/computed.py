"""Values that are computed element by element: where they are read, or once into a buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fxc.ir.graph import OF_PYTHON, ArrayConstant, Node, Value
from fxc.ir.later import import_class_later, import_later
from fxc.ir.location import Site
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, product
from fxc.ir.types import ArrayType, c_strides
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..nests.buffers import BOOL, I64, Atom, Buffer, Const, Element, Idx
from ..nests.statements import Accumulate, Apply, Check, Compute
from .body import Body
from .context import Context
from .index_maps import is_view_copy
from .pointwise import loop_dtypes, rule_of, runs_inner_loop
from .scope import NEVER
from .stores import is_large, store, whole
from .writes import aimed_buffer

if TYPE_CHECKING:
    from .made_rules import MadeRule
else:
    MadeRule = import_class_later("fxc.lowering.building.made_rules", "MadeRule")

# See Note [Rooms with one door].
wrap_operands = import_later("fxc.lowering.building.indexed", "wrap_operands")


def pointwise(context: Context, node: Node) -> None:
    """An elementwise operator: by its rule, or by NumPy's inner loop."""
    if runs_inner_loop(node):
        applied(context, node)
    else:
        inline(context, node)


def unset(context: Context, node: Node) -> None:
    """A large array of which nothing is set has a buffer that is not filled, for several readers:
    they find the same in it.
    """
    if context.scope.uses.get(node.output, 0) > 1 and is_large(context, node.output):
        context.put(node.output, aimed_buffer(context, node))
    else:
        inline(context, node)


def inline(context: Context, node: Node) -> None:
    """Leave a value to those who read it, or place it."""
    if node.args and isinstance(node.args[0], ArrayConstant):
        _constant(context, node, node.args[0])
        return
    context.note_inline(node)
    tangled = context.reshapes[node.output] > context.machine.costs.inline_reshapes
    if tangled or (not is_view_copy(node) and _must_place(context, node)):
        context.place_value(node.output)


def wrap_index(context: Context, node: Node) -> None:
    """Check all indices; the call goes back to NumPy if one is out of bounds.

    Readers count them from the front once more, which costs less than keeping them. There an index
    out of bounds is 0: what reads by it in the loop that checks stays inside the array.
    """
    given = node.arg("index")
    if context.is_work(given):
        context.place_value(given)
    guard(node.arg("size"), ">=", 1)
    context.note_inline(node)

    def failed(body: Body, index: Idx) -> Atom:
        return body.compute("out_of_bounds", wrap_operands(body, node, index), (I64, I64), BOOL)

    check_none(context, node, node.output.type.shape, failed)


def check_none(
    context: Context, node: Node, shape: Sequence[Dim], failed: Callable[[Body, Idx], Atom]
) -> None:
    """The call goes back to NumPy if ``failed`` holds at an index into ``shape``."""
    if any(dim == 0 for dim in shape):
        return
    index = context.loop_vars(shape)
    body = Body(context)
    found = failed(body, index)
    levels = sum(not isinstance(i, int) for i in index)
    if levels:
        total = context.fresh()
        no = Const(False, BOOL)
        body.stmts.append(Accumulate(total, BOOL, "logical_or", found, no, "any", levels))
        found = total
    context.emit_nest(index, shape, body.stmts, node.loc)
    context.emit(Check(found, Site(node.op, node.loc)))


def attempted(context: Context, node: Node) -> None:
    """An operator of Python's numbers that may fail: the number, and a check that it is right."""
    context.note_inline(node)
    name = context.new_buffer(node.output.type)
    body = Body(context)
    result = body.element(node.output, ())
    body.quiet = node.quiet
    failed = _failure(body, node, result)
    for stmt in (*body.stmts, *context.cells(name, (), result)):
        context.emit(stmt)
    context.emit(Check(failed, Site(node.op, node.loc)))
    context.put(node.output, name)


def _failure(body: Body, node: Node, result: Element) -> Atom:
    """Whether Python gives no such number."""
    rule = rule_of(node)
    if isinstance(rule, MadeRule):
        assert rule.fails is not None
        pairs = zip(node.args, loop_dtypes(node)[0], strict=True)
        return rule.fails(body, [body.element(arg, (), dtype) for arg, dtype in pairs], result)
    made = body.stmts[-1]
    assert isinstance(made, Compute)
    given, dtypes = (*made.args, made.name), (*made.arg_dtypes, made.dtype)
    return body.compute(f"{node.op} fails", given, dtypes, BOOL)


def _constant(context: Context, node: Node, data: ArrayConstant) -> None:
    name = context.unused(f"c{len(context.buffers)}")
    strides = c_strides(data.shape, data.dtype.itemsize)
    context.buffers[name] = Buffer(
        name, data.dtype, data.shape, strides, "constant", name, data=data.data
    )
    context.put(node.output, name)


def _must_place(context: Context, node: Node) -> bool:
    """Whether to compute a value once into a buffer instead of wherever it is read.

    What is read several times goes into a buffer; where all readers end up in the same loop,
    fusion takes the buffer away again.
    """
    value, scope = node.output, context.scope
    cost = context.weights[value]
    if cost > context.machine.costs.inline_weight or TABLE[node.op].raises:
        return True
    if scope.last_use.get(value) == NEVER or _is_told_apart(context, node):
        return True
    if scope.uses.get(value, 0) > 1:
        return cost > 1 or len(context.reads_of(value)) > 1
    return cost > 0 and _is_stretched(context, value)


def _is_told_apart(context: Context, node: Node) -> bool:
    """Whether of the flags that it sets more, or less, is told than of those of who reads it last:
    each is computed in a nest of its own. See Note [Floating-point flags].
    """
    if not isinstance(node.output.type, ArrayType):
        return False
    value, scope = node.output, context.scope
    while (place := scope.last_use.get(value, NEVER)) != NEVER:
        reader = scope.nodes[place]
        if TABLE[reader.op].tag is not Tag.VIEW:
            return reader.quiet != node.quiet and not reader.quiet >= OF_PYTHON
        value = reader.output
    return False


def _is_stretched(context: Context, value: Value) -> bool:
    """Whether a reader computes more elements than ``value`` has: it would recompute it, in lanes
    if it is no gather, so that only work counts.
    """
    size, far = hint(product(value.type.shape)), context.machine.costs.inline_weight
    # What stands further on is not inlined together with it. What is found of its readers holds of
    # the first one's, too: a long chain is gone through once.
    steps, end = context.looked_ahead.get((value, size), (0, value))
    while steps < far and (end is value or context.scope.uses.get(end, 0) == 1):
        reader = _reader(context, end)
        if reader is None:
            break
        steps, end = steps + 1, reader.output
        times = hint(product(end.type.shape)) // max(size, 1)
        if TABLE[reader.op].tag is Tag.GATHER and times > 1:
            return context.weights[value] * times >= context.machine.costs.stored_weight
        if hint(product(end.type.shape)) > size:
            return context.is_work(value)
    first = _reader(context, value)
    if first is not None and steps > 1:
        context.looked_ahead[first.output, size] = steps - 1, end
    return False


def _reader(context: Context, value: Value) -> Node | None:
    """What computes of a value element by element, where it is read last."""
    place = context.scope.last_use.get(value, NEVER)
    if place == NEVER:
        return None
    node = context.scope.nodes[place]
    if len(node.outputs) > 1 or TABLE[node.op].tag not in (Tag.VIEW, Tag.POINTWISE, Tag.GATHER):
        return None
    return node


def applied(context: Context, node: Node) -> None:
    """A copy, on which NumPy's own function is run in place."""
    out = context.new_buffer(node.output.type)
    store(context, node.args[0], out, whole, node.loc)
    context.emit(Apply(node.op, out, node.loc))
    context.put(node.output, out)


def ordered(context: Context, node: Node) -> None:
    """NumPy's own function that finds the order of each row of the operand, or of a copy of it."""
    operand = node.args[0]
    dtype, shape = operand.type.dtype, operand.type.shape
    keys, strides = context.as_buffer(operand), c_strides(shape, dtype.itemsize)
    if context.buffers[keys].strides != strides:
        keys = context.add_buffer(dtype, shape, strides)
        store(context, operand, keys, whole, node.loc)
    out = context.new_buffer(node.output.type)
    context.emit(Apply(node.op, out, node.loc, keys))
    context.put(node.output, out)
