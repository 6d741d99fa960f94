"""Operators that a backend has no kernel for, in terms of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import is_
from typing import Any

from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.trace import recording_into
from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import InternalError
from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value, operands_of, walk
from fxc.ir.size_guards import Guard, recording
from fxc.ir.types import ScalarType, Type
from fxc.ops.operators import Tag

from .functionalize import functionalized

# Deeper nests of composites than this are a cycle among their definitions.
_DEPTH = 64


def decompose(graph: Graph, index: BackendIndex[Any], dispatcher: Dispatcher) -> Graph:
    """Replace every operator that the backend has no kernel for by its composite.

    Composites run through the dispatcher with Trace active, and what they record is decomposed in
    turn. Which of an operator's composites that is, says the dispatcher for the backend's column: a
    backend that is not functional gets those with views and writes first. One that is functional
    gets the others first; where there is none, one with views and writes is functionalized as it
    runs. What has no composite stays, for the boxed fallback. Nodes that stay are
    shared with the input; the results of a composite take over the names and the types that the
    node's had, because a type's strides describe NumPy's array (Note [Layout in types]).

    Requires: ``graph`` is functional.
    Ensures: the stage is decomposed, and each operator has a kernel or no composite that serves.
    Guards that a meta function took on the way are added to the graph's.
    """
    taken: dict[Guard, None] = dict.fromkeys(graph.guards)
    with recording(taken):
        body = _Decomposition(graph, index, dispatcher).region(graph.body)
    return graph.with_body(body, stage="decomposed", guards=tuple(taken))


class _Decomposition:
    """One run of the pass. ``renamed`` maps values of replaced nodes to what stands for them."""

    def __init__(self, graph: Graph, index: BackendIndex[Any], dispatcher: Dispatcher) -> None:
        self.index = index
        self.dispatcher = dispatcher
        self.renamed: dict[Value, Operand] = {}
        self.builder = GraphBuilder()
        for value in _values(graph.body):  # new values get names that no other has
            self.builder.value(value.type, value.name)
        self._kept: dict[str, bool] = {}

    def region(self, region: Region) -> Region:
        """The region with its nodes decomposed."""
        done: list[Node] = []
        pending = [(node, 0) for node in reversed(region.nodes)]
        while pending:
            node, depth = pending.pop()
            node = self.substituted(node)
            made = None if self.has_kernel(node) else self.expanded(node)
            if made is None:
                done.append(node)
                continue
            if depth > _DEPTH:
                raise InternalError(f"decompose: {node.op!r} is defined in terms of itself")
            pending += [(inner, depth + 1) for inner in reversed(made)]
        return Region(region.params, tuple(done), tuple(map(self.operand, region.results)))

    def has_kernel(self, node: Node) -> bool:
        """Whether the backend runs the node itself."""
        kept = self._kept.get(node.op)
        if kept is None:
            op = self.dispatcher.table[node.op]
            kept = self._kept[node.op] = self.index.has_kernel(op)
        return kept

    # ------------------------------------------------------------ substitution

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

    # ------------------------------------------------------------ composites

    def expanded(self, node: Node) -> tuple[Node, ...] | None:
        """What a composite records in place of the node; None if no composite serves.

        Those of fxc's own are made for the dtypes that native code computes with.
        """
        if self.dispatcher.table[node.op].tag is not Tag.CUSTOM and _has_boxed(node):
            return None
        is_functional = self.index.functional
        found = tuple(self.dispatcher.composites_of(node.op, self.index.key))
        if is_functional:  # those that write come last
            found = tuple(sorted(found, key=lambda each: each[0].writes))
        for alias, function in found:
            run = partial(function, self.dispatcher.ops)
            if alias.writes and is_functional:
                run = partial(functionalized, run, node.args, self.dispatcher)
            else:
                run = partial(run, *node.args)
            made, results = self.recorded(node, run)
            if results is NotImplemented:
                continue
            if is_functional and not all(inner.schema.is_functional for inner in made):
                raise InternalError(f"decompose: a composite of {node.op!r} writes, as none may")
            self.adopt(node, made, results)
            return made
        return None

    def recorded(self, node: Node, run: Callable[[], Any]) -> tuple[tuple[Node, ...], Any]:
        """The nodes that ``run`` records, placed at the user's line of ``node``."""
        self.builder.loc = node.loc
        with recording_into(self.builder), self.builder.region():
            results = run()
            return self.builder.nodes, results

    def adopt(self, node: Node, made: tuple[Node, ...], results: object) -> None:
        """Let the composite's results stand for the node's."""
        found = results if isinstance(results, tuple) else (results,)
        if len(found) != len(node.outputs):
            raise InternalError(f"decompose: {node.op!r} gave {len(found)} results")
        fresh = {value for inner in made for value in inner.outputs}
        for old, new in zip(node.outputs, found, strict=True):
            operand = new if isinstance(new, Value) else _literal(new)
            if not _agree(old.type, operand.type):
                raise InternalError(
                    f"decompose: {node.op!r} gave {operand.type}, its type says {old.type}"
                )
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


def _has_boxed(node: Node) -> bool:
    """Whether a value of the node is of a dtype that native code does not compute with."""
    operands = [operand for arg in node.args for operand in operands_of(arg)]
    return any(is_boxed(each.type.dtype) for each in (*operands, *node.outputs))
