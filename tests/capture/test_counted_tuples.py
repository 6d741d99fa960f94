# ruff: noqa: B905, C414, RUF005
"""Tuples whose length depends on data, and the columns of ``zip(*rows)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def reads(x, y):
    t = tuple([float(v) for v in x if v > 0.5])
    u = tuple(int(v) for v in y if v > 0)
    found = len(t), sum(u), sorted(u), 1 in u, u[1:], u[-1:], t + t, (1.0, *t[:0]), u[:2] + (7,)
    if u:
        found += (max(u), u[0], u.index(u[-1]), u.count(1))
    return found, np.array(t), t * np.ones(len(t)), isinstance(u, tuple), isinstance(u, list)


def carried(x, y):
    u = tuple([int(v) for v in y if v > 0])
    total = 0
    for k in range(len(x)):
        if x[k] > 0.3:
            total += sum(u) - k
    more = [9]
    more.extend(u)
    kept = list(u)
    kept.append(3)
    print(f"{u} {type(u).__name__}", len(kept))
    return u, total, more, kept, tuple(u) is u


def columns(x, y):
    points = [(a, b) for a, b in zip(x, y) if b > 0]
    if not points:
        return None
    xs, ys = zip(*points)
    ws, zs = map(np.array, zip(*points))
    us, vs = map(list, zip(*sorted(points)))
    us.append(0.5)
    return xs, sum(ys), ws @ ws, zs, us, vs, [len(c) for c in zip(*points)]


def columns_of_none(x, y):
    xs, ys = zip(*[(a, b) for a, b in zip(x, y) if b > 5])
    return xs, ys


def stored(x, y):
    t = tuple([float(v) for v in x if v > 0.2])
    t[0] = 1.0
    return t


def joined_with_a_list(x, y):
    return tuple([float(v) for v in x if v > 0.2]) + [1.0]


def as_an_index(x, y):
    u = tuple([int(v) for v in y if v > 1])
    return np.arange(24).reshape(2, 3, 4)[u]


def compared(x, y):
    t = tuple([float(v) for v in x if v > 0.5])
    return t == tuple(list(t)), t == list(t), t < (0.6, 0.7), {t: 1}, type(zip(*[t, t])).__name__


WHOLE = [reads, carried, columns]
OTHERS = [columns_of_none, stored, joined_with_a_list, as_an_index, compared]


@pytest.mark.parametrize("program", [*WHOLE, *OTHERS])
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_as_python(program: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    compiled = fxc.compile(program, fullgraph=program in WHOLE)
    for size in (5, 6, 7, 9, 0, 1, 12):
        rng = np.random.default_rng(size)
        inputs = rng.random(size), rng.integers(-1, 4, size)
        expected, shown = run(program, inputs), capsys.readouterr()
        assert not difference(expected, run(compiled, inputs))
        assert capsys.readouterr() == shown
    if program in WHOLE:
        info = compiled.cache_info()
        assert (info.variants <= 4, info.eager_calls) == (True, 0)
