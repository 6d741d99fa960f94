"""Calls of NumPy from native code, in loops and branches. See Note [Calls of NumPy]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.objects import OWN_ARRAY
from fxc.ops.kernels import compiled_kernel_of
from fxc.ops.table import TABLE
from fxc.runtime.taking import own_array
from tests.compiling import check
from tests.outcomes import difference, run, warnings_of

A = np.random.default_rng(6).random((9, 9)) + 3 * np.eye(9)


def _ranks(x):
    ranks = np.empty(x.shape, np.int64)
    for i, row in enumerate(x):
        ranks[i, np.argsort(row, kind="stable")] = np.arange(len(row))
    return ranks


def _newton(x, b):
    for _k in range(20):
        step = np.linalg.solve(np.diag(3 * b * b) + x, x @ b + b**3 - 1)
        b = b - step
        if np.abs(step).max() < 1e-13:
            break
    return b, step


def _several_results(x):
    for _ in range(5):
        mantissa, exponent = np.frexp(x)
        x = np.ldexp(mantissa, exponent + 1) + np.spacing(x)
    return x


def _scalars_and_counters(x):
    whole = (x * 10).astype(np.int64)
    total = np.zeros(len(x), np.int64)
    for i, row in enumerate(whole):
        if row.sum() % 2 == 0:
            total += row**i
        else:
            total += row @ row
    return total


def _in_numpys_order(x):
    total = 0.0
    for i in range(1, len(x)):
        total += x[:i, :i].sum() - x[i:, 1:].T.sum() * 0.3
        total += np.fmax.accumulate(x[i])[i] + x[i:, ::2].prod()
    return total


def _complex(x):
    z = x[0] * 1j
    while np.abs(z).max() < 4:
        z = np.exp(z * 0.1) ** 1.5 + z.cumprod()
    return z


@pytest.mark.parametrize(
    ("program", "args", "called"),
    [
        (_ranks, (A,), {"argsort"}),
        (_newton, (A, A[0]), {"linalg_solve"}),
        (_several_results, (A[0],), {"frexp", "ldexp", "spacing"}),
        (_scalars_and_counters, (A,), {"power", "matmul"}),
        (_in_numpys_order, (A,), {"sum", "prod", "ufunc_accumulate"}),
        (_complex, (A,), {"power", "cumprod"}),
    ],
)
def test_loop_stays_native(program: Callable[..., Any], args: Any, called: set[str]) -> None:
    smaller = tuple(x[:7, :7].copy() if x.ndim == 2 else x[:7] for x in args)
    info = check(program, args, smaller, args).cache_info()
    assert (info.eager_calls, set(info.fallbacks)) == (0, called)


def _until_singular(x, b):
    for k in range(5):
        x[0] *= 3 - k
        b[:] = np.linalg.solve(x, b)
    return b


def test_what_numpy_raises_in_a_loop() -> None:
    check(_until_singular, (A, A[0].copy()), eager=2)


def _in_one_arm(x, c):
    out = np.zeros(len(c))
    row = x[1]
    for i in range(len(c)):
        if c[i] > 0:
            out[i] = np.argsort(row, kind="stable")[i]
        else:
            out[i] = np.argsort(row, kind="stable")[0] - np.sort(row)[i]
        row = x[i]
    return out, row


def test_what_one_arm_hands_to_numpy_is_not_read_in_the_other() -> None:
    signs = np.array([-1, 1, 1, -1, -1, 1, -1, 1, -1])
    check(_in_one_arm, (A, signs), (A, -signs), (A, np.abs(signs)), (A, -np.abs(signs)))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x[1:-1, 1:-1].sum(),
        lambda x: x[::2, 3:90].prod(axis=1),
        lambda x: x.T[5:, 7:].sum(axis=0) + x[3:][:, ::3].sum(),
        lambda x: (x * 2)[1:-1, 1:-1].sum(),
    ],
)
def test_sums_of_windows_whose_sizes_are_symbols(program: Callable[..., Any]) -> None:
    """Operands of calls between pieces of native code were copies, whose sums have other bits."""
    rng = np.random.default_rng(3)
    x = rng.random((130, 110)) * np.exp(3 * rng.normal(size=(130, 110)))
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for given in (x, x[:101, :97].copy()):
        assert difference(run(program, (given,)), run(compiled, (given,))) == ""
    assert compiled.cache_info().eager_calls == 0


def test_results_of_a_call_that_nobody_reads_are_not_taken() -> None:
    def program(x: np.ndarray, y: np.ndarray) -> Any:
        return y.sum(), np.linalg.lstsq(x, y)[0]

    compiled = fxc.compile(program, fullgraph=True)
    given = np.eye(4)[:, :3] + 0.25, np.array([1.0, 2.0, 1.0, 3.0])
    plan = str(compiled.inspect(*given).plan)
    assert "    m2 = take" in plan  # one name for four results
    for _ in range(2):
        for expected, found in zip(program(*given), compiled(*given), strict=True):
            assert expected.tobytes() == found.tobytes()


def test_arrays_of_two_calls_stay_two_where_a_later_call_writes_into_one() -> None:
    def program(x, y):
        one, two = np.sort(x), np.sort(y)
        return one * 2 - 1, two + 1

    x, y = np.array([3, 1, 2], np.longdouble), np.array([9, 7, 8], np.longdouble)
    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, [x, y]), run(compiled, [x, y])) == ""


def test_an_array_that_numpy_gives_is_taken_where_nobody_else_has_its_memory() -> None:
    dtype = np.dtype(float)
    view = np.arange(6.0).reshape(2, 3)
    assert own_array(view, dtype, False) is view
    memory = np.arange(6.0)
    others = [
        (memory.reshape(2, 3), False),  # its memory is known
        (np.arange(6.0)[:3], False),  # it would keep more than it needs
        (np.arange(6.0).reshape(2, 3).T, False),
        (np.arange(6).reshape(2, 3), False),
        (np.frombuffer(bytes(16)), False),
        (view, True),
    ]
    for found, is_given in others:
        taken = own_array(found, dtype, is_given)
        assert not np.shares_memory(taken, found)
        assert taken.flags.num & OWN_ARRAY == OWN_ARRAY
        assert taken.dtype is dtype
        assert (taken == found).all()


def test_native_code_between_calls_that_does_nothing_is_not_called() -> None:
    """A size that NumPy's call gives is known to the plan without it."""

    def program(x, y):
        return np.unique(x), np.unique(y)

    given = np.array([1j, 2, 1j]), np.array([2j, 2j, 2j])
    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, given), run(compiled, given)) == ""
    assert "entry" not in str(compiled.inspect(*given).plan)


@pytest.mark.parametrize("name", ["max", "prod", "cumsum", "argmin", "any", "var", "std", "mean"])
@pytest.mark.parametrize("x", [np.array([1 + 2j, 3j, 2]), np.longdouble(2), 3], ids=repr)
def test_methods_of_arrays_do_what_functions_do(name: str, x: object) -> None:
    """What compiled code calls asks an array for its method; a number has none."""
    kernel, op = compiled_kernel_of(name), TABLE[name]
    options = dict.fromkeys([param.name for param in op.schema.params[1:]])
    options |= {key: 0 for key in ("ddof", "keepdims") if key in options}
    found = run(lambda x: kernel(x, *options.values()), (x,))
    assert difference(run(lambda x: op.numpy(x, **options), (x,)), found) == ""


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "nansum"])
def test_dropped_parts_are_warned_of_where_numpy_does(name: str) -> None:
    function = getattr(np, name)
    program = lambda x: function(x, axis=0, dtype=float)  # noqa: E731
    compiled = fxc.compile(program, fullgraph=True)
    x = np.arange(12.0).reshape(3, 4) + 1j
    assert len(warnings_of(program, x)) == 1
    assert warnings_of(compiled, x) == warnings_of(program, x)
