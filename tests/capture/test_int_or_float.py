"""Numbers that are an int in one case and a float, or another int, in another.

See Note [Mixed scalars].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

FLOATS = ([0.9, 0.2], [0.1, 0.2], [0.1, 0.9])
INTS = ([5, 7], [0, 7], [0, 0], [1, 0, 2])
SIGNED = ([1.0, 2.0, 3.0], [-1.0, 2.0], [-1.0, -2.0])


def int_or_element(x):
    s = 0
    if x[0] > 0.5:
        s = x[0]
    results = s, s + 1, s * 2 - 3, 1 - s, -s, abs(s), s == 0, s < 1, s >= x[1]
    return results, s + x[1], float(s), bool(s), s + x, np.sqrt(s + x[1]), s * 1.5


def int_or_float(x):
    s = 3
    if x[0] > 0.5:
        s = float(x[0])
    results = s, s + 1, s * 2.5, 1 - s, -s, s == 3, s / 2, s**2, s % 2, s // 2, 7 / (s + 1)
    return results, s + x[1], s * x


def int_or_other_int(x):
    best = -1
    if x[0] > 2:
        best = x[0]
    if x[1] > 2:
        best = x[1]
    return best, best + 1, best * 2, best + x, best == -1, -best, pow(best, 2)


def last_found(x):
    found = -1
    for i in range(len(x)):
        if x[i] > 2:
            found = x[i]
    return found


def followed(p):
    at = 0
    for _ in range(5):
        at = p[at % len(p)]
    return at


def what_it_is(x):
    s = 0
    if x[0] > 0.5:
        s = x[0]
    return isinstance(s, (int, float)), np.sqrt(s + x[1]), min(s, 5), max(s, -1)


def bisected(x):
    low = 0
    high = 1
    for _ in range(20):
        middle = (low + high) / 2
        if middle * middle < x[0]:
            low = middle
        else:
            high = middle
    return low, high, middle, high - low, low < high


def weighted(x):
    w = 1 if x[0] > 0.5 else 0.5
    v = 1 if x[0] > 0.5 else x[1]
    return w * x, w, v * x, v / 3, w + w, w * w, v + v, w < w, w + 1, w * 2.0


def too_large(x):
    s = 2**62
    if x[0] > 0.5:
        s = x[0]
    return s * 2


def sum_of_some(x):
    total = 0
    for v in x:
        if v < 0:
            continue
        total += v
    out = np.zeros(2)
    out[0] = total
    out[1] = total * 2
    return total, out


def converged(x):
    previous = 0
    now = x[0]
    for _ in range(50):
        now = 0.5 * now + 1.0
        if abs(now - previous) < 1e-3:
            break
        previous = now
    return now, previous


def until_converged(x):
    last = 0
    while True:
        now = 0.5 * (last + 1.0 + abs(x[0]))
        if abs(now - last) < 1e-3:
            break
        last = now
    return last


def best_of(x):
    best = -1
    place = -1
    for i, v in enumerate(x):
        if v > best:
            best = v
            place = i
    return best, place


def largest(x):
    m = 0
    for v in x:
        m = max(m, v)
    return m


def jumps(x):
    before = 0
    total = 0
    for v in x:
        if v > 0.5:
            total += v - before
            before = v
    return total


def parts_of_rows(x):
    found = []
    for row in (x, x[::-1], 2 * x):
        s = 0
        for v in row:
            if v < 0.15:
                break
            s += v
        found.append(s)
    return found


def squared(x):
    s = 0
    for v in x:
        if v > 0:
            s += v
    return s * s, s**2, pow(s, 2)


def size_of_a_bool(x):
    s = False
    if x[0] > 0.5:
        s = x[0] > x[1]
    return abs(s)


def sign_of_a_bool(x):
    s = False
    if x[0] > 0.5:
        s = x[0] > x[1]
    return +s


def half(x):
    return sum_of_some(x.astype("f4"))


PROGRAMS: list[tuple[Callable[..., Any], Any]] = [
    *((fn, FLOATS) for fn in (int_or_element, int_or_float, what_it_is, bisected, weighted)),
    *((fn, INTS) for fn in (int_or_other_int, last_found, followed)),
    (size_of_a_bool, FLOATS),
    (sign_of_a_bool, FLOATS[1:]),
    *((fn, SIGNED) for fn in (sum_of_some, half, squared, converged, until_converged, best_of)),
    *((fn, SIGNED) for fn in (largest, jumps, parts_of_rows)),
]


@pytest.mark.parametrize("fn, values", PROGRAMS)
def test_as_numpy(fn, values) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for given in values:
        expected = run(fn, (np.array(given),))
        assert not difference(expected, run(compiled, (np.array(given),)))
    info = compiled.cache_info()
    assert info.eager_calls == 0
    assert info.variants <= 2


def test_an_int_that_outgrows_native_code() -> None:
    compiled = fxc.compile(too_large, fullgraph=True)
    for first in (0.1, 0.9):
        assert not difference(
            run(too_large, (np.array([first]),)), run(compiled, (np.array([first]),))
        )


def compared(x):
    """The bits of the comparison depend on which of the two it is."""
    whole, part = 2**53 + 1, 0.0
    for v in x:
        if v > 0:
            whole = part = v
    large, half = np.array([2**53, 2**53 + 1, 2**53 + 2]), np.array([0.1, 2.5], "f4")
    return large > whole, whole == large, np.less(large, whole), half == part + 0.1, half >= part


def test_comparisons_with_arrays() -> None:
    compiled = fxc.compile(compared, fullgraph=True)
    for x in (np.array([2.0**53, -1.0, 0.0]), -np.ones(3), np.ones(3), np.zeros(3)):
        assert not difference(run(compared, (x,)), run(compiled, (x,)))
    assert compiled.cache_info().eager_calls == 0


def beside_other_types(x):
    s = np.percentile(x[x > 0], 20) if (x > 0).any() else 0
    part = x.max() if x[0] > 0 else 0.0
    ints = np.arange(4)
    return ints * s, s - ints, np.where(ints > 2, s, ints), part * np.ones(2, np.float32)


def test_what_decides_the_dtype_of_an_array() -> None:
    """Native code has the arrays that NumPy's numbers make, and leaves the others to Python."""
    compiled = fxc.compile(beside_other_types, fullgraph=True)
    for x, left in ((np.array([2.0, -1.0, 0.5]), 0), (-np.ones(3), 1), (np.ones(3), 1)):
        assert not difference(run(beside_other_types, (x,)), run(compiled, (x,)))
        assert compiled.cache_info().eager_calls == left


def test_what_decides_the_dtype_of_clipped_ints() -> None:
    """An int of NumPy's does, and one of Python's does not."""

    def program(x, v):
        s = 1
        if v[0] > 0:
            s = v[1]
        return np.clip(x, 0, s), x.clip(max=s)

    compiled = fxc.compile(program, fullgraph=True)
    for first, eager in ((1, 0), (0, 1)):
        args = np.array([5, -2, 1], "i4"), np.array([first, 3])
        assert difference(run(program, args), run(compiled, args)) == ""
        assert compiled.cache_info().eager_calls == eager


@pytest.mark.parametrize("values", [[1 + 2j, 3], [True, False]])
def test_what_has_no_places_is_not_rounded(values) -> None:
    x = np.array(values)
    expected = run(lambda x: round(x[0], 1), (x,))
    assert expected.error is not None
    assert difference(expected, run(fxc.compile(lambda x: round(x[0], 1)), (x,))) == ""


def test_bits_of_an_int_that_may_be_a_float() -> None:
    """A float has none: where it is one, NumPy raises; what the capture met was taken for a bug."""

    def program(x, v, n):
        if x[0] > 0.5:
            n = x[1]
        return n & 3, v[0] ^ n, ~n, 1 << n, n >> v[1]

    compiled = fxc.compile(program, fullgraph=True)
    for first, eager in ((0.25, 0), (0.75, 1), (-1.0, 1)):
        args = np.array([first, 2.0]), np.array([5, 1]), 6
        assert difference(run(program, args), run(compiled, args)) == ""
        assert compiled.cache_info().eager_calls == eager


def steps(x, t):
    """The width of a step is Python's float, its int, or NumPy's float64."""
    width, y, place = 0.25, x * 1, 0
    for k in range(9):
        width = min(width, t - place)
        y += width
        y -= x * width
        if y[0] > 1:
            width *= max(0.2, np.abs(y).max() * 0.75)
        y = np.maximum(y, width) * width + (y > width) + width**y
        place = place + width if k % 3 else place + 1
    return y, place


def test_of_three_types_beside_float64() -> None:
    compiled = fxc.compile(steps, fullgraph=True, math="exact")
    for t in (7, 3, 12.5, 20):
        for x in (np.linspace(0.1, 2.0, 5), np.array([0.1, 0.2, 0.1])):
            assert difference(run(steps, (x, t)), run(compiled, (x.copy(), t))) == ""
    assert compiled.cache_info().eager_calls == 0
