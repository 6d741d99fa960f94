"""Draws of random numbers: in loops, as one number a call, and as arrays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fxc

from .measure import Row, side_by_side

GROUP = "draws"
_USUAL = 300  # calls after which a function is what it stays


class WrongDraw(Exception):
    """Compiled code draws something else than NumPy."""


def uniform(g: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        total += g.random()
    return total


def integers(g: Any, n: int) -> Any:
    total = 0
    for _ in range(n):
        total += g.integers(10)
    return total


def normal(g: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        total += g.normal(1.0, 2.0)
    return total


def binomial(g: Any, n: int) -> Any:
    """Drift of an allele."""
    p = 0.5
    for _ in range(n):
        p = 0.05 + 0.9 * g.binomial(2000, p) / 2000
    return p


def one(g: Any, n: int) -> Any:
    return g.random() * n


def array(g: Any, n: int) -> Any:
    return g.standard_normal(n) * 2.0


def walk(g: Any, n: int) -> Any:
    """Spins of a ring that flip one by one."""
    spins = np.ones(64)
    for _ in range(n):
        i = int(64 * g.random())
        cost = 2.0 * spins[i] * (spins[i - 1] + spins[(i + 1) % 64])
        if cost <= 0 or g.random() < np.exp(-cost):
            spins[i] = -spins[i]
    return spins


def _not_drawn(g: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total


_PROGRAMS: tuple[tuple[Callable[..., Any], Any, int], ...] = (
    (uniform, np.random.default_rng, 1000),
    (uniform, np.random.RandomState, 1000),
    (integers, np.random.default_rng, 1000),
    (normal, np.random.default_rng, 1000),
    (normal, np.random.RandomState, 1000),
    (binomial, np.random.RandomState, 1000),
    (walk, np.random.default_rng, 1000),
    (one, np.random.default_rng, 1),
    (one, np.random.RandomState, 1),
    *((array, np.random.default_rng, size) for size in (1, 10, 1000, 100_000)),
)


def rows(repeats: int) -> Iterator[Row]:
    """Each program by NumPy and compiled, each side with a generator of its own; then a loop of
    draws over the same loop without.
    """
    for function, kind, size in _PROGRAMS:
        compiled = fxc.compile(function, fullgraph=True)
        one_side, other = kind(1), kind(1)
        for _ in range(_USUAL if size <= 1000 else 5):
            if not np.array_equal(function(one_side, size), compiled(other, size)):
                raise WrongDraw(function.__name__)
        sides = {
            "numpy": lambda: function(one_side, size),  # noqa: B023
            "fxc": lambda: compiled(other, size),  # noqa: B023
        }
        times = side_by_side(sides, repeats, time.thread_time)
        yield Row(GROUP, f"{function.__name__}, {size:,}, {kind(1).__class__.__name__}", "s", times)
    g = np.random.default_rng(1)
    runs = {each: fxc.compile(each, fullgraph=True) for each in (uniform, _not_drawn)}
    loops = {each: lambda run=run: run(g, 1000) for each, run in runs.items()}
    for run in loops.values():
        for _ in range(_USUAL):
            run()
    found = side_by_side(loops, repeats, time.thread_time)
    ratio = found[uniform] / found[_not_drawn]
    yield Row(GROUP, "a loop of 1,000 draws over one of sums", "", {"fxc": ratio})
