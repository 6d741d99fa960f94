"""Calls of NumPy from native code that are interrupted, raise, warn, or leave something behind."""

from __future__ import annotations

import copy
import gc
import signal
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fxc
import fxc.compilations.variants
import fxc.native.flagged
from tests.outcomes import difference, run
from tests.runtime.test_interrupts import Alarmed, alarm, raiser

SOLVER = "numpy.linalg._linalg._assert_stacked_square"  # np.linalg.solve calls it with a matrix
A = np.random.default_rng(6).random((5, 5)) + 3 * np.eye(5)


class Wrong(ValueError):
    """An exception of a class that NumPy might raise."""


def relaxed(x, a):
    for i in range(len(x)):
        x[i] += 1
        x[:3] = np.linalg.solve(a[:3, i : i + 3], x[:3])
    return x


def windows(x, n):
    total = 0
    for i in range(n):
        x[i % 3] += 1
        total += np.gcd(x[i % 3 : i % 3 + 4], 6)[0]
    return total


def program() -> Any:
    return fxc.compile(relaxed, fullgraph=True)


def arguments() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(5.0), np.hstack([A, A])


def in_call(monkeypatch: pytest.MonkeyPatch, number: int, do: Callable[[np.ndarray], Any]) -> None:
    """In the call of this number ``np.linalg.solve`` does something else first."""
    count = 0

    def check(a: np.ndarray) -> None:
        nonlocal count
        if count == number:
            do(a)
        count += 1

    monkeypatch.setattr(SOLVER, check)


# ------------------------------------------------------------------ interrupts


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, Alarmed, Wrong, TimeoutError])
def test_what_a_handler_raises_inside_of_a_call(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    compiled = program()
    compiled(*arguments())
    before = signal.signal(signal.SIGUSR1, lambda *_: raiser(error)())
    x, a = arguments()
    try:
        in_call(monkeypatch, 2, lambda _: signal.raise_signal(signal.SIGUSR1))
        with pytest.raises(error):
            compiled(x, a)
    finally:
        signal.signal(signal.SIGUSR1, before)
        monkeypatch.undo()
    assert compiled.cache_info().eager_calls == 0
    np.testing.assert_array_equal(x, arguments()[0])  # as if it had come before the first iteration
    assert difference(run(relaxed, (x.copy(), a)), run(compiled, (x.copy(), a))) == ""


@pytest.mark.parametrize("error", [KeyboardInterrupt, Wrong])
def test_an_interrupt_while_functions_of_c_are_called(error: type[BaseException]) -> None:
    x = np.arange(7)
    compiled = fxc.compile(windows, fullgraph=True)
    compiled.inspect(x, 10**11)
    with alarm(raiser(error)), pytest.raises(error):
        compiled(x, 10**11)
    assert compiled.cache_info().eager_calls == 0
    np.testing.assert_array_equal(x, np.arange(7))


def test_an_exception_that_another_thread_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its class is none of NumPy's, so NumPy is not asked to raise it again."""

    def fail(_: np.ndarray) -> None:
        raise Alarmed

    in_call(monkeypatch, 1, fail)
    compiled = program()
    with pytest.raises(Alarmed):
        compiled(*arguments())
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError, ValueError])
def test_what_a_handler_raises_during_a_compilation(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def handler(*_: Any) -> None:
        raise error

    before = signal.signal(signal.SIGUSR1, handler)
    original = fxc.pipeline.stages.compile_captured

    def interrupted(*args: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)
        return original(*args)

    compiled = fxc.compile(relaxed)
    try:
        monkeypatch.setattr(fxc.pipeline.stages, "compile_captured", interrupted)
        with pytest.raises(error):
            compiled(*arguments())
    finally:
        signal.signal(signal.SIGUSR1, before)
        monkeypatch.undo()
    assert difference(run(relaxed, arguments()), run(compiled, arguments())) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


# ------------------------------------------------------------------ exceptions, warnings


def _until_not_positive(x):
    for k in range(6):
        x[k, k] -= k * 1.5
        x[0] += np.linalg.cholesky(x[k // 2 :, k // 2 :])[0, 0]
    return x


def _until_negative(x, numbers):
    counts = np.zeros(9, np.int64)
    for i in range(len(numbers)):
        x[i % 3] += i
        counts += np.bincount(numbers[i : i + 2], minlength=9)
    return counts, x


def _medians(x, out):
    for i in range(len(x) - 2):
        out[i] = np.nanmedian(x[i : i + 3])
    return out


NUMBERS = np.array([1, 2, 3, 8, 0, -1, 2])
HOLES = np.array([1.0, np.nan, np.nan, np.nan, 2.0, 3.0])


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (_until_not_positive, (A @ A.T,)),
        (_until_negative, (np.zeros(3), NUMBERS)),
    ],
)
def test_what_numpy_raises_in_an_iteration(fn: Callable[..., Any], args: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for _ in range(2):
        expected = run(fn, copy.deepcopy(args))
        assert expected.error is not None
        assert difference(expected, run(compiled, copy.deepcopy(args))) == ""
    assert compiled.cache_info().eager_calls == 2


def test_warnings_are_those_of_each_call() -> None:
    compiled = fxc.compile(_medians, fullgraph=True)
    compiled(np.ones(6), np.zeros(4))
    seen = []
    for fn in (_medians, compiled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out = fn(HOLES, np.zeros(4))
        seen.append(([(each.category, str(each.message)) for each in caught], out.tolist()))
    assert len(seen[0][0]) == 1
    assert str(seen[0]) == str(seen[1])
    assert compiled.cache_info().eager_calls == 1  # NumPy names the program's line


def test_warnings_that_are_exceptions() -> None:
    compiled = fxc.compile(_medians, fullgraph=True)
    seen = []
    for fn in (_medians, compiled):
        out = np.zeros(4)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            with pytest.raises(RuntimeWarning) as caught:
                fn(HOLES, out)
        seen.append((str(caught.value), out.tolist()))
    assert str(seen[0]) == str(seen[1])


# ------------------------------------------------------------------ what is left behind


def test_an_operand_that_somebody_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    monkeypatch.setattr(SOLVER, lambda a: kept.append((a, a.copy())))
    x, a = arguments()
    result = program()(x, a)
    expected = [a[:3, i : i + 3].copy() for i in range(5)]
    a[...] = 0.0
    del a
    monkeypatch.undo()
    np.linalg.solve(A, A)  # other contents where the operands were
    for (array, copied), there in zip(kept, expected, strict=True):
        np.testing.assert_array_equal(array, there)
        np.testing.assert_array_equal(copied, there)
        assert array.flags.c_contiguous
        array += 1  # it is nobody else's
    np.testing.assert_array_equal(result, relaxed(*arguments()))


def test_operands_in_the_frames_of_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: np.ndarray) -> None:
        raise KeyboardInterrupt

    in_call(monkeypatch, 3, fail)
    with pytest.raises(KeyboardInterrupt) as caught:
        program()(*arguments())
    found = [each.frame.f_locals for each in caught.traceback if each.name == "solve"]
    del caught
    monkeypatch.undo()
    x, a = arguments()
    for i in range(3):
        x[i] += 1
        x[:3] = np.linalg.solve(a[:3, i : i + 3], x[:3])
    x[3] += 1
    np.testing.assert_array_equal(found[0]["a"], a[:3, 3:6])
    np.testing.assert_array_equal(found[0]["b"], x[:3])


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_leaks(monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    def fail(_: np.ndarray) -> None:
        raise Alarmed

    compiled, (x, a) = program(), arguments()
    compiled(x, a)
    if fails:
        monkeypatch.setattr(SOLVER, fail)

    def calls(count: int) -> tuple[int, ...]:
        for _ in range(count):
            try:
                compiled(x, a)
            except Alarmed:
                assert fails
        gc.collect()
        objects = (x, a, x.dtype, np.linalg.solve, None, np.ndarray, Exception, Alarmed)
        return tuple(map(sys.getrefcount, objects))

    before = calls(20)
    tracemalloc.start()
    try:
        calls(20)
        start, _ = tracemalloc.get_traced_memory()
        after = calls(200)
        end, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert end - start < 2000
    assert max(abs(new - old) for new, old in zip(after, before, strict=True)) < 20


# ------------------------------------------------------------------ at once


def test_threads_in_one_program() -> None:
    compiled = fxc.compile(relaxed, fullgraph=True)
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        for k in range(40):
            x = np.arange(5.0) * (number + k)
            a = arguments()[1] + number
            assert difference(run(relaxed, (x.copy(), a)), run(compiled, (x.copy(), a))) == ""

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert compiled.cache_info().eager_calls == 0


def test_a_call_inside_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = program()
    expected = relaxed(*arguments())
    inner: list[np.ndarray] = []
    depth = 0

    def again(_: np.ndarray) -> None:
        nonlocal depth
        if depth < 3:
            depth += 1
            inner.append(compiled(*arguments()))

    monkeypatch.setattr(SOLVER, again)
    inner.append(compiled(*arguments()))
    assert len(inner) == 4
    assert all((each == expected).all() for each in inner)


def test_what_numpy_raises_in_a_function_that_is_called_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fxc.compilations.variants, "OFTEN", 10)
    monkeypatch.setattr(fxc.native.flagged, "YOUNG", 0)  # what is updated is not copied
    compiled = fxc.compile(_until_negative, fullgraph=True)
    numbers = abs(NUMBERS)
    for _ in range(12):
        compiled(np.zeros(3), numbers)
    assert type(compiled) is not fxc.Compiled  # its calls are native
    for args in ((np.zeros(3), NUMBERS), (np.zeros(3), numbers)):
        expected = run(_until_negative, copy.deepcopy(args))
        assert difference(expected, run(compiled, copy.deepcopy(args))) == ""
    assert compiled.cache_info().eager_calls == 1
