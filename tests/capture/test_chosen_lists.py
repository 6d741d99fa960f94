"""One of two lists by a condition in an expression, or a list that may be None.

See Note [Pools of lists].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiling import check

EDGES = np.random.default_rng(0).integers(0, 20, (40, 2))


def graph_of(edges):
    graph = {}
    for u, v in edges:
        graph.setdefault(int(u), []).append(int(v))
    return graph


def searched(edges, n):
    graph, seen, order, stack = graph_of(edges), [False] * n, [], [0]
    while stack:
        v = stack.pop()
        if not seen[v]:
            seen[v] = True
            order.append(v)
            for w in graph.get(v, []):
                if not seen[w]:
                    stack.append(w)
    return order


def clustering(edges, n):
    graph, out = graph_of(edges), np.zeros(n)
    for v in range(n):
        near = graph.get(v, [])
        for i in range(len(near)):
            for j in range(i + 1, len(near)):
                out[v] += near[j] in graph.get(near[i], [])
    return out


def by_an_if(edges, n):
    graph, total = graph_of(edges), 0
    for v in range(n):
        near = graph[v] if v in graph else []  # noqa: SIM401
        total += len(near) * v
        for w in near:
            total += w
    return total


def by_or(edges, n):
    graph, total = graph_of(edges), 0
    for v in range(n):
        for w in graph.get(v) or []:
            total += w * v
    return total


def none_or_not(edges, n):
    graph, total = graph_of(edges), 0
    for v in range(n):
        near = graph.get(v)
        near = near if near is not None else [v, v]
        total += len(near)
        for w in near:
            total += w * v
    return total


def only_if_there(edges, n):
    graph, total = graph_of(edges), 0
    for v in range(n):
        near = graph.get(v)
        if near is not None and 3 in near:
            total += len(near) + near[0]
            near.append(v)
    return total, graph


def not_there(edges, n):
    """``len(None)`` raises a TypeError for most graphs."""
    graph, total = graph_of(edges), 0
    for v in range(n):
        total += len(graph.get(v))
    return total


PROGRAMS = [searched, clustering, by_an_if, by_or, none_or_not, only_if_there, not_there]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_graphs_as_lists_of_neighbours(program: Any) -> None:
    check(program, (EDGES, 20), (EDGES[::-1], 20), (np.array([[0, 0]]), 1), (EDGES[:3], 20))


def sides(x):
    low, high = [], []
    for v in x:
        (low if v < 0 else high).append(v)
    longer = low if len(low) > len(high) else high
    longer.append(100.0)
    return low, high, longer, longer is low


def runs(x):
    longest, run = [], []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            longest = run if len(run) > len(longest) else longest
            run = []
    return longest if len(longest) > len(run) else run


def way_back(x):
    way = []
    for k, v in enumerate(x):
        if v > 1:
            return way[::-1]
        way.append(k)
    return []


@pytest.mark.parametrize("program", [sides, runs, way_back])
def test_which_list_it_is_stays_known(program: Any) -> None:
    x = np.random.default_rng(1).normal(size=50)
    check(program, (x,), (-x,), (x + 9,), (x - 9,))


def from_the_end(x):
    """The first of all comes from None."""
    before = {(0, 0): None}
    for k in range(1, len(x)):
        before[(k, 0)] = (k - 1, 0) if x[k] > 0 else (k // 2, 0)
    cell, way = (len(x) - 1, 0), []
    while cell is not None:
        way.append(cell)
        cell = before[cell]
    return way[::-1]


def from_the_end_by_numbers(x):
    before = {0: None}
    for k in range(1, len(x)):
        before[k] = k - 1 if x[k] > 0 else k // 2
    at, way = len(x) - 1, []
    while at is not None:
        way.append(at)
        at = before[at]
    return way


def beyond_the_first(x):
    """``None`` is no key of the dict."""
    before = {0: None}
    for k in range(1, len(x)):
        before[k] = k - 1 if x[k] > 0 else 0
    at = len(x) - 1
    for _ in range(len(x)):
        at = before[at]
    return at


@pytest.mark.parametrize("program", [from_the_end, from_the_end_by_numbers, beyond_the_first])
def test_what_came_before_each_may_be_none(program: Any) -> None:
    x = np.random.default_rng(2).normal(size=50)
    check(program, (x,), (-x,), (x[:7],), (np.ones(1),))


# ------------------------------------------------------------------ lists of arrays, of one length


def set_or_made_anew(x, y):
    """In each iteration a place of the list is set, or there is another list."""
    corners = [x + 1, y + 2]
    for _ in range(6):
        if corners[0].sum() > 0:
            corners[-1] = corners[0] * 3 - corners[1]
        else:
            corners = [corners[0]] + [corners[0] + 0.5 * (p - corners[0]) for p in corners[1:]]
        corners[0] = corners[0] - corners[1] * 0.1
    return corners[0] + corners[1]


def exchanged(x, y):
    pair = [x + 1, y + 2]
    for _ in range(5):
        if pair[0].sum() > pair[1].sum():
            pair[0] = pair[0] * 0.5
        else:
            pair = [pair[1], pair[0]]
    return pair[0] - pair[1]


def both_made_anew(x, y):
    pair = [x + 1, y + 2]
    for _ in range(5):
        pair = [pair[0], pair[0] - pair[1]] if pair[0].sum() > 0 else [p * 0.5 + 1 for p in pair]
    return pair


def with_another_name(x, y):
    """What is set is no longer the list of the other name."""
    pair = first = [x + 1, y + 2]
    for _ in range(4):
        if pair[0].sum() > 0:
            pair[1] = pair[0] - pair[1]
        else:
            pair = [pair[0] + 2, pair[1]]
    return pair[0] - pair[1] * 3, first[0] + first[1] * 5, pair is first


def with_the_new_one_kept(x, y):
    """The new list has another name, too."""
    pair, kept = [x + 1, y + 2], [y + 5, x * 3]
    for _ in range(4):
        if pair[0].sum() > 0:
            pair[1] = pair[0] - pair[1]
        else:
            pair = kept = [pair[0] + 2, pair[1]]
        pair[0] = pair[0] - 0.5
    return pair[0] - pair[1] * 3, kept[0] + kept[1] * 5


def as_a_result(x, y):
    pair = [x + 1, y + 2]
    if x.sum() > 0:
        pair[-1] = x * 3
    else:
        pair = [pair[0], x * 2.0]
    return pair


def with_an_item_written_to(x, y):
    pair, row = [x + 1, y + 2], x * 2
    for _ in range(4):
        if pair[0].sum() > 0:
            pair[1] = pair[0] - pair[1]
        else:
            pair = [row, pair[1] + 1]
        row += 1
    return pair[0] + pair[1]


def of_the_callers(x, y):
    pair = [x, y]
    for _ in range(3):
        if pair[0].sum() > 0:
            pair[0] = pair[0] - 1
        else:
            pair = [y, pair[1] * 2]
    pair[1] += 1
    return pair


LISTS_OF_ARRAYS = [
    *(set_or_made_anew, exchanged, both_made_anew, with_another_name, with_the_new_one_kept),
    *(as_a_result, with_an_item_written_to, of_the_callers),
]


@pytest.mark.parametrize("program", LISTS_OF_ARRAYS, ids=lambda each: each.__name__)
def test_lists_of_arrays_replace_one_another(program: Any) -> None:
    x, y = np.random.default_rng(2).normal(size=(2, 4))
    check(program, (x, y), (x - 2, y), (x + 2, y - 3), (-x, y + 9))
