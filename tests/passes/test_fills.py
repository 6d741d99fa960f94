"""One fill for each update: what equal fills become, and that nothing is copied then."""

from __future__ import annotations

from typing import Any

import numpy as np
from expecttest import assert_expected_inline

import fxc
from fxc.passes.fills import fills_apart
from tests.passed import after

X = np.arange(4.0)

SHARED = """
functional f(%x: f64[4])
  %0: f64[4]{{0}} = broadcast_to_copy(0.0, (4,))
  %1: f64[4] = copy(%0, order='C')
  %2: f64[3] = slice_copy(%x, [1:4:1])
  %3: f64[4] = slice_scatter(%1, %2, [1:4:1])
  %4: f64[3] = slice_copy(%1, [0:3:1])
  %5: f64[3] = add(%4, %2)
  %6: f64[4] = slice_scatter(%1, %5, [0:3:1])
  return {}"""


def test_each_reader_of_an_updated_fill_has_its_own() -> None:
    assert_expected_inline(
        after(fills_apart, SHARED.format("%3, %6"), [X]),
        """\
  %0: f64[4]{0} = broadcast_to_copy(0.0, (4,))
  %2: f64[3] = slice_copy(%x, [1:4:1])
  %7: f64[4] = copy(%0, order='C')
  %3: f64[4] = slice_scatter(%7, %2, [1:4:1])
  %8: f64[4] = copy(%0, order='C')
  %4: f64[3] = slice_copy(%8, [0:3:1])
  %5: f64[3] = add(%4, %2)
  %9: f64[4] = copy(%0, order='C')
  %6: f64[4] = slice_scatter(%9, %5, [0:3:1])
  return %3, %6""",
    )


def test_a_fill_that_is_a_result_stays() -> None:
    found = after(fills_apart, SHARED.format("%3, %6, %1"), [X])
    assert found.count("= copy(") == 4
    assert found.endswith("return %3, %6, %1")


def test_what_is_read_alone_stays_one_fill() -> None:
    source = """
functional f(%x: f64[4])
  %0: f64[4]{0} = broadcast_to_copy(0.0, (4,))
  %1: f64[4] = copy(%0, order='C')
  %2: f64[4] = add(%1, %x)
  %3: f64[4] = subtract(%1, %x)
  return %2, %3"""
    assert after(fills_apart, source, [X]).count("= copy(") == 1


def test_fills_in_and_around_a_branch() -> None:
    source = """
functional f(%x: f64[4], %c: bool)
  %0: f64[4]{0} = broadcast_to_copy(0.0, (4,))
  %1: f64[4] = copy(%0, order='C')
  %2: f64[3] = slice_copy(%x, [1:4:1])
  %3: f64[4] = slice_scatter(%1, %2, [1:4:1])
  %4: f64[4] = slice_scatter(%1, %2, [0:3:1])
  %5: f64[4] = cond(%c, (), on_true={
    ()
    %6: f64[4] = add(%1, %x)
    yield %6
  }, on_false={
    ()
    yield %1
  })
  return %3, %4, %5"""
    found = after(fills_apart, source, [X, np.True_], [X, np.False_])
    assert found.count("= copy(") == 3


def reset(x: Any, y: Any, z: Any) -> None:
    x[...] = 0.0
    y[...] = 0.0
    x[1:] += z[1:]
    y[:-1] += z[:-1]


def test_arrays_that_are_reset_alike_are_not_copied() -> None:
    x, y = np.ones(4), np.ones(4)
    compiled = fxc.compile(reset, fullgraph=True)
    assert not compiled.inspect(x, y, X + 1).loops.copies
    compiled(x, y, X + 1)
    assert x.tolist() == [0, 2, 3, 4]
    assert y.tolist() == [1, 2, 3, 0]
