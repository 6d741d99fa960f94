"""The example backend: unchanged, mutating functions in onnxruntime."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.cli import demo
from tests.outcomes import difference, run
from tests.random_loops import random_loops
from tests.random_programs import random_program
from tests.written_programs import shrink

# Ulps of what sums in another order differ by, where they nearly cancel.
SUMS = 2.0**16
COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 2 or 50
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on

backend = demo.load_example("onnxruntime_backend")


def some_ulps(where: str) -> float:
    return 4.0


def swapped(a: Any, b: Any, n: int) -> Any:
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    return a, b[::2], n


def scattered(x: Any, i: Any) -> Any:
    x[0] = 1
    x[i] += 1.5
    return x


@pytest.mark.parametrize("n", [7, 8])
def test_a_mutating_function_runs_in_onnxruntime(n: int) -> None:
    compiled = fxc.compile(
        swapped, fullgraph=True, dynamic=True, backend=backend.onnxruntime_backend
    )
    for size in (5, 8):
        make = np.random.default_rng(size).random
        args = make(size), make(size)
        copies = tuple(x.copy() for x in args)
        assert not difference(run(swapped, (*args, n)), run(compiled, (*copies, n)))
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


@contextmanager
def telling() -> Iterator[list[str]]:
    """What the backend warns of inside the block: that onnxruntime has stopped."""
    told: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("fxc")
    logger.addHandler(handler)
    try:
        yield told
    finally:
        logger.removeHandler(handler)


def failure(function: Any, calls: Any, dynamic: bool) -> str:
    """How a program in onnxruntime differs from NumPy; what ONNX lacks is evaluated."""
    compiled = fxc.compile(function, dynamic=dynamic, backend=backend.onnxruntime_backend)
    for place, call in enumerate(calls):
        expected = run(function, call())
        if type(expected.error) is NameError:
            break
        with telling() as told:
            text = difference(expected, run(compiled, call()), lambda where: SUMS)
        if told and expected.error is None:
            return f"call {place}: {told[0]}"
        if text:
            return f"call {place}: {text}"
    return ""


@pytest.mark.parametrize("chunk", range(4))
@pytest.mark.filterwarnings("ignore")
def test_random_programs(chunk: int) -> None:
    for seed in range(FIRST + chunk, FIRST + COUNT, 4):
        program = random_program(seed)
        if "argsort" in program.source:
            continue  # of what is equal NumPy's order is its own

        def fails(each: Any, dynamic: bool = seed % 2 == 1) -> str:
            function, inputs = each.load()
            return failure(function, [inputs], dynamic)

        if fails(program):
            small = shrink(program, lambda each: bool(fails(each)))
            pytest.fail(f"{fails(small)}\n\n{small}", pytrace=False)


@pytest.mark.filterwarnings("ignore")
def test_random_loops() -> None:
    for seed in range(FIRST, FIRST + COUNT // 8):
        if "argsort" in random_loops(seed).source:
            continue  # of what is equal NumPy's order is its own
        text = failure(*random_loops(seed).load(), dynamic=seed % 2 == 1)
        assert not text, f"seed {seed}: {text}"


def test_its_own_example() -> None:
    compiled = fxc.compile(backend.decay, fullgraph=True, backend=backend.onnxruntime_backend)
    x = np.random.default_rng(0).standard_normal(30)
    assert not difference(run(backend.decay, (x.copy(), 0.25, 4)), run(compiled, (x, 0.25, 4)))
    assert compiled.cache_info().eager_calls == 0


def test_python_takes_the_call_where_the_flag_is_false() -> None:
    compiled = fxc.compile(scattered, backend=backend.onnxruntime_backend)
    for i in (2, 9, -3):
        args = np.zeros(4), i
        assert not difference(run(scattered, (np.zeros(4), i)), run(compiled, args))
    assert compiled.cache_info().eager_calls == 1


def test_sizes_that_only_views_have() -> None:
    """They are counted inside of the graph, and no result has them."""

    def function(x: Any, v: Any) -> Any:
        cut = x[: int(v[-1])]
        v *= 3
        return cut, len(cut)

    for each in (backend.onnxruntime_backend, demo.load_example("numpy_backend").numpy_backend):
        compiled = fxc.compile(function, fullgraph=True, dynamic=True, backend=each)
        for last in (2, 3, 0):
            x, v = np.arange(6.0), np.array([5, 4, last])
            expected = run(function, (x.copy(), v.copy()))
            assert not difference(expected, run(compiled, (x, v)))
        assert compiled.cache_info().eager_calls == 0


def test_what_onnx_lacks_is_evaluated() -> None:
    def function(x: Any) -> Any:
        x *= 2
        return np.fft.fft(x).real

    compiled = fxc.compile(function, fullgraph=True, backend=backend.onnxruntime_backend)
    x = np.arange(5.0)
    assert not difference(run(function, (x.copy(),)), run(compiled, (x,)), some_ulps)
    assert compiled.cache_info().eager_calls == 0
