"""Iterators that functions take up at once: ``list(map(f, x))``, ``sum(filter(f, x))``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check

X = np.linspace(-2.0, 3.0, 40)


def bent(v: float) -> float:
    if v < 1.0:
        return -2.0 * v
    return v * v


def is_large(v: float) -> bool:
    return v > 0.5


PROGRAMS: dict[str, Any] = {
    "list of map": lambda x: list(map(bent, x)),
    "list of map over a range": lambda x: list(map(x.__getitem__, range(len(x)))),
    "list of zip": lambda x: list(zip(x, x[::-1], strict=True)),
    "list of enumerate": lambda x: list(enumerate(map(bent, x))),
    "map of two": lambda x: list(map(lambda a, b: a * b, x, x[1:])),
    "array of list of map": lambda x: np.array(list(map(bent, x))),
    "tuples": lambda x: (tuple(map(bent, x)), tuple(bent(v) for v in x), tuple(enumerate(x))),
    "parts of tuples": lambda x: (tuple(map(bent, x))[::-2], sum(tuple(map(bent, x)))),
    "indices": lambda x: (x[tuple(slice(n) for n in x.shape)], np.ones(tuple(n for n in x.shape))),
    "tuples of others": lambda x: (tuple([] for _ in x[:3]), tuple(reversed(x)), tuple(range(40))),
    "a tuple of the program's": lambda x: (lambda tuple: tuple(v for v in x))(sum),
    "sorted": lambda x: (sorted(map(abs, x)), sorted((abs(v) for v in x), reverse=True)),
    "extremes": lambda x: (max(map(bent, x)), min(filter(is_large, x)), max(filter(is_large, x))),
    "sums": lambda x: (sum(map(bent, x)), sum((bent(v) for v in x), 1.5), sum(filter(None, x))),
    "sum with a start by name": lambda x: sum((bent(v) for v in x), start=0.5),
    "sum of arrays": lambda x: sum((x[i : i + 2] for i in range(8)), np.zeros(2)),
    "products": lambda x: (math.prod(map(bent, x)), math.prod((v for v in x if v > 0), start=2)),
    "filter": lambda x: (list(filter(is_large, x)), len(list(filter(lambda v: v > 9, x)))),
    "filter of a range": lambda x: list(filter(lambda i: x[i] > 0, range(len(x)))),
    "any, all": lambda x: (any(filter(is_large, x)), all(map(is_large, x)), set(map(int, x))),
    "extended": lambda x: [v for found in [[]] for v in [found.extend(2 * v for v in x), found][1]],
    "fromiter": lambda x: (
        np.fromiter((bent(v) for v in x), float),
        np.fromiter(map(bent, x), "f4"),
        np.fromiter((v for v in x if v > 0), float),
        np.fromiter(filter(is_large, x), np.float64),
        np.fromiter((i for i in range(len(x))), dtype=int, count=len(x)),
        np.fromiter([1, 2, 3], float),
        np.fromiter(x, complex),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_python(name: str) -> None:
    check(PROGRAMS[name], (X,), (X[3:],))


def test_fromiter_that_raises() -> None:
    def few(x: np.ndarray) -> np.ndarray:
        return np.fromiter((v for v in x), float, count=len(x) + 1)

    def cut(x: np.ndarray) -> np.ndarray:
        return np.fromiter((v for v in x), int)

    for program in (few, cut):
        check(program, (X,), fullgraph=False, eager=2)


def test_an_iterator_is_gone_afterwards() -> None:
    def twice(x: np.ndarray) -> tuple[list[float], list[float]]:
        found = filter(is_large, x)
        return list(found), list(found)

    def one_by_one(x: np.ndarray) -> tuple[float, list[float]]:
        found = filter(is_large, x)
        return next(found), list(found)

    for program in (twice, one_by_one):
        check(program, (X,), fullgraph=False, eager=2)


def test_a_long_list_of_a_map_is_a_loop() -> None:
    compiled = fxc.compile(lambda x: list(map(bent, x)), fullgraph=True)
    text = str(compiled.inspect(np.ones(5000)).captured)
    assert len(text.splitlines()) < 60


def test_a_loop_computes_the_items_of_a_long_tuple() -> None:
    def program(x: np.ndarray) -> tuple[float, ...]:
        return tuple(map(bent, x))

    def another(x: np.ndarray) -> tuple[float, ...]:
        return tuple(bent(v) for v in x)

    for function in (program, another):
        graph = fxc.compile(function, fullgraph=True).inspect(X).captured
        assert sum(bool(node.regions) for node in graph.nodes) <= 2  # not one for each item
        assert len(graph.nodes) < 3 * len(X)
