"""C functions of SciPy's that write into arrays which they are given."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.interpolate._dierckx import evaluate_spline
from scipy.signal._sosfilt import _sosfilt
from scipy.sparse import _sparsetools as tools

import fxc
from fxc.ir.errors import WouldRaise
from fxc.ir.types import array_type
from fxc.ops.foreign_calls import Hole
from fxc.ops.foreign_results import Unlearnable
from fxc.ops.foreign_updates import update_of
from tests.outcomes import difference, run

_M = np.where(np.arange(30).reshape(5, 6) % 4 == 1, np.arange(30.0).reshape(5, 6) + 0.1, 0.0)
_X = np.linspace(0.1, 2, 6)


def _agree(fn: Callable[..., Any], compiled: Any, a: Any, plain: Any, ours: Any) -> None:
    """Compare calls with a sparse matrix, of which no test makes copies, and other arguments."""
    data = a.data.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        expected = run(partial(fn, a), plain)
        assert difference(expected, run(partial(compiled, a), ours)) == ""
    assert np.array_equal(a.data, data)


def _same(fn: Callable[..., Any], a: Any, *args: Any, calls: int = 3, **options: Any) -> Any:
    compiled = fxc.compile(fn, **options)
    plain, ours = copy.deepcopy(args), copy.deepcopy(args)
    for _ in range(calls):
        _agree(fn, compiled, a, plain, ours)
    return compiled.cache_info()


def _power(a, x):
    for _ in range(3):
        y = a @ (x[: a.shape[1]] * 2)
        x = np.resize(y / np.linalg.norm(y), len(x))
    return x, y.sum()


def _in_a_loop(a, x):
    for k in range(30):
        y = a @ (x * k)
        x = x + (y.sum() if y[0] > 0 else a.dot(y[0] + x)[-1])
    return x


def _block(a, x):
    return a @ np.outer(x, x[:3]) + 1


@pytest.mark.parametrize("fn", [_power, _in_a_loop, _block])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_products_with_sparse_matrices_are_calls_in_the_graph(fn, form):
    a = sparse.csr_array(_M.astype("f4" if form == "dia" else "f8")).asformat(form)
    fn(a, _X)  # SciPy remembers result types
    assert _same(fn, a, _X.copy(), fullgraph=True).eager_calls <= 1


def _into_a_view(a, x, out):
    out[1:] *= 2
    row = out[2]
    tools.csr_matvec(5, 6, a.indptr, a.indices, a.data, x * 2, row)
    tools.csr_matvec(5, 6, a.indptr, a.indices, a.data, x, out[0])
    return row + 1, out.sum()


def _three_written(a, x, out):
    starts, rows, data = np.zeros(7, np.int32), np.empty(a.nnz, np.int32), np.empty(a.nnz)
    tools.csr_tocsc(5, 6, a.indptr, a.indices, a.data * 2, starts, rows, data)
    return starts, rows * 2, data + x[0]


def _an_input_and_an_output(a, x, out):
    state = np.zeros((2, 1, 2))
    tall = np.vstack([x, x * 2])
    _sosfilt(np.array([[1.0, 2.0, 1.0, 1.0, 0.5, 0.1]]), tall, state)
    return tall + 1, state.sum()


def _sorted_in_place(a, x, out):
    indices, data = a.indices[::-1].copy(), a.data.copy()
    tools.csr_sort_indices(5, a.indptr, indices, data)
    return indices, data * 2


@pytest.mark.parametrize(
    "fn", [_into_a_view, _three_written, _an_input_and_an_output, _sorted_in_place]
)
def test_what_is_written_is_found_by_the_first_call(fn):
    found = _same(fn, sparse.csr_array(_M), _X, np.ones((3, 5)), fullgraph=False, calls=4)
    assert found.eager_calls <= 1
    assert found.native_calls >= 2


def _told(a, x, out):
    try:
        tools.csr_matvec(5, 6, a.indptr, a.indices, a.data, x * 2, out)
    except ValueError as error:
        return str(error), out * 2
    return out * 2


def _onto_itself(a, x, out):
    y = np.resize(x, 5) * 2
    tools.csr_matvec(5, 5, a.indptr, a.indices % 5, a.data, y, y)
    return y


def _overlapping(a, x, out):
    y = np.resize(x, 12) * 2
    tools.csr_matvec(5, 6, a.indptr, a.indices, a.data, y[:6], y[3:8])
    return y


def _with_gaps(a, x, out):
    y = np.resize(x, 10) * 2
    tools.csr_matvec(5, 6, a.indptr, a.indices, a.data, x, y[::2])
    return y


def _with_a_result(a, x, out):
    return tools.csr_has_sorted_indices(5, a.indptr, a.indices), x * 2


def _into_a_list(a, x, out):
    made = [0.0] * len(out)
    tools.csr_matvec(5, 6, a.indptr, a.indices, a.data, x * 2, made)
    return made


_READ_ONLY = np.zeros(5)
_READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "fn", [_told, _onto_itself, _overlapping, _with_gaps, _with_a_result, _into_a_list]
)
@pytest.mark.parametrize("out", [np.ones(5), np.ones(5, "f4"), _READ_ONLY], ids=["", "f4", "ro"])
def test_what_cannot_be_a_call_in_the_graph_is_as_in_python(fn, out):
    a = sparse.csr_array(_M)
    compiled = fxc.compile(fn)
    for _ in range(3):
        plain, ours = out.copy(), out.copy()
        plain.flags.writeable = ours.flags.writeable = out.flags.writeable
        _agree(fn, compiled, a, (_X, plain), (_X, ours))


def _product(a, x):
    return a @ (x * 2)


def test_one_compilation_serves_all_sizes():
    compiled = fxc.compile(_product, fullgraph=True)
    for n in (6, 9, 17, 33, 40):
        a = sparse.csr_array(np.resize(_M, (n, n)))
        x = (np.linspace(0.1, 2, n),)
        _agree(_product, compiled, a, x, x)
    assert compiled.cache_info().variants == 2


def _unasked(x, out):
    out.setflags(write=True)
    out[...] = x


def _with_a_number(x, out):
    out[...] = x
    return 3


def _seldom_more(x, out):
    if x[0] > 2:
        x[1] = 0
    out[...] = x * 2


def _the_first(out, x):
    out[...] = x * 2


_KINDS = [array_type(np.dtype(float), (3,))] * 2


def _learnt(function: Any) -> Any:
    return update_of(function, (Hole(0), Hole(1)), {}, _KINDS)[1]


@pytest.mark.parametrize("function", [_unasked, _with_a_number])
def test_a_function_that_does_not_keep_to_the_rules_is_not_called(function):
    x, out = np.ones(3), np.zeros(3)
    with pytest.raises(WouldRaise):
        _learnt(function)(x, out)
    assert np.array_equal(out, np.zeros(3))
    with pytest.raises(Unlearnable):
        _learnt(function)


def test_a_function_that_gives_an_array_is_not_taken_for_one_that_gives_none():
    def fn(x, t):
        given = evaluate_spline(t, np.ones((3, 1)), 1, x * 2, 0, True)
        return given.reshape(-1) + x

    spline = np.array([0.0, 0.0, 1.0, 2.0, 2.0])
    compiled = fxc.compile(fn)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for x in (np.ones(3), np.arange(3.0)):
            assert np.array_equal(compiled(x, spline), fn(x, spline))
    assert [str(each.message)[:8] for each in heard] == ["FXC0001:"]


def test_what_is_written_at_a_later_call_only_is_not_lost():
    call, x, out = _learnt(_seldom_more), np.ones(3), np.zeros(3)
    assert np.array_equal(call(x, out), x * 2)
    assert np.array_equal(out, np.zeros(3))
    with pytest.raises(WouldRaise):
        call(x * 3, out)
    with pytest.raises(Unlearnable):
        _learnt(_seldom_more)


def test_what_is_written_is_learnt_from_a_wrong_guess():
    call, x, out = _learnt(_the_first), np.ones(3), np.zeros(3)
    with pytest.raises(WouldRaise):
        call(out, x)
    assert not call.holds
    again = _learnt(_the_first)
    assert again.written == (0,)
    assert np.array_equal(again(out, x), x * 2)
    with pytest.raises(ValueError, match="broadcast"):
        again(out, np.ones(2))
    assert again.holds


def _of_infinities(a, x):
    x[1:] = np.inf
    for k in range(20):
        y = a @ x
        x = np.minimum(x, y * k)
    return y


def test_flags_that_c_code_leaves_are_not_told_of():
    a = sparse.csr_array(np.eye(6))
    a.data[:] = 0
    found = _same(_of_infinities, a, _X.copy(), fullgraph=True)
    assert (found.native_calls, found.eager_calls) == (3, 0)
