"""Lists of varying length in lists and dicts; see Note [Pools of lists]."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def pairs_by_distance(x):
    near = [[] for _ in range(len(x))]
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = abs(x[i] - x[j])
            if d < 0.3:
                near[i].append((j, d))
                near[j].append((i, float(x[j])))
    total = 0.0
    for i in range(len(x)):
        for j, d in near[i]:
            total = total * 0.5 + d * j
    return near, [len(v) for v in near], total


def comprehensions(x):
    near = [[j for j in range(len(x)) if abs(x[i] - x[j]) < 0.2] for i in range(len(x))]
    seen, order, queue = np.zeros(len(x), bool), [], [0]
    while queue:
        j = queue.pop()
        if not seen[j]:
            seen[j] = True
            order.append(j)
            queue.extend(near[j])
    return near, order, seen


def groups(x):
    first, second, third = defaultdict(list), {}, {}
    for i in range(len(x)):
        key = int(x[i] * 2)
        first[key].append(i)
        second.setdefault(key, []).append((i, x[i]))
        if key not in third:
            third[key] = [-1.0]
        third[key].append(x[i])
    return first, second, third, {k: len(v) for k, v in first.items()}, 99 in second


def as_arrays(x):
    near = [[] for _ in range(len(x))]
    for i in range(len(x)):
        for j in range(len(x)):
            if abs(x[i] - x[j]) < 0.4:
                near[i].append(j)
    out = np.zeros((5, len(x)))
    for i in range(len(x)):
        places = np.array(near[i])
        out[0, i] = x[places].sum() + x[near[i]].max()
        out[1, i] = sum(near[i]) + max(near[i]) + len(near[i][1:])
        out[2, i] = sorted(near[i], reverse=True)[0]
        out[3, i] = near[i][-1] - near[i][0]
        out[4, i] = i in near[i] and near[i].index(i)
    return out, np.array(near[0]), near[1] + near[2], list(near[3])


def changed_in_any_way(x):
    cells = [[0, 1, 2, 3], [5], []]
    for i in range(len(x)):
        cell = cells[int(abs(x[i]) * 5) % 3]
        cell.append(i)
        if x[i] > 1 and len(cell) > 2:
            cell.insert(1, cell.pop(0))
            cell.remove(i)
        if x[i] < -1:
            cell.sort(key=lambda v: -v)
            del cell[1:3]
        if len(cell) > 4:
            cell.reverse()
            cell[-1] = 7
            cell[0] += i
        if len(cells[2]) > 6:
            cells[2].clear()
    return cells


def of_many_names(x):
    lists = [[], [1], []]
    first, kept = lists[0], [lists[1]]
    for i in range(len(x)):
        cell = lists[i % 3]
        if cell is first:
            first.append(i)
        if x[i] > 0:
            lists[0], lists[1] = lists[1], lists[0]
        kept.append(cell)
        if not lists[2]:
            lists[2] += [i, i]
    return lists, first, first is lists[1], kept, lists[0] is kept[0]


def of_lists_of_lists(x):
    whole = [[[] for _ in range(2)] for _ in range(3)]
    for i in range(len(x)):
        part = whole[i % 3]
        part[int(x[i] > 0)].append(i)
        if x[i] > 1.5:
            part.append([i, i + 1, i + 2])
    arrays = [[] for _ in range(3)]
    for i in range(len(x)):
        arrays[int(x[i] * 4) % 3].append(x[:2] * i)
    return whole, arrays


def one_that_has_others(x):
    tree = [[0.5]]
    for i in range(len(x)):
        place = int(abs(x[i]) * 10) % len(tree)
        tree[place].append(x[i])
        if x[i] > 0:
            tree.append([float(len(tree[place]))])
        elif len(tree) > 2:
            tree.pop()
    best = []
    for leaf in tree:
        if len(leaf) > len(best):
            best = leaf
    return tree, best


def clusters(x):
    """By the least distance of their means, and of their members."""
    found = [[i] for i in range(len(x))]
    while len(found) > 4:
        best, left, right = np.inf, 0, 0
        for i in range(len(found)):
            for j in range(i + 1, len(found)):
                d = abs(x[found[i]].mean() - x[found[j]].mean())
                if d < best:
                    best, left, right = d, i, j
        found[left].extend(found[right])
        found.pop(right)
    return found


def sums_of_clusters(x):
    found = [[i] for i in range(len(x))]
    while len(found) > 3:
        best, left, right = np.inf, 0, 0
        for i in range(len(found)):
            for j in range(i + 1, len(found)):
                for a in found[i]:
                    for b in found[j]:
                        if abs(x[a] - x[b]) < best:
                            best, left, right = abs(x[a] - x[b]), i, j
        found[left] = found[left] + found[right]
        del found[right]
    kept = [found[0] + found[1]]
    kept.append(found[1] + found[1])
    found[1].append(-1)
    return found, kept


PROGRAMS = [
    clusters,
    *(pairs_by_distance, comprehensions, groups, as_arrays, changed_in_any_way),
    *(of_many_names, of_lists_of_lists, one_that_has_others),
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[each.__name__ for each in PROGRAMS])
def test_the_same_lists(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for n in (12, 30, 17):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants == 1


def test_sums_of_lists_are_in_their_pool() -> None:
    compiled = fxc.compile(sums_of_clusters, fullgraph=True, dynamic=True)
    for n in (12, 17):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(sums_of_clusters, (x,)), run(compiled, (x,))) == ""
    assert (compiled.cache_info().eager_calls, compiled.cache_info().variants) == (0, 1)


def shown(x):
    lists = [[] for _ in range(3)]
    for i in range(len(x)):
        lists[int(x[i] > 0)].append(i)
    print(lists[0], lists)
    lists[0].append(7)
    return lists


def test_a_text_shows_a_list_as_it_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    compiled, x, texts = fxc.compile(shown, fullgraph=True), np.arange(40.0) % 3 - 1, []
    for fn in (shown, compiled):
        assert fn(x)[0][-1] == 7
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]


def first_list(x):
    kept = []
    for i in range(len(x)):
        kept.append(i)
        if x[i] > 0:
            return [i] * i, kept


def first_record(x):
    for i in range(len(x)):
        if x[i] > 0:
            return {"place": i, "value": x[i]}, i


@pytest.mark.parametrize("fn", [first_list, first_record])
def test_a_result_that_is_not_there_has_no_parts(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (np.arange(4.0) - 2, -np.ones(4), np.ones(4)):
        assert difference(run(fn, (x,)), run(compiled, (x,))) == ""


def way_back(x):
    todo, steps = [5], 0
    while todo:
        at = todo.pop()
        steps += 1
        if x[at] > 0.5:
            path = [(at, 0)]
            while at > 1 and len(path) < 5:
                at -= 1
                path.append((at, 1))
            return path[::-1], steps
        if steps < 10:
            todo.append(steps)
    return [], steps


def way_or_none(x):
    for at in range(5, len(x)):
        if x[at] > 1.5:
            path = [at]
            while at > 1 and x[at - 1] > -1:
                at -= 1
                path.append(at)
            return (path[1:], x[at]), len(path)
    return None, -1


@pytest.mark.parametrize("fn", [way_back, way_or_none])
def test_parts_of_lists_among_results_that_differ(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for seed in range(6):
        x = np.random.default_rng(seed).normal(size=20)
        assert difference(run(fn, (x,)), run(compiled, (x,))) == ""
    assert (compiled.cache_info().eager_calls, compiled.cache_info().variants) == (0, 1)


def symmetric(near, x):
    lists = [[] for _ in range(len(x))]
    for i in range(len(x)):
        lists[i].append((i + 1) % len(x) if x[i] > 0 else i)
    for i in range(len(x)):
        for j in lists[i]:
            if len(lists[j]) < 9:
                lists[j].append(near)
    return lists


def not_there(near, x):
    lists = [[] for _ in range(len(x))]
    for i in range(len(x)):
        x[i] += 1
        lists[i % 2].append(i)
    return lists[0][near], lists


@pytest.mark.parametrize("fn", [symmetric, not_there])
def test_what_only_python_does(fn: Callable[..., Any]) -> None:
    """A list that changes while a loop runs over it, by another name; a place that is not there."""
    compiled = fxc.compile(fn)
    for near, least in ((1, 0.1), (1, -9.0), (7, 0.1)):
        x = np.maximum(np.arange(5.0), least) * (1 if least > 0 else -1)
        assert difference(run(fn, (near, x.copy())), run(compiled, (near, x.copy()))) == ""
