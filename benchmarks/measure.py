"""Timing contenders against each other, and a table of what came out."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

K = TypeVar("K")
Clock = Callable[[], float]
CONTENDERS = ("numpy", "fxc", "numba", "numexpr", "jax")
FEWEST, LONG = 3, 1.0  # samples of one contender, and their seconds
SAMPLE_SECONDS = 2e-3  # a sample repeats shorter calls until it is about this long
UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


@dataclass(frozen=True)
class Row:
    """One measured quantity, less is better; a contender that has no such thing is left out."""

    group: str
    name: str
    unit: str  # "s", "MB" or "" for a ratio
    values: Mapping[str, float]


def first_call(run: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


def side_by_side(
    runs: Mapping[K, Callable[[], object]], repeats: int, clock: Clock = time.perf_counter
) -> dict[K, float]:
    """Median seconds a call of each."""
    samples = samples_of(runs, repeats, clock)
    return {name: statistics.median(times) for name, times in samples.items()}


def samples_of(
    runs: Mapping[K, Callable[[], object]],
    repeats: int,
    clock: Clock,
    before: Mapping[K, Callable[[], object]] = MappingProxyType({}),
) -> dict[K, list[float]]:
    """Seconds a call of each; samples are taken in turns, in another order each round.

    Who follows whom matters: what a predecessor has taken from the caches, or given back to the
    system, the next one pays for. What is to be done ``before`` each call of one is not counted.
    Who takes long is asked less often.
    """
    counts = {name: calls_in_a_sample(run, clock, before.get(name)) for name, run in runs.items()}
    samples: dict[K, list[float]] = {name: [] for name in runs}
    names, order = list(runs), random.Random(0)
    for _ in range(repeats):
        order.shuffle(names)
        for name in names:
            if len(samples[name]) < FEWEST or sum(samples[name]) * counts[name] < LONG:
                found = seconds_a_call(runs[name], counts[name], clock, before.get(name))
                samples[name].append(found)
    return samples


def calls_in_a_sample(
    run: Callable[[], object], clock: Clock, before: Callable[[], object] | None = None
) -> int:
    count = 1
    while True:
        elapsed = seconds_a_call(run, count, clock, before) * count
        if elapsed >= SAMPLE_SECONDS:
            return count
        count *= 4 if elapsed < SAMPLE_SECONDS / 4 else 2


def seconds_a_call(
    run: Callable[[], object],
    count: int,
    clock: Clock,
    before: Callable[[], object] | None = None,
) -> float:
    if before is None:
        start = clock()
        for _ in range(count):
            run()
        return (clock() - start) / count
    spent = 0.0
    for _ in range(count):
        before()
        start = clock()
        run()
        spent += clock() - start
    return spent / count


def heading() -> str:
    columns = "".join(f"{name:>17}" for name in CONTENDERS[1:])
    return f"{'':<42}{CONTENDERS[0]:>10}{columns}\n{'-' * 120}"


def table_line(row: Row) -> str:
    """The quantity for each contender, and how many times less it is than NumPy's."""
    reference = row.values.get("numpy")
    cells = []
    for name in CONTENDERS:
        value = row.values.get(name)
        text = "-" if value is None else quantity(value, row.unit)
        if name == "numpy":
            cells.append(f"{text:>10}")
        elif value is None or reference is None or row.unit == "":
            cells.append(f"{text:>10}{'':>7}")
        else:
            cells.append(f"{text:>10}{reference / value:>6.2f}x")
    return f"{row.name:<42}{''.join(cells)}"


def quantity(value: float, unit: str) -> str:
    if unit == "":
        return f"{value:.3f}"
    if unit != "s":
        return f"{value:.0f} {unit}"
    name, scale = next((pair for pair in UNITS if value >= pair[1]), UNITS[-1])
    return f"{value / scale:.3g} {name}"
