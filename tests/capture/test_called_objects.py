"""Objects that NumPy's functions and Python's call for the program: their code is captured, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class Folded:
    def __call__(self, a: Any) -> Any:
        return -a if a < 3 else a


class Joined:
    def __call__(self, a: Any, b: Any) -> Any:
        return a + b if a > b else a - b


class Scaled:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __call__(self, x: Any) -> Any:
        return x * 2 if x.sum() > self.limit else x + 1


folded, joined, scaled = Folded(), Joined(), Scaled(3.0)
total = fxc.compile(np.sum)


@fxc.compile
def ends_of(v):
    return v.sum() if v[0] > 0 else v.min()


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "map": lambda x: list(map(folded, x)),
    "sorted": lambda x: sorted([x[0], x[3], x[2]], key=folded),
    "reduce": lambda x: functools.reduce(joined, x),
    "max": lambda x: (max(x[:3], key=folded), min(list(x), key=folded)),
    "a list of calls": lambda x: ([scaled(x), scaled(-x)], list(map(scaled, [x, -x]))),
    "compiled, over axes": lambda x: np.apply_over_axes(total, x.reshape(2, 3), [0, 1]),
    "compiled, along an axis": lambda x: np.apply_along_axis(ends_of, 1, x.reshape(2, 3)),
    "compiled, by pieces": lambda x: np.piecewise(x, [x < 3, x >= 3], [ends_of, lambda v: v * 2]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_called_for_the_program(name: str) -> None:
    program = PROGRAMS[name]
    compiled = fxc.compile(program, fullgraph=True)
    for x in (np.arange(1.0, 7.0), np.array([5.0, 1.0, -2.0, 8.0, 3.0, 3.0])):
        assert difference(run(program, [x.copy()]), run(compiled, [x.copy()])) == ""


def not_given(x: Any, scale: Any = np._NoValue) -> Any:
    return scale != np._NoValue, scale == np._NoValue, scale is np._NoValue, x + 1


def test_numpys_object_for_what_is_not_given() -> None:
    x = np.ones(3)
    compiled = fxc.compile(not_given, fullgraph=True)
    assert difference(run(not_given, [x]), run(compiled, [x])) == ""
    assert difference(run(not_given, [x, 2.0]), run(compiled, [x, 2.0])) == ""
