"""What a suite is made of: one record for each program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Arguments = tuple[Any, ...]
Peer = Callable[..., Any] | str | None


@dataclass(frozen=True)
class Goal:
    """How fast fxc is to be: so many ``times`` as fast as NumPy, or in so many ``seconds``.

    On one thread, or on ``all`` that there are.
    """

    times: float | None = None
    seconds: float | None = None
    all: bool = False


@dataclass(frozen=True)
class Program:
    """A function in plain NumPy, and what it is called with.

    ``writes`` are the positions of the arguments that it writes; ``fresh`` says that it is given
    copies of its arguments for each call, as it would not do the same, or not for long, on what it
    has written. The work is counted by hand: how many ``elements`` (what the time is divided by),
    how many operations on numbers (``flops``, a function like exp being one) and how many ``bytes``
    have to be moved at least, those of arguments and results.

    ``all_threads`` is False where more than one thread has nothing to do.

    Peers take the same text, JAX with ``np`` standing for ``jax.numpy`` and only if nothing is
    written. ``peers`` says by name what one takes instead: another function, an expression of
    numexpr, or None for nothing. What JAX is given for a function that writes gives the result,
    unless that is None, and then the new values of what would be written.
    """

    name: str
    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator], Arguments]
    elements: int
    flops: float = 0
    bytes: float = 0
    writes: tuple[int, ...] = ()
    fresh: bool = False
    all_threads: bool = True
    goal: Goal | None = None
    peers: Mapping[str, Peer] = field(default_factory=dict)


NO_JAX: Mapping[str, Peer] = {"jax": None}  # its loops would be unrolled, or its sizes are data


def randoms(*shapes: tuple[int, ...], dtype: Any = np.float64) -> Callable[..., Arguments]:
    """A maker of arrays of random numbers in [0, 1)."""
    return lambda r: tuple(r.random(shape).astype(dtype) for shape in shapes)


def normals(*shapes: tuple[int, ...], dtype: Any = np.float64) -> Callable[..., Arguments]:
    """A maker of arrays of normally distributed random numbers."""
    return lambda r: tuple(r.standard_normal(shape).astype(dtype) for shape in shapes)


def positive_definite(r: np.random.Generator, n: int) -> Array:
    a = r.random((n, n))
    return a @ a.T + n * np.eye(n)
