"""Loops of the user's program that keep the best number so far: lanes make several at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from tests.compiling import same
from tests.scheduled import body


def highest(x: Any) -> Any:
    best, out = x[0], np.empty_like(x)
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
        out[i] = best
    return out, best


def bands(x: Any) -> Any:
    high, low, out = x[0], x[0], np.empty((len(x), 2), x.dtype)
    for i in range(1, len(x)):
        high = max(high, x[i])
        if low > x[i]:
            low = x[i]
        out[i, 0], out[i, 1] = high, low
    out[0] = 0
    return out


def by_ufunc(x: Any) -> Any:
    top, out = x[0], np.empty_like(x)
    for i in range(len(x)):
        top = np.minimum(x[i], top)
        out[i] = top - x[i]
    return out, top


def turned(x: Any) -> Any:
    """The last of equal numbers stays, and a nan of the array does."""
    late, high, low, out = x[0], x[0], x[0], np.empty((3, len(x)), x.dtype)
    for i in range(len(x)):
        if x[i] >= late:
            late = x[i]
        high = max(x[i], high)
        low = min(x[i], low)
        out[0, i], out[1, i], out[2, i] = late, high, low
    return out


def one_behind(x: Any) -> Any:
    """``behind`` reads what the iteration before has left of ``best``."""
    best, behind, out = x[0], x[0], np.empty((2, len(x)), x.dtype)
    for i in range(len(x)):
        behind = np.maximum(behind, best)
        best = np.maximum(best, x[i])
        out[0, i], out[1, i] = behind, best
    return out, behind


def zeros(x: Any) -> Any:
    """Of 0.0 and -0.0 np.maximum takes the second one."""
    early, late, out = x[0] * 0, x[0] * 0, np.empty((2, len(x)), x.dtype)
    for i in range(len(x)):
        early = np.maximum(x[i] * 0, early)
        late = np.maximum(late, x[i] * 0)
        out[0, i], out[1, i] = early, late
    return out


def in_rows(x: Any) -> Any:
    out = np.empty((5, len(x) // 5), x.dtype)
    for i in range(5):
        best = x[i]
        for j in range(out.shape[1]):
            best = min(best, x[i + 5 * j])
            out[i, j] = best
    return out


def in_place(x: Any) -> None:
    best = x[0]
    for i in range(len(x)):
        best = max(best, x[i])
        x[i] = best


def made(n: int, dtype: str) -> Any:
    rng = np.random.default_rng(n)
    x = rng.integers(-9, 10, n).astype(dtype)
    if dtype[0] == "f":
        x[rng.random(n) < 0.3] = -0.0
        x[rng.random(n) < 0.2] = np.nan
    return x


@pytest.mark.bits
@pytest.mark.parametrize(
    "program", [highest, bands, by_ufunc, turned, one_behind, zeros, in_rows, in_place]
)
def test_the_best_so_far(program: Any) -> None:
    for dtype in ("i8", "f8", "f4", "i2"):
        compiled = fxc.compile(program, fullgraph=True)
        for n in (60, 5, 133):
            x = made(n, dtype)
            assert same(program, compiled, (x,))
            assert same(program, compiled, (np.sort(x),))


def test_the_loops() -> None:
    assert_expected_inline(
        body(fxc.compile(highest).inspect(np.arange(500)).loops),
        """\
b1[] = item(x[0])
for i0 in 0:500 moved
  b2[i0] = 0
i.b1.start = b1[]
for i in 0:500 ordered lanes 8
  i.chosen2 = maximum item(x[i])  [sequential from i.b1.start]
  b2[i] = i.chosen2
b1[] = i.chosen2""",
    )
    assert_expected_inline(
        body(fxc.compile(highest).inspect(np.arange(500.0)).loops),
        """\
b1[] = item(x[0])
for i0 in 0:500 moved
  b2[i0] = 0.0
i.b1.start = b1[]
for i in 0:500 ordered lanes 8
  t4 = item(x[i])
  i.chosen2 = py_maximum where(isnan(t4), -inf, t4)  [sequential from i.b1.start]
  b2[i] = i.chosen2
b1[] = i.chosen2""",
    )
