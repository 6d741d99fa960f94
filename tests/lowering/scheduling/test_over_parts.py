"""Loops that do the same to both parts of complex numbers get a loop over the parts."""

from dataclasses import replace

import numpy as np
from expecttest import assert_expected_inline

from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Loop
from fxc.lowering.scheduling.over_parts import over_parts
from tests.scheduled import after_building, body

X = np.arange(4) + 1j * np.arange(4, 8)


def by_parts(program: Program) -> Program:
    """With the loop over parts where there can be one."""
    loops = [stmt for stmt in program.body if isinstance(stmt, Loop)]
    found = {loop.var: over_parts(program, loop) for loop in loops}
    nests = [found.get(getattr(s, "var", "")) or (s,) for s in program.body]
    return replace(program, body=tuple(nest for (nest,) in nests))


def nests(operator: str) -> str:
    source = f"""
functional f(%x: c128[4], %y: c128[4])
  %0: c128[4] = {operator}
  return %0"""
    return body(after_building(by_parts, source, X, X * 2))


def test_both_parts_are_added_alike() -> None:
    assert_expected_inline(
        nests("add(%x, %y)"),
        """\
for i0 in 0:4
  for i0p in 0:2
    b2.parts[i0, i0p] = add(x.parts[i0, i0p], y.parts[i0, i0p])""",
    )


def test_a_conjugate_negates_one_part() -> None:
    assert_expected_inline(
        nests("conjugate(%x)"),
        """\
for i0 in 0:4
  t3 = negative(x.parts[i0, 1])
  b2.parts[i0, 0] = x.parts[i0, 0]
  b2.parts[i0, 1] = t3""",
    )


def test_each_part_of_a_product_reads_both() -> None:
    assert_expected_inline(
        nests("multiply(%x, %y)"),
        """\
for i0 in 0:4
  t1 = x.parts[i0, 0]
  t2 = x.parts[i0, 1]
  t3 = y.parts[i0, 0]
  t4 = y.parts[i0, 1]
  b2.parts[i0, 0] = fused_multiply_add(t1, t3, negative(multiply(t2, t4)))
  b2.parts[i0, 1] = fused_multiply_add(t1, t4, multiply(t2, t3))""",
    )


def test_a_function_gives_each_part_of_both() -> None:
    assert_expected_inline(
        nests("sqrt(%x)"),
        """\
for i0 in 0:4
  t1 = x.parts[i0, 0]
  t2 = x.parts[i0, 1]
  b2.parts[i0, 0] = sqrt_real(t1, t2)
  b2.parts[i0, 1] = sqrt_imaginary(t1, t2)""",
    )
