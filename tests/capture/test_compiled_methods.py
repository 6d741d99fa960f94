"""Methods that are compiled, in functions that are compiled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import fxc
from tests.compiling import check


@dataclass(init=False)
class Filter:
    gain: float

    @fxc.compile
    def __init__(self, gain=2.0):
        self.gain = gain

    @fxc.compile
    def apply(self, x):
        return x * self.gain

    @staticmethod
    @fxc.compile
    def shifted(x):
        return x + 3

    @classmethod
    @fxc.compile
    def named(cls, x):
        return x * len(cls.__name__)

    @property
    @fxc.compile
    def response(self):
        return np.arange(3.0) * self.gain

    @fxc.compile
    def __call__(self, x):
        return x - self.gain

    @fxc.compile
    def __add__(self, x):
        return x + self.gain

    @fxc.compile
    def __len__(self):
        return 7


@dataclass(init=False)
class Smoother(Filter):
    order: int

    @fxc.compile
    def __init__(self):
        super().__init__(0.5)
        self.order = 1

    @fxc.compile
    def apply(self, x):
        return super().apply(x) + self.order


def of_outside(f, x):
    f.gain += 1
    return f.apply(x), f.shifted(x), f.named(x), f.response, f(x), f + x, len(f), f.gain


def of_inside(f, x):
    made = Smoother()
    return made.apply(x), made(x), made + x, len(made), made.gain, Filter(x[1]).apply(x)


def by_class(f, x):
    return Filter.apply(f, x), Filter.shifted(x), Filter.named(x), [*map(f.apply, [x, x + 1])]


@pytest.mark.parametrize("fn", [of_outside, of_inside, by_class])
def test_compiled_methods(fn):
    x = np.arange(3.0)
    for f in (Filter(), Smoother()):
        assert check(fn, (f, x), (f, x * 2)).cache_info().variants == 1
