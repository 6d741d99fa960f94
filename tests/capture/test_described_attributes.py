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
