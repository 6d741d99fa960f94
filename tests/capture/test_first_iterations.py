# ruff: noqa: F821
"""Loops of which the first iteration is captured before the others, and may end the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def variables_of_the_first(x, n):
    last = 0
    for k in range(n):
        if k:
            step = v - last
        else:
            step = 2.0
        last = x[k % 7] if k else 1
        v = last * 2 + step
        if v > 9:
            break
    else:
        v = -v
    return v, k


class State:
    pass


def attributes_of_the_first(x, n):
    s = State()
    s.old = s.new = np.zeros((4, 2))
    s.change = 1e20
    for k in range(n):
        if k == 0:
            s.new, s.sum = s.old, x.sum()
        else:
            s.old, before = s.new, s.sum
        s.new = np.dot(s.new + x[:2], np.ones((2, 2))) * (1j + k)
        s.sum = np.abs(s.new).sum()
        if k > 0:
            s.change = abs(s.sum - before)
        if np.abs(s.change) < 40 or k == n - 1 or x[0] > k + 3:
            if k < n - 1:
                s.done = k
            break
    return s.new * 1, s.change, getattr(s, "done", None)


def one_dtype_after_another(x, n):
    new = old = np.zeros(len(x))
    change = 1e20
    for k in range(n):
        if k > 0:
            old = new
        new = old * 0.5 + x * (1j + k)
        if k > 0:
            change = np.abs(new - old).sum()
        if change < 5 or x[0] > k:
            break
    return new * 1, change, old.dtype == np.float64


def parts_as_long_as_the_counter(x, n):
    x = np.concatenate([x, x, x[:3] + n])
    a = np.outer(x, x) + n
    for i in range(len(x)):
        if x[-i - 1] > a[-i - 1, i]:
            break
        rows = []
        for row in a:
            rows.append(row * 2.0)
        a = np.array(rows)
        x[::2] += np.median(x[: i + 1])
    return a


def parts_before_a_write(x, n):
    u, t = np.outer(x, x), 0.0
    while t < n:
        row = u[1]
        t += np.abs(row).max() * 0.125 + 1.5
        u[:, :2] = u[:, 2:4] - t
        u = u * 0.5 + row
    return u


PROGRAMS = [
    variables_of_the_first,
    attributes_of_the_first,
    one_dtype_after_another,
    parts_as_long_as_the_counter,
    parts_before_a_write,
]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[fn.__name__ for fn in PROGRAMS])
def test_as_python(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (9, 12, 7):
        for k in (0, 3, -4, 9):
            x = np.arange(7.0) - k
            assert not difference(run(fn, (x.copy(), n)), run(compiled, (x.copy(), n)))
    assert compiled.cache_info().eager_calls == 0


def test_a_loop_that_may_be_empty_has_no_first_iteration() -> None:
    """In the first iteration around it, it is; after one of its own it has another type."""

    def program(x, n):
        total = 0.0
        for i in range(n):
            total += fxc.fori_loop(0, i, lambda j, q: q * 0.5, 1) + x[0]
        return total

    for n in (3, 4):
        assert fxc.compile(program)(np.ones(2), n) == program(np.ones(2), n)


def another_thing_later(x, n):
    held = None
    for k, v in enumerate(x):
        if v > 0.5 and k > n:
            held = v
        elif v < -0.5:
            held = None
    return held


def two_before(x, n):
    last = before = None
    total = 0.0
    for k, v in enumerate(x):
        if before is not None and last > before and k > n:
            total += v
        before, last = last, v
    return total


@pytest.mark.parametrize("fn", [another_thing_later, two_before])
def test_what_the_first_iterations_leave_alone(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for seed, size, n in ((1, 900, 20), (2, 901, 7), (3, 300, 290)):
        x = np.random.default_rng(seed).normal(size=size)
        assert not difference(run(fn, (x.copy(), n)), run(compiled, (x.copy(), n)))
    assert compiled.cache_info().eager_calls == 0


def momentum(w, dw, config=None):
    if config is None:
        config = {}
    config.setdefault("velocity", np.zeros_like(w))
    config.setdefault("steps", 0)
    velocity, steps = (config.get(key) for key in ["velocity", "steps"])
    config["steps"] = steps = steps + 1
    config["velocity"] = velocity = 0.9 * velocity + dw
    return w - 0.1 * velocity / steps, config


def begun_by_none(ws, steps):
    w, config = ws["a"], None
    for _ in range(steps):
        w, config = momentum(w, w * 0.1, config)
    return w, config


def begun_empty(ws, steps):
    configs = {name: {} for name in ws}
    for _ in range(steps):
        for name, w in ws.items():
            ws[name], configs[name] = momentum(w, w * 0.1, configs[name])
    return configs


def begun_in_a_dict(ws, steps):
    configs = {}
    while steps > 0:
        for name, w in ws.items():
            ws[name], configs[name] = momentum(w, w * 0.1, configs.get(name))
        steps -= 1
    return configs


def defaults_in_an_arm(ws, steps):
    counts = {"below": 0}
    for k in range(steps):
        if ws["a"][0] > 0.5 + k % 2:
            counts.setdefault("above", 7)
            counts["above"] += k
        else:
            counts["below"] += counts.setdefault("below", 3) + k
    return counts


@pytest.mark.parametrize(
    "program", [begun_by_none, begun_empty, begun_in_a_dict, defaults_in_an_arm]
)
def test_dicts_that_the_first_iteration_fills(program: Callable[..., object]) -> None:
    """A state that the first iteration makes is carried by the others, however many there are."""
    compiled = fxc.compile(program, fullgraph=True)
    for steps in (1000, 900, 3, 1, 0):
        for first in (0.2, 2.0):
            left, right = ({"a": np.full(3, first), "b": np.ones((3, 2))} for _ in range(2))
            assert not difference(run(program, (left, steps)), run(compiled, (right, steps)))
    assert compiled.cache_info().variants <= 3
