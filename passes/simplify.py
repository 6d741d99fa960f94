"""Known values, repeated nodes, cheaper equal operators, reads of what was just written."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable
from operator import is_
from typing import Any

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value, operands_of, walk
from fxc.ir.types import ArrayType, ScalarType, scalar_type_of
from fxc.ops.identities import DISTINCT, IDENTITIES
from fxc.ops.kernels import kernel_of
from fxc.ops.table import TABLE, Tag

from .overwrites import drop_overwritten

# Note [Results that stay apart]
# A node's array is an array of its own, and a caller sees that when the array is returned. A
# simplification therefore never lets a result of the graph (or of a region) become the same value
# as another result or a parameter.

# The tags of operators whose bits do not depend on the layout of their operands.
_LAYOUT_FREE = frozenset(
    {Tag.POINTWISE, Tag.VIEW, Tag.SCATTER, Tag.GATHER, Tag.INDEX_PUT, Tag.JOIN}
)


def simplify(graph: Graph) -> Graph:
    """Compute what is known, compute nothing twice, and drop what nobody reads.

    Scalar operators on literals are folded by their NumPy kernels, unless that raises or warns.
    Nodes with the same operator, arguments and result types become one. Identities of
    ``fxc.ops.identities`` apply. A view read back from its own scatter is the scattered value, and
    what later scatters overwrite unread is not written at all (``overwrites``).

    Requires: the graph is functional: no node writes or aliases.
    Ensures: results have the same bits; an operator that can raise still runs.
    """
    for node in walk(graph.body):
        if not node.schema.is_functional:
            raise InternalError(f"simplify: {node.op!r} is not functional")
    body = _Simplification(graph).region(graph.body, ChainMap())
    return graph.with_body(drop_unread(drop_overwritten(body)))


# What a node computes, as a key: its operator, arguments and result types.
_Known = ChainMap[tuple[Any, ...], Node]


class _Simplification:
    """One run of the pass over a graph, region by region."""

    def __init__(self, graph: Graph) -> None:
        self.replaced: dict[Value, Operand] = {}
        self.made_by: dict[Value, Node] = {}
        self.results = {o for region in _regions(graph.body) for o in region.results}
        self.params = {value for region in _regions(graph.body) for value in region.params}
        self.layout_read = {
            value
            for node in walk(graph.body)
            if TABLE[node.op].tag not in _LAYOUT_FREE
            for value in node.inputs
        }

    def region(self, region: Region, known: _Known) -> Region:
        """The region simplified; ``known`` are the nodes whose values it can read."""
        nodes: list[Node] = []
        for node in region.nodes:
            made = self.simplified(self.substituted(node, known), known)
            if made is None:
                continue
            nodes.append(made)
            for value in made.outputs:
                self.made_by[value] = made
        return Region(region.params, tuple(nodes), tuple(map(self.operand, region.results)))

    def operand(self, operand: Operand) -> Operand:
        return self.replaced.get(operand, operand) if isinstance(operand, Value) else operand

    def substituted(self, node: Node, known: _Known) -> Node:
        args = tuple([self.argument(arg, known) for arg in node.args])
        return node if all(map(is_, args, node.args)) else _with_args(node, args)

    def argument(self, arg: Arg, known: _Known) -> Arg:
        kind = type(arg)
        if kind is Value:
            return self.replaced.get(arg, arg)
        if kind is Region:
            return self.region(arg, known.new_child())
        if kind is tuple and not self.replaced.keys().isdisjoint(operands_of(arg)):
            return tuple(map(self.operand, arg))
        return arg

    # ------------------------------------------------------------ one node

    def simplified(self, node: Node, known: _Known) -> Node | None:
        """The node in its simplest form; None if other values stand for its own."""
        if node.regions:
            return node
        node = _by_identity(node)
        found: tuple[Operand, ...] | None = _folded(node)
        if found is None:
            back = self.read_back(node)
            found = None if back is None else (back,)
        if found is None:
            key = (node.op, node.args, tuple(value.type for value in node.outputs))
            earlier = known.get(key) if node.op not in DISTINCT else None
            if earlier is None:
                known[key] = node
                return node
            found = earlier.outputs
        if not all(map(self.may_replace, node.outputs, found)):
            return node
        self.replaced.update(zip(node.outputs, found, strict=True))
        return None

    def may_replace(self, value: Value, by: Operand) -> bool:
        """See Note [Results that stay apart]."""
        if value not in self.results:
            if isinstance(by, Value) and value in self.layout_read:
                self.layout_read.add(by)
            return True
        if isinstance(value.type, ScalarType):
            return True
        if by in self.results or by in self.params:
            return False
        self.results.add(by)
        return True

    # ------------------------------------------------------------ views and scatters

    def maker(self, operand: Arg, role: str, like: Node) -> Node | None:
        """The node that made ``operand``, if it has this role in the group of ``like`` and the
        same view arguments."""
        made = self.made_by.get(operand) if isinstance(operand, Value) else None
        if made is None or made.op != TABLE.partner(like.op, role).name:
            return None
        return made if _view_args(made) == _view_args(like) else None

    def read_back(self, node: Node) -> Operand | None:
        """The value that a copy of a scattered region, or a scatter of a copied one, is."""
        match TABLE[node.op].role:
            case "copy":
                scattered = self.maker(node.args[0], "scatter", node)
                source = None if scattered is None else scattered.args[1]
                if source is not None and self.alike(node.output, source):
                    return None if self.is_update(source) else source
            case "scatter":
                copied = self.maker(node.args[1], "copy", node)
                base = node.args[0]
                if copied is not None and copied.args[0] is base and isinstance(base, Value):
                    return base
        return None

    def is_update(self, operand: Operand) -> bool:
        """Whether the value is another one with some elements replaced.

        What is read and written next is then better the base, in whose memory that was done, than
        this value, which would have to live in memory of its own.
        """
        made = self.made_by.get(operand) if isinstance(operand, Value) else None
        return made is not None and TABLE[made.op].tag in (Tag.SCATTER, Tag.INDEX_PUT)

    def alike(self, value: Value, other: Operand) -> bool:
        """Whether ``other`` can stand for ``value``, as far as its type tells.

        Another layout is as good where nobody adds up elements in the order of memory.
        """
        left, right = value.type, other.type
        if not isinstance(left, ArrayType) or not isinstance(right, ArrayType):
            return False
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        if any(s == 0 and n != 1 for s, n in zip(left.strides, left.shape, strict=True)):
            return False  # elements share memory: the last one written is read by all
        if left.strides == right.strides:
            return True
        return value not in self.layout_read and value not in self.results


def _with_args(node: Node, args: tuple[Arg, ...]) -> Node:
    return Node(node.schema, args, node.outputs, node.loc)


def _view_args(node: Node) -> tuple[Arg, ...]:
    """The arguments that say which view a copy or a scatter is of."""
    return node.args[1:] if TABLE[node.op].role == "copy" else node.args[2:]


def _regions(region: Region) -> Iterable[Region]:
    """The region and all regions inside it."""
    yield region
    for node in walk(region):
        yield from node.regions


def _by_identity(node: Node) -> Node:
    """The node as an equal and cheaper operator."""
    rewrite = IDENTITIES.get(node.op)
    found = rewrite(node.args) if rewrite is not None else None
    if found is None:
        return node
    return Node(TABLE[found[0]].schema, found[1], node.outputs, node.loc)


def _folded(node: Node) -> tuple[Literal, ...] | None:
    """The node's scalars, if all its operands are known and NumPy computes them silently."""
    if node.inputs or not node.outputs:
        return None
    if not all(isinstance(value.type, ScalarType) for value in node.outputs):
        return None
    try:
        with np.errstate(all="raise"):
            found = kernel_of(node.op)(*map(_plain, node.args))
    except Exception:  # whatever it is, it belongs to the run and not to us
        return None
    results = found if isinstance(found, tuple) else (found,)
    try:
        types = [scalar_type_of(result) for result in results]
    except TypeError:
        return None
    if types != [value.type for value in node.outputs]:
        return None
    return tuple(map(Literal, results))


def _plain(arg: Arg) -> Any:
    if isinstance(arg, Literal):
        return arg.value
    return tuple(map(_plain, arg)) if isinstance(arg, tuple) else arg


# ---------------------------------------------------------------- dead nodes


def drop_unread(region: Region) -> Region:
    """Remove every node whose values nobody reads, unless it can raise.

    Requires: the region is functional, so that a node has no other effect.
    """
    read = {operand for operand in region.results if isinstance(operand, Value)}
    kept: list[Node] = []
    for node in reversed(region.nodes):
        if not _can_raise(node) and read.isdisjoint(node.outputs):
            continue
        if node.regions:
            args = [drop_unread(arg) if isinstance(arg, Region) else arg for arg in node.args]
            node = _with_args(node, tuple(args))
        kept.append(node)
        read.update(node.inputs)
        for inner in node.regions:
            read.update(_read_in(inner))
    return Region(region.params, tuple(reversed(kept)), region.results)


def _can_raise(node: Node) -> bool:
    """Whether the node, or one in its regions, can raise at run time."""
    if TABLE[node.op].raises:
        return True
    return any(TABLE[inner.op].raises for region in node.regions for inner in walk(region))


def _read_in(region: Region) -> set[Value]:
    """The values that a region and the regions inside it read, their own among them."""
    read = {value for node in walk(region) for value in node.inputs}
    for inner in _regions(region):
        read.update(operand for operand in inner.results if isinstance(operand, Value))
    return read
