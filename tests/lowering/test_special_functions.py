"""Native code of scipy.special's ufuncs: against mpmath, on all processors, and in programs.

The references are mpmath's, with 140 bits. Each function is compiled for one lane and for a full
vector, for this processor and for lesser ones: its bits are the same.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import special

import fxc
from fxc.lowering import vector_math
from fxc.lowering.operators.scalar_rules import SPECIAL_COSTS
from tests.covering import in_turns
from tests.outcomes import difference, run
from tests.vector_functions import (
    DTYPES,
    LANES,
    Floats,
    has_the_same_bits_everywhere,
    over_all_exponents,
    runner,
    same_bits,
    special_values,
)

COUNT = 40
_BITS = 140


def _erfc(x: mpf) -> mpf:
    if abs(x) > 1e5:
        return mpf(0) if x > 0 else mpf(2)
    return mpmath.erfc(x)


def _erfcx(x: mpf) -> mpf:
    if x < -1e5:
        return mpmath.inf
    if x > 1e4:
        return (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * mpmath.sqrt(mpmath.pi))
    return mpmath.exp(x * x) * mpmath.erfc(x)


def _ndtr(x: mpf) -> mpf:
    return _erfc(-x / mpmath.sqrt(2)) / 2


def _log_ndtr(x: mpf) -> mpf:
    if x > 0:
        return mpmath.log1p(-_ndtr(-x))
    if x > -1e4:
        return mpmath.log(_ndtr(x))
    return mpmath.log(_erfcx(-x / mpmath.sqrt(2)) / 2) - x * x / 2


def _erfinv(x: mpf, rest: mpf) -> mpf:
    """erfinv(x), given 1 - x."""
    if abs(x) < 0.5:
        return mpmath.erfinv(x)
    if x < 0:
        return -_erfinv(-x, 2 - rest)
    y = mpmath.sqrt(-mpmath.log(rest))
    for _ in range(60):
        left = mpmath.erfc(y)
        slope = -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y) / left
        y -= (mpmath.log(left) - mpmath.log(rest)) / slope
    return y


def _quantile(p: mpf) -> mpf:
    if p < 0.5:
        return -_quantile_above(2 * p)
    return _quantile_above(2 - 2 * p)


def _quantile_above(rest: mpf) -> mpf:
    return mpmath.sqrt(2) * _erfinv(1 - rest, rest)


def _erfcinv(y: mpf) -> mpf:
    return _erfinv(1 - y, y) if y <= 1 else -_erfinv(y - 1, 2 - y)


def _expit(x: mpf) -> mpf:
    return 1 / (1 + mpmath.exp(-x)) if abs(x) < 1e5 else mpf(int(x > 0))


def _log_expit(x: mpf) -> mpf:
    if abs(x) > 1e5:
        return min(x, mpf(0))
    return -mpmath.log1p(mpmath.exp(-x))


def _rel_entr(x: mpf, y: mpf) -> mpf:
    return x * mpmath.log(x / y)


# By name: the reference, the arguments that are looked at (of float64 and float32), and the bounds
# in ulps (of both).
Case = tuple[Callable[..., mpf], tuple[float, float], tuple[float, float], tuple[float, float]]
CASES: dict[str, Case] = {
    "erf": (mpmath.erf, (-6, 6), (-4, 4), (2.5, 2.0)),
    "erfc": (_erfc, (-6, 27.5), (-4, 10.5), (3.5, 3.5)),
    "erfcx": (_erfcx, (-26.6, 60), (-9.4, 30), (3.5, 3.5)),
    "ndtr": (_ndtr, (-38.7, 9), (-14.5, 6), (4.0, 4.0)),
    "log_ndtr": (_log_ndtr, (-60, 38.5), (-30, 14), (5.0, 5.0)),
    "exp10": (lambda x: mpf(10) ** x, (-324, 308), (-45.5, 38.5), (1.1, 1.1)),
    "expit": (_expit, (-745, 40), (-103, 20), (2.2, 2.0)),
    "log_expit": (_log_expit, (-800, 745), (-200, 103), (2.0, 2.0)),
    "logit": (lambda x: mpmath.log(x / (1 - x)), (0, 1), (0, 1), (2.5, 3.0)),
    "xlogy": (lambda x, y: x * mpmath.log(y), (0, 9), (0, 9), (1.5, 2.5)),
    "xlog1py": (lambda x, y: x * mpmath.log1p(y), (0, 9), (0, 9), (1.5, 1.6)),
    "entr": (lambda x: -x * mpmath.log(x), (0, 9), (0, 9), (1.5, 2.5)),
    "rel_entr": (_rel_entr, (0, 9), (0, 9), (2.5, 2.5)),
    "erfinv": (lambda x: _erfinv(x, 1 - x), (-1, 1), (-1, 1), (3.0, 3.0)),
    "erfcinv": (_erfcinv, (0, 2), (0, 2), (3.0, 3.0)),
    "ndtri": (_quantile, (0, 1), (0, 1), (3.5, 3.5)),
    "j0": (lambda x: mpmath.besselj(0, x), (-60, 60), (-60, 60), (13.0, 1.0)),
    "j1": (lambda x: mpmath.besselj(1, x), (-60, 60), (-60, 60), (13.0, 1.0)),
    "gamma": (mpmath.gamma, (-20, 171.6), (-20, 35), (4.5, 1.0)),
    "gammaln": (mpmath.loggamma, (0, 40), (0, 40), (4.0, 5.0)),
}
# Functions whose result is any number, or that are defined for numbers of a sign, but a few.
_OF_POSITIVE = frozenset({"xlogy", "xlog1py", "entr", "rel_entr", "gammaln"})
_NEAR_ONE = frozenset({"logit", "erfinv", "erfcinv", "ndtri", "gammaln", "entr"})
NAMES = sorted(CASES)
PAIRS = [(name, kind) for name in NAMES for kind in LANES]


def _inputs(name: str, kind: str) -> tuple[Floats, ...]:
    """Arguments inside the domain, as many as a multiple of every number of lanes."""
    rng, dtype = np.random.default_rng(NAMES.index(name)), DTYPES[kind]
    low, high = CASES[name][1 + (kind == "f32")]
    close = np.exp2(rng.uniform(-np.finfo(dtype).nmant, -1, COUNT))
    if vector_math.FUNCTIONS[name] == 2:
        x, y = (np.abs(over_all_exponents(dtype, rng, COUNT)).astype(dtype) for _ in range(2))
        near = rng.uniform(low, high, COUNT)
        pairs = [(rng.uniform(low, high, COUNT), rng.uniform(low, high, COUNT)), (x, y)]
        pairs += [(near, near * (1 + close)), (near, 1 + close * 0.01)]
        columns = [np.concatenate([np.asarray(pair[i], dtype) for pair in pairs]) for i in (0, 1)]
    else:
        wide = over_all_exponents(dtype, rng, COUNT)
        parts = [rng.uniform(low, high, COUNT), rng.uniform(-2, 2, COUNT), wide]
        if low >= 0:
            parts = [np.abs(part) for part in parts]
        if name in _NEAR_ONE:
            parts += [1 - close, 0.5 + close / 4]
        found = np.concatenate([np.asarray(part, dtype) for part in parts])
        if name not in _OF_POSITIVE:
            found = np.where((found > low) & (found < high), found, dtype((low + high) / 3))
        columns = [found]
    return tuple(np.concatenate([each, each[: -len(each) % 16]]) for each in columns)


def test_all_functions_have_a_bound() -> None:
    of_numpy = {name for name in vector_math.FUNCTIONS if name == "pow" or hasattr(np, name)}
    of_numpy |= {*vector_math.WHOLE_POWERS.values()}
    assert set(CASES) == set(vector_math.FUNCTIONS) - of_numpy - vector_math.PAIRS
    assert set(SPECIAL_COSTS) - of_numpy == set(CASES)
    assert all(isinstance(getattr(special, name), np.ufunc) for name in SPECIAL_COSTS)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_error_stays_within_bound(name: str, kind: str) -> None:
    arguments, dtype = _inputs(name, kind), DTYPES[kind]
    got = runner(name, kind, LANES[kind])(*arguments)
    reference, *_, bounds = CASES[name]
    bound = bounds[kind == "f32"]
    with mpmath.workprec(_BITS):
        for number, value in enumerate(got):
            row = [float(each[number]) for each in arguments]
            exact = reference(*map(mpf, row))
            with np.errstate(over="ignore", under="ignore"):
                near = dtype(float(exact))
            if np.isinf(near) or np.isinf(value):
                assert np.isinf(near) == np.isinf(value), row
                continue
            error, size = abs(mpf(float(value)) - exact), np.abs(near)
            if name in ("j0", "j1") and abs(row[0]) > 1:  # near a zero
                size = max(size, dtype(np.sqrt(2 / (np.pi * abs(row[0])))))
            assert error <= bound * mpf(float(np.spacing(size))), (row, value)


@pytest.mark.parametrize("kind", LANES)
def test_gammaln_of_negative_numbers(kind: str) -> None:
    """The error is one of the two logarithms that are added."""
    dtype = DTYPES[kind]
    x = -np.random.default_rng(0).uniform(1e-3, 30, 320).astype(dtype)
    x = np.concatenate([x, -(2.0 ** np.arange(-90, -10))]).astype(dtype)
    got = runner("gammaln", kind, LANES[kind])(x)
    for given, found in zip(x, got, strict=True):
        exact = mpmath.log(abs(mpmath.gamma(mpf(float(given)))))
        unit = max(abs(exact), abs(mpmath.loggamma(-mpf(float(given)))), mpf(1))
        assert abs(float(found) - exact) <= 4 * np.finfo(dtype).eps * unit, given


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_processors_and_lanes_do_not_matter(name: str, kind: str) -> None:
    dtype = DTYPES[kind]
    every = special_values(dtype)
    arity = vector_math.FUNCTIONS[name]
    extreme = [each.ravel() for each in np.meshgrid(*[every] * arity)]
    arguments = [np.concatenate(pair) for pair in zip(_inputs(name, kind), extreme, strict=True)]
    arguments = [np.concatenate([each, each[: -len(each) % 16]]) for each in arguments]
    expected = runner(name, kind, LANES[kind])(*arguments)
    assert has_the_same_bits_everywhere(name, kind, arguments, expected)


# Where SciPy itself gives an infinity for the smallest number there is.
_SCIPYS_OWN = frozenset({"erfcinv", "gammaln"})


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_specials_are_those_of_scipy(name: str, kind: str) -> None:
    dtype = DTYPES[kind]
    every = special_values(dtype)
    if name in _SCIPYS_OWN:
        every[np.abs(every) == np.finfo(dtype).smallest_subnormal] = 0
    arguments = [each.ravel() for each in np.meshgrid(*[every] * vector_math.FUNCTIONS[name])]
    arguments = [np.concatenate([each, each[: -len(each) % 16]]) for each in arguments]
    got = runner(name, kind, LANES[kind])(*arguments)
    with np.errstate(all="ignore"):
        expected = getattr(special, name)(*arguments)
    is_special = ~np.isfinite(expected) | (expected == 0) | ~np.isfinite(got) | (got == 0)
    wrong = is_special & ~same_bits(got, expected)
    assert not wrong.any(), ([each[wrong] for each in arguments], got[wrong], expected[wrong])


# ------------------------------------------------------------------ in programs


def _applied(name: str) -> Callable[..., Any]:
    ufunc = getattr(special, name)
    if ufunc.nin == 1:
        return lambda x, y: ufunc(x) * 2
    return lambda x, y: ufunc(x, y) * 2


_SCIPYS = sorted(SPECIAL_COSTS)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, kind) for name in _SCIPYS for kind in ("f8", "f4")),
        *in_turns(_SCIPYS, ["i4", "?"]),
    ],
)
def test_native_code_takes_the_place_of_the_inner_loop(name: str, kind: str) -> None:
    """Each function has code for either float; what casts integers to them is one for all."""
    fn = _applied(name)
    compiled = fxc.compile(fn, fullgraph=True, dynamic=True)
    for size in (0, 1, 7, 64, 131):
        rng = np.random.default_rng(size)
        x, y = rng.uniform(0.02, 0.98, (2, size))
        if kind in ("i4", "?"):  # in the domain of all, or a pole of it
            x, y = np.zeros(size), np.ones(size)
        x, y = x.astype(kind), y.astype(kind)
        with np.errstate(all="ignore"):
            found, expected = compiled(x, y), fn(x, y)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=40 * np.finfo(found.dtype).eps)
        for view in (x[::-1], x[::2]):
            with np.errstate(all="ignore"):
                found, expected = compiled(view, y[: len(view)]), fn(view, y[: len(view)])
            np.testing.assert_allclose(found, expected, rtol=40 * np.finfo(found.dtype).eps)
    assert not compiled.cache_info().fallbacks
    assert f"@fxc.{name}." in compiled.inspect(x, y).llvm


def test_one_loop_does_it_all() -> None:
    def price(spot: Floats, strike: Floats, years: Floats) -> Floats:
        root = 0.3 * np.sqrt(years)
        first = (np.log(spot / strike) + 0.065 * years) / root
        return spot * special.ndtr(first) - strike * special.ndtr(first - root)

    compiled = fxc.compile(price, fullgraph=True)
    rng = np.random.default_rng(1)
    given = rng.uniform(10, 60, 999), rng.uniform(10, 60, 999), rng.uniform(0.1, 1, 999)
    np.testing.assert_allclose(compiled(*given), price(*given), rtol=1e-10, atol=1e-13)
    assert str(compiled.inspect(*given).loops).count("for ") == 1


def test_a_ufunc_of_that_name_that_is_not_scipys_is_called() -> None:
    other = np.frompyfunc(lambda x: x + 1, 1, 1)
    assert vector_math.FUNCTIONS["erf"]
    from fxc.ops.foreign_ufuncs import name_in_scipy

    assert name_in_scipy(special.erf) == "erf"
    assert name_in_scipy(other) is None
    assert name_in_scipy(np.exp) is None


def test_complex_numbers_are_scipys() -> None:
    compiled = fxc.compile(lambda x: special.erf(x) + special.xlogy(x, x), fullgraph=True)
    x = np.linspace(0.1, 2, 9) * (1 + 1j)
    assert (
        difference(run(lambda x: special.erf(x) + special.xlogy(x, x), [x]), run(compiled, [x]))
        == ""
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("gammaln", 0.0),
        ("gamma", 0.0),
        ("gamma", -2.0),
        ("logit", 1.0),
        ("logit", 2.0),
        ("erfinv", 1.0),
        ("ndtri", -1.0),
    ],
)
def test_what_special_errstate_makes_an_exception_is_one(name: str, given: float) -> None:
    ufunc = getattr(special, name)

    def fn(x: Floats) -> Floats:
        x *= 0.5
        return ufunc(x * 2) + 1

    compiled = fxc.compile(fn)
    for value in (0.25, given):
        for mode in ("raise", "ignore"):
            with special.errstate(all=mode):
                plain, ours = (np.array([0.5, value]) for _ in range(2))
                expected, found = run(fn, [plain]), run(compiled, [ours])
            assert type(expected.error) is type(found.error)
            if expected.error is None:
                np.testing.assert_allclose(found.result, expected.result, rtol=1e-14)


_QUIET = {
    "erf": [0.0, 1e-300, 30, np.inf, -np.inf],
    "erfc": [0.0, 30, -30, np.inf, -np.inf],
    "ndtr": [0.0, 50, -50, np.inf, -np.inf],
    "expit": [0.0, 800, -800, np.inf, -np.inf],
    "log_expit": [0.0, 800, -800, np.inf, -np.inf],
    "entr": [0.0, 1, -1, np.inf, -np.inf],
    "j0": [0.0, 1, -9, 1e9],
    "j1": [0.0, 1, -9, 1e9],
    "gamma": [0.5, 1.0, 2, 100, -0.5, -3.5],
    "gammaln": [1.0, 2, 1e-300, 1e300, np.inf],
    "xlogy": [0.0, 1, 1e300],
    "rel_entr": [0.0, 1, 1e300, -1, np.inf],
    "erfinv": [0.0, 0.5, 0.99999999],
    "ndtri": [0.5, 1e-300, 0.999999],
}


@pytest.mark.parametrize("name", sorted(_QUIET))
def test_usual_numbers_set_no_flags(name: str) -> None:
    """A call that does is replayed, and the next ones are Python's."""
    compiled = fxc.compile(_applied(name))
    x = np.repeat([*_QUIET[name], np.nan], 8)
    y = np.zeros(len(x)) if name == "xlogy" else np.full(len(x), 0.5)
    if name == "xlogy":
        x = np.zeros(len(x))
    for _ in range(6):
        compiled(x, y)
    assert compiled.cache_info().eager_calls == 0


def test_scipy_is_not_imported() -> None:
    code = (
        "import sys, numpy as np, fxc\n"
        "fxc.compile(lambda x: np.exp(x) + 1, fullgraph=True)(np.ones(3))\n"
        "print('scipy' in sys.modules)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
