"""Variables of one type, dtype, size or layout behind one arm and of another behind the other.

See Note [Things that differ].
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run

# ------------------------------------------------------------------ behind a branch


def two_dtypes(x, a, k):
    y = a if x[0] > 0 else k
    return y * 2 + 1, y.sum(), np.maximum(y, 1), -y, y == 0, np.hstack([y, a]), y


def two_sizes(x, a, k):
    y = a[:2] if x[0] > 0 else a
    y += 1
    y[0] = 7.5
    return y.sum(), y.shape, len(y), y


def two_ranks(x, a, k):
    y = a[:, None] * a if x[0] > 0 else a
    return y.ndim, y.T, y.mean(axis=0), np.sum(y)


def array_or_number(x, a, k):
    y = 0
    if x[0] > 0:
        y = a
    z = y + a
    y = y * -0.0
    return z, y, y is a, np.clip(y, 0, 1) + 1


def array_or_none(x, a, k):
    y = None
    if x[0] > 0:
        y = a
    if y is not None:
        y[0] = 5
        return y.sum(), y
    return y


def written_as_each(x, a, k):
    y = a if x[0] > 0 else k
    y[1] = 3.7
    y *= 2
    v = y[1:]
    v[0] += 1
    return v


def which_it_is(x, a, k):
    y = a if x[0] > 0 else k
    z = a if x[1] > 0 else a[1:]
    return y is a, y is k, z is a, isinstance(y, np.ndarray), y.dtype == a.dtype


def of_a_helper(x, a, k):
    def made(i):
        if x[i] > 1:
            return a * x[i]
        if x[i] > 0:
            return 0.5
        return None

    total = 0
    for i in range(4):
        found = made(i)
        if found is not None:
            total = total + found
    return total


def pair_or_none(x, a, k):
    def made(i):
        return None if x[i] > 0 else (i, a * i)

    total = 0.0
    for i in range(4):
        found = made(i)
        if found is None:
            continue
        number, array = found
        total += array.sum() * number
    return total


def list_or_tuple(x, a, k):
    y = [1, x[1]] if x[0] > 0 else (x[1], 2.0)
    first, second = y
    return first, second, y[0], type(y) is list, np.array(y)


def copied_and_compared(x, a, k):
    y = a if x[0] > 0 else 2
    z, w = copy.copy(y), np.copy(y)
    none = a if x[1] > 0 else None
    return z, w, copy.deepcopy(y), none == None, a != None, f"{y}"  # noqa: E711


def numbers_of_python_and_numpy(x, a, k):
    y = a[:1] if x[0] > 0 else x[1]
    z = y + np.float32(0.1)
    return z, np.sqrt(np.abs(y)), float(np.sum(y)), k[0] * y


def placed_where_some_are(x, a, k):
    color = 0
    for limit in (0.0, 1.0, 1.9):
        hit = x > limit
        if np.any(hit):
            new = np.zeros(4)
            np.place(new, hit, a[hit] * 2)
            color = color + new
    return color


# ------------------------------------------------------------------ in loops


def total_of_some(x, a, k):
    total = 0
    for i in range(2000):
        if x[i % 4] > 0:
            total = total + a * i
    return total


def dtype_from_some_iteration_on(x, a, k):
    y, sizes = k * 2, 0
    for i in range(2000):
        if x[i % 4] > 0:
            y = y * 0.5 + a
        sizes += y.itemsize
    return y, sizes


def total_by_while(x, a, k):
    total, i = 0, 0
    while i < 2000 and a[0] < 1e9:
        if x[i % 4] > 1:
            total = total + a
        i += 1
    return total, i


def array_at_once_by_while(x, a, k):
    total, i = 0, 0
    while i < 2000 * x[0]:
        total = total + a
        i += 1
    return total


def row_before(x, a, k):
    m = np.outer(np.arange(2000.0), a)
    last, total = None, 0.0
    for i in range(2000):
        if x[i % 4] > 0:
            if last is not None:
                total += (m[i] - last).sum()
            last = m[i]
    return total


def pair_that_is_best(x, a, k):
    best = None
    for i in range(2000):
        if best is None or x[i % 4] * i > best[0]:
            best = x[i % 4] * i, a * i
    return best


def written_in_loop(x, a, k):
    y = a
    for i in range(2000):
        part = y[:2] if x[i % 4] > 0 else y
        part += 1
    return y


PROGRAMS: list[Callable[..., Any]] = [
    two_dtypes, two_sizes, two_ranks, array_or_number, array_or_none, written_as_each, which_it_is, of_a_helper,
    pair_or_none, placed_where_some_are, list_or_tuple, copied_and_compared, numbers_of_python_and_numpy,
    total_of_some, dtype_from_some_iteration_on, total_by_while, array_at_once_by_while, row_before, pair_that_is_best,
    written_in_loop,
]  # fmt: skip

VALUES = [[1.5, -1.0, 0.5, 2.0], [-1.0, 1.0, 2.0, 0.5], [-1.0, -1.0, -2.0, -3.0], [0.5, 0.5, 1, 1]]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    calls = [(np.array(x), np.arange(4.0) - 1, np.arange(4) - 2) for x in VALUES]
    assert check(program, *calls).cache_info().eager_calls == 0


# ------------------------------------------------------------------ what cannot be told


def view_that_is_kept(x, a, k):
    last = None
    for i in range(2000):
        if x[i % 4] > 0:
            last = a[1:]
    return last


def array_that_others_have(x, a, k):
    last, other = 0, a * 1
    for i in range(2000):
        if x[i % 4] > 0:
            other = a + i
            last = other
    last[0] = 5
    return last, other


@pytest.mark.parametrize("program", [view_that_is_kept, array_that_others_have])
def test_refused(program: Callable[..., Any]) -> None:
    with pytest.raises(fxc.CaptureError, match="cannot be captured"):
        fxc.compile(program, fullgraph=True)(np.ones(4), np.ones(4), np.ones(4, int))


def raised_by_one(x, a, k):
    y = a if x[0] > 0 else 1
    return y[0] + 1


def test_what_one_of_them_cannot_do() -> None:
    """A call with that one goes back to Python, which raises."""
    compiled, eager = fxc.compile(raised_by_one, fullgraph=True), 0
    for x in VALUES:
        args = np.array(x), np.arange(4.0), np.arange(4)
        expected = run(raised_by_one, args)
        eager += expected.error is not None
        assert difference(expected, run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == eager == 2


def test_a_loop_carries_an_array_of_no_axis_of_one_dtype_or_another() -> None:
    def program(x: Any, y: Any, k: float) -> Any:
        m = x[0]
        for i in range(len(x)):
            if y[i] > 0.5:
                m = y[i]
            m = np.where(m > k, m, k)
        return m

    x = np.random.default_rng(0).random((2, 9))
    check(program, (x[0], x[1].astype("f4"), 0.3), (x[1], x[0].astype("f4"), 0.8))
