"""Quotients and remainders of dims as LLVM text: rounded down, as Python's are.

A remainder of a counter's neighbour (``(i + 1) % n`` in a loop over ``range(n)``) begins anew once
at most, and takes a comparison in place of a division.
"""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.bounds import decide
from fxc.ir.symbols import SymFunc, computed_in

from ..nests.bounds import Range, bounds
from .llvm_text import FunctionText


def divided(
    function: FunctionText, atom: SymFunc, ranges: Mapping[str, Range], left: str, right: str
) -> str:
    """The quotient of two registers, or what is left: they are the sides of ``atom``.

    Requires: counters stay in ``ranges``.
    """
    if atom.name == "mod":
        return _remainder(function, atom, ranges, left, right)
    _, is_less = _division(function, left, right)
    less = function.same(f"zext i1 {is_less} to i64")
    return function.same(f"sub i64 {function.same(f'sdiv i64 {left}, {right}')}, {less}")


def _remainder(
    function: FunctionText, atom: SymFunc, ranges: Mapping[str, Range], left: str, right: str
) -> str:
    same = function.same
    beyond = _beyond(atom, ranges)
    if beyond is None:
        rest, is_less = _division(function, left, right)
        return same(f"add i64 {rest}, {same(f'select i1 {is_less}, i64 {right}, i64 0')}")
    below, above = beyond
    rest = left
    if above:
        is_above = same(f"icmp sge i64 {left}, {right}")
        rest = same(f"select i1 {is_above}, i64 {same(f'sub i64 {left}, {right}')}, i64 {left}")
    if below:
        is_below = same(f"icmp slt i64 {left}, 0")
        rest = same(f"select i1 {is_below}, i64 {same(f'add i64 {left}, {right}')}, i64 {rest}")
    return rest


def _division(function: FunctionText, left: str, right: str) -> tuple[str, str]:
    """What a division leaves that cuts off, and whether Python's quotient is less."""
    same = function.same
    rest = same(f"srem i64 {left}, {right}")
    crossed = same(f"icmp slt i64 {same(f'xor i64 {rest}, {right}')}, 0")
    partial = same(f"icmp ne i64 {rest}, 0")
    return rest, same(f"and i1 {crossed}, {partial}")


def _beyond(atom: SymFunc, ranges: Mapping[str, Range]) -> tuple[bool, bool] | None:
    """Whether the left side may be below 0, and whether it may be the right one or more; None if it
    may be farther away.
    """
    left, size = atom.left, atom.right
    if computed_in(left) or computed_in(size) or not decide(size, ">", 0):
        return None
    least, most = bounds(left, ranges)
    if not (decide(least, ">=", -size) and decide(most, "<", 2 * size)):
        return None
    return decide(least, ">=", 0) is not True, decide(most, "<", size) is not True
