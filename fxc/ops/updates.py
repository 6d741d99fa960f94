"""Which values may follow one another in one memory: a base and its updates, what loops carry."""

from __future__ import annotations

from fxc.ir.graph import Graph, Node, Operand, Region, Value
from fxc.ir.signature import Mutation

from .operators import EFFECTS, Tag
from .table import TABLE

# Note [The memory of an input]
# Of a mutated input only the written regions are stored in the end. So its memory is for the
# updates on the way to its new content: one of another value that started as the same content (of a
# copy of the input) would stay in it.

# Operators that give an array with some of its elements replaced.
UPDATES = (Tag.SCATTER, Tag.INDEX_PUT)

Way = frozenset[Operand] | None


def way(graph: Graph, mutation: Mutation) -> Way:
    """The values that lead from an input to its new content; None if all of it is stored, and its
    memory may be used for anything before.
    """
    makers = _makers(graph.body)
    value: Operand | None = graph.body.results[mutation.result]
    found: set[Operand] = set()
    while isinstance(value, Value) and value in makers:
        found.add(value)
        value = updated_by(makers[value], value)
    starts_there = value is graph.inputs[mutation.input]
    return frozenset(found) if starts_there or mutation.regions else None


def updated_by(node: Node, value: Value) -> Operand | None:
    """The operand of an update, a branch or a loop that a result of it is, or is an update of."""
    tag = TABLE[node.op].tag
    if tag in UPDATES or (tag in EFFECTS and value is node.outputs[0]):
        base: Operand = node.args[0]
        return base
    if not node.regions:
        return None
    number = node.outputs.index(value)
    if TABLE[node.op].tag is not Tag.BRANCH:
        given: Operand = node.arg("init")[number]
        return given
    found = [_parameter(region, region.results[number]) for region in node.regions]
    return next((node.arg("operands")[p] for p in found if p is not None), None)


def _parameter(region: Region, value: Operand) -> int | None:
    """The number of the parameter that ``value`` is, or is an update of."""
    makers = _makers(region)
    found: Operand | None = value
    while isinstance(found, Value) and found in makers:
        found = updated_by(makers[found], found)
    return region.params.index(found) if found in region.params else None


def _makers(region: Region) -> dict[Operand, Node]:
    return {output: node for node in region.nodes for output in node.outputs}
