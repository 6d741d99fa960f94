"""Capture has a budget that it keeps: what takes too long is refused at a line of the user's."""

from __future__ import annotations

import time

import numpy as np
import pytest

import fxc
from fxc.capture import capture as capturing
from fxc.capture.session.refusing import How
from tests.outcomes import difference, run

SECONDS = 4  # of processor time; the budget is two, and imports may be among it

pytestmark = pytest.mark.usefixtures("within_the_budget")


def quick(program, *args):
    """The compiled program, whose first call was quick and equal to NumPy's."""
    compiled = fxc.compile(program)
    before = time.thread_time()
    found = compiled(*args)
    spent = time.thread_time() - before
    np.testing.assert_array_equal(found, program(*args))
    assert spent < SECONDS, spent
    return compiled


def alive(table):
    count = 0
    for row in range(len(table)):
        for column in range(len(table)):
            if table[row][column] == 1:
                count += 1
    return count


def table_of(size):
    return [[(i * j) % 3 for i in range(size)] for j in range(size)]


def test_decisions_by_the_items_of_a_long_table():
    """A table of numbers of one type is an array, of any length; the items of others are read."""
    for size in (12, 64, 200):
        assert quick(alive, table_of(size)).cache_info().native_calls == 1
    long = table_of(64)
    long[3][4] = 1.0
    with pytest.warns(fxc.CaptureWarning, match="more than 20000 operations"):
        quick(alive, long)


class Tree:
    def __init__(self, depth):
        self.left = Tree(depth - 1) if depth else None
        self.right = Tree(depth - 1) if depth else None

    def count(self):
        return 1 + self.left.count() + self.right.count() if self.left else 1


def calls_that_record_nothing(x):
    return x + Tree(14).count()


def test_calls_count_that_record_nothing(monkeypatch):
    monkeypatch.setattr(capturing, "MOST_SECONDS", 0.2)
    with pytest.warns(fxc.CaptureWarning, match=r"more than 0\.2 seconds"):
        quick(calls_that_record_nothing, np.ones(3))


def test_another_table_than_the_array_that_was_taken():
    compiled = fxc.compile(alive, fullgraph=True)
    uneven, mixed = [[1, 1], [1]], [[1, 1.0], [2, 1]]
    tables = [table_of(64), table_of(65), [[1.0, 2.0], [1.0, 3.0]], uneven, mixed]
    for table in (*tables, *tables[::-1], [[True, False], [True, True]], [], [[]]):
        assert difference(run(alive, (table,)), run(compiled, (table,))) == ""


SQUARES = np.ones((2,) * 8 + (1,) * 56)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize(
    "program",
    [
        lambda x, i: x[(i,) * 63],
        lambda x, i: (x.T + x).sum(),
        lambda x, i: np.transpose(x, tuple(range(63, -1, -1))).reshape(-1) * 2,
        lambda x, i: x.sum(axis=tuple(range(0, 64, 2))),
        lambda x, i: x[(slice(None, None, -1),) * 64] + x,
        lambda x, i: x[x > 0],
    ],
    ids=["index arrays", "transpose", "ravel", "sum", "slices", "mask"],
)
def test_64_dimensions(program, dynamic):
    args = SQUARES, np.array([0, 0])
    before = time.thread_time()
    found = fxc.compile(program, dynamic=dynamic)(*args)
    assert time.thread_time() - before < SECONDS
    np.testing.assert_array_equal(found, program(*args))


def test_as_many_index_arrays_as_numpy_takes():
    compiled = fxc.compile(lambda x, i: x[(i,) * 64])
    with pytest.raises(IndexError, match="cannot be above 63, but 64 index arrays"):
        compiled(np.ones((1,) * 64), np.array([0]))


def test_a_thousand_chained_views():
    def program(x):
        for _ in range(1000):
            x = x[1:]
        x[0] = 3
        return x.sum()

    quick(program, np.ones(1010))


def test_the_time_of_all_attempts_is_counted(monkeypatch):
    monkeypatch.setattr(capturing, "MOST_SECONDS", -1)
    with pytest.raises(fxc.CaptureError, match="seconds to capture") as caught:
        fxc.compile(lambda x: x + 1, fullgraph=True)(np.ones(2))
    assert caught.value.location.file == __file__


class Sorter:
    def __init__(self):
        self.steps = 0

    def run(self, x):
        large, small = [], []
        for k in range(len(x)):
            self.steps += 1
            if x[k] > 0.5:
                large.append(k)
            else:
                small.append(x[k])
        return np.array(large), np.array([v for v in small if v > 0.1])


def _noted_attempts(monkeypatch):
    attempts, begun = [], capturing.begun

    def noted(*args):
        attempts.append(args)
        return begun(*args)

    monkeypatch.setattr(capturing, "begun", noted)
    return attempts


def test_an_attempt_finds_all_that_there_is_to_ask_for(monkeypatch):
    """Both lists, the place that the loop assigns and the number that varies, each in the loop."""
    attempts = _noted_attempts(monkeypatch)
    x, sorter, expected = np.linspace(0.0, 1.0, 20), Sorter(), Sorter()
    captured = capturing.capture(sorter.run, (x,), {})
    assert {str(each).partition(" ")[0] for each in captured.requests} == {"list", "self.steps"}
    assert len(attempts) == 2
    found, same = fxc.compile(Sorter.run, fullgraph=True)(sorter, x), expected.run(x)
    assert all(map(np.array_equal, found, same))
    assert sorter.steps == expected.steps == 20


class Item:
    def __init__(self, count):
        self.count = count


def taken_from(items, x):
    for k, item in enumerate(items):
        if x[k] > 2:
            item.count -= 1
    return sum(item.count for item in items)


def made_and_taken_from(items, x):
    return taken_from([Item(float(x.shape[0] + k)) for k in range(len(items))], x)


@pytest.mark.parametrize("program", [taken_from, made_and_taken_from])
def test_objects_do_not_take_an_attempt_each(program, monkeypatch):
    attempts = _noted_attempts(monkeypatch)
    x = np.arange(20.0)
    items, same = ([Item(k) for k in range(20)] for _ in range(2))
    assert fxc.compile(program, fullgraph=True)(items, x) == program(same, x)
    assert [each.count for each in items] == [each.count for each in same]
    assert len(attempts) < 9


def turned(links, steps):
    for _ in range(steps):
        for k in range(len(links)):
            links[k].count[0] += 0.1 * links[k - 1].count[0]


def test_numbers_that_loops_change_vary_from_the_next_attempt_on(monkeypatch):
    attempts = _noted_attempts(monkeypatch)
    links, same = ([Item([k + 1.0, 2.0]) for k in range(4)] for _ in range(2))
    fxc.compile(turned, fullgraph=True)(links, 300)
    turned(same, 300)
    assert [each.count for each in links] == [each.count for each in same]
    assert len(attempts) == 2


def counts_of(keys):
    counts = {}
    for key in keys:
        if key not in counts:
            counts[key] = 0
        counts[key] += 1
    return counts


def test_items_that_become_constants_do_not_take_an_attempt_each(monkeypatch):
    attempts = _noted_attempts(monkeypatch)
    keys = [float(k % 7) for k in range(20)]
    assert fxc.compile(counts_of, fullgraph=True)(keys) == counts_of(keys)
    assert len(attempts) < 12


def with_keys_by_conditions(x):
    known, more = {"n": 0}, {"n": 1}
    if x[0] > 0:
        more["m"] = 2
    if x[1] > 0:
        known["n"] = x[0]
        more["n"] = x[1]
    for v in x:
        if v > 3:
            known["large"] = v
            known["n"] += 1
    return known, more


def test_dicts_that_are_opened_are_called_what_they_were(monkeypatch):
    """What was asked for of one is so still: of all places, each is asked for once."""
    attempts = _noted_attempts(monkeypatch)
    x = np.arange(1.0, 7.0)
    captured = capturing.capture(with_keys_by_conditions, (x,), {})
    carried = {each.about for each in captured.requests if each.how is How.CARRIED}
    assert carried == {"dict()['n']", "dict()['large']", "dict() 2['n']", "dict() 2['m']"}
    assert len(attempts) <= 8
    compiled = fxc.compile(with_keys_by_conditions, fullgraph=True)
    for each in (x, -x, x[::-1].copy()):
        assert compiled(each) == with_keys_by_conditions(each)
