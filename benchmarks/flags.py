"""What it costs to look at floating-point flags, and to warn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

import fxc
from fxc.lowering.emission import llvm_text, sticky

from .measure import Row, side_by_side

GROUP = "flags"


def multiply_add(a: Any, b: Any) -> Any:
    return a * b + 1


def divide(a: Any, b: Any) -> Any:
    return a / b


def chosen(a: Any, b: Any) -> Any:
    return np.where(b > 0.5, a / b, 0.0)


def exponential(a: Any, b: Any) -> Any:
    return np.exp(a) - b


def add_to(a: Any, b: Any) -> None:
    a += b


def elements(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(a)):
        total += a[i] / b[i]
    return total


FUNCTIONS = (multiply_add, divide, chosen, exponential, add_to, elements)
SIZES = (8, 1000, 1_000_000)
_USUAL = 3000  # calls after which a function is what it stays


def rows(repeats: int) -> Iterator[Row]:
    """Code that looks at flags over code that does not; and a function that always warns over
    NumPy's own.
    """
    for function in FUNCTIONS:
        for size in SIZES:
            random = np.random.default_rng(0)
            inputs = random.random(size), random.random(size) + 0.25
            runs = {looks: _compiled(function, inputs, looks) for looks in (True, False)}
            times = side_by_side(runs, 3 * repeats, time.thread_time)
            name = f"{function.__name__}, {size:,}, over not looking"
            yield Row(GROUP, name, "", {"fxc": times[True] / times[False]})
    for size in SIZES[:2]:
        inputs = np.ones(size), np.zeros(size)
        compiled = fxc.compile(divide)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            pair = {"fxc": lambda: compiled(*inputs), "numpy": lambda: divide(*inputs)}  # noqa: B023
            for _ in range(_USUAL):
                pair["fxc"]()
            times_of = side_by_side(pair, repeats, time.thread_time)
        name = f"divide by zero, {size:,}, over numpy"
        yield Row(GROUP, name, "", {"fxc": times_of["fxc"] / times_of["numpy"]})


def _compiled(
    function: Callable[..., Any], inputs: tuple[Any, ...], looks: bool
) -> Callable[[], object]:
    compiled = fxc.compile(function, fullgraph=True)
    with (
        mock.patch.object(sticky, "HAS_FLAGS", looks),
        mock.patch.object(llvm_text, "HAS_FLAGS", looks),
    ):
        compiled(*inputs)
    for _ in range(_USUAL if inputs[0].size < 10**5 else 20):
        compiled(*inputs)
    return lambda: compiled(*inputs)
