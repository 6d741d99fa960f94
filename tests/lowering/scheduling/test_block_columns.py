"""Column sums walk along rows: nests that go down columns → nests that go along blocks of rows."""

from dataclasses import replace

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.independence import verify_parallel
from fxc.lowering.nests.program import Program
from fxc.lowering.scheduling.block_columns import block_columns
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.parallel import parallel
from tests.scheduled import after, after_building, body, text

X = np.arange(20.0 * 5).reshape(20, 5) % 7
SUMS = """
functional f(%x: f64[20, 5])
  %0: f64[5] = sum(%x, axis=({axis},), keepdims=False, dtype=None)
  %1: f64[5] = negative(%0)
  return %1"""


TINY = Target(costs=Costs(columns_step=16, columns_bytes=64))  # any array is large


def blocked(program: Program) -> Program:
    return block_columns(fuse(program))


def test_columns_that_are_far_apart_are_added_in_blocks_of_rows() -> None:
    found = after_building(blocked, SUMS.format(axis=0), X, target=TINY)
    assert_expected_inline(
        text(found),
        """\
loops f
  input x: float64[20, 5]
  output b2: float64[5]
  temp t2.totals: float64[5]
  for i1 in 0:5
    t2.totals[i1] = 0.0
  for i0b in 0:2 ordered
    for i1 in 0:5
      t2.so_far = t2.totals[i1]
      for i0 in 0:8
        t2 = add x[i0 + 8*i0b, i1] ahead 512  [sequential from t2.so_far]
      t2.totals[i1] = t2
  for i1 in 0:5
    t2.so_far.left = t2.totals[i1]
    for i0 in 0:4
      t2.left = add x[i0 + 16, i1] ahead 512  [sequential from t2.so_far.left]
    t2.totals[i1] = t2.left
  for i1 in 0:5
    t2 = t2.totals[i1]
    b2[i1] = negative(t2)
  bytes moved 1080; copies 0""",
    )


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 33])
def test_the_last_block_ends_with_the_rows(rows: int) -> None:
    source = SUMS.format(axis=0).replace("20", str(rows))
    found = after_building(blocked, source, np.arange(rows * 5.0).reshape(rows, 5), target=TINY)
    assert ("i0b" in body(found)) is (rows > 1)


def test_rows_are_added_as_they_are() -> None:
    source = SUMS.format(axis=1).replace("f64[5]", "f64[20]")
    found = after_building(fuse, source, X, target=TINY)
    assert after(block_columns, found, X) == found


def test_a_small_array_stays_in_the_cache() -> None:
    found = after_building(fuse, SUMS.format(axis=0), X)
    assert after(block_columns, found, X) == found


def test_columns_of_symbolic_size() -> None:
    source = """
functional f(%x: f64[n, m])
  symbols n = 20 (>= 2), m = 5 (>= 2)
  %0: f64[m] = max(%x, axis=(0,), keepdims=False)
  return %0"""
    assert_expected_inline(
        body(after_building(blocked, source, X, target=TINY)),
        """\
for i1 in 0:m
  t2.totals[i1] = -inf
for i0b in 0:floordiv(n, 8) ordered
  for i1 in 0:m
    t2.so_far = t2.totals[i1]
    for i0 in 0:8
      t2 = maximum x[i0 + 8*i0b, i1] ahead 512  [any from t2.so_far]
    t2.totals[i1] = t2
for i1 in 0:m
  t2.so_far.left = t2.totals[i1]
  for i0 in 0:mod(n, 8)
    t2.left = maximum x[i0 + 8*floordiv(n, 8), i1] ahead 512  [any from t2.so_far.left]
  t2.totals[i1] = t2.left
for i1 in 0:m
  t2 = t2.totals[i1]
  b1[i1] = t2""",
    )


MANY = Target(
    threads=2, costs=Costs(columns_step=16, columns_bytes=64, columns_width=16, chunk=1, least=0)
)


@pytest.mark.parametrize(("columns", "width"), [(5, 2), (8, 4), (9, 4), (4, 2), (3, None)])
def test_threads_take_blocks_of_columns(columns: int, width: int | None) -> None:
    source = (
        SUMS.format(axis=0).replace("20, 5", f"21, {columns}").replace("f64[5]", f"f64[{columns}]")
    )
    values = np.arange(21.0 * columns).reshape(21, columns) % 7
    found = after_building(lambda p: parallel(blocked(p)), source, values, target=MANY)
    assert ("i1b in" in body(found)) is (width is not None)
    if width is not None:
        assert f"{width}*i1b" in body(found)
        assert body(found).startswith(f"for i1b in 0:{-(-columns // width)} parallel 1")
        verify_parallel(found)


def test_one_thread_takes_all_columns() -> None:
    target = replace(MANY, threads=1)
    assert "i1b" not in body(after_building(blocked, SUMS.format(axis=0), X, target=target))
