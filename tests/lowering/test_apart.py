"""Elements a few apart are loaded and stored by whole registers, and are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.symbols import symbol
from fxc.lowering.nests.accesses import elements_apart
from fxc.lowering.nests.apart import loaded_together, stored_together
from fxc.lowering.nests.buffers import F64, I64, Const
from fxc.lowering.nests.statements import Compute, Load, Stmt, Store
from tests.outcomes import difference, run
from tests.scheduled import buffer, program

I0 = symbol("i0", hint=0, lower=0)
RNG = np.random.default_rng(3)
SIZES = [0, 1, 7, 16, 17, 33, 150]


def load(place: int, step: int = 2) -> Load:
    return Load(f"t{place}", F64, "x", (I0 * step + place + 1,))


def store(place: int, step: int = 2, to: str = "y") -> Store:
    return Store(to, (I0 * step + place,), Const(0.0, F64), F64)


BUFFERS = [buffer("x", "input", 100), buffer("y", "output", 100)]


def together(*block: Stmt) -> list[int]:
    found = stored_together(program(BUFFERS, *block), block, 0, "i0")
    return [block.index(each) for each in found]


def test_how_far_apart_lanes_are() -> None:
    each = {step: elements_apart(program(BUFFERS), load(0, step), "i0") for step in (-3, 0, 1, 2)}
    assert each == {-3: -3, 0: 0, 1: 0, 2: 2}
    assert elements_apart(program(BUFFERS), load(0), "i1") == 0


@pytest.mark.parametrize(
    "places, found",
    [
        ((0,), (0, 0)),
        ((0, 1), (0, 1)),
        ((0, -1, 1), (-1, 0)),
        ((0, 2), (0, 0)),
        ((0, 1, 5), (0, 1)),
    ],
)
def test_loads_of_elements_between_lanes(places: tuple[int, ...], found: tuple[int, int]) -> None:
    block = tuple(map(load, places))
    assert loaded_together(program(BUFFERS, *block), block, block[0], "i0") == found


def test_stores_that_fill_what_lies_between_lanes() -> None:
    added = Compute("t9", F64, "add", (Const(1.0, F64), Const(2.0, F64)), (F64, F64))
    assert together(store(0), added, store(1)) == [0, 2]
    assert together(store(1), store(0)) == [1, 0]
    assert together(store(2, 3), store(0, 3), store(1, 3)) == [1, 2, 0]
    assert together(store(0), load(3), store(1)) == [0, 2]


def test_stores_that_are_made_one_by_one() -> None:
    assert together(store(0)) == []
    assert together(store(0, 1)) == []
    assert together(store(0), store(2)) == []
    assert together(store(0, 3), store(1, 3)) == []
    assert together(store(0), store(0), store(1)) == []
    assert together(store(0), Load("t1", F64, "y", (I0 * 2,)), store(1)) == []
    assert together(store(0), Store("y", (I0 * 2 + 1,), Const(0, I64), I64)) == []


def _every(k: int) -> Callable[[Any], Any]:
    return lambda x: x[::k] * x.dtype.type(3)


def _interleaved(x: Any) -> Any:
    out = np.empty((len(x), 3), x.dtype)
    out[:, 2], out[:, 0], out[:, 1] = x, x * 2, x + 1
    return out


def _backwards(x: Any) -> Any:
    out = np.zeros(2 * len(x) + 1, x.dtype)
    out[::-2][: len(x)] = x
    out[-2::-2] = x * 2
    return out


def _lifted(x: Any) -> Any:
    """Even and odd elements that update each other, in place."""
    n = len(x) // 2 * 2
    x[1:n:2] -= x[:n:2]
    x[:n:2] += x[1:n:2]
    return x[::-3] + x[::3]


def _windows(x: Any) -> Any:
    n = len(x) // 2 * 2 - 2
    if n < 4:
        return x
    return x[: n - 2 : 2] + x[1 : n - 1 : 2] * 2 + x[2:n:2] + x[3 : n + 1 : 2]


PROGRAMS = [*map(_every, (2, 3, 4, 7, -2, -3, -5)), _interleaved, _backwards, _lifted, _windows]


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "f4", "f8", "c16"])
@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_elements_are_numpys(place: int, dtype: str) -> None:
    if dtype == "?" and place == PROGRAMS.index(_lifted):
        return  # NumPy does not subtract bools
    function = PROGRAMS[place]
    for size in SIZES:
        x = (RNG.standard_normal(size) * 9).astype(np.int64).astype(dtype)
        compiled = fxc.compile(function)
        for given in (x, x):
            assert not difference(run(function, [given.copy()]), run(compiled, [given.copy()]))


def _pooled(x: Any) -> Any:
    return np.maximum(
        np.maximum(x[::2, ::2], x[::2, 1::2]), np.maximum(x[1::2, ::2], x[1::2, 1::2])
    )


def _gray(x: Any) -> Any:
    return x[..., 0] * 0.3 + x[..., 1] * 0.6 + x[..., 2] * 0.1


@pytest.mark.parametrize("function, shape", [(_pooled, (20, 68)), (_gray, (20, 35, 3))])
def test_nothing_is_loaded_one_by_one(function: Any, shape: tuple[int, ...]) -> None:
    x = RNG.random(shape)
    llvm = fxc.compile(function).inspect(x).llvm
    body = llvm[llvm.index("define") :]
    assert "load double" not in body
    assert "load <8 x double>" in body


def test_where_the_first_lane_is_may_be_computed() -> None:
    """Segments that indices give, of rows of few elements."""

    def function(x: Any, indices: Any) -> Any:
        return np.maximum.reduceat(x, indices), np.minimum.reduceat(x[:, ::-1], indices)

    compiled = fxc.compile(function, fullgraph=True)
    for columns in (2, 3, 5):
        x = RNG.random((300, columns))
        x[RNG.integers(0, 300, 9), 0] = np.nan
        for indices in ([0, 37, 200, 90], [299, 0], [5, 5, 6]):
            given = (x, np.array(indices))
            assert not difference(run(function, given), run(compiled, given))


def test_what_is_stored_in_turns_is_stored_whole() -> None:
    llvm = fxc.compile(_interleaved).inspect(RNG.random(80)).llvm
    assert llvm.count("store <8 x double>") % 3 == 0
    assert "store double" not in llvm[llvm.index("define") :]
