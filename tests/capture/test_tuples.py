"""Tuples as variables of branches and loops: items are numbers and arrays of their own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def best_pair(x, k):
    best = (0.0, -1)
    for i in range(len(x)):
        if x[i] > best[0]:
            best = (x[i], i)
    return best


def returned_early(x, k):
    for i in range(len(x)):
        if x[i] > k:
            return i, x[i]
    return -1, 0.0


def returned_from_while(x, k):
    i = 0
    while i < len(x):
        if x[i] > k:
            return x * 2, i
        i += 1
    return x, 0


def of_arrays(x, k):
    s = (x.copy(), 0)
    for i in range(7):
        s = (s[0] + x[i], s[1] + i)
    return s


def nested(x, k):
    s = ((1, 2.0), x[0])
    for i in range(6):
        s = ((s[0][0] + 1, s[0][1] * x[i]), s[1] + s[0][1])
    return s


def made_in_the_loop(x, k):
    for i in range(6):
        t = (i, x[i])
    return t


def growing(x, k):
    t = ()
    for i in range(6):
        t = (*t, x[i])
    return t


def of_an_expression(x, k):
    a, b = (x[0], x[1]) if x[0] > x[1] else (x[1], x[0])
    return a, b


def turning(x, k):
    t = (0, 1)
    for i in range(k):
        x[i] += t[0]
        t = (t[1], t[0])
    return x, t


def of_while(x, k):
    state = (0, 1.0)
    while state[0] < k:
        state = (state[0] + 1, state[1] * 0.5 + x[0])
    return state


def of_mixed_numbers(x, k):
    found = (0, 0)
    for i in range(len(x)):
        if x[i] > k:
            found = (found[0] + 1, max(found[1], x[i]))
    return found


def written_through(x, k):
    pair = (x, 0)
    for i in range(6):
        pair[0][i] += pair[1]
        pair = (x, pair[1] + i)
    return pair


FUNCTIONS = (best_pair, returned_early, returned_from_while, of_arrays, nested, made_in_the_loop)
FUNCTIONS += (growing, of_an_expression, turning, of_while, of_mixed_numbers, written_through)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=[each.__name__ for each in FUNCTIONS])
def test_as_numpy(fn: Callable[..., Any]) -> None:
    program = fxc.compile(fn, fullgraph=True)
    x = np.arange(8.0)
    for args in ((x, 3), (x[::-1].copy(), 5), (x - 9, 2)):
        expected, found = run(fn, copy.deepcopy(args)), run(program, copy.deepcopy(args))
        assert difference(expected, found) == ""
    info = program.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def writes_to_an_item(x, k):
    state = (x, x * 2)
    for i in range(k):
        a, b = state
        a[:] = a + b * i
        state = (a * 0.5, b + a)
    return state


def writes_to_an_item_of_an_item(x, k):
    state = (0.0, (x, x * 2))
    while state[0] < k:
        total, (a, b) = state
        b -= total
        state = (total + 1, (a * 0.5, b * 0.5))
    return state


def writes_to_an_item_that_others_keep(x, k):
    state = kept = (x, x * 2)
    for i in range(k):
        a, b = state
        a += b * i
        kept, state = state, (a * 0.5, b)
    return state, kept


def writes_under_another_name(x, k):
    y, w = x + 0.0, x + 1
    for i in range(k):
        z = y
        z[:] = z + w * i
        z = z * 2
        y = z
    return y


WRITERS = (writes_to_an_item, writes_to_an_item_of_an_item, writes_to_an_item_that_others_keep)
WRITERS += (writes_under_another_name,)


@pytest.mark.parametrize("fn", WRITERS, ids=[each.__name__ for each in WRITERS])
def test_trip_counts_share_a_compilation_where_items_are_written(fn: Callable[..., Any]) -> None:
    program = fxc.compile(fn, fullgraph=True)
    for k in (5, 4, 6, 2, 9):
        x = np.arange(8.0)
        assert difference(run(fn, (x.copy(), k)), run(program, (x.copy(), k))) == ""
    assert program.cache_info().variants == 1


def none_before(x):
    place = None
    for i in range(len(x)):
        if x[i] > 3:
            place = (i, i + 1)
    return place


def lengths_differ(x):
    t = (1, 2)
    for i in range(len(x)):
        if x[i] > 3:
            t = (1, 2, i)
    return t


@pytest.mark.parametrize("fn", [none_before, lengths_differ])
def test_tuples_beside_other_things(fn: Callable[..., Any]) -> None:
    program = fxc.compile(fn, fullgraph=True)
    for x in (np.arange(8.0), np.zeros(8)):
        assert difference(run(fn, (x,)), run(program, (x,))) == ""
    assert program.cache_info().eager_calls == 0


# ------------------------------------------------------------------ a, *b, c = x


def with_a_star(x):
    a, *b, c = x
    b.append(c)
    *rows, last = x.reshape(-1, 2)
    [first, *others] = (1, 2.0, x)
    (d, *e), f = (x[:3], 4)
    return a, b, c, len(rows), last, first, others, d, e, f, [*x[1:]], [*"ab"], [*b]


def of_a_list_of_the_graph(x):
    head, *tail = x.tolist()
    total = 0.0
    for v in tail:
        total += v
    return head, total, len(tail)


def at_places(x):
    held = {}
    held["a"], *held["b"] = x
    return held


def too_few(x):
    try:
        a, b, c, *_d = x[:2]
    except ValueError as error:
        return str(error)
    return a, b, c


@pytest.mark.parametrize("fn", [with_a_star, of_a_list_of_the_graph, at_places, too_few])
def test_a_star_takes_the_rest(fn):
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (6, 3000, 3002):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
    assert compiled.cache_info().eager_calls == 0


# ------------------------------------------------------------------ a, b = x of unknown length


def around_the_largest(x):
    k = int(np.argmax(x))
    a, b, c = x[k - 1 : k + 2]
    return k + 0.5 * (a - c) / (a - 2 * b + c)


def around_each(x):
    total = 0.0
    for k in range(1, len(x) - 1):
        if x[k] > x[k - 1]:
            a, b, c = x[k - 1 : k + 2]
            total += a * c - b
    return total


def from_a_mask(x):
    i, j, _ = np.flatnonzero(x > np.sort(x)[-4])
    return i - j


def from_a_list(x):
    a, b, c = [v * 2 for v in x if v > np.sort(x)[-4]]
    return a - b * c


def of_another_length(x):
    a, b = np.flatnonzero(x > np.sort(x)[-4])
    return a, b


@pytest.mark.parametrize(
    ("fn", "raises"),
    [
        *((each, False) for each in (around_the_largest, around_each, from_a_mask, from_a_list)),
        (of_another_length, True),
    ],
)
def test_so_many_targets_as_there_are_items(fn, raises):
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (60, 61, 300):
        x = np.random.default_rng(n).normal(size=n)
        expected = run(fn, (x,))
        assert (expected.error is not None) is raises
        assert difference(expected, run(compiled, (x,))) == ""
    assert raises or compiled.cache_info().eager_calls == 0
