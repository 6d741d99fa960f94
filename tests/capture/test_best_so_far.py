"""Variables of loops that are the best so far: arrays whose sizes are counted, ``None`` or a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check, same

rng = np.random.default_rng(5)
X = rng.standard_normal(90)
FIXED = np.arange(4)


def consensus(x):
    best = np.empty(0, dtype=int)
    for c in x:
        near = np.flatnonzero(np.abs(x - c) < 0.3)
        if near.size > best.size:
            best = near
    return x[best].mean(), best


def none_at_first(x):
    best = None
    for c in x:
        near = x[np.abs(x - c) < 0.3]
        if best is None or near.sum() > best.sum():
            best = near.copy()
    if best is None:
        raise ValueError("no model")
    return best


def list_at_first(x):
    best = []
    for k in range(len(x)):
        above = np.flatnonzero(x > x[k] + 0.5)
        if len(above) > len(best):
            best = above
    return best, len(best)


def never(x):
    best = start = []
    for k in range(len(x)):
        above = np.flatnonzero(x > x[k] + 100)
        if len(above) > len(best):
            best = above
    return best, best is start


def rows(x):
    points = x[: len(x) // 3 * 3].reshape(-1, 3)
    best = points
    for k in range(len(points)):
        found = points[points[:, 1] > points[k, 0]]
        if 2 < len(found) < len(best):
            best = found
    return best.copy(), best.shape


def until_small(x):
    best = np.flatnonzero(x > 0)
    while len(best) > 3:
        above = best[x[best] > x[best].mean()]
        if len(above) > 2:
            best = above
        else:
            break
    return best


def of_two(x):
    best = np.flatnonzero(x > 0)
    for k in range(len(x)):
        above, below = np.flatnonzero(x > x[k]), np.flatnonzero(x < x[k])
        if len(above) > len(best):
            best = above
        elif len(below) > len(best):
            best = below
    return best


class Fit:
    def __init__(self):
        self.score, self.chosen = -np.inf, None


def in_an_attribute(x):
    fit = Fit()
    for limit in x:
        chosen = np.flatnonzero(x < limit)
        score = len(chosen) - 60 * limit
        if score > fit.score:
            fit.score, fit.chosen = score, chosen
    return fit.score, fit.chosen


def in_two_loops(x):
    best = np.empty(0)
    for k in range(len(x)):
        for shift in (0.0, 0.25, 0.5):
            above = x[x > x[k] + shift]
            if len(above) > len(best):
                best = above
    return best


def written_elsewhere(x):
    best = np.flatnonzero(x > 0)
    for k in range(len(x)):
        above = np.flatnonzero(x > x[k])
        if len(above) > len(best):
            best = above.copy()
        above[:1] += 1000
    return best


def some_left_out(x):
    best, found = -1, None
    for k in range(0, len(x) - 1, 5):
        if x[k] < x[k + 1]:
            continue
        near = x[np.abs(x - x[k]) < 0.3]
        if len(near) < 2:
            continue
        if len(near) > best:
            best, found = len(near), near
    return best, found


def of_two_arms(x):
    found = np.array([])
    for k in range(0, len(x) - 1, 5):
        if x[k] < x[k + 1]:
            near = x[x > x[k]]
            if len(near) > len(found):
                found = near
        elif x[k] > 1:
            found = x[x < x[k]]
    return found


def behind_arms(x):
    near = x[x > 1] if x[3] > 0 else x[x < 0] * 2
    if x[5] > 0:
        near = near[near > np.median(near)]
    return near.sum(), near


@pytest.mark.parametrize(
    "fn",
    [
        *(some_left_out, of_two_arms, behind_arms),
        *(consensus, none_at_first, list_at_first, rows, until_small, of_two),
        *(in_an_attribute, in_two_loops, written_elsewhere, never),
    ],
)
def test_arrays_of_counted_sizes(fn: Callable[..., Any]) -> None:
    check(fn, *[(x,) for x in (X, X[:60], -X[:70], X[:33], X * 3, X[:81], np.abs(X))])


def first_written(x, start):
    best = start
    for k in range(len(x)):
        best[:1] += 1
        above = np.flatnonzero(x > x[k])
        if len(above) % 3 == 0:
            best = above
    return len(best)


def last_written(x, start):
    best = start
    for k in range(len(x)):
        above = np.flatnonzero(x > x[k])
        if len(above) > 40:
            best = above
    best[:1] = 7
    return len(best)


def compared(x, start):
    best, same = start, 0
    for k in range(len(x)):
        if best is start:
            same += 1
        above = np.flatnonzero(x > x[k])
        if len(above) > 40:
            best = above
    return same


def always_new(x, start):
    best, same = start, 0
    for k in range(len(x)):
        if best is start:
            same += 1
        best = np.flatnonzero(x > x[k])
    return same


def returned(x, start):
    best = start
    for k in range(len(x)):
        above = np.flatnonzero(x > x[k])
        if len(above) > 400:
            best = above
    return best


def held_twice(x, start):
    best = last = start
    for k in range(len(x)):
        last[:1] += 100
        last = np.flatnonzero(x > x[k])
        if len(last) % 3 == 0:
            best = last
    return best.sum()


def held_by_an_arm(x, start):
    best = last = start
    for k in range(0, len(x), 9):
        if x[k] > 0:
            best = last = x[x > x[k]]
        elif x[k] < -1:
            last = x[x < 0]
        last[:1] = k
    return best.sum(), last.sum(), best is last


def shown_by_an_arm(x, start):
    best = start
    if x[3] > 0:
        best = x[x > 1]
    start[:1] = best[:1] = 8
    return best, best is start


@pytest.mark.parametrize(
    "fn",
    [
        *(first_written, last_written, compared, always_new, returned, held_twice),
        *(held_by_an_arm, shown_by_an_arm),
    ],
)
def test_which_array_it_is_stays_known(fn: Callable[..., Any]) -> None:
    """Whether it is the array from before the loop, or of an arm, is NumPy's, or Python's to say."""
    compiled = fxc.compile(fn)
    for x in (X, X[:50], np.abs(X), X):
        same(fn, compiled, (x, FIXED))
