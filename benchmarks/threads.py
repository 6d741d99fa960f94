"""What two threads bring over one, and that they cost nothing where they bring nothing: on short
arrays, on short and long ones in turns, and beside another process that takes a processor.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import fxc
from fxc.lowering.machine.target import Target
from fxc.pipeline import assemble

from .measure import Row, calls_in_a_sample, samples_of, seconds_a_call

GROUP = "threads"
_SETTLED = 3000  # calls after which a function is what it stays
_SIZES = (1000, 10_000, 100_000, 1_000_000, 10_000_000)


def multiply_add(a: Any, b: Any) -> Any:
    """Bound by memory."""
    return a * b + 1


def add_half(a: Any, b: Any) -> None:
    """Bound by memory that is there already."""
    a += 0.5 * b


def bells(a: Any, b: Any) -> Any:
    """Bound by the processor."""
    return np.exp(-a * a) * np.sin(b) + np.cos(a)


def total(a: Any) -> Any:
    return a.sum()


def log_sum_exp(a: Any) -> Any:
    peak = a.max()
    return np.log(np.exp(a - peak).sum()) + peak


def softmax(a: Any) -> Any:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def jacobi(a: Any, b: Any) -> None:
    for _ in range(10):
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def rows(repeats: int, is_chosen: Callable[[str], bool]) -> Iterator[Row]:
    """The time on two threads over that on one: the least of many samples each, taken in turns.

    Beside another process, which gets its share in any long time, the median of many.
    """
    before = fxc.get_num_threads()
    with _all_processors():
        fxc.set_num_threads(2)
        for function, shapes in _cases():
            for shape in shapes:
                name = f"{function.__name__}, {' x '.join(f'{n:,}' for n in shape)}"
                if is_chosen(name):
                    yield _row(name, _pair(function, _arrays(function, shape)), repeats)
        name = "bells, 1,000 and 10,000,000 in turns"
        if is_chosen(name):
            yield _row(name, _pair(bells, *(_arrays(bells, (n,)) for n in (1000, 10**7))), repeats)
        for size in _SIZES[2:]:
            name = f"beside a busy process, bells, {size:,}"
            if is_chosen(name):
                pair = _pair(bells, _arrays(bells, (size,)))
                with _busy_processor():
                    yield _row(name, pair, repeats, medians=True)
    fxc.set_num_threads(before)


def _cases() -> Iterator[tuple[Callable[..., Any], list[tuple[int, ...]]]]:
    for function in (multiply_add, add_half, bells, total, log_sum_exp):
        yield function, [(size,) for size in _SIZES]
    yield softmax, [(n, n) for n in (32, 100, 300, 1000, 3000)]
    yield jacobi, [(n, n) for n in (30, 100, 300, 1000)]


def _arrays(function: Callable[..., Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    return tuple(random.random(shape) for _ in range(function.__code__.co_argcount))


Pair = dict[int, Callable[[], object]]


def _pair(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Pair:
    """The function as compiled for one thread, and for two, on the same arrays: how fast memory is
    depends on where it lies.
    """
    found: Pair = {}
    for threads in (1, 2):
        with mock.patch.object(assemble, "target", return_value=Target(threads)):
            compiled = fxc.compile(function, fullgraph=True)
            for inputs in calls:
                compiled(*inputs)
        if sum(inputs[0].size for inputs in calls) < 10**5:
            for _ in range(_SETTLED):
                compiled(*calls[0])

        def run(compiled: Callable[..., Any] = compiled) -> None:
            for inputs in calls:
                compiled(*inputs)

        found[threads] = run
    return found


def _row(name: str, pair: Pair, repeats: int, *, medians: bool = False) -> Row:
    if medians:  # so many that the other process gets its share
        count = max(calls_in_a_sample(run, time.perf_counter) for run in pair.values())
        samples: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(10 * repeats):
            for threads, run in pair.items():
                samples[threads].append(seconds_a_call(run, count, time.perf_counter))
        times = {threads: statistics.median(found) for threads, found in samples.items()}
    else:
        samples = samples_of(pair, 3 * repeats, time.perf_counter)
        times = {threads: min(found) for threads, found in samples.items()}
    return Row(GROUP, name, "", {"fxc": times[2] / times[1]})


@contextmanager
def _all_processors() -> Iterator[None]:
    """The other contenders have one processor; threads that are made meanwhile may have all."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    yield
    os.sched_setaffinity(0, before)


@contextmanager
def _busy_processor() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        time.sleep(0.5)
        yield
        other.kill()
