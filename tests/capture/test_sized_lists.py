"""Lists as long as a size says: ``[0] * (n + 1)``, ``list(range(n))``, ``list(x)``, ``x.tolist()``."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def _vector(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=n)


def _ints(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(0, n, n)


def sieve(n, x, i):
    flags = [True] * (n + 1)
    flags[0] = flags[1] = False
    p = 2
    while p * p <= n:
        if flags[p]:
            for m in range(p * p, n + 1, p):
                flags[m] = False
        p += 1
    return flags, sum(flags), flags.count(False), any(flags), True in flags, flags.index(True)


def coins(n, x, i):
    least = [0] + [10**9] * n
    for k in range(1, n + 1):
        for c in (1, 3, 4):
            if c <= k and least[k - c] + 1 < least[k]:
                least[k] = least[k - c] + 1
    return least[n]


def increasing(n, x, i):
    best = [1] * len(x)
    for k in range(len(x)):
        for j in range(k):
            if x[j] < x[k] and best[j] + 1 > best[k]:
                best[k] = best[j] + 1
    return max(best), np.array(best), np.zeros(len(best))


def insertion_sort(n, x, i):
    items = list(x)
    for k in range(1, len(items)):
        item = items[k]
        j = k - 1
        while j >= 0 and items[j] > item:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = item
    return items, x[0]


def find_roots(n, x, i):
    parent = list(range(n))

    def find(a):
        while parent[a] != a:
            a = parent[a]
        return a

    for k in range(len(i) - 1):
        a, b = find(int(i[k])), find(int(i[k + 1]))
        if k % 2 == 0:
            parent[a] = b
    return parent, parent[-1], parent[::-1], parent[1:n]


def walk(n, x, i):
    seen, order, stack = [False] * n, [], [0]
    while stack:
        v = stack.pop()
        if not seen[v]:
            seen[v] = True
            order.append(v)
            stack.append(int(i[v]))
            stack.append((v + 1) % n)
    return order, seen


def numbers_of_arrays(n, x, i):
    items = x.tolist()
    x[0] = 7.0
    total = 0.0
    for u, v in zip(items, x, strict=True):
        total += u * v
    for k, u in enumerate(items):
        total += u * k
    items[1] = 3.0
    flags = (i > 2).tolist()
    return total, items, flags, list(i.astype("u1")), list(x > 0), i.astype("f4").tolist()


def kinds(n, x, i):
    some, more = [0] * n, [0.0] * n
    for k in range(n):
        if i[k] % 2:
            some[k] = x[k] * 2
        more[-k - 1] = float(x[k])
    return some, np.array(more), np.sum(more)


def grown(n, x, i):
    def add(items):
        items.append(len(items))

    found = [0] * n
    add(found)
    add(found)
    for v in x:
        if v > 0:
            found.append(n)
    while len(found) > 3:
        found.append(found.pop() + found.pop() - found.pop())
    return found, len(found), x[: len(found)]


def in_loops(n, x, i):
    total = 0
    for k in range(n):
        row = [0] * (k + 1)
        for j in range(k):
            row[j] = k * j
        total += sum(row) + row[k // 2]
    return total


def held(n, x, i):
    state = {"done": [False] * n}
    for k in i:
        state["done"][k] = True
    return state, state["done"]


def in_order(n, x, i):
    items = i.tolist()
    items.sort()
    items.reverse()
    return sorted(x), sorted(x, reverse=True), items, min(items), max(x.tolist(), key=abs)


def made_by_comprehensions(n, x, i):
    doubled = [v * 2 for v in x]
    squares = [k * k for k in range(n)]
    steps = [a - b for a, b in zip(x[1:], x[:-1], strict=True)]
    found = [v if v > 0 else 0.0 for v in x]
    pairs = [(k, v > 0) for k, v in enumerate(x)]
    sums = [x[:k].sum() for k in squares[:2]]
    for k in range(n):
        squares[k] += 1
    squares.append(n)
    return doubled, max(doubled), squares, steps, found, pairs, sums, [float(v) ** 2 for v in x]


PROGRAMS = (
    *(sieve, coins, increasing, insertion_sort, find_roots, walk, numbers_of_arrays, kinds),
    *(grown, in_loops, held, in_order, made_by_comprehensions),
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_compilation_for_all_sizes(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (9, 7, 24):
        arguments = (n, _vector(n), _ints(n))
        expected = run(program, copy.deepcopy(arguments))
        assert expected.error is None
        assert difference(expected, run(compiled, copy.deepcopy(arguments))) == ""
    info = compiled.cache_info()
    assert info.variants <= 2
    assert info.eager_calls == 0


def _past_the_end(n, x):
    items = [0] * n
    for k in range(n + 1):
        x[0] += k
        items[k] = k
    return items


RAISING: tuple[Callable[..., Any], ...] = (
    lambda n, x: ([0] * n)[n],
    lambda n, x: ([0] * n)[-n - 1],
    lambda n, x: x.tolist()[n],
    lambda n, x: list(range(n))[1.0],
    lambda n, x: list(range(n)).index(n),
    lambda n, x: [1] * n + [1, 2][5:] + x,
    _past_the_end,
)


@pytest.mark.parametrize("program", RAISING)
def test_what_python_raises(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (9, 7):
        assert difference(run(program, (n, _vector(n))), run(compiled, (n, _vector(n)))) == ""


def _deleted(n):
    items = [0] * n
    del items[:1]
    return items


def _replaced(n):
    items = [0] * n
    items[1:2] = [5, 6, 7]
    return items


BY_PYTHON: tuple[Callable[..., Any], ...] = (
    lambda n: list(range(n)) == [0] * n,
    lambda n: [0, 1] * n,
    lambda n: [None] * n,
    lambda n: [("a", 1)] * n,
    lambda n: [str(k) for k in range(n)],
    lambda n: [np.zeros(k) for k in range(n)],
    lambda n: ",".join([str(k * 2) for k in [v + 1 for v in range(n)]]),
    lambda n: {k: -k for k in [v * 2 for v in range(n)]},
    lambda n: str([0] * n),
    lambda n: tuple([0] * n),
    lambda n: [[0] * n] * 2,
    lambda n: [1] * n + [2.5],
    _deleted,
    _replaced,
)


@pytest.mark.parametrize("program", BY_PYTHON)
def test_lists_that_python_makes(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (9, 7, 1, 0, -2):
        assert difference(run(program, (n,)), run(compiled, (n,))) == ""
    assert compiled.cache_info().eager_calls == 0


def test_lists_that_functionalize_returns() -> None:
    assert fxc.functionalize(lambda n: [0] * n)(3) == ([0, 0, 0], {})


def test_no_loop_is_run_by_python(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "fxc"):
        compiled = fxc.compile(increasing, fullgraph=True)
        for n in (9, 7):
            compiled(n, _vector(n), _ints(n))
    assert "unrolled" not in caplog.text
