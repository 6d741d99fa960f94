"""``sum`` of Python's floats, which Python corrects from 3.12 on."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.statements.folded import corrected_total
from tests.outcomes import difference, run

HARD = np.array([1e16, 1.0, -1e16] * 9 + [0.1] * 10)
ROWS = [
    HARD,
    np.array([0.1] * 40),
    np.array([-0.0] * 20),
    np.array([1e308, 1e308, -1e308, 1.0] * 5),
    np.array([1.0, np.inf, -1e16, 2.0] * 5),
    np.array([1.0, 1e16, np.nan, 2.0] * 5),
]


def of_each(x):
    return sum(float(v) for v in x)


def of_a_list(x):
    return sum(x.tolist()), sum([float(v) for v in x[:3]])


def under_a_condition(x):
    return sum(float(v) for v in x if v > 0)


def of_some_numbers(x):
    return sum([float(x[0]), 2, True, float(x[1]), x[2], 3.0, 1e-17], 1), sum(
        (float(x[0]), 1e16, 1.0)
    )


def from_a_start(x):
    return sum([0.1, float(x[1]), 1e16], 0.5), sum([1, 2, float(x[2])], float(x[0]))


def of_an_iterator(x):
    return sum(map(float, x[:5])), sum(v * 1.5 for v in [float(x[0]), float(x[1]), 2.0])


def of_a_nest(x):
    return sum(float(v) * k for k in range(12) for v in x)


def of_others(x):
    return sum(x), sum(v * 0.1 for v in x), sum(len(x) * k for k in range(9)), sum(v > 0 for v in x)


PROGRAMS = [
    *(of_each, of_a_list, under_a_condition, of_some_numbers),
    *(from_a_start, of_an_iterator, of_a_nest, of_others),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_sums_are_pythons(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    with np.errstate(all="ignore"):
        for x in ROWS:
            assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("x", ROWS)
def test_the_correction(x: np.ndarray) -> None:
    """What no version of Python needs to be there for."""
    found = corrected_total(x.tolist(), lambda v: v, None, 0)
    exact = math.fsum(x) if np.isfinite(x).all() and abs(x).max() < 1e300 else found
    assert found == pytest.approx(exact, rel=1e-15, abs=0, nan_ok=True)
    plain = list(itertools.accumulate(x.tolist()))[-1]
    assert math.isfinite(found) or repr(found) == repr(plain)
