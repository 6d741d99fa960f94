"""Assignments between overlapping vectors, whose order shows where their steps differ."""

import numpy as np
import pytest

import fxc
from fxc.capture.arrays.assignments import is_order_shown
from tests.outcomes import Outcome, difference, run


def vectors(rng, base):
    """Two vectors of one length somewhere in ``base``."""
    size = int(rng.integers(1, 12))
    for _ in range(2):
        step = int(rng.choice([-4, -3, -2, -1, 1, 2, 3, 4]))
        start = int(rng.integers(36, 53))
        yield base[start::step][:size]


def test_numpy_reads_what_it_has_overwritten_exactly_where_said():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(4000):
        base = np.arange(100)
        target, source = vectors(rng, base)
        if target.size != source.size:
            continue
        said, read_first = is_order_shown(target, source), source.copy()
        target[...] = source
        assert said == (not np.array_equal(target, read_first))
        seen.add(said)
    assert seen == {True, False}


def spreads(b):
    b[:16:2] = b[:8]


def spreads_as_far_as(b, count):
    b[: 2 * count : 2] = b[:count]


def spreads_where(b):
    np.copyto(b[:16:2], b[:8], where=b[:8] > 2)


def spreads_in_a_loop(b):
    def body(i, carried):
        carried[i : i + 8 : 2] = carried[i : i + 4]
        return carried

    return fxc.fori_loop(0, 3, body, b)


ORDERED = [(spreads, ()), (spreads_as_far_as, (8,)), (spreads_where, ()), (spreads_in_a_loop, ())]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("fn, rest", ORDERED)
def test_where_the_order_shows_it_is_refused(fn, rest, dynamic):
    with pytest.raises(fxc.CaptureError, match="order of elements") as caught:
        fxc.compile(fn, fullgraph=True, dynamic=dynamic)(np.arange(20.0), *rest)
    assert "test_assignments.py" in caught.value.__notes__[0]
    with pytest.warns(fxc.CaptureWarning, match="copy the source first"):
        result = fxc.compile(fn, dynamic=dynamic)(given := np.arange(20.0), *rest)
    found = Outcome(result, None, (given, *rest))
    assert difference(run(fn, (np.arange(20.0), *rest)), found) == ""


def gathers(b):
    b[:8] = b[:16:2]


def gathers_as_many_as(b, count):
    b[:count] = b[: 2 * count : 2]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("fn, rest", [(gathers, ()), (gathers_as_many_as, (8,))])
def test_where_it_does_not_it_is_compiled(fn, rest, dynamic):
    program = fxc.compile(fn, fullgraph=True, dynamic=dynamic)
    for size in (16, 20):
        given = np.arange(float(size)), *rest
        expected = run(fn, (given[0].copy(), *rest))
        assert difference(expected, run(program, given)) == ""
    assert program.cache_info().eager_calls == 0


def test_arguments_of_which_one_is_spread_over_the_other():
    def fn(x, y):
        x[...] = y

    def make():
        base = np.arange(16.0)
        return base[::2], base[:8]

    program = fxc.compile(fn)
    for _ in range(2):
        assert difference(run(fn, make()), run(program, make())) == ""
    assert program.cache_info().eager_calls == 2
    assert difference(run(fn, make()[::-1]), run(program, make()[::-1])) == ""
    assert program.cache_info().native_calls == 1
