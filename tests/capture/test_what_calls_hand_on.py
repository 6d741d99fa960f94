"""Calls that hand on a list or a dict: it is the same object, whatever loops do with it later."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def in_a_deque(e):
    held = deque([e])
    held.appendleft(e)
    return held.popleft()


def in_a_list(e):
    held = [1]
    held.append(e)
    held.insert(0, held[1])
    return held.pop(0)


HANDED_ON: dict[str, Callable[[Any], Any]] = {
    "setdefault": lambda e: {}.setdefault("a", e),
    "setdefault of an ordered dict": lambda e: OrderedDict().setdefault("a", e),
    "setdefault, read": lambda e: {"a": e}.setdefault("a", None),
    "default of pop": lambda e: {}.pop("a", e),
    "pop": lambda e: {"a": e}.pop("a"),
    "list": in_a_list,
    "deque": in_a_deque,
    "max": lambda e: max(e, e, key=lambda x: 1),
    "repeat": lambda e: next(itertools.repeat(e)),
    "methodcaller": lambda e: operator.methodcaller("get", "a", e)({}),
}


def dicts_filled(x, n, handed_on):
    made = {}
    found = handed_on(made)
    for k in range(n):
        found[int(x[k % 3])] = k
    return made, found, found is made


def lists_filled(x, n, handed_on):
    made = []
    found, held = handed_on(made), [0]
    held.append(made)
    for k in range(n):
        found.append(x[k % 3] * k)
    return made, found, found is made, held


@pytest.mark.parametrize("program", [dicts_filled, lists_filled])
@pytest.mark.parametrize("how", HANDED_ON)
def test_what_is_handed_on_is_the_same(program: Callable[..., object], how: str) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (0, 2, 300):
        inputs = (np.arange(3.0), n, HANDED_ON[how])
        assert not difference(run(program, inputs), run(compiled, inputs))


def defaults_that_are_held(x, n):
    made, held = [x[0]], {}
    for k in range(n):
        held.setdefault("made", made).append(k * x[1])
    return held, made, held.get("made") is made


def lists_in_order(x, n):
    one, other = [1.0], [0.0]
    first = max(one, other), min([one, other]), sorted([one, other])[0]
    found = one > other, one <= [0.0], [one] < [[2.0]]
    for k in range(n):
        one.append(x[0] * k)
        other.append(k)
    return one, first, found, first[0] is one, first[1] is other, first[2] is other


@pytest.mark.parametrize("program", [defaults_that_are_held, lists_in_order])
def test_lists_that_loops_append_to_later(program: Callable[..., object]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (3, 0, 300):
        inputs = np.arange(1.0, 4.0), n
        assert not difference(run(program, inputs), run(compiled, inputs))
