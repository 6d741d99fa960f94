"""Ranges of numbers that are not known, and iterators: what else than a loop takes them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError
from tests.outcomes import difference, run

BOUNDS = ([3, 4, 5, 0, 1, 2], [0, 1, 4, 5, 2, 3], [-2, 2, 3, 4, 4, -6])


def inputs(bounds: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(6.0) * 3 % 5, np.array(bounds)


def backwards(x, v):
    s, steps = 0.0, range(0, v[0], 2)[::-1]
    for i in range(len(v)):
        for k in reversed(range(v[i])):
            s = s * 0.5 + x[k]
        for k in range(i, v[i])[::-1]:
            s = s * 0.5 - x[k]
        for k in steps:
            x[i] += x[k] * i
        for k in reversed(range(v[0] * 2**40, v[0] * 2**40 + 3)):
            s += k
    return x, s


def lengths(x, v):
    count = len(range(v[0])) + len(range(v[3], v[4])) * 10
    for i in range(len(v)):
        count += len(range(1, v[i], 2)) + len(range(v[i], i)[::-1])
    return count


def left_early(x, v):
    k = -1
    for k in reversed(range(v[1])):
        if x[k] > 2:
            break
        x[k] = 9
    return x, k


def nested_iterators(x, v):
    s = 0.0
    for i in range(7):
        for k, (p, (j, q)) in enumerate(zip(x, enumerate(reversed(x)), strict=True)):
            s = s * 0.5 + p * q * k - j * i
    return s


@pytest.mark.parametrize("fn", [backwards, lengths, left_early, nested_iterators])
@pytest.mark.parametrize("dynamic", [False, True])
def test_as_python(fn: Callable[..., Any], dynamic: bool) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=dynamic)
    for bounds in BOUNDS:
        assert difference(run(fn, inputs(bounds)), run(compiled, inputs(bounds))) == ""
    info = compiled.cache_info()
    assert (info.native_calls, info.eager_calls) == (len(BOUNDS), 0)


def once(x, v):
    pairs = zip(x, v, strict=True)
    for i in range(7):
        for p, q in pairs:
            x[i % 6] += p * q
    return x


def once_backwards(x, v):
    places = reversed(range(v[0]))
    for i in range(7):
        for k in places:
            x[i % 6] += x[k]
    return x


def once_inside_another(x, v):
    items = reversed(x)
    for i in range(7):
        for k, p in enumerate(items):
            x[i % 6] += p * k
    return x


def empty(x, v):
    return not range(v[0]), x


def equal(x, v):
    return range(v[0]) == range(v[3]), x


def ends(x, v):
    places = range(v[0])
    return places.stop, x


def at_an_end(x, v):
    places = range(v[0])
    return places[-1], x


TWICE, OTHERWISE = "running over one iterator twice", "a range of numbers that are not known"


@pytest.mark.parametrize(
    ("fn", "match"),
    [
        *((fn, TWICE) for fn in (once, once_backwards, once_inside_another)),
        *((fn, OTHERWISE) for fn in (empty, equal, ends, at_an_end)),
    ],
)
def test_refused(fn: Callable[..., Any], match: str) -> None:
    with pytest.raises(CaptureError, match=match):
        fxc.compile(fn, fullgraph=True)(*inputs(BOUNDS[0]))
    compiled = fxc.compile(fn)
    for bounds in BOUNDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            found = run(compiled, inputs(bounds))
        assert difference(run(fn, inputs(bounds)), found) == ""


def numbered(p, x):
    total = 0.0
    for i in range(len(p) - 1):
        for k, j in enumerate(range(p[i], p[i + 1]), 1):
            total += x[j] * k
        for k, j in enumerate(reversed(range(p[i], p[i + 1]))):
            total -= x[j] * k
    return total


def side_by_side(p, x):
    found = []
    for i in range(len(p) - 1):
        for j, v, k in zip(range(p[i], p[i + 1]), x, range(p[i + 1]), strict=False):
            found.append((j, v * k))
    return found


@pytest.mark.parametrize("program", [numbered, side_by_side])
def test_ranges_of_elements_beside_others(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    x = np.linspace(0, 1, 10)
    for p in ([0, 2, 2, 5, 9], [0, 0, 1], [3, 1, 4, 10], [5]):
        expected, found = run(program, (np.array(p), x)), run(compiled, (np.array(p), x))
        assert difference(expected, found) == "", p
    assert compiled.cache_info().eager_calls == 0
