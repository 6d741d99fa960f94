"""Counted sizes of arrays that were too large: nothing bounds them."""

import pytest
from expecttest import assert_expected_inline

from fxc.passes.loose_bounds import without_loose_bounds
from tests.passed import after

PAIRS = """
functional f(%n: py.int)
  symbols count = 3 (>= 0, <= {most})
  %0: py.int = bind_size(%n, symbol='count', most={most})
  %1: f64[count, count] = zeros((count, count), f64, layout=None)
  return %1"""

CHOSEN = """
functional f(%x: f64[5000])
  symbols count = 3 (>= 0, <= 5000)
  %0: bool[5000] = greater(%x, 0.0)
  %1: i64 = sum(%0, axis=None, keepdims=False, dtype=None)
  %2: py.int = bind_size(%1, symbol='count', most=5000)
  %3: i64[count, 1] = nonzero(%0, count=count)
  %4: f64[count, count] = zeros((count, count), f64, layout=None)
  return %3, %4"""

LONG = """
functional f(%n: py.int)
  symbols count = 3 (>= 0, <= 131072)
  %0: py.int = bind_size(%n, symbol='count', most=131072)
  %1: f64[count, 4096] = zeros((count, 4096), f64, layout=None)
  return %1"""


def test_a_matrix_of_many_pairs() -> None:
    assert_expected_inline(
        after(without_loose_bounds, PAIRS.format(most=131072), (3,), (5,)),
        """\
  symbols count = 3 (>= 0, <= 131072)
  %0: py.int = bind_size(%n, symbol='count', most=1073741824)
  %1: f64[count, count] = zeros((count, count), f64, layout=None)
  return %1""",
    )


def test_a_matrix_of_few_pairs_has_room_for_all() -> None:
    assert "most=1073741824" not in after(without_loose_bounds, PAIRS.format(most=500))


@pytest.mark.parametrize("source", [CHOSEN, LONG], ids=["pairs of what a mask chooses", "one axis"])
def test_what_has_no_bound_either(source: str) -> None:
    assert "most=1073741824" in after(without_loose_bounds, source)
