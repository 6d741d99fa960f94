"""Loops over a few taps run inside of those over the elements: a loop of nests → one nest."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.lowering.machine.target import Target
from tests.bodies import function
from tests.covering import some
from tests.nests_of import nests_of
from tests.parallel_loops import SMALL, compiled_for, everywhere

X = np.arange(12.0 * 24).reshape(12, 24) % 7
K = np.arange(25.0).reshape(5, 5) / 4 - 1


def convolution(x: Any, k: Any) -> Any:
    out = np.zeros((x.shape[0] - 4, x.shape[1] - 4))
    for i in range(5):
        for j in range(5):
            out += k[i, j] * x[i : i + out.shape[0], j : j + out.shape[1]]
    return out


def test_an_element_takes_all_its_taps() -> None:
    assert_expected_inline(
        nests_of(convolution, X, K),
        """\
for i0 in 0:160 moved
  b2[floordiv(i0, 20), mod(i0, 20)] = 0.0
for i2 in 0:8
  for i3 in 0:20 lanes 8 ends first
    t6.before = b2[i2, i3]
    for i2t0 in 0:5
      for i2t1 in 0:5
        t6 = add multiply(item(k[i2t0, i2t1]), x[i2 + i2t0, i2t1 + i3])  [sequential through 2 loops from t6.before]
    b2[i2, i3] = t6""",
    )


def is_inside(text: str) -> bool:
    return "sequential" in text and "loop " not in text


def test_taps_from_anywhere_to_anywhere() -> None:
    def program(x: Any) -> Any:
        total = np.ones(10)
        for k in range(-2, 9):
            total = total * (x[0, 2 + k : 12 + k] - k)
        return total

    assert is_inside(nests_of(program, X))


def test_differences_and_extremes() -> None:
    def differences(x: Any) -> Any:
        out = np.abs(x[:, :10])
        for k in range(1, 11):
            out -= x[:, k : k + 10] / 3.0
        return out

    def largest(x: Any) -> Any:
        out = x[:, :10].astype("f4")
        for k in range(1, 13):
            out = np.maximum(out, x[:, k : k + 10].astype("f4"))
        return out

    assert is_inside(nests_of(differences, X))
    assert is_inside(nests_of(largest, np.where(X == 3, np.nan, X)))


def test_what_else_is_done_with_an_element_stays() -> None:
    def by_itself(x: Any) -> Any:
        out = np.zeros(10)
        for k in range(12):
            out += out * x[0, k : k + 10]
        return out

    def of_neighbours(x: Any) -> Any:
        out = np.ones(10)
        for k in range(12):
            out[1:] += out[:-1] * x[0, k : k + 9]
        return out

    def kept(x: Any) -> Any:
        out, last = np.zeros(10), np.zeros(10)
        for k in range(12):
            last[:] = x[0, k : k + 10] - 1.0
            out += last
        return out + last

    def other_elements(x: Any) -> Any:
        out = np.zeros((20, 24))
        for k in range(12):
            out[k : k + 8] += x[:8] / 3.0
        return out

    def reversed_difference(x: Any) -> Any:
        out = np.zeros(10)
        for k in range(12):
            out = x[0, k : k + 10] - out
        return out

    def of_integers(x: Any) -> Any:
        out = np.zeros(10, "f4")
        for k in range(12):
            out += x[0, k : k + 10]
        return out

    for program in (by_itself, of_neighbours, kept, other_elements, reversed_difference):
        assert "sequential" not in nests_of(program, X)
    assert "sequential" not in nests_of(of_integers, X)


def test_taps_that_load_other_elements_stay_outside() -> None:
    """Each row is read by one tap alone: ``repeated_updates`` takes the loop, in registers."""

    def mixed(x: Any) -> Any:
        out = np.zeros(24)
        for k in range(12):
            out += x[k] / 3.0
        return out

    assert "t1.total" in nests_of(mixed, X)


def test_arrays_of_the_caller_take_tap_by_tap() -> None:
    """An interrupt would leave elements with all taps beside others with none."""

    def program(out: Any, x: Any, k: Any) -> None:
        for i in range(3):
            for j in range(4):
                out += k[i, j] * x[i : i + 8, j : j + 10]

    assert "through 2 loops" not in nests_of(program, np.ones((8, 10)), X, K)


def test_many_taps_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target()
    compiled_for(monkeypatch, replace(target, costs=replace(target.costs, taps=4)))
    assert "sequential" not in nests_of(convolution, X, K)


# ------------------------------------------------------------------ random filters


def filters(seed: int) -> str:
    """A program that adds up taps in one or two loops."""
    rng = random.Random(seed)
    rows, columns = rng.randint(2, 5), rng.randint(5, 9)
    op = rng.choice(["+", "+", "-", "*"])
    tap = rng.choice(["k[i % 3, j % 4] * {x}", "np.abs({x} - j)", "{x} / (i + 2.0)", "{x}"])
    place = f"x[i : i + 12 - {rows}, {rng.choice(['j', '2 * j', '8 - j'])} :][:, :7]"
    dtype = rng.choice(["f8", "f8", "f4", "i8"])
    start = rng.choice(["np.zeros", "np.ones"])
    update = f"out {op}= ({tap.format(x=place)}).astype('{dtype}')"
    lines = ["k = x[:3, :4] / 4 - 1", f"out = {start}((12 - {rows}, 7), '{dtype}')"]
    lines += [f"for i in range({rows}):", f"    for j in range({columns}):", f"        {update}"]
    if rng.random() < 0.3:
        lines.append("        out = np.minimum(out, 50)")
    return "\n".join([*lines, "return out * 2 if k[0, 0] > 3 else out"])


def test_random_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, SMALL)
    inside = 0
    seeds = some(range(40), 20)
    for seed in seeds:
        program = function(filters(seed))
        inside += "sequential" in nests_of(program, X)
    assert inside > len(seeds) // 4
