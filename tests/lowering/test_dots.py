"""Products of two vectors that native code adds up itself: the bits of this process's BLAS."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.operators import dot_order
from fxc.lowering.operators.dot_order import LONGEST, DotOrder

DTYPES = (np.float64, np.float32)
LENGTHS = (*range(40), 63, 64, 65, 96, 127, 131, 255, 500, LONGEST - 1, LONGEST, LONGEST + 1, 3000)


def products(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Of all pairs of beginnings of two vectors."""
    for i in range(out.shape[0]):
        out[i] = x[:i] @ y[:i]


def pieces(x: np.ndarray, y: np.ndarray, lengths: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(lengths)):
        n = lengths[i]
        out[i] = np.dot(x[i : i + n], y[:n])


def layouts(dtype: Any, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((2, 3 * n + 2)).astype(dtype)
    square = rng.standard_normal((n, 7)).astype(dtype)
    yield from itertools.product(
        (x[1 : n + 1], x[: 2 * n : 2], square[:, 3], x[n:0:-1]),
        (y[:n], y[2 : 3 * n + 2 : 3], square[:, 4], y[2 * n : 0 : -2]),
    )


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("dtype", DTYPES)
def test_beginnings_of_vectors(dtype: Any) -> None:
    for n in (100, 61):
        for x, y in layouts(dtype, n):
            fast = fxc.compile(products, fullgraph=True)
            plain, compiled = np.full((2, n), np.nan, dtype)
            products(x, y, plain)
            fast(x, y, compiled)
            np.testing.assert_array_equal(compiled, plain)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("dtype", DTYPES)
def test_lengths_around_all_limits(dtype: Any) -> None:
    fast, lengths = fxc.compile(pieces, fullgraph=True), np.array(LENGTHS)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 2, 3200)).astype(dtype)
    for left, right in ((x[0], y[0]), (x.T[:, 0], y[0]), (x.T[:, 1], y.T.copy()[:, 1])):
        plain, compiled = np.full((2, len(lengths)), np.nan, dtype)
        pieces(left, right, lengths, plain)
        fast(left, right, lengths, compiled)
        np.testing.assert_array_equal(compiled, plain)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 16, 20, 33, 70])
def test_numbers_that_are_special(dtype: Any, n: int) -> None:
    """Infinities, nan, zeros of both signs, and products that are too small or too large."""
    fast = fxc.compile(lambda x, y: x @ y, fullgraph=True)
    info = np.finfo(dtype)
    special = np.array([0.0, -0.0, info.tiny, -info.tiny, info.max, np.inf, -np.inf, np.nan, 1, -1])
    rng = np.random.default_rng(n)
    with np.errstate(all="ignore"):
        for most, _ in itertools.product((4, 5, 8, 10), range(20)):
            x, y = rng.choice(special[:most], (2, n)).astype(dtype)
            for left, right in ((x, y), (x.repeat(2)[::2], y)):
                plain, compiled = left @ right, fast(left, right)
                np.testing.assert_array_equal(compiled, plain)
                assert np.signbit(compiled) == np.signbit(plain) or np.isnan(plain)


def test_overflow_warns_as_numpy_does() -> None:
    fast = fxc.compile(lambda x, y: x @ y, fullgraph=True)
    x = np.full(20, 1e300)
    fast(np.ones(20), np.ones(20))
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert fast(x, x) == np.inf


def test_a_known_order_is_written_and_another_one_is_left_to_numpy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.arange(30.0)
    known = dot_order.dot_order(x.dtype).adjacent is not None
    text = fxc.compile(lambda x, y: x @ y + 1.0).inspect(x, x).llvm
    assert ("fxc.dot.f64" in text) == known
    unknown = DotOrder(None, None)
    monkeypatch.setattr("fxc.lowering.emission.products.dot_order", lambda dtype: unknown)
    fast = fxc.compile(lambda x, y: x @ y + 1.0)
    assert "fxc.dot" not in fast.inspect(x, x).llvm
    assert fast(x, x) == x @ x + 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_order_that_gives_other_numbers_is_not_taken(
    dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What BLAS does is compared with each order; here it adds up from the end."""
    kind = np.dtype(dtype)
    monkeypatch.setattr(
        dot_order._Products, "_sum", lambda self, pair, _: np.dot(*pair[:, ::-1].astype(kind))
    )
    found = dot_order.dot_order.__wrapped__(kind)
    assert found == DotOrder(None, None)


@pytest.mark.parametrize("dtype", [np.dtype(np.float64), np.dtype(np.float32)])
def test_each_order_is_told_from_all_others(dtype: np.dtype) -> None:
    """BLAS with one of the orders is found to have that one."""
    asked = [dot_order._Products(dtype, lengths, 1) for lengths in dot_order._LENGTHS]
    for orders, summing in (
        (dot_order._adjacent_orders(dtype), dot_order._sum_adjacent),
        (dot_order._apart_orders(dtype), dot_order._sum_apart),
    ):
        sums = {b"".join(summing(order, each).tobytes() for each in asked) for order in orders}
        assert len(sums) == len(orders)
