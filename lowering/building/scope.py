"""What is known while the nodes of one region are visited: what is read later, and how often."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.graph import Node, Region, Value, walk
from fxc.ir.records import field, frozen, mutable
from fxc.ir.symbols import MOST_MEASURED, symbol

from ..nests.statements import Stmt
from .index_maps import is_view_copy

NEVER = 1 << 60  # the last use of what outlives its region


# Note [Placed in a region]
# A value from around a region may be placed while the region is visited: an array of zeros with
# which a loop in there begins, or a view of what is stored to. That holds in the region alone. It
# may not run, as an arm of a branch, and what it does not read any more it may overwrite. Behind it
# the value is what it was before.


@frozen
class ValueState:
    """Where a value lives, if it is placed, and what computing it reads and costs."""

    place: str | None
    reads: frozenset[str]
    weight: int
    reshapes: int


@mutable
class Scope:
    """What is known while the nodes of one region are visited."""

    nodes: Sequence[Node]
    last_use: dict[Value, int]
    uses: dict[Value, int]
    statements: list[Stmt] = field(default_factory=list)
    owned: set[str] = field(default_factory=set)  # storages that this region may overwrite
    position: int = -1
    # Note [Counted where chosen]
    # The size of what a mask chooses is a sum over the mask. Where the places of what is chosen
    # stay in the region, they are found in the loop that counts them: by the output of the sum the
    # node that finds them. The mask is then read once.
    found_by: dict[Value, Node] = field(default_factory=dict)
    made: set[Value] = field(default_factory=set)  # by the nodes of the region
    measured: frozenset[str] = frozenset()  # the sizes that nodes of it bind, and nothing bounds
    before: dict[Value, ValueState] = field(default_factory=dict)  # see Note [Placed in a region]


def new_scope(region: Region) -> Scope:
    """Last uses and numbers of uses of all values that the nodes of ``region`` read."""
    last_use: dict[Value, int] = {}
    uses: dict[Value, int] = {}
    for value in region.results:
        if isinstance(value, Value):
            last_use[value] = NEVER
            uses[value] = uses.get(value, 0) + 1
    for position in range(len(region.nodes) - 1, -1, -1):
        node = region.nodes[position]
        reached = uses.get(node.output, 0) if is_view_copy(node) else 1
        for value in (*node.inputs, *free_values(node)):
            last_use.setdefault(value, position)
            uses[value] = uses.get(value, 0) + reached
    found_by = _found_by(region)
    for node in found_by.values():
        uses[node.arg("mask")] -= 1
    made = {output for node in region.nodes for output in node.outputs}
    binds = (node for node in region.nodes if node.op == "bind_size")
    measured = frozenset(x.arg("symbol") for x in binds if x.arg("most") == MOST_MEASURED)
    return Scope(region.nodes, last_use, uses, found_by=found_by, made=made, measured=measured)


def _found_by(region: Region) -> dict[Value, Node]:
    """By the output of a sum over a mask, the node that finds its places. See Note [Counted where
    chosen].
    """
    finding = {node.arg("count"): node for node in region.nodes if node.op == "nonzero"}
    if not finding:
        return {}
    makers = {output: node for node in region.nodes for output in node.outputs}
    leaving = set(region.results)
    for node in reversed(region.nodes):
        if is_view_copy(node) and node.output in leaving:
            leaving.add(node.args[0])
    found: dict[Value, Node] = {}
    for node in region.nodes:
        places = finding.get(symbol(node.arg("symbol"))) if node.op == "bind_size" else None
        counted = makers.get(node.arg("number")) if places is not None else None
        if places is not None and counted is not None and places.output not in leaving:
            is_sum = counted.op == "sum" and counted.args[0] == places.arg("mask")
            if is_sum and isinstance(counted.args[0], Value) and counted.arg("axis") is None:
                found[counted.output] = places
    return found


def free_values(node: Node) -> tuple[Value, ...]:
    """The values from outside that the regions of ``node`` read."""
    found: dict[Value, None] = {}
    for region in node.regions:
        inside = set(region.params)
        for inner in walk(region):
            inside.update(inner.outputs)
            for nested in inner.regions:
                inside.update(nested.params)
        read = [v for inner in walk(region) for v in inner.inputs]
        read += [
            v for r in (region, *_regions_in(region)) for v in r.results if isinstance(v, Value)
        ]
        found.update((v, None) for v in read if v not in inside)
    return tuple(found)


def _regions_in(region: Region) -> list[Region]:
    return [inner for node in walk(region) for inner in node.regions]
