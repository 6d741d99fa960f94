"""Loops whose iterations are independent, and take long, become parallel: nests → the same, marked."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.ir.errors import VerificationError
from fxc.ir.symbols import computed, symbol
from fxc.lowering.machine.target import SERIAL, Target
from fxc.lowering.nests import independence
from fxc.lowering.nests.buffers import F64, I64, Buffer, Const
from fxc.lowering.nests.independence import verify_parallel, why_dependent
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import (
    Accumulate,
    Check,
    Compute,
    For,
    Index,
    Load,
    Loop,
    Stmt,
    Store,
)
from fxc.lowering.scheduling import parallel as module
from fxc.lowering.scheduling.block_columns import block_columns
from fxc.lowering.scheduling.cost import cost
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.parallel import parallel
from tests.parallel_loops import FEW, SMALL
from tests.passed import parsed
from tests.scheduled import after, after_building, body, buffer, built, outcome, program, text

X = np.arange(24.0).reshape(6, 4)
WIDE = np.arange(120.0).reshape(6, 20) % 7
i0, i1 = symbol("i0", hint=0, lower=0), symbol("i1", hint=0, lower=0)


def made_parallel(before: Program, target: Target) -> Program:
    """The program with loops that are parallel on this machine; it is for the same one as before."""
    return replace(parallel(replace(before, target=target)), target=before.target)


def marked(before: Program, target: Target = SMALL) -> Program:
    made = made_parallel(before, target)
    verify_parallel(made)
    return made


def fused_and_marked(before: Program) -> Program:
    return marked(block_columns(fuse(before)))


def after_all(source: str, *inputs: Any) -> str:
    return text(after_building(fused_and_marked, source, *inputs))


# ------------------------------------------------------------------ what becomes parallel


def test_elements() -> None:
    source = """
functional f(%x: f64[6, 4])
  %0: f64[6, 4] = exp(%x)
  %1: f64[6, 4] = multiply(%0, %x)
  return %1"""
    assert_expected_inline(
        after_all(source, X),
        """\
loops f
  input x: float64[6, 4]
  output b1: float64[6, 4]
  for i0 in 0:24 parallel 1
    t1 = x[floordiv(i0, 4), mod(i0, 4)]
    b1[floordiv(i0, 4), mod(i0, 4)] = multiply(exp(t1), t1)
  bytes moved 384; copies 0""",
    )


ROWS = """
functional f(%x: f64[{n}, {m}])
{symbols}  %0: f64[{n}, 1] = max(%x, axis=(1,), keepdims=True)
  %1: f64[{n}, {m}] = subtract(%x, %0)
  %2: f64[{n}, {m}] = square(%1)
  %3: f64[{n}, 1] = sum(%2, axis=(1,), keepdims=True, dtype=None)
  %4: f64[{n}, {m}] = divide(%2, %3)
  return %4"""


def test_rows_and_a_temporary_of_which_each_thread_has_its_own() -> None:
    assert_expected_inline(
        after_all(ROWS.format(n=6, m=20, symbols=""), WIDE),
        """\
loops f
  input x: float64[6, 20]
  temp b2: float64[20] for each of 8 threads
  output b4: float64[6, 20]
  for i0 in 0:6 parallel 1
    for i1 in 0:20
      t2 = maximum x[i0, i1]  [any]
    for i3 in 0:20
      t6 = square(subtract(x[i0, i3], t2))
      b2[i3] = t6
      t8 = add t6  [pairwise]
    for i7 in 0:20
      b4[i0, i7] = divide(b2[i7], t8)
  bytes moved 2240; copies 0""",
    )


def test_rows_of_more_axes() -> None:
    source = ROWS.format(n="3, 2", m=20, symbols="").replace("(1,)", "(2,)")
    found = after_all(source, WIDE.reshape(3, 2, 20))
    assert "temp b2: float64[20] for each of 8 threads" in found
    assert "for i0 in 0:3 parallel 1\n    for i1 in 0:2\n      for i2 in 0:20" in found


def test_symbolic_sizes_are_asked_at_run_time() -> None:
    source = ROWS.format(n="n", m="m", symbols="  symbols n = 6 (>= 2), m = 20 (>= 2)\n")
    made = made_parallel(block_columns(fuse(built_from(source))), Target(threads=2))
    assert "for i0 in 0:n parallel floordiv(12000000, 1360*m + 1) + 1" in text(made)
    after_building(fused_and_marked, source, WIDE)


def built_from(source: str) -> Program:
    return built(parsed(source))


def test_writes_to_an_input_in_place() -> None:
    source = """
functional f(%x: f64[6, 4])
  %0: f64[3, 4] = slice_copy(%x, [0:6:2, 0:4:1])
  %1: f64[3, 4] = negative(%0)
  %2: f64[6, 4] = slice_scatter(%x, %1, [0:6:2, 0:4:1]) into %x
  return %1, %2
  signature
    %x := result 1 in slice([0:6:2, 0:4:1])
    output 0 = result 0: f64[3, 4]"""
    assert_expected_inline(
        body(after_building(fused_and_marked, source, X)),
        """\
for i0 in 0:3 parallel 1
  for i1 in 0:4
    t2 = negative(x[2*i0, i1])
    b1[i0, i1] = t2
    x[2*i0, i1] = t2""",
    )


def test_a_scan_down_the_columns_and_none_along_one() -> None:
    source = """
functional f(%x: f64[6{more}])
  %0: f64[6{more}] = cumsum(%x, axis=0, dtype=None)
  return %0"""
    assert "for i1 in 0:4 parallel 1\n" in after_all(source.format(more=", 4"), X)
    assert "parallel" not in after_all(source.format(more=""), X[:, 0])


TOTALS = """
functional f(%x: f64[600])
  %0: f64 = sum(%x, axis=None, keepdims=False, dtype=None)
  %1: f64 = max(%x, axis=None, keepdims=False)
  %2: f64[600] = subtract(%x, %1)
  return %0, %1, %2"""


def test_totals_of_whole_arrays_in_pieces() -> None:
    assert_expected_inline(
        body(after_building(fused_and_marked, TOTALS, np.arange(600.0) % 11)),
        """\
for i0 in 0:600 parallel 128
  t1 = x[i0]
  t2 = add t1  [pairwise]
  t4 = maximum t1  [any]
b1[] = t2
b2[] = t4
for i2 in 0:600 parallel 1
  b3[i2] = subtract(x[i2], t4)""",
    )


def test_a_total_whose_order_does_not_show_may_have_shorter_pieces() -> None:
    source = """
functional f(%x: i64[9])
  %0: i64 = sum(%x, axis=None, keepdims=False, dtype=None)
  return %0"""
    assert "for i0 in 0:9 parallel 1" in after_all(source, np.arange(9))


def test_pieces_of_a_sum_are_longer_than_its_leaves() -> None:
    made = fused_and_marked(built_from(TOTALS))
    loop = made.body[0]
    assert isinstance(loop, Loop)
    planted = replace(made, body=(replace(loop, parallel=64), *made.body[1:]))
    with pytest.raises(VerificationError, match="may be leaves"):
        verify_parallel(planted)


# ------------------------------------------------------------------ what does not


def over(size: Any, *statements: Stmt, var: str = "i0", **how: Any) -> Loop:
    return Loop(var, size, statements, **how)


def load(name: str, source: str, *index: Any) -> Load:
    return Load(name, F64, source, index)


def store(target: str, *index: Any, value: Any = "a") -> Store:
    return Store(target, index, value, F64)


BUFFERS = [
    buffer("x", "input", 6, 4),
    buffer("y", "input", 30),
    buffer("at", "input", 6, dtype="int64"),
    buffer("row", "temp", 4),
    buffer("out", "output", 6, 4),
]


def nest(*statements: Stmt) -> Program:
    return program(BUFFERS, *statements, results=("out",))


TOTAL = Accumulate("t", F64, "add", "a", Const(0.0, F64), "sequential")
PLACE = computed("t", (i0,))
DEPENDENT: dict[str, tuple[Program, str]] = {
    "an order": (nest(over(4, load("a", "y", i0), store("y", i0 + 1), ordered=True)), "an order"),
    "stores that wait": (nest(over(4, load("a", "y", i0), store("y", i0), behind=1)), "an order"),
    "a total": (nest(over(4, load("a", "y", i0), TOTAL), store("out", 0, 0, value="t")), "a total"),
    "a total of two loops": (
        nest(over(6, over(4, load("a", "x", i0, i1), replace(TOTAL, levels=2), var="i1"))),
        "a total",
    ),
    "a position": (
        nest(over(6, load("a", "x", i0, 0), replace(TOTAL, order="any", position=i0))),
        "a total",
    ),
    "a total in chunks": (
        nest(over(30, load("a", "y", i0), replace(TOTAL, order="pairwise"), chunk=8)),
        "a total",
    ),
    "a total beside a loop": (
        nest(
            over(
                6,
                load("a", "x", i0, 0),
                replace(TOTAL, order="any"),
                over(4, store("out", i0, i1), var="i1"),
            )
        ),
        "a total",
    ),
    "a check": (nest(over(4, Check(Const(False, np.dtype(bool))))), "kind Check"),
    "an element of the next one": (
        nest(over(4, load("a", "y", i0 + 1), store("y", i0))),
        "share y",
    ),
    "one place": (nest(over(4, load("a", "x", i0, 0), store("y", 3))), "share y"),
    "places that are computed": (
        nest(over(6, Load("t", I64, "at", (i0,)), load("a", "x", i0, 0), store("y", PLACE))),
        "share y",
    ),
    "rows that overlap": (
        nest(over(6, over(4, load("a", "x", i0, i1), store("y", 3 * i0 + i1), var="i1"))),
        "share y",
    ),
    "one row more than once": (
        nest(over(6, over(4, load("a", "x", i0, i1), store("out", 1, i1), var="i1"))),
        "share out",
    ),
    "a temporary that is not filled": (
        nest(
            over(
                6,
                load("a", "x", i0, 0),
                store("row", 0),
                over(4, load("b", "row", i1), store("out", i0, i1, value="b"), var="i1"),
            )
        ),
        "share row",
    ),
    "a temporary that is read before it is filled": (
        nest(
            over(
                6,
                over(3, load("b", "row", i1 + 1), store("row", i1, value="b"), var="i1"),
                over(4, load("a", "x", i0, i1), store("row", i1), var="i1"),
            )
        ),
        "share row",
    ),
    "a temporary that others read": (
        nest(
            over(
                6,
                over(4, load("a", "x", i0, i1), store("row", i1), var="i1"),
                over(4, load("b", "row", i1), store("out", i0, i1, value="b"), var="i1"),
            ),
            load("c", "row", 0),
            store("out", 0, 0, value="c"),
        ),
        "share row",
    ),
}


@pytest.mark.parametrize("before, why", DEPENDENT.values(), ids=DEPENDENT.keys())
def test_iterations_that_depend_on_each_other(before: Program, why: str) -> None:
    loop = before.body[0]
    assert isinstance(loop, Loop)
    assert why in why_dependent(before, loop)
    assert marked(before) == before
    planted = replace(before, body=(replace(loop, parallel=1), *before.body[1:]))
    with pytest.raises(VerificationError, match=why):
        verify_parallel(planted)


def test_places_of_which_an_index_always_differs() -> None:
    row = load("a", "out", 1, i1), store("out", 2, i0)
    assert not why_dependent(
        nest(over(4, over(4, *row, var="i1"))), over(4, over(4, *row, var="i1"))
    )
    corner = over(3, load("a", "x", 0, 0), store("out", 0, i0 + 1), store("out", i0 + 1, 0))
    assert not why_dependent(nest(corner), corner)
    corner = over(3, load("a", "x", 0, 0), store("out", 0, i0), store("out", i0, 0))
    assert "share out" in why_dependent(nest(corner), corner)


FILLED = nest(
    over(
        6,
        over(4, load("a", "x", i0, i1), store("row", i1), var="i1"),
        over(4, load("b", "row", i1), store("out", i0, i1, value="b"), var="i1"),
    )
)


def test_what_verification_prevents_is_a_wrong_result() -> None:
    (loop,) = FILLED.body
    assert isinstance(loop, Loop)
    inputs = X, np.arange(30.0), np.arange(6)
    planted = replace(FILLED, body=(replace(loop, parallel=1),))
    with pytest.raises(VerificationError, match="share row"):
        verify_parallel(planted)
    wanted, found = outcome(FILLED, inputs), outcome(planted, inputs)
    assert not np.array_equal(wanted[0], found[0])
    made = after(marked, FILLED, *inputs)
    assert made.buffers["row"].copies == SMALL.threads


def test_without_the_analysis_verification_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    backwards = nest(over(4, load("a", "y", i0 + 1), store("y", i0), store("y", i0 + 9)))
    monkeypatch.setattr(module, "why_dependent", lambda *_: "")
    with pytest.raises(VerificationError, match="share y"):
        marked(backwards)


def test_a_parallel_loop_stands_in_no_other() -> None:
    inner = over(4, load("a", "x", i0, i1), store("out", i0, i1), var="i1", parallel=1)
    with pytest.raises(VerificationError, match="inside of i0 is parallel"):
        verify_parallel(nest(over(6, inner)))


# ------------------------------------------------------------------ places in memory


def written(strides: tuple[Any, ...], *index: Any, inner: int = 4, offset: Any = 0) -> str:
    """What speaks against a loop of six that stores to a buffer with these strides."""
    out = replace(buffer("z", "input", *(len(strides) * [6])), strides=strides, offset=offset)
    stmt = over(inner, load("a", "x", i0, i1), store("z", *index), var="i1")
    before = program([*BUFFERS, out], over(6, stmt), results=("out",))
    loop = before.body[0]
    assert isinstance(loop, Loop)
    return why_dependent(before, loop)


n = symbol("n", hint=8, lower=2)


def test_rows_lie_apart() -> None:
    assert not written((32, 8), i0, i1)
    assert not written((-32, 8), i0, i1)
    assert not written((32, -8), i0, i1)
    assert not written((8, 48), i0, i1, inner=6)  # by their index: no two places are one
    assert not written((8 * n, 8), i0, i1)
    assert not written((symbol("s", hint=8), 8), i0, i1)
    assert not written((symbol("s", hint=8),), i0)
    assert not written((8,), 4 * i0 + i1)
    assert not written((-8,), 4 * i0 + i1, offset=400)


def test_rows_meet() -> None:
    assert written((8,), 3 * i0 + i1)
    assert written((8,), i0 + i1)
    assert written((8,), i1)
    assert written((symbol("s", hint=8),), 4 * i0 + i1)
    assert written((8,), n * i0 + i1)
    assert written((32, 8), i1, i0 + i1)


def test_both_parts_of_complex_numbers() -> None:
    source = """
functional f(%x: c128[6, 4], %y: c128[6, 4])
  %0: c128[6, 4] = multiply(%x, %y)
  return %0"""
    assert "parallel" in after_all(source, X + 1j * X.T.reshape(6, 4), X * (1 + 2j))


# ------------------------------------------------------------------ what pays


def test_short_loops_stay_as_they_are() -> None:
    source = """
functional f(%x: f64[{n}])
  %0: f64[{n}] = exp(%x)
  return %0"""
    target = Target(threads=2)
    for size, wanted in ((1000, False), (10_000, False), (100_000, True)):
        made = made_parallel(fuse(built_from(source.format(n=size))), target)
        assert ("parallel" in text(made)) is wanted
        assert made_parallel(made, SERIAL) == made


def test_short_loops_inside_of_the_users_stay_as_they_are() -> None:
    """A row that grows with a loop's counter, over a symbolic number of rows."""
    rows, k = symbol("n", hint=100, lower=2), symbol("k", hint=0, lower=0)
    x = buffer("x", "input", rows, rows)

    def repeated(size: Any) -> Program:
        inner = over(size, load("a", "x", k, i0), store("x", k, i0))
        begin, end = Const(0, I64), "end"
        loop = For("k", begin, end, (inner,))
        return program([x], Index("end", I64, rows), loop, results=())

    def is_marked(target: Target, size: Any) -> bool:
        return "parallel" in text(made_parallel(repeated(size), target))

    assert is_marked(SMALL, k)
    assert is_marked(SMALL, rows)
    assert not is_marked(Target(threads=2), k)
    assert not is_marked(Target(threads=2), rows)
    once = program([x], over(rows, load("a", "x", 0, i0), store("x", 0, i0)), results=())
    assert "parallel" in text(made_parallel(once, Target(threads=2)))
    large = symbol("m", hint=10**6, lower=2)
    assert is_marked(Target(threads=2), large)


def test_chunks_are_whole_cache_lines() -> None:
    source = """
functional f(%x: f64[3000000])
  %0: f64[3000000] = negative(%x)
  return %0"""
    (loop,) = made_parallel(fuse(built_from(source)), Target(threads=2)).body
    assert isinstance(loop, Loop)
    assert isinstance(loop.parallel, int)
    assert loop.parallel % 64 == 0


def test_chunks_of_columns_are_whole_vectors() -> None:
    source = """
functional f(%x: f64[{n}, {m}])
{symbols}  %0: f64[{n}, {m}] = cumsum(%x, axis={axis}, dtype=None)
  return %0"""

    def chunk(axis: int, n: object = 2000, m: object = 2000, symbols: str = "") -> Any:
        written = source.format(axis=axis, n=n, m=m, symbols=symbols)
        (loop,) = made_parallel(fuse(built_from(written)), Target(threads=2)).body
        assert isinstance(loop, Loop)
        return loop.parallel

    assert chunk(0) == 64
    assert chunk(1) < 64
    symbols = "  symbols n = 6 (>= 2), m = 20 (>= 2)\n"
    assert str(chunk(0, "n", "m", symbols)) == "64*floordiv(12000000, 28160*n + 1) + 64"
    assert str(chunk(1, "n", "m", symbols)) == "floordiv(12000000, 440*m + 1) + 1"


def test_what_is_loaded_again_is_at_hand() -> None:
    """A stencil's neighbours are in the cache: it takes no longer for them."""
    target = Target(threads=2)
    once = cost(target, (load("a", "y", i0), store("y", i0)))
    again = cost(target, (load("a", "y", i0), load("b", "y", i0 + 1), store("y", i0)))
    both = cost(target, (load("a", "y", i0), load("b", "x", i0, 0), store("y", i0)))
    assert isinstance(once, int)
    assert isinstance(both, int)
    assert once == again < both


def test_the_cost_of_what_depends_on_the_loop_is_not_known() -> None:
    triangle = over(i0 + 1, load("a", "x", i0, i1), store("out", i0, i1), var="i1")
    before = nest(over(4, triangle))
    assert cost(SMALL, (over(4, triangle),)) is None
    assert marked(before) == before


# ------------------------------------------------------------------ random nests


def random_nest(seed: int) -> Program:
    """A loop, with one or two inside, over elements of two arrays and a temporary."""
    at = random.Random(seed)
    buffers = [
        buffer("x", "input", 8, 8),
        buffer("z", "input", 80),
        buffer("w", "temp", 4),
        buffer("out", "output", 8, 8),
    ]
    indices = ((i0, i1), (i1, i0), (i0 + 1, i1), (i0, i1 + 1), (1, i1), (i0, 2), (2 * i1, i0))
    flat = (i0, i1, 4 * i0 + i1, 3 * i0 + i1, i0 + 8 * i1, i0 + 4 * i1, 39 - 4 * i0 + i1, 40 + i1)

    def place() -> tuple[str, tuple[Any, ...]]:
        name = at.choice(("x", "z", "z", "w", "out"))
        if name == "z":
            return name, (at.choice(flat),)
        return name, (at.choice((i1, i1, i0, 0)),) if name == "w" else at.choice(indices)

    def inside() -> Iterator[Stmt]:
        for number in range(at.randrange(1, 3)):
            source, index = place()
            yield load(f"a{number}", source, *index)
            operands = (f"a{number}", Const(float(number + 2), F64))
            yield Compute(f"b{number}", F64, "multiply", operands, (F64, F64))
            target, index = place()
            yield store(target, *index, value=f"b{number}")

    zeros = over(8, over(8, store("out", i0, i1, value=Const(0.0, F64)), var="i1"))
    loops = [over(4, *inside(), var="i1", ordered=True) for _ in range(at.randrange(1, 3))]
    return program(buffers, zeros, over(4, *loops), results=("out",))


def test_random_nests_do_the_same_side_by_side() -> None:
    count = {True: 0, False: 0}
    for seed in range(400):
        made = marked(random_nest(seed), at_random(seed))
        loop = made.body[-1]
        assert isinstance(loop, Loop)
        count[loop.parallel is not None] += 1
        if loop.parallel is not None:
            assert not differs(seed), f"seed {seed}\n{made}"
    assert min(count.values()) > 40


def at_random(seed: int) -> Target:
    return (SMALL, FEW)[seed % 2]


def differs(seed: int) -> bool:
    """Whether a random nest that was made parallel gives other results."""
    inputs = np.arange(64.0).reshape(8, 8), np.arange(80.0) + 100
    before = random_nest(seed)
    loop = made_parallel(before, at_random(seed)).body[-1]
    made = replace(made_parallel(before, at_random(seed)), body=(*before.body[:-1], loop))
    for backwards in (False, True):
        pairs = zip(
            outcome(made, inputs, backwards=backwards), outcome(before, inputs), strict=True
        )
        if any(not np.array_equal(left, right, equal_nan=True) for left, right in pairs):
            return True
    return False


def test_random_nests_show_what_the_analysis_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    without: dict[str, Callable[..., Any]] = {
        "_moves_apart": lambda found: True,
        "_have_own_index": lambda *_: True,
        "_is_filled": lambda *_: True,
    }
    for name, always in without.items():
        monkeypatch.setattr(independence, name, always)
        assert any(map(differs, range(400))), name
        monkeypatch.undo()


def test_a_copy_of_a_buffer_is_printed() -> None:
    several = replace(
        FILLED, buffers={"row": Buffer("row", F64, (4,), (8,), "temp", "row", copies=3)}
    )
    assert "  temp row: float64[4] for each of 3 threads\n" in str(replace(several, body=()))
