"""Loops of the user's program over columns and over elements: lanes from one to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from tests.compiling import same
from tests.nests_of import loops_of_lines
from tests.scheduled import body


def gramschmidt(A: Any, Q: Any, R: Any) -> None:
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]


def scaled(A: Any, x: Any) -> None:
    for j in range(2, A.shape[1] - 1):
        A[:, j + 1] = A[:, j + 1] * x[j] + x[0]


def prefix(A: Any, x: Any) -> None:
    for j in range(A.shape[1]):
        A[1:, j] = A[:-1, j] - x[j] * A[1:, j]


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gram_schmidt(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    for m, n in ((3, 2), (9, 7), (40, 33), (33, 70), (5, 1), (4, 0)):
        compiled = fxc.compile(gramschmidt, fullgraph=True)
        A, Q, R = rng.standard_normal((m, n)), np.zeros((m, n)), np.zeros((n, n))
        args = tuple(x.astype(dtype) for x in (A, Q, R))
        assert same(gramschmidt, compiled, args)
        loops = str(compiled.inspect(*args).loops)
        assert n < 33 or loops.count("loop ") == 1


@pytest.mark.parametrize("program", [scaled, prefix])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_columns(program: Any, threads: int) -> None:
    rng = np.random.default_rng(2)
    before = fxc.get_num_threads()
    fxc.set_num_threads(threads)
    try:
        for dynamic in (False, True):
            compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
            for m, n in ((9, 4), (30, 21), (2, 33), (300, 500)):
                A, x = rng.standard_normal((m, n)), rng.standard_normal(n)
                assert same(program, compiled, (A, x))
    finally:
        fxc.set_num_threads(before)


def test_a_loop_over_columns() -> None:
    args = np.ones((20, 30)), np.ones(30)
    assert_expected_inline(
        body(fxc.compile(scaled).inspect(*args).loops),
        """\
t2 = item(x[0])
for i in 0:27 lanes 16
  for i0 in 0:20
    A[i0, i + 3] = add(multiply(A[i0, i + 3], item(x[i + 2])), t2)""",
    )


@pytest.mark.parametrize(
    "lines",
    [
        # The next column is read, or the one before, or written twice, or what all read.
        "for j in range(8):\n    A[:, j] += A[:, j + 1]",
        "for j in range(1, 9):\n    A[:, j] += A[:, j - 1]",
        "for j in range(8):\n    A[:, j] = y[j]\n    A[:, j + 1] = v[j]",
        "for j in range(8):\n    A[:, j] *= y[3]\n    y[j] = j",
        "for j in range(8):\n    A[:, 0] += A[:, j]",
        # The next element is read, or the one before, or what all write.
        "for j in range(30):\n    w[j] = w[j + 1]",
        "for j in range(1, 30):\n    w[j] = w[j - 1] + 1",
        "for j in range(30):\n    w[3] = w[j]",
        # A total; so few that LLVM writes them out; what the C library computes.
        "for j in range(11):\n    for i in range(30):\n        y[j] += w[i]",
        "for j in range(12):\n    y[j] += v[j]",
        "for j in range(30):\n    w[j] = z[j] ** v[3]",
        # Rows lie side by side as they are.
        "for j in range(8):\n    A[j] *= y[j]",
        # It ends early, or has another length each time.
        "for j in range(8):\n    A[:, j] *= 2\n    if y[j] > 1:\n        break",
        "for j in range(8):\n    A[:j, j] *= 2",
        "for j in range(8):\n    A[:, j] *= 2\n    if y[j] > 1:\n        v[j] = 3",
    ],
)
def test_what_stays(lines: str) -> None:
    assert "  loop " in loops_of_lines(lines, v=12, y=12, w=40, z=40, A=(12, 12))


def edges(u: Any, v: Any) -> None:
    n, m = u.shape
    for i in range(1, n - 1):
        for j in range(m - 2):
            across = u[i, j + 2] - u[i, j]
            down = u[i + 1, j + 1] - u[i - 1, j + 1]
            v[i, j + 1] = (across**2 + down**2) ** 0.5


def relaxed(u: Any, v: Any) -> None:
    for _ in range(3):
        for i in range(1, len(u) - 1):
            for j in range(1, len(u[0]) - 1):
                v[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
        for i in range(1, len(u) - 1):
            for j in range(1, len(u[0]) - 1):
                u[i, j] = v[i, j] ** 3


def upper(u: Any, v: Any) -> None:
    for i in range(len(u)):
        for j in range(i, len(u[0])):
            v[i, j] = u[i, j] * np.sqrt(abs(v[i, j])) + i * j


@pytest.mark.bits
@pytest.mark.parametrize("program", [edges, relaxed, upper])
@pytest.mark.parametrize("threads", [1, 8])
def test_elements(program: Any, threads: int) -> None:
    """Also of arrays that overlap, and of few elements and none."""
    rng = np.random.default_rng(3)
    before = fxc.get_num_threads()
    fxc.set_num_threads(threads)
    try:
        for dynamic in (False, True):
            compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
            for n, m in ((40, 40), (3, 70), (2, 2), (300, 201)):
                u, v = rng.standard_normal((n, m)), rng.standard_normal((n, m))
                assert same(program, compiled, (u, v))
                assert same(program, compiled, (u, u[::-1]))
    finally:
        fxc.set_num_threads(before)


def test_loops_over_elements() -> None:
    args = np.ones((40, 40)), np.ones((40, 40))
    assert_expected_inline(
        body(fxc.compile(edges).inspect(*args).loops),
        """\
for i in 0:38
  for i_1 in 0:38 lanes 16 overlapping
    t15 = add(power_of_scalars(subtract(item(u[i + 1, i_1 + 2]), item(u[i + 1, i_1])), 2.0), power_of_scalars(subtract(item(u[i + 2, i_1 + 1]), item(u[i, i_1 + 1])), 2.0))
    v[i + 1, i_1 + 1] = power_of_scalars(t15, 0.5)""",
    )
    assert_expected_inline(
        body(fxc.compile(upper).inspect(*args).loops),
        """\
loop i in 0:40
  t1 = (-i + 40)
  for i_1 in 0:-i + 40 lanes 8 end first
    v[i, i + i_1] = add(multiply(item(u[i, i + i_1]), sqrt(absolute(item(v[i, i + i_1])))), astype:float64((i*i + i*i_1)))""",
    )


def test_a_size_that_varies_may_become_larger() -> None:
    compiled = fxc.compile(relaxed, fullgraph=True, dynamic=True)
    for n in (9, 40):
        args = np.random.default_rng(n).random((n, n)), np.zeros((n, n))
        assert same(relaxed, compiled, args)
        assert "lanes" in str(compiled.inspect(*args).loops)
