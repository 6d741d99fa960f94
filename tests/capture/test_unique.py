"""``np.unique`` of rows and columns, and without an order: NumPy's call inside the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiling import check

POINTS = np.random.default_rng(0).integers(0, 3, (40, 3))
WITH_NANS = np.where(POINTS == 2, np.nan, POINTS)
BLOCKS = np.random.default_rng(1).integers(0, 2, (2, 3, 30))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("points", [POINTS, WITH_NANS, POINTS.T, BLOCKS, POINTS[::-3]])
def test_parts_along_an_axis(points: np.ndarray, axis: int) -> None:
    check(lambda p: np.unique(p, axis=axis) * 2, (points,))


@pytest.mark.parametrize("points", [POINTS, WITH_NANS, POINTS[:0], POINTS[:1]])
def test_rows_with_all_that_can_be_asked_for(points: np.ndarray) -> None:
    def program(p: Any) -> Any:
        return np.unique(p, True, True, True, axis=0)

    check(program, (points,))


def test_one_axis_is_that_of_all_elements() -> None:
    check(lambda p: np.unique(p, return_inverse=True, axis=0), (POINTS[:, 0],))


def test_an_axis_that_is_not_there() -> None:
    check(lambda p: np.unique(p, axis=2), (POINTS,))


def test_rows_in_a_loop_of_the_graph() -> None:
    def program(p: Any, n: int) -> Any:
        total = 0.0
        for k in range(n):
            rows = np.unique(p[k:], axis=0)
            total += rows[0, 0] + len(rows)
        return total

    check(program, (POINTS, 7), (WITH_NANS, 12))


TEXTS = np.random.default_rng(2).choice(["a", "bc", ""], 30)
DATES = np.array(["2020-01-01", "NaT", "2021-01-01", "NaT", "2020-01-01"], "M8[D]")


@pytest.mark.parametrize("items", [TEXTS, TEXTS.astype("S"), DATES, DATES - DATES[0]])
def test_texts_and_dates_in_a_loop_that_is_native(items: np.ndarray) -> None:
    def program(x: Any, n: int) -> Any:
        total = 0
        for k in range(n):
            found, index, inverse, counts = np.unique(x[k:], True, True, True)
            total += index.sum() + (inverse * np.arange(len(inverse))).sum() + counts[0]
            total += 100 * len(found)
        return total

    compiled = check(program, (items, 3))
    assert "fori_loop" not in compiled.cache_info().fallbacks


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="sorted= is of NumPy 2.3")
@pytest.mark.parametrize("points", [POINTS, WITH_NANS, WITH_NANS + 1j])
def test_elements_in_no_order(points: np.ndarray) -> None:
    check(lambda p: np.unique(p, sorted=False), (points,))
    check(lambda p: np.unique_values(p), (points,))


@pytest.mark.parametrize("kind", ["f8", "F"])
@pytest.mark.parametrize("shape", [(), (2, 1)])
def test_the_base_of_an_inverse_is_flat(kind: str, shape: tuple[int, ...]) -> None:
    def program(x: Any) -> Any:
        return np.unique(x, return_inverse=True)[1]

    x = np.ones(shape, kind)
    assert check(program, (x,))(x).base.shape == program(x).base.shape == (x.size,)
