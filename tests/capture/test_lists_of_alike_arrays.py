"""Lists of many arrays that are alike as arguments: see Note [Lists of numbers]."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.guards import arrays_of_lists
from tests.outcomes import difference, run


def _arrays(count: int, size: int = 5, seed: int = 0) -> list[np.ndarray]:
    draw = np.random.default_rng(seed).normal
    return [draw(size=size) for _ in range(count)]


def assembled(parts, places, y):
    out = np.zeros((9, 9))
    for e in range(len(places)):
        part = parts[e]
        for i, to in enumerate(places[e]):
            for j, beside in enumerate(places[e]):
                out[to, beside] += part[i] * part[j]
    return out


def pairs(parts, places, y):
    nearest = np.inf
    for i in range(len(parts)):
        for j in range(i + 1, len(parts)):
            nearest = min(nearest, np.linalg.norm(parts[i] - parts[j]))
    return nearest, sum(np.dot(a, b) for a, b in pairwise(parts))


def together(parts, places, y):
    smooth = parts[0] * 1.0
    for each in parts[1:]:
        smooth = 0.5 * smooth + 0.5 * each
    return smooth, np.array(parts), np.mean(parts, axis=0), [each * 2 for each in parts], len(parts)


@pytest.mark.parametrize("program", [assembled, pairs, together])
def test_one_compilation_serves_all_lengths(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for count in (20, 40, 17, 300):
        places = np.random.default_rng(count).integers(0, 9, size=(count, 4))
        args = _arrays(count), places, None
        assert difference(run(program, args), run(compiled, args)) == ""
    assert compiled.cache_info().variants <= 2  # len(parts) is a constant in the first


def an_item(parts, y):
    return parts[2], parts[int(y[0])]


def the_best(parts, y):
    best = parts[0]
    for each in parts:
        if each.sum() > best.sum():
            best = each
    return best


def changed(parts, y):
    total = 0.0
    for each in parts:
        total += each.sum()
        each += 1
    return total


def beside_a_write(parts, y):
    total = 0.0
    for each in parts:
        y[0] += 1
        total += each[0]
    return total


def told_apart(parts, y):
    for place, each in enumerate(parts):
        if each is y:
            return place
    return -1


def told_from_others(parts, y):
    return [a is b for a, b in zip(parts, parts[::-1])]  # noqa: B905


def in_one_place(parts, y):
    return [np.shares_memory(each, y) for each in parts]


def grown(parts, y):
    parts.append(y)
    return sum(each.sum() for each in parts), parts


def replaced(parts, y):
    parts[3] = y * 2
    return sum(each.max() for each in parts)


def kept(parts, y):
    return {place: each for place, each in enumerate(parts) if place % 2}, parts[::-1]


def facts(parts, y):
    return [(each.flags.writeable, each.strides, each.base is None) for each in parts]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program",
    [
        *(an_item, the_best, changed, beside_a_write, told_apart, told_from_others, in_one_place),
        *(grown, replaced, kept, facts),
    ],
)
def test_items_are_the_caller_s_arrays(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    for is_item in (False, True, False, True):
        for count in (20, 25, 3):  # the last are read item by item

            def given(count: int = count, is_item: bool = is_item) -> Any:
                parts = _arrays(count)
                return parts, parts[1] if is_item else np.ones(5)

            assert difference(run(program, given()), run(compiled, given())) == ""


def total(parts, y):
    found = np.zeros_like(parts[0])
    for each in parts:
        found += each
    return found


def test_arrays_that_are_not_alike() -> None:
    compiled = fxc.compile(total)
    half = _arrays(20)
    half[4] = half[4].astype(np.float32)
    long = _arrays(20)
    long[7] = np.ones(1)
    strided = [np.ones((5, 2))[:, 0] for _ in range(20)]
    grid = [np.asfortranarray(np.arange(6.0).reshape(2, 3)) for _ in range(20)]
    for parts in (_arrays(20), half, long, strided, grid, _arrays(20, 0), _arrays(20, 1), []):
        assert difference(run(total, (parts, None)), run(compiled, (parts, None))) == ""


def test_large_arrays_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays_of_lists, "_MOST_COPIED", 1000)
    compiled = fxc.compile(total, fullgraph=True)
    for size, is_copied in ((5, True), (7, False), (5, True)):
        parts = _arrays(20, size)
        assert difference(run(total, (parts, None)), run(compiled, (parts, None))) == ""
        graph = str(compiled.inspect(parts, None).captured)
        assert ("parts.items" in graph) is is_copied


def mini_batches(pairs, order):
    weights = np.zeros_like(pairs[0][0])
    pairs = [pairs[i] for i in order]
    for k in range(0, len(pairs), 4):
        change = np.zeros_like(weights)
        for x, y, z in pairs[k : k + 4]:
            change = change + x * y[0] - z
        weights = weights - 0.1 * change
    return weights


def at_places(pairs, order):
    total = 0.0
    for i in order:
        x, y, _ = pairs[i]
        total = 0.5 * total + x[0] * y[-1]
    return total


def changed_in_tuples(pairs, order):
    for x, _, z in pairs:
        x += z
    return pairs[order[0]]


def beside_a_write_in_tuples(pairs, order):
    total = 0.0
    for _, y, _ in pairs:
        order[1] = 0
        total += y.sum()
    return total, np.shares_memory(pairs[3][0], pairs[4][0])


def _pairs(count: int, seed: int) -> list[Any]:
    rows = zip(_arrays(count, 4, seed), _arrays(count, 3, seed), strict=True)
    return [(x, y, float(k)) for k, (x, y) in enumerate(rows)]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program", [mini_batches, at_places, changed_in_tuples, beside_a_write_in_tuples]
)
def test_tuples_of_alike_arrays(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    for count in (20, 31, 25):

        def given(count: int = count) -> Any:
            return _pairs(count, count), np.random.default_rng(count).permutation(count)

        assert difference(run(program, given()), run(compiled, given())) == ""
    if program in (mini_batches, at_places):
        info = compiled.cache_info()
        assert info.variants <= 2
        assert info.eager_calls == info.parts == 0


def test_a_write_to_an_array_in_a_tuple() -> None:
    def program(pairs, y):
        total = 0.0
        for x, _, _ in pairs:
            y[0] += 1
            total += x[0]
        return total

    compiled = fxc.compile(program)
    for is_item in (False, True, False):

        def given(is_item: bool = is_item) -> Any:
            pairs = _pairs(20, 0)
            return pairs, pairs[7][0] if is_item else np.ones(5)

        assert difference(run(program, given()), run(compiled, given())) == ""


def appended(x, y):
    parts = [y]
    for v in x:
        if v > 0:
            parts.append(y * v)
    return [np.shares_memory(each, y) for each in parts]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_questions_about_the_memory_of_items() -> None:
    compiled = fxc.compile(appended)
    for x in (np.array([1.0, -1.0, 2.0]), np.array([-1.0, 1.0, 1.0])):
        args = x, np.ones(4)
        assert difference(run(appended, args), run(compiled, args)) == ""
