"""Draws of single numbers by NumPy's functions in C: equal numbers, types, states and exceptions."""

from __future__ import annotations

import ctypes
import ctypes.util
import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.flag_bits import FLAG_KINDS, HAS_FLAGS
from fxc.lowering.emission.draws import MANY
from fxc.lowering.emission.quick_draws import ZIGGURATS
from fxc.native import draws
from fxc.native.draws import draw_function
from fxc.native.ziggurats import of_function
from fxc.ops.draws import FORMS, Form, Real, form_of
from tests.ops.test_random_draws import state
from tests.outcomes import difference, run

ALL = sum(FLAG_KINDS)


@pytest.mark.parametrize("key", FORMS)
def test_each_form_does_what_the_method_does(key: str) -> None:
    assert draw_function(key)  # it is tried when it is made
    assert draw_function(key + MANY)


@pytest.mark.parametrize("form", [each for each in FORMS.values() if each.standard])
def test_numbers_at_the_edges_of_quick_draws(form: Form) -> None:
    """One of 80 is near the edge of a column, and NumPy's function draws it."""
    layout = draws._layout("Generator")
    assert layout
    assert draws._quick(form, layout, many=True)
    fill = draws._callable(form, draw_function(form.key + MANY), ctypes.c_int64)
    scale = [1.5, 2.75][: len(form.arguments)]
    for kind in BITS:
        one, other = (np.random.Generator(getattr(np.random, kind)(3)) for _ in range(2))
        found = np.zeros(20_000)
        assert fill(one, *scale, found.size, found.ctypes.data)
        assert found.tobytes() == getattr(other, form.method)(*scale, size=found.size).tobytes()
        assert state(one) == state(other)


@pytest.mark.skipif(not HAS_FLAGS, reason="flags of other processors are not looked at")
def test_flags_are_as_before_a_draw() -> None:
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    for name in ("normal", "exponential"):
        form = FORMS[f"Generator.{name}()"]
        draw = draws._callable(form, draw_function(form.key))
        one, other = np.random.default_rng(3), np.random.default_rng(3)
        found, left = np.zeros(2), 0
        for loc in (0.0, -1.5, 1.7e308, np.inf, np.nan):
            for scale in (0.0, 5e-324, 1e-300, 2.5, 1e308):
                given = (loc, scale)[2 - len(form.arguments) :]
                for _ in range(200):
                    libm.feclearexcept(ALL)
                    assert draw(one, *given, found.ctypes.data)
                    left |= libm.fetestexcept(ALL)
                    found[1] = getattr(other, name)(*given)
                    np.testing.assert_equal(*found.view(np.int64))
        assert left == 0
        assert state(one) == state(other)


def test_what_is_no_ziggurat() -> None:
    address = draws._exported("random_standard_uniform")
    assert address
    assert [of_function(address, form) for form in ZIGGURATS.values()] == [None, None]


# ---------------------------------------------------------------- in loops


def of_generator(g: Any, n: int, t: Any) -> Any:
    out = np.zeros((n, 24))
    counts = np.zeros((n, 7), dtype=np.int64)
    for i in range(n):
        a = t[i]
        out[i, 0] = g.random()
        out[i, 1] = g.uniform(-a, a)
        out[i, 2] = g.standard_normal()
        out[i, 3] = g.normal(a)
        out[i, 4] = g.lognormal(0.5, a)
        out[i, 5] = g.standard_exponential()
        out[i, 6] = g.exponential(scale=a)
        out[i, 7] = g.standard_gamma(a)
        out[i, 8] = g.gamma(a, 2)
        out[i, 9] = g.beta(a, 0.5)
        out[i, 10] = g.chisquare(a)
        out[i, 11] = g.f(a, 3)
        out[i, 12] = g.noncentral_chisquare(a, 1.5)
        out[i, 13] = g.noncentral_f(a, 4, 0.5)
        out[i, 14] = g.standard_cauchy()
        out[i, 15] = g.standard_t(a)
        out[i, 16] = g.vonmises(a, a)
        out[i, 17] = g.pareto(a)
        out[i, 18] = g.weibull(a)
        out[i, 19] = g.power(a)
        out[i, 20] = g.laplace(scale=a, loc=i)
        out[i, 21] = g.gumbel(a, a) + g.logistic(a, a)
        out[i, 22] = g.rayleigh(a)
        out[i, 23] = g.wald(a, i + 1)
        counts[i, 0] = g.binomial(3 * i, a / 40)
        counts[i, 1] = g.poisson(a)
        counts[i, 2] = g.geometric(1 / (1 + a))
        counts[i, 3] = g.integers(i + 1)
        counts[i, 4] = g.integers(-i, 2**40, endpoint=True)
        counts[i, 5] = g.integers(low=-5, high=i - 4)
        counts[i, 6] = g.integers(-(2**63), 2**63 - 1)
    return out, counts


def of_state(g: Any, n: int, t: Any) -> Any:
    out = np.zeros((n, 14))
    counts = np.zeros((n, 4), dtype=np.int64)
    for i in range(n):
        a = t[i]
        out[i, 0] = g.random_sample() + g.rand()
        out[i, 1] = g.uniform(-a, a)
        out[i, 2] = g.randn()
        out[i, 3] = g.normal(a)
        out[i, 4] = g.lognormal(0.5, a)
        out[i, 5] = g.standard_exponential()
        out[i, 6] = g.exponential(scale=a)
        out[i, 7] = g.standard_gamma(a)
        out[i, 8] = g.gamma(a, 2)
        out[i, 9] = g.chisquare(a)
        out[i, 10] = g.standard_normal()
        out[i, 11] = g.laplace(scale=a, loc=i)
        out[i, 12] = g.gumbel(a, a) + g.logistic(a, a)
        out[i, 13] = g.random()
        counts[i, 0] = g.binomial(3 * i, a / 40)
        counts[i, 1] = g.poisson(a)
        counts[i, 2] = g.randint(i + 1)
        counts[i, 3] = g.randint(-i, 2**40)
    return out, counts


def check_loop(fn: Any, kinds: list[Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    t = np.linspace(0.1, 39.0, 41)
    for make in kinds:
        left, right = (make(), 41, t), (make(), 41, t)
        for _ in range(2):
            text = difference(run(fn, left), run(compiled, right))
            assert not text, text
            assert state(left[0]) == state(right[0])
    info = compiled.cache_info()
    assert info.eager_calls == 0
    assert "draw" not in info.fallbacks


def test_draws_of_generators_in_a_loop() -> None:
    kinds = [np.random.PCG64, np.random.MT19937, np.random.SFC64]
    check_loop(of_generator, [lambda kind=kind: np.random.Generator(kind(5)) for kind in kinds])


def test_draws_of_random_states_in_a_loop() -> None:
    check_loop(of_state, [lambda: np.random.RandomState(5)])


def test_draws_from_the_module_in_a_loop() -> None:
    def draw(n: Any) -> Any:
        total, count, seen = 0.0, 0, 0
        for _ in range(n):
            total += np.random.rand() * np.random.normal(1.0, 2.0) + np.random.exponential()
            count += np.random.randint(3, 50)
            if np.random.random() < 0.5:
                seen += np.random.binomial(20, 0.25)
        return total, count, seen, np.random.randint(9), np.random.poisson(2.5)

    compiled = fxc.compile(draw, fullgraph=True)
    for n in (700, 3):
        for _ in range(2):
            np.random.seed(n)
            np.random.standard_normal()  # one is left over
            expected = draw(n), state(np.random.mtrand._rand)
            np.random.seed(n)
            np.random.standard_normal()
            found = compiled(n), state(np.random.mtrand._rand)
            assert expected == found
            assert list(map(type, expected[0])) == list(map(type, found[0]))


def of_arrays(g: Any, n: Any, t: Any) -> Any:
    a = t[3]
    found = [
        g.random((n, 3)),
        g.uniform(-a, a, n) + g.standard_normal(n),
        g.normal(a, 2, size=(2, n)).T,
        g.exponential(a, (n, 1)) + g.standard_exponential(n),
        g.gamma(a, 2.0, n)[::2],
        g.integers(-5, 50, n) + g.integers(-(2**40), 2**40, size=n, endpoint=True),
        g.binomial(20, 0.3, n) * g.poisson(a, n),
        g.standard_normal(0),
        g.random(()),
    ]
    return (*found, g.random())


def of_arrays_of_state(g: Any, n: Any, t: Any) -> Any:
    x = np.zeros((3, n))
    a = t[3]
    x[1] = g.randn(n)
    x[2] += g.normal(a, 2.0, n)
    x += g.rand(3, n) * g.uniform(0.0, a, (3, 1))
    counts = g.randint(0, 9, n) + g.randint(-(2**40), 2**40, size=n)
    return x, counts, g.binomial(20, 0.3, n) * g.poisson(a, n), g.gamma(a, 2.0, n), g.randn()


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_arrays_are_filled(kind: Any) -> None:
    fn = of_arrays if kind is np.random.default_rng else of_arrays_of_state
    compiled = fxc.compile(fn, fullgraph=True)
    for n in (7, 7, 30, 1):
        left, right = (kind(5), n, np.arange(4.0)), (kind(5), n, np.arange(4.0))
        for _ in range(12):
            text = difference(run(fn, left), run(compiled, right))
            assert not text, text
        assert state(left[0]) == state(right[0])
    info = compiled.cache_info()
    assert "draw" not in info.fallbacks
    assert info.native_calls


def test_sizes_that_numpy_refuses_and_large_ones() -> None:
    def draw(g: Any, n: Any, low: Any, high: Any) -> Any:
        x = g.uniform(low, high, n)
        return x + g.normal(low, high, n), x.sum()

    compiled = fxc.compile(draw, fullgraph=True)
    sides = [np.random.default_rng(5), np.random.default_rng(5)]
    calls = [(5, 0.0, 1.0)] * 12 + [(5, 1.0, 0.0), (5, 0.0, np.inf), (0, -2.0, -1.0)]
    for n, low, high in [*calls, (100_000, 0.0, 1.0), (3, 0.0, 1.0)]:
        outcomes = [run(f, (g, n, low, high)) for f, g in zip((draw, compiled), sides, strict=True)]
        assert not difference(*outcomes)
        assert state(sides[0]) == state(sides[1])


def test_arrays_in_a_loop() -> None:
    def draw(g: Any, x: Any, steps: Any) -> Any:
        for i in range(steps):
            if x[0] > -100.0:
                x += g.normal(0.0, 0.5, len(x))
            x[g.integers(0, len(x), size=3)] *= g.random(3)
            x[i % 4 :] -= g.standard_normal(len(x) - i % 4)
        return x.sum()

    compiled = fxc.compile(draw, fullgraph=True)
    for n in (6, 6, 9):
        left, right = (
            (np.random.default_rng(5), np.ones(n), 9),
            (np.random.default_rng(5), np.ones(n), 9),
        )
        for _ in range(3):
            text = difference(run(draw, left), run(compiled, right))
            assert not text, text
            assert state(left[0]) == state(right[0])
    assert "draw" not in compiled.cache_info().fallbacks


def test_types_of_results_and_of_arguments() -> None:
    def draw(g: Any, r: Any, x: Any, n: Any) -> Any:
        last = g.integers(9), r.randint(9), g.random(), g.binomial(3, 0.5)
        for i in range(n):
            scale = x[i]
            last = (
                g.integers(scale + 1),
                r.randint(scale + 1),
                g.normal(True, scale),
                g.binomial(scale, 0.25),
            )
        return last

    compiled = fxc.compile(draw, fullgraph=True)
    for kind in "?bHIlL":
        x = np.array([1, 0, 1], kind)
        sides = [(np.random.default_rng(3), np.random.RandomState(3), x, 3) for _ in range(2)]
        expected, found = run(draw, sides[0]), run(compiled, sides[1])
        assert not difference(expected, found), kind
        assert [state(each) for each in sides[0][:2]] == [state(each) for each in sides[1][:2]]
    for x in (np.float32([0.1, 2.5]), np.array([3.0, -0.0]), np.float16([0.5, 2])):

        def real(g: Any, x: Any) -> Any:
            total = 0.0
            for i in range(2):
                total += g.normal(x[i], abs(x[i])) + g.exponential(abs(x[i]))
            return total

        one, other = np.random.default_rng(3), np.random.default_rng(3)
        assert real(one, x) == fxc.compile(real, fullgraph=True)(other, x)
        assert state(one) == state(other)


# ---------------------------------------------------------------- what is left to the method


@pytest.mark.parametrize(
    ("method", "bad"),
    [
        ("normal", [(0.0, -1.0), (0.0, -0.0), (0.0, np.nan), (np.nan, 1.0), (0.0, np.inf)]),
        ("uniform", [(1.0, 0.0), (0.0, np.inf), (-1.7e308, 1.7e308), (np.nan, 1.0), (1.0, 1.0)]),
        ("poisson", [(-1.0, 0.0), (np.nan, 0.0), (1e19, 0.0), (0.0, 0.0)]),
        ("binomial", [(5.0, 1.5), (5.0, -0.0), (5.0, np.nan), (-1.0, 0.5)]),
        ("gamma", [(-1.0, 1.0), (1.0, -1.0), (np.nan, 1.0), (np.inf, 1.0)]),
        ("integers", [(3.0, 3.0), (4.0, 3.0)]),
    ],
)
def test_arguments_that_numpy_may_refuse(method: str, bad: list[tuple[float, float]]) -> None:
    calls = {
        "poisson": lambda g, a, b: g.poisson(a),
        "binomial": lambda g, a, b: g.binomial(int(a), b),
        "integers": lambda g, a, b: g.integers(int(a), int(b)),
    }
    call = calls.get(method)

    def draw(g: Any, x: Any, a: Any, b: Any) -> Any:
        for i in range(len(x)):
            x[i] += g.random()
            if i == 3:
                x[i] += call(g, a[i], b[i]) if call else getattr(g, method)(a[i], b[i])
        return x.sum()

    kind = "RandomState" if method in ("normal", "gamma") else "default_rng"
    compiled = fxc.compile(draw, fullgraph=True)
    for first, second in [(2.0, 0.5) if method != "integers" else (2.0, 9.0), *bad]:
        sides = []
        for _ in range(2):
            a, b = np.ones(6), np.full(6, 2.0)
            a[3], b[3] = first, second
            sides.append((getattr(np.random, kind)(3), np.zeros(6), a, b))
        expected, found = run(draw, sides[0]), run(compiled, sides[1])
        assert not difference(expected, found), (first, second)
        assert state(sides[0][0]) == state(sides[1][0]), (first, second)


def test_subclasses_draw_by_their_own_methods() -> None:
    class Half(np.random.RandomState):
        def random_sample(self, size: Any = None) -> Any:
            return 0.5

    def draw(g: Any, n: Any) -> Any:
        total = 0.0
        for _ in range(n):
            total += g.random_sample()
        return total

    compiled = fxc.compile(draw)
    assert compiled(np.random.RandomState(1), 4) == draw(np.random.RandomState(1), 4)
    assert compiled(Half(1), 4) == 2.0


def test_other_forms_of_calls_are_left_to_the_method() -> None:
    left = ["g.random(dtype='float32')", "g.integers(x0, dtype='uint8')",
            "g.standard_exponential(method='inv')", "g.permutation(x0)",
            "shuffled(g, x0)", "g.wald(x0)"]  # fmt: skip
    assert not any(form_of("Generator", call, (1.0, 2.0)) for call in left)
    found = form_of("Generator", "g.integers(x0, None, dtype='int64')", (7,))
    assert found == (FORMS["Generator.integers()"], (0, 7))


# ---------------------------------------------------------------- whole calls


class OwnBits(np.random.PCG64):
    """A bit generator that may have more of a state than NumPy's."""


BITS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


@pytest.mark.parametrize("kind", [np.random.Generator, np.random.RandomState])
def test_states_come_back_where_native_calls_fail(kind: Any) -> None:
    def draw(g: Any, x: Any, i: Any, scale: Any) -> Any:
        x[0] += g.normal(0.0, 1.0)
        found = x[i] + g.normal(0.0, scale)
        return found / x[3]

    compiled = fxc.compile(draw, fullgraph=True)
    bits = [getattr(np.random, name) for name in BITS] + [OwnBits]
    calls = [(2, 1.0)] * 30 + [(7, 1.0), (2, -1.0), (2, 1.0), (2, -0.0), (3, 2.0)] * 2
    for make in bits:
        one, other = kind(make(3)), kind(make(3))
        left, right = np.arange(4.0), np.arange(4.0)
        for number, (place, scale) in enumerate(calls):
            if number == 33:
                left[3] = right[3] = 0.0  # a division by zero, of which NumPy warns
            sides = []
            for fn, g, x in ((draw, one, left), (compiled, other, right)):
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    try:
                        outcome: Any = fn(g, x, np.int64(place), scale)
                    except (IndexError, ValueError) as error:
                        outcome = repr(error)
                sides.append((repr(outcome), [str(each.message) for each in seen], state(g)))
            assert sides[0] == sides[1], (make, number)
            assert left.tobytes() == right.tobytes()
    assert compiled.cache_info().native_calls > 100


def test_small_functions_are_native_calls() -> None:
    def one(g: Any, x: Any) -> Any:
        return x + g.random(), g.integers(9), np.random.normal()

    compiled = fxc.compile(one, fullgraph=True)
    g, other = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(60):
        np.random.seed(2)
        expected = one(g, 1.5)
        np.random.seed(2)
        found = compiled(other, 1.5)
        assert expected == found
        assert list(map(type, expected)) == list(map(type, found))
    assert state(g) == state(other)
    assert compiled.cache_info().native_calls > 20


def test_stores_and_states_are_undone_together() -> None:
    def flip(g: Any, x: Any, k: Any, last: Any) -> Any:
        for _ in range(k):
            i = int(g.random() * len(x))
            if x[i] > 0:
                x[i] += g.integers(3)
        return g.normal(), x[last]

    compiled = fxc.compile(flip, fullgraph=True)
    text = str(compiled.inspect(np.random.default_rng(3), np.ones(9000), 5, np.int64(3)).loops)
    assert "stores are undone" in text
    for make in (np.random.default_rng, lambda seed: np.random.Generator(OwnBits(seed))):
        left, right = (make(3), np.ones(9000)), (make(3), np.ones(9000))
        for last in [5] * 30 + [9000, 5, -9001, 5]:
            expected, found = (
                run(f, (*side, 20, np.int64(last))) for f, side in ((flip, left), (compiled, right))
            )
            assert not difference(expected, found)
            assert state(left[0]) == state(right[0])


def test_an_exception_of_a_signal_in_a_native_call() -> None:
    class Alarm(Exception):
        pass

    def ring(number: Any, frame: Any) -> None:
        raise Alarm

    compiled = fxc.compile(total, fullgraph=True)
    g = np.random.default_rng(3)
    for _ in range(40):
        compiled(g, 3)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Alarm):
            compiled(g, 10**10)
    finally:
        signal.signal(signal.SIGALRM, before)
    drawn = [g.random() for _ in range(3)]
    assert len(set(drawn)) == 3


# ---------------------------------------------------------------- other threads


def total(g: Any, n: Any) -> Any:
    found = 0.0
    for _ in range(n):
        found += g.random()
    return found


def test_a_draw_waits_for_the_lock() -> None:
    compiled = fxc.compile(total, fullgraph=True)
    compiled(np.random.default_rng(1), 3)
    g, begun = np.random.default_rng(1), threading.Event()
    left: list[str] = []

    def hold() -> None:
        with g.bit_generator.lock:
            begun.set()
            time.sleep(0.05)
            left.append(state(g))

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait()
    found = compiled(g, 3)
    thread.join()
    other = np.random.default_rng(1)
    assert left == [state(other)]  # nobody has drawn while the lock was held
    assert found == total(other, 3)
    if isinstance(g.bit_generator.lock, type(threading.RLock())):  # in NumPy 2.0 it may not
        with g.bit_generator.lock:  # held by this very thread
            assert compiled(g, 3) == total(other, 3)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_kept_state_waits_for_the_lock(make: Any) -> None:
    """What another thread draws while a call begins is not undone with the draws of that call."""

    def fails(g, x, k):
        return g.random() + x[k[0]]

    compiled, x = fxc.compile(fails), np.arange(3.0)
    compiled(make(1), x, np.array([2]))
    g, other, begun = make(1), make(9), threading.Event()
    bits = getattr(g, "bit_generator", None) or g._bit_generator

    def draw() -> None:
        with bits.lock:
            begun.set()
            time.sleep(0.05)
            bits.state = (getattr(other, "bit_generator", None) or other._bit_generator).state

    thread = threading.Thread(target=draw)
    thread.start()
    begun.wait()
    with pytest.raises(IndexError):
        compiled(g, x, np.array([3]))
    thread.join()
    other.random()
    assert state(g) == state(other)


def test_threads_share_a_stream() -> None:
    compiled = fxc.compile(total, fullgraph=True)
    g = np.random.default_rng(7)
    compiled(g, 3)
    size = 200_000
    threads = [threading.Thread(target=lambda: [g.random(size) for _ in range(5)])]
    threads += [threading.Thread(target=lambda: [compiled(g, size) for _ in range(5)])]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    other = np.random.default_rng(7)
    other.bit_generator.advance(3 + 10 * size)
    assert state(g) == state(other)


# ---------------------------------------------------------------- what is not told


def test_draws_tell_of_no_floating_point_errors() -> None:
    def draw(g: Any, n: Any) -> Any:
        found = 1.0
        for _ in range(n):
            found = g.standard_gamma(1e-3) + found * 0.5
        return found

    for kind in (np.random.default_rng, np.random.RandomState):
        compiled = fxc.compile(draw, fullgraph=True)
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert compiled(kind(2), 900) == draw(kind(2), 900)
        assert compiled.cache_info().eager_calls == 0


def test_errors_beside_draws_are_told() -> None:
    def draw(g: Any, x: Any) -> Any:
        found = x[0]
        for i in range(len(x)):
            found = x[i] / (x[i] - x[i]) + g.standard_normal()
        return found

    compiled = fxc.compile(draw, fullgraph=True)
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            expected = draw(one, np.ones(3))
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert compiled(other, np.ones(3)) == expected
        assert state(one) == state(other)


# ---------------------------------------------------------------- another NumPy


def test_a_function_that_differs_is_not_called() -> None:
    wrong = Form("Generator", "normal", "random_laplace", FORMS["Generator.normal()"].arguments)
    assert draws._made(wrong, False) is None
    assert draws._made(wrong, True) is None
    missing = Form("Generator", "random", "random_of_another_numpy")
    assert draws._made(missing, False) is None
    swapped = Form(
        "Generator", "beta", "random_gamma", (Real("a", None, 0.1), Real("b", None, 0.1))
    )
    assert draws._made(swapped, False) is None


def test_without_adapters_the_methods_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxc.pipeline.assemble.draw_function", lambda key: 0)
    compiled = fxc.compile(total, fullgraph=True)
    one, other = np.random.default_rng(4), np.random.default_rng(4)
    assert compiled(one, 50) == total(other, 50)
    assert state(one) == state(other)
    assert compiled.cache_info().fallbacks == {"draw": 1}
