"""Loops over lists and tuples whose items are all one constant, ``[None] * n``: one loop of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc

X = np.arange(12.0) + 1


def beside_an_array(x: Any) -> Any:
    total = 0.0
    for known, v in zip([None] * len(x), x, strict=True):
        if known is not None:
            v = known
        total = total + v * 2
    return total


def with_places(x: Any) -> Any:
    for k, word in reversed(list(enumerate(("a",) * 12))):
        x[k] += 1 if word == "a" else x[k - 1]
    return x


def nested(x: Any) -> Any:
    for _ in [True] * 6:
        for each in [None] * 7:
            x = x * 0.5 + (1 if each is None else each)
    return x


def changed_behind(x: Any) -> Any:
    flags, total = [False] * 10, 0
    for i, flag in enumerate(flags):
        if flag:
            total += i
        if i + 1 < 10:
            flags[i + 1] = i % 2 == 0
    return total, flags


def changed_to_numbers(x: Any) -> Any:
    items, total = [None] * 10, 0
    for i, item in enumerate(items):
        if item is None:
            total += x[i]
        if i + 1 < 10:
            items[i + 1] = x[i]
    return total, items


def changed_by_a_function(x: Any) -> Any:
    items: list[Any] = [None] * 10

    def put(i: int) -> None:
        items[i] = x[i]

    total = 0
    for i, item in enumerate(items):
        total = total + (1 if item is None else item)
        if i < 9:
            put(i + 1)
    return total, items


def grown(x: Any) -> Any:
    items, count = [None] * 10, 0
    for _ in items:
        count += 1
        if count < 5:
            items.append(None)
    return count, len(items)


PROGRAMS = (
    beside_an_array,
    with_places,
    nested,
    changed_behind,
    changed_to_numbers,
    changed_by_a_function,
    grown,
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: str(f.__name__))
def test_programs(f: Callable[..., Any]) -> None:
    compiled = fxc.compile(f, fullgraph=True)
    expected, found = (X.copy(), X.copy())
    assert repr(compiled(found)) == repr(f(expected))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("f", [beside_an_array, nested], ids=lambda f: str(f.__name__))
def test_they_are_loops_of_the_graph(f: Callable[..., Any]) -> None:
    assert str(fxc.compile(f).inspect(X.copy()).captured).count("multiply") == 1


def by_places(x: Any) -> Any:
    steps, total = [x] * 12, x * 1
    for k in range(10, -1, -1):
        total = total + steps[k + 1] * k
    return total, steps[3] is x


def one_array_that_is_written(x: Any) -> Any:
    steps, total = [x[:2]] * 6, 0
    for k in range(6):
        steps[k][0] += k
        total = total + x[0]
    for each in steps:
        each *= 2
    return total, steps


def places_from_data(x: Any) -> Any:
    steps, total = [x] * 10, x * 0
    for v in x:
        total = total + steps[int(v) % 10 - 3]
    return total


def one_array_replaced(x: Any) -> Any:
    steps, total = [x] * 10, 0
    for k, each in enumerate(steps):
        total = total + each
        if k < 9:
            steps[k + 1] = each * 2
    return total


def beyond_the_end(x: Any) -> Any:
    steps = [x] * 10
    for k in range(12):
        x = x + steps[k]
    return x


@pytest.mark.parametrize(
    "f",
    [by_places, one_array_that_is_written, places_from_data, one_array_replaced],
    ids=lambda f: str(f.__name__),
)
def test_lists_of_one_array(f: Callable[..., Any]) -> None:
    test_programs(f)


def test_an_index_that_is_out_of_bounds() -> None:
    for f in (beyond_the_end, fxc.compile(beyond_the_end)):
        with pytest.raises(IndexError, match="list index out of range"):
            f(X.copy())
