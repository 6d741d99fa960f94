"""Loops in which sizes change from iteration to iteration: temporaries and views whose size is a number
that the loop carries, and arrays that are carried with another shape each time.

All that a caller can see, against NumPy, for sizes with which NumPy raises, too.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fxc
from benchmarks import loop_programs
from fxc.ir.errors import CaptureError
from tests.outcomes import difference, run

SIZES = (8, *range(1, 16), 20, 32)


def agree(
    program: Callable[..., Any],
    make: Callable[[int], tuple[Any, ...]],
    sizes: Sequence[int] = SIZES,
    most: int = 3,
    native: Callable[[int], bool] = lambda n: True,
) -> Any:
    """Run for all sizes, in no more than ``most`` variants, by NumPy only where it raises or the
    size is not ``native``; sums of columns are NumPy's. Complex exponentials are NumPy's to the bit.
    """
    compiled = fxc.compile(program, fullgraph=True, dynamic=True, math="exact")
    eager = 0
    for n in sizes:
        expected, found = run(program, make(n)), run(compiled, make(n))
        assert difference(expected, found) == "", n
        eager += expected.error is not None or not native(n)
        info = compiled.cache_info()
        assert info.eager_calls <= eager, n
    assert info.variants <= most
    assert set(info.fallbacks) <= {"sum"}
    return compiled


def is_power(n: int) -> bool:
    return n & (n - 1) == 0


def numbers(n: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(n).normal(size=n),)


def complex_numbers(n: int) -> tuple[np.ndarray]:
    real, imag = np.random.default_rng(n).normal(size=(2, n))
    return (real + 1j * imag,)


# ------------------------------------------------------------------ transforms


def fft_by_stacking(x):
    x = np.asarray(x, dtype=complex)
    N = x.shape[0]
    N_min = min(N, 2)
    n = np.arange(N_min)
    M = np.exp(-2j * np.pi * n * n[:, None] / N_min)
    X = np.dot(M, x.reshape((N_min, -1)))
    while X.shape[0] < N:
        even = X[:, : X.shape[1] // 2]
        odd = X[:, X.shape[1] // 2 :]
        factor = np.exp(-1j * np.pi * np.arange(X.shape[0]) / X.shape[0])[:, None]
        X = np.vstack([even + factor * odd, even - factor * odd])
    return X.ravel()


def fft_by_concatenation(x):
    N = x.shape[0]
    X = x.reshape(1, -1).astype(complex)
    while X.shape[0] < N:
        half = X.shape[1] // 2
        even, odd = X[:, :half], X[:, half:]
        factor = np.exp(-1j * np.pi * np.arange(X.shape[0]) / X.shape[0])[:, None]
        X = np.concatenate([even + factor * odd, even - factor * odd], axis=0)
    return X.ravel()


def fft_by_parts_of_rows(x):
    """The size of the parts is computed from other numbers than that of the rows."""
    n, m = x.shape[0], 1
    y = x.reshape(1, n)
    while m < n:
        half = n // (2 * m)
        w = np.exp(-1j * np.pi * np.arange(m) / m).reshape(m, 1)
        a = y[:, :half]
        b = y[:, half:] * w
        y = np.concatenate((a + b, a - b), axis=0)
        m *= 2
    return y.reshape(n)


def fft_in_place(a):
    n = len(a)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    m = 2
    while m <= n:
        half = m // 2
        w = np.exp(-2j * np.pi * np.arange(half) / m)
        b = a.reshape(n // m, m)
        t = w * b[:, half:]
        e = b[:, :half].copy()
        b[:, :half] = e + t
        b[:, half:] = e - t
        m *= 2


def fft_in_one_array(x):
    """The array is another view of itself after each step."""
    n, s = x.size, 1
    x = x.astype(complex)
    while s < n:
        x = x.reshape(-1, 2 * s)
        t = np.exp(-1j * np.pi * np.arange(s) / s) * x[:, s:]
        u = x[:, :s].copy()
        x[:, :s] = u + t
        x[:, s:] = u - t
        x = x.reshape(n)
        s = 2 * s
    return x


def fft_of_halves(x):
    return loop_programs.fft_in_place(x.astype(complex))


def walsh_hadamard(x):
    x = x.copy()
    h = 1
    while h < x.size:
        y = x.reshape(-1, 2, h)
        a = y[:, 0, :].copy()
        b = y[:, 1, :].copy()
        y[:, 0, :] = a + b
        y[:, 1, :] = a - b
        h *= 2
    return x


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (fft_by_stacking, numbers),
        (fft_by_stacking, complex_numbers),
        (fft_by_concatenation, numbers),
        (fft_in_place, complex_numbers),
        (fft_in_one_array, numbers),
        (fft_of_halves, numbers),
        (walsh_hadamard, numbers),
    ],
)
def test_transforms(program: Any, make: Any) -> None:
    agree(program, make, native=is_power)
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)  # with exponentials of our own
    for n in (8, 16, 64):
        expected, found = run(program, make(n)), run(compiled, make(n))
        for left, right in zip(
            (expected.result, *expected.inputs), (found.result, *found.inputs), strict=True
        ):
            if left is not None:  # one program writes its argument alone
                most = 1e-14 * float(np.abs(left).max())
                np.testing.assert_allclose(right, left, rtol=0, atol=most)
    assert compiled.cache_info().eager_calls == 0


def test_parts_of_rows_that_meet() -> None:
    agree(fft_by_parts_of_rows, numbers, (8, 2, 4, 1, 64, 16))


def test_views_of_all_of_an_array_and_who_has_it() -> None:
    def new(x, n):
        y = x + 1
        for i in range(n):
            y = y.reshape(2, -1)
            y[0] += y[1] * i
            y = y.ravel()
        return y, x

    def beside(x, n):
        y = z = x + 1
        for _ in range(n):
            y = y.reshape(2, -1).reshape(-1)
            y *= 2
        return y, z

    def the_callers(x, n):
        for i in range(n):
            x = x.reshape(2, -1).reshape(-1)
            x += i
        return x

    def flipped(x, n):
        y = (x + 1).reshape(2, -1)
        for i in range(n):
            y = y.reshape(-1, 2).reshape(-1).reshape(2, -1)
            y[0] += y[1] * i
        return y

    for program in (new, beside, the_callers, flipped):
        for n in (0, 1, 2, 7):
            arguments = np.arange(6.0), n
            expected = run(program, (arguments[0].copy(), n))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", fxc.CaptureWarning)
                found = run(fxc.compile(program, dynamic=True), arguments)
            assert difference(expected, found) == "", (program.__name__, n)


def test_a_transform_is_one_loop() -> None:
    compiled = fxc.compile(fft_by_stacking, fullgraph=True, dynamic=True)
    text = str(compiled.inspect(*numbers(64)).captured)
    assert text.count("while_loop(") == 1
    assert text.count("concatenate(") == 1
    assert len(text.splitlines()) < 80


# ------------------------------------------------------------------ arrays that shrink and grow


def sum_of_pairs(x):
    while x.size > 1:
        x = x[0::2] + x[1::2]
    return x[0]


def halves(x):
    steps = 0
    while x.shape[0] > 1:
        x = 0.5 * (x[: x.size // 2] + x[x.size // 2 :])
        steps += 1
    return x, steps


def pascals_triangle(n):
    row = np.ones(1)
    for _ in range(n):
        row = np.concatenate([[0], row]) + np.concatenate([row, [0]])
    return row


def differences_of(x, k):
    for _ in range(k):
        x = x[1:] - x[:-1]
    return x


def a_column_each(x, k):
    table = x[:, None] * 1.0
    for i in range(k):
        table = np.concatenate([table, (table[:, -1] * i + x)[:, None]], axis=1)
    return table


def image_pyramid(image):
    total = 0.0
    while image.shape[0] > 1:
        image = 0.25 * (image[::2, ::2] + image[1::2, ::2] + image[::2, 1::2] + image[1::2, 1::2])
        total += image[0, 0]
    return image, total


def mean_and_shape(x):
    while x.size > 4:
        x = (x[0::2] + x[1::2]) / 2
    return x.mean(), x.shape, x


@pytest.mark.parametrize("program", [sum_of_pairs, halves, mean_and_shape])
def test_arrays_that_shrink(program: Any) -> None:
    agree(program, numbers, native=is_power)


def test_arrays_that_grow() -> None:
    agree(pascals_triangle, lambda n: (n,))
    agree(differences_of, lambda n: (*numbers(n + 30), n))
    agree(a_column_each, lambda n: (*numbers(5), n))


def test_two_sizes_that_change() -> None:
    agree(image_pyramid, lambda n: (np.arange(float(n * n)).reshape(n, n),), native=is_power)


def test_the_array_before_is_the_callers() -> None:
    def shrinks(x, n):
        y = x
        while y.size > n:
            y = y[0::2] * y[1::2]
        return y.sum()

    agree(shrinks, lambda n: (*numbers(n), 2), native=is_power)

    def returned(x):
        while x.size > 1:
            x = x[0::2] + x[1::2]
        return x

    for n in (1, 2, 8):
        compiled = fxc.compile(returned, fullgraph=True)
        assert difference(run(returned, numbers(n)), run(compiled, numbers(n))) == ""


def strided_and_shrinking(x, v):
    w = x.reshape(-1)[:: int(v[-1])]
    while w.sum() > 20:
        w = w[1:]
    return w


def test_a_strided_view_that_shrinks() -> None:
    """What both sides of a check of its sizes depend on is counted after the check."""
    compiled = fxc.compile(strided_and_shrinking, fullgraph=True)
    for step in (1, 2, 3, -2):
        inputs = [np.arange(12.0).reshape(3, 4), np.array([step])]
        assert difference(run(strided_and_shrinking, inputs), run(compiled, inputs)) == ""


def test_an_array_that_is_written_while_it_shrinks() -> None:
    def program(x):
        while x.size > 1:
            x[0] = 7.0
            x = x[0::2] + x[1::2]
        return x[0]

    agree(program, numbers, native=is_power, most=4)


# ------------------------------------------------------------------ what else a loop does with them


def one_of_two(x):
    k = 0
    while x.size > 2:
        if x[0] > 0:
            x = x[::2] + x[1::2]
        else:
            x = x[::2] - x[1::2]
        k += 1
    return x, k


def two_at_once(x):
    a, b = x + 1, x * x
    while a.size > 1 and b.size > 1:
        a, b = a[::2] + b[::2], b[1::2] * a[1::2]
    return a, b


def what_a_mask_leaves(x):
    while x.size > 3:
        x = x[x > x.mean()]
    return x


def written_in_each_iteration(x):
    y = x.reshape(2, -1)
    while y.shape[1] > 1:
        y = y[:, ::2] + y[:, 1::2]
        y[0, 0] = 3
    return y


def beside_what_it_was(x):
    y = x.copy()
    z = y
    while y.size > 1:
        y = y[::2] + y[1::2]
    z[0] = 100
    return y, z


def tree_in_place(x):
    h = x.size // 2
    while h > 0:
        x[:h] += x[h : 2 * h]
        h //= 2
    return x[0]


def prefix_sums(x):
    s = 1
    while s < x.size:
        t = x.copy()
        t[s:] += x[:-s]
        x = t
        s *= 2
    return x


def wavelets(x):
    out = x.copy()
    n = out.size
    while n > 1:
        h = n // 2
        a = (out[0:n:2] + out[1:n:2]) / 2
        d = (out[0:n:2] - out[1:n:2]) / 2
        out[:h] = a
        out[h:n] = d
        n = h
    return out


def sorted_runs(x):
    w, x = 1, x.copy()
    while w < x.size:
        for i in range(0, x.size, 2 * w):
            x[i : i + 2 * w] = np.sort(x[i : i + 2 * w])
        w *= 2
    return x


def appended(x):
    y = x[:0]
    for v in x:
        y = np.append(y, v * 2)
    return y


def of_what_numpy_runs(x):
    while x.size > 1:
        x = np.cumprod(x[::2] + 1j * x[1::2]).real
    return x


def of_bits(x):
    n = x.size
    assert n > 0
    assert n & (n - 1) == 0
    levels, total = n.bit_length() - 1, 0.0
    for k in range(1, levels + 1):
        total += x.reshape(-1, 1 << k)[:, -1].sum() + np.arange(2**k)[-1]
    return total, levels


def columns_that_numpy_adds(x):
    total, m = 0.0, 2
    while m <= x.size:
        table = x.reshape(-1, m)
        total += table[:, m // 2].sum() + table[:, -1].sum()
        m *= 2
    return total


def stockham(x):
    x = x.astype(complex)
    half, m = x.size // 2, 1
    while half >= 1:
        y = x.reshape(2, half, m)
        w = np.exp(-1j * np.pi * np.arange(half) / half)[:, None]
        x = np.stack([y[0] + y[1], (y[0] - y[1]) * w], axis=1).reshape(x.size)
        half //= 2
        m *= 2
    return x


@pytest.mark.parametrize(
    "program",
    [
        *(one_of_two, two_at_once, what_a_mask_leaves, written_in_each_iteration),
        *(beside_what_it_was, tree_in_place, prefix_sums, wavelets, sorted_runs, appended),
        *(of_bits, columns_that_numpy_adds, stockham),
    ],
)
def test_with_other_statements(program: Any) -> None:
    agree(program, numbers, (8, 16, 1, 2, 4, 6, 7, 12, 32), most=5, native=is_power)


def test_calls_of_numpy() -> None:
    for n in (8, 16, 1, 6):
        compiled = fxc.compile(of_what_numpy_runs, fullgraph=True)
        expected, found = run(of_what_numpy_runs, numbers(n)), run(compiled, numbers(n))
        assert difference(expected, found) == ""


def test_an_array_that_doubles_is_not_one_loop() -> None:
    def program(k):
        x = np.zeros(1, dtype=np.int64)
        for _ in range(k):
            x = np.concatenate([x, x + len(x)])
        return x

    for k in (5, 7):
        compiled = fxc.compile(program, fullgraph=True)
        assert difference(run(program, (k,)), run(compiled, (k,))) == ""


def fft(x):
    if x.size == 1:
        return x.astype(complex)
    even, odd = fft(x[::2]), fft(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(x.size // 2) / x.size) * odd
    return np.concatenate([even + turned, even - turned])


def test_a_recursion_is_unrolled_as_long_as_it_is_small() -> None:
    compiled = fxc.compile(fft, fullgraph=True, math="exact")
    assert difference(run(fft, numbers(4)), run(compiled, numbers(4))) == ""
    with pytest.raises(CaptureError, match="a function that calls itself"):
        compiled(*numbers(1024))


def test_the_sizes_of_a_recursion_that_halves_arrays_are_constants() -> None:
    compiled = fxc.compile(fft, fullgraph=True, math="exact")
    for size in (2, 4, 8):
        x = np.linspace(-1.0, 1.0, size)
        assert difference(run(compiled, (x,)), run(fft, (x,))) == ""
        assert "symbols" not in str(compiled.inspect(x).captured)


def depth(x, k):
    return x.sum() if k == 0 else depth(np.cumsum(x), k - 1) / len(x)


def test_those_of_another_recursion_are_not() -> None:
    compiled = fxc.compile(depth, fullgraph=True)
    for size in (3, 4, 5, 6):
        x = np.linspace(-1.0, 1.0, size)
        assert difference(run(compiled, (x, 2)), run(depth, (x, 2))) == ""
    assert compiled.cache_info().variants == 2


def breadth_first(neighbours):
    """The distance from the first node: the ones of a distance shrink and grow."""
    distance = np.full(len(neighbours), -1)
    distance[0] = 0
    frontier = np.array([0])
    while frontier.size:
        new = neighbours[frontier].any(axis=0) & (distance < 0)
        distance[new] = distance[frontier[0]] + 1
        frontier = np.flatnonzero(new)
    return distance


def those_in_reach(x, steps):
    kept = x[:1]
    for k in range(steps):
        kept = x[np.abs(x - kept.sum()) < k * 0.5]
    return kept


def test_arrays_as_long_as_a_mask_counts() -> None:
    """There is room for all that the mask may count: no call goes back to NumPy."""

    def neighbours(n: int) -> tuple[np.ndarray]:
        return (np.random.default_rng(n).random((n, n)) < 2 / n,)

    agree(breadth_first, neighbours, sizes=range(1, 40))
    agree(those_in_reach, lambda n: (*numbers(n), 6), sizes=range(1, 40))


def means_of_what_went_before(x, width):
    means = []
    for k in range(len(x)):
        if k >= width:
            mean = x[k - width : k].mean()
        elif k > 0:
            mean = x[:k].mean()
        else:
            mean = x[0]
        means.append(mean)
    return means


def chosen_by_a_mask_at_times(x, y, n):
    for i in range(n):
        if y[i] > 10.0:
            x = x[x > y[i]]
    return x


def written_if_no_mask_has_chosen(x, y, n):
    z = x
    for i in range(n):
        if y[i] > 10.0:
            z = z[z > y[i]]
    z[0] = 5.0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [chosen_by_a_mask_at_times, written_if_no_mask_has_chosen])
def test_an_array_that_no_iteration_changes_is_the_callers(program: Any) -> None:
    """It was a copy: the caller's array did not see what is written."""
    compiled = fxc.compile(program)
    for y in (np.arange(3.0), np.arange(10.0, 13.0)):
        inputs = [(np.arange(20.0), y, 3) for _ in range(2)]
        assert not difference(run(program, inputs[0]), run(compiled, inputs[1]))


def written_where_it_was_taken(x, n):
    y = x * 2
    for _ in range(n):
        y[:] = 7.0
        y = x[: x.size // 2]


def written_where_a_copy_follows(x, n):
    h, y = 2, x * 2
    while h < n:
        h += 1
        y[:] = 7.0
        y = x[: x.size // 2]
        x = x.copy()


def read_where_it_was_written(x, n):
    h, y, total = 2, x * 2, 0.0
    while h < n:
        x[h] += 1
        total += y.sum()
        h += 1
        y = x[: x.size // 2]
    return total


TAKEN = [written_where_it_was_taken, written_where_a_copy_follows, read_where_it_was_written]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", TAKEN)
def test_a_write_to_part_of_an_argument_is_the_callers(program: Any) -> None:
    compiled = fxc.compile(program)
    for n in (3, 4, 6):
        assert (
            difference(run(program, (np.arange(8.0), n)), run(compiled, (np.arange(8.0), n))) == ""
        )


def test_means_of_windows_that_are_empty_at_first() -> None:
    """Where the first iteration takes the mean of nothing, so does not every call."""
    agree(means_of_what_went_before, lambda n: (*numbers(n), 4), sizes=range(1, 20), most=2)


# ------------------------------------------------------------------ numbers as sizes


def test_temporaries_of_a_carried_size() -> None:
    def program(x, n):
        total, k = 0.0, 1
        while k < n:
            t = np.arange(k) * 2.0
            total += (t * x[:k]).sum() + np.ones((k, 3)).sum()
            k += 3
        return total, k

    agree(program, lambda n: (*numbers(25), n))


def test_a_size_that_is_negative_raises() -> None:
    def program(x):
        k, total = 2, 0.0
        for _ in range(6):
            total += np.zeros(k).sum() + x[0]
            k -= 1
        return total

    agree(program, numbers, sizes=(3, 4))


def test_sizes_that_numpy_would_not_find_memory_for() -> None:
    def program(x, n):
        k = n
        for _ in range(5):
            t = np.zeros((k, k, k))
            x[0] += t[0, 0, 0]
            k = k * n
        return x

    agree(program, lambda n: (*numbers(3), n), sizes=(2, 3))
    expected = run(program, (*numbers(3), 2**30))
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    assert difference(expected, run(compiled, (*numbers(3), 2**30))) == ""


def test_memory_is_given_back() -> None:
    import resource

    def program(x, n):
        k, total = 1, 0.0
        while k <= n:
            total += (np.arange(k) + x[0])[::-1].sum()
            k *= 2
        return total

    compiled = fxc.compile(program, fullgraph=True)
    compiled(np.ones(3), 2**16)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(300):
        compiled(np.ones(3), 2**16)
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    )  # KB; all is 300 MB


@pytest.mark.parametrize("size", [0, 4, 8])
def test_a_mask_of_no_elements_fits_any_array(size: int) -> None:
    """Its size is computed from a number that varies, and NumPy does not compare it."""

    def program(x: Any, n: int) -> Any:
        mask = np.full(n % 4, 0.5) > 1
        chosen = x[mask]
        x[mask] = 1.0
        return chosen, x

    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        args = [np.arange(5.0)], [np.arange(5.0)]
        wanted, found = (run(f, (*x, size)) for f, x in zip((program, compiled), args, strict=True))
        assert not difference(wanted, found)


def test_a_matrix_from_which_lists_of_counted_length_choose() -> None:
    """There could be more elements than memory has; at last a list of one chooses."""

    def joined(distances: Any) -> Any:
        m, total = len(distances), 0.0
        while m > 2:
            i, j = np.unravel_index(np.argmin(distances), distances.shape)
            near = distances[i] + distances[j]
            kept = [k for k in range(m) if k not in (i, j)]
            grown = np.full((m - 1, m - 1), np.inf)
            grown[:-1, :-1] = distances[np.ix_(kept, kept)]
            grown[-1, :-1] = grown[:-1, -1] = near[kept]
            distances, m, total = grown, m - 1, total + grown[0, -1]
        return distances, total

    def left(distances: Any) -> Any:
        m = len(distances)
        while m > 2:
            kept = [k for k in range(m) if k != m // 2]
            distances = distances[np.ix_(kept, kept)]
            m = len(distances)
        return distances

    def made(n: int) -> tuple[Any]:
        found = np.random.default_rng(n).random((n, n))
        np.fill_diagonal(found, np.inf)
        return (found,)

    for program in (joined, left):
        agree(program, made, (5, 4, 9))
        compiled = fxc.compile(program, fullgraph=True)
        assert difference(run(program, made(7)), run(compiled, made(7))) == ""
        assert compiled.cache_info().eager_calls == 0
