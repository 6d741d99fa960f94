"""Graphs whose updates are marked ``into`` a base, evaluated in the memory of that base."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.graph import Graph, Node, Region
from fxc.ir.records import replace
from fxc.ops.kernels.making import Kernel, kernel_of

# A node ``x into %base`` is evaluated by the kernel "x into 0", 0 being the place of the base among
# its arguments, which brings the result into the base's own memory.
_INTO = " into "


def in_place(graph: Graph) -> Graph:
    """The graph with each update that is marked as a node that works in place."""
    return graph.with_body(_updating(graph.body))


def _updating(region: Region) -> Region:
    return Region(region.params, tuple(map(_updating_node, region.nodes)), region.results)


def _updating_node(node: Node) -> Node:
    if node.regions:
        args = tuple(_updating(arg) if isinstance(arg, Region) else arg for arg in node.args)
        return Node(node.schema, args, node.outputs, node.loc)
    if node.into is None:
        return node
    place = next(place for place, arg in enumerate(node.args) if arg is node.into)
    schema = replace(node.schema, name=f"{node.op}{_INTO}{place}")
    return Node(schema, node.args, node.outputs, node.loc)


def updating_kernel_of(name: str) -> Kernel:
    """The NumPy kernel of an operator, also of those that ``in_place`` makes."""
    name, marked, number = name.partition(_INTO)
    kernel = kernel_of(name)
    if name == "fori_loop":
        return lambda lo, hi, init, *rest: kernel(lo, hi, tuple(map(_copied, init)), *rest)
    if name == "cond":
        return lambda pred, given, *arms: kernel(pred, tuple(map(_copied, given)), *arms)
    if name == "while_loop":
        return lambda init, *rest: kernel(tuple(map(_copied, init)), *rest)
    if not marked:
        return kernel
    place = int(number)

    def update(*args: Any) -> Any:
        new, base = kernel(*args), args[place]
        if isinstance(new, tuple):  # an effect: its handle first, then what it gives
            return (base, *new[1:])
        if any(step == 0 and size > 1 for step, size in zip(base.strides, base.shape, strict=True)):
            return new  # its elements share memory: it has no room for the new ones
        np.copyto(base, new, casting="no")
        return base

    return update


def _copied(x: Any) -> Any:
    """What a region is given is its own to write, and whoever gave it reads it unchanged."""
    return x.copy("K") if isinstance(x, np.ndarray) else x
