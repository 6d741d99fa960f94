"""Clocks inside of compiled code: read once each, in order with what the program computes."""

import time
from time import perf_counter_ns
from typing import Any

import numpy as np
import pytest

import fxc

CLOCKS = ["monotonic", "perf_counter", "process_time", "thread_time", "time"]


@pytest.mark.parametrize("name", [*CLOCKS, *(f"{each}_ns" for each in CLOCKS)])
def test_a_clock_shows_the_time_of_the_call(name: str) -> None:
    clock = getattr(time, name)

    @fxc.compile(fullgraph=True)
    def f(x: np.ndarray) -> Any:
        return clock(), x + 1

    for _ in range(3):
        before = clock()
        shown, y = f(np.arange(3.0))
        assert before <= shown <= clock()
        assert type(shown) is type(before)
        assert y.tolist() == [1, 2, 3]
    assert f.cache_info().variants == 1


def work(x: np.ndarray) -> Any:
    start = time.perf_counter()
    y = np.exp(x) * 2
    x[:] = y + 1
    middle = time.perf_counter()
    z = np.cos(y).sum()
    return y, z, middle - start, time.perf_counter() - middle


def test_what_is_computed_between_clocks_is_computed_there() -> None:
    compiled = fxc.compile(work, fullgraph=True)
    x, other = np.arange(4.0), np.arange(4.0)
    y, z, *times = compiled(x)
    expected = work(other)
    np.testing.assert_allclose(x, other, rtol=1e-15)
    np.testing.assert_allclose((*y, z), (*expected[0], expected[1]), rtol=1e-15)
    assert min(times) >= 0
    loops = str(compiled.inspect(x).loops)
    kinds = ("clock", "exp", "cos")
    found = [kind for line in loops.splitlines() for kind in kinds if f"{kind}(" in line]
    assert found == ["clock", "exp", "clock", "cos", "clock"]


def test_a_loop_ends_when_its_time_is_over() -> None:
    @fxc.compile(fullgraph=True)
    def f(x: np.ndarray, limit: float) -> Any:
        start, shown, n = perf_counter_ns(), [], 0
        while (perf_counter_ns() - start) * 1e-9 < limit:
            x[:] = np.cos(x)
            shown.append(time.perf_counter())
            n += 1
        print(f"after {n}")
        return shown, n

    x = np.arange(10.0)
    shown, n = f(x, 0.005)
    assert len(shown) == n > 0
    assert shown == sorted(shown)
    y = np.arange(10.0)
    for _ in range(n):
        y[:] = np.cos(y)
    np.testing.assert_allclose(x, y, rtol=1e-15)
    assert f(x, 0.0) == ([], 0)


def test_what_raises_behind_a_clock_leaves_what_was_written() -> None:
    def f(x: np.ndarray, n: int) -> Any:
        x[0] = 1
        start = time.perf_counter()
        x[1] = 2
        x[2] = x[n]
        return start

    compiled = fxc.compile(f)
    for n in (0, 3, 7):
        x, y = np.arange(5.0), np.arange(5.0)
        if n == 7:
            for each in (compiled, f):
                with pytest.raises(IndexError, match="index 7 is out of bounds"):
                    each(x if each is compiled else y, n)
        else:
            compiled(x, n)
            f(y, n)
        assert x.tolist() == y.tolist()
