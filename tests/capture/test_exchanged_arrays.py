"""Loops that exchange arrays: one compilation for every number of iterations but none."""

import warnings
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def returned(a, b, n):
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    return a


def both_of_a_copy(a, b, n):
    b = a.copy()
    for k in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:]) + k
        a, b = b, a
    return a, b


def three_in_a_ring(a, b, n):
    c = np.ones_like(a)
    for k in range(1, n + 1):
        c[1:] = a[:-1] + b[1:] * k
        a, b, c = b, c, a
    return a.sum(), b, c[0]


def written_afterwards(a, b, n):
    t = 0.0
    for k in range(n):
        b[:] = a * 1.5 + t
        t += float(k)
        a, b = b, a
    a[0] = 99.0
    return t


def used_afterwards(a, b, n):
    for k in range(n):
        b[:] = a + k
        a, b = b, a
    return a @ a, (a * b).sum(), np.where(a > 0, a, b)


def ended_early(a, b, n):
    for k in range(n):
        if a[0] > 10:
            break
        b[:] = a + k
        a, b = b, a
    return a


def that_may_raise(a, b, n):
    for k in range(n):
        b[k % 8 + (a[0] > 1e5) * 100] = a[k % 8] + 1
        a, b = b, a
    return a


@pytest.mark.parametrize(
    "trips", [(5, 0, 1, 2, 3, 10, 11, 200), (2, 1, 3, 0), (1, 2, 4), (0, 1, 5)]
)
@pytest.mark.parametrize(
    "function",
    [
        returned,
        both_of_a_copy,
        three_in_a_ring,
        written_afterwards,
        used_afterwards,
        ended_early,
        that_may_raise,
    ],
)
def test_trip_counts_share_a_compilation(function, trips):
    compiled = fxc.compile(function, fullgraph=True)
    for n in trips:
        calls = [(np.arange(10.0) ** 2, np.arange(10.0) ** 3, n) for _ in range(2)]
        assert not difference(run(function, calls[0]), run(compiled, calls[1]))
    info = compiled.cache_info()
    assert info.variants <= 1 + (0 in trips)
    assert info.eager_calls == 0


def new_ones_take_their_place(a, b, n):
    before, now = a.copy(), a
    for _ in range(n):
        new = 2 * now - before
        new[0] = new[-1] = 0
        before, now = now, new
    return now


def in_two_dimensions(a, b, n):
    before, now = np.outer(a, b), np.outer(b, a)
    for _ in range(n):
        new = 2 * now - before
        new[1:-1, 1:-1] += 0.1 * (now[2:, 1:-1] + now[:-2, 1:-1] - 2 * now[1:-1, 1:-1])
        before, now = now, new
    return now, before[0]


def three_before(a, b, n):
    x, y, z = a, b, a + b
    for k in range(n):
        x, y, z = y, z, x + z * 0.5 + k
    return x, z


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize(
    "function", [new_ones_take_their_place, in_two_dimensions, three_before, three_in_a_ring]
)
def test_what_was_before_is_kept_in_every_size(function, dynamic):
    """Each iteration reads, element by element, what the one before has left."""
    compiled = fxc.compile(function, fullgraph=True, dynamic=dynamic)
    for size, n in ((10, 3), (12, 7), (5, 0), (5, 1), (30, 20), (9, 2)):
        calls = [(np.arange(size) ** 0.5, np.arange(size) ** 0.25, n) for _ in range(2)]
        assert not difference(run(function, calls[0]), run(compiled, calls[1])), (size, n)
    assert compiled.cache_info().eager_calls == 0


def changing_an_object(a, b, n, sums):
    for k in range(n):
        b[:] = a + k
        a, b = b, a
        sums.append(a[1])
    return a


def first_assigned_inside(a, b, n):
    for _ in range(n):
        np.multiply(a, 1.5, out=b)
        change = np.abs(a - b).max()
        a, b = b, a
    return a, change


@pytest.mark.parametrize("function", [changing_an_object, first_assigned_inside])
def test_what_cannot_be_under_a_condition(function):
    compiled = fxc.compile(function, fullgraph=True)
    more = ([],) if function is changing_an_object else ()
    for n in (5, 6, 1, 2, 9):
        calls = [(np.arange(10.0), np.ones(10), n, *map(list, more)) for _ in range(2)]
        assert not difference(run(function, calls[0]), run(compiled, calls[1]))
    assert compiled.cache_info().eager_calls == 0


def rows_of_a_table(s, t):
    prev, cur = np.arange(len(t) + 1), np.zeros(len(t) + 1, dtype=np.int64)
    for i in range(len(s)):
        cur[0] = i + 1
        for j in range(len(t)):
            cur[j + 1] = min(prev[j] + (s[i] != t[j]), prev[j + 1] + 1, cur[j] + 1)
        prev, cur = cur, prev
    return prev


def elements_in_a_ring(s, t):
    a, b, c = t.copy(), t + 1, t + 2
    for i, x in enumerate(s):
        c[1:] = a[:-1] * x + b[1:] * i + s[: i + 1].sum() + s[i - 1]
        a, b, c = b, c, a
    return a, b, c


def backwards(s, t):
    a, b = t.copy(), t + 1
    for i in range(len(s) - 1, -1, -1):
        b[:] = a * s[i] + (s[i + 1 :] @ s[i + 1 :])
        a, b = b, a
    return a


@pytest.mark.parametrize("sizes", [(51, 300, 31, 30, 3, 4, 5), (6, 4, 5, 3), (9, 8, 7)])
@pytest.mark.parametrize("function", [rows_of_a_table, elements_in_a_ring, backwards])
def test_places_by_the_iteration(function, sizes):
    """In a call without an iteration behind the last round its place is out of bounds."""
    compiled = fxc.compile(function, fullgraph=True)
    for n in sizes:
        calls = [(np.arange(n) % 5, np.arange(n + 1) % 4) for _ in range(2)]
        assert not difference(run(function, calls[0]), run(compiled, calls[1]))
    info = compiled.cache_info()
    assert info.variants <= 2
    assert info.eager_calls == 0


# ---------------------------------------------- one takes over what another was before


def shifted(a, b, n):
    x, y = a, b
    for _ in range(n):
        new = np.zeros_like(y)
        new[1:] = x[1:] + y[:-1]
        x, y = y, new
    return x, y


def the_one_before(a, b, n):
    last = b
    for k in range(n):
        last = a
        a = a + b
        if abs(a - last).max() < 0.2 or a[0] > 20 * k:
            break
    return a, last


def written_behind(a, b, n):
    x, y = a, b
    for _ in range(n):
        x, y = y, x * 0.5
    x[0] = 7.0
    y[1] = 8.0
    return y


def three_names(a, b, n):
    x, y, z = a, b, a
    for _ in range(n):
        x, y, z = y, x + y, x
    return x, y, z


def from_nothing(a, b, n):
    last = None
    for _ in range(n):
        last = a
        a = a + b
    return a, last


@pytest.mark.parametrize(
    "function",
    [shifted, the_one_before, written_behind, three_names, from_nothing],
)
def test_an_array_that_another_variable_was(function):
    """The array of the caller's that one iteration hands on was returned as a copy."""
    compiled = fxc.compile(function, fullgraph=True)
    for n in (10, 0, 1, 2, 3, 40):
        calls = [(np.arange(6.0), np.ones(6), n) for _ in range(2)]
        assert not difference(run(function, calls[0]), run(compiled, calls[1])), n
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)


def _kept_if(x, n):
    kept = x * 2
    for _ in range(n):
        if x[0] > 0.5:
            kept = x
        x = x + 1
    return x, kept


def _kept_if_and_written(x, n):
    x, kept = _kept_if(x, n)
    kept[1] = 77
    return x


def _kept_by_a_loop_inside(x, n):
    y = x * 2
    x, y = y, x
    for _ in range(n):
        for _ in range(n):
            x, y = y, x + y
    return x, y


@pytest.mark.parametrize("program", [_kept_if, _kept_if_and_written, _kept_by_a_loop_inside])
def test_what_a_branch_takes_over_may_be_the_callers_array(program: Any) -> None:
    """After one iteration it is; it was a copy."""
    compiled = fxc.compile(program)
    for n in (1, 0, 2, 5):
        for first in (1.0, -9.0):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fxc.CaptureWarning)
                found = run(compiled, (np.arange(4.0) + first, n))
            assert difference(run(program, (np.arange(4.0) + first, n)), found) == ""


def best_so_far(x, n, wanted):
    best, least = x, np.inf
    for _ in range(n):
        cost = ((x - wanted) ** 2).sum()
        if cost < least:
            best, least = x, cost
        x = x * 0.9 - 0.1
    return best, least, x


def best_of_several_rounds(x, n, wanted):
    best, least = x, np.inf
    for _ in range(n):
        for _ in range(3):
            cost = ((x - wanted) ** 2).sum()
            if cost < least:
                best, least = x, cost
            x = x * 0.9 - 0.1
    return best


def best_until_the_end(x, n, wanted):
    best, least = x, np.inf
    while True:
        cost = ((x - wanted) ** 2).sum()
        if cost < least:
            best, least = x, cost
        x = x * 0.9 - 0.1
        n -= 1
        if n <= 0:
            break
    return best, x


@pytest.mark.parametrize("program", [best_so_far, best_of_several_rounds, best_until_the_end])
def test_the_best_so_far_may_be_the_callers_array(program: Any) -> None:
    """The first iteration is run before the loop, which makes all that it hands on itself."""
    compiled = fxc.compile(program, fullgraph=True)
    for n in (10, 1, 2, 3, 0, 40):
        for wanted in (0.0, 5.0, -0.5, -1.0):
            found = run(compiled, (np.linspace(-1, 2, 5), n, wanted))
            expected = run(program, (np.linspace(-1, 2, 5), n, wanted))
            assert difference(expected, found) == "", (n, wanted)
    assert compiled.cache_info().variants == 3  # none, one, more


def test_what_is_taken_over_and_written():
    """The write of the first iteration went to a copy of what an array was before the loop."""

    def program(x, y, n):
        m = 0

        def put(i):
            nonlocal m
            m += i
            x[i] = m

        for k in range(n):
            x, y = y, x + y
            put(k)
        return x, y

    compiled = fxc.compile(program)
    for n in (5, 1, 2, 3, 6):
        calls = [(np.arange(6.0), np.ones(6), n) for _ in range(2)]
        assert not difference(run(program, calls[0]), run(compiled, calls[1])), n


def rolled(a, b, n):
    for _ in range(n):
        a, b = b, np.roll(a, 1)
    return a, b


def rolled_behind_the_exchange(a, b, n):
    was = b
    for _ in range(n):
        a, b = b, a
        b = np.roll(b, 1)
    return was is a, b


@pytest.mark.parametrize("function", [rolled, rolled_behind_the_exchange])
def test_views_of_new_arrays_take_their_turn(function):
    """After one iteration ``a`` is the caller's ``b``; it was a copy."""
    compiled = fxc.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for n in (2, 1, 0, 3):
            calls = [(np.arange(4.0), np.ones(4), n) for _ in range(2)]
            assert not difference(run(function, calls[0]), run(compiled, calls[1]))


def behind_a_loop_in_a_loop(x, y, n):
    z = x
    for m in range(n):
        p = y
        for _ in range(3 - m):
            p = p * 2
        z = p
    z -= 1


def exchanged_in_a_loop_in_a_loop(x, y, n):
    z, w = x, x
    for m in range(n):
        p, s = y, y
        for _ in range(3 - m):
            p, s = s, p * 2
        z, w = p, z
    w -= 1
    y[0] = 50
    return z.sum()


def behind_a_loop_in_a_branch(x, y, n):
    if x[2] < 3:
        p = y
        for _ in range(int(x[n])):
            p = p * 2
        z = p
    else:
        z = x * 3
    z -= 1
    return z


def behind_a_while_loop(x, y, n):
    z = x
    while n > 0:
        p = y
        for _ in range(int(x[n])):
            p = p * 2
        z = p
        n -= 1
    return z


@pytest.mark.parametrize(
    "function",
    [
        behind_a_loop_in_a_loop,
        exchanged_in_a_loop_in_a_loop,
        behind_a_loop_in_a_branch,
        behind_a_while_loop,
    ],
)
def test_what_a_loop_inside_may_have_left_as_it_was(function):
    """It may be the caller's array: a write to it was lost."""
    for n in (0, 1, 2, 3, 4, 9):
        compiled = fxc.compile(function)
        calls = [(np.arange(12.0), np.arange(12.0) + 1, n) for _ in range(2)]
        found = run(function, calls[0]), run(compiled, calls[1])
        assert not difference(*found), n
        same = [each.result is call[1] for each, call in zip(found, calls, strict=True)]
        assert same[0] == same[1], n


def parted(z, s):
    low = z[z < s]
    if len(low) == len(z):
        return z, 0.0
    return z * s, low.sum()


def exchanged_with_another_dtype(x, y, a):
    for j in range(len(x)):
        a[:, y > 0.0] *= y.real[min(j + 1, len(x) - 1)]
        x, _ = parted(x, 1)
        y, x = (x, y)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_arrays_of_two_dtypes_change_places(n):
    """They were taken for one array or another, of one type."""

    def arguments():
        a = np.random.default_rng(0).random((n, n))[::-1]
        return a[-1], np.random.default_rng(1).random(n) + 0j, a

    compiled = fxc.compile(exchanged_with_another_dtype, fullgraph=True)
    expected = run(exchanged_with_another_dtype, arguments())
    assert not difference(expected, run(compiled, arguments()))


def four_with_a_view(x, y, n):
    e = r = y[:]
    for _ in range(n):
        y, r, x, e = r, x, e, y
    return r, x


@pytest.mark.parametrize("n", range(13))
def test_a_view_among_arrays_that_change_places(n):
    """One that was a view of itself after the first iteration was taken to slide by nothing."""
    x, y = np.zeros(3), np.ones(3)
    found = fxc.compile(four_with_a_view, fullgraph=True)(x, y, n)
    for mine, expected in zip(found, four_with_a_view(x, y, n), strict=True):
        assert [mine is x, mine is y] == [expected is x, expected is y]
        np.testing.assert_array_equal(mine, expected)


def exchanged_in_a_loop(x, y, n):
    for k in range(n):
        p, s = y, np.zeros_like(x)
        for _ in range(min(k, 5)):
            s[1:-1] = k
            p, s = s, p


@pytest.mark.parametrize("dynamic", [None, True])
def test_arrays_of_sizes_by_two_names_change_places(dynamic):
    """What is written is the caller's array, whose size is equal to the other's by a guard."""
    compiled = fxc.compile(exchanged_in_a_loop, fullgraph=True, dynamic=dynamic)
    for n in (7, 2, 4):
        x, y, expected = np.zeros(5), np.ones(5), np.ones(5)
        exchanged_in_a_loop(x, expected, n)
        compiled(x, y, n)
        np.testing.assert_array_equal(y, expected)


def ends_with_a_view(x, y, a):
    w, p, t = a[0], x + 1, y + 3
    for i in range(len(x)):
        a[i] += p
        p, t = t, w


def ends_with_a_view_in_tuples(x, y, a):
    w, p, t = x[:], (x + 1, 1.0), (y + 3, 2.0)
    for i in range(len(x)):
        a[i] += p[0] * p[1]
        p, t = t, (w, 3.0)
        x[i] = p[1]


@pytest.mark.parametrize("program", [ends_with_a_view, ends_with_a_view_in_tuples])
def test_an_array_that_becomes_a_view_from_outside(program):
    """From the third iteration on it is the view, which was taken for the array of the second."""
    arrays = np.arange(5.0), np.arange(5.0) * 10, np.arange(25.0).reshape(5, 5)
    inputs = [tuple(map(np.copy, arrays)) for _ in range(2)]
    compiled = fxc.compile(program, fullgraph=True)
    assert not difference(run(program, inputs[0]), run(compiled, inputs[1]))


@pytest.mark.filterwarnings("error::fxc.CaptureWarning")
def test_arrays_change_places_with_rows_of_another_dtype() -> None:
    def program(x: Any, rows: Any) -> Any:
        for y in rows:
            x, y = y, x
            x = x[::-1] + x[-1]
        return np.cumsum(y), x.sum()

    compiled = fxc.compile(program, fullgraph=True)
    rows = np.arange(64, dtype=np.uint8).reshape(8, 8)
    for count in (8, 1):
        given = np.arange(8.0), rows[:count]
        assert difference(run(program, given), run(compiled, given)) == ""


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_new_array_behind_an_arm_may_be_the_callers() -> None:
    """Where the inner loop has no iteration, what is written is the caller's still."""

    def program(x: Any, a: Any, n: int) -> None:
        for i in range(n):
            if x[0] > 100:
                break
            a[0, -1] += 1
            for _ in range(0, i, 3):
                a = a + 1

    for n in (2, 5, 12):
        compiled = fxc.compile(program)
        for x in (np.zeros(4), np.full(4, 200.0)):
            expected, found = (x, np.zeros((4, 4)), n), (x, np.zeros((4, 4)), n)
            assert difference(run(program, expected), run(compiled, found)) == ""


def turned_round(x, e):
    for k in range(int(100 * e)):
        x = (x.T.copy() * 0.9).T
        x[0, 0] += k
    return x


def turned_round_until(x, e):
    total = 0.0
    while True:
        x = (np.stack([x[0], x[1] + x[0]], axis=1) * 0.5).T
        total += x.sum()
        if x.max() < e:
            break
    return x, total


def turned_round_in_a_test(x, e):
    y = x + 1
    while y.max() > e:
        y = (y.T * 0.5 - 0.01).T
    return y.ravel(order="K"), y.sum(axis=0)


def turned_round_unless_it_ends(x, e):
    x = x.copy()
    before = np.inf
    for _ in range(10):
        now = x.mean()
        if abs(before - now) < e:
            break
        before = now
        x = (np.eye(2) * 0.9 @ x).T.copy().T + x[0]
    return x, before


def laid_out_by_a_branch(x, e):
    y = x.copy() if x[0, 0] > e else x.T.copy().T
    rows = []
    for k in range(2):
        y[k] += 1
        rows.append(y)
        if y[0, 0] > 2 + e:
            y = y.copy("C")
    return y, rows, y.sum(axis=0), [each is y for each in rows]


TURNED = [
    turned_round,
    turned_round_until,
    turned_round_in_a_test,
    turned_round_unless_it_ends,
    laid_out_by_a_branch,
]


@pytest.mark.parametrize("program", TURNED)
def test_new_arrays_that_are_turned_round(program):
    compiled = fxc.compile(program, fullgraph=True)
    for order in ("C", "F"):
        for e in (0.01, 0.1, 5.0):
            calls = [(np.array([[1.0, 2, 3], [4, 5, 6]], order=order), e) for _ in range(2)]
            assert not difference(run(program, calls[0]), run(compiled, calls[1]))
    assert compiled.cache_info().eager_calls == 0


def kept_by_a_variable(x, n):
    y = x.T.copy()
    for _ in range(n):
        x[0, 0] += 1
        y = x.T.copy() * 0.5
        x = y.T
    return x, y


def kept_by_a_list(x, n):
    last = [None]
    for _ in range(n):
        x[0, 0] += 1
        last[0] = x.T.copy() * 0.5
        x = last[0].T
    return x, last


@pytest.mark.parametrize("program", [kept_by_a_variable, kept_by_a_list])
def test_who_else_has_what_is_turned_round_sees_its_writes(program):
    compiled = fxc.compile(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for n in (300, 1, 0, 5):
            calls = [(np.array([[1.0, 2, 3], [4, 5, 6]], order="F"), n) for _ in range(2)]
            assert not difference(run(program, calls[0]), run(compiled, calls[1]))


def implicit_by_turns(x, n):
    x, d = x.copy(), np.zeros_like(x)
    for _ in range(n):
        for i in range(1, x.shape[0]):
            d[i] = x[i] + 0.5 * d[i - 1]
        for i in range(x.shape[0] - 2, -1, -1):
            x[i] = d[i] - 0.25 * x[i + 1]
        x = x.T.copy()
    return x


def twice_what_was_there(x, n):
    x = x.copy()
    d = x * 2
    for _ in range(n):
        for i in range(1, x.shape[0]):
            x[i] = d[i] + 0.5 * x[i - 1]
        x = x[::-1].copy()
    return x, d


def beside_what_was_there(x, n):
    x = x.copy()
    first, total = x, 0.0
    for _ in range(n):
        total += first[1, 1]
        for i in range(1, x.shape[0]):
            x[i] += 0.5 * x[i - 1]
        x = x * 0.5
    return x, total


def again_from_what_was_there(x, n):
    first = x.copy()
    for _ in range(n):
        x = first
        for _ in range(n):
            x[0] += 1
            x = x * 0.5
    return x


@pytest.mark.parametrize(
    ("program", "is_loop"),
    [
        (implicit_by_turns, True),
        (twice_what_was_there, True),
        (beside_what_was_there, False),
        (again_from_what_was_there, False),
    ],
)
def test_arrays_that_are_written_before_they_are_replaced(program, is_loop):
    compiled = fxc.compile(program)
    x = np.arange(900.0).reshape(30, 30) % 7
    for n in (20, 1, 0, 3):
        assert not difference(run(program, (x.copy(), n)), run(compiled, (x.copy(), n)))
    if is_loop:  # nothing is unrolled
        assert len(str(compiled.inspect(x, 20).captured).splitlines()) < 60
