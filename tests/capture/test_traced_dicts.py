"""Dicts and sets with keys that are known at run time only: Note [Dicts of the graph]."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

SIGNALS = [np.random.default_rng(seed).normal(size=16) for seed in (1, 2)]


def levels(x):
    near = x.reshape(4, 4) > 0.2
    level, queue = {0: 0}, deque([0])
    while queue:
        u = queue.popleft()
        for v in np.flatnonzero(near[u]):
            v = int(v)
            if v not in level:
                level[v] = level[u] + 1
                queue.append(v)
    return level, len(level), max(level.values())


def counts(x):
    d = {}
    for v in x:
        k = int(v * 3)
        d[k] = d.get(k, 0) + 1
    return d, [k for k in d], sum(d.values()), sorted(d), list(d.items())  # noqa: C416


def sums(x):
    d = {}
    for v in x:
        k = int(v * 3)
        if k in d:
            d[k] += v
        else:
            d[k] = v
    total = 0.0
    for k, v in d.items():
        total += k * v
    return d, total


def visited(x):
    seen, twice = set(), 0
    for v in x:
        k = int(v * 300)
        if k % 20 in seen:
            twice += 1
        seen.add(k % 20)
        seen.add(k)
    return twice, len(seen), sorted(seen), seen


def cells(x):
    seen, out = {(0, 0)}, []
    for i in range(len(x) - 1):
        cell = (int(x[i] * 2), int(x[i + 1] * 2))
        if cell in seen:
            continue
        seen.add(cell)
        out.append(cell)
    return out, (1, 1) in seen


def by_default(x):
    d, e, missed = defaultdict(int), defaultdict(float), 0
    for v in x:
        d[int(v * 3)] += 1
    for v in x:
        e[int(v)] += v
        missed += d[int(v * 4)]
    return d, e, missed


def keys_of_two_kinds(x):
    d = {3: "begin"}
    for i, v in enumerate(x):
        d[np.int64(v * 2)] = v
        d[i] = None
    return d


def colliding(x):
    d, s = {}, set()
    for i in range(500):
        k = (i * 7919) % 237 - 100 + int(x[i % 16])
        d[k] = d.get(k, 0) + i
        d[k << 40] = i
        s.add((k, k * k))
    return d, len(s), (3, 9) in s


def made_in_a_loop(x):
    out = []
    for i in range(6):
        d = {0: i}
        for v in x:
            d[int(v * i)] = v
        out.append(len(d))
    return out


def _count(d, k):
    d[k] = d.get(k, 0) + 1


def by_a_helper(x):
    d = {}
    same = d
    for v in x:
        _count(d, int(v * 2))
    return d, same


def in_one_arm(x):
    d = {}
    if x[0] > 0:
        d[int(x[1] * 3)] = 1.0
    else:
        d[int(x[2] * 3)] = 2.0
    return d, len(d)


def never_filled(x):
    d, n = {}, 0
    for v in x:
        if v > 100:
            d[int(v)] = 1
        if int(v) in d:
            n += 1
    return d, n, len(d)


def counters(x):
    c, d = Counter(), Counter(int(v * 2) for v in x)
    for v in x:
        c[int(v * 2)] += 1
    e = Counter((x * 2).astype(int))
    f = list(Counter({int(v * 20) for v in x}))
    e.update([1, 2, 2])
    return c, d.most_common(2), d.total(), c[99], max(d), e, d.copy(), f


def best_of_all(x):
    d = {}
    for v in x:
        d[int(v * 3)] = d.get(int(v * 3), 0) + 1
    return max(d, key=d.get), min(d, key=lambda k: -k), sorted(d.items(), key=lambda p: p[1])


def other_defaults(x):
    d = defaultdict(lambda: 10)
    for v in x:
        d[int(v)] += 2
    return dict(d)


def numbered(x):
    found = np.zeros(len(x))
    d = defaultdict(lambda: len(d))
    e = defaultdict(lambda: d[7] + len(e))
    for i in range(len(x)):
        found[i] = d[int(x[i])]
        found[i] += e[i // 2] + e[7]
    return found, dict(d), len(e)


def first_of_each(x):
    d = {}
    for v in x:
        d.setdefault(int(v), float(v))
    d.update({77: 1.0})
    return d


def sets_with_operators(x):
    a, b = set(), {int(2 * v) % 5 for v in x}
    for v in x:
        a.add(int(v))
    c = set(int(v) for v in x if v > 0)  # noqa: C401
    return len(a & b), len(a | b), sorted(a - b), sorted(a | b), c, len(set(x.astype(int).tolist()))


def taken_in(x):
    seen, near = set(), set()
    for v in x:
        seen |= {int(v), int(v) + 1}
        near.update([int(v * 3), 2])
    return len(seen), sorted(near), len({int(x[0]), 3})


def comprehensions(x):
    d = {int(v): v for v in x}
    e = {k: 2 * v for k, v in d.items() if v > 0}
    return d, e, {i: v for i, v in enumerate(x)}, [k for k, v in d.items() if v > 0]  # noqa: C416


def taken_out(x):
    d, taken = {1: 0.5}, 0.0
    for v in x:
        k = int(v * 3)
        taken += d.pop(k - 1, 2.0)
        if k in d:
            taken += d[k]
            del d[k]
        d[k + 1] = v
        d[k] = taken
        taken += sum(d.values()) + len(d)
    return d, taken, d.pop(1, None), list(d), d


def taken_from_the_ends(x):
    d, left, right, taken = {}, OrderedDict(), {}, 0.0
    for v in x:
        k = int(v * 3)
        d[k] = left[k] = right[k, 1] = v
        left.move_to_end(k)
        if len(d) > 3:
            taken += d.popitem()[1] - left.popitem(last=False)[1]
            d.pop(next(iter(d)))
        if len(right) > 5:
            right.clear()
    return d, left, right, taken


def many_that_come_and_go(x):
    d, seen = {}, set()
    for i in range(2000):
        k = int(x[i % len(x)] * 1000) + i % 5
        d[i] = d[-k] = k
        seen.add(k)
        if i >= 40:
            d.pop(i - 40, 0)
        if i % 3 == 0:
            d.pop(-k, 0)
            seen.discard(k - 1)
    return d, len(seen), sorted(seen)


def counters_that_lose_items(x):
    c, d, lists = Counter(), defaultdict(int), {}
    for v in x:
        k = int(v * 3)
        c[k] += 1
        d[k] += 1
        lists.setdefault(k, []).append(v)
        if d[k] > 1:
            del c[k + 1], d[k]
            lists[k + 5] = lists.pop(k)
    return c, d, lists


def a_window_without_repeats(x):
    seen, left, best = set(), 0, 0
    for right in range(len(x)):
        while int(x[right] * 4) in seen:
            seen.remove(int(x[left] * 4))
            left += 1
        seen.add(int(x[right] * 4))
        best = max(best, right - left + 1)
    return best, len(seen)


def sizes(x):
    data = {"x": x[x > 0], "y": (2 * x)[x > 0], "z": x[x > 1]}
    lengths = {len(v) for v in data.values()}
    if len({len(data["x"]), len(data["y"])}) != 1:
        raise ValueError("columns of several lengths")
    return len(lengths) == 1, sorted(lengths), len(set(map(len, data.values()))), max(lengths)


def read_before_they_are_stored(x):
    pairs, objects, largest, by_get = {}, {}, {}, {}
    for i, v in enumerate(x):
        k = int(v * 3)
        if k in pairs:
            n, first = pairs[k]
            pairs[k] = (n + 1, first)
            objects[k]["n"] += v
        else:
            pairs[k], objects[k] = (1, i), {"n": v, "at": i}
        if k not in largest or largest[k][0] < v:
            largest[k] = (v, i)
        known = by_get.get(k)
        by_get[k] = (i, 0) if known is None else (known[0], known[1] + 1)
    return pairs, objects, largest, by_get


def lists_of_places(x):
    places = {}
    for i, v in enumerate(x):
        if int(v * 3) in places:
            places[int(v * 3)].append(i)
        else:
            places[int(v * 3)] = [i]
    return places


def arrays_and_their_keys(x):
    sums, found = {}, []
    for k in np.unique((x * 3).astype(int)):
        chosen = x[(x * 3).astype(int) == k]
        sums[k] = {"range": np.array([chosen.min(), chosen.max()]), "n": len(chosen)}
    for v in x:
        best, width = None, np.inf
        for k, each in sums.items():
            if each["range"][1] - v < width and v <= each["range"][1]:
                best, width = k, each["range"][1] - v
        found.append(best)
    return sums, np.array(found), found


def keys_of_python_or_numpy(x):
    parent, names = [0, 0, 1, 3, 3], {}
    for v in (x * 2).astype(int) % 5:
        root = v
        while parent[root] != root:
            root = parent[root]
        if root not in names:
            names[root] = len(names)
    return names


def known_texts(x):
    counts, kinds, total, lists = Counter(), {}, {}, defaultdict(list)
    for i, v in enumerate(x):
        name = "low" if v < -0.5 else "a" if v < 0.5 else "high"
        counts[name] += 1
        kinds[name] = kinds.get(name, 0) + v
        total[name, i % 2] = total.get((name, i % 2), 0.0) + v
        lists["all" if v > 0 else name].append(i)
    for name, k in kinds.items():
        print(f"{name}: {k:.3f}")
    largest = max(lists, key=lambda k: len(lists[k]))
    return counts, total, {k: len(v) for k, v in lists.items()}, "none" in kinds, largest


class Kind(Enum):
    LOW = "low"
    HIGH = "high"


class Level(IntEnum):
    LOW = 0
    HIGH = 1


Other = Enum("Kind", "LOW HIGH")  # its members have the names of others


def members_as_keys(x):
    counts, sums = dict.fromkeys(Kind, 0), {Level.LOW: 0.0, Level.HIGH: 0}
    both = {Kind.LOW: 0, Other.LOW: 10}
    for v in x:
        counts[Kind.LOW if v < 0 else Kind.HIGH] += 1
        if v < 0.2:
            sums[Level.LOW] += v
            both[Kind.LOW] += 1
        else:
            sums[1] += 1
            both[Other.LOW] -= 1
    return counts, sums, both


def new_members_as_keys(x):
    last = {}
    for i, v in enumerate(x):
        if v < -0.5:
            last[Kind.LOW] = i
        elif v > 0.5:
            last[Kind.HIGH] = v
    return last, Kind.LOW in last


def members_of_two_enums_as_keys(x):
    seen, lists = {}, defaultdict(list)
    for i, v in enumerate(x):
        kind = Kind.LOW if v < 0 else Other.HIGH
        seen[kind, i % 2] = seen.get((kind, i % 2), 0) + 1
        lists[kind].append(i)
    return seen, dict(lists), max(seen, key=lambda k: seen[k])


def new_texts_in_any_order(x):
    last = {}
    for i, v in enumerate(x):
        if v < -0.5:
            last["low"] = i
        elif v > 0.5:
            last["high"] = i
    return last, len(last)


def new_keys_in_branches(x):
    log, numbers, seen = defaultdict(list), OrderedDict(), set()
    for i, v in enumerate(x):
        if v > 0:
            log["n"].append(i)
        else:
            log["negative"].append(v)
        numbers[i, i + 1] = v
        seen.add("big" if abs(v) > 1 else "small")
    return log, list(numbers.items())[:3], numbers, seen, "big" in seen, log["n"]


def closed_by_known_places(x):
    near, closed, queue = x.reshape(4, 4) > 0.2, set(), [(0, 0)]
    while queue:
        place = queue.pop()
        if place in closed:
            continue
        closed.add(place)
        for other in ((place[0] + 1, place[1]), (place[0], place[1] + 1)):
            if max(other) < 4 and near[other]:
                queue.append(other)
    return len(closed), (3, 3) in closed


def made_of_pairs(x):
    values, counts = np.unique(np.rint(x), return_counts=True)
    table = dict(zip(values.astype(int).tolist(), counts.tolist(), strict=True))
    last = dict(zip(np.rint(x[x > 0]).astype(int), x[x > 0], strict=True))
    shares, more = {int(k): n / len(x) for k, n in table.items()}, {3: 1}
    more.update(zip(values.astype(int).tolist(), counts.tolist(), strict=True))
    best = max(table, key=table.get)
    return table, last, dict(enumerate(x[x < 0])), shares, more, best, 3 in last


def of_one_text(x):
    by, seen, last = defaultdict(list), set(), {}
    for i, v in enumerate(x):
        by["all"].append(v)
        if v > 0:
            seen.add("up")
            last["up", int(v)] = i
    return by, by["all"][-1], "up" in seen, len(seen), last


class Walker:
    def __init__(self, traps):
        self.at, self.traps, self.falls = (0, 0), set(traps), 0

    def step(self, up):
        self.at = (self.at[0] + up) % 3, self.at[1] + 1 - up
        self.falls += self.at in self.traps


def by_attributes(x):
    walker, falls = Walker([(1, 1), (2, 3)]), []
    if x[0] > 0:
        walker.at = int(x[0]), 1
        falls.append(walker.at in {(1, 1)})
    for v in x:
        walker.step(int(v > 0))
        falls.append(walker.falls)
    return falls, walker.at


def written_with_their_first_key(x):
    hops, near = [], x.reshape(4, 4) > 0.2
    for start in range(len(near)):
        level, parent, queue = {start: 0}, {(start, int(x[start] * 3)): -1, (9, 9): start}, [start]
        while queue:
            u = queue.pop(0)
            for v in np.flatnonzero(near[u]):
                v = int(v)
                if v not in level:
                    level[v] = level[u] + 1
                    parent[v, u] = u
                    queue.append(v)
        hops.append(len(level) + sum(parent.values()))
    return hops


def from_keys(x):
    numbers = (x * 3).astype(int)
    by_counter = dict.fromkeys(Counter(numbers.tolist()), 0)
    by_list, by_range = (dict.fromkeys(keys, 0.5) for keys in (numbers.tolist(), range(4)))
    for k in numbers:
        by_counter[int(k)] += 1
        by_list[int(k)] += x[0]
    by_range[2] = x[1]
    return by_counter, by_list, by_range, dict.fromkeys([int(numbers[0]), 7, 7], 1)


def written_with_lists(x):
    groups = {int(x[0] * 3): [0.5], int(x[1] * 3): [x[1]]}
    for v in x:
        groups.setdefault(int(v * 3), []).append(v)
    return [sum(each) for each in groups.values()], len(groups)


@pytest.mark.parametrize(
    "fn",
    [
        *(written_with_their_first_key, written_with_lists, from_keys),
        *(known_texts, new_keys_in_branches, closed_by_known_places, made_of_pairs),
        *(members_as_keys, new_members_as_keys, members_of_two_enums_as_keys),
        new_texts_in_any_order,
        *(
            read_before_they_are_stored,
            lists_of_places,
            arrays_and_their_keys,
            keys_of_python_or_numpy,
        ),
        *(counters, best_of_all, other_defaults, numbered, first_of_each, sets_with_operators),
        *(comprehensions, taken_in, sizes, taken_out, taken_from_the_ends, many_that_come_and_go),
        *(counters_that_lose_items, a_window_without_repeats),
        *(levels, counts, sums, visited, cells, by_default, keys_of_two_kinds, colliding),
        *(made_in_a_loop, by_a_helper, in_one_arm, never_filled, by_attributes, of_one_text),
    ],
    ids=lambda fn: fn.__name__,
)
def test_captured(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in SIGNALS:
        expected, found = run(fn, (x.copy(),)), run(compiled, (x.copy(),))
        assert not difference(expected, found)
        assert repr(expected.result) == repr(found.result)  # the order of keys, types of numbers
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def letters(s):
    d, pairs = {}, {}
    for i in range(len(s)):
        d[s[i]] = d.get(s[i], 0) + 1
        if i > 0:
            pairs[s[i - 1], s[i]] = i
    return d, max(d, key=d.get), Counter(s).most_common(1), pairs, ("A", "C") in pairs, "T" in d


def longest_without_repeats(s):
    last, best, start = {}, 0, 0
    for i, c in enumerate(s):
        if c in last and last[c] >= start:
            start = last[c] + 1
        last[c] = i
        best = max(best, i - start + 1)
    return best


def numbers_of_all_sizes(s):
    d = {}
    for i, v in enumerate(np.arange(len(s)) * 7 % 10):
        d[int(v)] = i
    return d


def reached(x, start):
    level, seen, queue = {start: 0}, {start}, [start]
    while queue:
        u = queue.pop(0)
        for v in (u * 2 % len(x), u * 3 % len(x)):
            if v not in level:
                level[v] = level[u] + 1
                seen.add(v)
                queue.append(v)
    return list(level.items()), len(seen)


def test_one_compilation_for_all_first_keys() -> None:
    compiled = fxc.compile(reached, fullgraph=True)
    for start in (5, 3, 4, 7, 2):
        assert compiled(SIGNALS[0], start) == reached(SIGNALS[0], start)
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


@pytest.mark.parametrize("fn", [letters, longest_without_repeats, numbers_of_all_sizes])
def test_one_compilation_for_all_texts(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for text in ("ACGTTTACA", "TTTAGACCCA", "ACGTACGTACGTA", "CATT"):
        assert repr(compiled(text)) == repr(fn(text))
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)


def test_inverses_of_remainders() -> None:
    def inverse(x, m):
        try:
            return pow(int(x[0]), -1, m), pow(int(x[0]) + 1, -2, m)
        except ValueError as error:
            return str(error)

    compiled = fxc.compile(inverse, fullgraph=True)
    for a in range(-3, 9):
        for m in (26, 101, 1, -7):
            assert compiled(np.array([a]), m) == inverse(np.array([a]), m)
    assert compiled.cache_info().native_calls


def missing(x):
    d = {}
    for v in x:
        if v > 0:
            d[int(v * 2)] = v
    return d[0] + d[int(x[0] * 50)]


def test_a_key_that_is_missing_is_pythons_error() -> None:
    compiled = fxc.compile(missing, fullgraph=True)
    for x in (*SIGNALS, -SIGNALS[0]):
        assert not difference(run(missing, (x,)), run(compiled, (x,)))
    assert isinstance(run(compiled, (SIGNALS[0],)).error, KeyError)


def taken_out_where_it_is_not(x):
    d, s = {}, set()
    for v in x:
        d[int(v)] = v
        s.add(int(v))
        x[0] += 1.0
        del d[int(v)]
        s.remove(int(v))
    return d.pop(int(x[0])), len(s)


def test_what_is_taken_out_and_not_there_is_pythons_error() -> None:
    def emptied(x):
        d = {}
        for v in x:
            d[int(v)] = v
            x[0] += 1.0
            if v > 0.2:
                d.popitem()
                d.popitem()
        return d

    for fn in (taken_out_where_it_is_not, emptied):
        expected = run(fn, (SIGNALS[0].copy(),))
        compiled = fxc.compile(fn, fullgraph=True)
        assert not difference(expected, run(compiled, (SIGNALS[0].copy(),)))
        assert isinstance(expected.error, KeyError)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "take",
    [
        *(lambda d, k: d.popitem()[1], lambda d, k: d.pop(0), lambda d, k: d.__delitem__(0)),
        lambda d, k: d[k],
    ],
    ids=["popitem", "pop", "del", "read"],
)
def test_nothing_can_be_taken_out_of_what_was_never_filled(take: Callable[..., Any]) -> None:
    def program(x, given):
        d = dict(given)
        for v in x[x > 0]:
            take(d, int(v))
        return d

    compiled = fxc.compile(program)
    for x in (SIGNALS[0], -np.ones(3), SIGNALS[0]):
        assert not difference(run(program, (x, {})), run(compiled, (x, {})))


def of_several_sets(x):
    a, b = set(), set()
    for v in x:
        a.add(int(v * 40))
        b.add(int(v * 70))
    return a | b


def updated_by_a_set(x):
    a, b = set(), set()
    for v in x:
        a.add(int(v * 40))
        b.add(int(v * 70))
    a.update(b)
    return a


def a_set_that_loses_some(x):
    a = set()
    for v in x:
        a.add(int(v * 40))
        a.discard(int(v * 20))
    return a


def of_bools(x):
    d = {}
    for v in x:
        d[int(v)] = v
        d[v > 0] = v
    return d


def of_floats(x):
    d = {}
    for v in x:
        d[float(round(v))] = v
    return d


def stored_while_running(x):
    d = {}
    for v in x:
        d[int(v * 3)] = v
    for k in d:
        if k > 0:
            d[k] = 1.0
    return d


def grown_under_its_values(x):
    d, total = {7: 0.5}, 0.0
    for v in d.values():
        for u in x:
            d[int(u * 3)] = u
        total += v
    return d, total


def lost_under_its_items(x):
    d = {7: 0.5, 8: 2.0}
    for k, _ in d.items():
        for u in x:
            d.pop(int(u), None)
            x[0] = k
    return d


def shrunk_under_an_iterator(x):
    s, seen = {0}, []
    for k in s:
        for u in x:
            s.discard(int(u))
        seen.append(k)
    return seen


def of_a_dict_with_its_table(x):
    d = {}
    for v in x:
        d[int(v * 40)] = v
    return set(d)


def with_members_that_collide(x):
    """That 15 came first is nowhere to be seen: its place is that of 7."""
    s = {7, 15}
    for v in x:
        s.add(int(v * 40))
    return s


def in_the_order_of_characters(x):
    s = {chr(97 + int(v) % 26) for v in x}
    return [c for c in s]  # noqa: C416


@pytest.mark.parametrize(
    "fn",
    [
        *(of_several_sets, updated_by_a_set, a_set_that_loses_some, in_the_order_of_characters),
        *(of_bools, of_floats, stored_while_running, of_a_dict_with_its_table),
        with_members_that_collide,
    ],
    ids=lambda fn: fn.__name__,
)
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_left_to_python(fn: Callable[..., Any]) -> None:
    with pytest.raises(fxc.CaptureError):
        fxc.compile(fn, fullgraph=True)(SIGNALS[0])
    compiled = fxc.compile(fn)
    assert repr(fn(SIGNALS[0])) == repr(compiled(SIGNALS[0]))


@pytest.mark.parametrize(
    "fn",
    [grown_under_its_values, lost_under_its_items, shrunk_under_an_iterator],
    ids=lambda fn: fn.__name__,
)
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_loops_see_that_a_dict_has_changed(fn: Callable[..., Any]) -> None:
    """They ran on over the items that were there when they began."""
    compiled = fxc.compile(fn)
    for x in (SIGNALS[0], np.zeros(4), np.full(4, 7.0)):
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))


def of_ints(x):
    seen, start = set(), {3}
    for v in x:
        seen.add(int(v))
        start.add(int(v) + 1)
    found = []
    for k in seen:
        found.append(k)
    return found, [k * 2 for k in seen if k % 3], list(seen), list(start), {k: k + 1 for k in start}


def of_tuples(x):
    alive = {(int(v), int(v) // 3 - 1) for v in x}
    counts = {}
    for i, j in alive:
        for d in (-1, 0, 1):
            counts[i + d, j] = counts.get((i + d, j), 0) + 1
    new = {k for k, n in counts.items() if n > 1 or k in alive}
    return counts, [i - j for i, j in new], new


def while_it_grows(x):
    seen, firsts = set(), []
    for v in x:
        seen.add(int(v))
        if len(seen) % 4 == 0:
            for k in seen:
                firsts.append(k)
                break
    return firsts


@pytest.mark.parametrize("fn", [of_ints, of_tuples, while_it_grows])
def test_loops_over_sets_have_the_order_of_cpythons_tables(fn: Callable[..., Any]) -> None:
    compiled, rng = fxc.compile(fn, fullgraph=True, dynamic=True), np.random.default_rng(0)
    for most in (4, 30, 2**7, 2**54):
        for n in (3, 5, 6, 40, 700):
            x = rng.integers(-most, most, n) * rng.choice([1, 1, 64])
            assert repr(compiled(x)) == repr(fn(x))
    assert not compiled.cache_info().eager_calls


def test_ints_that_are_hashed_by_their_remainder_are_pythons() -> None:
    compiled = fxc.compile(of_ints, fullgraph=True)
    x = np.array([2**61 - 1, 5, -1, 2**61, 0, 2**62])
    assert repr(compiled(x)) == repr(of_ints(x))


def replaced_in_each_round(x):
    c, before, sizes = {int(v): 1 for v in x}, {}, []
    for i in range(len(x)):
        new = {}
        for k, v in c.items():
            new[k // 2] = new.get(k // 2, 0) + v * (i + 1)
        before = c
        c = new
        c[-i] = i
        sizes.append(len(before))
    return c, sizes, c.get(0)


def replaced_by_a_condition(x):
    c, best, most = {}, {}, 0
    for i in range(len(x)):
        c[int(x[i])] = i
        if i % 3 == 2:
            new = {}
            for k, v in c.items():
                new[k + 1, v] = 2.5
            if len(new) > most:
                best, most = new, len(new)
            c = {}
    return c, best, most


def replaced_sets(x):
    alive, steps, last = {int(v) for v in x}, 0, -1
    while alive and steps < len(x):
        new = set()
        for k in alive:
            if k % 3:
                new.add(k // 2)
                new.add(k - 3)
        alive, last = new, len(alive)
        steps += 1
    return alive, steps, last


@pytest.mark.parametrize("fn", [replaced_in_each_round, replaced_by_a_condition, replaced_sets])
def test_dicts_and_sets_that_replace_one_another(fn: Callable[..., Any]) -> None:
    """A loop around them was unrolled: compiled anew for each number of iterations."""
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for n in (3, 4, 9, 12):
        x = np.random.default_rng(n).integers(-40, 40, n).astype(float)
        assert repr(compiled(x)) == repr(fn(x))
    assert compiled.cache_info().variants == 1
    assert not compiled.cache_info().eager_calls


def test_known_sets_that_collide_leave_in_their_order() -> None:
    """A copy of a set has another table than one that has grown."""

    def program(x, n):
        made = {k * 37 % 101 for k in range(n)}
        return x * 2, made, {k * 3 % 101 for k in made}, {7, 15, 23}

    compiled = fxc.compile(program)
    for n in (4, 6, 15, 18, 40):
        assert repr(compiled(1.5, n)) == repr(program(1.5, n))
    assert not compiled.cache_info().eager_calls
