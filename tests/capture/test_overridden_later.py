"""Methods and properties of base classes that a class before them overrides after the capture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc


def classes() -> tuple[type, type, type]:
    class Base:
        factor = 1.5

        @classmethod
        def made(cls, x):
            return x + 1

        @staticmethod
        def plain(x):
            return x * 3

        @property
        def scale(self):
            return 2.0

        def method(self, x):
            return x - 1

        def __len__(self):
            return 4

        def __getitem__(self, place):
            return place + 1

    class Middle(Base):
        pass

    class Last(Middle):
        def method(self, x):
            return super().method(x) * 2

    return Base, Middle, Last


OVERRIDES: dict[str, Callable[..., Any]] = {
    "made": lambda: classmethod(lambda cls, x: x + 5),
    "plain": lambda: staticmethod(lambda x: x * 30),
    "scale": lambda: property(lambda self: 7.0),
    "method": lambda: lambda self, x: x - 100,
    "__len__": lambda: lambda self: 40,
    "__getitem__": lambda: lambda self, place: -1,
    "factor": lambda: 9.0,
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_what_is_overridden_later(name: str) -> None:
    def program(thing, x):
        found = thing.made(x) * thing.scale + thing.plain(x) + thing.method(x)
        return found * thing.factor + len(thing) + thing[2]

    _, middle, last = classes()
    thing, x = last(), np.arange(3.0)
    compiled = fxc.compile(program, fullgraph=True)
    np.testing.assert_array_equal(compiled(thing, x), program(thing, x))
    setattr(middle, name, OVERRIDES[name]())
    expected = program(thing, x)
    np.testing.assert_array_equal(compiled(thing, x), expected)
    assert compiled.cache_info().variants == 2
    delattr(middle, name)
    np.testing.assert_array_equal(compiled(thing, x), program(thing, x))
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


def test_the_init_of_all_objects_ends_the_chain():
    class Middle:
        pass

    class Last(Middle):
        def __init__(self, x):
            super().__init__()
            object.__init__(self)
            self.x = x * 2

    def program(x, old):
        old.__init__(x + 1)
        return Last(x).x, old.x

    def init(self):
        self.factor = 3

    x, compiled = np.arange(3.0), fxc.compile(program, fullgraph=True)
    np.testing.assert_array_equal(compiled(x, Last(1)), program(x, Last(1)))
    Middle.__init__ = init
    old = Last(1)
    np.testing.assert_array_equal(compiled(x, old), program(x, Last(1)))
    assert old.factor == 3
    assert compiled.cache_info().variants == 2
