"""In which order BLAS adds up the products of a vector and a matrix: asked, and told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fxc.lowering.operators import matrix_order
from fxc.lowering.operators.matrix_order import LEAST, MOST, MatrixOrder, Step

F64, F32 = np.dtype(np.float64), np.dtype(np.float32)
BOTH = pytest.mark.parametrize("dtype", [F64, F32])


def in_turn(vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.add.reduce(vector[:, None] * matrix, axis=0)
    return found


def with_order(order: MatrixOrder) -> Any:
    """A BLAS that adds up so, by the definition alone: float64 numbers with few bits."""

    def asked(vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        if matrix.size > MOST // 2 or matrix.shape[1] == LEAST:  # these are compared
            return in_turn(vector, matrix)
        steps = order.steps(is_adjacent=vector.strides == (vector.itemsize,))
        exactly = matrix_order.exactly(vector.dtype)
        exact = vector.astype(exactly)[:, None] * matrix
        given = matrix_order.Exact(vector.dtype, exact)
        totals = matrix_order.product_by_product(given, fused=order.fused_last)
        some = matrix.shape[1] & -LEAST
        totals[:some] = matrix_order.summed(steps, given)[:some]
        return totals

    return asked


@BOTH
def test_each_order_is_told_from_all_others(dtype: np.dtype) -> None:
    steps = matrix_order.STEPS
    for number, adjacent in enumerate(steps):
        apart = steps[-1 - number]
        for fused_last in (False, True):
            order = MatrixOrder(adjacent, apart, fused_last)
            assert matrix_order._found(dtype, with_order(order)) == order


@BOTH
@pytest.mark.parametrize("place", [(0, 0), (70, 1022)])
def test_other_numbers_are_no_order(dtype: np.dtype, place: tuple[int, int]) -> None:
    """What BLAS gives for one column of one length is another number."""
    known = with_order(MatrixOrder(*matrix_order.STEPS[:2], False))

    def asked(vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        found = known(vector, matrix)
        column, least = place
        if len(found) > column and len(vector) >= least:
            found[column] = np.nextafter(found[column], dtype.type(np.inf))
        return found

    assert matrix_order._found(dtype, asked) is None


@BOTH
def test_large_matrices_that_are_added_up_otherwise_are_no_order(dtype: np.dtype) -> None:
    """As by two threads: each has last columns of its own."""
    known = with_order(MatrixOrder(*matrix_order.STEPS[:2], False))

    def asked(vector: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        if matrix.size < MOST // 2:
            return known(vector, matrix)
        half = matrix.shape[1] // 2
        other = in_turn(vector[::-1], matrix[::-1, half:])
        return np.concatenate((in_turn(vector, matrix[:, :half]), other))

    assert matrix_order._found(dtype, asked) is None


def test_a_step_says_how_many_products_it_takes() -> None:
    step = Step(((0, 2), (1, 3)), fused=True)
    assert (step.size, step.is_onto) == (4, False)
    assert Step(((0,),), fused=True).is_onto
    assert not Step(((0,),), fused=False).is_onto
