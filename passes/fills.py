"""Arrays that are filled with one number and updated: one for each update.

::

    %1 = copy(%0)               # zeros             %1 = copy(%0)
    %2 = slice_scatter(%1, …)                       %2 = slice_scatter(%1, …)
    %4 = slice_copy(%1, …)                      →   %3 = copy(%0)
    %5 = slice_scatter(%1, %4, …)                   %4 = slice_copy(%3, …)
                                                    %5 = copy(%0)
                                                    %6 = slice_scatter(%5, %4, …)

Equal fills are one value in a functional graph. As the base of several updates it would be copied
for all but the last one. To fill memory once more is cheaper than to copy it, and what is only read
of a fill is no memory at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fxc.ir.builder import GraphBuilder
from fxc.ir.graph import Graph, Literal, Node, Region, Value, walk
from fxc.ir.records import replace
from fxc.ops.table import TABLE
from fxc.ops.updates import UPDATES

from .unread import regions_in


def fills_apart(graph: Graph) -> Graph:
    """Give each reader of a fill that is updated a fill of its own.

    Requires: the graph is functional, and no pass behind this one makes equal values one.
    Ensures: the same results; only fills are computed more often.
    """
    body = graph.body
    if not any(_updated(region) for region in regions_in(body)):
        return graph
    builder = GraphBuilder()
    for region in regions_in(body):
        for value in (*region.params, *(v for n in region.nodes for v in n.outputs)):
            builder.value(value.type, value.name)
    return graph.with_body(_apart(body, builder))


def _apart(region: Region, builder: GraphBuilder) -> Region:
    """The region, and those in it, with fills of its own for each reader."""
    fills = _updated(region)
    kept = {v for v in region.results if isinstance(v, Value)} | set(_read_inside(region))
    nodes: list[Node] = []
    for node in region.nodes:
        if node.regions:
            args = tuple(_apart(a, builder) if isinstance(a, Region) else a for a in node.args)
            node = replace(node, args=args)
        if node.outputs and node.outputs[0] in fills and node.outputs[0] not in kept:
            continue
        own: dict[object, Value] = {}
        for value in node.args:
            if isinstance(value, Value) and value in fills and value not in own:
                made = own[value] = builder.value(value.type)
                nodes.append(replace(fills[value], outputs=(made,)))
        if own:
            args = tuple(own.get(a, a) if isinstance(a, Value) else a for a in node.args)
            node = replace(node, args=args)
        nodes.append(node)
    return Region(region.params, tuple(nodes), region.results)


def _updated(region: Region) -> Mapping[Value, Node]:
    """The fills in a region that have several readers, one of which updates them; no reader has
    them in a list.
    """
    fills = _fills(region)
    readers: dict[Value, list[Node]] = {value: [] for value in fills}
    for node in region.nodes if fills else ():
        for value in dict.fromkeys(node.inputs):
            if value in readers:
                readers[value].append(node)
    return {
        value: fills[value]
        for value, found in readers.items()
        if len(found) > 1
        and any(TABLE[n.op].tag in UPDATES and n.args[0] is value for n in found)
        and all(value in n.args for n in found)
    }


def _fills(region: Region) -> dict[Value, Node]:
    """The nodes that copy a number into all elements of a new array."""
    spread: set[object] = set()
    found: dict[Value, Node] = {}
    for node in region.nodes:
        if node.op == "broadcast_to_copy" and isinstance(node.args[0], Literal):
            spread.add(node.output)
        elif node.op == "copy" and node.args[0] in spread:
            found[node.output] = node
    return found


def _read_inside(region: Region) -> Iterator[Value]:
    """What regions of nodes read."""
    for node in region.nodes:
        for inner in node.regions:
            for each in walk(inner):
                yield from each.inputs
            for nested in regions_in(inner):
                yield from (v for v in nested.results if isinstance(v, Value))
