"""The text of loop nests is read back: text → program → the same text."""

from __future__ import annotations

import numpy as np
import pytest

import fxc
from fxc.ir.errors import ParseError
from fxc.lowering.nests.independence import verify_parallel
from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.scheduling.fuse import fuse
from fxc.verifying.loop_evaluator import evaluate

STENCIL = """\
loops f
  symbols n = 9 (>= 3)
  param steps: int64 = input 1
  input u: float32[n, 4]{4, 36}
  temp b1: float64[4] for each of 2 threads
  temp b1.parts: float64[2, 2] parts = b1 at 8
  output b2: int64[]
  constant c3: int16[2] data 01000200
  for i0 in 0:n - 1 parallel 64 lanes 16 ends first aligned to b1  # heat.py:9
    t1 = u[i0, 0]
    u[i0, 1] = where(less(t1, 0.5), t1, multiply(t1, 2.0))
    u[i0, 2] = astype:float32(multiply(astype:float64(t1), 2.0))
    t4 = add u[i0 + 1, c3[1]]  [sequential from float32(1.0)]
  loop k in 0:steps
    for i1 in 0:4 ordered descending
      b1[i1] = -inf
    t5 = try_add(k, steps)
    raise if try_add fails(k, steps, t5)
    if py_less(t5, 4)  ends if False
      b2[] = t5
    else
      b2[] = (2*k + floordiv(k, 2))
    leave if logical_not(True)
  while brief
    t6 = b2[]
    holds greater(t6, int64(3))
  do
    b2[] = subtract(t6, 1)
  for i2 in 0:4
    t7 = maximum b1[i2]  [any at i2]
  b2[] = t7
  bytes moved 36*n + 4; copies 0"""


def test_what_a_text_says_is_what_its_program_prints() -> None:
    wanted = STENCIL.replace("int64(3)", "3").replace("float32(1.0)", "1.0")
    found = str(parse_loops(STENCIL))
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]
    assert str(parse_loops(found)) == found


def test_a_text_is_run_like_the_program_it_came_from() -> None:
    def program(x, y, k):
        z = np.where(x[1:] > y, x[:-1], np.float32(0.25)) * k
        x[2:] += z[1:]
        return z.sum(), x.max(axis=0)

    x, y = np.arange(12.0, dtype="f4").reshape(6, 2), np.ones(2, "f4")
    loops = fxc.compile(program, fullgraph=True).inspect(x, y, 3).loops
    read = parse_loops(str(loops))
    given = [(x.copy(), y.copy(), 3) for _ in range(2)]
    for one, other in zip(evaluate(loops, given[0]), evaluate(read, given[1]), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(given[0][0], given[1][0])


def test_steps_of_scheduling_take_texts() -> None:
    before = """\
loops f
  input x: float64[8]
  temp b1: float64[8]
  output b2: float64[8]
  for i0 in 0:8
    b1[i0] = multiply(x[i0], 2.0)
  for i1 in 0:8
    b2[i1] = sqrt(b1[i1])"""
    assert str(fuse(parse_loops(before))).splitlines()[-3:-1] == [
        "  for i0 in 0:8",
        "    b2[i0] = sqrt(multiply(x[i0], 2.0))",
    ]


def test_what_is_read_is_verified() -> None:
    text = "loops f\n  input x: float64[8]\n  for i0 in 0:7 parallel 1\n    x[i0 + 1] = x[i0]"
    with pytest.raises(fxc.ir.errors.VerificationError, match="its iterations share x"):
        verify_parallel(parse_loops(text))


@pytest.mark.parametrize(
    "line, message",
    [
        ("  x[i0] = y[0]", "line 3, column 11: there is no buffer y"),
        ("  x[0] = add(x[1], t9)", "line 3, column 20: t9 is not known here"),
        ("  x[0] = x[1, 2]", "2 indices into x, which has 1 axes"),
        ("  x[0] = 2.0 3.0", "line 3, column 14: expected the end of the line, found '3.0'"),
        ("  for i0 in 0:8 quickly", "'quickly' says nothing about a loop"),
        ("  for i0 in 1:8", "line 3, column 13: expected '0:', found '1'"),
        ("   x[0] = 1.0", "indented by an odd number of blanks"),
        ("    x[0] = 1.0", "indented further than its block"),
        ("  while\n    t1 = x[0]\n  do", "its block does not end with 'holds'"),
        ("  t1 = 2.0", "a scalar is loaded or computed"),
        ("  x[0] = add:float(x[1], 1.0)", "float is not a dtype"),
        ("  input y: float64[3]{8, 8}", "2 strides for 1 dims"),
        ("  input y: number[3]", "line 3, column 12: expected a dtype, found 'number'"),
    ],
)
def test_errors_say_where_and_what(line: str, message: str) -> None:
    with pytest.raises(ParseError) as found:
        parse_loops(f"loops f\n  input x: float64[8]\n{line}")
    assert message in str(found.value)
