"""Loops that only fill or copy consecutive elements are calls of the C library's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.bodies import check_body
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


@pytest.mark.parametrize(
    "program",
    [
        "return np.concatenate([x] * 7), np.concatenate([x] * 6 + [x + 1] + [x] * 5, axis=-1)",
        "return np.concatenate([x] * 5, axis=None), np.stack([x] * 8, axis=1) + 1",
        "return np.concatenate([x[1:], *[x * 2] * 6, x[::-1]]), np.array([x] * 9)",
        "y = np.zeros((40, *x.shape[1:])); y[8:33] = np.concatenate([y[6:11] + x[0]] * 5); return y",
        "x[:] = np.concatenate([x[:1]] * x.shape[0]); return x",
        "x[1:] = np.concatenate([x[:-1, 1:2]] * x.shape[1], axis=1); return x",
        "return np.resize(x, (9, 11))",
    ],
)
def test_many_equal_parts_are_stored_by_one_nest(program: str) -> None:
    check_body(program, rank=2)


def test_the_nests_of_a_join_do_not_count_equal_parts() -> None:
    def joined(x: Any) -> Any:
        return np.concatenate([x] * 300), np.stack([x] * 300, axis=1)

    x = RNG.random(50)
    compiled = fxc.compile(joined, fullgraph=True)
    assert all(map(np.array_equal, compiled(x), joined(x)))
    assert str(compiled.inspect(x).loops).count("\n") < 20
