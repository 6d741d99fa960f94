"""Functions that fxc knows nothing of: SciPy's, and those of NumPy and Python that it does not list."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import (
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    spatial,
    special,
    stats,
)

import fxc
from fxc.capture.outside.purity import only_computes
from fxc.ir.errors import WouldRaise
from fxc.ir.types import array_type
from fxc.ops import foreign_samples
from fxc.ops.foreign_calls import Hole
from fxc.ops.foreign_learning import operator_of
from fxc.ops.foreign_results import Unlearnable
from tests.compiling import check
from tests.outcomes import difference, run

_x = np.linspace(0.1, 2, 24)
_a = np.eye(6) * 3 + np.arange(36.0).reshape(6, 6) / 10


def _factors(a, x):
    lu, pivots = linalg.lu_factor(a * 2)
    q, r = linalg.qr(a)
    return lu + 1, pivots, q @ r, linalg.cho_solve(linalg.cho_factor(a @ a.T), x[:6])


def _gaps(a, x):
    f, p = signal.welch(np.resize(x, 40), nperseg=16)
    q = signal.filtfilt([1.0, 0.5], [1.0], np.resize(a, (3, 20)))
    p = p[::2] * f[::2] - q[1, :5]
    for i in range(12):
        r = signal.filtfilt([1.0, 0.5], [1.0], x * i)
        p[i % 5] += r[0]
    return p, q, q.T @ q, q[1:, ::2], r


def _in_a_loop(a, x):
    for k in range(30):
        x = ndimage.gaussian_filter(x, 0.5) + k
        if x[0] > 20:
            x[1:] = linalg.norm(x)
    return x


def _between_writes(a, x):
    x *= 2
    y = signal.lfilter([1.0, 2.0], [1.0, 0.5], x)
    x += y
    a[0] = linalg.solve(a, x[:6])
    return y


def _of_numbers(a, x):
    return math.gamma(x[0]) * x, math.fsum(x), math.dist(x, x * 2), statistics.fmean(x * 2)


def _of_constants(a, x):
    b, c = signal.butter(2, 0.2)
    b *= 2
    return signal.lfilter(b, c, x), signal.get_window("hann", 24) * x, special.binom(4, 2)


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, x: linalg.solve(a * 2, x[:6]) + 1,
        lambda a, x: linalg.solve(a.T, x[:6].reshape(6, 1)) * 2,
        lambda a, x: linalg.expm(a / 10) * 2,
        lambda a, x: linalg.inv(a) @ a,
        lambda a, x: linalg.svd(a * 2),
        lambda a, x: linalg.eigh(a + a.T)[0] * 2,
        lambda a, x: linalg.norm(x * 2) * x,
        lambda a, x: linalg.toeplitz(x)[:3] * 2,
        lambda a, x: linalg.block_diag(a, x) + 1,
        lambda a, x: linalg.solve_banded((1, 1), np.ones((3, 1)) + x[:12].reshape(1, 12), x[:12]),
        lambda a, x: signal.lfilter([1.0, 2.0], [1.0, 0.5], x * 2) + 1,
        lambda a, x: signal.fftconvolve(x * 2, x[:5], mode="same") + 1,
        lambda a, x: signal.convolve2d(a, a[:2]) * 2,
        lambda a, x: signal.detrend(x * x) + 1,
        lambda a, x: ndimage.gaussian_filter(a * 2, 1.0) + 1,
        lambda a, x: ndimage.convolve1d(x * 2, np.ones(3)),
        lambda a, x: ndimage.label(x > 1)[0] * 2,
        lambda a, x: ndimage.median_filter(a, size=3) * 2,
        lambda a, x: special.logsumexp(x * 2) * x,
        lambda a, x: special.softmax(a, axis=1) * 2,
        lambda a, x: fft.dct(x) * 2,
        lambda a, x: signal.welch(x * 2, nperseg=4)[1] + 1,  # what has gaps in memory
        lambda a, x: signal.periodogram(a, axis=0),
        lambda a, x: (y := signal.decimate(np.resize(x, 60), 2), y.sum(), y * y),
        _gaps,
        lambda a, x: fft.rfft(x, n=32) * 2,
        lambda a, x: integrate.simpson(x * 2, dx=0.1) * x,
        lambda a, x: integrate.cumulative_trapezoid(x, dx=0.1) * 2,
        lambda a, x: spatial.distance.cdist(a, a * 2) + 1,
        lambda a, x: interpolate.pchip_interpolate(x, x * x, x[3:7]),
        lambda a, x: np.fft.fft(x, n=16) * 2,
        lambda a, x: np.fft.rfft2(a) * 2,
        lambda a, x: np.packbits(x > 1) + 1,
        lambda a, x: np.poly(x[:3]) * 2,
        lambda a, x: np.histogram_bin_edges(x, 3) * 2,
        lambda a, x: np.repeat(a, [1, 2, 3, 1, 1, 1], 0),
        lambda a, x: np.gradient(x * x, x),
        lambda a, x: np.round(x > 1),
        lambda a, x: np.clip(x, 0, 1, dtype=float) * 2,
        lambda a, x: np.zeros(3, like=x) + 1,
        lambda a, x: np.linspace(0, x, 3),
        lambda a, x: np.linalg.svd(a + a.T, hermitian=True),
        lambda a, x: np.linalg.qr(a, "raw"),
        lambda a, x: np.nanquantile(a, [0.1, 0.2], axis=0),
        lambda a, x: np.isin(x, x[3:], kind="sort"),
        lambda a, x: (round(float(x[0]) * 1.375, 2), round(float(a.sum()), -1), round(x[1] / 3, 1)),
        lambda a, x: [round(float(v), 2) for v in np.resize(x, 40)],
        _factors,
        _in_a_loop,
        _between_writes,
        _of_numbers,
        _of_constants,
    ],
)
def test_a_function_that_computes_is_called_in_the_graph(fn):
    check(fn, (_a, _x), lasting=True)


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (lambda a, b: linalg.solve(a * 2, b) + 1, lambda n: (np.eye(n) * 3 + 0.1, np.ones(n))),
        (lambda x: ndimage.gaussian_filter(x * 2, 1.5) + 1, lambda n: (np.linspace(0, 1, n),)),
        (lambda x, y: signal.fftconvolve(x, y) + 1, lambda n: (np.ones(n), np.ones(n // 2))),
        (lambda x: signal.filtfilt([1.0, 0.5], [1.0], x * 2), lambda n: (np.linspace(0, 1, n),)),
        (lambda x: signal.periodogram(x, nfft=64)[1], lambda n: (np.linspace(0, 1, n),)),
        (lambda x: linalg.toeplitz(x)[0] * 2, lambda n: (np.linspace(0, 1, n),)),
    ],
)
def test_one_compilation_serves_all_sizes(fn, arguments):
    compiled = fxc.compile(fn, fullgraph=True)
    for size in (12, 15, 20, 31, 50):
        given = arguments(size)
        assert difference(run(fn, given), run(compiled, given)) == ""
    assert compiled.cache_info().variants == 2


def test_what_has_gaps_keeps_them_where_the_first_call_took_long(monkeypatch):
    """As it does where a module is imported meanwhile; a copy would lie in C order."""
    monkeypatch.setattr(foreign_samples, "_LONG", 0)
    check(lambda x: signal.filtfilt([1.0, 0.25], [1.0], x * 2), (_x,), lasting=True)


def test_a_busy_machine_learns_as_much(monkeypatch):
    """There the clock goes on while other processes run."""
    clock, others = time.perf_counter, itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + 0.2 * next(others))
    with pytest.raises(fxc.CaptureError, match="an axis needs the value"):
        fxc.compile(lambda x, axes: x.sum(axis=axes[0]), fullgraph=True)(
            np.ones((7, 11)), np.array([1, 0])
        )


def test_sizes_become_constants_where_they_decide_otherwise():
    def fn(x):
        return fft.rfft(x * 2) + 1

    compiled = fxc.compile(fn, fullgraph=True)
    for size in (12, 13, 14, 13):
        x = np.linspace(0, 1, size)
        assert difference(run(fn, [x]), run(compiled, [x])) == ""
    assert compiled.cache_info().eager_calls == 0


def test_an_array_that_is_given_twice_is_one():
    """``csd(x, x)`` is real where ``y is x``, and takes half of the time."""

    def fn(x):
        y = x - x.mean()
        return signal.csd(y, y, nperseg=8)[1] * 2

    compiled = check(fn, (_x,), lasting=True)
    assert "_csd(%1, " not in str(compiled.inspect(_x).captured)


def _by_distribution(x):
    total = np.zeros(len(x))
    for k in range(6):
        total += stats.norm.cdf(x * k) - stats.norm.pdf(x, loc=k)
    return total * 2, stats.norm.ppf(x / 3)


def test_methods_of_objects_of_scipys():
    compiled = check(_by_distribution, (_x,), lasting=True)
    for size in (30, 31, 32):
        x = np.linspace(0.1, 2, size)
        assert difference(run(_by_distribution, [x]), run(compiled, [x])) == ""
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


def test_a_distribution_that_is_exchanged():
    def fn(x, module):
        return module.norm.cdf(x) * 2

    compiled = fxc.compile(fn)
    for each in (stats.norm, stats.laplace, stats.norm):
        module = SimpleNamespace(norm=each)
        assert difference(run(fn, [_x, module]), run(compiled, [_x, module])) == ""


def test_what_is_not_as_learnt_runs_in_python_and_is_not_learnt_again():
    def fn(x):
        x += 1
        found = np.roots(x[:3])
        x += 1
        return found.real.sum()

    compiled = fxc.compile(fn)
    expected, found = np.array([1.0, 2, 3, 0]), np.array([1.0, 2, 3, 0])
    for first in (1.0, 0.0, -1.0, -1.0, 1.0):  # with 0 in front there is one root less
        expected[0] = found[0] = first
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            assert difference(run(fn, [expected]), run(compiled, [found])) == ""


def _in_scipy(text: str) -> Callable[..., Any]:
    """A function without source that is said to be SciPy's."""
    space: dict[str, Any] = {"random": random, "np": np}
    exec(text, space)
    space["f"].__module__ = "scipy"
    return space["f"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(x): return x", "shares memory"),
        ("def f(x): return x[1:]", "shares memory"),
        ("def f(x): y = x + 1; return y, y[1:]", "shares memory"),
        ("def f(x): x[0] = 1.0; return x + 1", "read-only"),
        ("def f(x): return x + np.random.rand()", "draws random numbers"),
        ("def f(x): return x + random.random()", "draws random numbers"),
        ("class C:\n    n = 0\ndef f(x): C.n += 1; return x + C.n", "something else each time"),
        ("kept = np.ones(24)\ndef f(x): return kept", "an array that it keeps"),
        ("def f(x): return None", "gives a NoneType"),
        ("def f(x): return {'a': x + 1}", "gives a dict"),
        ("def f(x): return x.astype(object)", "gives dtype object"),
        ("def f(x): return bool(x[0])", "gives a bool"),
        ("def f(x): return None, 'a'", "no or one array"),
    ],
)
def test_what_does_more_than_give_new_arrays_is_not_learnt(text, reason):
    f, kind = _in_scipy(text), array_type(np.dtype(float), (24,))
    state, drawn = random.getstate(), np.random.get_state(legacy=False)
    with pytest.raises(Unlearnable, match=reason):
        operator_of(f, (Hole(0),), {}, [kind])
    assert state == random.getstate()
    assert np.array_equal(drawn["state"]["key"], np.random.get_state(legacy=False)["state"]["key"])
    assert drawn["state"]["pos"] == np.random.get_state(legacy=False)["state"]["pos"]


@pytest.mark.parametrize(
    "shared", ["y, y[:24]", "y[:24], y", "y[:24], y[:24]", "x, y", "y[:24], x"]
)
def test_results_that_share_memory_at_times_are_compared(shared):
    """As the samples say it gives two arrays of their own."""
    f = _in_scipy(f"def f(x): y = x * 2; return ({shared}) if x[0] == 0.5 else (x + 1, y)")
    _, call = operator_of(f, (Hole(0),), {}, [array_type(np.dtype(float), (24,))])
    run_it, x = call.kernel(), np.ones(24)
    assert all(map(np.array_equal, run_it(x), (x + 1, x * 2)))
    x[0] = 0.5
    with pytest.raises(WouldRaise):
        run_it(x)


@pytest.mark.parametrize(
    "text",
    ["def f(x): return x", "def f(x): x[0] = 1.0; return x + 1", "def f(x): return {'a': x + 1}"],
)
def test_what_is_not_learnt_runs_as_the_code_that_it_is(text):
    f = _in_scipy(text)

    def fn(x):
        y = f(x)
        x *= 2
        return y

    check(fn, (_x,), lasting=True)


@pytest.mark.parametrize("shared", ["x", "x.base", "x[:]", "x[::-1][::-1]"])
def test_a_result_that_shares_memory_at_run_time_is_the_functions_own(shared):
    f = _in_scipy(f"def f(x): return {shared} if x[0] > 5 else x + 0")

    def fn(x):
        y = f(x)
        y[0] = -1
        return y

    compiled = fxc.compile(fn)
    for first in (1.0, 9.0, 1.0):
        expected, found = np.array([first, 2.0]), np.array([first, 2.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            assert difference(run(fn, [expected]), run(compiled, [found])) == ""


def test_what_a_function_raises_comes_through_behind_the_writes_before_it():
    def fn(a):
        a *= 0
        return linalg.inv(a) + 1

    expected, found = run(fn, [_a.copy()]), run(fxc.compile(fn), [_a.copy()])
    assert type(expected.error) is linalg.LinAlgError
    assert difference(expected, found) == ""


def test_a_function_of_the_program_is_never_run_to_learn_something():
    ran = []

    def target(t):
        ran.append(t)
        return t - 1

    compiled = fxc.compile(lambda x: x * optimize.brentq(target, 0, 3), fullgraph=True)
    with pytest.raises(fxc.CaptureError):
        compiled(_x)
    assert ran == []


def test_a_function_of_an_extension_that_names_an_owner_without_such_a_method() -> None:
    function = spatial._distance_pybind.cdist_euclidean
    assert not hasattr(function.__self__, function.__name__)
    way = SimpleNamespace(distances=function)
    step = fxc.compile(lambda way, x: way.distances(x, x), fullgraph=True)
    assert np.array_equal(step(way, _a), function(_a, _a))


def test_a_random_function_of_scipys_draws_as_in_numpy():
    from scipy import stats

    def fn(x):
        return x + stats.norm.rvs(size=3)

    compiled = fxc.compile(fn)
    np.random.seed(3)
    expected = fn(_x[:3])
    np.random.seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        assert np.array_equal(compiled(_x[:3]), expected)
        assert not np.array_equal(compiled(_x[:3]), expected)


def test_functions_that_do_not_look_at_their_arguments_are_not_run_on_samples():
    from scipy.sparse import _sparsetools, csr_matrix

    assert not only_computes(_sparsetools.csr_matvec)
    assert not only_computes(ndimage._nd_image.correlate1d)
    assert not only_computes(np.random.rand)
    assert not only_computes(np.save)
    assert only_computes(linalg.solve)
    assert only_computes(np.packbits)
    assert only_computes(math.gamma)
    matrix = csr_matrix(_a)
    compiled = fxc.compile(lambda x: matrix @ (x * 2) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        assert np.array_equal(compiled(_x[:6]), matrix @ (_x[:6] * 2) + 1)


def _products(a, x):
    return np.vecdot(a, x[:6]) + np.matvec(a, x[:6]) if hasattr(np, "matvec") else np.vecdot(a, a)


def test_a_function_of_ints_alone_is_called_with_those_of_this_call():
    def fn(x, axis):
        place = np.lib.array_utils.normalize_axis_index(axis, x.ndim)
        return np.moveaxis(x, place, 0) * linalg.hilbert(axis + 3)[0, 1]

    check(fn, *((_x.reshape(2, 3, 4), axis) for axis in (0, 1, 2, -1, 3)))


def test_a_range_is_given_as_it_is():
    def fn(x):
        return fft.rfftn(x, axes=range(-x.ndim, 0)) * 2, fft.fftn(x * 1.5, axes=range(1))

    check(fn, (_x,), (_x.reshape(4, 6),), (_x.reshape(2, 3, 4),))


def test_a_ufunc_with_core_dimensions_is_called_as_it_is():
    check(_products, (_a, _x), lasting=True)


def _by_rank(x):
    return (x * 2 if np.isscalar(x) else x * 3) + (1 if np.iterable(x) else 2)


@pytest.mark.parametrize("x", [_x, 2.0, np.float64(3), np.array(2.0)])
def test_predicates_of_numpys_run_by_their_own_code(x):
    compiled = check(_by_rank, (x,), lasting=True)
    assert compiled.cache_info().fallbacks == {}


def test_a_write_to_what_has_gaps_is_run_by_python():
    def program(x):
        y = signal.filtfilt([1.0, 0.5], [1.0], x * 2)
        y[1:] *= 2
        return y, y.sum()

    with pytest.raises(fxc.CaptureError, match="a write to an array with gaps in memory"):
        fxc.compile(program, fullgraph=True)(_x)
    compiled = fxc.compile(program)
    for _ in range(2):
        assert difference(run(program, (_x,)), run(compiled, (_x,))) == ""
    assert compiled.cache_info().parts == 1


def test_statistics_of_lists_give_numbers_of_python() -> None:
    """A list of floats, whose length varies, is an array in the graph, but not to them."""
    for measure in (statistics.mean, statistics.median, statistics.pvariance, statistics.mode):
        for listed in (lambda x: x.tolist(), list, lambda x: [int(v) for v in x], sorted):

            def fn(x: Any, measure: Any = measure, listed: Any = listed) -> Any:
                return measure(listed(x)), measure(x)

            compiled = fxc.compile(fn)
            for size in (3, 5, 8, 8):
                x = np.arange(size) + 0.5
                assert difference(run(fn, [x]), run(compiled, [x])) == ""


def test_a_result_within_another() -> None:
    """``np.histogramdd`` gives a list of edges behind its counts."""

    def program(x, weights):
        counts, edges = np.histogramdd(x * 2, (3, 4), density=True, weights=weights)
        return counts * edges[0][1], edges, len(edges), np.histogramdd(x, 3)

    x = np.random.default_rng(4).random((9, 2))
    compiled = fxc.compile(program, fullgraph=True)
    for rows in (9, 9, 8, 7):
        given = x[:rows], x[:rows, 0].copy()
        assert difference(run(program, given), run(compiled, given)) == ""
    assert compiled.cache_info().eager_calls == 0
