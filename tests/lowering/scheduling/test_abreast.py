"""Loops over elements that run loops to ends of their own: loops → strips of lanes."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

import fxc
from fxc.lowering.nests.parse import parse_loops
from fxc.runtime.engine import Engine
from tests.compiling import same
from tests.outcomes import difference, run
from tests.scheduled import body


def escapes(x: Any, y: Any) -> Any:
    """A condition that ends at once, after some iterations, or by the count."""
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        re = im = 0.0
        k = 0
        while re * re + im * im <= 4.0 and k < 40:
            re, im = re * re - im * im + x[i], 2 * re * im + y[i]
            k += 1
        out[i] = k
    return out


def roots(x: Any, y: Any) -> Any:
    """A loop that is left, of numbers that are Python's or NumPy's; a choice behind it."""
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        a = abs(x[i]) + 0.1
        r, n = a, 0
        for k in range(25):
            n = k
            s = (r + a / r) * 0.5
            if abs(s - r) < 1e-6:
                break
            r = s
        out[i] = r + n if n > 3 else -r
    return out


def places(x: Any, y: Any) -> Any:
    """Elements that are looked up."""
    table = np.arange(50) * 0.05 - 1.0
    out = np.empty(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        low, high = 0, table.shape[0]
        while low < high:
            middle = low + (high - low) // 2
            if table[middle] < x[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out


def lengths(x: Any, y: Any) -> Any:
    """Integers, by branches."""
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        n = np.int64(27 + i)
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            out[i] += 1
    return out


def collatz(x: Any, y: Any) -> Any:
    """The same with a number for each element."""
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        n, steps = i + 1, 0
        n = np.int64(n)
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps
    return out


def harmonic(x: Any, y: Any) -> Any:
    """What has ended would divide by zero."""
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        d, total = float(int(8 * abs(x[i]))), 0.0
        while d > 0.0:
            total += 1.0 / d
            d -= 1.0
        out[i] = total
    return out


def both(x: Any, y: Any) -> Any:
    """One loop behind the other, inside of rows; the second takes up what the first has left."""
    out = np.zeros((2, x.shape[0]))
    for j in range(2):
        for i in range(x.shape[0]):
            v, n = x[i] + j, 0
            while v < 3.0:
                v = v * 1.5 + 0.75
                n += 1
            w = v
            for k in range(x.shape[0]):
                w = w * 0.5 + y[k]
                if w < n:
                    break
            out[j, i] = v - w
    return out


def taken_up(x: Any, y: Any) -> Any:
    """What a loop stores without a look at it, and only another loop reads, which changes it."""
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        v, w = 0.5, x[i] * 2
        while v < 3.0 + x[i]:
            w = v - y[i]
            v = v * 1.5 + 0.5
        for k in range(20):
            if k + y[i] > 3:
                v = w
            if v > w + 4.0:
                break
            v = v + 0.7
            w = w * 0.9
        out[i] = v
    return out


PROGRAMS = (escapes, taken_up, roots, places, collatz, harmonic, both)
SIZES = (100, 64, 33, 17, 16, 15, 2, 1, 0)


def arguments(n: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    return rng.uniform(-1.5, 1.5, n).astype(dtype), rng.uniform(-1, 1, n).astype(dtype)


@pytest.mark.bits
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_they_have_numpys_bits(program: Any, dtype: Any) -> None:
    for dynamic in (False, True):
        compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
        for n in SIZES if dynamic else SIZES[:3]:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert same(program, compiled, arguments(n, dtype))
        assert ".abreast" in str(compiled.inspect(*arguments(100, dtype)).loops), program


def stays_positive(x: Any, y: Any) -> Any:
    """A root that some element may not have."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        v = float(x[i])
        while v > 1e-3:
            v = math.sqrt(v) - 0.7
        out[i] = v
    return out


def next_below(x: Any, y: Any) -> Any:
    """A place that may be past the end."""
    out = np.empty(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        k = i
        while x[k] > y[i]:
            k += 1
        out[i] = k
    return out


@pytest.mark.parametrize("program", [stays_positive, next_below])
@pytest.mark.parametrize("dynamic", [False, True])
def test_what_may_fail_fails_as_in_python(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, dynamic=dynamic)
    for low, high in ((0.5, 0.9), (-0.5, -0.1), (0.5, 0.9), (1.5, 2.0)):
        for end in (-9.0, 1.0):
            x, y = np.linspace(low, high, 70), np.linspace(low, 0.7, 70)
            x[-1] = end
            assert not difference(run(program, [x, y]), run(compiled, [x, y]))


def counted(x: Any, y: Any) -> Any:
    """What all elements add to."""
    total = 0
    for i in range(x.shape[0]):
        v = x[i]
        while v < 2.0:
            v = v * 2 + 3
            total += 1
    return total


def after_each_other(x: Any, y: Any) -> Any:
    """What an element needs of the one before."""
    out = np.zeros(x.shape[0] + 1)
    for i in range(x.shape[0]):
        v = x[i] + out[i]
        while v < 2.0:
            v = v * 2 + 3
        out[i + 1] = v
    return out


def by_the_library(x: Any, y: Any) -> Any:
    """What has no lanes."""
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        v = float(x[i])
        while v < 2.0:
            v += 2 + math.sin(v)
        out[i] = v
    return out


def bits(x: Any, y: Any) -> Any:
    """What LLVM has an instruction for."""
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        v, count = np.int64(i), 0
        while v:
            v &= v - 1
            count += 1
        out[i] = count
    return out


def marched(x: Any, y: Any) -> Any:
    """Elements that are looked up, and branches that a processor guesses."""
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        k, v = i, 9.0
        for _ in range(40):
            k = (k * 5 + 3) & 63
            if v < x[k]:
                break
            v -= 1.0
        out[i] = v
    return out


def columns(x: Any, y: Any) -> Any:
    """Steps down each column, there and back, of which one stores what the next one reads."""
    n, m = x.shape
    c, d = np.zeros((n, m)), np.zeros((n, m))
    for j in range(m):
        c[0, j] = 1.0 / (4.0 + x[0, j])
        d[0, j] = y[0, j] * c[0, j]
        for i in range(1, n):
            b = 4.0 + x[i, j] - c[i - 1, j]
            c[i, j] = 1.0 / b
            d[i, j] = (y[i, j] - d[i - 1, j]) / b
        for i in range(n - 2, -1, -1):
            d[i, j] -= c[i, j] * d[i + 1, j]
    return d


def rows(x: Any, y: Any) -> Any:
    """A total in order along each row, and the largest so far, stored in each step."""
    out = np.zeros(x.shape)
    for i in range(x.shape[0]):
        s, most = 0.0, y[i, 0]
        for k in range(x.shape[1]):
            s = s * 0.5 + x[i, k]
            if s > most:
                most = s
            out[i, k] = s - most
    return out


@pytest.mark.bits
@pytest.mark.parametrize("program", [columns, rows])
@pytest.mark.parametrize("dynamic", [False, True])
def test_steps_that_store(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for n, m in ((40, 40), (3, 70), (35, 2), (2, 33), (1, 50), (50, 1)):
        x, _ = arguments(n * m)
        assert same(program, compiled, (x.reshape(n, m), x[::-1].reshape(n, m)))
    x = np.ones((40, 40))
    assert ".abreast" in str(compiled.inspect(x, x).loops)


def shifted(x: Any, a: int, b: int, c: int, d: int) -> Any:
    """Elements that other steps, of this column or of others, may have stored."""
    n, m = x.shape
    out = x * 2.0
    for i in range(2, m - 2):
        for k in range(2, n - 2):
            out[k + a, i + b] = out[k + c, i + d] * 0.5 + x[k, i]
    return out


def overlapping(x: Any, a: int, b: int, c: int, d: int) -> Any:
    """Elements of a vector, each of which several pairs of steps meet, and a row for all."""
    n, m = x.shape
    out, row = np.zeros(4 * (n + m)), np.zeros(n + 2)
    for i in range(2, m - 2):
        for k in range(2, n - 2):
            row[k + 1] = row[k + c] * 0.5 + x[k, i]
            out[a * i + k + b + 3] += out[i + k + d] - row[k]
    return out


@pytest.mark.parametrize("program", [shifted, overlapping])
def test_steps_that_meet_stay_in_order(program: Any) -> None:
    rng = np.random.default_rng(5)
    x = rng.random((9, 60))
    for shifts in rng.integers(-1, 2, (14, 4)).tolist():
        assert same(program, fxc.compile(program), (x, *shifts)), shifts


def crossings(x: Any, y: Any) -> Any:
    """What a branch leaves out as a rule."""
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(12):
            if x[i] < y[j] - 1.5:
                s += 1.0 / (x[i] - y[j])
        out[i] = s
    return out


STAY = (counted, after_each_other, by_the_library, lengths, bits, marched, crossings)


@pytest.mark.parametrize("program", STAY)
def test_others_stay(program: Any) -> None:
    compiled = fxc.compile(program)
    assert same(program, compiled, arguments(100))
    assert ".abreast" not in str(compiled.inspect(*arguments(100)).loops)


def halved(x: Any) -> Any:
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        v = x[i]
        while v > 1.0:
            v = v * 0.5
        out[i] = v
    return out


def test_the_statements() -> None:
    loops = fxc.compile(halved).inspect(np.linspace(0, 9, 40)).loops
    assert str(parse_loops(str(loops), loops.target)) == str(loops)
    assert_expected_inline(
        body(loops),
        """\
for i0 in 0:40 moved
  b1[i0] = 0.0
loop is in 0:(3)
  for ia in 0:16 lanes 16
    t2.abreast1.0 = item(x[ia + min(16*is, 24)])
    t3.abreast1.0 = greater(t2.abreast1.0, 1.0)
    i.goes0.abreast1[ia] = t3.abreast1.0
    i.some0.abreast1 = logical_or t3.abreast1.0  [any]
    b3.abreast1[ia] = t2.abreast1.0
  some.abreast1[] = i.some0.abreast1
  while
    holds some.abreast1[]
  do
    loop i.some1.abreast1.step in 0:32
      for ia in 0:16 lanes 16
        i.chosen1.abreast1.1 = i.goes0.abreast1[ia]
        i.chosen2.abreast1.1 = b3.abreast1[ia]
        t8.abreast1.1 = multiply(i.chosen2.abreast1.1, 0.5)
        i.chosen3.abreast1.1 = logical_and(i.chosen1.abreast1.1, greater(t8.abreast1.1, 1.0))
        i.goes0.abreast1[ia] = i.chosen3.abreast1.1
        i.some1.abreast1 = logical_or i.chosen3.abreast1.1  [any]
        b3.abreast1[ia] = where(i.chosen1.abreast1.1, t8.abreast1.1, i.chosen2.abreast1.1)
      some.abreast1[] = i.some1.abreast1
      leave if logical_not(i.some1.abreast1)
  for ia in 0:16 lanes 16
    b1[ia + min(16*is, 24)] = b3.abreast1[ia]""",
    )


def test_what_lanes_hand_on_is_in_registers() -> None:
    assembled = fxc.compile(halved).inspect(np.linspace(0, 9, 40))._assembled
    assert assembled is not None
    module = assembled.module
    engine = Engine(module.text, b"", [], loops="array", support=module.support)
    rooms = re.compile(r"alloca \[\d+ x i8\], align 64")
    assert rooms.findall(module.text)
    assert not rooms.findall(engine.optimised())


def deviations(x: Any, y: Any) -> Any:
    """Sums of a moving window, one behind the other: all are equally long."""
    n, w = x.shape[0], 7
    out = np.zeros(n)
    for i in range(w - 1, n):
        m = 0.0
        for j in range(i - w + 1, i + 1):
            m += x[j]
        m /= w
        v = 0.0
        for j in range(i - w + 1, i + 1):
            v += (x[j] - m) ** 2
        out[i] = math.sqrt(v / w)
    return out


def smallest(x: Any, y: Any) -> Any:
    """A branch that leaves out next to nothing."""
    n, w = x.shape[0], 7
    out = np.zeros(n)
    for i in range(n - w + 1):
        m = x[i]
        for j in range(i + 1, i + w):
            if x[j] < m:
                m = x[j]
        out[i] = m
    return out


@pytest.mark.bits
@pytest.mark.parametrize("program", [deviations, smallest])
@pytest.mark.parametrize("dynamic", [False, True])
def test_windows_have_lanes(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for n in (100, 64, 41, 23, 8, 7, 6, 1):
        assert same(program, compiled, arguments(n))
    assert ".abreast" in str(compiled.inspect(*arguments(100)).loops)


def nearest(x: Any, y: Any) -> Any:
    """The place of the best number so far is one that the arm makes."""
    out = np.zeros(x.shape[0], dtype=np.int64)
    for i in range(x.shape[0]):
        best = np.inf
        for j in range(12):
            d = abs(x[i] - y[j])
            if d < best:
                best = d
                out[i] = j
    return out


def mutual(x: Any, y: Any) -> Any:
    """Stores on both sides of a diagonal."""
    out = np.zeros((x.shape[0], x.shape[0]))
    for i in range(3):
        for k in range(i + 1, x.shape[0]):
            s = 0.0
            for j in range(12):
                s += (x[i] - y[j]) * (x[k] - y[j])
            out[i, k] = s
            out[k, i] = s
    return out


def stages(x: Any, y: Any) -> Any:
    """Each row is made of the one in front."""
    out = np.zeros((4, x.shape[0]))
    for t in range(1, 4):
        for i in range(x.shape[0]):
            best = -1e300
            for j in range(12):
                v = out[t - 1, j] + x[i] * y[j]
                if v > best:
                    best = v
            out[t, i] = best
    return out


@pytest.mark.parametrize("program", [nearest, mutual, stages])
@pytest.mark.parametrize("dynamic", [False, True])
def test_best_numbers_and_rows_have_lanes(program: Any, dynamic: bool) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for n in (12, 100, 41, 23, 16):  # the first one may be small
        assert same(program, compiled, arguments(n))
        assert ".abreast" in str(compiled.inspect(*arguments(n)).loops) or n < 20
