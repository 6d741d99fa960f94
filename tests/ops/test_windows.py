"""Slices and ranges whose bounds are read from arrays, against NumPy. See Note [Windows]."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run

X = np.random.default_rng(4).random(13)
# Within the axis, at its ends, beyond them, from the back, empty.
BOUNDS = np.array([[2, 9], [0, 13], [-4, 40], [7, 3], [-60, -1], [13, 13], [5, 6], [12, -13]])


def _agree(program: Callable[..., Any], *calls: tuple[Any, ...], eager: int = 0) -> Any:
    info = check(program, *calls, eager=eager).cache_info()
    assert not info.fallbacks
    return info


def _read(x, bounds):
    out = np.zeros((len(bounds), 6))
    for k, (lo, hi) in enumerate(bounds):
        out[k, 0] = x[lo:hi].sum()
        out[k, 1] = x[lo:].sum() - x[:hi].sum()
        out[k, 2] = x[3:hi].sum() - x[lo:5].sum()
        out[k, 3] = x[k:hi].sum() - x[lo:k].sum()
        out[k, 4] = len(x[lo:hi:3]) + 100 * len(x[lo:hi:-1]) + 1e4 * len(x[hi::-2])
        out[k, 5] = len(x[:lo:-1]) + 100 * len(x[2:lo:-1])
        out[k, :3] += x[lo:hi][::-1][:1].copy().sum()
    return out


def _backwards(x, bounds):
    out = np.full((len(bounds), 2 * len(x)), -1.0)
    for k in range(len(bounds)):
        part = x[bounds[k, 0] : bounds[k, 1] : -2]
        out[k, : len(part)] = part
        part = x[: bounds[k, 0] : -1]
        out[k, len(x) : len(x) + len(part)] = part
    return out


@pytest.mark.parametrize("dtype", ["i1", "u8"])
def test_bounds_as_python_clamps_them(dtype: str) -> None:
    bounds = (BOUNDS if dtype != "u8" else np.abs(BOUNDS)).astype(dtype)
    for program in (_read, _backwards):
        assert _agree(program, *((X[:n], bounds) for n in (13, 9))).variants == 2


def _write(x, bounds, v):
    for lo, hi in bounds:
        x[lo:hi] += 1
        x[lo:hi] = x[lo:hi][::-1].copy() * v
        x[hi:] -= v
    return x[bounds[0, 0] :]


def test_writes_and_results() -> None:
    _agree(_write, *((X[:n], BOUNDS, 1.5) for n in (13, 9, 7)))


def _own_bounds(x):
    a = x[x[0] : x[1]].sum()
    x[x[0] : x[1]] = 7
    x[0] = 4
    return a, x[x[0] : x[1]].sum(), x[x[0] : x[1]].sum()


def test_bounds_that_change() -> None:
    _agree(_own_bounds, (np.array([1, 6, 3, 4, 5, 6, 7, 8]),), (np.array([2, 5, 1, 1, 1]),))


def _sparse(ptr, columns, values, x):
    y = np.empty(len(ptr) - 1)
    for i, (lo, hi) in enumerate(pairwise(ptr)):
        y[i] = values[lo:hi] @ x[columns[lo:hi]]
    return y


def _sums(ptr, x):
    return np.array([x[lo:hi].sum() for lo, hi in pairwise(ptr)])


def _matrix(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    ptr = np.cumsum(np.r_[0, rng.integers(0, 4, n)]).astype(np.int32)
    return ptr, rng.integers(0, n, ptr[-1]), rng.random(ptr[-1]), rng.random(n)


def test_slices_with_the_same_bounds_are_of_one_length() -> None:
    compiled = fxc.compile(_sparse, fullgraph=True, dynamic=True)
    assert "try_demand" not in str(compiled.inspect(*_matrix(17)).functional)
    assert _agree(_sparse, *(map(_matrix, (17, 5, 40)))).variants == 2
    assert _agree(_sums, *(_matrix(n)[::2] for n in (17, 5, 40))).variants == 2


def _sliding(x, width):
    best, lo = 0.0, 0
    for hi in range(len(x)):
        while x[hi] - x[lo] > width:
            lo += 1
        best = max(best, float(x[lo : hi + 1].mean()))
    return best


def test_window_that_a_condition_moves() -> None:
    _agree(_sliding, *((np.sort(X[:n]), 0.3) for n in (13, 9, 3)))


def _mean_of_nothing(x, bounds):
    total = 0.0
    for lo, hi in bounds:
        total += x[lo:hi].max()
    return total


def test_elements_are_taken_for_granted_and_looked_for() -> None:
    _agree(_mean_of_nothing, (X, BOUNDS[:3]), (X, BOUNDS), eager=2)


def _knapsack(w, v, room):
    best = np.zeros(room + 1)
    for i in range(len(w)):
        for c in range(room, w[i] - 1, -1):
            best[c] = max(best[c], best[c - w[i]] + v[i])
    return best


def _ranges(bounds):
    out = np.zeros((len(bounds), 7), int)
    for k, (lo, hi) in enumerate(bounds):
        for i in range(lo, hi, 3):
            out[k, 0] += i
        for i in range(hi, lo, -2):
            out[k, 1] = out[k, 1] * 3 + i
        for i in range(k, hi, k + 1):
            out[k, 2] = i
        for i in range(-lo, hi, abs(int(lo)) + 1):
            out[k, 3] += i * i
        for i in range(k)[::-1]:
            out[k, 4] = out[k, 4] * 2 + i
        for i in range(k + 4)[1:-1:2]:
            out[k, 5] = out[k, 5] * 2 + i
        out[k, 6] = range(3, 3 + 2 * len(bounds), 2)[-2]
    return out


def test_ranges() -> None:
    weights = np.array([3, 1, 4, 9, 2, 6])
    _agree(_knapsack, (weights, X[:6], 14), (weights[:5], X[:5], 9))
    _agree(_ranges, (BOUNDS,), (BOUNDS[:5],))


def _by_steps(n, step):
    out = []
    for i in range(0, n, step):
        out.append(i)
    return out


def test_steps_that_are_arguments() -> None:
    _agree(_by_steps, (20, 3), (11, 2), (11, -2))


def test_a_step_of_zero_is_pythons() -> None:
    def program(x):
        total = 0
        for i in range(0, 9, x[0]):
            total += i
        return total

    _agree(program, (np.array([2]),), (np.array([0]),), eager=2)


def _sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    p = 2
    while p * p <= n:
        if prime[p]:
            prime[p * p :: p] = False
        p += 1
    return np.flatnonzero(prime)


def _by_read_steps(x, steps):
    out = np.zeros((len(steps), 3))
    for i, k in enumerate(steps):
        out[i, 0] = x[::k].max() + x[1::k].min()
        out[i, 1] = len(x[steps[0] : 9 : k])
        x[2::k] += 1
        x[i:-1:k] = x[i:-1:k] * 2 - 1
    return out, x, x[:: steps[0]] * 2


def test_steps_that_are_read() -> None:
    info = _agree(_sieve, (100,), (30,), (2,), (1000,), (0,))
    assert info.variants <= 3
    for dtype in ("i8", "u1"):
        steps = np.array([1, 2, 3, 30, 5], dtype)
        _agree(_by_read_steps, (X, steps), (X[:7], steps))


def _recorded_twice(x, y):
    for n in range(7):
        if n * n > x[0]:
            break
    for f in y:
        y = 1.0 + y
        x[n:] += f
        x[:: n + 1] *= 0.5
    return x, y


def test_windows_of_an_earlier_recording_of_a_loop() -> None:
    _agree(_recorded_twice, (X.copy(), X + 1), (X[:7] + 3, X[:5]))


@pytest.mark.parametrize(
    ("start", "text"),
    [
        (lambda x: (x[0] < x[1]) + (x[2] < x[3]), r"'numpy\.bool' object cannot"),
        (lambda x: x[:0].sum(), r"'numpy\.float64' object cannot"),
        (lambda x: x[:1].astype(int), "only integer scalar arrays can"),
    ],
)
def test_a_range_takes_ints_only(start: Callable[[np.ndarray], Any], text: str) -> None:
    def program(x, n):
        total = 0
        for i in range(start(x), n, 3):
            total += i
        return total

    compiled, expected = fxc.compile(program), run(program, [X, 5])
    assert difference(expected, run(compiled, [X, 5])) == ""
    if expected.error is not None:  # NumPy 2.0 takes its bools for ints, with a warning
        with pytest.raises(TypeError, match=text):
            fxc.compile(program, fullgraph=True)(X, 5)


def test_read_steps_that_are_not_positive_are_pythons() -> None:
    good, zero, negative = (np.array([2, k]) for k in (3, 0, -1))
    _agree(_by_read_steps, (X, good), (X[:9], good), (X, zero), (X, negative), eager=4)


def _around(x, r):
    out = np.zeros((3, len(x)))
    for i in range(len(x)):
        out[0, i] = x[max(0, i - r) : min(len(x), i + r + 1)].mean()
        out[1, i] = x[max(0, i - 2) : i + 3].max()
        out[2, i] = x[: i + 1].sum() if i < r else x[i - r : i + 1].sum()
    return out


def _by_blocks(a, b):
    out = np.zeros_like(a)
    for i in range(0, len(a), b):
        for k in range(0, len(a), b):
            out[i : i + b] += a[i : i + b, k : k + b] @ a[k : k + b]
            out[i : i + b, k : k + b] *= 0.5
    return out


def _nested(x):
    for width in range(1, 6):
        out = np.empty(len(x))
        for i in range(len(x)):
            out[i] = x[max(0, i - width) : min(len(x), i + width + 1)].mean()
        x = out
    return x


def test_bounds_that_leave_the_axis_in_some_iterations() -> None:
    assert _agree(_around, *((X[:n], 2) for n in (13, 9, 4, 12))).variants <= 2
    a = np.random.default_rng(5).random((13, 13))
    assert _agree(_by_blocks, *((a[:n, :n].copy(), 4) for n in (13, 9, 12, 6))).variants <= 3
    assert _agree(_nested, *((X[:n],) for n in (13, 9, 5))).variants <= 2


def _broadcast(x, y, c):
    z = x + y[x.argmax() : 2]
    x[0:4] = y[x.argmax() : 2] * c
    return x, z


def _into_a_window(x, y, c):
    k = int(y[0])
    x[k:] = y[x.argmax() : 2]
    return x


@pytest.mark.parametrize(("program", "native"), [(_broadcast, 2), (_into_a_window, 1)])
def test_windows_of_one_element_are_broadcast(program: Callable[..., Any], native: int) -> None:
    """They were taken for as long as the target, and read beyond the end."""
    compiled = fxc.compile(program, fullgraph=True)
    for largest in range(4):
        for first in (1.0, 3.0):
            args = [(np.eye(4)[largest] * 5, np.arange(4.0) + first, 2.0) for _ in range(2)]
            assert difference(run(program, args[0]), run(compiled, args[1])) == ""
    assert compiled.cache_info().native_calls == native


def test_a_step_that_is_computed_from_an_argument() -> None:
    """Lowering asked for the bounds of a quotient by it."""

    def program(x, n):
        for i in range(1 // n, n, (n % 1009) ** 2):
            x[i] = i
        return x

    compiled = fxc.compile(program, fullgraph=True)
    for n in (5, 1, 3, 12):
        assert difference(run(program, [X.copy(), n]), run(compiled, [X.copy(), n])) == ""
    assert compiled.cache_info().eager_calls == 0


def _over_a_window(x, ptr):
    total = 0.0
    for v in x[ptr[1] : ptr[2]]:
        total += v
    return total


def _over_windows(x, ptr):
    out = np.empty(len(ptr) - 1)
    for row, (begin, end) in enumerate(zip(ptr[:-1], ptr[1:], strict=True)):  # noqa: RUF007
        total = 0.0
        for v, w in zip(x[begin:end], X[begin:end], strict=False):
            total += v * w
        out[row] = total
    return out


@pytest.mark.parametrize("program", [_over_a_window, _over_windows])
def test_loops_over_windows_outside_of_loops(program: Callable[..., Any]) -> None:
    """Functionalize asked what capture had checked in other words, without end."""
    ptr = np.array([0, 2, 2, 4, 7])
    _agree(program, (X, ptr), (X, ptr.astype(np.int32)), (X[:7], ptr[::2]))


def _sieve(n):
    prime = np.ones(n + 1, bool)
    prime[:2] = False
    for i in range(2, n + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return prime


def _squares(n):
    out = np.zeros(n)
    for i in range(n):
        out[i * i :] += 1
        out[n - i * i :] *= 2
    return out


@pytest.mark.parametrize("program", [_sieve, _squares])
def test_bounds_by_the_square_of_a_counter(program: Callable[..., Any]) -> None:
    assert _agree(program, *((n,) for n in (30, 100, 10, 4, 1000))).variants == 1


def _sparse_rows(data, columns, ptr, x):
    out = np.empty(len(ptr) - 1, data.dtype)
    for row in range(len(out)):
        total = data.dtype.type(0)
        for d, c in zip(data[ptr[row] : ptr[row + 1]], columns[ptr[row] : ptr[row + 1]]):  # noqa: B905
            total += d * x[c]
        out[row] = total
    return out


def test_two_windows_of_arrays_of_one_size() -> None:
    """Functionalize asked with the size of the one what capture had checked with the other's."""
    calls = []
    for n in (5, 8, 2, 20):
        dense = np.arange(n * n).reshape(n, n) * (np.arange(n * n).reshape(n, n) % 3 > 0)
        ptr = np.append(0, np.cumsum((dense != 0).sum(1))).astype(np.int32)
        columns = np.nonzero(dense)[1].astype(np.int32)
        calls.append((dense[dense != 0].astype(np.float32), columns, ptr, np.ones(n, np.float32)))
    assert _agree(_sparse_rows, *calls).variants <= 3
