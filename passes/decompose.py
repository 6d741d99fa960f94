"""Operators that a backend has no kernel for, in terms of others."""

from __future__ import annotations

from functools import partial
from typing import Any

from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.dispatcher import Dispatcher
from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.errors import InternalError
from fxc.ir.graph import Graph, Node, operands_of
from fxc.ir.size_guards import Guard, recording
from fxc.ops.operators import Tag

from .expansion import Expansion
from .functionalize import functionalized


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


class _Decomposition(Expansion):
    """One run of the pass."""

    def __init__(self, graph: Graph, index: BackendIndex[Any], dispatcher: Dispatcher) -> None:
        super().__init__(graph, dispatcher)
        self.index = index
        self._kept: dict[str, bool] = {}

    def has_kernel(self, node: Node) -> bool:
        """Whether the backend runs the node itself."""
        kept = self._kept.get(node.op)
        if kept is None:
            op = self.dispatcher.table[node.op]
            kept = self._kept[node.op] = self.index.has_kernel(op)
        return kept

    def expanded(self, node: Node) -> tuple[Node, ...] | None:
        """What a composite records in place of the node; None if no composite serves.

        Those of fxc's own are made for the dtypes that native code computes with.
        """
        if self.has_kernel(node):
            return None
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


def _has_boxed(node: Node) -> bool:
    """Whether a value of the node is of a dtype that native code does not compute with."""
    operands = [operand for arg in node.args for operand in operands_of(arg)]
    return any(is_boxed(each.type.dtype) for each in (*operands, *node.outputs))
