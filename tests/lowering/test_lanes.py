"""How many iterations of a loop run at once: no more than it has, where that is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

RNG = np.random.default_rng(3)
SIZES = [1, 3, 4, 6, 7, 9, 16, 17, 31]


def widths(program: Any, *args: Any) -> set[int]:
    """The lanes of all multiplications of a program."""
    lines = fxc.compile(program).inspect(*args).llvm.splitlines()
    found = [line.split("fmul", 1)[1] for line in lines if " fmul " in line]
    return {int(line.split("<")[1].split(" x")[0]) if "<" in line else 1 for line in found}


def convolution(x: Any, w: Any) -> Any:
    """Totals in the order of the taps, for each filter."""
    out = np.empty((x.shape[0], x.shape[1] - 4, w.shape[2]), x.dtype)
    for i in range(out.shape[1]):
        out[:, i] = np.sum(x[:, i : i + 5, :, np.newaxis] * w[np.newaxis], axis=(1, 2))
    return out


@pytest.mark.parametrize(
    "filters, lanes", [(3, 1), (4, 4), (7, 4), (8, 8), (16, 16), (20, 16), (100, 32)]
)
def test_totals_have_no_more_lanes_than_there_are(filters: int, lanes: int) -> None:
    x, w = RNG.random((3, 20, 9), dtype="f4"), RNG.random((5, 9, filters), dtype="f4")
    assert max(widths(convolution, x, w)) == lanes


@pytest.mark.bits
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_over_few_columns_have_numpys_bits(size: int, dtype: str) -> None:
    x, w = RNG.standard_normal((2, 11, 9)), RNG.standard_normal((5, 9, size))
    args = [x.astype(dtype), w.astype(dtype)]
    args[0][0, 0, 0] = np.nan
    compiled = fxc.compile(convolution, fullgraph=True)
    for _ in range(2):
        assert not difference(run(convolution, args), run(compiled, args))


def _roots(x: Any) -> Any:
    """A check of each element, beside what is stored."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = 1.0 / math.sqrt(float(x[i]))
    return out


def test_loops_of_any_size_that_check_what_they_store() -> None:
    compiled = fxc.compile(_roots, dynamic=True)
    for size in [*range(2, 40), 63, 64, 65, 97]:
        x = RNG.random(size) + 0.1
        assert not difference(run(_roots, [x]), run(compiled, [x]))
        x[size // 2] = -1.0
        assert not difference(run(_roots, [x]), run(compiled, [x]))


def _several(x: Any) -> Any:
    return x.sum(0), x.max(0), x.min(1), np.argmax(x, 0), x.sum(1), x * 2 + 1, x.any(0)


@pytest.mark.bits
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["i1", "f4", "c16"])
def test_short_axes_are_numpys(size: int, dtype: str) -> None:
    x = (RNG.standard_normal((5, size)) * 9).astype(dtype)
    compiled = fxc.compile(_several)
    assert not difference(run(_several, [x]), run(compiled, [x]))
    assert not difference(run(_several, [x.T]), run(fxc.compile(_several), [x.T]))


def _standardized(x: Any, mean: Any, width: Any, gain: Any, bias: Any) -> Any:
    """Five arrays, four of which stay the same along the last axis."""
    rows = [each[:, None] for each in (mean, width, gain, bias)]
    return rows[2] * (x - rows[0]) / rows[1] + rows[3]


def test_lanes_go_along_what_a_loop_inside_loads_not_what_stays_the_same_there() -> None:
    args = RNG.random((16, 500)), *(RNG.random(16) for _ in range(4))
    loops = fxc.compile(_standardized).inspect(*args).loops
    outer, inner = (line.split("#")[0] for line in str(loops).splitlines() if "for " in line)
    assert ("lanes" in outer, "lanes" in inner) == (False, True)
