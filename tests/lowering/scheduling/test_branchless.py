"""Branches in loops over elements become choices between numbers: loops → nests."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from tests.compiling import same
from tests.scheduled import body


def hue(a: Any, b: Any) -> Any:
    """Quotients of what may be zero, in arms of arms."""
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        high, low = max(a[i], b[i]), min(a[i], b[i])
        d = high - low
        if d == 0:
            v = 0.0
        elif high == a[i]:
            v = (a[i] - 2) / d
        elif low < -1:
            v = 2 + b[i] / d
        else:
            v = 4 + (b[i] - a[i]) / d
        out[i] = v
    return out


def some(a: Any, b: Any) -> Any:
    """Stores of one arm, to an array of the function's own."""
    out = np.full(a.shape[0], 7, dtype=np.int64)
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            out[i] = 1
            if b[i] > 0:
                out[i] = 2
        elif b[i] < -0.5:
            out[i] = -1
    return out


def roots(a: Any, b: Any) -> Any:
    """Python's numbers, which may fail."""
    out = np.ones(a.shape[0])
    for i in range(a.shape[0]):
        x = float(a[i])
        if x > 0:
            out[i] = math.sqrt(x) / (float(b[i]) + 100.0)
        else:
            out[i] = -x
    return out


def either(a: Any, b: Any) -> None:
    """In place."""
    for i in range(a.shape[0]):
        if b[i] > 0:
            a[i] = a[i] * 2
        else:
            a[i] = b[i]


def image(a: Any, b: Any) -> Any:
    """Two dimensions, and what no arm has stored before."""
    c = a.reshape(-1, 20)
    out = np.zeros_like(c)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            if c[i, j] > 0.3:
                out[i, j] = 1 - c[i, j]
            elif c[i, j] > 0:
                out[i, j] = c[i, j]
    return out


def whole(a: Any, b: Any) -> Any:
    out = np.zeros(a.shape[0], dtype=np.int64)
    for i in range(a.shape[0]):
        k = int(a[i] * 10)
        if k % 2 == 0:
            out[i] = k // 2
        else:
            out[i] = 3 * k + 1
    return out


PROGRAMS = (hue, some, roots, either, image, whole)


def arguments(n: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, n)).astype(dtype)
    b[::5] = a[::5]
    return a, b


@pytest.mark.bits
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dynamic", [False, True])
def test_they_have_numpys_bits(program: Any, dtype: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for n in (200, 60, 20):
        assert same(program, compiled, arguments(n, dtype))
        if program is not whole:  # an int of a float may fail, and must not be used then
            assert dynamic or "  if " not in str(compiled.inspect(*arguments(n, dtype)).loops)


@pytest.mark.parametrize("program", [hue, roots, either, image])
def test_what_an_arm_that_is_not_taken_computes_sets_no_flag(program: Any) -> None:
    a, b = arguments(200)
    a[::4], b[::4] = -0.0, -0.0
    a[1::8], b[1::8] = -1.0, -np.inf if program is either else -1.0
    compiled = fxc.compile(program, fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert same(program, compiled, (a, b))
    assert compiled.cache_info().native_calls >= 3


def test_warnings_of_the_arm_that_is_taken() -> None:
    def quotients(a: Any, b: Any) -> Any:
        out = np.zeros_like(a)
        for i in range(a.shape[0]):
            if b[i] < 1:
                out[i] = a[i] / b[i]
        return out

    a, b = arguments(100)
    b[70] = 0.0
    compiled = fxc.compile(quotients)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            found = compiled(a, b)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found, quotients(a, b))


@pytest.mark.parametrize("place", [0, 63, 199])
def test_what_fails(place: int) -> None:
    a, b = arguments(200)
    a[place], b[place] = 1.0, -100.0
    assert not same(roots, fxc.compile(roots), (a, b))


def test_what_the_iteration_before_has_left_stays() -> None:
    def held(a: Any, b: Any) -> Any:
        out, v = np.zeros_like(a), 0.0
        for i in range(a.shape[0]):
            if a[i] > 0:
                v = b[i]
            out[i] = v
        return out

    def before(a: Any, b: Any) -> None:
        for i in range(1, a.shape[0]):
            if b[i] > 0:
                a[i] = a[i - 1] + 1

    for program in (held, before):
        compiled = fxc.compile(program, fullgraph=True)
        assert same(program, compiled, arguments(100))
        assert "  if " in str(compiled.inspect(*arguments(100)).loops)


def test_stores_to_places_that_may_be_one_keep_their_order() -> None:
    def twice(a: Any, b: Any, k: int) -> Any:
        out = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            if a[i] > 0:
                out[i] = a[i]
                out[k] = b[i]
                out[i] = b[i] + 1
            else:
                out[k] = a[i]
                out[i] = b[i]
        return out

    assert same(twice, fxc.compile(twice, fullgraph=True), (*arguments(60), 7))


def test_a_nest() -> None:
    assert_expected_inline(
        body(fxc.compile(roots).inspect(*arguments(100)).loops),
        """\
for i0 in 0:100 lanes 8 overlapping aligned to b2
  b2[i0] = 1.0
for i in 0:100 lanes 16 again
  t3 = py_float(item(a[i]))
  t5 = py_greater(t3, 0.0)
  t8 = math_sqrt(where(t5, t3, 1.0))
  t14 = py_add(py_float(item(b[i])), 100.0)
  t15 = try_divide(where(t5, t8, 1.0), where(t5, t14, 1.0))
  i.chosen3 = logical_not(t5)
  b2[i] = where(t5, t15, py_negative(t3))
  i.chosen1.any = logical_or logical_and(t5, math_sqrt fails(t3, t8))  [any]
  i.chosen2.any = logical_or logical_and(t5, try_divide fails(t8, t14, t15))  [any]
raise if i.chosen1.any
raise if i.chosen2.any""",
    )


def test_what_other_ways_are_better_for_stays() -> None:
    def fixed(a: Any, b: Any) -> Any:
        """LLVM asks in front of the loop."""
        out, s = np.zeros_like(a), b[3]
        for i in range(a.shape[0]):
            out[i] = a[i] / s if s > 0 else 0.0
        return out

    def powers(a: Any, b: Any, u: float) -> Any:
        """The C library has no vectors."""
        out = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            out[i] = u ** (i - 40)
        return out

    assert "  if " in str(fxc.compile(fixed).inspect(*arguments(100)).loops)
    for more in ((100, 1.1), (100, 0.0)):
        args = (*arguments(more[0]), more[1])
        same(powers, fxc.compile(powers), args)
    assert "  loop " in str(fxc.compile(powers).inspect(*arguments(100), 1.1).loops)
