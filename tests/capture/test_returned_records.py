"""Named tuples, dicts and objects that branches and loops make and return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class Root(NamedTuple):
    x: Any
    steps: int

    def longer(self) -> int:
        return self.steps + 1


@dataclass
class Report:
    x: Any
    ok: bool
    notes: tuple[Any, ...] = ()


@dataclass(frozen=True)
class State:
    x: Any
    t: float


def _states(x, n):
    s = State(x, 0.0)
    for k in range(n):
        s = State(s.x + 1, s.t + 0.1) if s.x[0] < 3 else s
        if s.x[1] > 5:
            return s, k
    return s, -1


def _replaced(x, n):
    s = State(x, 0.0)
    while s.t < 0.1 * n:
        s = replace(s, x=s.x * 0.9, t=s.t + 0.1)
    return s


def _scaled(x, **options):
    options.setdefault("by", 2.0)
    options["first"] = options["by"] * x[0]
    return x * options["first"]


def _with_options(x, n):
    s = State(x, 0.0)
    for k in range(n):
        s = replace(s, x=s.x * 0.5) if s.x[0] > 0.5 else State(s.x + 0.1, s.t + k)
        if s.t > 3:
            return replace(s, t=-1.0)
        x = _scaled(x, by=0.5) if x[0] > 0.5 else _scaled(x)
    return s, x


def _exchanged(x, n):
    pair = Root(x, np.zeros(6))
    for _ in range(n):
        pair.steps[:] = pair.x * 0.5
        pair = Root(pair.steps, pair.x)
    return pair.x


def _dicts(x, n):
    for k in range(n):
        x = x * 0.9
        if x[0] < 0.1:
            return {"x": x, "k": k}
    return {"x": x, "k": -1}


def _dict_or_none(x, n):
    for k in range(n):
        x = x * 0.9
        if x[0] < 0.1:
            return {"x": x, "k": k}
    return None


def _objects(x, n):
    for _ in range(n):
        x = x * 0.9
        if x[0] < 0.1:
            return Report(x, True)
    return Report(x, False)


def _named(x, n):
    best = Root(x, 0)
    for k in range(n):
        y = best.x * 0.9
        if y[1] > 0.2:
            best = Root(y, k)
        elif y[1] > 0.1:
            best = best._replace(steps=-k)
    return best, best.longer(), best._asdict()


def _secant(x, n):
    a, b = x[0], x[1] + 2
    for k in range(n):
        a, b = b, b - (b * b - 2) * (b - a) / (b * b - a * a)
        if abs(b * b - 2) < 1e-9:
            return Root(b, k)
    return Root(b, -1)


def _nested(x, n):
    if x[0] > 0.5:
        return {"x": x, "inner": {"a": x[1], "b": (1, 2)}, "r": Root(x[2], 1)}
    return {"x": x + 1, "inner": {"a": x[2], "b": (3, n)}, "r": Root(x[1], 0)}


def _made_before(x, n):
    kept = {"x": x, "n": n}
    if x[0] > 0.5:
        return kept
    return {"x": x + 1, "n": 0}


def _of_a_helper(x, n):
    def signed(v):
        if v > 0.5:
            made = {"v": v, "s": 1}
            return made
        return {"v": -v, "s": 0}

    total = 0.0
    for k in range(n):
        found = signed(x[k % 6])
        total += found["v"] * found["s"]
        found["s"] = 5
    one, two = signed(x[0]), signed(x[1])
    one["more"] = n
    return total, one, two, [one, two]


PROGRAMS = [
    *(_dicts, _dict_or_none, _objects, _named, _secant, _nested, _made_before, _of_a_helper),
    *(_states, _replaced, _with_options, _exchanged),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_has_items_is_joined_item_by_item(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (10, 0, 1, 2, 40):
        for first in (0.2, 0.9):
            calls = [(np.linspace(first, 0.3, 6), n) for _ in range(2)]
            expected, found = run(program, calls[0]), run(compiled, calls[1])
            assert difference(expected, found) == "", (n, first)
            assert type(found.result) is type(expected.result)
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)


def _one_dict_twice(x, c):
    if x[0] > c:
        made = {"x": x[0]}
        return made, made
    made = {"x": -x[0]}
    return made, made


def _known_elsewhere(x, c):
    cache = {}

    def found(v):
        made = {"v": v}
        cache["last"] = made
        if v > c:
            return made
        return {"v": -v}

    return found(x[0]), cache


def _stored(x, c):
    kept = {}
    if x[0] > c:
        made = Report(x[0], True)
        kept["last"] = made
        return made, kept
    return Report(x[1], False), kept


def _listed(x, c):
    kept = []
    if x[0] > c:
        made = {"v": x[0]}
        kept.append(made)
        return made, kept
    return {"v": x[1]}, kept


def _inside(x, c):
    kept = Report(x, True)
    if x[0] > c:
        part = Report(x[0], True)
        kept.x = part
        return {"part": part}, kept
    kept.x = part = Report(x[1], False)
    return {"part": part}, kept


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    ("program", "is_one"),
    [
        (_known_elsewhere, lambda made, kept: made is kept["last"]),
        (_stored, lambda made, kept: made is kept.get("last")),
        (_listed, lambda made, kept: any(made is each for each in kept)),
        (_inside, lambda made, kept: made["part"] is kept.x),
    ],
)
def test_what_is_returned_may_be_held_elsewhere(program: Any, is_one: Any) -> None:
    compiled = fxc.compile(program)
    for x in (np.ones(3), -np.ones(3), np.ones(3)):
        assert is_one(*compiled(x, 0.5)) == is_one(*program(x, 0.5))


def test_which_dict_it_is_is_not_forgotten() -> None:
    compiled = fxc.compile(_one_dict_twice, fullgraph=True)
    for x in (np.ones(3), -np.ones(3), np.ones(3)):
        one, other = compiled(x, 0.5)
        assert one is other
        assert one == _one_dict_twice(x, 0.5)[0]


class Result(dict[str, Any]):
    """A dict whose items are attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    def both(self):
        return self["x"] + self.s


class Bunch(dict[str, Any]):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__  # type: ignore[assignment]


class Strange(Result):
    kind = "strange"

    def __len__(self):
        return 42

    def __missing__(self, key):
        return 5


class Filled(dict[str, Any]):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = 3
        self["more"] = 1


class Attributes(dict[str, Any]):
    def __init__(self, *args, **kwargs):
        dict.__init__(self, *args, **kwargs)
        self.__dict__ = self


def _with_init(x):
    r = Filled((k, np.zeros(3)) for k in ("a", "b"))
    for j in range(3):
        r["a"][j] = x[j]
    return r


def _items_that_are_attributes(x):
    a = Attributes(x=x, n=0)
    a.y = x * 2
    a["z"] = a.y + 1
    for _ in range(20):
        a.n += 1
        a["n"] += 1
    if x[3] > 4:
        a["n"] = a.n + x[1]
    return a, a.z.sum(), a.n


def _with_items(x):
    r = Result(s=x.sum(), x=x)
    r["c"] = r.s + 1
    return r, r.both(), r.get("none", 3), "c" in r, list(r), type(r) is Result


def _with_attributes(x):
    b = Bunch()
    b.x = x * 2
    b.y = b.x.sum() + (b.nothing is None)
    return [b, b]


def _with_methods(x):
    d = Strange({"x": x})
    d.z = 3
    for i in range(10):
        d["n"] = i + x[i]
    return d, len(d), d["gone"], d.kind, {**d}


def _changed_by_a_condition(x):
    r = Result(s=0.0, n=0)
    for v in x:
        if v > 3:
            r["s"] += v
            r["n"] += 1
    return r


def _without_one(x):
    return Result(x=x).s


@pytest.mark.parametrize(
    "program",
    [
        *(_with_items, _with_attributes, _with_methods, _changed_by_a_condition, _without_one),
        *(_with_init, _items_that_are_attributes),
    ],
)
def test_dicts_of_a_class(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=program is not _without_one)
    for x in (np.arange(20.0), np.arange(20.0)[::-1].copy()):
        expected, found = run(program, (x,)), run(compiled, (x,))
        assert difference(expected, found) == ""
        if program is _without_one:
            continue
        pairs = [
            (each, other)
            for each, other in zip(
                *(y if type(y) in (tuple, list) else [y] for y in (expected.result, found.result)),
                strict=True,
            )
            if isinstance(each, dict)
        ]
        assert pairs
        for each, other in pairs:
            assert type(each) is type(other)
            assert list(dict.keys(each)) == list(dict.keys(other))
            if type(each) is not dict:
                assert list(vars(each)) == list(vars(other))
                assert (vars(each) is each) == (vars(other) is other)


@dataclass
class Row:
    x: Any


def _of_rows(x):
    return [Row(x[k]) for k in range(len(x))]


def _of_one_array(x):
    return [Row(x) for _ in range(len(x))]


def _of_rows_in_dicts(x):
    found = [{"row": row, "k": k} for k, row in enumerate(x)]
    return found[1], found


@pytest.mark.parametrize("program", [_of_rows, _of_rows_in_dicts, _of_one_array])
def test_objects_in_a_list_hold_the_arrays_of_the_caller(program: Callable[..., Any]) -> None:
    """At the second size they held copies."""
    compiled = fxc.compile(program)
    for n in (3, 3, 4, 5, 20):
        x, y = np.ones((n, 2)), np.ones((n, 2))
        assert difference(run(program, (x,)), run(compiled, (y,))) == ""
