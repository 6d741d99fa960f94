"""Sizes that are equal by a guard get one name, so that loops over them fuse."""

import numpy as np
from expecttest import assert_expected_inline

from fxc.lowering.nests.program import Program
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.same_sizes import same_sizes
from tests.passed import parsed
from tests.scheduled import after_building, body, text

X, Y = np.arange(12.0).reshape(3, 4), np.ones((3, 4))
PRODUCT = """
functional f(%x: f64[n, m], %y: f64[k, l])
  symbols n = 3 (>= 2), m = 4 (>= 2), k = 3 (>= 2), l = 4 (>= 2){guards}
  %0: f64[n, m] = negative(%x)
  %1: f64[k, l] = exp(%y)
  %2: f64[n, m] = multiply(%0, %1)
  return %2"""


def named(source: str, *, fused: bool = False) -> Program:
    guards = parsed(source).guards

    def step(before: Program) -> Program:
        made = same_sizes(before, guards)
        return fuse(made) if fused else made

    return after_building(step, source, X, Y)


def test_one_symbol_for_sizes_that_are_equal() -> None:
    source = PRODUCT.format(guards="\n  guards k == n, l == m")
    assert_expected_inline(
        text(named(source)),
        """\
loops f
  symbols m = 4 (>= 2), n = 3 (>= 2)
  input x: float64[n, m]
  input y: float64[n, m]
  output b2: float64[n, m]
  for i0 in 0:n
    for i1 in 0:m
      b2[i0, i1] = multiply(negative(x[i0, i1]), exp(y[i0, i1]))
  bytes moved 24*m*n; copies 0""",
    )
    assert_expected_inline(
        body(named(source, fused=True)),
        """\
for i0 in 0:m*n
  b2[floordiv(i0, m), mod(i0, m)] = multiply(negative(x[floordiv(i0, m), mod(i0, m)]), exp(y[floordiv(i0, m), mod(i0, m)]))""",
    )


def test_equality_is_followed_from_guard_to_guard() -> None:
    source = """
functional f(%x: f64[n], %y: f64[m], %z: f64[k])
  symbols n = 4 (>= 2), m = 4 (>= 2), k = 4 (>= 2)
  guards m == n, k == m
  %0: f64[n] = add(%x, %y)
  %1: f64[n] = add(%0, %z)
  return %1"""
    graph, row = parsed(source), np.arange(4.0)
    found = after_building(lambda p: fuse(same_sizes(p, graph.guards)), source, row, row, row)
    assert_expected_inline(
        text(found),
        """\
loops f
  symbols n = 4 (>= 2)
  input x: float64[n]
  input y: float64[n]
  input z: float64[n]
  output b3: float64[n]
  for i0 in 0:n
    b3[i0] = add(add(x[i0], y[i0]), z[i0])
  bytes moved 32*n; copies 0""",
    )


def test_other_relations_say_nothing() -> None:
    source = PRODUCT.format(guards="\n  guards k <= n")
    guards = parsed(source).guards

    def step(before: Program) -> Program:
        made = same_sizes(before, guards)
        assert made is before
        return made

    after_building(step, source, X, Y)


def test_a_size_is_never_below_what_a_guard_says() -> None:
    source = """
functional f(%x: f64[n], %y: f64[m])
  symbols n = 12 (>= 1), m = 7 (>= 2)
  guards n >= 4, 5 < m, n <= 90, n + m > 3
  %0: f64[n] = negative(%x)
  %1: f64[m] = exp(%y)
  return %0, %1"""
    guards = parsed(source).guards
    made = after_building(lambda p: same_sizes(p, guards), source, np.ones(12), np.ones(7))
    assert "symbols m = 7 (>= 6), n = 12 (>= 4)" in text(made)
