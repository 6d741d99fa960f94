"""Ints of arguments and counters of loops whose arithmetic leaves 64 bits, though what it comes to,
a size, a place or a bound, does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import in_turns
from tests.outcomes import difference, run

BIG = 6364136223846793005


def place(x, n):
    return x[(n * BIG) % len(x)], x[(n * BIG) >> 60 & 3], x[-(n * BIG) % 7]


def size(x, n):
    return np.zeros((n * BIG) % 11 + 1), np.full(3, n * BIG // 2**50), np.arange((n * BIG) % 5)


def part(x, n):
    return x[(n * BIG) % len(x) :] * 2, x[: n * n * n * n * 2**40 % 7].sum(), x[: -n * BIG]


def trips(x, n):
    total = 0
    for k in range((n * BIG) % 13, min(n * BIG, 40)):
        total += k
    return total


def result(x, n):
    return n * BIG, n * BIG % 2**64 / 7, abs(n * BIG - 2 * n * BIG) % 17 * x, max(n * BIG, n)


def place_in_a_loop(x, n):
    for k in range(n):
        x[(k * BIG) % len(x)] += k
    return x


def hidden_place_in_a_loop(x, n):
    k, total = 0, 0.0
    while k < n:
        total += x[k * BIG // 7 % 5] + x[(k << 61) % 13]
        k += 1
    return total


def size_in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        total += np.ones((k * BIG) % 3 + 1).sum() + x[: k * BIG].sum() + x[k * BIG % 4 :].sum()
    return total


def numbers_of_a_loop(x, n):
    found = np.zeros(n, int)
    for k in range(n):
        found[k] = k * BIG // 2**40 + min(k * BIG, 5)
    return found


def table_in_a_loop(x, n):
    total = 0
    for k in range(n):
        total += (3, 1, 4, 1, 5)[k * BIG % 5]
    return total


PROGRAMS = [
    *(place, size, part, trips, result, place_in_a_loop, hidden_place_in_a_loop),
    *(size_in_a_loop, numbers_of_a_loop, table_in_a_loop),
]


@pytest.mark.parametrize(("program", "dynamic"), in_turns(PROGRAMS, (None, True)))
def test_is_exact(program: Callable[..., Any], dynamic: bool | None) -> None:
    compiled = fxc.compile(program, dynamic=dynamic)
    for n in (1, 2, 30, 3, 200, 7):
        args = (np.arange(40.0), n)
        ours = (np.arange(40.0), n)
        assert not difference(run(program, args), run(compiled, ours)), n


def test_what_cannot_leave_64_bits_is_guarded_no_further() -> None:
    """The sizes of arrays cannot, nor the counters of loops that begin at a known number."""

    def smooth(x, y):
        for i in range(1, len(x) - 1):
            y[2 * i % len(y)] = x[i - 1] + x[(i * 3 + 1) % len(x)]
        return y[len(x) // 3 : 2 * len(x) // 3]

    compiled = fxc.compile(smooth, fullgraph=True, dynamic=True)
    for size in (40, 50, 60):
        x, y = np.arange(float(size)), np.zeros(size)
        assert not difference(run(smooth, (x, y.copy())), run(compiled, (x, y.copy())))
    assert compiled.cache_info().variants == 1
    guards = compiled.inspect(x, y).captured.guards
    assert not any(len(number) > 15 for each in guards for number in re.findall(r"\d+", str(each)))
