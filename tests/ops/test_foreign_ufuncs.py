"""Ufuncs that fxc's table does not list: SciPy's, and those that run Python code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import fxc
from fxc.ops.foreign_ufuncs import operator_of
from fxc.ops.table import TABLE
from tests.compiling import check
from tests.outcomes import difference, run

_x = np.linspace(0.1, 2, 12)


def _into_arrays(x):
    sine, cosine = np.empty_like(x), np.empty((2, *x.shape))
    special.sici(x, out=(sine, cosine[0]))
    special.dawsn(x, cosine[1])
    special.dawsn(x, out=x, where=x > 1)
    return sine, cosine


def _in_a_loop(x):
    total = 0.0
    for k in range(20):
        x = special.dawsn(x) + 0.1
        total = total + special.rgamma(x[k % 3] + total)
    return x, total


def _in_a_branch(x):
    if x[0] > 0:
        x[1:] = special.i0e(x[:-1])
    else:
        x *= 2
    return x


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: special.dawsn(x * 2) + 1,
        lambda x: special.huber(x, x[::-1]) + special.rgamma(x),
        lambda x: special.sici(x * 2),
        lambda x: special.ellipj(x[:1] * x[:1], x.reshape(3, 4) / 20)[:2],
        lambda x: special.dawsn(x, dtype="f4", casting="same_kind"),
        lambda x: special.huber.outer(x, x[:3]),
        lambda x: special.huber.reduce(x),
        lambda x: special.huber.accumulate(x),
        lambda x: special.huber.reduceat(x, [0, 3, 5]),
        lambda x: special.dawsn(x.reshape(3, 4).T * 2),
        lambda x: special.dawsn(x.reshape(3, 4)[:, ::2]),
        lambda x: special.dawsn(x[0]) * 2,
        lambda x: special.dawsn(0.5) * x,
        lambda x: special.dawsn(x.astype("f4")),
        lambda x: special.dawsn(x.astype("c8") * 1j),
        lambda x: special.jv((x * 2).astype("i8"), x),
        lambda x: special.dawsn((x * 2).astype("i1")),
        lambda x: special.dawsn(x > 1),
        lambda x: special.dawsn(x[:0]),
        _into_arrays,
        _in_a_loop,
        _in_a_branch,
    ],
)
def test_a_ufunc_of_scipys_is_an_operator(fn):
    check(fn, (_x,), lasting=True)


def _count_at(x, places):
    special.huber.at(x, places, 2.0)
    return x


def test_its_method_at_updates_each_place():
    check(_count_at, (_x, np.array([0, 1, 1, 5])), lasting=True)


def test_one_compilation_serves_all_sizes():
    compiled = fxc.compile(lambda x: special.dawsn(x * 2) + 1, fullgraph=True)
    for size in (5, 6, 7, 100):
        x = np.linspace(0, 1, size)
        assert np.array_equal(compiled(x), special.dawsn(x * 2) + 1)
    assert compiled.cache_info().variants == 2


def test_types_are_those_of_numpy_and_no_loop_runs_to_find_them():
    ran = []

    def noted(x):
        ran.append(x)
        return x + 1

    ufunc = np.frompyfunc(noted, 1, 1)
    compiled = fxc.compile(lambda x: ufunc(x * 2), fullgraph=True)
    with pytest.raises(fxc.CaptureError, match="whose loops run Python code"):
        compiled(_x)
    assert ran == []


def test_python_code_of_a_ufunc_does_not_run_on_constants_either():
    ran = []
    ufunc = np.frompyfunc(lambda x: ran.append(x) or x, 1, 1)
    compiled = fxc.compile(lambda x: x + ufunc(3), fullgraph=True)
    with pytest.raises(fxc.CaptureError, match="cannot be captured"):
        compiled(_x)
    assert ran == []


def test_python_code_of_a_ufunc_runs_once_for_each_element_in_order():
    ran = []
    ufunc = np.frompyfunc(lambda x: ran.append(float(x)) or x + 1, 1, 1)

    def fn(x):
        return ufunc(x * 2).astype(float).sum()

    compiled = fxc.compile(fn)
    with pytest.warns(fxc.CaptureWarning):
        assert compiled(_x) == (_x * 2 + 1).sum()
    assert ran == list(_x * 2)


def test_a_result_of_objects_names_the_line():
    ufunc = np.frompyfunc(lambda x: x, 1, 1)
    compiled = fxc.compile(lambda x: np.add(x, ufunc(x)), fullgraph=True)
    with pytest.raises(fxc.CaptureError) as caught:
        compiled(_x)
    assert any("test_foreign_ufuncs.py" in note for note in caught.value.__notes__)


def test_what_scipy_raises_comes_through():
    def fn(x):
        x += 1
        return special.gammaln(x - 1) + 1

    with special.errstate(all="raise"):
        x = np.array([0.0, 1.0])
        expected = run(fn, [x.copy()])
        assert type(expected.error) is special.SpecialFunctionError
        assert difference(expected, run(fxc.compile(fn), [x])) == ""


def test_an_adopted_operator_is_not_listed():
    name = operator_of(special.erfinv).name
    assert name in TABLE
    assert not TABLE.lists(name)
    assert name not in {op.name for op in TABLE}
    assert operator_of(special.erfinv) is TABLE[name]


def test_a_program_that_calls_scipy_cannot_be_saved(tmp_path):
    program = fxc.export(lambda x: special.dawsn(x) * 2, _x)
    assert np.array_equal(program(_x), special.dawsn(_x) * 2)
    with pytest.raises(ValueError, match="it calls a function that is no part of NumPy or fxc"):
        program.save(tmp_path / "program.fxc")


def _kept(x):
    y = x * 2
    return y, special.dawsn(y)


def _read_later(x):
    y = x * 2
    return special.dawsn(y) + y


def _several_in_turn(x):
    y = special.dawsn(x * 2)
    return special.i0e(special.dawsn(y)) - special.huber(y[::-1] + 1, y * 3)


def _turned(x):
    y = x.reshape(3, 4) * 2
    return special.dawsn(y.T) + 1, special.sici(y + 1)


@pytest.mark.parametrize("fn", [_kept, _read_later, _several_in_turn, _turned])
def test_a_result_has_the_memory_of_an_operand_that_nobody_reads_again(fn):
    check(fn, (_x,), lasting=True)


def test_memory_is_reused_for_all_sizes():
    compiled = fxc.compile(_several_in_turn, fullgraph=True)
    for size in (12, 13, 14, 200):
        x = np.linspace(0, 1, size)
        assert difference(run(_several_in_turn, [x]), run(compiled, [x])) == ""
    plan = compiled.inspect(_x).plan
    assert plan.count("= empty(") < plan.count("call_") + 2


def _summed(x, n):
    total, most = 0.0, 0.0
    for i in range(len(x)):
        total += special.dawsn(x[i]) * special.huber(i, x[i]) - special.binom(n, 2)
        most = max(most, special.rgamma(x[i]))
    return total, most


def _mixed_operands(x, n):
    found = np.zeros(len(x))
    for i in range(len(x)):
        found[i] = (
            special.jv(i, x[i])
            + special.jv(x[i], n)
            + special.dawsn(x[i] > 1)
            + special.dawsn(i > 1)
        )
        found[i] += special.i0e(np.float32(x[i])) + special.i0e(n) + special.eval_legendre(n, x[i])
    return found


def _rows(x, n):
    rows = x[: len(x) // 2 * 2].reshape(2, -1)
    for i in range(len(rows)):
        rows[i] = (
            special.dawsn(rows[i] * 2) + special.dawsn(rows[:, 0]).sum() + special.huber(rows[i], n)
        )
    return rows


@pytest.mark.parametrize("fn", [_summed, _mixed_operands, _rows])
@pytest.mark.parametrize("size", [2, 3, 13])
def test_native_code_calls_the_inner_loop(fn, size):
    compiled = check(fn, (np.linspace(0.1, 2, size), 3), lasting=True)
    assert not compiled.cache_info().fallbacks


def _infinite(x):
    total = 0.0
    for i in range(len(x)):
        x[i] += 1
        total += special.psi(x[i] - 1) + special.loggamma(x[i] - 1)
    return total


@pytest.mark.parametrize("raises", [False, True])
def test_flags_and_exceptions_of_an_inner_loop_are_numpys(raises):
    compiled = fxc.compile(_infinite)
    for x in ([0.5, 1.5], [0.5, 0.0], [1.0, 2.0]):
        with special.errstate(all="raise" if raises else "ignore"):
            plain, ours = np.array(x), np.array(x)
            assert difference(run(_infinite, [plain]), run(compiled, [ours])) == ""
