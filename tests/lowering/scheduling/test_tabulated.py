"""Expensive numbers that a loop needs again and again come from a table: loops → loops, and a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.nests.program import Program
from fxc.lowering.scheduling.fixed_numbers import fixed_numbers
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.tabulated import tabulated
from tests.outcomes import difference, run
from tests.scheduled import after_building, body

WAVES = """\
functional f(%a: py.float)
  symbols i = 20 (>= 0), j = 10 (>= 0)
  %7: py.float = fori_loop(0, 40, (0.0,), body={
    (%i: py.int, %s: py.float)
    %0: py.int = int_value(-i + 40)
    %6: py.float = fori_loop(0, %0, (%s,), body={
      (%j: py.int, %t: py.float)
      %1: py.int = int_value(-2*i - 4*j + 20)
      %2: py.float = py_float(%1)
      %3: py.float = py_multiply(%a, %2)
      %4: py.float = math_cos(%3)
      %5: py.float = py_add(%t, %4)
      yield %5
    }, stops=False)
    yield %6
  }, stops=False)
  return %7
"""


def made(program: Program) -> Program:
    return tabulated(fixed_numbers(fuse(program)))


def test_one_place_for_each_value_of_an_integer() -> None:
    assert_expected_inline(
        body(after_building(made, WAVES, 1.1)),
        """\
b0[] = 0.0
loop t5.table.i0 in 0:118
  t5.table[t5.table.i0] = math_cos(py_multiply(a, py_float:float64((2*t5.table.i0 - 214))))
loop i in 0:40
  loop j in 0:(-i + 40)
    t5 = t5.table[-i - 2*j + 117]
    raise if math_cos fails(py_multiply(a, py_float:float64((-2*i - 4*j + 20))), t5)
    b0[] = py_add(b0[], t5)""",
    )


def loops_of(compiled: Any, *args: Any) -> str:
    return str(compiled.inspect(*args).loops)


def option(price: float, strike: float, up: float, steps: int) -> Any:
    """An American put by a binomial tree."""
    values = np.empty(steps + 1)
    for i in range(steps + 1):
        values[i] = max(0.0, strike - price * up ** (steps - 2 * i))
    for s in range(steps - 1, -1, -1):
        for i in range(s + 1):
            values[i] = 0.5 * values[i] + 0.49 * values[i + 1]
            values[i] = max(values[i], strike - price * up ** (s - 2 * i))
    return values[0]


def cosines(price: float, strike: float, up: float, steps: int) -> Any:
    """A transform of blocks: a table with two axes, of which one is longer."""
    out = np.zeros((9, 8, 8))
    for block in range(9):
        for u in range(8):
            for v in range(8):
                total = 0.0
                for x in range(steps):
                    for y in range(8):
                        wave = math.cos((2 * x + 1) * u * math.pi / 16)
                        total += wave * (x + y) * math.exp(-y * v * up)
                out[block, u, v] = total
    return out


def fails(price: float, strike: float, up: float, steps: int) -> Any:
    """Of what is never needed one number fails."""
    total = 0.0
    for _ in range(40):
        for i in range(steps):
            for j in range(i):
                total += math.log(i - j)
                total += up ** (j - i + 1 - steps % 2 * 2000)
    return total


def votes(price: float, strike: float, up: float, steps: int) -> Any:
    """Only an arm needs the numbers, of which some may fail."""
    total = 0.0
    for i in range(90):
        for j in range(90):
            if (i * j) % 3 == 1:
                for k in range(steps):
                    total += i * math.cos(math.pi * k / 16) + math.log(k + 1 - steps % 2 * up)
    return total


@pytest.mark.parametrize("fn", [option, cosines, fails, votes])
def test_numbers_are_pythons(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for steps in (40, 16, 17, 1, 0, -2):
        for up in (1.1, 0.0, -1.5):
            args = 100.0, 95.0, up, steps
            assert difference(run(fn, args), run(compiled, args)) == ""
    assert ".table" in loops_of(compiled, 100.0, 95.0, 1.1, 40)


def test_the_first_call_may_be_a_short_one() -> None:
    assert ".table" in loops_of(fxc.compile(option, fullgraph=True), 100.0, 95.0, 1.1, 4)


def test_not_for_an_arm_that_may_be_seldom_taken() -> None:
    def seldom(x: np.ndarray, n: int) -> float:
        total = 0.0
        for i in range(len(x)):
            if x[i] > 0.5:
                for k in range(n):
                    total += math.cos(k)
        return total

    assert ".table" not in loops_of(fxc.compile(seldom, fullgraph=True), np.ones(20), 30)


def test_not_where_each_is_needed_once() -> None:
    def once(n: int) -> float:
        total = 0.0
        for i in range(n):
            for j in range(n):
                total += math.cos(i * j)
        return total

    assert ".table" not in loops_of(fxc.compile(once, fullgraph=True), 30)


def test_no_table_grows_with_two_sizes() -> None:
    def repeated(times: int, n: int) -> float:
        total = 0.0
        for k in range(times):
            for i in range(n):
                for j in range(n):
                    total += k * math.cos(i * j)
        return total

    compiled = fxc.compile(repeated, fullgraph=True)
    assert compiled(20, 30) == repeated(20, 30)
    assert ".table" not in loops_of(compiled, 20, 30)


def test_not_of_sizes_that_are_counted_in_the_loop() -> None:
    def repeated(x: np.ndarray, times: int) -> Any:
        total = 0
        for k in range(times):
            chosen = np.flatnonzero(x >= k)
            for i in range(len(chosen)):
                total += chosen[(i + 1) % len(chosen)]
        return total

    x = np.arange(40) % 13
    compiled = fxc.compile(repeated, fullgraph=True)
    for times in (20, 3):
        assert difference(run(repeated, (x, times)), run(compiled, (x, times))) == ""
