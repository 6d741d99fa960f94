"""Dicts and objects in lists that change afterwards: Note [Records]."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fxc

SIGNAL = np.array([0.5, -1.5, 2.0, 0.25, -0.5, 3.0, -2.0, 1.0, 0.125] * 2)


class Particle:
    mass = 2.0

    def __init__(self, x: float, v: float = 1.0) -> None:
        self.x = x
        self.v = v
        self.hits = 0

    def move(self, dt: float) -> Particle:
        self.x += self.v * dt
        self.hits += 1
        return self

    @property
    def energy(self) -> float:
        return 0.5 * self.mass * self.v**2

    @energy.setter
    def energy(self, value: float) -> None:
        self.v = value / self.mass

    @classmethod
    def at_rest(cls, x: float) -> Particle:
        return cls(x, 0.0)


@dataclass
class Event:
    time: float
    tries: int = 0
    cause: Any = None


def moved(x):
    found = [Particle.at_rest(v) if v < 0 else Particle(v) for v in x]
    for _ in range(3):
        for p in found:
            if p.move(0.5).x > 2.0:
                p.energy = p.energy + 1.0
    return found


def runs_of_signs(x):
    runs = []
    for v in x:
        if runs and runs[-1]["up"] == (v > 0):
            runs[-1]["n"] += 1
        else:
            runs.append({"up": v > 0, "n": 1})
    return runs


def changed_by_its_first_name(x):
    found = []
    for i, v in enumerate(x):
        p = {"x": 0.0, "i": i}
        found.append(p)
        p["x"] = v * 2
    return found


def in_two_lists(x):
    every, high = [], []
    for v in x:
        p = Particle(v)
        every.append(p)
        if v > 0.2:
            high.append(p)
    for p in high:
        p.x *= 3
    while len(high) > 2:
        high.pop().hits += 5
    return every, high


def the_best(x):
    best, found = None, []
    for v in x:
        found.append(Event(v))
    for e in found:
        if e.time > 0.3 and (best is None or e.time > best.time):
            best = e
    same = 0
    for e in found:
        if e is best:
            same += 1
        elif best is not None and e is not found[0]:
            e.tries -= 1
    if best is not None:
        best.tries = 9
    return best, same, found


def most_by_key(x):
    found = [Event(v) for v in x]
    found.sort(key=lambda e: e.time)
    top = max(found, key=lambda e: abs(e.time))
    found[0].tries, top.tries = 1, 2
    found[1], found[-1] = found[-1], found[1]
    return found, top, sorted(found, key=lambda e: e.time, reverse=True)[:2]


def chained(x):
    last, found = {"v": 0.0, "before": None}, []
    for v in x:
        last = {"v": v, "before": last}
        found.append(last)
    found[3]["before"]["v"] = 50.0
    return found


def in_one_another(x):
    found = []
    for v in x:
        found.append({"pos": {"x": v, "y": 0.0}, "n": 0})
    for p in found:
        p["pos"]["y"] += p["pos"]["x"]
        p["n"] += 1
    found[0]["pos"] = found[1]["pos"]
    return found


def causes(x):
    found = []
    for v in x:
        found.append(Event(v))
        if len(found) > 1 and v > 0:
            found[-1].cause = found[-2]
    count = 0
    for e in found:
        if e.cause is not None and e.cause.time < 0:
            count += 1
            e.cause.tries += 1
    return found, count


def retried(x):
    queue, done = deque(), []
    for v in x:
        queue.append({"t": v, "tries": 0})
    while queue:
        e = queue.popleft()
        e["tries"] += 1
        if e["tries"] < 3 and e["t"] > 0:
            queue.append(e)
        else:
            done.append(e)
    return done


def replaced(x):
    found = []
    for v in x:
        found.append(Event(v))
    first = found[0]
    for i in range(len(found)):
        if found[i].time > 0:
            found[i] = Event(0.0, 7)
        found[i].tries += 1
    first.tries += 100
    return found, first


def of_several_kinds(x):
    found = []
    for _ in x:
        found.append({"x": 0, "name": None, "flag": False})
    for i, p in enumerate(found):
        if x[i] > 0:
            p["x"], p["name"] = x[i], "up"
        elif x[i] < -1:
            p["x"], p["flag"] = 1.5, True
    return found


def read_as_dicts(x):
    found, total = [], 0.0
    for v in x:
        found.append({"x": v, "n": 0})
    for p in found:
        p["n"] += 1
        total += p.get("x", 0) + p.get("z", 1.0) + len(p)
        for name, value in p.items():
            total += value if name in p else 0
    return total, dict(found[0]), {**found[1], "n": 5}, found


def linked_later(x):
    found = []
    for v in x:
        found.append({"x": v, "next": None})
    for i, p in enumerate(found):
        if p["x"] > 1:
            p["next"] = found[-1 - i]
    return found


def many_times(x):
    found, p = [], {"a": 1.0}
    for v in x:
        if v > 0:
            found.append(p)
            p["a"] += v
    return found


def with_arrays(x):
    found = []
    for v in x:
        found.append({"pos": np.array([v, 0.0]), "vel": np.ones(2)})
    for p in found:
        p["pos"] = p["pos"] + p["vel"] * 0.5
    return found


def none_of_them(x):
    found = []
    for v in x:
        if v > 100:
            found.append(Event(v))
    for e in found:
        e.tries += 1
    return found, len(found)


CAPTURED = [
    *(moved, runs_of_signs, changed_by_its_first_name, in_two_lists, the_best, most_by_key),
    *(chained, in_one_another, causes, retried, replaced, of_several_kinds, read_as_dicts),
    *(linked_later, many_times, with_arrays, none_of_them),
]


def new_key(x):
    found = runs_of_signs(x)
    found[0]["more"] = 1
    return found


def compared(x):
    found = [Event(v) for v in x]
    found[0].tries += 1
    return found[0] == found[1], found


def raised(x):
    found = [Event(v) for v in x]
    for i, e in enumerate(found):
        e.tries += 1
        x[i] = e.tries
        if e.time > 2:
            raise ValueError(found[0].tries)
    return found


def seen(tree: Any, known: dict[int, tuple[int, Any]]) -> Any:
    """What a result is, and which of its objects are one."""
    if isinstance(tree, float | int | str | np.generic | None):
        return type(tree), repr(tree)
    if id(tree) in known:
        return known[id(tree)][0]
    known[id(tree)] = len(known), tree
    if isinstance(tree, np.ndarray):
        return tree.dtype, tree.tobytes()
    held = tree if isinstance(tree, dict | list | tuple) else vars(tree)
    items = [*held.items()] if isinstance(held, dict) else held
    return type(tree), len(held), [seen(each, known) for pair in items for each in _parts(pair)]


def _parts(x: Any) -> tuple[Any, ...]:
    return x if type(x) is tuple else (x,)


def outcome(fn: Callable[..., Any], x: np.ndarray) -> Any:
    given = x.copy()
    try:
        return seen((fn(given), given), {})
    except ValueError as error:
        return repr(error), given.tobytes()


@pytest.mark.parametrize("fn", CAPTURED, ids=lambda fn: fn.__name__)
def test_what_is_stored_by_one_name_is_read_by_the_others(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for signal in (SIGNAL, np.roll(SIGNAL, 4), -SIGNAL):
        assert outcome(compiled, signal) == outcome(fn, signal)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", [new_key, compared, raised], ids=lambda fn: fn.__name__)
def test_what_records_cannot_do_is_left_to_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for _ in range(2):
        assert outcome(compiled, SIGNAL) == outcome(fn, SIGNAL)


def test_the_items_of_a_long_list_are_one_loop() -> None:
    compiled = fxc.compile(moved, fullgraph=True)
    assert len(compiled.inspect(np.resize(SIGNAL, 1000)).captured.nodes) < 50


def test_both_arms_of_an_expression_may_be_the_first_to_append() -> None:
    def appended(x):
        found = []
        found.append(1.0) if x[0] > 0 else found.append(2.0)
        return found

    compiled = fxc.compile(appended, fullgraph=True)
    assert compiled(SIGNAL) == [1.0]
    assert compiled(-SIGNAL) == [2.0]
