"""Loops of the user's program that take next to none of its time: LLVM need not unroll them."""

from __future__ import annotations

from collections.abc import Sequence

from ..machine.costs import Costs
from ..nests.statements import For, Loop, Stmt, While, blocks_of
from .interrupts import trips


def minor_loops(block: Sequence[Stmt], costs: Costs) -> frozenset[int]:
    """Those whose number of iterations is known, by identity."""
    found: dict[int, int] = {}
    total = _work(block, costs, 1, True, found)
    return frozenset(loop for loop, work in found.items() if work * costs.minor <= total)


def _work(
    block: Sequence[Stmt], costs: Costs, times: int, known: bool, found: dict[int, int]
) -> int:
    """About how many statements are run if the block is run so many ``times``; each loop's are
    noted if that number is ``known``.
    """
    total = 0
    for stmt in block:
        number: int | None = 1
        match stmt:
            case For() | While():
                number = trips(stmt, costs)
            case Loop(size=size):
                number = size if isinstance(size, int) else None
        often = times * (costs.looks_unknown if number is None else number)
        is_known = known and number is not None
        work = often + sum(_work(inner, costs, often, is_known, found) for inner in blocks_of(stmt))
        if isinstance(stmt, For) and is_known:
            found[id(stmt)] = work
        total += work
    return total
