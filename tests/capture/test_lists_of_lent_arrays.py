"""Lists of counted length that show arrays of others: what may leave the function beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def the_best_begins_the_next(points, n):
    best = None
    for _ in range(3):
        costs = np.array([np.sum(p * p) for p in points])
        i = np.argmin(costs)
        if best is None or costs[i] < best[0]:
            best = costs[i], points[i].copy()
        new = [best[1]]
        while len(new) < n:
            new.append(points[len(new) % len(points)] * 0.5 + best[1])
        points = np.array(new)
    return points, best


def new_among_parts(points, n):
    first = points[0] * 2
    rows = [first]
    while len(rows) < n:
        rows.append(points[len(rows) % len(points)])
    return first, np.array(rows)


def parts_less_their_mean(points, n, is_centred=False):
    windows = [points.ravel()[i : i + 4] for i in range(0, n, 2)]
    total = np.zeros(4)
    for window in windows:
        if is_centred:
            window = window - window.mean()
        total += window * window
    return total


@pytest.mark.parametrize(
    "program", [the_best_begins_the_next, new_among_parts, parts_less_their_mean]
)
def test_one_compilation_for_all_lengths(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(2)
    for n in (7, 9, 12, 15, 10):
        points = rng.normal(size=(n, 3))
        expected = run(program, (points, n))
        assert not difference(expected, run(compiled, (points, n)))
    assert compiled.cache_info().variants == 2


def beside_an_item(points, n):
    first = points[0] * 2
    rows = [first]
    while len(rows) < n:
        rows.append(points[len(rows) % len(points)])
    return first, rows[n % 2]


def beside_an_item_that_is_kept(points, n):
    first = points[0] * 2
    rows, kept = [first], []
    last = None
    while len(rows) < n:
        kept.append(rows[0])
        if points[0, 0] > 0:
            last = kept[-1]
        rows.append(points[len(rows) % len(points)])
    return first, last


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [beside_an_item, beside_an_item_that_is_kept])
def test_an_item_is_the_array_that_was_appended(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    points = np.ones((7, 3))
    for n in (7, 8, 9, 10, 8):
        expected, found = program(points, n), compiled(points, n)
        assert np.array_equal(expected, found)
        assert (expected[0] is expected[1]) == (found[0] is found[1])
        assert np.shares_memory(expected[1], points) == np.shares_memory(found[1], points)
