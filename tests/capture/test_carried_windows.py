"""Windows whose place the number of iterations does not say: Note [Windows that loops carry]."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError
from tests.outcomes import difference, run

ARRAYS = (
    np.array([1, 5, 0, 3, 0, 0, 0]),
    np.array([0, 0, 0]),
    np.array([0, 0, 1, 2, 0]),
    np.array([7]),
    np.array([4, 3, 2, 1]),
    np.arange(20.0) % 7,
    np.arange(12)[::2],
)


def trimmed(c):
    while len(c) > 1 and c[-1] == 0:
        c = c[:-1]
    return c


def trimmed_on_both_sides(c):
    while len(c) > 1 and c[-1] == 0:
        c = c[:-1]
    while len(c) > 1 and c[0] == 0:
        c = c[1:]
    return c.sum(), c.copy(), len(c)


def consumed(c):
    """By as much as the data say, and written to."""
    total = 0
    while len(c):
        c[0] += 10
        taken = 1 + int(c[0]) % 3
        total += c[:taken].sum()
        c = c[taken:]
    return total


def left_early(c):
    for _ in range(len(c)):
        if c[0] > 2:
            break
        c = c[1:]
    return c * 2


def halved(c):
    """One window or another."""
    while len(c) > 1:
        middle = len(c) // 2
        if c[middle] > 3:
            c = c[:middle]
        else:
            c = c[middle:]
    return c[0]


def trimmed_in_a_loop(c):
    total = 0
    for start in range(3):
        part = c[start:]
        while len(part) > 1 and part[-1] == 0:
            part = part[:-1]
        total += len(part) * (start + 1)
        part[:] += 1
    return total


def beside_the_whole(c):
    whole = c
    while len(c) > 1 and c[-1] == 0:
        c = c[:-1]
    return c, whole


def corner(c):
    m = np.add.outer(c, c[::-1])
    while m.shape[0] > 1 and m[0, 0] <= m[-1, -1]:
        m = m[1:, :-1]
    return m + 1, m.shape


@pytest.mark.parametrize(
    "program",
    [
        trimmed,
        trimmed_on_both_sides,
        consumed,
        left_early,
        halved,
        trimmed_in_a_loop,
        beside_the_whole,
        corner,
    ],
)
def test_windows_are_numpys(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for array in ARRAYS:
        expected, found = run(program, (array.copy(),)), run(compiled, (array.copy(),))
        assert difference(expected, found) == "", array
    assert compiled.cache_info().variants <= 8


def returned_inside(c):
    while True:
        if len(c) == 0 or c[-1] != 0:
            return c
        c = c[:-1]


def trimmed_in_an_arm(c):
    if c[0] > 0:
        while len(c) > 1 and c[-1] == 0:
            c = c[:-1]
    return c


def compared(c):
    whole = c
    while len(c) > 2 and c[1] != 3:
        c = c[1:-1]
    return c is whole


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [returned_inside, trimmed_in_an_arm, compared])
def test_nobody_takes_a_window_for_the_array_itself(program: Callable[..., Any]) -> None:
    """Without an iteration it is that very object."""
    whole, compiled = fxc.compile(program, fullgraph=True), fxc.compile(program)
    for array in ARRAYS:
        expected = run(program, (array.copy(),))
        assert difference(expected, run(compiled, (array.copy(),))) == "", array
        found = run(whole, (array.copy(),))
        refused = isinstance(found.error, CaptureError)
        assert refused or difference(expected, found) == "", array
