"""Arms that raise when they are captured, and not when they are run: Note [Arms that raise]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def trades(price):
    shares, entry, gain, last = 0, None, 0.0, None
    for i, p in enumerate(price):
        if shares == 0 and p > 0.5:
            shares, entry = 1, (i, p)
        elif shares > 0 and (p < -0.5 or p < entry[1] * 0.9):
            gain += p / entry[1]
            shares, last, entry = 0, i - entry[0], None
    return gain, last


def spells(x):
    start, found = None, []
    for i in range(len(x)):
        if x[i] > 0.5:
            start = i if start is None else start
        elif len(found) < 1000 and start is not None:
            found.append((start, i - start, x[start:i].sum()))
            start = None
    return found


def while_it_is_on(x):
    on, start, level, found = False, None, None, []
    for i in range(len(x)):
        if on:
            level = 0.5 * (level + x[i])
            if level < 0:
                found.append(i - start)
                on = False
        elif x[i] > 0.5:
            on, start, level = True, i, x[i]
    return found, level


def best_record(x):
    best = None
    for i, v in enumerate(x):
        if i > 0 and v > best["value"]:
            best = {"value": v, "at": i}
        elif best is None:
            best = {"value": v, "at": -1}
    return best["value"], best["at"]


def steps_between(x):
    last, found = None, []
    for i, v in enumerate(x):
        if v > 0.5:
            found.append(i - last if len(found) > 0 else -1)
            last = i
    return found


@pytest.mark.parametrize(
    "fn",
    [trades, spells, while_it_is_on, best_record, steps_between],
    ids=lambda fn: fn.__name__,
)
def test_captured(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for seed, size in ((1, 60), (2, 60), (3, 45)):
        x = np.random.default_rng(seed).normal(size=size)
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)


def after_a_store(x):
    last = None
    for i in range(len(x)):
        if x[i] < -2:
            x[0] = i
            x[1] += last * 2
        elif x[i] > 0.5:
            last = x[i]
    return last


def in_a_choice(x):
    last, total = None, 0.0
    for v in x:
        total += last * v if v < -1 else v
        if v > 0.5:
            last = v
    return total


def outside_of_loops(x):
    y = x * 2
    if x[0] > 0:
        y += np.zeros(3)
    return y


@pytest.mark.parametrize("fn", [after_a_store, in_a_choice, outside_of_loops])
def test_what_comes_to_it_is_pythons(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for head in ([-0.25], [0.75, -3.0], [-3.0, 0.75], [0.25, -3.0]):
        x = np.array([*head, *np.linspace(0.1, 0.9, 60 - len(head))])
        expected, found = (run(f, (x.copy(),)) for f in (fn, compiled))
        assert not difference(expected, found)
    assert compiled.cache_info().native_calls
