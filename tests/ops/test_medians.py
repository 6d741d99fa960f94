"""``np.median`` of few numbers, along an axis or of all: a sort in native code."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import fxc
from tests.outcomes import difference, run, warnings_of

NATIVE = [
    lambda x: np.median(x),
    lambda x: np.median(x, axis=-1),
    lambda x: np.median(x, axis=0),
    lambda x: np.median(x[::-1, ::2], 1) + np.median(x, axis=(0, 1)),
    lambda x: np.median(sliding_window_view(x, (3, 2)), axis=(-2, -1)),
    lambda x: np.median(sliding_window_view(x, 3, axis=1)[:, 1], axis=[-1]),
]
OTHERS = [
    lambda x: np.median(x[None].T, axis=-1),
    lambda x: np.median(x, axis=()),
    lambda x: np.median(x, axis=(0, 0)),
    lambda x: np.median(x, axis=5),
    lambda x: np.median(x[:0], axis=1),
    lambda x: np.median(x[:0]),
    lambda x: np.median(x, axis=1, keepdims=True),
]


def _arrays(char):
    for shape in ((4, 5), (3, 8)):
        x = (np.random.default_rng(5).random(shape) * 9 - 3 * (char in "bfd")).astype(char)
        yield x
        if char in "fd":
            yield x * 0 * -1
            x[1, 2] = np.nan
            yield x


@pytest.mark.parametrize("char", "?Lfd")
def test_few_numbers_are_sorted(char):
    for fn in NATIVE:
        compiled = fxc.compile(fn, fullgraph=True)
        for x in _arrays(char):
            assert difference(run(fn, [x]), run(compiled, [x])) == ""
        assert not compiled.cache_info().fallbacks


@pytest.mark.parametrize("char", "?Lfd")
def test_few_numbers_of_a_size_that_is_counted(char):
    def program(x):
        kept = x[x.sum(axis=1) > 1]
        return np.median(kept), np.median(kept, axis=0), np.median(kept, axis=1)

    compiled = fxc.compile(program, fullgraph=True)
    for x in _arrays(char):
        assert difference(run(program, [x]), run(compiled, [x])) == ""
        assert warnings_of(compiled, x) == warnings_of(program, x)
    assert not compiled.cache_info().fallbacks


@pytest.mark.parametrize("char", "Lf")
def test_whether_there_are_few_is_known_at_run_time(char):
    def program(x, least):
        return np.median(x[x >= least])

    compiled = fxc.compile(program, fullgraph=True)
    x = (np.random.default_rng(5).random(3000) * 1000).astype(char)
    for least in (990, 5, 950):
        assert difference(run(program, [x, least]), run(compiled, [x, least])) == ""
    assert warnings_of(compiled, x, 2000) == warnings_of(program, x, 2000)
    graph = str(compiled.inspect(x, 5).functional)
    assert graph.index("cond(") < graph.index("sort(") < graph.index("median(")


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", OTHERS)
def test_others_are_numpy_s(fn):
    compiled = fxc.compile(fn)
    x = np.arange(12.0).reshape(3, 4)
    assert difference(run(fn, [x]), run(compiled, [x])) == ""


def test_a_window_in_a_loop():
    def smoothed(image, k):
        padded = np.pad(image, k // 2, mode="reflect")
        out = np.zeros_like(image)
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                out[i, j] = np.median(padded[i : i + k, j : j + k])
        return out

    compiled = fxc.compile(smoothed, fullgraph=True)
    for dtype, k in ((float, 3), (np.uint8, 4), (np.uint8, 5)):
        image = (np.random.default_rng(0).random((6, 7)) * 99).astype(dtype)
        assert difference(run(smoothed, [image, k]), run(compiled, [image, k])) == ""
    assert not compiled.cache_info().fallbacks


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("char", "efdg")
def test_medians_of_what_is_no_nan(char):
    def program(x):
        parts = [np.nanmedian(x[:size]) for size in range(1, 8)]
        return parts, np.nanmedian(x.reshape(4, 4), axis=(0, 1)), np.nanmedian(x[None].T, axis=0)

    compiled = fxc.compile(program)
    x = np.random.default_rng(1).standard_normal(16).astype(char)
    for content in ({}, {1: np.nan, 4: -0.0}, {0: np.nan, 3: np.inf, 9: np.nan}, {2: -np.inf}):
        for place, number in content.items():
            x[place] = number
        assert difference(run(program, [x]), run(compiled, [x])) == ""
    vector = fxc.compile(lambda x: np.nanmedian(x) * 2.0, fullgraph=True)
    vector(x)
    assert bool(vector.cache_info().fallbacks) == (char not in "fd")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_medians_of_rows_and_columns_without_nans(dtype):
    """Rows of 600 elements NumPy takes one by one, and begins to add at +0.0 in any case."""

    def program(x, y):
        rows = np.nanmedian(y, axis=1), np.nanmedian(y[:, :599], axis=-1)
        return np.nanmedian(x, axis=0), np.nanmedian(x[1:], axis=1), rows

    compiled = fxc.compile(program, fullgraph=True)
    r = np.random.default_rng(3)
    x, y = (r.random((7, 6)) * 90).astype(dtype), (r.random((3, 600)) * 90).astype(dtype)
    assert difference(run(program, [x, y]), run(compiled, [x, y])) == ""
    if x.dtype.kind == "f":
        most = np.finfo(dtype).max
        for number in (np.nan, np.inf, -np.inf, -0.0, most):
            x[r.random(x.shape) < 0.3] = number
            y[:, 1:][r.random((3, 599)) < 0.3] = number
            assert difference(run(program, [x, y]), run(compiled, [x, y])) == ""
        x[:] = np.where(np.isnan(x), most, x)
        assert difference(run(program, [x, y]), run(compiled, [x, y])) == ""
    assert not compiled.cache_info().fallbacks


def test_medians_of_nothing_but_nans_are_numpys_call():
    def program(x):
        return np.nanmedian(x, axis=1) * 2, np.nanmedian(x[1:]) + 1

    compiled = fxc.compile(program, fullgraph=True)
    x = np.arange(12.0).reshape(3, 4)
    for row in (0, 2, 1):
        assert difference(run(program, [x]), run(compiled, [x])) == ""
        assert warnings_of(compiled, x) == warnings_of(program, x)
        x[row] = np.nan
