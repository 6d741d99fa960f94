"""``next`` of a generator expression with a condition: the first item that holds."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def place(x):
    return next((i for i, v in enumerate(x) if v > 1), -1), next((v for v in x if v > 1), None)


def part(x):
    k = next((i for i in range(len(x)) if x[i] > 1), len(x))
    return x[:k].sum()


def pair(x):
    return next(((v, i) for i, v in enumerate(x) if v > 1 and i > 3), (0.0, None))


def from_each(x):
    total = 0
    for j in range(len(x)):
        total += next((i for i in range(j, len(x)) if x[i] > x[j] + 1), -1)
    return total


def row(x):
    y = np.outer(x, x)
    found = next((r for r in y if r.sum() > 2), None)
    return 0.0 if found is None else found.max()


def default_of_the_data(x):
    return next((v for v in x if v > 2), x.sum())


def handled(x):
    try:
        return next(i for i, v in enumerate(x) if v > 1)
    except StopIteration:
        return -5


def of_few(x):
    a, b = x.min(), x.max()
    chosen = next((name for name, v in (("low", a + 2), ("high", b - 2)) if v > 0.3), "none")
    return chosen, next((2 * v for v in [a, b, a + b] if v > 1), 0.0)


def known(x):
    first = next(i for i in range(5) if i * i > 3)
    least = next(dtype for dtype in (np.int8, np.int32, np.int64) if np.dtype(dtype).itemsize > 2)
    many = next((k for k in [3, 5] * 20 if k > 4), 1), next((k for k in [3, 5] * 20 if k > 7), 1)
    return (
        x * first,
        next((k for k in (3, 5) if k > 7), 1),
        next((v * 2 for v in x), 0.0),
        least,
        many,
    )


def of_filters(x):
    first = next(filter(lambda v: v > 1, x), None)
    numbers = filter(lambda i: x[i] < -0.5, range(len(x)))
    return first, next(numbers, -1), next(filter(None, x > 1), False), next(filter(bool, x))


PROGRAMS = (
    of_filters,
    place,
    part,
    pair,
    from_each,
    row,
    default_of_the_data,
    handled,
    of_few,
    known,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_equals_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(2)
    for n in (40, 50, 3, 1):
        x = rng.normal(size=n)
        x[n // 2] = 1.5
        assert difference(run(program, (x,)), run(compiled, (x,))) == "", n
    assert compiled.cache_info().eager_calls == 0
    before = compiled.cache_info().variants
    for n in (90, 130, 300):
        compiled(rng.normal(size=n))
    assert compiled.cache_info().variants == before


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_equals_python_where_nothing_is_found(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (40, 50, 3, 1):
        x = -np.arange(1.0, n + 1)
        assert difference(run(program, (x,)), run(compiled, (x,))) == "", n


def test_without_an_item_or_a_default_python_raises() -> None:
    def first(x):
        return next(v for v in x if v > 1)

    compiled = fxc.compile(first, fullgraph=True)
    for x in (np.arange(30.0), np.zeros(30), np.arange(30.0), np.zeros(0)):
        assert difference(run(first, (x,)), run(compiled, (x,))) == ""


def test_what_stays_of_an_iterator_is_read_later() -> None:
    def rest(x):
        items = iter(x)
        return next((v for v in items if v > 1), 0.0), sum(items)

    x = np.linspace(0, 3, 30)
    with pytest.warns(fxc.CaptureWarning):
        assert fxc.compile(rest)(x) == rest(x)


def test_a_view_is_found_and_written() -> None:
    def write(x):
        found = next((r for r in x if r[0] > 1), None)
        if found is not None:
            found += 1
        return found

    compiled = fxc.compile(write)
    for size in (20, 25):
        x = np.random.default_rng(1).normal(size=(size, 3))
        for given in (x, np.zeros((size, 3))):
            assert difference(run(write, (given.copy(),)), run(compiled, (given.copy(),))) == ""


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_what_follows_the_first_item_of_a_filter_is_left_to_python() -> None:
    def program(x):
        found = filter(lambda v: v > 0.3, x)
        return next(found), next(found, None), list(found)

    x = np.random.default_rng(2).normal(size=30)
    assert difference(run(program, (x,)), run(fxc.compile(program), (x,))) == ""


def in_turn(x):
    order, heap, found = itertools.count(), [], []
    for v in x:
        heapq.heappush(heap, (int(abs(v) * 3), next(order), v))
    while heap:
        _, number, v = heapq.heappop(heap)
        found.append(number)
        if v > 0.5:
            heapq.heappush(heap, (1, next(order), v - 0.5))
    return found


class Names:
    def __init__(self, first):
        self.numbers, self.known = itertools.count(first, 2), {}

    def of(self, key):
        if key not in self.known:
            self.known[key] = next(self.numbers)
        return self.known[key]


def numbered_as_they_come(x):
    names = Names(len(x))
    return [names.of(int(v * 3)) for v in x]


class Steps:
    def __init__(self):
        self.at = 0

    def __next__(self):
        self.at += 3
        return self.at


def by_its_own_method(x):
    steps, total = Steps(), 0
    for v in x:
        if v > 0:
            total += next(steps)
    return total, steps.at


@pytest.mark.parametrize("program", [in_turn, numbered_as_they_come, by_its_own_method])
def test_what_next_takes_is_followed(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for n in (40, 50, 7):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_loop_over_the_rest_of_a_count_is_left_to_python() -> None:
    def zipped(x):
        numbers = itertools.count(1)
        first, total = next(numbers), 0.0
        for k, v in zip(numbers, x):  # noqa: B905
            total += k * v
        return total, first, type(numbers).__name__

    x = np.random.default_rng(2).normal(size=30)
    assert difference(run(zipped, (x,)), run(fxc.compile(zipped), (x,))) == ""
