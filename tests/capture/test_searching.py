"""``np.searchsorted`` and ``np.interp`` of one number: by NumPy's steps, also in arrays without order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

SIZES = (0, 1, 2, 3, 4, 5, 6, 10, 11, 13, 40)


def places(a: Any, v: Any) -> Any:
    left, right = np.empty(len(v), np.intp), np.empty(len(v), np.intp)
    for i in range(len(v)):
        left[i] = np.searchsorted(a, v[i])
        right[i] = a.searchsorted(v[i], side="right")
    return left, right, np.searchsorted(a, 0.5), np.searchsorted(a, v)


def between(x: Any, xp: Any, fp: Any) -> Any:
    found = np.empty((2, len(x)))
    for i in range(len(x)):
        found[:, i] = np.interp(x[i], xp, fp), np.interp(x[i], xp, fp, left=0, right=-1.5)
    return found, np.interp(x[0], xp, fp), np.interp(1, xp, fp), np.interp(x, xp, fp)


def arrays(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Points, in order mostly, what is looked up, and values."""
    rng = np.random.default_rng(100 * n + seed)
    a = rng.integers(-5, 6, n).astype(float) if seed % 2 else rng.normal(size=n)
    a = np.sort(a) if seed else a
    f = rng.normal(size=n)
    if n and seed == 2:
        a[rng.integers(n)], f[rng.integers(n)] = np.nan, np.inf
    if n and seed == 3:
        a[-1], f[rng.integers(n)] = np.inf, np.nan
    special = [np.nan, np.inf, -np.inf, -0.0, *a[:3]]
    return a, np.concatenate((rng.integers(-6, 7, 6), rng.normal(size=6), special)), f


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "u1"])
def test_places_are_numpys(kind: str) -> None:
    compiled = fxc.compile(places, fullgraph=True)
    for n in SIZES:
        for seed in range(4):
            a, v, _ = arrays(n, seed)
            if kind != "f8":
                a, v = (np.nan_to_num(x, posinf=9, neginf=-9).astype(kind) for x in (a, v))
            assert not difference(run(places, (a, v)), run(compiled, (a, v))), (n, seed)


def test_values_between_points_are_numpys() -> None:
    compiled = fxc.compile(between)
    for n in SIZES:
        for seed in range(4):
            a, x, f = arrays(n, seed)
            assert not difference(run(between, (x, a, f)), run(compiled, (x, a, f))), (n, seed)


def of_many(a: Any, v: Any, f: Any) -> Any:
    found = np.searchsorted(a, v), a.searchsorted(v, side="right")
    return *found, np.interp(v, a, f), np.interp(v.ravel(), a, f, left=0, right=-1.5)


@pytest.mark.parametrize("kind", ["f8", "i2"])
def test_many_are_looked_up_together(kind: str) -> None:
    """More than ``_FEW``: each step is of all numbers, where the array is in order."""
    compiled = fxc.compile(of_many)
    for n in (1, 2, 3, 7, 40):
        for seed in range(4):
            a, v, f = arrays(n, seed)
            many = np.resize(v, (40, 30))
            if kind != "f8":
                a, many = (np.nan_to_num(x, posinf=9, neginf=-9).astype(kind) for x in (a, many))
            ordered = np.sort(many.ravel()).reshape(many.shape)
            for keys in (many, ordered, np.minimum(ordered, 2)[:, ::-1], many.T):
                given = a, keys, f
                found = run(compiled, given)
                assert not difference(run(of_many, given), found), (n, seed)
                assert all(each.flags.owndata for each in found.result)


def test_many_are_looked_up_by_native_code() -> None:
    a, v, f = np.arange(40.0), np.random.default_rng(3).random((40, 30)) * 41, np.ones(40)
    text = str(fxc.compile(of_many).inspect(a, v, f).loops)
    assert text.count("where(greater_equal(a[") == 1
    assert text.count("where(greater(a[") == 3


@pytest.mark.parametrize("program, name", [(places, "searchsorted"), (between, "interp")])
def test_loops_look_numbers_up_themselves(program: Any, name: str) -> None:
    a, x, f = arrays(40, 0)
    given = (a, x) if program is places else (x, a, f)
    text = str(fxc.compile(program).inspect(*given).captured)
    assert f" = {name}(" not in text


def of_computed_sizes(a: Any, v: Any, f: Any) -> Any:
    some, total = v[v > 0], 0.0
    places, values = np.searchsorted(a, some), np.interp(some, a, f)
    for k in range(1, len(f)):
        total += np.interp(0.25, a[:k], f[:k]) + np.searchsorted(a[:k], v[:k]).sum()
    return places, values, np.searchsorted(a[a > 0], v), np.interp(v, a[a > 0], f[a > 0]), total


def test_sizes_that_depend_on_data() -> None:
    compiled = fxc.compile(of_computed_sizes)
    for n in (10, 14):
        a, v, f = arrays(n, 1)
        assert not difference(run(of_computed_sizes, (a, v, f)), run(compiled, (a, v, f)))
