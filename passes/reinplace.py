"""Which updates may happen in place: the inverse of what functionalization did.

::

    %2 = slice_scatter(%x, %1, [1:4:1])    →    %2 = slice_scatter(%x, %1, [1:4:1]) into %x

A scatter gives a new value of its base. Where the base dies with it, the new value may take over
its memory, and only the region is stored. This is a proposal: whether a buffer is really shared is
for lowering to decide, which knows the order of all loads and stores (see Note [Writes in place]).
"""

from __future__ import annotations

from dataclasses import replace

from fxc.ir.graph import Graph, Node, Region, Value
from fxc.ops.table import TABLE, Tag


def reinplace(graph: Graph) -> Graph:
    """Mark each scatter whose base dies there with ``into=base``.

    Requires: the graph is functional and has its signature.
    Ensures: nothing else changes; no marked base is read by a later node, by the region around or
    as a result, and an input is marked only if the caller shall see it change.
    """
    assert graph.signature is not None
    mutated = {graph.inputs[place] for place in graph.signature.mutated_inputs}
    kept = set(graph.inputs) - mutated
    return graph.with_body(_marked(graph.body, kept))


def _marked(region: Region, kept: set[Value]) -> Region:
    """The region with its scatters marked; ``kept`` must not be overwritten in it."""
    last = _last_uses(region)
    nodes: list[Node] = []
    outside = set(kept)
    for place, node in enumerate(region.nodes):
        if node.regions:
            held = outside | set(region.params) | {v for n in nodes for v in n.outputs}
            args = tuple(_marked(a, held) if isinstance(a, Region) else a for a in node.args)
            node = replace(node, args=args)
        is_update = TABLE[node.op].tag in (Tag.SCATTER, Tag.INDEX_PUT)
        base = node.args[0] if is_update else None
        if isinstance(base, Value) and base not in outside and last[base] == place:
            node = replace(node, into=base)
        nodes.append(node)
    return Region(region.params, tuple(nodes), region.results)


def _last_uses(region: Region) -> dict[Value, int]:
    """The last node that reads each value, itself or in a region inside; a result is read after
    all of them.
    """
    last: dict[Value, int] = {}
    for place, node in enumerate(region.nodes):
        for value in (*node.inputs, *_inside(node)):
            last[value] = place
    last.update((v, len(region.nodes)) for v in region.results if isinstance(v, Value))
    return last


def _inside(node: Node) -> list[Value]:
    """The values that the regions of a node read."""
    found: list[Value] = []
    for region in node.regions:
        found += [v for v in region.results if isinstance(v, Value)]
        for inner in region.nodes:
            found += [*inner.inputs, *_inside(inner)]
    return found
