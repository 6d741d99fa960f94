"""Loops get lanes, and say how they begin and end: nests → the same, in lanes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import SERIAL, Target
from fxc.lowering.nests.program import Program
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.lanes import lanes
from fxc.lowering.scheduling.parallel import parallel
from tests.scheduled import after_building, body

X = np.arange(200.0) - 3


def in_lanes(program: Program) -> Program:
    return lanes(fuse(program))


def scaled(n: object, dtype: str = "f64", symbols: str = "") -> str:
    return f"""
functional f(%x: {dtype}[{n}])
{symbols}  %0: {dtype}[{n}] = multiply(%x, %x)
  return %0"""


def head(source: str, x: np.ndarray, target: Target = SERIAL) -> str:
    """The line that begins the loop."""
    return body(after_building(in_lanes, source, x, target=target)).splitlines()[0]


@pytest.mark.parametrize(
    "size, wanted",
    [
        (3, ""),
        (5, " lanes 4 overlapping"),
        (8, " lanes 8"),
        (13, " lanes 8 overlapping"),
        (16, " lanes 8"),
        (200, " lanes 8 overlapping aligned to b1"),
    ],
)
def test_a_loop_ends_as_its_size_says(size: int, wanted: str) -> None:
    wanted = wanted.replace(" lanes 8", " lanes 8 ends first") if size == 16 else wanted
    assert head(scaled(size), X[:size]) == f"for i0 in 0:{size}{wanted}"


@pytest.mark.parametrize("vector, wanted", [(64, 16), (32, 8), (16, 4)])
def test_lanes_fill_a_register(vector: int, wanted: int) -> None:
    found = head(scaled(200, "f32"), X.astype("f4"), Target(vector=vector))
    assert found.startswith(f"for i0 in 0:200 lanes {wanted} ")


def test_elements_of_any_number_end_with_the_loop() -> None:
    source = scaled("n", symbols="  symbols n = 200 (>= 2)\n")
    assert head(source, X) == "for i0 in 0:n lanes 8 overlapping aligned to b1"


def neighbours(rows: int, columns: int) -> str:
    """The sum of so many rows in turn, of so many columns."""
    size = f"f64[{12 - rows}, {columns}]"
    slices = [
        f"  %{n}: {size} = slice_copy(%x, [{n}:{n + 12 - rows}:1, 0:{columns}:1])"
        for n in range(rows)
    ]
    sums = [
        f"  %{rows + n}: {size} = add(%{rows + n - 1 if n else 0}, %{n + 1})"
        for n in range(rows - 1)
    ]
    head = f"functional f(%x: f64[12, {columns}])"
    return "\n".join((head, *slices, *sums, f"  return %{2 * rows - 2}"))


@pytest.mark.parametrize(
    "rows, columns, split_store, aligned",
    [(3, 200, 2, "x"), (2, 200, 2, "b"), (3, 201, 2, "b"), (3, 200, 9, "b")],
    ids=["three lines", "two lines", "rows of parts of lines", "long stores"],
)
def test_vectors_begin_lines_of_what_would_be_split_most(
    rows: int, columns: int, split_store: int, aligned: str
) -> None:
    x = np.arange(12.0 * columns).reshape(12, columns)
    target = Target(costs=Costs(split_store=split_store))
    found = body(after_building(in_lanes, neighbours(rows, columns), x, target=target))
    assert re.search(rf" lanes 8 overlapping aligned to {aligned}", found)


def test_vectors_that_begin_lines_of_loads_do_all_iterations() -> None:
    """In place, too, where the ends are computed first; wherever arrays begin in a line."""

    def apart(u: np.ndarray) -> np.ndarray:
        return u[:-2] * u[1:-1] + u[2:]

    def within(u: np.ndarray) -> None:
        u[1] += u[0] * u[2] - u[3]

    compiled = [fxc.compile(function, dynamic=False) for function in (apart, within)]
    for columns in (136, 137):  # rows of whole lines, and of parts
        room = np.random.default_rng(0).random(8 * columns + 8)
        for start in range(8):
            given = room[start : start + 8 * columns].reshape(8, columns)
            np.testing.assert_array_equal(compiled[0](given), apart(given))
            wanted = given.copy()
            within(wanted)
            compiled[1](given)
            np.testing.assert_array_equal(given, wanted)
        assert ("aligned to u" in str(compiled[0].inspect(given).loops)) == (columns == 136)


def test_long_bodies_have_no_vector_written_down_for_each_end() -> None:
    few = Target(costs=Costs(ends_statements=1))
    assert head(scaled(16), X[:16], few) == "for i0 in 0:16 lanes 8"


@pytest.mark.parametrize(
    "columns, wanted",
    [("9", " moved"), ("n", " lanes 8 overlapping"), ("m", " moved")],
    ids=["known", "few", "many"],
)
def test_rows_of_few_elements_take_no_call_each(columns: str, wanted: str) -> None:
    """Nor is looked where each of them begins in a line of the cache."""
    source = f"""
functional f(%x: f64[k, {columns}])
  symbols k = 5 (>= 2), n = 9 (>= 2), m = 90 (>= 2)
  %0: f64[k, {columns} - 1] = slice_copy(%x, [0:k:1, 1:{columns}:1])
  return %0""".replace("9 - 1", "8")
    x = np.arange(5 * 90.0).reshape(5, 90)[:, : 90 if columns == "m" else 9].copy()
    found = body(after_building(in_lanes, source, x)).splitlines()
    assert found[1].endswith(("8", "- 1")[columns != "9"] + wanted)


def test_a_loop_that_copies_or_fills_is_moved() -> None:
    source = """
functional f(%x: f64[200])
  %0: f64[200] = copy(%x, order='K')
  return %0"""
    assert_expected_inline(
        body(after_building(in_lanes, source, X)),
        """\
for i0 in 0:200 moved
  b1[i0] = copy(x[i0])""",
    )


def test_totals_wait_for_each_other() -> None:
    source = """
functional f(%x: f64[200], %k: i64[200])
  %0: i64 = sum(%k, axis=None, keepdims=False, dtype=None)
  %1: f64 = sum(%x, axis=None, keepdims=False, dtype=None)
  return %0, %1"""
    assert_expected_inline(
        body(after_building(in_lanes, source, X, np.arange(200))),
        """\
for i0 in 0:200 lanes 32
  t2 = add k[i0]  [any]
b2[] = t2
for i1 in 0:200 lanes 8
  t4 = add x[i1]  [pairwise]
b3[] = t4""",
    )


def test_a_loop_inside_has_lanes_where_the_one_around_has_none() -> None:
    source = """
functional f(%x: f64[40, 5])
  %0: f64[40] = max(%x, axis=(1,), keepdims=False)
  return %0"""
    assert_expected_inline(
        body(after_building(in_lanes, source, X.reshape(40, 5))),
        """\
for i0 in 0:40 lanes 8 ends first
  for i1 in 0:5 lanes 4 again
    t2 = maximum x[i0, i1]  [any]
  b1[i0] = t2""",
    )


@pytest.mark.parametrize(
    "total, wanted", [("max", " lanes 32 again"), ("min", " lanes 32 again"), ("sum", " lanes 32")]
)
def test_what_extremes_are_found_beside_may_be_stored_twice(total: str, wanted: str) -> None:
    for size in (100, "n"):
        symbols = "  symbols n = 100 (>= 2)\n" if size == "n" else ""
        source = scaled(size, "i64", symbols).replace("  return %0", "")
        dtype = ", dtype=None" if total == "sum" else ""
        source += f"%1: i64 = {total}(%x, axis=None, keepdims=False{dtype})\n  return %0, %1"
        assert head(source, np.arange(100)) == f"for i0 in 0:{size}{wanted}"


def test_chunks_of_a_parallel_loop_are_of_any_size() -> None:
    def step(program: Program) -> Program:
        return lanes(parallel(fuse(program)))

    target = Target(threads=2, costs=Costs(chunk=1, least=0, multiple=1))
    assert_expected_inline(
        body(after_building(step, scaled(200), X, target=target)),
        """\
for i0 in 0:200 parallel 1 lanes 8 overlapping aligned to b1
  t1 = x[i0]
  b1[i0] = multiply(t1, t1)""",
    )


@pytest.mark.parametrize(
    "size, dims, costs, ends",
    [
        ("200", "", Costs(chunk=8000, least=0, multiple=1), "reaching"),
        ("200", "", Costs(chunk=2000, least=0, multiple=1), "overlapping"),
        ("n", "  symbols n = 200 (>= 2)\n", Costs(chunk=8000, least=0, multiple=1), "overlapping"),
    ],
    ids=["long chunks", "short chunks", "any size"],
)
def test_a_chunk_that_fills_no_vector_takes_some_of_the_one_in_front(
    size: str, dims: str, costs: Costs, ends: str
) -> None:
    def step(program: Program) -> Program:
        return lanes(parallel(fuse(program)))

    target = Target(threads=2, costs=costs)
    found = body(after_building(step, scaled(size, symbols=dims), X, target=target))
    assert f" lanes 8 {ends} aligned to b1" in found.splitlines()[0]


@pytest.mark.parametrize("dtype, wanted", [("f64", 32), ("f32", 64)])
def test_a_long_chain_gets_more_lanes_in_chunks_too(dtype: str, wanted: int) -> None:
    """Its operations wait for each other; those of two chains fill each other's gaps."""
    costs = Costs(chunk=1, least=0, multiple=1, lanes_much=4000)

    def found(value: str) -> str:
        source = scaled(200, dtype).replace("multiply(%x, %x)\n  return %0", value)
        program = after_building(
            lambda program: lanes(parallel(fuse(program))),
            source,
            np.asarray(X / 9, dtype.replace("64", "8").replace("32", "4")),
            target=Target(threads=2, costs=costs),
        )
        return body(program).splitlines()[0]

    assert f" parallel 1 lanes {wanted} " in found("exp(%x)\n  return %0")
    two = f"exp(%x)\n  %1: {dtype}[200] = sin(%x)\n  %2: {dtype}[200] = add(%0, %1)\n  return %2"
    assert f" parallel 1 lanes {wanted // 2} " in found(two)


def looked_up(x: np.ndarray, table: np.ndarray) -> np.ndarray:
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = table[x[i]] + 1.0
    return out


def rooted(x: np.ndarray, table: np.ndarray) -> np.ndarray:
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = np.sqrt(np.sqrt(table[x[i]]))
    return out


@pytest.mark.parametrize(
    ("fn", "kind", "wanted"),
    [
        (looked_up, "u1", False),  # one instruction each
        (looked_up, "u2", False),
        (rooted, "u1", True),  # much work beside
        (lambda x, table: table[x] + 1.0, "u1", False),
        (lambda x, table: table[:256][x] + 1.0, "u2", False),  # bounds are no work beside
        (lambda x, table: np.sqrt(table[x]), "u1", True),
        (lambda x, table: (table[x] * 2.0 + 1.0) * table[x] - 3.0, "u1", True),
        (lambda x, table: table[x] + 1.0, "i8", True),  # bounds are looked at in lanes
    ],
)
def test_looking_up_in_a_table_has_no_lanes(
    fn: Callable[..., np.ndarray], kind: str, wanted: bool
) -> None:
    """By numbers of a byte or two. LLVM gives it none, either."""
    x, table = (np.arange(300) * 37 % 256).astype(kind), np.arange(65536.0)
    compiled = fxc.compile(fn, fullgraph=True)
    assert np.array_equal(compiled(x, table), fn(x, table))
    stages = compiled.inspect(x, table)
    assert (" lanes " in str(stages.loops)) == wanted
    if fn is looked_up:
        assert "vectorize.enable" in str(stages.llvm)
