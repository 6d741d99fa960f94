"""Which cases of a product of factors a test takes: the whole product, or one that covers its pairs.

Where one mechanism serves all cases of layouts, dtypes and operators, what goes wrong goes wrong for
a value of a factor or for two of them together. ``pairs`` gives few cases with every two values of
different factors in one of them; ``some`` takes a few of many cases, others for each caller;
``in_turns`` takes each case in one of several ways.
``pytest --thorough`` (``make thorough``) runs the products whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

thorough = False  # set by tests/conftest.py before tests are collected


def pairs(*factors: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Cases of ``itertools.product(*factors)``, the same at each call, in its order."""
    every = [list(factor) for factor in factors]
    if thorough:
        return list(itertools.product(*every))
    # Places instead of values, which may not be hashable; longer factors lead.
    order = sorted(range(len(every)), key=lambda factor: -len(every[factor]))
    sizes = [len(every[factor]) for factor in order]
    rows = _covering(sizes)
    made = [[row[order.index(factor)] for factor in range(len(every))] for row in rows]
    return [
        tuple(values[at] for values, at in zip(every, row, strict=True)) for row in sorted(made)
    ]


def _covering(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Rows of numbers below the sizes, with every pair of numbers of two columns in a row.

    Each row begins with a pair that is missing and takes, column by column, the number that brings
    most pairs that are.
    """
    if len(sizes) < 2:
        return [(k,) for size in sizes for k in range(size)]
    columns = list(itertools.combinations(range(len(sizes)), 2))
    missing = {
        (left, i, right, j): None
        for left, right in columns
        for i in range(sizes[left])
        for j in range(sizes[right])
    }
    used = [[0] * size for size in sizes]
    rows = []
    while missing:
        left, i, right, j = next(iter(missing))
        row = {left: i, right: j}
        for column in range(len(sizes)):
            if column not in row:
                row[column] = max(
                    range(sizes[column]),
                    key=lambda k, c=column: (_brought(row, c, k, missing), -used[c][k]),
                )
        for column, k in row.items():
            used[column][k] += 1
        for one, other in columns:
            missing.pop((one, row[one], other, row[other]), None)
        rows.append(tuple(row[column] for column in range(len(sizes))))
    return rows


def _brought(row: dict[int, int], column: int, k: int, missing: dict[Any, None]) -> int:
    """How many missing pairs a row gets by the number ``k`` in a column."""
    return sum(
        ((column, k, other, j) if column < other else (other, j, column, k)) in missing
        for other, j in row.items()
    )


def some(every: Sequence[T], most: int, turn: int = 0) -> list[T]:
    """At most ``most`` of the cases, evenly chosen; the next ones at the next turn."""
    if thorough or len(every) <= most:
        return list(every)
    step = -(-len(every) // most)
    return list(every[turn % step :: step])


def in_turns(cases: Iterable[T], ways: Sequence[Any]) -> list[tuple[T, Any]]:
    """Each case with one of the ways, the next case with the next one.

    For ways that are each run with cases enough, and cases that do not depend on the way.
    """
    every = list(cases)
    if thorough:
        return list(itertools.product(every, ways))
    return [(case, ways[place % len(ways)]) for place, case in enumerate(every)]
