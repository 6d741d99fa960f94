"""Attributes that Python code computes, and objects of C that others change behind them."""

from __future__ import annotations

import functools
import types
import warnings
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc


def given(*args: Any, **options: Any) -> Any:
    return args, options


class Described:
    def __get__(self, owner: object, kind: type) -> Any:
        _world["asked"] += 1
        return _world["asked"]


class Partly:
    plain = functools.partialmethod(given, 1)
    of_an_object = functools.partialmethod(functools.partial(given, c=6), 7)
    nested = functools.partialmethod(plain, 5)  # type: ignore[arg-type]
    of_the_class = functools.partialmethod(classmethod(given), d=9)  # type: ignore[arg-type]
    described = Described()

    def __repr__(self) -> str:
        return "Partly()"


class Marked(namedtuple("Marked", ["x", "y"])):
    pass


_world: dict[str, Any] = {}
_partly = Partly()


def renew() -> None:
    _world.update(asked=0, sizes={"a": 1}, fields=np.dtype([("a", "i4")]))
    _world.update(shown=types.MappingProxyType(_world["sizes"]), values=_world["sizes"].values())


def reads_partly(x: Any) -> Any:
    p = _partly
    return p.plain(x), p.of_an_object(x), p.nested(x), p.of_the_class(x), p.plain.__self__ is p


def reads_from_the_class(x: Any) -> Any:
    return Partly.plain(_partly, x), Partly.of_the_class(x), hasattr(Partly.plain, "__self__")


def reads_what_is_described(x: Any) -> Any:
    return Partly.described, x + 1


def joins_what_is_shown(x: Any) -> Any:
    shown = _world["shown"]
    return shown | {"b": 2}, {**shown}, "{a}".format_map(shown), x + 1


def looks_into_values(x: Any) -> Any:
    return 1 in _world["values"], x + 1


def reads_fields(x: Any) -> Any:
    return _world["fields"].names, x + 1


def marks(mark: Any, x: Any) -> Any:
    mark.size = 3
    return mark.size + x


PROGRAMS = [
    reads_partly,
    reads_from_the_class,
    reads_what_is_described,
    joins_what_is_shown,
    looks_into_values,
    reads_fields,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_python_reads(program: Callable[..., Any]) -> None:
    seen = []
    for each in (program, fxc.compile(program)):
        renew()
        found = []
        for n in (1, 2, 3, 1):
            _world["sizes"]["a"] = n
            _world["fields"].names = (f"x{n}",)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fxc.CaptureWarning)
                warnings.filterwarnings("error", "(?s).*please report", fxc.CaptureWarning)
                found.append(repr(each(np.arange(3.0))))
        seen.append((found, _world["asked"]))
    assert seen[0] == seen[1]


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
def test_attributes_of_named_tuples_are_stored() -> None:
    compiled = fxc.compile(marks)
    for _ in range(2):
        mark = Marked(1, 2)
        assert repr(compiled(mark, np.arange(3.0))) == repr(marks(Marked(1, 2), np.arange(3.0)))
        assert vars(mark) == {"size": 3}


NAMES = [
    "__iter__",
    "__getitem__",
    "__call__",
    "__array__",
    "__float__",
    "__index__",
    "__complex__",
    "__dict__",
]
NAMES += [
    "__array_ufunc__",
    "__round__",
    "is_integer",
    "as_integer_ratio",
    "tolist",
    "append",
    "shape",
]


@pytest.mark.parametrize("name", NAMES)
def test_what_has_an_attribute(name: str) -> None:
    def asked(x: Any, items: Any, *numbers: Any) -> Any:
        y = x * 2
        computed = (y, y[0], y.sum() + numbers[0], y[0] > 1, y.astype(int)[0])
        each = (items, *numbers, *computed)
        return y, [hasattr(one, name) for one in each], getattr(numbers[0], name, 0) == 0

    compiled = fxc.compile(asked, fullgraph=True, dynamic=True)
    for n in range(1, 3):
        given = np.ones(n), [1.0], n + 0.5, n, n * 2j, True, np.float64(n)
        assert compiled(*given)[1:] == asked(*given)[1:]


def test_what_a_number_has_of_either_kind_decides() -> None:
    def asked(x: Any) -> Any:
        total = 0.0
        for value in x:
            total = max(total, value)
        return x * 2 if hasattr(total, "__array__") else x

    with pytest.warns(fxc.CaptureWarning, match="a number of one type or another has __array__"):
        assert fxc.compile(asked)(-np.ones(9))[0] == -1
