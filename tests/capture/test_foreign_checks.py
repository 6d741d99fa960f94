"""``numpy.testing.assert_…`` in a program: calls in the graph that raise, or give nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import testing

import fxc


def in_a_helper(x, y):
    def checked(a, b):
        np.testing.assert_allclose(a, b, rtol=1e-9)
        return a * 2

    return np.exp(-checked(x, y))


def in_a_loop(x, y):
    s = 0.0
    for i in range(10):
        z = x * i
        testing.assert_array_equal(z, y * i)
        s += z.sum()
    return s


def behind_a_write(x, y):
    x[1:] += 1
    testing.assert_array_less(x, y + 2, err_msg="too large")
    x -= 1


def in_a_branch(x, y):
    if x[0] < 5:
        testing.assert_(x[-1] == y[-1], "the last ones")
    return x + y


def handled(x, y):
    try:
        testing.assert_equal([x.sum(), x[0]], [y.sum(), y[0]])
    except AssertionError:
        return -x
    return x + y


def of_sizes(x, y):
    testing.assert_equal(x.shape, (len(y),))
    testing.assert_array_equal(x, np.arange(len(x)) + 0.0)
    return x @ y


def outcome(function: Callable[..., Any], *args: Any) -> str:
    given = copy.deepcopy(args)
    try:
        return repr((function(*given), given))
    except Exception as error:
        return repr((type(error), str(error), given))


@pytest.mark.parametrize(
    "function", [in_a_helper, in_a_loop, behind_a_write, in_a_branch, of_sizes]
)
def test_a_check_is_a_call_in_the_graph(function):
    program = fxc.compile(function)
    for size in (5, 5, 6, 7):
        x = np.arange(float(size))
        for y in (x - 0, x - 3, x - 0):
            assert outcome(program, x, y) == outcome(function, x, y)
    found = program.cache_info()
    assert found.parts == 0
    assert found.native_calls
    assert found.variants <= 3


def test_a_handler_runs_where_a_check_fails():
    program, x = fxc.compile(handled), np.arange(5.0)
    for y in (x - 0, x - 3, x - 0, x - 3, x - 0):
        assert outcome(program, x, y) == outcome(handled, x, y)


def test_a_check_that_gives_something_runs_by_its_own_code():
    def function(x, y):
        return testing.assert_array_max_ulp(x, y), x + y

    program, x = fxc.compile(function), np.arange(4.0)
    for _ in range(3):
        assert outcome(program, x, x) == outcome(function, x, x)
    assert program.cache_info().variants == 2
