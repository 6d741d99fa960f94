"""What does not change in a loop is computed before it.

::

    %1 = fori_loop(0, %n, (%x,), body={           %2 = sum(%y)
      (%i, %a)                                    %1 = fori_loop(0, %n, (%x,), body={
      %2 = sum(%y)                        →         (%i, %a)
      %3 = add(%a, %2)                              %3 = add(%a, %2)
      yield %3                                      yield %3
    })                                            })
"""

from __future__ import annotations

from fxc.ir.graph import Node, Region, Value
from fxc.ir.later import import_later
from fxc.ir.symbols import symbols_of
from fxc.ir.types import ScalarType
from fxc.ops.identities import DISTINCT
from fxc.ops.operators import Tag
from fxc.ops.python_numbers import SETTLED
from fxc.ops.table import TABLE

# See Note [Rooms with one door].
symbols_bound_by = import_later("fxc.ir.evaluate", "symbols_bound_by")
dims_of = import_later("fxc.ir.text", "dims_of")


def hoist(region: Region) -> Region:
    """The region with what loops compute anew in each iteration, without need, before them.

    Nodes that can raise stay, since a loop may have no iterations. So do views, which cost nothing,
    fresh arrays, which an iteration may fill in place, and what is larger than what it is made of.

    Requires: the region is functional.
    """
    nodes: list[Node] = []
    for node in region.nodes:
        if node.regions:
            args = [hoist(arg) if isinstance(arg, Region) else arg for arg in node.args]
            node = Node(node.schema, tuple(args), node.outputs, node.loc)
        if TABLE[node.op].tag is Tag.LOOP:
            hoisted, node = _without_fixed(node)
            nodes += hoisted
        nodes.append(node)
    return Region(region.params, tuple(nodes), region.results)


def _without_fixed(loop: Node) -> tuple[list[Node], Node]:
    """The nodes of a loop's regions that stay the same, with what they need, and the rest."""
    hoisted: list[Node] = []
    args = []
    for arg in loop.args:
        if isinstance(arg, Region):
            found = _Fixed(arg)
            hoisted += found.nodes
            rest = tuple(node for node in arg.nodes if node not in found.taken)
            arg = Region(arg.params, rest, arg.results)
        args.append(arg)
    return hoisted, Node(loop.schema, tuple(args), loop.outputs, loop.loc)


class _Fixed:
    """The nodes of a loop's region to compute before it."""

    def __init__(self, region: Region) -> None:
        counters = [value for value in region.params if isinstance(value.type, ScalarType)]
        self.symbols = {name for value in counters for name in symbols_bound_by(value)}
        self.inside = {*region.params, *(v for node in region.nodes for v in node.outputs)}
        self.makers: dict[Value, Node] = {}  # of values that do not change
        self.taken: set[Node] = set()
        self.nodes: list[Node] = []
        for node in region.nodes:
            if not self.is_fixed(node):
                self.symbols.update([] if node.bound is None else [node.bound])
                continue
            self.makers.update((value, node) for value in node.outputs)
            if _pays(node) and not any(value in region.results for value in node.outputs):
                self.take(node)

    def is_fixed(self, node: Node) -> bool:
        if node.regions or node.bound or TABLE[node.op].raises or node.op in DISTINCT | SETTLED:
            return False
        if any(v in self.inside and v not in self.makers for v in node.inputs):
            return False
        return not any(name in self.symbols for dim in dims_of(node) for name in symbols_of(dim))

    def take(self, node: Node) -> None:
        """Take a node, behind those that it needs."""
        if node in self.taken:
            return
        for value in node.inputs:
            if value in self.makers:
                self.take(self.makers[value])
        self.taken.add(node)
        self.nodes.append(node)


def _pays(node: Node) -> bool:
    """Whether the values of the node are rather read than computed again."""
    match TABLE[node.op].tag:
        case Tag.VIEW | Tag.FACTORY | Tag.BRANCH | Tag.LOOP:
            return False
        case Tag.POINTWISE:
            shapes = [value.type.shape for value in node.inputs]
            return bool(shapes) and all(v.type.shape in ((), *shapes) for v in node.outputs)
        case _:
            return True
