"""The functions that are timed: plain NumPy, the same text for NumPy, fxc and numba.

For JAX the same text runs with `np` standing for `jax.numpy`, unless the function writes into its
arguments; then `functional` says what it would be without. NumExpr has its own `expression`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .loop_programs import PROGRAMS, LoopProgram
from .split_programs import MIDDLE, STRANGE, loop_apart, water, water_step, without

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    group: str
    name: str
    function: Callable[..., Any]
    inputs: Callable[[], tuple[Array, ...]]
    expression: str | None = None
    functional: Callable[..., Any] | None = None  # gives the new value of the first argument
    in_place: bool = False  # the first argument is written
    copied: bool = False  # each run, of any contender, is given copies of the inputs
    program: LoopProgram | None = None


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


def multiply_add(a: Array, b: Array) -> Array:
    return a * b + 1


def chain(x: Array, y: Array) -> Array:
    """Ten operators, two of them transcendental."""
    u = x * y + 0.5 * x
    bell = np.exp(-u * u)
    return (np.sin(bell) + y) * 2 - x


def chain_of_twenty(x: Array, y: Array) -> Array:
    """Twenty operators, two of them transcendental."""
    s = x * x + y * y
    d = np.sqrt(s + 1) - np.abs(x - y)
    e = np.exp(-d) * x / (s + 2)
    t = np.tanh(e + 0.5 * d)
    return np.where(t > e, t - x, e) * y


def another_chain_of_twenty(x: Array, y: Array) -> Array:
    """Twenty operators in another order, so that nothing compiled before can be used again."""
    p = (x + y) * (x - y) + 3
    q = np.sqrt(np.abs(p)) / (y * y + 1)
    r = np.sin(q * 2) + np.log(p * p + 1)
    m = np.minimum(r, q) - 0.75 * x
    return m * (1 + q)


def saxpy(y: Array, x: Array) -> None:
    y += 1e-3 * x


def saxpy_without_writes(y: Array, x: Array) -> Array:
    return y + 1e-3 * x


def total(x: Array) -> Any:
    return x.sum()


def standardize(x: Array) -> Array:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def column_means(x: Array) -> Array:
    return x.mean(axis=0)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def five_points(a: Array, b: Array) -> None:
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    a[...] = b


def five_points_functional(a: Any, b: Any) -> Any:
    inner = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return b.at[1:-1, 1:-1].set(inner)


def limited_diffusion(u: Any, k: Any) -> Any:
    """A second difference of what a limiter leaves of the first ones, by four stages."""
    second = 4.0 * u[1:-1, 1:-1] - (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    down = second[1:, 1:-1] - second[:-1, 1:-1]
    down = np.where(down * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0.0, down)
    along = second[1:-1, 1:] - second[1:-1, :-1]
    along = np.where(along * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0.0, along)
    change = down[1:] - down[:-1] + along[:, 1:] - along[:, :-1]
    return u[2:-2, 2:-2] - k[2:-2, 2:-2] * change


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


def five_points_in_one_functional(a: Any) -> Any:
    return five_points_functional(a, a)


MANY = (10_000_000,)
SQUARE = (2048, 2048)
CHAIN_EXPRESSION = "(sin(exp(-(x * y + 0.5 * x) * (x * y + 0.5 * x))) + y) * 2 - x"

CASES = (
    Case(
        "calls",
        "call overhead: a * b + 1, 8 elements",
        multiply_add,
        random_arrays((8,), (8,)),
        expression="a * b + 1",
    ),
    Case(
        "pointwise",
        "chain of 10, 1e7 float64",
        chain,
        random_arrays(MANY, MANY),
        expression=CHAIN_EXPRESSION,
    ),
    Case(
        "pointwise",
        "chain of 10, 1e7 float32",
        chain,
        random_arrays(MANY, MANY, dtype=np.float32),
    ),
    Case(
        "pointwise",
        "y += a * x, 1e7 float32",
        saxpy,
        random_arrays(MANY, MANY, dtype=np.float32),
        functional=lambda y, x: y + 1e-3 * x,
        in_place=True,
    ),
    Case("reductions", "sum, 1e7 float64", total, random_arrays(MANY), expression="sum(x)"),
    Case("reductions", "mean of columns, 2048 x 2048 float64", column_means, random_arrays(SQUARE)),
    Case(
        "reductions",
        "mean and var of rows, 2048 x 2048 float32",
        standardize,
        random_arrays(SQUARE, dtype=np.float32),
    ),
    Case(
        "reductions",
        "softmax of rows, 2048 x 2048 float32",
        softmax,
        random_arrays(SQUARE, dtype=np.float32),
    ),
    Case(
        "stencils",
        "5 points and back, 2048 x 2048 float64",
        five_points,
        random_arrays(SQUARE, SQUARE),
        functional=five_points_functional,
        in_place=True,
    ),
    Case(
        "stencils",
        "4 stages with limiters, 132 x 132 x 80",
        limited_diffusion,
        random_arrays((132, 132, 80), (132, 132, 80)),
    ),
    Case(
        "stencils",
        "5 points in one array, 2048 x 2048",
        five_points_in_one,
        random_arrays(SQUARE),
        functional=five_points_in_one_functional,
        in_place=True,
    ),
)

LOOPS = tuple(
    Case(
        "loops",
        f"{program.function.__name__}, {program.large:,}",
        program.function,
        partial(program.arguments, np.random.default_rng(0), program.large),
        copied=True,
        program=program,
    )
    for program in PROGRAMS
)

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
