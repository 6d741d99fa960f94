"""What a call of NumPy, or of a custom operator, takes inside a graph beyond the plain call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import fxc

from .measure import Row, samples_of

GROUP = "boxed"
_USUAL = 3000  # calls after which a function is what it stays
_MORE = 5  # calls in the longer one of two functions


@fxc.custom_op("benchmarks::half(Array x) -> Array")
def half(x: Any) -> Any:
    return x * 0.5


half.register_meta(lambda x: x.new())


@fxc.custom_op("benchmarks::negate_(Array(a!) x) -> ()")
def negate_(x: Any) -> None:
    np.negative(x, out=x)


def sort(x: Any) -> Any:
    return np.sort(x, 0)


def sorts(x: Any) -> Any:
    return np.sort(np.sort(np.sort(np.sort(np.sort(np.sort(x, 0), 0), 0), 0), 0), 0)


def partition(x: Any) -> Any:
    return np.partition(x, 1)


def partitions(x: Any) -> Any:
    first = np.partition(np.partition(np.partition(x, 1), 1), 1)
    return np.partition(np.partition(np.partition(first, 1), 1), 1)


def halved(x: Any) -> Any:
    return half(x)


def often_halved(x: Any) -> Any:
    return half(half(half(half(half(half(x))))))


def negated(x: Any) -> None:
    negate_(x)


def often_negated(x: Any) -> None:
    negate_(x)
    negate_(x)
    negate_(x)
    negate_(x)
    negate_(x)
    negate_(x)


PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "np.sort(x, 0)": (sort, sorts),
    "np.partition(x, 1)": (partition, partitions),
    "a custom operator": (halved, often_halved),
    "a custom operator that writes": (negated, often_negated),
}


def rows(repeats: int) -> Iterator[Row]:
    """The time of one more call in the graph, less that of one more plain call."""
    x = np.arange(16.0).reshape(4, 4)
    for name, pair in PAIRS.items():
        runs = {("numpy", place): partial(function, x) for place, function in enumerate(pair)}
        for place, function in enumerate(pair):
            runs["fxc", place] = partial(fxc.compile(function, fullgraph=True), x)
        for run in runs.values():
            for _ in range(_USUAL):
                run()
        samples = samples_of(runs, 3 * repeats, time.thread_time)
        least = {each: min(times) for each, times in samples.items()}
        each_call = {
            who: (least[who, 1] - least[who, 0]) / _MORE
            for who in dict.fromkeys(w for w, _ in runs)
        }
        over = each_call["fxc"] - each_call["numpy"]
        yield Row(GROUP, f"{name}: in a graph, more", "s", {"fxc": over})
