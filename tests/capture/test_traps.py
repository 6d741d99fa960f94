"""What NumPy really does, trap by trap: 33 facts that a compiler of NumPy code gets wrong if it
assumes less.

``in_three_ways`` runs a program compiled as it is; called by a program that also keeps a list and a
counter of its caller's; and called by one that fxc cannot capture, so that the call falls back. Each
is called twice and compared with NumPy in all that its caller sees, the list and the counter among
them: no effect is dropped, doubled or frozen.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import Make, check, same
from tests.numpys_bugs import READS_INDEX_WHILE_IT_WRITES


def in_three_ways(program: Callable[..., Any], *makes: Make, captured: bool = True) -> None:
    """Compiled, ``program`` does what NumPy does with each of the arguments, however it is called."""
    if captured:
        check(program, *makes)
    around = [(counting(program), True), (falling_back(program), True)]
    for fn, counts in around if captured else [(program, False), *around]:
        compiled = fxc.compile(fn)
        for make in makes:
            given = (lambda make=make: ([], {"calls": 0}, *make())) if counts else make
            for _ in range(2):
                same(fn, compiled, given)
    assert compiled.cache_info().native_calls == 0


def counting(program: Callable[..., Any]) -> Callable[..., Any]:
    def counted(log, counter, *arguments):
        log.append(len(arguments))
        result = program(*arguments)
        counter["calls"] += 1
        return result

    return counted


def falling_back(program: Callable[..., Any]) -> Callable[..., Any]:
    def fallen_back(log, counter, *arguments):
        log.append(gc.isenabled())  # fxc does not know what this does
        result = program(*arguments)
        counter["calls"] += 1
        return result

    return fallen_back


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
    values = (np.arange(np.prod(shape, dtype=int)) * 7 % 23 - 8.0).reshape(shape)
    return (values / 4 + 0.125 if np.dtype(dtype).kind in "fc" else values).astype(dtype)


# ---------------------------------------------------------------- 1 to 4: who shares memory


def test_01_who_overlaps_whom_varies_by_call():
    def program(a, b):
        a[1:] += b[:-1]
        b *= 2
        return a.sum(), b

    def related(relation: Callable[[np.ndarray], tuple[Any, ...]]) -> Make:
        return lambda: relation(numbers(9))

    relations = [
        related(relation)
        for relation in (
            lambda x: (x, x.copy()),
            lambda x: (x, x),
            lambda x: (x, x[:]),
            lambda x: (x, x[::-1]),
            lambda x: (x[1:], x[:-1]),
            lambda x: (x[:4], x[5:]),
            lambda x: (x[:8:2], x[1::2]),
            lambda x: (x, x.copy()),
        )
    ]
    in_three_ways(program, *relations, *reversed(relations))


def test_02_overlapping_reads_and_writes():
    def program(a):
        a[1:] = a[:-1]
        a += a.T
        a[:] = a[::-1]
        np.add(a[:-1], a[1:], out=a[1:])
        np.multiply(a.T, 2, out=a)
        a[:, 1:] -= a[:, :-1] * 2

    in_three_ways(program, lambda: (numbers(5, 5),), lambda: (numbers(40, 40)[::2, ::2],))


def test_03_results_that_alias_inputs():
    def program(x):
        return x, x[1:], x.T, x[...], x[:0], x[0, 0, ...]

    in_three_ways(program, lambda: (numbers(3, 4),), lambda: (numbers(4, 3).T,))


def test_04_view_or_copy_by_the_strides_of_the_moment():
    def program(x):
        t = (x * 2).T
        results = (x.reshape(-1), x.ravel(), x.T.reshape(-1), t.reshape(-1), t.T.ravel())
        results += (x.astype(x.dtype, copy=False), np.asarray(x), np.ascontiguousarray(x))
        for k, result in enumerate(results):
            result += k
        return (t, *results)

    layouts = (lambda x: x, lambda x: x.T, lambda x: x[::2], lambda x: np.asfortranarray(x)[:, 1:])
    in_three_ways(program, *(lambda layout=layout: (layout(numbers(4, 6)),) for layout in layouts))


# ---------------------------------------------------------------- 5 to 8: what varies by call


def test_05_an_exception_half_way():
    def program(x):
        x += 1
        v = x[1:]
        v *= 2
        v[0] = x.reshape(3, 5)[0, 0]
        x -= 1

    def late(x, y):
        x += 1
        y **= -1  # integers: raises
        x += 1

    in_three_ways(program, lambda: (numbers(2, 4),))
    in_three_ways(late, lambda: (numbers(3), np.arange(3)))


def test_06_data_dependent_branches():
    def program(x):
        if x.sum() > 0:
            x *= 2
            return "positive"
        while x[0] < 0:
            x += 1
        return x

    in_three_ways(program, lambda: (np.ones(3),), lambda: (-np.ones(3),), captured=False)


SCALE = 2.0
TABLE = np.arange(3.0)


def default_argument(x, step=np.zeros(3)):  # noqa: B008
    step += 1
    return x * step


def test_07_what_is_not_an_argument_is_read_anew(monkeypatch):
    offset, state = 1.0, SimpleNamespace(u=np.ones(3), k=3)

    def program(x):
        TABLE[0] += SCALE
        state.u *= state.k
        return x * TABLE + offset - state.u

    def everything() -> list[Any]:
        return [TABLE.tolist(), state.u.tolist()]

    def play(fn: Callable[..., Any]) -> list[Any]:
        nonlocal offset
        monkeypatch.setitem(globals(), "TABLE", np.arange(3.0))
        monkeypatch.setitem(globals(), "SCALE", 2.0)
        state.u, state.k, offset = np.ones(3), 3, 1.0
        seen = []
        for call in range(5):
            seen += [fn(np.ones(3)).tolist(), *everything()]
            if call == 1:
                monkeypatch.setitem(globals(), "SCALE", 0.5)
                offset = 3.0
            if call == 2:
                monkeypatch.setitem(globals(), "TABLE", np.arange(3.0) * 10)
                state.u, state.k = np.full(3, 7.0), 2
        return seen

    compiled = fxc.compile(program, fullgraph=True)
    assert play(compiled) == play(program)
    assert compiled.cache_info().eager_calls == 0
    stepping = fxc.compile(default_argument, fullgraph=True)
    default_argument.__defaults__[0][...] = 0  # type: ignore[index]
    assert [stepping(np.ones(3)).tolist() for _ in range(3)] == [[1] * 3, [2] * 3, [3] * 3]


def test_08_scalars_that_are_equal_but_not_the_same():
    def program(x, s):
        return x * s, x + s, np.copysign(x, s.real), s

    scalars = [1, True, 1.0, 1 + 0j, 0.0, -0.0, float("nan"), 0, False]
    scalars += [np.int8(1), np.float32(1), np.float64(1), np.True_, np.float64(-0.0)]
    makes: list[Make] = [lambda s=s: (numbers(3), s) for s in scalars]
    in_three_ways(program, *makes, *reversed(makes))


# ---------------------------------------------------------------- 9 to 11: rows and elements


def test_09_elements_are_copies_and_rank_0_views_are_not():
    def program(x):
        s, v = x[0], x[0, ...]
        x += 1
        x /= x[1]
        return s, v, x

    in_three_ways(program, lambda: (numbers(5),))


def test_10_exchanging_rows_through_views_is_no_swap():
    def program(x):
        x[0], x[1] = x[1], x[0]
        x[2:4], x[4:] = x[4:].copy(), x[2:4].copy()

    in_three_ways(program, lambda: (numbers(6, 3),))


def test_11_row_0_is_read_before_it_changes():
    def program(x):
        x -= x[0]
        x += 1
        x *= x[:, -1:]
        x -= x[2, 1]

    in_three_ways(program, lambda: (numbers(4, 3),), lambda: (numbers(40, 30),))


# ---------------------------------------------------------------- 12 to 14: casts and kinds


def test_12_three_rules_for_casts_in_place():
    def truncated(i):
        i[:] = 1.75
        i[0] = np.float64(-2.5)

    def raises(i):
        i += 1
        i += 1.5

    def copied(i, x):
        i += 1
        np.copyto(i, x)

    def narrowed(f, x):
        f += x
        np.copyto(f, x, casting="same_kind")

    ints: Make = lambda: (np.arange(4),)  # noqa: E731
    in_three_ways(truncated, ints)
    in_three_ways(raises, ints)
    in_three_ways(copied, lambda: (np.arange(4), numbers(4)))
    in_three_ways(narrowed, lambda: (numbers(4, dtype="float32"), numbers(4) / 3))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "float64", "bool"])
def test_13_python_scalars_are_weak(dtype):
    def program(x):
        small, wide = np.float64(1.5), np.array(2)
        return x + 1, x * 2.5, x + small, x * wide, x + np.int64(3), wide + 1.5

    def too_large(x):
        y = x * 2
        return y + 300

    in_three_ways(program, lambda: (numbers(3, dtype=dtype),))
    in_three_ways(
        too_large, lambda: (numbers(3, dtype=dtype),), captured=dtype not in ("int8", "uint8")
    )


def test_14_scalars_and_arrays_of_rank_0():
    def program(x, z):
        out = np.zeros(())
        z += 1
        return (
            x.sum(),
            x.sum(keepdims=True),
            x.sum(out=out),
            np.add(z, 1),
            -z,
            np.add(z, 1, out=out),
            z,
            z[()],
            z[...],
            x[1:2].max(axis=0),
            x.argmax(),
            x.any(),
        )

    in_three_ways(program, lambda: (numbers(3), np.array(2.5)))


# ---------------------------------------------------------------- 15 to 17: indices and masks


def test_15_repeated_indices():
    def program(a):
        i = np.array([0, 2, 0, 2, 2])
        a[i] += 10
        a[[1, 1]] = [5, 6]

    def accumulated(a):
        np.add.at(a, np.array([0, 2, 0, 2, 2]), 10)

    in_three_ways(program, lambda: (numbers(4),))
    in_three_ways(accumulated, lambda: (numbers(4),))


def test_16_masks_have_sizes_of_run_time():
    def program(x):
        m = x > 0
        x[m][:1] = 5
        x[2:][:1] = 7
        y = x[m] * 2
        x[m] = y[::-1]
        return y, y.size, m

    makes: list[Make] = [lambda k=k: (numbers(6) - k,) for k in (-9, 0, 1, 99)]
    in_three_ways(program, *makes, captured=False)


@pytest.mark.skipif(READS_INDEX_WHILE_IT_WRITES, reason="NumPy 2.0 writes beyond the array")
def test_17_the_index_is_the_target():
    def program(i, m):
        i[i] = 0
        m[m] = False
        i[i == 0] += 4

    def one(i, m):
        i[i] = i + 1
        m[~m] = m[0]

    make: Make = lambda: (np.array([2, 0, 1]), np.array([True, False, True]))  # noqa: E731
    in_three_ways(program, make)
    in_three_ways(one, make)


# ---------------------------------------------------------------- 18 to 20: results and views


def test_18_results_of_one_intermediate_share_memory():
    def program(x):
        t = x * 2
        constant = np.array([1.0, 2.0])
        return t, t[1:], constant, constant[:1], np.zeros(2), np.zeros(2)

    in_three_ways(program, lambda: (numbers(3),))
    compiled = fxc.compile(program, fullgraph=True)
    first, second = compiled(numbers(3)), compiled(numbers(3))
    first[2][:] = -1
    assert not any(np.shares_memory(a, b) for a in first for b in second)
    assert second[2].tolist() == [1.0, 2.0]
    assert compiled(numbers(3))[2].tolist() == [1.0, 2.0]


def test_19_views_that_reinterpret():
    def bits(x):
        b = x.view(np.int64)
        b[0] = -1  # a nan with all bits set
        b[1:] |= 1
        return b, x[1:]

    def parts(z, x):
        z.real, z.imag = z.imag.copy(), z.real.copy()
        z.real[0] = -0.0
        x.real += 1
        return z, x.real

    def fields(r):
        r["a"] += 1
        return r["b"]

    in_three_ways(bits, lambda: (numbers(3),), captured=False)
    in_three_ways(parts, lambda: (numbers(3, dtype="complex128"), numbers(2)))
    in_three_ways(fields, lambda: (np.zeros(3, [("a", "f8"), ("b", "i4")]),), captured=False)


def test_20_read_only_views():
    def returned(x):
        return x.diagonal(), np.broadcast_to(x[0], (2, 3)), x.imag

    def write(name: str) -> Callable[..., Any]:
        def diagonal(x):
            x += 1
            x.diagonal()[...] = 0

        def broadcast(x):
            x += 1
            np.broadcast_to(x[0], (2, 3))[0] = 0

        def imaginary(x):
            x += 1
            x.imag[...] = 1

        return {"diagonal": diagonal, "broadcast": broadcast, "imaginary": imaginary}[name]

    def read_only() -> tuple[Any, ...]:
        x = numbers(3, 3)
        x.flags.writeable = False
        return (x,)

    def later(x):
        y = x + 1
        y += 1
        x[0] = 1

    in_three_ways(returned, lambda: (numbers(3, 3),), read_only)
    for name in ("diagonal", "broadcast", "imaginary"):
        in_three_ways(write(name), lambda: (numbers(3, 3),))
    in_three_ways(later, read_only, lambda: (numbers(3, 3),), read_only)


# ---------------------------------------------------------------- 21 to 25: objects


def test_21_random_numbers_once_a_call_and_in_order():
    def program(x, rng):
        x += rng.random(3)
        rng.shuffle(x)
        return rng.integers(10)

    def seeded(x):
        rng = np.random.default_rng(5)
        return x + rng.normal(size=3)

    in_three_ways(program, lambda: (numbers(3), np.random.default_rng(1)), captured=False)
    in_three_ways(seeded, lambda: (numbers(3),), captured=False)


@dataclass
class Body:
    position: Any
    velocity: Any


def test_22_containers_are_mutable():
    def program(bodies, table):
        for body in bodies:
            body.position += body.velocity
            body.velocity = body.velocity * 0.5
        table["energy"] = sum(body.velocity.sum() for body in bodies)
        table["log"].append(bodies[0].position.copy())
        return bodies

    def reads(bodies, table):
        bodies[1].position[...] = bodies[0].position
        return table["log"][0], bodies[0].velocity, bodies[0] is bodies[1]

    def make() -> tuple[Any, ...]:
        x = numbers(3)
        return [Body(x, x * 2), Body(x, np.ones(3))], {"log": [x[1:]]}

    in_three_ways(program, make, captured=False)
    in_three_ways(reads, make)


def test_23_metadata_of_an_input():
    def program(x):
        x += 1
        x.shape = (3, 2)
        return x[0]

    def of_rows(x):
        rows = []
        for row in x:  # it has one, from now on
            x.shape = (1, -1)
            rows.append(row)
        return rows

    in_three_ways(program, lambda: (numbers(2, 3),), lambda: (numbers(6),), captured=False)
    check(of_rows, lambda: (numbers(2, 3),))
    fxc.compile(of_rows, fullgraph=True)(numbers(3))


def test_24_where_and_partial_out():
    def program(x, y):
        np.sqrt(x, out=y, where=x > 0)
        np.add(x, 1, out=x[::-1], where=y > 0.5)
        np.add(y[1:], y[:-1], out=y[1:])

    def undefined(x):
        return np.sqrt(x, where=x > 0)[x > 0]

    in_three_ways(program, lambda: (numbers(9), numbers(9)[::-1]))
    in_three_ways(undefined, lambda: (numbers(9),), captured=False)


FOREIGN: dict[str, Callable[[], Any]] = {
    "object": lambda: numbers(4).astype(object),
    "masked": lambda: np.ma.masked_array(numbers(4), [0, 1, 0, 0]),
    "matrix": lambda: np.asmatrix(numbers(2, 2)),
    "unaligned": lambda: np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", FOREIGN)
def test_25_foreign_inputs(kind):
    def program(x):
        v = x[1:]
        v += v
        return v, x + x, x.sum()

    in_three_ways(program, lambda: (FOREIGN[kind](),), captured=False)


# ---------------------------------------------------------------- 26 to 30: numbers


def test_26_sums_in_the_order_of_numpy():
    def program(x):
        return x.sum(), x.sum(0), x.sum(1), x.T.sum(), x[::2].sum(), x[:, ::-1].mean(), x.var(0)

    def zeros(x):
        return np.sum(np.array([-0.0])), x[:0].sum(), np.sum(x, axis=1, dtype=np.float32)

    many: Make = lambda: (np.sin(np.arange(30000.0)).reshape(3, -1),)  # noqa: E731
    in_three_ways(program, many, lambda: (np.sin(np.arange(9000.0)).reshape(-1, 3),))
    in_three_ways(zeros, lambda: (numbers(3, 140) / 3,))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_27_integer_corners(dtype):
    def program(a, b):
        return a + b, a * b, a // b, a % b, a << b, a >> b, np.abs(a), -a, a - b, a**2

    def negative_power(a):
        a += 1
        return a ** np.array(-1)

    info = np.iinfo(dtype)
    corners = np.array([info.min, info.min + 1, 0, 1, 3, 65, info.max], dtype)
    in_three_ways(program, lambda: (corners[:, None].copy(), corners.copy()))
    in_three_ways(negative_power, lambda: (np.arange(1, 4, dtype=np.int64),))


def test_28_float_corners():
    def program(x, y):
        return (
            np.maximum(x, y),
            np.minimum(x, y),
            np.fmod(x, y),
            x % y,
            x // y,
            np.rint(x),
            x.max(),
            x.argmax(),
            x.astype(np.int64),
            x.astype(np.int8),
            np.sort(x, axis=0),
            x * 1e-300,
        )

    corners = [0.0, -0.0, 1.5, -2.5, 0.5, 1e300, -1e19, np.inf, -np.inf, np.nan, 5e-324, 3e9]
    in_three_ways(program, lambda: (np.array(corners)[:, None], np.array(corners)))


def test_29_floating_point_warnings():
    """Compiled code gives no warning, hence no false one; the documented difference."""

    def program(x):
        return np.sqrt(x) / x + np.square(x) * np.where(x > 2, 1 / x, x)

    def strict(x):
        with np.errstate(divide="raise"):
            return 1 / x

    compiled = fxc.compile(program, fullgraph=True)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for size in range(1, 33):
            compiled(np.linspace(1, 3, size))
    in_three_ways(program, lambda: (np.linspace(-1, 3, 9),), lambda: (np.zeros(3),))
    in_three_ways(strict, lambda: (np.zeros(3),), lambda: (np.ones(3),), captured=False)


def test_30_bits_that_depend_on_the_path():
    def powers(x, e):
        return x**2, x**0.5, x**-1, np.power(x, e), x ** e[0], np.maximum(0.0, -0.0), x ** (e * 1)

    def complexes(z, w):
        z *= w
        return z * w, np.square(z), np.abs(z), z / w, z[0] * w[0], z.sum()

    halves = np.full(4, 0.5)
    in_three_ways(powers, lambda: (np.array([-np.inf, 4.0, 0.0, -0.0]), halves))
    in_three_ways(powers, lambda: (np.array([3.7, 2.1, 1e-5, 7.0]), np.broadcast_to(2.0, 4)))
    random = np.random.default_rng(3)
    z, w = (random.normal(size=9) + 1j * random.normal(size=9) for _ in range(2))
    in_three_ways(complexes, lambda: (z.copy(), w))


# ---------------------------------------------------------------- 31 to 33: errors, loops, kinds


def test_31_errors_leave_prefixes():
    def reshaped(a):
        a += 1
        a.reshape(3)

    def put(z):
        np.put(z, [0, 1, 9], 7)

    def power(a, e, out):
        np.power(a, e, out=out)

    def set_out_of_range(z):
        z[np.array([0, 9])] = 5

    def added_out_of_range(z):
        np.add.at(z, [0, 9], 5)

    in_three_ways(reshaped, lambda: (numbers(4),))
    for fn in (put, set_out_of_range, added_out_of_range):
        in_three_ways(fn, lambda: (numbers(4),))
    exponents = np.array([2, 2, -1, 2])
    in_three_ways(power, lambda: (np.arange(4), exponents, np.zeros(4, int)))


def test_32_loops_permute_names():
    def swapped(a, b, steps):
        for _ in range(steps):
            b[1:-1] = a[:-2] + a[2:]
            a, b = b, a
        return a

    def kind(x, steps):
        total = 0
        for k in range(steps):
            total = total + x[k]
        return total

    def until(a, b):
        while a[0] < 50:
            b[...] = a * 3
            a, b = b, a
        return a

    in_three_ways(swapped, *(lambda n=n: (numbers(5), np.zeros(5), n) for n in (0, 1, 2, 5)))
    in_three_ways(kind, *(lambda n=n: (numbers(5), n) for n in (0, 1, 3)))
    in_three_ways(until, lambda: (np.ones(3), np.zeros(3)), captured=False)


def test_33_return_kinds():
    def program(z, x):
        return (
            np.clip(z, 0, 1),
            np.where(True, 1.0, 2.0),
            np.cumsum(z),
            np.sqrt(z),
            np.add(z, 1, out=np.zeros(())),
            z.T,
            z.reshape(()),
            z.copy(),
            np.float64(3) + z,
            x[0].clip(0),
            x.reshape(-1)[0],
            x.mean(),
        )

    in_three_ways(program, lambda: (np.array(2.5), numbers(2, 1)))


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "make", [lambda x: range(int(x[0])), lambda x: x.flat, lambda x: iter(x), lambda x: x.item]
)
def test_no_class_of_fxc_is_seen(make):
    def f(x):
        found = make(x)
        return x * 2 + 1, type(found).__name__, isinstance(found, range)

    assert repr(fxc.compile(f)(np.array([3.0, 4.0]))) == repr(f(np.array([3.0, 4.0])))
