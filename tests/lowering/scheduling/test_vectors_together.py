"""Products of vectors with one matrix: some of a loop's at once."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.lowering.operators.matrix_order import MOST, MatrixOrder, Step
from fxc.verifying.loop_evaluator import evaluate
from tests.compiling import same
from tests.nests_of import loops_of_lines
from tests.scheduled import body

ONE = (Step(((0,),), fused=False),)


def rows(A: Any, C: Any) -> None:
    """Each row is overwritten by its product."""
    for i in range(A.shape[0]):
        A[i] = np.dot(A[i], C)


def covariance(X: Any, cov: Any) -> None:
    for i in range(X.shape[1]):
        cov[i:, i] = cov[i, i:] = X[:, i] @ X[:, i:]


def of_spaced(A: Any, C: Any, out: Any) -> None:
    """Vectors with gaps, and the matrix on the left."""
    for i in range(A.shape[0]):
        out[i] = C.T @ A[i, ::2] + 1.0


def several(A: Any, C: Any, out: Any) -> None:
    for i in range(2, A.shape[0]):
        out[i] = A[i] @ C - (A[i - 2] @ C) * 0.5


PROGRAMS = (rows, covariance, of_spaced, several)


def arguments(
    program: Any, count: int, n: int, m: int, dtype: Any = np.float64, *, spaced: bool = False
) -> tuple[Any, ...]:
    rng = np.random.default_rng(count + 100 * n + 10_000 * m)

    def matrix(rows: int, columns: int) -> Any:
        wide = rng.standard_normal((rows, columns + 5)).astype(dtype)
        return wide[:, 3 : columns + 3] if spaced else wide[:, :columns].copy()

    match program.__name__:
        case "rows":
            return matrix(count, n), matrix(n, n)
        case "covariance":
            return matrix(n, count), np.zeros((count, count), dtype)
        case "of_spaced":
            return matrix(count, 2 * n), matrix(n, m), matrix(count, m)
        case _:
            return matrix(count, n), matrix(n, m), matrix(count, m)


SIZES = [
    (1, 3, 5), (8, 1, 16), (9, 2, 17), (20, 4, 3), (21, 5, 4), (23, 6, 11), (30, 7, 30),
    (65, 33, 23), (70, 20, 70), (131, 9, 40), (11, 0, 20), (0, 4, 20), (13, 8, 0),
]  # fmt: skip


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_they_have_numpys_bits(program: Any, dtype: Any) -> None:
    for number, sizes in enumerate(SIZES):
        make = partial(arguments, program, *sizes, dtype, spaced=number % 2 == 0)
        assert same(program, fxc.compile(program, fullgraph=True), make)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_may_be_symbols(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for sizes in ((20, 9, 33), (70, 33, 21), (9, 2, 17), (3, 4, 2), (1, 1, 1), (6, 0, 5)):
        assert same(program, compiled, arguments(program, *sizes))


@pytest.mark.bits
@pytest.mark.products
def test_large_matrices_are_left_to_numpy() -> None:
    """BLAS may share them out; also where that turns out when it runs."""
    for n in (MOST // 64, MOST // 64 + 1):
        for dynamic in (False, True):
            compiled = fxc.compile(several, fullgraph=True, dynamic=dynamic)
            assert same(several, compiled, arguments(several, 11, n, 64))


def test_numbers_that_are_special() -> None:
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, 5e-324, -1e-200, 1e300, np.inf, -np.inf, np.nan, 1, -1])
    for most in (4, 6, 10):
        for program in PROGRAMS:
            given = [rng.choice(special[:most], a.shape) for a in arguments(program, 23, 23, 23)]
            assert same(program, fxc.compile(program, fullgraph=True), tuple(given))


def test_an_overflow_in_columns_that_nobody_reads_is_none() -> None:
    """The products of a strip have more columns than the loop: NumPy has nothing to tell."""
    X = np.ones((6, 30))
    X[:, 0] = 1e200
    X[0, 9], X[1:, 9] = 1e200, 0.0
    make = partial(lambda X: (X.copy(), np.zeros((30, 30))), X)
    assert same(covariance, fxc.compile(covariance, fullgraph=True), make)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize(
    "threads, vector, registers", [(2, 64, 32), (8, 32, 16), (1, 24, 16), (2, 16, 16), (8, 40, 20)]
)
def test_all_machines_have_numpys_bits(
    monkeypatch: pytest.MonkeyPatch, threads: int, vector: int, registers: int
) -> None:
    costs = Costs(together_strip=11)
    target = Target(threads=threads, vector=vector, registers=registers, costs=costs)
    monkeypatch.setattr("fxc.pipeline.assemble.target", lambda: target)
    for program, sizes in itertools.product(PROGRAMS, ((29, 7, 23), (40, 12, 33))):
        compiled = fxc.compile(program, fullgraph=True)
        assert same(program, compiled, arguments(program, *sizes))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLAS has an order that is known, whichever it has."""
    order = MatrixOrder(ONE, ONE, fused_last=False)
    name = "fxc.lowering.scheduling.vectors_together.matrix_order"
    monkeypatch.setattr(name, lambda dtype: order)


def loops_of(program: Any, *sizes: int, **options: Any) -> Any:
    compiled = fxc.compile(program, fullgraph=True)
    return compiled.inspect(*arguments(program, *sizes, **options)).loops


@pytest.mark.usefixtures("known")
def test_a_strip() -> None:
    assert_expected_inline(
        body(loops_of(rows, 90, 30, 30)),
        """\
loop iv in 0:(2)
  b3.some1 = matmul(b3.vectors1, b3.matrix1) of up to 64 vectors, 8 x 16 at once
  loop i in (64*iv):(min(64*iv + 64, 90))
    for b3.some1.column in 0:30 moved
      A[i, b3.some1.column] = b3.some1[i - 64*iv, 0, b3.some1.column]""",
    )


@pytest.mark.usefixtures("known")
def test_a_strip_of_columns_that_get_fewer() -> None:
    assert_expected_inline(
        body(loops_of(covariance, 90, 30, 30)),
        """\
loop iv in 0:(2)
  b4.some1 = matmul(b4.vectors1, b4.matrix1) of up to 64 vectors, 8 x 16 at once, each 1 fewer
  loop i in (64*iv):(min(64*iv + 64, 90))
    for b4.some1.column in 0:-i + 90 lanes 8 overlapping aligned to b4
      b4.some1.now = b4.some1[i - 64*iv, 0, b4.some1.column + i - 64*iv]
      b4[b4.some1.column] = b4.some1.now
      cov[b4.some1.column + i, i] = b4.some1.now
    for i7 in 0:-i + 90 moved
      cov[i, i + i7] = b4[i7]""",
    )


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_strip_is_what_the_loop_is(program: Any) -> None:
    for sizes in ((70, 6, 5), (10, 2, 4)):
        args = arguments(program, *sizes)
        wanted, found = [each.copy() for each in args], [each.copy() for each in args]
        program(*wanted)
        loops = loops_of(program, *sizes)
        assert " at once" in str(loops)
        evaluate(loops, found)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, 1e-12)


def test_an_order_that_is_not_known_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduling, emission = (
        f"fxc.lowering.{room}.matrix_order"
        for room in ("scheduling.vectors_together", "emission.together")
    )
    with monkeypatch.context() as patch:
        patch.setattr(scheduling, lambda dtype: None)
        assert " at once" not in str(loops_of(rows, 90, 30, 30))
    monkeypatch.setattr(scheduling, lambda dtype: MatrixOrder(ONE, ONE, fused_last=False))
    monkeypatch.setattr(emission, lambda dtype: None)
    for program in PROGRAMS:
        compiled, given = fxc.compile(program, fullgraph=True), arguments(program, 30, 9, 30)
        assert "fxc.gemv" not in compiled.inspect(*given).llvm
        assert same(program, compiled, given)


def test_the_least_of_processors_fuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "fxc.lowering.scheduling.vectors_together.matrix_order"
    fused = (Step(((0,),), fused=True),)
    for steps, vector, found in ((ONE, 16, True), (fused, 16, False), (fused, 32, True)):
        order, target = MatrixOrder(steps, ONE, fused_last=False), Target(vector=vector)
        monkeypatch.setattr(name, lambda dtype, order=order: order)
        monkeypatch.setattr("fxc.pipeline.assemble.target", lambda target=target: target)
        assert (" at once" in str(loops_of(rows, 90, 30, 30))) == found


SHAPES = {"v": 9, "y": (12, 12), "A": (12, 12), "B": (9, 9)}
REFUSED = [
    # What one iteration writes a later one reads: another vector, the matrix, all.
    "for i in range(11):\n    A[i + 1, :9] = A[i, :9] @ B",
    "for i in range(9):\n    B[i] = v @ B",
    "for i in range(9):\n    v[i] += (v @ B)[0]",
    # It writes what it then reads.
    "for i in range(9):\n    A[i, 3] = 2.0\n    y[i, :9] = A[i, :9] @ B",
    # Rows that overlap.
    "for i in range(3):\n    y.ravel()[5 * i : 5 * i + 9] = y.ravel()[5 * i : 5 * i + 9] @ B",
    # Less than a block.
    "for i in range(2, 9):\n    y[i, :9] = A[i, :9] @ B",
    # Products that need not be made.
    "for i in range(9):\n    if (A[i, :9] @ B)[i] > 1:\n        break\n    y[i] = 2.0",
    "for i in range(9):\n    if y[i, 0] > 0:\n        y[i, :9] = A[i, :9] @ B",
    # No columns side by side, matrices that change otherwise, what BLAS is not given.
    "for i in range(9):\n    y[i, :9] = B @ A[i, :9]",
    "for i in range(9):\n    y[i, :i] = A[i, :9] @ B[:, :i]",
    "for i in range(9):\n    y[i, :9] = A[i, :i] @ B[:i]",
    "for i in range(3):\n    y[i, :9] = v @ A[:9, i : i + 9]",
    "for i in range(9):\n    y[i, :9] = A[i, 8::-1] @ B",
    "for i in range(9):\n    y[i, :9] = A[i, :9].astype('i8') @ B.astype('i8')",
    "for i in range(9):\n    y[i, :9] = (A[i, :9] * 1j @ B).imag",
    # What it reads is made in the loop.
    "for i in range(9):\n    y[i, :9] = (v * y[i, 0]) @ B",
    # One matrix after the other.
    "for i in range(9):\n    y[:9, :9] = A[:9, :9] @ B",
]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("lines", REFUSED)
def test_what_stays(lines: str) -> None:
    assert " at once" not in loops_of_lines(lines, **SHAPES)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    "lines",
    [
        "for i in range(9):\n    y[i, :9] = A[i, :9] @ B",
        "for i in range(2, 11):\n    A[i, :9] = A[i, :9] @ B\n    A[i, 2] = 1.0",
        "for i in range(9):\n    y[i, :9] = A[:9, i] @ B",
        "for i in range(9):\n    y[0, :9] += B.T @ A[i, :9]",
        "for i in range(8):\n    y[i, : 8 - i] = v @ B[:, i + 1 :]",
        "for i in range(9):\n    A[9:, :] = v[i]\n    y[i, :9] = A[i, :9] @ B",
    ],
)
def test_what_is_made_at_once(lines: str) -> None:
    assert " at once" in loops_of_lines(lines, **SHAPES)


@pytest.mark.usefixtures("known")
def test_a_strip_has_few_bytes() -> None:
    args = arguments(rows, 90, 30, 30)
    for most, length in ((1 << 18, 64), (20 * 240, 20), (1, 8)):
        costs = Costs(together_bytes=most)
        with pytest.MonkeyPatch.context() as patch:
            target = replace(Target(), costs=costs)
            patch.setattr("fxc.pipeline.assemble.target", lambda target=target: target)
            loops = fxc.compile(rows, fullgraph=True).inspect(*args).loops
        assert f"of up to {length} vectors" in str(loops)
