"""Loops whose arrays have other sizes in each iteration, which follow from their counters alone."""

from __future__ import annotations

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
