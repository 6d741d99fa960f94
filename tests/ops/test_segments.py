"""``ufunc.reduceat`` by native code: NumPy's bits, layouts and exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

PLACES = np.array([0, 700, 5, 5, 14, 300, 299, 298, 1])


def _numbers(dtype: str, shape: tuple[int, ...] = (1500,)) -> np.ndarray:
    wide = np.random.default_rng(len(shape)).standard_normal((2, *shape)) * 9
    return (wide[0] + 1j * wide[1] if dtype[0] == "c" else wide[0]).astype(dtype)


def _equal(program: Callable[..., Any], *args: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    given = [arg.copy(order="K") for arg in args]
    text = difference(run(program, args), run(compiled, given))
    assert not text, text
    assert not compiled.cache_info().fallbacks


@pytest.mark.bits
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "u1", "?"])
def test_sums_of_segments_have_numpys_bits(dtype: str) -> None:
    def program(x, i, y):
        one = np.add.reduceat(x, i), np.add.reduceat(x[::-2] + x[::-2], i)
        return one, np.add.reduceat(y, i[:4] % 6, axis=1), np.add.reduceat(y.T, i[:4] % 6, -1)

    _equal(program, _numbers(dtype), PLACES, _numbers(dtype, (5, 6)))


@pytest.mark.bits
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u2", "?"])
def test_what_other_ufuncs_make_of_segments(dtype: str) -> None:
    def program(x, i):
        ends = np.maximum.reduceat(x, i), np.minimum.reduceat(x, i), np.fmax.reduceat(x, i)
        truths = np.logical_or.reduceat(x, i), np.logical_and.reduceat(x, i)
        return ends, truths, np.multiply.reduceat(x, i), np.add.reduceat(x, i, dtype="f4")

    x = (1 + _numbers("f8") / 1000).astype(dtype)
    x[3] = 0
    _equal(program, x, PLACES)


def test_results_lie_as_numpys_iterator_allocates_them() -> None:
    def program(x, i):
        return [np.maximum.reduceat(x, i, axis) for axis in range(3)]

    x = _numbers("f8", (4, 5, 6))
    for order in ((0, 1, 2), (2, 1, 0), (2, 0, 1), (1, 0, 2)):
        _equal(program, x.transpose(order), np.array([0, 2, 1]))


def test_places_out_of_bounds_raise_before_anything_is_written() -> None:
    def program(x, i, out):
        out[:] = np.add.reduceat(x, i)
        return out

    compiled = fxc.compile(program, fullgraph=True)
    for places in ([0, 3], [0, 5], [-1, 2], [4, 1]):
        given = [np.arange(5.0), np.array(places), np.full(2, 7.0)]
        expected, found = run(program, [x.copy() for x in given]), run(compiled, given)
        assert not (text := difference(expected, found)), text
    nothing = np.zeros(0), np.zeros(1, int), np.zeros(1)
    assert not (text := difference(run(program, nothing), run(compiled, nothing))), text


def test_one_compilation_serves_segments_of_all_sizes() -> None:
    def program(x, i):
        return np.add.reduceat(x * 2, i), np.maximum.reduceat(x, i)

    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(0)
    for size in (100, 3000, 50, 2, 40000):
        x = rng.standard_normal(size)
        places = np.sort(rng.integers(0, size, 2 + size // 30))
        for mine, numpys in zip(compiled(x, places), program(x, places), strict=True):
            assert mine.tobytes() == numpys.tobytes()
    assert compiled.cache_info().variants == 2


def test_segments_in_a_loop_and_of_counted_places() -> None:
    def program(x, i):
        total = np.zeros(3)
        for k in range(20):
            if x[k] > 0:
                total += np.add.reduceat(x + k, i[:3])
        return total, np.add.reduceat(x, np.flatnonzero(x > 1)), np.add.reduceat(x[x > 0], [0, 2])

    _equal(program, _numbers("f8"), PLACES)


def test_short_segments_have_no_threads_of_their_own() -> None:
    def program(x, i):
        return np.maximum.reduceat(x, i)

    compiled, x = fxc.compile(program, fullgraph=True), np.arange(1e6)
    places = np.arange(0, 1_000_000, 50)
    assert np.array_equal(compiled(x, places), program(x, places))
    _, segments = str(compiled.inspect(x, places).loops).split("loop ")
    assert "parallel" not in segments


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("dtype", ["?", "u4", "u8", "f8"])
def test_places_of_other_dtypes(dtype: str) -> None:
    """Bools are places, too; what may not fit is refused by NumPy."""

    def program(x, i):
        return np.add.reduceat(x, i)

    args = np.arange(7.0), np.array([1, 0, 1]).astype(dtype)
    assert not difference(run(program, args), run(fxc.compile(program), args))
