"""Other readings of memory: ``x.view(dtype)``, ``as_strided``, windows, shapes that are set.

The scenarios (tests/scenarios) have the plain cases in every layout.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import fxc
from tests.outcomes import Outcome, difference, run, warnings_of


def vector() -> np.ndarray:
    return np.arange(1.0, 10.0)


def matrix() -> np.ndarray:
    return np.arange(24.0).reshape(4, 6)


def mask() -> np.ndarray:
    return np.array([True, False, True, True])


def rsqrt(x):
    bits = np.int32(0x5F3759DF) - (np.float32(x[0]).view(np.int32) >> 1)
    return bits.view(np.float32)


def one_row_of_bits(x):
    x[1:].view(np.int64)[0] += 1
    return x


def there_and_back(x):
    bits = x.view(np.int64).view(np.uint64)
    bits[1:] ^= np.uint64(1 << 52)
    return bits.view(np.float64)[::2]


def complex_as_floats(z):
    parts = z.view(float)
    parts[1::2] *= -1
    return parts, z


def blocks(x):
    w = as_strided(x, (3, 4, 2, 3), x.strides * 2)
    return w.sum(axis=(2, 3)), w


def windows_of_both_axes(x):
    w = sliding_window_view(x, (2, 3))
    return w.max(axis=(-1, -2)), w[0]


def longer_windows_than_the_array(x):
    return sliding_window_view(x, 20).sum()


def shape_and_views(x):
    x.shape = (2, 12)
    y = x.reshape(-1)[3:]
    x[0] = 7
    return y, x, x.shape


def shape_of_a_result(x):
    made = x + 1
    made.shape = (-1,)
    return made, made[2:]


def shape_that_does_not_fit(x):
    x += 1
    x.shape = (5, 5)


def shape_of_nothing_returned(x):
    x.shape = 6, 4


CASES: list[tuple[Callable[..., Any], Callable[[], np.ndarray]]] = [
    (rsqrt, vector),
    (one_row_of_bits, matrix),
    (there_and_back, vector),
    (complex_as_floats, lambda: np.arange(4) + 1j),
    (blocks, matrix),
    (blocks, lambda: np.arange(100.0).reshape(10, 10)[::2, ::-1][:4, :6]),
    (windows_of_both_axes, matrix),
    (windows_of_both_axes, lambda: matrix()[::-1].T),
    (longer_windows_than_the_array, vector),
    (shape_and_views, matrix),
    (shape_of_a_result, matrix),
    (shape_that_does_not_fit, matrix),
    (shape_of_nothing_returned, matrix),
]


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("fn, make", CASES)
def test_as_numpy(fn, make, dynamic) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=dynamic)
    for _ in range(2):
        expected = run(fn, (make(),))
        assert not difference(expected, run(compiled, (make(),)))
    assert compiled.cache_info().eager_calls == (2 if expected.error is not None else 0)


@pytest.mark.parametrize("fn", [shape_and_views, shape_of_a_result, shape_of_nothing_returned])
def test_warnings_of_shapes_that_are_set(fn) -> None:
    """From NumPy 2.5 on: at the program's line, and before anything is written if it is an error."""
    compiled = fxc.compile(fn)
    for _ in range(2):
        assert warnings_of(compiled, matrix()) == warnings_of(fn, matrix())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", DeprecationWarning)
        assert not difference(run_as_it_is(fn), run_as_it_is(compiled))


def run_as_it_is(fn) -> Outcome:
    """What becomes of a matrix, with the filters of warnings that there are."""
    x = matrix()
    try:
        return Outcome(fn(x), None, (x,))
    except DeprecationWarning as error:
        return Outcome(None, error, (x,))


def test_one_compilation_for_windows_of_all_sizes() -> None:
    def spread(x, n):
        w = sliding_window_view(x, n)
        return w.max(axis=1) - w.min(axis=1)

    compiled = fxc.compile(spread, fullgraph=True)
    for size in (9, 12, 30):
        x = np.arange(size) ** 1.5
        for n in (2, 3, 5):
            np.testing.assert_array_equal(compiled(x, n), spread(x, n))
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)


def test_windows_that_are_written_are_of_constant_size() -> None:
    def write(x, n):
        sliding_window_view(x, n, writeable=True)[...] = 7

    compiled = fxc.compile(write)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for n in (1, 3, 1, 2):
            given = vector(), vector()
            assert not difference(run(write, (given[0], n)), run(compiled, (given[1], n)))
    assert compiled.cache_info().native_calls == 2


def overlapping_windows_written(x):
    windows = as_strided(x, (4, 3), (8, 8))
    windows += 1


def beyond_the_memory(x):
    return as_strided(x, (10, 10), (8, 8)).sum()


def bytes_of_bools_written(m):
    m.view(np.uint8)[0] = 1


def bools_from_bytes(x):
    return x.view(bool)


def shape_in_a_loop(x, n):
    v = x.copy()
    for i in range(n):
        v.shape = (6, 4) if i % 2 else (4, 6)
    return v


REFUSED = [
    (overlapping_windows_written, (vector,), "several elements share memory"),
    (beyond_the_memory, (vector,), "as_strided beyond the elements"),
    (bytes_of_bools_written, (mask,), "the bytes of an array of bools"),
    (bools_from_bytes, (vector,), "x.view(bool) of float64"),
]


@pytest.mark.parametrize("fn, makes, reason", REFUSED)
def test_refused(fn, makes, reason) -> None:
    with pytest.raises(fxc.CaptureError) as caught:
        fxc.compile(fn, fullgraph=True)(*(make() for make in makes))
    assert reason in str(caught.value)


def test_the_shape_is_set_in_each_iteration() -> None:
    compiled = fxc.compile(shape_in_a_loop)
    for n in (0, 1, 7):
        assert not difference(run(shape_in_a_loop, (matrix(), n)), run(compiled, (matrix(), n)))


def test_bools_are_read_as_bytes() -> None:
    def edges(m):
        return m.view(np.uint8).sum(), np.diff(m.view(np.int8))

    compiled = fxc.compile(edges, fullgraph=True)
    assert not difference(run(edges, (mask(),)), run(compiled, (mask(),)))
    assert not compiled.cache_info().fallbacks


def test_without_effects_only_results_change_their_shape() -> None:
    result, changed = fxc.functionalize(shape_of_a_result)(matrix())
    assert result[0].shape == (24,)
    assert not changed
    with pytest.raises(fxc.CaptureError, match="no effect but writes to arrays"):
        fxc.functionalize(shape_of_nothing_returned)(matrix())
