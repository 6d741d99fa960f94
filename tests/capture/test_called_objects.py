"""Objects that NumPy's functions and Python's call for the program: their code is captured, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class Folded:
    def __call__(self, a: Any) -> Any:
        return -a if a < 3 else a


class Joined:
    def __call__(self, a: Any, b: Any) -> Any:
        return a + b if a > b else a - b


class Scaled:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __call__(self, x: Any) -> Any:
        return x * 2 if x.sum() > self.limit else x + 1


folded, joined, scaled = Folded(), Joined(), Scaled(3.0)
total = fxc.compile(np.sum)


@fxc.compile
def ends_of(v):
    return v.sum() if v[0] > 0 else v.min()


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "map": lambda x: list(map(folded, x)),
    "sorted": lambda x: sorted([x[0], x[3], x[2]], key=folded),
    "reduce": lambda x: functools.reduce(joined, x),
    "max": lambda x: (max(x[:3], key=folded), min(list(x), key=folded)),
    "a list of calls": lambda x: ([scaled(x), scaled(-x)], list(map(scaled, [x, -x]))),
    "compiled, over axes": lambda x: np.apply_over_axes(total, x.reshape(2, 3), [0, 1]),
    "compiled, along an axis": lambda x: np.apply_along_axis(ends_of, 1, x.reshape(2, 3)),
    "compiled, by pieces": lambda x: np.piecewise(x, [x < 3, x >= 3], [ends_of, lambda v: v * 2]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_called_for_the_program(name: str) -> None:
    program = PROGRAMS[name]
    compiled = fxc.compile(program, fullgraph=True)
    for x in (np.arange(1.0, 7.0), np.array([5.0, 1.0, -2.0, 8.0, 3.0, 3.0])):
        assert difference(run(program, [x.copy()]), run(compiled, [x.copy()])) == ""


def not_given(x: Any, scale: Any = np._NoValue) -> Any:
    return scale != np._NoValue, scale == np._NoValue, scale is np._NoValue, x + 1


def test_numpys_object_for_what_is_not_given() -> None:
    x = np.ones(3)
    compiled = fxc.compile(not_given, fullgraph=True)
    assert difference(run(not_given, [x]), run(compiled, [x])) == ""
    assert difference(run(not_given, [x, 2.0]), run(compiled, [x, 2.0])) == ""


def _unbound(x: Any, seen: Any) -> Any:
    found: list[Any] = []
    list.append(found, x * len(set.union({9.0}, seen)))
    set.discard(seen, 2.0)
    words = sorted(map(str.upper, ["b", "A"]), key=str.lower)
    shown = [str.zfill(str(int(v)), 3) for v in x]
    return found, words, shown, dict.get({"a": x}, "a"), float.is_integer(2.0), len(seen)


def test_methods_of_pythons_classes_are_called_by_the_class() -> None:
    compiled = fxc.compile(_unbound, fullgraph=True)
    for seen in ({1.0, 2.0}, {2.0, 3.0, 4.0}, {1.0}):
        ours, x = set(seen), np.arange(3.0)
        assert difference(run(_unbound, (x, seen)), run(compiled, (x, ours))) == ""
        assert ours == seen


class _Shouting(dict[str, int]):
    def get(self, *args: Any) -> int:
        return 7


def test_a_method_of_the_class_itself_is_not_that_of_its_base() -> None:
    compiled = fxc.compile(lambda x, d: (dict.get(d, "a"), x * d.get("a")))
    with pytest.warns(fxc.CaptureWarning):
        assert compiled(2.0, _Shouting(a=1)) == (1, 14.0)


def _named(p: Any, x: Any) -> Any:
    p.calls = getattr(p, "calls", 0) + 1
    p.text = f"{p.func.__name__} of {getattr(p, 'unit', None)}"
    return p(x), hasattr(p, "label"), p


def test_partials_from_outside_have_attributes() -> None:
    """They are taken apart where they are called."""
    compiled = fxc.compile(_named, fullgraph=True)
    for attributes in ({}, {"calls": 4}, {"label": "a", "unit": "m"}, {"calls": 5}):
        made = [functools.partial(np.add, 1.5) for _ in range(2)]
        for each in made:
            vars(each).update(attributes)
        found = [f(p, 2.0) for f, p in zip((_named, compiled), made, strict=True)]
        assert found[0][:2] == found[1][:2]
        assert found[1][2] is made[1]
        assert vars(made[0]) == vars(made[1])
