"""Variables that a branch or a loop may leave without a value: they are read as in Python, or raise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

R = np.random.default_rng(5)


def root_at_the_break(x, t):
    y = x[0] + 2
    while True:
        z = 0.5 * (y + 2 / y)
        if abs(z - y) < 1e-9:
            root, steps = z, 3
            break
        y = z
    return root, steps


def found_or_else(x, t):
    for i in range(len(x)):
        if x[i] > t:
            k = i
            break
    else:
        k = -1
    return k


def last_above(x, t):
    for i, v in enumerate(x):
        if v > t:
            last = v
        elif i > 3:
            other = i
    return last, other


def differences_above(x, t):
    have = False
    s = 0.0
    for v in x:
        if v > t:
            if have:
                s += v - before  # noqa: F821
            before = v  # noqa: F841
            have = True
    return s


def by_one_condition(x, t):
    s = 0.0
    for i in range(len(x)):
        big = x[i] > t
        if big:
            w, k = x[i] * 2, i
        x[i] += 1
        if big:
            s += w * k
    return s, x


def pair_behind_two_loops(x, t):
    for i in range(3):
        for j in range(len(x)):
            if x[j] > t + i * 0.1:
                where = (i, j)
            if x[j] > 0.97:
                top = x[j]
                break
    return where, top


def row_above(x, t):
    a = x[:, None] + np.arange(3.0)
    for i in range(len(a)):
        if a[i, 0] > t:
            row = a[i] * 2
        a[i] += 1
    row += 1
    return row, a


def added_to(x, t):
    for v in x:
        if v > t:
            c = v
        if v > t + 0.1:
            c += 1
    return c


def in_a_comprehension(x, t):
    for v in x:
        if v > t:
            c = v
    return [c * k for k in range(3)], np.array([c * u for u in x])


PROGRAMS: list[Callable[..., Any]] = [
    found_or_else, last_above, differences_above, by_one_condition, pair_behind_two_loops,
    row_above, added_to, in_a_comprehension, root_at_the_break,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    """Also where there is no value, and Python raises."""
    compiled = fxc.compile(program, fullgraph=True)
    for size, threshold in ((40, 0.5), (40, 0.9), (50, 5.0), (40, -1.0), (40, 0.02)):
        x = R.random(size)
        expected = run(program, [x.copy(), threshold])
        assert difference(expected, run(compiled, [x.copy(), threshold])) == ""
    assert len(compiled.inspect(x, 0.5).captured.nodes) < 40
    assert compiled.cache_info().native_calls >= 3


def test_which_reads_are_checked() -> None:
    """Those behind which a value is not certain; an array is not copied for one."""
    x = R.random(30)
    for program, count in ((found_or_else, 0), (root_at_the_break, 0), (last_above, 2)):
        text = str(fxc.compile(program).inspect(x, 0.5).captured)
        assert text.count("try_demand") == count


def test_what_is_still_refused() -> None:
    def value_of_the_last(x):
        k = 0
        while k < 9 and x[k] > 0.01:
            y = x[k]
            k += 1
        return y

    with pytest.raises(fxc.CaptureError, match="y has a value behind this loop only if"):
        fxc.compile(value_of_the_last, fullgraph=True)(R.random(20))
