"""Calls that native code leaves to Python: Note [Leaves]."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.compilations.variants import MOST_RESTS
from tests.outcomes import difference, run

V = np.linspace(0.5, 2.0, 4000)
WIDE = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
DEFICIENT = np.ones((3, 2))  # NumPy gives no residuals for it


def smooth(x):
    for _ in range(4):
        x = 0.5 * x + np.sqrt(x * x + 0.25)
    return x


def fitted(x, a):
    y = smooth(x)
    w = np.linalg.lstsq(a, y[:3], rcond=None)
    return smooth(y * abs(w[0][0])), w[1]


def in_an_expression(x, a):
    y = smooth(x)
    z = y * np.linalg.lstsq(a * 2.0, y[:3], rcond=None)[0].max() + smooth(y)
    return smooth(z)


def in_a_loop(x, tables):
    found = []
    for table in tables:
        x = smooth(x)
        found.append(np.linalg.lstsq(table, x[:3], rcond=None)[0])
        x = smooth(x + 1.0)
    return x, found


def many_bins(x, k):
    y = smooth(x)
    counts = np.bincount(k, minlength=4)
    return smooth(y + counts.max()), counts


def long_int(x, n):
    y, product = smooth(x), 1
    for k in range(1, n):
        product = product * k
    z = smooth(y + 1.0)
    return z, product


def root_of_less_than_0(x, v):
    y = smooth(x)
    root = float(v[0]) ** 0.5
    z = smooth(y + 1.0)
    return z, root


def singular(x, a):
    y = smooth(x)
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        inverse = np.zeros_like(a)
    return smooth(y + inverse[0, 0]), inverse


def helper(y, a):
    y = smooth(y)
    w = np.linalg.lstsq(a, y[:3], rcond=None)[0]
    return smooth(y + w.max())


def in_a_helper(x, a):
    y = helper(x, a)
    return smooth(2.0 * y)


def missing(x, k):
    y = smooth(x)
    try:
        value = y[k[0]]
    except IndexError as error:
        value = float(len(str(error)))
    return smooth(y + value)


PROGRAMS: list[tuple[Callable[..., Any], Any]] = [
    (fitted, DEFICIENT),
    (in_an_expression, DEFICIENT),
    (in_a_loop, np.stack([WIDE, DEFICIENT, DEFICIENT])),
    (many_bins, np.array([1, 9, 9])),
    (long_int, 30),
    (root_of_less_than_0, np.array([-8.0])),
    (singular, np.ones((2, 2))),
    (in_a_helper, DEFICIENT),
    (missing, np.array([9000])),
]


def with_args(argument: Any) -> tuple[Any, ...]:
    return V.copy(), argument.copy() if isinstance(argument, np.ndarray) else argument


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    ("program", "argument"), PROGRAMS, ids=lambda x: getattr(x, "__name__", "")
)
def test_the_rest_stays_compiled(program: Callable[..., Any], argument: Any) -> None:
    compiled = fxc.compile(program)
    for _ in range(6):
        expected, found = run(program, with_args(argument)), run(compiled, with_args(argument))
        assert difference(expected, found) == ""
    before = compiled.cache_info()
    captures = sum(each.count for each in compiled._state.captures.values())
    for _ in range(4):
        compiled(*with_args(argument))
    after = compiled.cache_info()
    assert after.part_calls >= before.part_calls + 4
    assert after.variants == before.variants
    assert captures == sum(each.count for each in compiled._state.captures.values()) <= 3


def scores(x):
    z = np.zeros_like(x)
    for i in range(len(x)):
        z[i] = (x[i] - x[:i].mean()) / (x[:i].std() + 1e-9)
    return z


def scores_of_columns(x):
    """Of the nested loops the inner one leaves at its first iterations alone."""
    z = x.reshape(4, -1).copy()
    for k in range(4):
        for i in range(z.shape[1]):
            z[k, i] -= 0.5 * z[k, :i].mean()
    return z


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [scores, scores_of_columns])
def test_iterations_that_go_on_stay_compiled(program: Callable[..., Any]) -> None:
    compiled, x = fxc.compile(program), V[:400]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing
        for _ in range(6):
            assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    before = compiled.cache_info()
    with pytest.warns(RuntimeWarning):
        compiled(x)
    after = compiled.cache_info()
    assert after.part_calls >= before.part_calls + 390
    assert after.variants == before.variants
    assert not compiled._state.split.cuts.statements - spans_of_loops(compiled)


def spans_of_loops(compiled: Any) -> set[Any]:
    """Where the loops of a function stand."""
    statements = compiled._state.split.plan.statements()
    return {each.span for each in statements if isinstance(each.node, ast.For)}


def test_what_is_left_seldom_is_no_cut() -> None:
    compiled, wide = fxc.compile(fitted), WIDE
    for _ in range(3):
        for _ in range(10):
            compiled(V, wide)
        assert difference(run(fitted, (V, DEFICIENT)), run(compiled, (V, DEFICIENT))) == ""
    info = compiled.cache_info()
    assert (info.native_calls, info.eager_calls, info.parts) == (30, 3, 0)


def test_the_whole_is_tried_again() -> None:
    compiled = fxc.compile(fitted)
    for _ in range(4):
        compiled(V, DEFICIENT)
    assert compiled.cache_info().part_calls > 0
    for _ in range(2**MOST_RESTS):
        compiled(V, WIDE)
    before = compiled.cache_info()
    assert before.native_calls > 0
    compiled(V, WIDE)
    after = compiled.cache_info()
    assert (after.native_calls, after.part_calls) == (before.native_calls + 1, before.part_calls)


def checked(x, limit):
    y = smooth(x)
    if y.max() > limit[0]:
        raise ValueError(f"more than {limit[0]}")
    return smooth(y)


def taken(table, k):
    return smooth(smooth(table)[k[0]])


@pytest.mark.parametrize(("program", "argument"), [(checked, V), (taken, np.array([9000]))])
def test_what_the_program_raises_is_no_cut(program: Callable[..., Any], argument: Any) -> None:
    compiled = fxc.compile(program)
    for _ in range(6):
        found = run(compiled, with_args(argument))
        assert difference(run(program, with_args(argument)), found) == ""
    assert not compiled._state.leaves.tried
    assert sum(each.count for each in compiled._state.captures.values()) <= 2


def test_a_whole_graph_is_not_cut() -> None:
    compiled = fxc.compile(fitted, fullgraph=True)
    for _ in range(4):
        assert difference(run(fitted, (V, DEFICIENT)), run(compiled, (V, DEFICIENT))) == ""
    assert compiled.cache_info().parts == 0


def test_no_warning_is_given() -> None:
    compiled = fxc.compile(fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            compiled(V, DEFICIENT)
    assert compiled.cache_info().part_calls > 0


def opaque(x, a, log):
    y = smooth(x)
    log.write(log)
    w = np.linalg.lstsq(a, y[:3], rcond=None)[0]
    return smooth(y + w.max())


class Log:
    count = 0

    def write(self, text: object) -> None:
        self.count += 1
        warnings.filters.count(None)  # fxc does not know what this does


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_parts_that_leave_are_cut() -> None:
    compiled, log = fxc.compile(opaque), Log()
    for _ in range(6):
        assert np.array_equal(compiled(V, DEFICIENT, log), opaque(V, DEFICIENT, Log()))
    before = compiled.cache_info().part_calls
    compiled(V, DEFICIENT, log)
    assert log.count == 7
    assert compiled.cache_info().part_calls == before + 2
