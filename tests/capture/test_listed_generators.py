"""``list`` and ``sorted`` of a generator expression with a condition, as of a list comprehension."""

# ruff: noqa: B905, C400, RUF007

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def numbers(x):
    found = list(v for v in x if v > 0)
    found.append(3.0)
    return found, len(list(i for i in range(len(x)) if x[i] > 1)), np.array(found)


def pairs(x):
    return list((i, 2 * v) for i, v in enumerate(x) if v > 0 if v < 1)


def in_order(x):
    low = sorted(v for v in x if v < 0)
    return low, sorted((v for v in x if v > 0), reverse=True)[:1]


def known(x):
    return x * sum(list(i for i in range(9) if i % 2)), sorted(-k for k in (1, 2, 3) if k > 1)


PROGRAMS = (numbers, pairs, in_order, known)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_equals_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    rng = np.random.default_rng(4)
    for n in (40, 50, 3, 1, 0):
        x = rng.normal(size=n)
        assert difference(run(program, (x,)), run(compiled, (x,))) == "", n
    assert compiled.cache_info().eager_calls == 0
    before = compiled.cache_info().variants
    for n in (90, 130, 300):
        compiled(rng.normal(size=n))
    assert compiled.cache_info().variants == before


def test_a_function_of_the_program_by_that_name_is_not_taken_for_the_builtin() -> None:
    space: dict[str, Any] = {"np": np, "sorted": lambda items: type(items).__name__}
    exec("def f(x):\n    return sorted(v for v in x if v > 0), x + 1\n", space)
    f, x = space["f"], np.arange(30.0)
    compiled = fxc.compile(f)
    assert difference(run(f, (x,)), run(compiled, (x,))) == ""


def parts_of_targets(x):
    table = [(i, i + 1, v) for i, v in enumerate(x)]
    total = sum(v for _, _, v in table)
    near = [a - b for i, (a, b) in enumerate(zip(x, x[::-1])) if i % 2 and a > b]
    last = [b for b, b in zip(x, x[::-1])]
    nested = sum(a * j for i, (a, _) in enumerate(zip(x, x)) for j in range(i) if a > 0)
    return total, near, last, nested, max((a * b, i) for i, (a, b) in enumerate(zip(x, x[1:])))


def of_all_pairs(x):
    n = len(x)
    edges = sorted((abs(x[i] - x[j]), i, j) for i in range(n) for j in range(i))
    pairs = [(x[i], j) for i in range(n) for j in range(n)]
    total = 0.0
    for distance, i, j in edges:
        total += distance * (i - j)
    for v, j in pairs:
        total += v * j
    return total


@pytest.mark.parametrize("program", [parts_of_targets, of_all_pairs], ids=["parts", "pairs"])
def test_several_variables(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for n in (40, 41, 90):
        x = np.random.default_rng(n).normal(size=n)
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().variants == 1
    assert len(str(compiled.inspect(x).captured).splitlines()) < 250
