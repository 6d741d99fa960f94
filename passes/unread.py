"""Nodes whose values nobody reads, and what loops and branches carry for nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from fxc.ir.graph import Arg, Node, Operand, Region, Value, walk
from fxc.ir.records import replace
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

T = TypeVar("T")


def regions_in(region: Region) -> Iterator[Region]:
    """The region and all regions inside it."""
    yield region
    for node in walk(region):
        yield from node.regions


def drop_unread(region: Region) -> Region:
    """Remove every node whose values nobody reads, unless it can raise or binds a symbol.

    Requires: the region is functional, so that a node has no other effect.
    """
    read = {operand for operand in region.results if isinstance(operand, Value)}
    kept: list[Node] = []
    for node in reversed(region.nodes):
        if not _must_stay(node) and read.isdisjoint(node.outputs):
            continue
        if node.regions:
            node = _without_unread(node, read)
            args = [drop_unread(arg) if isinstance(arg, Region) else arg for arg in node.args]
            node = replace(node, args=tuple(args))
        kept.append(node)
        read.update(node.inputs)
        for inner in node.regions:
            read.update(_read_in(inner))
    return Region(region.params, tuple(reversed(kept)), region.results)


def _must_stay(node: Node) -> bool:
    """Whether the node, or one in its regions, can raise at run time, or gives a symbol a value."""
    if TABLE[node.op].raises or node.bound is not None:
        return True
    inner = (each for region in node.regions for each in walk(region))
    return any(TABLE[each.op].raises or each.bound is not None for each in inner)


def _read_in(region: Region) -> set[Value]:
    """The values that a region and the regions inside it read, their own among them."""
    read = {value for node in walk(region) for value in node.inputs}
    for inner in regions_in(region):
        read.update(operand for operand in inner.results if isinstance(operand, Value))
    return read


# What a loop or a branch carries


def _without_unread(node: Node, read: Collection[Value]) -> Node:
    """The node without the results that nobody reads and the operands that only they need."""
    kept = [number for number, value in enumerate(node.outputs) if value in read]
    return _branch(node, kept) if TABLE[node.op].tag is Tag.BRANCH else _loop(node, kept)


def keeping(node: Node, numbers: Sequence[int]) -> Node:
    """A branch with these results only; a loop that carries these values only."""
    outputs = _only(numbers, node.outputs)
    args: list[Arg] = []
    for param, arg in zip(node.schema.params, node.args, strict=True):
        if isinstance(arg, Region):
            params, results = arg.params, arg.results
            if TABLE[node.op].tag is not Tag.BRANCH:
                carried = carried_params(node, arg)
                params = (*params[: len(params) - len(carried)], *_only(numbers, carried))
            if param.name != "test":
                results = (*_only(numbers, results), *results[len(node.outputs) :])
            arg = Region(params, arg.nodes, results)
        elif param.name == "init":
            arg = _only(numbers, arg)
        args.append(arg)
    return replace(node, args=tuple(args), outputs=outputs)


def carried_params(loop: Node, region: Region) -> tuple[Value, ...]:
    """The parameters that a region of a loop has for what is carried: those behind the counter."""
    return region.params[len(region.params) - len(loop.outputs) :]


def _branch(node: Node, kept: Sequence[int]) -> Node:
    node = keeping(node, kept)
    needed = {value for arm in node.regions for value in _needed(arm, arm.results)}
    operands = node.arg("operands")
    used = [n for n in range(len(operands)) if any(a.params[n] in needed for a in node.regions)]
    on_true, on_false = (replace(arm, params=_only(used, arm.params)) for arm in node.regions)
    return replace(node, args=(node.arg("pred"), _only(used, operands), on_true, on_false))


def _loop(node: Node, read: Sequence[int]) -> Node:
    """What something else that is carried, or a flag, depends on is needed, too."""
    count, kept = len(node.outputs), set(read)
    while True:
        needed: set[Value] = set()
        carried: list[tuple[Value, ...]] = []
        for region in node.regions:
            is_test = region is not node.arg("body")
            wanted = () if is_test else _only(sorted(kept), region.results)
            flags = region.results if is_test else region.results[count:]
            needed |= _needed(region, (*wanted, *flags))
            carried.append(carried_params(node, region))
        more = {n for params in carried for n in range(count) if params[n] in needed}
        if more <= kept:
            return keeping(node, sorted(kept)) if len(kept) < count else node
        kept |= more


def _only(numbers: Sequence[int], items: Sequence[T]) -> tuple[T, ...]:
    return tuple(items[number] for number in numbers)


def _needed(region: Region, results: Sequence[Operand]) -> set[Value]:
    """The values that these results of a region, and what in it can raise, depend on."""
    needed = {operand for operand in results if isinstance(operand, Value)}
    for node in reversed(region.nodes):
        if _must_stay(node) or not needed.isdisjoint(node.outputs):
            needed.update(node.inputs, *map(_read_in, node.regions))
    return needed
