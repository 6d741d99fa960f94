"""Which updates may happen in place: the inverse of what functionalization did.

::

    %2 = slice_scatter(%x, %1, [1:4:1])    →    %2 = slice_scatter(%x, %1, [1:4:1]) into %x

A scatter gives a new value of its base. Where the base dies with it, the new value may take over
its memory, and only the region is stored. This is a proposal: whether a buffer is really shared is
for lowering to decide, which knows the order of all loads and stores (see Note [Writes in place]).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fxc.ir.graph import Graph, Node, Operand, Region, Value
from fxc.ir.signature import Mutation
from fxc.ops.table import TABLE, Tag

# Of a mutated input only the written regions are stored in the end. So its memory is for the
# updates on the way to its new content: one of another value that started as the same content
# (of a copy of the input) would stay in it.


def reinplace(graph: Graph) -> Graph:
    """Mark each scatter whose base dies there with ``into=base``.

    Requires: the graph is functional and has its signature.
    Ensures: nothing else changes; no marked base is read by a later node, by the region around or
    as a result; an input is marked only if the caller shall see it change, and by no update that
    the caller shall not see.
    """
    assert graph.signature is not None
    ways = {graph.inputs[m.input]: _way(graph, m) for m in graph.signature.mutations}
    return graph.with_body(_marked(graph.body, set(graph.inputs) - set(ways), ways))


def _way(graph: Graph, mutation: Mutation) -> set[Operand] | None:
    """The updates that lead from an input to its new content; None if all of it is stored, and
    any update may use its memory before.
    """
    made_by: dict[Operand, Node] = {n.output: n for n in graph.nodes if _is_update(n)}
    value: Operand = graph.body.results[mutation.result]
    found: set[Operand] = set()
    while value in made_by:
        found.add(value)
        value = made_by[value].args[0]
    return found if value is graph.inputs[mutation.input] or mutation.regions else None


def _is_update(node: Node) -> bool:
    return TABLE[node.op].tag in (Tag.SCATTER, Tag.INDEX_PUT)


def _marked(region: Region, kept: set[Value], ways: Mapping[Value, set[Operand] | None]) -> Region:
    """The region with its scatters marked; ``kept`` must not be overwritten in it, and what is in
    the memory of the inputs in ``ways`` only by updates on these.
    """
    last = _last_uses(region)
    nodes: list[Node] = []
    outside = set(kept)
    way_of = dict(ways)
    for place, node in enumerate(region.nodes):
        if node.regions:
            held = outside | set(region.params) | {v for n in nodes for v in n.outputs}
            args = tuple(_marked(a, held, {}) if isinstance(a, Region) else a for a in node.args)
            node = replace(node, args=args)
        base = node.args[0] if _is_update(node) else None
        if isinstance(base, Value) and base not in outside and last[base] == place:
            way = way_of.get(base)
            if way is None or node.output in way:
                node = replace(node, into=base)
                way_of[node.output] = way
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
