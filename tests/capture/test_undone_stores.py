"""Inputs that are written in place before the last check. See Note [Stores that are undone]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import in_turns
from tests.outcomes import difference, run

UNDONE = "stores are undone if a check fails"
Make = Callable[[], tuple[Any, ...]]


def line(img, y, x, k):
    while k > 0:
        img[y, x] += 1
        x += 3
        y += 1
        k -= 1


def rotate(z, i, k):
    while k > 0:
        z[i] = z[i] * 1j
        i += 1
        k -= 1
    z[0] *= 2


def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def move(a, b, i):
    if b[i] > 0:
        k = b[i]
        while k > 0:
            a[k] += 1
            b[a[k]] += 1
            k = b[k]
    return k


def rows(a, i, v):
    while i < 30:
        a[v[i]] += 2.0
        i += 1


def spans(x, idx, y):
    for k in range(len(idx)):
        x[3 * k : 3 * k + 100] += y[idx[k]]


def backwards(x, idx, y):
    for k in range(len(idx)):
        x[len(x) - 3 * k - 1 : len(x) - 3 * k - 101 : -1] += y[idx[k]]


def boxes(x, idx, y):
    for k in range(len(idx)):
        x[k : k + 9, 2 * k : 2 * k + 20] -= y[idx[k]]


def chosen(x, idx, y):
    for k in range(len(idx)):
        i = idx[k]
        if y[i] > 3:
            x[i : i + 8] = y[i]


def swapped(x, idx, y):
    for k in range(len(idx)):
        x[k], x[-1 - k] = x[-1 - k].copy(), x[k] + y[idx[k]]


def at(last: int, n: int, *shape: int) -> Make:
    """An array, places of which the last may be none, numbers to look up."""
    places = np.append(np.arange(n), last)
    return lambda: (np.arange(float(np.prod(shape))).reshape(shape), places, np.arange(9999.0))


def fill(img, y, x, new):
    """A return before the loop: it stands in an arm of a branch."""
    old = img[y, x]
    if old == new:
        return 0
    count = 0
    while img[y, x] == old:
        img[y, x] = new
        count += 1
        x += 2
    return count


CASES: dict[str, tuple[Callable[..., Any], Make, Make]] = {
    "an element of a matrix": (
        line,
        lambda: (np.zeros((200, 300)), 3, 5, 50),
        lambda: (np.zeros((200, 300)), 3, 5, 150),
    ),
    "from the end": (
        line,
        lambda: (np.zeros((200, 300), np.uint8), -9, 5, 9),
        lambda: (np.zeros((200, 300), np.uint8), -9, 5, 250),
    ),
    "a view with gaps is copied": (
        line,
        lambda: (np.zeros((400, 600))[::2, ::2], 3, 5, 50),
        lambda: (np.zeros((400, 600))[::2, ::2], 3, 5, 150),
    ),
    "complex numbers, and a store behind the last check": (
        rotate,
        lambda: (np.arange(2000) + 1j, 1990, 10),
        lambda: (np.arange(2000) + 1j, 1990, 50),
    ),
    "a chain": (
        find,
        lambda: (np.maximum(np.arange(9999) - 1, 0), 9990),
        lambda: (np.where(np.arange(9999) == 30, 10**6, np.arange(9999) - 1), 9990),
    ),
    "a loop in a branch": (
        fill,
        lambda: (np.arange(30000.0).reshape(100, 300) // 50, 5, 3, -1.0),
        lambda: (np.zeros((100, 300)), 5, 3, 8.0),
    ),
    "rows of a few elements": (
        rows,
        lambda: (np.ones((5000, 6)), 3, np.arange(0, 3000, 100)),
        lambda: (np.ones((5000, 6)), 3, np.arange(0, 30000, 1000)),
    ),
    "spans": (spans, at(5, 20, 20000), at(9999, 20, 20000)),
    "spans that reach the end, which is no whole block": (
        spans,
        at(5, 6640, 20011),
        at(-10000, 6640, 20011),
    ),
    "spans from the end": (backwards, at(5, 20, 20000), at(9999, 20, 20000)),
    "boxes": (boxes, at(5, 20, 99, 101), at(9999, 20, 99, 101)),
    "spans under a condition": (chosen, at(5, 50, 20000), at(9999, 50, 20000)),
    "rows from both ends": (swapped, at(5, 20, 900, 33), at(9999, 20, 900, 33)),
}


@pytest.mark.parametrize(("case", "dynamic"), in_turns(CASES, (False, True)))
def test_stores_before_a_check(case: str, dynamic: bool) -> None:
    """What a check that fails leaves is what Python's partial writes start from."""
    program, passes, fails = CASES[case]
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for make in (passes, fails, passes):
        assert difference(run(program, make()), run(compiled, make())) == ""
    assert run(program, fails()).error is not None
    assert compiled.cache_info().eager_calls == 1
    loops = str(compiled.inspect(*passes()).loops)
    assert (UNDONE in loops) is ("gaps" not in case)


def scattered(x, idx, v):
    k = 0
    while idx[k] != 0:
        x[idx[k]] = v
        v = x[idx[k] - 1]
        k += 1
    return v


@pytest.mark.parametrize("code", ["u1", "i2", "i4", "f8", "c16"])
def test_many_stores(code: str) -> None:
    """The first ones are in a log, of which a copy is made when it is full."""
    rng = np.random.default_rng(5)
    compiled = fxc.compile(scattered, fullgraph=True, dynamic=True)
    counts = (3, 1023, 1024, 1025, 3000)
    for stores in counts:
        for last in (0, 10**6, 0):
            idx = np.append(rng.integers(1, 5000, stores) * rng.choice([1, -1], stores), last)

            def make(idx: np.ndarray = idx) -> tuple[Any, ...]:
                return np.arange(5001).astype(code), idx, np.dtype(code).type(7)

            assert difference(run(scattered, make()), run(compiled, make())) == ""
    assert compiled.cache_info().eager_calls == len(counts)
    assert UNDONE in str(compiled.inspect(*make()).loops)


def test_two_inputs() -> None:
    program = move

    def make(last: int) -> tuple[Any, ...]:
        b = np.arange(3000) + 1
        b[40] = last
        return np.arange(3000) % 7 + 50, b, 3

    compiled = fxc.compile(program, fullgraph=True)
    for last in (0, 5000, 0, -1, -9000):
        assert difference(run(program, make(last)), run(compiled, make(last))) == ""


def test_an_empty_part_is_stored_to() -> None:
    """No store is left, hence nothing to keep."""

    def program(a, x, places):
        total = 0.0
        for i in range(1, len(places)):
            a[:0, :i] *= 2
            total += x[places[i]]
        return total

    compiled = fxc.compile(program, fullgraph=True)
    for last in (3, 90):
        args = np.ones((32, 32)), np.arange(8.0), np.append(np.arange(7), last)
        assert difference(run(program, args), run(compiled, args)) == ""
    assert compiled.cache_info().native_calls == 1


@pytest.mark.parametrize("shape", [(50,), (60, 40)])
def test_much_is_copied_before(shape: tuple[int, ...]) -> None:
    """A small input, and one that a loop inside of the loop stores to: a copy costs less."""

    def program(a, i):
        while i < 9:
            for k in range(len(a)):
                a[k, k * i] += 1
            i += 1

    def small(a, i):
        while i < 9:
            a[i * i] += 1
            i += 1

    fn = program if len(shape) == 2 else small
    compiled = fxc.compile(fn, fullgraph=True)
    for start in (6, 8, 9):
        args = np.zeros(shape), start
        expected = run(fn, (np.zeros(shape), start))
        assert difference(expected, run(compiled, args)) == ""
    assert UNDONE not in str(compiled.inspect(np.zeros(shape), 9).loops)
