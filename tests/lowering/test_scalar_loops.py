"""Loops over single numbers, as people write them: what is proven of them, and what they give.

The oracle is the very function, run as Python runs it.
"""

from __future__ import annotations

import copy
import math
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.emission.extremes import FAR
from fxc.lowering.emission.ups_and_downs import moving
from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.nests.statements import For
from tests.covering import in_turns
from tests.outcomes import difference, run

RNG = np.random.default_rng(11)
TOP = 2**63 - 1


def sieve(n: int) -> Any:
    prime = np.ones(n + 1, dtype=np.bool_)
    i = 2
    while i * i <= n:
        if prime[i]:
            j = i * i
            while j <= n:
                prime[j] = False
                j += i
        i += 1
    return prime


def is_prime(n: int) -> bool:
    i = 3
    while i * i <= n:
        if n % i == 0:
            return False
        i += 2
    return True


def first_factor(n: int, most: int) -> int:
    for i in range(2, most):
        if n % i == 0:
            break
    else:
        return -1
    return i


def digits(n: int) -> int:
    total = 0
    for k in range(n):
        while k > 0:
            total += k % 10
            k //= 10
    return total


def collatz(n: int) -> int:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def common_divisor(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def quotients(x: Any, n: int) -> int:
    total = 0
    for i in range(n):
        d = int(x[i])
        if d >= 0:
            total += 1000 // d + 1000 % d
    return total


def insert(x: Any) -> Any:
    for i in range(1, len(x)):
        v = x[i]
        j = i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v
    return x


def run_lengths(x: Any) -> Any:
    n = len(x)
    lengths = np.zeros(n, dtype=np.int64)
    i = k = 0
    while i < n:
        j = i
        while j < n and x[j] == x[i]:
            j += 1
        lengths[k] = j - i
        k += 1
        i = j
    return lengths


def past_the_end(x: Any, n: int) -> Any:
    """Reads ``x[len(x)]`` if ``n`` is large."""
    i, total = 0, 0.0
    while i <= n:
        total += x[i]
        i += 1
    return total


def nested_exits(x: Any, most: float) -> Any:
    i, found = 0, -1
    while i < len(x):
        if x[i] > 0.5:
            if x[i] > most:
                found = i
                break
            x[i] -= 0.25
        elif x[i] < 0.0625:
            i += 2
            continue
        i += 1
    return found, i


def leaves_late(x: Any, n: int) -> Any:
    """What follows the branch that leaves the loop still runs."""
    i, last, going = 0, 0, True
    while going:
        if x[i % 7] * i > n:
            going = False
            last = i
        x[i % 7] += 1
        i += 3
    return i, last


def bits(x: Any) -> int:
    total = 0
    for v in x:
        while v:
            v &= v - 1
            total += 1
    return total


def lengths(x: Any, y: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = math.sqrt(x[i] * x[i] + y[i] ** 2 + abs(y[i])) + math.sqrt(x[i] - y[i])
    return out


def grows_by_a_factor(n: int, k: int) -> int:
    for i in range(k):
        n = 5 * n + 3 if i % 3 else -9 * n
    return n


def in_turn(n: int, step: int) -> int:
    """Either arm may leave native code."""
    x = n
    for i in range(9):
        if (x ^ i) & 1:
            x = x + step
        else:
            x = x - 3 * step
    return x


def shifts(n: int) -> int:
    count = 0
    while n > 0:
        n >>= 1
        count += 1
    return count


def shifted(x: Any, by: Any) -> Any:
    """Some indices count from the end, some are out of bounds."""
    out = np.zeros(len(x))
    for k in by:
        for i in range(len(x)):
            out[i] += x[i - k] * 2
    return out


def shifted_where_it_can_be(x: Any, by: Any) -> Any:
    out = np.zeros(len(x))
    for k in by:
        for i in range(len(x)):
            if i - k >= 0 and i - k < len(x):
                out[i] += x[i - k]
            else:
                out[i] -= 1
    return out


def sums(w: Any, target: int) -> Any:
    found = np.zeros(target + 1, dtype=np.bool_)
    found[0] = True
    for v in w:
        for s in range(target, v - 1, -1):
            if found[s - v]:
                found[s] = True
    return found


def same_place(x: Any, at: Any) -> Any:
    for k in at:
        for i in range(3, len(x)):
            x[k] += x[i]
    return x


def from_to(x: Any, lo: int, hi: int, k: Any) -> Any:
    total = 0.0
    for i in range(lo, hi):
        total += x[3 * i + k[0]]
    return total


def every(x: Any, steps: Any, lo: int, n: int) -> Any:
    total = 0.0
    for step in steps:
        for i in range(n):
            total = total * 0.5 + x[i * step + lo - i]
    return total


def neighbours(x: Any) -> Any:
    """The inner loop is short."""
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = math.exp(x[i - 1, j] + x[i, j - 1]) * x[(i + 1) % n, (j + 1) % m]
    return out


def weighted_bytes(x: Any) -> Any:
    total, low = 0, 5
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += int(x[i, j]) * (i + j)
            if x[i, j] > 100:
                low -= int(x[i, j]) - 7
    return total, low


def large_sum(x: Any, times: int) -> int:
    total = 0
    for _ in range(times):
        for i in range(len(x)):
            total += int(x[i])
    return total


def doubles(n: int) -> int:
    total = 1
    for _ in range(62):
        total += total + n
    return total


def cells(x: Any, y: Any, n: int) -> Any:
    found = np.zeros((n, n), dtype=np.int64)
    for i in range(len(x)):
        a, b = int(x[i] * n), int(y[i] * n)
        if 0 <= a < n and 0 <= b < n:
            found[a, b] += 1
    return found


def inside_of_ends(u: Any, k: float) -> Any:
    new, n = np.empty_like(u), len(u)
    for i in range(n):
        if i == 0 or i == n - 1:
            new[i] = u[i]
        else:
            new[i] = u[i] + k * (u[i + 1] - 2 * u[i] + u[i - 1])
    return new


def inside_of_sides(u: Any) -> Any:
    found = 0.0
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            if i != 0 and j != u.shape[1] - 1:
                found += abs(u[i, j + 1] - u[i - 1, j])
    return found


def beside_an_end(u: Any) -> Any:
    new, n = np.zeros_like(u), len(u)
    for i in range(n):
        if i != n - 2:
            new[i] = u[i + 1]
    return new


def square(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] ** 2


def cube(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] ** 3


def fourth(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] ** 4.0


def root(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] ** 0.5


def inverse(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] ** -1.0


def in_reversed_bits(x: Any) -> Any:
    j = 0
    for i in range(1, len(x)):
        bit = len(x) >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            x[i], x[j] = x[j], x[i]
    return x


def bits_reversed(n: int, width: int) -> Any:
    found = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for k in range(width):
            found[i] |= ((i >> k) & 1) << (width - 1 - k)
    return found, n >> width, n << width, n & width, n | width, n ^ width


def only_looks(x: Any, k: Any) -> None:
    for i in range(len(k)):
        x[k[i]]
        k[i] * k[i]


CASES: tuple[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]], ...] = (
    (sieve, ((100,), (7,), (30,))),
    (bits_reversed, ((16, 4), (8, 3), (5, 3))),
    (is_prime, ((101,), (9,), (10007,), (2**40 - 87,))),
    (first_factor, ((35, 9), (101, 50), (-9, 7), (0, 5))),
    (digits, ((200,), (9,), (11,))),
    (collatz, ((27,), (97,), (3 * 2**60 + 1,), (TOP // 3,), (TOP,))),
    (common_divisor, ((48, 36), (-48, 36), (48, -36), (-48, -36), (5, 0), (TOP, -TOP - 1))),
    (quotients, ((np.array([3, -4, 7]), 3), (np.array([1, 1001, 5]), 3), (np.array([2, 0, 5]), 3))),
    (insert, ((RNG.random(20),), (np.arange(9.0)[::-1].copy(),))),
    (run_lengths, ((np.repeat(RNG.integers(0, 3, 9), RNG.integers(1, 4, 9)),), (np.zeros(5),))),
    (past_the_end, ((RNG.random(9), 8), (RNG.random(9), 5), (RNG.random(9), 9))),
    (nested_exits, ((RNG.random(30), 0.9), (RNG.random(30), 2.0))),
    (bits, ((np.array([0, 1, -1, 2**62, -(2**63), 12345]),),)),
    (shifts, ((0,), (1,), (-5,), (TOP,))),
    (lengths, ((RNG.random(5) + 1, RNG.random(5)), (RNG.random(5), RNG.random(5) + 1))),
    (lengths, ((np.array([1.0, np.inf, 3.0]), np.array([0.5, 1.0, np.nan])),)),
    (lengths, ((np.array([np.inf]), np.array([np.inf])),)),
    (grows_by_a_factor, ((1, 20), (-1, 20), (1, 40), (-7, 40), (2**60, 2), (-(2**60), 2))),
    (
        grows_by_a_factor,
        ((TOP // 5 - 1, 1), (-(TOP // 9) - 1, 1), (TOP // 9, 1), (TOP // 9 + 1, 1)),
    ),
    (in_turn, ((5, 7), (TOP - 5, 1), (-TOP, 3), (TOP, 2**61), (-TOP - 1, 1), (0, TOP // 3 + 1))),
    (shifted, ((RNG.random(9), np.array([0, 3, 9])), (RNG.random(9), np.array([-1])))),
    (shifted, ((RNG.random(9), np.array([10])), (RNG.random(9), np.array([0, 8])))),
    (shifted_where_it_can_be, ((RNG.random(9), np.array([0, 3, -4, 20, -(2**63), 2**63 - 1])),)),
    (sums, ((np.array([3, 5, 7]), 20), (np.array([], dtype=np.int64), 3), (np.array([0, 2]), 9))),
    (sums, ((np.array([2, -3]), 9), (np.array([50, 4]), 20), (np.array([2**62, 2]), 5))),
    (inside_of_ends, ((RNG.random(9), 0.1), (RNG.random(3), 0.1), (RNG.random(2), 0.1))),
    (inside_of_sides, ((RNG.random((4, 5)),), (RNG.random((2, 3)),))),
    (beside_an_end, ((RNG.random(9),), (RNG.random(2),))),
    (same_place, ((RNG.random(7), np.array([0, -7, 6])), (RNG.random(7), np.array([1, 7])))),
    (from_to, ((RNG.random(20), 1, 5, np.array([2])), (RNG.random(20), -3, 5, np.array([0])))),
    (from_to, ((RNG.random(20), 5, 1, np.array([99])), (RNG.random(20), 2, 9, np.array([-7])))),
    (
        every,
        ((RNG.random(20), np.array([4, 1, 0, -2]), 9, 4), (RNG.random(20), np.ones(3, int), 20, 2)),
    ),
    (
        every,
        ((RNG.random(20), np.array([2**62 + 1, 5]), 3, 5), (RNG.random(20), np.array([5]), 3, 0)),
    ),
    (
        every,
        ((RNG.random(20), np.array([2, 4]), 0, 8), (RNG.random(20), np.array([-(2**63)]), 1, 2)),
    ),
    (neighbours, ((RNG.random((5, 6)),), (1000 * RNG.random((5, 6)),))),
    (neighbours, ((np.array([[np.inf, 1.0], [0.5, -np.inf]]),), (np.array([[np.nan, 1.0]]),))),
    (weighted_bytes, ((RNG.integers(0, 256, (5, 6)).astype(np.uint8),),)),
    (large_sum, ((np.array([2**61, 2**61, 2**61]), 1), (np.array([2**61, -(2**62)]), 1))),
    (large_sum, ((np.array([2**61, 2**61]), 2), (np.array([-(2**62), -(2**62)]), 1))),
    (doubles, ((0,), (1,), (-2,))),
    (cells, ((3 * RNG.random(20) - 1, 3 * RNG.random(20) - 1, 4),)),
    (in_reversed_bits, ((RNG.random(64),), (RNG.random(48),), (RNG.random(1),))),
    (only_looks, ((RNG.random(9), np.arange(9)), (RNG.random(9), np.arange(10)))),
    (leaves_late, ((np.arange(7), 40), (np.arange(7), 2000))),
)


@pytest.mark.parametrize(
    ("case", "dynamic"),
    in_turns(CASES, (False, True)),
    ids=lambda x: x[0].__name__ if isinstance(x, tuple) else None,
)
def test_same_as_python(
    case: tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]], dynamic: bool
) -> None:
    fn, calls = case
    compiled = fxc.compile(fn, dynamic=dynamic)
    for args in calls:
        here, there = copy.deepcopy(args), copy.deepcopy(args)
        assert difference(run(fn, there), run(compiled, here)) == "", args


@pytest.mark.parametrize(
    ("fn", "args", "looks"),
    [
        (sieve, (100,), 0),
        (digits, (200,), 0),
        (insert, (RNG.random(20),), 0),
        (run_lengths, (np.zeros(9),), 1),
        (in_reversed_bits, (RNG.random(256),), 0),
        (weighted_bytes, (RNG.integers(0, 256, (50, 60)).astype(np.uint8),), 0),
    ],
)
def test_nothing_is_checked_that_cannot_fail(fn: Callable[..., Any], args: Any, looks: int) -> None:
    text = str(fxc.compile(fn, fullgraph=True).inspect(*args).loops)
    assert "fails" not in text
    assert text.count("raise if") <= looks


def test_bounds_that_the_program_looks_at_are_not_looked_at_again() -> None:
    text = str(fxc.compile(cells, fullgraph=True).inspect(RNG.random(5), RNG.random(5), 4).loops)
    assert "out_of_bounds" not in text


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads machine code")
def test_both_bounds_of_an_index_are_one_comparison() -> None:
    args = RNG.random(5), RNG.random(5), 4
    assert not re.findall(r"\bsetn?s\b", fxc.compile(cells, fullgraph=True).inspect(*args).asm)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (from_to, (RNG.random(9), 0, 3, np.array([0]))),
        (every, (RNG.random(9), np.array([2, 3]), 1, 3)),
    ],
)
def test_indices_that_move_with_a_counter_are_looked_at_once(
    fn: Callable[..., Any], args: Any
) -> None:
    assert f", {FAR}\n" in fxc.compile(fn, fullgraph=True).inspect(*args).llvm


@pytest.mark.parametrize(
    ("fn", "args"),
    [(inside_of_ends, (RNG.random(9), 0.1)), (inside_of_sides, (RNG.random((4, 5)),))],
)
def test_what_is_no_end_has_neighbours(fn: Callable[..., Any], args: Any) -> None:
    text = str(fxc.compile(fn, fullgraph=True).inspect(*args).loops)
    assert "out_of_bounds" not in text


def test_what_is_not_beside_an_end_may_be_the_end() -> None:
    text = str(fxc.compile(beside_an_end, fullgraph=True).inspect(RNG.random(9)).loops)
    assert "raise if out_of_bounds" in text


def test_a_bound_that_is_too_large_is_checked() -> None:
    text = str(fxc.compile(past_the_end, fullgraph=True).inspect(RNG.random(9), 8).loops)
    assert "raise if out_of_bounds" in text


def test_division_of_what_may_be_negative_floors() -> None:
    text = str(fxc.compile(common_divisor, fullgraph=True).inspect(-48, 36).loops)
    assert "natural" not in text
    assert "natural" in str(fxc.compile(is_prime, fullgraph=True).inspect(101).loops)


def digits_of(x, y):
    carry = 0
    for i in range(len(x)):
        total = x[i] * 10 + carry
        x[i] = total % y[i]
        carry = total // y[i]
    return carry


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads machine code")
def test_a_quotient_and_its_remainder_are_one_division() -> None:
    args = np.arange(-300, 300) * 7, np.arange(600) - 350
    compiled = fxc.compile(digits_of, fullgraph=True)
    with np.errstate(all="ignore"):
        there, here = (run(f, copy.deepcopy(args)) for f in (digits_of, compiled))
    assert difference(there, here) == ""
    assert len(re.findall(r"\bidivq", compiled.inspect(*args).asm)) == 1


def reversed_bits(x, y):
    for i in range(len(x)):
        bits, found = x[i], 0
        for _ in range(32):
            found = (found << 1) | (bits & 1)
            bits >>= 1
        y[i] = found


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads machine code")
def test_loops_of_few_short_iterations_are_written_out() -> None:
    """There is no loop left over the bits, which the processor reverses all at once."""
    args = RNG.integers(-(2**63), 2**63, 100), np.zeros(100, np.int64)
    compiled = fxc.compile(reversed_bits, fullgraph=True)
    there, here = (run(f, copy.deepcopy(args)) for f in (reversed_bits, compiled))
    assert difference(there, here) == ""
    assert "$-16, %" not in compiled.inspect(*args).asm  # what a counter of half of them would add


def test_squares_have_roots() -> None:
    text = str(fxc.compile(lengths, fullgraph=True).inspect(RNG.random(5), RNG.random(5)).loops)
    assert text.count("sqrt fails") == 1


def one_by_one(x, out):
    for i in range(len(x)):
        if out[i] == 0:
            out[i] = x[i] ** 2
        elif out[i] == 1:
            out[i] = x[i] ** 3
        elif out[i] == 2:
            out[i] = x[i] ** 4.0
        elif out[i] == 3:
            out[i] = x[i] ** 0.5
        else:
            out[i] = x[i] ** -1.0


@pytest.mark.parametrize(
    ("fn", "ways"), [*((fn, 1) for fn in (square, cube, fourth, root, inverse)), (one_by_one, 5)]
)
def test_powers_are_those_of_the_c_library(fn: Callable[..., Any], ways: int) -> None:
    """Of numbers near 1, of all sizes, and beside powers of two; in lanes and one by one."""
    size = 2.0 ** np.arange(-1074, 1024)
    x = np.concatenate([RNG.random(2000) + 0.5, np.exp(RNG.uniform(-90, 90, 2000)), size,
                        np.nextafter(size, 0), [0.0, -0.0, np.inf, np.nan]])  # fmt: skip
    x = np.concatenate([x, -x])
    compiled = fxc.compile(fn, fullgraph=True)
    for way in range(ways):
        there, here = (run(f, (x, np.full_like(x, way))) for f in (fn, compiled))
        assert difference(there, here) == ""
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("fn", [square, cube, fourth, root, inverse])
def test_powers_of_infinities_and_nan_set_no_flags(fn: Callable[..., Any]) -> None:
    """What is looked for in them sets none, so no call becomes plain NumPy; in lanes or not."""
    compiled = fxc.compile(fn)
    for size in (3, 100):
        for number in (np.inf, -np.inf, np.nan):
            x = np.full(size, 2.0)
            x[1] = number
            for _ in range(2):  # the first calls of a size may be Python's
                there, here = (run(f, (x, np.zeros(size))) for f in (fn, compiled))
                assert difference(there, here) == ""
            before = compiled.cache_info().eager_calls
            for _ in range(2):
                compiled(x, np.zeros(size))
            assert compiled.cache_info().eager_calls == before


@pytest.mark.parametrize("fn", [square, cube, fourth, root])
def test_powers_of_zeros_are_looked_at_as_others(fn: Callable[..., Any]) -> None:
    """Distances are often 0.0: a vector of them is not left to the C library."""
    given = RNG.random(100), np.zeros(100)
    text = str(fxc.compile(fn, fullgraph=True).inspect(*given).llvm)
    assert re.search(r"%usual.other = and <\d+ x i1> %usual.beyond, %usual.some", text)


@pytest.mark.parametrize("fn", [square, one_by_one])
def test_squares_that_pow_decides(fn: Callable[..., Any]) -> None:
    """Where the square lies between two numbers, about as far as is known of pow, and beyond."""
    x = RNG.random(20_000) * 2.0 ** RNG.integers(-60, 60, 20_000)
    near = [float(each) for each in x * x]
    exact = [Fraction(float(each)) ** 2 for each in x]
    off = [
        abs(float((e - Fraction(n)) / Fraction(math.ulp(n))))
        for e, n in zip(exact, near, strict=True)
    ]
    x = x[np.abs(np.array(off) - 0.485) < 0.015]
    compiled = fxc.compile(fn, fullgraph=True)
    there, here = (run(f, (x, np.zeros_like(x))) for f in (fn, compiled))
    assert difference(there, here) == ""
    text = str(compiled.inspect(x, np.zeros_like(x)).llvm)
    assert text.index("%usual.left") < text.index("%wide.left") < text.index("call double @libm")


@pytest.mark.parametrize("fn", [root, one_by_one])
def test_roots_that_pow_decides(fn: Callable[..., Any]) -> None:
    """Of numbers whose root lies between two numbers, which no division finds out."""
    middle = (RNG.random(5000) + 1) * 2.0 ** RNG.integers(-60, 60, 5000)
    x = middle.astype(np.longdouble) + np.spacing(middle).astype(np.longdouble) / 2
    x = np.square(x).astype(np.float64)
    x = np.concatenate([x, np.nextafter(x, 0), np.nextafter(x, np.inf)])
    compiled = fxc.compile(fn, fullgraph=True)
    there, here = (run(f, (x, np.full_like(x, 3))) for f in (fn, compiled))
    assert difference(there, here) == ""
    assert ("fdiv" in str(compiled.inspect(x, x).llvm)) == (fn is one_by_one)  # of its own inverse


def test_loops_that_end_soon_do_not_look_for_signals() -> None:
    def looks(fn: Callable[..., Any], *args: Any) -> int:
        text = fxc.compile(fn, fullgraph=True).inspect(*args).llvm
        return text.count('call preserve_mostcc i1 @"fxc.look"')

    assert looks(shifts, 5) == 0
    assert looks(common_divisor, 5, 7) == 0
    assert looks(bits, np.arange(2000)) == 1
    assert looks(collatz, 5) == 1
    assert looks(insertions, np.ones(9)) == 1


def insertions(x: np.ndarray) -> np.ndarray:
    """Few iterations around a loop that looks for signals itself."""
    for i in range(1, 9):
        key, k = x[i], i - 1
        while k >= 0 and x[k] > key:
            x[k + 1] = x[k]
            k -= 1
        x[k + 1] = key
    return x


def nearest_left(x, used):
    best, at = np.inf, -1
    for i in range(len(x)):
        if not used[i] and x[i] < best:
            best = x[i]
            at = i
    return best, at


def extremes(x, used):
    low, high, a, b = x[0], x[0], 0, 0
    i = 1
    while i < len(x):
        if low <= x[i]:
            pass
        else:
            low, a = x[i], i
        if x[i] > high and not used[i]:
            high, b = x[i], i
        i += 1
    return low, high, a, b


def damped(x, used):
    s = 1.0
    for i in range(len(x)):
        if s > x[i]:
            s = s + x[i]
    return s


def dilated(x, used):
    """The best of three numbers is often another."""
    out = x.copy()
    for i in range(1, len(x) - 1):
        best = x[i]
        for k in range(3):
            if x[i - 1 + k] > best:
                best = x[i - 1 + k]
        out[i] = best
    return out


def longest(x, used):
    """The best is an element of an array of which others are read."""
    length = np.ones(len(x), dtype=np.int64)
    for i in range(len(x)):
        for k in range(i):
            if x[k] < x[i] and length[k] + 1 > length[i]:
                length[i] = length[k] + 1
    return length


def turned(x, used):
    """A sum that seldom changes, in one of two ways."""
    out, turns = x.copy(), 0.0
    for i in range(1, len(x)):
        if x[i] - x[i - 1] > 0.7:
            turns -= 2 * np.pi
        elif x[i] - x[i - 1] < -0.7:
            turns = 0.5 * turns
        out[i] += turns
    return out


def up_or_down(x, used):
    """It always changes: LLVM chooses what is added."""
    s = 0.0
    for i in range(len(x)):
        if used[i]:
            s += x[i]
        elif x[i] > 0.5:
            s -= x[i]
        else:
            s *= 0.5
    return s


def summed_where_used(x, used):
    s = 0.0
    for i in range(len(x)):
        if used[i]:
            s += x[i]
    return s


@pytest.mark.parametrize(
    ("fn", "branches"),
    [
        *((nearest_left, 1), (extremes, 1), (damped, 0), (dilated, 0), (longest, 1)),
        *((turned, 2), (up_or_down, 0), (summed_where_used, 0)),
    ],
    ids=lambda x: str(x)[:20],
)
def test_what_is_better_or_changes_is_seldom(fn: Callable[..., Any], branches: int) -> None:
    """The rare arm has a block of its own in LLVM's text, which a side effect keeps apart."""
    compiled = fxc.compile(fn, fullgraph=True)
    for size in (400, 401):
        x, used = RNG.random(size), RNG.random(size) < 0.5
        x[9] = np.nan
        for each in (x, np.sort(x), -np.sort(-x)):
            assert difference(run(fn, (each, used)), run(compiled, (each, used))) == ""
    text = compiled.inspect(x, used).llvm
    assert text.count("call void @llvm.sideeffect()") == branches


@pytest.mark.parametrize(("fn", "compares"), [(nearest_left, "fcmp"), (longest, "icmp")])
def test_the_best_is_asked_before_what_else_a_condition_says(
    fn: Callable[..., Any], compares: str
) -> None:
    text = fxc.compile(fn, fullgraph=True).inspect(RNG.random(400), RNG.random(400) < 0.5).llvm
    (first,) = re.findall(r"br i1 (%r\d+), label %also", text)
    assert f"{first} = {compares} " in text


def test_many_branches_by_which_a_number_changes() -> None:
    """What is known of each is known once, however many there are."""
    lines = ["loops f", "  input x: float64[400]", "  output b: float64[]"]
    lines += ["  b[] = 0.0", "  loop i in 0:400", "    t = item(x[i])"]
    for _ in range(60):
        lines += ["    if greater(t, 0.5)", "      b[] = multiply(0.5, b[])"]
    program = parse_loops("\n".join(lines))
    loop = program.body[-1]
    assert isinstance(loop, For)
    assert len(moving(program, loop)) == 60


def clipped(x, y):
    out = np.zeros(len(x), dtype=np.uint8)
    for i in range(len(x)):
        v = round(float(x[i]) * 255)
        if v < 0:
            v = 0
        elif v > 255:
            v = 255
        out[i] = v
    return out


def truncated(x, y):
    for i in range(len(x)):
        if y[i] > 0:
            y[i] = int(x[i] / 0.1) // 2


def binned(x, y):
    """An int that is an index: the check stays in front of it."""
    h = np.zeros(8)
    for i in range(len(x)):
        h[int(x[i])] += y[i]
    return h


def summed(x, y):
    """An int that is carried."""
    s = 0
    for i in range(len(x)):
        s += int(x[i])
    return s


def lists(x, y):
    """A table at an int that Python would have refused."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = y[int(x[i]) & 7]
    return out


@pytest.mark.parametrize(
    ("fn", "late"),
    [(clipped, False), (truncated, True), (binned, False), (summed, False), (lists, False)],
)
def test_ints_of_floats(fn: Callable[..., Any], late: bool) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for bad in (None, np.nan, -np.inf, 2.0**63, -(2.0**63) - 2.0**11, 1e300):
        for size in (97, 98):
            x, y = RNG.random(size) * 7, RNG.random(size)
            y[40] = 0.0 if bad is None else 1.0
            x[40] = 3.0 if bad is None else bad
            args = x, y
            assert difference(run(fn, copy.deepcopy(args)), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 10
    assert ("alloca [1 x i1]" in compiled.inspect(np.ones(9), np.ones(9)).llvm) is late


def moving_average(x, w):
    n = len(x)
    out = np.zeros(n - w + 1)
    s = 0.0
    for i in range(n):
        s += x[i]
        if i >= w:
            s -= x[i - w]
        if i >= w - 1:
            out[i - w + 1] = s / w
    return out


def one_more(x, w):
    s = 0.0
    for i in range(len(x)):
        if i >= w:
            s += x[i - w - 1] * 3.0
        if w > i:
            s += x[w - i]
    return s


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("fn", [moving_average, one_more])
def test_indices_by_conditions_on_counters(fn: Callable[..., Any], dynamic: bool) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=dynamic)
    for size, w in ((40, 7), (40, 40), (41, 2)):
        x = RNG.random(size)
        assert difference(run(fn, (x, w)), run(compiled, (x, w))) == ""
    assert "raise if" not in str(compiled.inspect(x, w).loops)


def escaped(data, room):
    out = np.zeros(room, dtype=np.uint8)
    k = 0
    for i in range(len(data)):
        b = data[i]
        if b == 0x7E or b == 0x7D:
            out[k] = 0x7D
            out[k + 1] = b ^ 0x20
            k += 2
        else:
            out[k] = b
            k += 1
    return out[:k], k


@pytest.mark.parametrize(("room", "looks"), [(200, 0), (199, 1), (120, 3)])
def test_indices_that_a_loop_adds_to(room: int, looks: int) -> None:
    """The last iteration begins with what those before it have added."""
    compiled = fxc.compile(escaped, fullgraph=True)
    for share in (0.0, 0.1, 1.0):
        data = np.where(RNG.random(100) < share, 0x7E, 7).astype(np.uint8)
        assert difference(run(escaped, (data, room)), run(compiled, (data, room))) == ""
    fixed = fxc.compile(lambda data: escaped(data, room), fullgraph=True)
    assert str(fixed.inspect(data).loops).count("raise if") == looks


def first_drop(x, y):
    for i in range(len(x) - 1):
        y[0] = i
        if x[i] > x[i + 1]:
            return i
    return -1


def first_large(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        if s > 50000.0:
            break
        y[0] += 1.0
    else:
        return s, "none"
    return s, i


@pytest.mark.parametrize("fn", [first_drop, first_large])
def test_loops_that_end_early_at_any_place(fn: Callable[..., Any]) -> None:
    """They run in parts, between which signals are looked for."""
    compiled = fxc.compile(fn, fullgraph=True)
    for at in (0, 1, 13106, 13107, 16383, 16384, 21844, 21845, 21846, 60000, None):
        x = np.zeros(60002)
        if at is not None:
            x[at] = 1e6
        args = x, np.zeros(2)
        assert difference(run(fn, copy.deepcopy(args)), run(compiled, args)) == "", at
    assert "fxc.look" in compiled.inspect(*args).llvm


def loops_with(mark: str, text: str) -> int:
    """How many loops of LLVM text bear a mark."""
    known = dict(re.findall(r"^(!\d+) = (.*)$", text, re.MULTILINE))
    backs = re.findall(r"^  br .*label %(?:head|test)\S*, !llvm.loop (!\d+)$", text, re.MULTILINE)
    return sum(
        any(mark in known[each] for each in known[back][11:-1].split(", ")) for back in backs
    )


def smoothed(x, out):
    s = 0.0
    for i in range(len(x)):
        s = 0.9 * s + x[i]
    return s


def filtered(x, out):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1] + x[i]
    return x


def steps(x, out):
    before = 0.0
    for i in range(len(x)):
        out[i] = x[i] - before
        before = x[i]
    return out


def scaled(x, out):
    for i in range(len(x)):
        x[i] = 0.5 * x[i] + 1.0
    return x


def area(x, out):
    s = 0.0
    for i in range(1, len(x) - 1):
        s += x[i] * (x[i + 1] - x[i - 1]) - x[i + 1] * x[i - 1] * (x[i] - out[i])
    return s


def of_four(x, out):
    s = 0.0
    for i in range(4):
        s = 0.9 * s + x[i]
    return s


def looked_up(x, out):
    k = 3
    for i in range(len(x)):
        k = int(x[k] * 100) ^ (i & 1)
    return k


def mixed_up(x, out):
    k = 3
    for i in range(len(x)):
        k = (k * 31 + i) & 1023
    return k


@pytest.mark.parametrize(
    ("fn", "waits"),
    [
        (smoothed, True),
        (filtered, True),
        (looked_up, True),
        (mixed_up, False),
        (steps, False),
        (scaled, False),
        (area, False),
        (of_four, False),
    ],
    ids=lambda x: str(x)[:20],
)
def test_loops_that_wait_for_themselves_are_not_unrolled(
    fn: Callable[..., Any], waits: bool
) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for size in (400, 401):
        x = RNG.random(size)
        there, here = (run(f, (x.copy(), np.zeros(size))) for f in (fn, compiled))
        assert difference(there, here) == ""
        text = compiled.inspect(x.copy(), np.zeros(size)).llvm
        assert bool(loops_with("llvm.loop.unroll.disable", text)) is waits
    assert compiled.cache_info().eager_calls == 0


def filtered_down(x, y, n):
    for i in range(n - 1, -1, -1):
        y[i] = x[i] + 0.5 * y[i + 1]
    return y


def filtered_twice(x, y, n):
    for i in range(1, n):
        y[i] = 0.5 * y[i - 1] + x[i]
        y[i - 1] = 0.5 * y[i] + y[i - 1]
    return y


def filtered_under_a_condition(x, y, n):
    for i in range(1, n):
        y[i] = 0.5 * y[i - 1] + x[i] - 0.25 * y[i - 1]
        if x[i] > 0.5:
            y[i] = 1.0
    return y


def filtered_behind_a_check(x, y, n):
    for i in range(1, n):
        k = int(x[i] * 8)
        y[i] = 0.5 * y[i - 1] + x[k]
    return y


def filtered_until(x, y, n):
    for i in range(1, n):
        y[i] = 0.5 * y[i - 1] + 0.5 * x[i]
        if y[i] > 0.9:
            return i, y
    return -1, y


def filtered_in_rows(x, y, n):
    u, v = x.reshape(20, -1), y.reshape(20, -1)
    for k in range(20):
        for i in range(k + 1, n // 20):
            v[k, i] = 0.5 * v[k, i - 1] + u[k, i]
    return y


def filtered_in_two_arrays(x, y, n):
    for i in range(1, n):
        before = y[i - 1]
        y[i] = 0.5 * x[i - 1] + before * x[i]
        x[i] = 0.5 * x[i - 1] - before
    return x, y


def filtered_complex(x, y, n):
    z = np.zeros(n + 1, np.complex128)
    for i in range(1, n):
        z[i] = (0.5 + 0.25j) * z[i - 1] + x[i]
    return z


def least_ways(x, y, n):
    rows = np.zeros((n // 200 + 2, 202), np.int64)
    for i in range(n // 200 + 1):
        for j in range(201):
            cost = 0 if x[i] < y[j] else 3
            rows[i + 1, j + 1] = min(rows[i, j + 1] + 1, rows[i + 1, j] + 1, rows[i, j] + cost)
    return rows


FILTERS = (
    filtered_down,
    filtered_twice,
    filtered_under_a_condition,
    filtered_behind_a_check,
    filtered_until,
    filtered_in_rows,
    filtered_in_two_arrays,
    filtered_complex,
    least_ways,
)


@pytest.mark.parametrize(("fn", "dynamic"), in_turns(FILTERS, (False, True)))
def test_what_an_iteration_stores_for_the_next_one(fn: Callable[..., Any], dynamic: bool) -> None:
    compiled = fxc.compile(fn, fullgraph=True, dynamic=dynamic)
    for n in (400, 401, 402, 66000, 1, 0):
        x, y = RNG.random(67000), RNG.random(67000)
        there, here = (run(f, (x.copy(), y.copy(), n)) for f in (fn, compiled))
        assert difference(there, here) == ""


@pytest.mark.parametrize("dynamic", [False, True])
def test_choices_that_wait_for_themselves_are_handed_on(dynamic: bool) -> None:
    """Written down twice, they were branches; behind a branch each was loaded again."""
    x, y = RNG.random(400), RNG.random(400)
    text = fxc.compile(least_ways, fullgraph=True, dynamic=dynamic).inspect(x, y, 400).llvm
    assert loops_with("llvm.loop.unroll.disable", text)
    assert text.count("= phi i64 [") == 3  # two counters, and what is handed on


def beside_others(x, y, n):
    for i in range(len(x)):
        if x[i] < 0.5:
            x[i] = i
    for i in range(len(x)):
        for j in range(len(x)):
            if y[j] < x[i] * x[j]:
                y[j] = x[i] * x[j]
    return y


def alone(x, y, n):
    for i in range(len(x)):
        if x[i] < 0.5:
            x[i] = i
    return x


@pytest.mark.parametrize(("fn", "finished"), [(beside_others, 1), (alone, 0)])
def test_loops_that_take_little_of_the_time_are_left_as_they_are(
    fn: Callable[..., Any], finished: int
) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    x, y = RNG.random(1000), RNG.random(1000)
    there, here = (run(f, (x.copy(), y.copy(), 1)) for f in (fn, compiled))
    assert difference(there, here) == ""
    assert loops_with("llvm.loop.unroll.disable", compiled.inspect(x, y, 1).llvm) == finished


def pairs(table, places):
    for i in range(len(places) - 1):
        table[places[i], places[i + 1]] += 1
    return table


def scattered(table, places):
    for i in range(len(places)):
        table[places[i], 1] += 0.5
    return table


def products_of_rows(table, places):
    out = np.zeros(len(places) // 2)
    for i in range(len(places) // 2):
        total = 0.0
        for k in range(places[i]):
            total += table[0, k] * table[places[k], 0]
        out[i] = total
    return out


def long_steps(table, places):
    total = 0
    for i in range(len(places) - 1):
        total += places[i] % (places[i + 1] + 1)
    return total


def few_steps(table, places):
    total = 0.0
    for i in range(12):
        total = total * table[0, 0] + table[places[i], 0]
    return total


@pytest.mark.parametrize(
    ("fn", "copied"),
    [(pairs, 1), (scattered, 1), (products_of_rows, 1), (long_steps, 0), (few_steps, 0)],
    ids=lambda x: str(x)[:20],
)
def test_short_iterations_of_long_loops_are_copied(fn: Callable[..., Any], copied: int) -> None:
    compiled, table = fxc.compile(fn, fullgraph=True), RNG.random((12, 12))
    for size in (400, 401, 402, 403):
        places = RNG.integers(0, 12, size)
        assert (
            difference(run(fn, (table.copy(), places)), run(compiled, (table.copy(), places))) == ""
        )
    text = compiled.inspect(table.copy(), places).llvm
    assert min(1, loops_with("llvm.loop.unroll.count", text)) == copied
    assert not loops_with("llvm.loop.unroll.disable", text)
    for at, place in ((2, -1), (401, -12), (3, 12), (400, 12), (1, -13)):
        changed = places.copy()
        changed[at] = place
        there, here = (run(f, (table.copy(), changed)) for f in (fn, compiled))
        assert difference(there, here) == "", (at, place)


def from_the_back(u, v):
    total = 0.0
    for i in range(len(u)):
        total += u[-i] * u[i - 1]
        v[i - 1, -1 - i] = u[i - 2] + total
        v[-1 - i][i - 1] += 1
        u[i - len(u)] *= 0.5
    return total


def periodic(u, v):
    for i in range(u.shape[0]):
        for j in range(v.shape[1]):
            v[i, j] = 0.25 * (v[i - 1, j] + v[i, j - 1] + v[i - 1, j - 2]) - u[j - i]
    return v


@pytest.mark.parametrize("options", [{}, {"dynamic": True}, {"backend": "numpy"}])
@pytest.mark.parametrize("fn", [from_the_back, periodic])
def test_places_from_the_back_in_some_iterations(fn: Any, options: Any) -> None:
    compiled = fxc.compile(fn, **options)
    for n in (9, 5, 3, 2, 1, 0, 12):
        u, v = RNG.random(n), RNG.random((n, n))
        there, here = (run(f, (u.copy(), v.copy())) for f in (fn, compiled))
        assert difference(there, here) == "", n


def test_places_from_the_back_are_not_checked_one_by_one() -> None:
    compiled = fxc.compile(periodic, fullgraph=True, dynamic=True)
    text = str(compiled.inspect(RNG.random(9), RNG.random((9, 9))).captured)
    assert text.count("wrap_index") == 0


_BACKWARDS = """
import numpy as np, fxc

def f(x, y):
    for j in range(y.shape[0]):
        y[j] += x[j] * x[j]

for dtype in (np.float32, np.int32, np.int16, np.int8, np.float64):
    for left, right in ((-1, 1), (1, -1), (-1, -1)):
        x, y = np.arange(31).astype(dtype)[::left], np.ones(31, dtype)[::right]
        wanted = y + x * x
        fxc.compile(f, fullgraph=True)(x, y)
        assert np.array_equal(y, wanted), (dtype, left, right)
"""


def test_narrow_elements_from_the_end(tmp_path: Path) -> None:
    """LLVM ended the process: so it is one of its own."""
    program = tmp_path / "backwards.py"
    program.write_text(_BACKWARDS)
    subprocess.run([sys.executable, str(program)], check=True)


def round_an_end(x: Any) -> Any:
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(1, n - 2):
        for j in range(i + 1, m - 2):
            if x[1, j] > 0.5:
                out[i - 1, j + 1] = x[(i + 1) % n, 0]
    return out


def moved_into_an_arm(x: Any) -> Any:
    n, m = x.shape
    out = np.zeros((n, m))
    for t in range(1, 4):
        for i in range(1, n - 2):
            for j in range(i + 1, m - 2):
                total = 0.0
                for _ in range(3):
                    total += x[i, j] * 0.5 + x[(i + 1) % n, j - 1]
                if x[0, j] > 0.5:
                    out[1, t] = total
    return out


def round_an_end_while(x: Any) -> Any:
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        j = 0
        while j < m:
            if x[1, j] > 0.5:
                out[i, j] = x[(i + 1) % n, 0]
            j += 1
    return out


@pytest.mark.parametrize("program", [round_an_end, moved_into_an_arm, round_an_end_while])
def test_divisions_in_arms(program: Any) -> None:
    """See Note [Divisions in arms]."""
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for shape in ((7, 9), (20, 40)):
        x = np.random.default_rng(81).random(shape)
        assert np.array_equal(compiled(x), program(x))
    rows = np.random.default_rng(60).random((20, 40))
    assert np.array_equal(compiled(rows), program(rows))


def test_neighbours_on_a_ring_are_found_without_divisions() -> None:
    def turned(s: Any, n: int) -> Any:
        for i in range(n):
            for j in range(n):
                near = s[(i + 1) % n, j] + s[(i - 1) % n, (j + 1) % n] - s[i, (j - 1) % n]
                if s[i, j] * near < 0:
                    s[i, j] = -s[i, j] + 2 * s[(2 * i - j) % (2 * n) // 2, (i + j) % n]
        return s

    compiled = fxc.compile(turned, fullgraph=True)
    for n in (7, 3, 2, 1, 0, 8):
        here, there = ((np.arange(64).reshape(8, 8) % 7 - 3, n) for _ in range(2))
        assert difference(run(turned, there), run(compiled, here)) == "", n
    text = str(compiled.inspect(np.zeros((8, 8), np.int64), 7).llvm)
    assert "srem" not in text
