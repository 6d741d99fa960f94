"""hoisting: what does not change in a loop is computed before it."""

import numpy as np
from expecttest import assert_expected_inline

from fxc.ir.graph import Graph
from fxc.passes.hoisting import hoist
from tests.passed import after

X, Y = np.arange(4.0), np.arange(4.0) + 2


def hoisted(graph: Graph) -> Graph:
    return graph.with_body(hoist(graph.body))


LOOP = """
functional f(%x: f64[4], %y: f64[4])
  symbols i = 0 (>= 0), j = 0 (>= 0)
  %0: f64[4] = fori_loop(0, 3, (%x,), body={{
    (%i: py.int, %1: f64[4])
{body}
    yield %9
  }}, stops=False)
  return %0"""


def test_numbers_that_stay_the_same() -> None:
    source = LOOP.format(
        body="""\
    %2: f64 = max(%y, axis=None, keepdims=False)
    %3: f64 = sqrt(%2)
    %9: f64[4] = multiply(%1, %3)"""
    )
    assert_expected_inline(
        after(hoisted, source, (X, Y)),
        """\
  %2: f64 = max(%y, axis=None, keepdims=False)
  %3: f64 = sqrt(%2)
  %0: f64[4] = fori_loop(0, 3, (%x,), body={
    (%i: py.int, %1: f64[4])
    %9: f64[4] = multiply(%1, %3)
    yield %9
  }, stops=False)
  return %0""",
    )


def test_through_two_loops() -> None:
    source = LOOP.format(
        body="""\
    %9: f64[4] = fori_loop(0, 2, (%1,), body={
      (%j: py.int, %4: f64[4])
      %5: f64 = max(%y, axis=None, keepdims=False)
      %6: f64 = max(%1, axis=None, keepdims=False)
      %7: f64[4] = multiply(%4, %5)
      %8: f64[4] = subtract(%7, %6)
      yield %8
    }, stops=False)"""
    )
    assert_expected_inline(
        after(hoisted, source, (X, Y)),
        """\
  %5: f64 = max(%y, axis=None, keepdims=False)
  %0: f64[4] = fori_loop(0, 3, (%x,), body={
    (%i: py.int, %1: f64[4])
    %6: f64 = max(%1, axis=None, keepdims=False)
    %9: f64[4] = fori_loop(0, 2, (%1,), body={
      (%j: py.int, %4: f64[4])
      %7: f64[4] = multiply(%4, %5)
      %8: f64[4] = subtract(%7, %6)
      yield %8
    }, stops=False)
    yield %9
  }, stops=False)
  return %0""",
    )


def test_what_may_raise_stays_in_the_loop() -> None:
    source = """
functional f(%x: f64[4], %n: py.int, %m: py.int)
  symbols n = 3 (>= 0), i = 0 (>= 0)
  %0: py.int = int_value(n)
  %1: f64[4] = fori_loop(0, %0, (%x,), body={
    (%i: py.int, %2: f64[4])
    %3: py.int = try_add(%m, 1)
    %4: f64[4] = multiply(%2, %3)
    yield %4
  }, stops=False)
  return %1"""
    assert_expected_inline(
        after(hoisted, source, (X, 3, 5), (X, 0, 5)),
        """\
  symbols n = 3 (>= 0)
  %0: py.int = int_value(n)
  %1: f64[4] = fori_loop(0, %0, (%x,), body={
    (%i: py.int, %2: f64[4])
    %3: py.int = try_add(%m, 1)
    %4: f64[4] = multiply(%2, %3)
    yield %4
  }, stops=False)
  return %1""",
    )
