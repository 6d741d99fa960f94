"""Changes of lists of counted length that move items: ``insert``, ``del``, ``pop(i)``, ``remove``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def inserted_in_order(x):
    out = []
    for v in x:
        k = 0
        while k < len(out) and out[k] < v:
            k += 1
        out.insert(k, v)
    return out, out[-1] - out[-2]


def path_from_its_end(x):
    before = np.argsort(x)
    path = [int(x.argmax())]
    for _ in range(len(x) - 1):
        path.insert(0, int(before[path[0]]))
    return path, np.array(path)


def anywhere(x):
    out = [1.5]
    for i in range(len(x)):
        out.insert(int(x[i] * 4), x[i])
        if x[i] > 1:
            out.insert(-1, 7.0)
        if len(out) > 9:
            out.pop(int(abs(x[i]) * 2))
            del out[-3]
    del out[int(x[0]) % 2]
    last = out.pop(-2)
    out.insert(2, last)
    return out, last


def parts(x):
    out, rest = [], list(range(len(x)))
    for i in range(len(x)):
        out.append(i * 2)
        if x[i] > 0.5:
            k = int(x[i] * 3)
            del out[k : k + 2]
            del rest[:1]
        elif x[i] < -1:
            del out[-2:]
            del rest[3:2]
    return out, rest


def slices(x):
    tour, rest = list(range(len(x))), list(x)
    for i in range(1, len(x) - 1):
        k = int(abs(x[i]) * 3)
        if x[i] > 0:
            tour[i:] = tour[i:][::-1]
            rest[k : k + 2] = [x[i]]
        elif k:
            tour[k : k + 3] = reversed(tour[k : k + 3])
            rest[-1:] = rest[:2]
        if x[i] < -1:
            tour[k:k] = tour[:2]
            tour[:2] = []
    tour[int(abs(x[0])) :] = (0.5, len(rest))
    return tour, rest


def merged(x):
    spans = sorted((v, v + abs(w)) for v, w in zip(x, x[::-1], strict=True))
    steps, i = sorted([4, 2, 3], reverse=True), 0
    while i < len(spans) - 1:
        (begin, end), (other, last) = spans[i], spans[i + 1]
        if other <= end:
            spans[i : i + 2] = [(begin, max(end, last))]
            steps.append(i)
        else:
            i += 1
    return spans, steps


def removed(x):
    out, seen = list(range(len(x))), deque()
    for i in range(len(x)):
        if x[i] > 0:
            out.remove(i)
        seen.append(i)
        if len(seen) > 3:
            seen.popleft()
        if i in seen and x[i] < -0.5:
            seen.remove(i)
        if len(seen) > 2 and x[i] < 0:
            del seen[1]
            seen.insert(1, -i)
    return out, seen, seen.count(0)


def of_arrays_and_tuples(x):
    rows, pairs = [], []
    for i in range(len(x)):
        k = int(abs(x[i]) * 3) % (len(rows) + 1)
        rows.insert(k, x[:3] * x[i])
        pairs.insert(k, (i, x[i]))
        if len(rows) > 5:
            del rows[k]
            place, _ = pairs.pop(2)
            pairs.append((place, 0.5))
    return rows, pairs


def another_name(x):
    out = [0, 1, 2]
    same = out
    for i in range(len(x)):
        if x[i] > 0:
            same.insert(1, i)
            out.pop(2)
    return out, same is out, same


PROGRAMS = [
    *(inserted_in_order, path_from_its_end, anywhere, parts, slices, merged, removed),
    *(of_arrays_and_tuples, another_name),
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[each.__name__ for each in PROGRAMS])
def test_the_same_lists(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for n in (12, 30, 17):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants == 1


def not_there(x, k):
    out = []
    for i in range(len(x)):
        x[i] += 1
        if i % 2:
            out.append(i)
    if k == 0:
        out.remove(int(x[0]))
    elif k == 1:
        del out[int(x[1])]
    elif k == 2:
        out.pop(int(x[1]) - 100)
    elif k == 3:
        out[:: int(x[1]) // 30] = [0, 0, 0]
    return out


@pytest.mark.parametrize("k", range(4))
def test_what_is_not_there_raises(k: int) -> None:
    """Python's exception, and what was written before it."""
    compiled = fxc.compile(not_there)
    for first, second in ((0.0, 0.0), (40.0, 60.0)):
        x = np.array([first, second, 2.0, 3.0, 4.0])
        assert difference(run(not_there, (x.copy(), k)), run(compiled, (x.copy(), k))) == ""


def by_enumerate(x):
    found = [float(v) for v in x]
    for k, v in enumerate(found):
        if v > x[0] and k < 9:
            found.pop()
    return found


def by_zip_that_appends(x):
    found = [1.0, 2.0, 3.0]
    seen = []
    for v, k in zip(found, range(9), strict=False):
        seen.append(v)
        if x[k] > x[0]:
            found.append(v * 2)
    return found, seen


def by_map(x):
    found = [1.0, 2.0, 3.0, 4.0]
    for v in map(abs, found):
        if v > x[1]:
            found.pop()
    return found


def of_lists(x):
    lists = [[k] for k in range(len(x))]
    for k, _ in enumerate(lists):
        if x[k] > x[0]:
            lists.pop()
    return lists


def popped(x):
    lists = [[] for _ in range(len(x))]
    lists[lists[0][0] % 3].pop()


def sorted_and_reversed(x):
    lists = [[] for _ in range(len(x))]
    for k in range(len(x)):
        lists[int(x[k] > 0)].sort()
        lists[int(x[k] > 0)].reverse()
        lists[int(x[k] > 0)].extend(lists[int(x[k] < 0)])
    return lists, lists[int(x[0] > 0)][:], sorted(lists[int(x[0] > 0)])


def counted(x):
    found = []
    found += [found.count(int(x[0])), 5]
    return found


def texts(x):
    found = []
    for v in x:
        found.append(f"{v:.1f}")
        found.sort()
    return found


RUN_OVER = [by_enumerate, by_zip_that_appends, by_map, of_lists]  # iterators did not see changes
WITHOUT_ITEMS = [popped, sorted_and_reversed, counted, texts]  # the last one is sorted by Python


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", RUN_OVER + WITHOUT_ITEMS, ids=lambda fn: fn.__name__)
def test_what_python_may_run(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for n in (12, 30):
        x = np.random.default_rng(n).normal(size=n)
        x[0] = -1.0
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""


def popped_by_place(out, lists, place):
    out.pop(place)


def removed(out, lists, place):
    out.remove(place)


def item_deleted(out, lists, place):
    del out[place]


def popped_of_one(out, lists, place):
    lists[place].pop(place)


def removed_of_one(out, lists, place):
    lists[place].remove(place)


def item_deleted_of_one(out, lists, place):
    del lists[place][0]


NOTHING_TO_TAKE = (
    *(popped_by_place, removed, item_deleted),
    *(popped_of_one, removed_of_one, item_deleted_of_one),
)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("change", NOTHING_TO_TAKE, ids=lambda fn: fn.__name__)
def test_nothing_is_taken_out_of_what_stays_empty(change: Callable[..., Any]) -> None:
    """Python raises where the change is reached, although no item is ever stored."""

    def program(x, places):
        out, lists = [], [[] for _ in range(len(x))]
        for i in range(len(x)):
            if x[i] > 0:
                change(out, lists, places[i])
        return out, lists

    compiled = fxc.compile(program)
    for x in (-np.ones(4), np.array([-1.0, -2.0, 3.0, 1.0])):
        given = x, np.array([0, 1, 0, 2])
        assert difference(run(program, given), run(compiled, given)) == ""


def test_a_length_that_grows_and_that_python_needs():
    """It varies, as the program changes the list, and yet is known in each variant."""

    def noted(x, log):
        log.append(x)
        return len(log) * 0.5

    def program(x, log):
        k = 0
        while noted(x, [0]) > noted(x, log):
            k += 1
        return k

    compiled = fxc.compile(program, fullgraph=True)
    for size in range(3):
        logs = [1] * size, [1] * size
        wanted, found = (run(f, (2.5, x)) for f, x in zip((program, compiled), logs, strict=True))
        assert not difference(wanted, found)


def test_a_length_that_is_asked_for_again_and_that_python_needs() -> None:
    def program(x, log):
        log.append(x[0])
        for i in range(3):
            x[0] = log[i % len(log)]
        return log, x

    compiled = fxc.compile(program, fullgraph=True)
    for size, log in ((3, [1, 2.5]), (3, [0]), (5, [1, 2.5])):
        wanted, found = (run(f, (np.ones(size), [*log])) for f in (program, compiled))
        assert not difference(wanted, found)
