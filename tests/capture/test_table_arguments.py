"""Lists of tuples and of lists of numbers as arguments; see Note [Lists of numbers]."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def along_edges(edges, near, x):
    total, best = np.zeros(len(x)), edges[0]
    for k in range(len(edges)):
        if edges[k][2] > best[2]:
            best = edges[k]
    for u, v, w in edges:
        total[u] += w
        total[v] += w * x[u]
    return total, best, np.array(edges).sum(0), edges, sorted(edges)[0], max(w for _, v, w in edges)


def by_breadth(edges, near, x):
    distance, queue = [-1] * len(near), [0]
    distance[0] = 0
    for u in queue:
        for v in near[u]:
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance, queue, [len(each) for each in near]


def as_places(edges, near, x):
    means = np.array([np.mean(x[each]) if each else 0.0 for each in near])
    k = int(x.argmax())
    return means, sorted(near[k]), np.array(near[k], dtype=float), 3 in near[k], sum(near[k][1:])


@pytest.mark.parametrize("fn", [along_edges, by_breadth, as_places])
def test_one_compilation_for_all_lengths(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for n in (12, 30, 17):
        mine = _call(n)
        given = copy.deepcopy(mine)
        assert difference(run(fn, mine), run(compiled, given)) == ""
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants <= 2  # an int may be 0


def _call(n: int) -> tuple[Any, ...]:
    r = np.random.default_rng(n)
    pairs = r.integers(0, n, (3 * n, 2)).tolist()
    edges = [
        (1 + u, v, float(w)) for (u, v), w in zip(pairs, r.random(3 * n), strict=True) if u < 9
    ]
    near = [r.integers(0, n, i % 4).tolist() for i in range(n)]
    return edges, near, r.normal(size=n)


def of_rows(rows, x):
    total = 0.0
    for k in range(len(rows)):
        total += x[rows[k]].sum()
    return total


@pytest.mark.parametrize("dynamic", [None, True])
def test_as_many_numbers_as_lists(dynamic: bool | None) -> None:
    """The size of one array was taken for that of the other, and of later lists too few numbers."""
    compiled = fxc.compile(of_rows, fullgraph=True, dynamic=dynamic)
    x = np.arange(10.0)
    for width in (1, 2, 3):
        rows = [[k, 9, 8][:width] for k in range(6)]
        assert difference(run(of_rows, (rows, x)), run(compiled, (rows, x))) == ""
    rows[1] = rows[5] = []
    assert difference(run(of_rows, (rows, x)), run(compiled, (rows, x))) == ""
    assert compiled.cache_info().eager_calls == 0


def changed_before(edges, near, x):
    near[2].append(7)
    return sum(j for each in near for j in each)


def changed_later(edges, near, x):
    count, total = 0, 0
    for each in near:
        count += len(each)
    near[2].append(count)
    for i in range(len(near)):
        for j in near[i]:
            total = total * 2 + j
    return total


def changed_at_a_place(edges, near, x):
    for i in range(len(near)):
        if x[i] > 0:
            near[i].append(i)
    return near


def returned(edges, near, x):
    k = int(x.argmax())
    return near[k], near, near[k] is near[0]


@pytest.mark.parametrize(
    "fn", [changed_before, changed_later, changed_at_a_place, returned], ids=lambda fn: fn.__name__
)
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_lists_that_change_or_leave_are_those_of_the_caller(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for n in (6, 7):
        mine = _call(n)
        given = copy.deepcopy(mine)
        assert difference(run(fn, mine), run(compiled, given)) == ""
        assert mine[1] == given[1]


def test_items_of_other_types() -> None:
    """Another length, type or number of bits of one item is another program."""
    compiled = fxc.compile(np.array)
    edges = [(1, k, 0.5) for k in range(6)]
    for last in ((1, 2, 3.5), (1, 2, 3), (2**70, 1, 0.5), [1, 2, 0.5], (True, 1, 0.5), (1, 2)):
        mine = ([*edges, last],)
        assert difference(run(np.array, mine), run(compiled, copy.deepcopy(mine))) == ""
