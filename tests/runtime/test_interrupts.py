"""Signals are handled while native loops run: Ctrl-C ends them."""

from __future__ import annotations

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

ROOT = Path(__file__).parents[2]
LONG = 10**11  # iterations that nobody waits for


def for_ever(x):
    while x[0] >= 0:
        x[0] = x[0] + 1
    return x


def one_loop(x, n):
    total = 0.0
    for i in range(n):
        total += x[i % 3]
    return total


def writes_in_place(x, n):
    for i in range(n):
        x[i & 3] += 1
    return x


def statements_on_arrays(x, n):
    for _ in range(n):
        x[1:] = 0.5 * (x[1:] + x[:-1])
    return x


def a_loop_in_a_loop(x, n):
    for i in range(n):
        for j in range(i, i + 2):
            x[j & 3] += 1
    return x


def a_long_loop_in_a_loop(x, n):
    for i in range(2):
        for j in range(n):
            x[(i + j) & 3] += 1
    return x


def seldom_a_loop_in_a_loop(x, n):
    for i in range(n):
        if x[0] > i:
            for j in range(n):
                x[j & 3] += 1
    return x


def left_early(x, n):
    for i in range(n):
        if x[0] == i:
            break
        x[i & 1 | 2] += 1
    return x


def hands_on(x, n):
    s = 0.0
    for i in range(n):
        s = 0.5 * s + x[i & 3]
    return s


def hands_on_in_a_loop(x, n):
    for _ in range(n):
        for i in range(1, len(x)):
            x[i] = 0.5 * x[i - 1] + 0.5 * x[i]
    return x


def over_columns(x, n):
    for _ in range(n):
        x += x.sum() * 0
    return x


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (for_ever, ()),
    *(
        (function, (LONG,))
        for function in (
            one_loop,
            writes_in_place,
            statements_on_arrays,
            a_loop_in_a_loop,
            a_long_loop_in_a_loop,
            seldom_a_loop_in_a_loop,
            left_early,
            hands_on,
            hands_on_in_a_loop,
            over_columns,
        )
    ),
]


class Alarmed(Exception):
    pass


@contextmanager
def alarm(handler: Callable[[], None], after: float = 0.005) -> Iterator[None]:
    """``handler`` runs once, soon: the system sends the signal, in native code or before it."""
    assert threading.current_thread() is threading.main_thread()

    def handle(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename == "<fxc plan>":
            handler()
        else:
            signal.setitimer(signal.ITIMER_REAL, after)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def raiser(error: type[BaseException]) -> Callable[[], None]:
    def handler() -> None:
        raise error

    return handler


def compiled_for(function: Callable[..., Any], *args: Any) -> Any:
    compiled = fxc.compile(function, fullgraph=True)
    compiled.inspect(*args)
    return compiled


@pytest.mark.parametrize(("function", "more"), FUNCTIONS, ids=lambda f: getattr(f, "__name__", ""))
def test_what_a_handler_raises_ends_a_loop(
    function: Callable[..., Any], more: tuple[Any, ...]
) -> None:
    x = np.full(4, 5.0)
    x[0] = 1e300 if function is left_early else 5.0
    compiled = compiled_for(function, x, *more)
    for error in (KeyboardInterrupt, Alarmed):
        with alarm(raiser(error)), pytest.raises(error) as raised:
            compiled(x, *more)
        assert {str(each.path) for each in raised.traceback} == {__file__}  # no frame of fxc
    info = compiled.cache_info()
    assert (info.variants, info.native_calls, info.eager_calls) == (1, 0, 0)
    assert np.isfinite(x).all()


def test_ctrl_c_shows_the_call_alone() -> None:
    x = np.zeros(4)
    compiled = compiled_for(for_ever, x)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # which has no frame
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            compiled(x)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert {str(each.path) for each in raised.traceback} == {__file__}


def test_what_was_stored_before_stays() -> None:
    x = np.zeros(4, np.int64)
    compiled = compiled_for(writes_in_place, x, LONG)
    with alarm(raiser(KeyboardInterrupt)), pytest.raises(KeyboardInterrupt):
        compiled(x, LONG)
    assert x[0] > 0
    assert x.max() - x.min() <= 1  # whole iterations, in order
    expected = x + 1
    assert compiled(x, 4) is x
    np.testing.assert_array_equal(x, expected)


def test_a_handler_that_returns_lets_the_loop_go_on() -> None:
    seen: list[bool] = []
    n = 2 * 10**7
    compiled = compiled_for(one_loop, np.ones(3), n)
    with alarm(lambda: seen.append(True)):
        assert compiled(np.ones(3), n) == float(n)
    assert seen


def test_a_loop_sees_what_a_handler_writes() -> None:
    x = np.zeros(4)
    compiled = compiled_for(for_ever, x)

    def stop() -> None:
        x[0] = -2.0

    with alarm(stop):
        assert compiled(x)[0] < 0


def test_what_was_stored_in_a_register_stays() -> None:
    x = np.zeros(1)
    compiled = compiled_for(for_ever, x)
    with alarm(raiser(KeyboardInterrupt)), pytest.raises(KeyboardInterrupt):
        compiled(x)
    assert x[0] > 0


def test_loops_of_few_iterations_do_not_look() -> None:
    def few(x):
        for _ in range(10):
            for j in range(4):
                x[j] += 1
        return x

    assert "fxc.look" not in fxc.compile(few).inspect(np.ones(4)).llvm
    assert "fxc.look" not in fxc.compile(lambda x: x + 1).inspect(np.ones(4)).llvm
    assert "fxc.look" in fxc.compile(one_loop).inspect(np.ones(4), 10).llvm


def test_an_exported_program_is_interrupted(tmp_path: Path) -> None:
    x = np.full(4, 5.0)
    fxc.export(writes_in_place, x, 7).save(tmp_path / "program")
    program = fxc.load(tmp_path / "program")
    program(x, 7)
    with alarm(raiser(Alarmed)), pytest.raises(Alarmed):
        program(x, LONG)


SCRIPT = """
import signal, numpy as np, fxc
from tests.runtime.test_interrupts import for_ever
x = np.zeros(2)
program = fxc.compile(for_ever, fullgraph=True)
program.inspect(x)
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored by what runs in background
print("ready", flush=True)
try:
    program(x)
except KeyboardInterrupt:
    print("interrupted", x[0] > 0, program.cache_info().eager_calls)
"""


def test_control_c_ends_a_loop_without_end() -> None:
    command = [sys.executable, "-c", SCRIPT]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.05)
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate(timeout=10)
        finally:
            child.kill()
    assert output == "interrupted True 0\n"


def test_a_look_leaves_vectors_as_they_are() -> None:
    """Upper halves of registers were cleared: what a loop had in them was 0 from then on."""

    def program(y):
        for k in range(1, len(y) - 1):
            y = -y
            y[k] = np.fmin.accumulate(y)[-1]
        return y

    y = np.arange(12.0) * 7 % 5 - 1.5
    compiled = fxc.compile(program, fullgraph=True)
    assert compiled(y.copy()).tolist() == program(y.copy()).tolist()
