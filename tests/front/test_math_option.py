"""``fxc.compile(math=…)``: NumPy's own bits, or sums and products that are contracted and reordered."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import special

import fxc
from fxc.lowering.operators.scalar_rules import MATH_COSTS
from tests.compiling import check
from tests.covering import some
from tests.outcomes import difference, run

_LAYOUTS = {
    "whole": lambda x: x,
    "backwards": lambda x: x[::-1],
    "gaps": lambda x: x[::3],
    "turned": lambda x: x[: len(x) // 4 * 4].reshape(4, -1).T,
    "empty": lambda x: x[:0],
}
_BINARY = ("power", "float_power", "arctan2", "hypot", "logaddexp", "logaddexp2")
_UNARY = sorted(set(MATH_COSTS) - set(_BINARY))


def _in_layouts(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each function on arrays without gaps, and in two of the other layouts in turns: what brings an
    operand to NumPy's loop does not ask whose loop it is.
    """
    contiguous, *others = _LAYOUTS
    return [
        (name, layout)
        for turn, name in enumerate(names)
        for layout in (contiguous, *some(others, 2, turn))
    ]


def _numbers(name: str, size: int, kind: str) -> np.ndarray[Any, Any]:
    found = np.random.default_rng(size).uniform(0.05, 0.95, size) + (name == "arccosh")
    return (found * 3 if kind == "i4" else found).astype(kind)


@pytest.mark.bits
@pytest.mark.parametrize(("name", "layout"), _in_layouts(_UNARY))
def test_exact_is_numpys_bits(name: str, layout: str) -> None:
    ufunc, view = getattr(np, name), _LAYOUTS[layout]

    def fn(x):
        return ufunc(view(x)) * 2 + ufunc(view(x) * 0.5 + 0.5)

    compiled = fxc.compile(fn, fullgraph=True, math="exact")
    for kind in ("f8", "f4", "i4"):
        for size in (4, 33, 200):
            x = _numbers(name, size, kind)
            assert difference(run(fn, [x]), run(compiled, [x])) == ""


@pytest.mark.bits
@pytest.mark.parametrize(("name", "layout"), _in_layouts(_BINARY))
def test_exact_is_numpys_bits_of_two_operands(name: str, layout: str) -> None:
    ufunc, view = getattr(np, name), _LAYOUTS[layout]

    def fn(x, y):
        return ufunc(view(x), view(y) + 0.5), ufunc(view(x), 2.5), ufunc(1.5, view(y))

    compiled = fxc.compile(fn, fullgraph=True, math="exact")
    for kind in ("f8", "f4"):
        for size in (4, 33, 200):
            given = [_numbers(name, size, kind), _numbers(name, size + 1, kind)[1:]]
            assert difference(run(fn, given), run(compiled, given)) == ""


def _in_place(x):
    np.exp(x, out=x)
    x[1:] = np.log1p(x[:-1])
    return x


def _in_a_loop(x):
    for _ in range(4):
        x = np.tanh(x) + np.power(x, 1.5)
    return x, np.sin(x[0]), special.erf(x) + special.ndtr(x[1])


def _softmax(x):
    e = np.exp(x.reshape(4, -1) - x.max())
    return e / e.sum(axis=1, keepdims=True), np.logaddexp.reduce(x)


def _at(x):
    found = np.ones(3)
    np.hypot.at(found, [0, 1, 1], x[:3])
    np.add.at(found, [0, 1, 1], x[:3])
    return found


def _of_python(x):
    total = 0.0
    for i in range(1, len(x)):
        total += math.hypot(x[i], x[i - 1]) + math.exp(x[i]) + x[i] ** 1.5
    return total


def _warning(x):
    return np.log(x - x[0])


@pytest.mark.bits
@pytest.mark.parametrize("fn", [_in_place, _in_a_loop, _softmax, _at, _of_python, _warning])
def test_exact_programs(fn) -> None:
    for size in (8, 64, 5000):
        x = np.random.default_rng(size).uniform(0.1, 1, size)
        expected = run(fn, [x.copy()])
        compiled = fxc.compile(fn, math="exact")
        for _ in range(2):
            assert difference(expected, run(compiled, [x.copy()])) == ""


def powers_of_numbers(x, y, k):
    found = np.empty(len(x))
    for i in range(len(x)):
        found[i] = np.power(x[i], y[i])
    return found, np.power(x[0], k), np.power(k, x[1]), np.power(np.float32(2.5), y[0]), x[0] ** k


@pytest.mark.bits
def test_exact_powers_of_two_numbers() -> None:
    """``np.power`` of numbers calls the ufunc's loop, which has other bits than ``**`` of them."""
    r = np.random.default_rng(2)
    x, y = 10 * r.random(200), 6 * r.random(200) - 3
    exact = fxc.compile(powers_of_numbers, fullgraph=True, math="exact")
    for found, known in zip(exact(x, y, 1.7), powers_of_numbers(x, y, 1.7), strict=True):
        assert found.tobytes() == known.tobytes()
    default = fxc.compile(powers_of_numbers, fullgraph=True)
    for found, known in zip(default(x, y, 1.7), powers_of_numbers(x, y, 1.7), strict=True):
        np.testing.assert_allclose(found, known, rtol=2 * np.finfo(known.dtype).eps)
    x[0] = -np.inf  # of which pow gives inf
    with np.errstate(invalid="ignore"):
        assert np.isnan(default(x, y, 0.5)[1])
        assert np.isnan(powers_of_numbers(x, y, 0.5)[1])


def test_exact_needs_no_call_of_numpy_for_one_operand() -> None:
    compiled = fxc.compile(lambda x: np.exp(x) * 2, fullgraph=True, math="exact")
    compiled(np.ones(9))
    assert not compiled.cache_info().fallbacks
    assert "exp" in str(compiled.inspect(np.ones(9)).loops)
    assert "@fxc.exp" not in compiled.inspect(np.ones(9)).llvm


def test_each_option_has_code_of_its_own() -> None:
    def fn(x):
        return np.exp(x).sum()

    x = np.random.default_rng(0).uniform(-9, 9, 4096)
    made = {way: fxc.compile(fn, math=way) for way in ("default", "exact", "fast")}
    for _ in range(2):
        found = {way: compiled(x) for way, compiled in made.items()}
    assert found["exact"] == fn(x)
    np.testing.assert_allclose(list(found.values()), fn(x), rtol=1e-14)
    assert len({compiled.inspect(x).llvm for compiled in made.values()}) == 3


def test_fast_contracts_and_adds_in_any_order() -> None:
    def fn(x, y):
        return (x * y + 1.0).sum(), (x * x).sum(axis=0), np.prod(x[:9])

    compiled = fxc.compile(fn, fullgraph=True, math="fast")
    for size in (0, 1, 7, 8, 129, 5000):
        x, y = np.random.default_rng(size).uniform(0.5, 1.5, (2, size))
        for found, expected in zip(compiled(x, y), fn(x, y), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13)
    stages = compiled.inspect(x, y)
    assert "fadd reassoc contract" in stages.llvm
    assert "pairwise" not in str(stages.loops)
    assert "[any]" in str(stages.loops)
    plain = fxc.compile(fn, fullgraph=True).inspect(x, y)
    assert "contract" not in plain.llvm
    assert "pairwise" in str(plain.loops)


def test_fast_sums_of_several_axes() -> None:
    def fn(x):
        return x.sum(), x.mean(axis=0), x.sum(axis=1), x.var(axis=(0, 2)), x[:, ::2].sum(axis=2)

    compiled = fxc.compile(fn, fullgraph=True, math="fast")
    for shape in ((3, 4, 5), (2, 300, 7), (40, 3, 200), (1, 1, 1)):
        x = np.random.default_rng(1).uniform(0.5, 1.5, shape)
        for found, expected in zip(compiled(x), fn(x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_running_totals_keep_their_order() -> None:
    def fn(x, z):
        return np.cumsum(x), np.cumprod(x), z.sum()

    x = np.random.default_rng(0).uniform(0.5, 1.5, 700)
    check(fn, (x, x + 1j * x), lasting=True)
    compiled = fxc.compile(fn, fullgraph=True, math="fast")
    for found, expected in zip(compiled(x, x + 1j * x), fn(x, x + 1j * x), strict=True):
        assert np.array_equal(found, expected)


def test_fast_on_user_loops_and_masks() -> None:
    def fn(x):
        total, most = 0.0, 0.0
        for i in range(len(x)):
            total += x[i] * x[i]
            most = max(most, x[i])
        return total, most, np.where(x > 1, x * 2 - 1, x).sum()

    x = np.random.default_rng(3).uniform(0.5, 1.5, 300)
    compiled = fxc.compile(fn, fullgraph=True, math="fast")
    np.testing.assert_allclose(compiled(x), fn(x), rtol=1e-13)


@pytest.mark.parametrize("way", ["exakt", "", None, 1, True])
def test_others_are_refused(way: Any) -> None:
    with pytest.raises(ValueError, match=r"math must be one of \('default', 'exact', 'fast'\)"):
        fxc.compile(lambda x: x, math=way)


@fxc.compile(math="exact")
def _named(x):
    return np.exp(x)


def test_the_option_stays_with_the_function() -> None:
    x = np.linspace(-5, 5, 999)
    for other in (pickle.loads(pickle.dumps(_named)), copy.deepcopy(_named)):
        assert np.array_equal(other(x), np.exp(x))
    made = type(_named)(*fxc.compile(np.exp, math="exact").__reduce__()[1])
    assert np.array_equal(made(x), np.exp(x))
