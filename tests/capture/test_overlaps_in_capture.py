"""What capture concludes from an array that a write to another argument has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def carried(x, y, z):
    for _ in range(len(x)):
        y += 1
        x = x * 0.5
    return x


def carried_and_read(x, y, z):
    for i in range(len(x)):
        y[i] = x[-1]
        x = x + 1
    return x


def positions(x, y, z):
    i = np.nonzero(x > 1)[0]
    y += 1
    j = np.nonzero(x > 1)[0]
    return z[i], z[j]


def chosen_twice(x, y, z):
    a = z[x > 1]
    y -= 1
    b = z[x > 1]
    return a + 1, b + 1


def put_back(x, y, z):
    a = z[x > 1]
    y[:] = 0
    z[x > 1] = a
    return z


def one_by_one(x, y, z):
    y.flat = x
    np.cumsum(x, out=y)
    return y


def mask_that_changes(x, y, z):
    a = z[x]
    y[0] = True
    return a, a.sum(), z[x]


LAYOUTS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "apart": lambda b: (b[:10], b[10:]),
    "same": lambda b: (b[2:12], b[2:12]),
    "shifted": lambda b: (b[:10], b[1:11]),
    "reversed": lambda b: (b[:10], b[9::-1]),
    "interleaved": lambda b: (b[::2], b[:10]),
}
PROGRAMS = [
    *((each, "f8") for each in (carried, carried_and_read, positions, chosen_twice, put_back)),
    (one_by_one, "f8"),
    (mask_that_changes, "?"),
]


@pytest.mark.parametrize(("program", "dtype"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_as_numpy(program: Callable[..., Any], dtype: str) -> None:
    compiled = fxc.compile(program)
    for layout in LAYOUTS.values():
        given = []
        for _ in range(2):
            base = (np.arange(20) / 5 % 3).astype(dtype)
            given.append((*layout(base), np.arange(10.0)))
        assert difference(run(program, given[0]), run(compiled, given[1])) == ""
    assert compiled.cache_info().native_calls or program is one_by_one


def test_first_iteration_that_reads_what_it_has_changed() -> None:
    """The loop began with a copy of the row, made before."""
    compiled = fxc.compile(carried, fullgraph=True)
    for _ in range(2):
        given = [(lambda m: (m[-1], m, m))(np.ones((5, 5))) for _ in range(2)]
        assert difference(run(carried, given[0]), run(compiled, given[1])) == ""
    assert compiled.cache_info().eager_calls == 0
