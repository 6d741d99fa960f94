"""What lists whose length depends on data may hold beside numbers: Note [Records in lists]."""

from __future__ import annotations

import copy
from collections import deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

SIGNAL = np.array([0.5, -1.5, 2.0, 0.25, -0.5, 3.0, -2.0, 1.0, 0.125])


@dataclass(eq=False)
class Node:
    x: float
    y: float
    parent: int | None = None


@dataclass
class Hit:
    place: int
    height: float
    label: str = "above"


Pair = namedtuple("Pair", "place height")


def trades(x):
    out, held = [], False
    for i in range(len(x)):
        if not held and x[i] > 0:
            held = True
            out.append(("buy", i, x[i]))
        elif held and x[i] < 0:
            held = False
            out.append(("sell", i, x[i]))
    return out


def sold(x):
    total = 0.0
    for action, _, price in trades(x):
        if action == "sell":
            total += price
    return total, [i for action, i, _ in trades(x) if action == "buy"]


def texts(x):
    return ["up" if v > 0 else "down" for v in x if abs(v) > 0.3]


def one_text(x):
    out = []
    for v in x:
        if v > 0:
            out.append("x")
    return out, len(out)


def nones(x):
    out = []
    for v in x:
        out.append(v if v > 0 else None)
    for v in x:
        if v > 2:
            out.append(0)
    return out, [v for v in out if v is not None]


def bools_and_ints(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append(True)
        else:
            out.append(i)
    return out


def widened(x):
    out = [("start", 0, 0.0)]
    for i, v in enumerate(x):
        if v > 0:
            out.append(("mid", i, v))
    out.append(("end", None, 2))
    return out


def dicts(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            size = "big" if v > 1 else "small"
            out.append({"i": i, "v": v, "f": float(v), "size": size, "both": (v, -v), "all": x * v})
    return out, sum(row["v"] * row["i"] for row in out)


def objects(x):
    out = [Node(0.0, 0.0)]
    for i, v in enumerate(x):
        if v > 0:
            out.append(Node(v, float(i), i))
    return out


def dataclasses(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append(Hit(i, v))
        elif v < -1:
            out.append(Hit(i, v, "below"))
    return out


def named(x):
    return [Pair(i, v) for i, v in enumerate(x) if v > 0]


def lists(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append([i, v])
    return out, np.array(out), sum(a * b for a, b in out)


def length_of_array(x):
    pairs = np.array([(i, i + 1) for i in range(len(x)) if x[i] > 0])
    return len(pairs), np.zeros(len(pairs)), pairs.size


def merged(x):
    out = []
    for v in x:
        if not out or v > out[-1][1]:
            out.append([v, v + 1])
        else:
            out[-1] = [out[-1][0], max(out[-1][1], v)]
    return out


def tree(x):
    nodes = [Node(0.0, 0.0)]
    for v in x:
        near = nodes[len(nodes) // 2]
        new = copy.deepcopy(near)
        new.x += v
        new.parent = len(nodes) // 2
        if v > 0.2:
            nodes.append(new)
    return [[n.x, n.y] for n in nodes], [n.parent for n in nodes]


def stack(x):
    todo, total = [Node(1.0, 0.0, 0)], 0.0
    while todo:
        node = todo.pop()
        total += node.x
        if node.parent < 4 and x[node.parent] > -2:
            todo.append(Node(node.x * 0.5, node.y, node.parent + 1))
            todo.append(Node(node.x * 0.25, node.y, node.parent + 1))
    return total


def queue(x):
    todo, total = deque([{"i": 0, "depth": 0}]), 0
    while todo:
        row = todo.popleft()
        total += row["depth"]
        if row["i"] + 1 < len(x) and x[row["i"]] > -1:
            todo.append({"i": row["i"] + 1, "depth": row["depth"] + 1})
    return total


def by_key(x):
    table = []
    for i, v in enumerate(x):
        if v > 0:
            table.append({"i": i, "v": v})
    return sorted(table, key=lambda row: -row["v"])


def by_keys(x):
    table = [(i, round(v)) for i, v in enumerate(x) if abs(v) > 0.3]
    down = sorted(table, key=lambda row: row[1], reverse=True)
    return down, sorted(table, key=lambda row: (row[1], -row[0]))


def tuples_in_order(x):
    table = [(round(v), i) for i, v in enumerate(x) if abs(v) > 0.3]
    table.sort(reverse=True)
    return sorted(table), table


def two_loops(x):
    pairs = [(i, j) for i in range(1, len(x)) for j in range(i) if x[i] > x[j]]
    return pairs, [[v, w] for v in x if v > 0 for w in x if w < v]


def replaced(x):
    state, path = [5.0, 0.0, 0.0], []
    for v in x:
        rates = [0.5 * state[0], 0.2 * state[1], state[2]]
        if sum(rates) > 40 and v > 1:
            break
        state = [a + b * v for a, b in zip(state, (1, -1, 2), strict=True)]
        path.append((v, *state))
    first, *_ = state
    return state, path, first


def exchanged(x):
    a, b = [0.0, 1.0], [2.0, 3.0]
    for v in x:
        c = [a[0] + v, b[1]]
        a = [c[1], c[0] * 2]
        b = [v, a[0]]
    p, q = a
    return p, q, a, b


def replaced_by_a_condition(x):
    state = old = [1.0, 2.0]
    for v in x:
        if v > 0:
            state = [state[1] + v, state[0]]
        else:
            state[1] += v
    return state, old


def listed_again(x):
    nodes, total = [Node(0.0, 0.0)], 0
    for v in x:
        far = [(n.x - v) ** 2 + n.y for n in nodes]
        nearest = far.index(min(far))
        total += nearest
        if v > 0:
            nodes.append(Node(v, nodes[nearest].y + 1.0, nearest))
    return total, [n.parent for n in nodes]


@pytest.mark.parametrize(
    "fn",
    [
        *(replaced, exchanged, listed_again),
        *(trades, sold, texts, one_text, nones, bools_and_ints, widened, dicts, objects),
        *(dataclasses, named, lists, length_of_array, merged, tree, stack, queue, by_key, by_keys),
        *(tuples_in_order, two_loops),
    ],
    ids=lambda fn: fn.__name__,
)
def test_captured(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (SIGNAL, -SIGNAL, SIGNAL[::-1].copy()):
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def changed(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            row = {"i": i, "v": v}
            out.append(row)
            row["v"] = 7.0
    return out


def last_changed(x):
    out = []
    for i, v in enumerate(x):
        if v > 0 or not out:
            out.append({"start": i, "n": 1})
        else:
            out[-1]["n"] += 1
    return out


def attribute_changed(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append(Node(i, v))
    for node in out:
        node.x = 5
    return out


def row_changed(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append([i, v])
    out[0][0] = 9
    out[-1].append(4)
    return out


def kept_beside(x):
    out, last = [], [0, 0.0]
    for i, v in enumerate(x):
        if v > 0:
            last = [i, v]
            out.append(last)
        else:
            last[0] += 1
    return out, last


def returned_beside(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append(Node(i, v))
    return out, out[0]


def shared_by_two(x):
    table = []
    for i, v in enumerate(x):
        if v > 0:
            table.append({"i": i, "v": v})
    return table, sorted(table, key=lambda row: -row["v"])


def one_many_times(x):
    out, row = [], {"a": 1.0}
    for v in x:
        if v > 0:
            out.append(row)
    return out


def compared(x):
    out = []
    for i, v in enumerate(x):
        if v > 0:
            out.append(Node(i, v))
    return out[0] is out[0], out[0] == out[-1], out[0] in {out[-1]}


def test_what_shows_which_object_it_is_is_left_to_python() -> None:
    with pytest.raises(fxc.CaptureError):
        fxc.compile(compared, fullgraph=True)(SIGNAL)
    compiled = fxc.compile(compared)
    for _ in range(2):
        assert not difference(run(compared, (SIGNAL,)), run(compiled, (SIGNAL,)))


@pytest.mark.parametrize("fn", [row_changed, kept_beside, replaced_by_a_condition])
def test_lists_that_are_told_apart(fn: Callable[..., Any]) -> None:
    """They are those of a pool."""
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (SIGNAL, -SIGNAL):
        assert not difference(run(fn, (x,)), run(compiled, (x,)))
        (left, right), (one, other) = fn(x)[:2], compiled(x)[:2]
        assert [left is right, left[-1] is right] == [one is other, one[-1] is other]
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_an_item_beside_its_list_is_the_same_object() -> None:
    out, first = fxc.compile(returned_beside)(SIGNAL)
    assert first is out[0]
    table, ordered = fxc.compile(shared_by_two)(SIGNAL)
    assert all(any(row is each for each in table) for row in ordered)


def copied_and_returned(start, x):
    states, best = [copy.deepcopy(start)], None
    for v in x.tolist():
        state = copy.deepcopy(states[-1])
        state["at"] += v
        states.append(state)
        if best is None or state["at"] > best["at"]:
            best = state
    return states, best


def test_copies_of_what_has_become_a_record() -> None:
    """Of a dict from outside that is a record: it was asked for items as a dict of Python's."""
    given = {"at": 0.0, "n": 1}, np.tile(SIGNAL, 5)
    compiled = fxc.compile(copied_and_returned, fullgraph=True)
    assert not difference(run(copied_and_returned, given), run(compiled, given))
