"""Items of lists, tuples and dicts that Python knows, at places that it does not: Note [Tables]."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

SIGNAL = np.array([0.5, -1.5, 2.0, 0.25, -0.5, 2.75, -2.0, 1.0, 0.125])
MOVES = {0: (0, 1), 1: (1, 0), 2: (0, -1)}


class Layer:
    def __init__(self, w, f):
        self.w, self.f = w, f

    def step(self, v):
        return self.f(v) * self.w


def objects(x):
    layers, total = [Layer(2.0, math.sin), Layer(3.0, math.cos), Layer(-1.0, math.exp)], 0.0
    for v in x:
        layer = layers[int(abs(v))]
        total += layer.w + layer.step(v)
    return total


def functions(x):
    steps, total = (lambda a: a + 1, lambda a: a * 2.0, np.sqrt), 0.0
    for v in x:
        total += steps[int(abs(v))](abs(v))
    return total, steps[int(abs(x[0])) - 2](4.0)


def rows_with_functions(x):
    state, t, path = [50, 0, 0], 0.0, []
    reactions = (
        ((-1, 1, 0), lambda s: 0.5 * s[0]),
        ((0, -1, 1), lambda s: 0.2 * s[1]),
        ((1, 0, -1), lambda s: 0.1 * s[2]),
    )
    for v in x:
        rates = [rate(state) for _, rate in reactions]
        u, k = abs(v) / 4 * sum(rates), 0
        while k < 2 and u > rates[k]:
            u -= rates[k]
            k += 1
        t += reactions[k][1](state)
        state = [a + b for a, b in zip(state, reactions[k][0], strict=True)]
        path.append((t, *state))
    return np.array(path)


def texts(x):
    out = []
    for v in x:
        out.append(("low", "mid", None)[int(abs(v))])
    return out


def by_key(x):
    p = q = 0
    for v in x:
        dx, dy = MOVES[int(abs(v))]
        p += dx
        q += dy
    return p, q


def by_tuple(x):
    d, total = {(0, 0): 1.5, (0, 1): 2.5, (1, 0): -1.0, (1, 1): 0.0}, 0.0
    for v in x:
        total += d[int(v > 0), int(abs(v) > 1)]
    return total


def arrays_by_key(x):
    d, total = {0: x, 1: x * 2, 5: x + 1}, 0.0
    for v in x:
        total += d[5 if v > 0 else int(abs(v) > 1)].sum()
    return total


def counts(x):
    d = dict.fromkeys(range(3), 0)
    seen = dict.fromkeys((2, 4), 0.0)
    for v in x:
        k = int(abs(v) * 2)
        if k in seen:
            seen[k] = max(seen[k], v)
        d[int(abs(v))] += 1
    return d, seen, d.get(int(abs(x[0]) * 8), 7)


def with_default(x):
    d, total = {0: 1.5, 1: 2.5}, 0.0
    for v in x:
        total += d.get(int(abs(v) * 2), -1.0)
    return total


def characters(x):
    first, second = "ACGTTGCA", "AAGTCTTA"
    out = np.zeros((9, 9), dtype=int)
    for i in range(1, 9):
        for j in range(1, 9):
            both = out[i - 1, j - 1] + (2 if first[i - 1] == second[j - 1] else -1)
            out[i, j] = max(both, out[i - 1, j] - 1, out[i, j - 1] - 1)
    return out, [first[int(abs(v))] for v in x if v > 0]


def one_of_many_arrays(x):
    rows = [x * k for k in range(8)]
    order = np.argsort([row.sum() for row in rows])
    best = rows[order[0]]
    return best, best.sum(), np.array([rows[k] for k in order[:3]])


def replaced_in_an_arm(x):
    tour, least = list(range(len(x))), np.inf
    best = tour[:]
    for v in x:
        i = int(abs(v))
        new = tour[:i] + tour[i : i + 3][::-1] + tour[i + 3 :]
        length = sum(x[new[k - 1]] * k for k in range(len(new)))
        if length < least:
            tour, least = new, length
            if v > 0:
                best = tour[:]
    return best, tour, least


def zipped(x):
    places = np.flatnonzero(x > 0)
    both = list(zip(places, x[places], strict=True))
    stack, total = deque(zip(places, x[places], strict=True)), 0.0
    while stack:
        k, v = stack.pop()
        total += k * v
    return both, len(both), total


def some_in_order(x):
    a, b, c = sorted([x[0], x[1], x[2]])
    return a, b - c, sorted([3, int(x[2]), int(x[5])], reverse=True), sorted((x[3], x[4]))


RULES = {"up": {"by": 2.0, "to": "top"}, "down": {"by": -1.0, "to": "ground"}}


def dicts_by_text(x):
    total, words = 0.0, []
    for v in x:
        rule = "up" if v > 0 else "down"
        total += RULES[rule]["by"] * v
        if RULES[rule]["to"] == "top":
            words.append(rule)
    return total, len(words)


@pytest.mark.parametrize(
    "fn",
    [
        *(objects, functions, rows_with_functions, texts, by_key, by_tuple, arrays_by_key, counts),
        *(with_default, zipped, some_in_order, characters, one_of_many_arrays),
        *(replaced_in_an_arm, dicts_by_text),
    ],
    ids=lambda fn: fn.__name__,
)
def test_captured(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (SIGNAL, -SIGNAL, SIGNAL[::-1].copy()):
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def stored_by_key(levels, x):
    for v in x:
        levels[int(abs(v))] += v
    return levels[0]


def test_a_dict_of_the_caller_changes_where_python_would_change_it() -> None:
    compiled = fxc.compile(stored_by_key, fullgraph=True)
    for x in (SIGNAL, -SIGNAL):
        given = ({0: 0.0, 1: 1.0, 2: 2.0}, x), ({0: 0.0, 1: 1.0, 2: 2.0}, x)
        assert not difference(run(stored_by_key, given[0]), run(compiled, given[1]))
    assert compiled.cache_info().eager_calls == 0


def missing_key(x):
    d, total = {0: 1.5, 1: 2.0}, 0.0
    for v in x:
        total += d[int(abs(v))]
    return total


def missing_item(x):
    fs, total = [(lambda a: a + 1, 1), (lambda a: a * 2.0, 5)], 0.0
    for v in x:
        total += fs[int(abs(v))][0](v)
    return total


@pytest.mark.parametrize("fn", [missing_key, missing_item], ids=lambda fn: fn.__name__)
def test_what_is_not_there_is_pythons_error(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (SIGNAL % 1.5, SIGNAL):
        assert not difference(run(fn, (x,)), run(compiled, (x,)))
    assert isinstance(run(compiled, (SIGNAL,)).error, KeyError | IndexError)


def changed(x):
    layers = [Layer(2.0, None), Layer(3.0, None)]
    for v in x:
        layers[int(v > 0)].w += v
    return layers[0].w, layers[1].w


def told_apart(x):
    layers = [Layer(2.0, None), Layer(3.0, None)]
    return layers[int(x[0] > 0)] is layers[1]


def compared(x):
    layers = [Layer(2.0, None), Layer(3.0, None)]
    return layers[int(x[1] > 0)] == layers[0], layers[int(x[1] > 0)] in layers


def of_two_keys(x):
    graph, total = {0: {1: 0.5, 2: 1.5}, 1: {2: 2.5}, 2: {0: 1.0}}, 0.0
    for v in x:
        u, w = int(abs(v)), (int(abs(v)) + 1) % 3
        total += graph[u][w]
    return total


def there_in_one(x):
    rows, total = [{"a": 1.0, "b": 2.0}, {"a": 3.0}], 0.0
    for v in x:
        if v > 0:
            total += rows[int(v > 9)]["b"]
    return total


@pytest.mark.parametrize(
    "fn", [changed, told_apart, compared, of_two_keys, there_in_one], ids=lambda fn: fn.__name__
)
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_one_of_several_objects_is_read_alone(fn: Callable[..., Any]) -> None:
    with pytest.raises(fxc.CaptureError):
        fxc.compile(fn, fullgraph=True)(SIGNAL)
    assert not difference(run(fn, (SIGNAL,)), run(fxc.compile(fn), (SIGNAL,)))


def two_of_a_sample(x):
    total = 0.0
    for _ in range(10):
        i, j = sorted(random.sample(range(len(x)), 2))
        total += x[i] * j
    return total


def test_draws_in_order() -> None:
    compiled = fxc.compile(two_of_a_sample, fullgraph=True)
    random.seed(1)
    expected = two_of_a_sample(SIGNAL)
    random.seed(1)
    assert compiled(SIGNAL) == expected
