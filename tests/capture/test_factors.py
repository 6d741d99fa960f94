"""Products of vectors and matrices have NumPy's bits, wherever their factors lie.

See Note [What a call sees].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import pairs
from tests.outcomes import difference, run

pytestmark = [pytest.mark.bits, pytest.mark.products]

Outcomes = tuple[Any, ...]


def columns(x, A):
    k = x.argmax()
    return A[:, k].dot(x), x @ A[:, k], A[k] @ A[:, k]


def of_temporaries(x, A):
    B = A * 2
    return B[:, 1].dot(x), (A + 1)[:, 1].dot(A[:, 2]), A[np.argsort(x)][:, 1].dot(x)


def of_copies(x, A):
    B = np.zeros_like(A)
    B[:] = A
    k = x.argmax()
    return B[:, 1].dot(x), B.T[k].dot(x), B[k].dot(x)


def planes(x, A):
    T = A.reshape(3, 3, -1)[:, :, :3]
    k = x.argmax() % 3
    return T[:, :, k] @ x[:3], T[:, k] @ x[:3], T[:, k].T @ T[:, :, k], T[k] @ T[k].T


def in_a_loop(x, A):
    for i in range(len(x)):
        k = int(abs(x[i]) * 100) % len(x)
        x[i] += A[:, k].dot(A[i])
    return x


def by_masks(x, A):
    return x[x > 0] @ x[x > 0], x[x > 0].dot(x[x > 0])


PROGRAMS = [columns, of_temporaries, of_copies, planes, in_a_loop, by_masks]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dynamic", [None, True])
def test_bits(program: Callable[..., Outcomes], dynamic: bool | None) -> None:
    """They were copied without gaps, so that BLAS added in another order."""
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    rng = np.random.default_rng(1)
    for size in (9, 12, 18, 27):
        A, x = rng.standard_normal((size, size)), rng.standard_normal(size)
        expected, found = (run(fn, [x.copy(), A]) for fn in (program, compiled))
        assert difference(expected, found) == ""
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize(
    "left, right, dtype",
    pairs([(1,), (1, 1), (2,)], [(1,), (1, 1), (2,)], ["f4", "f8", "i8"]),
)
def test_zeros_of_one_element(left: tuple[int, ...], right: tuple[int, ...], dtype: str) -> None:
    """``np.dot`` of these is a product: no zero is added, as in the others."""

    def program(a, b):
        return np.dot(a, b), a.dot(b), np.inner(a, b), np.vdot(a, b), a @ b

    args = np.zeros(left, dtype), -np.ones(right, dtype)
    assert difference(run(program, args), run(fxc.compile(program), args)) == ""
