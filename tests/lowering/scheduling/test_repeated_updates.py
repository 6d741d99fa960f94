"""Rows that each step of a loop updates: their elements stay in registers for all steps."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from tests.compiling import same
from tests.nests_of import loops_of_lines
from tests.scheduled import body


def rows_of_a_square(C: Any, A: Any, alpha: float, beta: float) -> None:
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


def rows_of_a_product(C: Any, A: Any, alpha: float, beta: float) -> None:
    B = np.ascontiguousarray(A.T)
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            C[i] -= B[k] * A[i, k]
    C *= alpha * beta


def below(C: Any, A: Any, alpha: float, beta: float) -> None:
    for i in range(A.shape[0]):
        for k in range(2, A.shape[1] - 1):
            C[i, i:] += alpha * A[i:, k + 1] + beta


PROGRAMS = (rows_of_a_square, rows_of_a_product, below)


def arguments(m: int, n: int, dtype: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(m * 100 + n)
    return (
        rng.standard_normal((m, m)).astype(dtype),
        rng.standard_normal((m, n)).astype(dtype),
        1.5,
        1.2,
    )


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_element_is_added_up_in_order(program: Any, dtype: Any) -> None:
    for m, n in ((1, 2), (3, 9), (8, 12), (19, 12), (37, 13), (70, 13), (5, 0), (0, 5)):
        args = arguments(m, n, dtype)
        compiled = fxc.compile(program, fullgraph=True)
        assert same(program, compiled, args)
        loops = str(compiled.inspect(*args).loops)
        assert m < 19 or "[sequential" in loops
        assert m < 19 or (".turned" in loops) == (program is not rows_of_a_product)


@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_may_be_symbols(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for m, n in ((20, 9), (3, 33), (40, 12), (1, 1), (0, 3), (66, 5)):
        assert same(program, compiled, arguments(m, n, np.float64))


@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers_that_are_special(program: Any) -> None:
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, 5e-324, -1e-200, 1e300, np.inf, -np.inf, np.nan, 1, -1])
    for most in (4, 6, 10):
        C, A = rng.choice(special[:most], (21, 21)), rng.choice(special[:most], (21, 12))
        assert same(program, fxc.compile(program, fullgraph=True), (C, A, 1.5, 1.2))


def test_a_row_and_a_copy() -> None:
    args = arguments(30, 12, np.float64)
    assert_expected_inline(
        body(fxc.compile(rows_of_a_square).inspect(*args).loops),
        """\
for A.turned.i in 0:12
  for A.turned.j in 0:30 lanes 8 overlapping
    A.turned[A.turned.i, A.turned.j] = A[A.turned.j, A.turned.i]
loop i in 0:30
  for i0 in 0:i + 1 lanes 8 end first
    C[i, i0] = multiply(C[i, i0], beta)
  for i1 in 0:i + 1 lanes 32 end first
    t3 = C[i, i1]
    for i_1 in 0:12
      t3.total = add multiply(multiply(alpha, item(A[i, i_1])), A.turned[i_1, i1])  [sequential from t3]
    C[i, i1] = t3.total""",
    )


loops_of = partial(loops_of_lines, v=40, y=40, A=(42, 42), B=(42, 42))

REFUSED = [
    # A step reads what an earlier one has made of another element, or of the same one.
    "for k in range(9):\n    v += v[k] * y",
    "for k in range(9):\n    v[1:] += v[:-1] * y[1:]",
    "for k in range(9):\n    v += v * y",
    "for k in range(9):\n    A[3] += A[3, k] * A[k]",
    # Each step updates another row, or more of it.
    "for k in range(9):\n    A[k] += B[k]",
    "for k in range(9):\n    v[:k] += B[k, :k]",
    # Elements that do not lie side by side, and a column that is read once.
    "for k in range(9):\n    A[:, 3] += B[k]",
    "for k in range(9):\n    v += B[:40, k]",
    # Something else happens in a step.
    "for k in range(9):\n    v += B[k, :40]\n    y[k] = v[k]",
    "for k in range(9):\n    v += B[k, :40]\n    if v[3] > 2:\n        break",
    # The copy would not be what is read.
    "for i in range(9):\n    for k in range(40):\n        v += B[:40, k]\n    B[3] += v[1]",
    # Nothing is left of it.
    "for k in range(9):\n    z = v + k",
    # Another operation.
    "for k in range(9):\n    v[:] = B[k, :40] - v",
    "for k in range(9):\n    v *= B[k, :40]",
]


@pytest.mark.parametrize("lines", REFUSED)
def test_what_stays(lines: str) -> None:
    assert "[sequential" not in loops_of(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "for k in range(9):\n    v += B[k, :40]",
        "for k in range(9):\n    v += y[k] * B[k, :40]",
        "for k in range(3, 9):\n    v -= y[k] * B[k - 1, 2:42] / A[k, k]",
        "for k in range(9):\n    v[:] = y[k] * B[k, :40] + v",
        "for i in range(42):\n    for k in range(40):\n        A[i, :40] += B[:40, k] * B[i, k]",
    ],
)
def test_what_is_turned_inside_out(lines: str) -> None:
    assert "[sequential" in loops_of(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "if y[0] < 9:\n    A[:] = B[::-1]\n    for i in range(42):\n        for k in range(42):\n"
        "            C[i] += A[:, k]",
        "n = 0\nwhile n < 3:\n    for i in range(42):\n        for k in range(42):\n"
        "            C[i] += A[:, k] * B[k, i]\n    A[n] = C[1]\n    n += 1",
        "for n in range(3):\n    for i in range(42):\n        for k in range(42):\n"
        "            C[i] += A[:, k] * B[k, i]\n    A[n] = C[1]",
    ],
)
def test_a_copy_is_made_of_what_is_read(lines: str) -> None:
    loops_of_lines(lines, y=40, A=(42, 42), B=(42, 42), C=(42, 42))


def test_no_steps() -> None:
    """Fewer than none is none."""

    def program(C: Any, A: Any, y: Any) -> None:
        for k in range(5, A.shape[0] - 3):
            C[1] += A[k]
        for j in range(5, A.shape[1] - 3):
            y[j] = A[:, 0] @ A[:, j]
        for j in range(5, A.shape[1] - 3):
            A[:, j] *= y[j]

    for dynamic in (False, True):
        compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
        for n in (4, 12, 2, 7, 40, 3, 8, 9):
            rng = np.random.default_rng(n)
            made = tuple(rng.standard_normal(shape) for shape in ((n, n), (n, n), n))
            assert same(program, compiled, made)
