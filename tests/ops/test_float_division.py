"""fmod, remainder and floor_divide of floats give NumPy's bits, through compiled functions."""

from __future__ import annotations

import numpy as np
import pytest

import fxc

COUNT = 20_003  # no multiple of a lane count


def _any_bits(dtype: type, rng: np.random.Generator) -> np.ndarray:
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    return rng.integers(0, np.iinfo(unsigned).max, COUNT, unsigned, endpoint=True).view(dtype)


def _subnormal(dtype: type, rng: np.random.Generator) -> np.ndarray:
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    return rng.integers(0, 2 ** (np.finfo(dtype).nmant + 2), COUNT, unsigned).view(dtype)


def _pairs(dtype: type) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(7)
    info = np.finfo(dtype)
    special = [0, 1, 0.5, 2, 3, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal,
               2.0**info.nmant, 2.0 ** (info.nmant + 1), 2.0 ** (info.nmant + 1) - 1,
               2.0 ** (info.nmant + 2), 1 + info.eps, 1 - info.epsneg]  # fmt: skip
    every = np.array(special + [-value for value in special], dtype)
    left, right = (each.ravel() for each in np.meshgrid(every, every))
    y = _any_bits(dtype, rng)
    whole = np.rint(2.0 ** rng.uniform(0, info.nmant + 3, COUNT))
    multiple = (y * whole).astype(dtype)
    return [
        (left, right),
        (_any_bits(dtype, rng), y),
        (_subnormal(dtype, rng), _subnormal(dtype, rng)),
        ((y * 2.0 ** rng.uniform(-3, info.nmant + 3, COUNT)).astype(dtype), y),
        (multiple, y),
        (np.nextafter(multiple, dtype(np.inf)), y),
        (np.nextafter(multiple, dtype(0)), y),
        (rng.integers(-50, 50, COUNT).astype(dtype), rng.integers(-6, 6, COUNT).astype(dtype)),
        (rng.uniform(-100, 100, COUNT).astype(dtype), rng.uniform(-5, 5, COUNT).astype(dtype)),
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ufunc", [np.fmod, np.remainder, np.floor_divide])
def test_bits_are_those_of_numpy(ufunc: np.ufunc, dtype: type) -> None:
    compiled = fxc.compile(lambda x, y: ufunc(x, y), fullgraph=True)
    with np.errstate(all="ignore"):
        for x, y in _pairs(dtype):
            got, expected = compiled(x, y), ufunc(x, y)
            unsigned = f"u{expected.itemsize}"
            same = got.view(unsigned) == expected.view(unsigned)
            same |= np.isnan(got) & np.isnan(expected)
            assert same.all(), (x[~same][0], y[~same][0], got[~same][0], expected[~same][0])
