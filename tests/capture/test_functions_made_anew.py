"""Functions that the caller makes anew for each call: they are known by their code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check

Made = Callable[[float], tuple[Any, ...]]
X = np.arange(6.0)
TABLE: dict[Any, float] = {}


def euler(f, y, n):
    for k in range(n):
        y = y + 0.01 * f(k * 0.01, y)
    return y


def through_an_object(solver, y):
    return solver.f(0.0, y) + solver.parts[0](1.0, y), solver.table["f"](2.0, y)


def both(f, g, y):
    return f(0.0, y) - g(1.0, y), f is g, f == g


def given_back(f, y):
    return f, [f, y], {"f": f}, f(0.0, y)


def stored(solver, f, y):
    solver.f = f
    return solver.f(0.0, y)


def named(f, y):
    return f.__name__, f.__qualname__, len(f.__name__) * y


def partly(f, y):
    return functools.partial(f, 0.5)(y), [*map(functools.partial(f, 1.0), [y, y * 2])]


def with_inner(f, y):
    def g(t, y):
        return f(t, y) * 2

    return euler(g, y, 7), euler(lambda t, y: g(t, f(t, y)), y, 3)


def sorted_by(f, y):
    return sorted([3.0, -1.0, 2.0], key=lambda x: f(0.0, x)), y


class Solver:
    def __init__(self, f):
        self.f, self.parts, self.table = f, [f], {"f": f}


def decay(k):
    return lambda t, y: -k * y + t


def of_a_list(k):
    scales = [k, k + 1]

    def f(t, y, n=2):
        scales[0] += 1
        return scales[0] * y * n

    return f


def pair(k):
    first = [k]

    def f(t, y):
        return first[0] * y

    def g(t, y):
        return first[0] + y * k

    return f, g


def recursive(k):
    def f(t, y):
        return y * k if t > 0.5 else f(t + 0.3, y) + 1

    return f


def of_functions(k):
    inner = decay(k)
    return lambda t, y: inner(t, y) * inner(t, y + 1)


CASES: dict[str, tuple[Callable[..., Any], Made]] = {
    "lambda": (euler, lambda k: (decay(k), X, 9)),
    "list": (euler, lambda k: (of_a_list(k), X, 9)),
    "recursive": (euler, lambda k: (recursive(k), X, 9)),
    "functions": (euler, lambda k: (of_functions(k), X, 9)),
    "object": (through_an_object, lambda k: (Solver(decay(k)), X)),
    "cells": (both, lambda k: (*pair(k), X)),
    "two": (both, lambda k: (decay(k), decay(k + 1), X)),
    "one": (both, lambda k: (*[decay(k)] * 2, X)),
    "partial": (partly, lambda k: (decay(k), X)),
    "inner": (with_inner, lambda k: (decay(k), X)),
    "sorted": (sorted_by, lambda k: (decay(k), X)),
}


@pytest.mark.parametrize("case", CASES)
def test_one_compilation_for_all_functions_of_a_code(case: str) -> None:
    fn, made = CASES[case]
    compiled = fxc.compile(fn, fullgraph=True)
    for k in (2.0, 3.0, 0.5, -1.0, 2.0, 2.5, 7.0):
        expected, found = fn(*made(k)), compiled(*made(k))
        assert repr(found) == repr(expected), k
    assert compiled.cache_info().variants <= 4  # with numbers that turn out to change


def test_what_is_one_function_or_one_cell_stays_so() -> None:
    """A compilation for two functions, or two cells, is not for one, and the other way round."""
    shared, apart = (lambda k: pair(k)), (lambda k: (pair(k)[0], pair(k + 1)[1]))
    for ways in ([shared, apart, shared], [apart, shared, apart]):
        compiled = fxc.compile(both, fullgraph=True)
        for make in ways:
            for k in (1.0, 2.0, 3.0):
                functions = make(k)
                expected, found = both(*functions, X), compiled(*functions, X)
                assert repr(found) == repr(expected)
    for makes in ([decay(1.0)] * 2, [decay(1.0), decay(2.0)], [decay(3.0)] * 2):
        assert repr(compiled(*makes, X)) == repr(both(*makes, X))


@pytest.mark.parametrize("fn", [given_back, named])
def test_the_caller_gets_its_own_function(fn: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for k in (1.0, 2.0, 3.0, 4.0):
        f = decay(k)
        expected, found = fn(f, X), compiled(f, X)
        assert repr(found) == repr(expected)
        assert fn is named or (found[0] is f and found[1][0] is f and found[2]["f"] is f)


def test_an_object_holds_the_function_of_the_call() -> None:
    compiled = fxc.compile(stored, fullgraph=True)
    for k in (1.0, 2.0, 3.0):
        solver, f = Solver(decay(9.0)), decay(k)
        assert repr(compiled(solver, f, X)) == repr(stored(Solver(f), f, X))
        assert solver.f is f


def counting(k):
    calls = 0

    def f(t, y):
        nonlocal calls
        calls += 1
        return y * calls

    return f, lambda: calls


def marked(k):
    def f(t, y):
        return y * f.scale

    f.scale = k
    return f


def looked_up(f, y):
    return TABLE.get(f, 0.0) * y, {f: 1}[f]


def test_functions_that_are_not_known_by_their_code() -> None:
    """Those that rebind variables, or have attributes, are the very same in each call."""
    compiled = fxc.compile(euler)
    for k in (1.0, 2.0, 3.0, 4.0):
        (f, calls), (g, others) = counting(k), counting(k)
        assert repr(compiled(f, X, 9)) == repr(euler(g, X, 9))
        assert calls() == others() == 9
        assert repr(compiled(marked(k), X, 9)) == repr(euler(marked(k), X, 9))


@pytest.mark.filterwarnings("ignore:.*a key of type function")
def test_functions_as_keys() -> None:
    compiled = fxc.compile(looked_up)
    for k in (1.0, 2.0, 3.0, 4.0):
        f = decay(k)
        TABLE[f] = k
        assert repr(compiled(f, X)) == repr(looked_up(f, X))
    TABLE.clear()


def test_another_code_is_another_compilation() -> None:
    compiled = fxc.compile(euler, fullgraph=True)
    for k in (1.0, 2.0):
        for f in (decay(k), of_functions(k), recursive(k), decay(k)):
            assert repr(compiled(f, X, 5)) == repr(euler(f, X, 5))
    check(euler, (decay(2.0), X, 4), (decay(3.0), X[:4], 3))
