"""Lists and deques that lose items at their begin, or take some there; see Note [Lists of counted
length].
"""

from __future__ import annotations

import collections
import copy
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def by_deque(adjacent, start):
    n = len(adjacent)
    distance = np.full(n, -1)
    distance[start] = 0
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in range(n):
            if adjacent[u, v] and distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


def by_pop(adjacent, start):
    n = len(adjacent)
    distance = [-1] * n
    distance[start] = 0
    queue = [start]
    while len(queue) > 0:
        u = queue.pop(0)
        for v in np.nonzero(adjacent[u])[0]:
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance, queue


def by_for(adjacent, start):
    distance = [-1] * len(adjacent)
    distance[start] = 0
    queue = [start]
    for u in queue:
        for v in range(len(adjacent)):
            if adjacent[u, v] and distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return np.array(distance), queue


def by_levels(adjacent, start):
    distance, depth, front = np.full(len(adjacent), -1), 0, [start]
    distance[start] = 0
    while front:
        depth += 1
        found = []
        for u in front:
            for v in range(len(adjacent)):
                if adjacent[u, v] and distance[v] < 0:
                    distance[v] = depth
                    found.append(v)
        front = found
    return distance, front


@pytest.mark.parametrize("fn", [by_deque, by_pop, by_for, by_levels])
def test_breadth_first(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    r = np.random.default_rng(2)
    for n in (6, 40, 41, 9):
        args = r.random((n, n)) < 3 / n, 1
        assert not difference(run(fn, args), run(compiled, args))
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


def both_ends(x):
    q, out = collections.deque([x[0]]), []
    for v in x:
        if v > 0:
            q.append(v)
        elif v < -0.5:
            q.appendleft(v)
        else:
            out.append(q.pop() if v < 0 else q.popleft())
        if len(q) > 3:
            out.append(q[1] + q[-1] - q[0])
        if not q:
            q.append(v)
            out.append(0.5)
    return q, out, np.array(q), len(q), sum(q), sorted(q), list(q), v in q


def window_maxima(x):
    width, places, out = 3, deque(), []
    for i in range(len(x)):
        while places and x[places[-1]] <= x[i]:
            places.pop()
        places.append(i)
        if places[0] <= i - width:
            places.popleft()
        if i >= width - 1:
            out.append(x[places[0]])
    return out, places


def of_pairs(x):
    todo, area, order = [(0, len(x))], 0.0, []
    while todo:
        low, high = todo.pop(0)
        area += x[low:high].sum()
        order.append(high - low)
        if high - low > 1:
            middle = (low + high) // 2
            todo.append((low, middle))
            todo.append((middle, high))
    return area, order


def of_rows(x):
    rows, total = deque(), np.zeros(2)
    for v in x:
        rows.append(np.array([v, v * v]))
        if v > 1:
            total += rows.popleft()
    return total, len(rows), np.array(rows)


def of_either_kind(x):
    q, out = deque([0]), []
    for v in x:
        if v > 0:
            q.append(v)
        else:
            q.append(int(v))
        if v < 1:
            out.append(q.popleft() * 2)
    return out, q


def again_and_again(x):
    """The places are used again."""
    q, total = deque([1.0]), 0.0
    for k in range(40):
        for v in x:
            q.append(v + k)
            total += q.popleft() * v
    q.appendleft(7.0)
    q.append(8.0)
    last = q.pop()
    return total, q, last, q.popleft(), q


def from_both_sides(x):
    """Of a list that is no longer than Python knows before."""
    items = sorted(x.tolist())
    pairs = []
    while len(items) > 1:
        pairs.append((items.pop(0), items.pop()))
    items.append(9.0)
    return pairs, items, items.pop(0)


def emptied(x):
    q, sizes = deque(), []
    for v in x:
        q.append(v)
        if v < 0:
            sizes.append(len(q))
            q.clear()
        elif len(q) > 2:
            q.popleft()
            q.extend([v, v])
    return sizes, q


def asked(x):
    q, found = deque([v for v in x if v > 0]), 0
    while len(q) > 2:
        v = q.popleft()
        for w in q:
            found += w > v
        found += any(w > 1 for w in q)
    q.append(np.float64(2.5))
    return found, 2.5 in q, q.count(2.5), q.index(2.5), isinstance(q, deque), type(q)


def of_an_array(x):
    q, out = deque(x), []
    while q:
        v = q.popleft()
        if v > 2:
            q.append(v / 2)
        out.append(v)
    q.extend([1.5, 2.5])
    return out, q, q.pop()


def made_in_a_loop(x):
    out = []
    for k in range(len(x)):
        q, steps = deque([k]), 0
        while q:
            u = q.popleft()
            steps += 1
            if 2 * u + 1 < len(x):
                q.append(2 * u + 1)
            if 2 * u + 2 < len(x) and x[u] > 0:
                q.append(2 * u + 2)
        out.append(steps)
    return out


def before_and_behind(x):
    """Changes where Python knows the items, and where it does not any more."""
    q = deque([1.0, 2.0, 3.0])
    first = q.popleft()
    q.appendleft(4.0)
    for v in x:
        if v > 0:
            q.append(v)
    second = q.popleft()
    q.appendleft(second + first)
    return first, second, q, q.pop()


def changed_while_run_over(x):
    found = [v for v in x if v > 0]
    for v in found:
        if v < 1:
            found.append(v + 1)
    return found


def grows_while_run_over(x):
    found = [1]
    for v in found:
        if len(found) < 5 and x[0] > 0:
            found.append(v + 1)
    return found, v


def until_something(x):
    todo, out, last = [0], [], -1
    for place in todo:
        if place >= len(x):
            continue
        last = place
        out.append(x[place])
        if x[place] > 2.75:
            break
        todo.extend([2 * place + 1, 2 * place + 2])
    else:
        out.append(0.5)
    return out, todo, last, place


def shrinks_while_run_over(x):
    found, out = list(x), []
    for v in found:
        out.append(v)
        if v > 0 and len(found) > 1:
            out.append(found.pop())
    return out, found


def another_by_that_name(x):
    todo, out = [2.0], []
    for v in todo:
        if v < 20:
            todo.append(v * 2)
        if v > 5:
            todo = [x[0]]
            todo.append(1.0)
        out.append(v)
    return out, todo


def of_strings(x):
    names, total = ["x"], 0
    for name in names:
        if len(names) < 4:
            names.append(name + "x")
        total += len(name) * x
    return total, names


# ------------------------------------------------------------------ lists that replace one another


def levels(x):
    front, sizes = [0], []
    while front:
        sizes.append(len(front))
        found = []
        for u in front:
            for v in (2 * u + 1, 2 * u + 2):
                if v < len(x) and x[v] > -1.1:
                    found.append(v)
        front = found
    return sizes, front


def aliased(x):
    start = [0]
    front = start
    for k in range(len(x)):
        found = []
        for u in front:
            if x[u] > -0.1:
                found.append((u + 2) % len(x))
        front = found
        if k == 3:
            break
    front.append(9)
    return start, front


def _advanced(front, x):
    k = 0
    while front and k < 5:
        found = []
        for u in front:
            if x[u] > -0.65:
                found.append((u + 2) % len(x))
            if x[u] > 2.75:
                found.append(1)
        front = found
        k += 1
    return front


def by_a_helper(x):
    start = [0]
    end = _advanced(start, x)
    return start, end, _advanced([1, 0], x)


def by_exchange(x):
    found, total = [0, 1], 0.0
    while found:
        front, found = found, []
        for u in front:
            total += x[u]
            if u + 3 < len(x) and x[u] > 0.3:
                found.append(u + 3)
    return total, found


def in_a_history(x):
    front, history = [0], []
    for k in range(len(x)):
        found = []
        for u in front:
            if x[u] > 0 and u + k < len(x):
                found.append(u + k)
        front = found
        history.append(len(front))
    box = SimpleNamespace(front=front)
    for _ in range(2):
        found = []
        for v in x:
            if v > 0:
                found.append(v)
        front = found
    return history, box.front, front


def emptied_in_turn(x):
    front, out = [0], []
    while front:
        found = []
        while front:
            u = front.pop()
            out.append(u)
            if 2 * u + 2 < len(x) and x[u] > -1.1:
                found.append(2 * u + 1)
                found.append(2 * u + 2)
        front = found
    return out, front


def emptied_from_the_left(x):
    front, out = deque([0]), []
    while front:
        found = deque()
        while front:
            u = front.popleft()
            out.append(u)
            if 2 * u + 2 < len(x) and x[u] > -1.1:
                found.append(2 * u + 1)
                found.append(2 * u + 2)
        front = found
    return out, front


def changed_under_the_new_name(x):
    front, out = [0], []
    while front:
        found = []
        for u in front:
            if 2 * u + 2 < len(x):
                found.append(2 * u + 1)
        front = found
        if x[0] > 0 and len(front) > 0 and len(out) < 4:
            found.append(len(x) - 1)
        out.append(len(front))
    front.append(7)
    return out, front


def in_a_loop(x):
    out = []
    for start in range(len(x)):
        front, count = [start], 0
        while front:
            count += len(front)
            found = []
            for u in front:
                if u + 2 < len(x) and x[u] < 2.6:
                    found.append(u + 2)
            front = found
        out.append(count)
    return out


def walkers(x):
    places = [0.5]
    for k in range(len(x)):
        new = []
        for p in places:
            if p < 2:
                new.append(p + x[k])
            if x[k] > 1:
                new.append(p - 0.25)
        places = new
        if len(places) > 5:
            break
    return places, np.array(places, dtype=float)


def weighted(x):
    front, total = [(0, 1.0)], 0.0
    while front:
        found = []
        for k, w in front:
            total += w * x[k]
            if k + 1 < len(x) and x[k] < 2.6:
                found.append((k + 1, w / 2))
            if k + 4 < len(x):
                found.append((k + 4, w))
        front = found
    return total, front


def until_there_is_none(x):
    front, k = [0], 0
    while True:
        found = []
        for u in front:
            if u + 2 < len(x) and x[u] > -0.2:
                found.append(u + 2)
        if not found:
            break
        front = found
        k += 1
    return front, k


def the_better_one(x):
    best, score = [], -1.0
    for k in range(len(x)):
        new = []
        for v in x[k:]:
            if v > x[k]:
                new.append(v)
        if sum(new) > score:
            best = new
            score = sum(new)
    return best, score


def longest_run(x):
    best, run = [], []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            if len(run) > len(best):
                best = run
            run = []
    if len(run) > len(best):
        best = run
    return best


def either_of_two(x):
    kept = [0.5]
    for v in x:
        left, right = [], []
        for w in x:
            if w > v:
                left.append(w)
            else:
                right.append(w)
        if v > 1:
            kept = left
        elif v > 0:
            kept = right
    return kept


def begun_again(x):
    run, sums, last = [], [], [0.25]
    for v in x:
        run.append(v)
        if len(run) > 2 or v < 0:
            sums.append(sum(run))
            last = run
            run = []
    return run, sums, last


def _kept_as_well(x):
    """The list of the iteration before is read in the next one."""
    front, before, out = [0], [5], []
    while front and len(out) < 9:
        found = []
        for u in front:
            if x[u] > 0 and u + 1 < len(x):
                found.append(u + 1)
        out.append(len(before) + sum(before))
        before = front
        front = found
    return out, before, front


def _run_over(x):
    """The list that is run over is what another name held."""
    queue, out = [0], []
    for u in queue:
        if u < 5 and x[0] > 0:
            queue.append(u + 1)
        for k in range(2):
            new = []
            for w in queue:
                if x[k] > -9:
                    new.append(w + 1)
            queue = new
        out.append(len(queue))
        if len(out) > 6:
            break
    return out, queue


def _read_behind(x):
    """The new list changes behind the branch in which it got another name."""
    best, total = [0.5], 0.0
    for k in range(len(x)):
        new = []
        for v in x[k:]:
            if v > x[k]:
                new.append(v)
        if len(new) > len(best):
            best = new
        new.append(9.5)
        total += len(best)
    return best, total


def _first_as_well(x):
    start = [0.5, 1.5]
    best = start
    for v in x:
        new = []
        for w in x:
            if w > v:
                new.append(w)
        if len(new) > 3:
            best = new
    best.append(3.5)
    return start, best


def of_no_items(x):
    """Lists that are changed where they hold nothing."""
    first, second, third, fourth = [], [], [], deque()
    if x[0] > 0:
        first.clear()
    if x[0] > 99:
        second.pop()
        fourth.popleft()
    for v in x:
        if v > 1:
            third = []
    return first, second, third, fourth


@pytest.mark.parametrize("fn", [_kept_as_well, _run_over, _read_behind, _first_as_well])
def test_a_list_that_others_have(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for x in FLOATS:
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))


FLOATS = (
    np.array([0.5, -1.25, 3.0, 0.25, -0.0, 2.5, 2.5]),
    -np.ones(7),
    np.arange(1.0, 8.0),
    np.array([-0.6, 0.0, -0.25, -0.7, 1.0, -0.1, 0.5]),
)
PROGRAMS = [
    *(levels, aliased, by_a_helper, by_exchange, in_a_history, emptied_in_turn, walkers),
    *(of_no_items, until_there_is_none, the_better_one, longest_run, either_of_two, begun_again),
    *(emptied_from_the_left, changed_under_the_new_name, in_a_loop, weighted),
    *(both_ends, window_maxima, of_pairs, of_rows, of_either_kind, again_and_again),
    *(changed_while_run_over, grows_while_run_over, until_something, shrinks_while_run_over),
    *(
        another_by_that_name,
        of_strings,
        from_both_sides,
        emptied,
        asked,
        of_an_array,
        made_in_a_loop,
        before_and_behind,
    ),
]


@pytest.mark.parametrize("fn", PROGRAMS)
def test_as_numpy(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (*FLOATS, FLOATS[0]):
        mine, given = copy.deepcopy(x), copy.deepcopy(x)
        assert not difference(run(fn, (mine,)), run(compiled, (given,)))
    assert compiled.cache_info().eager_calls == 0


def taken_from(x, count):
    q = deque([1.0, 2.0])
    for v in x:
        if v > 0:
            q.append(v)
    for _ in range(count):
        q.popleft()
        x[0] += 1
    return q


def taken_from_list(x, count):
    q = [1.0, 2.0]
    for v in x:
        if v > 0:
            q.append(v)
    while count:
        x[0] += q.pop(0)
        count -= 1
    return q


@pytest.mark.parametrize("fn", [taken_from, taken_from_list])
def test_from_an_empty_one(fn: Callable[..., Any]) -> None:
    """Python's exception, and what was written before it."""
    compiled = fxc.compile(fn, fullgraph=True)
    for count, left in ((3, 0), (6, 0), (9, 1)):
        mine, given = FLOATS[0].copy(), FLOATS[0].copy()
        assert not difference(run(fn, (mine, count)), run(compiled, (given, count)))
        assert compiled.cache_info().eager_calls == left


def longer_than_there_is_room_for(x):
    q, k = deque([0]), 0
    while k < x[0]:
        q.append(k)
        if x[1] > 0:
            q.popleft()
        k += 1
    return len(q), q[0]


def test_room() -> None:
    """A deque that never holds many items may take any number of them, one after the other."""
    compiled = fxc.compile(longer_than_there_is_room_for, fullgraph=True)
    for x, left in ((np.array([600_000, 1]), 0), (np.array([600_000, 0]), 1)):
        assert compiled(x) == longer_than_there_is_room_for(x)
        assert compiled.cache_info().eager_calls == left


def of_an_argument(x, rest):
    for v in rest:
        if v < 3:
            rest.append(v + 1)
    return x * len(rest)


def of_a_deque(x, rest):
    q = deque(rest)
    for v in q:
        if v < 3:
            q.append(v + 1)
    return x


def test_run_over_and_changed_otherwise() -> None:
    """A list from outside; a deque, of which Python says that it must not change."""
    for fn, rest in ((of_an_argument, [1, 2, 5]), (of_a_deque, [5, 1]), (of_a_deque, [5, 6])):
        compiled = fxc.compile(fn)
        mine, given = (FLOATS[0].copy(), list(rest)), (FLOATS[0].copy(), list(rest))
        assert not difference(run(fn, mine), run(compiled, given))


def levels(x, front):
    out = []
    while front:
        found = []
        for u in front:
            out.append(u)
            if 2 * u + 2 < len(x) and x[u] > -9:
                found.append(2 * u + 1)
                found.append(2 * u + 2)
        front = found
    return out


def _attempt(x, front):
    return levels(x, front)


def test_a_caller_keeps_its_list_whatever_functions_are_called() -> None:
    """Its variables were not looked at behind a function of the name of one of fxc's own."""

    def program(x):
        front = [0]
        return _attempt(x, front), front

    x = np.ones(9)
    assert fxc.compile(program)(x) == program(x) == (list(range(9)), [0])


def test_a_bound_that_is_an_argument() -> None:
    """It was taken for a bug of fxc."""
    compiled = fxc.compile(
        lambda x, k: list(deque([x.sum(), x[0], x[1]], maxlen=k)), fullgraph=True
    )
    for k in (2, 2, 3, 1):
        assert compiled(np.arange(3.0), k) == [3.0, 0.0, 1.0][-k:]


def moving_averages(x):
    last, means = deque(maxlen=3), []
    for v in x:
        last.append(v)
        means.append(sum(last) / len(last) + last[0] * 2 - last[-1])
    return means, last, list(last)


def from_both_ends(x):
    q, p, none, total = deque([1.0, 2.0], 3), collections.deque(maxlen=1), deque(maxlen=0), 0.0
    q.append(x[0])
    for v in x:
        none.append(v)
        p.append(v)
        if v > 0:
            q.appendleft(v)
            q.extend([v, total])
        elif len(q) > 1:
            q[1] = v
            total += q.popleft() - q[-1]
        total += max(q) + len(none)
    q.append(total)
    return q, p, none, total, q.maxlen


def corrected_by_the_last_ones(x):
    """As L-BFGS runs over the steps it remembers, from the last to the first and back."""
    steps, at = deque(maxlen=3), x[0]
    for v in x:
        step, weights = v - at, []
        for each, other in zip(reversed(steps), reversed(steps), strict=True):
            weights.append(each * step)
            step -= weights[-1] * other
        for each, weight in zip(steps, reversed(weights), strict=True):
            step += each * weight
        if step > 2:
            break
        steps.append(step)
        at += step / 4
    return at, step, steps


@pytest.mark.parametrize("fn", [moving_averages, from_both_ends, corrected_by_the_last_ones])
def test_deques_of_a_bounded_length(fn: Callable[..., Any]) -> None:
    for dynamic in (False, True):
        compiled = fxc.compile(fn, fullgraph=True, dynamic=dynamic)
        for n in (9, 40) if dynamic else (40,):
            x = np.random.default_rng(n).normal(size=n)
            expected, found = run(fn, (x,)), run(compiled, (x,))
            assert not difference(expected, found)
            assert repr(expected.result) == repr(found.result)  # the bound of a deque
        assert compiled.cache_info().native_calls


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_no_item_is_inserted_where_a_deque_is_full() -> None:
    def inserted(x):
        q = deque(maxlen=3)
        for v in x:
            q.append(v)
            q.insert(0, v)
        return q

    compiled = fxc.compile(inserted)
    assert not difference(run(inserted, (np.ones(9),)), run(compiled, (np.ones(9),)))
