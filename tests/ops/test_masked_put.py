"""``x[mask] = source`` in native code, against NumPy's kernel."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.ir.graph import SliceSpec, Value
from tests.covering import pairs
from tests.lowered import OPS, check_native, check_raises, filled, loops
from tests.outcomes import difference, run

SHAPES = [(1,), (5,), (64,), (65,), (300,), (3, 70), (70, 3), (4, 5, 6), (130, 1), (0,), (3, 0)]
COUNT: Any = {"error": ValueError, "match": "boolean array indexing assignment"}


def put(x: Value, mask: Value, source: Value) -> dict[str, Value]:
    return {"x": OPS.masked_put(x, mask, source)}


class Loops(TestCase):
    maxDiff = None

    def test_blocks_without_a_true_are_passed_over(self) -> None:
        mask = filled("?", (1000,))
        source = filled("f8", (int(mask.sum()),))
        self.assertExpectedInline(
            loops(put, filled("f8", (1000,)), mask, source),
            """\
loops f
  input x: float64[1000]
  input y: bool[1000]
  input z: float64[527]
  temp b3: int64[]
  for i0 in 0:1000 lanes 32
    t3 = add astype:int64(y[i0])  [any]
  raise if not_equal(t3, 527)
  b3[] = 0
  for i3 in 0:16 ordered
    for i2 in 0:min(-64*i3 + 1000, 64) lanes 32 again
      t9 = logical_or y[i2 + 64*i3]  [any]
    if t9
      for i2 in 0:min(-64*i3 + 1000, 64) ordered
        if y[i2 + 64*i3]
          t6 = b3[]
          x[i2 + 64*i3] = z[t6]
          b3[] = add(t6, 1)
  bytes moved 14240; copies 0""",
        )


RANKS = [(shape, rank) for shape in SHAPES for rank in range(1, len(shape) + 1)]


@pytest.mark.parametrize("share", [0, 0.02, 0.5, 1])
def test_shapes_and_layouts(share: float) -> None:
    cases = pairs(RANKS, [0, 0.02, 0.5, 1], ("f8", "u2", "?"))
    for (shape, rank), _, dtype in [case for case in cases if case[1] == share]:
        x, mask = filled(dtype, shape), filled("f8", shape[:rank], 5) < 20 * share
        kind = "f4" if dtype == "f8" else dtype
        source = filled(kind, (int(mask.sum()), *shape[rank:]), 3)
        check_native(put, x, mask, source)
        check_native(put, x, mask, source[:1] if len(source) else filled(kind, (1, *shape[rank:])))
        check_native(put, np.asfortranarray(x), mask[::-1], source)


@pytest.mark.parametrize("size", [20, 300])
@pytest.mark.parametrize("more", [-1, 1, 7])
def test_another_number_of_elements(size: int, more: int) -> None:
    x, mask = filled("f8", (size,)), filled("?", (size,))
    check_raises(put, x, mask, filled("f8", (int(mask.sum()) + more,)), **COUNT)


def test_symbolic_sizes() -> None:
    x, mask = filled("f8", (300,)), filled("?", (300,))
    check_native(put, x, mask, filled("f8", (int(mask.sum()),)), dynamic=True)


def test_the_mask_and_the_source_are_read_before() -> None:
    x = filled("f8", (200,))
    count = int((x > 10.0).sum())
    first = (SliceSpec(0, count, 1),)

    def above(x: Value) -> dict[str, Value]:
        """``x[x > 10] = x[:count]``."""
        return put(x, OPS.greater(x, 10.0), OPS.slice_copy(x, first))

    check_native(above, x)
    flags = filled("?", (200,))
    check_native(
        lambda x: put(x, x, OPS.slice_copy(x, (SliceSpec(0, int(flags.sum()), 1),))), flags
    )


def test_no_input_is_written_before_the_check() -> None:
    """Also not by an update that stands before, or in the same store."""
    x, mask = filled("f8", (20,)), filled("?", (8,))
    spec = (SliceSpec(2, 10, 1),)

    def part(x: Value, mask: Value, source: Value) -> dict[str, Value]:
        """``x += 1; x[2:10][mask] = source``."""
        more = OPS.add(x, 1.0)
        inner = OPS.masked_put(OPS.slice_copy(more, spec), mask, source)
        return {"x": OPS.slice_scatter(more, inner, spec)}

    def two(x: Value, mask: Value, source: Value, u: Value) -> dict[str, Value]:
        return {**put(x, mask, source), "u": OPS.add(u, 1.0)}

    count = int(mask.sum())
    check_native(part, x, mask, filled("f8", (count,)))
    check_raises(part, x, mask, filled("f8", (count + 1,)), **COUNT)
    check_native(two, x[:8], mask, filled("f8", (count,)), x)
    check_raises(two, x[:8], mask, filled("f8", (count + 1,)), x, **COUNT)


def test_from_python() -> None:
    def clear(x: Any, y: Any) -> Any:
        x[x > 0.5] = y
        return x

    compiled = fxc.compile(clear, fullgraph=True)
    x, y = np.random.default_rng(0).random(500), np.arange(500.0)
    ours, theirs = x.copy(), x.copy()
    count = int((x > 0.5).sum())
    np.testing.assert_array_equal(compiled(ours, y[:count]), clear(theirs, y[:count]))
    np.testing.assert_array_equal(ours, theirs)
    assert compiled.cache_info().eager_calls == 0
    assert not compiled.cache_info().fallbacks


def moved(x: Any, y: Any, c: float) -> Any:
    y[x > c] = x[x < -c]
    return y


def moved_rows(x: Any, y: Any, c: float) -> Any:
    rows, taken = np.outer(x, y), np.outer(y, x)
    for _ in range(5):
        rows[x > c] = taken[x < -c]
        c *= 0.875
    return rows


@pytest.mark.parametrize("fn", [moved, moved_rows])
def test_a_source_of_counted_size(fn: Callable[..., Any]) -> None:
    """One element is written to all places; another number than there are places is an error."""
    compiled = fxc.compile(fn, fullgraph=True)
    native = raised = 0
    for low, high in itertools.product((0, 1, 2), (0, 1, 2, 5)):

        def make(low: int = low, high: int = high) -> tuple[Any, ...]:
            x = np.array([-3.0] * low + [3.0] * high + [0.25] * (7 - low - high))
            return x, np.arange(7.0), 1.0

        expected = run(fn, make())
        assert not difference(expected, run(compiled, make()))
        native += expected.error is None
        raised += expected.error is not None
    info = compiled.cache_info()
    assert (native, raised) == (6, 6) == (info.native_calls, info.eager_calls)
