"""What is made of lists of counted length: parts, sums, sorted ones; and what is in them."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run


def _places(x):
    return [i for i in range(len(x)) if x[i] > 0]


def sums(x):
    found, other = _places(x), []
    for v in x:
        if v < 0:
            other.append(-1)
    made = found + other
    made.append(5)
    found += other
    return found, made, [7] + made, found + [1, 2], len(made)  # noqa: RUF005


def displays(x):
    found, path = _places(x), []
    made = [7, *found]
    made.append(found.pop() if found else 3)
    for v in x:
        if v > 0:
            path = [float(v), *path]
        else:
            path = [*path, 0.5]
    kept = [*range(2), *found, -1, *made]
    return made, [*found, *found, 1], kept, found, path, np.array([0, *x[x > 0.5], 1])


def sums_of_other_kinds(x):
    """The items of the one are ints or None, those of the other these or something else."""
    ints, numbers, nones, pairs = [], [], [], []
    for i in range(len(x)):
        if x[i] > 0:
            ints.append(i)
            nones.append(None)
        numbers.append(i if x[i] > -1 else 0.5)
        pairs.append(None if x[i] > 1 else (i, 2.0))
    mixed, options = ints + numbers, nones + pairs
    ints.extend(numbers)
    nones.extend(pairs)
    total = 0
    for number in mixed:
        total += number
    return mixed, options, ints, nones, total


def parts(x):
    found = _places(x)
    last = found[-3:]
    last.append(9)
    return found[1:], found[:-1], found[:2], last, found[::-1], found[5:2], found[::2], found


def in_order(x):
    values, places = [], []
    for i in range(len(x)):
        if x[i] > -1:
            values.append(x[i])
            places.append(-i)
    places.sort()
    values.reverse()
    return sorted(values), sorted(values, reverse=True), places, values, sorted(places)[0]


def in_order_as_floats(x):
    found = [float(v) for v in x if v > -1]
    found.sort(reverse=True)
    return found


def merged(x):
    low = [v for v in x if v < 0.5]
    high = [v for v in x if v >= 0.5]
    return sorted(low) + sorted(high)


def different_ones(x):
    found = []
    for i in range(len(x)):
        k = (i * i) % 7
        if k not in found:
            found.append(k)
    return found, 4 in found, 3 in found, len(x) in found, found.count(0)


def values_seen(x):
    found, again = [], 0
    for v in x:
        if v in found:
            again += 1
        elif v > -1:
            found.append(v)
    return again, found


def where_it_is(x):
    found = _places(x)
    return found.index(2) if 2 in found else -1


def where_it_has_to_be(x):
    return _places(x).index(2)


def copies(x):
    found = _places(x)
    one, other = found.copy(), list(found)
    one.append(1)
    other.append(2)
    other[0] = 8
    return found, one, other, found[:]


def by_a_key(x):
    return sorted(_places(x), key=lambda i: -i)


def of_tuples(x):
    return sorted([(v, 1) for v in x if v > 0])


def of_two_kinds(x):
    values, places = [v for v in x if v > 0], _places(x)
    both = [1.5] + places  # noqa: RUF005
    both += values
    padded = values + [0] * (len(x) - len(values))
    named = [None] + places + ["end"]  # noqa: RUF005
    pairs = [(v, i) for i, v in enumerate(x) if v > 0] + [(0, -1)]
    return values + places, both, padded, np.array(padded), sum(both), named, pairs


def stored_as_rows(x):
    rows = np.zeros((3, len(x)))
    for k in range(3):
        found = [v for v in x if v > k]
        rows[k] = found + [k] * (len(x) - len(found))
    rows[0, : len(found)] = found
    return rows


def deep_copies(x):
    path, best, counts, kept = [], [], {}, set()
    table = [[0.0] * len(x) for _ in range(len(x))]
    for i, v in enumerate(x):
        if v > 0:
            path.append((i, v))
            counts[i % 3] = counts.get(i % 3, 0) + 1
            kept.add(i % 4)
        elif path:
            path.pop()
        table[i][i] = v
        if len(path) > len(best):
            best = copy.deepcopy(path)
    other, more, rows, few = map(copy.deepcopy, (counts, kept, table, copy.copy(counts)))
    other[9], few[8], rows[0][0] = 1, 2, 7.0
    more.add(9)
    return path, best, counts, other, few, sorted(kept), sorted(more), table, rows


def of_a_known_list(x):
    known, pair = [3, 2, 0.5, 2.5, 2.5], (-1.25, 2.5)
    return known.count(x[1]), known.index(x[0]), pair.count(x[2]), sum(known.count(v) for v in x)


def repeated(x):
    kept = [v for v in x if v > 0]
    twice = kept * 2
    kept.append(1.0)
    return twice, 3 * kept, kept * 1


def joined_rows(x):
    pairs = []
    for i, v in enumerate(x):
        if v > 0:
            pairs.append((i, v))
    return np.concatenate(pairs), np.hstack(pairs), np.stack(pairs, axis=1), np.vstack(pairs)


PROGRAMS: list[Callable[..., Any]] = [
    *(repeated, joined_rows),
    displays, of_two_kinds, stored_as_rows, sums, sums_of_other_kinds, parts, in_order, in_order_as_floats, merged, different_ones, values_seen, where_it_is,
    where_it_has_to_be, copies, by_a_key, of_tuples, deep_copies,
    of_a_known_list,
]  # fmt: skip
SIGNAL = np.array([0.5, -1.25, 3.0, 0.25, -0.0, 2.5, 0.0, 2.5, 0.5])
SIGNALS = [SIGNAL, SIGNAL[:4], SIGNAL[::-1].copy(), np.full(3, 2.0), np.arange(40.0) % 11 - 0.5]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    raised = 0
    for x in SIGNALS:
        expected = run(program, (x.copy(),))
        raised += expected.error is not None
        assert difference(expected, run(compiled, (x.copy(),))) == ""
    assert compiled.cache_info().eager_calls == raised
    assert compiled.cache_info().variants <= 3


@pytest.mark.parametrize("program", [in_order, values_seen], ids=lambda each: each.__name__)
def test_nans_are_left_to_python(program: Callable[..., Any]) -> None:
    x = np.array([3.0, np.nan, 1.0, np.nan, 2.0])
    compiled = fxc.compile(program, fullgraph=True)
    assert difference(run(program, (SIGNAL,)), run(compiled, (SIGNAL,))) == ""
    assert difference(run(program, (x,)), run(compiled, (x,))) == ""


def by_a_text(x):
    return sorted(_places(x), key=lambda i: "low" if i < 2 else "high")


def test_an_order_by_texts_that_are_known() -> None:
    compiled = fxc.compile(by_a_text, fullgraph=True)
    assert difference(run(by_a_text, (SIGNAL,)), run(compiled, (SIGNAL,))) == ""


def by_a_text_of_numbers(x):
    return sorted(_places(x), key=lambda i: f"{i} of {len(x)}")


def sum_of_arrays(x):
    found = [x * 1]
    for v in x:
        if v > 0:
            found.append(x * v)
    return found + found


@pytest.mark.parametrize(
    "program", [by_a_text_of_numbers, sum_of_arrays], ids=lambda each: each.__name__
)
def test_refused(program: Callable[..., Any]) -> None:
    with pytest.raises(fxc.CaptureError):
        fxc.compile(program, fullgraph=True)(SIGNAL)


def chosen_of_known(x):
    few = [k for k in (0, 1, 2) if x[k] > 0.5]
    rows = [row * 2 for row in (x[:3], x[1:4]) if row.sum() > 1]
    best = min((k for k in [2, 0, 1] if x[k] > -9), key=lambda k: -x[k])
    names = [name for name, k in (("a", 0), ("b", 2)) if x[k] > 0]
    return few, np.array(rows), sum(x[k] for k in [1, 2, 3] if x[k] > 0), best, ",".join(names)


def chosen_again_and_again(x):
    places, costs = [0], np.zeros(len(x))
    for t in range(2, len(x)):
        values = [costs[s] + x[s] for s in places]
        costs[t] = min(values)
        places = [s for s, value in zip(places, values) if value < costs[t] + 1]  # noqa: B905
        places.append(t)
    return costs, places


@pytest.mark.parametrize("program", [chosen_of_known, chosen_again_and_again])
def test_items_that_python_knows_are_chosen_by_data(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for x in (SIGNAL, SIGNAL[:4], np.full(5, 2.0), np.arange(40.0) % 11 - 0.5):
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0


def counted_by_place(x):
    counts = [0, 0, 0]
    for k in range(len(x)):
        counts[x[k]] += 1
    return counts


def stored_by_place(x):
    found = [0, 0, 0]
    for k in range(len(x)):
        found[x[k]] = k
    return found[0], found[-1]


@pytest.mark.parametrize("program", [counted_by_place, stored_by_place])
@pytest.mark.parametrize("last", [2, 3, -1, -3, -4, 50])
def test_places_in_a_list_of_known_length(program: Any, last: int) -> None:
    """They were places in the room that the list has."""
    compiled, x = fxc.compile(program, fullgraph=True), np.array([0, 1, last])
    assert difference(run(program, (x,)), run(compiled, (x,))) == ""


def stored_at_a_bool(x, flag):
    items, other, zeros = list(x), deque(x), [0.0] * int(x[2])
    items[flag] = 7.5
    other[flag] += 1.0
    zeros[bool(x[2] > 0.5)] = 5.0
    return items, list(other), zeros


def read_at_a_bool(x, flag):
    items, chosen = list(x), bool(x[2] > 0.5)
    return items[chosen], items.pop(chosen), items[flag], items


@pytest.mark.parametrize("program", [stored_at_a_bool, read_at_a_bool])
@pytest.mark.parametrize("flag", [True, False, np.True_])
def test_bools_are_places(program: Any, flag: Any) -> None:
    """They were masks of the arrays that hold the items. NumPy's bools are no places."""
    compiled, x = fxc.compile(program), np.arange(5.0)
    assert difference(run(program, (x, flag)), run(compiled, (x, flag))) == ""
    if type(flag) is bool:
        assert compiled.cache_info().native_calls == 1


# ------------------------------------------------------------------ in loops and branches


def median_of_a_window(x, k):
    found = np.zeros(len(x) - k + 1)
    for i in range(len(found)):
        found[i] = sorted(x[i : i + k])[k // 2]
    return found


def window_that_slides(x, k):
    window, found = list(x[:k]), []
    for i in range(k, len(x)):
        window = window[1:] + [x[i]]  # noqa: RUF005
        found.append(sorted(window)[k // 2])
    return found


def shorter_and_shorter(x, k):
    rest, total = [v for v in x if v > -0.5], 0.0
    while len(rest) > 1:
        rest = rest[1:]
        total += rest[0] + k
    return total, rest


def in_two_arms(x, k):
    found = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            found[i] = sorted(x[: i + 1])[0]
        else:
            found[i] = sorted(x[i:], reverse=True)[0]
    return found


def sorted_in_place(x, k):
    total = 0.0
    for i in range(k, len(x) - k):
        window = list(x[i - k : i + k + 1])
        window.sort()
        total += window[k] * i
    return total


def of_a_helper(x, k):
    kept, total = [v for v in x if v > -0.5], 0.0

    def least(items):
        found = sorted(items)
        return found[0] if len(found) else 9.0

    for i in range(k):
        total += least(kept[i:])
        if x[i] > 0:
            total -= least(kept)
    return total


def sorted_from_outside(x, k):
    kept = [v for v in x if v > -0.5]
    for _ in range(k):
        kept.sort()
        kept[0] = kept[-1] + 1.0
    return kept


IN_LOOPS = [
    *(median_of_a_window, window_that_slides, shorter_and_shorter, in_two_arms),
    *(sorted_in_place, of_a_helper, sorted_from_outside),
]


@pytest.mark.parametrize("fn", IN_LOOPS, ids=[each.__name__ for each in IN_LOOPS])
def test_in_loops(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (12, 20, 15):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(fn, (x.copy(), 5)), run(compiled, (x.copy(), 5))) == ""
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants <= 2 + (fn is sorted_from_outside)


# ------------------------------------------------------------------ unpacking


def unpacked(x):
    first, *rest, last = x
    [*copy] = rest
    copy.append(last)
    return first, rest, last, copy, [*x], [*rest]


def unpacked_to_places(x):
    kept = {"a": 0}
    kept["a"], *x[:2], kept["b"] = x[3:7]
    *rest, (a, b) = [1, x.tolist(), (x[0], 5)]
    return kept, rest, a, b


def unpacked_rows(x):
    head, *rows = np.outer(x[:3], x)
    rows[0][1] = 7
    return head, rows, rows[1].sum()


def too_few(x):
    try:
        a, b, *c, d = x[:2]
    except ValueError as error:
        return str(error)
    return a, b, c, d


@pytest.mark.parametrize("n", [9, 300])
@pytest.mark.parametrize("fn", [unpacked, unpacked_to_places, unpacked_rows, too_few])
def test_unpacking(fn: Callable[..., Any], n: int) -> None:
    x = np.random.default_rng(n).normal(size=n)
    compiled = fxc.compile(fn, fullgraph=fn is not too_few)
    for k in range(3):
        args = [x[k:].copy(), x[k:].copy()]
        assert difference(run(fn, args[:1]), run(compiled, args[1:])) == ""


# ------------------------------------------------------------------ what they are asked for


def kinds_by_their_methods(x):
    found, counts = [], {}
    for v in x:
        if v > 0:
            found.append(v)
        counts[int(v)] = counts.get(int(v), 0) + 1
    asked = ["items", "keys", "append", "at", "table", "session", "extend", "of", "length", "room"]
    return [[hasattr(each, name) for name in asked] for each in (found, counts)], len(found)


def the_items_of_either(x):
    found = [v for v in x if v > 0]
    return sum(getattr(found, "items", lambda: found)())


@pytest.mark.parametrize("fn", [kinds_by_their_methods, the_items_of_either])
def test_lists_and_dicts_have_the_attributes_of_pythons(fn: Callable[..., Any]) -> None:
    x = np.random.default_rng(3).normal(size=40)
    compiled = fxc.compile(fn, fullgraph=True)
    assert difference(run(fn, [x.copy()]), run(compiled, [x.copy()])) == ""


def added_in_place(items, x):
    """Python asks the array on the right first: a list on the left is none of its operands."""
    kept = items
    items += x
    return items, kept


def multiplied_in_place(items, x):
    kept = items
    items *= x
    return items, kept


def counted_with_arrays(values, x):
    found = [v for v in values if v > 0]
    kept = found
    found += x
    return found, kept, kept + x, kept * x, x * kept


def added_to_an_item(table, x):
    table["a"] += x
    return table


@pytest.mark.parametrize("x", [np.array([3.0, 4.0]), np.array(3), np.float64(0.5)])
@pytest.mark.parametrize("fn", [added_in_place, multiplied_in_place])
def test_operators_of_lists_with_arrays_are_numpys(fn, x):
    raising = fn is multiplied_in_place and not isinstance(x, np.ndarray)
    check(fn, ([1.0, 2.0], x), eager=2 if raising else 0)


def test_a_number_says_how_often_a_list_is_repeated():
    check(multiplied_in_place, ([1.0, 2.0], np.int64(2)), eager=0)


def test_lists_within_containers_and_of_counted_length_with_arrays():
    check(added_to_an_item, ({"a": [1, 2]}, np.array([3, 4])), eager=0)
    check(counted_with_arrays, (np.array([1.0, -1.0, 2.0]), np.array([3.0, 4.0])), eager=0)
    check(added_in_place, (deque([1.0, 2.0]), np.array([3.0, 4.0])), eager=0)


def typed_by_lists(values):
    made = [v + 1 for v in values]
    return np.zeros(2, np.result_type(made)), values[0]


def typed_by_a_list(values):
    return np.fft.rfft(values), np.result_type(values)


@pytest.mark.parametrize("fn", [typed_by_lists, typed_by_a_list])
def test_the_result_type_takes_a_list_for_a_dtype_whose_items_are_no_fields(fn):
    compiled = fxc.compile(fn)
    for size in (3, 5, 7):
        values = [0.5] * size
        assert not difference(run(fn, (values,)), run(compiled, (values,)))


def _stacked(x):
    places, found, twice = [], [], []
    for i in range(len(x)):
        if x[i] > 0.4:
            places.append(i)
            found.append(x[i])
            twice.append(x[i] * 2 if i else 1)
    both = np.array([places, found]), np.array((found, twice), np.float32).T
    rows = np.vstack([places, found]), np.hstack((found, places)), np.dstack((places, places))
    columns = np.column_stack((places, found)), np.c_[found, twice], np.stack([found, x[places]], 1)
    more = (
        np.concatenate([found, x, [1.0]]),
        np.array([[places], [places]]),
        np.mean([found, twice]),
    )
    return both, rows, columns, more, bool(found), bool([v for v in x if v > 9])


def test_lists_of_counted_length_in_arrays() -> None:
    compiled = fxc.compile(_stacked, fullgraph=True)
    for n in (40, 41, 90):
        x = np.random.default_rng(n).random(n)
        assert difference(run(_stacked, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0
    compiled = fxc.compile(_stacked)
    for x in (np.zeros(40), np.ones(41), np.zeros(0), np.zeros(41)):
        assert difference(run(_stacked, (x,)), run(compiled, (x,))) == ""


def test_lists_of_two_lengths_are_no_array() -> None:
    def program(x: Any) -> Any:
        some, others = [v for v in x if v > 0.5], [v for v in x if v > 0.2]
        return np.array([some, others])

    compiled = fxc.compile(program)
    for x in (np.ones(9), np.linspace(0, 1, 20), np.ones(30)):
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
