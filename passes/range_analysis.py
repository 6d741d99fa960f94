"""The ranges of the ints of a graph, through branches and loops: see ``prove_ranges``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np

from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, symbol
from fxc.ir.types import ScalarType

from .counters import Range, hull, is_within
from .facts import limits
from .number_ranges import NumberRanges, Ranges

# What a number that grows from iteration to iteration is tried to stay within, and how often.
STEPS = tuple(bound for bits in (0, 8, 16, 31, 32, 53, 62) for bound in (-(2**bits), 2**bits - 1))
_ATTEMPTS = 3


def by_ranges(graph: Graph) -> Graph:
    """The graph as ``prove_ranges`` gives it: it has operators of which something may be proven."""
    return graph.with_body(_Analysis(graph).region(graph.body))


@frozen
class _Iteration:
    """The regions of a loop, and ranges of what an iteration hands on to another, or ends with."""

    regions: list[Region]
    again: Ranges
    last: Ranges
    tops: list[tuple[Dim, ...]]  # of what it hands on


class _Analysis(NumberRanges):
    """The ranges of what branches and loops carry, besides."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        # What loops carry, as wide as it was found, while loops around them are being widened:
        # nothing is narrower in the next attempt, which goes on from there.
        self.settled: dict[Value, Range] = {}
        self.widening = 0  # of how many loops

    def region(self, region: Region) -> Region:
        """The region with what can be proven now; the ranges of its values become known."""
        self.depth += 1
        nodes = tuple(map(self.node, region.nodes))
        self.depth -= 1
        return Region(region.params, nodes, region.results)

    def node(self, node: Node) -> Node:
        self.makers.update((value, node) for value in node.outputs)
        match node.op:
            case "cond":
                return self.cond(node)
            case "fori_loop" | "while_loop":
                return self.loop(node)
            case _:
                return self.operator(node)

    def cond(self, node: Node) -> Node:
        regions, results = [], []
        for name, holds in (("on_true", True), ("on_false", False)):
            region = node.arg(name)
            self.join(region.params, self.ranges_of(node.arg("operands")))
            mark = self.facts.mark()
            self.facts.suppose(node.arg("pred"), holds)
            regions.append(self.region(region))
            results.append(self.ranges_of(region.results))
            self.facts.forget(mark)
            self.counters.came_from(region.params, node.arg("operands"))
        self.join(node.outputs, *results)
        arms = (node.arg("on_true").results, node.arg("on_false").results)
        self.counters.came_from(node.outputs, *arms)
        return _with_regions(node, regions)

    def loop(self, node: Node) -> Node:
        mark = self.facts.mark()
        if node.op == "fori_loop":
            counter, *rest = node.arg("body").params
            low, high = self.ranges_of((node.arg("lo"), node.arg("hi")))
            if low is not None and high is not None:
                self.sizes.symbols[counter.name] = low[0], max(low[0], high[1] - 1)
                self.facts.set(counter, self.sizes.symbols[counter.name])
            self.facts.tops[counter] = tuple(t - 1 for t in self.facts.tops_of(node.arg("hi")))
            stop = self.facts.dim_of(node.arg("hi"))
            if stop is not None:
                self.facts.suppose_natural(stop - 1 - symbol(counter.name))
            self.sizes.bound.append(counter.name)
            params = tuple(rest)
        else:
            params = node.arg("test").params
        self.begun |= _begun(node)
        self.counters.forget(node)
        first = self.given(node, node.arg("init"), goes_on=True)
        self.join(params, first)
        for param in params:
            self.facts.tops.pop(param, None)
        widened = self.go_on(params)
        self.widening += 1
        for attempt in count():
            found = self.iteration(node, params)
            grown = False
            for param, result in zip(params, found.again, strict=False):
                grown |= self.grows(param, result, attempt)
            if not grown:
                break
            widened = True
        self.widening -= 1
        self.settle(params)
        narrower = widened and self.narrow(params, first, found.again)
        narrower |= self.narrow_sums(node, params, first)
        capped = self.cap(node, params, found.tops)
        if self.narrow_counters(node, params) or narrower or capped:
            found = self.iteration(node, params)
        self.facts.forget(mark)
        if node.op == "fori_loop":
            self.sizes.bound.pop()
        self.join(node.outputs, self.given(node, node.arg("init"), goes_on=False), found.last)
        self.counters.leave(node, params)
        return _with_regions(node, found.regions)

    def go_on(self, params: Sequence[Value]) -> bool:
        """Begin with what the last attempt has come to; whether there was one."""
        before = self.ranges_of(params)
        self.join(
            params,
            before,
            [self.settled.get(each, known) for each, known in zip(params, before, strict=True)],
        )
        return self.ranges_of(params) != before

    def settle(self, params: Sequence[Value]) -> None:
        """Keep what a loop carries for the next attempt, if there is one."""
        if self.widening:
            known = self.facts.known
            self.settled.update((each, known[each]) for each in params if each in known)
        else:
            self.settled.clear()

    def given(self, node: Node, values: Sequence[Operand], goes_on: bool) -> Ranges:
        """The ranges of what a loop carries where it goes on with that, or ends."""
        mark = self.suppose(node, values, goes_on)
        found = self.ranges_of(values)
        self.facts.forget(mark)
        return found

    def tops_given(self, node: Node, values: Sequence[Operand]) -> list[tuple[Dim, ...]]:
        """Dims that what a loop goes on with does not exceed."""
        mark = self.suppose(node, values, goes_on=True)
        found = [self.facts.tops_of(x) for x in values]
        self.facts.forget(mark)
        return found

    def suppose(self, node: Node, values: Sequence[Operand], goes_on: bool) -> int:
        """A loop goes on with these values, or ends; see ``Facts.forget``."""
        mark = self.facts.mark()
        place = _flag(node)
        if place is not None:
            self.facts.suppose(values[place], goes_on)
        elif node.op == "fori_loop" and len(values) > len(node.outputs) and goes_on:
            self.facts.suppose(values[-1], holds=False)
        return mark

    def iteration(self, node: Node, params: Sequence[Value]) -> _Iteration:
        """An iteration that begins with what is known of ``params``."""
        regions: list[Region] = []
        body: Region = node.arg("body")
        mark = self.facts.mark()
        if node.op == "while_loop":
            test: Region = node.arg("test")
            regions.append(self.region(test))
            self.facts.suppose(test.results[0], holds=True)
            for theirs in body.params:
                self.facts.known.pop(theirs, None)
            self.join(body.params, self.ranges_of(params))
            for theirs, ours in zip(body.params, params, strict=True):
                self.facts.tops[theirs] = self.facts.tops_of(ours)
        regions.append(self.region(body))
        again = self.given(node, body.results, goes_on=True)
        last = self.given(node, body.results, goes_on=False)
        tops = self.tops_given(node, body.results)
        self.facts.forget(mark)
        return _Iteration(regions, again, last, tops)

    def cap(self, node: Node, params: Sequence[Value], found: Sequence[tuple[Dim, ...]]) -> bool:
        """Find dims that what a loop carries never exceeds; whether there are some."""
        first = self.tops_given(node, node.arg("init"))
        ranges = self.given(node, node.arg("init"), goes_on=True)
        for param, start, span, tops in zip(params, first, ranges, found, strict=False):
            if span is None:
                continue
            kept = [
                top
                for top in tops
                if self.sizes.is_bound(top)
                and (
                    self.sizes.dim(top)[0] >= span[1]
                    or any(self.sizes.dim(top - each)[0] >= 0 for each in start)
                )
            ]
            if kept:
                self.facts.tops[param] = tuple(kept)
        return any(param in self.facts.tops for param in params)

    def narrow(self, params: Sequence[Value], *results: Ranges) -> bool:
        """Narrow what was wider than it takes; whether there is any such."""
        before = self.ranges_of(params)
        self.join(params, *results)
        return before != self.ranges_of(params)

    def narrow_sums(self, node: Node, params: Sequence[Value], first: Ranges) -> bool:
        """Narrow the ranges of what a loop adds to, by its number of iterations; whether some."""
        if node.op != "fori_loop":
            return False
        lo, hi = self.ranges_of((node.arg("lo"), node.arg("hi")))
        trips = None if lo is None or hi is None else max(0, hi[1] - lo[0])
        narrower = False
        for place, gain in ({} if trips is None else self.gains.find(node, trips, params)).items():
            before, start = self.facts.known.get(params[place]), first[place]
            if before is None or start is None or not _is_python_int(params[place]):
                continue
            least, most = start[0] + gain[0], start[1] + gain[1]
            found = max(before[0], least), min(before[1], most)
            narrower |= found != before
            self.facts.set(params[place], found)
        return narrower

    def narrow_counters(self, node: Node, params: Sequence[Value]) -> bool:
        """Narrow the ranges of counters among ``params``; whether there are some."""
        wide = {
            place: found
            for place, param in enumerate(params)
            if (found := self.facts.known.get(param)) is not None
            and _is_python_int(param)
            and not is_within(found, (-(2**62), 2**62))
        }
        reach = self.counters.find(node, params, wide)
        for place, (least, most) in reach.items():
            low, high = wide[place]
            self.facts.set(params[place], (max(low, least), min(high, most)))
        return bool(reach)

    def grows(self, param: Value, after: Range | None, attempt: int) -> bool:
        """Whether an iteration leaves the range that it began with; the range then is wider."""
        before = self.facts.known.get(param)
        if before is None or after is None or is_within(after, before):
            return False
        low, high = hull(before, after)
        least, most = limits(param)
        steps = (*STEPS, least, most) if attempt < _ATTEMPTS else (least, most)
        if attempt == 0 and before[1] < high < 2**62:  # xor, and sums of bits, go no further
            steps = (*steps, 2 ** high.bit_length() - 1)
        if low < before[0]:
            low = max((step for step in steps if step <= low), default=least)
        if high > before[1]:
            high = min((step for step in steps if step >= high), default=most)
        self.facts.set(param, (low, high))
        return True


def _is_python_int(value: Value) -> bool:
    return isinstance(value.type, ScalarType) and value.type.weak and value.type.dtype.kind == "i"


def _flag(node: Node) -> int | None:
    """Which of the values that a ``while`` carries says whether it goes on, if one does."""
    if node.op != "while_loop":
        return None
    test: Region = node.arg("test")
    (holds,) = test.results
    is_carried = not test.nodes and isinstance(holds, Value) and holds in test.params
    return test.params.index(holds) if is_carried else None


def _begun(node: Node) -> dict[Operand, dict[Operand, Operand]]:
    """By flags that a loop sets in its first iteration: what it carries in there."""
    body: Region = node.arg("body")
    init = node.arg("init")
    params = body.params[len(body.params) - len(init) :]
    given: dict[Operand, Operand] = dict(zip(params, init, strict=True))
    return {
        param: given
        for param, before, after in zip(params, init, body.results, strict=False)
        if isinstance(before, Literal) and before.value is np.False_
        if isinstance(after, Literal) and after.value is np.True_
    }


def _with_regions(node: Node, regions: Sequence[Region]) -> Node:
    new = iter(regions)
    args: tuple[Arg, ...] = tuple(
        next(new) if isinstance(arg, Region) else arg for arg in node.args
    )
    return Node(node.schema, args, node.outputs, node.loc, node.into)
