"""Strips of rows in blocks for threads: nests → a loop over blocks, each with rows of its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.ir.errors import VerificationError
from fxc.ir.size_functions import mod
from fxc.ir.symbols import Dim, SymExpr, symbol
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.accesses import rename
from fxc.lowering.nests.independence import verify_parallel
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Load, Loop, Stmt, Store, blocks_of, with_blocks
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.parallel import parallel
from tests.bodies import function
from tests.covering import some
from tests.lowering.scheduling.test_strips import STAGES, U, chain, check
from tests.parallel_loops import everywhere
from tests.scheduled import after_building, body

COSTS = Costs(strips_bytes=64, strips_row=2, strips_ahead=0, blocks_each=1, blocks_halo=1)
FOUR = Target(threads=4, cache=1200, costs=replace(COSTS, chunk=1, least=0, multiple=1))


def in_blocks(before: Program) -> Program:
    made = parallel(fuse(before))
    verify_parallel(made)
    return made


def test_a_block_computes_what_it_reads_of_the_next_one() -> None:
    assert_expected_inline(
        body(after_building(in_blocks, STAGES.format(n=20, m=6), U + 1, target=FOUR)),
        """\
for i0b in 0:5 parallel 1
  for i0s in 0:3 ordered
    for i0 in 0:max(-2*i0s + min(2*i0s + 2, min(-4*i0b + 19, 5)), 0)
      for i1 in 0:6
        b1[mod(i0 + 4*i0b + 2*i0s, 4), i1] = exp(sqrt(divide(u[i0 + 4*i0b + 2*i0s + 1, i1], u[i0 + 4*i0b + 2*i0s, i1])))
    for i2 in 0:max(-max(0, 2*i0s - 1) + min(2*i0s + 1, min(-4*i0b + 18, 4)), 0)
      for i3 in 0:6
        b2[4*i0b + i2 + max(0, 2*i0s - 1), i3] = subtract(b1[mod(4*i0b + i2 + max(0, 2*i0s - 1) + 1, 4), i3], b1[mod(4*i0b + i2 + max(0, 2*i0s - 1), 4), i3])""",
    )


def test_a_block_that_is_one_strip_has_no_loop_over_strips() -> None:
    """Where all blocks have as many rows, that is their number."""
    source = """
functional f(%u: f64[64], %v: f64[64])
  %0: f64[64] = multiply(%u, %v)
  %1: f64[64] = add(%0, 1.0)
  %2: f64[64] = slice_scatter(%v, %1, [0:64:1])
  return %0, %1
"""
    costs = replace(FOUR.costs, blocks_each=2, fused_statements=1)
    u = np.arange(64.0)
    found = body(after_building(in_blocks, source, u, u, target=replace(FOUR, costs=costs)))
    assert_expected_inline(
        found,
        """\
for i0b in 0:8 parallel 1
  for i0 in 0:8
    b2[i0 + 8*i0b] = multiply(u[i0 + 8*i0b], v[i0 + 8*i0b])
  for i1 in 0:8
    b3[8*i0b + i1] = add(b2[8*i0b + i1], 1.0)""",
    )


def test_rows_of_symbolic_size() -> None:
    source = STAGES.format(n="n", m="m").replace(
        "])\n", "])\n  symbols n = 20 (>= 3), m = 6 (>= 2)\n", 1
    )
    made = body(after_building(in_blocks, source, U + 1, target=FOUR))
    assert_expected_inline(
        made,
        """\
for i0b in 0:floordiv(n + 1, 4) parallel 1
  for i0s in 0:3 ordered
    for i0 in 0:max(-2*i0s + min(2*i0s + 2, min(-4*i0b + n - 1, 5)), 0)
      for i1 in 0:m
        b1[mod(i0 + 4*i0b + 2*i0s, 4), i1] = exp(sqrt(divide(u[i0 + 4*i0b + 2*i0s + 1, i1], u[i0 + 4*i0b + 2*i0s, i1])))
    for i2 in 0:max(-max(0, 2*i0s - 1) + min(2*i0s + 1, min(-4*i0b + n - 2, 4)), 0)
      for i3 in 0:m
        b2[4*i0b + i2 + max(0, 2*i0s - 1), i3] = subtract(b1[mod(4*i0b + i2 + max(0, 2*i0s - 1) + 1, 4), i3], b1[mod(4*i0b + i2 + max(0, 2*i0s - 1), 4), i3])""",
    )


UP_TO_A_SWEEP = STAGES.replace(
    "return %7",
    """%8: f64[{n} - 3, {m}] = slice_copy(%7, [1:{n} - 2:1, 0:{m}:1])
  %9: f64[{n} - 3, {m}] = slice_copy(%7, [0:{n} - 3:1, 0:{m}:1])
  %10: f64[{n} - 3, {m}] = multiply(%8, %9)
  return %7, %10""",
)


def test_threads_run_the_first_nests_if_what_a_later_one_reads_is_stored_for_others() -> None:
    """Each block stores its own rows of a result alone, and the last nest reads the next row."""
    assert_expected_inline(
        body(after_building(in_blocks, UP_TO_A_SWEEP.format(n=20, m=6), U + 1, target=FOUR)),
        """\
for i0b in 0:5 parallel 1
  for i0s in 0:3 ordered
    for i0 in 0:max(-2*i0s + min(2*i0s + 2, min(-4*i0b + 19, 5)), 0)
      for i1 in 0:6
        b1[mod(i0 + 4*i0b + 2*i0s, 4), i1] = exp(sqrt(divide(u[i0 + 4*i0b + 2*i0s + 1, i1], u[i0 + 4*i0b + 2*i0s, i1])))
    for i2 in 0:max(-max(0, 2*i0s - 1) + min(2*i0s + 1, min(-4*i0b + 18, 4)), 0)
      for i3 in 0:6
        b2[4*i0b + i2 + max(0, 2*i0s - 1), i3] = subtract(b1[mod(4*i0b + i2 + max(0, 2*i0s - 1) + 1, 4), i3], b1[mod(4*i0b + i2 + max(0, 2*i0s - 1), 4), i3])
for i4 in 0:102 parallel 1
  b3[floordiv(i4, 6), mod(i4, 6)] = multiply(b2[floordiv(i4, 6) + 1, mod(i4, 6)], b2[floordiv(i4, 6), mod(i4, 6)])""",
    )


def test_nests_stay_together_if_threads_could_run_less_than_half_of_the_work() -> None:
    source = UP_TO_A_SWEEP.replace("multiply(%8", "power(%8").format(n=20, m=6)
    made = body(after_building(in_blocks, source, U + 1, target=FOUR))
    assert "parallel" not in made
    assert made.startswith("for i0s in ")


def swept(u: Any, v: Any, w: Any) -> None:
    w[...] = 0.0
    slope = np.sqrt(u[1:] * u[1:] + np.sqrt(u[:-1]))
    w[:-1] += slope * (v[1:] - v[:-1])
    w[:-1, 1:] -= np.sqrt(slope[:, :-1]) * v[1:, 1:]
    v[1:-1] += w[1:-1] - w[:-2]


@pytest.mark.parametrize("rows", [23, 57])
def test_what_blocks_store_is_read_by_a_sweep_behind_them(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    everywhere(monkeypatch, FOUR)
    u = np.arange(rows * 6.0).reshape(rows, 6) % 13
    given = u, np.cos(u), np.ones_like(u)
    loops = str(fxc.compile(swept, fullgraph=True).inspect(*given).loops).splitlines()
    outermost = [line for line in loops if line.startswith("  for ")]
    assert [" parallel " in line for line in outermost] == [True, True]
    check(swept, *given)


def seven_points(u: Any, v: Any) -> Any:
    w = np.sqrt(u[2:] + u[:-2]) * u[1:-1]
    v[1:] += np.where(w[1:] * w[:-1] > 3.0, 0.0, w[1:] - w[:-1])
    return np.abs(v) / 3.0


@pytest.mark.parametrize("rows", [9, 20, 21, 22, 23, 24, 57])
def test_halos_of_several_stages(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    everywhere(monkeypatch, FOUR)
    u, v = np.arange(rows * 6.0).reshape(rows, 6) % 13, np.ones((rows - 2, 6))
    u[3, 2], u[rows - 2, 0] = np.nan, np.inf
    loops = str(fxc.compile(seven_points).inspect(u, v).loops)
    assert rows < 10 or "for each of 4 threads" in loops
    with np.errstate(all="ignore"):
        check(seven_points, u, v)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_bits_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    before = fxc.get_num_threads()
    fxc.set_num_threads(8)
    u, v = np.sqrt(np.arange(403 * 601.0)).reshape(403, 601) % 13, np.ones((401, 601))
    compiled = fxc.compile(seven_points, fullgraph=True)
    try:
        assert "i0b in 0:" in str(compiled.inspect(u, v).loops)
        fxc.set_num_threads(threads)
        check(seven_points, u, v)
    finally:
        fxc.set_num_threads(before)


def in_place(u: Any, v: Any) -> None:
    v[1:-1] = u[2:] + u[:-2]
    u[1:-1] = v[2:] - v[:-2]


def test_stencils_of_each_other_in_place_stay_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, FOUR)
    u, v = np.arange(240.0).reshape(40, 6) % 13, np.ones((40, 6))
    loops = str(fxc.compile(in_place, fullgraph=True).inspect(u, v).loops)
    assert "ordered" in loops
    assert "parallel" not in loops
    check(in_place, u, v)


# ------------------------------------------------------------------ what the verifier refuses


def blocked() -> Program:
    return after_building(in_blocks, STAGES.format(n=20, m=6), U + 1, target=FOUR)


def changed(block: tuple[Stmt, ...], of: Callable[[Loop], Loop]) -> tuple[Stmt, ...]:
    """Statements with each loop as ``of`` makes it, inner ones first."""
    made: list[Stmt] = []
    for stmt in block:
        stmt = with_blocks(stmt, tuple(changed(each, of) for each in blocks_of(stmt)))
        made.append(of(stmt) if isinstance(stmt, Loop) else stmt)
    return tuple(made)


def longer(var: str, more: int) -> Callable[[Loop], Loop]:
    return lambda loop: replace(loop, size=loop.size + more) if loop.var == var else loop


def later(var: str, by: int) -> Callable[[Loop], Loop]:
    """A nest whose rows are some rows further."""
    there: dict[str, Dim] = {var: symbol(var, hint=0, lower=0) + by}

    def of(loop: Loop) -> Loop:
        moved = tuple(rename(stmt, there) for stmt in loop.body)
        return replace(loop, body=moved) if loop.var == var else loop

    return of


def unordered(loop: Loop) -> Loop:
    return replace(loop, ordered=False)


def without_row_ends(loop: Loop) -> Loop:
    return replace(loop, size=5) if loop.var == "i1" else loop


def swapped(loop: Loop) -> Loop:
    return replace(loop, body=loop.body[::-1]) if loop.var == "i0s" else loop


@pytest.mark.parametrize(
    "change",
    [
        later("i2", 1),  # reads a row that is not stored yet
        later("i2", -1),  # one that the block before has stored, and stores one of its rows
        longer("i0", -1),  # leaves rows out between strips
        longer("i0", 2),  # stores more rows than the ring has
        longer("i2", 1),
        unordered,
        without_row_ends,
        swapped,
    ],
)
def test_rows_that_a_block_has_not_stored(change: Callable[[Loop], Loop]) -> None:
    program = blocked()
    verify_parallel(program)
    wrong = replace(program, body=changed(program.body, change))
    with pytest.raises(VerificationError):
        verify_parallel(wrong)


def test_a_ring_of_too_few_rows() -> None:
    program = blocked()
    (name,) = [name for name, each in program.buffers.items() if each.copies > 1]
    few = replace(program.buffers[name], shape=(2, 6))

    def of(loop: Loop) -> Loop:
        return replace(loop, body=tuple(map(in_two, loop.body)))

    def in_two(stmt: Stmt) -> Stmt:
        match stmt:
            case Load(buffer=buffer, index=(SymExpr() as row, at)) if buffer == name:
                return replace(stmt, index=(mod(row.terms[0][0][0].left, 2), at))
            case Store(buffer=buffer, index=(SymExpr() as row, at)) if buffer == name:
                return replace(stmt, index=(mod(row.terms[0][0][0].left, 2), at))
            case _:
                return stmt

    body = changed(program.body, of)
    with pytest.raises(VerificationError):
        verify_parallel(replace(program, body=body, buffers={**program.buffers, name: few}))


# ------------------------------------------------------------------ random chains of stencils


def test_random_chains_of_stencils(monkeypatch: pytest.MonkeyPatch) -> None:
    in_parallel = 0
    seeds = some(range(30), 15)
    for seed in seeds:
        rng = random.Random(seed)
        costs = replace(FOUR.costs, blocks_each=rng.choice([1, 2]), blocks_halo=rng.choice([1, 2]))
        cache, threads = rng.choice([256, 1200, 2400]), rng.choice([2, 3, 8])
        everywhere(monkeypatch, Target(threads=threads, cache=cache, costs=costs))
        rows, columns = rng.choice([17, 40, 41, 64]), rng.choice([4, 5, 9])
        x = np.arange(float(rows * columns)).reshape(rows, columns) % 11 + 1.0
        program = function(chain(seed))
        with np.errstate(all="ignore"):
            compiled = check(program, x)
        loops = str(compiled.inspect(x).loops).splitlines()
        in_parallel += any("b in 0" in line and "parallel" in line for line in loops)
    assert in_parallel > len(seeds) // 3
