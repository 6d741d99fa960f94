"""Inner functions of split functions: one object each, though parts define them again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.calling import called_functions
from tests.splitting import unknown


def has_an_attribute(x: Any) -> Any:
    def f(v: Any) -> Any:
        return v + 1

    f.size = 3  # type: ignore[attr-defined]
    y = f(x) * 2
    unknown(y)
    return f(y) * 3, f.size  # type: ignore[attr-defined]


def counts_its_calls(x: Any) -> Any:
    def f(v: Any) -> Any:
        f.calls += 1  # type: ignore[attr-defined]
        return v + 1

    f.calls = 0  # type: ignore[attr-defined]
    y = f(x) * 2
    unknown(y)
    return f(y) * 3, f.calls  # type: ignore[attr-defined]


def has_one_by_setattr(x: Any) -> Any:
    def f(v: Any) -> Any:
        return v + 1

    setattr(f, "size", 3)  # noqa: B010
    y = f(x) * 2
    unknown(y)
    return f(y) * 3, getattr(f, "size", 0)


def is_compared(x: Any) -> Any:
    def f(v: Any) -> Any:
        return v + 1

    held = [f]
    y = f(x) * 2
    unknown(y)
    return f(y) * 3, held[0] is f, f in held


def is_wrapped(x: Any) -> Any:
    def f(v: Any) -> Any:
        return v + 1

    def g(v: Any) -> Any:
        return f(v)

    functools.update_wrapper(g, f)
    y = g(x) * 2
    unknown(y)
    return g(y) * 3, g.__name__


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
@pytest.mark.parametrize(
    "program",
    [
        has_an_attribute,
        counts_its_calls,
        has_one_by_setattr,
        is_compared,
        is_wrapped,
    ],
)
def test_an_inner_function_is_one_object(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    for _ in range(2):
        expected, found = program(np.arange(3.0)), compiled(np.arange(3.0))
        assert repr(found) == repr(expected)


def is_only_called(x: Any) -> Any:
    def f(v: Any) -> Any:
        return v + 1

    y = f(x) * 2
    unknown(y)
    return f(y) * 3


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
def test_one_that_is_only_called_is_compiled_in_each_part() -> None:
    compiled = fxc.compile(is_only_called)
    for _ in range(2):
        assert repr(compiled(np.arange(3.0))) == repr(is_only_called(np.arange(3.0)))
    assert compiled.cache_info().parts == 2


def test_a_function_that_calls_itself_is_cut_once(monkeypatch):
    def sorted_by_first(x):
        def quick(a):
            below = quick([v for v in a[1:] if v < a[0]]) if len(a) > 1 else []
            return [*below, *a[:1], *quick([v for v in a[1:] if v >= a[0]])] if a else a

        return quick(x.tolist())

    made = []

    class Counted(called_functions.Split):
        def __init__(self, function, *others):
            made.append(function.__name__)
            super().__init__(function, *others)

    monkeypatch.setattr(called_functions, "Split", Counted)
    x = np.arange(9.0)[::-1]
    with pytest.warns(fxc.CaptureWarning):
        assert fxc.compile(sorted_by_first)(x) == sorted_by_first(x)
    assert made.count("quick") == 1
