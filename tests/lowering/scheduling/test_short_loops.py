"""Short loops inside of others are written down: graph text → nests, and what they compute."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.program import Program
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.short_loops import short_loops, short_totals
from tests.covering import some
from tests.outcomes import difference, run
from tests.scheduled import after_building, body

RNG = np.random.default_rng(3)


def after_totals(source: str, *inputs: np.ndarray, target: Target | None = None) -> str:
    given = {} if target is None else {"target": target}
    return body(after_building(short_totals, source, *inputs, **given))


def both(program: Program) -> Program:
    return short_loops(fuse(short_totals(program)))


def total(kind: str, *shape: int, axis: str = "(1,)", dtype: str = "f64") -> str:
    sizes = ", ".join(map(str, shape))
    kept = ", ".join(map(str, shape[:-1] if axis == "(1,)" else shape[:1]))
    extra = ", dtype=None" if kind == "sum" else ""
    return f"""
functional f(%x: {dtype}[{sizes}])
  %0: {dtype}[{kept}] = {kind}(%x, axis={axis}, keepdims=False{extra})
  return %0"""


def test_a_sum_over_few_elements_is_an_expression() -> None:
    x = RNG.random((20, 3))
    assert_expected_inline(
        after_totals(total("sum", 20, 3), x),
        """\
for i0 in 0:20
  b1[i0] = add(0.0, add(add(x[i0, 0], x[i0, 1]), x[i0, 2]))""",
    )


def test_runs_are_added_to_the_total_one_by_one() -> None:
    x = RNG.random((9, 2, 4))[:, :, ::2]
    source = total("sum", 9, 2, 2, axis="(1, 2)").replace("9, 2, 2]", "9, 2, 2]{64, 32, 16}")
    assert_expected_inline(
        after_totals(source, x),
        """\
for i0 in 0:9
  b1[i0] = add(0.0, add(add(add(x[i0, 0, 0], x[i0, 0, 1]), x[i0, 1, 0]), x[i0, 1, 1]))""",
    )


def test_extremes_of_few() -> None:
    x = RNG.integers(0, 9, (20, 2)).astype("f4")
    assert_expected_inline(
        after_totals(total("max", 20, 2, dtype="f32"), x),
        """\
for i0 in 0:20
  b1[i0] = maximum(maximum(-inf, x[i0, 0]), x[i0, 1])""",
    )


@pytest.mark.parametrize(
    "size, dtype, is_short",
    [(4, "f64", True), (5, "f64", False), (7, "f32", True), (8, "f32", False)],
)
def test_how_many_are_few(size: int, dtype: str, is_short: bool) -> None:
    x = RNG.integers(0, 9, (20, size)).astype(np.dtype(dtype.replace("f", "float")))
    assert (after_totals(total("sum", 20, size, dtype=dtype), x).count("for ") == 1) == is_short


def test_shorter_vectors_can_pick_fewer() -> None:
    x = RNG.integers(0, 9, (20, 3)).astype("f8")
    found = after_totals(total("sum", 20, 3), x, target=Target(vector=32))
    assert found.count("for ") == 2


def test_what_shares_data_with_such_a_nest_is_written_down_with_it() -> None:
    source = """
functional f(%x: f64[20, 2])
  %0: f64[20, 2] = exp(%x)
  %1: f64[20, 1] = sum(%0, axis=(1,), keepdims=True, dtype=None)
  %2: f64[20, 2] = divide(%0, %1)
  return %2"""
    x = RNG.random((20, 2))
    assert_expected_inline(
        body(after_building(both, source, x)),
        """\
for i0 in 0:20
  t2_1 = exp(x[i0, 0])
  t2_4 = exp(x[i0, 1])
  t4 = add(0.0, add(t2_1, t2_4))
  b3[i0, 0] = divide(t2_1, t4)
  b3[i0, 1] = divide(t2_4, t4)""",
    )


def test_nests_that_share_nothing_stay() -> None:
    source = """
functional f(%x: f64[20, 2], %y: f64[20, 2])
  %0: f64[20, 2] = negative(%y)
  %1: f64[20] = sum(%x, axis=(1,), keepdims=False, dtype=None)
  return %0, %1"""
    x = RNG.random((20, 2))
    assert after_totals(source, x, x).count("for ") == 3


def test_what_cannot_be_one_loop_has_lanes_outside() -> None:
    source = """
functional f(%x: f64[20, 3], %y: f64[3])
  %0: f64[20, 3] = multiply(%x, %y)
  return %0"""
    assert_expected_inline(
        body(after_building(both, source, RNG.random((20, 3)), RNG.random(3))),
        """\
for i0 in 0:20
  b2[i0, 0] = multiply(x[i0, 0], y[0])
  b2[i0, 1] = multiply(x[i0, 1], y[1])
  b2[i0, 2] = multiply(x[i0, 2], y[2])""",
    )


def test_parts_of_rows_are_one_loop_with_lanes() -> None:
    source = """
functional f(%x: f64[20, 4])
  %0: f64[20, 3] = slice_copy(%x, [0:20:1, 0:3:1])
  %1: f64[20, 1] = slice_copy(%x, [0:20:1, 3:4:1])
  %2: f64[20, 3] = multiply(%0, %1)
  %3: f64[20, 1] = negative(%1)
  %4: f64[20, 4] = concatenate((%2, %3), axis=1)
  return %4"""
    assert_expected_inline(
        body(after_building(both, source, RNG.random((20, 4)))),
        """\
for i0 in 0:20
  t2_1 = x[i0, 3]
  b1[i0, 0] = multiply(x[i0, 0], t2_1)
  b1[i0, 1] = multiply(x[i0, 1], t2_1)
  b1[i0, 2] = multiply(x[i0, 2], t2_1)
  b1[i0, 3] = negative(t2_1)""",
    )


def test_what_is_one_loop_stays() -> None:
    source = """
functional f(%x: f64[20, 3])
  %0: f64[20, 3] = negative(%x)
  return %0"""
    found = body(after_building(both, source, RNG.random((20, 3))))
    assert found.startswith("for i0 in 0:60")


def _scaled(x: Any) -> Any:
    e = (x - x.max(-1, keepdims=True)) * 0.25
    return e / e.sum(-1, keepdims=True)


def _totals(x: Any) -> Any:
    some = x.sum(-1), x.prod(-1), x.max(-1), x.min(-1), (x > 0).any(-1), (x > 0).all(-1)
    return *some, x.sum(), x.mean(-1), np.argmax(x, -1), x.sum(0), np.linalg.norm(x, axis=-1)


def _pooled(x: Any) -> Any:
    n, m = x.shape
    y = x[: n // 2 * 2, : m // 2 * 2].reshape(n // 2, 2, m // 2, 2)
    return y.mean(axis=(1, 3)), y.max(axis=(1, 3)), y.sum(axis=(3, 1)), y.sum(3)


def _distances(x: Any) -> Any:
    d = x[:, None] - x
    return np.sqrt((d**2).sum(-1)), d


def _parts(x: Any) -> Any:
    y = np.concatenate([x[:, :-1] * x[:, -1:], x[:, -1:] + x[:, :1]], axis=-1)
    y[:, 1:] -= x[:, :-1]
    return y, np.stack([x[:, 0], x[:, -1], x[:, 1]], axis=-1) * np.arange(3).astype(x.dtype)


def _update(x: Any) -> Any:
    x -= x.sum(-1, keepdims=True)
    return x * x.max(-1, keepdims=True)


PROGRAMS = {
    "scaled": "fc",
    "totals": "iubf",
    "pooled": "if",
    "distances": "ifc",
    "update": "ifc",
    "parts": "iufc",
}


DTYPES = ["i2", "i8", "u1", "f4", "f8", "c8", "c16", "?"]
SHAPES = ((9, 2), (40, 3), (17, 4), (33, 5), (18, 7), (2, 3), (16, 8))
LAYOUTS = (np.array, lambda x: x[::-1], np.asfortranarray)


@pytest.mark.bits
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_numpys(name: str, dtype: str) -> None:
    function = globals()[f"_{name}"]
    if np.dtype(dtype).kind not in PROGRAMS[name]:
        return
    turn = list(PROGRAMS).index(name) + DTYPES.index(dtype)
    for shape, layout in some(list(itertools.product(SHAPES, LAYOUTS)), 7, turn):
        x = (RNG.standard_normal(shape) * 9).astype(dtype)
        if dtype[0] in "fc":
            x[0, 0], x[-1, -1] = np.nan, -0.0
        x = layout(x)
        compiled = fxc.compile(function)
        assert not difference(run(function, [x.copy("K")]), run(compiled, [x.copy("K")]))


def turned(q: Any, v: Any) -> Any:
    t = 2 * np.cross(q[:, 1:], v)
    return v + q[:, :1] * t + np.cross(q[:, 1:], t)


def brightened(x: Any) -> Any:
    y = np.where(x < 0.1, x, np.tanh(x) ** 1.7)
    return y * (0.3 * y[:, 0] + 0.6 * y[:, 1] + 0.1 * y[:, 2])[:, None]


def moved(x: Any) -> Any:
    d = np.empty_like(x)
    d[:, 0] = 10 * (x[:, 1] - x[:, 0])
    d[:, 1] = x[:, 0] * (28 - x[:, 2]) - x[:, 1]
    d[:, 2] = x[:, 0] * x[:, 1] - 2.5 * x[:, 2]
    return x + 0.01 * d


@pytest.mark.parametrize(
    ("function", "shapes", "loops"),
    [
        (turned, [(40, 4), (40, 3)], 1),
        (moved, [(40, 3)], 1),
        (brightened, [(40, 3)], 2),  # tanh and power in lanes of their own take less time
    ],
)
def test_columns_that_another_nest_meets_one_by_one_are_numbers(
    function: Any, shapes: list[tuple[int, ...]], loops: int
) -> None:
    arrays = [RNG.random(shape) for shape in shapes]
    program = fxc.compile(function, fullgraph=True)
    assert np.allclose(program(*arrays), function(*arrays), rtol=1e-14, atol=0)
    text = str(program.inspect(*arrays).loops)
    assert text.count("for i") == loops
    assert text.count("temp ") == loops - 1


def test_columns_stay_in_memory_where_rows_would_be_gathered() -> None:
    def normals(p: Any) -> Any:
        return np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])

    p = RNG.random((40, 3, 3))
    program = fxc.compile(normals, fullgraph=True)
    assert np.array_equal(program(p), normals(p))
    assert "lanes" in str(program.inspect(p).loops)
