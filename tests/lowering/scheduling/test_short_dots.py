"""Short inner products that the loop which makes an operand adds up."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.operators.dot_order import Adjacent, DotOrder
from fxc.verifying.loop_evaluator import evaluate
from tests.compiling import same
from tests.scheduled import body


def sparse(starts: Any, columns: Any, values: Any, x: Any) -> Any:
    y = np.empty(len(starts) - 1, values.dtype)
    for i in range(len(starts) - 1):
        inside = columns[starts[i] : starts[i + 1]]
        y[i] = values[starts[i] : starts[i + 1]] @ x[inside]
    return y


def windows(v: Any, w: Any, lengths: Any, out: Any) -> None:
    """Operands that are computed, on either side."""
    for i in range(len(lengths)):
        n = lengths[i]
        out[i] = (v[:n] * 2.0 - w[i]) @ w[:n] + np.dot(v[:n], np.sqrt(np.abs(w[:n])))


def arguments(program: Any, dtype: Any = np.float64, kind: Any = np.int64) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    lengths = np.r_[np.arange(50), 15, 16, 17, 31, 32, 33, 0, 1100, rng.integers(0, 20, 30)]
    if program is windows:
        v, w = rng.standard_normal((2, 1200)).astype(dtype)
        return v, w, lengths, np.zeros(len(lengths), dtype)
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(kind)
    count = int(starts[-1])
    x = rng.standard_normal(70).astype(dtype)
    return (
        starts,
        rng.integers(0, 70, count).astype(kind),
        rng.standard_normal(count).astype(dtype),
        x,
    )


PROGRAMS = (sparse, windows)


@pytest.mark.bits
@pytest.mark.products
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [np.int64, np.uint32])
def test_they_have_numpys_bits(program: Any, dtype: Any, kind: Any) -> None:
    make = partial(arguments, program, dtype, kind)
    for dynamic in (False, True):
        assert same(program, fxc.compile(program, fullgraph=True, dynamic=dynamic), make)


@pytest.mark.parametrize("place", [0, 3, 200, -1])
def test_indices_that_are_wrong_raise_as_in_numpy(place: int) -> None:
    """In rows that are short and in others; negative ones that are right are taken."""
    compiled = fxc.compile(sparse, fullgraph=True)
    for index in (70, -71, -70, 69):
        starts, columns, values, x = arguments(sparse)
        columns[place] = index
        returns = same(sparse, compiled, (starts, columns, values, x))
        assert returns == (-70 <= index < 70)


def test_numbers_that_are_special() -> None:
    rng = np.random.default_rng(2)
    special = np.array([0.0, -0.0, 5e-324, -1e-200, 1e300, np.inf, -np.inf, np.nan, 1, -1])
    for most in (2, 4, 6, 10):
        starts, columns, values, x = arguments(sparse)
        given = starts, columns, rng.choice(special[:most], values.shape), x
        assert same(sparse, fxc.compile(sparse, fullgraph=True), given)


ADJACENT = Adjacent(16, 4, False, ("halves", "pairs", "neighbours"), True, False, False)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLAS has an order that is known, whichever it has."""
    name = "fxc.lowering.scheduling.short_dots.dot_order"
    monkeypatch.setattr(name, lambda dtype: DotOrder(ADJACENT, None))


def loops_of(program: Any, *given: Any) -> Any:
    return fxc.compile(program, fullgraph=True).inspect(*given).loops


@pytest.mark.usefixtures("known")
def test_a_row() -> None:
    assert_expected_inline(
        body(loops_of(sparse, *arguments(sparse))),
        """\
for i0 in 0:88 moved
  b4[i0] = 0.0
loop i in 0:88
  t3 = py_int(item(starts[i]))
  t6 = py_int(item(starts[i + 1]))
  t13 = py_minimum(py_maximum(py_add(t3, py_multiply(py_int:int64(py_less(t3, 0)), 2713)), 0), 2713)
  t20 = py_minimum(py_maximum(py_add(t6, py_multiply(py_int:int64(py_less(t6, 0)), 2713)), 0), 2713)
  size count = py_maximum(py_subtract(t20, t13), 0), at most 2713
  size count2 = py_minimum(t13, t20), at most -count + 2713
  if less((count), 16)
    for i1 in 0:count
      t28.short = columns[count2 + i1]
      t30.short = logical_or out_of_bounds(t28.short, 70)  [any]
      b13.total = add multiply(x[wrap_index(t28.short, 70)], v11[i1])  [sequential]
    raise if t30.short
    b13[] = b13.total
  else
    for i1 in 0:count lanes 8 again
      t28 = columns[count2 + i1]
      t30 = logical_or out_of_bounds(t28, 70)  [any]
      b12[i1] = x[wrap_index(t28, 70)]
    raise if t30
    b13 = matmul(v11, b12)
  b4[i] = b13[]""",
    )


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_both_arms_do_the_same(dtype: Any) -> None:
    args = arguments(windows, dtype)
    args[2][:] = np.sort(args[2])[::-1]  # a temporary is as long as it is at first
    loops = loops_of(windows, *args)
    assert "if less(" in str(loops)
    windows(*args)
    found = *args[:3], np.zeros_like(args[3])
    evaluate(loops, found)
    np.testing.assert_allclose(found[-1], args[-1], rtol=1e-3)


def once(v: Any, n: Any) -> Any:
    return (v[: n[3]] * 2.0) @ v[: n[3]]


def kept(v: Any, n: Any) -> Any:
    """What the loop makes is needed behind the product, too."""
    total = 0.0
    for i in range(len(n)):
        z = v[: n[i]] * 2.0
        total += z @ v[: n[i]] + z[::2].sum()
    return total


def fixed(v: Any, n: Any) -> Any:
    total = 0.0
    for i in range(len(n)):
        total += (v[:40] * n[i]) @ v[:40]
    return total


def spaced(v: Any, n: Any) -> Any:
    total = 0.0
    for i in range(len(n)):
        total += (v[: n[i]] * 2.0) @ v[: 2 * n[i] : 2]
    return total


def whole(v: Any, n: Any) -> Any:
    """Integers are NumPy's."""
    total = 0
    for i in range(len(n)):
        total += (n[: n[i]] * 2) @ n[: n[i]]
    return total


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("program", [once, kept, fixed, spaced, whole])
def test_what_stays(program: Any) -> None:
    args = np.linspace(-1, 1, 80), np.arange(40)
    assert same(program, fxc.compile(program, fullgraph=True), args)
    assert "if less(" not in str(loops_of(program, *args))


@pytest.mark.parametrize(
    "order",
    [
        DotOrder(None, None),
        DotOrder(
            Adjacent(16, 4, False, ("halves", "pairs", "neighbours"), True, True, False), None
        ),
    ],
)
def test_another_order_stays(order: DotOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "fxc.lowering.scheduling.short_dots.dot_order"
    monkeypatch.setattr(name, lambda dtype: order)
    assert "if less(" not in str(loops_of(sparse, *arguments(sparse)))
