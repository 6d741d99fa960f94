"""Objects from outside of classes that are made of ``dict`` and keep its items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class Plain(dict[str, Any]):
    unit: int

    def twice(self) -> Any:
        return self["a"] * 2

    def behind(self, x: Any) -> Any:
        super().__setitem__("z", x)
        return super().get("a") + super().__getitem__("b")

    def begin(self, x: Any) -> None:
        super().__init__({"p": x}, a=x + 1)

    @property
    def with_unit(self) -> Any:
        return self["a"] + self.unit


class Open(dict[str, Any]):
    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Found(dict[str, Any]):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Itself(dict[str, Any]):
    def __init__(self, **items: Any) -> None:
        super().__init__(**items)
        self.__dict__ = self


class Other(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return 3


def reads(d: Any, x: Any) -> Any:
    found = x * d["a"] + d.get("c", 1)
    return found, "b" in d, len(d), list(d), d.copy(), {**d}, [v + 1 for v in d.values()]


def changes(d: Any, x: Any) -> Any:
    d["c"] = x * 2
    d.update(e=x)
    return d.pop("b"), d.setdefault("a", 3), d


def classes(d: Any, x: Any) -> Any:
    return isinstance(d, dict), type(d) is dict, isinstance(d, Open), hasattr(d, "unit"), x + 1


def of_its_class(d: Any, x: Any) -> Any:
    return d.twice() + x, d.behind(x), d.with_unit, d.begin(x)


def attributes(d: Any, x: Any) -> Any:
    d.c = d.a * x
    d.a = d.c + 1
    return d.c, hasattr(d, "q")


def _made(kind: Callable[..., Any]) -> Any:
    made = kind(a=np.ones(3), b=2)
    vars(made).update({"unit": 3} if kind is Plain else {})
    return made


@pytest.mark.parametrize(
    ("program", "kinds"),
    [
        (reads, (Plain, Open, Found)),
        (changes, (Plain, Open, Found)),
        (classes, (Plain, Open)),
        (of_its_class, (Plain,)),
        (attributes, (Open, Found)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_items_and_attributes_are_as_pythons(program: Any, kinds: Any) -> None:
    for kind in kinds:
        compiled = fxc.compile(program, fullgraph=True)
        for _ in range(2):
            want, got = (run(each, [_made(kind), np.arange(3.0)]) for each in (program, compiled))
            assert not difference(want, got)


def test_an_attribute_of_its_own_goes_before_a_method() -> None:
    def first(d: Any) -> Any:
        return d.get

    def second(d: Any, x: Any) -> Any:
        return d.get("a") + x

    compiled, made = fxc.compile(second, fullgraph=True), _made(Plain)
    assert compiled(made, 1).tolist() == [2, 2, 2]
    vars(made)["get"] = lambda name: len(name)
    assert compiled(made, 1) == 2
    vars(made)["get"] = 5
    assert fxc.compile(first, fullgraph=True)(made) == 5


def test_a_method_of_the_class_that_is_replaced_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(d: Any) -> Any:
        return d.twice()

    compiled, made = fxc.compile(twice, fullgraph=True), _made(Plain)
    assert compiled(made).tolist() == [2, 2, 2]
    monkeypatch.setattr(Plain, "twice", lambda self: self["b"])
    assert compiled(made) == 2


@pytest.mark.parametrize("kind", [Itself, Other])
def test_others_are_refused(kind: Any) -> None:
    with pytest.raises(fxc.CaptureError, match="from outside"):
        fxc.compile(reads, fullgraph=True)(kind(a=1), np.ones(3))


def test_stores_around_the_items_are_refused() -> None:
    def stores(d: Any, x: Any) -> None:
        object.__setattr__(d, "c", x)

    with pytest.raises(fxc.CaptureError, match="an assignment to"):
        fxc.compile(stores, fullgraph=True)(_made(Plain), 1)
