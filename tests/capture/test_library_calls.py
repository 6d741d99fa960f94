"""Functions of the standard library: their Python code stands for C code, or they have a memory."""

from __future__ import annotations

import bisect
import copy
import functools
import heapq
import operator
import warnings

import numpy as np
import pytest
from scipy import signal
from scipy.fft import next_fast_len

import fxc
from fxc.capture.door.unstaged import twin_of
from tests.compiling import check
from tests.outcomes import difference, run

_x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])


def _searches(x):
    ordered = np.sort(x)
    total = 0
    for k in range(len(x)):
        total += bisect.bisect_left(ordered, x[k]) * k + bisect.bisect(ordered, x[k], 1, 3)
    return total


def _known_list(x):
    numbers = [1, 4, 7]
    return x * bisect.bisect(numbers, 5) + len(numbers)


def _heap_of_elements(x):
    heap = []
    for value in x:
        heapq.heappush(heap, value)
    first = heapq.heappop(heap)
    heapq.heapreplace(heap, first + 10)
    return first + 10 * heapq.heappop(heap)


def _known_heap(x):
    heap = [3, 1, 2]
    heapq.heapify(heap)
    return x * heapq.heappop(heap) + heapq.heappushpop(heap, 0)


class _Scaled:
    def __init__(self, factor):
        self.factor = factor

    def times(self, number, *, more=1):
        return self.factor * number + more


_scaled = _Scaled(2.0)


def _methods(x):
    clip, times = operator.methodcaller("clip", 2, max=4), operator.methodcaller("times", 3, more=2)
    return clip(x) * 2, times(_scaled) * x, operator.methodcaller("sum")(x)


@pytest.mark.parametrize("fn", [_searches, _known_list, _heap_of_elements, _known_heap, _methods])
def test_the_python_code_of_a_c_function_is_captured(fn):
    check(fn, (_x,), lasting=True)


def test_twins_are_functions_of_the_same_module():
    assert twin_of(heapq.heappush).__module__ == "heapq"
    assert twin_of(bisect.bisect_right).__name__ == "bisect_right"
    assert twin_of(len) is None
    assert twin_of(np.frompyfunc) is None


def test_a_function_with_a_memory_gives_its_one_object():
    ran = []

    @functools.lru_cache
    def table(n, scale=1.0):
        ran.append(n)
        return np.arange(float(n)) * scale

    def fn(x):
        found = table(len(x), scale=2.0)
        found += 1
        return x * found + table(5), found

    compiled = fxc.compile(fn, fullgraph=True)
    expected = [copy.deepcopy(fn(_x)) for _ in range(3)]
    assert ran == [5, 5]
    table.cache_clear()
    ran.clear()
    assert all(
        np.array_equal(ours, theirs)
        for given in expected
        for ours, theirs in zip(compiled(_x), given, strict=True)
    )
    assert ran == [5, 5]
    assert compiled(_x)[1] is table(5, scale=2.0)
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_function_with_a_memory_that_raises_runs_once():
    ran = []

    @functools.cache
    def factor(n):
        ran.append(n)
        if n > 2:
            raise ValueError(f"{n} is too many")
        return factor(n + 1) if n == 1 else float(n)

    def fn(x, n):
        y = np.sin(x) * 2 + 1
        return y * factor(n) + y

    compiled, order = fxc.compile(fn), (0, 3, 1, 3, 2, 4, 0)
    expected = [run(fn, (_x, n)) for n in order]
    ran_by_python = ran.copy()
    factor.cache_clear()
    ran.clear()
    for n, wanted in zip(order, expected, strict=True):
        assert difference(wanted, run(compiled, (_x, n))) == ""
    assert ran == ran_by_python


def test_arguments_that_look_alike_are_apart():
    @functools.cache
    def size(text):
        return np.full(2, float(len(text)))

    check(lambda x: size("a b") * x[0] + size("a_b") + size("a__b") * 2, (_x,), lasting=True)


def test_native_calls_ask_a_function_with_a_memory():
    @functools.cache
    def factor(n):
        return float(n)

    compiled = fxc.compile(lambda x: x * factor(3), fullgraph=True)
    for _ in range(2500):
        found = compiled(_x)
    assert np.array_equal(found, _x * 3)
    assert factor.cache_info().misses == 1


def test_a_function_with_a_memory_in_a_branch_does_not_run_before_it_must():
    ran = []

    @functools.cache
    def factor(n):
        ran.append(n)
        return float(n)

    def fn(x):
        if x[0] > 100:
            x = x * factor(3)
        return x + 1

    compiled = fxc.compile(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        assert np.array_equal(compiled(_x), _x + 1)
    assert ran == []


def test_a_library_function_with_a_memory_is_asked_before_a_branch():
    def fn(x, y):
        if x[0] > 1:
            y = y * next_fast_len(len(x) + 4, True)
        return y

    check(fn, (_x, _x), lasting=True)
    check(fn, (_x + 9, _x), lasting=True)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_library_function_with_a_memory_that_raises_in_a_branch():
    def fn(x, y):
        if x[0] > 1:
            y = y * next_fast_len(-len(x))
        return y

    compiled = fxc.compile(fn)
    for given in ((_x, _x), (_x + 9, _x)):
        assert difference(run(fn, given), run(compiled, given)) == ""


def test_a_function_that_remembers_classes_and_modules():
    @functools.lru_cache
    def factor(kind, module):
        return 2.0 if issubclass(kind, np.ndarray) and module is np else 3.0

    check(lambda x: x * factor(type(x), np) + factor(int, np), (_x,), lasting=True)


def test_a_function_that_remembers_tuples():
    ran, factors = [], {"Linear": 2.0, "Cubic": 3.0}

    @functools.cache
    def checked(name, valid):
        ran.append(name)
        if name not in valid[0]:
            raise ValueError(f"{name} is none of {valid}")
        return name.lower()

    def fn(x, name="Linear"):
        return x * 2 if checked(name, (tuple(factors), (len(x), None))) == "linear" else x * 3

    check(fn, (_x,), lasting=True)
    check(fn, (_x, "Cubic"), lasting=True)
    assert ran == ["Linear", "Cubic"]


def test_a_function_that_remembers_no_tuple_of_an_array():
    remembered = functools.cache(lambda given: len(given))
    with pytest.raises(fxc.CaptureError, match=r"a call of .*lambda> cannot"):
        fxc.compile(lambda x: x * remembered((x.sum(),)), fullgraph=True)(_x)


def test_filters_of_scipys():
    """It asks functions that remember which library an array is of."""

    def fn(x):
        over, under = signal.butter(3, 0.2)
        return np.abs(signal.filtfilt(over, under, x - x.mean())) * 2

    check(fn, (np.linspace(0, 3, 40),), lasting=True)
