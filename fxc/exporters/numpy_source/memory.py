"""Which arrays of a functional graph are views, and which updates happen in place.

A functional graph copies wherever it reads a part or replaces one. Here each value gets the
*stores* that its elements may lie in, and an update takes over the memory of its base if that is
the program's own, or that of an input which shall become this very value, and if nobody reads what
lies there afterwards. All else stays as the graph says: a copy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from fxc.ir.graph import Graph, Node, Operand, Region, Value, walk
from fxc.ir.records import field, frozen, mutable, replace
from fxc.ir.types import ArrayType
from fxc.ops.operators import CONTROL, Tag
from fxc.ops.table import TABLE
from fxc.ops.updates import UPDATES, updated_by, way

# Note [Stores]
# A store is memory that is made at one place of the program. What a loop carries is in a store of
# the variable in each iteration, whatever that was before; ``came_from`` tells of those outside of
# the loop that it may be. Two variables of a loop that may be one array share a further store.
# Values share memory if a store of the one is a store of the other, or one it may have come from.


_births = itertools.count()


@frozen(eq=False)
class Storage:
    """Memory: of an input, or the program's own; of a variable of a loop with its parameter."""

    input: int | None = None
    parameter: Value | None = None
    came_from: set[Storage] = field(default_factory=set)
    born: int = field(default_factory=lambda: next(_births))

    def sources(self) -> set[Storage]:
        """This store, and all that it may be."""
        found = {self}
        for each in self.came_from:
            found |= each.sources()
        return found


Stores = frozenset[Storage]
NOWHERE: Stores = frozenset()


def shares(left: Stores, right: Stores) -> bool:
    """Whether arrays in these stores may have an element in common; see Note [Stores]."""
    if not left.isdisjoint(right):
        return True
    return any(not each.sources().isdisjoint(right) for each in left) or any(
        not each.sources().isdisjoint(left) for each in right
    )


@mutable
class Memory:
    """What becomes of the values of a graph.

    ``in_place`` are the updates that take over the memory of their base, ``copied`` the views that
    are copied since somebody writes what they show, ``copied_first`` the variables of loops that
    start as a copy, ``into_input`` the values that are computed into an input, ``views`` what may
    be a view of something.
    """

    copied: set[Value] = field(default_factory=set)
    copied_first: set[Value] = field(default_factory=set)
    in_place: set[Node] = field(default_factory=set)
    into_input: dict[Value, int] = field(default_factory=dict)
    stores: dict[Operand, Stores] = field(default_factory=dict)
    views: set[Operand] = field(default_factory=set)

    def of(self, operand: Operand) -> Stores:
        return self.stores.get(operand, NOWHERE)

    def stays(self, value: Value) -> bool:
        """Whether nobody writes where a value lies."""
        mine = self.of(value)
        written = [self.of(node.args[0]) for node in self.in_place]
        written += [self.of(out) for out in self.into_input]
        return not any(shares(stores, mine) for stores in written)


class _Again(Exception):
    """Something has to be copied that was not: the analysis starts again."""


def plan_memory(graph: Graph) -> Memory:
    """Decide for each value of a functional graph where it lies."""
    copied: set[Value] = set()
    copied_first: set[Value] = set()
    while True:
        analysis = _Analysis(graph, copied, copied_first)
        try:
            analysis.run()
        except _Again:
            continue
        return analysis.memory


def is_view(node: Node) -> bool:
    """Whether the node gives a part of its first operand."""
    op = TABLE[node.op]
    return op.tag is Tag.VIEW and op.role == "copy"


def is_update(node: Node) -> bool:
    """Whether the node gives its first operand with some elements replaced."""
    return TABLE[node.op].tag in UPDATES


# Views that NumPy makes read-only.
_READ_ONLY = frozenset({"diagonal", "broadcast_to", "broadcast"})


class _Analysis:
    def __init__(self, graph: Graph, copied: set[Value], copied_first: set[Value]) -> None:
        self.graph = graph
        self.memory = Memory(copied, copied_first)
        self.viewed_by = {node.outputs[0]: node for node in walk(graph.body) if is_view(node)}
        self.read_only: set[Operand] = set()
        signature = graph.signature
        assert signature is not None
        self.ways: dict[int, set[Operand] | None] = {}
        self.becomes: dict[Operand, int] = {}  # results that are all of an input in the end
        for mutation in signature.mutations:
            on_way = way(graph, mutation)
            self.ways[mutation.input] = (
                None if on_way is None else set(_inner(graph.body, set(on_way)))
            )
            if on_way is None:
                self.becomes[graph.outputs[mutation.result]] = mutation.input

    def run(self) -> None:
        for place, value in enumerate(self.graph.inputs):
            if isinstance(value.type, ArrayType):
                self.memory.stores[value] = frozenset({Storage(input=place)})
        self.region(self.graph.body, set())

    def region(self, region: Region, live_out: set[Value]) -> None:
        """Decide for the nodes of a region; ``live_out`` is read behind it."""
        last = _last_uses(region)
        for place, node in enumerate(region.nodes):
            live = live_out | {value for value, at in last.items() if at > place}
            tag = TABLE[node.op].tag
            if tag is Tag.BRANCH:
                self.branch(node, live)
            elif tag in CONTROL:
                self.loop(node, live)
            elif is_update(node):
                self.update(node, live)
            elif is_view(node) and node.output not in self.memory.copied:
                self.view(node)
            else:
                self.fresh(node, live, region)

    # ------------------------------------------------------------ nodes

    def view(self, node: Node) -> None:
        base, out = node.args[0], node.output
        self.memory.stores[out] = self.memory.of(base)
        self.memory.views.add(out)
        if base in self.read_only or TABLE[node.op].group in _READ_ONLY:
            self.read_only.add(out)

    def fresh(self, node: Node, live: set[Value], region: Region) -> None:
        for out in node.outputs:
            if isinstance(out.type, ArrayType):
                self.memory.stores[out] = frozenset({Storage()})
        if region is not self.graph.body or len(node.outputs) != 1:
            return
        place = self.becomes.get(node.output)
        if place is None:
            return
        given, kind = self.graph.inputs[place], node.output.type
        if not isinstance(given.type, ArrayType) or replace(given.type, writeable=True) != kind:
            return
        target = self.memory.of(given)
        readers = [v for v in live if v is not node.output and shares(self.memory.of(v), target)]
        if not readers and place not in self.memory.into_input.values():
            self.memory.into_input[node.output] = place
            self.memory.stores[node.output] = target

    def update(self, node: Node, live: set[Value]) -> None:
        base, out = node.args[0], node.output
        if self.may_take(base, out, live):
            self.memory.in_place.add(node)
            self.memory.stores[out] = self.memory.of(base)
            if base in self.memory.views:
                self.memory.views.add(out)
        else:
            self.memory.stores[out] = frozenset({Storage()})

    def may_take(self, base: Operand, out: Value, live: set[Value]) -> bool:
        """Whether an update may write its base."""
        stores = self.memory.of(base)
        if not stores or base in self.read_only or _lies_over_itself(base):
            return False
        readers = [v for v in live if v is not out and shares(self.memory.of(v), stores)]
        own = all(self.is_own(each, out) for store in stores for each in store.sources())
        if own and not readers:
            return True
        if own and all(value in self.viewed_by for value in readers) and base not in readers:
            self.memory.copied.update(readers)
            raise _Again
        self.copy_first(stores, readers)
        return False

    def is_own(self, store: Storage, out: Value) -> bool:
        """Whether the program may write a store by the update that gives ``out``."""
        if store.input is None:
            return True
        if store.input not in self.ways:
            return False
        on_way = self.ways[store.input]
        return on_way is None or out in on_way

    def copy_first(self, stores: Stores, readers: list[Value]) -> None:
        """Have variables of loops start as copies, if that is all that is in the way."""
        behind = {each for v in readers for store in self.memory.of(v) for each in store.sources()}
        wanted = {
            each.parameter for each in stores if each.parameter is not None and each.came_from
        }
        wanted -= self.memory.copied_first
        if wanted and behind.isdisjoint(stores) and all(each.input is None for each in stores):
            self.memory.copied_first.update(wanted)
            raise _Again

    # ------------------------------------------------------------ branches and loops

    def branch(self, node: Node, live: set[Value]) -> None:
        operands = node.arg("operands")
        behind = live - set(node.outputs)
        for region in node.regions:
            for param, operand in zip(region.params, operands, strict=True):
                self.stand_for(param, [operand])
            self.region(region, behind)
        for number, out in enumerate(node.outputs):
            self.stand_for(out, [region.results[number] for region in node.regions])

    def stand_for(self, value: Value, operands: Iterable[Operand]) -> None:
        """``value`` is one of the operands."""
        memory = self.memory
        given = list(operands)
        if isinstance(value.type, ArrayType):
            memory.stores[value] = NOWHERE.union(*(memory.of(operand) for operand in given))
        if any(operand in memory.views for operand in given):
            memory.views.add(value)
        if any(operand in self.read_only for operand in given):
            self.read_only.add(value)

    def loop(self, node: Node, live: set[Value]) -> None:
        body: Region = node.arg("body")
        inits: tuple[Operand, ...] = node.arg("init")
        params = body.params[len(body.params) - len(inits) :]
        outer = (live - set(node.outputs)) | _read_inside(node)
        carried = _Carried(params, next(_births))
        for n, param in enumerate(params):
            if isinstance(param.type, ArrayType):
                first = NOWHERE if param in self.memory.copied_first else self.memory.of(inits[n])
                carried.own[n] = Storage(parameter=param, came_from=set(first))
                carried.given[n] = first
        carried.pair_up(carried.given)
        while True:
            for region in node.regions:
                self.memory.in_place.difference_update(walk(region))
                for n, param in enumerate(region.params[len(region.params) - len(inits) :]):
                    if n in carried.own:
                        self.memory.stores[param] = carried.of(n)
                self.region(region, outer if region is body else outer | set(region.params))
            if not carried.learn({n: self.memory.of(body.results[n]) for n in carried.own}):
                break
        for n, out in enumerate(node.outputs):
            self.stand_for(out, [inits[n], body.results[n]])
            if n in carried.own:
                made = carried.of(n) - {carried.own[n]}
                self.memory.stores[out] = made | carried.own[n].came_from | {Storage()}


@mutable
class _Carried:
    """The stores of what a loop carries: those born before ``since`` are outside of it."""

    params: tuple[Value, ...]
    since: int
    own: dict[int, Storage] = field(default_factory=dict)
    given: dict[int, Stores] = field(default_factory=dict)
    pairs: dict[tuple[int, int], Storage] = field(default_factory=dict)

    def of(self, n: int) -> Stores:
        """Where a variable lies at the start of an iteration."""
        return frozenset({self.own[n], *(s for pair, s in self.pairs.items() if n in pair)})

    def pair_up(self, found: dict[int, Stores]) -> bool:
        """Give variables that may be one array a store together; whether there are new ones."""
        new = [
            (n, m)
            for n in found
            for m in found
            if n < m and (n, m) not in self.pairs and shares(found[n], found[m])
        ]
        self.pairs.update((pair, Storage()) for pair in new)
        return bool(new)

    def learn(self, results: dict[int, Stores]) -> bool:
        """Look at the end of an iteration; whether it tells something of the start of the next."""
        grown = self.pair_up(results)
        for n, stores in results.items():
            outer = {s for each in stores for s in each.sources() if s.born < self.since}
            grown |= not outer <= self.own[n].came_from
            self.own[n].came_from.update(outer)
        return grown


def _inner(region: Region, on_way: set[Operand]) -> Iterator[Operand]:
    """The values on a way, and those inside of branches and loops that lead to them."""
    yield from on_way
    for node in region.nodes:
        for number, out in enumerate(node.outputs):
            if out in on_way:
                for inner in node.regions:
                    if number < len(inner.results):
                        yield from _inner(inner, set(_chain(inner, inner.results[number])))


def _chain(region: Region, value: Operand) -> Iterator[Operand]:
    """A result of a region, and what it is an update of."""
    makers = {out: node for node in region.nodes for out in node.outputs}
    found: Operand | None = value
    while isinstance(found, Value) and found in makers:
        yield found
        found = updated_by(makers[found], found)


def _lies_over_itself(base: Operand) -> bool:
    kind = base.type
    assert isinstance(kind, ArrayType)
    return any(step == 0 and dim != 1 for step, dim in zip(kind.strides, kind.shape, strict=True))


def _last_uses(region: Region) -> dict[Value, int]:
    """The last node that reads each value, itself or inside; results are read behind all."""
    last: dict[Value, int] = {}
    for place, node in enumerate(region.nodes):
        for value in (*node.inputs, *_read_inside(node)):
            last[value] = place
    last.update((v, len(region.nodes)) for v in region.results if isinstance(v, Value))
    return last


def _read_inside(node: Node) -> set[Value]:
    """What the regions of a node read from outside of them."""
    read: set[Value] = set()
    made: set[Value] = set()
    for region in node.regions:
        made.update(region.params)
        read.update(v for v in region.results if isinstance(v, Value))
        for inner in region.nodes:
            made.update(inner.outputs)
            read.update(inner.inputs, _read_inside(inner))
    return read - made
