"""functionalize: captured text, with views and writes → functional text and a signature."""

from typing import Any

import numpy as np
from expecttest import assert_expected_inline

from fxc.dispatch.default import default_dispatcher
from fxc.ir.graph import Graph
from fxc.ir.signature import ResultLeaf
from fxc.passes.functionalize import functionalize
from tests.passed import after

X, Y = np.arange(8.0), np.arange(6.0)


def functional(source: str, *inputs: Any) -> str:
    """As functionalization leaves it, not simplified."""

    def step(graph: Graph) -> Graph:
        leaves = tuple(ResultLeaf(place, x.type) for place, x in enumerate(graph.outputs))
        return functionalize(graph, leaves, default_dispatcher())

    return after(step, source, inputs)


def test_a_write_to_a_view_is_a_scatter_into_its_base() -> None:
    source = """
captured f(%x: f64[8], %y: f64[6])
  %0: f64[6] = slice(%x, [1:7:1])
  multiply_(%0, 2)
  add_(%x, 1)
  %1: f64[6] = add(%0, %y)
  return %1"""
    assert_expected_inline(
        functional(source, X, Y),
        """\
  %0: f64[6] = slice_copy(%x, [1:7:1])
  %1: f64[6] = multiply(%0, 2)
  %2: f64[8] = slice_scatter(%x, %1, [1:7:1])
  %3: f64[8] = add(%2, 1)
  %4: f64[6] = slice_copy(%3, [1:7:1])
  %5: f64[6] = add(%4, %y)
  return %5, %3
  signature
    %x := result 1
    output 0 = result 0: f64[6]""",
    )


def test_views_of_one_array_see_each_others_writes() -> None:
    source = """
captured f(%x: f64[8])
  %0: f64[6] = slice(%x, [0:6:1])
  %1: f64[6]{-8} = slice(%x, [7:1:-1])
  multiply_(%0, 3)
  add_(%1, %0)
  %2: f64[6] = add(%0, %1)
  return %2"""
    assert_expected_inline(
        functional(source, X),
        """\
  %0: f64[6] = slice_copy(%x, [0:6:1])
  %1: f64[6] = multiply(%0, 3)
  %2: f64[8] = slice_scatter(%x, %1, [0:6:1])
  %3: f64[6]{-8} = slice_copy(%2, [7:1:-1])
  %4: f64[6] = slice_copy(%2, [0:6:1])
  %5: f64[6] = add(%3, %4)
  %6: f64[8] = slice_scatter(%2, %5, [7:1:-1])
  %7: f64[6] = slice_copy(%6, [0:6:1])
  %8: f64[6]{-8} = slice_copy(%6, [7:1:-1])
  %9: f64[6] = add(%7, %8)
  return %9, %6
  signature
    %x := result 1 in slice([0:6:1]) in slice([7:1:-1])
    output 0 = result 0: f64[6]""",
    )


def test_a_view_of_a_view_is_written_through_both() -> None:
    source = """
captured f(%x: f64[8])
  %0: f64[6] = slice(%x, [1:7:1])
  %1: f64[3]{16} = slice(%0, [0:6:2])
  multiply_(%1, 5)
  return %0"""
    assert_expected_inline(
        functional(source, X),
        """\
  %0: f64[3]{16} = slice_copy(%x, [1:6:2])
  %1: f64[3] = multiply(%0, 5)
  %2: f64[8] = slice_scatter(%x, %1, [1:6:2])
  return %2
  signature
    %x := result 0 in slice([1:6:2])
    output 0 = view 0 of input %x by slice([1:7:1])""",
    )


def test_what_is_made_inside_is_written_without_a_mutation() -> None:
    source = """
captured f(%x: f64[8])
  %0: f64[8] = negative(%x)
  %1: f64[] = select(%0, 0, 0)
  copy_(%1, 7.0, casting='unsafe')
  return %0"""
    assert_expected_inline(
        functional(source, X),
        """\
  %0: f64[8] = negative(%x)
  %1: f64[] = broadcast_to_copy(7.0, ())
  %2: f64[8] = select_scatter(%0, %1, 0, 0)
  return %2""",
    )


def test_an_input_that_is_returned_is_the_callers_array() -> None:
    source = """
captured f(%x: f64[8])
  add_(%x, 1)
  %0: f64[4]{16} = slice(%x, [0:8:2])
  return %x, %0"""
    assert_expected_inline(
        functional(source, X),
        """\
  %0: f64[8] = add(%x, 1)
  return %0
  signature
    %x := result 0
    output 0 = input %x
    output 1 = view 0 of input %x by slice([0:8:2])""",
    )


def test_a_branch_gives_what_it_has_written() -> None:
    source = """
captured f(%x: f64[8], %c: bool)
  %0: f64[4] = slice(%x, [0:4:1])
  %1: f64[4] = cond(%c, (%0,), on_true={
    (%2: f64[4])
    %3: f64[4] = multiply(%2, 2)
    yield %3
  }, on_false={
    (%4: f64[4])
    %5: f64[4] = add(%4, 1)
    yield %5
  })
  copy_(%0, %1, casting='unsafe')
  return %1"""
    assert_expected_inline(
        functional(source, X, np.True_),
        """\
  %4: f64[4] = slice_copy(%x, [0:4:1])
  %5: f64[4] = cond(%c, (%4,), on_true={
    (%0: f64[4])
    %1: f64[4] = multiply(%0, 2)
    yield %1
  }, on_false={
    (%2: f64[4])
    %3: f64[4] = add(%2, 1)
    yield %3
  })
  %6: f64[8] = slice_scatter(%x, %5, [0:4:1])
  return %5, %6
  signature
    %x := result 1 in slice([0:4:1])
    output 0 = result 0: f64[4]""",
    )
