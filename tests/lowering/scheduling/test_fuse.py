"""Loop nests that share data run together: graph text → the text of fused nests."""

import sys
from typing import Any

import numpy as np
from expecttest import assert_expected_inline

from fxc.ir.symbols import symbol
from fxc.lowering.nests.buffers import F64
from fxc.lowering.nests.statements import Load, Loop, Store
from fxc.lowering.scheduling.fuse import fuse
from tests.passed import parsed
from tests.scheduled import after, after_building, body, buffer, built, program, text

ROW = np.arange(8.0) - 3
TABLE = np.arange(120.0).reshape(3, 40) % 7


def fused(source: str, *inputs: np.ndarray) -> str:
    return body(after_building(fuse, source, *inputs))


def test_a_chain_is_one_nest_without_temporaries() -> None:
    source = """
functional f(%x: f64[8], %y: f64[8])
  %0: f64[8] = multiply(%x, %y)
  %1: f64[8] = add(%0, %x)
  %2: f64[8] = sqrt(%1)
  return %2"""
    assert_expected_inline(
        text(after_building(fuse, source, ROW, ROW)),
        """\
loops f
  input x: float64[8]
  input y: float64[8]
  output b2: float64[8]
  for i0 in 0:8
    t1 = x[i0]
    b2[i0] = sqrt(add(multiply(t1, y[i0]), t1))
  bytes moved 192; copies 0""",
    )


def test_a_value_of_two_users_is_made_once() -> None:
    source = """
functional f(%x: f64[8])
  %0: f64[8] = exp(%x)
  %1: f64[8] = negative(%0)
  return %0, %1"""
    assert_expected_inline(
        fused(source, ROW),
        """\
for i0 in 0:8
  t2 = exp(x[i0])
  b1[i0] = t2
  b2[i0] = negative(t2)""",
    )


def test_a_nest_is_moved_over_another_one() -> None:
    source = """
functional f(%x: f64[8], %y: f64[6])
  %0: f64[8] = negative(%x)
  %1: f64[6] = negative(%y)
  %2: f64[8] = square(%x)
  return %0, %1, %2"""
    assert_expected_inline(
        fused(source, ROW, ROW[:6]),
        """\
for i0 in 0:8
  t1 = x[i0]
  b2[i0] = negative(t1)
  b4[i0] = square(t1)
for i1 in 0:6
  b3[i1] = negative(y[i1])""",
    )


def test_what_a_nest_reads_goes_in_front_of_the_one_that_takes_it() -> None:
    source = """
functional f(%x: f64[6], %y: f64[8])
  %0: f64[6] = negative(%x)
  %1: f64[8] = negative(%y)
  %2: f64[6] = slice_copy(%1, [2:8:1])
  %3: f64[6] = multiply(%0, %2)
  return %0, %1, %3"""
    assert_expected_inline(
        fused(source, ROW[:6], ROW),
        """\
for i1 in 0:8
  b3[i1] = negative(y[i1])
for i0 in 0:6
  t2 = negative(x[i0])
  b2[i0] = t2
  b4[i0] = multiply(t2, b3[i0 + 2])""",
    )


def test_what_reads_of_the_earlier_nest_stays_behind_it() -> None:
    source = """
functional f(%x: f64[6], %y: f64[8])
  %0: f64[6] = exp(%x)
  %1: f64[6]{-8} = slice_copy(%0, [5:-1:-1])
  %2: f64[8] = slice_scatter(%y, %1, [1:7:1])
  %3: f64[6] = slice_copy(%2, [2:8:1])
  %4: f64[6] = multiply(%0, %3)
  return %0, %2, %4"""
    found = fused(source, ROW[:6], ROW)
    assert found.index("exp") < found.index(" + 1] = ") < found.index("multiply")


def test_the_nest_that_shares_most_takes_another_one() -> None:
    source = """
functional f(%x: f64[8], %y: f64[8])
  %0: f64[8] = multiply(%x, %y)
  %1: f64[8]{-8} = slice_copy(%0, [7:-1:-1])
  %2: f64[8] = add(%1, %x)
  %3: f64[8] = subtract(%0, %y)
  return %0, %2, %3"""
    assert_expected_inline(
        fused(source, ROW, ROW),
        """\
for i0 in 0:8
  t2 = y[i0]
  t3 = multiply(x[i0], t2)
  b2[i0] = t3
  b4[i0] = subtract(t3, t2)
for i1 in 0:8
  b3[i1] = add(b2[-i1 + 7], x[i1])""",
    )


def test_nests_between_join_what_shares_data_with_them_now() -> None:
    source = """
functional f(%x: f64[8], %y: f64[8], %z: f64[8])
  %0: f64[8] = multiply(%x, %y)
  %1: f64[8] = square(%z)
  %2: f64[8] = add(%x, %y)
  %3: f64[8] = subtract(%2, %z)
  return %0, %1, %3"""
    assert_expected_inline(
        fused(source, ROW, ROW, ROW),
        """\
for i0 in 0:8
  t1 = x[i0]
  t2 = y[i0]
  b3[i0] = multiply(t1, t2)
  t9 = z[i0]
  b5[i0] = subtract(add(t1, t2), t9)
  b4[i0] = square(t9)""",
    )


def test_nests_without_common_data_stay_apart() -> None:
    source = """
functional f(%x: f64[8], %y: f64[8])
  %0: f64[8] = negative(%x)
  %1: f64[8] = negative(%y)
  return %0, %1"""
    assert_expected_inline(
        fused(source, ROW, ROW + 1),
        """\
for i0 in 0:8
  b2[i0] = negative(x[i0])
for i1 in 0:8
  b3[i1] = negative(y[i1])""",
    )


def test_an_element_of_another_iteration_keeps_nests_apart() -> None:
    source = """
functional f(%x: f64[8])
  %0: f64[8] = square(%x)
  %1: f64[8]{-8} = slice_copy(%0, [7:-1:-1])
  %2: f64[8] = add(%0, %1)
  %3: f64[8] = negative(%0)
  return %2, %3, %0"""
    assert_expected_inline(
        fused(source, ROW),
        """\
for i0 in 0:8
  b1[i0] = square(x[i0])
for i1 in 0:8
  t3 = b1[i1]
  b2[i1] = add(t3, b1[-i1 + 7])
  b3[i1] = negative(t3)""",
    )


def test_a_nest_that_reads_what_an_update_overwrites_runs_first() -> None:
    source = """
functional f(%x: f64[8])
  %0: f64[7] = slice_copy(%x, [1:8:1])
  %1: f64[7] = slice_copy(%x, [0:7:1])
  %2: f64[7] = subtract(%0, %1)
  %3: f64[7] = multiply(%2, 2.0)
  %4: f64[8] = slice_scatter(%x, %2, [0:7:1])
  return %3, %4
  signature
    %x := result 1 in slice([0:7:1])
    output 0 = result 0: f64[7]"""
    assert_expected_inline(
        fused(source, ROW),
        """\
for i0 in 0:7
  b1[i0] = multiply(subtract(x[i0 + 1], x[i0]), 2.0)
for i1 in 0:7 ordered
  x[i1] = subtract(x[i1 + 1], x[i1])""",
    )


def test_a_loop_that_must_run_in_its_order_stays_alone() -> None:
    i0 = symbol("i0", hint=0, lower=0)
    copied = Loop("i0", 7, (Load("a", F64, "x", (i0,)), Store("out", (i0,), "a", F64)))
    moved = (Load("b", F64, "x", (i0 + 1,)), Store("x", (i0,), "b", F64))
    before = program(
        [buffer("x", "input", 8), buffer("out", "output", 7)],
        copied,
        Loop("i0", 7, moved, ordered=True),
        results=("out",),
    )
    assert after(fuse, before, ROW) == before


def test_a_total_is_not_read_in_the_loop_that_makes_it() -> None:
    source = """
functional f(%x: f64[8])
  %0: f64 = max(%x, axis=None, keepdims=False)
  %1: f64[8] = subtract(%x, %0)
  return %1"""
    assert_expected_inline(
        fused(source, ROW),
        """\
for i0 in 0:8
  t2 = maximum x[i0]  [any]
for i1 in 0:8
  b2[i1] = subtract(x[i1], t2)""",
    )


ROWS = """
functional f(%x: f64[3, {n}])
  %0: f64[3, 1] = max(%x, axis=(1,), keepdims=True)
  %1: f64[3, {n}] = subtract(%x, %0)
  return %1"""


def test_long_loops_side_by_side_share_the_loop_around() -> None:
    assert_expected_inline(
        fused(ROWS.format(n=40), TABLE),
        """\
for i0 in 0:3
  for i1 in 0:40
    t2 = maximum x[i0, i1]  [any]
  for i3 in 0:40
    b2[i0, i3] = subtract(x[i0, i3], t2)""",
    )


def test_short_loops_side_by_side_do_not() -> None:
    assert_expected_inline(
        fused(ROWS.format(n=4), TABLE[:, :4].copy()),
        """\
for i0 in 0:3
  for i1 in 0:4
    t2 = maximum x[i0, i1]  [any]
  b1[i0, 0] = t2
for i2 in 0:3
  for i3 in 0:4
    b2[i2, i3] = subtract(x[i2, i3], b1[i2, 0])""",
    )


def test_sums_in_trees_share_a_loop_with_what_they_add() -> None:
    source = """
functional f(%x: f64[8], %y: f64[8])
  %0: f64[8] = multiply(%x, %y)
  %1: f64 = sum(%0, axis=None, keepdims=False, dtype=None)
  %2: f64 = sum(%x, axis=None, keepdims=False, dtype=None)
  return %1, %2"""
    assert_expected_inline(
        fused(source, ROW, ROW + 1),
        """\
for i0 in 0:8
  t1 = x[i0]
  t4 = add multiply(t1, y[i0])  [pairwise]
  t6 = add t1  [pairwise]
b2[] = t4
b3[] = t6""",
    )


def test_a_sum_of_another_dtype_shares_a_loop_where_one_buffer_holds_all() -> None:
    source = """
functional f(%x: f32[{n}])
  %0: f32[{n}] = sqrt(%x)
  %1: f64 = sum(%0, axis=None, keepdims=False, dtype=f64)
  return %0, %1"""
    for n, loops in ((8192, 1), (8193, 2)):
        x = np.ones(n, np.float32)
        assert fused(source.format(n=n), x).count("for ") == loops


def calls_to_fuse(nodes: int) -> int:
    """How many functions are called to fuse so many nests, each of which reads the two before."""
    lines = [f"  %{k}: f64[8] = multiply(%{k - 1}, %{k - 2})" for k in range(2, nodes)]
    source = ["functional f(%x: f64[8])", "  %0: f64[8] = exp(%x)", "  %1: f64[8] = exp(%0)"]
    before = built(parsed("\n".join([*source, *lines, f"  return %{nodes - 1}"])))
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        made = fuse(before)
    finally:
        sys.setprofile(None)
    assert made.kernels == 1
    return calls


def test_twice_as_many_nests_take_twice_as_long() -> None:
    assert calls_to_fuse(80) < 2.7 * calls_to_fuse(40)


def test_nests_that_a_third_one_joins_are_one() -> None:
    """The first two share nothing; the third shares something with each."""
    source = """
functional f(%x: f64[3, 40], %y: f64[3, 40])
  %0: f64[3, 40] = exp(%x)
  %1: f64[3, 40] = sqrt(%y)
  %2: f64[3, 40] = add(%1, %y)
  %3: f64[3, 40] = add(%0, %1)
  return %0, %2, %3"""
    assert_expected_inline(
        fused(source, TABLE, TABLE),
        """\
for i0 in 0:120
  t2 = exp(x[floordiv(i0, 40), mod(i0, 40)])
  b2[floordiv(i0, 40), mod(i0, 40)] = t2
  t3 = y[floordiv(i0, 40), mod(i0, 40)]
  t4 = sqrt(t3)
  b4[floordiv(i0, 40), mod(i0, 40)] = add(t4, t3)
  b5[floordiv(i0, 40), mod(i0, 40)] = add(t2, t4)""",
    )


def test_stores_to_even_and_to_odd_elements_are_one_nest() -> None:
    source = """
functional f(%x: f64[8], %y: f64[4])
  %0: f64[4] = slice_copy(%x, [0:8:2])
  %1: f64[4] = add(%0, %y)
  %2: f64[8] = slice_scatter(%x, %1, [0:8:2])
  %3: f64[4] = negative(%y)
  %4: f64[8] = slice_scatter(%2, %3, [1:8:2])
  return %4
  signature
    %x := result 0"""
    assert_expected_inline(
        fused(source, ROW, ROW[:4]),
        """\
for i0 in 0:4
  t2 = y[i0]
  x[2*i0] = add(x[2*i0], t2)
  x[2*i0 + 1] = negative(t2)""",
    )


def test_elements_that_an_iteration_leaves_to_a_later_one_keep_nests_apart() -> None:
    i, j = (symbol(f"i{n}", hint=0, lower=0) for n in (0, 1))
    x, y = buffer("x", "input", 8), buffer("y", "output", 8)
    first = Loop("i0", 3, (Load("t1", F64, "x", (i * 2,)), Store("y", (i * 2,), "t1", F64)))
    for place in (1, 2, 3):
        second = Loop(
            "i1",
            3,
            (Load("t2", F64, "y", (j * 2 + place,)), Store("x", (j * 2 + place,), "t2", F64)),
        )
        made = after(fuse, program([x, y], first, second, results=("y",)), ROW)
        assert (len(made.body) == 1) == (place % 2 == 1)
