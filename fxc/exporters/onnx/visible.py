"""A functional graph that gives all that its caller sees, views and sizes too."""

from __future__ import annotations

from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.graph import Graph, Operand, Region, walk
from fxc.ir.records import frozen
from fxc.ir.signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    OutputLeaf,
    ResultLeaf,
    Signature,
    ViewLeaf,
)


@frozen
class Visible:
    """``graph`` has a result for each number in ``leaves`` (one for each leaf of the caller's
    result; None for objects that are no numbers) and in ``updates`` (by the input).
    """

    graph: Graph
    leaves: tuple[int | None, ...]
    updates: dict[int, int]


def with_all_visible(graph: Graph) -> Visible:
    """The graph with results for views of inputs and of results, as they are after the call."""
    signature = graph.signature
    assert signature is not None
    run = _Completion(graph, signature)
    leaves = tuple(run.leaf(leaf) for leaf in signature.outputs)
    updates = {m.input: run.number(graph.outputs[m.result]) for m in signature.mutations}
    body = Region(graph.inputs, (*graph.nodes, *run.builder.nodes), tuple(run.results))
    return Visible(graph.with_body(body), leaves, updates)


class _Completion:
    def __init__(self, graph: Graph, signature: Signature) -> None:
        self.graph = graph
        self.results: list[Operand] = []
        self.views: dict[int, int] = {}
        self.updated = {m.input: graph.outputs[m.result] for m in signature.mutations}
        self.builder = GraphBuilder()
        for value in graph.inputs:
            self.builder.value(value.type, value.name)
        for node in walk(graph.body):
            for value in node.outputs:
                self.builder.value(value.type, value.name)

    def number(self, operand: Operand) -> int:
        """The number of a result, which is added if there is no such one."""
        if operand not in self.results:
            self.results.append(operand)
        return self.results.index(operand)

    def leaf(self, leaf: OutputLeaf) -> int | None:
        match leaf:
            case ConstantLeaf():
                return None
            case DimLeaf(value):
                with recording_into(self.builder):
                    return self.number(default_dispatcher().ops.int_value(value))
            case ViewLeaf(base, steps, identity):
                if identity not in self.views:
                    found = self.base(base)
                    with recording_into(self.builder):
                        for step in steps:
                            found = default_dispatcher().call(f"{step.op}_copy", found, *step.args)
                    self.views[identity] = self.number(found)
                return self.views[identity]
            case _:
                return self.number(self.base(leaf))

    def base(self, leaf: InputLeaf | ResultLeaf) -> Operand:
        if isinstance(leaf, ResultLeaf):
            return self.graph.outputs[leaf.result]
        return self.updated.get(leaf.input, self.graph.inputs[leaf.input])
