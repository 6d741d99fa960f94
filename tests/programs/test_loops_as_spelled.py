"""Loops in the spellings of different people: one native loop for all sizes, equal to NumPy."""

import math
import warnings

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

PROGRAMS = []


def program(make, sizes=(6, 2, 9, 40, 5), variants=2):
    def register(fn):
        PROGRAMS.append(pytest.param(fn, make, sizes, variants, id=fn.__name__))
        return fn

    return register


def random(*shape):
    return np.random.default_rng(1).random(shape)


@pytest.mark.parametrize(("fn", "make", "sizes", "variants"), PROGRAMS)
def test_one_loop_for_all_sizes(fn, make, sizes, variants, caplog):
    compiled = fxc.compile(fn, fullgraph=True)
    eager = 0
    with caplog.at_level("INFO", logger="fxc"):
        for n in sizes:
            expected = run(fn, make(n))
            assert difference(expected, run(compiled, make(n))) == "", n
            eager += expected.error is not None
    info = compiled.cache_info()
    assert "unrolled" not in caplog.text
    assert info.variants <= variants
    assert info.eager_calls <= eager


# ------------------------------------------------------------------ sizes of two


@program(lambda n: (random(n, n) + n * np.eye(n),))
def eliminate(m):
    for k in range(len(m)):
        for i in range(k + 1, len(m)):
            m[i, k:] -= m[i, k] / m[k, k] * m[k, k:]
    return m


@program(lambda n: (random(n, n) + n * np.eye(n),))
def ldl(a):
    n = len(a)
    low, d = np.eye(n), np.zeros(n)
    for j in range(n):
        v = low[j, :j] * d[:j]
        d[j] = a[j, j] - np.dot(low[j, :j], v)
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - np.dot(low[i, :j], v)) / d[j]
    return low, d


# ------------------------------------------------------------------ builtins


@program(lambda n: (np.linspace(-2, 1, n), np.linspace(-1, 1, 5), 30))
def mandelbrot(xs, ys, limit):
    out = np.zeros((len(ys), len(xs)), dtype=np.int32)
    for r, b in enumerate(ys):
        for q, a in enumerate(xs):
            z, c, n = 0j, complex(a, b), 0
            while abs(z) <= 2 and n < limit:
                z = z * z + c
                n += 1
            out[r, q] = n
    return out


@program(lambda n: (random(n), random(n) + 3, random(n), random(n)))
def thomas(a, b, c, d):
    bc, dc = map(np.array, (b, d))
    for i in range(1, len(d)):
        m = a[i - 1] / bc[i - 1]
        bc[i] = bc[i] - m * c[i - 1]
        dc[i] = dc[i] - m * dc[i - 1]
    bc[-1] = dc[-1] / bc[-1]
    for i in range(len(d) - 2, -1, -1):
        bc[i] = (dc[i] - c[i] * bc[i + 1]) / b[i]
    return bc


@program(lambda n: (random(n, n),))
def lu_by_rows(a):
    n = len(a)
    p, sign = np.identity(n), 1
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(a[i, k]))
        if best != k:
            row = a[k].copy()
            a[k] = a[best]
            a[best] = row
            row = p[k].copy()
            p[k] = p[best]
            p[best] = row
            sign = -sign
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return p, sign


@program(lambda n: (random(n),))
def horner(c):
    total = 0.0
    for v in reversed(c):
        total = total * 0.5 + v
    for k, v in enumerate(reversed(c)):
        total += k * v
    return total


@program(lambda n: (random(n),))
def extremes(x):
    m = x.mean()
    return (
        max((abs(v - m) for v in x), default=0.0),
        min((i for i in range(len(x)) if x[i] > m), default=-1),
        max(range(len(x)), key=lambda i: -x[i]),
        min(x, key=lambda v: abs(v - m)),
        max(v for v in x if v > 0.9),
        max(x, default=None),
    )


@program(lambda n: (random(n), random(n)))
def mapped(x, y):
    total = 0.0
    for s, d in map(lambda a, b: (a + b, a - b), x, y):
        total += s * d
    return total, sum(map(abs, x)), max(map(float, y))


@program(lambda n: (random(n), random(n + 3)))
def edit_distance(a, b):
    """Ranges where arrays are wanted."""
    d = np.zeros((a.size + 1, b.size + 1), dtype=np.int64)
    d[:, 0] = range(a.size + 1)
    d[0, :] = range(b.size + 1)
    for j, bj in enumerate(b):
        for i, ai in enumerate(a):
            if ai > bj:
                d[i + 1, j + 1] = d[i, j]
            else:
                d[i + 1, j + 1] = 1 + min(d[i, j + 1], d[i + 1, j], d[i, j])
        d[j % a.size, : len(b)] += range(len(b), 0, -1)
    return int(d[-1, -1]), np.array(range(1, len(a), 2)), np.mean(range(b.size))


@program(lambda n: (n,), variants=1)
def root_of_an_int(a):
    """An int that becomes a float: nothing is divided by what it is not."""
    x = a
    while True:
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-12 * y:
            return y
        x = y


@program(lambda n: (random(n), random(n + 1)))
def names_of_lambdas_and_generators(x, y):
    """The variables of inner scopes are not those of the loops."""
    total = 0.0
    for k in range(len(y)):
        total += sum(x[i] for i in range(len(x))) * y[k] + (lambda i=k: i * 2)(3)
        for i in range(k):
            total += x[i]
    return total


# ------------------------------------------------------------------ views that become arrays


@program(lambda n: (random(n + 3, n),))
def gram_schmidt(a):
    """A column before the inner loop, a vector behind it."""
    m, n = a.shape
    q, r = np.empty((m, n)), np.zeros((n, n))
    for j in range(n):
        v = a[:, j]
        for i in range(j):
            r[i, j] = q[:, i].dot(a[:, j])
            v = v - r[i, j] * q[:, i]
        r[j, j] = np.linalg.norm(v)
        q[:, j] = v / r[j, j]
    return q, r


@program(lambda n: (random(n, n + 3),))
def gram_schmidt_in_place(q):
    """The array that the view is of is written when nobody reads the view any more."""
    for j in range(len(q)):
        v = q[j]
        for i in range(j):
            v = v - q[i].dot(v) * q[i]
        q[j] = v / np.sqrt(v @ v)
    return q


@program(lambda n: (random(6, 5), np.array([n % 3])), variants=1)
def halved_columns(a, n):
    total = 0.0
    for j in range(5):
        v, k = a[:, j], 0
        while k < n[0]:
            v = v * 0.5
            k += 1
        total += v[0]
        a[:, j] = v + 1
    return total


def _read_after_the_write(a, n):
    v = a[1]
    for _ in range(n[0]):
        v = v * 0.5
    a[1] = 8
    return v.sum()


def _written_and_then_carried_on(a, n):
    v = a[:, 0]
    for _ in range(n[0]):
        a[:, 0] += v * 0.1
        v = v + 1
    return a


def _written_through(a, n):
    v = a[:, 0]
    for _ in range(n[0]):
        v[0] += 1
        v = v * 0.5
    return a


def _returned(a, n):
    v = a.T
    for _ in range(n[0]):
        v = v * 0.5
    return v


def _read_in_a_later_iteration(a, n):
    v, total = a[0], 0.0
    for j in range(len(a)):
        if a[j, 0] > 0.5:
            v = a[j] * 2
        total += v.sum()
        a[0] = j
    return total


@pytest.mark.parametrize(
    "fn",
    [
        _read_after_the_write,
        _written_and_then_carried_on,
        _written_through,
        _returned,
        _read_in_a_later_iteration,
    ],
)
def test_an_array_that_may_still_be_a_view_is_right_or_refused(fn):
    compiled = fxc.compile(fn)
    for n in (0, 1, 2, 5):
        args = random(6, 5), np.array([n])
        expected = run(fn, (args[0].copy(), args[1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            assert difference(expected, run(compiled, args)) == "", n


# ------------------------------------------------------------------ triangles and arrays that grow


@program(lambda n: (random(n, n),))
def mirrored_lower(a):
    for i in range(len(a)):
        a[i, :i] = a[:i, i]
        a[i, i] = a[i, :i].sum()
    return a


@program(lambda n: (random(n, n),))
def mirrored_upper(a):
    n = len(a)
    for i in range(n):
        a[i, i + 1 :] = a[i + 1 :, i]
    return a


@program(lambda n: (random(n, n),), variants=3)
def mirrored_columns(a):
    for i in range(len(a)):
        a[i:, i] = a[i, i:]
    return a


@program(lambda n: (np.r_[n, random(n)],))
def levinson(r):
    a, e = np.array([1.0]), r[0]
    for m in range(1, len(r)):
        k = -(a @ r[m:0:-1]) / e
        a = np.append(a, 0.0)
        a = a + k * a[::-1]
        e = e * (1.0 - k**2)
    return a, e


# ------------------------------------------------------------------ early returns of arrays


def _until_close(b, n):
    x = np.ones(3)
    for k in range(n):
        r = x - b
        if np.abs(r).max() < 1e-3:
            return x, k
        x = x - r * 0.5
    return x, n


def _until_close_alone(b, n):
    x = np.ones(3)
    for _ in range(n):
        r = x - b
        x = x - r * 0.5
        if np.abs(r).max() < 1e-3:
            return x
    return x


def _from_an_argument(b, n):
    x = b
    for k in range(n):
        x = x * 0.5
        if x.max() < 1e-3:
            return x, k
    return x, -1


def _both_returned(b, n):
    x = y = np.ones(3)
    for k in range(n):
        y = x
        x = x - (x - b) * 0.5
        if np.abs(x - y).max() < 1e-3:
            return x, y, k
    return y, x, -1


@pytest.mark.parametrize(
    "fn", [_until_close, _until_close_alone, _from_an_argument, _both_returned]
)
@pytest.mark.parametrize("known", [True, False])
def test_an_array_returned_early_or_at_the_end(fn, known):
    def program(b, n):
        return fn(b, n if known else n[0])

    compiled = fxc.compile(program, fullgraph=fn in (_until_close, _until_close_alone))
    for n in (10, 0, 1, 2, 300):
        args = np.arange(3.0) + 1, n if known else np.array([n])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            assert difference(run(program, args), run(compiled, args)) == ""


# ------------------------------------------------------------------ ndindex and ndenumerate


@program(lambda n: (random(n, 4), random(3)))
def over_places(x, k):
    out, total = np.zeros(x.shape), 0.0
    for i, j in np.ndindex(x.shape):
        out[i, j] = x[i, j] * i + j
    for (i,), w in np.ndenumerate(k):
        out[:, i] += w
    for i, j in np.ndindex(*x.shape):
        if x[i, j] > 0.5:
            continue
        total += x[i, j]
        if total > 4:
            break
    for place in np.ndindex(3, 2):
        total += k[place[0]] * place[1]
    return out, total, i, j, list(np.ndindex(2, 2)), list(np.ndindex())


# ------------------------------------------------------------------ lists by places from data


@program(lambda n: (random(n, n) < 0.3,))
def breadth_first(adjacent):
    n = len(adjacent)
    distance = np.full(n, -1)
    distance[0] = 0
    queue, head = [0], 0
    while head < len(queue):
        u = queue[head]
        head += 1
        for v in range(n):
            if adjacent[u, v] and distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


@program(lambda n: (np.random.default_rng(n).integers(-4, 4, n),))
def moved(k):
    dx, dy = [1, 0, -1, 0], [0, 1, 0.5, -1]
    x = y = 0
    for v in k:
        x += dx[v]
        y += dy[v]
    return x, y, len(dx)


def test_a_place_that_a_list_does_not_have():
    def chosen(k):
        weights, total = [0.1, 0.5, 0.2], 0.0
        for v in k:
            total += weights[v]
        return total

    compiled = fxc.compile(chosen, fullgraph=True)
    for k in ([0, 1, 2, 2, -3, 1], [0, 1, 2, 3, 2, 1], [0, 1, -4, 0, 0, 0]):
        assert difference(run(chosen, (np.array(k),)), run(compiled, (np.array(k),))) == ""
    assert compiled.cache_info().eager_calls == 2


# ------------------------------------------------------------------ slices with steps


@program(lambda n: (n,), sizes=(100, 9, 25, 10, 26, 49, 3000, 13))
def sieve_of_odd_numbers(n):
    """Where n is a square, the last slice begins at the end of the array."""
    odd = np.ones(n // 2, dtype=bool)
    for i in range(3, int(n**0.5) + 1, 2):
        if odd[i // 2]:
            odd[i * i // 2 :: i] = False
    return 2 * np.nonzero(odd)[0][1:] + 1


@program(lambda n: (random(n),), sizes=(9, 10, 30, 7, 6, 5))
def parts_that_become_empty(x):
    y = np.zeros((2, len(x)))
    for i in range(len(x) + 1):
        y[0, i::2] += x[i::2] + i
        y[1, :i][::-3] *= x[:i][::-3] - i
    return y


# ------------------------------------------------------------------ medians


@program(lambda n: (random(n) - 0.5,))
def running_median(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.median(x[max(0, i - 2) : min(len(x), i + 3)])
    return y, np.median(x), np.median(x[::-1].astype(np.float32), axis=0)


SPECIAL = [
    [1, np.nan, 3, 2],
    [-0.0, -0.0],
    [-0.0],
    [0.0, -0.0, 0.0],
    [np.inf, -np.inf],
    [np.inf, 1, 2, np.inf],
    [1.7e308, 1.7e308],
    [np.nan],
    [5e-324, 5e-324],
]


@pytest.mark.parametrize("dynamic", [True, None])
@pytest.mark.parametrize("values", SPECIAL, ids=str)
def test_the_median_of_special_values(values, dynamic):
    compiled = fxc.compile(lambda x: np.median(x), fullgraph=True, dynamic=dynamic)
    for dtype in (np.float64, np.float32):
        with np.errstate(all="ignore"):
            x = np.array(values, dtype)
            assert difference(run(np.median, (x,)), run(compiled, (x,))) == ""
    info = compiled.cache_info()
    assert not info.fallbacks
    assert info.eager_calls == 0


def test_the_median_of_nothing_is_numpys():
    def medians(x, p):
        y = np.zeros(3)
        for k in range(3):
            y[k] = np.median(x[k : p + k])
        return y

    compiled = fxc.compile(medians, fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for p in (2, 3, 1, 0, -5):
            args = np.arange(5.0), p
            assert difference(run(medians, args), run(compiled, args)) == ""


# ------------------------------------------------------------------ complex()


@pytest.mark.parametrize("values", [(0.5, -0.0), (np.inf, np.nan), (np.float32(0.1), 2)])
def test_complex_of_two_numbers(values):
    def parts(a, b):
        z = complex(a, b)
        return z, z * z, abs(z), complex(z), complex(a), complex(b, 1), type(z) is complex

    compiled = fxc.compile(parts, fullgraph=True)
    assert difference(run(parts, values), run(compiled, values)) == ""
    assert compiled.cache_info().eager_calls == 0


def test_complex_of_elements():
    def parts(z, x):
        return complex(z[0]), complex(z[1].real, z[0].imag), complex(x[0]), complex(1, x[1] > 0)

    args = (np.array([1 + 2j, 3 - 0j], np.complex64), np.array([2, 3]))
    compiled = fxc.compile(parts, fullgraph=True)
    assert difference(run(parts, args), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 0


def test_numbers_by_a_key():
    def chosen(x):
        a, b, c = x
        pairs = [(0, a), (1, b)]
        return (
            max(a, b, c, key=lambda v: -v),
            min([a, b, c], key=abs),
            max(pairs, key=lambda pair: pair[1])[0],
            max("abc", key=ord),
        )

    args = (np.array([0.5, -2.0, 0.25]),)
    compiled = fxc.compile(chosen, fullgraph=True)
    assert difference(run(chosen, args), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 0


def test_steps_that_are_arguments():
    """Upwards and downwards, outside of loops and in them."""

    def steps(x, n, s):
        c = 0
        for i in range(n, -n, -s):
            c += i
        for i in range(len(x) - 1, 0, -s):
            x[i] -= x[i - 1]
        for i in range(n, 0, -1):
            for j in range(len(x) - 1, i, -i):
                x[j] += 1.0
        return c, x

    compiled = fxc.compile(steps, fullgraph=True)
    for n, s in ((9, 2), (5, 1), (7, 3), (40, 5)):
        expected = run(steps, (random(30), n, s))
        assert difference(expected, run(compiled, (random(30), n, s))) == ""
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


def test_powers_with_a_modulus():
    def fermat(a, n, m):
        primes = 0
        for v in range(2, n):
            if pow(2, v - 1, v) == 1:
                primes += 1
        return primes, [pow(int(v), n, m) for v in a], pow(n, int(a[0]), m)

    compiled = fxc.compile(fermat, fullgraph=True)
    a = np.array([3, -4])
    for n, m in ((40, 7), (9, -1000)):
        assert difference(run(fermat, (a, n, m)), run(compiled, (a, n, m))) == ""
    assert compiled.cache_info().eager_calls == 0
    for args in ((a, 3, 0), (a - 9, 3, 7), (a, 3, 1.5)):  # which raise, but for the second
        assert difference(run(fermat, args), run(compiled, args)) == ""


def test_numbers_that_are_close():
    def close(x, y):
        pairs = 0
        for i in range(len(x)):
            for j in range(i):
                if math.isclose(x[i], x[j], abs_tol=1e-12):
                    pairs += 1
        found = [math.isclose(a, y) for a in x[:4]], math.isclose(x[0], y, rel_tol=0.1)
        return pairs, found, math.isclose(0.3, 0.1 + 0.2)

    compiled = fxc.compile(close, fullgraph=True)
    x = np.array([1.0, 1 + 1e-10, np.inf, np.nan, -np.inf, np.inf, -0.0, 1e-13, 2.0])
    for y in (1.0, 1.05, np.inf, np.nan, 0.0):
        assert difference(run(close, (x, y)), run(compiled, (x, y))) == ""
    assert compiled.cache_info().eager_calls == 0
