"""Objects that stand for others: they are not asked what they are."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check

_asked: list[str] = []


class Behind:
    y = 1


class Proxy:
    def __init__(self, to: object) -> None:
        self._to = to

    @property
    def __class__(self) -> Any:
        _asked.append("__class__")
        return self._to.__class__

    def __getattr__(self, name: str) -> Any:
        _asked.append(name)
        return getattr(self._to, name)


def reads(p: Any, x: Any) -> Any:
    try:
        return p.y, x + 1
    except ReferenceError:
        return x - 1


def sums(p: Any, x: Any) -> Any:
    return p.sum() + x


def counts(p: Any, x: Any) -> Any:
    return len([p, p]) + x


PROXIES: dict[str, Callable[[], Any]] = {
    "dead": lambda: weakref.proxy(Behind()),
    "of an object": lambda: Proxy(Behind()),
    "of an array": lambda: Proxy(np.arange(3.0)),
}


@pytest.mark.parametrize("program", [reads, sums, counts])
@pytest.mark.parametrize("name", PROXIES)
def test_proxies(program: Callable[..., Any], name: str) -> None:
    compiled = fxc.compile(program)
    for _ in range(2):
        found = []
        for each in (program, compiled):
            _asked.clear()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fxc.CaptureWarning)
                warnings.filterwarnings("error", "(?s).*please report", fxc.CaptureWarning)
                try:
                    result = repr(each(PROXIES[name](), np.ones(2)))
                except (ReferenceError, AttributeError) as error:
                    result = repr(error)
            found.append((result, list(_asked)))
        assert found[0] == found[1]


def runs_by_what_is_set_later(x: Any) -> Any:
    def of_no_run(n: Any) -> Any:
        if n == 5:
            seen.append(len(list(run)))
        return n != 6

    seen: list[int] = []
    for _, run in groupby(range(10), of_no_run):
        seen.extend(run)
    return seen, x + 1


def test_variables_that_an_inner_function_has_no_value_of_yet() -> None:
    check(runs_by_what_is_set_later, (np.arange(3.0),))
