"""Which inputs are written before the last check, because their old content can be brought back.

See Note [Stores that are undone].
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from fxc.ir.graph import Graph, Literal, Node, Operand, Region, Value
from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ir.size_functions import hint
from fxc.ir.symbols import MOST_MEASURED, counted_in, product
from fxc.ir.types import ArrayType, is_c_contiguous
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE
from fxc.ops.updates import updated_by

from .context import Context

# See Note [Rooms with one door].
is_drawn = import_later("fxc.lowering.operators.draws", "is_drawn")
is_small = import_later("fxc.lowering.operators.draws", "is_small")

# Note [Stores that are undone]
# A branch or loop that writes an input and may raise works on a copy of it, by Note [Raising ops].
# Where it stores to a small part of a large input, as an insertion into a heap or a line in an
# image, the copy would be most of the work. It then works on the input itself. What the first
# thousand stores of single numbers overwrite is written to a log; behind that, and where arrays are
# stored, 512 bytes of the input are copied before the first store to them. A check that fails
# brings all of it back before the call goes to NumPy. All that may raise must be native code for
# that. What is interrupted is not brought back: see Note [Interrupts].


def can_undo(context: Context, graph: Graph) -> bool:
    """Whether one piece of native code does all of the work: nothing else has to know of the
    copies.
    """
    return all(
        (context.kernel_for(node) is not None and not is_measured(node))
        or (is_drawn(node) and is_small(node, context.machine.costs))
        for node in graph.nodes
    )


def is_measured(node: Node) -> bool:
    """Whether a node binds a size that nothing bounds. See Note [Measured sizes]."""
    return node.op == "bind_size" and bool(node.arg("most") == MOST_MEASURED)


def is_sparse(context: Context, value: Operand, output: Value) -> bool:
    """Whether the stores of the node of ``output`` cost less than a copy of ``value``, as far as is
    known.
    """
    node, kind = context.node_of[output], value.type
    if not isinstance(kind, ArrayType) or not is_c_contiguous(kind):
        return False
    size = hint(product(kind.shape)) * kind.dtype.itemsize
    costs = context.machine.costs
    looking = _Looking(costs.undone_block, inside=False)
    looks = looking.looks(context.node_of, node, node.outputs.index(output))
    return size >= costs.undone_bytes and looks * costs.undone_look < size


@frozen
class _Looking:
    """How often a look at what is stored is needed, one for so many elements at once; any number of
    times in a loop ``inside`` of another.
    """

    block: int
    inside: bool

    def looks(self, makers: Mapping[Value, Node], node: Node, number: int) -> int | float:
        """How often a branch or loop has to look whether there is a copy of what it stores to, on
        the way to a result, as far as is known.
        """
        if TABLE[node.op].tag is Tag.BRANCH:
            arms = [(region, region.results[number]) for region in node.regions]
            return max(self.looks_for(*arm) for arm in arms)
        if self.inside:
            return math.inf
        body: Region = node.arg("body")
        looks = _Looking(self.block, inside=True).looks_for(body, body.results[number])
        return looks and looks * _trips(makers, node)

    def looks_for(self, region: Region, value: Operand) -> int | float:
        makers = {output: node for node in region.nodes for output in node.outputs}
        total: int | float = 0
        while isinstance(value, Value) and value in makers:
            node = makers[value]
            before = updated_by(node, value)
            if before is None:
                return math.inf
            if node.regions:
                total += self.looks(makers, node, node.outputs.index(value))
            else:
                total += self.blocks(makers, node)
            value = before
        return total

    def blocks(self, makers: Mapping[Value, Node], node: Node) -> int | float:
        """How many blocks of elements an update replaces; of a part that is itself updated, those.
        One of a size that depends on data.
        """
        source = node.args[1]
        made = makers.get(source)
        if made is not None and TABLE[made.op].tag is Tag.SCATTER:
            return self.blocks(makers, made)
        if TABLE[node.op].tag is not Tag.SCATTER:
            return math.inf
        size = product(source.type.shape)
        return 1 + (0 if counted_in(size) else hint(size) // self.block)


def _trips(makers: Mapping[Value, Node], node: Node) -> int:
    """How many iterations there are; 1 where that is not known."""
    if node.op != "fori_loop":
        return 1
    lo, hi = (_known(makers, node.arg(name)) for name in ("lo", "hi"))
    return 1 if lo is None or hi is None else hi - lo


def _known(makers: Mapping[Value, Node], bound: Operand) -> int | None:
    if isinstance(bound, Literal):
        return int(bound.value)  # type: ignore[arg-type]
    made = makers.get(bound)
    return hint(made.args[0]) if made is not None and made.op == "int_value" else None
