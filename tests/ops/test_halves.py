"""float16 in native code: NumPy's bits, for all elements there are. See Note [Half precision]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.pipeline import assemble
from fxc.runtime.features import converts_halves
from tests.compiling import check
from tests.outcomes import agreement
from tests.parallel_loops import compiled_for
from tests.wild.seen import difference, watch

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
RNG = np.random.default_rng(0)
OTHERS = RNG.permutation(ALL)
OTHERS[::7], OTHERS[::11] = ALL[::7], -ALL[::11]
FINITE = ALL[np.isfinite(ALL)]

UNARY = """negative positive absolute sign square sqrt reciprocal rint floor ceil trunc isnan isinf isfinite
    signbit logical_not"""
BINARY = """add subtract multiply divide floor_divide remainder fmod maximum minimum fmax fmin copysign
    heaviside equal not_equal less less_equal greater greater_equal logical_and logical_xor"""
OF_NUMPY = "exp cbrt spacing"


def agrees(found: np.ndarray, expected: np.ndarray) -> bool:
    is_alike = found.dtype == expected.dtype and found.shape == expected.shape
    return is_alike and bool(agreement(np.asarray(found), np.asarray(expected)).all())


def assert_bits(function: Callable[..., Any], *args: np.ndarray, native: bool = True) -> None:
    """The compiled function gives NumPy's bits, and NumPy has no part in it."""
    compiled = fxc.compile(function, fullgraph=True)
    with np.errstate(all="ignore"):
        assert agrees(compiled(*args), function(*args))
    info = compiled.cache_info()
    assert info.eager_calls == 0
    assert bool(info.fallbacks) != (native and converts_halves())


@pytest.fixture(autouse=True)
def _as_this_processor_does(monkeypatch):
    compiled_for(monkeypatch, replace(assemble.target(), halves=converts_halves()))


@pytest.mark.parametrize("name", f"{UNARY} {OF_NUMPY}".split())
def test_functions_of_one_operand(name):
    ufunc = getattr(np, name)
    assert_bits(lambda x: ufunc(x), ALL, native=name not in OF_NUMPY.split())


@pytest.mark.parametrize("name", BINARY.split())
def test_functions_of_two_operands(name):
    ufunc = getattr(np, name)
    assert_bits(lambda x, y: ufunc(x, y), ALL, OTHERS)


def test_float64_is_rounded_once():
    between = (FINITE[:-1].astype(float) + FINITE[1:].astype(float)) / 2
    near = [between, np.nextafter(between, np.inf), np.nextafter(between, -np.inf), -between]
    sizes = RNG.normal(size=1 << 14) * 10.0 ** RNG.integers(-9, 6, 1 << 14)
    special = [1e300, -1e300, 5e-324, 65519.999, 65520, np.inf, -np.inf, np.nan, -0.0]
    x = np.concatenate([*near, sizes, special, ALL.astype(float)])
    assert_bits(lambda x: x.astype(np.float16), x)
    assert_bits(lambda x: x.astype(np.float16), x.astype(np.float32))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "u8"])
def test_integers_are_rounded_as_numpy_does(dtype):
    x = RNG.integers(0, 2**63, 4096).astype(dtype)
    if dtype != "?":
        x[:2048] >>= RNG.integers(0, 8 * x.itemsize, 2048).astype(dtype)
    assert_bits(lambda x: x.astype(np.float16), x)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f4", "f8"])
def test_casts_to_others(dtype):
    x = ALL if dtype in ("?", "f4", "f8") else FINITE[np.abs(FINITE.astype(float)) < 100]
    x = np.abs(x) if dtype == "u2" else x
    assert_bits(lambda x: x.astype(dtype), x)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 127, 130, 1000, 8193, 20_001])
def test_reductions_of_vectors(size):
    def program(x):
        y = x[::2]
        return x.sum(), y.sum(), x.mean(), x.prod(), (x > 1).any(), x.sum(dtype="f4"), x[::-1].std()

    x = RNG.normal(size=size).astype(np.float16)
    seen = watch(program, (x,)), watch(fxc.compile(program), (x,))
    assert not difference(*seen, 0.0)


@pytest.mark.parametrize("shape", [(3, 4), (40, 300), (300, 40), (5, 6, 7), (2, 9000), (1, 50)])
def test_reductions_of_matrices(shape):
    x = RNG.normal(size=shape).astype(np.float16)

    def program(x):
        found = []
        for y in (x, x.T, x[::-1], x[..., ::2]):
            for axis in (None, 0, -1, (0, 1)):
                found += [y.sum(axis=axis), y.mean(axis=axis), y.prod(axis=axis, keepdims=True)]
        return found

    assert not difference(watch(program, (x,)), watch(fxc.compile(program), (x,)), 0.0)


def test_the_largest_and_the_smallest():
    def program(x):
        views = x, x.T, x[::-1], x[..., ::3], x * 2
        found = [y.max(axis=axis) - y.min(axis=axis) for y in views for axis in (None, 0, (0, 1))]
        return found, [(y.argmax(axis), y.argmin(axis)) for y in views for axis in (None, 0, -1)]

    x = FINITE.reshape(2, 31, -1)
    infinite = np.where(x > 60_000, np.float16(np.inf), x)
    for given in (x, infinite, -infinite, np.where(x > 9, np.float16(np.nan), x)):
        assert_bits(lambda x: x.max(axis=1), given)
        assert_bits(lambda x: np.argmin(x, axis=1), given)
        assert not difference(watch(program, (given,)), watch(fxc.compile(program), (given,)), 0.0)


def together(x, y, k):
    d = (x - y) * k + 0.1
    m = d > 0
    x[m] += np.float16(0.5)
    x[1:] -= y[:-1] * 2
    total = np.float16(0)
    for i in range(4):
        total = total + d[i] * x[i]
        y[i] = total
    return np.where(m, d, -d), np.concatenate([x, d]), total, d[::3].astype(float) * 0.1, d.max()


def test_a_program_of_many_operations():
    def make():
        rng = np.random.default_rng(1)
        return *(rng.normal(size=37).astype(np.float16) for _ in "xy"), np.float16(1.25)

    compiled = fxc.compile(together, fullgraph=True)
    for _ in range(2):
        assert not difference(watch(together, make()), watch(compiled, make()), 0.0)
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("number", [6e4, 0.0])
def test_warnings_are_numpys(number):
    def program(x):
        return x * x, x / x, 1 / x, x.astype("f8") * 4

    x = np.array([1, number, 2], np.float16)
    compiled = fxc.compile(program)
    for _ in range(2):
        assert not difference(watch(program, (x,)), watch(compiled, (x,)), 0.0)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        compiled(x)


def test_a_cast_that_overflows_warns():
    x = np.array([1.0, 1e5])
    program = fxc.compile(lambda x: x.astype(np.float16))
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        program(x)


def test_numpy_computes_where_the_processor_does_not_convert(monkeypatch):
    compiled_for(monkeypatch, replace(assemble.target(), halves=False))
    compiled = fxc.compile(lambda x, y: (x + y)[::2].copy(), fullgraph=True)
    with np.errstate(all="ignore"):
        assert agrees(compiled(ALL, OTHERS), (ALL + OTHERS)[::2])
    assert set(compiled.cache_info().fallbacks) == {"add"}


@pytest.mark.bits
def test_a_loop_of_halves_that_no_operand_shows() -> None:
    """Where nothing converts float16, native code called what is not there."""
    check(
        lambda x, n: (np.signbit(x), np.signbit(n)),
        (np.ones(9, bool), np.arange(-4, 5, dtype="i1")),
    )


def test_a_condition_is_not_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing converts float16, native code called what is not there."""
    compiled_for(monkeypatch, replace(assemble.target(), halves=False))

    def program(x: Any) -> Any:
        found = 0
        if x[1]:
            found = 1
        return found

    compiled = fxc.compile(program, fullgraph=True)
    for numbers in ([1, np.nan], [0, -np.inf], [2, 6e-8], [1, -0.0], [1, 0]):
        x = np.array(numbers, np.float16)
        assert compiled(x) == program(x)
        assert "fpext half" not in compiled.inspect(x).llvm


def test_a_number_is_not_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing converts float16, native code called what is not there."""
    compiled_for(monkeypatch, replace(assemble.target(), halves=False))

    def program(x: Any, k: Any) -> Any:
        x[1:] = k
        return x

    compiled = fxc.compile(program, fullgraph=True)
    x = np.zeros(3, np.float16)
    for k in ALL[::31]:
        assert agrees(compiled(x.copy(), k), program(x.copy(), k)), k
    assert not compiled.cache_info().fallbacks
    assert "fptrunc" not in compiled.inspect(x, k).llvm
