"""Nests that follow each other run strip by strip: whole nests → a loop over strips."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.lowering.scheduling.fuse import fuse
from tests.bodies import function
from tests.compiling import same
from tests.covering import some
from tests.parallel_loops import compiled_for
from tests.scheduled import after_building, body, text

U = np.arange(20.0 * 6).reshape(20, 6) % 11
STAGES = """
functional f(%u: f64[{n}, {m}])
  %0: f64[{n} - 1, {m}] = slice_copy(%u, [1:{n}:1, 0:{m}:1])
  %1: f64[{n} - 1, {m}] = slice_copy(%u, [0:{n} - 1:1, 0:{m}:1])
  %2: f64[{n} - 1, {m}] = divide(%0, %1)
  %3: f64[{n} - 1, {m}] = sqrt(%2)
  %4: f64[{n} - 1, {m}] = exp(%3)
  %5: f64[{n} - 2, {m}] = slice_copy(%4, [1:{n} - 1:1, 0:{m}:1])
  %6: f64[{n} - 2, {m}] = slice_copy(%4, [0:{n} - 2:1, 0:{m}:1])
  %7: f64[{n} - 2, {m}] = subtract(%5, %6)
  return %7"""


SMALL = Costs(strips_bytes=64, strips_row=2, strips_ahead=0)
TINY = Target(cache=1200, costs=SMALL)  # any array is large


@pytest.fixture
def any_array_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_for(monkeypatch, TINY)


def test_a_nest_follows_as_many_rows_behind_as_it_reads_ahead() -> None:
    assert_expected_inline(
        text(after_building(fuse, STAGES.format(n=20, m=6), U + 1, target=TINY)),
        """\
loops f
  input u: float64[20, 6]
  temp b1: float64[4, 6]
  output b2: float64[18, 6]
  for i0s in 0:10 ordered
    for i0 in 0:max(-2*i0s + min(19, 2*i0s + 2), 0)
      for i1 in 0:6
        b1[mod(i0 + 2*i0s, 4), i1] = exp(sqrt(divide(u[i0 + 2*i0s + 1, i1], u[i0 + 2*i0s, i1])))
    for i2 in 0:max(-max(0, 2*i0s - 1) + min(18, 2*i0s + 1), 0)
      for i3 in 0:6
        b2[i2 + max(0, 2*i0s - 1), i3] = subtract(b1[mod(i2 + max(0, 2*i0s - 1) + 1, 4), i3], b1[mod(i2 + max(0, 2*i0s - 1), 4), i3])
  bytes moved 2208; copies 0""",
    )


def test_what_is_read_for_the_first_time_is_fetched_ahead() -> None:
    """Not the row in front, which the strip before has read, nor rows that a nest stores itself."""
    target = replace(TINY, costs=replace(SMALL, strips_ahead=512))
    source = """
functional f(%u: f64[20, 6], %w: f64[18, 6])
  %0: f64[19, 6] = slice_copy(%u, [0:19:1, 0:6:1])
  %1: f64[19, 6] = slice_copy(%u, [1:20:1, 0:6:1])
  %2: f64[19, 6] = divide(%0, %1)
  %3: f64[18, 6] = slice_copy(%2, [1:19:1, 0:6:1])
  %4: f64[18, 6] = slice_copy(%2, [0:18:1, 0:6:1])
  %5: f64[18, 6] = slice_copy(%u, [1:19:1, 0:6:1])
  %6: f64[18, 6] = multiply(%3, %4)
  %7: f64[18, 6] = multiply(%5, %w)
  %8: f64[18, 6] = add(%6, %7)
  return %2, %8"""
    assert_expected_inline(
        body(after_building(fuse, source, U + 1, U[2:], target=target)),
        """\
for i0s in 0:19 ordered
  for i0 in 0:6*max(-i0s + min(19, i0s + 1), 0)
    b2[i0s + floordiv(i0, 6), mod(i0, 6)] = divide(u[i0s + floordiv(i0, 6), mod(i0, 6)], u[i0s + floordiv(i0, 6) + 1, mod(i0, 6)] ahead 512)
  for i2 in 0:6*max(-max(0, i0s - 1) + min(18, i0s), 0)
    t10 = add(multiply(b2[floordiv(i2, 6) + max(0, i0s - 1) + 1, mod(i2, 6)], b2[floordiv(i2, 6) + max(0, i0s - 1), mod(i2, 6)]), multiply(u[floordiv(i2, 6) + max(0, i0s - 1) + 1, mod(i2, 6)], w[floordiv(i2, 6) + max(0, i0s - 1), mod(i2, 6)] ahead 512))
    b3[floordiv(i2, 6) + max(0, i0s - 1), mod(i2, 6)] = t10""",
    )


def test_rows_of_symbolic_size() -> None:
    source = STAGES.format(n="n", m="m").replace(
        "])\n", "])\n  symbols n = 20 (>= 3), m = 6 (>= 2)\n", 1
    )
    assert_expected_inline(
        body(after_building(fuse, source, U + 1, target=TINY)),
        """\
for i0s in 0:floordiv(n, 2) ordered
  for i0 in 0:max(-2*i0s + min(2*i0s + 2, n - 1), 0)
    for i1 in 0:m
      b1[mod(i0 + 2*i0s, 4), i1] = exp(sqrt(divide(u[i0 + 2*i0s + 1, i1], u[i0 + 2*i0s, i1])))
  for i2 in 0:max(-max(0, 2*i0s - 1) + min(2*i0s + 1, n - 2), 0)
    for i3 in 0:m
      b2[i2 + max(0, 2*i0s - 1), i3] = subtract(b1[mod(i2 + max(0, 2*i0s - 1) + 1, 4), i3], b1[mod(i2 + max(0, 2*i0s - 1), 4), i3])""",
    )


def test_nests_that_share_nothing_run_together_where_a_later_one_reads_of_both() -> None:
    source = """
functional f(%u: f64[20, 6], %v: f64[19, 6])
  %0: f64[20, 6] = sqrt(%u)
  %1: f64[19, 6] = exp(%v)
  %2: f64[18, 6] = slice_copy(%0, [2:20:1, 0:6:1])
  %3: f64[18, 6] = slice_copy(%0, [0:18:1, 0:6:1])
  %4: f64[18, 6] = slice_copy(%1, [1:19:1, 0:6:1])
  %5: f64[18, 6] = subtract(%2, %3)
  %6: f64[18, 6] = multiply(%5, %4)
  return %0, %1, %6"""
    assert_expected_inline(
        body(after_building(fuse, source, U + 1, U[1:] / 9, target=TINY)),
        """\
for i0s in 0:20 ordered
  for i0 in 0:6*max(-i0s + min(20, i0s + 1), 0)
    b2[i0s + floordiv(i0, 6), mod(i0, 6)] = sqrt(u[i0s + floordiv(i0, 6), mod(i0, 6)])
  for i2 in 0:6*max(-i0s + min(19, i0s + 1), 0)
    b3[i0s + floordiv(i2, 6), mod(i2, 6)] = exp(v[i0s + floordiv(i2, 6), mod(i2, 6)])
  for i4 in 0:6*max(-max(0, i0s - 2) + min(18, i0s - 1), 0)
    t9 = multiply(subtract(b2[floordiv(i4, 6) + max(0, i0s - 2) + 2, mod(i4, 6)], b2[floordiv(i4, 6) + max(0, i0s - 2), mod(i4, 6)]), b3[floordiv(i4, 6) + max(0, i0s - 2) + 1, mod(i4, 6)])
    b4[floordiv(i4, 6) + max(0, i0s - 2), mod(i4, 6)] = t9""",
    )


def test_nests_that_share_nothing_stay_apart() -> None:
    source = """
functional f(%u: f64[20, 6], %v: f64[19, 6])
  %0: f64[20, 6] = sqrt(%u)
  %1: f64[19, 6] = exp(%v)
  return %0, %1"""
    found = body(after_building(fuse, source, U, U[1:] / 9, target=TINY))
    assert "ordered" not in found


def test_what_the_cache_holds_stays_as_it_is() -> None:
    assert "ordered" not in body(after_building(fuse, STAGES.format(n=20, m=6), U + 1))


def test_short_rows_without_gaps_stay_one_loop() -> None:
    target = replace(TINY, costs=replace(SMALL, strips_row=7))
    source = STAGES.format(n=20, m=6)
    assert "ordered" not in body(after_building(fuse, source, U + 1, target=target))


def sweeps(a: Any, b: Any, steps: int) -> None:
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[:-2, 1:-1] + a[2:, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, 2:] + b[:-2, 1:-1] + b[2:, 1:-1])


@pytest.mark.usefixtures("any_array_is_large")
def test_two_sweeps_of_a_time_step_are_one_pass_over_memory() -> None:
    given = np.arange(90.0 * 8).reshape(90, 8) % 7, np.ones((90, 8)), 3
    compiled = fxc.compile(sweeps, fullgraph=True)
    assert "ordered" in str(compiled.inspect(*given).loops)
    check(sweeps, *given)


@pytest.mark.usefixtures("any_array_is_large")
def test_loops_across_memory_are_not_cut() -> None:
    """In Fortran's order the outermost loop moves along memory: it has the lanes."""
    given = tuple(np.asfortranarray(np.cos(np.arange(720.0)).reshape(90, 8)) for _ in "ab")
    assert "ordered" not in str(fxc.compile(sweeps, fullgraph=True).inspect(*given, 3).loops)


def carried(u: Any, steps: int) -> Any:
    """Reads rows of ``kept`` that only earlier iterations have stored."""
    kept = np.zeros_like(u)
    for k in range(2, steps):
        kept[:k] = np.abs(u[:k] / (k + 1.0))
        u[1:-1] = kept[2:] - kept[:-2] + u[1:-1]
    return u.sum()


@pytest.mark.usefixtures("any_array_is_large")
def test_what_earlier_iterations_have_stored_stays() -> None:
    check(carried, U + 1, 20)


def check(program: Callable[..., Any], *args: Any) -> Any:
    """The program compiled, which does what NumPy does."""
    compiled = fxc.compile(program, fullgraph=True)
    assert same(program, compiled, args)
    return compiled


# ------------------------------------------------------------------ random chains of stencils


def stencil(rng: random.Random, name: str) -> str:
    """The rows 2 … -2 of a function of rows of a variable around."""
    terms = []
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, 4)
        term = f"{name}[{start}:{start - 4 or ''}, 1:-1]"
        column = rng.choice(["", "", ":-2", "2:"])
        terms.append(term.replace("1:-1]", f"{column or '1:-1'}]"))
    made = terms[0]
    for term in terms[1:]:
        made = f"({made} {rng.choice('+-*')} {term})"
    return rng.choice(
        ["np.sqrt(np.abs({0}))", "{0} / 3.0", "np.where({0} > 1.0, 0.0, {0})"]
    ).format(made)


def chain(seed: int) -> str:
    """A program of stencils of what was there before, that are kept or stored in place."""
    rng = random.Random(seed)
    names, lines = ["x", "v"], list[str]()
    for number in range(rng.randint(2, 6)):
        value, name = stencil(rng, rng.choice(names)), rng.choice(names)
        if rng.random() < 0.5:
            name = f"t{number}"
            lines.append(f"{name} = np.{rng.choice(['zeros', 'ones'])}_like(x)")
            names.append(name)
        lines.append(f"{name}[2:-2, 1:-1] {rng.choice(['=', '=', '+='])} {value}")
    if rng.random() < 0.6:
        made = [f"{name} = np.zeros_like(x)" for name in names[2:]]
        lines = [*made, "for k in range(3):", *(f"    {line}" for line in lines)]
    return "\n".join(["v = np.cos(x)", *lines, f"return {names[-1]}"])


def test_random_chains_of_stencils(monkeypatch: pytest.MonkeyPatch) -> None:
    in_strips, wide = 0, np.arange(40.0 * 5).reshape(40, 5) % 11 + 1.0
    seeds = some(range(40), 20)
    for seed in seeds:
        cache = random.Random(seed).choice([256, 1200, 2400])
        compiled_for(monkeypatch, replace(TINY, cache=cache))
        program = function(chain(seed))
        with np.errstate(all="ignore"):
            compiled = check(program, wide)
        in_strips += "ordered" in str(compiled.inspect(wide).loops)
    assert in_strips > len(seeds) // 2


def test_other_nests_that_follow_many_rows_look_ahead_too() -> None:
    """What is stored there as well; not where the cache holds all, nor for few rows."""
    source = "\nfunctional f(%u: f64[20, 6])" + "".join(
        f"\n  %{n}: f64[14, 6] = slice_copy(%u, [{n}:{n + 14}:1, 0:6:1])" for n in range(7)
    )
    for n in range(1, 7):
        source += f"\n  %{n + 6}: f64[14, 6] = add(%{n + 5 if n > 1 else 0}, %{n})"
    source += "\n  return %12"
    target = replace(TINY, costs=replace(SMALL, strips_ahead=512))
    found = body(after_building(fuse, source, U, target=target))
    assert re.findall(r"\w+\[[^]]*\] ahead 512", found) == [
        "b1[floordiv(i0, 6), mod(i0, 6)] ahead 512",
        "u[floordiv(i0, 6) + 6, mod(i0, 6)] ahead 512",
    ]
    larger = replace(target, cache=1 << 20)
    assert "ahead" not in body(after_building(fuse, source, U, target=larger))


def test_a_large_nest_that_takes_long_looks_ahead() -> None:
    """Not one that does little, nor one that the cache holds."""
    target = replace(TINY, cache=100, costs=replace(SMALL, strips_ahead=512))
    source = """
functional f(%u: f64[{size}])
  %0: f64[{size}] = {op}(%u)
  return %0"""

    def made(op: str, size: int) -> str:
        text = source.format(op=op, size=size)
        return body(after_building(fuse, text, np.linspace(1.0, 2.0, size), target=target))

    assert_expected_inline(
        made("exp", 40),
        """\
for i0 in 0:40
  b1[i0] ahead 512 = exp(u[i0] ahead 512)""",
    )
    assert "ahead" not in made("exp", 4)
    assert "ahead" not in made("negative", 40)
    total = source.replace(
        "f64[{size}] = {op}(%u)", "f64 = sum(%u, axis=None, keepdims=False, dtype=None)"
    )
    for size in (40, 4):
        text = body(
            after_building(fuse, total.format(size=size), np.arange(size / 1.0), target=target)
        )
        assert ("ahead 512" in text) == (size == 40)
