"""Integers, and Python's complex numbers, to a power that is a number of the program."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run

DTYPES = "bhilBHIL?"
_EXPONENTS = (0, 1, 3, 4, 13, 63, 64)


@pytest.mark.parametrize("how", [operator.pow, np.power])
@pytest.mark.parametrize("exponent", _EXPONENTS)
def test_a_constant_power_is_a_product(how, exponent):
    for char in DTYPES:
        number = (np.uint8 if char in "BHIL" else np.int8)(exponent)

        def fn(x, y, number=number):
            return how(x, exponent) + y, how(x[::-1], number), how(x[:0], exponent)

        compiled = fxc.compile(fn, fullgraph=True)
        for size in (1, 7, 65):
            info = np.iinfo("b" if char == "?" else char)
            low, high = (0, 1) if char == "?" else (info.min, info.max)
            x = np.random.default_rng(size).integers(low, high, size, endpoint=True, dtype=char)
            x[: size // 2] = np.arange(size // 2).astype(char)
            given = [x, x.copy()]
            assert difference(run(fn, given), run(compiled, given)) == ""
        assert not compiled.cache_info().fallbacks


def _in_place(x):
    x **= 3
    x[1:] = x[:-1] ** 4 - x[1:] ** 0
    return x


def _by_rows(x):
    return (x.reshape(-1, 1) ** 3 + x).sum(axis=1), np.power(x.reshape(1, -1).T, 5)


def _of_constants(x):
    return np.full(len(x), 3) ** 7 + x, np.arange(len(x)) ** 3, np.full(4, 2)[:, None] ** 5 * x


def _in_a_loop(x):
    for k in range(3):
        x = x**3 + k
    return x


@pytest.mark.parametrize("fn", [_in_place, _by_rows, _of_constants, _in_a_loop])
def test_programs(fn):
    check(fn, (np.arange(-9, 12),), lasting=True)
    check(fn, (np.arange(9, dtype="u1"),), lasting=True)


def test_it_is_part_of_the_loop_around_it():
    compiled = fxc.compile(lambda x: (x + 1) ** 3 * 2 - x, fullgraph=True)
    x = np.arange(20)
    assert np.array_equal(compiled(x), (x + 1) ** 3 * 2 - x)
    assert str(compiled.inspect(x).loops).count("for ") == 1


@pytest.mark.parametrize("exponent", [-1, -3, 65, 200, True, 2.0, 3.5, 10**30])
def test_others_are_numpys(exponent):
    def fn(x):
        return x**exponent

    for x in (np.arange(1, 9), np.arange(0, 4, dtype="i1")):
        compiled = fxc.compile(fn)
        for _ in range(2):
            assert difference(run(fn, [x]), run(compiled, [x]), lambda where: 2) == ""


def test_scalars_warn_of_what_overflows():
    def fn(x):
        return x[0] ** 3

    compiled = fxc.compile(fn)
    for start in (5, 2**40):
        x = np.array([start])
        with np.errstate(all="ignore"):
            expected = fn(x)
        for _ in range(2):
            with np.errstate(all="ignore"):
                assert compiled(x) == expected


def _of_elements(x, out):
    total = x[0] ** 2
    for k in range(len(x)):
        total ^= x[k] ** 2 ^ x[k] ** 3 ^ np.power(x[k], 4)
        out[k] = x[k] ** np.int64(5)
    return total, x[1] ** 64, np.bool_(x[2]) ** 3


@pytest.mark.parametrize("char", "bhilBHIL")
def test_scalars_wrap_around_without_a_warning(char):
    x = np.arange(-9, 12).astype(char) * np.array(13).astype(char)
    compiled = check(_of_elements, (x, np.zeros(21, char)), lasting=True)
    assert not compiled.cache_info().fallbacks
