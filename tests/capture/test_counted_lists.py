"""Lists whose length depends on data: Note [Lists of counted length]."""

from __future__ import annotations

import copy
import warnings
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def peaks(x):
    found = []
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            found.append(i)
    return np.array(found), found, len(found)


def peaks_and_heights(x):
    places, heights = [], []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] >= x[i + 1]:
            places.append(i)
            heights.append(x[i])
    return np.array(places, dtype=int), np.array(heights), heights


def positive_places(x):
    return [i for i in range(len(x)) if x[i] > 0], np.array([2 * v for v in x if v > 0])


def without_nan(x):
    good = [v for v in x if not np.isnan(v)]
    if len(good) == 0:
        return np.nan
    return np.mean(good)


def average_of_some(x):
    good = []
    for v in x:
        if v > 0:
            good.append(float(v))
    return sum(good) / len(good) if good else 0.0


def crossings(x):
    roots = []
    for i in range(len(x) - 1):
        if x[i] * x[i + 1] < 0:
            roots.append(i - x[i] / (x[i + 1] - x[i]))
    return roots


def run_lengths(x):
    values, lengths, count = [], [], 1
    for i in range(1, len(x)):
        if x[i] == x[i - 1]:
            count += 1
        else:
            lengths.append(count)
            values.append(x[i - 1])
            count = 1
    lengths.append(count)
    values.append(x[-1])
    return np.array(values), np.array(lengths), values


def runs_by_while(x):
    i, out = 0, []
    while i < len(x):
        j = i + 1
        while j < len(x) and x[j] == x[i]:
            j += 1
        out.append((x[i], j - i))
        i = j
    return out


def segments(x):
    starts, ends, inside = [], [], False
    for i in range(len(x)):
        if x[i] > 0 and not inside:
            starts.append(i)
            inside = True
        elif x[i] <= 0 and inside:
            ends.append(i)
            inside = False
    if inside:
        ends.append(len(x))
    return starts, ends


def two_lists(x):
    above, below = [], []
    for v in x:
        if v > 0:
            above.append(v)
        elif v < 0:
            below.append(v)
    return np.array(above), np.array(below), len(above) - len(below)


def roots_until(x):
    out = []
    for v in x:
        if v < 0:
            continue
        if v > 2.4:
            break
        out.append(np.sqrt(v))
    return out


def far_apart(x):
    kept = [x[0]]
    for i in range(1, len(x)):
        if abs(x[i] - kept[-1]) > 0.5:
            kept.append(x[i])
    return np.array(kept), kept


def orbit(x):
    z, seen = 0j, []
    for v in x:
        if v > 0:
            z = z * z * 0.1 + complex(v, 0.1)
            seen.append(z)
            seen.append(1j)
    return seen, [w.imag for w in seen], sum(abs(w) for w in seen), z, np.array(seen)


def refractory(x):
    spikes = []
    for i in range(len(x)):
        if x[i] > 0 and (len(spikes) == 0 or i - spikes[-1] >= 2):
            spikes.append(i)
    return np.array(spikes)


def near_pairs(x):
    out = []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if abs(x[i] - x[j]) < 1:
                out.append((i, j))
    return np.array(out), out


def with_places(x):
    found = []
    for i in range(len(x)):
        if x[i] > 1:
            found.append((i, x[i]))
    return found, np.array(found, dtype=float)


def events(x):
    t, i, times = 0.0, 0, []
    while t < 4 and i < len(x):
        t += abs(x[i])
        if t < 4:
            times.append(t)
        i += 1
    return np.array(times), times


def damped(x):
    history, err = [], x[0]
    while True:
        err = err * 0.5
        history.append(err)
        if abs(err) < 0.05:
            break
    return history, np.array(history)


def history_of_for(x):
    now, history = x[0], []
    for _ in range(40):
        after = 0.5 * now + 0.25
        history.append(abs(after - now))
        now = after
        if history[-1] < 1e-2:
            break
    return now, history


def errors_per_epoch(x):
    w, errors = 0.0, []
    for _ in range(12):
        wrong = 0
        for v in x:
            if (v > 0) != (w * v > 0):
                w += v
                wrong += 1
        errors.append(wrong)
        if wrong == 0:
            break
    return w, errors


def primes(x):
    found = []
    for k in range(2, 10 + len(x)):
        prime = True
        for d in range(2, k):
            if d * d > k:
                break
            if k % d == 0:
                prime = False
                break
        if prime and x[0] < 9:
            found.append(k)
    return found


def primes_by_primes(x):
    found = [2]
    for k in range(3, 20 + len(x), 2):
        prime = True
        for p in found:
            if p * p > k:
                break
            if k % p == 0:
                prime = False
                break
        if prime:
            found.append(k)
    return np.array(found)


def depth_first(x):
    n = len(x)
    seen, stack, order = np.zeros(n, dtype=bool), [0], []
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for v in range(n):
            if abs(x[u] - x[v]) < 2 and not seen[v]:
                stack.append(v)
    return order


def bins(x):
    counts = [0, 0, 0]
    for v in x:
        if v > 1:
            counts[2] += 1
        elif v > 0:
            counts[1] += 1
        else:
            counts[0] += 1
    return counts


def histogram(x):
    counts = [0] * 4
    for v in x:
        counts[int(abs(v)) % 4] += 1
    return counts


def moments(x):
    sums = [0.0, 0]
    for v in x:
        sums[0] += v
        sums[-1] += v * v
    return sums


def of_ints_and_elements(x):
    sums = [0]
    for v in x:
        if v > 0:
            sums.append(sums[-1] + v)
    return sums


def of_floats_and_elements(x):
    sums = [0.0]
    for v in x:
        if v > 0:
            sums.append(sums[-1] + v)
    return sums, np.array(sums)


def of_bools(x):
    of_numpy, of_python = [], []
    for v in x:
        if v != 0:
            of_numpy.append(v > 1)
            of_python.append(bool(v > 1))
    return of_numpy, of_python, np.array(of_python)


def run_over_again(x):
    places, values = [], []
    for i in range(len(x)):
        if x[i] > 0:
            places.append(i)
            values.append(x[i])
    s = 0.0
    for i, v in zip(places, values, strict=False):
        s += i * v
    for k, v in enumerate(values):
        s -= k * v
    for k in range(len(places)):
        s += values[k] * places[k]
    return s


def rows_of_rows(x):
    sizes = []
    for i in range(len(x)):
        row = []
        for j in range(len(x)):
            if x[j] > x[i]:
                row.append(j)
        sizes.append(len(row))
    return sizes


def by_two_names(x):
    one = other = []
    for i in range(len(x)):
        if x[i] > 0:
            other.append(i)
    return one, other, one is other


def note(found, v):
    if v > 0:
        found.append(v)


def by_a_helper(x):
    found = []
    for v in x:
        note(found, v)
    return found


def lengths(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    made = np.array(found)
    return len(found), len(made), made.size, np.array(found, dtype=float)


def few(x):
    found = []
    if x[0] > 0:
        found.append(x[0])
    for k in range(3):
        if x[-1] > k:
            found.append(x[-1] * k)
    return found


def writes_its_input(x):
    found = []
    for i in range(len(x)):
        x[i] *= 2
        if x[i] > 1:
            found.append(x[i])
    return found


def spacing(x):
    places = []
    for i in range(len(x)):
        if x[i] > 0:
            places.append(i * 0.5)
    if len(places) > 1:
        return np.diff(places).mean()
    return np.float64(0)


def taken_back(x):
    found = []
    for v in x:
        while found and found[-1] > v:
            found.pop()
        found.append(v)
    return found


def in_containers(x):
    held, rows = {"all": [], "some": []}, [[], []]
    for v in x:
        held["all"].append(v)
        if v > 0:
            held["some"].append(v)
            rows[0].append(v)
        else:
            rows[1].append(-v)
    return held, rows


def of_an_attribute(x):
    box = SimpleNamespace()
    box.found = []
    for v in x:
        if v > 0:
            box.found.append(v)
    return box.found


def halved(x):
    stack, out = [abs(float(v)) for v in x], []
    while stack:
        a = stack.pop()
        if a > 1:
            stack.append(a / 2)
        else:
            out.append(a)
    return out


def emptied(x):
    found, sizes = [], []
    for v in x:
        found.append(v)
        if v < 0:
            sizes.append(len(found))
            found.clear()
    return found, sizes


def changed_by_conditions(x):
    """In parts of expressions that are evaluated by a condition."""
    stack, out, deep = [], [], 0
    for v in x:
        stack.append(v)
        out.append(stack.pop() if v < 0 else 0.5)
        out.append(stack.pop() if v > 1 and len(stack) > 1 else v)
        if v > 0 and (stack.append(v) or len(stack) > 2):
            deep += 1
        while stack and stack[-1] > v:
            stack.pop()
    return stack, out, deep


def changed_by_comprehensions(x):
    stack = [v for v in x if v > 0]
    total = sum(stack.pop() * v for v in x if v < 1 and stack)
    last = any(v > stack.pop() for v in x if stack)
    return total, last, np.array([stack.pop() if stack else v for v in x]), stack


def read_once_changed(x):
    """What fails for the list that Python has before the loop: no items."""
    found, out = [], []
    for v in x:
        found.append(v)
        out.append(v / len(found) + max(found) - min(w for w in found))
        out.append(found.index(v) + 0.5)
    return out


def steps_of_a_line(x):
    """Items that are a list by a condition, a tuple else."""
    up, cells = len(x) > 0 and x.max() > 2.7, []
    for k in range(int(abs(x).sum())):
        cells.append([k, k // 2] if up else (k // 2, k))
    if x[0] > 0:
        cells.reverse()
    total = 0
    for i, j in cells[:-1]:
        total += 3 * i - j
    return np.array(cells), total, cells


def extended_by_some(x):
    found, same, last = [0], [], deque([1.5])
    same = found
    found.extend(np.where(x > 1)[0].tolist())
    same.append(-1)
    for k in range(3):
        found.extend(np.flatnonzero(x == k))
        if len(found) > 6:
            break
    last.extend(x[x > 0].tolist())
    last.extend([v * 2 for v in x if v > 2])
    return found, same is found, len(same), last, np.array(found)


SIGNAL = np.sin(np.arange(30) * 0.7) * 3
# Of one length, for one compilation.
FLOATS = (
    np.array([0.5, -1.25, 3.0, 0.25, -0.0, 2.5, 2.5]),
    -np.ones(7),
    np.arange(1.0, 8.0),
    np.array([1.0, np.nan, 3.0, np.nan, 2.0, 0.5, 0.5]),
)
INTS = (np.array([3, -7, 12, 12, 0, 9, 9]), np.array([1, 1, 1, 1, 1, 1, 1]))
SHORT = (np.array([1.5]), np.zeros(0))
OF_ALL = [peaks, peaks_and_heights, two_lists, with_places]
OF_INTS = [run_lengths, runs_by_while, few, bins]
OF_FLOATS = [
    *(positive_places, without_nan, average_of_some, crossings, segments, roots_until, far_apart),
    *(refractory, near_pairs, events, damped, history_of_for, errors_per_epoch, primes),
    *(primes_by_primes, depth_first, moments, of_ints_and_elements, of_bools, spacing),
    *(of_floats_and_elements, run_over_again, rows_of_rows, by_two_names, by_a_helper, lengths),
    *(writes_its_input, taken_back, emptied, in_containers, of_an_attribute),
    *(changed_by_conditions, changed_by_comprehensions, extended_by_some),
]
PROGRAMS: list[tuple[Callable[..., Any], Any]] = [
    *((fn, (*FLOATS, *INTS, *SHORT, FLOATS[0].astype("f4"))) for fn in OF_ALL),
    *((fn, (*FLOATS, *INTS)) for fn in OF_INTS),
    *((fn, FLOATS) for fn in OF_FLOATS),
    *((fn, FLOATS[:-1]) for fn in (histogram, halved, read_once_changed)),
    (steps_of_a_line, FLOATS[:-1]),
    (orbit, FLOATS[:-1]),
]


@pytest.mark.parametrize("fn, values", PROGRAMS, ids=[fn.__name__ for fn, _ in PROGRAMS])
def test_as_numpy(fn: Callable[..., Any], values: Any) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (*values, values[0]):
        mine, given = copy.deepcopy(x), copy.deepcopy(x)
        assert not difference(run(fn, (mine,)), run(compiled, (given,)))
    assert compiled.cache_info().eager_calls == 0


def in_two_lists(x):
    cells, others = [], []
    for k in range(int(abs(x).sum())):
        cell = [k, 1] if x[0] > 0 else (1, k)
        cells.append(cell)
        others.append(cell)
    return cells, others


def changed_by_its_type(x):
    cells = []
    for k in range(int(abs(x).sum())):
        cell = [k, 1] if x[k % 7] > 0 else (1, k)
        cells.append(cell)
        if x[0] > 0:
            cell += (2,) if isinstance(cell, tuple) else [2]
    return cells


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", [in_two_lists, changed_by_its_type])
def test_items_that_differ_are_the_objects_of_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for x in (FLOATS[0], -FLOATS[0], FLOATS[2]):
        assert not difference(run(fn, (x,)), run(compiled, (x,)))


def components(edges, n):
    parent = list(range(n))

    def find(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    count = n
    for a, b in edges:
        one, other = find(a), find(b)
        if one != other:
            parent[one] = other
            count -= 1
    return count, np.array([find(i) for i in range(n)]), parent


def test_items_that_are_ints_of_either_kind() -> None:
    """Of a list as long as a size says, changed by what a comprehension computes, too."""
    compiled = fxc.compile(components, fullgraph=True)
    for n in (7, 40, 41):
        args = np.random.default_rng(n).integers(0, n, (n, 2)), n
        assert not difference(run(components, args), run(compiled, args))
    assert compiled.cache_info().variants <= 2
    assert compiled.cache_info().eager_calls == 0


def more_than_there_is_room_for(x):
    times = []
    t = 0.0
    while t < x[0]:
        t += 1.0
        times.append(t)
    return len(times), times[-1]


def first_items(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return found[0], found[-1], found[1]


def as_ints(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    return np.array(found) * 2


def test_what_native_code_leaves_to_numpy() -> None:
    """A list longer than there is room for, items that are not there, the array of no items."""
    for fn, x, left in (
        (more_than_there_is_room_for, np.array([10.0]), 0),
        (more_than_there_is_room_for, np.array([150_000.0]), 1),
        (first_items, SIGNAL, 0),
        (first_items, SIGNAL[:2], 1),
        (as_ints, SIGNAL, 0),
        (as_ints, -np.ones(3), 1),
    ):
        compiled = fxc.compile(fn, fullgraph=True)
        assert not difference(run(fn, (x,)), run(compiled, (x,)))
        assert compiled.cache_info().eager_calls == left


def of_sets(x):
    found = []
    for v in x:
        if v > 0:
            found.append({1, 2})
    return found


def as_text(x):
    found = [v for v in x if v > 0]
    return f"{found}"


def compared(x):
    found = [v for v in x if v > 0]
    return found < [1.0]


def changed_while_enumerated(x):
    found = [v for v in x if v > 0]
    for k, v in enumerate(found):
        if k < 3:
            found.append(v)
    return found


def changed_by_another_name(x):
    found = [v for v in x if v > 0]
    same = found
    for v in found:
        if v < 1:
            same.append(v + 1)
    return found


REFUSED = {
    of_sets: "with set among its items",
    compared: "an order of lists",
    changed_while_enumerated: "a change to a list while a loop runs over it",
    changed_by_another_name: "a change to a list while a loop runs over it",
}


def test_the_text_of_a_list() -> None:
    compiled = fxc.compile(as_text, fullgraph=True)
    assert compiled(SIGNAL) == as_text(SIGNAL)


@pytest.mark.parametrize("fn", REFUSED, ids=[each.__name__ for each in REFUSED])
def test_refused(fn: Callable[..., Any]) -> None:
    with pytest.raises(fxc.CaptureError, match=REFUSED[fn]) as caught:
        fxc.compile(fn, fullgraph=True)(SIGNAL)
    assert fn.__name__ in caught.value.__notes__[0]


def test_an_array_of_a_few_items_is_small() -> None:
    """Its memory is that of the items, not of those that there might have been."""
    compiled = fxc.compile(peaks, fullgraph=True)
    found = compiled(SIGNAL)[0]
    assert found.base is None
    assert found.nbytes == 8 * len(found)


def test_a_length_that_stays() -> None:
    """Items change at places that depend on data, the length does not: Python may use it."""

    def program(p):
        counts, best = [0, 0, 0], [9.0, 9.0]
        for k in range(len(p)):
            counts[int(p[k] * 3)] += 1
            best[k % 2] = min(best[k % 2], p[k])
        counts.append(5)
        for v in p:
            counts[int(v * 4)] -= 1
        first, *rest = counts
        x, y = best
        return first, rest, tuple(counts), x + y, dict(zip("xy", best, strict=True))

    compiled = fxc.compile(program, fullgraph=True)
    for n in (7, 40, 1):
        args = (np.random.default_rng(n).random(n),)
        assert difference(run(program, args), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 0


def test_what_holds_a_list_is_known_to() -> None:
    """An iterator over a list holds it: another list may not take its items over."""
    from fxc.capture.regions.counted import Bounded, Counted
    from fxc.capture.session.session import Session
    from fxc.capture.statements.kept_lists import _reach

    items: list[object] = [[]]
    with Session().active():
        holders = [
            Counted(1, items.__getitem__, of=(items,)),
            Counted(1, lambda k: items[k]),
            Bounded((1,), 0, 1, items.__getitem__, (items,)),
        ]
        for holder in holders:
            assert _reach([(1, holder)], [items])
            assert not _reach([(1, holder)], [[]])


def means_of_the_last(x):
    found, shown = [], 0.0
    for i in range(len(x)):
        found.append(x[i])
        if (i + 1) % 20 == 0:
            shown += np.mean(found[-20:])
    return shown, found


def _warned(fn: Callable[..., Any], x: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fn(x)
    return [str(each.message) for each in told if each.category is RuntimeWarning]


@pytest.mark.parametrize("n", [5, 45])
def test_parts_of_a_list_that_is_not_there_yet(n: int) -> None:
    """Means of no items were taken while the loop was captured, of which NumPy warned."""
    compiled, x = fxc.compile(means_of_the_last, fullgraph=True), np.arange(n) / 7
    assert _warned(compiled, x) == []
    assert not difference(run(means_of_the_last, (x,)), run(compiled, (x,)))
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_what_numpy_warns_of_on_known_values() -> None:
    """It was shown once, by the capture, or twice, by that and by NumPy."""

    def program(x):
        return x + np.nanmean([np.nan]) + np.array([1.0]).var(ddof=1)

    compiled, x = fxc.compile(program), np.ones(3)
    expected = _warned(program, x)
    assert expected
    assert [_warned(compiled, x) for _ in range(3)] == [expected] * 3


# ------------------------------------------------------------------ arrays that a loop returns


def until_late(x, k):
    found, t, i = [], 0.0, 0
    while True:
        t += abs(x[i % len(x)])
        i += 1
        if t > k:
            return np.array(found), i
        if x[i % len(x)] > 0:
            found.append(t)


def from_the_inner_loop(x, k):
    found = []
    while True:
        for v in x:
            if len(found) > k:
                return np.array(found) * v
            found.append(v)
        found.append(0.0)


def by_two_returns(x, k):
    found, i = [], 0
    while True:
        v = x[i % len(x)]
        i += 1
        if v > 1.5:
            return found, "large"
        elif len(found) > k:
            found.append(i)
            return found, "long"
        found.append(v)


def within_a_handler(x, k):
    found, i = [], 0
    while True:
        try:
            found.append(x[i])
            i += 1
            if i > k:
                return np.array(found)
        finally:
            i += 1


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", [until_late, from_the_inner_loop, by_two_returns, within_a_handler])
def test_a_loop_returns_what_is_made_of_its_lists(fn):
    compiled = fxc.compile(fn, fullgraph=fn in (until_late, from_the_inner_loop))
    for seed, k in enumerate((5.0, 30.0, 0.5)):
        x = np.random.default_rng(seed).normal(size=50)
        assert difference(run(fn, (x, k)), run(compiled, (x, k))) == ""
