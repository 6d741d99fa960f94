"""Temporaries that nobody reads disappear; those of one iteration lose the dimension."""

import numpy as np
from expecttest import assert_expected_inline

from fxc.ir.symbols import symbol
from fxc.lowering.nests.buffers import BOOL, F64, I64, Const
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Compute, For, If, Index, Load, Loop, Stmt, Store
from fxc.lowering.scheduling.shrink import drop_dead, shrink
from tests.scheduled import after, buffer, program, text

X = np.arange(12.0).reshape(3, 4)
i0, i1, i2 = (symbol(name, hint=0, lower=0) for name in ("i0", "i1", "i2"))
BUFFERS = [
    buffer("x", "input", 3, 4),
    buffer("made", "temp", 3, 4),
    buffer("unread", "temp", 3, 4),
    buffer("out", "output", 3, 4),
]


def made(*statements: Stmt) -> Program:
    return program(BUFFERS, *statements, results=("out",))


def negative(name: str, of: str) -> Compute:
    return Compute(name, F64, "negative", (of,), (F64,))


def twice(*statements: Stmt) -> For:
    return For("k", Const(0, I64), Const(2, I64), statements)


MAKE = Loop("i1", 4, (Load("a", F64, "x", (i0, i1)), Store("made", (i0, i1), "a", F64)))
USE = Loop(
    "i2",
    4,
    (Load("b", F64, "made", (i0, i2)), negative("c", "b"), Store("out", (i0, i2), "c", F64)),
)


def test_what_nobody_reads_goes_with_what_only_it_needs() -> None:
    unread = Loop(
        "i1",
        4,
        (Load("d", F64, "x", (i0, i1)), negative("e", "d"), Store("unread", (i0, i1), "e", F64)),
    )
    before = made(Loop("i0", 3, (unread, MAKE, USE)))
    assert_expected_inline(
        text(after(drop_dead, before, X)),
        """\
loops f
  input x: float64[3, 4]
  temp made: float64[3, 4]
  output out: float64[3, 4]
  for i0 in 0:3
    for i1 in 0:4
      made[i0, i1] = x[i0, i1]
    for i2 in 0:4
      out[i0, i2] = negative(made[i0, i2])
  bytes moved 384; copies 0""",
    )


def test_what_one_iteration_makes_and_uses_is_of_its_size() -> None:
    before = made(Loop("i0", 3, (MAKE, USE)))
    assert_expected_inline(
        text(after(shrink, before, X)),
        """\
loops f
  input x: float64[3, 4]
  temp made: float64[4]
  temp unread: float64[3, 4]
  output out: float64[3, 4]
  for i0 in 0:3
    for i1 in 0:4
      made[i1] = x[i0, i1]
    for i2 in 0:4
      out[i0, i2] = negative(made[i2])
  bytes moved 256; copies 0""",
    )


def test_what_another_loop_uses_keeps_its_size() -> None:
    before = made(Loop("i0", 3, (MAKE,)), Loop("i0", 3, (USE,)))
    assert after(shrink, before, X) == before


def test_what_other_iterations_use_keeps_its_size() -> None:
    last = Loop("i2", 4, (Load("b", F64, "made", (0, i2)), Store("out", (i0, i2), "b", F64)))
    before = made(Loop("i0", 3, (MAKE, last), ordered=True))
    assert after(shrink, before, X) == before


def test_in_a_repeated_block_an_iteration_must_make_all_that_it_uses() -> None:
    whole = made(twice(Loop("i0", 3, (MAKE, USE))))
    assert_expected_inline(
        text(after(shrink, whole, X)),
        """\
loops f
  input x: float64[3, 4]
  temp made: float64[4]
  temp unread: float64[3, 4]
  output out: float64[3, 4]
  loop k in 0:2
    for i0 in 0:3
      for i1 in 0:4
        made[i1] = x[i0, i1]
      for i2 in 0:4
        out[i0, i2] = negative(made[i2])
  bytes moved 512; copies 0""",
    )


def test_what_an_iteration_made_in_the_round_before_keeps_its_size() -> None:
    first = (
        Index("round", I64, symbol("k", hint=0, lower=0)),
        Compute("first", BOOL, "equal", ("round", Const(0, I64)), (I64, I64)),
        If("first", (MAKE,), ()),
    )
    before = made(twice(Loop("i0", 3, (*first, USE))))
    assert after(shrink, before, X) == before
