"""Counted sizes whose bound makes arrays too large: they are as those that nothing bounds.

::

    %1: py.int = bind_size(%0, symbol='count', most=131072)
    %2: f64[count, count] = zeros((count, count), f64)

becomes ::

    %1: py.int = bind_size(%0, symbol='count', most=1073741824)
    %2: f64[count, count] = zeros((count, count), f64)

An array of a counted size has room for the most that there may be, before the program runs. That
is a good bound for a list, but not for a matrix of pairs of its items. See Note [Measured sizes].
"""

from __future__ import annotations

from collections.abc import Iterator

from fxc.ir.graph import Graph, Node, Region, walk
from fxc.ir.symbols import MOST_MEASURED, Dim, Symbol, counted_in, product, terms_of
from fxc.ir.types import ArrayType

# What an array of counted sizes has room for, elements: on one axis, and on several.
_MOST_ON_ONE, _MOST_ON_SEVERAL = 2**28, 2**20


def without_loose_bounds(graph: Graph) -> Graph:
    """Let nothing bound the counted sizes of an array that were too large.

    Requires: the graph is functional, and what it assumes of sizes has been checked.
    Ensures: results have the same bits.
    """
    shapes = {
        output.type.shape
        for node in walk(graph.body)
        for output in node.outputs
        if isinstance(output.type, ArrayType)
    }
    loose = {name for shape in shapes for name in _loose(shape)}
    return graph.with_body(_region(graph.body, loose)) if loose else graph


def _loose(shape: tuple[Dim, ...]) -> Iterator[str]:
    """The counted sizes of an array whose bounds say too little of it."""
    if not any(map(counted_in, shape)):
        return
    for monomial, factor in terms_of(product(shape)):
        counted = [each for each in monomial if isinstance(each, Symbol) and each.most is not None]
        most = product([factor, *(each.most for each in counted if each.most is not None)])
        limit = _MOST_ON_ONE if len(counted) == 1 else _MOST_ON_SEVERAL
        is_loose = most > limit if isinstance(most, int) else len(counted) > 1
        if is_loose:
            yield from (each.name for each in counted)


def _region(region: Region, loose: set[str]) -> Region:
    nodes = tuple(_node(node, loose) for node in region.nodes)
    return Region(region.params, nodes, region.results)


def _node(node: Node, loose: set[str]) -> Node:
    args = tuple(_region(arg, loose) if isinstance(arg, Region) else arg for arg in node.args)
    if node.op == "bind_size" and node.bound in loose:
        place = node.schema.index_of["most"]
        args = (*args[:place], MOST_MEASURED, *args[place + 1 :])
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return node
    return Node(node.schema, args, node.outputs, node.loc, node.into)
