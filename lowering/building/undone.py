"""Which inputs are written before the last check, because their old content can be brought back.

See Note [Stores that are undone].
"""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.graph import Graph, Literal, Node, Operand, Region, Value
from fxc.ir.symbols import hint, product
from fxc.ir.types import ArrayType, is_c_contiguous
from fxc.ops.table import TABLE, Tag
from fxc.ops.updates import updated_by

from .context import Context
from .coverage import is_native

# Note [Stores that are undone]
# A branch or loop that writes an input and may raise works on a copy of it, by Note [Raising ops].
# Where it stores to a small part of a large input, as an insertion into a heap or a line in an
# image, the copy would be most of the work. It then works on the input itself. Before the first
# store to each 512 bytes of the input they are copied; a check that fails brings them back before
# the call goes to NumPy. All that may raise must be native code for that. What is interrupted is
# not brought back: see Note [Interrupts].

LEAST = 4096  # bytes: a smaller input is copied at once
MANY = 64  # elements stored in an iteration
COPIED = 8  # bytes that are copied to and fro in the time that a store to an input takes longer


def can_undo(graph: Graph) -> bool:
    """Whether native code does all of the work: nothing else has to know of the copies."""
    return all(is_native(node) for node in graph.nodes)


def is_sparse(context: Context, value: Operand, output: Value) -> bool:
    """Whether the node of ``output`` stores to a small part of ``value``, as far as is known."""
    node, kind = context.node_of[output], value.type
    if not isinstance(kind, ArrayType) or not is_c_contiguous(kind):
        return False
    size = hint(product(kind.shape)) * kind.dtype.itemsize
    stored = _stored(node, node.outputs.index(output))
    return size >= LEAST and stored <= MANY and _trips(context, node) * stored * COPIED < size


def _trips(context: Context, node: Node) -> int:
    """How many iterations there are as far as is known."""
    if node.op != "fori_loop":
        return 1
    bounds = [_known(context, node.arg(name)) for name in ("lo", "hi")]
    return 1 if None in bounds else bounds[1] - bounds[0]  # type: ignore[operator]


def _known(context: Context, bound: Operand) -> int | None:
    if isinstance(bound, Literal):
        return int(bound.value)  # type: ignore[arg-type]
    return hint(context.dim_of[bound]) if bound in context.dim_of else None


def _stored(node: Node, number: int) -> int:
    """How many elements an arm or an iteration stores on the way to a result; many in a loop."""
    regions = node.regions if node.op == "cond" else (node.arg("body"),)
    return max(_stored_to(region, region.results[number]) for region in regions)


def _stored_to(region: Region, value: Operand) -> int:
    makers: dict[Operand, Node] = {}
    makers.update((output, node) for node in region.nodes for output in node.outputs)
    total = 0
    while isinstance(value, Value) and value in makers:
        node = makers[value]
        before = updated_by(node, value)
        if before is None or node.op in ("fori_loop", "while_loop"):
            return MANY + 1
        if node.op == "cond":
            total += _stored(node, node.outputs.index(value))
        else:
            total += _replaced(makers, node)
        value = before
    return total


def _replaced(makers: Mapping[Operand, Node], node: Node) -> int:
    """How many elements an update replaces; of a part that is itself updated, those."""
    source = node.args[1]
    made = makers.get(source)
    if made is not None and TABLE[made.op].tag is Tag.SCATTER:
        return _replaced(makers, made)
    return hint(product(source.type.shape)) if TABLE[node.op].tag is Tag.SCATTER else MANY + 1
