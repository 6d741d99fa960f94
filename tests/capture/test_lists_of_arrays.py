"""Lists of counted length whose items are arrays: Note [Given arrays]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import same
from tests.covering import some
from tests.outcomes import difference, run


def snapshots(u, n):
    found = []
    for i in range(n):
        u = u * 0.99
        if i % 3 == 0 and u[0] < 5:
            found.append(u.copy())
    return found, len(found)


def stacked(u, n):
    found = [u + 1]
    for i in range(n):
        u = u * 0.99
        if u[i % 5] > 0:
            found.append(u.copy())
    joined = np.stack(found), np.vstack(found), np.concatenate(found), np.array(found)
    return joined, np.mean(found, axis=0), len(found)


def joined_along_axes(u, n):
    found, planes = [u + 1], [np.outer(u, u)]
    for i in range(n):
        u = u * 0.99
        if u[i % 5] > 0:
            found.append(u.copy())
            planes.append(np.outer(u, u[:3]) if i < 0 else np.outer(u, u + i))
    columns = np.stack(found, axis=1), np.stack(found, -1), np.column_stack(found)
    rows = np.hstack(found), np.concatenate(found, axis=None), np.dstack(found)
    cubes = np.stack(planes, axis=1), np.stack(planes, axis=2), np.dstack(planes)
    flat = np.hstack(planes), np.column_stack(planes), np.concatenate(planes, axis=-1)
    return columns, rows, cubes, flat, np.block(found), np.block(planes)


def from_the_last(u, n):
    found = [u * 0]
    for i in range(n):
        y = found[-1] * 0.5 + u
        if u[i % 5] > 0:
            found.append(y)
        elif u[i % 5] < -1:
            found[-1] = u + i
    return found[-1]


def with_times(u, n):
    found = [(0.0, u * 1)]
    for i in range(n):
        u = u * 0.99
        if u[i % 5] > 0:
            found.append((found[-1][0] + 0.1, u.copy()))
    return found


def matrices_in_both_orders(u, n):
    m = np.outer(u, u + 1)
    found, masks = [], []
    for _ in range(n):
        m = m * 0.9
        if m[0, 0] < 0.5:
            found.append(m.T.copy())
            masks.append(m > 0)
    return found, masks


def run_over(u, n):
    found = [u * 1]
    for i in range(n):
        if u[i % 5] > 0:
            found.append(u * i)
    total = np.zeros(5)
    for v in found:
        total += v
    return total, max(v.sum() for v in found), found[0][1] + found[-1][2]


def a_stack(u, n):
    stack, total = [u * 1], 0.0
    for i in range(n):
        if u[i % 5] > 0:
            stack.append(u * i)
        elif len(stack) > 1:
            y = stack.pop()
            total += y[0]
    return total, len(stack)


def until_enough(u, n):
    found, k = [u.copy()], 0
    while k < n:
        k += 1
        if u[k % 5] > 0:
            found.append(found[-1] * 0.5 + u)
    return np.array(found)


def best_copied(u, n):
    found, best = [u * 0], u * 1
    for i in range(n):
        if u[i % 5] > 0:
            found.append(u * i)
        if found[-1][0] > best[0]:
            best = found[-1].copy()
    best[0] = 7
    return best, found


def views(u, n):
    table, found, pairs, by_sign = np.outer(np.arange(n + 2.0), u), [], [], {}
    table[0] += 1
    for i, row in enumerate(table):
        if u[i % 5] > 0:
            found.append(row[1:])
            pairs.append((row, i))
        by_sign[i % 3] = table[i]
    total = sum(row.sum() * i for row, i in pairs)
    found.append(u[1:])
    return np.array(found), total, sum(by_sign.values())


def parts(u, n):
    found = [u * 1]
    for i in range(n):
        if u[i % 5] > 0:
            found.append(found[-1] * 0.5 + i)
    lengths = [np.abs(b - a).sum() for a, b in zip(found, found[1:])]  # noqa: B905, RUF007
    turned = found[::-1]
    turned.append(u + 1)
    turned[0] = u * 2
    return np.array(turned), np.array(found[:-1]), sum(lengths), len(turned)


def the_other_way_round(u, n):
    found = [u * 1]
    for i in range(n):
        if u[i % 5] > 0:
            found.append(u * i)
    found = found[::-1]
    found.append(u + 1)
    return found[1:]


def by_their_sums(u, n):
    found = [(u * 0, 0)]
    for i in range(n):
        if u[i % 5] > 0:
            found.append((u * i, i % 7))
    found.sort(key=lambda item: item[0].sum())
    first = sorted(found, key=lambda item: -item[1])
    return first, np.array([each for each, _ in found[:3]])


def sums(u, n):
    low, high = [], []
    for i in range(n):
        (low if u[i % 5] > 0 else high).append(u * i)
    both = low[:-1] + high
    return both, len(both)


def sums_of_views(u, n):
    low, high, table = [u], [], np.outer(np.arange(n + 1.0), u)
    for row in table:
        if row[0] > u[1]:
            low.append(row)
        else:
            high.append(row)
    return np.array(low[::-1] + high + low), len(high)


def at_two_places(u, n):
    found, waiting = [u + 1], [(u * 0.5, u + 2)]
    while waiting and len(found) < n:
        a, b = waiting.pop()
        if np.abs(a - b).sum() < 1:
            found.append(b)
            found.append(found[-1])
        else:
            middle = (a + b) / 2
            waiting.append((middle, b))
            waiting.append((a, middle))
    return np.array(found), len(waiting)


def from_before(u, n):
    first, found = u * 2, []
    for i in range(n):
        if u[i % 5] > 0:
            found.append(first)
        found.append(u)
    return sum(each.sum() * i for i, each in enumerate(found))


def of_either_arm(u, n):
    """Each array is a new one, whichever arm has made it, and is appended in one arm."""
    found = []
    for i in range(n):
        if u[i % 5] > 0:
            row = u * i
        else:
            row = u - i
        if u[(i + 1) % 5] > 0:
            found.append(row)
        elif u[i % 3] > 0:
            found.insert(0, row)
        else:
            found.append(row * 2 if u[0] > 0 else u + i)
    return found


def about_the_middle(u, n):
    rows = [u * 1]
    for i in range(n):
        middle = sum(rows) / len(rows)
        if middle.sum() < u[i % 5]:
            rows.append(middle + u)
    return len(rows), rows[-1]


PROGRAMS: list[Callable[..., Any]] = [
    of_either_arm, about_the_middle,
    snapshots, stacked, joined_along_axes, from_the_last, with_times, matrices_in_both_orders, run_over, a_stack,
    until_enough, best_copied,
    views, parts, the_other_way_round, by_their_sums,
    sums, sums_of_views, at_two_places, from_before,
]  # fmt: skip


def _numbers(seed: int = 3) -> Any:
    return np.random.default_rng(seed).standard_normal(5)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for seed, n in enumerate((30, 7, 0, 1, 200, 31)):
        expected = run(program, (_numbers(seed), n))
        assert difference(expected, run(compiled, (_numbers(seed), n))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants <= 3


def test_an_axis_that_is_not_there() -> None:
    def joined(u, n):
        found = []
        for i in range(n):
            found.append(u * i)
        return np.stack(found, axis=2)

    compiled = fxc.compile(joined)
    for n in (8, 0):
        assert difference(run(joined, (_numbers(), n)), run(compiled, (_numbers(), n))) == ""


def test_an_array_of_no_items() -> None:
    def joined(u, n):
        found = []
        for i in range(n):
            if u[i % 5] > 9:
                found.append(u * i)
        return np.array(found)

    compiled = fxc.compile(joined, fullgraph=True)
    expected = run(joined, (_numbers(), 30))
    assert difference(expected, run(compiled, (_numbers(), 30))) == ""


# ------------------------------------------------------------------ one object in two places


def written_later(u, i, found, last):
    y = u * i
    found.append(y)
    y += 1
    return last


def kept(u, i, found, last):
    y = u * i
    found.append(y)
    return y


def kept_in_part(u, i, found, last):
    y = u * i
    found.append(y)
    return y[1:]


def appended_twice(u, i, found, last):
    y = u * i
    found.append(y)
    found.append(y)
    return last


def appended_behind_both_arms(u, i, found, last):
    y = u * i
    if u[0] > i:
        found.append(y)
    else:
        found.append(y)
    found.append(y)
    return last


def joined_and_written(u, i, found, last):
    if u[0] > i:
        z = y = u * i
    else:
        z = y = u + i
    found.append(y)
    z += 1
    return last


def carried(u, i, found, last):
    found.append(last)
    return u * i


def item_written(u, i, found, last):
    found.append(u * i)
    found[-1][0] = 5
    return last


def item_kept(u, i, found, last):
    found.append(u * i)
    return found[0]


def of_other_shapes(u, i, found, last):
    found.append(u[i % 2 :] * 1)
    return last


def of_another_order(u, i, found, last):
    found.append(np.outer(u, u).T)
    return last


def returned_view(u, i, found, last):
    found.append(u[1:])
    return last


def shown_later(u, i, found, last):
    last[0] = i
    found.append(last[1:])
    return last


@pytest.mark.parametrize(
    "change",
    [
        returned_view, shown_later,
        appended_behind_both_arms, joined_and_written,
        written_later, kept, kept_in_part, appended_twice, carried, item_written, item_kept,
        of_other_shapes, of_another_order,
    ],
    ids=lambda each: each.__name__,
)  # fmt: skip
def test_what_could_be_told_is_refused(change: Any) -> None:
    def program(u, n):
        found, last = [], u * 1
        for i in range(n):
            if u[i % 5] > 0:
                last = change(u, i, found, last)
        return found, last

    with pytest.raises(fxc.CaptureError):
        fxc.compile(program, fullgraph=True)(_numbers(), 9000)


def written_behind_the_loop(u, n):
    rows, m = [], np.outer(u, u)
    for i in range(n):
        m = m * 0.5
        if u[i % 5] > 0:
            rows.append(m[0])
    m[0] = 99
    return np.array(rows)


def written_behind_a_branch(u, n):
    rows, m = [], np.outer(u, u)
    for i in range(n):
        if u[i % 5] > 0:
            m = m * 0.5
            rows.append(m[0])
        if u[i % 3] > 0:
            m[0, 0] = 7
    return np.array(rows)


def written_in_the_next_iteration(u, n):
    rows, m = [], np.outer(u, u)
    for i in range(n):
        if u[i % 3] < 0:
            m[0, 0] = 7
        if u[i % 5] > 0:
            m = m * 0.5
            rows.append(m[0])
    return np.array(rows)


def told_from_an_item(u, n):
    rows, y = [], u * 2
    for i in range(n):
        if u[i % 5] > 0:
            rows.append(y)
    return rows[0] is y


def told_from_one_or_another(u, n):
    x = u * 2
    rows = [x]
    for i in range(n):
        if u[i % 5] > 9:
            x = x + 1
        rows.append(u * i)
    return rows[0] is x


def item_kept_and_returned(u, n):
    rows, y = [u], u * 2
    for i in range(n):
        if u[i % 5] > 0:
            y = rows[-1]
        else:
            rows.append(y)
    return y, np.array(rows)


def kept_in_a_part_of_a_list(u, n):
    rows = [u * 1]
    for i in range(n):
        if u[i % 5] > 0:
            rows.append(u * i)
    part, x = rows[1:], u * 2
    for i in range(n):
        if u[i % 3] > 0:
            x = x + 1
            part.append(x)
    return part, x


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program",
    [
        *(written_behind_the_loop, written_behind_a_branch, written_in_the_next_iteration),
        *(told_from_an_item, told_from_one_or_another, item_kept_and_returned),
        kept_in_a_part_of_a_list,
    ],
    ids=lambda each: each.__name__,
)
def test_what_a_list_shows_is_not_written(program: Callable[..., Any]) -> None:
    u = _numbers()
    expected = run(program, (u.copy(), 40))
    assert not difference(expected, run(fxc.compile(program), (u.copy(), 40)))


def steps_of_a_descent(u, n):
    x, path = u, [u]
    for i in range(n):
        y = x * 0.9 + u[i % 5] * 0.01
        if (y * y).sum() < (x * x).sum():
            x = y
        path.append(x)
    return x, np.array(path)


def taken_steps(u, n):
    x, path = u, [u]
    for i in range(n):
        y = x * 0.9 + u[i % 5] * 0.01
        if (y * y).sum() < (x * x).sum():
            x = y
            path.append(x)
    return x, len(path), path[-1].sum()


def filtered_with_gaps(u, n):
    p, ps = np.eye(3), []
    for i in range(n):
        p = p * 0.9
        if u[i % 5] > 0:
            p = p + 1
        ps.append(p)
    return np.array(ps), p


@pytest.mark.parametrize(
    "program",
    [steps_of_a_descent, taken_steps, filtered_with_gaps],
    ids=lambda each: each.__name__,
)
def test_a_history_of_what_a_branch_may_replace(program: Callable[..., Any]) -> None:
    u, compiled = _numbers(), fxc.compile(program, fullgraph=True)
    for n in (90, 200):
        given = u.copy()
        assert not difference(run(program, (given, n)), run(compiled, (given, n)))


def results(found, u):
    return found, found[-1]


def results_twice(found, u):
    return found[0], found[-1]


def items_that_are_one(found, u):
    return found[0] is found[-1]


def an_item_is_written(found, u):
    for v in found:
        v *= 2
    return found


def with_the_argument(found, u):
    found.append(u)
    return found


def a_part_beside_the_list(found, u):
    return found, found[1:]


def a_part_beside_an_item(found, u):
    return found[::-1], found[0]


def two_parts(found, u):
    return found[1:], found[:-1]


def an_item_of_a_part_is_written(found, u):
    found[1:][0][...] = 7
    return np.array(found)


def an_item_of_a_part_is_one(found, u):
    return found[::-1][0] is found[-1]


def twice_in_a_list(found, u):
    return found + found


def in_a_sum_and_a_list(found, u):
    return found[1:] + found[:1], found


def at_one_place_more(found, u):
    found.append(found[0])
    return found


def appended_again_and_told(found, u):
    found.append(found[0])
    return found[0] is found[-1]


def an_item_of_a_sum_is_written(found, u):
    both = found[1:] + found
    both[0][...] = 7
    return np.array(found)


@pytest.mark.parametrize(
    "use",
    [
        *(results, results_twice, items_that_are_one, an_item_is_written, with_the_argument),
        *(a_part_beside_the_list, a_part_beside_an_item, two_parts, an_item_of_a_part_is_written),
        *(an_item_of_a_part_is_one, twice_in_a_list, in_a_sum_and_a_list, at_one_place_more),
        *(appended_again_and_told, an_item_of_a_sum_is_written),
    ],
    ids=lambda each: each.__name__,
)
def test_what_the_results_could_tell_is_refused(use: Any) -> None:
    def program(u, n):
        found = [u * 1]
        for i in range(n):
            if u[i % 5] > 0:
                found.append(u * i)
        return use(found, u)

    with pytest.raises(fxc.CaptureError):
        fxc.compile(program, fullgraph=True)(_numbers(), 9000)


def in_lists_of_a_list(x):
    found = [[] for _ in range(3)]
    for i, row in enumerate(x):
        if row[0] > 0:
            found[i % 3].append(row)
    return found


def in_lists_of_a_dict(x):
    found = {}
    for i, row in enumerate(x):
        if row[0] > 0:
            found.setdefault(i % 3, []).append(row)
    return list(found.values())


def in_new_lists(x):
    found, last = [], []
    for row in x:
        if row[0] > 0:
            last.append(row)
        else:
            found.append(last)
            last = []
    return found


def twice_in_a_tuple(x):
    found = []
    for row in x:
        if row[0] > 0:
            new = row * 2
            found.append((new, new))
    return found


def the_first_or_none(x):
    found = []
    for row in x:
        if row[0] > 0:
            found.append(row)
    return [[found[0] if found else None]]


def beside_the_last_or_another(x):
    found, other = [], np.zeros(2)
    for row in x:
        if row[0] > 0:
            found.append(row * 2)
    return [found, [found[-1] if found else other]]


def the_last_or_another_is_written(x):
    found, other = [], np.zeros(2)
    for row in x:
        last = found[-1] if found else other
        last += 1
        if row[0] > 0:
            found.append(row * 2)
    return [found, [other]]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program",
    [the_first_or_none, beside_the_last_or_another, the_last_or_another_is_written],
)
def test_an_item_or_something_else_is_the_item(program: Callable[..., Any]) -> None:
    x = np.random.default_rng(1).standard_normal((20, 2))
    expected, found = program(x), fxc.compile(program)(x)
    for a, b in zip(_flat(expected), _flat(found), strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.shares_memory(a, x) == np.shares_memory(b, x)
    assert (expected[-1][-1] is expected[0][-1]) == (found[-1][-1] is found[0][-1])


def _flat(lists: list[list[Any]]) -> list[Any]:
    return [x for items in lists for x in items]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program", [in_lists_of_a_list, in_lists_of_a_dict, in_new_lists, twice_in_a_tuple]
)
def test_the_arrays_in_results_are_the_same_ones(program: Callable[..., Any]) -> None:
    def memory(function: Callable[..., Any]) -> Any:
        x = np.random.default_rng(1).standard_normal((20, 2))
        arrays = [x, *(each for items in function(x) for each in items)]
        return [[np.shares_memory(a, b) for a in arrays] for b in arrays]

    assert memory(program) == memory(fxc.compile(program))


# ------------------------------------------------------------------ lists that begin with arguments


def states(u, n):
    found = [u]
    for _ in range(n):
        u = u * 0.5 + 1
        found.append(u)
    return found


def states_and_the_first(u, n):
    found = [u]
    for _ in range(n):
        found.append(found[-1] * 0.5 + 1)
    return found, u


def states_as_an_array(u, n):
    before, now = u, u - 1
    found = [before, now]
    for _ in range(n):
        before, now = now, before + now * 0.5
        found.append(now)
    return np.array(found), np.stack(found), len(found), found[-1][0]


def times_and_states(u, n):
    t, times, found = 0.0, [0.0], [u]
    while t < n:
        u = u + 0.1 * u
        t += 0.5
        times.append(t)
        found.append(u)
    return np.array(times), found


def pairs_with_times(u, n):
    found = [(0.0, u)]
    for k in range(n):
        u = u * 0.5
        found.append((k + 0.5, u))
    return found


def rows_of_one(u, n):
    table = np.outer(u, u)
    found = [u[:2], table[0][:2], u[1:3]]
    for k in range(n):
        if u[k % 5] > 0:
            found.append(u[:2] * k)
    return np.array(found)


def written_before(u, n):
    found = [u]
    u[0] = 7
    for k in range(n):
        found.append(u * k)
    return np.array(found), found


def written_in_the_loop(u, n):
    found = [u]
    for k in range(n):
        u[0] += 1
        found.append(u * k)
    return np.array(found), found


def written_afterwards(u, n):
    found = [u]
    for k in range(n):
        found.append(u * k)
    u[0] = 7
    return found


def an_item_written(u, n):
    found = [u]
    for k in range(n):
        found.append(u * k)
    found[0][0] = 7
    return u


def an_item_returned(u, n):
    found = [u]
    for k in range(n):
        found.append(found[-1] * k)
    return found[0]


def the_last_taken_off(u, n):
    found = [u]
    for k in range(n):
        if u[k % 5] > 0 and len(found) > 1:
            found.pop()
        else:
            found.append(u * k)
    return found


def the_first_replaced(u, n):
    found = [u]
    for k in range(n):
        found.append(u * k)
        if u[k % 5] > 0:
            found[0] = u + 1
    return found


def turned(u, n):
    found = [u]
    for k in range(n):
        found.append(u * k)
    found.reverse()
    return found[:2]


def before_it_changes(u, n):
    found = []
    for k in range(n):
        found.append(u)
        u = u * 0.5 + k
    return np.array(found), u


def while_it_changes(u, n):
    t, found = 0.0, []
    while t < n:
        found.append((t, u))
        last, u = u, u + 0.1 * u
        t += 0.5
        if np.abs(u - last).max() < 1e-3:
            break
    return len(found), found[-1][0] if found else None, u


def a_new_one_before_it_changes(u, n):
    found, u = [], u * 2
    for k in range(n):
        u[k % 5] += 1
        found.append(u)
        u = u * 0.5
    return found, u


def before_it_changes_or_not(u, n):
    found = []
    for k in range(n):
        found.append(u)
        if u[k % 5] > 0:
            u = u * 0.5 - 1
    return np.array(found), found


def before_it_changes_in_place(u, n):
    found = []
    for k in range(n):
        found.append(u)
        u += k
    return np.array(found), found


def what_it_was_changes(u, n):
    found, first = [], u
    for _ in range(n):
        first[0] += 1
        found.append(u)
        u = u * 0.5
    return np.array(found), first


def what_it_was_changes_later(u, n):
    found, first = [], u
    for _ in range(n):
        found.append(u)
        u = u * 0.5
    first[0] = 7
    return np.array(found), first


def its_other_name_changes(u, n):
    found, other = [], u * 1
    for k in range(n):
        other[0] = 5 + k
        found.append(u)
        u = u * 0.5
        other = u
    return np.array(found)


def its_other_name_changes_afterwards(u, n):
    found, other = [], u * 1
    for k in range(n):
        found.append(u)
        other[0] = 5 + k
        u = u * 0.5
        other = u
    return np.array(found)


def twice_before_it_changes(u, n):
    found, more = [], [u]
    for _ in range(n):
        found.append(u)
        more.append(u)
        u = u * 0.5
    return np.array(found), np.array(more)


def in_loops_before_it_changes(u, n):
    found = []
    for k in range(n):
        for _ in range(k % 3):
            found.append(u)
            u = u - 1
        found.append(u)
        u = u * 0.5
    return np.array(found), u


def one_after_the_other(u, n):
    found, v = [], u + 1
    for _ in range(n):
        found.append(u)
        u, v = v, u + v * 0.5
    return np.array(found)


CHANGING = [before_it_changes, while_it_changes]
NATIVE = [states, states_and_the_first, states_as_an_array, times_and_states, pairs_with_times]
BEGUN = [
    *(*NATIVE, rows_of_one, written_before, written_in_the_loop, written_afterwards),
    *(an_item_written, an_item_returned, the_last_taken_off, the_first_replaced, turned),
    *(*CHANGING, a_new_one_before_it_changes, before_it_changes_or_not, what_it_was_changes),
    *(
        before_it_changes_in_place,
        what_it_was_changes_later,
        its_other_name_changes,
        its_other_name_changes_afterwards,
    ),
    *(twice_before_it_changes, in_loops_before_it_changes, one_after_the_other),
]


@pytest.mark.parametrize("program", BEGUN, ids=lambda each: each.__name__)
def test_a_list_begins_with_the_callers_array(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    for seed, n in some(list(enumerate((30, 7, 0, 1, 20, 31))), 3, BEGUN.index(program)):
        expected = run(program, (_numbers(seed), n))
        assert difference(expected, run(compiled, (_numbers(seed), n))) == "", n
    assert compiled.cache_info().variants <= 2 or program not in [*NATIVE, *CHANGING]


def test_a_list_that_is_returned_begins_with_the_array_itself() -> None:
    u = _numbers()
    compiled = fxc.compile(states_and_the_first, fullgraph=True)
    for n in (9, 5, 30):
        found, first = compiled(u, n)
        assert found[0] is u is first
        assert len(found) == n + 1
    assert fxc.compile(pairs_with_times, fullgraph=True)(u, 9)[0][1] is u
    assert compiled.cache_info().variants == 1


def in_order_or_made_anew(x, n):
    rows = [x + 1, x * 2, x * 0.5]
    for _ in range(n):
        rows.sort(key=lambda row: (row * row).sum())
        if rows[0].sum() > 0:
            rows[-1] = rows[-1] * 0.5
        else:
            rows = [rows[0]] + [rows[0] + 0.5 * (p - rows[0]) for p in rows[1:]]
    return rows[0] + rows[1] * 3 + rows[2] * 5


def simplex(x, n):
    def cost(row):
        return ((row[:-1] - 1) ** 2).sum() + ((row[1:] - row[:-1]) ** 2).sum()

    rows = [np.array(x, float), x + 1, x * 2]
    for _ in range(n):
        rows.sort(key=cost)
        middle = np.mean(rows[:-1], axis=0)
        away, near = 2 * middle - rows[-1], middle + 0.5 * (rows[-1] - middle)
        if cost(rows[0]) <= cost(away) < cost(rows[-2]):
            rows[-1] = away
        elif cost(away) < cost(rows[0]):
            far = middle + 2 * (middle - rows[-1])
            rows[-1] = far if cost(far) < cost(away) else away
        elif cost(near) < cost(rows[-1]):
            rows[-1] = near
        else:
            rows = [rows[0]] + [rows[0] + 0.5 * (p - rows[0]) for p in rows[1:]]
    return rows[0].copy(), cost(rows[0])


def in_order_and_kept(x, n):
    """The new list has another name; so has an item of the old one."""
    rows, kept, first = [x + 1, x * 2, x * 0.5], [x], x
    for _ in range(n):
        rows.sort(key=lambda row: (row * row).sum())
        if rows[0].sum() > 0:
            rows[-1] = rows[-1] * 0.5
            first = rows[0]
        else:
            rows = kept = [p * 0.5 for p in rows]
        rows[1] = rows[1] + 1
    return rows[0] - rows[1] * 3, kept[0] * 1, first * 2


def in_order_of_the_callers(x, n):
    rows = [x, x * 2, x * 0.5]
    for _ in range(n):
        rows.sort(key=lambda row: (row * row).sum())
        if rows[0].sum() > 0:
            rows[-1] = rows[-1] * 0.5
        else:
            rows = [rows[1] + 1, rows[0], rows[0]]
    return rows


def in_order_and_longer(x, n):
    rows = [x + 1, x * 2]
    for _ in range(n):
        rows.sort(key=lambda row: (row * row).sum())
        if rows[0].sum() > 0:
            rows[-1] = rows[-1] * 0.5
        else:
            rows = [p * 0.5 for p in rows] + [rows[0] + 1]
    return len(rows), rows[0] + rows[-1]


IN_ORDER = [in_order_and_longer, in_order_and_kept, in_order_of_the_callers]
ALL_IN_GRAPH = [in_order_or_made_anew, simplex]


@pytest.mark.parametrize("program", [*ALL_IN_GRAPH, *IN_ORDER], ids=lambda each: each.__name__)
def test_a_list_in_order_is_replaced_by_one_made_of_it(program: Any) -> None:
    x = np.random.default_rng(3).normal(size=5)
    compiled = fxc.compile(program, fullgraph=program in ALL_IN_GRAPH)
    for given in ((x, 8), (x - 2, 8), (x + 2, 7), (x - 2, 0)) * 2:
        assert same(program, compiled, given)
