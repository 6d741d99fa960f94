"""Classes of named tuples that a function makes: each call has another one, as in Python."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check

X = np.linspace(-1.0, 2.0, 40)


def summary(x):
    Result = namedtuple("Result", "mean spread")
    return Result(x.mean(), x - x.mean())


def of_a_list(x):
    Result = namedtuple("Result", ["low", "high", "low"], rename=True, defaults=(None, 3))
    return [Result(x.min()), Result(x.max(), high=2)], Result, Result._fields


def by_a_condition(x):
    Best = namedtuple("Best", "value place", module="elsewhere")
    best = None
    for k in range(len(x)):
        if best is None or x[k] > best.value:
            best = Best(x[k], k)
    return best


def counted(x):
    Row = namedtuple("Row", "a b")
    return [Row(each, each * 2) for each in x if each > 0]


def methods(x):
    Pair = namedtuple("Pair", "a b")
    pair = Pair._make([x, 1])._replace(a=x + 1)
    return pair, pair._asdict(), Pair._fields, type(pair) is Pair, pair._fields


def make(*names):
    return namedtuple("Made", names)


def by_a_helper(x):
    One, Other = make("a"), make("a")
    return One(x[0]), Other(x[1]), One is Other, isinstance(One(1), Other)


def named(x, name):
    return namedtuple(name, "a")(x)


def shape_of(x: Any) -> Any:
    """A result with the names of classes in their place."""
    if isinstance(x, type):
        return x.__mro__[1:], x.__name__, x.__qualname__, x.__module__, x._field_defaults
    if isinstance(x, tuple | list):
        return shape_of(type(x)) if hasattr(x, "_fields") else type(x), *map(shape_of, x)
    return repr(x)


@pytest.mark.parametrize("fn", [summary, of_a_list, by_a_condition, counted, methods, by_a_helper])
def test_classes_that_a_function_makes(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in (X, X + 0.25, X, X * 2, X):
        assert shape_of(compiled(x)) == shape_of(fn(x))
    assert compiled.cache_info().eager_calls == 0


def test_each_call_has_a_class_of_its_own() -> None:
    compiled = fxc.compile(summary, fullgraph=True)
    assert len({type(compiled(X)) for _ in range(5)}) == 5
    (one, other), kind, _ = fxc.compile(of_a_list, fullgraph=True)(X)
    assert type(one) is type(other) is kind


def test_what_outlives_the_call_has_the_class_of_the_call() -> None:
    def keep(x: Any, box: dict[str, Any]) -> Any:
        kind = namedtuple("Kept", "a b")
        box["kind"], box["made"] = kind, kind(x, 1)
        return kind(x * 2, 2)

    compiled, boxes = fxc.compile(keep, fullgraph=True), [dict[str, Any](), dict[str, Any]()]
    for box in boxes:
        assert type(compiled(X, box)) is box["kind"] is type(box["made"])
        assert box["made"].a is X
    assert boxes[0]["kind"] is not boxes[1]["kind"]


@pytest.mark.parametrize("name", ["1st", "class"])
def test_names_that_cannot_be_raise_as_in_python(name: str) -> None:
    check(named, (X, name))


def in_a_loop(x):
    for k in range(100):
        if x[k % 40] > 5:
            return namedtuple("Found", "a")(k)
    return x.sum()


def test_a_class_by_a_condition_on_data_is_left_to_python() -> None:
    with pytest.raises(fxc.CaptureError, match=r"a call of collections\.namedtuple"):
        fxc.compile(in_a_loop, fullgraph=True)(X)
