"""Lists whose length depends on data, of tuples and of None, texts and numbers beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def of_several_lengths(x):
    out = []
    for i in range(len(x)):
        if x[i] > 3:
            out.append((i, x[i], True))
        elif x[i] > 1:
            out.append((i, x[i]))
        else:
            out.append(None)
    return out


def read_again(x):
    out, total, count = [], 0.0, 0
    for i in range(len(x)):
        out.append((i, x[i] * 2) if x[i] > 1 else None)
    for p in out:
        if p:
            count += p[0]
            total += p[1]
    good = [p for p in out if p is not None]
    return total, count, out[-1], out[-1] is None, out[0], [p is None for p in out], len(good)


def links(x):
    before = [None] * len(x)
    for i in range(1, len(x)):
        if x[i] > x[i - 1]:
            before[i] = (i - 1, x[i] - x[i - 1])
    path, k = [], len(x) - 1
    while before[k] is not None:
        k, step = before[k]
        path.append(step)
    return path, k, before


def beside_others(x):
    rows, words, numbers = [], [], []
    for i in range(len(x)):
        pair = (i, x[i])
        rows.append({"i": i, "hit": (x[i], i) if x[i] > 1 else None})
        words.append(pair if x[i] > 1 else f"none {i}")
        numbers.append(pair if x[i] > 1 else -1)
    return rows, sum(1 for row in rows if row["hit"] is None), words, numbers


PROGRAMS = [of_several_lengths, read_again, links, beside_others]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[fn.__name__ for fn in PROGRAMS])
def test_as_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for k in (0, 2, 3, 9):
        x = np.arange(30.0) % 7 - k
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))
    info = compiled.cache_info()
    assert (info.eager_calls, info.variants) == (0, 1)


def stored_row(x):
    out = np.full((len(x), 2), -1)
    for i in range(len(x)):
        best = None
        for k in range(3):
            if x[i] > k:
                best = (k, i)
        if best:
            out[i] = best
    return out


def stored_row_of_floats(x):
    out = np.zeros((len(x), 2))
    for i in range(len(x)):
        best = None
        if x[i] > 1:
            best = (x[i], i)
        if best is not None:
            out[i, :] = best
    return out


def index_of_the_best(x):
    counts = np.zeros((len(x), 3))
    for i in range(len(x)):
        best = None
        for k in range(3):
            if x[i] > k:
                best = (i, k)
        if best is not None:
            counts[best] += counts[i, 0] + 1
    return counts


def index_behind_a_return(x):
    where = None
    for i in range(len(x)):
        if x[i] > 3:
            where = (i, 0)
    y = x.reshape(-1, 1) * 2
    if where is None:
        return 0.0, y
    y[where] -= 1
    return y[where], y


def index_of_all(x):
    rows = np.arange(6.0).reshape(2, 3)
    where = None
    if x[2] > 1:
        where = (1, 2)
    return rows[where] + x[0]


def stored_element(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best = None
        if x[i] > 1:
            best = (x[i], i)
        if best is not None and x[i] > 100:
            out[i] = best
    return out


@pytest.mark.parametrize("fn", [stored_row, stored_row_of_floats])
def test_a_tuple_that_is_there_is_stored_as_a_row(fn: Callable[..., Any]) -> None:
    test_as_python(fn)


@pytest.mark.parametrize("fn", [index_of_the_best, index_behind_a_return])
def test_a_tuple_that_is_there_is_an_index(fn: Callable[..., Any]) -> None:
    test_as_python(fn)


def test_none_as_an_index_is_left_to_numpy() -> None:
    compiled = fxc.compile(index_of_all)
    for x in (np.arange(5.0), np.arange(5.0) / 8):
        assert not difference(run(index_of_all, (x,)), run(compiled, (x,)))


def test_an_element_takes_no_tuple() -> None:
    compiled = fxc.compile(stored_element)
    for x in (np.arange(5.0), np.arange(5.0) * 40):
        assert not difference(run(stored_element, (x,)), run(compiled, (x,)))
