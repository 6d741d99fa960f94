"""unread and overwrites: nodes whose values nobody sees disappear, in regions, too."""

import numpy as np
from expecttest import assert_expected_inline

from fxc.ir.graph import Graph
from fxc.passes.overwrites import drop_overwritten
from fxc.passes.unread import drop_unread
from tests.passed import after

X = np.arange(8.0)


def read(graph: Graph) -> Graph:
    return graph.with_body(drop_unread(graph.body))


def seen(graph: Graph) -> Graph:
    return graph.with_body(drop_overwritten(graph.body))


def test_nodes_and_what_only_they_read() -> None:
    source = """
functional f(%x: f64[8])
  %0: f64[8] = negative(%x)
  %1: f64[8] = exp(%0)
  %2: f64[8] = square(%x)
  return %2"""
    assert_expected_inline(
        after(read, source, (X,)),
        """\
  %2: f64[8] = square(%x)
  return %2""",
    )


def test_what_may_raise_stays() -> None:
    source = """
functional f(%x: f64[8], %y: py.int)
  %0: py.int = try_add(%y, 1)
  %1: py.int = py_and(%0, 3)
  return %x"""
    assert_expected_inline(
        after(read, source, (X, 5)),
        """\
  %0: py.int = try_add(%y, 1)
  return %x""",
    )


def test_what_a_loop_carries_for_nobody() -> None:
    source = """
functional f(%x: f64[8], %y: f64[8])
  symbols i = 0 (>= 0)
  %0: f64[8], %1: f64[8] = fori_loop(0, 3, (%x, %y), body={
    (%i: py.int, %2: f64[8], %3: f64[8])
    %4: f64[8] = negative(%2)
    %5: f64[8] = add(%3, %2)
    yield %4, %5
  }, stops=False)
  return %0"""
    assert_expected_inline(
        after(read, source, (X, X + 1)),
        """\
  %0: f64[8] = fori_loop(0, 3, (%x,), body={
    (%i: py.int, %2: f64[8])
    %4: f64[8] = negative(%2)
    yield %4
  }, stops=False)
  return %0""",
    )


def test_what_a_later_write_hides() -> None:
    source = """
functional f(%x: f64[8], %y: f64[4], %z: f64[6])
  %0: f64[8] = slice_scatter(%x, %y, [1:5:1])
  %1: f64[8] = slice_scatter(%0, %z, [0:6:1])
  return %1"""
    assert_expected_inline(
        after(seen, source, (X, X[:4], X[2:])),
        """\
  %1: f64[8] = slice_scatter(%x, %z, [0:6:1])
  return %1""",
    )


def test_what_a_later_write_leaves_in_part() -> None:
    source = """
functional f(%x: f64[8], %y: f64[4], %z: f64[4])
  %0: f64[8] = slice_scatter(%x, %y, [1:5:1])
  %1: f64[8] = slice_scatter(%0, %z, [2:6:1])
  return %1"""
    assert_expected_inline(
        after(seen, source, (X, X[:4], X[2:6])),
        """\
  %0: f64[8] = slice_scatter(%x, %y, [1:5:1])
  %1: f64[8] = slice_scatter(%0, %z, [2:6:1])
  return %1""",
    )


def test_what_is_read_before_it_is_overwritten() -> None:
    source = """
functional f(%x: f64[8], %y: f64[4])
  %0: f64[8] = slice_scatter(%x, %y, [0:4:1])
  %1: f64[4] = slice_copy(%0, [2:6:1])
  %2: f64[8] = slice_scatter(%0, %1, [0:4:1])
  return %2"""
    assert_expected_inline(
        after(seen, source, (X, X[4:])),
        """\
  %0: f64[8] = slice_scatter(%x, %y, [0:4:1])
  %1: f64[4] = slice_copy(%0, [2:6:1])
  %2: f64[8] = slice_scatter(%0, %1, [0:4:1])
  return %2""",
    )
