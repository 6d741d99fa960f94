"""Loops of the user's program in native code: what they become, and that they do what Python does.

The oracle is the very function, run as Python runs it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.ir.evaluate import call
from fxc.ir.parse import parse_graph
from fxc.ops.kernels import kernel_of
from fxc.ops.table import TABLE
from fxc.pipeline.stages import native
from fxc.runtime.engine import Engine
from tests.outcomes import difference, run

RNG = np.random.default_rng(5)


def recurrence(x: Any, n: Any) -> Any:
    def body(i: Any, state: Any) -> Any:
        x, total = state
        x[i] = x[i - 1] * 0.5 + total
        return x, total + x[i]

    return fxc.fori_loop(1, n, body, (x, x[0] * 0))


def relaxation(u: Any, n: Any) -> Any:
    def row(i: Any, u: Any) -> Any:
        def column(j: Any, u: Any) -> Any:
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            return u

        return fxc.fori_loop(1, u.shape[1] - 1, column, u)

    return fxc.fori_loop(1, n, row, u)


def relaxation_of_input(u: Any, n: Any) -> None:
    u[...] = relaxation(u, n)


def shortest_paths(d: Any, n: Any) -> Any:
    def via(k: Any, d: Any) -> Any:
        def row(i: Any, d: Any) -> Any:
            d[i] = np.minimum(d[i], d[i, k] + d[k])
            return d

        return fxc.fori_loop(0, n, row, d)

    return fxc.fori_loop(0, n, via, d)


def product(a: Any, b: Any) -> Any:
    def row(i: Any, c: Any) -> Any:
        def column(j: Any, c: Any) -> Any:
            start = a[0, 0] * 0
            c[i, j] = fxc.fori_loop(0, a.shape[1], lambda k, s: s + a[i, k] * b[k, j], start)
            return c

        return fxc.fori_loop(0, c.shape[1], column, c)

    return fxc.fori_loop(0, a.shape[0], row, a[:, :1] * b[:1] * 0)


def histogram(h: Any, x: Any) -> Any:
    def body(i: Any, h: Any) -> Any:
        h[x[i]] += 1
        return h

    return fxc.fori_loop(0, x.shape[0], body, h)


def histogram_of_input(h: Any, x: Any) -> None:
    h[:] = histogram(h, x)


def sparse_product(data: Any, places: Any, starts: Any, x: Any) -> Any:
    def row(i: Any, y: Any) -> Any:
        def more(state: Any) -> Any:
            return state[0] < starts[i + 1]

        def step(state: Any) -> Any:
            k, total = state
            return k + 1, total + data[k] * x[places[k]]

        _, y[i] = fxc.while_loop(more, step, (starts[i], x[0] * 0))
        return y

    return fxc.fori_loop(0, starts.shape[0] - 1, row, starts[1:] * 0.0)


def escapes(x: Any, y: Any, n: Any) -> Any:
    def more(state: Any) -> Any:
        a, b, k = state
        return np.logical_and(k < n, a * a + b * b < 4.0)

    def step(state: Any) -> Any:
        a, b, k = state
        return a * a - b * b + x, 2 * a * b + y, k + 1

    return fxc.while_loop(more, step, (x * 0, y * 0, np.int64(0)))


def counted_from_below(x: Any, lo: Any) -> Any:
    return fxc.fori_loop(lo, 3, lambda i, s: s * 2 + i, x[0])


def checksum(x: Any, table: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        return table[(c ^ x[i]) & np.uint32(255)] ^ (c >> np.uint32(8))

    return fxc.fori_loop(0, x.shape[0], body, table[0])


def flag_and_number(x: Any, n: Any) -> Any:
    """A bool, a complex number and a narrow integer, which wraps around."""

    def body(i: Any, state: Any) -> Any:
        seen, z, small = state
        return np.logical_or(seen, x[i] > 0.9), z * z + x[i], small + np.int8(100)

    return fxc.fori_loop(0, n, body, (x[0] > 2, x[0] * (0.5 + 0.25j), x[0].astype(np.int8)))


def around_numpy(x: Any, n: Any) -> Any:
    """A number that lives while NumPy itself runs, and is used by loops before and behind."""
    total = fxc.fori_loop(0, n, lambda i, s: s + x[i], x[0])
    y = np.partition(x, 3)
    return fxc.fori_loop(0, n, lambda i, s: s + total * y[i], x[0]), total


def rank_0_input(x: Any, s: Any) -> None:
    s[...] = fxc.fori_loop(0, x.shape[0], lambda i, a: a + x[i], s[()])


def chosen(x: Any, n: Any) -> Any:
    def body(i: Any, state: Any) -> Any:
        low, high = state
        low = fxc.cond(x[i] < low, lambda: x[i], lambda: low)
        return low, fxc.cond(x[i] > high, lambda: x[i], lambda: high)

    return fxc.fori_loop(0, n, body, (x[0], x[0]))


def exchanged(x: Any, y: Any, n: Any) -> Any:
    return fxc.fori_loop(0, n, lambda i, s: (s[1], s[0] + i), (x, y))


def twice_carried(x: Any, n: Any) -> Any:
    y = x.copy()
    return fxc.fori_loop(0, n, lambda i, s: (s[0] + 1, s[1] * s[0]), (y, y))


def read_outside(x: Any, n: Any) -> Any:
    """The body reads what the loop starts from."""
    y = x.copy()
    return fxc.fori_loop(0, n, lambda i, s: s + y, y), y


def triangle(a: Any) -> Any:
    def body(i: Any, a: Any) -> Any:
        a[i, :i] = a[i, :i] * 0.5 - a[:i, i].sum()
        return a

    return fxc.fori_loop(1, a.shape[0], body, a)


def sweeps(u: Any, n: Any) -> Any:
    """Each iteration makes a new array from a copy of the last."""

    def body(_: Any, u: Any) -> Any:
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        return v

    return fxc.fori_loop(0, n, body, u)


def sweeps_with_last(u: Any, n: Any) -> Any:
    """The copy is updated while what it is a copy of is still needed."""

    def body(_: Any, s: Any) -> Any:
        u, _ = s
        v = u.copy()
        v[1:] += u[:-1]
        return v, u

    return fxc.fori_loop(0, n, body, (u, u[::-1]))


def column_of_another(a: Any, b: Any, n: Any) -> Any:
    """A view of an array that the loop does not change."""
    column = b[:, 1]

    def body(i: Any, s: Any) -> Any:
        a, total = s
        a[i] = a[i - 1] + column[i] * column
        return a, total + column[i]

    a, total = fxc.fori_loop(1, n, body, (a, b[0, 0]))
    b[:, 1] = total
    return a, column + 1


def view_of_what_changes(a: Any, n: Any) -> Any:
    """A view, from before the loop, of what the loop carries a copy of."""
    column = a[:, 1]

    def body(i: Any, s: Any) -> Any:
        s[i] = s[i - 1] + column
        return s

    return fxc.fori_loop(1, n, body, a), column * 2


def view_of_what_is_written(a: Any, n: Any) -> None:
    column = a[:, 1] * 1.0

    def body(i: Any, s: Any) -> Any:
        a[i] = a[i - 1] + column + s
        return s + column[i] + a[0, i]

    a[:, 0] = fxc.fori_loop(1, n, body, column[0])


def looked_up(x: Any, places: Any) -> Any:
    """Places read, and written, behind one look at each, also in branches and further loops."""

    def body(i: Any, s: Any) -> Any:
        x, total = s
        at = places[i]
        total = total + x[at]
        x[at] = fxc.cond(total > 2, lambda: x[at] * 0.5, lambda: x[places[i - 1]] + 1)
        return x, fxc.fori_loop(0, i, lambda k, t: t + x[at] * x[places[k]], total)

    return fxc.fori_loop(1, places.shape[0], body, (x, x[places[0]]))


def floored(x: Any, n: Any) -> Any:
    """Quotients and remainders by constant powers of two, element by element and in lanes."""

    def body(i: Any, s: Any) -> Any:
        s[i] = s[i] // 4 + s[i - 1] % 8 + s[i] // 1 + s[i] % 1
        return s

    return fxc.fori_loop(1, n, body, x), x // 2, x % 16, x // 64, x % 64


FLOATS = RNG.random(40)
SQUARE = RNG.random((9, 9))
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((recurrence, (FLOATS, n)) for n in (2, 3, 40)),
    (recurrence, (FLOATS.astype(np.float32), 40)),
    (relaxation, (RNG.random((8, 11)), 7)),
    (relaxation_of_input, (RNG.random((8, 11)), 7)),
    (shortest_paths, (SQUARE, 9)),
    (shortest_paths, ((SQUARE * 50).astype(np.int16), 9)),
    (product, (RNG.random((4, 6)), RNG.random((6, 5)))),
    (histogram, (np.zeros(7, np.int64), RNG.integers(-7, 7, 50))),
    (histogram_of_input, (np.zeros(7, np.int64), RNG.integers(0, 7, 50))),
    (
        sparse_product,
        (RNG.random(12), RNG.integers(0, 5, 12), np.array([0, 3, 3, 9, 12]), RNG.random(5)),
    ),
    *(
        (escapes, (np.float64(x), np.float64(y), 50))
        for x, y in ((0.1, 0.2), (2.5, 0.0), (0.3, 0.7))
    ),
    *((counted_from_below, (np.arange(3.0), lo)) for lo in (-4, -1, 2, 3)),
    (checksum, (RNG.integers(0, 256, 99).astype(np.uint8), RNG.integers(0, 2**32, 256, np.uint32))),
    (flag_and_number, (FLOATS, 30)),
    (around_numpy, (FLOATS, 40)),
    (rank_0_input, (FLOATS, np.array(1.5))),
    (chosen, (FLOATS, 40)),
    *((exchanged, (FLOATS, FLOATS[::-1].copy(), n)) for n in (2, 3)),
    (twice_carried, (FLOATS, 5)),
    (read_outside, (FLOATS, 5)),
    (triangle, (SQUARE,)),
    (looked_up, (RNG.random(6), RNG.integers(-6, 6, 15))),
    *(
        (floored, (RNG.integers(low, 127, 40).astype(kind), 40))
        for kind, low in (("i1", -128), ("u1", 0), ("i4", -128), ("i8", -128), ("u8", 0))
    ),
    *((sweeps, (SQUARE, n)) for n in (2, 3)),
    (sweeps_with_last, (FLOATS, 4)),
    (column_of_another, (SQUARE, RNG.random((9, 9)), 9)),
    (view_of_what_changes, (SQUARE, 9)),
    (view_of_what_is_written, (SQUARE, 9)),
]


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_native_loops_do_what_python_does(
    function: Callable[..., Any], inputs: tuple[Any, ...]
) -> None:
    compiled = fxc.compile(function, fullgraph=True)
    expected = run(function, copy.deepcopy(inputs))
    assert expected.error is None
    for _ in range(2):
        assert not difference(expected, run(compiled, copy.deepcopy(inputs)))
    assert compiled.cache_info().eager_calls == 0


BEYOND = [7, -8, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("place", BEYOND)
@pytest.mark.parametrize("function", [histogram, histogram_of_input])
def test_what_raises_in_an_iteration_leaves_numpys_state(
    function: Callable[..., Any], place: int
) -> None:
    inputs = (np.zeros(7, np.int64), np.array([0, -7, place, 2]))
    compiled = fxc.compile(function)
    found = run(compiled, copy.deepcopy(inputs))
    assert isinstance(found.error, IndexError)
    assert not difference(run(function, copy.deepcopy(inputs)), found)


@pytest.mark.parametrize(
    ("function", "inputs", "returned"),
    [
        (recurrence, (FLOATS, 40), 1),
        (escapes, (np.float64(0.1), np.float64(0.2), 50), 3),
        (chosen, (FLOATS, 40), 2),
        (product, (RNG.random((4, 6)), RNG.random((6, 5))), 0),
    ],
)
def test_carried_numbers_are_registers(
    function: Callable[..., Any], inputs: tuple[Any, ...], returned: int
) -> None:
    """``returned``: the NumPy scalars of the result, which NumPy reads from memory."""
    assembled = fxc.compile(function).inspect(*inputs)._assembled
    assert assembled is not None
    module = assembled.module
    assert "alloca [8 x i8]" in module.text
    engine = Engine(module.text, b"", [], loops="scalar", support=module.support)
    assert _slots(engine.optimised()) == returned


def _slots(text: str) -> int:
    """Room in the stack frame, but for what has to do with floating-point flags, and the state of
    the interpreter lock.
    """
    lines = [line for line in text.splitlines() if "alloca" in line and "%fxc." not in line]
    return sum("alloca [2 x i64]" not in line for line in lines)


def test_code_without_loops_has_no_slots_and_no_marks() -> None:
    text = fxc.compile(lambda x: x - x.sum()).inspect(FLOATS).llvm
    assert _slots(text) == 0
    assert "!alias.scope" not in text
    assert "!noalias" not in text


def joined_rows(g: Any, n: Any) -> Any:
    for _ in range(n):
        g = sum(np.concatenate((g[1:] + i, g[:1] * j)) for i in range(4) for j in range(3))
    return g


def test_a_temporary_of_symbolic_size_is_found_from_the_one_before() -> None:
    # Sums of all sizes in each address took LLVM seconds: see Note [Opaque values].
    program = fxc.compile(joined_rows, fullgraph=True, dynamic=True)
    g = RNG.integers(0, 9, (5, 6))
    stages = program.inspect(g, 3)
    entry = stages.llvm.split('@"fxc.entry0"')[1].split("br ")[0]
    temporaries = str(stages.loops).count("  temp ")
    assert temporaries > 10
    assert entry.count('= call ptr asm ""') == temporaries - 1
    assert entry.count("ashr i64") == 1  # their common size, rounded
    for shape in ((5, 6), (64, 3), (2, 33)):
        g = RNG.integers(0, 9, shape)
        assert difference(run(joined_rows, (g.copy(), 3)), run(program, (g.copy(), 3))) == ""
    assert program.cache_info().variants == 1
    assert program.cache_info().eager_calls == 0


class Loops(TestCase):
    maxDiff = None

    def test_a_nest_carries_one_array_and_copies_nothing(self) -> None:
        self.assertExpectedInline(
            str(fxc.compile(relaxation_of_input).inspect(RNG.random((8, 11)), 7).loops),
            """\
loops relaxation_of_input
  symbols n = 7 (>= 2)
  param n: int64 = input 1
  input u: float64[8, 11]
  loop i_2 in 0:(n - 1)
    loop i_3 in 0:9
      u[i_2 + 1, i_3 + 1] = multiply(0.25, add(add(add(item(u[i_2, i_3 + 1]), item(u[i_2 + 2, i_3 + 1])), item(u[i_2 + 1, i_3])), item(u[i_2 + 1, i_3 + 2])))
  bytes moved 360*n - 360; copies 0""",
        )

    def test_a_row_is_updated_from_another_row(self) -> None:
        self.assertExpectedInline(
            str(fxc.compile(shortest_paths).inspect(SQUARE, 9).loops),
            """\
loops shortest_paths
  symbols n = 9 (>= 1)
  param n: int64 = input 1
  input d: float64[9, 9]
  output b2: float64[9, 9]
  t1 = (n)
  for i0 in 0:81 moved
    b2[floordiv(i0, 9), mod(i0, 9)] = d[floordiv(i0, 9), mod(i0, 9)]
  loop i_2 in 0:t1
    loop i_3 in 0:t1
      t11 = b2[i_3, i_2]
      for i3 in 0:9 lanes 8 ends first  # test_loop_lowering.py:55
        b2[i_3, i3] = minimum(b2[i_3, i3], add(item(t11), b2[i_2, i3]))
  copy: test_loop_lowering.py:55 read before it is overwritten in b2
  bytes moved 152*n*n + 1296; copies 1""",
        )

    def test_a_copy_of_what_dies_is_that_array(self) -> None:
        self.assertExpectedInline(
            str(fxc.compile(sweeps).inspect(RNG.random((300, 30)), 3).loops),
            """\
loops sweeps
  symbols n = 3 (>= 1)
  param n: int64 = input 1
  input u: float64[300, 30]
  output b1: float64[300, 30]
  temp b2: float64[1, 28]
  t1 = (n)
  for i0 in 0:9000 moved
    b1[floordiv(i0, 30), mod(i0, 30)] = u[floordiv(i0, 30), mod(i0, 30)]
  loop i_1 in 0:t1
    for i6 in 0:28 ordered moved  # test_loop_lowering.py:183
      b2[0, i6] = b1[1, i6 + 1]
    for i4 in 0:298 ordered  # test_loop_lowering.py:183 stored 1 behind
      for i5 in 0:28 ordered lanes 8 ends first  # test_loop_lowering.py:183
        t26 = multiply(0.25, add(add(add(b1[i4, i5 + 1], b1[i4 + 2, i5 + 1]), b1[i4 + 1, i5]), b1[i4 + 1, i5 + 2]))
        b1[max(0, i4 - 1) + 1, i5 + 1] = b2[0, i5]
        b2[0, i5] = t26
    for i7 in 0:28 ordered moved  # test_loop_lowering.py:183
      b1[298, i7 + 1] = b2[0, i7]
  bytes moved 134848*n + 144000; copies 0""",
        )

    def test_a_view_of_what_does_not_change_is_no_copy(self) -> None:
        self.assertExpectedInline(
            str(fxc.compile(column_of_another).inspect(SQUARE, SQUARE.copy(), 9).loops),
            """\
loops column_of_another
  symbols n = 9 (>= 2)
  param n: int64 = input 2
  input a: float64[9, 9]
  input b: float64[9, 9]
  temp b2: float64[]
  output b3: float64[9, 9]
  output b4: float64[9]
  b2[] = item(b[0, 0])
  t1 = (n - 1)
  for i0 in 0:81 moved
    b3[floordiv(i0, 9), mod(i0, 9)] = a[floordiv(i0, 9), mod(i0, 9)]
  loop i in 0:t1
    for i2 in 0:9 lanes 8 ends first  # test_loop_lowering.py:207
      b3[i + 1, i2] = add(b3[i, i2], multiply(item(b[i + 1, 1]), b[i2, 1]))
    b2[] = add(b2[], item(b[i + 1, 1]))
  for i3 in 0:9 lanes 8 overlapping  # test_loop_lowering.py:211
    t15 = b2[]
    b[i3, 1] = t15
    b4[i3] = add(t15, 1.0)
  bytes moved 224*n + 1240; copies 0""",
        )


def test_what_no_loop_changes_is_computed_before_all() -> None:
    def program(x: Any, y: Any, s: Any, t: Any) -> Any:
        return x + y.T * (s / t)

    x, y = np.ones((5, 7)), np.ones((7, 5))
    text = fxc.compile(program, fullgraph=True).inspect(x, y, 3.0, 7.0).llvm
    assert text.count("fdiv") == 1
    assert text.index("fdiv") < text.index("\nhead")


BEGUN_TWICE = """\
functional f(%x: f64[4], %test: bool)
  %s: f64 = sum(%x, axis=None, keepdims=False, dtype=None)
  %rank0: f64[] = broadcast_to_copy(%s, ())
  %start: f64[1] = expand_dims_copy(%rank0, (0,))
  %zero: f64[1] = slice_copy(%x, [0:1:1])
  %total: f64[1] = fori_loop(0, 3, (%zero,), body={
    (%i: py.int, %before: f64[1])
    %kept: f64[1] = fori_loop(0, 2, (%start,), body={
      (%j: py.int, %one: f64[1])
      %two: f64[1] = add(%one, %one)
      yield %two
    }, stops=False)
    %more: f64[1] = add(%before, %rank0)
    %after: f64[1] = add(%more, %kept)
    yield %after
  }, stops=False)
  %last: f64[1] = fori_loop(0, 2, (%start,), body={
    (%k: py.int, %three: f64[1])
    %four: f64[1] = add(%three, 1.0)
    yield %four
  }, stops=False)
  return %total, %last
  signature
    output 0 = result 0: f64[1]
    output 1 = result 1: f64[1]
"""
BEGUN_IN_BOTH_ARMS = """\
functional f(%x: f64[4], %test: bool)
  %s: f64 = sum(%x, axis=None, keepdims=False, dtype=None)
  %rank0: f64[] = broadcast_to_copy(%s, ())
  %start: f64[1] = expand_dims_copy(%rank0, (0,))
  %total: f64[1] = cond(%test, (), on_true={
    ()
    %kept: f64[1] = fori_loop(0, 2, (%start,), body={
      (%j: py.int, %one: f64[1])
      %two: f64[1] = add(%one, %one)
      yield %two
    }, stops=False)
    %more: f64[1] = add(%kept, %rank0)
    yield %more
  }, on_false={
    ()
    %ever: f64[1] = fori_loop(0, 2, (%start,), body={
      (%i: py.int, %half: f64[1])
      %full: f64[1] = add(%half, 2.0)
      yield %full
    }, stops=False)
    yield %ever
  })
  return %total
  signature
    output 0 = result 0: f64[1]
"""


@pytest.mark.parametrize("text", [BEGUN_TWICE, BEGUN_IN_BOTH_ARMS])
@pytest.mark.parametrize("test", [True, False])
def test_what_is_placed_in_a_region_is_placed_there_alone(text: str, test: bool) -> None:
    """What stood there was read behind the loop that had changed it, and in the arm that did not run."""
    graph = parse_graph(text, lambda name: TABLE[name].schema)
    found = native(graph).assembled.plan.run(np.arange(4.0), np.bool_(test))
    wanted = call(graph, (np.arange(4.0), np.bool_(test)), kernel_of)
    assert [each.tolist() for each in found] == [each.tolist() for each in wanted]


def test_many_stores_of_one_block_are_cut() -> None:
    """The time of instruction selection was the square of their number: 19 s for 1,300 of them."""

    def picked(x: Any, places: list[int]) -> Any:
        return np.array([x[place] for place in places]) * 2

    places = RNG.permutation(300).tolist()
    compiled, x = fxc.compile(picked, fullgraph=True), np.arange(300.0)
    assert np.array_equal(compiled(x, places), x[places] * 2)
    text = str(compiled.inspect(x, places).llvm)
    stores = [part.count("  store double") for part in text.split('asm sideeffect ""')]
    assert len(stores) > 2
    assert max(stores) <= 129
