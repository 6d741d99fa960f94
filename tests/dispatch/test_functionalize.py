"""Views and writes become pure operators and a signature, and cost no copy that NumPy avoids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.capture.capture import capture
from fxc.dispatch import default
from fxc.ir.graph import walk
from fxc.lowering.emission.llvm_text import Lanes
from fxc.lowering.emission.operator_code import SCALAR_CODE
from fxc.lowering.nests.traffic import traffic
from fxc.lowering.operators.python_rules import SCALAR_RULES
from fxc.lowering.operators.scalar_rules import ScalarRule
from fxc.ops.operators import Tag, row
from fxc.ops.table import TABLE
from tests.levels import cheaply
from tests.outcomes import difference, run

# ---------------------------------------------------------------- the programs


def reverse(x):
    x[:] = x[::-1]


def running(x):
    x[1:] += x[:-1]


def minus_first(x):
    x -= x[0]


def through_a_view_of_a_view(x):
    inner = x[1:-1]
    inner[::2] *= 3.0
    return x.sum()


def mutated_and_returned(x):
    x += 1.0
    x *= 2.0
    return x


def returned_view(x):
    return x[1:, ::2]


def seen_through_another_view(x):
    left, right = x[:4], x[2:]
    left += 1.0
    return right * 2.0


def two_views_of_a_result(x):
    y = x + 1.0
    y[0] = 5.0
    return y[1:], y[:-1]


def rows_that_do_not_swap(x):
    x[0], x[1] = x[1], x[0]


def stencil(x):
    x[1:-1] = 0.5 * (x[:-2] + x[2:])


VECTOR, MATRIX = (8,), (6, 4)
CASES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "reverse": (reverse, VECTOR),
    "reverse_rows": (reverse, MATRIX),
    "running": (running, VECTOR),
    "running_rows": (running, MATRIX),
    "minus_first": (minus_first, VECTOR),
    "minus_first_row": (minus_first, MATRIX),
    "through_a_view_of_a_view": (through_a_view_of_a_view, VECTOR),
    "through_a_view_of_a_view_of_rows": (through_a_view_of_a_view, MATRIX),
    "mutated_and_returned": (mutated_and_returned, MATRIX),
    "returned_view": (returned_view, MATRIX),
    "seen_through_another_view": (seen_through_another_view, VECTOR),
    "two_views_of_a_result": (two_views_of_a_result, VECTOR),
    "rows_that_do_not_swap": (rows_that_do_not_swap, MATRIX),
    "stencil": (stencil, VECTOR),
    "stencil_of_rows": (stencil, MATRIX),
}


def numbers(shape: tuple[int, ...], dtype: str = "f8") -> np.ndarray:
    return (np.arange(np.prod(shape)) ** 2 % 17 + 1).reshape(shape).astype(dtype)


# ---------------------------------------------------------------- as NumPy


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("case", CASES)
def test_is_as_numpy(case: str, backend: str) -> None:
    fn, shape = CASES[case]
    compiled = fxc.compile(fn, fullgraph=True, backend=backend)
    for make in (numbers, lambda s: numbers(s)[::-1].copy()[::-1], lambda s: numbers(s[::-1]).T):
        assert not difference(run(fn, [make(shape)]), run(compiled, [make(shape)]))
    info = compiled.cache_info()
    assert (info.eager_calls, dict(info.fallbacks)) == (0, {})


@pytest.mark.parametrize("case", CASES)
def test_is_as_numpy_with_symbolic_sizes(case: str) -> None:
    fn, shape = CASES[case]
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for more in (0, 3, 20):
        wide = tuple(dim + more for dim in shape)
        assert not difference(run(fn, [numbers(wide)]), run(compiled, [numbers(wide)]))
    info = compiled.cache_info()
    assert (info.eager_calls, info.variants) == (0, 1)


@pytest.mark.parametrize("case", CASES)
def test_graphs_verify_after_every_pass(case: str) -> None:
    fn, shape = CASES[case]
    assert not difference(run(fn, [numbers(shape)]), cheaply(fn, (numbers(shape),)))


def test_a_mutated_input_is_returned_as_the_same_object() -> None:
    x = numbers(MATRIX)
    assert fxc.compile(mutated_and_returned, fullgraph=True)(x) is x


def test_a_returned_view_of_an_input_is_a_view_of_the_callers_memory() -> None:
    x = numbers(MATRIX)
    view = fxc.compile(returned_view, fullgraph=True)(x)
    assert view.base is x
    view[:] = 0.0
    assert not x[1:, ::2].any()


# ---------------------------------------------------------------- memory


F8 = 8
# What moves, in bytes, of a vector of n numbers and of a matrix of n rows of m, each buffer that a
# loop nest reads or writes counted once; and how many copies are made. NumPy copies the
# overlapping operand of the assignments that are marked.
MOVED: dict[str, tuple[Callable[[int, int], int], int]] = {
    "reverse": (lambda n, m: 4 * n, 1),  # NumPy: x[::-1]
    "running": (lambda n, m: 2 * (n - 1), 0),
    "running_rows": (lambda n, m: 2 * (n - 1) * m, 0),
    "minus_first": (lambda n, m: 2 * n + 2, 1),  # the one element
    "minus_first_row": (lambda n, m: 2 * n * m + 3 * m, 1),  # NumPy: x[0]
    "mutated_and_returned": (lambda n, m: 2 * n * m, 0),
    "returned_view": (lambda n, m: 0, 0),
}


@pytest.mark.parametrize("case", MOVED)
def test_no_more_memory_is_moved_than_numpy_needs(case: str) -> None:
    fn, shape = CASES[case]
    program = fxc.compile(fn, fullgraph=True).inspect(numbers(shape)).loops
    bytes_moved, copies = MOVED[case]
    n, m = shape if len(shape) == 2 else (*shape, 1)
    assert len(program.copies) <= copies, program
    assert traffic(program) <= F8 * bytes_moved(n, m), program


# ---------------------------------------------------------------- text


def text(graph: Any) -> str:
    """The printed graph without the lines of this file."""
    return re.sub(r" +# \S+\.py:\d+.*", "", str(graph))


def functional(fn: Callable[..., Any], shape: tuple[int, ...]) -> str:
    return text(fxc.compile(fn, fullgraph=True).inspect(numbers(shape)).functional)


class FunctionalText(TestCase):
    maxDiff = None

    def test_reverse(self) -> None:
        self.assertExpectedInline(
            functional(reverse, VECTOR),
            """\
functional reverse(%x: f64[8])
  %0: f64[8]{-8} = slice_copy(%x, [7:-1:-1])
  %1: f64[8] = copy(%0, order='K')
  return %1
  signature
    %x := result 0""",
        )

    def test_running(self) -> None:
        self.assertExpectedInline(
            functional(running, VECTOR),
            """\
functional running(%x: f64[8])
  %0: f64[7] = slice_copy(%x, [1:8:1])
  %1: f64[7] = slice_copy(%x, [0:7:1])
  %2: f64[7] = add(%0, %1)
  %3: f64[8] = slice_scatter(%x, %2, [1:8:1])
  return %3
  signature
    %x := result 0 in slice([1:8:1])""",
        )

    def test_minus_first(self) -> None:
        self.assertExpectedInline(
            functional(minus_first, MATRIX),
            """\
functional minus_first(%x: f64[6, 4])
  %0: f64[4] = select_copy(%x, 0, 0)
  %1: f64[6, 4] = subtract(%x, %0)
  return %1
  signature
    %x := result 0""",
        )

    def test_through_a_view_of_a_view(self) -> None:
        self.assertExpectedInline(
            functional(through_a_view_of_a_view, VECTOR),
            """\
functional through_a_view_of_a_view(%x: f64[8])
  %0: f64[3]{16} = slice_copy(%x, [1:6:2])
  %1: f64[3] = multiply(%0, 3.0)
  %2: f64[8] = slice_scatter(%x, %1, [1:6:2])
  %3: f64 = sum(%2, axis=None, keepdims=False, dtype=None)
  return %3, %2
  signature
    %x := result 1 in slice([1:6:2])
    output 0 = result 0: f64""",
        )

    def test_mutated_and_returned(self) -> None:
        self.assertExpectedInline(
            functional(mutated_and_returned, VECTOR),
            """\
functional mutated_and_returned(%x: f64[8])
  %0: f64[8] = add(%x, 1.0)
  %1: f64[8] = multiply(%0, 2.0)
  return %1
  signature
    %x := result 0
    output 0 = input %x""",
        )

    def test_returned_view(self) -> None:
        self.assertExpectedInline(
            functional(returned_view, MATRIX),
            """\
functional returned_view(%x: f64[6, 4])
  return
  signature
    output 0 = view 0 of input %x by slice([1:6:1, 0:4:2])""",
        )

    def test_seen_through_another_view(self) -> None:
        self.assertExpectedInline(
            functional(seen_through_another_view, VECTOR),
            """\
functional seen_through_another_view(%x: f64[8])
  %0: f64[4] = slice_copy(%x, [0:4:1])
  %1: f64[4] = add(%0, 1.0)
  %2: f64[8] = slice_scatter(%x, %1, [0:4:1])
  %3: f64[6] = slice_copy(%2, [2:8:1])
  %4: f64[6] = multiply(%3, 2.0)
  return %4, %2
  signature
    %x := result 1 in slice([0:4:1])
    output 0 = result 0: f64[6]""",
        )

    def test_two_views_of_a_result(self) -> None:
        self.assertExpectedInline(
            functional(two_views_of_a_result, VECTOR),
            """\
functional two_views_of_a_result(%x: f64[8])
  %0: f64[8] = add(%x, 1.0)
  %1: f64[] = broadcast_to_copy(5.0, ())
  %2: f64[8] = select_scatter(%0, %1, 0, 0)
  return %2
  signature
    output 0 = view 0 of result 0: f64[8] by slice([1:8:1])
    output 1 = view 1 of result 0: f64[8] by slice([0:7:1])""",
        )

    def test_rows_that_do_not_swap(self) -> None:
        self.assertExpectedInline(
            functional(rows_that_do_not_swap, MATRIX),
            """\
functional rows_that_do_not_swap(%x: f64[6, 4])
  %0: f64[4] = select_copy(%x, 0, 1)
  %1: f64[6, 4] = select_scatter(%x, %0, 0, 0)
  %3: f64[6, 4] = select_scatter(%1, %0, 0, 1)
  return %3
  signature
    %x := result 0 in select(0, 0) in select(0, 1)""",
        )


@pytest.mark.parametrize("case", CASES)
def test_functional_graphs_are_pure(case: str) -> None:
    fn, shape = CASES[case]
    found = fxc.compile(fn, fullgraph=True).inspect(numbers(shape))
    assert all(node.schema.is_functional for node in walk(found.functional.body))


# ---------------------------------------------------------------- every node is traced


@contextmanager
def counted_traces(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """A list that gets an operator for each call of the Trace column of new dispatchers."""
    calls: list[Any] = []
    column = default.trace_column

    def counting(dispatcher: Any) -> Any:
        kernel = column(dispatcher)

        def record(op: Any, args: Any) -> Any:
            calls.append(op)
            return kernel(op, args)

        return record

    with monkeypatch.context() as patch:
        patch.setattr(default, "trace_column", counting)
        yield calls


@pytest.mark.parametrize("case", CASES)
def test_every_captured_node_came_through_the_trace_key(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fn, shape = CASES[case]
    with counted_traces(monkeypatch) as calls:
        graph = capture(fn, (numbers(shape),), {}, dispatcher=default.make_dispatcher()).graph
    assert [op.name for op in calls] == [node.op for node in walk(graph.body)]


# ---------------------------------------------------------------- a new operator


def count_bits(code: Lanes, args: Any, dtypes: Any, result: np.dtype) -> str:
    """The ones in the binary form of unsigned integers."""
    return code.convert("trunc", code.intrinsic("ctpop", dtypes[0], args), dtypes[0], result)


@pytest.fixture
def new_operator(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A pointwise operator by schema, NumPy kernel, scalar rule and its code, and nothing else."""
    TABLE.add(row("bitwise_count(Array x) -> Array", Tag.POINTWISE, np.bitwise_count))
    monkeypatch.setitem(SCALAR_RULES, "bitwise_count", ScalarRule())
    monkeypatch.setitem(SCALAR_CODE, "bitwise_count", count_bits)
    yield "bitwise_count"
    TABLE.remove("bitwise_count")


def counts_bits(x, out):
    y = np.bitwise_count(x)
    y[1:] += np.bitwise_count(x[:-1] + 3)
    np.bitwise_count(y + x, out=out)
    return y


def test_a_new_pointwise_operator_needs_schema_kernel_and_scalar_rule(new_operator: str) -> None:
    def inputs() -> list[np.ndarray]:
        return [numbers(MATRIX, "u8") ** 9, numbers(MATRIX, "u1")]

    expected = run(counts_bits, inputs())
    assert not difference(expected, cheaply(counts_bits, tuple(inputs())))
    compiled = fxc.compile(counts_bits, fullgraph=True)
    assert not difference(expected, run(compiled, inputs()))
    info = compiled.cache_info()
    assert (info.native_calls, info.eager_calls, dict(info.fallbacks)) == (1, 0, {})
    dump = compiled.inspect(*inputs())
    assert "bitwise_count(%x)" in str(dump.captured)
    assert "bitwise_count.out(" in str(dump.captured)
    assert "bitwise_count(%x)" in str(dump.functional)
    assert "bitwise_count:uint8(x[" in str(dump.loops)
    assert "@llvm.ctpop" in dump.llvm
