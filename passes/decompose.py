"""Operators that a backend has no kernel for, in terms of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import is_
from typing import Any

from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.keys import AliasKey
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import InternalError
from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value, operands_of, walk
from fxc.ir.size_guards import Guard, recording
from fxc.ir.types import ScalarType, Type

# Runs a function of operands with the Functionalize key active, and gives its results as operands
# of the graph that is being recorded.
Functionalized = Callable[[Callable[..., Any], tuple[Arg, ...]], Any]

# Deeper nests of composites than this are a cycle among their definitions.
_DEPTH = 64


def decompose(
    graph: Graph,
    index: BackendIndex,
    dispatcher: Dispatcher,
    functionalized: Functionalized | None = None,
) -> Graph:
    """Replace every operator that the backend has no kernel for by its composite.

    Composites run through the dispatcher with Trace active, and what they record is decomposed in
    turn. A backend that is not functional gets the composites with views and writes where there
    are any; for one that is functional, a composite that writes nevertheless is run by
    ``functionalized``. What has no composite stays, for the boxed fallback. Nodes that stay are
    shared with the input; the results of a composite take over the names and the types that the
    node's had, because a type's strides describe NumPy's array (Note [Layout in types]).

    Requires: ``graph`` is functional.
    Ensures: the stage is decomposed, and each operator has a kernel or no composite that serves.
    Guards that a meta function took on the way are added to the graph's.
    """
    taken: dict[Guard, None] = dict.fromkeys(graph.guards)
    with recording(taken):
        body = _Decomposition(graph, index, dispatcher, functionalized).region(graph.body)
    return graph.with_body(body, stage="decomposed", guards=tuple(taken))


class _Decomposition:
    """One run of the pass. ``renamed`` maps values of replaced nodes to what stands for them."""

    def __init__(
        self,
        graph: Graph,
        index: BackendIndex,
        dispatcher: Dispatcher,
        functionalized: Functionalized | None,
    ) -> None:
        self.index = index
        self.dispatcher = dispatcher
        self.functionalized = functionalized
        self.renamed: dict[Value, Operand] = {}
        self.builder = GraphBuilder()
        for value in _values(graph.body):  # new values get names that no other has
            self.builder.value(value.type, value.name)
        self.aliases = tuple(alias for alias in AliasKey if not (index.functional and alias.writes))
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
        """What a composite records in place of the node; None if no composite serves."""
        for alias in self.aliases:
            function = self.dispatcher.composite(node.op, alias)
            if function is None:
                continue
            bound = partial(function, self.dispatcher.ops)
            made, results = self.recorded(node, partial(bound, *node.args))
            if results is NotImplemented:
                continue
            if self.index.functional and not all(inner.schema.is_functional for inner in made):
                made, results = self.functional(node, bound)
            self.adopt(node, made, results)
            return made
        return None

    def recorded(self, node: Node, run: Callable[[], Any]) -> tuple[tuple[Node, ...], Any]:
        """The nodes that ``run`` records, placed at the user's line of ``node``."""
        self.builder.loc = node.loc
        with recording_into(self.builder), self.builder.region():
            results = run()
            return self.builder.nodes, results

    def functional(self, node: Node, bound: Callable[..., Any]) -> tuple[tuple[Node, ...], Any]:
        """The nodes of a composite whose views and writes are taken away as it runs."""
        hook = self.functionalized
        if hook is None:
            raise InternalError(
                f"decompose: a composite of {node.op!r} writes, {self.index.name!r} is functional"
            )
        return self.recorded(node, partial(hook, bound, node.args))

    def adopt(self, node: Node, made: tuple[Node, ...], results: Any) -> None:
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


# ---------------------------------------------------------------- the definitions


def decomposition_cycles(dispatcher: Dispatcher) -> list[list[str]]:
    """The cycles among registered decompositions, each as operator names in order.

    An operator leads to those that its composites record on the operator's sample inputs.
    """
    # On first use: importing networkx takes longer than compiling a small function.
    import networkx

    calls = networkx.DiGraph()
    for name, _, function in dispatcher.composites():
        if name in dispatcher.table:
            calls.add_edges_from((name, called) for called in _called(dispatcher, name, function))
    return [list(cycle) for cycle in networkx.simple_cycles(calls)]


def _called(dispatcher: Dispatcher, name: str, function: Callable[..., Any]) -> set[str]:
    from fxc.ops.samples import samples  # on first use: only this check of definitions wants it

    op = dispatcher.table[name]
    names: set[str] = set()
    for sample in samples(op):
        builder = GraphBuilder()
        args = [
            _traced(dispatcher, builder, arg) if param.is_value else arg
            for param, arg in zip(op.schema.params, sample.args, strict=True)
        ]
        with recording_into(builder):
            function(dispatcher.ops, *args)
        names.update(node.op for node in builder.nodes)
    return names


def _traced(dispatcher: Dispatcher, builder: GraphBuilder, arg: Any) -> Any:
    if arg is None:
        return None
    if isinstance(arg, tuple):
        return tuple(_traced(dispatcher, builder, item) for item in arg)
    return builder.value(dispatcher.ops.type_of(arg))
