"""ranges: operators of Python ints that cannot fail → such that are not checked."""

import numpy as np
from expecttest import assert_expected_inline

from fxc.passes.ranges import prove_ranges
from tests.passed import after


def test_sums_of_small_numbers() -> None:
    source = """
functional f(%x: i32[], %y: py.int)
  %0: i32 = item(%x)
  %1: py.int = py_int(%0)
  %2: py.int = try_add(%1, 1)
  %3: py.int = try_multiply(%2, %2)
  %4: py.int = try_add(%y, 1)
  return %3, %4"""
    assert_expected_inline(
        after(prove_ranges, source, (np.array(7, "i4"), 3)),
        """\
  %0: i32 = item(%x)
  %1: py.int = py_int(%0)
  %2: py.int = py_add(%1, 1)
  %3: py.int = py_multiply(%2, %2)
  %4: py.int = try_add(%y, 1)
  return %3, %4""",
    )


def test_a_condition_says_what_holds_in_its_arm() -> None:
    source = """
functional f(%y: py.int)
  %0: py.bool = py_less(%y, 100)
  %1: py.int = cond(%0, (), on_true={
    ()
    %2: py.int = try_add(%y, 1)
    yield %2
  }, on_false={
    ()
    %3: py.int = try_subtract(%y, 1)
    yield %3
  })
  return %1"""
    assert_expected_inline(
        after(prove_ranges, source, (5,), (500,)),
        """\
  %0: py.bool = py_less(%y, 100)
  %1: py.int = cond(%0, (), on_true={
    ()
    %2: py.int = py_add(%y, 1)
    yield %2
  }, on_false={
    ()
    %3: py.int = py_subtract(%y, 1)
    yield %3
  })
  return %1""",
    )


def test_what_a_loop_counts() -> None:
    source = """
functional f(%n: py.int)
  symbols n = 5 (>= 1), i = 0 (>= 0)
  %0: py.int = int_value(n)
  %1: py.int, %2: py.int = fori_loop(0, %0, (0, 1), body={
    (%i: py.int, %3: py.int, %4: py.int)
    %5: py.int = try_add(%3, 2)
    %6: py.int = try_multiply(%4, 3)
    yield %5, %6
  }, stops=False)
  return %1, %2"""
    assert_expected_inline(
        after(prove_ranges, source, (5,), (1,)),
        """\
  symbols n = 5 (>= 1)
  %0: py.int = int_value(n)
  %1: py.int, %2: py.int = fori_loop(0, %0, (0, 1), body={
    (%i: py.int, %3: py.int, %4: py.int)
    %5: py.int = py_add(%3, 2)
    %6: py.int = try_multiply(%4, 3)
    yield %5, %6
  }, stops=False)
  return %1, %2""",
    )


def test_what_a_comparison_always_gives_and_elements_at_dims() -> None:
    source = """
functional f(%x: f64[9], %w: py.int)
  symbols w = 3 (>= 1), i = 4 (>= 0)
  %0: f64 = fori_loop(0, 9, (f64(0.0),), body={
    (%i: py.int, %s: f64)
    %1: py.int = int_value(i)
    %2: py.int = int_value(w)
    %3: py.bool = py_greater_equal(%1, %2)
    %4: f64 = cond(%3, (), on_true={
      ()
      %5: py.int = int_value(i - w)
      %6: py.bool = py_less(%5, 0)
      %7: py.int = py_int(%6)
      %8: py.int = py_multiply(%7, 9)
      %9: py.int = py_add(%5, %8)
      %10: f64[] = dynamic_select_copy(%x, %9, axis=0)
      %11: f64 = item(%10)
      yield %11
    }, on_false={
      ()
      yield %s
    })
    yield %4
  }, stops=False)
  return %0"""
    found = after(prove_ranges, source, (np.arange(9.0), 3), (np.arange(9.0), 12))
    assert "%6: py.bool = py_equal(0, 1)" in found
    assert "%10: f64[] = select_copy(%x, 0, i - w)" in found
