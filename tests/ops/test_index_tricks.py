"""``np.r_``, ``np.c_``, ``np.mgrid`` and ``np.ogrid`` with traced parts; their results can be written to."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import c_, mgrid, r_

import fxc
from tests.outcomes import difference, run

X = np.random.default_rng(3).normal(size=9)


def _written_in_a_loop(x):
    c = np.r_[0, np.cumsum(x)]
    for _ in range(3):
        c = np.r_[c[0] - 1, c[1:-1], c[-1] + 1]
    return c


def _grid_written_in_a_loop(x):
    rows, columns = np.ogrid[-1:1:3j, -2:2:4j]
    z = grid = rows + columns * 1j
    for i in range(5):
        z = z**2 + grid
        z[z.real > i] = 2
    return z, grid, x


TRICKS: list[Callable[[Any], Any]] = [
    lambda x: np.r_[x, 2.5, x[::-1], x[0], 0 : len(x)],
    lambda x: np.r_["0,2", x, x],
    lambda x: np.r_["1,2,0", x, x],
    lambda x: (np.r_[x.astype("f4"), 2.5], np.r_[x.astype("f4"), x[0]], np.r_[x > 0, True]),
    lambda x: (np.c_[x, x + 1], np.c_[x, np.arange(len(x))], np.c_[x[None], 1.0]),
    lambda x: (np.mgrid[: len(x)] + x, np.ogrid[: len(x), 0:2]),
    lambda x: x.sum() + np.mgrid[0 : len(x), -1:1:3j],
    lambda x: (r_[x, 0 : len(x)], c_[x, x + 1], mgrid[: len(x)] + x),  # names of the module
    _written_in_a_loop, _grid_written_in_a_loop,
    lambda x: (np.r_[x.astype("f4"), len(x)], np.r_[x.astype("u1"), x.size, 1.5]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TRICKS)))
def test_as_numpy(number: int) -> None:
    program = TRICKS[number]
    compiled = fxc.compile(program, fullgraph=True)
    for x in (X, X[:4], X[:0] if number else X[:7], X[:1]):
        assert difference(run(program, [x]), run(compiled, [x])) == ""


def test_what_is_refused_is_named() -> None:
    with pytest.raises(fxc.CaptureError, match=r"matrix|np\.r_ cannot be captured"):
        fxc.compile(lambda x: np.r_["r", x], fullgraph=True, dynamic=True)(X)


def test_axes_of_a_grid_have_the_strides_that_numpy_gives_them() -> None:
    def grids(x):
        return *np.ogrid[0:3, 0:4], *np.ogrid[:2, 0:1:3j, : len(x)], *np.ogrid[:1, :2]

    for found, expected in zip(fxc.compile(grids, fullgraph=True)(X), grids(X), strict=True):
        assert (found.strides, found.flags.num) == (expected.strides, expected.flags.num)
        assert np.array_equal(found, expected)
