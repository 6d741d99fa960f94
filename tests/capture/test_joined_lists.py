"""Lists that are one list or another behind a branch or a loop, item by item.

See Note [Objects that are joined].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class Box:
    pass


def _helper(x, c):
    if x[2] > c:
        return [x, x * 2]
    return [x * 3, x]


def chosen(x, c):
    p = [x[0], x[1]] if x[2] > c else [x[1], x[0]]
    return p[0] * 2 + p[1], p


def branch(x, c):
    if x[2] > c:
        p = [x[0], 1]
    else:
        p = [x[1], 2]
    return p


def returned(x, c):
    if x[2] > c:
        return [x, x * 2]
    return [x * 3, x]


def of_two_lengths(x, c):
    if x[2] > c:
        return [x[0]]
    return [x[1], x[2]]


def unpacked(x, c):
    a, b = _helper(x, c)
    q = _helper(x, c)
    return np.add(*q) + a - b


def append_joined(x, c):
    r = [x[0], x[1]] if x[2] > c else [x[1], x[2]]
    r.append(x[3])
    return r


def of_arrays(x, c):
    r = [x, x + 1] if x[2] > c else [x + 2, x]
    r[0] += 1
    r[1][0] = 7
    return r


def in_a_loop(x, c):
    s = [x[0], x[1]]
    for i in range(20):
        s = [s[1], s[0] + x[i]]
    return s


def arrays_in_a_loop(x, c):
    s = [x, x * 2]
    for _ in range(20):
        s = [s[1], s[0] * 0.5]
    return s


def kept_as_it_was(x, c):
    s = [x[0], x[1]]
    t = s
    for i in range(20):
        s = [s[1], s[0] + x[i]]
        t[0] += 1
    return s, t


def best_so_far(x, c):
    best = [0.0, 0]
    for i in range(20):
        if x[i] > best[0]:
            best = [x[i], i]
    return best


def in_a_dict(x, c):
    d = {}
    d["a"] = [x[0]] if x[2] > c else [x[1]]
    return d


def nested(x, c):
    r = [[x[0], 1], [x[1], 2]] if x[2] > c else [[x[2], 3], [x[3], 4]]
    return r[1][0] + len(r), r


def run_over(x, c):
    r = [x, x + 1] if x[2] > c else [x + 2, x]
    t = 0
    for a in r:
        t = t + a.sum()
    return t


def copies(x, c):
    r = [x[0], x[1]] if x[2] > c else [x[1], x[2]]
    q = list(r)
    q.append(1.0)
    return q, r.copy(), r[:1]


def appended(x, c):
    out = []
    for i in range(20):
        out.append([x[i], i] if x[i] > c else [i * 1.0, -1])
    return out, np.array(out)


def while_swap(x, c):
    a = [x[0], x[1], 0]
    while a[2] < c * 3:
        a = [a[1], a[0] + 1, a[2] + 1]
    return a


def in_two_branches(x, c):
    if x[3] > c:
        if x[2] > c:
            r = [x[0], 1]
        else:
            r = [x[1], 2]
        r.append(x[4])
    else:
        r = [x[4], 3, x[5]]
    r[1] += 5
    r.reverse()
    return r


def one_of_before(x, c):
    a = [x[0], 1]
    r = a if x[2] > c else [x[1], 2]
    return r[0], r


def of_a_text(x, c):
    t = "ab" if x[2] > c else "cd"
    if x[1] > 1:
        t = "e"
    return t[0], t[-1], t[:1]


def beyond_a_text(x, c):
    t = "ab" if x[2] > c else "e"
    return t[1]


def aliased(x, c):
    a = [x[0], x[1]]
    b = [x[2], x[3]]
    r = a if x[2] > c else b
    return r, a


def changed_after(x, c):
    a = [x[0], x[1]]
    r = a if x[2] > c else [x[1], x[2]]
    a[0] = 100.0
    return r


def changed_joined(x, c):
    a = [x[0], x[1]]
    r = a if x[2] > c else [x[1], x[2]]
    r[0] = 100.0
    return a


def asked_which(x, c):
    best = [0.0, 0]
    first = best
    for i in range(20):
        if x[i] > best[0]:
            best = [x[i], i]
    return best is first, best


def two_names(x, c):
    a = [0.0]
    b = a
    for i in range(20):
        if x[i] > c:
            a = [x[i]]
            b = a
    return a, b


def listed_and_kept(x, c):
    out = []
    r = [0.0, 0]
    for i in range(20):
        r = [x[i], i] if x[i] > c else [x[i], -1]
        out.append(r)
    return out, r


def alias_in_arm(x, c):
    if x[2] > c:
        made = [x[0], 1]
        m = made
    else:
        made = [x[1], 2]
        m = made
    made[0] = 99.0
    return made, m


def alias_object(x, c):
    if x[2] > c:
        made = [x[0], 1]
        p = Box()
        p.part = made
    else:
        made = [x[1], 2]
        p = Box()
        p.part = made
    made[0] = 99.0
    return made, p.part


def alias_tuple(x, c):
    if x[2] > c:
        made = [x[0], 1]
        p = (made, made)
    else:
        made = [x[1], 2]
        p = (made, made)
    p[0][0] = 99.0
    return p


def listed_in_arm(x, c):
    out = []
    for i in range(20):
        if x[i] > c:
            r = [x[i], i]
            out.append(r)
        else:
            r = [0.0, -1]
            out.append(r)
        r[0] = r[0] + 1
    return out


def changed_in_an_arm(x, c):
    a = [x[0], 1]
    if x[2] > c:
        b = list(a)
        a[0] = 1
    else:
        a = a if x[3] > c else [x[1], 7]
        b = a
    return a, b


def of_another_kind(x, c):
    a = [x[0], 1]
    out = []
    for _ in range(20):
        out.append(0.0)
    if x[2] > c:
        out.append((a[0], 2))
        a[1] += x[3]
    return a


CAPTURED: list[Callable[..., Any]] = [
    chosen,
    branch,
    returned,
    of_two_lengths,
    unpacked,
    append_joined,
    of_arrays,
    in_a_loop,
    arrays_in_a_loop,
    kept_as_it_was,
    best_so_far,
    in_a_dict,
    nested,
    run_over,
    copies,
    appended,
    while_swap,
    in_two_branches,
    one_of_before,
    of_a_text,
    beyond_a_text,
    *(asked_which, two_names, alias_in_arm, alias_object, alias_tuple, listed_in_arm),
    of_another_kind,
    *(aliased, changed_after, changed_joined, listed_and_kept, changed_in_an_arm),
]
CALLS = (
    (np.arange(30.0), 1.5),
    (np.arange(30.0), 2.5),
    (np.arange(30.0)[::-1].copy(), 3.5),
    (np.ones(30), 1.5),
)


def _check(program: Callable[..., Any], compiled: Callable[..., Any]) -> None:
    for x, c in CALLS:
        expected, found = run(program, (x.copy(), c)), run(compiled, (x.copy(), c))
        assert difference(expected, found) == ""


@pytest.mark.parametrize("program", CAPTURED, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=program is not beyond_a_text)
    _check(program, compiled)
    raised = sum(run(program, call).error is not None for call in CALLS)
    assert compiled.cache_info().eager_calls == raised


def two(b, w, xs):
    for x in xs:
        b = [y - x for y in b]
        w = [y + x for y in w]
    return b, w


def exchanged(b, w, xs):
    for x in xs:
        b, w = w, [y - x for y in b]
    return b, w


def behind(b, w, xs):
    for x in xs:
        w = b
        b = [y - x for y in b]
    return b, w


def now_one(b, w, xs):
    for x in xs:
        b = [y - x for y in b]
        if x > 0:
            w = [*b]
    return {"b": b, "w": w}


@pytest.mark.parametrize("program", [two, exchanged, behind, now_one])
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_two_lists_that_one_loop_makes_anew(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    for size in (7, 9, 0, 1, 12):
        for is_one in (False, True):

            def given(size: int = size, is_one: bool = is_one) -> Any:
                b = [np.ones((2, 2)), np.ones((3, 2))]
                return b, b if is_one else [np.ones((2, 2)), np.ones((3, 2))], np.arange(size) - 1.0

            assert difference(run(program, given()), run(compiled, given())) == ""
    if program is two:
        graph = str(fxc.compile(two, fullgraph=True).inspect(*given()).captured)
        assert graph.count("subtract(") < 8  # the loop is one of the graph
