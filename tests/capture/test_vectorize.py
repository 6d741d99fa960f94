"""``np.vectorize`` as a loop over elements, with Python's numbers as NumPy gives them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.compiling import check

X = np.linspace(-2.0, 3.0, 24)
N = np.arange(-6, 6)
GRID = X.reshape(6, 4)


def clipped(v: float, low: float = -1.0) -> float:
    if v < low:
        return math.sin(v)
    return math.exp(-v)


def steps(n: int) -> int:
    count = 0
    while abs(n) > 1:
        n, count = n // 2, count + 1
    return count


def parts(v: float, w: float) -> tuple[float, bool]:
    return v * w - 1.0, v > w


CLIPPED = np.vectorize(clipped)


@np.vectorize
def tri(a: float, b: float) -> float:
    return a - b if a > b else b - a


def grown(x):
    seen = []
    found = np.vectorize(lambda v: (seen.append(v), 2 * v)[1])(x)
    return found, seen


def written_meanwhile(x, y):
    def last_of(v, w):
        x[-1] = y[...] = 5.0
        return v + w

    return np.vectorize(last_of, otypes=[float])(x, y), x, y


PROGRAMS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "of a module": (lambda x: CLIPPED(x) * 2.0, [(X,), (X[:1],), (X[:7],)]),
    "an option": (lambda x: CLIPPED(x, low=0.5) + CLIPPED(x, 0.25), [(X,), (X[3:],)]),
    "excluded": (lambda x: np.vectorize(clipped, excluded={1, "low"})(x, 0.5), [(X,)]),
    "decorated": (lambda x, y: tri(x, y), [(X, X[::-1]), (X, 0.5), (X.reshape(6, 4), X[:4])]),
    "broadcast": (lambda x, y: tri(x[:, None], y), [(X, X[:5]), (X[:2], X[:9])]),
    "rank 0": (lambda x: (CLIPPED(x[2]), CLIPPED(0.5), CLIPPED(x[1:2].reshape(()))), [(X,)]),
    "ints": (lambda n: np.vectorize(steps)(n), [(N,), (N.astype("i4"),), (N.astype("u1"),)]),
    "floats as ints": (lambda x: np.vectorize(clipped, otypes=[int])(x), [(X,)]),
    "ints as floats": (lambda n: np.vectorize(steps, otypes="d")(n), [(N,), (N[:0],)]),
    "single precision": (lambda x: np.vectorize(lambda v: v * 1.1)(x), [(X.astype("f4"),)]),
    "narrow ints": (lambda n: np.vectorize(lambda v: 50 * v)(n), [(N.astype("i1") // 4,)]),
    "ints that do not fit": (lambda n: np.vectorize(lambda v: 50 * v)(n), [(N.astype("i1"),)]),
    "no number": (lambda x: np.vectorize(clipped, otypes=[int])(x), [(X * np.nan,)]),
    "truths": (lambda x: np.vectorize(lambda v: v > 0.5)(x), [(X,), (N,)]),
    "as truths": (lambda n: np.vectorize(steps, otypes=[bool])(n), [(N,)]),
    "complex": (lambda x: np.vectorize(lambda v: v * 1j)(x), [(X,)]),
    "two results": (lambda x: np.vectorize(parts)(x, 0.5), [(X,), (X.reshape(2, 12),)]),
    "quotients": (lambda x: np.vectorize(lambda v: 1.0 / v)(x), [(X,), (X - X[3],)]),
    "written meanwhile": (written_meanwhile, [(X, np.array(2.0)), (X[:5], np.array(1.0))]),
    "of nothing": (lambda x: CLIPPED(x), [(X[:0],), (X,)]),
    "calls are counted": (grown, [(X,), (X[:6],)]),
    "other orders": (
        lambda x: np.vectorize(parts)(x, 0.5),
        [(x,) for x in (GRID.T, GRID[:, ::-1], GRID[::2, ::3], np.broadcast_to(X, (3, 24)))],
    ),
    "orders that differ": (
        lambda x, y: tri(x, y),
        [(GRID.T, X[:4]), (GRID, GRID.T.copy().T), (X.reshape(2, 3, 4).transpose(1, 2, 0), 0.5)],
    ),
    "as they are called": (grown, [(GRID.T,), (GRID[:, ::-1],)]),
    "a list": (lambda x: CLIPPED([x[0], 0.5, 2]), [(X,)]),
}
LEFT = {"calls are counted", "as they are called"}  # the list of the program's numbers of two kinds


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_numpy(name: str) -> None:
    program, calls = PROGRAMS[name]
    check(program, *calls, ulps=1.0, fullgraph=name not in LEFT)
