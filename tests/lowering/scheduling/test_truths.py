"""Truths that both arms of a branch store are made in front of it: branches → fewer stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.scheduling.truths import truths
from tests.outcomes import difference, run
from tests.scheduled import body


def after(source: str) -> str:
    head = "loops f\n  input c: bool[]\n  input d: bool[]\n  output b: bool[]\n  temp e: bool[]\n"
    return body(truths(parse_loops(head + source)))


@pytest.mark.parametrize(
    ("then", "orelse", "wanted"),
    [
        ("True", "False", "t"),
        ("False", "True", "logical_not(t)"),
        ("False", "False", "False"),
        ("True", "d[]", "logical_or(t, d[])"),
        ("False", "d[]", "logical_and(logical_not(t), d[])"),
        ("d[]", "True", "logical_or(logical_not(t), d[])"),
        ("d[]", "False", "logical_and(t, d[])"),
    ],
)
def test_a_truth_that_is_always_the_same_in_an_arm(then: str, orelse: str, wanted: str) -> None:
    source = f"  t = c[]\n  if t\n    b[] = {then}\n  else\n    b[] = {orelse}\n"
    assert wanted in after(source).partition("if ")[0]
    assert "b[]" not in after(source).partition("if ")[2]


@pytest.mark.parametrize(
    ("then", "orelse"),
    [
        ("b[] = True", "b[] = logical_not(d[])"),  # computed in the arm
        ("b[] = d[]", "b[] = e[]"),  # a choice
        ("b[] = True\n    e[] = b[]", "b[] = False"),  # read behind it
        ("e[] = False\n    b[] = e[]", "b[] = True"),  # stored in the arm
        ("b[] = True\n    b[] = d[]", "b[] = False"),  # twice
    ],
)
def test_what_stays_in_an_arm(then: str, orelse: str) -> None:
    source = f"  t = c[]\n  if t\n    {then}\n  else\n    {orelse}\n"
    assert "b[] =" in after(source).partition("if ")[2]


def counted(x: np.ndarray, t: float) -> Any:
    n, inside = 0, False
    for i in range(len(x)):
        if x[i] > t:
            if not inside:
                n += 1
            inside = True
        else:
            inside = False
    return n, inside


def summed(x: np.ndarray, t: float) -> Any:
    """Sums that are Python's 0.0 until something is added."""
    up, down = 0.0, 0.0
    for i in range(len(x)):
        if x[i] > t:
            up += x[i]
        else:
            down -= x[i]
    return up, down


def until(x: np.ndarray, t: float) -> Any:
    """A loop that is left, and truths that an inner branch makes."""
    seen, last, out = False, True, np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > t:
            if seen:
                last = False
            else:
                seen = True
        else:
            last = seen
        out[i] = x[i] if last else t
        if seen and x[i] > 0.9:
            break
    return out, seen, last


def nearest(x: np.ndarray, t: float) -> Any:
    """What is seldom better is compared first; its arm may as well store the truth."""
    best = np.inf
    for i in range(len(x)):
        if x[i] > t and x[i] * x[i] < best:
            best = x[i] * x[i]
    return best


@pytest.mark.parametrize("fn", [counted, summed, until, nearest])
def test_programs_with_truths(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    x = np.random.default_rng(5).random(60)
    x[7] = np.nan
    for each in (x, x[:1], np.sort(x), -x):
        for t in (0.5, -2.0, 2.0):
            assert difference(run(fn, (each, t)), run(compiled, (each, t))) == ""


def test_arms_with_nothing_but_sums_are_left() -> None:
    x = np.random.default_rng(5).random(60)
    stages = fxc.compile(summed, fullgraph=True).inspect(x, 0.5)
    assert_expected_inline(
        body(stages.loops),
        """\
b1[] = 0.0
b2[] = False
b3[] = 0.0
b4[] = False
loop i_1 in 0:60
  t2 = item(x[i_1])
  t4 = greater(t2, t)
  b8[] = logical_or(logical_not(t4), b2[])
  b10[] = logical_or(t4, b4[])
  if t4
    b9[] = add(b3[], t2)
    b7[] = b1[]
  else
    b7[] = subtract(b1[], t2)
    b9[] = b3[]
  b1[] = b7[]
  b2[] = b8[]
  b3[] = b9[]
  b4[] = b10[]""",
    )


def test_the_best_number_so_far_is_left_to_a_jump() -> None:
    stages = fxc.compile(nearest, fullgraph=True).inspect(np.ones(60), 0.5)
    assert "= True" in body(stages.loops)
