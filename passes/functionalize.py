"""Views and writes away: from a captured graph to a functional one with its signature.

::

    %0 = slice(%x, [1:4:1])                  %0 = slice_copy(%x, [1:4:1])
    add_(%0, 1.0)                     →      %1 = add(%0, 1.0)
    return %0                                %2 = slice_scatter(%x, %1, [1:4:1])
                                             signature  x := %2; output 0 = slice(input x, [1:4:1])

The captured graph is run once more through the dispatcher, on arrays that know their base. See
Note [Bases and views].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.keys import including
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.graph import Graph, Literal, Operand, walk
from fxc.ir.signature import (
    ConstantLeaf,
    InputLeaf,
    Mutation,
    OutputLeaf,
    ResultLeaf,
    Signature,
    ViewLeaf,
)
from fxc.ir.types import ArrayType, ScalarType

from .apart import sees_sharing
from .bases import Base, FunctionalArray
from .functional_column import COLUMN, Functionalization, array_kind, functionalizing

# Note [Bases and views]
# Every array of a captured graph is a base or a chain of views of one. A base has one current
# value, which a write replaces: the new content of the written view goes back through the scatter
# of each view on the path to it. A view holds no value of its own; when it is read it is derived
# from the base's current value, so that all views of a base agree at every moment. What the
# operands of a write hold is read before the base changes, as NumPy does for overlapping operands.
#
# The path is in a normal form (aliases.py), in which views of views are one view. The steps are
# kept as the user took them for views that the caller gets: strides of axes of size 1 show them.


def functionalize(graph: Graph, leaves: Sequence[OutputLeaf], dispatcher: Dispatcher) -> Graph:
    """The same function without views and writes, and the signature that makes up for them.

    ``leaves`` describe the caller's result; a ResultLeaf in it stands for a captured result, be it
    an input, a view or a fresh array.

    Requires: the graph is captured.
    Ensures: every node is pure; the signature names the inputs that get new content, and how each
    leaf is made of results and inputs.
    """
    run = Functionalization(dispatcher, any(map(sees_sharing, walk(graph.body))))
    builder = GraphBuilder()
    inputs = [builder.value(value.type, value.name) for value in graph.inputs]
    bases: list[Base | None] = []
    for place, (old, new) in enumerate(zip(graph.inputs, inputs, strict=True)):
        base = Base(new, place) if isinstance(new.type, ArrayType) else None
        bases.append(base)
        run.known[old] = (
            new if base is None else FunctionalArray(base, (), (), array_kind(old.type))
        )
    with recording_into(builder), functionalizing(run):
        for node in graph.nodes:
            run.node(node)
        boundary = _Boundary(run, graph)
        outputs = tuple(boundary.leaf(leaf) for leaf in leaves)
        mutations = tuple(
            Mutation(place, boundary.new_result(base.value), base.regions())
            for place, base in enumerate(bases)
            if base is not None and base.value is not inputs[place]
        )
    body = builder.finish(inputs, boundary.results)
    return Graph(graph.name, "functional", body, graph.guards, Signature(mutations, outputs))


def functionalized(
    function: Callable[..., Any], args: Sequence[Any], dispatcher: Dispatcher
) -> Operand | tuple[Operand, ...]:
    """What a function of operands gives, run without views and writes into the thread's builder.

    ``function`` calls operators through the dispatcher, as composites do. Its arguments are not
    written.
    """
    run = Functionalization(dispatcher)
    with (
        functionalizing(run),
        including(COLUMN),
    ):  # what makes an array has no argument with a key
        found = function(*map(run.owned, args))
        return run.unwrapped(found)  # type: ignore[no-any-return]


class _Boundary:
    """Collects the results of the functional graph and describes the caller's leaves."""

    def __init__(self, run: Functionalization, graph: Graph) -> None:
        self.run = run
        self.graph = graph
        self.results: list[Operand] = []
        self.places: dict[Operand, int] = {}
        self.bases: dict[int, int] = {}  # by id: each is an object of the caller's
        self.views: dict[FunctionalArray, int] = {}

    def new_result(self, operand: Operand) -> int:
        """The number of one more result."""
        self.results.append(operand)
        return len(self.results) - 1

    def result(self, operand: Operand) -> int:
        """The number of the result that is the caller's fresh object for ``operand``."""
        if operand not in self.places:
            self.places[operand] = self.new_result(operand)
        return self.places[operand]

    def leaf(self, leaf: OutputLeaf) -> OutputLeaf:
        if not isinstance(leaf, ResultLeaf):
            return leaf
        captured = self.graph.outputs[leaf.result]
        found = self.run.known_operand(captured)
        if not isinstance(found, FunctionalArray):
            return self.scalar(found)
        base = self.base(found.base)
        if not found.steps:
            return base
        identity = self.views.setdefault(found, len(self.views))
        return ViewLeaf(base, found.steps, identity)

    def scalar(self, operand: Operand) -> OutputLeaf:
        if isinstance(operand, Literal):
            return ConstantLeaf(operand.value)
        for place, value in enumerate(self.graph.inputs):
            if self.run.known[value] is operand:
                return InputLeaf(place)
        assert isinstance(operand.type, ScalarType)
        return ResultLeaf(self.result(operand), operand.type)

    def base(self, base: Base) -> InputLeaf | ResultLeaf:
        if base.input is not None:
            return InputLeaf(base.input)
        if id(base) not in self.bases:
            value = base.value
            if value in self.places:  # two arrays hold the same: `x[...] = y; return x, y`
                value = self.run.trace("copy", value, "K")
                value.type = base.value.type
            self.bases[id(base)] = self.result(value)
        return ResultLeaf(self.bases[id(base)], base.value.type)
