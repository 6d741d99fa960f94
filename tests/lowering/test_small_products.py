"""Products of small matrices that native code makes itself: the bits of this process's NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.operators.matrix_order import STEPS, Exact, Steps, exactly, summed
from fxc.lowering.operators.small_order import Question, SmallOrder, found_by, small_order
from tests.compiling import same

F64, F32 = np.dtype(np.float64), np.dtype(np.float32)
BOTH = pytest.mark.parametrize("dtype", [F64, F32])
SHAPES = [
    (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 7, 6), (7, 4, 1), (1, 3, 5), (2, 9, 3), (9, 9, 9),
    (16, 5, 33), (498, 2, 1), (65, 3, 1), (4, 4, 1), (6, 7, 1),
]  # fmt: skip

# How a stack of matrices may lie in memory.
LAYOUTS = {
    "C": lambda a: a.copy(),
    "F": lambda a: a.swapaxes(1, 2).copy().swapaxes(1, 2),
    "gaps": lambda a: np.repeat(a, 2, axis=2)[:, :, ::2],
    "window": lambda a: np.pad(a, ((0, 0), (1, 2), (3, 1)))[:, 1:-2, 3:-1],
    "reversed": lambda a: a[:, ::-1].copy()[:, ::-1],
}


def product(x: Any, y: Any) -> Any:
    return x @ y


def with_itself(x: Any) -> Any:
    return x @ x.swapaxes(1, 2), x.swapaxes(1, 2) @ x


def transposed_product(x: Any, y: Any) -> Any:
    return x.swapaxes(1, 2) @ y


def covariance(f: Any, p: Any, q: Any) -> Any:
    return f @ p @ f.T + q


def numbers(dtype: np.dtype, *shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


@pytest.mark.bits
@pytest.mark.products
@BOTH
@pytest.mark.parametrize("rows, inner, columns", SHAPES)
def test_products_of_all_layouts(dtype: np.dtype, rows: int, inner: int, columns: int) -> None:
    x, y = numbers(dtype, 5, rows, inner), numbers(dtype, 5, inner, columns)
    compiled = fxc.compile(product, fullgraph=True)
    layouts = list(itertools.product(LAYOUTS.values(), repeat=2))
    for first, second in layouts[rows % 5 :: 6]:
        operands = first(x), second(y)
        np.testing.assert_array_equal(compiled(*operands), product(*operands))


@pytest.mark.bits
@pytest.mark.products
@BOTH
def test_stacks_that_are_broadcast(dtype: np.dtype) -> None:
    f, p, q = numbers(dtype, 4, 4), numbers(dtype, 3, 6, 4, 4), numbers(dtype, 6, 1, 4)
    np.testing.assert_array_equal(fxc.compile(covariance)(f, p, q), covariance(f, p, q))
    x, y = numbers(dtype, 3, 1, 2, 5), numbers(dtype, 6, 5, 3)
    np.testing.assert_array_equal(fxc.compile(product)(x, y), x @ y)
    np.testing.assert_array_equal(fxc.compile(product)(x[0, 0], y[0]), x[0, 0] @ y[0])


@pytest.mark.bits
@pytest.mark.products
@BOTH
@pytest.mark.parametrize("columns", [2, 3, 8, 9, 17])
def test_a_matrix_and_itself_transposed(dtype: np.dtype, columns: int) -> None:
    """NumPy calls another routine of BLAS for it, also if two arguments are one matrix."""
    x = numbers(dtype, 4, 3, columns)
    for found, expected in zip(fxc.compile(with_itself)(x), with_itself(x), strict=True):
        np.testing.assert_array_equal(found, expected)
    turned = x.swapaxes(1, 2)
    compiled = fxc.compile(product)
    compiled(x, turned.copy(order="K"))
    np.testing.assert_array_equal(compiled(x, turned), x @ turned)


@pytest.mark.bits
@pytest.mark.products
@BOTH
def test_some_of_the_products_are_of_a_matrix_and_itself(dtype: np.dtype) -> None:
    """Arrays that share memory: which products are such depends on the arrays of each call."""
    x = numbers(dtype, 9, 4, 4)
    compiled = fxc.compile(transposed_product)
    others = (x.copy(), x, x[::-1], x[4:5], x[:1], x[2], np.roll(x, 3, axis=0))
    for y in (*others, *others):
        np.testing.assert_array_equal(compiled(x, y), transposed_product(x, y))
    for y in (x[1:], x[:-1]):
        np.testing.assert_array_equal(compiled(x[1:], y), transposed_product(x[1:], y))
    assert np.array_equal(compiled(x[:0], x[:0]), transposed_product(x[:0], x[:0]))


def into_columns(x: Any, y: Any, out: Any) -> None:
    np.matmul(x, y, out=out.swapaxes(-1, -2))
    np.matmul(x[0], y[0], out=out[1].T)
    out.swapaxes(-1, -2)[2:] @= x[2:] @ y[2:]


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("dtype", [F64, F32, np.dtype(complex)])
def test_products_written_to_arrays_that_go_down_their_columns(dtype: np.dtype) -> None:
    """NumPy asks BLAS for the product turned, which rounds some elements otherwise."""
    compiled = fxc.compile(into_columns, fullgraph=True)
    for size in (7, 33):
        x, y = numbers(F64, 2, 4, size, 2 * size).view(complex)
        if dtype.kind == "f":
            x, y = x.real, y.real
        given = x.astype(dtype), y.astype(dtype, order="F"), np.zeros(x.shape, dtype)
        for out in (given[2], np.repeat(given[2], 2, axis=2)[..., ::2], given[2][:, ::-1]):
            assert same(into_columns, compiled, (*given[:2], out))
    with pytest.raises(ValueError, match="matmul"):
        compiled(x[..., 1:], y, given[2])


@pytest.mark.bits
@pytest.mark.products
@BOTH
def test_signs_of_zeros_infinities_and_nan(dtype: np.dtype) -> None:
    tiny, largest = float(np.finfo(dtype).tiny), float(np.finfo(dtype).max)
    some = np.array([0.0, -0.0, tiny, -tiny, 1.0, np.inf, -np.inf, np.nan, largest, -largest])
    picked = np.random.default_rng(2).integers(0, len(some), (2, 200, 4, 4))
    x, y = some[picked].astype(dtype)
    with np.errstate(all="ignore"):
        expected, found = x @ y, fxc.compile(product)(x, y)
    np.testing.assert_array_equal(found, expected)
    are_zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(found[are_zeros]), np.signbit(expected[are_zeros]))


@pytest.mark.bits
@pytest.mark.products
def test_a_stack_is_multiplied_by_native_code() -> None:
    x = numbers(F64, 5, 4, 4)
    question = Question(F64, (4, 4, 4), (32, 8), (32, 8), (32, 8))
    is_known = small_order(question, same=False) is not None
    assert ('"fxc.small.' in fxc.compile(product).inspect(x, x + 1).llvm) == is_known
    question = Question(F64, (4, 4, 4), (8, 32), (32, 8), (32, 8))
    is_known = small_order(question, same=False) is not None
    text = fxc.compile(transposed_product).inspect(x, x + 1).llvm
    assert ('"fxc.small.' in text) == is_known


def with_order(order: SmallOrder) -> Any:
    """Products that are added up so, by the definition alone: float64 numbers with few bits."""

    def asked(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        wide = exactly(x.dtype)
        left, right = x.astype(wide).transpose(2, 0, 1), y.astype(wide).transpose(1, 0, 2)
        exact = (left[..., None] * right[:, :, None]).reshape(x.shape[2], -1)
        totals = summed(order.steps, Exact(x.dtype, exact))
        out[...] = (totals + 0.0 if order.adds_zero else totals).reshape(out.shape)

    return asked


@BOTH
@pytest.mark.parametrize("sizes", [(4, 11, 4), (1, 11, 3), (33, 11, 32)])
def test_each_order_is_told_from_all_others(dtype: np.dtype, sizes: tuple[int, int, int]) -> None:
    question = in_c_order(dtype, sizes)
    for steps in STEPS:
        order = SmallOrder(steps, adds_zero=False)
        assert found_by(question, with_order(order)) == order
    once = SmallOrder(STEPS[-1], adds_zero=True)
    assert found_by(question, with_order(once)) == once


@BOTH
def test_orders_of_two_products_are_told_apart(dtype: np.dtype) -> None:
    """A vector of two has no other numbers: their products may not be exact."""
    found = [
        found_by(in_c_order(dtype, (498, 2, 1)), with_order(SmallOrder(steps, adds_zero=False)))
        for steps in (STEPS[-1], STEPS[-2], STEPS[2])
    ]
    assert len(set(found)) == 3


@BOTH
def test_another_order_of_the_last_row_is_no_order(dtype: np.dtype) -> None:
    first, last = (with_order(SmallOrder(STEPS[n], adds_zero=False)) for n in (-1, 2))

    def asked(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        first(x, y, out)
        other = np.empty_like(out)
        last(x, y, other)
        out[:, -1] = other[:, -1]

    assert found_by(in_c_order(dtype, (101, 4, 1)), asked) is None


@BOTH
@pytest.mark.parametrize("place", [(0, 0, 0), (-1, -1, -1)])
def test_another_number_is_no_order(dtype: np.dtype, place: tuple[int, int, int]) -> None:
    known = with_order(SmallOrder(STEPS[-1], adds_zero=False))

    def asked(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        known(x, y, out)
        out[place] = np.nextafter(out[place], dtype.type(np.inf))

    assert found_by(in_c_order(dtype, (9, 4, 12)), asked) is None


def test_what_skips_zeros_is_no_order() -> None:
    known = with_order(SmallOrder(STEPS[-1], adds_zero=False))

    def asked(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        known(x, np.where(np.isinf(y), 1.0, y), out)

    assert found_by(in_c_order(F64, (3, 4, 3)), asked) is None


def test_another_order_for_the_same_matrix_is_found() -> None:
    def asked(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        steps: Steps = STEPS[-2 if np.shares_memory(x, y) else -1]
        with_order(SmallOrder(steps, adds_zero=False))(x, y, out)

    question = Question(F64, (3, 4, 3), (32, 8), (8, 32), (24, 8))
    found = [found_by(question, asked, same=same) for same in (False, True)]
    assert found == [SmallOrder(STEPS[n], adds_zero=False) for n in (-1, -2)]


def test_matrices_that_overlap_themselves_or_are_large_are_not_asked_about() -> None:
    def asked(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        raise AssertionError

    for x_steps in ((8, 8), (0, 8), (-32, 8), (1 << 20, 8)):
        question = Question(F64, (3, 4, 3), x_steps, (24, 8), (24, 8))
        assert found_by(question, asked) is None


def in_c_order(dtype: np.dtype, sizes: tuple[int, int, int]) -> Question:
    rows, inner, columns = sizes
    size = dtype.itemsize

    def steps(rows: int, columns: int) -> tuple[int, int]:
        return (columns * size if rows > 1 else 0, size if columns > 1 else 0)

    return Question(dtype, sizes, steps(rows, inner), steps(inner, columns), steps(rows, columns))
