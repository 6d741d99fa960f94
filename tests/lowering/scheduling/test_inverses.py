"""Quotients by one divisor are made with its inverse: loops in lanes → the same, and NumPy's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.machine.target import SERIAL, Target
from fxc.lowering.nests.program import Program
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.inverses import inverses
from fxc.lowering.scheduling.lanes import lanes
from tests.outcomes import difference, run
from tests.parallel_loops import compiled_for
from tests.scheduled import after_building, body

WIDE = Target(permutes=64)
X = np.arange(1.0, 201.0)


def scheduled(program: Program) -> Program:
    return inverses(lanes(fuse(program)))


def quotients(text: str, target: Target = WIDE, count: int = 200) -> str:
    """The loops of a function of x, y, and a number z of rank 0."""
    source = f"""
functional f(%x: f64[{count}], %y: f64[{count}], %z: f64[])
  {text}
  return %r"""
    x = X[:count]
    return body(after_building(scheduled, source, x, x[::-1].copy(), np.array(3.0), target=target))


def test_all_iterations_divide_by_one_number() -> None:
    found = quotients("%r: f64[200] = divide(%x, %z)")
    assert "divide_with_inverse(x[i0], t2, inverse(t2))" in found
    assert "divide_with_inverse(x[i0], 3.0, 0.3333333333333333)" in quotients(
        "%r: f64[200] = divide(%x, f64(3.0))"
    )


def test_two_quotients_have_one_divisor() -> None:
    found = quotients(
        "%0: f64[200] = divide(%x, %y)\n  %1: f64[200] = divide(%z, %y)\n"
        "  %r: f64[200] = subtract(%0, %1)"
    )
    assert found.count("divide_with_inverse") == 2
    assert found.count("= inverse(") == 1


@pytest.mark.parametrize(
    "text",
    [
        "%r: f64[200] = divide(%x, %y)",  # each iteration has a divisor of its own
        "%r: f64[200] = divide(%x, f64(4.0))",  # a product
        "%r: f64[200] = divide(%x, f64(1e-300))",  # out of bounds
        "%0: f64[200] = tanh(%x)\n  %r: f64[200] = divide(%0, %z)",  # not most of the work
    ],
)
def test_what_divides_as_it_is(text: str) -> None:
    assert "inverse" not in quotients(text)


def test_a_loop_is_too_short_for_an_inverse() -> None:
    assert "inverse" not in quotients("%r: f64[40] = divide(%x, %z)", count=40)


@pytest.mark.parametrize("target", [SERIAL, Target(vector=32, permutes=32)])
def test_narrow_registers_divide(target: Target) -> None:
    assert "inverse" not in quotients("%r: f64[200] = divide(%x, %z)", target)


def by_constants(x: Any, y: Any, z: Any) -> Any:
    return x / 3, x / -0.7


def by_number(x: Any, y: Any, z: Any) -> Any:
    return x / z


def by_elements(x: Any, y: Any, z: Any) -> Any:
    return x / y, z / y, x[::-1] / y


def hard(dtype: type, count: int) -> Any:
    """Numbers whose last bits decide how a quotient is rounded, and any bits at all."""
    r, bits = np.random.default_rng(5), 8 * np.dtype(dtype).itemsize
    whole, digits = np.dtype(f"u{bits // 8}"), np.finfo(dtype).nmant
    near = r.integers(-40, 40, count).astype(whole) & whole.type((1 << digits) - 1)
    one = np.array(1, dtype).view(whole) + (r.integers(-9, 9, count) << digits).astype(whole)
    found = (near + one).view(dtype) * r.choice([-1, 1], count).astype(dtype)
    anything = r.integers(0, 1 << bits, count, dtype=np.uint64).astype(whole).view(dtype)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny / 8], dtype)
    found[::3] = r.random(len(found[::3])).astype(dtype)
    found[count // 2 :: 9] = anything[count // 2 :: 9]
    found[count // 4 :: 31] = r.choice(special, len(found[count // 4 :: 31]))
    return found


@pytest.mark.bits
@pytest.mark.parametrize("program", [by_constants, by_number, by_elements])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quotients_are_numpys(
    program: Callable[..., Any], dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled_for(monkeypatch, WIDE)
    compiled = fxc.compile(program, fullgraph=True)
    x, y = hard(dtype, 3000), hard(dtype, 3000)[::-1].copy()
    assert "divide_with_inverse" in str(compiled.inspect(x, y, x[0]).loops)
    with np.errstate(all="ignore"):
        for z in (*y[:40:3], *dtype([0, -0.0, np.inf, np.nan, -1e-30, 1e-38])):
            assert difference(run(program, (x, y, z)), run(compiled, (x, y, z))) == ""


def test_warnings_are_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_for(monkeypatch, WIDE)
    compiled = fxc.compile(by_number, fullgraph=True)
    for z in (3.0, 1e-10, 0.0, np.nan, 1e-320):
        for last in (1.0, 0.0, 1e300, np.inf, np.nan):
            x = np.append(X, last)
            args = (x, x, np.float64(z))
            assert difference(run(by_number, args), run(compiled, args)) == ""
