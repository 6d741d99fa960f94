"""What is known of the ints and bools of a graph where a node stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isqrt
from typing import TypeVar

import numpy as np

from fxc.ir.graph import Literal, Node, Operand, Value
from fxc.ir.symbols import Dim
from fxc.ops.operators import Tag
from fxc.ops.python_numbers import AS_TRUE, PYTHON_OPERATORS
from fxc.ops.table import TABLE

from .counters import Range
from .provable import ORDER

INT64: Range = (-(2**63), 2**63 - 1)
BOOL: Range = (0, 1)
MOST_TOPS = 8
MOST_DEEP = 24  # computations that a fact is followed back: of a long sum each tells all before
T = TypeVar("T")


class Facts:
    """Ranges of values. What a condition or a check adds to them is taken back at the end of the
    code for which it is true.

    ``makers``: the nodes that scalars come from; ``range_of_dim``: the range of a dim.
    """

    def __init__(self, makers: Mapping[Value, Node], range_of_dim: Callable[[Dim], Range]) -> None:
        self.makers = makers
        self.range_of_dim = range_of_dim
        self.known: dict[Value, Range] = {}
        self.tops: dict[Value, tuple[Dim, ...]] = {}  # sizes and the like that it does not exceed
        self.same: dict[Value, Operand] = {}  # numbers that are others, of another type
        self.natural: list[Dim] = []  # dims that are not negative by conditions on dims
        self.narrowed: list[Callable[[], None]] = []  # to take back what was narrowed
        self.depth = 0  # of the computations that are being gone back

    def range_of(self, x: Operand) -> Range | None:
        """The range of an int or bool; None of anything else."""
        if isinstance(x, Literal):
            value = x.value
            if isinstance(value, np.timedelta64) or not isinstance(value, int | np.integer):
                return None
            return int(value), int(value)
        found = self.known.get(x)
        return of_dtype(x.type.dtype) if found is None and not x.type.rank else found

    def set(self, value: Value, found: Range) -> None:
        """What is beyond the bits of its dtype has left native code."""
        low, high = limits(value)
        self.known[value] = max(found[0], low), min(found[1], high)

    # ------------------------------------------------------------ for a while

    def mark(self) -> int:
        return len(self.narrowed)

    def forget(self, mark: int) -> None:
        """Take back what was narrowed since ``mark``."""
        while len(self.narrowed) > mark:
            self.narrowed.pop()()

    def narrow(self, x: Operand, least: int, most: int) -> None:
        """From here on ``x`` is not less than ``least``, nor more than ``most``."""
        before = self.range_of(x)
        if before is None or isinstance(x, Literal):
            return
        low, high = max(before[0], least), min(before[1], most)
        if (low, high) == before or low > high:
            return
        self.change(self.known, x, (low, high))
        if self.depth < MOST_DEEP:
            self.depth += 1
            self.narrow_operands(x, low, high)
            self.depth -= 1

    def change(self, facts: dict[Value, T], x: Value, found: T) -> None:
        before = facts.get(x)

        def restore() -> None:
            if before is None:
                facts.pop(x, None)
            else:
                facts[x] = before

        self.narrowed.append(restore)
        facts[x] = found

    def narrow_operands(self, x: Value, low: int, high: int) -> None:
        """``x``, which is known to be a number from ``low`` to ``high``, was computed."""
        node = self.makers.get(x)
        if node is None or node.op not in PYTHON_OPERATORS:
            return
        ranges = [self.range_of(each) for each in node.args]
        if any(each is None for each in ranges):
            return
        match node.op.partition("_")[2], *node.args:
            case "add", a, b:
                for each, other in ((a, b), (b, a)):
                    by = self.range_of(other) or INT64
                    self.narrow(each, low - by[1], high - by[0])
            case "subtract", a, b:
                by = self.range_of(b) or INT64
                self.narrow(a, low + by[0], high + by[1])
                by = self.range_of(a) or INT64
                self.narrow(b, by[0] - high, by[1] - low)
            case "multiply", a, b if a == b:
                root = isqrt(max(high, 0))
                self.narrow(a, -root, root)
            case "multiply", a, b:
                for each, other in ((a, b), (b, a)):
                    by = self.range_of(other) or INT64
                    if by[0] > 0:
                        self.narrow(each, -(max(-low, 0) // by[0]), max(high, 0) // by[0])
            case "maximum", a, b:
                for each in (a, b):
                    self.narrow(each, INT64[0], high)
            case "minimum", a, b:
                for each in (a, b):
                    self.narrow(each, low, INT64[1])
            case (("int" | "fit"), a, *_):
                self.narrow(a, low, high)

    # ------------------------------------------------------------ dims

    def tops_of(self, x: Operand) -> tuple[Dim, ...]:
        """Dims that a number does not exceed."""
        own = self.dim_of(x)
        others = () if isinstance(x, Literal) else self.tops.get(x, ())
        return others if own is None else (own, *others)

    def dim_of(self, x: Operand) -> Dim | None:
        """The dim that a number is."""
        if isinstance(x, Literal):
            return x.value if isinstance(x.value, int) else None
        if x in self.same:
            return self.dim_of(self.same[x])
        node = self.makers.get(x)
        if node is not None and node.op == "py_add":  # zero is added to what needs no wrapping
            for each, other in (node.args, node.args[::-1]):
                if self.range_of(other) == (0, 0):
                    return self.dim_of(each)
        return node.args[0] if node is not None and node.op == "int_value" else None

    def cap(self, x: Operand, tops: Sequence[Dim]) -> None:
        """From here on ``x`` does not exceed any of ``tops``."""
        before = () if isinstance(x, Literal) else self.tops.get(x, ())
        new = tuple(top for top in tops if top not in before)
        if isinstance(x, Literal) or not new or len(before) > MOST_TOPS:
            return
        self.change(self.tops, x, (*before, *new))
        if self.depth < MOST_DEEP:
            self.depth += 1
            self.cap_operands(x, new)
            self.depth -= 1

    def cap_operands(self, x: Value, new: Sequence[Dim]) -> None:
        """``x``, which does not exceed any of these, was computed."""
        node = self.makers.get(x)
        if node is None or node.op not in PYTHON_OPERATORS:
            return
        match node.op.partition("_")[2], *node.args:
            case "add", a, b:
                for each, other in ((a, b), (b, a)):
                    least = (self.range_of(other) or INT64)[0]
                    self.cap(each, [top - least for top in new])
            case "multiply", a, b:
                low_a, low_b = ((self.range_of(each) or INT64)[0] for each in (a, b))
                if low_a >= 0 and (low_b > 0 or a == b):
                    self.cap(a, new)
                if low_b >= 0 and low_a > 0:
                    self.cap(b, new)
            case "int", a:
                self.cap(a, new)

    # ------------------------------------------------------------ conditions

    def suppose(self, condition: Operand, holds: bool) -> None:
        """A condition holds, or does not."""
        node = self.makers.get(condition) if isinstance(condition, Value) else None
        if node is not None and self.depth < MOST_DEEP:
            assert isinstance(condition, Value)
            self.depth += 1
            self.suppose_made(node, condition, holds)
            self.depth -= 1

    def suppose_made(self, node: Node, condition: Value, holds: bool) -> None:
        """A condition that a node makes holds, or does not."""
        name = node.op.removeprefix("py_")
        if TABLE[node.op].tag is Tag.BRANCH:
            self.chosen(node, condition, holds)
        elif name in (("and", "logical_and", "bitwise_and") if holds else ("or", "logical_or")):
            for each in node.args:
                self.suppose(each, holds)
        elif name in ("not", "logical_not"):
            self.suppose(node.args[0], not holds)
        elif name in ("bool", "astype"):
            self.suppose(node.args[0], holds)
            self.differ(node.args[0], 0, not holds)
        elif name in ("equal", "not_equal"):
            x, y = node.args
            are_equal = holds == (name == "equal")
            for value, other in ((x, y), (y, x)):
                found = self.range_of(other)
                if found is not None and are_equal:
                    self.narrow(value, *found)
                elif found is not None and found[0] == found[1]:
                    self.differ(value, found[0], False)
            if not are_equal:
                self.apart(x, y)
        elif name in ORDER:
            x, y = node.args
            self.compared(ORDER[name], x, y, holds)

    def chosen(self, node: Node, result: Value, holds: bool) -> None:
        """A result of ``cond`` is True, or False. Where one arm always gives the other, it was the
        other arm.
        """
        place = node.outputs.index(result)
        for here, there, was_true in (
            ("on_true", "on_false", True),
            ("on_false", "on_true", False),
        ):
            pred, other = node.arg("pred"), node.arg(there).results[place]
            if isinstance(other, Literal):
                known = bool(other.value)
            elif self.plain(other) == self.plain(pred):  # as in ``0 <= i < n``
                known = not was_true
            else:
                continue
            if known != holds:
                self.suppose(pred, was_true)
                self.suppose(node.arg(here).results[place], holds)

    def plain(self, x: Operand) -> Operand:
        """What is as true as ``x``, without conversions to bool."""
        node = self.makers.get(x) if isinstance(x, Value) else None
        if node is None or node.op not in AS_TRUE or node.output.type.dtype.kind != "b":
            return x
        return self.plain(node.args[0])

    def differ(self, x: Operand, number: int, same: bool) -> None:
        """``x`` is ``number``, if it is the ``same``, or another."""
        found = self.range_of(x)
        if found is None:
            return
        if same:
            self.narrow(x, number, number)
        elif found[0] == number:
            self.narrow(x, number + 1, found[1])
        elif found[1] == number:
            self.narrow(x, found[0], number - 1)

    def apart(self, x: Operand, y: Operand) -> None:
        """Two numbers differ: if one is not less than the other, it is more."""
        left, right = self.dim_of(x), self.dim_of(y)
        if left is None or right is None:
            return
        for gap in (left - right, right - left):
            if self.least(gap) == 0:
                self.suppose_natural(gap - 1)

    def compared(self, order: tuple[bool, bool], x: Operand, y: Operand, holds: bool) -> None:
        """A comparison of two numbers holds, or does not; see ``ORDER``."""
        swaps, strict = order
        if swaps == holds:
            x, y = y, x
        gap = int(strict == holds)
        low, high = self.range_of(x), self.range_of(y)
        if low is None or high is None:
            return
        self.narrow(x, low[0], high[1] - gap)
        self.narrow(y, low[0] + gap, high[1])
        self.cap(x, [top - gap for top in self.tops_of(y)])
        below, above = self.dim_of(x), self.dim_of(y)
        if below is not None and above is not None:
            self.suppose_natural(above - below - gap)

    def is_true(self, name: str, x: Operand, y: Operand) -> bool | None:
        """Whether a comparison of two numbers, one of ``ORDER``, holds; None if that is open."""
        swaps, strict = ORDER[name]
        low, high = (y, x) if swaps else (x, y)
        if self.gap(low, high) >= int(strict):
            return True
        return False if self.gap(high, low) >= int(not strict) else None

    def gap(self, low: Operand, high: Operand) -> int:
        """``high`` is at least so much more than ``low``."""
        (_, most), (least, _) = self.range_of(low) or INT64, self.range_of(high) or INT64
        below, above = self.dim_of(low), self.dim_of(high)
        if below is None or above is None:
            return least - most
        return max(least - most, self.least(above - below))

    def least(self, dim: Dim) -> int:
        """A dim is not less than this, also by conditions on dims that hold here."""
        return max(self.range_of_dim(rest)[0] for rest in (dim, *(dim - x for x in self.natural)))

    def suppose_natural(self, dim: Dim) -> None:
        """From here on ``dim`` is not negative."""
        if not isinstance(dim, int) and len(self.natural) < MOST_TOPS:
            self.natural.append(dim)
            self.narrowed.append(lambda: self.natural.__delitem__(-1))


def limits(value: Value) -> Range:
    """The numbers that a value can be where it is native."""
    return of_dtype(value.type.dtype) or INT64


def of_dtype(dtype: np.dtype) -> Range | None:
    if dtype.kind == "b":
        return BOOL
    if dtype.kind not in "iu":
        return None
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
