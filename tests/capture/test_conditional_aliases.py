"""Variables that hold one array or another by what is known at run time only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run


def refusal(fn: Any, *args: Any) -> str:
    with pytest.raises(fxc.CaptureError) as caught:
        fxc.compile(fn, fullgraph=True)(*args)
    return str(caught.value)


# ------------------------------------------------------------------ branches


def written(c, A, B):
    y = A if c[0] > 0 else B
    y[0] = 1
    return y


def moved(c, A, B):
    if c[0] > 0:
        y = A
    else:
        y = B
    y[1:] += y[:-1]
    return y.sum(), y * 2, y[1:]


def windows(c, A, B):
    y = A[1:] if c[0] > 0 else A[:-1]
    y *= 2
    A[2] += 5
    y[0] += A[1]
    return y, y[1:], A, y.sum()


def made_in_one_arm(c, A, B):
    if c[0] > 0:
        y = A
    else:
        y = np.ones(5)
    y[2] = 7
    return y


def two_names(c, A, B):
    if c[0] > 0:
        y = z = np.zeros(5)
    else:
        y = z = np.ones(5)
    y[2] = 7
    return z, y, z is y


def views_of_what_is_made(c, A, B):
    if c[0] > 0:
        z = np.zeros(5)
        y = z[1:4]
    else:
        z = A
        y = B[1:4]
    y[0] = 9
    z[1] += 3
    return y, z


def swapped(c, A, B):
    if c[0] > 0:
        A, B = B, A
    A += 1
    B *= 2
    return A, B


def early(c, A, B):
    if c[0] > 0:
        return A[1:]
    A[0] = 4
    return B[1:]


def three(c, A, B):
    y = A if c[0] > 0 else (B if c[1] > 0 else c)
    y[0] = 100
    w = y[::2]
    w += 1
    return w


def nested(c, A, B):
    if c[0] > 0:
        y = A if c[1] > 0 else B
    else:
        y = c
    y[0] = 100
    return y


def functions(c, A, B):
    y = A if c[0] > 0 else B
    M = np.outer(y, y)
    y[y > 2] = -1
    y.sort()
    np.add.at(y, [0, 0, 1], 5.0)
    i = np.array([3, 1])
    y[i] = y[i - 1] * 2
    return y @ y, M, y.argmax(), np.concatenate([y, A]), A[y.astype(int) % 5]


def outs(c, A, B):
    y = A if c[0] > 0 else B
    out = np.empty(5)
    np.add(y, 1, out=out)
    np.multiply(out, 2, out=y)
    np.copyto(y[:2], A[3:])
    y[1:] = y[:-1]
    return out


def by_helpers(c, A, B):
    def pick(which, one, other):
        return one if which else other

    y, z = pick(c[0] > 0, A, B), pick(c[1] > 0, A, B)
    y[0] += 1
    z[0] *= 10
    y += z
    return {"y": [y, y], "z": z}


def stored(c, A, B):
    y = A if c[0] > 0 else B
    y[:] = A + y
    return (y, A, B)


def left_as_it_is(c, A, B):
    y = A
    if c[0] > 0:
        y = B
    y[0] = 3
    return y, A, B


def chosen_again(c, A, B):
    for i in range(4):
        if c[i] > 0:
            A, B = B, A
        A[i] += 10
    return A, B


def by_integers(c, A, B):
    k = int(c[0])
    y = A if k > 0 else B
    y[k] = 1
    return y, k


BRANCHES = [
    *(written, moved, windows, made_in_one_arm, two_names, views_of_what_is_made, swapped, early),
    *(three, nested, functions, outs, by_helpers, stored, left_as_it_is, chosen_again, by_integers),
]


@pytest.mark.parametrize("fn", BRANCHES, ids=[each.__name__ for each in BRANCHES])
def test_branches(fn: Any) -> None:
    c, x = np.array([1.0, -1.0, 1.0, -1.0, 1.0]), np.arange(5.0)
    check(fn, (c, x, x * 10), (-c, x, x * 10), (abs(c), x, x * 10))


def test_arguments_that_overlap() -> None:
    program = fxc.compile(moved, fullgraph=True)
    for parts in ((slice(0, 5), slice(3, 8)), (slice(1, 10, 2), slice(0, 10, 2))):
        for c in (np.ones(3), -np.ones(3)):
            outcomes = []
            for call in (moved, program):
                x = np.arange(12.0)
                left, right = (x[part] for part in parts)
                outcomes.append(run(call, (c, left, right)))
                outcomes.append(run(np.copy, (x,)))
            assert (
                difference(outcomes[0], outcomes[2]) == difference(outcomes[1], outcomes[3]) == ""
            )
    assert program.cache_info().eager_calls == 0


def layouts(c, A, B):
    y = A.T if c[0] > 0 else B.T
    z = A[:, ::2] if c[0] > 0 else B[:, ::2]
    z /= 3
    return y.sum(), z.sum(), z + 1, z.copy(), y + 1, y, z, np.exp(z).sum(), z.mean(0), z + y[:9].T


def test_layouts() -> None:
    x = np.random.default_rng(0).random((40, 18))
    c = np.ones(1)
    check(layouts, (c, x, x * 3), (-c, x, x * 3))


def test_sizes() -> None:
    c = np.ones(2)
    program = check(moved, *((c, np.arange(n) * 1.0, np.ones(n)) for n in (5, 6, 7, 8, 9)))
    assert program.cache_info().variants == 2


def test_read_only() -> None:
    x = np.arange(5.0)
    y = x.copy()
    y.flags.writeable = False
    check(written, (np.ones(1), x, y))


def identical(c, A, B):
    y = A if c[0] > 0 else B
    return y is A


def test_refusals() -> None:
    x = np.arange(5.0)
    assert "'is' of arrays that are one or two" in refusal(identical, x, x * 3, x * 2)
    with pytest.raises(fxc.CaptureError, match="return a copy"):
        fxc.functionalize(written)(x, x * 3, x * 2)


# ------------------------------------------------------------------ loops


def by_parity(x, n):
    u, v = x * 1, x
    for i in range(n):
        t = u if i % 2 else v
        t[i % 4] += i
    return u, v


def behind(x, n):
    u, v = x.copy(), x * 2
    for i in range(n):
        t = u if x[i % 3] > 2 else v
        t[i % 4] += 1
    return (u, v, t) if n else u


def best(x, n):
    found = x
    for i in range(n):
        y = x * i
        if y.sum() > found.sum():
            found = y
    return found


def best_written(x, n):
    found = x.copy()
    for i in range(n):
        y = x * i
        if y.sum() > found.sum():
            found = y
        found[0] += 1
    return found, x


def to_a_bound(x, n):
    u, v, k = x.copy(), x * 2, 0
    while k < n and u[0] < 1e3:
        v[1:-1] = u[:-2] + u[2:]
        v[0] = k
        u, v = v, u
        k += 1
    return u, k


def swap_and_break(x, n):
    u, v = x, x * 2
    for _ in range(n):
        v[1:-1] = u[:-2] + u[2:]
        u, v = v, u
        if u[1] > 1e3:
            break
    return u


def swap_at_times(x, n):
    u, v = x, x * 2
    for i in range(n):
        if u[i % 3] > 3:
            u, v = v, u
        u[i % 2] += 1
    return u, v


def once(x, n):
    u, v = x, x * 2
    for i in range(n):
        if x[i % 3] > 2:
            u = v
    return u


def argument(x, n):
    for i in range(n):
        y = x * i
        if 3 < y.sum() < 1e9:
            x = y
    return x


def three_round(x, n):
    u, v, w = x, x * 2, x * 3
    for i in range(n):
        if x[i % 3] > 1:
            u, v, w = w, u, v
        u[0] += 1
    return u, v, w


def counted_down(x, n):
    u, v, w = x, x * 2, x + 3
    while n > 0:
        u, v, w = w, u, v
        u[0] += 1
        v[1] *= 1.5
        n -= 1
    return u, x


def five_round(x, n):
    a, b, c, d, e = x, x * 2, x * 3, x * 4, x * 5
    for i in range(n):
        a, b, c, d, e = b, c, d, e, a
        a[i % 4] += 1
    return a, b, c, d, e


def inner(x, n):
    a, b = x, x * 2
    for i in range(n):
        for j in range(i % 3 + n):
            if x[j % 4] > 1:
                a, b = b, a
            a[j % 4] += i
        b[0] += 1
    return a, b


def recurrence(x, n):
    previous, current = x, x * 1
    for _ in range(n):
        new = current * 0.5 + previous
        previous, current = current, new
        if new[0] > 50:
            break
        current[1] += 1
    return previous


def until_small(x, n):
    found, k = x * 1, 0
    while True:
        y = found * 0.9 + 1
        if abs(y - found).max() < 1e-3:
            break
        found = y
        k += 1
        if k > n:
            break
    return found, k


def until_settled(x, n):
    u, v, e = x, x * 1, 1.0
    while e > 1e-3 * (n + 1):
        v[1:-1] = 0.3 * (u[:-2] + u[2:])
        e = abs(u - v).max()
        u, v = v, u
    return u, e


def endless(x, n):
    u, v, k = x, x * 2, 0
    while True:
        v[1:-1] = 0.3 * (u[:-2] + u[2:])
        u, v = v, u
        k += 1
        if abs(u - v).max() < 1e-3 or k > n:
            break
    return v, k


def round_of_three(x, n):
    u, v, w, k = x, x * 2, x * 3, 0
    while k < n:
        w[1:-1] = 0.3 * (u[:-2] + v[2:])
        u, v, w = v, w, u
        k += 1
    return v, u


def with_others(x, n):
    u, v, k, t = x, x * 2, 0, x + 1
    while k < n:
        t = u * v
        v[1:-1] = t[:-2] + u[2:]
        u, v = v, u
        k += 1
        if t[0] > 5:
            t = t * 0.5
    return u, t


def at_depth(x, n):
    u, v, k = x, x * 2, 0
    for j in range(6):
        k = 0
        while k < j + n:
            v[j % 3] = u[0] + 1
            u, v = v, u
            k += 1
        u[0] += k
    return u, v


def not_in_the_third(x, n):
    u, v, k = x, x * 2, 0
    while k < n and x[3] > 0:
        v[1:-1] = u[:-2] + u[2:]
        k += 1
        if k == 3:
            continue
        u, v = v, u
    return u, v, k


LOOPS = [
    *(until_settled, endless, round_of_three, with_others, at_depth, not_in_the_third),
    *(by_parity, behind, best, best_written, to_a_bound, swap_and_break, swap_at_times, once),
    *(argument, three_round, counted_down, five_round, inner, recurrence, until_small),
]


@pytest.mark.parametrize("fn", LOOPS, ids=[each.__name__ for each in LOOPS])
def test_loops(fn: Any) -> None:
    x = np.array([0.5, 1, 2, 3])
    program = check(fn, *((s * x, n) for s in (1, -1) for n in (9, 20, 6, 31)))
    assert program.cache_info().variants == 1
    check(fn, *((x, n) for n in (0, 1, 2, 3)))


def last_and_best(x, n):
    found = last = x * 1
    for i in range(n):
        y = x * i
        if y[0] > 2:
            found = y
        last = y
    found[0] = 100
    return last


def both_returned(x, n):
    found = x * 1
    for i in range(n):
        y = x * i
        if y[0] > 2:
            found = y
        last = y
        last[1] = 5
    return last, found


def test_two_variables_with_one_array_of_an_iteration() -> None:
    x = np.array([0.5, 1, 2, 3])
    assert "may have replaced by another one" in refusal(last_and_best, x, 10**4)
    assert "one array in one case" in refusal(both_returned, x, 10**4)


def shared_with_a_view(x, n):
    y, k = x, 0
    while k < n and x[k] < n:
        y = y * 0.5 + 1
        k += 1
    v = y[1:4]
    v += 1
    x += y
    return y, v, x


def shared_with_another_name(x, n):
    y, k = x.copy(), 0
    w = y
    while k < n and x[k] < n:
        y = y * 0.5 + 1
        k += 1
    y[2] = 5
    for i in range(3):
        w[i] += y[i + 1]
        y[i] *= 2
    return w, y


def written_before_it_is_read(x, n):
    y, k = x, 0
    while k < n and x[k] < n:
        y = y * 0.5
        k += 1
    x[0] = 9
    return y, x


def of_another_shape(x, n):
    y, k = x.reshape(2, -1), 0
    while k < n and x[k] < n:
        y = y * 0.5 + 1
        k += 1
    y[0] = y[1] + 1
    y.sort()
    return y, x


def behind_two_loops(x, n):
    y, k = x, 0
    while k < n and x[k] < n:
        y = y * 0.5 + 1
        k += 1
    while k < n and y[k] < n:
        y = y * 0.5 + 1
        k += 1
    y += 3
    return y, x


def two_that_may_be_one(x, n):
    y, z, k = x, x, 0
    while k < n and x[k] < n:
        y = y * 0.5 + 1
        k += 1
    while k < n and z[k] < n:
        z = z * 0.25 + 1
        k += 1
    y += 1
    z += 10
    return y, z, x


def in_arms_behind(x, n):
    y, k = x, 0
    while k < n and x[k] < n:
        y = y * 0.5 + 1
        k += 1
    if y[0] > 1:
        y -= 1
    else:
        y = y * 2
    y[1] = 0
    x[2] = 8
    return y.sum(), x, y


def masked_behind(x, n):
    k = 0
    while k < n and x[k] < n:
        x = np.where(x > 3, x * 0.5, x)
        k += 1
    x[x < 1] = 0
    return x


def in_a_loop_behind(x, n):
    y, k = x, 0
    while k < n and x[k] < n:
        y = y * 0.5 + 1
        k += 1
    for i in range(1, len(y)):
        y[i] += y[i - 1] * x[i]
    return y, x


@pytest.mark.parametrize(
    "fn",
    [
        *(shared_with_a_view, shared_with_another_name, written_before_it_is_read),
        *(of_another_shape, behind_two_loops, two_that_may_be_one, in_arms_behind),
        *(masked_behind, in_a_loop_behind),
    ],
    ids=lambda each: each.__name__,
)
def test_writes_behind_loops_that_may_have_no_iteration(fn: Any) -> None:
    program = fxc.compile(fn, fullgraph=True)
    for first in (0.5, 9.0, 0.5, 7.0):
        for n in (3, 5, 1):
            x = np.array([first, 1, 2, 3, 4, 5.5])
            assert difference(run(fn, [x.copy(), n]), run(program, [x.copy(), n])) == ""
            last = x[::2].repeat(2)[::-1]
            assert difference(run(fn, [last.copy(), n]), run(program, [last.copy(), n])) == ""
    assert program.cache_info().eager_calls == 0


def grown_and_marked(x, n):
    found = x.copy()
    for _ in range(n):
        found = found + 1.5
    found[found < 2] = np.inf
    return found


def distances(x, n):
    steps, front, reached = 1, x.copy(), x.copy()
    while np.any(front) and steps < n:
        steps += 1
        front = np.dot(front, x) * (reached == 0)
        reached = reached + steps * (front != 0)
    reached[reached == 0] = np.inf
    return reached, front, steps


def first_used_behind(x, n):
    first = found = x.copy()
    for _ in range(n):
        found = found + 1.5
    found[0] = 7
    return found, first.sum()


def first_seen_behind(x, n):
    first = x.copy()
    part, found = first[1:], first
    for _ in range(n):
        found = found + 1.5
    found[1] = 7
    return found, part


def the_callers(x, n):
    found = x
    for _ in range(n):
        found = found + 1.5
    found[1] = 7
    return found


def test_writes_behind_loops_of_no_iteration() -> None:
    x, ring = np.arange(4.0), np.eye(5)[[1, 2, 3, 4, 0]]
    check(grown_and_marked, *((x, n) for n in (40, 0, 3, 1)))
    check(distances, *((a, n) for a in (ring, ring * 0) for n in (40, 1, 3, 0)))


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", [first_used_behind, first_seen_behind, the_callers])
def test_writes_to_what_is_used_behind(fn: Any) -> None:
    x, compiled = np.arange(4.0), fxc.compile(fn)
    for n in (40, 0, 3, 0, 1):
        expected, found = run(fn, (x.copy(), n)), run(compiled, (x.copy(), n))
        assert difference(expected, found) == "", n


def handed_on(x):
    first = last = x[0]
    for i in range(len(x)):
        if x[i] < 0:
            last = x[i]
    return first is last


def of_numpy(x):
    return (x[0] > 0) is (x[1] > 0)


@pytest.mark.parametrize("fn", [handed_on, of_numpy])
def test_identity_of_numbers_is_refused(fn: Callable[..., bool]) -> None:
    """They were two objects in any case."""
    with pytest.raises(fxc.CaptureError, match="'is' of two numbers"):
        fxc.compile(fn, fullgraph=True)(np.arange(6.0))
