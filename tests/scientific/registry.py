"""The programs, and the arguments that each is called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Make = Callable[[np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class ScientificProgram:
    """A function, and makers of arguments of other sizes and values.

    ``ulps`` bounds the difference from NumPy where elementary functions are called.
    """

    function: Callable[..., Any]
    makes: tuple[Make, ...]
    ulps: float


PROGRAMS: list[ScientificProgram] = []


def program(*makes: Make, ulps: float = 0.0) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A program and its arguments."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(ScientificProgram(fn, makes, ulps))
        return fn

    return register
