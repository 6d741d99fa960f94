"""Native code gives up the interpreter lock while it works for long, and takes signals then, too."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import in_turns

ROOT = Path(__file__).parents[2]
MANY = 1_500_000


def one_nest(x):
    y = x
    for _ in range(40):
        y = np.sqrt(y * y + 1.0) / 1.5
    return y


def long_chain(x):
    return np.exp(np.sin(np.exp(np.cos(np.exp(np.sin(np.exp(np.cos(x))))))))


def in_place(x):
    y = long_chain(long_chain(long_chain(x)))
    x[...] = long_chain(long_chain(long_chain(y)))
    return x


def total(x):
    return one_nest(x).sum()


def rows(x):
    y = x.reshape(1000, -1)
    return (one_nest(y) / one_nest(y).sum(axis=1, keepdims=True)).ravel()


def numbers(x):
    s = 0.5
    for i in range(4 * len(x)):
        s = x[i % 7] / (s + 1.0 / (s + 0.5))
    return s


def steps(x):
    y = x[:5000].copy()
    for _ in range(25000):
        y = np.sqrt(y * y + 1.0) / 1.5
    return y


def fewer_steps(x):
    y = x[:5000].copy()
    for _ in range(3000):
        y = np.sqrt(y * y + 1.0) / 1.5
    return y


def steps_that_call(x):
    y = x[:5000].copy()
    for _ in range(4000):
        y = np.sort(y)[::-1] * 0.5 + 1.0
    return y


def same(found: Any, expected: Any) -> bool:
    """Up to the last bits of elementary functions."""
    return bool(np.allclose(found, expected, rtol=1e-13, atol=0))


LONG: list[Callable[..., Any]] = [one_nest, in_place, total, rows, numbers, steps]


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = fxc.get_num_threads()
    fxc.set_num_threads(request.param)
    yield request.param
    fxc.set_num_threads(before)


X = np.linspace(0.5, 2.0, MANY)


@pytest.fixture
def x() -> np.ndarray:
    return X


@functools.cache
def numpys(function: Callable[..., Any], size: int) -> Any:
    """What NumPy gives for the first elements, which takes seconds."""
    return function(X[:size].copy())


class Ticks:
    """A thread of Python that counts milliseconds, if it is let."""

    def __init__(self) -> None:
        self.count, self.ends = 0, False
        self.thread = threading.Thread(target=self.tick, daemon=True)

    def tick(self) -> None:
        while not self.ends:
            self.count += 1
            time.sleep(0.001)

    def __enter__(self) -> Ticks:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ends = True
        self.thread.join()


@pytest.mark.parametrize(("function", "threads"), in_turns(LONG, (1, 2)), indirect=["threads"])
def test_other_threads_run_meanwhile(
    function: Callable[..., Any], threads: int, x: np.ndarray
) -> None:
    program = fxc.compile(function, fullgraph=True)
    for size in (9000, MANY):  # as it is, and for all sizes
        given = x[:size].copy()
        program(given)
        expected = numpys(function, size)
        with Ticks() as ticks:
            given = x[:size].copy()
            before, began = ticks.count, time.perf_counter()
            found = program(given)
            took, counted = time.perf_counter() - began, ticks.count - before
        assert same(found, expected)
    assert took > 0.03, "the call is too short to say anything"
    assert counted > 3 + took * 20


def test_a_loop_that_calls_numpy_lets_others_in_between(x: np.ndarray) -> None:
    program = fxc.compile(steps_that_call, fullgraph=True)
    program(x)
    with Ticks() as ticks:
        before, began = ticks.count, time.perf_counter()
        program(x)
        took, counted = time.perf_counter() - began, ticks.count - before
    assert counted >= min(3, took / 0.02)


def test_functions_of_short_loops_keep_the_lock() -> None:
    for size, gives_up in ((100, False), (MANY, True)):
        text = fxc.compile(in_place, fullgraph=True).inspect(np.ones(size)).llvm
        assert ("PyEval_RestoreThread" in text) is gives_up


# ------------------------------------------------------------------ signals


@contextmanager
def alarm(handler: Callable[[], None], after: float = 0.01) -> Iterator[list[float]]:
    """``handler`` runs once, soon; the list says when the signal was sent, nearly.

    By the time that this process computes: on a busy machine it may not get to the call before.
    """
    sent: list[float] = []

    def handle(_: int, __: FrameType | None) -> None:
        handler()

    before = signal.signal(signal.SIGVTALRM, handle)
    sent.append(time.process_time() + after)
    signal.setitimer(signal.ITIMER_VIRTUAL, after)
    try:
        yield sent
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def stop() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("calls", [1, 2100])
def test_an_interrupt_ends_one_long_statement(threads: int, calls: int, x: np.ndarray) -> None:
    program = fxc.compile(in_place, fullgraph=True, dynamic=True)
    for _ in range(calls):
        program(x[:5].copy())
    given = x.copy()
    with alarm(stop) as sent, pytest.raises(KeyboardInterrupt):
        program(given)
    assert time.process_time() - sent[0] < 0.5  # some milliseconds are usual
    new = program(x.copy())
    is_new, is_old = given == new, given == x
    assert (is_new | is_old).all()
    assert is_new.any()
    assert not is_new.all()
    assert same(new, numpys(in_place, MANY))


@pytest.mark.parametrize("function", LONG, ids=lambda f: f.__name__)
def test_a_handler_that_returns_changes_nothing(
    function: Callable[..., Any], threads: int, x: np.ndarray
) -> None:
    program, seen = fxc.compile(function, fullgraph=True), []
    program(x[:9000].copy())
    program(x.copy())
    given = x.copy()
    with alarm(lambda: seen.append(1)):
        found = program(given)
    assert seen
    assert same(found, numpys(function, MANY))


def test_a_handler_may_call_compiled_code_and_fork(threads: int, x: np.ndarray) -> None:
    program, seen = fxc.compile(one_nest, fullgraph=True), []
    expected = numpys(one_nest, MANY)
    program(x)

    def handler() -> None:
        seen.append(np.array_equal(program(x[:50_000]), expected[:50_000]))
        child = os.fork()
        if not child:
            os._exit(0 if np.array_equal(program(x[:50_000]), expected[:50_000]) else 1)
        seen.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0)

    with alarm(handler):
        found = program(x)
    assert seen == [True, True]
    assert np.array_equal(found, expected)


# ------------------------------------------------------------------ what others do meanwhile


def test_arrays_that_others_let_go_of_are_held(threads: int, x: np.ndarray) -> None:
    class Holder:
        pass

    holder = Holder()
    holder.array = x.copy()  # type: ignore[attr-defined]
    program = fxc.compile(lambda: one_nest(holder.array), fullgraph=True)  # type: ignore[attr-defined]
    expected = program()
    for _ in range(3):
        holder.array = x.copy()  # type: ignore[attr-defined]
        ready = threading.Event()

        def work(ready: threading.Event = ready) -> None:
            ready.wait()
            time.sleep(0.01)
            del holder.array  # type: ignore[attr-defined]
            for _ in range(20):
                np.full(MANY, np.nan)

        thread = threading.Thread(target=work)
        thread.start()
        ready.set()
        found = program()
        thread.join()
        assert np.array_equal(found, expected)


def test_an_array_in_use_is_not_resized(x: np.ndarray) -> None:
    program, told = fxc.compile(one_nest, fullgraph=True), []
    given = x.copy()
    program(given)

    def work() -> None:
        time.sleep(0.005)
        try:
            given.resize(3)
        except ValueError as error:
            told.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    found = program(given)
    thread.join()
    assert "cannot resize" in told[0]
    assert np.array_equal(found, numpys(one_nest, MANY))


def test_threads_call_at_once(threads: int, x: np.ndarray) -> None:
    functions = [one_nest, in_place, total, numbers, fewer_steps]
    programs = [fxc.compile(function, dynamic=True) for function in functions]
    sizes = [5_000 * k + 7 for k in range(1, 9)]
    expected = {
        (k, size): numpys(function, size) for k, function in enumerate(functions) for size in sizes
    }
    wrong: list[object] = []

    def work(number: int) -> None:
        for k, size in list(expected)[number::2] + list(expected)[1 - number :: 2]:
            if not same(programs[k](x[:size].copy()), expected[k, size]):
                wrong.append((k, size))

    workers = [threading.Thread(target=work, args=(n % 2,)) for n in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong


def test_the_process_may_end_while_a_thread_is_inside(threads: int, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import threading, time, numpy as np, fxc\n"
        "from tests.runtime.test_interpreter_lock import one_nest, numbers\n"
        f"fxc.set_num_threads({threads})\n"
        "x = np.linspace(0.5, 2.0, 10**7)\n"
        "for function in (one_nest, numbers):\n"
        "    program = fxc.compile(function)\n"
        "    program(x[:50]); program(x[:60])\n"
        "    threading.Thread(target=program, args=(x,), daemon=True).start()\n"
        "time.sleep(0.1)\n"
    )
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert not done.returncode, done.stderr
