"""Ranges of what operators of ints give."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from .counters import Range, hull, is_within
from .facts import BOOL

Rule = Callable[..., Range | None]  # None if the operator may fail


def _at_ends(function: Callable[[int, int], int], x: Range, y: Range) -> Range:
    """The range of a function that is monotonic in each argument."""
    found = [function(a, b) for a, b in product(x, y)]
    return min(found), max(found)


def multiplied(x: Range, y: Range) -> Range:
    return _at_ends(int.__mul__, x, y)


def _floor_divided(x: Range, y: Range) -> Range | None:
    return None if y[0] <= 0 <= y[1] else _at_ends(int.__floordiv__, x, y)


def _remainder(x: Range, y: Range) -> Range | None:
    if y[0] <= 0 <= y[1]:
        return None
    if x[0] >= 0 and x[1] < y[0]:
        return x
    return (0, y[1] - 1) if y[0] > 0 else (y[0] + 1, 0)


def _by_parts(rule: Rule, x: Range, y: Range) -> Range | None:
    """The range of a quotient or remainder whose divisor may be 0."""
    parts = [
        (low, high) for low, high in ((y[0], min(y[1], -1)), (max(y[0], 1), y[1])) if low <= high
    ]
    found = [rule(x, part) for part in parts]
    return hull(*(each for each in found if each is not None)) if found else None


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
    "multiply": multiplied,
    "divide": _divided,
    "floor_divide": _floor_divided,
    "remainder": _remainder,
    "natural_quotient": _floor_divided,
    "natural_remainder": _remainder,
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
# What operators give that have not failed.
PASSED: dict[str, Callable[[Range, Range], Range | None]] = {
    "floor_divide": lambda x, y: _by_parts(_floor_divided, x, y),
    "remainder": lambda x, y: _by_parts(_remainder, x, y),
    "natural_quotient": lambda x, y: _by_parts(_floor_divided, x, y),
    "natural_remainder": lambda x, y: _by_parts(_remainder, x, y),
}
DIM_RULES: dict[str, Rule] = {
    "floordiv": _floor_divided,
    "mod": _remainder,
    "min": _smaller,
    "max": _larger,
}
