"""Numbers that are Python's or NumPy's, by conditions on elements: Note [Mixed scalars]."""

from __future__ import annotations

import collections
import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import pairs
from tests.outcomes import difference, run

INTS, FLOATS = np.array([3, -7, 12, 5, 0, 9]), np.array([0.5, -1.25, 3.0, 0.25, -0.0, 2.5])
NONE = np.zeros(6)


def start_of_int(x: Any, k: Any) -> Any:
    best = 0
    for v in x:
        if v > k:
            best = v
    return best


def largest(x: Any, k: Any) -> Any:
    best = k
    for v in x:
        best = max(best, v)
    return best


def largest_of_three(x: Any, k: Any) -> Any:
    best = 0
    for i in range(len(x)):
        best = max(best, k, x[i])
    return best


def smallest_of_float(x: Any, k: Any) -> Any:
    best = 1e9
    for v in x:
        best = min(best, v * k)
    return best


def clipped_at_zero(x: Any, k: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = max(0, x[i])
    return out


def between_mixed_bounds(x: Any, k: Any) -> Any:
    out = []
    for i in range(len(x)):
        low, high = max(0, x[i] - k), min(k, x[i])
        out.append(np.clip(x[-i] * 3, low, high))
        x = np.clip(x, None, max(1, high))
    return out, x


def conditional_sum(x: Any, k: Any) -> Any:
    s = 0
    for v in x:
        if v > k:
            s += v
    return s


def conditional_mean(x: Any, k: Any) -> Any:
    s, count = 0, 0
    for v in x:
        if v > k:
            s += v
            count += 1
    return s / count


def mean_of_all(x: Any, k: Any) -> Any:
    s = 0
    for v in x:
        if v > k:
            s += v
    s = s / len(x)
    return s + 1.5


def shifted(x: Any, k: Any) -> Any:
    s = 0
    for v in x:
        if v > k:
            s += v
    return s + 1, s - 2, 3 - s, -s, abs(s), s * 1


def int_arithmetic(x: Any, k: Any) -> Any:
    s = 4
    for v in x:
        if v > k:
            s = v
    return s + 1, s - 2, 3 - s, -s, abs(s), s * 3, s // 2, s % 3, s / 4, s * 0.5, s == 4, s > 100


def divided(x: Any, k: Any) -> Any:
    s = 0
    for v in x:
        if v > k:
            s = v
    return 7 // s


def powers(x: Any, k: Any) -> Any:
    s = 3.0
    for v in x:
        if v > k:
            s = v
    return s**2, s**3, s % 2.0, s // 2.0, divmod(s, 0.75), isinstance(s, float)


def as_index(x: Any, k: Any) -> Any:
    place = 0
    for i in range(len(x)):
        if x[i] > k:
            place = np.argmax(x)
    return x[place], x[place - 1]


def as_bound(x: Any, k: Any) -> Any:
    end = 0
    for v in x:
        if v > k:
            end = np.argmax(x)
    s = 0.0
    for i in range(end):
        s += x[i]
    return s


def backtrack(x: Any, k: Any) -> Any:
    before = np.arange(-1, len(x) - 1)
    place, steps = len(x) - 1, 0
    while place >= 0:
        place = before[place]
        steps += 1
    return steps, place


def stored_in_bytes(x: Any, k: Any) -> Any:
    out = np.zeros(3, np.uint8)
    s = 250
    for v in x:
        if v > k:
            s = v
    out[0] = s
    return out


def grows(x: Any, k: Any) -> Any:
    s = 1
    for v in x:
        if v > k:
            s = v
        s = s * 1000003
    return s


def hashed(x: Any, k: Any) -> Any:
    h = 0
    for v in x:
        h = h * 31 + v
        h ^= (h << k) - 7
    return h


def converted(x: Any, k: Any) -> Any:
    s = 2
    for v in x:
        if v > k:
            s = v
    return int(s), float(s), bool(s), np.sqrt(s), np.full(3, s)


def of_bytes(x: Any, k: Any) -> Any:
    pixels = np.array([3, 200, 7, 250, 0, 9], np.uint8)
    best = 0
    for i in range(len(x)):
        if x[i] > k and pixels[i] > best:
            best = pixels[i]
    return best, best + 1 if best < 100 else best


def of_singles(x: Any, k: Any) -> Any:
    single = x.astype(np.float32)
    best = 0.0
    for v in single:
        if v > k:
            best = max(v, best)
    single[0] = best
    return best, single


def counted_matches(x: Any, k: Any) -> Any:
    matches = 0
    for i in range(1, len(x)):
        if x[i] > k:
            matches += x[i] > x[i - 1]
    return matches


def functions_of_math(x: Any, k: Any) -> Any:
    roots = [math.sqrt(max(0, v)) for v in x]
    return roots, [math.floor(min(k, v)) for v in x], math.isnan(max(0, float(k) * len(x)))


FUNCTIONS: dict[Callable[..., Any], tuple[np.ndarray, ...]] = {
    start_of_int: (INTS, FLOATS, NONE),
    largest: (INTS,),
    largest_of_three: (INTS,),
    smallest_of_float: (FLOATS, NONE),
    clipped_at_zero: (INTS, FLOATS, NONE),
    between_mixed_bounds: (INTS, FLOATS, NONE),
    conditional_sum: (INTS, FLOATS, NONE),
    conditional_mean: (INTS, FLOATS, NONE),
    mean_of_all: (FLOATS, NONE),
    shifted: (INTS,),
    int_arithmetic: (INTS, INTS * 10**18),
    divided: (INTS,),
    powers: (FLOATS, NONE),
    as_index: (INTS, FLOATS),
    as_bound: (INTS, FLOATS),
    backtrack: (INTS,),
    stored_in_bytes: (INTS, INTS * 100),
    grows: (INTS,),
    hashed: (INTS, np.arange(-9, 99), INTS[:0]),
    converted: (INTS,),
    of_bytes: (INTS, NONE),
    of_singles: (FLOATS, NONE),
    counted_matches: (INTS, FLOATS),
    functions_of_math: (INTS, FLOATS, NONE),
}


@pytest.mark.parametrize("fn", FUNCTIONS, ids=[each.__name__ for each in FUNCTIONS])
def test_as_numpy(fn: Callable[..., Any]) -> None:
    for x in FUNCTIONS[fn]:
        program = fxc.compile(fn, fullgraph=True)
        for args in ((x, 2), (x[::-1].copy(), 2), (x, 100)):
            expected, found = run(fn, copy.deepcopy(args)), run(program, copy.deepcopy(args))
            assert difference(expected, found) == ""
        overflows = np.abs(x).max(initial=0) > 1000 or fn in (grows, divided, conditional_mean)
        assert overflows or fn is stored_in_bytes or program.cache_info().eager_calls == 0


def doubled(x: Any, h: int) -> Any:
    for i in range(len(x)):
        h = h * 2 + (x[i] & 1)
    return h


def test_ints_of_python_leave_native_code_where_those_of_numpy_wrap() -> None:
    program = fxc.compile(doubled)
    for h, eager in ((3, 0), (2**62 - 1, 0), (2**62, 1), (-(2**62), 0), (-(2**62) - 1, 1)):
        before = program.cache_info().eager_calls
        for x in (INTS, INTS[:0], np.arange(99)):
            assert difference(run(doubled, (x, h)), run(program, (x, h))) == "", (x, h)
        assert (program.cache_info().eager_calls > before) is bool(eager)


def beside_bytes(x: Any) -> Any:
    s = 0
    for i in range(len(x)):
        if x[i] > 0:
            s = x[i]
    return np.ones(2, np.uint8) + s


def typed(x: Any) -> Any:
    s = 0
    for v in x:
        if v > 0:
            s = v
    return isinstance(s, int)


def int_that_need_not_fit(x: Any, y: Any, k: Any) -> Any:
    n = x[1]
    if x[0] > 3:
        n = k
    return n


def int_of_the_program(x: Any, y: Any, k: Any) -> Any:
    return (x[0] if x[1] > 3 else -12), max(x[1], -12), min(x[0], 300)


def int_beside_a_single(x: Any, y: Any, k: Any) -> Any:
    n = k
    if x[0] > 3:
        n = x[1]
    y[1] = n
    return y + n, y * n, n + 1, n > 2.0**30


# Calls that native code leaves, among the fifteen.
KEPT = [
    (int_that_need_not_fit, "u1", 8), (int_that_need_not_fit, "i1", 6), (int_that_need_not_fit, "i4", 2),
    (int_of_the_program, "u1", 0), (int_of_the_program, "i1", 0), (int_of_the_program, "i8", 0),
    (int_beside_a_single, "f4", 2), (int_beside_a_single, "f8", 0),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "dtype", "eager"), KEPT)
def test_ints_that_are_no_numbers_of_the_type(
    fn: Callable[..., Any], dtype: str, eager: int
) -> None:
    """They were wrapped around, or rounded; known ones raised in fxc."""
    program = fxc.compile(fn, fullgraph=True)
    for first in (7, 1, 5):
        x = np.array([first, 5], dtype)
        for k in (5, 300, -7, 2**30 + 1, 2**40 + 3):
            expected, found = (run(each, [x, np.arange(3.0), k]) for each in (fn, program))
            assert difference(expected, found) == ""
    assert program.cache_info().eager_calls == eager


def test_native_code_leaves_where_a_number_that_decides_a_dtype_is_pythons() -> None:
    program = fxc.compile(beside_bytes, fullgraph=True)
    for x in (INTS, -np.abs(INTS), INTS):
        assert difference(run(beside_bytes, [x]), run(program, [x])) == ""
    assert program.cache_info().eager_calls == 1


def test_refused() -> None:
    with pytest.raises(fxc.CaptureError, match="Python's in one case and NumPy's in another"):
        fxc.compile(typed, fullgraph=True)(INTS)


# ---------------------------------------------- beside another of another kind; complex numbers


def added_or_not(x, c, n):
    total = 0.0
    for k in range(n):
        total += x[k] if x[k] > 0.5 else 0
    return total


def taken_away(x, c, n):
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            total += x[i] * x[j] if x[i] < x[j] else -1
            if total > 3:
                return total, i, j
    return total, -1, -1


def weighted(x, c, n):
    total = 0.0
    for k in range(n):
        weight = 0 if x[k] > 0.5 else x[k]
        total = total * 0.5 + weight * 2 - 1
    return total


def escaping(x, c, n):
    z = 0j
    for k in range(n):
        z = z * z + c[k]
        if abs(z) > 2:
            break
    return z, abs(z), z.real, z.imag


def escaping_by_square(x, c, n):
    z = 0j
    for k in range(n):
        z = z**2 + c[k]
        if z.real * z.real + z.imag * z.imag > 4:
            break
    else:
        k = -1
    return z, k if n else None


def complex_or_not(x, c, n):
    z = -0.0 - 0j
    for k in range(n):
        z = z + c[k] if x[k] > 0.5 else z * x[0] - 1
    return z, z + x[1], x[1] + z, z * 2, 1.5 - z, z - 1j, c * z, np.abs(z), z**2


def too_large(x, c, n):
    z = 1e150 + 1e150j
    for k in range(n):
        z = z**2 + c[k] if x[k] > 9 else z**2
    return abs(z)


@pytest.mark.parametrize(
    ("fn", "eager"),
    [
        *((fn, 0) for fn in (added_or_not, taken_away, weighted, escaping, escaping_by_square)),
        *((complex_or_not, 0), (too_large, 3)),
    ],
)
def test_of_other_kinds(fn: Callable[..., Any], eager: int) -> None:
    rng = np.random.default_rng(3)
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (9, 0, 1, 2, 3):
        x, c = rng.random(9), rng.random(9) + 1j * rng.random(9)
        assert difference(run(fn, [x, c, n]), run(compiled, [x, c, n])) == "", n
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls, dict(info.fallbacks)) == (2, eager, {})


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e200, 5e-324, 2.5]


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_squares_of_complex_scalars(dtype: type) -> None:
    def squares(z):
        out = np.empty_like(z)
        for i in range(len(z)):
            out[i] = z[i] ** 2
        return out, z[3] ** 2.0

    z = np.array([complex(a, b) for a in SPECIAL for b in SPECIAL])
    with np.errstate(over="ignore"):
        z = z.astype(dtype)
    compiled = fxc.compile(squares, fullgraph=True)
    assert difference(run(squares, [z]), run(compiled, [z])) == ""
    assert compiled.cache_info().fallbacks == {}


# ------------------------------------------------------------ arrays and ufuncs of such numbers


def array_of_items(x, k):
    return np.array([v if v > k else 0 for v in x]), np.array([v if v > k else 0.0 for v in x])


def array_of_few(x, k):
    s, t = x[0] if x[0] > k else 0, x[1] if x[1] > k else 0.5
    arrays = np.array([s, x[1]]), np.array([s, 1]), np.array([t, s]), np.array([[t], [x[0]]])
    return *arrays, np.array([s, 2.5]), np.array([t, t], dtype="f4")


def array_of_one(x, k):
    s = x[0] if x[0] > k else 0
    return np.asarray(s), np.full(3, s), np.ones_like(s), np.sum(s), np.array(s).item()


def array_of_list(x, k):
    found, s = [], 0.0
    for v in x:
        s = v if v > k else s
        found.append(s)
    return np.array(found), sum(found)


def ufuncs_of_one(x, k):
    s, t = x[0] if x[0] > k else 0, x[0] if x[0] > k else 0.0
    return np.add(s, 1), np.square(s), np.negative(t), np.maximum(t, 0), np.add(t, t), np.sqrt(s)


def reductions_of_items(x, k):
    return np.sum([v if v > k else 0 for v in x]), np.mean([v if v > k else 0 for v in x])


def of_known_dtype(x, k):
    s, y = x[0] if x[0] > k else 0.0, np.zeros(3, "f4")
    np.copyto(y, np.full_like(y, s))
    return y, np.float64(s), np.array([s, s], float), x * 0 + [s] * len(x)


def chosen(x, k):
    s, t = x[0] if x[0] > k else 0, x[0] if x[0] > k else 0.0
    u = x[0] if x[0] > k else k if x[1] > k else 1.5
    return (
        np.where(t > 1, 1, 2),
        np.where(x > k, t, x),
        np.where(s > 1, s, 2.5),
        np.where(u > 1, 1, 2),
    )


ARRAYS = (array_of_items, array_of_few, array_of_one, array_of_list, ufuncs_of_one)


OF_DTYPES = pairs(
    [*ARRAYS, reductions_of_items, of_known_dtype, chosen], ["f8", "f4", "i4", "u8"], (2, 3, 9)
)


@pytest.mark.parametrize("fn, dtype, size", OF_DTYPES)
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_dtypes_of_arrays_and_ufuncs(fn: Callable[..., Any], dtype: str, size: int) -> None:
    """NumPy's dtype depends on which of the two there are; it was that of NumPy's number."""
    program, x = fxc.compile(fn), np.arange(1, size + 1).astype(dtype)
    for k in (0, size, size - 1, 1):
        assert difference(run(fn, [x, k]), run(program, [x, k])) == "", k


def test_an_array_with_one_of_numpys_numbers_is_native() -> None:
    program = fxc.compile(lambda x, k: np.array([v if v > k else 0 for v in x]), fullgraph=True)
    for k, eager in ((8, 0), (3, 0), (9, 1)):
        assert len(program(np.arange(10.0), k)) == 10
        assert program.cache_info().eager_calls == eager


def averages_of_windows(x: Any, k: Any) -> Any:
    found, windows = np.zeros(len(x)), collections.defaultdict(list)
    for i in range(len(x)):
        window = windows[k[i]]
        window.append(x[i])
        if len(window) > 3:
            window.pop(0)
        found[i] = sum(window) / len(window)
    return found


def by_nothing(x: Any, k: Any) -> Any:
    total = 0
    for v in x:
        if v > k[0]:
            total = total + v
    return total / 0, total % 0.0


@pytest.mark.parametrize("fn", [averages_of_windows, by_nothing])
def test_a_division_that_only_python_raises_for(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (20, 30, 31):
        args = np.arange(1.0, n + 1), np.arange(n) % 4
        assert difference(run(fn, args), run(compiled, args)) == ""
    if fn is averages_of_windows:
        assert compiled.cache_info().eager_calls == 0
    none = np.zeros(20), np.ones(20)
    assert difference(run(by_nothing, none), run(fxc.compile(by_nothing), none)) == ""


# ------------------------------------------------------------------ beside numbers of float32


def cholesky_in_float64(a: Any) -> Any:
    low = np.zeros(a.shape)
    for i in range(len(a)):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += low[i, k] * low[j, k]
            low[i, j] = math.sqrt(a[i, i] - s) if i == j else (a[i, j] - s) / low[j, j]
    return low


def sums_but_one(a: Any) -> Any:
    x, y = np.ones(len(a)), np.ones(len(a), dtype=a.dtype)
    for i in range(len(a)):
        s = 0
        for j in range(len(a)):
            if j != i:
                s += a[i, j] * x[j]
        x[i] = (a[i, 0] - s) / a[i, i]
        y[i] = 2 * s - a[i, 0]
    return x, y


def largest_before(a: Any) -> Any:
    found, t, best = [], np.float32(0), 0.1
    for i in range(len(a)):
        if a[i, i] > 6.3:
            best = float(i) * a[0].astype(np.float64)[i]
        t = best - a[i, 0]
        found.append(math.exp(-abs(t)) + math.atan2(t, 2))
    return np.array(found), t, t > 0.05, best


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("fn", [cholesky_in_float64, sums_but_one, largest_before])
def test_whether_float32_is_kept(fn: Callable[..., Any], n: int) -> None:
    """Of Python's float and a float32 NumPy makes float32, of np.float64 and a float32 float64."""
    a = np.random.default_rng(n).random((n, n)).astype(np.float32)
    a = a @ a.T + n * np.eye(n, dtype=np.float32)
    compiled = fxc.compile(fn, fullgraph=True)
    assert difference(run(fn, (a.copy(),)), run(compiled, (a.copy(),))) == ""
    assert compiled.cache_info().eager_calls == 0
