"""What is overwritten before anybody reads it is not written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.graph import walk
from fxc.passes.overwrites import _is_covered, _with
from tests.outcomes import difference, run


def covered_by_pieces(x):
    out = np.zeros(8)
    out[:3], out[3:] = x[:3], 2.0 * x[3:]
    return out


def frame_and_middle(x):
    out = np.ones((8, 8))
    out[0] = out[-1] = 1.0
    out[1:-1, 0] = 2.0
    out[1:-1, -1] = 3.0
    out[1:-1, 1:-1] = x[1:-1, None]
    return out


def all_over_again(x):
    x += 1.0
    x[2:4] = x[:2]
    x[:] = 3.0


def hidden_by_a_larger_one(x):
    x[2:4] = 1.0
    x[5] = 2.0
    x[1:7] = 3.0


def read_in_between(x):
    x[2:4] = 1.0
    y = x.sum()
    x[1:7] = y


def every_other(x):
    x[1:5] = 1.0
    x[0:6:2] = 2.0


def through_a_view(x):
    y = np.zeros((2, 4))
    y.reshape(8)[...] = x
    y.T[...] = 1.0
    return y


def raises_all_the_same(x):
    x[:] = 5.0 / float(len(x))
    x[:] = 2 ** x.astype(int)
    x[:] = 1.0


# How many nodes write or make an array to write to, after simplification.
CASES: dict[Callable[..., Any], tuple[int, bool]] = {
    covered_by_pieces: (2, True),
    frame_and_middle: (5, True),
    all_over_again: (0, False),
    hidden_by_a_larger_one: (1, False),
    read_in_between: (2, False),
    every_other: (2, False),
    through_a_view: (0, False),
}


def argument() -> np.ndarray:
    return np.arange(1.0, 9.0)


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("program", [*CASES, raises_all_the_same], ids=lambda f: f.__name__)
def test_is_as_numpy(program: Callable[..., Any], backend: str) -> None:
    compiled = fxc.compile(program, fullgraph=True, backend=backend)
    assert not difference(run(program, [argument()]), run(compiled, [argument()]))


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_hidden_writes_are_dropped(program: Callable[..., Any]) -> None:
    scatters, unset = CASES[program]
    graph = fxc.compile(program, fullgraph=True).inspect(argument()).functional
    ops = [node.op for node in walk(graph.body)]
    assert sum(op.endswith("_scatter") for op in ops) == scatters, graph
    assert ("empty" in ops) == unset, graph


def test_coverage_of_boxes() -> None:
    rng = np.random.default_rng(0)

    def box() -> tuple[tuple[int, int], ...]:
        low = rng.integers(0, 5, 2)
        return tuple((int(a), int(a + n)) for a, n in zip(low, rng.integers(0, 5, 2), strict=True))

    for _ in range(200):
        whole, others = box(), [box() for _ in range(rng.integers(1, 8))]
        left = np.zeros((10, 10), bool)
        left[tuple(slice(*ends) for ends in whole)] = True
        for other in others:
            left[tuple(slice(*ends) for ends in other)] = False
        assert _is_covered(whole, others) == (not left.any()), (whole, others)


def running(x):
    out = np.empty_like(x)
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total
    return out


def outer_part(x):
    out = np.empty(len(x) + 2)
    out[0] = out[-1] = 0.0
    out[1:-1] = x
    return out


def equal_to_itself(x):
    unset = np.empty(len(x), np.int64)
    return unset + 1, unset + 1


LARGE = np.random.default_rng(0).random(2000)


@pytest.mark.parametrize("function", [running, outer_part])
def test_large_empty_arrays_are_not_filled(function: Callable[..., Any]) -> None:
    compiled = fxc.compile(function, fullgraph=True)
    for _ in range(2):
        assert not difference(run(function, (LARGE,)), run(compiled, (LARGE.copy(),)))
    loops = str(compiled.inspect(LARGE).loops)
    assert not re.search(r"\[i\d+\] = 0", loops)


def test_what_an_empty_array_holds_is_the_same_for_all_readers() -> None:
    first, second = fxc.compile(equal_to_itself, fullgraph=True)(LARGE)
    np.testing.assert_array_equal(first, second)


def test_small_empty_arrays_are_filled() -> None:
    """They may lie in the stack frame, where LLVM takes what is not set for anything."""
    loops = str(fxc.compile(running).inspect(LARGE[:10]).loops)
    assert re.search(r"\[i\d+\] = 0", loops)


def test_writes_of_one_element_after_another_are_one_box() -> None:
    """Each is compared with few others, however many there are."""
    boxes: list[Any] = []
    for row in reversed(range(20)):
        for column in reversed(range(20)):
            boxes = _with(boxes, ((row, row + 1), (column, column + 1)))
            assert len(boxes) <= 2
    assert boxes == [((0, 20), (0, 20))]
    assert _with(boxes, ((3, 4), (0, 20))) == boxes
    apart = [((2 * place, 2 * place + 1),) for place in range(5000)]
    for box in apart:
        boxes = _with(boxes, box) if len(boxes[0]) == 1 else [box]
    assert boxes == apart[-len(boxes) :]
    assert len(boxes) < 500
