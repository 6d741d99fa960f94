"""Comparisons of tuples, lists and dataclasses' objects with numbers of the data, and what sorts by them."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run


@dataclass(order=True)
class Event:
    t: float
    kind: str = field(compare=False, default="a")
    who: int = 0


@dataclass
class Unordered:
    t: float
    who: int


@dataclass(eq=False)
class Named(Unordered):
    name: str = ""


class Pair(NamedTuple):
    t: float
    who: int


def compared(x):
    left, right, k = (x[0], 1.0), (x[1], x[2]), int(x[3])
    short = (float(x[0]),)
    return (
        *(
            left < right,
            left <= right,
            left == right,
            left != right,
            left > (x[0],),
            short >= short,
        ),
        *((k, 2) < (2, 1), (k, k) == (2, 2), [k, x[1]] < [k, x[2]], ("a", k) < ("b", 0)),
        *(
            Pair(x[0], 1) < Pair(x[1], 0),
            ((k, x[0]), 1) > ((k, x[1]), 0),
            (x[0], "a") == ("a", x[0]),
        ),
    )


def decided(x):
    if (x[0], x[1]) < (x[2], x[3]):
        return 1
    return 2 if (x[0], x[1]) == (x[0], x[1]) else 3


def one_object(x):
    v, w = x[0], float(x[1])
    return (v, 1) == (v, 1), (v, 1) < (v, 2), (w, 2) >= (w, 2), (x[0], 1) == (x[0], 1)


def events(x):
    a, b = Event(x[0], "a", 1), Event(x[1], "b", 2)
    return a < b, a <= b, a == b, a != b, a == Event(x[0], "c", 1), max(a, b).who, min([b, a]).kind


def inherited(x):
    a, b, c = Named(x[0], 1, "a"), Named(x[0], 1, "b"), Named(x[1], 1, "a")
    return a == b, a != b, a == c, a != c, a == a


def extremes(x):
    pairs = [(v, i) for i, v in enumerate(x)]
    rounded = [(int(v), -i) for i, v in enumerate(x)]
    return min(pairs), max(pairs), max(rounded), min(rounded, key=lambda p: (p[0], p[1]))


def in_order(x):
    pairs = [(int(v), i) for i, v in enumerate(x)]
    names = sorted([("b", x[0]), ("c", x[1])], key=lambda p: p[1])
    pairs.sort()
    by = sorted(pairs, key=lambda p: -p[1])
    return pairs, by, sorted(pairs, reverse=True), sorted(x[:3], key=lambda v: -v), names[0][0]


def events_in_order(x):
    found = [Event(v, "a", i) for i, v in enumerate(x)]
    found.sort()
    return [e.who for e in found], [e.who for e in sorted(found, reverse=True)]


def made_by_a_condition(x):
    found = []
    for i in range(len(x)):
        if x[i] > -1:
            found.append(Event(int(x[i]), "a", -i))
    return [e.who for e in sorted(found)]


def by_a_heap(x):
    heap, out = [], []
    for i in range(len(x)):
        heapq.heappush(heap, (x[i], i))
    while heap:
        out.append(heapq.heappop(heap)[1])
    return out


PROGRAMS = [
    *(compared, decided, one_object, events, inherited, extremes, in_order, events_in_order),
    *(made_by_a_condition, by_a_heap),
]
DATA = [np.random.default_rng(k).normal(size=n) * 2 for k, n in enumerate((4, 4, 20, 20))]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[each.__name__ for each in PROGRAMS])
def test_as_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in DATA[2:] if fn in (made_by_a_condition, by_a_heap) else DATA:
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
    assert compiled.cache_info().eager_calls == 0
    for value in (np.nan, 0.0):  # of a nan, which may be one object, Python knows more
        x = np.full(len(DATA[2]), value)
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""


def objects_without_an_order(x):
    found = [Unordered(v, i) for i, v in enumerate(x)]
    found.sort()
    return [e.who for e in found]


def dicts(x):
    return sorted([{"v": v, "i": i} for i, v in enumerate(x)])


def lists(x):
    found = []
    for v in x:
        if v > 0:
            found.append([v])
            found[-1].append(v + 1)
    return sorted(found)


@pytest.mark.parametrize("fn", [objects_without_an_order, dicts, lists])
@pytest.mark.parametrize("n", [4, 60])
def test_what_numbers_of_items_do_not_say(fn: Callable[..., Any], n: int) -> None:
    compiled = fxc.compile(fn)
    x = np.random.default_rng(n).normal(size=n)
    for _ in range(2):
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""


def until_a_place(x):
    i = j = 0
    path = []
    while (i, j) != (3, 4):
        if i < 3 and (x[i] > 0.5 or j == 4):
            i += 1
        else:
            j += 1
        path.append((i, j))
    return path


def until_a_list(x):
    at, goal, count = [0, 0], [3, 4], 0
    while at != goal and count < 100:
        k = 0 if at[0] < 3 and x[count % len(x)] > 0.5 else 1
        at[k] = min(at[k] + 1, goal[k])
        count += 1
    return at, count


def keys_that_change(x):
    before, count = None, 0
    for v in x:
        key = (v > 0.5, int(v * 4))
        if key != before:
            count += 1
        before = key
    return count


def best_of(x):
    best, last = (0.0, 0), [0, 0]
    for i in range(len(x)):
        if (x[i], i) > best:
            best = (x[i], i)
        now = [int(x[i] * 3), int(x[i] * 5)]
        if now >= last:
            last = now
    return (
        best,
        last,
        min((v, k) for k, v in enumerate(x)),
        max(range(len(x)), key=lambda k: (int(x[k] * 3), -k)),
    )


def members(x):
    seen, count = [(0, 0)], 0
    for v in x:
        key = (int(v * 3), int(v * 2))
        if key in ((0, 0), (1, 1), (2, int(x[0] * 3))):
            count += 1
    for v in x:
        key = (int(v * 3), int(v * 2))
        if key not in seen:
            seen.append(key)
    return count, seen


def until_it_stays(x):
    old = []
    for sweep in range(20):
        new = [i for i in range(len(x)) if x[i] * min(sweep, 9) > 3]
        if new == old and sweep > 3:
            break
        old = new
    return sweep, old, old == [], old != new, new == [1, 2]


def heap_of_tuples(cost):
    n = len(cost)
    dist = np.full(n, np.inf)
    heap = [(float(cost[0]), 0)]
    order = []
    while heap:
        d, i = heapq.heappop(heap)
        if d > dist[i]:
            continue
        order.append(i)
        for j in ((i * 2 + 1) % n, (i + 3) % n):
            if d + cost[j] < dist[j]:
                dist[j] = d + cost[j]
                heapq.heappush(heap, (dist[j], j))
    return dist, order


def objects_that_change(x):
    states = []
    for i in range(len(x)):
        states.append(Unordered(0.5, i % 2))
    same = 0
    for i in range(len(x)):
        if x[i] > 0.5:
            states[i].t = x[i]
        same += states[i] == states[0]
        same += states[i] != Unordered(0.5, 0)
    return same


def pairs_in_pairs(x):
    """What is sorted by has tuples in it, as the items of a dict with pairs as keys."""
    counts, found = {}, []
    for i in range(len(x)):
        key = (int(x[i] * 3), i % 2)
        counts[key] = counts.get(key, 0) + 1
        if x[i] > 0.3:
            found.append(((i, x[i]), int(x[i] * 5)))
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
    by = sorted(found, key=lambda p: (p[1], (p[0][1], -p[0][0])), reverse=True)
    return most, sorted(found), by


def least_so_far(x):
    """A tuple that may be None is put in order with others."""
    best = top = None
    pairs = [(i % 3, v) for i, v in enumerate(x) if v > 0.2]
    for i, v in pairs:
        rank = (i, -v)
        if top is None or rank < top:
            best, top = (i, v), rank
    return best, top, max(pairs, key=lambda p: (p[1], p[0])), min(pairs, key=lambda p: (p[0], p[1]))


IN_LOOPS = [
    *(until_a_place, until_a_list, keys_that_change, best_of, members, until_it_stays),
    *(heap_of_tuples, objects_that_change, pairs_in_pairs, least_so_far),
]


@pytest.mark.parametrize("fn", IN_LOOPS, ids=[each.__name__ for each in IN_LOOPS])
def test_in_loops(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for seed in range(3):
        x = np.random.default_rng(seed).random(9)
        assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def edges(i, x):
    found, turned = {}, []
    for a, b, c in i:
        for pair in ((a, b), (b, c), (c, a)):
            edge = tuple(sorted(pair))
            found[edge] = found.get(edge, 0) + 1
        turned.append(tuple(sorted((x[a], x[b], x[c]), reverse=True)))
    return found, turned, sorted([(x[1], 0), (x[0], 1), (x[1], -1)]), sorted([x[1], x[0]])


def test_a_few_are_put_in_order_by_compiled_code() -> None:
    compiled = fxc.compile(edges, fullgraph=True)
    i = np.array([[2, 0, 1], [1, 2, 3], [3, 1, 0], [2, 2, 1]])
    for x in ([1.0, 3.0, 2.0, 2.0], [0.0, -0.0, 1.0, np.inf], [np.nan, 1.0, 1.0, 0.0]):
        assert difference(run(edges, (i, np.array(x))), run(compiled, (i, np.array(x)))) == ""
    assert compiled.cache_info().eager_calls == 1  # a NaN has no place among three
    assert "sort" not in str(compiled.inspect(i, np.array([1.0, 3.0, 2.0, 2.0])).captured)


def none_before_a_pair(x):
    first = second = None
    for i in range(len(x)):
        if x[i] > 0.8:
            first = (i, x[i])
        if x[i] < 0.2:
            second = (x[i], i)
    return first < second


def test_none_has_no_place_in_an_order() -> None:
    compiled = fxc.compile(none_before_a_pair, fullgraph=True)
    for x in (
        np.linspace(0, 1, 9),
        np.linspace(0.1, 0.7, 9),
        np.full(9, 0.5),
        np.linspace(1, 0, 9),
    ):
        assert difference(run(none_before_a_pair, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 2  # Python raises


def texts_in_lists(x):
    names, pairs = [], []
    for v in x:
        names.append("up" if v > 0.5 else "down")
        pairs.append(("up" if v > 0.5 else "down", int(v * 3)))
    rows = [[] for _ in range(3)]
    for i in range(len(x)):
        rows[int(x[i] * 3)].append(i)
    return "up" in names, names.count("left"), ("up", 2) in pairs, [0, 1] in rows, rows.count([])


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_other_things_than_numbers_in_lists() -> None:
    compiled = fxc.compile(texts_in_lists, dynamic=True)
    for seed, n in ((0, 9), (1, 30), (2, 2)):
        x = np.random.default_rng(seed).random(n)
        assert difference(run(texts_in_lists, (x,)), run(compiled, (x,))) == ""


def of_mixed_numbers(x):
    v = x[0] if x[1] > 0 else float(x[0])
    pairs = [(v, 1), (float("nan"), 2)]
    before = pairs[0]
    for k in range(len(x)):
        if x[k] > 5:
            before = (x[k], 1)
    return before == (v, 1), (v, 1) in pairs, (x[2], 2) in pairs, Event(v) == Event(x[0])


def test_nans_that_are_python_s_or_numpy_s() -> None:
    """Numbers that parts of a split function hand on are new objects: see ``docs/limits.md``."""
    compiled = fxc.compile(of_mixed_numbers, fullgraph=True)
    for first, second in ((1.0, 1.0), (np.nan, 1.0), (np.nan, -1.0), (9.0, -1.0)):
        x = np.array([first, second, np.nan, 2.0])
        assert difference(run(of_mixed_numbers, (x,)), run(compiled, (x,))) == ""


@dataclass(order=True)
class Scored:
    score: float = 0.0
    name: str = field(default="", compare=False)


@dataclass(frozen=True, order=True)
class Place:
    x: float = 1.0
    y: float = 2.0


class World:
    def __init__(self, seed: int) -> None:
        values = np.random.default_rng(seed).integers(0, 5, 12).tolist()
        self.scored = [Scored(float(v)) for v in values]
        self.places = [Place(float(v)) for v in values] + [Place(float(seed), 3.0)]


def sorts(w):
    w.scored.sort(reverse=True)
    return [each.score for each in w.scored], w.scored[0].score


def sorts_pairs(w):
    pairs = [(each, k) for k, each in enumerate(w.scored)]
    pairs.sort()
    return [k for _, k in pairs], pairs[0] < pairs[1]


def looks_for(w):
    wanted = Scored(2.0)
    if wanted not in w.scored:
        return None
    found = w.scored.index(wanted), w.scored.count(wanted)
    w.scored.remove(wanted)
    return *found, len(w.scored)


def takes_the_best(w):
    return [each.score for each in heapq.nlargest(3, w.scored)], max(w.scored).score


def counts(w):
    found: dict[Place, int] = {}
    for each in w.places:
        found[each] = found.get(each, 0) + 1
    return found, [each.x for each in set(w.places)]


@pytest.mark.parametrize("fn", [sorts, sorts_pairs, looks_for, takes_the_best, counts])
def test_objects_from_outside_whose_classes_have_defaults(fn: Callable[..., Any]) -> None:
    """Code of C compares the objects that the program sees by their fields."""
    compiled = fxc.compile(fn)
    for seed in (1, 2, 3, 3):
        one, other = World(seed), World(seed)
        assert repr(fn(one)) == repr(compiled(other))
        assert vars(one) == vars(other)
    assert compiled.cache_info().variants


PLACES = {"d": 0, "a": 1, "b": 2, "c": 3}


def sorted_by_texts(x):
    scores = {name: float(x[place]) for name, place in PLACES.items()}
    pairs = [(v, name) for v, name in zip(x, "pqrs", strict=True)]
    pairs.sort(key=lambda pair: (pair[0], pair[1]), reverse=True)
    return (
        sorted(PLACES, key=lambda name: (-x[PLACES[name]], name)),
        sorted(scores.items(), key=lambda item: (item[1], item[0])),
        sorted((name, v) for v, name in zip(x, "pqpq", strict=True)),
        sorted(zip(x, "bbaa", strict=True), reverse=True),
        sorted("pqr", key=lambda name: (x[0] > 1, name)),
        pairs,
    )


def best_by_texts(x):
    scores = {name: float(x[place]) for name, place in PLACES.items()}
    return (
        max(scores.items(), key=lambda item: (item[1], item[0])),
        min((v, name) for v, name in zip(x, "srqp", strict=True)),
        max([(v, name) for v, name in zip(x, "bbaa", strict=True)]),
        min("xyz", key=lambda name: (x[0] > 1, name)),
        max((x[0], "a"), (x[1], "b")),
    )


def sorted_by_what_is_known(x):
    by_place = {place: v for v, place in zip(x, (2, 0.5, True, -1), strict=True)}
    rows = [("b", 2, x[:2]), ("a", 2, x[1:]), ("b", 1, x)]
    rows.sort(reverse=True)
    return sorted(by_place.items()), rows, sorted(PLACES.items(), key=lambda item: (*item, x[0]))


def test_what_follows_known_items_that_differ_is_not_looked_at() -> None:
    """The order of a dict's items is that of its keys: there is nothing to compute."""
    compiled = fxc.compile(sorted_by_what_is_known, fullgraph=True)
    for x in ([3.0, 1.0, 2.0, 1.0], [1.0, np.nan, 2.0, np.nan]):
        given = (np.array(x),)
        assert difference(run(sorted_by_what_is_known, given), run(compiled, given)) == ""
    assert "lexsort" not in str(compiled.inspect(*given).captured)
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("program", [sorted_by_texts, best_by_texts])
def test_texts_beside_numbers(program: Callable[..., Any]) -> None:
    """Texts that are known stand for their places among the others."""
    compiled = fxc.compile(program, fullgraph=True)
    for x in ([3.0, 1.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 5.0, -0.0, 0.0]):
        given = (np.array(x),)
        assert difference(run(program, given), run(compiled, given)) == ""
    given = (np.array([1.0, np.nan, 2.0, np.nan]),)
    assert repr(compiled(*given)) == repr(program(*given))


def rows_of_texts(x: Any) -> Any:
    rows, lists, names = [], [], []
    for i in range(len(x)):
        if x[i] > 0.3:
            rows.append((round(float(x[i]), 1), "low" if x[i] < 0.6 else "high", i))
            lists.append([round(float(x[i]), 1), "low" if i % 3 else "high"])
        names.append("b" if x[i] > 0.5 else "a")
    ends = min(rows), max(rows), min(names)
    lists.sort(reverse=True)
    by_name = sorted(rows, key=lambda row: (row[1], -row[0]))
    return sorted(rows), by_name, lists, sorted(names), ends


def rows_in_two_lists(x: Any) -> Any:
    rows = []
    for i in range(len(x)):
        if x[i] > 0.3:
            rows.append([float(x[i]), i])
    found = sorted(rows)
    return rows, found


def test_rows_with_texts_that_are_known_are_sorted() -> None:
    x = np.random.default_rng(0).random(40)
    compiled = check(rows_of_texts, (x,), (1 - x,))
    assert compiled.cache_info().native_calls == 4


def test_sorted_rows_are_those_of_the_list() -> None:
    x = np.random.default_rng(0).random(40)
    rows, found = fxc.compile(rows_in_two_lists)(x)
    assert sorted(map(id, rows)) == sorted(map(id, found))
    assert (rows, found) == rows_in_two_lists(x)
