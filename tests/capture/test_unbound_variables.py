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


def named_in_a_test(x, t):
    i, s = 0, 0.0
    while i < len(x) and (v := x[i]) < t:
        s += v
        i += 1
    return i, s


def named_and_read_behind(x, t):
    i = 0
    while i < 30 and (v := x[i]) < t:
        i += 1
    return v, i


def named_in_decisions(x, t):
    i, s = 0, 0.0
    while i < 30 and (v := x[i]) < 0.99:
        if ((w := v * 2) > t and (u := w - v) > 0.3) or (z := v) < 0.01:
            i += 2
            s += u if w > t else z
        i += 1
    else:
        i = -i
    return i, s


def named_and_read_in_one_comparison(x, t):
    i = 0
    while (w := x[i] * 2) < w + t and i < 9:
        if (u := x[i]) > u * t:
            i += 1
        i += 1
    return i, w, u


def a_text_by_a_break(x, t):
    i = 0
    while i < len(x):
        if x[i] > t:
            found, how = ("above", i), None
            break
        i += 1
    else:
        found, how = ("none", -1), "searched"
    return found, how


def a_text_of_an_arm(x, t):
    for v in x:
        if v > t:
            what = "above"
    return what


def nothing_from_a_helper(x, t):
    def search(y):
        for i in range(len(y)):
            if y[i] > t:
                return
            y[i] = 0.0

    return search(x), x


def a_pair_by_two_breaks(x, t):
    for i in range(len(x)):
        for j in range(i):
            if x[i] * x[j] > t:
                pair = i, j
                break
        else:
            continue
        break
    else:
        pair = -1, -1
    return pair


PROGRAMS: list[Callable[..., Any]] = [
    found_or_else, last_above, differences_above, by_one_condition, pair_behind_two_loops,
    row_above, added_to, in_a_comprehension, root_at_the_break, named_in_a_test,
    named_and_read_behind, named_in_decisions,
    named_and_read_in_one_comparison, a_text_by_a_break, a_text_of_an_arm,
    nothing_from_a_helper, a_pair_by_two_breaks,
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


def a_loop_that_has_no_iteration(y):
    for _ in range(0):
        q = 1.0
    if y[1] > 0:
        q = 2.0
    return q


def a_loop_that_may_have_none(y):
    if y[1] > 0:
        q = 1.0
    for _ in range(int(y[0])):
        q = 2.0
    return q


def loops_over_nothing(y):
    if y[1] > 0:
        q = 1.0
    for _ in ():
        q = 2.0
    return q


def else_of_a_loop(y):
    if y[1] > 0:
        q = 1.0
    for _ in range(int(y[0])):
        q = 2.0
    else:
        q += 1
    return q


def one_loop_in_another(y):
    for m in range(int(y[0])):
        if y[1] > 0:
            q = y[1]
        for _ in range(m - 5):
            q = 2.0
        y[0] = q
    return y


def behind_a_break(y):
    for i in range(int(y[0])):
        if y[i] > 0:
            break
        q = i
    for _ in range(int(y[1])):
        q = 3
    return q


def in_a_while(y):
    for _ in range(0):
        q = 0.0
    t = 0.0
    while t < 3:
        t += 1
        if y[1] > t:
            q = t
    return q


def one_loop_behind_another(y):
    for _ in range(int(y[0])):
        for h in y:
            y[1] += h
    return h


def a_size_behind_two_loops(y):
    for _ in range(len(y) - 4):
        u = 1
    for _ in range(int(y[0])):
        u = y[1:]
    return len(u)


def an_item_behind_two_loops(y):
    for _ in range(len(y) - 4):
        u = 1
    for _ in range(int(y[0])):
        u = y[1:]
    return y[len(y) % len(u)]


def a_text_behind_two_loops(y):
    for _ in range(len(y) - 4):
        u = 1
    for _ in range(int(y[0])):
        u = "text"
    return u


def itself_behind_two_loops(y):
    for _ in range(len(y) - 4):
        u = 1
    k = 0
    while k < y[0]:
        k += 1
        u = y
    return u is y


def a_target_behind_two_loops(y):
    for k in range(len(y) - 4):
        y[0] += k
    for k in range(int(y[0])):
        y[1] += k
    return y[k:]


def nobody_asks_what_it_is(y):
    while len(y) < 4:
        u = 1
    for _ in range(int(y[0])):
        u = y[1:]
    w = u  # noqa: F841
    return y


def in_a_comprehension_behind_two_loops(y):
    for _ in range(len(y) - 4):
        u = 1
    for _ in range(int(y[0])):
        u = y[1:]
    return [len(u) for _ in range(2)]


# The second of these loops is taken to have a variable for that the first one has an iteration.
BEHIND_TWO_LOOPS = [
    a_size_behind_two_loops, an_item_behind_two_loops, a_text_behind_two_loops,
    itself_behind_two_loops, a_target_behind_two_loops, nobody_asks_what_it_is,
    in_a_comprehension_behind_two_loops,
]  # fmt: skip


@pytest.mark.parametrize("program", BEHIND_TWO_LOOPS, ids=lambda each: each.__name__)
def test_the_first_of_two_loops_has_no_iteration(program: Callable[..., Any]) -> None:
    """What the second loop gives was taken for the variable, though it had no iteration, too."""
    compiled = fxc.compile(program, fullgraph=True)
    for first in (0.0, 2.0, 0.0):
        y = np.array([first, 1.5, 2.0, 0.0])
        assert difference(run(program, [y.copy()]), run(compiled, [y.copy()])) == ""
    assert compiled.cache_info().variants == 1


NO_ITERATION = [
    (one_loop_behind_another, 2),
    (a_loop_that_has_no_iteration, 2),
    (a_loop_that_may_have_none, 1),
    (loops_over_nothing, 2),
    (else_of_a_loop, 1),
    (one_loop_in_another, 1),
    (behind_a_break, 2),
    (in_a_while, 2),
]


@pytest.mark.parametrize(
    ("program", "eager"), NO_ITERATION, ids=[each.__name__ for each, _ in NO_ITERATION]
)
def test_loops_without_an_iteration(program: Callable[..., Any], eager: int) -> None:
    """What a branch may have assigned was taken for what such a loop assigns."""
    compiled = fxc.compile(program, fullgraph=True)
    for first, second in ((0.0, 1.5), (0.0, -1.5), (3.0, 1.5), (3.0, -1.5)):
        y = np.array([first, second, 2.0, 0.0])
        assert difference(run(program, [y.copy()]), run(compiled, [y.copy()])) == ""
    assert compiled.cache_info().eager_calls == eager


def test_which_reads_are_checked() -> None:
    """Those behind which a value is not certain; an array is not copied for one."""
    x = R.random(30)
    for program, count in ((found_or_else, 0), (root_at_the_break, 0), (last_above, 2)):
        text = str(fxc.compile(program).inspect(x, 0.5).captured)
        assert text.count("try_demand") == count


def by_a_while(x, t):
    k = 0
    while k < 9 and x[k] > t:
        y = x[k]
        k += 1
    return y, k


def by_the_elements_above(x, t):
    for v in x[x > t]:
        found = v
        row = x * v
    return found, row, t


def read_by_a_condition(x, t):
    total = x.sum()
    while total > t:
        total, half = total * 0.5, x * total
    if t < 0.7:
        half = half * 2
        x += half
        return x, half
    return x


def of_an_outer_iteration(x, t):
    s = 0.0
    for i in range(5):
        k = i
        while x[k] > t:
            last, at = x[k] * 2, i
            k += 1
        s += last * at
    return s


@pytest.mark.parametrize(
    "program",
    [by_a_while, by_the_elements_above, read_by_a_condition, of_an_outer_iteration],
    ids=lambda each: each.__name__,
)
def test_loops_that_may_have_no_iteration(program: Callable[..., Any]) -> None:
    """They are captured with flags, and read or raise as in Python."""
    compiled = fxc.compile(program, fullgraph=True)
    x = np.sort(R.random(30))[::-1].copy()
    for threshold in (0.8, 0.2, 1.5, 100.0, 0.8):
        expected = run(program, [x.copy(), threshold])
        assert difference(expected, run(compiled, [x.copy(), threshold])) == ""
    assert compiled.cache_info().native_calls >= 1


def test_what_is_still_refused() -> None:
    def twice_the_last(x):
        def twice():
            return y * 2

        k = 0
        while k < 9 and x[k] > 0.01:
            y = x[k]
            k += 1
        return twice()

    with pytest.raises(fxc.CaptureError, match="y has a value behind this loop only if"):
        fxc.compile(twice_the_last, fullgraph=True)(R.random(20))


def test_a_variable_whose_size_a_loop_counts() -> None:
    """The array that stands for it where it has no value had that size, outside of the loop."""

    def program(A, x):
        for j in range(4):
            for _ in range(2):
                g = A.ravel()[j - 1 :]
                for i in range(1, len(x)):
                    x[len(x) - 1 - i] = j + i
            g = g
        return x

    compiled = fxc.compile(program, fullgraph=True)
    A, x = R.random((4, 4)), R.random(4)
    assert difference(run(program, [A.copy(), x.copy()]), run(compiled, [A, x])) == ""


def test_a_variable_whose_size_each_iteration_has() -> None:
    """The array that stood for it had the size of an iteration that was over: an error of fxc's."""

    def inner_last(A, x):
        for k in range(3):
            for j in range(len(x)):
                g = x[j:] * 2
                x[k % 4] += A[k % 3, j]
            x[0] += g[0]
        return x

    def inner_each(A, x):
        for j in range(len(x)):
            for k in range(3):
                g = x[j:] * 2
                x[k % 4] += A[k % 3, j]
            x[0] += g[0]
        return x

    for program in (inner_last, inner_each):
        compiled = fxc.compile(program, fullgraph=True)
        A, x = R.random((5, 5)), R.random(5)
        assert difference(run(program, [A.copy(), x.copy()]), run(compiled, [A, x])) == ""


def test_an_array_of_an_iteration_before_has_another_size() -> None:
    """It is carried, or refused: it was read where there is nothing."""

    def by_mask(x):
        for j in range(len(x)):
            m = x[x >= 0]
            if x[j] > 0:
                g = m * 2
            x[j] += 1
            x[0] += g[0]
        return x

    def by_counter(x):
        for j in range(len(x)):
            if x[j] > 0:
                g = x[j:] * 2
            x[j] += 1
            x[0] += g[0]
        return x

    for program in (by_mask, by_counter):
        for x in (np.array([1.0, 0, 1, 0, 0]), np.array([0.0, 0, 1, 0, 0])):
            compiled = fxc.compile(program, fullgraph=True)
            assert not difference(run(program, [x.copy()]), run(compiled, [x.copy()]))
        with pytest.raises(fxc.CaptureError, match="whose size is counted in a branch or a loop"):
            fxc.compile(program, fullgraph=True)(np.tile([1.0, 0, 1, 0, 0], 5))
