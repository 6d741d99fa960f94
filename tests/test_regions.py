"""Branches and loops in the graph: what their regions may do, at each level."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.capture import capture
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph
from fxc.ir.parse import parse_graph
from fxc.ir.verify import problems
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE
from fxc.passes.reinplace import reinplace
from fxc.stages import decomposed_graph, functional_graph, llvm_index, native
from tests.levels import cheaply
from tests.outcomes import difference, run


def check(fn: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> None:
    """NumPy against the evaluated graph and the native code; the text of each stage reads back."""
    expected = run(fn, make())
    assert expected.error is None
    text = difference(expected, cheaply(fn, make()))
    assert not text, f"the evaluated graph: {text}"
    for options in ({}, {"dynamic": True}):
        compiled = fxc.compile(fn, fullgraph=True, **options)
        for _ in range(2):
            text = difference(expected, run(compiled, make()))
            assert not text, f"native code, {options}: {text}"
        info = compiled.cache_info()
        assert (info.variants, info.eager_calls, info.fallbacks) == (1, 0, {})
    captured = capture(fn, make(), {}, effects=False)
    graph = functional_graph(captured)
    for each in (captured.graph, graph, reinplace(decomposed_graph(graph, llvm_index()))):
        assert str(parse_graph(str(each), TABLE.schema_of)) == str(each)


def parsed(text: str) -> Graph:
    return parse_graph(text, TABLE.schema_of)


# ---------------------------------------------------------------- fxc.while_loop


def doubling(x, most):
    return fxc.while_loop(lambda a: a.sum() < most, lambda a: 2 * a, x)


def newton(x):
    def far(state):
        return state[1] > 1e-12

    def step(state):
        root, _ = state
        new = 0.5 * (root + x / root)
        return new, np.abs(new - root).max()

    return fxc.while_loop(far, step, (x, np.float64(1.0)))


def changing_places(x, y):
    def swapped(state):
        a, b, k = state
        return b + 1, a, k - 1

    return fxc.while_loop(lambda s: s[2], swapped, (x, y, x[0]))


def counted(x):
    return fxc.while_loop(lambda t: t < x.sum(), lambda t: t + x[0], np.float64(0))


def nested(x):
    def outer(a):
        inner = fxc.while_loop(lambda b: b.max() < a.max() + 10, lambda b: b + 1, a)
        return fxc.fori_loop(0, 2, lambda i, b: b + inner[i], inner)

    return fxc.while_loop(lambda a: a.min() < 50, outer, x)


def whole(size: int = 4) -> np.ndarray:
    return np.arange(1.0, size + 1)


WHILE = [
    (doubling, lambda: (whole(), 100.0)),
    (doubling, lambda: (whole(), 1.0)),
    (newton, lambda: (whole(),)),
    (changing_places, lambda: (whole() * 3, -whole())),
    (counted, lambda: (whole(),)),
    (nested, lambda: (whole(),)),
]


@pytest.mark.parametrize("fn, make", WHILE)
def test_while_loops(fn, make):
    check(fn, make)


def test_a_while_loop_over_known_values_just_runs():
    def unrolled(x):
        return fxc.while_loop(lambda n: n < x.shape[0], lambda n: n + 1, 0), x + 1

    expected = run(unrolled, (whole(),))
    assert not difference(expected, run(fxc.compile(unrolled, fullgraph=True), (whole(),)))


@pytest.mark.parametrize(
    "program, message",
    [
        (lambda x: fxc.while_loop(lambda s: "no", lambda s: s, x), "the test returns a str"),
        (
            lambda x: fxc.while_loop(lambda s: s[0] > 0, lambda s: (s, s), x),
            "the body returns another structure",
        ),
        (
            lambda x: fxc.while_loop(lambda s: s[0] > 0, lambda s: s.sum(), x),
            r"carried value 0 is f64\[4\] before the body and f64 after it",
        ),
        (lambda x: fxc.while_loop(lambda s: s.fill(1) or True, lambda s: s, x), "a write"),
    ],
)
def test_while_loops_that_are_refused(program, message):
    with pytest.raises(fxc.CaptureError, match=message):
        capture(program, (whole(),), {})


def test_the_test_of_a_loop_is_a_scalar():
    with pytest.raises(ValueError, match="the test returns an array with dimensions"):
        capture(lambda x: fxc.while_loop(lambda s: s > 0, lambda s: s - 1, x), (whole(),), {})


# ---------------------------------------------------------------- loops that stop

STOPS = """
functional f(%x: f64[4], %n: py.int)
  %0: f64[4], %1: f64 = fori_loop(0, %n, (%x, f64(0.0)), body={
    (%k: py.int, %a: f64[4], %e: f64)
    %2: f64 = select_copy(%x, 0, k)
    %3: f64 = add(%e, %2)
    %4: f64[4] = multiply(%a, %3)
    %5: bool = greater(%3, 4.0)
    yield %4, %3, %5
  }, stops=True)
  return %0, %1
  signature
    output 0 = result 0: f64[4]
    output 1 = result 1: f64
"""


@pytest.mark.parametrize("steps, last", [(0, 0.0), (2, 3.0), (3, 6.0), (4, 6.0)])
def test_a_loop_that_stops(steps, last):
    graph = parsed(STOPS.replace("f64 = select_copy", "f64[] = select_copy"))
    assert not problems(graph, table=TABLE.schema_of, meta=types_of)
    assert str(parsed(str(graph))) == str(graph)
    x = whole()
    wanted = call(graph, (x, steps), kernel_of)
    found = native(graph).assembled.plan.run(x, steps)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    assert wanted[1] == last


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("yield %4, %3, %5", "yield %4, %3", "it ends with %3, which is no bool"),
        ("yield %4, %3, %5", "yield %4, %5", "1 results, the node has 2"),
        ("stops=True", "stops=False", "3 results, the node has 2"),
    ],
)
def test_the_results_of_a_loop_that_stops(old, new, message):
    found = problems(parsed(STOPS.replace(old, new)), table=TABLE.schema_of)
    assert message in [each.message for each in found]


TEST = """
captured f(%x: f64[4])
  %0: f64[4] = while_loop((%x,), test={
    (%a: f64[4])
    %1: f64 = max(%a, axis=None, keepdims=False)
    %2: bool = less(%1, 9.0)
    yield %2
  }, body={
    (%b: f64[4])
    %3: f64[4] = add(%b, %x)
    yield %3
  })
  return %0
"""


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("yield %2", "yield %1", "it ends with %1, which is no bool"),
        ("yield %2", "yield", "it ends with None, which is no bool"),
        ("yield %2", "yield %2, %2", "1 results, the node has 0"),
        ("yield %2", "add_(%x, 1.0)\n    yield %2", "%x is written by a test"),
        ("yield %2", "add_(%a, 1.0)\n    yield %2", "%a is written by a test"),
        ("(%a: f64[4])", "()", "a region takes 0 values, (%x,) are given"),
    ],
)
def test_problems_of_a_while_loop(old, new, message):
    assert not problems(parsed(TEST), table=TABLE.schema_of, meta=types_of)
    found = problems(
        parsed(TEST.replace(old, new).replace("max(%a", "max(%x" if "()" in new else "max(%a")),
        table=TABLE.schema_of,
    )
    assert any(re.search(re.escape(message), each.message) for each in found), found
