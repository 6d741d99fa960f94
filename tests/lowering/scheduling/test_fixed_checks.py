"""Checks that come out the same in all iterations stand in front of the loop: loops → loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from tests.outcomes import difference, run
from tests.scheduled import body


def rows(x: Any, at: Any, n: int) -> Any:
    """Rows at places that are looked up, of which each loop inside looks at one."""
    out = np.zeros((2, 8))
    for i in range(at.shape[0]):
        for j in range(8):
            out[i % 2, j] += x[at[i], j]
    return out


def none(x: Any, at: Any, n: int) -> Any:
    """Loops that may have no iteration."""
    total = 0.0
    for i in range(at.shape[0]):
        for j in range(n):
            total += x[at[i], j]
    return total


def late(x: Any, at: Any, n: int) -> Any:
    """A place that changes as the loop goes, and one that only some iterations look at."""
    total, k = 0.0, at[0]
    for j in range(8):
        total += x[k, j]
        if x[0, j] > n:
            total += x[at[1], j]
        k = at[k]
    return total


def failing(x: Any, at: Any, n: int) -> Any:
    """What is stored before the check fails."""
    for j in range(8):
        x[0, j] = 5.0
        x[at[0], j] += 1.0
    return x


def by_numpy(x: Any, at: Any, n: int) -> Any:
    """What NumPy is asked for in each iteration, and may fail."""
    total = 0
    for i in range(at.shape[0]):
        total += (at[: abs(at[i])] * 2) @ at[: abs(at[i])]
    return total


@pytest.mark.parametrize("program", [rows, none, late, failing, by_numpy])
@pytest.mark.parametrize("dynamic", [False, True])
def test_they_do_what_numpy_does(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, dynamic=dynamic)
    for places in ([2, 1, 0], [-1, 0, 2], [5, 1, 1], [1, -9, 0], [0, 1, 7]):
        for n in (3, 0, 8):
            x = np.random.default_rng(n).random((3, 8))
            given = x, np.array(places), n
            theirs = x.copy(), np.array(places), n
            assert not difference(run(program, given), run(compiled, theirs)), (places, n)


def test_the_check_of_a_row() -> None:
    loops = fxc.compile(rows).inspect(np.ones((3, 8)), np.array([0, 1, 2]), 3).loops
    assert_expected_inline(
        body(loops),
        """\
t2 = item(at[0])
for i0 in 0:16 moved
  b3[floordiv(i0, 8), mod(i0, 8)] = 0.0
raise if out_of_bounds(t2, 3)
for i in 0:8 lanes 8
  b3[0, i] = add(item(b3[0, i]), item(x[wrap_index(t2, 3), i]))
t13 = item(at[1])
raise if out_of_bounds(t13, 3)
for i_1 in 0:8 lanes 8
  b3[1, i_1] = add(item(b3[1, i_1]), item(x[wrap_index(t13, 3), i_1]))
t24 = item(at[2])
raise if out_of_bounds(t24, 3)
for i_2 in 0:8 lanes 8
  b3[0, i_2] = add(item(b3[0, i_2]), item(x[wrap_index(t24, 3), i_2]))""",
    )
