"""``np.maximum.accumulate`` and ``np.minimum.accumulate``: loops in order, with NumPy's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

SHAPES = [
    ((41,), 0),
    ((150,), 0),
    ((0,), 0),
    ((1,), 0),
    ((7, 9), 0),
    ((7, 9), -1),
    ((3, 4, 5), 1),
    ((3, 0), 0),
]


def made(shape: tuple[int, ...], dtype: str) -> Any:
    r = np.random.default_rng(3)
    if dtype == "?":
        return r.random(shape) < 0.5
    x = r.integers(-3 if dtype[0] != "u" else 0, 4, shape).astype(dtype)
    if dtype[0] == "f":
        x[r.random(shape) < 0.1] = -0.0
        x[r.random(shape) < 0.05] = np.nan
    return x


@pytest.mark.bits
@pytest.mark.parametrize("number, dtype", [*enumerate(("?", "i1", "u2", "i8", "u8", "f4", "f8"))])
def test_they_are_numpys(number: int, dtype: str) -> None:
    for place, (shape, axis) in enumerate(SHAPES):
        ufunc = (np.maximum, np.minimum)[(number + place) % 2]

        def program(x: Any, ufunc: Any = ufunc, axis: int = axis) -> Any:
            return ufunc.accumulate(x, axis=axis), ufunc.accumulate(x[::-1], axis=axis)

        compiled = fxc.compile(program, fullgraph=True)
        x = made(shape, dtype)
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
        assert not compiled.cache_info().fallbacks


def drawdown(x: Any) -> Any:
    top = np.maximum.accumulate(x)
    return ((top - x) / top).max(), top


def in_place(x: Any) -> Any:
    np.minimum.accumulate(x, out=x)
    return x[::2] + 1


def backwards_in_place(x: Any) -> None:
    np.maximum.accumulate(x[::-1], out=x)


def of_some(x: Any) -> Any:
    return np.maximum.accumulate(x[x > 0.25])


def places(x: Any) -> Any:
    return np.cumsum((x * 100).astype(np.int32)), np.cumsum(x > 0.5)


@pytest.mark.parametrize("program", [drawdown, in_place, backwards_in_place, of_some, places])
def test_they_are_parts_of_programs(program: Any) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (50, 7, 99):
        x = np.random.default_rng(n).random(n)
        assert difference(run(program, (x.copy(),)), run(compiled, (x.copy(),))) == ""
    assert not compiled.cache_info().fallbacks


@pytest.mark.parametrize("dtype, lanes", [("i8", 8), ("f4", 16)])
def test_lanes_make_running_totals_together(dtype: str, lanes: int) -> None:
    text = str(fxc.compile(np.maximum.accumulate).inspect(made((500,), dtype)).loops)
    assert f"ordered lanes {lanes}" in text


def test_others_are_left_to_numpy() -> None:
    compiled = fxc.compile(lambda x: np.bitwise_or.accumulate(x), fullgraph=True)
    x = np.arange(9)
    assert np.array_equal(compiled(x), np.bitwise_or.accumulate(x))
    assert compiled.cache_info().fallbacks == {"ufunc_accumulate": 1}
