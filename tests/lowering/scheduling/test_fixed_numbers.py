"""Expensive numbers that stay the same in a loop are made in front of it: loops → shorter loops."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.nests.program import Program
from fxc.lowering.scheduling.fixed_numbers import fixed_numbers
from fxc.lowering.scheduling.fuse import fuse
from tests.outcomes import difference, run
from tests.scheduled import after_building, body

X = np.arange(6.0)

IN_AN_ARM = """\
functional f(%x: f64[6], %a: py.float)
  symbols i = 3 (>= 0)
  %3: py.float = py_negative(%a)
  %8: f64 = fori_loop(0, 6, (f64(0.0),), body={
    (%i: py.int, %s: f64)
    %1: f64[] = select_copy(%x, 0, i)
    %2: f64 = item(%1)
    %4: bool = greater(%2, 2.0)
    %7: f64 = cond(%4, (), on_true={
      ()
      %5: py.float = math_exp(%3)
      %6: f64 = multiply(%2, %5)
      %9: f64 = add(%s, %6)
      yield %9
    }, on_false={
      ()
      yield %s
    })
    yield %7
  }, stops=False)
  return %8
"""
OF_THE_OUTER = """\
functional f(%x: f64[6])
  symbols i = 3 (>= 0), j = 3 (>= 0)
  %9: py.float = fori_loop(0, 6, (0.0,), body={
    (%i: py.int, %s: py.float)
    %1: py.float = py_float(%i)
    %8: py.float = fori_loop(0, 4, (%s,), body={
      (%j: py.int, %t: py.float)
      %2: py.float = math_cos(%1)
      %3: py.float = py_multiply(%t, -0.5)
      %4: py.float = math_exp(%3)
      %5: py.float = py_add(%2, %4)
      yield %5
    }, stops=False)
    yield %8
  }, stops=False)
  return %9
"""


def made(program: Program) -> Program:
    return fixed_numbers(fuse(program))


def test_an_arm_that_looks_whether_it_has_failed() -> None:
    after_building(made, IN_AN_ARM, 0 * X, -1000.0)
    assert_expected_inline(
        body(after_building(made, IN_AN_ARM, X, 0.5)),
        """\
t1 = py_negative(a)
b2[] = 0.0
t8 = math_exp(t1)
loop i in 0:6
  t3 = item(x[i])
  if greater(t3, 2.0)
    raise if math_exp fails(t1, t8)
    b5[] = add(b2[], multiply(t3, t8))
  else
    b5[] = b2[]
  b2[] = b5[]""",
    )


def test_what_changes_in_the_outer_loop() -> None:
    assert_expected_inline(
        body(after_building(made, OF_THE_OUTER, X)),
        """\
b1[] = 0.0
loop i in 0:6
  t2 = py_float:float64((i))
  t4 = math_cos(t2)
  loop j in 0:4
    raise if math_cos fails(t2, t4)
    t7 = py_multiply(b1[], -0.5)
    t8 = math_exp(t7)
    raise if math_exp fails(t7, t8)
    b1[] = py_add(t4, t8)""",
    )


def scaled(x: Any, a: float) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += x[i] * math.exp(-a * 0.5)
    return s


def guarded(x: Any, a: float) -> Any:
    s, t = 0.0, 0.0
    for i in range(len(x)):
        s += x[i]
        if x[i] > 100:
            t += math.log(a)
    return s, t


def nested(x: Any, a: float) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        k, j = 1.0, 0
        while j < 20:
            k = math.sqrt(i + a) + a**0.3 * k
            j += 1
        out[i] = k
    return out


@pytest.mark.parametrize("fn", [scaled, guarded, nested])
def test_numbers_are_pythons(fn: Callable[..., Any]) -> None:
    """Also where a loop has no iterations, or none that comes to what fails."""
    compiled = fxc.compile(fn, fullgraph=True)
    for size in (20, 21, 0):
        for a in (0.5, -2000.0, 0.0, math.inf):
            args = np.arange(1.0, size + 1), a
            assert difference(run(fn, args), run(compiled, args)) == ""


def test_flags_of_what_no_iteration_needs_are_not_told_of() -> None:
    compiled = fxc.compile(guarded, fullgraph=True)
    args = np.arange(1.0, 60), -1.0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            assert compiled(*args) == guarded(*args)
    assert not told
    assert compiled.cache_info().eager_calls == 0
