"""Nested loops over memory without gaps become one: nests → flat nests."""

from dataclasses import replace

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.ir.symbols import symbol
from fxc.lowering.nests.buffers import F64, Const
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Accumulate, Compute, Load, Loop, Stmt, Store
from fxc.lowering.scheduling.collapse import collapse
from tests.scheduled import after, after_building, body, buffer, program

X = np.arange(12.0).reshape(3, 4)
i0, i1 = symbol("i0", hint=0, lower=0), symbol("i1", hint=0, lower=0)
BUFFERS = [buffer("x", "input", 3, 4), buffer("out", "output", 3, 4)]


def flat(program: Program) -> Program:
    return replace(program, body=tuple(collapse(program, stmt) for stmt in program.body))


def negated(source: tuple, target: tuple, **inner: object) -> Program:
    """Over rows and columns: an element of x, negated, becomes one of the result."""
    statements: list[Stmt] = [
        Load("a", F64, "x", source),
        Compute("b", F64, "negative", ("a",), (F64,)),
        Store("out", target, "b", F64),
    ]
    nest = Loop("i0", 3, (Loop("i1", 4, tuple(statements), **inner),))
    zeros = Loop("i0", 3, (Loop("i1", 4, (Store("out", (i0, i1), Const(0.0, F64), F64),)),))
    return program(BUFFERS, zeros, nest, results=("out",))


def test_two_loops_over_all_elements_are_one() -> None:
    assert_expected_inline(
        body(after(flat, negated((i0, i1), (i0, i1)), X)),
        """\
for i0 in 0:12
  out[floordiv(i0, 4), mod(i0, 4)] = 0.0
for i0 in 0:12
  out[floordiv(i0, 4), mod(i0, 4)] = negative(x[floordiv(i0, 4), mod(i0, 4)])""",
    )


@pytest.mark.parametrize(
    "source, inner",
    [((i0, 0), {}), ((0, i1), {}), ((2 - i0, i1), {}), ((i0, i1), {"ordered": True})],
    ids=["a column", "a row", "rows backwards", "in another order"],
)
def test_other_loops_stay_two(source: tuple, inner: dict[str, object]) -> None:
    before = negated(source, (i0, i1), **inner)
    assert after(flat, before, X).body[1] == before.body[1]


def test_memory_with_gaps_keeps_the_loops() -> None:
    source = """
functional f(%x: f64[3, 4]{64, 8})
  %0: f64[3, 4] = negative(%x)
  return %0"""
    gaps = np.arange(24.0).reshape(3, 8)[:, :4]
    assert_expected_inline(
        body(after_building(flat, source, gaps)),
        """\
for i0 in 0:3
  for i1 in 0:4
    b1[i0, i1] = negative(x[i0, i1])""",
    )


def test_a_total_over_two_loops_is_one_over_one() -> None:
    total = Accumulate("t", F64, "maximum", "a", Const(-1.0, F64), "any", levels=2)
    nest = Loop("i0", 3, (Loop("i1", 4, (Load("a", F64, "x", (i0, i1)), total)),))
    before = program(
        [BUFFERS[0], buffer("best", "output")], nest, Store("best", (), "t", F64), results=("best",)
    )
    made = after(flat, before, X)
    assert_expected_inline(
        body(made),
        """\
for i0 in 0:12
  t = maximum x[floordiv(i0, 4), mod(i0, 4)]  [any from -1.0]
best[] = t""",
    )
    (loop, _) = made.body
    assert isinstance(loop, Loop)
    assert [s.levels for s in loop.body if isinstance(s, Accumulate)] == [1]


def test_a_total_of_each_row_keeps_the_loops() -> None:
    total = Accumulate("t", F64, "maximum", "a", Const(-1.0, F64), "any")
    row = Loop("i1", 4, (Load("a", F64, "x", (i0, i1)), total))
    before = program(
        [BUFFERS[0], buffer("best", "output", 3)],
        Loop("i0", 3, (row, Store("best", (i0,), "t", F64))),
        results=("best",),
    )
    assert after(flat, before, X) == before
