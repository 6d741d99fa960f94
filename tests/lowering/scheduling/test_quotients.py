"""Loops whose counter is divided become loops in loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.scheduling.fuse import fuse
from tests.compiling import check
from tests.scheduled import after_building, body


def test_a_turned_array_in_one_row() -> None:
    source = """
functional f(%x: f64[n, m])
  symbols n = 3 (>= 2), m = 4 (>= 2)
  %0: f64[m, n] = transpose_copy(%x, (1, 0))
  %1: f64[m, n] = add(%0, %0)
  %2: f64[n*m] = reshape_copy(%1, (n*m,))
  return %2"""
    assert_expected_inline(
        body(after_building(fuse, source, np.arange(12.0).reshape(3, 4))),
        """\
for i0 in 0:m
  for i0r0 in 0:n
    t1 = x[i0r0, i0]
    b1[i0*n + i0r0] = add(t1, t1)""",
    )


def test_a_total_keeps_its_loop() -> None:
    source = """
functional f(%x: f64[6, 4])
  %0: f64[4, 6] = transpose_copy(%x, (1, 0))
  %1: f64[24] = reshape_copy(%0, (24,))
  %2: f64 = max(%1, axis=None, keepdims=False)
  return %2"""
    assert "mod" in body(after_building(fuse, source, np.arange(24.0).reshape(6, 4)))


def blocks(x: Any, n: int, m: int) -> Any:
    return x.reshape(n, m, -1).transpose(1, 0, 2).reshape(-1) * 2.0


def turned(x: Any, n: int, m: int) -> Any:
    y = x.reshape(-1, n).T + 1.0
    z = y.reshape(n, -1)[::-1].reshape(-1)
    z[::2] *= m
    return z, y


def repeated(x: Any, n: int, m: int) -> Any:
    return np.repeat(x, n) + np.tile(x, n), np.repeat(x.reshape(-1, m), n, axis=0).reshape(-1) - 1.0


def complex_blocks(x: Any, n: int, m: int) -> Any:
    z = x * (1 + 2j)
    return z.reshape(n, -1, m).transpose(2, 0, 1).reshape(m, -1) @ np.ones(x.size // m)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("fn", [blocks, turned, repeated, complex_blocks])
def test_results_are_numpys(fn: Any, dynamic: bool | None) -> None:
    x = np.random.default_rng(2).standard_normal(5040)
    sizes = [(2, 3), (12, 7), (1, 5), (60, 1), (8, 630), (3, 1)]
    for dtype in ("f8", "f4", "i8"):
        check(fn, *((x.astype(dtype), n, m) for n, m in sizes), times=1, dynamic=dynamic)


def test_sizes_in_loops_of_the_program() -> None:
    """Stockham's transform: in each pass the same array is divided in another way."""

    def transform(x: Any, radix: int) -> Any:
        digits = np.arange(radix)
        small = np.exp(-2j * np.pi * np.outer(digits, digits) / radix)
        done, left = 1, x.size
        while left > 1:
            left //= radix
            parts = x.reshape(radix, left, done)
            turns = np.exp(-2j * np.pi * np.outer(digits, np.arange(done)) / (radix * done))
            mixed = small @ (parts * turns[:, None, :]).reshape(radix, left * done)
            x = mixed.reshape(radix, left, done).transpose(1, 0, 2).reshape(-1)
            done *= radix
        return x

    compiled = fxc.compile(transform, fullgraph=True)
    for radix, size in ((4, 256), (2, 64), (3, 81), (5, 5), (2, 1)):
        x = np.random.default_rng(size).standard_normal(size) + 1j
        np.testing.assert_allclose(compiled(x, radix), np.fft.fft(x), rtol=1e-12, atol=1e-12)
    assert not compiled.cache_info().eager_calls
