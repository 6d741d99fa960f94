"""Variables that are ``None`` or an array by a condition on data: Note [Things that differ]."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.session.aliases import Aliases
from fxc.ir.graph import Value
from tests.outcomes import difference, run


def least(u, n):
    best, smallest = None, np.inf
    x = u.copy()
    for i in range(n):
        x *= 0.99
        if x[i % 5] < smallest:
            best, smallest = x.copy(), x[i % 5]
    return best, smallest


def made_before_the_branch(u, n):
    best, smallest = None, 0.0
    for i in range(n):
        y = u * i
        if u[i % 5] < smallest:
            best, smallest = y, u[i % 5]
    return best


def first_row(u, n):
    m = np.outer(u, u)
    row = None
    for i in range(5):
        if m[i].sum() > n:
            row = m[i].copy()
            break
    return row


def in_a_branch(u, n):
    y, z = None, None
    if u[0] > 0:
        y = u * 2
        z = np.outer(u, u)
    if y is None:
        y = u * 3
    return y, z


def taken_as_out(u, n):
    row = None
    for i in range(n):
        if u[i % 5] > 0.5:
            row = u * i
    if row is not None:
        np.add(u, np.ptp(row), out=row)
    return row


def used_where_it_is(u, n):
    kept, total = None, 0.0
    for i in range(n):
        if u[i % 5] > 0.5:
            kept = u * i
        elif kept is not None:
            kept = kept * 0.5
        if kept is not None:
            total += kept.sum() + np.abs(kept - u).max() + kept[1]
    return total, kept


def written_in_place(u, n):
    total = None
    for k in range(n):
        if u[k % 5] > 0:
            if total is None:
                total = np.zeros(5)
            total += u * k
            total[0] = k
    return total


def in_a_tuple_and_a_dict(u, n):
    best, state = (None, 0.0), {"best": None, "most": 0.0}
    for i in range(n):
        if u[i % 5] > best[1]:
            best = u * i, u[i % 5]
        if u[i % 5] > state["most"]:
            state["best"] = u + i
            state["most"] = u[i % 5]
    return best, state


def by_while(u, n):
    best, most, k = None, 0.0, 0
    while k < n:
        if u[k % 5] > most:
            best, most = u * k, u[k % 5]
        k += 1
    return best


def by_an_expression(u, n):
    y = u * 2 if u[0] > 0 else None
    return u if y is None else y + 1


def by_while_with_an_end(u, n):
    best, k, step = None, 0, np.inf
    while step >= 1e-3:
        k += 1
        new = np.full((2, 2), u[k % 5] + n)
        best = new if best is None else best @ new
        step = step / 2 if k > 1 else abs(u[0])
        if u[k % 5] > 1 or k >= n:
            break
    return best, k


def where_it_may_be_none(u, n):
    best = None
    for i in range(n):
        if u[i % 5] > 0.5:
            best = u * i
    return best + 1


def written_later(u, n):
    best = None
    for i in range(n):
        y = u * i
        if u[i % 5] > 0.5:
            best = y
        y[0] = 100
    return best


def the_argument(u, n):
    y = None
    if u[0] > 0:
        y = u
    if y is not None:
        y[0] = 5
    return y


PROGRAMS: list[Callable[..., Any]] = [
    least, made_before_the_branch, first_row, in_a_branch, used_where_it_is, written_in_place, taken_as_out,
    in_a_tuple_and_a_dict, by_while, by_while_with_an_end, by_an_expression, where_it_may_be_none, written_later,
    the_argument,
]  # fmt: skip


def _calls() -> list[Any]:
    rng = np.random.default_rng(5)
    calls = [(rng.standard_normal(5), n) for n in (30, 7, 0, 1, 200, 31)]
    return [*calls, (-np.ones(5), 9), (np.ones(5), 9), (np.full(5, np.nan), 9)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    raised = 0
    for u, n in _calls():
        expected = run(program, (u.copy(), n))
        raised += expected.error is not None
        assert difference(expected, run(compiled, (u.copy(), n))) == ""
    assert bool(raised) == (program is where_it_may_be_none)
    assert compiled.cache_info().eager_calls == raised
    assert compiled.cache_info().variants <= 4


# ------------------------------------------------------------------ one object in two places


def also_handed_on(u, n):
    best, last = None, u * 1
    for i in range(n):
        y = u * i
        if u[i % 5] > 0.5:
            best = y
        last = y
    last[0] = 9
    return best, last


def also_in_the_arm(u, n):
    best, last = None, u * 1
    for i in range(n):
        if u[i % 5] > 0.5:
            y = u * i
            best = y
            last = y
    last[0] = 9
    return best, last


def a_part(u, n):
    best, last = None, u * 1
    for i in range(n):
        if u[i % 5] > 0.5:
            last = u * i
            best = last[1:]
    last[0] = 9
    return best, last


def one_after_another(u, n):
    a, b = None, None
    for i in range(n):
        if u[i % 5] > 0.5:
            a = u * i
        if u[i % 5] < -0.5:
            b = a
        if a is not None:
            a[0] = i
    return b


def kept_from_before(u, n):
    a = None
    if u[0] > 0:
        a = u * 2
    b = a
    for i in range(n):
        if u[i % 5] > 1.0:
            a = u * i
    if b is not None:
        b[0] = 100
    return a


def also_in_a_list(u, n):
    best, found = None, []
    for i in range(n):
        if u[i % 5] > 0:
            best = u * i
            found.append(best)
    return best, found


@pytest.mark.parametrize(
    "program",
    [
        also_handed_on, also_in_the_arm, a_part, one_after_another, kept_from_before, also_in_a_list,
    ],
    ids=lambda each: each.__name__,
)  # fmt: skip
def test_what_could_be_told_is_refused(program: Any) -> None:
    with pytest.raises(fxc.CaptureError):
        fxc.compile(program, fullgraph=True)(np.array([0.7, -1.0, 2.0, 0.3, -0.6]), 9000)


def kept_in_each_row(x, m, n):
    e = x.copy()
    for z in m:
        if n == len(z):
            np.maximum.accumulate(x, out=x)
        p = None
        for j in range(len(x)):
            if z[j] > x[0]:
                p = m[j].copy()
        if p is not None:
            e = p
        z += e[0]
    return 1.0


def test_what_may_be_one_array_is_noted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of it doubled with each branch: capture took for ever."""
    noted: list[object] = []
    original = Aliases.may_be_one

    def may_be_one(aliases: Aliases, left: Value, right: Value) -> None:
        noted.append((left, right))
        original(aliases, left, right)

    monkeypatch.setattr(Aliases, "may_be_one", may_be_one)
    args = np.arange(6.0), np.arange(36.0).reshape(6, 6), 2
    expected = run(kept_in_each_row, copy.deepcopy(args))
    assert difference(expected, run(fxc.compile(kept_in_each_row, fullgraph=True), args)) == ""
    assert len(noted) < 1000
