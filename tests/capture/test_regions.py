"""Branches and loops in the graph: what their regions may do, at each level."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.capture.capture import Terms, capture
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph
from fxc.ir.parse import parse_graph
from fxc.ir.verify import problems
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE
from fxc.passes.reinplace import reinplace
from fxc.pipeline.stages import decomposed_graph, functional_graph, llvm_index, native
from tests.levels import cheaply
from tests.outcomes import difference, run


def check(fn: Callable[..., Any], *makes: Callable[[], tuple[Any, ...]]) -> None:
    """NumPy against the evaluated graph and the native code, which is the same for all arguments; the
    text of each stage reads back.
    """
    wanted = [run(fn, make()) for make in makes]
    for make, expected in zip(makes, wanted, strict=True):
        assert expected.error is None
        text = difference(expected, cheaply(fn, make()))
        assert not text, f"the evaluated graph: {text}"
    for options in ({}, {"dynamic": True}):
        compiled = fxc.compile(fn, fullgraph=True, **options)
        for make, expected in zip(makes, wanted, strict=True):
            for _ in range(2):
                text = difference(expected, run(compiled, make()))
                assert not text, f"native code, {options}: {text}"
        info = compiled.cache_info()
        assert (info.variants, info.eager_calls, info.fallbacks) == (1, 0, {})
    captured = capture(fn, makes[0](), {}, Terms(effects=False))
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


def structures_that_differ(x, n):
    return fxc.cond(x.sum() > n, lambda: 1.0, lambda: (x[0],))


def shapes_that_differ(x, n):
    return fxc.cond(x.sum() > n, lambda: x, lambda: x[0])


def texts_that_differ(x, n):
    return fxc.cond(x.sum() > n, lambda: "a", lambda: "b")


def doubled_structure(x, n):
    return fxc.fori_loop(0, n % 4, lambda i, a: (a, a), x)


def carried_text(x, n):
    return fxc.fori_loop(0, n, lambda i, s: (s[0] + 1, s[1]), (x, "text"))


def total_at_once(x, n):
    return fxc.while_loop(lambda s: s.size > 1, lambda s: s.sum(), x)


def text_as_a_test(x, n):
    return fxc.while_loop(lambda s: "no" if s[0] < n else "", lambda s: s + 1, x)


def writing_test(x, n):
    return fxc.while_loop(lambda s: s.fill(s[0] + 1) or s[0] < n, lambda s: s, x)


def appended(x, n):
    kept = []
    fxc.cond(x.sum() > n, lambda: kept.append(x + 1), lambda: None)
    return fxc.fori_loop(0, n, lambda i, s: kept.append(s) or s + 1, x), kept


def keys_that_are_alike(x, n):
    return fxc.cond(x.sum() > n, lambda: {1: x}, lambda: {1.0: x}), {1: x}


@pytest.mark.parametrize(
    "program",
    [
        *(structures_that_differ, shapes_that_differ, texts_that_differ, doubled_structure),
        *(carried_text, total_at_once, text_as_a_test, writing_test, appended),
    ],
)
def test_functions_return_what_python_lets_them(program):
    compiled = fxc.compile(program)
    for n in (3, 30):
        expected = run(program, (whole(), n))
        assert not difference(expected, run(compiled, (whole(), n)))
    assert compiled.cache_info().parts == 0


def test_keys_that_are_alike_stay_what_they_are():
    compiled = fxc.compile(keys_that_are_alike)
    for n in (3, 30):
        expected = run(keys_that_are_alike, (whole(), n))
        assert not difference(expected, run(compiled, (whole(), n)))


def test_the_test_of_a_loop_is_a_scalar():
    with pytest.raises(ValueError, match="The truth value of an array with more than one element"):
        capture(lambda x: fxc.while_loop(lambda s: s > 0, lambda s: s - 1, x), (whole(),), {})


# ---------------------------------------------------------------- fxc.scan


def horner(x, coefficients):
    return fxc.scan(lambda total, c: (total * x + c, total.sum()), x * 0, coefficients)


def scan_of_rows(x, rows):
    def f(carry, x):
        a, row = x
        carry[0] += row[0]
        return carry, {"twice": 2 * row, "sum": (carry.sum(), a)}

    return fxc.scan(f, x, (rows[:, 0], rows[:, 1:]))


def scan_of_one(x, rows):
    return fxc.scan(lambda total, row: (total + row, None), x, rows[:1])


@pytest.mark.parametrize(
    "fn, make",
    [
        (horner, lambda: (whole(), np.array([1.0, -2.0, 0.5]))),
        (scan_of_rows, lambda: (whole(), np.arange(12.0).reshape(3, 4))),
        (scan_of_one, lambda: (whole(), np.arange(12.0).reshape(3, 4))),
    ],
)
def test_scans(fn, make):
    check(fn, make)


def test_a_scan_over_nothing():
    def f(x):
        return fxc.scan(lambda s, y: (s, y), np.float64(0), x[:0])

    expected = run(f, (whole(),))
    assert isinstance(expected.error, ValueError)
    assert not difference(expected, run(fxc.compile(f, fullgraph=True), (whole(),)))


def test_a_branch_that_is_known_gives_arrays_of_its_own():
    def f(x):
        y = fxc.cond(True, lambda a: a, lambda a: a, x)
        y += 1
        return y

    check(f, lambda: (whole(),))


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


# ---------------------------------------------------------------- writes to arrays from outside


def one_arm(x, c):
    fxc.cond(c[0] > 0, lambda: x.fill(7), lambda: None)
    return x.sum()


def both_arms(x, c):
    def yes():
        x[1:] += 1

    def no():
        x[:2] = c[0]

    fxc.cond(c[0] > 0, yes, no)
    return x


def arms_write_what_they_are_given(x, c):
    def yes(a, b):
        a[0] = b[1]
        return a.sum()

    def no(a, b):
        b *= 2
        return b.sum()

    y = x + 1
    total = fxc.cond(c[0] > 0, yes, no, x[1:], y)
    return total, y


def an_arm_gives_what_it_writes(x, c):
    def yes():
        x[0] = 5
        return x

    y = fxc.cond(c[0] > 0, yes, lambda: x)
    y += 1
    return y


def arms_copy_one_array(x, c):
    y, z = np.zeros(4), np.ones(4)

    def yes():
        y[...] = x
        z[...] = x

    fxc.cond(c[0] > 0, yes, lambda: None)
    y += 1
    return y, z


def nested_arms(x, c):
    v = x[::2]

    def inner():
        v[0] += 1

    def yes():
        x[1] = 3
        fxc.cond(c[0] > 1, inner, lambda: None)
        v[1] *= x[1]

    fxc.cond(c[0] > 0, yes, inner)
    return v


def row_by_row(x, n):
    def body(i, s):
        x[i] = s
        return s + x[i]

    return fxc.fori_loop(0, n, body, np.float64(1))


def through_a_view(x, n):
    v = x[1:]

    def body(i, s):
        v[i] += x[i]
        return s + v.sum()

    return fxc.fori_loop(0, n, body, np.float64(0)), v


def through_a_view_of_a_view(x, n):
    v = x.reshape(2, 2).T[::-1]

    def body(i, s):
        v[i] = s
        v[i, i] *= 2
        return s + x[0]

    return fxc.fori_loop(0, n, body, np.float64(3)), v


def two_views_of_one(x, n):
    low, high = x[:3], x[1:]

    def body(i, s):
        low[i] = high[i] + 1
        high[...] = high * 2
        return s - low.sum()

    return fxc.fori_loop(0, n, body, np.float64(3)), high


def a_temporary(x, n):
    t = x * 2

    def body(i, s):
        t[i:] += x[i]
        return s

    fxc.fori_loop(0, n, body, np.float64(0))
    return t


def parts_of_growing_size(x, n):
    t = np.zeros_like(x)

    def body(i, s):
        t[: i + 1] += x[: i + 1]
        x[i:] *= 2
        return s + t[: i + 1].sum()

    return fxc.fori_loop(0, n, body, np.float64(0)), t


def a_view_read_before_and_after(x, n):
    v = x[1:]
    first = v + 1

    def body(i, s):
        s = s + v.sum()
        x[i] = 0
        return s + v.sum()

    s = fxc.fori_loop(0, n, body, np.float64(0))
    return first, s, v + 1


def only_read(x, n):
    v = x[::-1]
    s = fxc.fori_loop(0, n, lambda i, s: s + v[1:].max(), np.float64(0))
    return s, v[1:] + 1


def loop_in_loop(x, n):
    v = x[1:]

    def outer(i, s):
        x[i] += 1

        def inner(j, t):
            v[j] += x[i] * t
            return t + 1

        return fxc.fori_loop(0, n, inner, s) + v[0]

    return fxc.fori_loop(0, n, outer, np.float64(0))


def branch_in_loop(x, n):
    counts = np.zeros(2, dtype=int)

    def body(i, s):
        def large():
            counts[0] += 1
            x[i] = 0

        def small():
            counts[1] += 1

        fxc.cond(x[i] > s, large, small)
        return s + 0.5

    s = fxc.fori_loop(0, n, body, np.float64(1))
    return counts, s


def loop_in_branch(x, n):
    def long():
        def body(i, s):
            x[i] += s
            return s + 1

        fxc.fori_loop(0, n, body, np.float64(0))

    fxc.cond(x.sum() > 3, long, lambda: None)
    return x[0]


def indexed(x, n):
    idx = np.array([2, 0, 2])

    def body(i, s):
        x[idx] += 1
        np.add.at(x, idx, s)
        x[x > 5] = 0
        return s + x[i]

    return fxc.fori_loop(0, n, body, np.float64(1))


def at_a_computed_place(x, n):
    def body(i, s):
        k = x.argmax()
        x[k] = s
        return s - x[k]

    return fxc.fori_loop(0, n, body, np.float64(1))


def two_arrays_change_places(x, n):
    y = x + 1

    def body(i, s):
        t = x.copy()
        x[...] = y
        y[...] = t
        x[i] += s
        return s + 1

    fxc.fori_loop(0, n, body, np.float64(0))
    return y


def while_it_is_small(x, n):
    v = x[1:]

    def body(s):
        v[...] = v + s
        return s + 1

    return fxc.while_loop(lambda s: v.sum() < 40, body, np.float64(0)), v[0]


def made_in_the_loop_around(x, n):
    def outer(i, s):
        t = x + s
        v = t[1:]

        def inner(j, u):
            v[j] += u
            s[j] = t[j]
            return u + 1

        last = fxc.fori_loop(0, n, inner, np.float64(2))
        x[i] = t.sum() + last
        return s

    return fxc.fori_loop(0, n, outer, x)


def part_of_an_input(x, n):
    low = x[:2]

    def body(i, s):
        low[...] = low * 2 + s
        return s + 1

    return fxc.fori_loop(0, n, body, np.float64(0))


def carried_and_written(x, n):
    y = x * 2

    def body(i, s):
        s[i] = x[i]
        y[i] = s.sum()
        x[:] = s + y
        return s

    return fxc.fori_loop(0, n, body, x), y


def nothing_happens(x, n):
    def body(i, s):
        x[0] = 9
        return s

    return fxc.fori_loop(n, n, body, np.float64(0))


def by_a_mask_that_changes(x, n):
    mask = x > 2

    def body(i, s):
        x[mask] *= 2
        x[mask] = x[mask] + s
        mask[i] = False
        return s + x[i]

    return fxc.fori_loop(0, n, body, np.float64(0)), mask


BRANCHES = [
    one_arm, both_arms, arms_write_what_they_are_given, an_arm_gives_what_it_writes,
    arms_copy_one_array, nested_arms,
]  # fmt: skip
LOOPS = [
    row_by_row, through_a_view, through_a_view_of_a_view, two_views_of_one, a_temporary,
    parts_of_growing_size, a_view_read_before_and_after, only_read, loop_in_loop, branch_in_loop,
    loop_in_branch, indexed, at_a_computed_place, two_arrays_change_places, while_it_is_small,
    by_a_mask_that_changes, carried_and_written, made_in_the_loop_around, part_of_an_input, nothing_happens,
]  # fmt: skip


@pytest.mark.parametrize("fn", BRANCHES)
def test_branches_that_write(fn):
    check(fn, *(lambda c=c: (whole(), np.array([c])) for c in (2.0, 1.0, -1.0)))


@pytest.mark.parametrize("fn", LOOPS)
@pytest.mark.parametrize("numbers", [(0,), (1, 2)])
def test_loops_that_write(fn, numbers):
    check(fn, *(lambda n=n: (whole(), n) for n in numbers))


@pytest.mark.parametrize("fn", [row_by_row, two_views_of_one, loop_in_loop])
def test_inputs_that_overlap(fn):
    def program(x, y, n):
        return fn(x, n), fn(y, n), x.sum(), y + 1

    def make():
        memory = np.arange(9.0)
        return memory[1:7], memory[3:9], 2

    expected = run(program, make())
    compiled = fxc.compile(program, fullgraph=True)
    assert not difference(expected, run(compiled, make()))
    assert compiled.cache_info().eager_calls == 0


def test_only_what_is_written_is_stored():
    """A loop that writes a part of an input leaves the rest of it alone."""
    signature = functional_graph(capture(part_of_an_input, (whole(), 2), {})).signature
    assert signature is not None
    (mutation,) = signature.mutations
    assert [step.op for (step,) in mutation.regions] == ["slice"]


def test_an_input_that_is_read_only():
    def program(x, y, n):
        y += 1
        fxc.fori_loop(0, n, lambda i, s: x.fill(1) or s, np.float64(0))

    def make():
        x = whole()
        x.flags.writeable = False
        return x, whole(), 3

    expected = run(program, make())
    assert isinstance(expected.error, ValueError)
    assert not difference(expected, run(fxc.compile(program, fullgraph=True), make()))


def test_a_loop_that_raises_has_written_what_numpy_has():
    def program(x, idx, n):
        def body(i, s):
            x[i] = s
            return s + x[idx[i]]

        return fxc.fori_loop(0, n, body, np.float64(1))

    compiled = fxc.compile(program, fullgraph=True)
    for bad in (False, True):
        make = lambda: (whole(), np.array([0, 2, 9 if bad else 1]), 3)  # noqa: B023, E731
        expected = run(program, make())
        assert bool(expected.error) == bad
        assert not difference(expected, run(compiled, make()))
    assert compiled.cache_info().variants == 1


@pytest.mark.parametrize("fn", [loop_in_loop, branch_in_loop, while_it_is_small])
def test_exported_and_functionalized(fn, tmp_path):
    expected = run(fn, (whole(), 2))
    fxc.export(fn, whole(), 2).save(tmp_path / "loops.fxc")
    assert not difference(expected, run(fxc.load(tmp_path / "loops.fxc"), (whole(), 2)))
    x = whole()
    result, written = fxc.functionalize(fn)(x, 2)
    assert x.tolist() == whole().tolist()
    assert written["x"].tolist() == expected.inputs[0].tolist()
    assert str(result) == str(expected.result)


class TestFunctionalText(TestCase):
    maxDiff = None

    def text(self, fn: Callable[..., Any], *args: Any) -> str:
        graph = reinplace(decomposed_graph(functional_graph(capture(fn, args, {})), llvm_index()))
        return re.sub(r" +# .*", "", str(graph))

    def test_a_loop(self):
        self.assertExpectedInline(
            self.text(loop_in_loop, whole(), 2),
            """\
decomposed loop_in_loop(%x: f64[4], %n: py.int)
  symbols n = 2 (>= 1), i = 1 (>= 0), i_1 = 1 (>= 0)
  guards n <= 3
  %0: py.int = int_value(n)
  %25: f64, %26: f64[4] = fori_loop(0, %0, (f64(0.0), %x), body={
    (%i: py.int, %1: f64, %2: f64[4])
    %3: f64[] = select_copy(%2, 0, i)
    %4: f64 = item(%3)
    %5: f64 = add(%4, 1)
    %6: f64[] = broadcast_to_copy(%5, ())
    %7: f64[4] = select_scatter(%2, %6, 0, i) into %2
    %20: f64, %21: f64[4] = fori_loop(0, %0, (%1, %7), body={
      (%i_1: py.int, %9: f64, %10: f64[4])
      %11: f64[] = select_copy(%10, 0, i_1 + 1)
      %12: f64 = item(%11)
      %13: f64[] = select_copy(%10, 0, i)
      %14: f64 = item(%13)
      %15: f64 = multiply(%14, %9)
      %16: f64 = add(%12, %15)
      %17: f64[] = broadcast_to_copy(%16, ())
      %18: f64[4] = select_scatter(%10, %17, 0, i_1 + 1) into %10
      %19: f64 = add(%9, 1)
      yield %19, %18
    }, stops=False)
    %22: f64[] = select_copy(%21, 0, 1)
    %23: f64 = item(%22)
    %24: f64 = add(%20, %23)
    yield %24, %21
  }, stops=False)
  return %25, %26
  signature
    %x := result 1
    output 0 = result 0: f64""",
        )

    def test_a_branch(self):
        self.assertExpectedInline(
            self.text(both_arms, whole(), whole()),
            """\
decomposed both_arms(%x: f64[4], %c: f64[4])
  %0: f64[] = select_copy(%c, 0, 0)
  %1: f64 = item(%0)
  %2: bool = greater(%1, 0)
  %11: f64[4] = cond(%2, (%x,), on_true={
    (%3: f64[4])
    %4: f64[3] = slice_copy(%3, [1:4:1])
    %5: f64[3] = add(%4, 1)
    %6: f64[4] = slice_scatter(%3, %5, [1:4:1]) into %3
    yield %6
  }, on_false={
    (%7: f64[4])
    %9: f64[2]{0} = broadcast_to_copy(%1, (2,))
    %10: f64[4] = slice_scatter(%7, %9, [0:2:1]) into %7
    yield %10
  })
  return %11
  signature
    %x := result 0 in slice([1:4:1]) in slice([0:2:1])
    output 0 = input %x""",
        )

    def test_a_while_loop(self):
        self.assertExpectedInline(
            self.text(while_it_is_small, whole(), 2),
            """\
decomposed while_it_is_small(%x: f64[4], %n: py.int)
  %0: f64[3] = slice_copy(%x, [1:4:1])
  %1: f64 = sum(%0, axis=None, keepdims=False, dtype=None)
  %2: bool = less(%1, 40)
  %15: bool, %16: f64, %17: f64[4] = while_loop((%2, f64(0.0), %x), test={
    (%3: bool, %4: f64, %5: f64[4])
    yield %3
  }, body={
    (%going: bool, %6: f64, %7: f64[4])
    %8: f64[3] = slice_copy(%7, [1:4:1])
    %9: f64[3] = add(%8, %6)
    %10: f64[4] = slice_scatter(%7, %9, [1:4:1]) into %7
    %11: f64 = add(%6, 1)
    %13: f64 = sum(%9, axis=None, keepdims=False, dtype=None)
    %14: bool = less(%13, 40)
    yield %14, %11, %10
  })
  %18: f64[] = select_copy(%17, 0, 1)
  %19: f64 = item(%18)
  return %16, %19, %17
  signature
    %x := result 2 in slice([1:4:1])
    output 0 = result 0: f64
    output 1 = result 1: f64""",
        )


@pytest.mark.parametrize(
    "fn",
    [
        both_arms, nested_arms, row_by_row, through_a_view, two_views_of_one, loop_in_loop,
        branch_in_loop, loop_in_branch, while_it_is_small, part_of_an_input,
    ],
)  # fmt: skip
def test_written_arrays_stay_where_they_are(fn):
    """No region works on a copy of an array."""
    args = (whole(), whole()) if fn in BRANCHES else (whole(), 3)
    graph = functional_graph(capture(fn, args, {}))
    program = native(graph).assembled.module.program
    temps = [b.name for b in program.buffers.values() if b.role == "temp" and b.shape]
    assert (temps, program.copies) == ([], ())
