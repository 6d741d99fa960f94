"""Loops whose arrays have other sizes in each iteration, which follow from their counters alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

RNG = np.random.default_rng(4)


def _radix(x: Any, r: int, k: int) -> Any:
    y = x.copy()
    for i in range(k):
        parts = np.transpose(np.reshape(y, (r**i, r, r ** (k - i - 1))), (1, 0, 2))
        scale = np.repeat(np.reshape(np.arange(r * r**i) + 1.0, (r, r**i, 1)), r ** (k - i - 1), 2)
        y[:] = np.reshape(parts * scale, (r**k,))
    return y


def _halves(x: Any, r: int, k: int) -> Any:
    for i in range(k):
        step = 1 << i
        rows = x.reshape(-1, 2 * step)
        x = np.concatenate((rows[:, :step] + rows[:, step:], rows[:, :step] - rows[:, step:]), 1)
        x = x.ravel()
    return x


def _known(x: Any, r: int, k: int) -> Any:
    total = np.zeros(1)
    for i in range(5):
        total = total + x[: r**i].sum() + np.ones((2**i, 3)).sum()
    return total


@pytest.mark.parametrize("program", [_radix, _halves, _known])
def test_sizes_that_are_powers(program: Callable[..., Any]) -> None:
    """Sizes of one among them: the loop is Python's, and native code runs each call as a whole."""
    compiled = fxc.compile(program, fullgraph=True)
    for r, k in ((2, 5), (2, 5), (2, 7), (3, 4) if program is _radix else (2, 6)):
        given = RNG.random(r**k), r, k
        expected, found = run(program, given), run(compiled, given)
        assert difference(expected, found) == "", (r, k)
    assert compiled.cache_info().eager_calls == 0


def test_long_loops_stay_loops() -> None:
    """Sizes that follow from the counters of many iterations are measured, as before."""

    def program(x: Any, n: int) -> Any:
        total = 0.0
        for i in range(n):
            total += x[: (i * i) % 7 + 2].sum()
        return total

    compiled = fxc.compile(program, fullgraph=True)
    given = RNG.random(50), 40
    assert difference(run(program, given), run(compiled, given)) == ""
    assert "fori_loop" in str(compiled.inspect(*given).captured)


def test_sizes_that_follow_from_data_stay_measured() -> None:
    def program(x: Any, n: Any) -> Any:
        total = 0.0
        for i in range(6):
            total += np.ones(n[i] + 2).sum() * x[i]
        return total

    compiled = fxc.compile(program, fullgraph=True)
    given = RNG.random(6), np.arange(6)
    assert difference(run(program, given), run(compiled, given)) == ""
    assert "fori_loop" in str(compiled.inspect(*given).captured)


def _distances(x: Any) -> Any:
    n, total = len(x), 0.0
    out, small = np.zeros((n, n)), np.zeros((n, n), np.int16)
    for i in range(n):
        for j in range(n):
            out[i, j] = x[i] / (1 + abs(i - j)) + abs(abs(i - 3) - j) % 4
            small[i, j] = (i - j) ** 2
            total += len(range(i, j)) + len(range(j, -1, -2)) * x[abs(i - j)]
            if x[i] > x[j]:
                total -= len(range(i, j)) * abs(i - j)
    return out, small, total


def test_distances_of_two_counters() -> None:
    """``range(i, j)`` has no item where j is less; it had a length below zero."""
    compiled = fxc.compile(_distances, fullgraph=True)
    for n in (9, 12, 7):
        x = RNG.random(n)
        assert difference(run(_distances, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert "fori_loop" in str(compiled.inspect(x).captured)


def test_an_array_of_a_range_that_may_be_empty() -> None:
    """An array of nothing is one of floats."""

    def program(x: Any) -> Any:
        return [np.array(range(i, n)).sum() for i in range(len(x)) for n in (3, i + 1)]

    compiled = fxc.compile(program, fullgraph=True)
    for n in (3, 4, 9):
        x = RNG.random(n)
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""


def test_squares_of_counters_in_bytes() -> None:
    """What terms come to at most may be a number; that was an internal error."""

    def program(x: Any) -> Any:
        small = np.zeros((len(x), len(x)), np.int8)
        for i in range(len(x)):
            for j in range(len(x)):
                small[i, j] = (i - j) ** 2
        return small

    for n in (6, 12):
        x = np.zeros(n)
        with contextlib.suppress(fxc.CaptureError):
            assert difference(run(program, (x,)), _called(program, x)) == ""


def _called(program: Callable[..., Any], x: Any) -> Any:
    compiled = fxc.compile(program, fullgraph=True)
    compiled(x.copy())
    return run(compiled, (x,))


def test_tests_of_counters() -> None:
    """What tests say of a counter where they hold, or do not: NumPy warns for few elements."""

    def program(x: Any) -> Any:
        total = np.zeros((2, 2))
        for i in range(len(x)):
            if i > 20 and i % 3 == 0:
                total += np.cov(x[:i].T)
            if i <= 20 or x[i, 0] > 0.5:
                total -= x[i]
            else:
                total += np.cov(x[:i].T)
        return total

    compiled = fxc.compile(program, fullgraph=True)
    for n in (40, 60, 300):
        x = RNG.random((n, 2))
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().variants == 2
