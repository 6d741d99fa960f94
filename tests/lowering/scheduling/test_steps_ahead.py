"""What iterations compute each for itself is computed ahead of them in lanes, strip by strip."""

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


def attraction(x: Any, m: Any) -> Any:
    """Totals in elements of an array, in the order of the loop."""
    a = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            dx = x[j, 0] - x[i, 0]
            dy = x[j, 1] - x[i, 1]
            r = dx * dx + dy * dy + x.dtype.type(0.01)
            pull = m[j] / (r * np.sqrt(r))
            a[i, 0] += dx * pull
            a[i, 1] += dy * pull
    return a


def energy(x: Any, m: Any) -> Any:
    """Python's numbers, which may fail, of shorter and shorter loops."""
    total = 0.0
    for i in range(x.shape[0] - 1):
        for j in range(i + 1, x.shape[0]):
            dx = float(x[i, 0]) - float(x[j, 0])
            dy = float(x[i, 1]) - float(x[j, 1])
            total += float(m[j]) / math.sqrt(dx * dx + dy * dy)
    return total


def nearest(x: Any, m: Any) -> Any:
    """A branch, and a place."""
    best, at = np.inf, -1
    for j in range(x.shape[0]):
        d = np.sqrt((x[j, 0] - m[0]) ** 2 + (x[j, 1] - m[0]) ** 2) / (m[j] + 0.5)
        if d < best:
            best, at = d, j
    return best, at


def in_a_box(x: Any, m: Any) -> Any:
    """Ints of floats, which may have none."""
    total, near = 0.0, 0
    for j in range(x.shape[0]):
        dx = x[j, 0] / m[0]
        dx = x[j, 0] - round(dx) * m[0]
        dy = x[j, 1] - round(x[j, 1] / m[0]) * m[0]
        r = dx * dx + dy * dy
        if r < 0.25:
            total += r
            near += 1
    return total, near


def all_others(x: Any, m: Any) -> Any:
    """Arms that all iterations but one take, which would divide by zero."""
    p, s = np.zeros(x.shape[0]), 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j:
                dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
                p[i] += m[j] / np.sqrt(dx * dx + dy * dy)
        for j in range(x.shape[0]):
            if j == i:
                continue
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            s -= np.sqrt(dx * dx + dy * dy) / (m[j] + m[i]) / (x[j, 0] + 1)
    return p, s


def in_place(x: Any, m: Any) -> None:
    """What is stored is not read ahead, all else is."""
    for j in range(1, x.shape[0]):
        x[j, 0] = x[j - 1, 0] * 0.5 + np.sqrt(m[j]) / (m[j] + 1.0) / (m[j - 1] + 2.0)


PROGRAMS = (attraction, energy, all_others, nearest, in_a_box, in_place)
SIZES = (0, 1, 2, 31, 33, 127, 128, 129, 300)


def arguments(n: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    return rng.uniform(0, 3, (n, 2)).astype(dtype), rng.uniform(0.5, 1, n).astype(dtype)


@pytest.mark.bits
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_they_have_numpys_bits(program: Any, dtype: Any) -> None:
    for dynamic in (False, True):
        compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
        for n in (200, 128, 60) if program in (attraction, energy, all_others) else SIZES[:4:-1]:
            assert same(program, compiled, arguments(n, dtype))
        assert dynamic or ".ahead" in str(compiled.inspect(*arguments(200, dtype)).loops)


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_compilation_serves_short_loops_too(program: Any) -> None:
    compiled = fxc.compile(program, dynamic=True)
    for n in (200, *(SIZES[1:4] if program is nearest else SIZES[:4])):
        same(program, compiled, arguments(n))


@pytest.mark.parametrize("place", [0, 127, 128, 199])
def test_what_fails_in_an_iteration(place: int) -> None:
    x, m = arguments(200)
    x[place] = x[150 if place != 150 else 151]
    assert not same(energy, fxc.compile(energy), (x, m))  # ZeroDivisionError
    for bad in (np.nan, np.inf):
        x, m = arguments(200)
        x[place] = bad
        assert not same(in_a_box, fxc.compile(in_a_box), (x, m))


@pytest.mark.parametrize("program", [attraction, nearest, in_place])
def test_warnings_are_numpys(program: Any) -> None:
    x, m = arguments(140)
    m[130] = -0.5 if program is nearest else np.inf
    x[130] = np.inf
    compiled = fxc.compile(program)
    for _ in range(3):
        with warnings.catch_warnings(record=True) as expected:
            warnings.simplefilter("always")
            program(x.copy(), m)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            compiled(x.copy(), m)
        assert [str(each.message) for each in found] == [str(each.message) for each in expected]


def test_divisors_that_are_looked_at_stay_behind() -> None:
    def quotients(x: Any, y: Any) -> int:
        total = 0
        for i in range(x.shape[0]):
            a, b = int(x[i]), int(y[i])
            total += (a * 3 // b) % 1000 + (a * 5 // (b + 1)) % 1000
        return total

    x, y = np.arange(200), np.full(200, 3)
    compiled = fxc.compile(quotients)
    assert same(quotients, compiled, (x, y))
    y[77] = 0
    assert not same(quotients, compiled, (x, y))


def test_a_strip() -> None:
    x, m = arguments(300)
    assert_expected_inline(
        body(fxc.compile(nearest).inspect(x, m).loops),
        """\
t2 = item(m[0])
b3[] = -1
b4[] = inf
b5[] = False
loop i_1s in 0:(3)
  i_1s.start = (128*i_1s)
  i_1s.stop = (min(128*i_1s + 128, 300))
  for i_1a in 0:min(-128*i_1s + 300, 128) lanes 16 overlapping aligned to t20.ahead1
    t20.lane1 = divide(sqrt(add(power_of_scalars(subtract(item(x[i_1a + 128*i_1s, 0]), t2), 2.0), power_of_scalars(subtract(item(x[i_1a + 128*i_1s, 1]), t2), 2.0))), add(item(m[i_1a + 128*i_1s]), 0.5))
    t20.ahead1[i_1a] = t20.lane1
  loop i_1 in i_1s.start:i_1s.stop
    t20 = t20.ahead1[i_1 - 128*i_1s]
    t21 = b4[]
    t23 = greater(t21, t20)
    b12[] = logical_or(t23, b5[])
    if t23
      b10[] = (i_1)
      b11[] = t20
    else
      b10[] = b3[]
      b11[] = t21
    b3[] = b10[]
    b4[] = b11[]
    b5[] = b12[]""",
    )


def test_a_loop_that_is_one_strip_and_one_that_is_too_short() -> None:
    def loops(n: int) -> str:
        return body(fxc.compile(nearest).inspect(*arguments(n)).loops)

    assert "for i_1a in 0:100 lanes" in loops(100)
    assert ".ahead" not in loops(20)


def test_cheap_numbers_are_not_worth_it() -> None:
    def total(x: Any, m: Any) -> Any:
        s = 0.0
        for j in range(x.shape[0]):
            s += (x[j, 0] - m[j]) * x[j, 1]
        return s

    assert ".ahead" not in body(fxc.compile(total).inspect(*arguments(300)).loops)


def squares(x: Any, m: Any) -> Any:
    """Powers, of which pow is asked for some, in short loops."""
    best, at = np.inf, -1
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += (x[i, j] - m[j]) ** 2
        if s < best:
            best, at = s, i
    return best, at


@pytest.mark.parametrize(("columns", "are_ahead"), [(8, True), (7, False)])
def test_short_loops_that_fill_registers(columns: int, are_ahead: bool) -> None:
    x, m = np.random.default_rng(5).random((300, columns)), np.full(columns, 0.3)
    program = fxc.compile(squares, fullgraph=True)
    assert program(x, m) == squares(x, m)
    assert (".ahead" in str(program.inspect(x, m).loops)) == are_ahead
