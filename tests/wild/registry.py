"""The programs, and the arguments that each is called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# From a source of random numbers and a size, new arguments.
Make = Callable[[np.random.Generator, int], tuple[Any, ...]]


@dataclass(frozen=True)
class WildProgram:
    """A function, what makes its arguments, and two sizes: for tests, and for measurements.

    ``rtol`` bounds the difference from NumPy where elementary functions are called, relative to
    the largest element of an array; without it every bit has to agree.
    """

    function: Callable[..., Any]
    make: Make
    small: int
    large: int
    rtol: float

    @property
    def name(self) -> str:
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"

    def arguments(self, seed: int, size: int) -> tuple[Any, ...]:
        return self.make(np.random.default_rng(seed), size)


PROGRAMS: list[WildProgram] = []


def program(
    make: Make, small: int, large: int, *, rtol: float = 0.0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A program and its arguments."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(WildProgram(fn, make, small, large, rtol))
        return fn

    return register
