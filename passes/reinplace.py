"""Which updates may happen in place: the inverse of what functionalization did.

::

    %2 = slice_scatter(%x, %1, [1:4:1])    →    %2 = slice_scatter(%x, %1, [1:4:1]) into %x

A scatter gives a new value of its base. Where the base dies with it, the new value may take over
its memory, and only the region is stored. This is a proposal: whether a buffer is really shared is
for lowering to decide, which knows the order of all loads and stores (see Note [Writes in place]).
"""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.graph import Graph, Node, Operand, Region, Value
from fxc.ir.records import replace
from fxc.ops.updates import Way, updated_by, way


def reinplace(graph: Graph) -> Graph:
    """Mark each scatter whose base dies there with ``into=base``.

    Requires: the graph is functional and has its signature.
    Ensures: nothing else changes; no marked base is read by a later node, by the region around or
    as a result; an input is marked only if the caller shall see it change, and by no update that
    the caller shall not see.
    """
    assert graph.signature is not None
    ways = {graph.inputs[m.input]: way(graph, m) for m in graph.signature.mutations}
    return graph.with_body(_marked(graph.body, set(graph.inputs) - set(ways), ways))


def _marked(region: Region, kept: set[Value], ways: Mapping[Value, Way]) -> Region:
    """The region with its scatters marked; ``kept`` must not be overwritten in it, and what is in
    the memory of the inputs in ``ways`` only by updates on these: Note [The memory of an input].
    """
    last = _last_uses(region)
    nodes: list[Node] = []
    outside = set(kept)
    way_of: dict[Operand | None, Way] = dict(ways.items())  # also of what is in their memory
    for place, node in enumerate(region.nodes):
        if node.regions:
            held = outside | set(region.params) | {v for n in nodes for v in n.outputs}
            args = tuple(_marked(a, held, {}) if isinstance(a, Region) else a for a in node.args)
            node = replace(node, args=args)
        for output in node.outputs:
            base = updated_by(node, output)
            on = way_of.get(base)
            if on is not None and output not in on:
                continue
            if not node.regions and isinstance(base, Value):
                if base in outside or last[base] != place:
                    continue
                node = replace(node, into=base)
            if base in way_of:
                way_of[output] = on
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
