"""What passes make of branches and loops: simplified text, and the same results as before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from expecttest import TestCase

from fxc.ir.evaluate import evaluate
from fxc.ir.graph import Graph
from fxc.ir.verify import verify
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE
from fxc.passes.reinplace import reinplace
from fxc.passes.simplify import simplify
from fxc.pipeline.stages import native
from tests.levels import in_place, updating_kernel_of
from tests.passed import parsed


def run(graph: Graph, args: Sequence[Any], kernels: Any = kernel_of) -> list[Any]:
    return [np.array(x) for x in evaluate(graph, [np.copy(x)[()] for x in args], kernels)]


class TestSimplifiedRegions(TestCase):
    maxDiff = None

    def simplified(self, text: str, *args: Any) -> str:
        """The text of the simplified graph, which gives the same results, in place and natively."""
        graph = parsed(text)
        verify(graph, table=TABLE.schema_of, meta=types_of)
        made = simplify(graph)
        verify(made, table=TABLE.schema_of, meta=types_of)
        for each in args:
            wanted = run(graph, each)
            marked = reinplace(made)
            given = [np.copy(x)[()] for x in each]
            found = native(made).assembled.plan.run(*given)
            for results in (
                run(made, each), run(in_place(marked), each, updating_kernel_of), found
            ):  # fmt: skip
                for a, b in zip(results, wanted, strict=True):
                    np.testing.assert_array_equal(a, b)
        lines = str(made).split("\n")
        return "\n".join(lines[1 : lines.index("  signature")])

    def test_a_known_condition(self):
        text = """
functional f(%x: f64[3])
  %0: f64[3], %1: f64[3], %2: f64[3] = cond(True, (%x,), on_true={
    (%a: f64[3])
    %3: f64[3] = add(%a, %x)
    %4: f64[3] = multiply(%3, 2.0)
    yield %4, %a, %3
  }, on_false={
    (%b: f64[3])
    %5: f64[3] = add(%b, %b)
    %6: f64[3] = add(%b, 1.0)
    yield %5, %b, %6
  })
  %7: f64[3] = add(%1, %2)
  return %0, %1, %7
"""
        x = np.arange(3.0)
        self.assertExpectedInline(
            self.simplified(text, (x,)),
            """\
  %3: f64[3] = add(%x, %x)
  %4: f64[3] = multiply(%3, 2.0)
  %1: f64[3] = copy(%x, order='K')
  %7: f64[3] = add(%1, %3)
  return %4, %1, %7""",
        )
        other = text.replace("cond(True", "cond(False")
        self.assertExpectedInline(
            self.simplified(other, (x,)),
            """\
  %5: f64[3] = add(%x, %x)
  %6: f64[3] = add(%x, 1.0)
  %1: f64[3] = copy(%x, order='K')
  %7: f64[3] = add(%1, %6)
  return %5, %1, %7""",
        )

    def test_a_loop_without_iterations(self):
        text = """
functional f(%x: f64[3], %y: f64[3])
  %0: f64[3], %1: f64[3] = fori_loop(2, 2, (%x, %y), body={
    (%i: py.int, %a: f64[3], %b: f64[3])
    %2: f64[3] = add(%a, %b)
    %3: f64[3] = add(%b, 1.0)
    yield %2, %3
  }, stops=False)
  %4: f64[3] = add(%0, 1.0)
  return %1, %4
"""
        self.assertExpectedInline(
            self.simplified(text, (np.ones(3), np.zeros(3))),
            """\
  %1: f64[3] = copy(%y, order='K')
  %4: f64[3] = add(%x, 1.0)
  return %1, %4""",
        )

    def test_what_a_loop_gives_back_as_it_came(self):
        text = """
functional f(%x: f64[3], %y: f64[3], %n: py.int)
  %0: f64[3], %1: f64[3], %2: f64 = fori_loop(0, %n, (%x, %y, f64(2.0)), body={
    (%i: py.int, %a: f64[3], %b: f64[3], %c: f64)
    %3: f64[3] = add(%a, %b)
    %4: f64[3] = multiply(%3, %c)
    yield %4, %b, %c
  }, stops=False)
  %5: f64[3] = multiply(%0, %2)
  return %5, %1
"""
        args = np.ones(3), np.arange(3.0)
        self.assertExpectedInline(
            self.simplified(text, (*args, 0), (*args, 3)),
            """\
  %1: f64[3] = copy(%y, order='K')
  %0: f64[3] = fori_loop(0, %n, (%x,), body={
    (%i: py.int, %a: f64[3])
    %3: f64[3] = add(%a, %y)
    %4: f64[3] = multiply(%3, f64(2.0))
    yield %4
  }, stops=False)
  %5: f64[3] = multiply(%0, f64(2.0))
  return %5, %1""",
        )

    def test_what_nobody_reads_is_not_carried(self):
        text = """
functional f(%x: f64[3], %y: f64[3], %s: f64)
  %0: f64[3], %1: f64[3], %2: f64, %3: f64 = while_loop((%x, %y, %s, %s), test={
    (%a: f64[3], %b: f64[3], %t: f64, %u: f64)
    %4: bool = less(%t, 9.0)
    yield %4
  }, body={
    (%c: f64[3], %d: f64[3], %v: f64, %w: f64)
    %5: f64[3] = add(%c, %d)
    %6: f64[3] = add(%d, %w)
    %7: f64 = add(%v, 1.0)
    %8: f64 = add(%w, %v)
    yield %5, %6, %7, %8
  })
  return %3
"""
        args = np.ones(3), np.arange(3.0), np.float64(4)
        self.assertExpectedInline(
            self.simplified(text, args),
            """\
  %2: f64, %3: f64 = while_loop((%s, %s), test={
    (%t: f64, %u: f64)
    %4: bool = less(%t, 9.0)
    yield %4
  }, body={
    (%v: f64, %w: f64)
    %7: f64 = add(%v, 1.0)
    %8: f64 = add(%w, %v)
    yield %7, %8
  })
  return %3""",
        )
        everything = text.replace("return %3", "return %0")
        self.assertIn("while_loop((%x, %y, %s, %s)", self.simplified(everything, args))

    def test_results_of_a_branch_that_nobody_reads(self):
        text = """
functional f(%x: f64[3], %y: f64[3], %c: bool)
  %0: f64[3], %1: f64[3], %2: f64[3] = cond(%c, (%x, %y), on_true={
    (%a: f64[3], %b: f64[3])
    %3: f64[3] = add(%a, 1.0)
    %4: f64[3] = add(%b, 1.0)
    yield %3, %4, %b
  }, on_false={
    (%d: f64[3], %e: f64[3])
    %5: f64[3] = multiply(%e, 2.0)
    yield %d, %5, %e
  })
  return %0, %2
"""
        args = np.ones(3), np.arange(3.0)
        cases = (*args, np.True_), (*args, np.False_)
        self.assertExpectedInline(
            self.simplified(text, *cases),
            """\
  %2: f64[3] = copy(%y, order='K')
  %0: f64[3] = cond(%c, (%x,), on_true={
    (%a: f64[3])
    %3: f64[3] = add(%a, 1.0)
    yield %3
  }, on_false={
    (%d: f64[3])
    yield %d
  })
  return %0, %2""",
        )

    def test_what_does_not_change_is_computed_before_a_loop(self):
        text = """
functional f(%x: f64[3], %y: f64[4, 3], %n: py.int)
  %0: f64[3] = fori_loop(0, %n, (%x,), body={
    (%i: py.int, %a: f64[3])
    %1: f64[2, 3] = slice_copy(%y, [1:3:1, 0:3:1])
    %2: f64[3] = sum(%1, axis=(0,), keepdims=False, dtype=None)
    %3: f64[3] = fori_loop(0, 2, (%a,), body={
      (%j: py.int, %b: f64[3])
      %4: f64[3] = sqrt(%2)
      %5: f64[3] = select_copy(%y, 0, i)
      %6: f64[3] = negative(%5)
      %7: f64[4, 3] = multiply(%2, %y)
      %8: f64[4, 3] = add(%7, %2)
      %9: f64[3] = select_copy(%8, 0, 1)
      %10: f64[3] = add(%4, %9)
      %11: f64[3] = add(%10, %6)
      %12: f64[3] = multiply(%11, %b)
      yield %12
    }, stops=False)
    %13: f64[3] = zeros((3,), f64, layout=None)
    %14: f64[3] = slice_scatter(%13, %3, [0:3:1])
    yield %14
  }, stops=False)
  return %0
"""
        args = np.ones(3), np.arange(12.0).reshape(4, 3) / 10
        self.assertExpectedInline(
            self.simplified(text, (*args, 0), (*args, 3)),
            """\
  %1: f64[2, 3] = slice_copy(%y, [1:3:1, 0:3:1])
  %2: f64[3] = sum(%1, axis=(0,), keepdims=False, dtype=None)
  %4: f64[3] = sqrt(%2)
  %7: f64[4, 3] = multiply(%2, %y)
  %8: f64[4, 3] = add(%7, %2)
  %9: f64[3] = select_copy(%8, 0, 1)
  %10: f64[3] = add(%4, %9)
  %0: f64[3] = fori_loop(0, %n, (%x,), body={
    (%i: py.int, %a: f64[3])
    %5: f64[3] = select_copy(%y, 0, i)
    %6: f64[3] = negative(%5)
    %11: f64[3] = add(%10, %6)
    %3: f64[3] = fori_loop(0, 2, (%a,), body={
      (%j: py.int, %b: f64[3])
      %12: f64[3] = multiply(%11, %b)
      yield %12
    }, stops=False)
    %13: f64[3] = empty((3,), f64, layout=None)
    %14: f64[3] = slice_scatter(%13, %3, [0:3:1])
    yield %14
  }, stops=False)
  return %0""",
        )

    def test_a_result_of_a_loop_is_made_in_it(self):
        text = """
functional f(%x: f64[3], %n: py.int)
  %0: f64[3] = negative(%x)
  %1: f64[3] = fori_loop(0, %n, (%x,), body={
    (%i: py.int, %a: f64[3])
    %2: f64[3] = negative(%x)
    yield %2
  }, stops=False)
  %3: f64[3] = add(%1, %0)
  return %3
"""
        x = np.arange(3.0)
        self.assertExpectedInline(
            self.simplified(text, (x, 0), (x, 2)),
            """\
  %0: f64[3] = negative(%x)
  %1: f64[3] = fori_loop(0, %n, (%x,), body={
    (%i: py.int, %a: f64[3])
    %2: f64[3] = negative(%x)
    yield %2
  }, stops=False)
  %3: f64[3] = add(%1, %0)
  return %3""",
        )
