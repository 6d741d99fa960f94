"""Inner products that grow with their loop: the common part of some of them at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.operators.dot_order import LONGEST
from tests.compiling import same
from tests.nests_of import loops_of_lines
from tests.scheduled import body


def lu(A: Any) -> None:
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def solved(A: Any, y: Any) -> None:
    """Forward substitution by the columns of an upper triangle."""
    for j in range(y.shape[0]):
        y[j] = (y[j] - y[:j] @ A[:j, j]) / A[j, j]


def products(A: Any, y: Any) -> None:
    """Each with 5 elements more than there were iterations."""
    for j in range(y.shape[0] - 5):
        y[j + 5] += np.dot(A[: j + 5, j], y[: j + 5]) / 100


PROGRAMS = (lu, solved, products)


def arguments(program: Any, n: int, dtype: Any, spaced: bool = False) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    wide = rng.standard_normal((n, 2 * n + 3)).astype(dtype)
    matrix = wide[:, 3 : n + 3] if spaced else wide[:, :n].copy()
    matrix += (n * np.eye(n)).astype(dtype)
    if program is lu:
        return (matrix,)
    vector = rng.standard_normal(2 * n).astype(dtype)
    return matrix, vector[:n] if not spaced else vector[::2]


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spaced", [False, True])
def test_they_have_numpys_bits(program: Any, dtype: Any, spaced: bool) -> None:
    for n in (5, 6, 16, 17, 33, 47, 70):
        make = partial(arguments, program, n, dtype, spaced)
        compiled = fxc.compile(program, fullgraph=True)
        assert same(program, compiled, make)
        assert n < 17 or "begin matmul" in str(compiled.inspect(*make()).loops)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_may_be_symbols(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for n in (20, 9, 33, 2, 1, 0, 50):
        assert same(program, compiled, arguments(program, n, np.float64))


@pytest.mark.bits
@pytest.mark.products
def test_vectors_that_get_too_long() -> None:
    args = arguments(solved, LONGEST + 40, np.float64)
    assert same(solved, fxc.compile(solved, fullgraph=True), args)


def test_numbers_that_are_special() -> None:
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, 5e-324, -1e-200, 1e300, np.inf, -np.inf, np.nan, 1, -1])
    for most in (4, 6, 10):
        compiled = fxc.compile(products, fullgraph=True)
        given = rng.choice(special[:most], (40, 40)), special.repeat(4)
        assert same(products, compiled, given)


def test_a_strip() -> None:
    args = arguments(solved, 40, np.float64)
    assert_expected_inline(
        body(fxc.compile(solved).inspect(*args).loops),
        """\
loop is in 0:(3)
  b4.begun = begin matmul(v2.begunx, v3.beguny) up to 16*is
  loop i in (16*is):(min(16*is + 16, 40))
    b4 = matmul(v2, v3) from b4.begun[i - 16*is] behind 16*is
    y[i] = divide(subtract(item(y[i]), b4[]), item(A[i, i]))""",
    )


def test_a_strip_does_what_the_loop_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an order that is not known the products are made as a whole."""
    monkeypatch.setattr("fxc.lowering.emission.products.dot_order", lambda dtype: _Unknown)
    for program in PROGRAMS:
        args = arguments(program, 37, np.float64)
        assert same(program, fxc.compile(program, fullgraph=True), args)


class _Unknown:
    adjacent = apart = None


loops_of = partial(loops_of_lines, v=40, y=40, A=(42, 42))

REFUSED = [
    # The next iteration overwrites what all of the strip read: the vector's start, a column's.
    "for j in range(40):\n    y[0] = y[:j] @ A[:j, j]",
    "for j in range(39):\n    A[0, j + 1] = y[:j] @ A[:j, j]",
    "for j in range(40):\n    A[:, j] += y[:j] @ A[:j, j]",
    "for j in range(1, 40):\n    y[j - 1] = y[:j] @ A[:j, j]",
    # Vectors that get shorter, or start elsewhere each time; rows; gaps.
    "for j in range(40):\n    y[j] = v[j:] @ A[j:40, j]",
    "for j in range(40):\n    y[j] = v[: 40 - j] @ A[: 40 - j, j]",
    "for j in range(20):\n    y[j] = v[j : 2 * j] @ A[:j, j]",
    "for j in range(40):\n    y[j] = y[:j] @ A[j, :j]",
    "for j in range(20):\n    y[j] = y[:j] @ A[:j, 2 * j]",
    # Loops that end early.
    "for j in range(40):\n    if y[:j] @ A[:j, j] > 3:\n        break\n    y[j] = 0.5",
]


@pytest.mark.parametrize("lines", REFUSED)
def test_what_stays(lines: str) -> None:
    assert "begin" not in loops_of(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "for j in range(40):\n    y[j] = v[:j] @ A[:j, j]",
        "for j in range(40):\n    y[j] = y[:j] @ A[:j, j]",
        "for j in range(40):\n    A[j, 41] = A[:j, 41] @ A[:j, j]",
        "for j in range(3, 40):\n    y[j] = A[: j - 1, j - 2] @ y[: j - 1]",
        "for j in range(39):\n    y[j + 1] = y[:j] @ A[:j, j] + y[j]",
    ],
)
def test_what_begins_ahead(lines: str) -> None:
    assert "begin" in loops_of(lines)
