"""argmin, argmax and extremes in native code: the first extreme, the first nan, whatever the size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import pairs
from tests.outcomes import difference, run

# The sign of a zero that is an extreme may be another one, see docs/numerics.md: 0 is added.
RNG = np.random.default_rng(7)
SHAPES = ((1, 1), (3, 5), (7, 64), (2, 65), (5, 1000), (3, 2049), (2, 5000), (100, 33), (1, 7))
KINDS = ("f8", "f4", "i8", "i4", "u1", "i2", "?")


def _of_all(x: Any) -> Any:
    return x.argmax(), x.argmin(), x.max() + 0, x.min() + 0


def _of_rows(x: Any) -> Any:
    return x.argmax(1), x.argmin(-1), x.max(1) + 0, x.min(1) + 0, (x > 0).any(1), (x > 0).all(1)


def _of_columns(x: Any) -> Any:
    return x.argmax(0), x.argmin(0), x.max(0) + 0


def _of_views(x: Any) -> Any:
    twice = (x * 2 - 1).argmax() if x.dtype != bool else 0
    return twice, np.argmax(x[:, ::2], 1), np.argmin(x.T), np.argmax(x[::-1], 1), x.ravel().argmin()


def _values(kind: str, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    random = (RNG.standard_normal(shape) * 10).astype(kind)
    made = {
        "random": random,
        "alike": np.full(shape, random.flat[0]),
        "last": np.where(np.arange(random.size).reshape(shape) == random.size - 1, 9, 0),
        "zeros": np.where(random > 0, 0.0, -0.0),
    }
    if kind[0] == "f":
        for number in (1, 2):
            made[f"{number} nan"] = random.copy()
            made[f"{number} nan"].flat[RNG.integers(random.size, size=number)] = np.nan
        made["infinite"] = np.where(random > 0, -np.inf, np.nan)
        made["low"] = np.full(shape, -np.inf)
    return {name: x.astype(kind) for name, x in made.items()}


@pytest.mark.parametrize(
    "program, kind, shape", pairs([_of_all, _of_rows, _of_columns, _of_views], KINDS, SHAPES)
)
def test_extremes(program: Callable[..., Any], kind: str, shape: tuple[int, int]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for name, x in _values(kind, shape).items():
        assert difference(run(program, (x,)), run(compiled, (x,))) == "", name


@pytest.mark.parametrize("program", [_of_all, _of_rows, _of_columns])
def test_extremes_of_any_size(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, dynamic=True)
    for shape in (*SHAPES, (4, 0), (0, 4)):
        for name, x in (
            _values("f8", shape).items() if 0 not in shape else [("none", np.ones(shape))]
        ):
            assert difference(run(program, (x,)), run(compiled, (x,))) == "", (shape, name)


def test_the_position_is_looked_for_behind_the_extreme() -> None:
    """No lane carries a position: there is one loop for the extreme, and one that looks for it."""

    def program(x: Any) -> Any:
        return x.argmax()

    text = fxc.compile(program, fullgraph=True).inspect(RNG.random(100_000)).llvm
    assert "llvm.cttz" in text
    assert "phi <32 x i64>" not in text
