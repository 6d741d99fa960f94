"""Elements that loops update under conditions are numbers meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from tests.compiling import same
from tests.scheduled import body


def potential(x: Any, n: int) -> Any:
    """The middle of the arm stands in front of it, too, in lanes."""
    p = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(n):
            if i != j:
                p[i] -= 1 / np.sqrt(np.abs(x[i] - x[j]))
    return p


def neighbours(x: Any, n: int) -> Any:
    """With ``continue``, and two arrays."""
    count, total = np.zeros(x.shape[0], dtype=np.int64), np.ones(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(n):
            if i == j:
                continue
            if x[j] > x[i]:
                count[i] += 1
                total[i] *= x[j] - x[i]
    return count, total


def until(x: Any, n: int) -> Any:
    """A loop that is left."""
    out = np.full(x.shape[0], 2.5)
    for i in range(x.shape[0]):
        for j in range(n):
            if x[j] < 0.2:
                out[i] += x[j] * x[i]
            if out[i] > 3:
                break
    return out


def shared(x: Any, n: int) -> Any:
    """Another element is met as well."""
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(n):
            if x[j] < 0.5:
                out[i] += x[j]
                out[j] -= x[i]
    return out


def callers(x: Any, n: int) -> None:
    """The caller's own array."""
    for i in range(x.shape[0]):
        for j in range(n):
            if j > i:
                x[i] += 0.5


def forces(x: Any, n: int) -> Any:
    """Several elements that are apart."""
    out = np.zeros((x.shape[0], 3))
    for i in range(x.shape[0]):
        for j in range(n):
            if i != j:
                d = x[i] - x[j]
                out[i, 0] += d
                out[i, 2] -= d * d
                if d > 0.5:
                    out[i, 1] = out[i, 1] * 0.5 + d
    return out


def perhaps_one(x: Any, n: int) -> Any:
    """Two elements that may be the same."""
    out = np.zeros((x.shape[0] + 1, 2))
    for i in range(x.shape[0]):
        for j in range(n):
            if i != j:
                out[i, 0] += x[j]
                out[n % (x.shape[0] + 1), 0] -= x[i]
    return out


PROGRAMS = (potential, neighbours, until, forces, shared, callers, perhaps_one)


def text(program: Any) -> str:
    return body(fxc.compile(program).inspect(np.linspace(0, 1, 60), 60).loops)


@pytest.mark.bits
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_they_have_numpys_bits(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, dynamic=dynamic)
    for size, n in ((60, 60), (200, 150), (40, 1), (33, 0), (1, 1), (150, 150)):
        x = np.random.default_rng(size).random(size)
        same(program, compiled, (x, n))


def test_which_are_held() -> None:
    held = [program for program in PROGRAMS if ".held" in text(program)]
    assert held == [potential, neighbours, until, forces]


def test_no_warning_of_the_one_iteration_that_is_left_out() -> None:
    compiled = fxc.compile(potential, fullgraph=True)
    x = np.random.default_rng(0).random(140)
    with np.errstate(all="raise"):
        for _ in range(3):
            assert same(potential, compiled, (x, 140))
    assert compiled.cache_info().native_calls >= 3


def test_a_number_meanwhile() -> None:
    assert_expected_inline(
        text(potential),
        """\
for i0 in 0:60 moved
  b1[i0] = 0.0
loop i in 0:60
  b1.held2[] = b1[i]
  loop i_1 in 0:(n)
    if py_not_equal((i), (i_1))
      b1.held2[] = subtract(item(b1.held2[]), divide(1.0, sqrt(absolute(subtract(item(x[i]), item(x[i_1]))))))
  b1[i] = b1.held2[]""",
    )
