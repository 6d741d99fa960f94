"""Loops that read an array round its end: one loop with remainders → pieces without."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.ir.symbols import SymExpr, SymFunc, symbol
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.lowering.nests.buffers import F64
from fxc.lowering.nests.statements import Load, Loop, Store
from fxc.lowering.scheduling.fuse import fuse
from fxc.lowering.scheduling.wraps import pieces
from tests.bodies import check_body
from tests.compiling import same
from tests.covering import some
from tests.scheduled import after_building, body

ROW = np.arange(8.0) ** 2
ROLLED = """
functional f(%x: f64[{n}])
  %0: f64[1] = slice_copy(%x, [{n} - 1:{n}:1])
  %1: f64[{n} - 1] = slice_copy(%x, [0:{n} - 1:1])
  %2: f64[{n}] = concatenate((%0, %1), axis=0)
  %3: f64[{n}] = subtract(%x, %2)
  return %3"""


def test_the_long_piece_has_plain_indices() -> None:
    assert_expected_inline(
        body(after_building(fuse, ROLLED.format(n=8), ROW)),
        """\
for i0 in 0:1
  b1[i0] = subtract(x[i0], x[i0 + 7])
for i0 in 0:7
  b1[i0 + 1] = subtract(x[i0 + 1], x[i0])""",
    )


def test_the_size_may_be_a_symbol() -> None:
    source = ROLLED.format(n="n").replace("])\n", "])\n  symbols n = 8 (>= 2)\n", 1)
    assert_expected_inline(
        body(after_building(fuse, source, ROW)),
        """\
for i0 in 0:1
  b1[i0] = subtract(x[i0], x[i0 + n - 1])
for i0 in 0:n - 1
  b1[i0 + 1] = subtract(x[i0 + 1], x[i0])""",
    )


def test_rows_keep_a_remainder() -> None:
    x = np.arange(3.0 * 80).reshape(3, 80) % 7
    source = """
functional f(%x: f64[3, 80])
  %0: f64[2, 80] = slice_copy(%x, [1:3:1, 0:80:1])
  %1: f64[1, 80] = slice_copy(%x, [0:1:1, 0:80:1])
  %2: f64[3, 80] = concatenate((%0, %1), axis=0)
  %3: f64[3, 80] = subtract(%x, %2)
  return %3"""
    assert_expected_inline(
        body(after_building(fuse, source, x)),
        """\
for i0 in 0:3
  for i1 in 0:80
    b1[i0, i1] = subtract(x[i0, i1], x[mod(i0 + 1, 3), i1])""",
    )


def test_short_rows_become_one_loop_a_piece() -> None:
    x = np.arange(9.0 * 3).reshape(9, 3) % 7
    source = """
functional f(%x: f64[9, 3])
  %0: f64[8, 3] = slice_copy(%x, [1:9:1, 0:3:1])
  %1: f64[1, 3] = slice_copy(%x, [0:1:1, 0:3:1])
  %2: f64[9, 3] = concatenate((%0, %1), axis=0)
  %3: f64[9, 3] = subtract(%x, %2)
  return %3"""
    assert_expected_inline(
        body(after_building(fuse, source, x)),
        """\
for i0 in 0:24
  b1[floordiv(i0, 3), mod(i0, 3)] = subtract(x[floordiv(i0, 3), mod(i0, 3)], x[floordiv(i0, 3) + 1, mod(i0, 3)])
for i0 in 0:3
  b1[floordiv(i0, 3) + 8, mod(i0, 3)] = subtract(x[floordiv(i0, 3) + 8, mod(i0, 3)], x[floordiv(i0, 3), mod(i0, 3)])""",
    )


def test_many_statements_are_not_written_again() -> None:
    target = Target(costs=Costs(wraps_statements=8))
    assert_expected_inline(
        body(after_building(fuse, ROLLED.format(n=8), ROW, target=target)),
        """\
for i0 in 0:8
  b1[i0] = subtract(x[i0], x[mod(i0 + 7, 8)])""",
    )


PROGRAMS = [
    "return np.roll(x, 1)",
    "return np.roll(x, 2, 0) - x",
    "return np.roll(x, -1, -1) + np.roll(x, 1, -1) - 2 * x",
    "return (np.roll(x, 1, 0) - x).sum()",
    "return np.cumsum(np.roll(x, 1, -1), 0)",
    "x += np.roll(x, 1, 0); return x",
    "x[...] = np.roll(x, 1, -1) * 2",
    "y = np.roll(x, 1, 0); x[0] = 7; return y + x",
    "y = np.roll(x * 2 + 1, 3, 0); return y * y",
    "y = np.concatenate([x[2:], x[:2]]); return y + 1, x",
    "y = np.concatenate([x[2:], x[:3]]); return y + 1",
    "y = np.concatenate([x[2:], x[:2] + 1]); return y + 1",
    "return np.roll(np.roll(x, 1, 0), -1, -1) + np.roll(x, (1, 2), (0, -1))",
    "return np.roll(x, 5, 0) > np.roll(x, -7, 0)",
    "return x[np.roll(np.arange(len(x)), 1)]",
    "y = np.roll(x, 1, 0)\nfor k in range(3):\n    y = np.roll(y, 1, 0) + x\nreturn y",
    "y = x.astype('f4')\nfor k in range(3):\n    y[1:] = np.roll(y, k, 0)[1:] * 2\nreturn y",
    "return np.roll(x, 1, 0).T.copy() + 1",
    "return np.where(np.roll(x, 1, 0) > x, np.roll(x, -1, 0), 0.5)",
    "return np.roll(x, 1, 0) @ np.roll(x, 1, 0).T",
    "return np.roll(x, 0, 0), np.roll(x, 2 * x.shape[-1], -1) + x",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_arrays_that_are_turned_round(program: str) -> None:
    check_body(program, rank=2)
    check_body(program.replace(", (1, 2), (0, -1)", ", 1"), rank=1)


def test_random_steps_with_rolls() -> None:
    for seed in some(range(25), 13):
        rng = random.Random(seed)
        lines = ["y = x * 0.5"]
        for _ in range(rng.randint(1, 4)):
            terms = [
                f"np.roll({rng.choice('xy')}, {rng.randint(-9, 9)}, {rng.randint(0, 1)})"
                for _ in range(rng.randint(1, 4))
            ]
            value = f" {rng.choice('+-*')} ".join(terms)
            target = rng.choice(["y", "y[...]", "x[...]", "y[1:]"])
            lines.append(f"{target} = ({value}){'[1:]' if target == 'y[1:]' else ''}")
        if rng.random() < 0.4:
            lines = [lines[0], "for k in range(3):", *(f"    {line}" for line in lines[1:])]
        check_body("\n".join([*lines, "return x, y"]), rank=2)


@pytest.mark.parametrize("shift", [0, 1, -1, 3, 8, -11])
def test_how_far_may_be_an_argument(shift: int) -> None:
    def program(x: Any, shift: int) -> Any:
        return np.roll(x, shift) - x

    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for given in (ROW, ROW[:3], ROW[:1]):
        for by in (1, shift):
            np.testing.assert_array_equal(compiled(given, by), program(given, by))


def test_pieces_may_be_empty() -> None:
    """A distance that is not known leaves plain indices, too: all of the row may be one piece."""

    def program(x: Any, n: int) -> Any:
        total = np.zeros_like(x)
        for shift in range(-n, n):
            total += np.roll(x, shift) * x
        return total, np.roll(x, n)

    compiled = fxc.compile(program, fullgraph=True)
    for size in (1, 2, 9, 40, 67):
        x = np.random.default_rng(size).integers(-9, 9, size).astype("f8")
        for n in (1, 2, size, 2 * size + 1):
            for found, expected in zip(compiled(x, n), program(x, n), strict=True):
                np.testing.assert_array_equal(found, expected)
    loops = [line for line in str(compiled.inspect(x, n).loops).splitlines() if "[i" in line]
    assert loops
    assert not any("mod(i" in line for line in loops)


def test_several_rolls_of_a_size_that_varies() -> None:
    """The size is asked to be large enough for the places of all of them to be in one order."""

    def derivative(n: int, steps: int) -> np.ndarray:
        u = np.arange(n) * 0.5
        for _ in range(steps):
            far = np.roll(u, -2) - np.roll(u, 2)
            u = u - 0.01 * (8 * (np.roll(u, -1) - np.roll(u, 1)) - far)
        return u

    compiled = fxc.compile(derivative, fullgraph=True)
    text = str(compiled.inspect(50, 3).loops)
    assert "mod(" not in text
    assert " in 0:n - 4 " in text
    for n in (50, 3, 4, 2, 1, 5, 0, 51):
        assert np.array_equal(compiled(n, 3), derivative(n, 3)), n


def torus(u: Any, k: Any) -> Any:
    n, m = u.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = u[(i - 1) % n, j] + u[i, (j + 1) % m] - u[i, (j - 1) % m]
    return out


def chosen(u: Any, k: Any) -> Any:
    n, m = u.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if u[i, (j - 1) % m] > 0.3 and u[(i + 1) % n, (j + 1) % m] < 0.7:
                out[i, j] = u[i, (j - 1) % m]
            else:
                out[i, j] = -1.0
    return out


@pytest.mark.parametrize("program", [torus, chosen])
@pytest.mark.parametrize("dynamic", [False, True])
def test_loops_of_the_users(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    rng = np.random.default_rng(1)
    for n, m in ((9, 40), (2, 2), (1, 1), (3, 2), (2, 5), (5, 3), (33, 17), (0, 3), (4, 0)):
        for k in (2, 1):
            assert same(program, compiled, (rng.random((n, m)), k))
    loops = str(compiled.inspect(rng.random((9, 40)), 2).loops)
    assert re.search(r"for i_1 in .* lanes", loops)


def test_a_size_that_is_an_argument() -> None:
    """Nothing says that the size is large enough for the places to be in one order."""

    def rule(g: Any, n: int) -> Any:
        for t in range(1, len(g)):
            for i in range(n):
                near = 4 * g[t - 1, (i - 1) % n] + g[t - 1, (i + 1) % n]
                g[t, i] = near - g[t - 1, (i + 2) % n] // 2 + g[t - 1, i]
        return g

    compiled = fxc.compile(rule, fullgraph=True)
    rng = np.random.default_rng(1)
    for n in (40, 8, 7, 5, 4, 3, 2, 1, 0, 39):
        assert same(rule, compiled, (rng.integers(0, 9, (5, 40)), n))
    loops = str(compiled.inspect(rng.integers(0, 9, (5, 40)), 39).loops)
    assert re.search(r"for i_1 in .* lanes", loops)


@pytest.mark.parametrize("dynamic", [False, True])
def test_remainders_of_what_is_several_rounds_away(dynamic: bool) -> None:
    def far(u: Any, n: int) -> Any:
        out = np.zeros(u.shape)
        for i in range(len(u)):
            for j in range(n):
                out[i, j] = u[(i + 9) % len(u), (j - 50) % n] - u[i - 1, (j + 123) % n] + u[i, j]
        return out + np.roll(u, 2, 1)[:, :1]

    compiled = fxc.compile(far, fullgraph=True, dynamic=dynamic)
    rng = np.random.default_rng(1)
    for n, m in ((9, 40), (2, 2), (1, 1), (3, 64), (3, 130)):
        assert same(far, compiled, (rng.random((n, m)), m))


def test_a_remainder_of_what_is_rounds_ahead_is_kept() -> None:
    i0 = symbol("i0", hint=0, lower=0)
    index = SymExpr((((SymFunc("mod", i0 + 36, 4),), 1),))
    loop = Loop("i0", 4, (Load("a", F64, "x", (index,)), Store("y", (i0,), "a", F64)))
    assert pieces(loop, Costs()) == [loop]
