"""`inspect(...).schedule`: how the nests of a function run, a line for each."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from expecttest import assert_expected_inline

import fxc


def schedule(program: Any, *args: Any) -> str:
    text = fxc.compile(program, fullgraph=True).inspect(*args).schedule
    return re.sub(r"test_schedule.py:\d+", "here", text)


def test_lanes_threads_and_why_not() -> None:
    def program(u, f):
        new = 0.5 * (u[:-2] + u[2:]) - f
        u[1:-1] += new
        return np.abs(new).mean()

    assert_expected_inline(
        schedule(program, np.ones(1000), np.ones(998)),
        """\
here  0:998 lanes 8 overlapping aligned to b2: f, u → b2  [one thread: it takes 0.7 µs]
here  0:998 lanes 8: b2, u → u  [one thread: it takes 0.7 µs]""",
    )


def test_long_loops_are_run_by_threads() -> None:
    def program(x):
        return np.exp(x).sum(axis=1)

    assert_expected_inline(
        schedule(program, np.ones((2000, 3000))),
        """\
here  0:2000 parallel 3, 0:3000 lanes 16: x → b1""",
    )


def test_nests_inside_of_loops_of_the_program() -> None:
    def program(x, steps):
        for k in range(steps):
            x[k] = x.T[k] * 2.0
            x[1:, 0] += x[:-1, 0]
        return x[0, 0]

    assert_expected_inline(
        schedule(program, np.ones((60, 60)), 5),
        """\
here  loop i
here    0:60 lanes 8 overlapping: x → b1  [one thread: it takes 0.0 µs]
here    0:60 moved: b1 → x  [one thread: it takes 0.0 µs]
here    0:59 ordered descending: x → x  [no lanes: more would be gathered than computed; one thread: its iterations have an order]""",
    )


def test_an_empty_function_has_no_schedule() -> None:
    assert schedule(lambda x: x, np.ones(3)) == ""
