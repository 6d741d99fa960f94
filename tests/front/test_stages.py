"""The text of every stage for small functions."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.ir.parse import parse_graph
from fxc.lowering.nests.parse import parse_loops
from fxc.ops.table import TABLE
from fxc.pipeline.report import STAGES, Stages


def chain(x, y):
    return np.sqrt(x * x + y * y) * 0.5


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def relax(u):
    u[1:-1] = 0.25 * (u[:-2] + 2.0 * u[1:-1] + u[2:])


def column_sums(x):
    return x.sum(axis=0)


def negative_if(x):
    return fxc.cond(x[0] > 0, lambda x: -x, lambda x: x + 1.0, x)


def powers(x, n):
    return fxc.fori_loop(0, n, lambda i, p: p * x + i, np.ones_like(x))


ROW, MATRIX = np.arange(8.0), np.arange(120.0).reshape(3, 40)


def stages(fn: Callable[..., Any], *args: Any, dynamic: bool = False) -> Stages:
    found: Stages = fxc.compile(fn, fullgraph=True, dynamic=dynamic).inspect(*args)
    return found


def text(stage: object) -> str:
    """The text without the lines of this file, which move."""
    return re.sub(r"( +#.*)|(?<=copy: )\S+\.py:\d+ ", "", str(stage))


def llvm(found: Stages, *patterns: str) -> str:
    """The lines of the LLVM text that match one of the patterns, without register numbers."""
    lines = [line.strip() for line in found.llvm.splitlines()]
    chosen = [line for line in lines if any(re.search(p, line) for p in patterns)]
    return "\n".join(re.sub(r"%r\d+", "%r", line) for line in chosen)


class Chain(TestCase):
    maxDiff = None

    def test_captured(self) -> None:
        self.assertExpectedInline(
            text(stages(chain, ROW, ROW + 1).captured),
            """\
captured chain(%x: f64[8], %y: f64[8])
  %0: f64[8] = multiply(%x, %x)
  %1: f64[8] = multiply(%y, %y)
  %2: f64[8] = add(%0, %1)
  %3: f64[8] = sqrt(%2)
  %4: f64[8] = multiply(%3, 0.5)
  return %4""",
        )

    def test_functional(self) -> None:
        self.assertExpectedInline(
            text(stages(chain, ROW, ROW + 1).functional),
            """\
functional chain(%x: f64[8], %y: f64[8])
  %0: f64[8] = multiply(%x, %x)
  %1: f64[8] = multiply(%y, %y)
  %2: f64[8] = add(%0, %1)
  %3: f64[8] = sqrt(%2)
  %4: f64[8] = multiply(%3, 0.5)
  return %4
  signature
    output 0 = result 0: f64[8]""",
        )

    def test_loops(self) -> None:
        self.assertExpectedInline(
            text(stages(chain, ROW, ROW + 1).loops),
            """\
loops chain
  input x: float64[8]
  input y: float64[8]
  output b2: float64[8]
  for i0 in 0:8 lanes 8
    t1 = x[i0]
    t3 = y[i0]
    b2[i0] = multiply(sqrt(add(multiply(t1, t1), multiply(t3, t3))), 0.5)
  bytes moved 192; copies 0""",
        )

    def test_loops_with_symbolic_sizes(self) -> None:
        self.assertExpectedInline(
            text(stages(chain, ROW, ROW + 1, dynamic=True).loops),
            """\
loops chain
  symbols x.0 = 8 (>= 2)
  input x: float64[x.0]
  input y: float64[x.0]
  output b2: float64[x.0]
  for i0 in 0:x.0 parallel 12032 lanes 8 overlapping aligned to b2
    t1 = x[i0]
    t3 = y[i0]
    b2[i0] = multiply(sqrt(add(multiply(t1, t1), multiply(t3, t3))), 0.5)
  bytes moved 24*x.0; copies 0""",
        )

    def test_llvm(self) -> None:
        found = stages(chain, ROW, ROW + 1)
        vectors = llvm(found, r"(fmul|fadd|sqrt).*<\d+ x double>")
        self.assertExpectedInline(
            vectors,
            """\
declare <8 x double> @llvm.sqrt.v8f64(<8 x double>)
%r = fmul <8 x double> %r, %r
%r = fmul <8 x double> %r, %r
%r = fadd <8 x double> %r, %r
%r = call <8 x double> @llvm.sqrt.v8f64(<8 x double> %r)
%r = fmul <8 x double> %r, splat (double 0x3FE0000000000000)""",
        )


class Softmax(TestCase):
    maxDiff = None

    def test_captured(self) -> None:
        self.assertExpectedInline(
            text(stages(softmax, MATRIX).captured),
            """\
captured softmax(%x: f64[3, 40])
  %0: f64[3, 1] = max(%x, axis=(1,), keepdims=True)
  %1: f64[3, 40] = subtract(%x, %0)
  %2: f64[3, 40] = exp(%1)
  %3: f64[3, 1] = sum(%2, axis=(1,), keepdims=True, dtype=None)
  %4: f64[3, 40] = divide(%2, %3)
  return %4""",
        )

    def test_decomposed(self) -> None:
        self.assertExpectedInline(
            text(stages(softmax, MATRIX).decomposed),
            """\
decomposed softmax(%x: f64[3, 40])
  %0: f64[3, 1] = max(%x, axis=(1,), keepdims=True)
  %1: f64[3, 40] = subtract(%x, %0)
  %2: f64[3, 40] = exp(%1)
  %3: f64[3, 1] = sum(%2, axis=(1,), keepdims=True, dtype=None)
  %4: f64[3, 40] = divide(%2, %3)
  return %4
  signature
    output 0 = result 0: f64[3, 40]""",
        )

    def test_loops(self) -> None:
        self.assertExpectedInline(
            text(stages(softmax, MATRIX).loops),
            """\
loops softmax
  input x: float64[3, 40]
  temp b2: float64[40]
  output b4: float64[3, 40]
  for i0 in 0:3
    for i1 in 0:40 lanes 32 again
      t2 = maximum x[i0, i1]  [any]
    for i3 in 0:40 lanes 16
      t6 = exp(subtract(x[i0, i3], t2))
      b2[i3] = t6
      t8 = add t6  [pairwise]
    for i7 in 0:40 lanes 8 ends first
      b4[i0, i7] = divide(b2[i7], t8)
  bytes moved 2560; copies 0""",
        )


class Stencil(TestCase):
    maxDiff = None

    def test_captured(self) -> None:
        self.assertExpectedInline(
            text(stages(relax, ROW).captured),
            """\
captured relax(%u: f64[8])
  %0: f64[6] = slice(%u, [0:6:1])
  %1: f64[6] = slice(%u, [1:7:1])
  %2: f64[6] = multiply(2.0, %1)
  %3: f64[6] = add(%0, %2)
  %4: f64[6] = slice(%u, [2:8:1])
  %5: f64[6] = add(%3, %4)
  %6: f64[6] = multiply(0.25, %5)
  %7: f64[6] = slice(%u, [1:7:1])
  copy_(%7, %6, casting='unsafe')
  return""",
        )

    def test_functional(self) -> None:
        self.assertExpectedInline(
            text(stages(relax, ROW).functional),
            """\
functional relax(%u: f64[8])
  %0: f64[6] = slice_copy(%u, [1:7:1])
  %1: f64[6] = multiply(2.0, %0)
  %2: f64[6] = slice_copy(%u, [0:6:1])
  %3: f64[6] = add(%2, %1)
  %4: f64[6] = slice_copy(%u, [2:8:1])
  %5: f64[6] = add(%3, %4)
  %6: f64[6] = multiply(0.25, %5)
  %7: f64[8] = slice_scatter(%u, %6, [1:7:1])
  return %7
  signature
    %u := result 0 in slice([1:7:1])""",
        )

    def test_loops(self) -> None:
        self.assertExpectedInline(
            text(stages(relax, ROW).loops),
            """\
loops relax
  input u: float64[8]
  for i1 in 0:6 ordered stores 1 behind lanes 4 ends first
    u[i1 + 1] = multiply(0.25, add(add(u[i1], multiply(2.0, u[i1 + 1])), u[i1 + 2]))
  bytes moved 96; copies 0""",
        )


class ColumnSums(TestCase):
    maxDiff = None

    def test_captured(self) -> None:
        self.assertExpectedInline(
            text(stages(column_sums, MATRIX).captured),
            """\
captured column_sums(%x: f64[3, 40])
  %0: f64[40] = sum(%x, axis=(0,), keepdims=False, dtype=None)
  return %0""",
        )

    def test_loops(self) -> None:
        self.assertExpectedInline(
            text(stages(column_sums, MATRIX).loops),
            """\
loops column_sums
  input x: float64[3, 40]
  output b1: float64[40]
  for i1 in 0:40 lanes 8 ends first
    b1[i1] = add(add(add(0.0, x[0, i1]), x[1, i1]), x[2, i1])
  bytes moved 1280; copies 0""",
        )


class Variance(TestCase):
    maxDiff = None

    def test_decomposed(self) -> None:
        found = stages(lambda x: x.var(axis=1), MATRIX)
        self.assertExpectedInline(
            text(found.decomposed),
            """\
decomposed function(%x: f64[3, 40])
  %1: f64[3, 1] = sum(%x, axis=(1,), keepdims=True, dtype=None)
  %2: f64[3, 1] = divide(%1, i64(40))
  %3: f64[3, 40] = subtract(%x, %2)
  %4: f64[3, 40] = square(%3)
  %5: f64[3] = sum(%4, axis=(1,), keepdims=False, dtype=None)
  %0: f64[3] = divide(%5, i64(40))
  return %0
  signature
    output 0 = result 0: f64[3]""",
        )


class Condition(TestCase):
    maxDiff = None

    def test_captured(self) -> None:
        self.assertExpectedInline(
            text(stages(negative_if, ROW).captured),
            """\
captured negative_if(%x: f64[8])
  %0: f64[] = select(%x, 0, 0)
  %1: f64 = item(%0)
  %2: bool = greater(%1, 0)
  %7: f64[8] = cond(%2, (), on_true={
    ()
    %3: f64[8] = negative(%x)
    %4: f64[8] = copy(%3, order='C')
    yield %4
  }, on_false={
    ()
    %5: f64[8] = add(%x, 1.0)
    %6: f64[8] = copy(%5, order='C')
    yield %6
  })
  return %7""",
        )

    def test_functional(self) -> None:
        self.assertExpectedInline(
            text(stages(negative_if, ROW).functional),
            """\
functional negative_if(%x: f64[8])
  %0: f64[] = select_copy(%x, 0, 0)
  %1: f64 = item(%0)
  %2: bool = greater(%1, 0)
  %7: f64[8] = cond(%2, (), on_true={
    ()
    %3: f64[8] = negative(%x)
    yield %3
  }, on_false={
    ()
    %5: f64[8] = add(%x, 1.0)
    yield %5
  })
  return %7
  signature
    output 0 = result 0: f64[8]""",
        )

    def test_loops(self) -> None:
        self.assertExpectedInline(
            text(stages(negative_if, ROW).loops),
            """\
loops negative_if
  input x: float64[8]
  output b2: float64[8]
  if greater(item(x[0]), 0.0)
    for i0 in 0:8 lanes 8
      b2[i0] = negative(x[i0])
  else
    for i1 in 0:8 lanes 8
      b2[i1] = add(x[i1], 1.0)
  bytes moved 136; copies 0""",
        )


class CountedLoop(TestCase):
    maxDiff = None

    def test_captured(self) -> None:
        self.assertExpectedInline(
            text(stages(powers, ROW, 3).captured),
            """\
captured powers(%x: f64[8], %n: py.int)
  symbols n = 3 (>= 1), i_1 = 1 (>= 0)
  %0: f64[8] = ones((8,), f64, layout=None)
  %1: f64[8] = copy(%0, order='C')
  %10: py.int = int_value(n)
  %11: f64[8] = fori_loop(0, %10, (%1,), body={
    (%i_1: py.int, %state.0: f64[8])
    %6: f64[8] = multiply(%state.0, %x)
    %7: py.int = int_value(i_1)
    %8: f64[8] = add(%6, %7)
    %9: f64[8] = copy(%8, order='C')
    yield %9
  }, stops=False)
  return %11""",
        )

    def test_decomposed(self) -> None:
        self.assertExpectedInline(
            text(stages(powers, ROW, 3).decomposed),
            """\
decomposed powers(%x: f64[8], %n: py.int)
  symbols n = 3 (>= 1), i_1 = 1 (>= 0)
  %0: f64[8] = ones((8,), f64, layout=None)
  %1: f64[8] = copy(%0, order='C')
  %2: py.int = int_value(n)
  %8: f64[8] = fori_loop(0, %2, (%1,), body={
    (%i_1: py.int, %3: f64[8])
    %4: f64[8] = multiply(%3, %x)
    %5: py.int = int_value(i_1)
    %6: f64[8] = add(%4, %5)
    yield %6
  }, stops=False)
  return %8
  signature
    output 0 = result 0: f64[8]""",
        )

    def test_loops(self) -> None:
        self.assertExpectedInline(
            text(stages(powers, ROW, 3).loops),
            """\
loops powers
  symbols n = 3 (>= 1)
  param n: int64 = input 1
  input x: float64[8]
  output b1: float64[8]
  t1 = (n)
  for i0 in 0:8 lanes 8
    b1[i0] = copy(1.0)
  loop i_1 in 0:t1
    for i1 in 0:8 lanes 8
      b1[i1] = add(multiply(b1[i1], x[i1]), astype:float64((i_1)))
  bytes moved 192*n + 64; copies 0""",
        )


def test_machine_code_and_plan_are_there() -> None:
    found = stages(chain, ROW, ROW + 1)
    assert "sqrt" in found.asm
    assert found.plan


def test_everything_in_one_text() -> None:
    whole = str(stages(relax, ROW))
    assert re.findall(r"^== (\w+) ==$", whole, re.MULTILINE) == [*STAGES]


# ------------------------------------------------------------------ all stages


def quickstart(u: Any, rate: Any) -> Any:
    before = u.copy()
    u[1:-1] += rate * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.abs(u - before).max()


@functools.cache
def of_quickstart() -> Stages:
    return stages(quickstart, np.arange(64.0) ** 2, 0.25)


def test_the_stages_of_the_quickstart_are_short_enough_to_read() -> None:
    found = of_quickstart()
    lines = {name: found.text(name).splitlines() for name in STAGES}
    long = {name for name, text in lines.items() if len(text) > 25}
    assert long == {"llvm", "asm"}
    wide = {name for name, text in lines.items() if max(map(len, text)) > 120}
    assert wide <= long
    with pytest.raises(ValueError, match="there is no stage 'loop'; there are captured, "):
        found.text("loop")


def test_stages_are_read_back_from_their_text() -> None:
    found = of_quickstart()
    for graph in (found.captured, found.functional, found.decomposed):
        assert str(parse_graph(str(graph), TABLE.schema_of)) == str(graph)
    assert str(parse_loops(str(found.loops))) == str(found.loops)


class Difference(TestCase):
    maxDiff = None

    def test_of_stages(self) -> None:
        self.assertExpectedInline(
            text(of_quickstart().diff("captured", "functional")),
            """\
--- captured
+++ functional
@@ -1,15 +1,18 @@
-captured quickstart(%u: f64[64], %rate: py.float)
+functional quickstart(%u: f64[64], %rate: py.float)
   %0: f64[64] = copy(%u, order='C')
-  %1: f64[62] = slice(%u, [1:63:1])
-  %3: f64[62] = slice(%u, [2:64:1])
-  %1: f64[62] = slice(%u, [1:63:1])
+  %1: f64[62] = slice_copy(%u, [1:63:1])
   %2: f64[62] = multiply(2, %1)
+  %3: f64[62] = slice_copy(%u, [2:64:1])
   %4: f64[62] = subtract(%3, %2)
-  %5: f64[62] = slice(%u, [0:62:1])
+  %5: f64[62] = slice_copy(%u, [0:62:1])
   %6: f64[62] = add(%4, %5)
   %7: f64[62] = multiply(%rate, %6)
-  add_(%1, %7)
-  %10: f64[64] = subtract(%u, %0)
+  %8: f64[62] = add(%1, %7)
+  %9: f64[64] = slice_scatter(%u, %8, [1:63:1])
+  %10: f64[64] = subtract(%9, %0)
   %11: f64[64] = absolute(%10)
   %12: f64 = max(%11, axis=None, keepdims=False)
-  return %12
+  return %12, %9
+  signature
+    %u := result 1 in slice([1:63:1])
+    output 0 = result 0: f64""",
        )

    def test_of_the_decomposed_graph(self) -> None:
        self.assertExpectedInline(
            text(of_quickstart().diff("functional", "decomposed")),
            """\
--- functional
+++ decomposed
@@ -1,3 +1,3 @@
-functional quickstart(%u: f64[64], %rate: py.float)
+decomposed quickstart(%u: f64[64], %rate: py.float)
   %0: f64[64] = copy(%u, order='C')
   %1: f64[62] = slice_copy(%u, [1:63:1])
@@ -9,5 +9,5 @@
   %7: f64[62] = multiply(%rate, %6)
   %8: f64[62] = add(%1, %7)
-  %9: f64[64] = slice_scatter(%u, %8, [1:63:1])
+  %9: f64[64] = slice_scatter(%u, %8, [1:63:1]) into %u
   %10: f64[64] = subtract(%9, %0)
   %11: f64[64] = absolute(%10)""",
        )


def test_a_difference_has_colours_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_quickstart()
    plain = found.diff("captured", "functional")
    with_colours = found.diff("captured", "functional", colours=True)
    assert "\x1b[31m-captured" in with_colours
    assert re.sub(r"\x1b\[\d+m", "", with_colours) == plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert found.diff("captured", "functional") == with_colours
    monkeypatch.setenv("NO_COLOR", "1")
    assert found.diff("captured", "functional") == plain


def test_a_notebook_shows_each_stage() -> None:
    def less(x: Any) -> Any:
        return x[x < 3].sum()

    html = stages(less, ROW)._repr_html_()
    assert re.findall(r"<summary>(\w+)</summary>", html) == [*STAGES]
    root = ElementTree.fromstring(f"<div>{html}</div>")
    assert "%x: f64[8]" in (root[0][1].text or "")
    assert [each.get("open") is not None for each in root].count(True) == 2

    @fxc.compile
    def split(x: Any) -> Any:
        y = x * 2
        sys.setswitchinterval(0.005)
        return y + 1

    with pytest.warns(fxc.CaptureWarning):
        split(ROW)
    with_parts: Any = split.inspect(ROW)
    assert "setswitchinterval" in with_parts._repr_html_()
