"""``list`` and ``sorted`` of a generator expression with a condition, as of a list comprehension."""

# ruff: noqa: C400

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
