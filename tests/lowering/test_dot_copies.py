"""Matrices that ``np.dot`` copies before it multiplies them by a vector, or does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import same

Program = Callable[[Any, Any, Any], None]


def fewer_columns(W: Any, v: Any, out: Any) -> None:
    """Down to none; with 3 and 2 BLAS has another order if there are no gaps."""
    for i in range(W.shape[1] + 1):
        out[i, : W.shape[1] - i] = np.dot(v, W[:, i:])


def more_columns(W: Any, v: Any, out: Any) -> None:
    for i in range(W.shape[1] + 1):
        out[i, :i] = np.dot(v, W[:, :i])


def transposed(W: Any, v: Any, out: Any) -> None:
    """All of the first array has no gaps."""
    for i in range(W.shape[1] + 1):
        out[i, : W.shape[1] - i] = np.dot(W[:, i:].T, v)


def shorter_rows(W: Any, v: Any, out: Any) -> None:
    for i in range(W.shape[0] + 1):
        out[i, : W.shape[1]] = np.dot(W.T[:, i:], v[i:])


def longer_rows(W: Any, v: Any, out: Any) -> None:
    """Up to 8 elements are added up by loops of their own, if there are no gaps between rows."""
    for i in range(W.shape[1] + 1):
        out[i, : W.shape[0]] = np.dot(W[:, :i], v[:i])


def other_rows(W: Any, v: Any, out: Any) -> None:
    for i in range(W.shape[0] + 1):
        out[i, : W.shape[1]] = np.dot(v[i:], W[i:])


def every_second(W: Any, v: Any, out: Any) -> None:
    for i in range(W.shape[1] + 1):
        s = np.dot(v, W[:, i::2])
        out[i, : s.shape[0]] = s


PROGRAMS: tuple[Program, ...] = (
    fewer_columns, more_columns, transposed, shorter_rows, longer_rows, other_rows, every_second,
)  # fmt: skip


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_windows_that_vary(program: Program, dtype: Any) -> None:
    rng, rows, columns = np.random.default_rng(1), 19, 14
    wide = rng.standard_normal((rows, columns + 5)).astype(dtype)
    vectors = rng.standard_normal((rows, 2)).astype(dtype)
    for W in (wide[:, :columns].copy(), wide[:, 2:-3]):
        for v in (vectors[:, 0].copy(), vectors[:, 1]):
            compiled = fxc.compile(program, fullgraph=True)
            out = np.zeros((rows + columns, rows + columns), dtype)
            assert same(program, compiled, (W, v, out))


FORMS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda v, W: np.dot(v, W),
    lambda v, W: np.dot(v[None], W),  # a single row is a vector, too
    lambda v, W: np.dot(W.T, v[:, None]),
)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shapes", [((30, 3), (31, 2), (29, 5)), ((17, 1), (1, 3), (1, 1), (3, 3))])
def test_windows_of_few_columns(form: Any, shapes: Any) -> None:
    compiled = fxc.compile(form, fullgraph=True, dynamic=len(shapes) < 4)
    rng = np.random.default_rng(1)
    for rows, columns in shapes:
        wide, v = rng.standard_normal((rows, columns + 2)), rng.standard_normal(2 * rows)
        for W in (wide[:, 1:-1], wide[:, 1:-1].copy(), wide.T[1:-1].copy().T):
            for x in (v[:rows], v[::2]):
                assert same(form, compiled, (x, W))


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_products_of_columns_and_rows_of_complex_numbers(dtype: Any) -> None:
    """BLAS rounds a product without a sum otherwise than the inner loop of ``matmul``."""
    x = np.random.default_rng(1).standard_normal((9, 2)).view(complex).astype(dtype)
    for form in (lambda x: np.dot(x, x.T), lambda x: x[:1, 0].dot(x.T), lambda x: x.dot(x[:1])):
        assert same(form, fxc.compile(form, fullgraph=True), (x,))
