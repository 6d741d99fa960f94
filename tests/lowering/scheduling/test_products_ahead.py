"""Inner products with columns side by side: all of a loop's ahead of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.operators.dot_order import LONGEST
from tests.compiling import same
from tests.nests_of import loops_of_lines, nests_of


def upper(A: Any) -> None:
    for i in range(A.shape[0]):
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def rows_below(A: Any, B: Any) -> None:
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])


def pairs_below(A: Any, B: Any) -> None:
    """As above, but for the last two rows: see docs/numerics.md of ``np.dot`` of one element."""
    for i in range(B.shape[0] - 2):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])


def columns(Q: Any, A: Any, R: Any) -> None:
    for j in range(A.shape[1]):
        R[j] = np.dot(A[:, j], Q[:, 0])
        A[:, j] -= Q[:, 0] * R[j]


PROGRAMS = (upper, rows_below, columns)


def arguments(program: Any, m: int, n: int, dtype: Any, spaced: bool) -> tuple[Any, ...]:
    rng = np.random.default_rng(m * 100 + n)

    def matrix(*shape: int) -> Any:
        wide = rng.standard_normal((shape[0], 2 * shape[1] + 3)).astype(dtype)
        return wide[:, 3 : shape[1] + 3] if spaced else wide[:, : shape[1]].copy()

    match program.__name__:
        case "upper":
            return (matrix(n, n),)
        case "rows_below":
            return matrix(m, m), matrix(m, n)
        case _:
            return matrix(m, 2), matrix(m, n), np.zeros(n, dtype)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_they_have_numpys_bits(program: Any, dtype: Any) -> None:
    for m, n in ((2, 1), (3, 8), (7, 31), (30, 33), (45, 70), (66, 40)):
        for spaced in (False, True):
            make = partial(arguments, program, m, n, dtype, spaced)
            compiled = fxc.compile(program, fullgraph=True)
            assert same(program, compiled, make)
            loops = compiled.inspect(*make()).loops
            assert m < 7 or n < 7 or ".ahead" in str(loops)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_may_be_symbols(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for m, n in ((20, 9), (3, 33), (5, 2), (40, 50), (1, 1), (6, 0)):
        assert same(program, compiled, arguments(program, m, n, np.float64, spaced=False))


@pytest.mark.bits
@pytest.mark.products
def test_vectors_that_are_too_long() -> None:
    """Also of unknown length: then both ways are there."""
    for n in (LONGEST - 1, LONGEST, LONGEST + 1, LONGEST + 30):
        for dynamic in (False, True):
            args = arguments(columns, n, 9, np.float64, spaced=False)
            assert same(columns, fxc.compile(columns, fullgraph=True, dynamic=dynamic), args)


def test_numbers_that_are_special() -> None:
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, 5e-324, -1e-200, 1e300, np.inf, -np.inf, np.nan, 1, -1])
    for most in (4, 6, 10):
        A, B = rng.choice(special[:most], (2, 23, 23))
        for program, given in ((upper, (A,)), (pairs_below, (A, B))):
            assert same(program, fxc.compile(program, fullgraph=True), given)


def test_a_loop_of_columns() -> None:
    args = arguments(rows_below, 9, 20, np.float64, spaced=False)
    assert_expected_inline(
        nests_of(rows_below, *args),
        """\
loop i in 0:9
  b4.ahead1 = matmul(v2.ahead1x, v3.ahead1y)
  for i_1 in 0:20 lanes 8 ends first
    B[i, i_1] = add(item(B[i, i_1]), b4.ahead1[i_1, 0, 0])""",
    )


loops_of = partial(loops_of_lines, v=9, y=9, A=(12, 12))

REFUSED = [
    # What one iteration writes the next one reads: an element of the vector, of the column, all.
    "for j in range(8):\n    v[j] = v @ A[:9, j]",
    "for j in range(8):\n    A[j, j + 1] = v @ A[:9, j]",
    "for j in range(8):\n    A[:9, j + 1] += (v @ A[:9, j]) * v",
    "for j in range(8):\n    A[3] += v @ A[:9, j]",
    # It writes what it then reads.
    "for j in range(8):\n    A[2, j] = y[j]\n    y[j] = v @ A[:9, j]",
    # Products that need not be made.
    "for j in range(8):\n    if v @ A[:9, j] > 1:\n        break\n    y[j] = 2.0",
    "for j in range(8):\n    if y[j] > 0:\n        y[j] = v @ A[:9, j]",
    # Rows, and vectors that grow, have nothing side by side.
    "for j in range(8):\n    y[j] = v @ A[j, :9]",
    "for j in range(8):\n    y[j] = v[:j] @ A[:j, j]",
    # What it reads is made in the loop.
    "for j in range(8):\n    z = v * y[j]\n    y[j] = z @ A[:9, j]",
]


@pytest.mark.parametrize("lines", REFUSED)
def test_what_stays(lines: str) -> None:
    assert ".ahead" not in loops_of(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "for j in range(8):\n    y[j] = v @ A[:9, j]",
        "for j in range(8):\n    A[10, j] = v @ A[:9, j]",
        "for j in range(8):\n    A[:9, j] += (v @ A[:9, j]) * v",
        "for j in range(8):\n    y[j] = v @ A[:9, j]\n    A[2, j] = y[j]",
        "for j in range(2, 7):\n    y[j - 2] = A[1:10, j + 1] @ A[1:10, 0]",
        "for j in range(8):\n    y[j] += v @ A[:9, j] * (A[:9, j] @ v[::-1].copy())",
        "for i in range(9):\n    for j in range(i + 1):\n        A[11, j] += A[i:9, i] @ A[i:9, j]",
    ],
)
def test_what_is_made_ahead(lines: str) -> None:
    assert ".ahead" in loops_of(lines)


def test_a_number_that_is_counted() -> None:
    def program(v: Any, A: Any) -> Any:
        x = v[v > 0]
        y = np.zeros(x.shape[0])
        for j in range(x.shape[0]):
            y[j] = x @ A[: x.shape[0], j]
        return y

    compiled = fxc.compile(program, fullgraph=True)
    for n in (5, 20, 40, 7, 1, 0):
        rng = np.random.default_rng(n)
        assert same(program, compiled, (rng.standard_normal(n), rng.standard_normal((n, n))))
