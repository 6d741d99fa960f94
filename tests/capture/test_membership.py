"""``x in items`` and ``any``, ``all`` of items of which some are not known."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

NAN = float("nan")
INTS = np.array([3, 1, 4, 1, 5, 9, 2, 6])
FLOATS = np.array([0.5, NAN, -0.0, 1.0, 2.5, NAN])


def _in_literals(x):
    nothing = ()
    found = np.zeros((6, len(x)), bool)
    for i, v in enumerate(x):
        found[0, i] = v in (1, 2.0, None, "a")
        found[1, i] = v not in [4, x[0], True]
        found[2, i] = v in {1, 9} or v in frozenset((5,))
        found[3, i] = v in nothing
        found[4, i] = i in (1, 3)
        found[5, i] = 3 in (v, i)
    return found, x[0] in (1, 3), type(x[0] in (1, 3))


def _in_ranges(x):
    total = 0
    for v in x:
        if v in range(2, 5):
            total += 1
        if v in range(9, 0, -4):
            total += 10
        if v in range(3, 3) or v not in range(1):
            total += 100
    return total


def _in_varying_ranges(x):
    n, total = len(x), 0
    for i in range(n):
        for j in range(n):
            if i - 1 in range(n) and j + 1 in range(n) and x[i] in range(-1, 4):
                total += 1
            if j in range(i, n) or (i - j) in range(-2, 7, 3):
                total += 100
            if j not in range(n, i, -2) and int(x[j]) in range(i, n):
                total += 10_000
            if x[j] in range(x[i], n) or x[i] - 1 in range(x[j], x[j] + 2) or 5 in range(x[i]):
                total += 10**6
    return total, n - 1 in range(n), n in range(n)


def _in_arrays(x):
    seen = 0
    for i in range(len(x)):
        if x[i] in x[:i]:
            seen += 1
    return seen, 4 in x, x[0] in x


def _searches(x):
    distances = [abs(v - 3) for v in x]
    mixed = [x[0], None, "a", 4, x[2]]
    found = distances.index(min(distances)), distances.count(2), mixed.index(4)
    return found, (x[1], 1.0).index(x[1]), mixed.count(x[0]), [1, 2].index(2), type(found[0])


def _one_nan(x):
    v = x[1]
    return v in (v, 1.0)


def _found_by_nan(x):
    return [x[0], x[1]].count(x[1])


def _by_nan(x):
    return [x[1] in (NAN, 0.5), x[0] in (NAN, 0.5)]


def _alive(grid):
    new = np.zeros_like(grid)
    for i in range(1, grid.shape[0] - 1):
        for j in range(1, grid.shape[1] - 1):
            around = grid[i - 1 : i + 2, j - 1 : j + 2].sum() - grid[i, j]
            if (grid[i, j] and around in (2, 3)) or (not grid[i, j] and around == 3):
                new[i, j] = 1
    return new


def _any_all(x):
    found = []
    for v in x:
        signs = (v > 1, v < 3, v == 5)
        found.append(any(signs) + 2 * all(signs) + 4 * any([v > 5, False]) + 8 * all(()))
    return found, any((x[0] > 1, x[1] > 3)), all([x[0], x[1] > 3])


@pytest.mark.parametrize(
    ("program", "given"),
    [
        *((f, INTS.astype(t)) for f in (_in_literals, _in_ranges, _in_arrays) for t in "iBl"),
        *((_in_varying_ranges, INTS.astype(t)) for t in "ib"),
        *((_searches, INTS.astype(t)) for t in "ild"),
        (_in_arrays, FLOATS),
        (_any_all, INTS),
        (_any_all, FLOATS),
        (_alive, (np.arange(63).reshape(7, 9) % 5 < 2).astype(np.int8)),
    ],
)
def test_numbers_that_are_not_known(program: Callable[..., Any], given: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for x in (given, given[::-1].copy()):
        assert difference(run(program, [x]), run(compiled, [copy.copy(x)])) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def _in_given(x, items):
    return [v in items for v in x], [v for v in x if v not in items]


def _of_python_or_numpy(x):
    found = []
    for v in x:
        if v <= 1:
            share = 0.0
        elif v > 4:
            share = 1.0
        else:
            share = v / 4
        found.append(share in (0.0, 1.0) or share not in [0.5, 0.75])
    return found


def test_a_number_of_python_or_of_numpy() -> None:
    compiled = fxc.compile(_of_python_or_numpy, fullgraph=True)
    for x in (FLOATS, INTS.astype(float)):
        assert difference(run(_of_python_or_numpy, [x]), run(compiled, [x.copy()])) == ""
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("x", [INTS, FLOATS, np.array([2**53, 3, 0]), INTS.astype(np.int8)])
@pytest.mark.parametrize(
    "items",
    [
        *([3, 1], [*range(3, 30)], [0.5, NAN], [k / 2 for k in range(20)], [1, "a", None], []),
        *({3, 1}, {*range(3, 30)}, {0.5, 1.0}, {2**53 + 1, *range(9)}),
    ],
)
def test_in_a_container_from_outside(x: Any, items: Any) -> None:
    compiled = fxc.compile(_in_given, fullgraph=True)
    for given in (x, x[::-1].copy()):
        assert difference(run(_in_given, [given, items]), run(compiled, [given, items])) == ""
    assert compiled.cache_info().variants == 1


@pytest.mark.parametrize("program", [_one_nan, _found_by_nan, _by_nan, _in_literals])
def test_what_holds_a_nan_is_left_to_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    assert difference(run(program, [FLOATS]), run(compiled, [FLOATS.copy()])) == ""
    assert compiled.cache_info().eager_calls == 1


def test_elements_at_a_range_of_data() -> None:
    def program(x: Any, p: Any) -> Any:
        return x[range(p[0], p[1])]

    given = np.arange(9.0), np.array([2, 5])
    with pytest.raises(fxc.CaptureError, match="a range of numbers that are not known"):
        fxc.compile(program, fullgraph=True)(*given)
