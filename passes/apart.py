"""Which operands of a call are views of one array."""

from __future__ import annotations

from collections.abc import Callable

from fxc.ir.graph import Graph, Node, Operand, Value, walk
from fxc.ir.types import ArrayType
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

# Note [Operands that stay apart]
# ``(x + 1) @ (x + 1).T`` is a product of two arrays, ``(y := x + 1) @ y.T`` one of an array with
# itself, and BLAS gives them other bits. What simplification replaces a value by must therefore not
# make two operands of a call views of one array that were not, or the other way round.

# The tags of operators whose bits depend neither on how their operands lie in memory nor on which
# of them share it.
LAYOUT_FREE = frozenset({Tag.POINTWISE, Tag.VIEW, Tag.SCATTER, Tag.GATHER, Tag.INDEX_PUT, Tag.JOIN})


class Sharing:
    """What the calls of a graph see of each other's operands, kept while values are replaced."""

    def __init__(self, graph: Graph) -> None:
        nodes = walk(graph.body)
        self._calls: dict[Value, dict[Node, None]] = {}  # those that read views of a value
        self._patterns: dict[Node, list[int]] = {}
        self._makers: dict[Value, Node] = {}
        self._bound: dict[Value, Operand] = {}  # what the parameters of branches are
        calls = [node for node in nodes if sees_sharing(node)]
        if not calls:
            return
        for node in nodes:
            if TABLE[node.op].tag is Tag.VIEW:
                self._makers[node.output] = node
            if TABLE[node.op].tag is Tag.BRANCH:
                for region in node.regions:
                    self._bound.update(zip(region.params, node.arg("operands"), strict=True))
        for node in calls:
            self._patterns[node] = self._pattern(node, _itself)
            for value in node.inputs:
                at: Operand | None = value
                while isinstance(at, Value):
                    self._calls.setdefault(at, {})[node] = None
                    at = self._below(at)

    def stays(self, value: Value, by: Operand, operand: Callable[[Operand], Operand]) -> bool:
        """Whether calls see the same with ``by`` in place of ``value``; then it is that from now.

        ``operand`` says by what a value has been replaced.
        """
        calls = self._calls.get(value)
        if not calls:
            return True

        def replaced(each: Operand) -> Operand:
            found = operand(each)
            return operand(by) if found is value else found

        if any(self._pattern(node, replaced) != self._patterns[node] for node in calls):
            return False
        at: Operand | None = by
        while isinstance(at, Value):
            self._calls.setdefault(at, {}).update(calls)
            at = self._below(at)
        return True

    def _below(self, value: Value) -> Operand | None:
        node = self._makers.get(value)
        return node.args[0] if node is not None else self._bound.get(value)

    def _pattern(self, node: Node, replaced: Callable[[Operand], Operand]) -> list[int]:
        """For each operand the first one that is a view of the same array."""
        bases: list[Operand] = []
        for value in node.inputs:
            at: Operand = value
            while True:
                at = replaced(at)
                below = self._below(at) if isinstance(at, Value) else None
                if below is None:
                    break
                at = below
            bases.append(at)
        return [bases.index(base) for base in bases]


def sees_sharing(node: Node) -> bool:
    """Whether NumPy may give other bits if two operands are one array."""
    op = TABLE[node.op]
    tag = TABLE[op.group].tag if op.tag is Tag.WRITE else op.tag
    if tag in LAYOUT_FREE or tag is Tag.WRITE or node.regions:
        return False
    return sum(isinstance(value.type, ArrayType) for value in node.inputs) > 1


def _itself(operand: Operand) -> Operand:
    return operand
