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
