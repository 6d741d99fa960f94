"""Python ints of which only the low bits are looked at. See ``passes/low_bits.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def lcg(n, x):
    t = 0
    for _ in range(n):
        x = (x * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
        t ^= x
    return t


def xorshift(n, x):
    for _ in range(n):
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
    return x


def fnv(n, x):
    h = 2166136261
    for i in range(n):
        h = ((h ^ (x + i)) * 16777619) % 2**32
    return h


def mixed(n, x):
    """Low bits through differences, inversions and operators of bits; a mask on the left."""
    t = 0
    for i in range(n):
        t = 0xFFFFFFF & (~(t * x - (i << 40)) | (t * t * t ^ x))
    return t


def branches(n, x):
    t = 1
    for _ in range(n):
        y = (t * 0x1E3779B97F4A7C15 + x) & 0xFFFFFFFFFFFF
        if y & 1:
            y = (y * 3935559000370003845) % 2**62
        t = y + 1
    return t


def of_counters(n, x):
    """Which is no more than arithmetic of a symbol, and beyond 64 bits after a few iterations."""
    t = 0
    for i in range(n):
        t += (i * 6364136223846793005 + x) & 0xFFFFFFFFFFFF
        t += (i << 70) & 0xFF
        t ^= ((i * 0x123456789ABCDEF) * (i + 3)) & 0x7FFFFFFFFFFFFFFF
        t = (t - (i - 2**62 - 2**62 - i * 2**61)) % 1024
    return t


def test_of_counters() -> None:
    """One compilation, whether an iteration is beyond 64 bits or not."""
    compiled = fxc.compile(of_counters, fullgraph=True)
    for n in (2, 3, 7, 40, 1000):
        assert difference(run(of_counters, (n, 5)), run(compiled, (n, 5))) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


@pytest.mark.parametrize("fn", [lcg, xorshift, fnv, mixed, branches])
def test_nothing_is_sent_back_to_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (3, 12345678901, 2**61 - 1, 2**40 + 7):
        assert difference(run(fn, (40, x)), run(compiled, (40, x))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert "try_" not in str(compiled.inspect(40, 3).decomposed)


def kept(n, x):
    """The product is looked at, too."""
    t = 1
    for _ in range(n):
        p = t * x
        t = p & 0xFFFF
        if p > 2**40:
            t = 7
    return t


def right(n, x):
    """High bits come down."""
    t = 1
    for _ in range(n):
        t = ((t * x) >> 40) & 0xFFFF
    return t


def divided(n, x):
    t = 1
    for _ in range(n):
        t = (t * x + 5) % 1000003 + 2**40
    return t


def returned(n, x):
    t = p = 1
    for _ in range(n):
        p = t * x
        t = p & 0xFFFF
    return t, p


@pytest.mark.parametrize("fn", [kept, right, divided, returned])
def test_high_bits_that_show_are_checked(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (3, 2**61 - 1):
        assert difference(run(fn, (9, x)), run(compiled, (9, x))) == ""
    assert compiled.cache_info().eager_calls == 1
    assert "try_multiply" in str(compiled.inspect(9, 3).decomposed)


def narrowed(a, n):
    """That a product passes says nothing of its factors if it is not checked."""
    t = 0
    for i in range(n):
        k = int(a[i])
        h = (k * 0x1E3779B97F4A7C15) & 0xFFFF
        t += k + k + h
    return t


def test_no_range_follows_from_what_is_not_checked() -> None:
    compiled = fxc.compile(narrowed, fullgraph=True)
    for most in (9, 2**62, 2**63 - 1):
        a = np.array([1, -5, most, 2])
        assert difference(run(narrowed, (a, 4)), run(compiled, (a, 4))) == ""
    assert compiled.cache_info().eager_calls == 2


@pytest.mark.parametrize("length", [30, 60, 400])
def test_a_chain_of_remainders_without_a_loop(length: int) -> None:
    """So many functions of functions are no size that guards and plan write out."""
    lines = ["def chain(x, y):", *["    x = (x * 1664525 + 1013904223) & 0xFFFFFFFF"] * length]
    names: dict[str, Any] = {}
    exec("\n".join([*lines, "    return x, y + x"]), names)
    chain, y = names["chain"], np.arange(3.0)
    compiled = fxc.compile(chain, fullgraph=True)
    for x in (100, 101, 2**31, 7):
        assert difference(run(chain, (x, y)), run(compiled, (x, y))) == ""
    assert compiled.cache_info().eager_calls == 0
