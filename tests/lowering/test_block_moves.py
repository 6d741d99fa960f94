"""Loops that only fill or copy consecutive elements are calls of the C library's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import in_turns
from tests.outcomes import difference, run

RNG = np.random.default_rng(3)


def zeros(x, y):
    x[:] = 0
    return x


def negative_zeros(x, y):
    x[:] = -0.0
    return x


def minus_ones(x, y):
    out = np.zeros(x.shape, np.int32)
    out[1:-1] = -1
    return out


def flags(x, y):
    return np.ones(x.shape, np.bool_), np.zeros(x.shape, np.bool_)


def rows(x, y):
    x[1:3, 2:-1] = 0
    return x


def a_column(x, y):
    x[:, 1] = 0
    return x


def triangle(x, y):
    for i in range(len(x)):
        x[i, :i] = 0
        x[i, i + 1 :] = y[i, i + 1 :]
    return x


def copied(x, y):
    x[...] = y
    return x


def copied_in_part(x, y):
    x[1:, :-2] = y[:-1, 2:]
    return x


def copied_twice(x, y):
    x[...] = y
    return x, y.copy()


def backwards(x, y):
    x[...] = y[:, ::-1]
    return x


def moved(x, y):
    x[1:] = x[:-1]
    x[:, :-1] = x[:, 1:]
    return x


FILLS = zeros, minus_ones, flags, rows, triangle
COPIES = copied, copied_in_part, triangle
OTHERS = copied_twice, negative_zeros, a_column, backwards, moved


@pytest.mark.parametrize(
    ("fn", "dynamic"), in_turns(dict.fromkeys((*FILLS, *COPIES, *OTHERS)), (False, True))
)
def test_fills_and_copies(fn: Callable[..., Any], dynamic: bool) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=dynamic)
    for shape in ((5, 7), (40, 70), (3, 2), (4, 3), (4, 0)):
        x, y = RNG.random(shape), RNG.random(shape)
        there, here = (run(f, (x.copy(), y.copy())) for f in (fn, compiled))
        assert difference(there, here) == ""
    x, y = RNG.random((2, 40, 70))
    text = compiled.inspect(x, y).llvm
    assert ("call void @llvm.memset" in text) is (fn in FILLS)
    assert ("call void @llvm.memcpy" in text) is (fn in COPIES)
