"""What is known of Python's ints behind operators, and what operators become by that."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.graph import Graph, Literal, Node, Operand, Value
from fxc.ir.size_functions import hint
from fxc.ops.metas.shapes import has_hints
from fxc.ops.operators import Tag
from fxc.ops.python_numbers import PYTHON_OPERATORS, proven
from fxc.ops.table import TABLE

from .counters import Counters, Range, hull, is_within
from .facts import INT64, Facts, limits
from .gains import Gains
from .low_bits import WRAPPING
from .provable import COMPARISONS, NATURAL
from .range_rules import PASSED, RULES
from .signs import Signs
from .sizes import Sizes

Ranges = list[Range | None]
DIVISIONS = ("floor_divide", "remainder", "divide", *NATURAL.values())


class NumberRanges:
    """The ranges of the numbers of a graph, as far as they are known."""

    def __init__(self, graph: Graph) -> None:
        self.makers: dict[Value, Node] = {}  # of scalars
        self.sizes = Sizes(graph.inputs, graph.guards)
        self.facts = Facts(self.makers, self.sizes.dim)
        self.counters = Counters(self.makers, self.facts.range_of)
        self.gains = Gains(self.makers, self.facts.range_of)
        self.signs = Signs(self.facts.range_of)
        self.depth = 0  # of regions
        # By flags that hold from the second iteration on: what the loop began with.
        self.begun: dict[Operand, dict[Operand, Operand]] = {}

    def ranges_of(self, operands: Sequence[Operand]) -> Ranges:
        return [self.facts.range_of(x) for x in operands]

    def operator(self, node: Node) -> Node:
        """An operator without regions; one that takes less, where that is proven."""
        match node.op:
            case "int_value":
                least, most = self.sizes.dim(node.args[0])
                if least < 0 <= most:
                    least = self.facts.least(node.args[0])
                self.facts.set(node.output, (least, most))
                return node
            case "bind_size":
                number = self.facts.range_of(node.arg("number")) or INT64
                self.facts.set(node.output, self.sizes.bind(node, number))
                return node
            case "wrap_index" if not node.output.type.rank:
                return self.index(node)
            case "where" if node.args[0] in self.begun:
                self.first_or_later(node)
                return node
            case "dynamic_select_copy" | "dynamic_select_scatter":
                return self.element(node)
            case "astype" | "item" if is_number(node.output):
                self.same(node)
                return node
            case "math_sqrt" if self.signs.is_natural(node.args[0]):
                return with_operator(node, "py_root")
        self.signs.add(node)
        if node.op in COMPARISONS:
            return self.comparison(node)
        if node.op in PYTHON_OPERATORS:
            return self.number(node)
        if self.depth == 1 and TABLE[node.op].tag is Tag.FACTORY:
            self.sizes.fits(node.output)
        return node

    def number(self, node: Node) -> Node:
        """An operator of Python's numbers; one that cannot fail, where that is proven."""
        given = self.ranges_of(node.args)
        name = node.op.partition("_")[2]
        ints = [x for x in given if x is not None]
        if name not in RULES or len(ints) != len(given):
            return node
        found = RULES[name](*ints)
        fails = found is None or not is_within(found, INT64)
        if fails and name in WRAPPING and not node.op.startswith("try_"):
            self.facts.known.pop(node.output, None)
            return node
        if found is None and name in PASSED:
            found = PASSED[name](ints[0], ints[1])
        if name in NATURAL and ints[0][0] >= 0 and ints[1][0] >= 0:
            node = with_operator(node, node.op.replace(name, NATURAL[name]))
        if node.op.startswith("try_") and not fails:
            node = with_operator(node, proven(node.op))
        if found is None or not is_number(node.output):
            self.facts.known.pop(node.output, None)
            return node
        self.facts.set(node.output, found)
        if fails:
            self.passed(node)
        return node

    def comparison(self, node: Node) -> Node:
        """A comparison of numbers; one whose result is known is one of literals."""
        if any(self.facts.range_of(x) is None for x in node.args):
            return node
        holds = self.facts.is_true(COMPARISONS[node.op], *node.args)
        if holds is None:
            self.facts.known.pop(node.output, None)
            return node
        self.facts.set(node.output, (int(holds), int(holds)))
        args = Literal(0), Literal(int(not holds))
        return Node(TABLE["py_equal"].schema, args, node.outputs, node.loc)

    def passed(self, node: Node) -> None:
        """What is known of the operands where a check has not failed."""
        self.facts.narrow_operands(node.output, *self.facts.known[node.output])
        if node.op.endswith(DIVISIONS):
            self.facts.differ(node.args[1], 0, same=False)
        ints = [x for x in self.ranges_of(node.args) if x is not None]
        found = RULES[node.op.partition("_")[2]](*ints)
        if found is not None:
            self.facts.narrow(node.output, *found)

    def index(self, node: Node) -> Node:
        """An index of one element; one that is in bounds, and counts from the front, is itself."""
        index, found = node.arg("index"), self.facts.range_of(node.arg("index"))
        least, most = self.sizes.dim(node.arg("size"))
        if found is None:
            self.facts.same.pop(node.output, None)
            return node
        tops = self.facts.tops_of(index) if found[0] >= 0 else ()
        rests = [node.arg("size") - 1 - top for top in tops]
        if is_within(found, (0, least - 1)) or any(self.facts.least(rest) >= 0 for rest in rests):
            self.facts.set(node.output, found)
            self.facts.same[node.output] = index
            args = (index, node.output.type.dtype, "unsafe", "K")
            return Node(TABLE["astype"].schema, args, node.outputs, node.loc)
        self.facts.same.pop(node.output, None)
        self.facts.narrow(index, -most, most - 1)
        if not isinstance(node.arg("size"), int):
            self.facts.cap(index, [node.arg("size") - 1])
        self.facts.set(node.output, (0, most - 1))
        return node

    def element(self, node: Node) -> Node:
        """An element, or row, at a computed place; at a dim, where that is one."""
        place, axis = self.facts.dim_of(node.arg("index")), node.arg("axis")
        size = node.arg("x").type.shape[axis]
        if place is None or isinstance(place, int) or not has_hints(place, size):
            return node
        if not 0 <= hint(place) < hint(size):  # types are checked for a counter's own hint
            return node
        name = node.op.removeprefix("dynamic_")
        args = (*node.args[: len(node.args) - 2], axis, place)
        return Node(TABLE[name].schema, args, node.outputs, node.loc, node.into)

    def first_or_later(self, node: Node) -> None:
        """``where``: one number in a loop's first iteration, another in later ones."""
        flag, later, first = node.args
        found = self.ranges_of((later, self.begun[flag].get(first) or first))
        if is_number(node.output):
            self.facts.set(node.output, hull(*(each for each in found if each is not None)))

    def same(self, node: Node) -> None:
        """The same number, of another type, if it fits there."""
        found = self.facts.range_of(node.args[0])
        if found is not None and is_within(found, limits(node.output)):
            self.facts.set(node.output, found)
        else:
            self.facts.known.pop(node.output, None)

    def join(self, values: Sequence[Value], *results: Ranges) -> None:
        """Each value is one of several results."""
        for value, *each in zip(values, *results, strict=False):
            ranges = [found for found in each if found is not None]
            if is_number(value) and len(ranges) == len(each):
                self.facts.set(value, hull(*ranges))


def is_number(value: Value) -> bool:
    return not value.type.rank and value.type.dtype.kind in "biu"


def with_operator(node: Node, name: str) -> Node:
    """The node with another operator for the same operands."""
    return Node(TABLE[name].schema, node.args, node.outputs, node.loc, node.into)
