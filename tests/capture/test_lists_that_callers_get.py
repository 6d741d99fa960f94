"""Lists of the caller's to which loops append: Note [Lists from outside that grow]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc

SIGNAL = np.array([0.5, -1.5, 2.0, 0.25, -0.5, 3.0, -2.0, 1.0, 0.125] * 8)


class Filter:
    def __init__(self) -> None:
        self.state, self.innovations = 0.0, [1.0]
        self.same = self.innovations

    def update(self, z: float) -> None:
        self.innovations.append(float(z) - self.state)
        self.state += 0.5 * (z - self.state)


def filtered(f, log, x):
    for z in x:
        if z > -1:
            f.update(z)
    return f.state


def two_lists(f, log, x):
    for z in x:
        if z > 0:
            log.append((z, 1))
        else:
            f.same.append(z)
    log.append((5.0, 2))
    return log


def new_things(f, log, x):
    for i in range(len(x)):
        for j in range(2):
            if x[i] > j:
                log.append({"at": i, "rows": np.array([x[i], j])})


def nothing(f, log, x):
    for z in x:
        if z > 100:
            log.append(z)


def looked_at(f, log, x):
    for z in x:
        log.append(z)
        if len(log) > 20:
            f.state += log[-2]
    return sum(log)


def looked_at_before(f, log, x):
    first = log[0] + len(log)
    for z in x:
        log.append(z * first)
    return log.pop()


def raised(f, log, x):
    for z in x:
        log.append(z)
        if z > 2:
            raise ValueError(len(x))


def outcome(fn: Callable[..., Any], log: list[Any], x: np.ndarray) -> str:
    f = Filter()
    try:
        found = fn(f, log, x)
    except ValueError as error:
        found = error
    return repr((found, found is log, log, f.innovations, f.same is f.innovations, f.state))


@pytest.mark.parametrize("fn", [filtered, two_lists, new_things, nothing], ids=lambda x: x.__name__)
def test_captured_at_any_length(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for log in ([0.5], [], [1, "text", None]):
        assert outcome(compiled, [*log], SIGNAL) == outcome(fn, [*log], SIGNAL)
    assert compiled.cache_info().variants == 1


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", [looked_at, looked_at_before, raised], ids=lambda x: x.__name__)
def test_what_looks_at_the_list_sees_its_items(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for _ in range(2):
        assert outcome(compiled, [0.5, 1.5], SIGNAL) == outcome(fn, [0.5, 1.5], SIGNAL)
