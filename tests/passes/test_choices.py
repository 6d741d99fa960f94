"""Numbers that may be Python's int or NumPy's float: flags that no comparison needs."""

from __future__ import annotations

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def largest_of_some(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = max(0, x[i], y[i], -y[i] - 1.0)
    return out


def best_of_all(x, y):
    best, where = 0, 0
    for i in range(len(x)):
        for j in range(len(y)):
            if x[i] + y[j] > best:
                best, where = x[i] + y[j], (i, j)
    return best, where


def best_until(x, y):
    best, i = 0, 0
    while i < len(x) and best <= 1:
        if x[i] > best:
            best = x[i]
        i += 1
    return best, y[i - 1] > best


def kept_or_not(x, y):
    low = 0
    for i in range(len(x)):
        low = min(x[i], low) if y[i] > 0 else low
    return low + 1, x * low


def of_floats(x, y):
    total = 0
    for i in range(len(x)):
        total = max(total, float(y[i]) * 2)
    return total, total > 1.5


DECIDED = [largest_of_some, best_of_all, best_until]


def one_to_begin_with(x, y):
    best = 1
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
    return best


def counted_beside(x, y):
    best = 0
    for i in range(len(x)):
        if best > 2 and y[i] > 0:
            best = 0
        elif x[i] > best:
            best = x[i]
        elif y[i] < 0:
            best += 1
    return best, best > 1


def set_back(x, y):
    best, low = 0, 5
    for i in range(len(x)):
        if x[i] > best:
            best, low = x[i], 0
        elif y[i] > low:
            best, low = low, y[i]
    return best, low


ALL = [*DECIDED, kept_or_not, of_floats, one_to_begin_with, counted_beside, set_back]


@pytest.mark.parametrize("fn", ALL)
def test_the_number_and_its_type_are_python_s(fn):
    compiled = fxc.compile(fn)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_normal(5) - (seed % 3), rng.standard_normal(5)
        if seed == 7:
            x[:], y[:] = -0.0, 0.0
        assert difference(run(fn, [x, y]), run(compiled, [x, y])) == "", seed


@pytest.mark.parametrize("fn", DECIDED)
def test_no_choice_is_left(fn):
    x = np.linspace(-1, 1, 5)
    stages = fxc.compile(fn, fullgraph=True).inspect(x, -x)
    assert "= where(" in str(stages.captured)
    assert ": f64[] = where(" not in str(stages.functional)


def test_a_choice_of_another_number_stays():
    x = np.linspace(-1, 1, 5)
    stages = fxc.compile(one_to_begin_with, fullgraph=True).inspect(x, -x)
    assert "= where(" in str(stages.functional)
