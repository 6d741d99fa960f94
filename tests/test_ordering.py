"""Comparisons of tuples and of dataclasses' objects with numbers of the data, and what sorts by them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


@dataclass(order=True)
class Event:
    t: float
    kind: str = field(compare=False, default="a")
    who: int = 0


@dataclass
class Unordered:
    t: float
    who: int


class Pair(NamedTuple):
    t: float
    who: int


def compared(x):
    left, right, k = (x[0], 1.0), (x[1], x[2]), int(x[3])
    short = (float(x[0]),)
    return (
        *(
            left < right,
            left <= right,
            left == right,
            left != right,
            left > (x[0],),
            short >= short,
        ),
        *((k, 2) < (2, 1), (k, k) == (2, 2), [k, x[1]] < [k, x[2]], ("a", k) < ("b", 0)),
        *(
            Pair(x[0], 1) < Pair(x[1], 0),
            ((k, x[0]), 1) > ((k, x[1]), 0),
            (x[0], "a") == ("a", x[0]),
        ),
    )


def decided(x):
    if (x[0], x[1]) < (x[2], x[3]):
        return 1
    return 2 if (x[0], x[1]) == (x[0], x[1]) else 3


def one_object(x):
    v, w = x[0], float(x[1])
    return (v, 1) == (v, 1), (v, 1) < (v, 2), (w, 2) >= (w, 2), (x[0], 1) == (x[0], 1)


def events(x):
    a, b = Event(x[0], "a", 1), Event(x[1], "b", 2)
    return a < b, a <= b, a == b, a != b, a == Event(x[0], "c", 1), max(a, b).who, min([b, a]).kind


def extremes(x):
    pairs = [(v, i) for i, v in enumerate(x)]
    rounded = [(int(v), -i) for i, v in enumerate(x)]
    return min(pairs), max(pairs), max(rounded), min(rounded, key=lambda p: (p[0], p[1]))


def in_order(x):
    pairs = [(int(v), i) for i, v in enumerate(x)]
    names = sorted([("b", x[0]), ("c", x[1])], key=lambda p: p[1])
    pairs.sort()
    by = sorted(pairs, key=lambda p: -p[1])
    return pairs, by, sorted(pairs, reverse=True), sorted(x[:3], key=lambda v: -v), names[0][0]


def events_in_order(x):
    found = [Event(v, "a", i) for i, v in enumerate(x)]
    found.sort()
    return [e.who for e in found], [e.who for e in sorted(found, reverse=True)]


def made_by_a_condition(x):
    found = []
    for i in range(len(x)):
        if x[i] > -1:
            found.append(Event(int(x[i]), "a", -i))
    return [e.who for e in sorted(found)]


def by_a_heap(x):
    heap, out = [], []
    for i in range(len(x)):
        heapq.heappush(heap, (x[i], i))
    while heap:
        out.append(heapq.heappop(heap)[1])
    return out


PROGRAMS = [
    *(compared, decided, one_object, events, extremes, in_order, events_in_order),
    *(made_by_a_condition, by_a_heap),
]
DATA = [np.random.default_rng(k).normal(size=n) * 2 for k, n in enumerate((4, 4, 20, 20))]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[each.__name__ for each in PROGRAMS])
def test_as_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in DATA[2:] if fn in (made_by_a_condition, by_a_heap) else DATA:
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
    assert compiled.cache_info().eager_calls == 0
    for value in (np.nan, 0.0):  # of a nan, which may be one object, Python knows more
        x = np.full(len(DATA[2]), value)
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""


def objects_without_an_order(x):
    found = [Unordered(v, i) for i, v in enumerate(x)]
    found.sort()
    return [e.who for e in found]


def dicts(x):
    return sorted([{"v": v, "i": i} for i, v in enumerate(x)])


def lists(x):
    found = []
    for v in x:
        if v > 0:
            found.append([v])
            found[-1].append(v + 1)
    return sorted(found)


@pytest.mark.parametrize("fn", [objects_without_an_order, dicts, lists])
@pytest.mark.parametrize("n", [4, 60])
def test_what_numbers_of_items_do_not_say(fn: Callable[..., Any], n: int) -> None:
    compiled = fxc.compile(fn)
    x = np.random.default_rng(n).normal(size=n)
    for _ in range(2):
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
