"""Variables that hold one dict or another, by a branch or a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def best_of_a_loop(x):
    best = None
    for i in range(len(x)):
        cost = (x[i] - 3) ** 2
        if best is None or cost < best["cost"]:
            best = {"cost": cost, "i": i, "x": x[:2] * i}
    return best


def perhaps_none(x):
    best = None
    for i in range(len(x)):
        if x[i] > 2 and (best is None or x[i] > best["v"]):
            best = {"v": x[i], "i": i}
    return best


def one_in_another(x):
    best = {"score": -1.0, "p": {"a": 0, "b": 0.0}}
    for i in range(len(x)):
        p = {"a": i, "b": x[i] * 2}
        if x[i] > best["score"]:
            best = {"score": x[i], "p": p}
    return best


def by_expressions(x):
    d = {"a": x, "n": 1} if x[0] > 0 else {"a": x * 2, "n": 2}
    e = {"a": x + 1} if x[1] > 2 else None
    return d, x if e is None else e["a"]


class Search:
    def __init__(self, x):
        self.x, self.best = x, None

    def run(self):
        for i in range(len(self.x)):
            cost = abs(self.x[i] - 2)
            if self.best is None or cost < self.best["cost"]:
                self.best = {"cost": cost, "i": i}
        return self.best


def of_an_object(x):
    search = Search(x)
    best = search.run()
    return best, search.best, best is search.best


def by_two_names(x):
    d = e = {"a": x, "n": 1}
    if x[0] > 0:
        d = {"a": -x, "n": 2}
    d["a"] += 1
    return d, e, d is e


def changed_by_the_other_name(x):
    d, e = {"a": x[0], "n": 1}, {"a": x[1], "n": 3}
    for i in range(len(x)):
        if x[i] > 2:
            d = e
        e["n"] += 1
    d.update(a=7.0)
    d |= {"n": d["n"] * 2}
    return d, e


def items_of_a_list(x):
    both = [{"a": x, "n": 1}, {"a": x * 2, "n": 2}]
    d = both[0]
    if x[0] > 0:
        d = both[1]
    d["n"] = 55
    return both


def read_as_a_dict(x):
    d = {"a": x, "n": 1}
    if x[0] > 0:
        d = {"a": x * 2, "n": 5}
    copies = {**d, "z": 1}, {k: 1 for k, v in d.items()}
    return copies, d == copies[0], len(d), list(d), "a" in d, d.get("q"), d.get("n")


def of_other_keys(x):
    d = {"a": 1, "b": x}
    if x[0] > 0:
        d = {"b": x * 2, "a": 2}
    return list(d), d


PROGRAMS: list[Callable[..., Any]] = [
    *(best_of_a_loop, perhaps_none, one_in_another, by_expressions, of_an_object, by_two_names),
    *(changed_by_the_other_name, items_of_a_list, read_as_a_dict, of_other_keys),
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[fn.__name__ for fn in PROGRAMS])
def test_as_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for k in (0, 2, 4, 9):
        x = np.arange(7.0) - k
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))
    info = compiled.cache_info()
    assert (info.eager_calls, info.variants) == (0, 1)


class Body:
    def __init__(self, x, n):
        self.x, self.n = x, n


def bodies_of(x: Any) -> Any:
    both = [Body(x, 1), Body(x * 2, 2)]
    body = both[0]
    for i in range(len(x)):
        if x[i] > 2:
            body = both[1]
        body.n += 1
    return both


def bodies_that_change(x: Any) -> Any:
    both = bodies_of(x)
    for i in range(len(x)):
        both[0 if x[i] > 2 else 1].x = x * i
    return both


def test_arrays_of_the_caller_are_themselves() -> None:
    """Objects that stand in arrays hold them, not copies."""
    compiled, x = fxc.compile(bodies_of, fullgraph=True), np.arange(5.0)
    found, expected = compiled(x), bodies_of(x)
    assert found[0].x is x
    assert not difference(
        run(lambda: [vars(b) for b in expected], ()), run(lambda: [vars(b) for b in found], ())
    )
    with pytest.raises(fxc.CaptureError, match="array of the caller's in some objects and changes"):
        fxc.compile(bodies_that_change, fullgraph=True)(x)


def keys_from_the_first_hit_on(x):
    best = {"gain": -np.inf}
    for i in range(len(x)):
        for j in range(i):
            if x[i] * x[j] > best["gain"]:
                best = {"pair": {"i": i, "j": j}, "gain": x[i] * x[j]}
    return best, "pair" in best, best.get("pair", 0)


def nothing_at_first(x):
    best, alias = {}, {"a": 1.0}
    other = alias
    for i in range(len(x)):
        if not best or x[i] > best["gain"]:
            best = {"gain": x[i], "row": x[:2] * i}
        if x[i] < -50:
            other = {"b": x[i]}
    alias["a"] = 5.0
    return best, other, alias


def an_array_of_another(x):
    buffer, held = np.zeros(2), None
    for i in range(len(x)):
        if x[i] > 40:
            held = {"v": buffer}
    if held:
        held["v"][0] = 9.0
    return held, buffer


@pytest.mark.parametrize("fn", [keys_from_the_first_hit_on, nothing_at_first])
def test_loops_carry_dicts_of_several_keys(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for n in (150, 151, 190):  # too many to be unrolled
        x = np.arange(float(n)) - 70
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))
    assert compiled.cache_info().variants == 1


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_write_to_an_array_that_a_carried_dict_holds() -> None:
    x = np.arange(150.0) - 70
    for sign in (1, -1):
        expected = run(an_array_of_another, (x * sign,))
        assert not difference(expected, run(fxc.compile(an_array_of_another), (x * sign,)))
    with pytest.raises(fxc.CaptureError, match="a write to an array that a loop"):
        fxc.compile(an_array_of_another, fullgraph=True)(x)
