"""Arguments for scenarios, in every layout of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .model import Scenario


def numbers(shape: tuple[int, ...], dtype: str = "float64", shift: int = 0) -> np.ndarray:
    """Small numbers; neighbours differ, and so do arrays of another shift."""
    values: np.ndarray = (np.arange(np.prod(shape, dtype=int)) * 7 + shift * 5) % 23 - 8
    kind = np.dtype(dtype).kind
    if kind == "b":
        values = values % 3 == 0
    elif kind == "u":
        values = np.abs(values)
    elif kind == "f":
        values = values / 4 + 0.125
    elif kind == "c":
        values = values / 4 + 0.125 + 1j * values[::-1] / 2
    return values.astype(dtype).reshape(shape)


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers in memory of their own, in this layout."""
    match layout:
        case "F":
            return np.array(values, order="F")
        case "strided":
            around = numbers(tuple(2 * size + 1 for size in values.shape), str(values.dtype), 9)
            view = around[(slice(1, None, 2),) * values.ndim]
            view[...] = values
            return view
        case "negative":
            back = (slice(None, None, -1),) * values.ndim
            return np.array(values[back], order="C")[back]
        case _:
            return np.array(values, order="C")


def arguments(scenario: Scenario, layout: str) -> tuple[Any, ...]:
    """New arguments for ``program(scenario, layout)``."""
    shape = scenario.shape
    if layout == "zero-size":
        shape = (0, *shape[1:]) if scenario.empty is None else scenario.empty
    elif layout == "rank-0":
        shape = ()
    if layout == "overlapping":
        rows = numbers((shape[0] + 1, *shape[1:]), scenario.dtype)
        if scenario.takes_two_arrays:
            return rows[1:], rows[:-1]
        return rows[:-1], *arguments_from(scenario, rows[1:])
    x = laid_out(numbers(shape, scenario.dtype), layout)
    if scenario.takes_two_arrays:
        return x, laid_out(numbers(shape, scenario.dtype, 3), layout)
    return arguments_from(scenario, x)


def arguments_from(scenario: Scenario, x: np.ndarray) -> tuple[Any, ...]:
    return (x,) if scenario.arguments is None else scenario.arguments(x)


def program(scenario: Scenario, layout: str) -> Callable[..., Any]:
    """What is called with ``arguments(scenario, layout)``."""
    if layout == "overlapping" and not scenario.takes_two_arrays:
        return beside(scenario.program)
    return scenario.program


def beside(fn: Callable[..., Any]) -> Callable[..., Any]:
    """``fn``, called by a function that uses another array before and after."""

    def around(other, *arguments):
        before = other * 2
        result = fn(*arguments)
        other[1:] = ~other[1:] if other.dtype == bool else other[1:] - 3
        return before, result

    return around
