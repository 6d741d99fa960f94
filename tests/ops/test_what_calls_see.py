"""Calls of NumPy and products see operands where NumPy has them: in its strides, and one array twice
if it is one array. See Note [What a call sees] and Note [Operands that stay apart].
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

L = np.linalg

# One array twice is a routine of BLAS of its own (syrk), two of equal content are another (gemm).
PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "a and its transpose": lambda a: (a @ a.T, a.T @ a, np.dot(a, a.T), np.dot(a.T, a)),
    "of a temporary": lambda a: ((t := a + 1) @ t.T, (s := a * 2).T @ s, (u := -a).T @ u),
    "a copy": lambda a: (a.copy() @ a.T, a @ a.T.copy(), a.T.copy().T @ a.T),
    "equal temporaries": lambda a: ((a + 1) @ (a + 1).T, np.dot((a - 1).T, a - 1)),
    "inner": lambda a: (np.inner(a, a), np.inner(a, a.copy())),
    "tensordot": lambda a: (np.tensordot(a, a, (1, 1)), np.tensordot(a, a, (0, 0))),
    "covariance": lambda a: (np.cov(a), np.cov(a.T), np.corrcoef(a), np.cov(a, rowvar=False)),
    "windows": lambda a: (a[1:] @ a[1:].T, a[:, 1:].T @ a[:, 1:], a[1:, 1:] @ a[1:, 1:].T),
    "gaps": lambda a: (a[::2] @ a[::2].T, a[:, ::2] @ a[:, ::2].T, np.dot(a[:, ::2].T, a[:, ::2])),
    "reversed": lambda a: (a[::-1] @ a[::-1].T, a[:, ::-1].T @ a[:, ::-1]),
    "reshaped": lambda a: ((r := a.reshape(2, -1)) @ r.T, r.T @ r, (s := a.T.reshape(2, -1)) @ s.T),
    "stacks": lambda a: ((b := np.stack([a, a + 1])) @ b.swapaxes(1, 2), b.swapaxes(1, 2) @ b),
    "stretched": lambda a: (b := np.broadcast_to(a, (3, *a.shape))) @ b.swapaxes(1, 2),
    "complex": lambda a: ((c := a + 1j * a[::-1]) @ c.T, c @ c.conj().T, c.real @ c.real.T),
    "parts": lambda a: ((c := a + 1j * a[::-1]).real @ c.imag.T, c.imag @ c.imag.T),
    "centred": lambda a: ((x := a - a.mean(0)).T @ x / 3, x.T.dot(x)),
    "vectors": lambda a: (a[0] @ a[0], a[:, 0] @ a[:, 0], a.T @ a[:, 0], np.vdot(a, a)),
    "vdot": lambda a: (
        np.vdot((v := a.ravel())[::2], v[::-2]),
        np.vdot(v[::-1], v),
        np.vdot((c := v + 1j * v[::-1])[::2], c[: (len(c) + 1) // 2]),
        np.vdot(c[::-1], c),
        np.vdot(c, c[::-1]),
    ),
    "constants": lambda a: (
        C @ C.T,
        C.T @ C,
        np.dot(C, C.T) + a[0, 0],
        C[: len(a)].T @ C[: len(a)],
    ),
}
C = np.random.default_rng(7).standard_normal((40, 12))


# A call of NumPy that needs an operand otherwise (contiguous, say) makes a copy for itself.
def beside_calls(a):
    return L.qr(a.T), a @ a.T, L.svd(a.T), a.T @ a, L.lstsq(a.T, a.T, rcond=None)[0], a @ a.T


def beside_sorts(a):
    return np.sort(a.T), a @ a.T, np.argsort(a.T), a.T @ a, np.sort(a.T, axis=0), np.fft.fft(a.T)


def beside_medians(a):
    t = a.T
    return np.nanquantile(t, 0.5, axis=0), t @ a, np.partition(t, 1), a @ t


def totals(a):
    part = a[:, ::2]
    logs = np.logaddexp.reduce(part, axis=None), np.logaddexp.reduce(part.T, axis=0)
    return part.sum(), np.add.reduce(part, axis=None), logs, a.T[::2].sum(axis=1)


def written_whole(a):
    b = np.empty_like(a)
    b[:] = a
    c = np.empty_like(a)
    c[:] = a
    return b @ a.T, b[:] @ a.T, b @ b.T, c @ b.T


def written_later(a):
    t = a.T
    q = L.qr(t)
    a += 1
    return q, a @ t, np.sort(t), t @ a


def in_loops(a):
    total = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[0]):
        rows = a[k : k + 3]
        total += rows.T @ rows
    stack = np.stack([a, a * 2, a * 3])
    for k in range(3):
        total += stack[k].T @ stack[k]
        total = total / np.abs(total).max()
    return total


def handed_on_in_loops(a):
    b, bt = a, a.T
    c = b @ bt
    for _ in range(3):
        c = b @ bt
        b = c / np.abs(c).max()
        bt = b.T
    return c


def in_branches(a):
    t = a.T
    if a[0, 0] > 0:
        c = a @ t
    else:
        c = t.T @ t
    return c, np.sort(t)


PROGRAMS = [
    beside_calls, beside_sorts, beside_medians, totals, written_whole, written_later,
    in_loops, handed_on_in_loops, in_branches,
]  # fmt: skip

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda a: a.copy(),
    "F": np.asfortranarray,
    "gaps": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
}
# Small sizes have the same bits either way.
SHAPES = [(6, 6), (9, 9), (17, 10), (10, 34), (48, 30)]


def agree(program: Callable[[Any], Any], dtype: str, layout: str) -> None:
    """One function, compiled once for each layout, on matrices of several sizes."""
    compiled = fxc.compile(program, fullgraph=True)
    for shape in SHAPES:
        a = np.random.default_rng(shape[0]).standard_normal(shape).astype(dtype)
        text = difference(run(program, [LAYOUTS[layout](a)]), run(compiled, [LAYOUTS[layout](a)]))
        assert not text, f"{shape}: {text}"


@pytest.mark.parametrize("name, layout, dtype", pairs(PRODUCTS, LAYOUTS, "df"))
def test_products(name: str, layout: str, dtype: str) -> None:
    agree(PRODUCTS[name], dtype, layout)


NAMED = {each.__name__: each for each in PROGRAMS}


@pytest.mark.parametrize("name, layout, dtype", pairs(NAMED, LAYOUTS, "df"))
def test_programs(name: str, layout: str, dtype: str) -> None:
    agree(NAMED[name], dtype, layout)


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_a_matrix_that_a_product_casts_keeps_its_order(dtype: str) -> None:
    def both(a, v):
        return np.dot(a, v), np.dot(v[: len(a)], a), a.dot(v), a @ v

    compiled = fxc.compile(both, fullgraph=True, dynamic=True)
    for rows, columns in ((3, 20), (2, 33), (5, 5), (1, 20), (3, 1), (0, 20)):
        x = (np.random.default_rng(rows).normal(size=(columns, rows)) * 9).astype(dtype)
        v = np.random.default_rng(1).normal(size=max(rows, columns))
        for a in (x.T, x.T[::-1], x.T.copy(), np.repeat(x, 2, 0)[::2].T):
            given = a, v[:columns] if columns >= rows else v
            assert difference(run(both, given), run(compiled, given)) == ""


def test_calls_copy_no_views() -> None:
    def several(a):
        return np.nanquantile(a.T, 0.5, axis=0), L.qr(a[1:, 1:]), np.sort(a[::-1], axis=0)

    stages = fxc.compile(several, fullgraph=True).inspect(np.random.default_rng(0).random((9, 7)))
    assert "for" not in str(stages.loops)
    assert "numpy.linalg_qr(slice(a, " in str(stages.loops)
