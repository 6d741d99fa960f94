"""Arrays that loops make longer: Note [Arrays that grow]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def peaks(x):
    places, heights = np.array([], dtype=int), np.empty((0, 2))
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            places = np.append(places, i)
            heights = np.vstack((heights, [i, x[i]]))
    return places, x[places], heights[heights[:, 1].argsort()]


def records(x):
    found = np.array([], np.float32)
    for v in x.astype(np.float32):
        if len(found) == 0 or v > found[-1]:
            found = np.append(found, v)
    return found, found.dtype, found.sum()


def several_at_once(x):
    out, total = np.ones(2), 0.0
    for v in x:
        if v > 0:
            out = np.append(out, v)
            out = np.hstack([out, [v * 2, out[-1]]])
        elif v < -1:
            out = np.concatenate((out, np.array([-v])))
        total += out.mean() + out.size
    return out, total


def in_loops(x):
    out = np.zeros((0, 3))
    for i in range(len(x)):
        for j in range(i):
            if x[i] * x[j] > 2:
                out = np.append(out, [[i, j, x[i]]], axis=0)
    return out.T, out.shape, len(out)


def left_early(x):
    out, i = np.array([]), 0
    while i < len(x):
        if x[i] > 2.2:
            return out, i
        if x[i] > 0:
            out = np.append(out, x[i])
        i += 1
    return out, -1


def written_behind(x):
    out = np.array([True, False])
    for v in x:
        if abs(v) > 1:
            out = np.append(out, v > 0)
    again = out
    again[0] = False
    out |= True
    return out, again is out, np.append(out, False)


def begun_in_a_loop(x):
    out, ends = np.zeros(len(x)), np.array([], dtype=int)
    for i in range(len(x)):
        near, weights = np.array([]), np.array([])
        for j in range(len(x)):
            if abs(x[i] - x[j]) < 0.3:
                near = np.append(near, x[j])
                weights = np.append(weights, 1 / (1 + abs(i - j)))
        out[i] = (near * weights).sum() / weights.sum() if len(near) > 1 else -1.0
        if len(near) > 2:
            ends = np.append(ends, [i, len(near)])
    return out, ends


def _above(x, least):
    found = np.empty((0, 2))
    for i, v in enumerate(x):
        if v > least:
            found = np.vstack((found, [i, v]))
    return found


def begun_in_a_function(x):
    total = 0.0
    for v in x:
        rows = _above(x, v)
        total += rows[:, 1].max() - rows[0, 0] if len(rows) else 1.0
        for place, height in rows:
            total -= place * height
    return total


def shaped_behind(x):
    out = np.empty(0)
    for v in x:
        if v > 0:
            out = np.append(out, v)
    out.shape = (len(out), 1)
    return out


def columns(x):
    state, past, more = np.ones((3, 1)), np.zeros((3, 1)), np.empty((2, 0), np.float32)
    for v in x:
        if v > -1:
            state = state * 0.5 + v
            past = np.hstack((past, state))
        more = np.append(more, np.ones((2, 2), np.float32), axis=1)
    return past, past[:, -1], more


def columns_of_more_rows(x):
    times, out = np.arange(20.0), np.empty((20, 0))
    for v in x:
        if v > 0:
            out = np.concatenate([out, np.column_stack((times, times * v))], axis=-1)
    return out, out.sum()


def begun_as_another(x):
    state, other, i = np.ones((2, 1)), np.zeros((1, 3)), 0
    past, more = state, other
    while i < len(x):
        state, other = state * 0.5 + x[i], other + past[0, -1]
        past, more = np.hstack((past, state)), np.vstack((more, other))
        i += 1
    return past, state, more, other


def by_counted_parts(x):
    places = np.array([], dtype=int)
    for v in x:
        places = np.append(places, np.flatnonzero(x > 10 * v))
    return places


CAPTURED = [
    *(peaks, records, several_at_once, in_loops, left_early, written_behind, shaped_behind),
    *(columns, columns_of_more_rows, begun_as_another, by_counted_parts),
]


@pytest.mark.parametrize("fn", [*CAPTURED, begun_in_a_loop, begun_in_a_function])
def test_captured(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for n in (40, 41, 12, 90):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(fn, (x,)), run(compiled, (x,))) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def beside_the_first(x):
    out = np.array([1.0, 2.0])
    first = out
    for v in x:
        if v > 1:
            out = np.append(out, v)
    return out, first


def asked(x):
    out, same = np.array([1.0, 2.0]), 0
    for v in x:
        before = out
        if v > 1:
            out = np.append(out, v)
        same += before is out
    return same


def kept_in_a_loop(x):
    out, kept = np.array([1.0]), []
    for v in x:
        if v > 1:
            out = np.append(out, v)
        kept.append(out)
    return out, kept[0] is out, kept[-1] is out


def of_another_dtype(x):
    out = np.array([], dtype=int)
    for v in x:
        if v > 0:
            out = np.append(out, v)
    return out


def of_other_rows(x):
    out = np.zeros((0, 2))
    for v in x:
        if v > 0:
            out = np.vstack([out, [v, v, v]])
    return out


def written_where_it_is_begun(x):
    total = 0.0
    for v in x:
        out = np.array([1.0, 2.0])
        first = out
        for w in x:
            if w > v:
                out = np.append(out, w)
        out[0] = 5
        total += out.sum() + first[0]
    return total


def replaced_by_another(x):
    best = np.array([])
    for v in x:
        out = np.array([])
        for w in x:
            if w > v:
                out = np.append(out, w)
        if len(out) > len(best):
            best = out
    return best


def made_longer_twice(x):
    out, other = np.array([]), np.array([])
    for v in x:
        if v > 0:
            out = np.append(out, v)
        elif v < -1:
            other = np.append(out, 0.0)
    return out, other


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "fn",
    [
        *(beside_the_first, asked, kept_in_a_loop, of_another_dtype),
        *(made_longer_twice, written_where_it_is_begun, replaced_by_another),
    ],
)
def test_left_to_python(fn: Callable[..., Any]) -> None:
    with pytest.raises(fxc.CaptureError):
        fxc.compile(fn, fullgraph=True)(np.linspace(-2, 2, 60))
    compiled = fxc.compile(fn)
    for x in (np.linspace(-2, 2, 60), np.linspace(-0.5, -0.1, 60), np.zeros(0)):
        assert difference(run(fn, (x,)), run(compiled, (x,))) == ""


def perhaps_no_longer(x, first):
    out = state = first
    for v in x:
        state = state * 0.5
        if v > 0:
            out = np.append(out, v)
    return out, state, first


def written_meanwhile(x, first):
    out = first
    for v in x:
        first += v
        out = np.append(out, v)
    return out, first


def written_by_another_name(x, first):
    out = state = first
    for v in x:
        state[0] += v
        state = state * 0.5
        out = np.append(out, v)
    return out, first


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", [perhaps_no_longer, written_meanwhile, written_by_another_name])
def test_what_begins_as_another_variable_is_that_one(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for x in (np.linspace(-1, 1, 5), -np.ones(4), np.zeros(0)):
        assert difference(run(fn, (x, np.ones(3))), run(compiled, (x, np.ones(3)))) == ""


def rows_in_fortran_order(x):
    out = np.ones((1, 3))
    for v in x:
        out = np.vstack((out, np.full((3, 2), v).T))
    return out


def test_the_layout_of_the_result_is_numpys() -> None:
    """One row has any layout: then the rows that come decide."""
    x = np.arange(60.0)
    assert rows_in_fortran_order(x).flags.f_contiguous
    compiled = fxc.compile(rows_in_fortran_order, fullgraph=True)
    assert difference(run(rows_in_fortran_order, (x,)), run(compiled, (x,))) == ""


def test_rows_that_do_not_fit_are_numpys_error():
    compiled = fxc.compile(of_other_rows, fullgraph=True)
    for x in (np.linspace(-2, 2, 60), np.linspace(-0.5, -0.1, 60)):
        assert difference(run(of_other_rows, (x,)), run(compiled, (x,))) == ""


def of_the_caller(x, given):
    out = np.asarray(given)
    for v in x:
        if v > 0:
            out = np.append(out, v)
    return out


def made_by_the_program(x, given):
    def begun():
        given.append(np.zeros(2))
        return given[-1]

    out = begun()
    for v in x:
        if v > 0:
            out = np.append(out, v)
    out[:1] = 7.0
    return out


def of_another_variable(x, given):
    first = np.zeros(2)
    out = np.asarray(first)
    for v in x:
        if v > 0:
            out = np.append(out, v)
    out[:1] = 7.0
    return out, first


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "fn, given",
    [(of_the_caller, lambda: np.ones(2)), (made_by_the_program, list), (of_another_variable, list)],
)
def test_an_array_that_somebody_has_is_itself(fn: Callable[..., Any], given: Any) -> None:
    compiled = fxc.compile(fn)
    for x in (np.linspace(-1, 1, 50), -np.ones(40)):
        assert difference(run(fn, (x, given())), run(compiled, (x, given()))) == ""


def test_a_loop_may_lengthen_an_array_or_write_it() -> None:
    def grown(c, m):
        for _ in range(m):
            n = len(c)
            if n == 1 and np.all(c[0] == 0):
                c[0] += 1.0
            else:
                longer = np.empty(n + 1)
                longer[0] = c[0] * 0
                longer[1:] = c
                c = longer
        return c

    compiled = fxc.compile(grown, fullgraph=True)
    for m in (1, 2, 3):
        assert difference(run(grown, (np.ones(2), m)), run(compiled, (np.ones(2), m))) == ""
