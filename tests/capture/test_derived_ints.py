"""Ints that are computed from arguments and sizes by floats are sizes, bounds and trip counts of
one compilation. See Note [Derived ints].
"""

import math

import numpy as np
import pytest

import fxc
from fxc.capture.capture import capture
from fxc.capture.session.refusing import How
from tests.outcomes import difference, run, warnings_of


def train_and_test(x):
    cut = int(0.8 * len(x))
    return x[:cut] - x[:cut].mean(), x[cut:] * 2.0


def steps(t, dt):
    n = int(t / dt)
    y = np.empty(n + 1)
    y[0] = 1.0
    for i in range(n):
        y[i + 1] = y[i] - dt * y[i]
    return y


def sieve(n):
    p = np.ones(n + 1, dtype=bool)
    p[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if p[i]:
            p[i * i :: i] = False
    return np.nonzero(p)[0]


def blocks(x):
    side = math.isqrt(len(x))
    return x[: side * side].reshape(side, side).T.copy()


def rounds(x):
    third, half = round(len(x) / 3), math.ceil(len(x) / 2)
    return x[:third], x[half:], math.floor(len(x) * 0.3), len(x).bit_length()


def levels(x):
    for _ in range(int(np.log2(len(x)))):
        x = x + 0.5
    return x


def percentile(x, q):
    return np.sort(x)[int(q * (len(x) - 1))]


def in_a_branch(x, t):
    if x[0] > 3.0:
        return np.zeros(int(10.0 / t))
    return np.ones(2)


def of_a_helper(x, share):
    def part(y):
        return y[: int(share * y.shape[0])]

    return part(part(x))


def arrays(*more):
    return [(np.arange(1.0, n + 1), *more) for n in (12, 17, 40, 23, 99, 31)]


@pytest.mark.parametrize(
    "function, calls, variants",
    [
        (train_and_test, arrays(), 2),
        (steps, [(1.0, 0.1), (2.0, 0.3), (5.0, 0.25), (0.7, 0.01)], 1),
        (sieve, [(100,), (50,), (1000,), (10,), (121,)], 1),
        (blocks, arrays(), 2),
        (rounds, arrays(), 2),
        (levels, arrays(), 2),
        (
            percentile,
            [(*a, q) for a, q in zip(arrays(), (0.5, 0.9, 0.1, 0.25, 0.6, 0.3), strict=True)],
            2,
        ),
        (of_a_helper, arrays(0.7), 2),
    ],
)
def test_one_compilation_serves_all(function, calls, variants):
    compiled = fxc.compile(function, fullgraph=True)
    for args in calls:
        assert not difference(run(function, args), run(compiled, args))
    info = compiled.cache_info()
    assert info.variants <= variants
    assert info.eager_calls == 0
    assert info.native_calls == len(calls)


def test_a_computation_that_fails_is_pythons():
    compiled = fxc.compile(in_a_branch)
    big, small = np.full(2, 5.0), np.zeros(2)
    for args in [(big, 2.0), (small, 2.0), (small, 0.0), (big, 0.0), (big, 4.0), (small, math.nan)]:
        assert not difference(run(in_a_branch, args), run(compiled, args))


def test_a_number_that_python_needs_is_a_constant_of_its_own():
    def tagged(x):
        return {f"{int(0.5 * len(x))} items": x.sum()}

    compiled = fxc.compile(tagged, fullgraph=True, dynamic=True)
    for size in (20, 21, 22, 23):
        x = np.arange(float(size))
        assert not difference(run(tagged, (x,)), run(compiled, (x,)))
    assert compiled.cache_info().variants == 2


def test_dynamic_false_keeps_constants():
    stages = fxc.compile(train_and_test, dynamic=False).inspect(np.ones(10))
    assert "symbols" not in str(stages.captured)


def grid(n):
    x, step = np.linspace(-1, 1, n, retstep=True)
    return x * step, np.linspace(0.0, 2.0, n, endpoint=False), step


def times(end, step):
    return 2.0 * np.arange(0.0, end, step), np.arange(0, end, step, dtype=np.float32)


@pytest.mark.parametrize(
    "function, calls",
    [
        (grid, [(n,) for n in (5, 2, 100, 3)]),
        (times, [(1.0, 0.1), (2.0, 0.3), (5.0, 0.25), (7.0, 0.01)]),
    ],
)
def test_factories_of_such_sizes(function, calls):
    compiled = fxc.compile(function, fullgraph=True)
    for args in calls:
        assert not difference(run(function, args), run(compiled, args))
    assert compiled.cache_info().variants == 1


@pytest.mark.parametrize(
    "function", [lambda x, n: x[-n:], lambda x, n: x[n - 3 :], lambda x, n: x[: abs(n) % 4]]
)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.int8, np.int64])
def test_numpys_integers_that_overflow_warn(function, dtype):
    compiled = fxc.compile(function, fullgraph=True)
    x = np.arange(6.0)
    for number in (5, 3, 0, 2, 1, np.iinfo(dtype).min, np.iinfo(dtype).max):
        n = dtype(number)
        assert warnings_of(compiled, x, n) == warnings_of(function, x, n)
        assert not difference(run(function, (x, n)), run(compiled, (x, n)))


@pytest.mark.parametrize("args", [(0,), (1,), (-1,), (2,)])
def test_few_samples(args):
    assert not difference(run(grid, args), run(fxc.compile(grid), args))


@pytest.mark.parametrize(
    "args",
    [(1.0, 0.0), (1.0, -0.5), (-1.0, 0.5), (5e-324, 1e300), (math.nan, 1.0), (1.0, math.inf)],
)
def test_lengths_at_the_edges(args):
    assert not difference(run(times, args), run(fxc.compile(times), args))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.pad(x, 2),
        lambda x: np.pad(np.outer(x, x), 1, mode="edge"),
        lambda x: np.pad(x, (1, 3), mode="wrap"),
        lambda x: np.pad(x, 2, mode="reflect"),
        pytest.param(
            lambda x: np.mgrid[0 : len(x), 0:3],
            marks=pytest.mark.skipif(
                np.lib.NumpyVersion(np.__version__) < "2.3.0",
                reason="NumPy's own code takes an int of a float of the size, which is a constant then",
            ),
        ),
        lambda x: np.ogrid[1 : x.size : 2],
        lambda x: np.indices((len(x), 2)),
        lambda x: np.diag_indices(len(x)),
        lambda x: np.tri(len(x), k=1) + np.triu(np.outer(x, x)),
        lambda x: np.outer(x, x)[np.triu_indices(len(x), 1)],
        lambda x: np.roll(x, 2) - np.roll(x, -1),
    ],
)
def test_functions_of_numpys_on_symbolic_sizes(function):
    compiled = fxc.compile(function, fullgraph=True)
    for (x,) in arrays():
        assert not difference(run(function, (x,)), run(compiled, (x,)))
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


def test_widths_of_pad_are_constants():
    def program(x, k):
        p = np.pad(x, k // 2, mode="edge")
        q = np.pad(np.outer(x, x), ((k, 1), (0, k)))
        return np.array([np.sort(p[i : i + k])[k // 2] for i in range(len(x))]), q

    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for (x,) in arrays():
        for k in (3, 5):
            assert not difference(run(program, (x, k)), run(compiled, (x, k)))
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


def doubled(t):
    return t * 0.5 + t * 0.5


ROUNDS = tuple(range(1, 21))  # a loop over it is unrolled


def products(x, n):
    for _ in ROUNDS:
        n += n * (n % 1009)
    return n


def extremes(x, n):
    for k in ROUNDS:
        n = min(n + k, n * 2) + max(n // 2, 3) - n
    return x * n


def squares(x, n):
    for k in ROUNDS:
        n = (n * n + k) % 1000003
    return x[: n % len(x)], n


def halves(x, n):
    for k in ROUNDS:
        n = n // 2 + (n + k) // 3
    return np.zeros(n + 2), n


def growing(x, n):
    for _ in ROUNDS:
        x = np.concatenate([x, x[: len(x) // 2]])[: len(x) + n]
    return x


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", [products, extremes, squares, halves, growing])
def test_each_step_takes_a_number_twice(program, dynamic):
    """As one expression of the argument they would have billions of factors."""
    compiled = fxc.compile(program, dynamic=dynamic)
    for n in (3, 5, 1, 0, 4):
        args = np.arange(6.0), n
        assert not difference(run(program, args), run(compiled, args))


def of_shared_parts(x, t):
    for _ in (1, 2, 3, 4, 5, 6, 7, 8):  # each value is used twice, in the guards as well
        t = doubled(doubled(doubled(doubled(t))))
    return x[: int(t)]


def test_each_part_is_computed_once():
    compiled = fxc.compile(of_shared_parts, fullgraph=True)
    for args in [(np.arange(9.0), 4.5), (np.arange(9.0), 7.5), (np.arange(9.0), 2.0)]:
        assert not difference(run(of_shared_parts, args), run(compiled, args))
    assert compiled.cache_info().variants == 1


def element_before(x, k):
    return x[k], x[-k], x[k - 1] if k > 0 and x[k] > 0.0 else 0.0, x.item(k)


def first_items(x, k):
    total = 0.0
    for i in range(k):
        total += x[i]
    return total, sum(v * k for v in x[:k]), np.array([x[i] for i in range(k)])


def known_things(x, k):
    things = {0: "A", 1: "B", 2: "C", 3: "D", 4: "E", 5: "F"}
    return [2, 3, 5, 7, 11, 13][k] * x, "ACGTAC"[k] == "G", things[k] == "C"


def walk(x, k):
    steps = 0
    while 0 <= k < len(x) and x[k] > 0.0:
        k, steps = k + 1, steps + 1
    return k, steps


def between(x, k):
    found = []
    for step in (-1, 1):
        line, i = [], k + step
        while 0 <= i < len(x) and x[i] > 0.0:
            line.append(i)
            i += step
        if line and 0 <= i < len(x):
            found.extend(line)
    return found


@pytest.mark.parametrize("fn", [element_before, first_items, known_things, walk, between])
def test_a_number_of_numpys_as_a_place(as_users: None, fn) -> None:
    """It is no constant where that is looked up, once it has changed."""
    compiled = fxc.compile(fn, fullgraph=True)
    x = np.array([1.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0])
    for kind in (np.int64, np.int32):
        for k in (2, 3, 4, 1, 5, 3, 2, 4, 6)[: 8 + (fn is between)]:
            args = (x, kind(k))
            assert difference(run(fn, args), run(compiled, args)) == ""
    assert compiled.cache_info().variants <= 6
    assert compiled.cache_info().eager_calls == 0


def test_what_is_written_is_not_what_it_was() -> None:
    """An array of rank 0, which the guard program would make anew."""

    def f(y, a):
        n = np.array(2)
        n *= 2
        a[int(n) % len(y)] = 1

    compiled = fxc.compile(f, fullgraph=True, dynamic=True)
    for size in (9, 3):
        y, expected, found = np.ones(size), np.zeros(12), np.zeros(12)
        f(y, expected)
        compiled(y, found)
        np.testing.assert_array_equal(found, expected)


def test_an_array_that_a_loop_writes_after_it_relied_on_it():
    """What it held before the loop is no constant in there: the capture begins again."""

    def program(x):
        ends, total = np.array([3, 4]), 0.0
        for _ in range(8):
            total += x[: ends[0]].sum()
            ends[0] = 2
        return total

    x = np.arange(9.0)
    captured = capture(program, (x,), {})
    assert [each.how for each in captured.requests] == [How.WRITTEN]
    assert fxc.compile(program, fullgraph=True)(x) == program(x)
