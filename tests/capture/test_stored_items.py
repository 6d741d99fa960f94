"""Lists of numbers as arrays of a given dtype: NumPy asks Python's ``int`` or ``float`` for some."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

GIVEN = [
    ([3.0, 1.5, 2.7, 0.5], 0),
    ([7.0, 300.5, -2.7, 0.5], 1),  # beyond eight bits
    ([1e18, 2.0**53 + 2, 3.0, 4.0], 1),  # a float32 by way of a float64
    ([np.nan, -np.inf, 1.0, 2.0], 1),
    ([-0.9, 1.0, 255.9, 127.0], 0),
]


def some_ints(x):
    return np.array([int(v) for v in x if v > 0], dtype=np.uint8)


def some_floats(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)
    return np.array(kept, dtype=int), np.array(kept, dtype=np.float32)


def some_pairs(x):
    pairs = [(int(v), v) for v in x if v != 1.25]
    return np.array(pairs, dtype=np.float32), np.array(pairs, dtype=int)


def some_of_numpy(x):
    kept = [np.int64(v) for v in x if v > 0]
    return np.array(kept, dtype=np.uint8), np.array(kept, dtype=np.float32)


def as_many(x):
    return np.array([int(v) for v in x], dtype=np.uint8), np.array([2 * v for v in x], np.int16)


def a_few(x):
    i, y = int(x[0]), np.zeros(2, dtype=int)
    y[:] = [x[1], x[2]]
    return np.array([x[0] * 10, x[1]], dtype=int), np.array([[i, 0], [x[2], 1]], np.float32), y


@pytest.mark.parametrize("fn", [some_ints, some_floats, some_pairs, some_of_numpy, as_many, a_few])
def test_lists_with_a_dtype(as_users: None, fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for given, _ in GIVEN:
        x = np.array(given)
        assert difference(run(fn, [x]), run(compiled, [x])) == ""
    left = compiled.cache_info().eager_calls
    assert left <= sum(most for _, most in GIVEN) + (fn in (as_many, some_ints))


def ints_of_a_caller(numbers):
    return np.array(numbers, dtype=np.float32) / 2


def ints_of_a_loop(n):
    out = np.zeros((n, 2), np.float32)
    for i in range(n):
        out[i] = np.array([i, 2 * i + n], np.float32)
    return out


@pytest.mark.parametrize(
    ("fn", "given"),
    [
        (ints_of_a_caller, [[1, 2, 3], [-4, 0, 6], [7, 2**54 + 1, 3], [2**54 + 1, 1, 3]]),
        (ints_of_a_loop, [9, 4, 30]),
    ],
)
def test_native_code_makes_floats_of_ints(
    as_users: None, fn: Callable[..., Any], given: list[Any]
) -> None:
    """NumPy compared each of them with the largest that a float64 holds exactly."""
    compiled = fxc.compile(fn, fullgraph=True)
    for each in given:
        for _ in range(3):
            assert difference(run(fn, [each]), run(compiled, [each])) == ""
    assert not compiled.cache_info().fallbacks
