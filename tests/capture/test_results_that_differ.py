"""Functions whose result is of another kind by what is known at run time only."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run


def pair_or_other_pair(x):
    for i in range(7):
        for j in range(i):
            if x[i] * x[j] > 6:
                return i, j
    return -1, -1


def found_or_none(x):
    for i in range(9):
        if x[i] > 1.5:
            return i, x[i]
        x[i] += 1


def view_or_whole(x):
    if x[2] > 0:
        return x[1:]
    return x


def tuples(x):
    if x[2] > 0:
        return x[1:], None
    return (x * 2, x)


def array_and_number(x):
    for i in range(9):
        if x[i] > 1.5:
            return x, i
    return x, -1


def three_kinds(x):
    if x[1] > 0.5:
        return "large"
    if x[1] > 0.2:
        return 3
    return x.sum()


def else_of_a_loop(x):
    k = 0
    while k < 9:
        if x[k] > 2:
            return x[k] * 2, k
        k += 1
    else:
        return x, x


def made_or_given(x):
    if x[2] > 0:
        y = x * 2
        return y, y, y[1:]
    return x * 3, x, 5


def by_number(x):
    r = x / 12
    for i in range(8):
        new = 0.85 * r[::-1] + 0.15
        err = np.abs(new - r).sum()
        r = new
        if err < 0.5:
            return {0: r[0], 1: i, "rank": r}
    return {0: r[1], 1: -1, "rank": r}


def in_another_order(x):
    if x[3] > 1:
        return {0: x * 2, 1: x}
    return {1: x, 0: 3}


def changed_by_the_caller(x):
    found = by_number(x)
    found[1] += 1
    found[7] = found.pop(0)
    return found, 0 in found, [*found]


def sized(x):
    if x[2] > 0:
        return x[x > 1]
    return None


def sized_in_both(x):
    if x[2] > 0:
        return x[x > 1], 1
    return x[x < 1], 2


CASES = [
    *(pair_or_other_pair, found_or_none, view_or_whole, tuples, array_and_number, three_kinds),
    *(else_of_a_loop, made_or_given, by_number, in_another_order, changed_by_the_caller),
    *(sized, sized_in_both),
]


@pytest.mark.parametrize("fn", CASES, ids=[each.__name__ for each in CASES])
def test_results(fn: Any) -> None:
    x = np.arange(12.0) / 3
    program = check(fn, *((x * scale,) for scale in (1, -1, 0.7, 3, 0.01)))
    assert program.cache_info().variants == 1


def true_or_one(x):
    if x[2] > 0:
        return {True: x * 2}
    return {1: x * 3}


def test_refused() -> None:
    with pytest.raises(fxc.CaptureError, match="else another dict"):
        fxc.compile(true_or_one, fullgraph=True)(np.arange(12.0) / 3)


# ------------------------------------------------------------------ early returns


def counted(x):
    if np.min(x) == np.max(x):
        return np.empty(0)
    found = []
    for i, v in enumerate(x):
        if v > 0.5:
            found.append(i)
    return np.array(found)


def written(x):
    x += 1
    if x.sum() < 0:
        x *= 2
        return []
    x[0] = 7
    return x[x > 2], x


def of_a_helper(x):
    y = np.array([x.sum()])
    return counted(x).sum() + len(counted(x * 2)), y


def last(x):
    if x.sum() > 0:
        y = np.cumsum(x)
        return [v * 2 for v in y[y > 1]], y
    return []


@pytest.mark.parametrize("fn", [counted, written, of_a_helper, last])
def test_early_returns(fn: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    given = [np.arange(12.0) / 3 * scale for scale in (1, 2, -1, 0, 3)]
    for x in given:
        mine, other = x.copy(), x.copy()
        assert difference(run(fn, [mine]), run(compiled, [other])) == ""
    assert compiled.cache_info().variants == 1
    assert 0 < compiled.cache_info().eager_calls <= 2


def numbers_of_a_while(x):
    found, i = [], 0
    while i < len(x):
        if x[i] > 0.5:
            found.append(x[i])
        i += 1
    if not found:
        return np.empty(0)
    return np.array(found)


def rows_of_a_while(x):
    found, i = [], 0
    while i < len(x):
        if x[i] > 0.5:
            found.append((x[i], x[i] + 1))
        i += 1
    if not found:
        return np.empty((0, 2))
    return np.array(found)


@pytest.mark.parametrize("fn", [numbers_of_a_while, rows_of_a_while])
def test_arms_fill_no_more_of_a_result_than_there_is(fn: Any) -> None:
    """Nobody knows how many items may be found: the room is large, and neither arm moves it."""
    compiled = check(fn, *((np.arange(12.0) / 3 * scale,) for scale in (1, 2, -1, 0)))
    kernels = compiled.inspect(np.arange(12.0)).loops
    assert not re.search(r"in 0:\d{5}", str(kernels))


def test_early_returns_are_not_exported() -> None:
    with pytest.raises(fxc.CaptureError, match="by a condition"):
        fxc.export(counted, np.arange(12.0))
