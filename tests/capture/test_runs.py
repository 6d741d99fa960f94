"""``itertools.groupby`` of numbers: runs, and their items, as loops of the graph."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def lengths(x):
    longest = max((len(list(g)) for v, g in groupby(x > 0) if v), default=0)
    return longest, [len(list(g)) for v, g in itertools.groupby(x > 0.5) if v]


def lists_of_runs(x):
    coded = [(k, len(list(g))) for k, g in groupby(np.sign(x).tolist())]
    return coded, [list(g) for _, g in groupby(x, key=int)]


def counted_in_a_list(x):
    return [(int(k), sum(1 for _ in g)) for k, g in groupby((x > 0.5).astype(int))]


def places_of_runs(x):
    total, widths = 0.0, np.zeros(len(x))
    for high, run_of_places in groupby(range(len(x)), key=lambda i: x[i] > 0.5):
        places = list(run_of_places)
        if high:
            total += x[places[0]] * x[places[-1]]
        widths[places[0] : places[-1] + 1] = len(places)
    return total, widths


def of_pairs(x):
    sums = []
    for low, pairs in groupby(zip(np.sort(x), x, strict=True), lambda pair: int(pair[0])):
        s = 0.0
        for a, b in pairs:
            s += a * b
        sums.append((low, s))
    firsts, found = [(int(v), i) for i, v in enumerate(x)], []
    for k, g in groupby(firsts, itemgetter(0)):
        found.append((k, sum(i for _, i in g)))
    return sums, found


def left_early(x):
    for k, (v, g) in enumerate(groupby(np.floor(x))):
        if k == 3:
            return v, sum(g)
    return None


def items_that_stay(x):
    """Of a run nothing, one item, or all."""
    found = []
    for v, g in groupby(np.floor(x)):
        if v > 0:
            for item in g:
                found.append(item)
                if v > 1:
                    break
    return found


PROGRAMS = [
    *(lengths, lists_of_runs, counted_in_a_list, places_of_runs, of_pairs, left_early),
    items_that_stay,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_equals_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(1)
    for n in (50, 70, 0):
        x = rng.normal(size=n)
        assert difference(run(program, (x,)), run(compiled, (x,))) == "", n
    assert compiled.cache_info().eager_calls == 0
    before = compiled.cache_info().variants
    for n in (90, 130, 300):
        compiled(rng.normal(size=n))
    assert compiled.cache_info().variants == before


def test_runs_of_a_text() -> None:
    def coded(text):
        return "".join(f"{len(list(g))}{c}" for c, g in groupby(text))

    compiled = fxc.compile(coded, fullgraph=True)
    for text in ("AABBBBC", "AAAAAABCC", "BCAAB" * 9, "A" * 31):
        assert compiled(text) == coded(text)


def test_a_nan_in_a_list_is_equal_to_itself() -> None:
    def of_list(x):
        items = list(x)
        items += [items[0]] * 2
        return [len(list(g)) for _, g in groupby(items)]

    compiled = fxc.compile(of_list)
    for x in (np.arange(30.0) // 4, np.full(30, np.nan), np.arange(40.0)):
        assert compiled(x) == of_list(x)


def written_meanwhile(x):
    for k, (_, g) in enumerate(groupby(x)):
        x[min(k + 3, len(x) - 1)] = len(list(g))
    return x


def by_a_variable_of_the_loop(x):
    limit, runs = 0.0, 0
    for _, g in groupby(x, key=lambda v: v > limit):
        limit += 0.3 * sum(1 for _ in g)
        runs += 1
    return runs


def by_a_global(x):
    return [len(list(g)) for _, g in groupby(x, key=_above)]


LIMIT = 0.25


def _above(v):
    return v > LIMIT


def groups_that_are_gone(x):
    groups = [g for _, g in groupby(x)]
    return [list(g) for g in groups]


def keys_that_count(x):
    seen = []
    for _, g in groupby(x, key=lambda v: seen.append(v) or v > 0):
        seen.append(-sum(g))
    return seen


LEFT = [
    *(written_meanwhile, by_a_variable_of_the_loop, by_a_global, groups_that_are_gone),
    keys_that_count,
]


@pytest.mark.parametrize("program", LEFT, ids=lambda program: program.__name__)
def test_what_changes_in_the_loop_is_left_to_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    rng = np.random.default_rng(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for n in (40, 60):
            mine = np.round(rng.normal(size=n), 1)
            numpys = mine.copy()
            assert difference(run(program, (numpys,)), run(compiled, (mine,))) == ""
