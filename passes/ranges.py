"""Arithmetic of Python ints that provably stays within 64 bits, or is not negative."""

from __future__ import annotations

from fxc.ir.graph import Graph, walk
from fxc.ir.later import import_later

from .provable import PROVABLE

by_ranges = import_later("fxc.passes.range_analysis", "by_ranges")  # few programs have such ints


def prove_ranges(graph: Graph) -> Graph:
    """Replace each ``try_`` operator that cannot fail by its partner that is not checked,
    divisions of numbers that are not negative by such that know it, and comparisons by what they
    always give.

    The ranges of ints follow from literals, dtypes, the bounds of loops and the operators; those of
    what a loop carries are a fixed point. See Note [Operators of Python numbers].

    Requires: the graph is functional.
    Ensures: results have the same bits.
    """
    if not any(node.op.startswith(PROVABLE) for node in walk(graph.body)):
        return graph
    made: Graph = by_ranges(graph)
    return made
