"""New arrays, and lists, whose size is a number that the program reads or computes from data.

All that a caller can see, against NumPy, for sizes with which NumPy raises, too: a compilation or
two for all of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import same
from tests.covering import in_turns
from tests.outcomes import difference, run

SIZES = ((3, 1, 2, 3, 5), (5, 4, 3, 0, 1), (2, 2, 2, 2, 2), (40, 30, 7, 1, 0), (10, 12, 1, 1, 1))
FEW = ((0, 1, 2, 0, 0), (1, 1, 0, 1, 1), (-1, 2, 2, 2, 3), (2**62, 2, 2, 2, 3))


def _makers(a):
    n = int(a[0])
    return np.zeros(n), np.ones((n, 3), "f4"), np.full(n + 1, 2.5), np.eye(n), np.arange(n)


def _counts(a):
    h = np.zeros(a.max() + 1, int)
    for v in a:
        h[v] += 1
    return h


def _from_the_least(a):
    h = np.zeros(a.max() - a.min() + 1, int)
    h[a - a.min()] += 1
    return h


def _sorted_by_counting(a):
    n = int(a.max()) + 1
    c = np.zeros(n, int)
    for v in a:
        c[v] += 1
    out, p = np.empty(int(c.sum()), a.dtype), 0
    for v in range(n):
        for _ in range(c[v]):
            out[p] = v
            p += 1
    return out


def _table(a):
    n, m = a[0], a[1]
    t = np.ones((n, m))
    for i in range(1, n):
        for j in range(1, m):
            t[i, j] = t[i - 1, j] + t[i, j - 1] * 0.5 + i * j
    return t, t.T, t.sum(axis=0)


def _between(a):
    return np.arange(a[0], a[1]), np.arange(a[2]) * 0.5, np.arange(a[3], a[0], 2)


def _written_before(a):
    a[1] = 5
    n = int(a[0])
    a[2] = n
    z = np.ones(n)
    a[2] += z.sum()
    return z, np.zeros(a[2])


def _by_numpy(a):
    t = np.zeros((a[0], a[0])) + np.arange(a[0])
    return np.linalg.inv(t + 50 * np.eye(a[0])), np.sort(t.ravel()), t @ t


def _exchanged(a):
    n = int(a[0])
    x, y = np.zeros(n), np.ones(n)
    for _ in range(5):
        x, y = y, x + 1
    return x, y


def _chosen_of_it(a):
    x = np.arange(a[0])
    return x[x % 2 == 0], np.flatnonzero(x > 3), len(x)


def _temporaries(a):
    s = 0.0
    for i in range(3):
        s += np.ones(a[0] + i).sum()
    for v in a:
        s += np.arange(max(v, 0)).sum()
    return s


def _in_one_arm(a):
    s = -1.0
    if a[0] > 2:
        b = np.ones(a[0])
        s = b.sum() + len(b)
    return s


def _list(a):
    ways = [0] * (int(a[0]) + 1)
    ways[0] = 1
    for coin in (1, 2, 5):
        for k in range(coin, len(ways)):
            ways[k] += ways[k - coin]
    return ways[-1], ways


def _roots(a):
    return np.zeros(int(a[0] ** 0.5 * 2)), np.linspace(0, 1, int(a[0]) + 1)


MAKERS = [
    *(_makers, _counts, _from_the_least, _sorted_by_counting, _table, _between, _written_before),
    *(_by_numpy, _exchanged, _chosen_of_it, _temporaries, _in_one_arm, _list, _roots),
]


@pytest.mark.parametrize(("program", "dynamic"), in_turns(MAKERS, (None, True)))
def test_sizes_from_data(program: Callable[..., Any], dynamic: bool | None) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for given in (*SIZES, *FEW):
        expected, found = (run(f, (np.array(given),)) for f in (program, compiled))
        assert difference(expected, found) == "", given
        if given in SIZES:
            assert compiled.cache_info().eager_calls == 0, given
    assert compiled.cache_info().variants == 1


@pytest.mark.parametrize("dtype", ["i4", "u1", "u8"])
def test_sizes_of_other_dtypes(dtype: str) -> None:
    def program(a):
        return np.zeros(a[0]), np.ones(int(a.max()) + 1), np.arange(int(a[1]))

    compiled = fxc.compile(program, fullgraph=True)
    for given in SIZES:
        args = (np.array(given, dtype),)
        assert difference(run(program, args), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 0


def test_sizes_in_one_arm_that_follow_from_arguments_by_a_ufunc() -> None:
    def program(up, down):
        k = np.gcd(up, down)
        up, down = up // k, down // k
        if up == down == 1:
            return np.zeros(3)
        return np.zeros(2 * max(up, down) + 1)

    compiled = fxc.compile(program, fullgraph=True)
    for args in ((3, 2), (4, 2), (5, 5), (9, 7), (12, 8)):
        assert difference(run(program, args), run(compiled, args)) == "", args
    assert compiled.cache_info().eager_calls == 0


def test_an_exported_program_of_a_measured_size() -> None:
    def program(a):
        return np.ones(a[0]) * a[1]

    exported = fxc.export(program, np.array([4, 3]))
    assert exported(np.array([2, 5])).tolist() == [5.0, 5.0]


def test_without_memory_nothing_is_written() -> None:
    """A temporary that is made behind a write: the call is replayed, and the write made twice."""

    def program(a, x):
        n = int(a[0])
        b = np.zeros(n)
        x *= 2
        if a[1] > 0:
            t = np.ones((n, n, n))
            t[0, 0, 0] = x[0]
            x[0] = t[0].sum() * 0 + b[0]
        return x.sum()

    compiled = fxc.compile(program, fullgraph=True)
    for given in ((4, 1), (2**28, 0), (2**28, 1)):
        runs = (run(f, (np.array(given), np.arange(3.0))) for f in (program, compiled))
        expected, found = runs
        assert difference(expected, found) == "", given


MULTIPLIED: list[Callable[..., Any]] = [
    lambda a: [1, 2] * a[0],
    lambda a: a[0] * [1.5, 2.0],
    lambda a: (1, 2) * a[0],
    lambda a: [7] * a[0],
]


@pytest.mark.parametrize("program", MULTIPLIED)
@pytest.mark.parametrize("dtype", ["i8", "i4", "f8"])
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_number_of_numpy_repeats_lists(program: Callable[..., Any], dtype: str) -> None:
    """They were taken for arrays, and multiplied."""
    args = (np.array([3, 1], dtype),)
    assert difference(run(program, args), run(fxc.compile(program), args)) == ""


def _behind_a_branch(a):
    b = np.zeros(1)
    if a[0] > 2:
        b = np.zeros(a[0])
    return b


def _behind_a_loop(a):
    for v in a:
        if v > 3:
            return np.zeros(v)
    return np.zeros(0)


@pytest.mark.parametrize("program", [_behind_a_branch, _behind_a_loop])
def test_sizes_measured_in_an_arm(program: Callable[..., Any]) -> None:
    """One of the arms is captured; a call that takes the other one is Python's."""
    compiled = fxc.compile(program, fullgraph=True)
    for first in (4, 6, 1, 4):
        same(program, compiled, (np.array([first, 1, 2, 3, 1, 2]),))


VECTORS = {
    "zeros": lambda x, s: np.zeros(s),
    "like": lambda x, s: np.ones_like(x, shape=s),
    "reshape": lambda x, s: x.reshape(np.append(x.shape, 1)),
    "turned": lambda x, s: np.reshape(x, np.array(x.shape)[::-1]),
    "broadcast": lambda x, s: np.broadcast_to(x, np.append(s[0], x.shape)),
    "no axes": lambda x, s: np.zeros(s[:0]),
    "roll": lambda x, s: (
        np.roll(x, s - 1, axis=(0, 1)),
        np.roll(x, np.array(x.shape) // 2, (1, 0)),
    ),
    "repeat": lambda x, s: np.repeat(x, s[:1], axis=0),
    "draw": lambda x, s: np.random.default_rng(3).normal(size=s),
    "floats": lambda x, s: np.zeros(s * 1.0),
    "rows": lambda x, s: np.zeros(s[None]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_arrays_for_sequences_of_ints(name: str) -> None:
    program = VECTORS[name]
    compiled = fxc.compile(program, fullgraph=True)
    for rows in (2, 3, 4):
        args = np.arange(rows * 3.0).reshape(rows, 3), np.array([rows, 3])
        assert difference(run(program, args), run(compiled, args)) == ""
    by_python = {"floats": 3, "rows": 3, "roll": 1}  # NumPy raises; a bound is not as assumed
    assert compiled.cache_info().eager_calls <= by_python.get(name, 0)


def parts_of_none(x, y):
    parts = np.count_nonzero(x > 0)
    y[: np.int64(len(y)) // parts] = 1
    y[np.int64(len(y)) % parts :] += 1
    return y


def rounds_of_none(x, y):
    starts, step = np.zeros(len(y), int), 0
    for k in range(len(x)):
        k += (len(y) + starts[k]) // step
        y[:k] = k
    return y


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("fn", [parts_of_none, rounds_of_none])
def test_what_numpy_divides_by_zero_is_zero(fn: Any) -> None:
    compiled = fxc.compile(fn)
    for low in (0.0, -5.0, -1.0, 2.0):
        same(fn, compiled, (np.arange(4.0) + low, np.zeros(6)))
    assert compiled.cache_info().native_calls


def _ranges(x):
    low, high, step = x
    return np.arange(low, high), np.arange(low, high, step) * 2, np.arange(0, float(high), 0.25)


def _of_few_bits(low, high):
    return (
        np.arange(low, high),
        np.arange(low, high, np.float32(0.3)),
        np.arange(np.float32(0.1), 9),
    )


def test_ranges_of_floats():
    compiled = fxc.compile(_ranges, fullgraph=True)
    given = [(0.3, 7.9, 0.5), (-2.25, 3.0, 0.1), (5.0, 1.0, 0.7), (9.0, 1.0, -0.3), (1.0, 1.0, 1.0)]
    for each in given:
        assert difference(*(run(f, [np.array(each)]) for f in (_ranges, compiled))) == ""
    assert (compiled.cache_info().variants, compiled.cache_info().eager_calls) == (1, 0)
    for each in [(0.3, np.nan, 0.5), (0.0, np.inf, -1.0), (0.0, 1.0, 0.0), (0.0, 5e-324, 2.0)]:
        assert difference(*(run(f, [np.array(each)]) for f in (_ranges, compiled))) == ""


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64, float])
def test_ranges_of_floats_of_few_bits(kind: Any) -> None:
    compiled = fxc.compile(_of_few_bits)
    for low, high in ((0.18, 7.0), (0.3, 5.1), (0.7, 4.0), (-0.9, 9.0)):
        args = [kind(low), kind(high)]
        assert difference(*(run(f, args) for f in (_of_few_bits, compiled))) == ""


def _pairs_of_a_list(n):
    xs = np.linspace(0, 1, n)
    nodes = np.array([(x, y) for y in xs for x in xs])
    stiff = np.zeros((len(nodes), len(nodes)))
    for i in range(len(nodes)):
        stiff[i, -1 - i] = nodes[i, 0]
    return stiff, stiff @ nodes


def test_a_matrix_of_the_pairs_of_a_list_has_no_room_for_the_longest_list() -> None:
    compiled = fxc.compile(_pairs_of_a_list, fullgraph=True)
    for n in (5, 6, 4):
        same(_pairs_of_a_list, compiled, (n,))
    assert compiled.cache_info().eager_calls == 0


def _pairs_of_chosen(x):
    chosen = np.nonzero(x > 0)[0]
    y = x[chosen]
    return y[:, None] - y, chosen


@pytest.mark.parametrize("every", [50_000, 700])
def test_a_matrix_of_pairs_has_no_room_for_all_that_a_mask_may_choose(every: int) -> None:
    compiled = fxc.compile(_pairs_of_chosen, fullgraph=True)
    x = -np.ones(200_000)
    x[::every] = np.arange(1.0, 1 + len(x[::every]))
    for start in (0, 1, 1):  # at last a place behind the last one is looked at, too
        same(_pairs_of_chosen, compiled, (np.roll(x, start),))
    assert compiled.cache_info().eager_calls == 0
