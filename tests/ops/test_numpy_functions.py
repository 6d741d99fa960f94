"""Functions of NumPy's whose code looks at elements or sizes: one compilation for all sizes."""

from __future__ import annotations

import copy
import math
import warnings
import zlib
from collections.abc import Callable, Hashable, Iterable, Sized
from numbers import Number
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError
from tests.outcomes import difference, exact, run

pytestmark = [pytest.mark.bits, pytest.mark.products]

_scale = 2.0


def _without_nans(x, i):
    return (
        np.nanmean(x, axis=0),
        np.nanvar(x, axis=1, ddof=1, keepdims=True),
        np.nanstd(x),
        np.nanmax(x, axis=0),
        np.nanmin(x),
        np.nanargmax(x, axis=1),
        np.nanmean(i),
    )


def _orders_without_nans(x, i):
    return (
        np.nanmedian(x),
        np.nanmedian(x, axis=1),
        np.nanpercentile(x, 30, axis=0),
        np.nanquantile(x, [0.1, 0.5]),
    )


def _averages(x, i):
    w = i[0] + 1.0
    return (
        np.average(i, axis=1, weights=w),
        np.average(i, weights=i + 0.5, returned=True),
        np.average(w, returned=True),
        np.average(i, axis=0, returned=True),
    )


def _covariances(x, i):
    y = i + np.linspace(0, 1, i.shape[1])
    return np.cov(y), np.cov(y[0], bias=True), np.corrcoef(y), np.cov(y, aweights=y[0] ** 2)


def _histograms(x, i):
    y = i * 0.37
    return (
        np.histogram(y, 5),
        np.histogram(i, bins=4, range=(1, 6)),
        np.histogram(y, bins=[0.0, 0.5, 1.0], density=True),
        np.histogram(y, len(i), weights=i),
        np.histogram(i, bins=np.arange(i.shape[1])),
    )


def _windows(x, i):
    n = x.shape[1]
    return np.hanning(n), np.hamming(n), np.blackman(n), np.bartlett(n), np.kaiser(n, 3.5)


def _products(x, i):
    y = i[:, :2]
    return (
        np.kron(i[0], np.ones(2)),
        np.kron(y, np.eye(2)),
        np.kron(i[0], y.T),
        np.vander(y[:, 0], 3),
    )


def _places(x, i):
    best = np.argmax(i)
    some = np.argsort(i, axis=None)[:3]
    rows, columns = np.unravel_index(some, i.shape)
    return (
        np.unravel_index(best, i.shape),
        np.unravel_index(best, i.shape, "F"),
        rows,
        columns,
        np.ravel_multi_index((rows, columns), i.shape),
        np.ravel_multi_index([rows, columns], i.shape, order="F"),
        i[np.unravel_index(best, i.shape)],
    )


def _sets(x, i):
    return (
        np.isin(i, [1, 2]),
        np.isin(i[0], i[1, ::2], invert=True),
        np.setdiff1d(i[0], i[1]),
        np.union1d(i[0], i[1]),
        np.intersect1d(i[0], i[1]),
        np.digitize(i, [1.5, 3]),
        np.lexsort((i[1], i[0])),
    )


def _equivalents(x, i):
    return (
        np.array_equiv(i, i.copy()),
        np.array_equiv(i, i[0]),
        np.array_equiv(np.stack([i[0], i[0]]), i[0]),
        np.array_equiv(i[0], i[0, :2]),
        np.array_equiv(x, x + 0j),
        np.array_equiv(i[i > 6], [7]),
        np.array_equiv(i[0] * 0, 0),
    )


def _between(x, i):
    grid = np.arange(i.shape[1])
    return (
        np.interp(i[0] * 0.7, grid, i[1], left=-1, right=grid[0] + 0.5),
        np.interp(i[0] * 0.7, grid, i[1], period=3.5),
        np.logspace(0, 1, i.shape[1])[::7],
    )


def _by_functions(x, i):
    n = i.shape[1]
    return (
        np.apply_along_axis(np.sum, 1, i),
        np.apply_along_axis(lambda v, k: v * k - v[0] * _scale, 0, i * 0.5, n),
        np.apply_along_axis(lambda v: v.max(), 0, i[0]),
        np.fromfunction(lambda a, b: a * n + b, (n, 3)),
        np.piecewise(i[0] * 0.5, [i[0] < 90], [lambda v: v * n, 0]),
        np.apply_over_axes(lambda a, k: a.sum(k) * _scale, i, [0, 1]),
    )


def _counts(x, i):
    found = np.bincount(i[0])
    means = np.bincount(i[0], weights=i[1]) / np.maximum(found, 1)
    return found, means, means[i[0]], found.argmax(), len(found), np.cumsum(found)


def _lists_with_elements(x, i):
    few = [x[0, 0], x[5, 1], 2.0]
    joined = np.append(x, few), np.append(few, [i[0, 0]]), np.r_[x[5], few]
    return joined, np.resize(few, 7), np.array_split(few, 2), np.cov(few), np.tile(few, 2)


def _repeats(x, i):
    counts, v = i[0] % 3, x[5]
    rows = np.repeat(x, [2, 0, 1, 1, 0, 3], axis=0)
    return np.repeat(v, counts), np.repeat(v, counts).size, rows, np.repeat(v, [2])


PROGRAMS: tuple[Callable[..., Any], ...] = (
    *(_without_nans, _orders_without_nans, _averages, _covariances, _histograms, _windows),
    *(_products, _places, _sets, _equivalents, _between, _by_functions, _counts),
    *(_lists_with_elements, _repeats),
)


def _arguments(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    x = rng.normal(size=(6, size))
    x[2:5, 1] = x[1, ::2] = np.nan
    return x, rng.integers(0, 7, (6, size))


def _best(v):
    return v.max() if v[0] > 0 else 0


def _place_or_nan(v):
    return np.nan if v[0] > 0 else int(v.argmax())


def _signs_or_row(v):
    return v > 0 if v[0] < 0 else v


@pytest.mark.parametrize("of_row", [_best, _place_or_nan, _signs_or_row])
def test_results_along_an_axis_are_cast_to_the_dtype_of_the_first(
    of_row: Callable[..., Any],
) -> None:
    def program(x):
        return np.apply_along_axis(of_row, 1, x)

    compiled = fxc.compile(program)
    for size in (3, 7):
        x = np.linspace(-1.0, 1.5, 5 * size).reshape(size, 5)
        for given in (x, x[::-1].copy()):
            assert difference(run(program, (given,)), run(compiled, (given,)), exact) == ""


def _later_shorter(x):
    sizes = [3, 1, 1, 1]

    def of_row(v):
        return v[: sizes.pop(0)]

    return np.apply_along_axis(of_row, 1, x)


def _beyond(x):
    return np.apply_along_axis(np.sum, 2, x)


def _before(x):
    return np.apply_along_axis(np.sum, -3, x)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [_later_shorter, _beyond, _before])
def test_shapes_and_axes_along_an_axis_are_numpys(program: Callable[..., Any]) -> None:
    """Another axis was the one that it is modulo 2; another shape than the first an error."""
    x, compiled = np.arange(12.0).reshape(4, 3), fxc.compile(program)
    assert difference(run(program, (x,)), run(compiled, (x,)), exact) == ""
    assert compiled.cache_info().native_calls == 0


@pytest.mark.parametrize(("of_row", "is_captured"), [(math.fsum, True), (zlib.crc32, False)])
def test_functions_that_are_not_pythons_along_the_only_axis(
    of_row: Callable[..., Any], is_captured: bool
) -> None:
    """They were given arrays of the graph, of which one in C took exception."""

    def program(x):
        return np.apply_along_axis(of_row, 0, x)

    compiled, x = fxc.compile(program), np.linspace(-1.0, 1.5, 5)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "(?s).*please report", fxc.CaptureWarning)
        found = run(compiled, (x,))
    assert difference(run(program, (x,)), found, exact) == ""
    assert compiled.cache_info().native_calls == is_captured


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_compilation_for_all_sizes(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    ulps = few_ulps if program is _between else exact
    for size in (7, 9, 30):
        expected = run(program, _arguments(size))
        assert expected.error is None
        assert difference(expected, run(compiled, _arguments(size)), ulps) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)


def test_shapes_that_meet_are_equivalent_without_numpys_call() -> None:
    compiled = fxc.compile(lambda a, b: np.array_equiv(a, b), fullgraph=True)
    ones = np.ones
    calls = [
        (ones(4), ones(4)),
        (ones(5), ones((2, 5))),
        (ones((7, 1)), ones((3, 1, 4), np.int8)),
        (ones(5), ones(6)),
        (ones((2, 3)), ones((3, 2))),
        (ones(0), ones(1)),
        (ones(0), ones(2)),
        (ones(3), np.full(3, np.nan)),
        (ones(3), 1),
    ]
    for a, b in calls:
        assert difference(run(np.array_equiv, (a, b)), run(compiled, (a, b))) == ""
    info = compiled.cache_info()
    assert (info.eager_calls, set(info.fallbacks)) == (0, set()), info


def few_ulps(where: str) -> float:
    """``logspace`` is made of powers."""
    return 4.0


def test_windows_are_numpys_to_the_bit() -> None:
    def program(n):
        return np.hanning(n), np.hamming(n), np.blackman(n), np.bartlett(n), np.kaiser(n, 8.6)

    compiled = fxc.compile(program, fullgraph=True)
    for n in range(2, 200):
        assert difference(run(program, (n,)), run(compiled, (n,))) == ""
    assert compiled.cache_info().variants == 1


def _decompositions(a):
    wide, tall = a[:4], a[:, :4]
    return (
        np.linalg.svd(a),
        np.linalg.svd(tall, full_matrices=False),
        np.linalg.svd(wide.T, compute_uv=False),
        np.linalg.svdvals(a),
        np.linalg.qr(a),
        np.linalg.qr(a.T),
        np.linalg.qr(tall, "complete"),
        np.linalg.qr(wide.T, "r"),
        np.linalg.eig(a @ a.T),
        np.linalg.eigvals(a @ a.T),
        np.linalg.eig(a + 0j).eigenvalues,
    )


def _solutions(a):
    tall, y = a[:, :3], a[0]
    return (
        np.linalg.lstsq(a, y, rcond=None),
        np.linalg.lstsq(tall, y),
        np.linalg.lstsq(tall, a, rcond=1e-9),
        np.linalg.lstsq(a[:3], y[:3])[1:],
        np.linalg.pinv(tall),
        np.linalg.matrix_rank(a),
        np.linalg.cond(a),
        np.polyfit(y, a[1], 2),
        np.polyfit(y, a, 1, w=np.abs(y), cov=True),
        np.linalg.norm(a, 2),
    )


@pytest.mark.parametrize(
    ("program", "dtype"), [(_decompositions, "f8"), (_decompositions, "f4"), (_solutions, "f8")]
)
def test_matrices(program: Callable[..., Any], dtype: str) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for size in (6, 5, 9):
        a = np.random.default_rng(size).normal(size=(size, size)).astype(dtype)
        assert difference(run(program, (a.copy(),)), run(compiled, (a,))) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)


@pytest.mark.parametrize(
    "x", [np.arange(6).astype("m8[s]"), np.ones((3, 0)), np.ones((3, 4))], ids=["m8", "0", "12"]
)
def test_an_average_counts_elements_in_its_own_dtype(x: np.ndarray) -> None:
    """NumPy does so where nobody asks for the count, and raises where there are no such counts."""
    compiled = fxc.compile(lambda x: np.average(x, axis=0))
    expected = run(lambda x: np.average(x, axis=0), (x,))
    assert difference(expected, run(compiled, (x,))) == ""


RAISING: list[tuple[Callable[..., Any], Any, Any]] = [
    (lambda x: np.average(x, weights=x), np.ones(4), np.zeros(4)),
    (lambda x: np.nanmean(x), np.ones(4), np.full(4, np.nan)),
    (lambda x: np.nanmax(x.reshape(2, -1), axis=0), np.ones(4), np.full(4, np.nan)),
    (lambda x: np.nanargmin(x), np.ones(4), np.full(4, np.nan)),
    (lambda x: np.unravel_index(x, (3, 2)), np.array([5, 0]), np.array([5, 6])),
    (lambda x: np.ravel_multi_index(x, (3, 2)), np.array([1, 0]), np.array([-1, 0])),
    (lambda x: np.digitize(x, x), np.arange(4.0), np.array([1.0, 0.0, 2.0, 0.0])),
    (lambda x: np.histogram(x, 3), np.arange(4.0), np.array([1.0, np.inf, 2.0, 0.0])),
    (lambda x: np.linalg.lstsq(x, x[0]), np.eye(2), np.eye(2)[:, :1]),
    (lambda x: np.linalg.lstsq(x, x[:, 0]), np.eye(3)[:, :2], np.ones((3, 2))),
    (lambda x: np.bincount(x), np.array([3, 1]), np.array([3, -1])),
    (lambda x: np.bincount(x), np.array([3, 1]), np.array([3, 2**17])),
    (lambda x: np.linalg.svd(x), np.eye(2), np.full((2, 2), np.nan)),
]
if np.linalg.eigvals(np.eye(2)).dtype.kind == "f":  # from NumPy 2.5 on they are complex in any case
    turned = np.array([[0.0, 1.0], [-1.0, 0.0]])
    RAISING.append((lambda x: np.linalg.eigvals(x), np.eye(2), turned))


@pytest.mark.parametrize(("program", "usual", "other"), RAISING)
def test_what_numpy_raises_or_warns_of(
    program: Callable[..., Any], usual: np.ndarray, other: np.ndarray
) -> None:
    compiled = fxc.compile(program)
    for eager, given in enumerate((usual.copy(), other.copy())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            expected = run(program, (copy.deepcopy(given),))
            assert difference(expected, run(compiled, (given,))) == ""
        assert compiled.cache_info().eager_calls == eager


OWN_CODE: list[Callable[..., Any]] = [
    lambda x: np.fliplr(x[0]),
    lambda x: np.moveaxis(x, 0, 5),
    lambda x: np.hstack([x, x[0]]),
    lambda x: np.expand_dims([x[0, 0], 1.0], (0, 2)),
    lambda x: (np.shape([x[0], x[1]]), np.size(x, 0), np.ndim(x[0, 0])),
    lambda x: np.atleast_2d(x[0], x[0, 0], 2),
    lambda x: x[np.ix_([True, False, True], [0, 2])],
    lambda x: np.meshgrid(x[0], x[1], sparse=True, copy=False),
    lambda x: (np.real([x[0], 1j * x[0]]), np.angle(x[0, 0]), np.iscomplex(x)),
    lambda x: (x.sum(0, keepdims=True), x.min(1, None, True), x.clip(max=3), x.repeat(2, axis=0)),
]


@pytest.mark.parametrize("program", OWN_CODE)
def test_what_numpy_does_in_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    for size in (3, 4):
        x = np.arange(3.0 * size).reshape(3, size).copy()
        assert difference(run(program, (x.copy(),)), run(compiled, (x,))) == ""


def test_what_asks_whether_an_int_is_an_array_takes_any() -> None:
    def program(x, n):
        number = 0.5
        if x[0, 0] > 0:
            number = x[0, 0]
        return np.iscomplexobj(n), np.ndim(n), np.shape(n), np.size(n), np.ndim(number), x * n

    compiled = fxc.compile(program, fullgraph=True)
    for n in (2, 3, 7):
        x = np.arange(6.0).reshape(2, 3) + n
        assert difference(run(program, (x.copy(), n)), run(compiled, (x, n))) == ""
    assert compiled.cache_info().variants == 1


@pytest.mark.parametrize("count", [-1, 0, 1, 2, 3])
def test_short_windows(count: int) -> None:
    def program(n):
        return np.hanning(n), np.blackman(n), np.bartlett(n), np.kaiser(n, 2.0)

    compiled = fxc.compile(program)
    for n in (8, 9, count):
        assert difference(run(program, (n,)), run(compiled, (n,))) == ""


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda x: np.histogram(x, "auto"), "bins that depend on the data"),
    (lambda x: np.ravel_multi_index((x, x), (3, 3), mode="clip"), "mode='clip'"),
    (lambda x: np.hanning(x[0, 0]), "np.hanning of a number that depends on data"),
]


@pytest.mark.parametrize(("program", "text"), REFUSED)
def test_refused(program: Callable[..., Any], text: str) -> None:
    with pytest.raises(CaptureError, match=text):
        fxc.compile(program, fullgraph=True)(np.eye(3))


# ---------------------------------------------------------------- options


def _of_some_as_methods(x, i):
    y, large = x.copy(), x > 0
    y[0] = 1.0
    large[0] = True
    return (
        y.mean(axis=0, where=large),
        y.std(0, where=large, keepdims=True),
        np.var(y, where=large, ddof=1),
        np.mean(i, where=large, dtype=np.float32),
        np.var(y, axis=1, mean=y.mean(axis=1, keepdims=True), correction=1),
    )


def _methods_as_functions(x, i):
    z = x * 1j
    return z.round(1), i.round(-1), (x > 0).round(), np.round(z, 1)


def _into_arrays(x, i):
    row, whole, spectrum = np.zeros(len(x)), np.zeros(x.shape), np.zeros(x.shape, complex)
    square = np.eye(len(x)) + 0.5
    matrix = np.zeros(square.shape)
    given = (
        np.einsum("ij,kj->ik", square, square, out=matrix),
        np.vecdot(x, x, out=row),
        np.fft.fft(x, axis=0, out=spectrum),
        np.add.reduceat(i, np.arange(len(i)), 0, None, np.zeros(i.shape, i.dtype)),
        np.compress([True, False, True], x, axis=0, out=whole[:2]),
    )
    low = np.zeros(len(x))
    return given, np.percentile(x, 30, axis=1, out=low) is low, low, row, whole, spectrum


def _facts_of_arrays(x, i):
    facts = x.device, x[0, 0].device, np.min_scalar_type(x), np.min_scalar_type(x.astype("f2"))
    return facts, np.asarray_chkfinite(x, np.float32, "F"), np.eye(3, 4, order="F"), np.eye(2)


@pytest.mark.parametrize(
    "program", [_of_some_as_methods, _methods_as_functions, _into_arrays, _facts_of_arrays]
)
def test_options_that_numpy_serves(program: Callable[..., Any]) -> None:
    """By calls of NumPy in the graph, or its own code; methods as functions of their names."""
    rng = np.random.default_rng(8)
    args = rng.normal(size=(5, 7)), rng.integers(-99, 99, (5, 7))
    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        expected = run(program, copy.deepcopy(args))
        assert expected.error is None
        assert difference(expected, run(compiled, copy.deepcopy(args)), exact) == ""
    assert compiled.cache_info().eager_calls == 0


def test_what_is_not_finite_raises() -> None:
    def program(x):
        return np.asarray_chkfinite(x) * 2

    compiled = fxc.compile(program)
    for x in (np.ones(3), np.array([1, np.nan]), np.array([2.0])):
        assert difference(run(program, (x,)), run(compiled, (x,)), exact) == ""


def test_a_mean_of_nothing_warns() -> None:
    def program(x, m):
        return x.mean(axis=1, where=m), np.std(x, where=m)

    compiled = fxc.compile(program)
    x = np.arange(12.0).reshape(3, 4)
    for m in (x > 4, x > -1):
        assert difference(run(program, (x, m)), run(compiled, (x, m)), exact) == ""


@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy")
def test_an_array_to_write_that_is_read_too_is_left_to_numpy() -> None:
    def program(x):
        np.einsum("ij,jk->ik", x, x, out=x)
        return x

    def in_other_order(x):
        out = np.zeros(x.shape).T
        np.einsum("ij,jk->ik", x, x, out=out)
        return out

    for each in (program, in_other_order):
        x = np.random.default_rng(4).normal(size=(9, 9))
        assert difference(run(each, [x.copy()]), run(fxc.compile(each), [x.copy()]), exact) == ""


# What NumPy's functions do, or raise, where their arguments are unusual.
UNUSUAL = {
    "a method without this option of the function": lambda x: x.var(correction=1),
    "nanmedian of a number": lambda x: np.nanmedian(x[0] + 0.0),
    "bins of floats in a list": lambda x: np.bincount([1.0, 2.0]),
    "a range without bounds": lambda x: np.arange(None),
    "a shift along no axis": lambda x: (np.fft.fftshift(x[0]), np.roll(x[0], (), ())),
    "places in too large an array": lambda x: np.ravel_multi_index(([0], [0]), (2**41, 2**41)),
    "places in a large array": lambda x: np.ravel_multi_index(([5], [3]), (2**40, 2**20)),
    "None where it holds": lambda x: np.where(x > 1, None, x),
    "one of two": lambda x: np.where(x > 1, x),
    "windows along one axis twice": lambda x: (
        np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(0, 0)) + 1
    ),
    "days": lambda x: np.arange("2000-01-01", "2000-01-04", dtype="M8[D]"),
    "an array for a dtype": lambda x: np.arange(3, dtype=x),
    "the dtype of an array": lambda x: np.dtype(x),
    "the kind of an array": lambda x: np.issubdtype(x, x),
    "numbers as an array says": lambda x: np.fromiter(x, x),
    "another view as an array says": lambda x: x.view(x),
    "the dtype of a number": lambda x: (np.dtype(x[0]), np.issubdtype(x[0], np.floating)),
    "the trace of a stack": lambda x: np.linalg.trace(np.stack([np.outer(x, x), np.eye(4)]) + 1),
}


@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy")
@pytest.mark.filterwarnings("ignore:Non-integer input")
@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_arguments(name):
    x = np.array([0.5, 2.0, -1.0, 3.0])
    program = UNUSUAL[name]
    compiled = fxc.compile(program)
    for _ in range(2):
        assert difference(run(program, [x.copy()]), run(compiled, [x.copy()])) == ""


def what_arrays_have(x):
    names = ("__array_namespace__", "__array_interface__", "__array_finalize__", "__nothing__")
    return [hasattr(x, name) for name in names], [hasattr(x[0], name) for name in names]


def sharing_in_memory_order(x):
    array = np.array(x, order="F")
    parts = np.reshape(array, (8, 2), order="F"), np.reshape(array, (8, 2)), array[:, ::2]
    return [np.shares_memory(array, each) for each in parts]


def aligned_or_not(x):
    moved = np.zeros(65, np.int8)[1:].view(float)
    return moved.flags.aligned, moved.flags.behaved, x.flags.aligned


def sums_that_broadcast(x):
    return np.einsum("ij,ij->i", x[:, :1], x), np.einsum("ij,jk->ik", x, x.T)


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
@pytest.mark.parametrize(
    "program",
    [what_arrays_have, sharing_in_memory_order, aligned_or_not, sums_that_broadcast],
)
def test_what_numpy_says_of_arrays(program):
    x = np.arange(16.0).reshape(4, 4)
    compiled = fxc.compile(program)
    for _ in range(2):
        assert difference(run(program, [x]), run(compiled, [x])) == ""


def products_of_sized(s, t):
    a = np.arange(float(s[0] * s[1] * s[2])).reshape(s) + 0.5
    b = np.arange(t[0] * t[1] * t[2]).reshape(t)
    return a @ b, np.matmul(b.transpose(0, 2, 1), a.transpose(0, 2, 1)), a + b[:, :1, :1]


def test_batches_that_are_broadcast_by_sizes_that_vary():
    compiled = fxc.compile(products_of_sized, fullgraph=True)
    sizes = [((20, 3, 4), (1, 4, 5)), ((1, 3, 4), (7, 4, 5)), ((9, 3, 4), (9, 4, 2))]
    for given in [*sizes, ((300, 2, 2), (1, 2, 2)), ((1, 2, 2), (1, 2, 3)), *sizes]:
        assert difference(run(products_of_sized, given), run(compiled, given)) == ""


def numbers_in_arrays(x):
    one = np.array(3)
    sizes = np.ones(one), np.zeros((np.array(2), 3)), len(range(np.array(x.shape[0])))
    return sizes, complex(np.array(7)), complex(np.array(x[0]), np.array(1.5))


def what_arrays_are(x):
    kinds = Hashable, Iterable, Sized, Number
    return [[isinstance(each, kind) for kind in kinds] for each in (x, x[0], x.shape, [x], 1.5)]


def flags_of(x):
    return (x * 2).flags, x[::2].flags, (x + 1).ravel().flags.owndata


@pytest.mark.parametrize("program", [numbers_in_arrays, what_arrays_are, flags_of])
def test_what_arrays_stand_for(program):
    x = np.arange(5.0)
    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        assert repr(program(x)) == repr(compiled(x))


def test_rolling_by_elements_is_native() -> None:
    def program(x: np.ndarray, by: np.ndarray) -> Any:
        for i in range(len(by)):
            x[:, :, i] = np.roll(x[:, :, i], by[i], axis=1)
        return np.roll(x, by[0]), np.roll(x.T, (by[1], by[2]), axis=(0, 2))

    compiled = fxc.compile(program, fullgraph=True)
    for by in ([0, 1, -1, 9], [250, 2, 8, 0]):
        x, shifts = np.arange(24.0).reshape(2, 3, 4), np.array(by)
        assert difference(*(run(f, (x.copy(), shifts)) for f in (program, compiled))) == ""
    assert compiled.cache_info().fallbacks == {}


@pytest.mark.parametrize("dynamic", [False, True])
def test_rolling_two_entries_keeps_the_order_of_the_axes(dynamic: bool) -> None:
    """The parts of one entry that it joins do not tell in which order the axes lie."""

    def program(x: Any) -> Any:
        return np.roll(x, 1, axis=0), np.roll(x, -2, axis=0), np.roll(x, (1, 1), axis=(0, 2))

    x = np.arange(24.0).reshape(3, 4, 2).transpose(2, 0, 1)
    for given in (x, x[::-1], x[:, ::-1]):
        compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
        assert difference(run(program, (given,)), run(compiled, (given,))) == ""


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 2, 0), (0, 3)])
def test_take_checks_places_of_parts_without_elements(shape: tuple[int, ...]) -> None:
    """As often as there are parts, whatever they hold."""

    def program(x: Any, i: Any) -> Any:
        return np.take(x, i, axis=0)

    for i in (np.array([0, 1]), np.array([9]), np.zeros(0, int)):
        inputs = np.zeros(shape), i
        assert difference(run(program, inputs), run(fxc.compile(program), inputs)) == ""


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("places", [[0, 1, 16], (3, 5), [4], []])
def test_differences_of_sets_that_are_lists(places: Any) -> None:
    def free(n: int, places: Any) -> Any:
        return np.setdiff1d(np.arange(n), places)

    captured = np.lib.NumpyVersion(np.__version__) >= "2.4.0"  # before, its code needs the extremes
    found = fxc.compile(free, fullgraph=captured)(20, places)
    np.testing.assert_array_equal(found, free(20, places))
