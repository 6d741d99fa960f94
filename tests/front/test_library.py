"""Functions that NumPy itself runs, inside compiled functions and their loops."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

X = np.random.default_rng(8).random((6, 9))
INTS = np.random.default_rng(9).integers(0, 7, (6, 9))


def _medians(x):
    rows = np.array([np.median(x[i, i // 2 : i // 2 + 5]) for i in range(len(x))])
    return rows, np.median(x), np.median(x, axis=0), np.median(x.T, axis=-1), np.median(x[:, 1:4])


def _percentiles(x):
    out = np.empty((len(x), 2))
    for i, row in enumerate(x):
        out[i] = np.percentile(row, [25, 75])
    q = np.quantile(x, x[0, 0])
    return out, q, np.quantile(x, 0.3, axis=1), np.percentile(x, x[0] * 100, method="lower")


def _searches(x):
    grid = np.sort(x[0])
    found = np.zeros(len(grid) + 1, int)
    for v in x[1]:
        found[np.searchsorted(grid, v)] += 1
    return found, grid.searchsorted(x, side="right"), np.searchsorted(grid, 0.5), grid[found[:2]]


def _windows(x):
    k = np.array([0.25, 0.5, 0.25])
    y = x[0]
    for _ in range(6):
        y = np.convolve(y, k, mode="same")
    return y, np.convolve(k, y), np.convolve(y, k, "valid"), np.correlate(y, x[1, 2:]), k


def _interpolated(x):
    grid = np.linspace(0, 1, x.shape[1])
    u = x[0]
    for _ in range(5):
        u = np.interp(grid - 0.03, grid, u)
    return u, np.interp(0.3, grid, u), np.interp(x, grid, u)


def _counts(i):
    table = np.zeros((len(i), 8), int)
    for k, row in enumerate(i):
        table[k] = np.bincount(row, minlength=8)
    return table, np.bincount(i[0], weights=i[1] * 0.5, minlength=7)


def _sums(x):
    x = x.copy()
    c = np.zeros((len(x), len(x)))
    for i in range(7):
        c = c * 0.5 + np.einsum("ij,kj->ik", x, x) * i
    return (
        c,
        np.einsum("i,i->", x[0], x[1]),
        np.einsum("ij->j", x),
        np.einsum("ij,j", x, x[0]),
        np.einsum("ij,j,ik->k", x, x[0], x, optimize=True),
        np.einsum("ij,kj->ik", x, x, optimize=True),
        np.einsum("ij,kj->jki", x, x),
    )


def _transforms(x):
    k = 2 * np.pi * np.fft.fftfreq(x.shape[1], 1 / 9)
    u = x[0]
    for _ in range(5):
        u = np.fft.ifft(np.fft.fft(u) * np.exp(-0.01 * k**2)).real
    both = np.fft.ifft2(np.fft.fft2(x, norm="ortho"))
    real = np.fft.irfft(np.fft.rfft(x.T, axis=0), axis=0)
    return u, both, real, np.fft.fftn(x.T), np.fft.fftshift(u), np.fft.rfftfreq(x.shape[1])


def _transforms_of_sizes(x):
    n, m = x.shape
    spectrum = np.fft.rfft(x, 16)
    cut = np.fft.fft(x, n=3, axis=0), np.fft.ifft(x, 2 * n, 0), np.fft.rfft(x, 1)
    both = np.fft.fft2(x, s=(m, n)), np.fft.ifftn(x, (4, -1), axes=(1, 0))
    return spectrum, np.fft.irfft(spectrum, 15), np.fft.irfft(spectrum)[:, :m], cut, both


PROGRAMS: list[tuple[Callable[..., Any], np.ndarray]] = [
    (_medians, X),
    (_percentiles, X),
    (_searches, X),
    (_windows, X),
    (_interpolated, X),
    (_counts, INTS),
    (_sums, X),
    (_transforms, X),
    (_transforms, X.astype(np.float32)),
    (_transforms_of_sizes, X),
]


@pytest.mark.parametrize(("program", "x"), PROGRAMS)
def test_as_numpy(program: Callable[..., Any], x: np.ndarray) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for given in (x, x[:, :7].copy(), x[:5, :8].copy(order="F"), x):
        expected = run(program, (copy.deepcopy(given),))
        assert expected.error is None
        assert difference(expected, run(compiled, (copy.deepcopy(given),))) == ""
    assert compiled.cache_info().eager_calls == 0


def test_more_bins_than_asked_for() -> None:
    def program(i):
        return np.bincount(i, minlength=4)

    compiled = fxc.compile(program, fullgraph=True)
    for given in (np.array([1, 3]), np.array([1, 6]), np.array([-1, 2])):
        assert difference(run(program, (given,)), run(compiled, (given,))) == ""
    assert compiled.cache_info().eager_calls == 2


def test_errors() -> None:
    def program(x, v):
        x += 1
        return np.interp(v, x, v), np.convolve(x, v)

    for args in ((X[0], X[1, :3]), (X[0], X[0, :0])):
        compiled = fxc.compile(program)
        given = copy.deepcopy(args)
        assert difference(run(program, copy.deepcopy(args)), run(compiled, given)) == ""


def _of_matrices(a):
    matrix = np.linalg
    d = np.zeros(3)
    for i in range(len(d)):
        b = a + i * np.eye(len(a))
        d[i] = matrix.det(b) + matrix.slogdet(b)[1] + matrix.eigvalsh(b, UPLO="U")[0]
        values, vectors = matrix.eigh(b)
        a = matrix.cholesky(vectors @ np.diag(np.abs(values) + 1) @ vectors.T)
    pairs = matrix.eigh(a).eigenvalues, matrix.slogdet(a + 1j), matrix.det(a[None].repeat(2, 0))
    return d, a, pairs, matrix.matrix_power(a, 5), matrix.matrix_power(a, -2)


def test_functions_of_square_matrices() -> None:
    compiled = fxc.compile(_of_matrices, fullgraph=True)
    for size in (4, 6, 3):
        a = np.random.default_rng(size).normal(size=(size, size))
        assert difference(run(_of_matrices, (a.copy(),)), run(compiled, (a,))) == ""
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize(
    "program", [lambda a: np.linalg.cholesky(-a @ a.T), lambda a: np.linalg.det(a[:2])]
)
def test_functions_of_square_matrices_raise(program: Callable[..., Any]) -> None:
    a = np.random.default_rng(1).normal(size=(3, 3))
    assert difference(run(program, (a.copy(),)), run(fxc.compile(program), (a,))) == ""


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.einsum("ij,jk->ik", x.T, x),
        lambda x: np.einsum("...j->...", x),
        lambda x: np.fft.fft(x, n=4),
        lambda x: np.percentile(x, 3, keepdims=True),
    ],
)
def test_operands_and_options_of_any_kind(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, (X.copy(),)), run(compiled, (X.copy(),))) == ""
    assert compiled.cache_info().native_calls == 1


def _paths(x):
    y = np.einsum("ij->ji", x)
    y[0] += 1  # a view
    a = x[:, :4]
    chain = [np.einsum("ij,kj,kl->il", a, a, x, optimize=path) for path in PATHS]
    alone = [np.einsum("ij,ij->", x, x, optimize=path) for path in (False, True)]
    return x, y, chain, alone, np.einsum("ij,kj", a, x[:, 2:6], optimize=["einsum_path", (0, 1)])


PATHS = (True, "optimal", ("greedy", 10), ["einsum_path", (0, 1), (0, 1)], None)


def test_einsum_by_a_path_of_contractions() -> None:
    compiled = fxc.compile(_paths, fullgraph=True)
    assert difference(run(_paths, (X.copy(),)), run(compiled, (X.copy(),))) == ""
    assert compiled.cache_info().eager_calls == 0


def _nearest(points, labels, k):
    found = np.zeros(len(points), labels.dtype)
    for i, q in enumerate(points):
        near = np.argsort(((points - q) ** 2).sum(axis=1))[:k]
        found[i] = np.bincount(labels[near]).argmax()
    return found


@pytest.mark.parametrize("dtype", ["i8", "u1"])
def test_bins_of_what_a_loop_counts(dtype: str) -> None:
    """The loop was run by fxc's evaluator, a hundred times slower than by Python."""
    compiled = fxc.compile(_nearest, fullgraph=True)
    for n in (12, 12, 15, 20):
        points = np.random.default_rng(n).normal(size=(n, 2))
        args = points, (np.arange(n) * 7 % 4).astype(dtype), 5
        assert difference(run(_nearest, args), run(compiled, args)) == ""
    assert compiled.cache_info().fallbacks.keys() == {"bincount"}
    assert compiled.cache_info().eager_calls == 0


TABLE = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.broadcast_to(2.0, 3),
        lambda: np.diagonal(TABLE),
        lambda: np.rot90(TABLE),
        lambda: np.imag([1.0, 2.0]),
        lambda: np.split(TABLE, 2, axis=1),
        lambda: [np.transpose(TABLE), np.flip([0.5, 1.5])],
    ],
)
def test_what_is_made_of_constants_alone_is_laid_out_as_numpys(make: Callable[[], Any]) -> None:
    def program(x):
        return make(), x

    def changed(x):
        made = make()
        (made[0] if isinstance(made, list) else made)[...] = 1.5
        return made, x

    for fn in (program, changed):
        wanted, found = run(fn, (X,)), run(fxc.compile(fn, fullgraph=True), (X,))
        assert not difference(wanted, found)
