"""Random programs of views and writes, plain and compiled: everything a caller sees is equal.

``tests/levels.py`` says how they are run. ``FXC_FUZZ_PROGRAMS`` sets how many of them (``make fuzz``),
a tenth of them natively; a failing one is shrunk and printed as source. Those that are refused for a reason
that docs/limits.md has run in parts instead; ``make fuzz`` prints how many there were.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

from fxc.capture.capture import capture
from fxc.ir.graph import walk
from fxc.ops.table import TABLE
from tests.conftest import REFUSED
from tests.levels import Level, cheaply, natively, shrunk_failure, symbolically
from tests.outcomes import difference, run
from tests.random_programs import random_program
from tests.spellings import IN_PARTS, SPELLINGS, is_spelled

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0"))
CHEAP = COUNT or 150
NATIVE = COUNT // 10 or 60
SYMBOLIC = COUNT // 40 or 30
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 10  # tests to spread the programs over


Record = Callable[[str, object], None]


def check(seeds: range, level: Level, record: Record, **options: Any) -> None:
    """``record`` is told how many programs were refused, and compared in parts, and why."""
    refused: Counter[str] = Counter()
    for seed in seeds:
        text = shrunk_failure(random_program(seed, **options), level, refused)
        if text:
            pytest.fail(text, pytrace=False)
    record(REFUSED, dict(refused))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_graphs_of_random_programs(chunk: int, record_property: Record) -> None:
    check(range(FIRST + chunk, FIRST + CHEAP, CHUNKS), cheaply, record_property)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_native_random_programs(chunk: int, record_property: Record) -> None:
    check(range(FIRST + chunk, FIRST + NATIVE, CHUNKS), natively, record_property)


def test_random_programs_with_symbolic_sizes(record_property: Record) -> None:
    check(range(FIRST, FIRST + SYMBOLIC), symbolically, record_property)


# ---------------------------------------------------------------- coverage

VIEWING_OR_WRITING = [op.name for op in TABLE if is_spelled(op)]


@pytest.mark.parametrize("name", VIEWING_OR_WRITING)
def test_programs_have_each_operator_that_views_or_writes(name: str) -> None:
    assert name in SPELLINGS, "tests/spellings.py does not say how this is written in Python"
    programs = (random_program(seed, focus=name) for seed in count())
    recorded = any(name in _captured_operators(program) for program in islice(programs, 60))
    assert recorded == (name not in IN_PARTS)


def _captured_operators(program: Any) -> set[str]:
    fn, inputs = program.load()
    try:
        graph = capture(fn, inputs(), {}).graph
    except Exception:  # a program may end with what NumPy refuses
        return set()
    return {node.op for node in walk(graph.body)}


# ---------------------------------------------------------------- finds


def updated_twice(a):
    a += a
    a[:1] *= a[-1]
    return a


def squared_then_changed_through_a_view(a):
    a *= a
    a[::2] -= 7
    return a


def elements_that_swap(a):
    view = a[1::-1]
    view[0], view[1] = view[1], view[0]
    return a


def elements_of_a_copy_that_swap(a):
    copied = a.copy()
    copied[0], copied[2] = copied[2], copied[0]
    return copied


def element_kept_over_a_write(a):
    kept = a[3]
    same = a == a
    a[...] = 1
    same[:] = a
    return same * (0.5 - kept)


def rank_0_view_written_then_read(a):
    copied = a.copy()
    element = copied[2, ...]
    element[...] -= -3
    return copied + element[...]


def copy_of_a_rank_0_view(a):
    element = a[0, ...]
    copied = element.copy()
    element += 2
    copied[...] = element
    return copied


def ravel_of_gaps_is_a_copy(a):
    flat = a[::2].ravel()
    flat += 1
    return flat


def squeeze_of_nothing_is_the_array_itself(a):
    view = a[:]
    return view, view.squeeze()


def write_through_squeeze(a):
    view = a.squeeze()
    view[::3] = a[0, ...]
    return a


def layout_of_a_transposed_result(a):
    return a.reshape(1, 2, 3).transpose(2, 0, 1) * 2


def mean_of_a_reshaped_flip(a):
    return np.flip(a.reshape(2, 3)).reshape((6,)).mean(axis=None, keepdims=True)


def nothing_written_through_nothing(a):
    empty = a[:0].reshape((1, 0))
    np.multiply(np.diagonal(empty, -1), empty.transpose(0, 1), out=empty[:-1:-1, ::-1])
    return empty


def rotated_in_place(a):
    a[...] = np.concatenate([a[2:], a[:2]])


def write_through_a_reshape_of_an_array_that_took_another_layout(a):
    rows = np.stack([a, a], axis=0)
    rows[:, :] = np.flip(rows, 0).copy("F")
    flat = rows.reshape(-1)
    flat[-8] = -7.5
    return flat


def place_and_sum_of_one_operand(a):
    return a.argmin(), a.sum()


FINDS = (
    updated_twice, squared_then_changed_through_a_view, elements_that_swap,
    elements_of_a_copy_that_swap, element_kept_over_a_write, rank_0_view_written_then_read,
    copy_of_a_rank_0_view, ravel_of_gaps_is_a_copy, squeeze_of_nothing_is_the_array_itself,
    write_through_squeeze, layout_of_a_transposed_result, mean_of_a_reshaped_flip,
    nothing_written_through_nothing, rotated_in_place, place_and_sum_of_one_operand,
    write_through_a_reshape_of_an_array_that_took_another_layout,
)  # fmt: skip


def slice_of_one_symbolic_row(a):
    return a * a[4:-1]


def slice_of_one_symbolic_step(a):
    a[2::-1] *= a[5::2]


@pytest.mark.parametrize("fn", [slice_of_one_symbolic_row, slice_of_one_symbolic_step])
def test_find_with_symbolic_sizes(fn: Callable[..., Any]) -> None:
    values = np.array([3.0, -1.0, 2.0, 5.0, 0.5, 4.0])
    assert not difference(run(fn, [values.copy()]), symbolically(fn, (values.copy(),)))


@pytest.mark.parametrize("level", [cheaply, natively])
@pytest.mark.parametrize("fn", FINDS, ids=lambda fn: fn.__name__)
def test_find(fn: Callable[..., Any], level: Level) -> None:
    """What was wrong once."""
    values = np.array([3.0, -1.0, 2.0, 5.0, 0.5, 4.0])
    assert not difference(run(fn, [values.copy()]), level(fn, (values.copy(),)))
