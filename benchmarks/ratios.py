"""Pairs of functions of which one is compared with the other: what writes and splits cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .split_programs import MIDDLE, STRANGE, loop_apart, water, water_step, without

Array = NDArray[Any]


@dataclass(frozen=True)
class Ratio:
    """The time of one function over that of another, each on inputs of its own.

    ``splits`` says that the first cannot be captured as a whole.
    """

    group: str
    name: str
    function: Callable[..., Any]
    other: Callable[..., Any]
    inputs: Callable[[], tuple[Array, ...]]
    splits: bool = False


def random_arrays(
    *shapes: tuple[int, ...], dtype: Any = np.float64
) -> Callable[[], tuple[Array, ...]]:
    def make() -> tuple[Array, ...]:
        random = np.random.default_rng(0)
        return tuple(random.random(shape).astype(dtype) for shape in shapes)

    return make


def saxpy(y: Array, x: Array) -> None:
    y += 1e-3 * x


def saxpy_without_writes(y: Array, x: Array) -> Array:
    return y + 1e-3 * x


def five_points_in_one(a: Array) -> None:
    a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def five_points_without_writes(a: Array) -> Array:
    return 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def three_points_in_one(a: Array) -> None:
    a[1:-1] = 0.5 * (a[:-2] + a[2:])


def three_points_without_writes(a: Array) -> Array:
    return 0.5 * (a[:-2] + a[2:])


def one_hundredth(x: Array) -> None:
    x[500_000:625_000] += 1.5


def everything(x: Array) -> None:
    x += 1.5


SQUARE = (2048, 2048)

RATIOS = (
    *(
        Ratio(
            "writes",
            f"y += a * x over y + a * x, {size:,} float64",
            saxpy,
            saxpy_without_writes,
            random_arrays((size,), (size,)),
        )
        for size in (1000, 3000, 10_000, 10_000_000)
    ),
    *(
        Ratio(
            "writes",
            f"3 points in place over a new array, {size:,}",
            three_points_in_one,
            three_points_without_writes,
            random_arrays((size,)),
        )
        for size in (1000, 10_000, 10_000_000)
    ),
    *(
        Ratio(
            "writes",
            f"5 points in place over a new array, {rows} x {columns}",
            five_points_in_one,
            five_points_without_writes,
            random_arrays((rows, columns)),
        )
        for rows, columns in ((60, 50), (128, 128), (500, 600), SQUARE)
    ),
    Ratio(
        "writes",
        "a write to 1 % of 100 MB over one to all",
        one_hundredth,
        everything,
        random_arrays((12_500_000,)),
    ),
    *(
        Ratio(
            "splits",
            f"a step with four strange calls{where} over one without, {size} x {size}",
            without(water_step, left_out),
            without(water_step, STRANGE, MIDDLE),
            partial(water, size),
            splits=True,
        )
        for size in (100, 300)
        for where, left_out in (("", MIDDLE), (", one amid all arrays,", "nothing"))
    ),
    *(
        Ratio(
            "splits",
            f"1,000 iterations with a strange call over as many without, {size:,}",
            loop_apart,
            without(loop_apart, STRANGE),
            random_arrays((size,), (size,)),
            splits=True,
        )
        for size in (1000, 10_000, 100_000)
    ),
)
