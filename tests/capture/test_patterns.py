"""``match`` on what is known at run time only: the patterns are branches of the graph."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class Op(enum.Enum):
    ADD = 0
    SUB = 1
    HALT = 2


class Level:
    HIGH = 7


def numbers(a):
    total, last = 0, None
    for v in a:
        match v % 5:
            case 0:
                total += 1
            case 1 | -2 as last:
                continue
            case Level.HIGH | 2:
                total += 10
            case n if n > 3:
                total += n
                if total > 200:
                    break
            case _:
                total -= 1
    return total, last, n


def pairs(a):
    found = np.zeros(4)
    for i in range(len(a)):
        match (a[i] % 3, i % 2):
            case (0, _):
                found[0] += i
            case 1, 0:
                found[1] += 1
            case (2 as kind, side) if side > 0:
                found[2] += kind * side
            case (_, (0 | 1) as side):
                found[3] += side
    return found, side, kind


def kinds(a):
    total = 0
    for v in a.tolist():
        match v if v > 20 else v * 0.5 if v > 5 else None:
            case None:
                total -= 1
            case int():
                total += v
            case float() | complex():
                total *= 2
    return total


def machine(a):
    op, total, i = Op.ADD, 0, 0
    while True:
        match op:
            case Op.ADD:
                total += a[i]
            case Op.SUB:
                total -= a[i]
            case Op.HALT:
                return total, op
        i += 1
        op = Op.HALT if i == len(a) else Op.ADD if a[i] > 10 else Op.SUB


def chosen(v):
    match v:
        case 0:
            return "none"
        case v if v < 10:
            return v * 2
        case k:
            return k - 1


def of_functions(a):
    return sum(chosen(v) for v in a if v > 0), chosen(a[0] * 0)


def guards_bind(a):
    found = 0
    for v in a:
        match v:
            case w if w < 10:
                found += w
        found += w
    return found, w


def never_bound(a):
    for v in a:
        match v:
            case 41 as w:
                pass
    return w


@pytest.mark.parametrize(
    "program",
    [numbers, pairs, kinds, machine, of_functions, guards_bind, never_bound],
    ids=lambda program: program.__name__,
)
def test_captured(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for n in (40, 50, 60):
        a = np.random.default_rng(n).integers(0, 40, n)
        assert not difference(run(program, (a.copy(),)), run(compiled, (a.copy(),))), n
    assert not (program is not never_bound and compiled.cache_info().eager_calls)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def test_what_is_no_test_of_values_is_known_while_capturing() -> None:
    def taken(x, k):
        match k:
            case Point():
                return x + k.y
            case [first, *rest]:
                return x * first, rest
            case {"scale": scale}:
                return x * scale

    compiled, x = fxc.compile(taken, fullgraph=True), np.arange(5.0)
    for k in (Point(0, 2.0), [3, 4.0, 5], (2.0,), {"scale": 2.5}, 7.0):
        assert not difference(run(taken, (x, k)), run(compiled, (x, k)))


def ends(items):
    match items:
        case [[first, *_], *rest]:
            return first, len(rest)
        case [first, _, *_, last]:
            return first + last
        case {"first": first}:
            return first
        case _:
            return None


@pytest.mark.parametrize(
    "program, captured",
    [
        (lambda x: ends(x.tolist()), True),
        (lambda x: ends(x.reshape(2, 3).tolist()), True),
        (lambda x: (ends([v for v in x if v > 2]), ends({int(v): v for v in x})), False),
        (lambda x: ends([x[0], 2, 3] if x[0] > 1 else None), False),
        (lambda x: ends([[v, v + 1] for v in x]), False),
    ],
)
def test_lists_of_the_graph_are_lists_to_patterns(program: Any, captured: bool) -> None:
    compiled = fxc.compile(program, fullgraph=captured)
    x = np.array([3.0, 1.0, 4.0, 2.0, -1.0, 0.5])
    for _ in range(2):
        assert not difference(run(program, (x,)), run(compiled, (x,)))
