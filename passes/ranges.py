"""Arithmetic of Python ints that provably stays within 64 bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, product

import numpy as np

from fxc.ir.graph import Arg, Graph, Literal, Node, Operand, Region, Value, walk
from fxc.ir.symbols import Dim, Symbol, SymFunc
from fxc.ir.types import ScalarType
from fxc.ops.python_numbers import PYTHON_OPERATORS, proven
from fxc.ops.table import TABLE

from .counters import Counters, Range, hull, is_within

INT64: Range = (-(2**63), 2**63 - 1)
BOOL: Range = (0, 1)
# What a number that grows from iteration to iteration is tried to stay within, and how often.
STEPS = tuple(bound for bits in (0, 8, 16, 31, 32, 53, 62) for bound in (-(2**bits), 2**bits - 1))
_ATTEMPTS = 3
# Comparisons: whether their operands are swapped, and whether they are strict.
_ORDER = {
    "less": (False, True),
    "less_equal": (False, False),
    "greater": (True, True),
    "greater_equal": (True, False),
}


def prove_ranges(graph: Graph) -> Graph:
    """Replace each ``try_`` operator that cannot fail by its partner that is not checked.

    The ranges of ints follow from literals, dtypes, the bounds of loops and the operators; those of
    what a loop carries are a fixed point. See Note [Operators of Python numbers].

    Requires: the graph is functional.
    Ensures: results have the same bits.
    """
    if not any(node.op.startswith("try_") for node in walk(graph.body)):
        return graph
    return graph.with_body(_Analysis().region(graph.body))


class _Analysis:
    def __init__(self) -> None:
        self.known: dict[Value, Range] = {}
        self.symbols: dict[str, Range] = {}  # the counters of loops
        self.makers: dict[Value, Node] = {}  # of scalars
        self.counters = Counters(self.makers, self.range_of)

    def region(self, region: Region) -> Region:
        """The region with what can be proven now; the ranges of its values become known."""
        return Region(region.params, tuple(map(self.node, region.nodes)), region.results)

    def range_of(self, x: Operand) -> Range | None:
        """The range of an int or bool; None of anything else."""
        if isinstance(x, Literal):
            value = x.value
            return (int(value), int(value)) if isinstance(value, int | np.integer) else None
        found = self.known.get(x)
        return _of_dtype(x.type.dtype) if found is None and not x.type.rank else found

    def node(self, node: Node) -> Node:
        self.makers.update((value, node) for value in node.outputs)
        match node.op:
            case "cond":
                return self.cond(node)
            case "fori_loop" | "while_loop":
                return self.loop(node)
            case "int_value":
                self.set(node.output, self.dim(node.args[0]))
                return node
        if node.op not in PYTHON_OPERATORS:
            return node
        given = [self.range_of(x) for x in node.args]
        name = node.op.partition("_")[2]
        rule = RULES.get(name)
        ints = [x for x in given if x is not None]
        if rule is None or len(ints) != len(given):
            return node
        found = rule(*ints)
        if node.op.startswith("try_") and found is not None and is_within(found, INT64):
            node = Node(TABLE[proven(node.op)].schema, node.args, node.outputs, node.loc, node.into)
        if found is None:
            self.known.pop(node.output, None)
        elif _is_number(node.output):
            self.set(node.output, found)
        return node

    def set(self, value: Value, found: Range) -> None:
        """What is beyond the bits of its dtype has left native code."""
        low, high = _limits(value)
        self.known[value] = max(found[0], low), min(found[1], high)

    # ------------------------------------------------------------ control flow

    def join(self, values: Sequence[Value], operands: Sequence[Operand]) -> None:
        self.join_ranges(values, [self.range_of(x) for x in operands])

    def join_ranges(self, values: Sequence[Value], *results: Sequence[Range | None]) -> None:
        """Each value is one of several results."""
        for value, *each in zip(values, *results, strict=False):
            ranges = [found for found in each if found is not None]
            if _is_number(value) and len(ranges) == len(each):
                self.set(value, hull(*ranges))

    def cond(self, node: Node) -> Node:
        regions, results = [], []
        for name, holds in (("on_true", True), ("on_false", False)):
            region = node.arg(name)
            self.join(region.params, node.arg("operands"))
            before = dict(self.known)
            self.suppose(node.arg("pred"), holds)
            regions.append(self.region(region))
            results.append([self.range_of(x) for x in region.results])
            self.known = before  # what the condition says is true in this arm alone
            self.counters.came_from(region.params, node.arg("operands"))
        self.join_ranges(node.outputs, *results)
        arms = (node.arg("on_true").results, node.arg("on_false").results)
        self.counters.came_from(node.outputs, *arms)
        return _with_regions(node, regions)

    def loop(self, node: Node) -> Node:
        body: Region = node.arg("body")
        params = body.params
        if node.op == "fori_loop":
            counter, *rest = params
            low, high = self.range_of(node.arg("lo")), self.range_of(node.arg("hi"))
            if low is not None and high is not None:
                self.symbols[counter.name] = low[0], max(low[0], high[1] - 1)
                self.set(counter, self.symbols[counter.name])
            params = tuple(rest)
        else:
            params = node.arg("test").params
        self.counters.forget(node)
        self.join(params, node.arg("init"))
        for attempt in count():
            regions = [self.iteration(node, params, region) for region in node.regions]
            grown = False
            for param, result in zip(params, body.results, strict=False):
                grown |= self.grows(param, result, attempt)
            if not grown:
                break
        # Not of ``while``: without the check LLVM has the next iteration wait for the outcome of
        # the test, which a processor guesses well.
        if node.op == "fori_loop" and self.narrow_counters(node, params):
            regions = [self.iteration(node, params, region) for region in node.regions]
        self.join(node.outputs, params)
        self.counters.leave(node, params)
        return _with_regions(node, regions)

    def narrow_counters(self, node: Node, params: Sequence[Value]) -> bool:
        """Narrow the ranges of counters among ``params``; whether there are some."""
        wide = {
            place: found
            for place, param in enumerate(params)
            if (found := self.known.get(param)) is not None
            and _is_python_int(param)
            and not is_within(found, (-(2**62), 2**62))
        }
        reach = self.counters.find(node, params, wide)
        for place, (least, most) in reach.items():
            low, high = wide[place]
            self.set(params[place], (max(low, least), min(high, most)))
        return bool(reach)

    def iteration(self, node: Node, params: Sequence[Value], region: Region) -> Region:
        """One of the regions of a loop, with what is carried in the ranges known of ``params``."""
        if region.params[-len(params) :] == tuple(params) or not params:
            return self.region(region)
        before = dict(self.known)
        self.suppose(node.arg("test").results[0], True)
        for theirs, ours in zip(region.params, params, strict=True):
            self.known.pop(theirs, None)
            self.join([theirs], [ours])
        inside = {value: self.known[value] for value in region.params if value in self.known}
        self.known = before | inside
        return self.region(region)

    def suppose(self, condition: Operand, holds: bool) -> None:
        """Narrow the ranges of what is compared in a condition that holds, or does not."""
        node = self.makers.get(condition) if isinstance(condition, Value) else None
        if node is None:
            return
        name = node.op.removeprefix("py_")
        if name in (("and", "logical_and", "bitwise_and") if holds else ("or", "logical_or")):
            for each in node.args:
                self.suppose(each, holds)
        elif name in ("not", "logical_not"):
            self.suppose(node.args[0], not holds)
        elif name in ("bool", "astype"):
            self.suppose(node.args[0], holds)
        elif name in _ORDER:
            x, y = node.args
            self.compared(_ORDER[name], x, y, holds)

    def compared(self, order: tuple[bool, bool], x: Operand, y: Operand, holds: bool) -> None:
        """A comparison of two numbers holds, or does not; see ``_ORDER``."""
        swaps, strict = order
        if swaps == holds:
            x, y = y, x
        gap = int(strict == holds)
        low, high = self.range_of(x), self.range_of(y)
        if low is None or high is None:
            return
        for value, least, most in ((x, low[0], min(low[1], high[1] - gap)),
                                   (y, max(high[0], low[0] + gap), high[1])):  # fmt: skip
            if isinstance(value, Value) and least <= most:
                self.known[value] = least, most

    def grows(self, param: Value, result: Operand, attempt: int) -> bool:
        """Whether an iteration leaves the range that it began with; the range then is wider."""
        before = self.known.get(param)
        after = self.range_of(result)
        if before is None or after is None or is_within(after, before):
            return False
        low, high = hull(before, after)
        limits = _limits(param)
        steps = (*STEPS, *limits) if attempt < _ATTEMPTS else limits
        if low < before[0]:
            low = max((step for step in steps if step <= low), default=limits[0])
        if high > before[1]:
            high = min((step for step in steps if step >= high), default=limits[1])
        self.set(param, (low, high))
        return True

    # ------------------------------------------------------------ dims

    def dim(self, dim: Dim) -> Range:
        if isinstance(dim, int):
            return dim, dim
        total = 0, 0
        for monomial, coefficient in dim.terms:
            term: Range = coefficient, coefficient
            for atom in monomial:
                term = _multiplied(term, self.atom(atom))
            total = total[0] + term[0], total[1] + term[1]
        return total

    def atom(self, atom: object) -> Range:
        if isinstance(atom, SymFunc):
            found = _DIM_RULES[atom.name](self.dim(atom.left), self.dim(atom.right))
            return INT64 if found is None else found
        if isinstance(atom, Symbol):
            least = INT64[0] if atom.lower is None else atom.lower
            return self.symbols.get(atom.name, (least, INT64[1]))
        return INT64


def _is_python_int(value: Value) -> bool:
    return isinstance(value.type, ScalarType) and value.type.weak and value.type.dtype.kind == "i"


def _limits(value: Value) -> Range:
    """The numbers that a value can be where it is native."""
    return _of_dtype(value.type.dtype) or INT64


def _is_number(value: Value) -> bool:
    return not value.type.rank and value.type.dtype.kind in "biu"


def _of_dtype(dtype: np.dtype) -> Range | None:
    if dtype.kind == "b":
        return BOOL
    if dtype.kind not in "iu":
        return None
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _with_regions(node: Node, regions: Sequence[Region]) -> Node:
    new = iter(regions)
    args: tuple[Arg, ...] = tuple(
        next(new) if isinstance(arg, Region) else arg for arg in node.args
    )
    return Node(node.schema, args, node.outputs, node.loc, node.into)


# ---------------------------------------------------------------- rules: None if it may fail

Rule = Callable[..., Range | None]


def _at_ends(function: Callable[[int, int], int], x: Range, y: Range) -> Range:
    """The range of a function that is monotonic in each argument."""
    found = [function(a, b) for a, b in product(x, y)]
    return min(found), max(found)


def _multiplied(x: Range, y: Range) -> Range:
    return _at_ends(int.__mul__, x, y)


def _floor_divided(x: Range, y: Range) -> Range | None:
    return None if y[0] <= 0 <= y[1] else _at_ends(int.__floordiv__, x, y)


def _remainder(x: Range, y: Range) -> Range | None:
    if y[0] <= 0 <= y[1]:
        return None
    if x[0] >= 0 and x[1] < y[0]:
        return x
    return (0, y[1] - 1) if y[0] > 0 else (y[0] + 1, 0)


def _divided(x: Range, y: Range) -> Range | None:
    """Any range will do: a quotient is a float."""
    exact = (-(2**53), 2**53)
    fits = is_within(x, exact) and is_within(y, exact)
    return BOOL if fits and not y[0] <= 0 <= y[1] else None


def _power(x: Range, y: Range) -> Range | None:
    if y[0] != y[1] or not 0 <= y[0] <= 64:
        return None
    low, high = sorted((x[0] ** y[0], x[1] ** y[0]))
    return (0, high) if y[0] % 2 == 0 and y[0] and x[0] < 0 < x[1] else (low, high)


def _left_shifted(x: Range, y: Range) -> Range | None:
    return _at_ends(int.__lshift__, x, y) if is_within(y, (0, 63)) else None


def _right_shifted(x: Range, y: Range) -> Range | None:
    return _at_ends(int.__rshift__, x, (y[0], min(y[1], 63))) if 0 <= y[0] <= 63 else None


def _absolute(x: Range) -> Range:
    return max(x[0], -x[1], 0), max(-x[0], x[1])


def _bits(*ranges: Range) -> Range:
    """What has no more bits than all of these."""
    most = max(max(high, ~low).bit_length() for low, high in ranges)
    return (0 if all(low >= 0 for low, _ in ranges) else -(2**most)), 2**most - 1


def _and(x: Range, y: Range) -> Range:
    highest = [high for low, high in (x, y) if low >= 0]
    return (0, min(highest)) if highest else _bits(x, y)


def _identity(x: Range) -> Range:
    return x


def _fit(x: Range, low: Range, high: Range) -> Range | None:
    return x if low[1] <= x[0] and x[1] <= high[0] else None


def _larger(x: Range, y: Range) -> Range:
    return max(x[0], y[0]), max(x[1], y[1])


def _smaller(x: Range, y: Range) -> Range:
    return min(x[0], y[0]), min(x[1], y[1])


RULES: dict[str, Rule] = {
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "subtract": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "multiply": _multiplied,
    "divide": _divided,
    "floor_divide": _floor_divided,
    "remainder": _remainder,
    "power": _power,
    "left_shift": _left_shifted,
    "right_shift": _right_shifted,
    "negative": lambda x: (-x[1], -x[0]),
    "absolute": _absolute,
    "invert": lambda x: (~x[1], ~x[0]),
    "and": _and,
    "or": _bits,
    "xor": _bits,
    "bit_length": lambda x: (0, max(abs(x[0]), abs(x[1])).bit_length()),
    "int": _identity,
    "round": _identity,
    "fit": _fit,
    "maximum": _larger,
    "minimum": _smaller,
}
_DIM_RULES: dict[str, Rule] = {
    "floordiv": _floor_divided,
    "mod": _remainder,
    "min": _smaller,
    "max": _larger,
}
