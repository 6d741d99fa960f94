"""Random programs of views and writes, plain and compiled: everything a caller sees is equal.

Three levels. *Cheap*: captured, functionalized, simplified and decomposed, each graph verified, and
evaluated by NumPy. *Native*: ``fxc.compile``. *Symbolic*: the same with sizes as symbols. ``FXC_FUZZ_PROGRAMS`` sets how many programs run
(``make fuzz``); a failing one is shrunk and printed as source.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.capture import Captured, capture
from fxc.ir.errors import CaptureError
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph
from fxc.ir.tree import LEAF, unflatten
from fxc.ops.kernels import kernel_of
from fxc.passes.reinplace import reinplace
from fxc.stages import decomposed_graph, functional_graph, llvm_index
from tests.outcomes import Outcome, difference, run
from tests.programs import Program, random_program, shrink

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0"))
CHEAP = COUNT or 400
NATIVE = COUNT // 4 or 200
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
CHUNKS = 10  # tests to spread the programs over


# ---------------------------------------------------------------- levels

Level = Callable[[Callable[..., Any], tuple[Any, ...]], Outcome]


def stages(captured: Captured) -> Graph:
    """All graph stages, each verified (conftest.py); the last one."""
    return reinplace(decomposed_graph(functional_graph(captured), llvm_index()))


def cheaply(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Through the graph stages, the last graph evaluated by NumPy."""

    def evaluated(*args: Any) -> Any:
        captured = capture(fn, args, {})
        graph = stages(captured)
        given = captured.guards.check(args, {})
        assert given is not None
        leaves = call(graph, given, kernel_of, check=True)
        return leaves[0] if captured.out_spec is LEAF else unflatten(captured.out_spec, leaves)

    return run(evaluated, inputs)


def natively(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Compiled; what does not run natively counts as an error of its own."""
    compiled = fxc.compile(fn, fullgraph=True)
    outcome = run(compiled, inputs)
    info = compiled.cache_info()
    if outcome.error is None and info.eager_calls and not overlap(inputs):
        return Outcome(None, AssertionError(f"ran as plain NumPy: {info}"), outcome.inputs)
    return outcome


def symbolically(fn: Callable[..., Any], inputs: tuple[Any, ...]) -> Outcome:
    """Compiled with the sizes of arrays as symbols."""
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    outcome = run(compiled, inputs)
    info = compiled.cache_info()
    if outcome.error is None and info.eager_calls and not overlap(inputs):
        return Outcome(None, AssertionError(f"ran as plain NumPy: {info}"), outcome.inputs)
    return outcome


def overlap(inputs: tuple[Any, ...]) -> bool:
    """Whether different arguments share memory: such a call runs as plain NumPy."""
    arrays = list({id(x): x for x in inputs}.values())
    return any(np.may_share_memory(x, y) for x, y in itertools.combinations(arrays, 2))


def failure(program: Program, level: Level) -> str:
    """How the compiled program differs from the plain one, or ''."""
    fn, inputs = program.load()
    expected = run(fn, inputs())
    found = level(fn, inputs())
    if isinstance(expected.error, NameError):
        return ""
    if isinstance(found.error, CaptureError):
        return f"cannot be captured: {found.error}"
    if level is cheaply and expected.error is not None:
        return ""  # an exception half way is the runtime's affair
    return difference(expected, found)


def check(program: Program, level: Level) -> None:
    text = failure(program, level)
    if text:
        kind = text.split()[0][:6]
        small = shrink(program, lambda p: failure(p, level).startswith(kind))
        pytest.fail(f"{failure(small, level)}\n\n{small}", pytrace=False)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_graphs_of_random_programs(chunk: int) -> None:
    for seed in range(FIRST + chunk, FIRST + CHEAP, CHUNKS):
        check(random_program(seed, overlap=False), cheaply)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_native_random_programs(chunk: int) -> None:
    for seed in range(FIRST + chunk, FIRST + NATIVE, CHUNKS):
        check(random_program(seed), natively)


def test_random_programs_with_symbolic_sizes() -> None:
    for seed in range(FIRST, FIRST + NATIVE):
        check(random_program(seed), symbolically)


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
