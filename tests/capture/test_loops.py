"""Loops and branches of Python are captured as nodes, and are as Python runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fxc
from benchmarks.loop_programs import PROGRAMS, LoopProgram, fft, fft_in_place
from fxc.capture.capture import capture
from fxc.ir.graph import walk
from tests.compiling import check
from tests.outcomes import difference, run

RNG = np.random.default_rng(3)


def control_nodes(fn: Any, args: tuple[Any, ...]) -> tuple[list[str], int]:
    """The loops and branches of the captured graph, and the number of its nodes."""
    ops = [node.op for node in walk(capture(fn, args, {}).graph.body)]
    return [op for op in ops if op in ("fori_loop", "while_loop", "cond")], len(ops)


TRANSFORMS = (fft, fft_in_place)  # with exponentials of complex numbers


@pytest.mark.parametrize("case", PROGRAMS, ids=[each.function.__name__ for each in PROGRAMS])
def test_programs(case: LoopProgram) -> None:
    args = case.arguments(np.random.default_rng(0), 9)
    program = check(case.function, args, math="exact" if case.function in TRANSFORMS else "default")
    info = program.cache_info()
    assert (info.variants, info.eager_calls, tuple(info.fallbacks)) == (1, 0, ())
    assert control_nodes(case.function, args)[0]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_with_exponentials_of_our_own(transform: Any) -> None:
    compiled = fxc.compile(transform, fullgraph=True)
    x = RNG.random(256) + 0j
    expected = transform(x.copy())
    found = compiled(x.copy())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * np.abs(expected).max())
    assert compiled.cache_info().eager_calls == 0


COUNTED = [each for each in PROGRAMS if each.function.__name__ in ("heat_1d", "jacobi_2d")]


@pytest.mark.parametrize("case", COUNTED, ids=[each.function.__name__ for each in COUNTED])
def test_the_graph_does_not_grow_with_the_trip_count(case: LoopProgram) -> None:
    *arrays, _ = case.arguments(np.random.default_rng(0), 9)
    sizes = {control_nodes(case.function, (*arrays, n))[1] for n in (5, 50, 10**6)}
    assert len(sizes) == 1


def summed(x, n):
    s = 0.0
    for i in range(n):
        s += x[i]
    return s


def test_trip_counts_share_a_compilation() -> None:
    program = fxc.compile(summed, fullgraph=True)
    x = np.arange(1000.0)
    for n in (0, 1, 2, 3, 1000):
        expected, found = run(summed, (x, n)), run(program, (x, n))
        assert difference(expected, found) == ""
    assert program.cache_info().variants == 2  # one of them for no iteration


def test_sizes_share_a_compilation() -> None:
    program = fxc.compile(lambda x, y: (x * 2 + y[::-1]).max(), fullgraph=True)
    for n in range(1, 101):
        x = np.arange(float(n))
        assert program(x, x) == (x * 2 + x[::-1]).max()
    assert program.cache_info().variants <= 3


def cond_rebind(x):
    y = x * 2
    if y[0] > 1:
        y = y + 1
    return y


def cond_input(x):
    if x[0] > 1:
        x = x + 1
    return x


def cond_write(x):
    if x[0] > 0.1:
        x[1:] += 1
    else:
        x[0] = 7
    return x.sum()


def alias(A, B, c):
    y = A if c[0] > 0.5 else B
    y[0] = 1
    return A + B


def early(x):
    for i in range(8):
        for j in range(5):
            if x[i] * j > 2.5:
                return i * 10 + j
    return None


def early2(x):
    for i in range(8):
        for j in range(5):
            if x[i] * j > 2.5:
                return i * 10 + j
    return -1


def partial(x):
    for i in range(20):
        x[i] = 1.0
    return x


def grow(x):
    out = []
    for i in range(5):
        out.append(x * i)
    return out


def shrink(x):
    s = 0.0
    while len(x) > 1:
        s += x[0]
        x = x[1:]
    return s


def swap_ret(A, B, n):
    for _t in range(n):
        B[:] = A * 0.5 + 1
        A, B = B, A
    return A, B


def swap_backwards(A, B, n):
    for j in range(n - 1, -1, -1):
        A, B = B, A
        A[j] = 0.5 * B[j + 1]
    return A, B


def countdown(x, n):
    s = 0
    while n > 0:
        s += x[n - 1]
        n -= 1
    return s


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def rows(A):
    t = 0.0
    for row in A:
        t += row.sum()
        row *= 2
    return t


def enum(A, v):
    for i, (a, b) in enumerate(zip(A, v, strict=False)):
        A[i] = a * b + i
    return A


def rev(x):
    for i in reversed(range(1, len(x))):
        x[i] += x[i - 1]
    return x


def tri(A):
    n = A.shape[0]
    s = np.zeros(n)
    for i in range(n):
        s[i] = A[i, :i].sum()
    return s


def lastvar(x):
    for i in range(10):
        t = x[i] * 2
    return i, t


def elsefor(x):
    for i in range(10):
        if x[i] > 2:
            break
    else:
        x[0] = 9
    return x


def kinds0(x, n):
    s = 0
    for i in range(n):
        s += x[i]
    return s


def maxloop(x):
    m = x[0]
    for i in range(1, len(x)):
        if x[i] > m:
            m = x[i]
    return m


def argm(x):
    k = 0
    for i in range(1, len(x)):
        if x[i] > x[k]:
            k = i
    return k


def chained(x):
    c = 0
    for i in range(len(x)):
        if 0.2 < x[i] <= 0.8 and x[i] != 0.5:
            c += 1
    return c


def relu(x):
    s = 0.0
    for i in range(10):
        if x[i] > 0.5:
            s += x[i]
        else:
            s -= 1.0
    return s


def brk(x):
    s = 0.0
    for i in range(10):
        if x[i] > 0.7:
            break
        s = s + x[i]
    return s


def alias_in_loop(a, n):
    x = a
    for _i in range(n):
        a[0] += 1
        x = x + 1
    return x


def write_param(a, n):
    x = a
    for _i in range(n):
        x = x * 2
        x += 1
    return x


def write_param0(a, n):
    x = a
    for _i in range(n):
        x += 1
        x = x * 2
    return x


def two_names(a, n):
    x = np.zeros(5)
    y = x
    for i in range(n):
        x = x + 1
        y[0] = i
    return x, y


def nested_break(A):
    c = 0
    for i in range(6):
        for j in range(7):
            if A[i, j] > 0.9:
                break
            if A[i, j] < 0.1:
                continue
            c += 1
    return c


def while_true(x):
    i = 0
    while True:
        if x[i] > 0.5:
            break
        i += 1
    return i


def while_else(x):
    i = 0
    while i < 9:
        if x[i] > 5:
            break
        i += 1
    else:
        return -1
    return i


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def helper_loop(x):
    def inc(v, k):
        for j in range(len(v)):
            v[j] += k
        return v

    for i in range(6):
        inc(x, i)
    return x


def compr(x):
    return sum([x[i] * 2 for i in range(10)])


def swap3(a, b, c, n):
    for _ in range(n):
        a[0] += 1
        a, b, c = b, c, a
    return a


def cond_none(x):
    if x[0] > 0.5:
        pass
    return x[1]


def lists(x):
    acc = [0.0, 0.0]
    for i in range(10):
        if x[i] > 0.5:
            acc[0] += x[i]
        else:
            acc[1] += x[i]
    return acc


def state_dict(x):
    d = {"s": 0.0}
    for i in range(10):
        d["s"] += x[i]
    return d


def f32(x):
    s = 0.0
    x = x.astype(np.float32)
    for i in range(10):
        s += x[i]
    return s


def intkinds(x):
    k = 0
    for i in range(10):
        if x[i] > 0.5:
            k = k + i
    return k


def boolflag(x):
    found = False
    for i in range(10):
        if x[i] > 0.5:
            found = True
    return found


def npflag(x):
    ok = True
    for i in range(10):
        ok = ok and x[i] < 2
    return ok


def ternary(x):
    s = 0.0
    for i in range(10):
        s += x[i] if x[i] > 0.5 else -x[i]
    return s


def minmax(x):
    lo = x[0]
    hi = x[0]
    for v in x:
        lo = min(lo, v)
        hi = max(hi, v)
    return lo, hi


def dot_rows(A):
    n = A.shape[0]
    G = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            G[i, j] = G[j, i] = A[i] @ A[j]
    return G


def steps(x):
    for i in range(0, 10, 3):
        x[i] = i
    for i in range(9, 0, -2):
        x[i] -= i
    return x


def slices(x):
    for k in range(1, 5):
        x[k:] += x[:-k]
    return x


def wrap(x):
    for i in range(10):
        x[i] = x[i - 1] + 1
    return x


def condwrite(x, y):
    for i in range(10):
        if x[i] > 0.5:
            y[i] = x[i]
        else:
            x[i] = y[i]
    return y


def raises(x):
    for i in range(10):
        if x[i] > 0.9:
            raise ValueError("big")
        x[i] = 0
    return x


def asserts(x):
    for i in range(10):
        assert x[i] < 5
        x[i] += 1
    return x


def exc_partial(x, idx):
    for i in range(6):
        x[idx[i]] = i
    return x


def cumulative(x):
    out = np.empty_like(x)
    t = 0.0
    for i, v in enumerate(x):
        t += v
        out[i] = t
    return out


def one_range(x, n):
    places = range(n)
    for i in places:
        for j in places:
            x[i] += j
    return x


def adds_to_lists(x):
    out, seen = [], set()
    for i in range(10):
        out += [x[i]]
        seen |= {i}
    return out, len(seen)


def adds_in_branches(x):
    out = [1.0]
    if x[0] > 100:
        out += [2.0]
    return len(out)


def walrus(x):
    n = 10
    while (n := n - 1) > 0:
        x[n] += x[n - 1]
    return x, n


def walrus_of_arrays(x):
    i = 0
    while (v := x[i]) < 0.9:
        i += 1
        x[i - 1] = v * 2
    return x, v


def walrus_and(x):
    s, i = 0.0, 0
    while (v := x[i]) < 0.95 and i < len(x) - 1:
        s += v
        i += 1
    return s, i, v


def walrus_or(x):
    s = 0.0
    for i in range(len(x) - 1):
        d = 0.0
        if (x[i] > 0.3 and (d := x[i + 1] - x[i]) > 0) or x[i] > 0.9:
            s += d
        elif not (x[i] > 0.1 or (d := x[i] ** 2) > 0.001):
            s -= d
            break
    return s, i


def row_changes(A):
    r = A[0]
    s = 0.0
    for i in range(6):
        s += r.sum()
        r = A[i]
    return s


def mode_changes(x):
    m = "a"
    for i in range(10):
        if m == "a":
            x[i] += 1
        m = "b"
    return x


def pair_changes(x):
    t = (0, 1)
    for i in range(9):
        x[i] += t[0]
        t = (t[1], t[0])
    return x


def none_changes(x):
    last = None
    for i in range(10):
        if last is not None:
            x[i] += 1
        last = x
    return x


def fun_changes(x):
    f = np.sin
    for i in range(8):
        x[i] = f(x[i])
        f = np.cos
    return x


def wrow_changes(A):
    r = A[0]
    i = 0
    s = 0.0
    while i < 6:
        s += r.sum()
        r = A[i % 3]
        i += 1
    return s


def takes(x):
    numbers = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
    for i in range(10):
        x[i] += next(numbers)
    return x


def takes_all(x):
    numbers = iter([1.0, 2.0, 3.0])
    for i in range(10):
        x[i] += sum(numbers)
    return x


def inner_iterators(x):
    for i in range(6):
        for k, c in enumerate((0.5, 0.25)):
            x[i] += c * x[i + k]
        x[i] += sum(x[j] for j in range(3))
    return x


def fact(n):
    r = 1
    for i in range(2, n + 1):
        r *= i
    return r


def retarr(x):
    for i in range(10):
        if x[i] > 0.8:
            return x * 2
    return x + 1


def shadow(x):
    i = 100
    for i in range(10):  # noqa: B007
        pass
    return i


def delvar(x):
    t = 1.0
    for i in range(10):
        t = x[i]
    del t
    return x


def nestedfun(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    for i in range(10):
        add(x[i])
    return total


def closure_late(x):
    k = 1

    def f(v):
        return v * k

    for _i in range(6):
        k = k + 1
    return f(x)


def tick(x):
    n = 0

    def t():
        nonlocal n
        n += 1

    for i in range(10):
        t()
        x[i] += 1
    return n


def inner_nonlocal(x):
    total = 0.0

    def run_():
        nonlocal total
        for i in range(10):
            total += x[i]

    run_()
    run_()
    return total


CASES = {
    cond_rebind: lambda x, A: (x,),
    cond_write: lambda x, A: (x,),
    early2: lambda x, A: (x,),
    partial: lambda x, A: (x,),
    grow: lambda x, A: (x,),
    shrink: lambda x, A: (x,),
    swap_ret: lambda x, A: (x, x * 2, 7),
    countdown: lambda x, A: (x, 9),
    fib: lambda x, A: (90,),
    rows: lambda x, A: (A,),
    enum: lambda x, A: (A, x[:6].copy()),
    rev: lambda x, A: (x,),
    tri: lambda x, A: (A[:, :6].copy(),),
    lastvar: lambda x, A: (x,),
    elsefor: lambda x, A: (x,),
    kinds0: lambda x, A: (x, 10),
    maxloop: lambda x, A: (x,),
    argm: lambda x, A: (x,),
    chained: lambda x, A: (x,),
    relu: lambda x, A: (x,),
    brk: lambda x, A: (x,),
    alias_in_loop: lambda x, A: (x[:5], 6),
    write_param: lambda x, A: (x[:5], 6),
    write_param0: lambda x, A: (x[:5], 6),
    two_names: lambda x, A: (x[:5], 6),
    nested_break: lambda x, A: (A,),
    while_true: lambda x, A: (x,),
    while_else: lambda x, A: (x,),
    gcd: lambda x, A: (84, 36),
    helper_loop: lambda x, A: (x,),
    compr: lambda x, A: (x,),
    swap3: lambda x, A: (x[:5], x[:5] + 1, x[:5] + 2, 7),
    cond_none: lambda x, A: (x,),
    state_dict: lambda x, A: (x,),
    f32: lambda x, A: (x,),
    intkinds: lambda x, A: (x,),
    boolflag: lambda x, A: (x,),
    npflag: lambda x, A: (x,),
    ternary: lambda x, A: (x,),
    minmax: lambda x, A: (x,),
    dot_rows: lambda x, A: (A,),
    steps: lambda x, A: (x,),
    slices: lambda x, A: (x,),
    wrap: lambda x, A: (x,),
    condwrite: lambda x, A: (x, x[::-1].copy()),
    exc_partial: lambda x, A: (x, np.array([0, 1, 2, 30, 4, 5])),
    cumulative: lambda x, A: (x,),
    cond_input: lambda x, A: (x,),
    early: lambda x, A: (x,),
    alias: lambda x, A: (x, x * 2, x),
    one_range: lambda x, A: (x, 8),
    adds_to_lists: lambda x, A: (x,),
    walrus: lambda x, A: (x,),
    walrus_of_arrays: lambda x, A: (x,),
    walrus_and: lambda x, A: (x,),
    walrus_or: lambda x, A: (x,),
    row_changes: lambda x, A: (A,),
    mode_changes: lambda x, A: (x,),
    pair_changes: lambda x, A: (x,),
    none_changes: lambda x, A: (x,),
    fun_changes: lambda x, A: (x,),
    wrow_changes: lambda x, A: (A,),
    takes: lambda x, A: (x,),
    takes_all: lambda x, A: (x,),
    inner_iterators: lambda x, A: (x,),
    fact: lambda x, A: (18,),
    retarr: lambda x, A: (x,),
    shadow: lambda x, A: (x,),
    delvar: lambda x, A: (x,),
    nestedfun: lambda x, A: (x,),
    closure_late: lambda x, A: (x,),
    tick: lambda x, A: (x,),
    inner_nonlocal: lambda x, A: (x,),
    lists: lambda x, A: (x,),
    adds_in_branches: lambda x, A: (x,),
}


@pytest.mark.parametrize("fn", CASES, ids=[each.__name__ for each in CASES])
def test_statements(fn: Any) -> None:
    r = np.random.default_rng(0)
    check(fn, CASES[fn](r.random(10), r.random((6, 7))))


def test_an_int_that_grows_beyond_64_bits_is_pythons() -> None:
    check(fact, (30,), eager=2)


@pytest.mark.parametrize("n", range(5))
def test_names_that_go_round(n: int) -> None:
    x = np.arange(6.0)
    check(swap_ret, (x, x + 1, n))
    program = check(swap_backwards, (x, x + 1, n))
    assert program.cache_info().eager_calls == 0


@pytest.mark.parametrize("fn", [raises, asserts])
@pytest.mark.parametrize("factor", [0.1, 20.0])
def test_exceptions_in_branches(fn: Any, factor: float) -> None:
    program = check(fn, (np.random.default_rng(0).random(10) * factor,))
    assert program.cache_info().eager_calls == (0 if factor < 1 else 2)


def first_of_few(x):
    s = 0.0
    for row in (x, x[::-1], x[1:]):
        if row[0] < 0.15:
            return row[1]
        s += row[0]
    return s


def broken_off_in_turn(x):
    found = []
    for part in (x[:3], x[-3:]):
        s = 0.0
        for v in part:
            if v < 0.15:
                break
            s += v
        else:
            s = s * 2
        found.append(s)
    x[0] = 7
    return found


def written_until(x):
    for k in range(4):
        if x[k] > 0.7:
            break
        x[k] += 1
    return k


@pytest.mark.parametrize("fn", [first_of_few, broken_off_in_turn, written_until])
def test_few_iterations_that_data_ends(fn) -> None:
    """Python runs them, each under the condition that those before did not end the loop."""
    compiled = fxc.compile(fn, fullgraph=True)
    for seed in range(12):
        x = np.random.default_rng(seed).random(6)
        given = x.copy()
        assert not difference(run(fn, (x,)), run(compiled, (given,)))
        np.testing.assert_array_equal(x, given)
    assert compiled.cache_info().variants == 1


def red_and_black(u, n):
    for _ in range(n):
        for color in (0, 1):
            for i in range(1, u.shape[0] - 1):
                for j in range(1 + (i + color) % 2, u.shape[1] - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def halves(x):
    for i in range(len(x) - 1):
        x[i // 2] += x[i - i // 3]


@pytest.mark.parametrize("fn, rest", [(red_and_black, (5,)), (halves, ())])
def test_bounds_by_remainders_and_quotients(fn, rest) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for size in (12, 17, 30):
        x = np.random.default_rng(size).random((size, size + 3))
        given = x.copy()
        fn(x, *rest)
        compiled(given, *rest)
        np.testing.assert_array_equal(x, given)
    assert compiled.cache_info().variants == 2
    loops = str(compiled.inspect(given, *rest).captured).count("fori_loop")
    assert loops == (5 if fn is red_and_black else 1)


def filtered(h, x):
    y = np.zeros(len(x))
    for n in range(len(x)):
        for k in range(max(0, n - len(x) + 3), min(len(h), n + 1)):
            y[n] += h[k] * x[n - k]
    return y


def banded(lower, x, w):
    n = len(x)
    A = np.eye(n)
    for i in range(n):
        for j in range(max(0, i - w), min(n, i + w + 1)):
            A[i, j] = lower[(i + j) % n]
    return A


@pytest.mark.parametrize("fn, rest", [(filtered, ()), (banded, (3,))])
def test_bounds_by_minima_and_maxima(fn, rest) -> None:
    """Also an index that goes round a size which is not known."""
    compiled = fxc.compile(fn, fullgraph=True)
    for size in (5, 12, 17, 30):
        args = (RNG.random(size), RNG.random(size), *rest)
        assert difference(run(fn, args), run(compiled, args)) == ""
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0
    assert str(compiled.inspect(*args).captured).count("fori_loop") == 2


def escapes(w, h):
    out = np.zeros((h, w), dtype=int)
    for i in range(h):
        for j in range(w):
            z, k = round(j / w, 2) + 1j * round(i / h, 2), 0
            while abs(z) < 2 and k < 30:
                z = z * z + complex(-0.4, 0.6)
                k += 1
            out[i, j] = k
    return out


def test_complex_numbers_of_counters_that_are_rounded() -> None:
    check(escapes, (4, 3))
    check(escapes, (60, 40))


# ------------------------------------------------------------------ explicit loops


def halved_by_where(a, lo, hi, n):
    def body(i, state):
        middle = 0.5 * (state["lo"] + state["hi"])
        above = middle * middle > a
        return {
            "lo": np.where(above, state["lo"], middle),
            "hi": np.where(above, middle, state["hi"]),
        }

    return fxc.fori_loop(0, n, body, {"lo": lo, "hi": hi})


def summed_up(a, lo, hi, n):
    return fxc.fori_loop(0, n, lambda i, s: s + np.float32(a) * i, 0)


@pytest.mark.parametrize("program", [halved_by_where, summed_up])
def test_explicit_loops_carry_what_one_iteration_makes(program: Any) -> None:
    """A float becomes an array of rank 0, an int a float32; without an iteration it stays."""
    compiled = fxc.compile(program, fullgraph=True)
    for n in (30, 2, 1, 0, 7):
        args = [2.0, 1.0, 2.0, n]
        assert difference(run(program, args), run(compiled, args)) == ""
    assert compiled.cache_info().variants <= 3
    assert compiled.cache_info().eager_calls == 0


def test_bytes_moved_where_an_index_is_divided_by_a_size_of_the_loop() -> None:
    """The size was given values like a counter, at which the divisor was 0."""
    stages = fxc.compile(fft, fullgraph=True).inspect(np.arange(16.0))
    assert "bytes moved" in str(stages.loops)


def neighbours(x):
    seen = {}
    for v in x:
        for k, (dy, dx) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
            key = int(v) + dy, int(v) * dx
            seen[key] = seen.get(key, 0) + k
        for d in (2, 0.5):
            key = dy, int(v * d)
            seen[key] = seen.get(key, 0) + d
    return seen, dy, dx, k, d


def left_early(x):
    found, counts, w = [], {}, None
    for v in x:
        for w in (0.5, 1, 2.5, 4):
            counts[int(v * w)] = counts.get(int(v), 0) + 1
            if v > w:
                found.append((w, v))
                continue
            if v < -w:
                break
        else:
            found.append((w, -v))
    return found, counts, w


def changed_meanwhile(x):
    found, counts = [], {}
    for v in x:
        items = [3, 1, 2]
        for m in items:
            counts[int(v), m] = counts.get((int(v), 1), 0) + 1
            if v > 0 and m > 1:
                items[0] = 5
            found.append(m)
    return found, counts, m


@pytest.mark.parametrize("program", [neighbours, left_early, changed_meanwhile])
def test_items_of_a_tuple_whose_iterations_come_to_much_are_looked_up(program: Any) -> None:
    """Each was a copy: a search on a grid of four neighbours took two seconds to compile."""
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for n in (7, 5, 9):
        args = (np.random.default_rng(n).standard_normal(n) * 3,)
        assert difference(run(program, args), run(compiled, args)) == ""
    assert not compiled.cache_info().eager_calls


def test_copies_of_iterations_are_few() -> None:
    def around(x, moves):
        seen = {}
        for v in x:
            for dy, dx in moves:
                seen[int(v) + dy, dx] = seen.get((dy, dx), 0) + 1
        return seen

    x, moves = np.arange(5.0), ((0, 1), (1, 0), (0, -1), (-1, 0))
    known = [control_nodes(lambda x, m=moves[:n]: around(x, m), (x,))[1] for n in (1, 2, 4)]
    assert known[2] < known[1] < 2 * known[0]
