"""Nodes of a graph in terms of others, which operators record: what passes that do so share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from operator import is_
from typing import Any

from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import InternalError
from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value, operands_of, walk
from fxc.ir.types import ScalarType, Type

# Deeper nests of definitions than this are a cycle among them.
_DEPTH = 64


class Expansion(ABC):
    """One run of such a pass. ``renamed`` maps values of replaced nodes to what stands for them.

    Nodes that stay are shared with the graph. What takes the place of a node takes over the names
    and the types of its results, because a type's strides describe NumPy's array (Note [Layout in
    types]).
    """

    def __init__(self, graph: Graph, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.renamed: dict[Value, Operand] = {}
        self.builder = GraphBuilder()
        for value in _values(graph.body):  # new values get names that no other has
            self.builder.value(value.type, value.name)

    @abstractmethod
    def expanded(self, node: Node) -> tuple[Node, ...] | None:
        """What stands in place of the node, adopted; None if the node stays."""

    def region(self, region: Region) -> Region:
        """The region with its nodes replaced, and what takes their place replaced in turn."""
        done: list[Node] = []
        pending = [(node, 0) for node in reversed(region.nodes)]
        while pending:
            node, depth = pending.pop()
            node = self.substituted(node)
            made = self.expanded(node)
            if made is None:
                done.append(node)
                continue
            if depth > _DEPTH:
                raise InternalError(f"{node.op!r} is defined in terms of itself")
            pending += [(inner, depth + 1) for inner in reversed(made)]
        return Region(region.params, tuple(done), tuple(map(self.operand, region.results)))

    def operand(self, operand: Operand) -> Operand:
        """What stands for the operand: a composite's result may be replaced in its turn."""
        while isinstance(operand, Value) and operand in self.renamed:
            operand = self.renamed[operand]
        return operand

    def substituted(self, node: Node) -> Node:
        """The node with renamed operands; itself if nothing in it changes."""
        args = tuple([self.argument(arg) for arg in node.args])
        if all(map(is_, args, node.args)):
            return node
        return Node(node.schema, args, node.outputs, node.loc)

    def argument(self, arg: Arg) -> Arg:
        kind = type(arg)
        if kind is Value:
            return self.operand(arg)
        if kind is Region:
            return self.region(arg)
        if kind is tuple and not self.renamed.keys().isdisjoint(operands_of(arg)):
            return tuple(map(self.operand, arg))
        return arg

    def recorded(self, node: Node, run: Callable[[], Any]) -> tuple[tuple[Node, ...], Any]:
        """The nodes that ``run`` records, placed at the user's line of ``node``."""
        self.builder.loc = node.loc
        with recording_into(self.builder), self.builder.region():
            results = run()
            return self.builder.nodes, results

    def adopt(self, node: Node, made: tuple[Node, ...], results: object) -> None:
        """Let the results stand for the node's."""
        found = results if isinstance(results, tuple) else (results,)
        if len(found) != len(node.outputs):
            raise InternalError(f"{node.op!r} gave {len(found)} results")
        fresh = {value for inner in made for value in inner.outputs}
        for old, new in zip(node.outputs, found, strict=True):
            operand = new if isinstance(new, Value) else _literal(new)
            if not _agree(old.type, operand.type):
                raise InternalError(f"{node.op!r} gave {operand.type}, its type says {old.type}")
            if isinstance(operand, Value) and operand in fresh:
                fresh.discard(operand)
                operand.name, operand.type = old.name, old.type
            self.renamed[old] = operand


def _literal(x: Any) -> Literal:
    return x if isinstance(x, Literal) else Literal(x)


def _agree(claimed: Type, found: Type) -> bool:
    """Whether two types differ in no more than strides and writeability."""
    if isinstance(claimed, ScalarType) or isinstance(found, ScalarType):
        return claimed == found
    return claimed.dtype == found.dtype and claimed.shape == found.shape


def _values(region: Region) -> Iterator[Value]:
    """Every value of a region and the regions inside it."""
    yield from region.params
    for node in walk(region):
        yield from node.outputs
        for inner in node.regions:
            yield from inner.params
